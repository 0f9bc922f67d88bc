"""Parsing is fast beside torchgen, where torchgen and its recorded schemas are at hand."""

from __future__ import annotations

import pytest

from ..benchmarks import schema_parsing


def test_the_benchmark_says_what_it_measured():
    line = schema_parsing.report(rounds=1)
    assert line.startswith("schemas  ")
    assert any(words in line for words in ("of torchgen's time", "torchgen is not installed", "is not there"))


def test_parsing_takes_at_most_one_and_a_half_times_as_long_as_torchgen():
    pytest.importorskip("torchgen.model", reason="torchgen is not installed")
    texts = schema_parsing.schema_texts()
    if not texts:
        pytest.skip("torchgen's recorded schemas are not beside the repository")
    ratio = schema_parsing.beside_torchgen(schema_parsing.seconds_for(texts, rounds=3))
    assert ratio is not None
    assert ratio.of_minima <= schema_parsing.GOAL, str(ratio)
