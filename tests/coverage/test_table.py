"""``autograd/COVERAGE.md`` is what ``python -m tests.coverage`` would write now."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from tests.coverage import table
from tests.coverage.accounts import LISTS
from tests.coverage.namespaces import HAS_SCIPY, SINCE, is_here
from tests.coverage.table import FILE, MODES, Entry, current_text, differentiable, read_entries, render

differentiable()  # before any test, as it imports SciPy's operators, which no test may leave behind


def test_the_file_is_current():
    written, now = FILE.read_text(encoding="utf-8"), current_text()
    differing = sorted(set(now.splitlines()) ^ set(written.splitlines()))
    assert written == now, (
        "autograd/COVERAGE.md is not current; run `python -m tests.coverage`. Lines that differ:\n" + "\n".join(differing[:20])
    )


def test_what_is_written_can_be_read_back():
    entries = read_entries(FILE.read_text(encoding="utf-8"))
    assert render(entries) == FILE.read_text(encoding="utf-8")
    for name, entry in differentiable().items():
        assert replace(entries[name], rows=entry.rows) == entry


def test_figures_are_sums_of_lines():
    text = FILE.read_text(encoding="utf-8")
    total, *parts = [[int(each) for each in re.findall(r"\d+", line)] for line in text.splitlines() if " functions with " in line]
    assert total[:7] == [sum(column) for column in zip(*parts, strict=True)]
    assert total[7:] == [
        len(names) for names in (LISTS["constant by nature"], LISTS["refuses tensors"], LISTS["takes no arrays"])
    ]


def test_lines_of_functions_that_are_not_here_stay(monkeypatch):
    """As on a NumPy that lacks some, and without SciPy."""
    lacking = {*SINCE, *(name for name in differentiable() if name.startswith("scipy."))}
    fewer = {name: entry for name, entry in differentiable().items() if name not in lacking}
    monkeypatch.setattr(table, "differentiable", lambda: fewer)
    monkeypatch.setattr(table, "is_here", lambda name: name not in lacking and is_here(name))
    monkeypatch.setattr(table, "HAS_SCIPY", False)
    assert current_text() == FILE.read_text(encoding="utf-8")


@pytest.mark.skipif(not HAS_SCIPY, reason="SciPy is not installed")
def test_a_function_that_has_lost_its_rows_is_missed(monkeypatch):
    fewer = {name: entry for name, entry in differentiable().items() if name != "scipy.special.erf"}
    monkeypatch.setattr(table, "differentiable", lambda: fewer)
    assert current_text() != FILE.read_text(encoding="utf-8")


def test_a_line():
    entry = Entry("numpy.outer", ["a", "b"], {"reverse", "forward"}, "a note", 3)
    assert entry.line() == "| `numpy.outer` | `a`, `b` | yes | yes | - | - | 3 | a note |"
    assert list(MODES) == ["reverse", "forward", "second order", "complex"]
    assert read_entries(entry.line()) == {"numpy.outer": entry}
