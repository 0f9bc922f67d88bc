"""How long the schemas of torchgen's own table take to parse, beside torchgen itself where it is installed.

Both sides start a round with empty caches. Also by itself: ``python -m tests.benchmarks.schema_parsing`` from the root of
the repository, with a Python that has numpy and torchgen (which PyTorch brings along).
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from statistics import median

import registry.arguments
import registry.defaults
import registry.names
import registry.schema
import registry.types

from .timing import Ratio, in_turn, ratio
from .workload import Side, Step

RECORDS = Path(__file__).resolve().parents[3] / "shared" / "torchgen" / "a_schemas.json.gz"

GOAL = 1.5

_MODULES = (registry.arguments, registry.defaults, registry.names, registry.schema, registry.types)


def schema_texts() -> list[str]:
    """The recorded table; empty where it is not beside the repository."""
    if not RECORDS.is_file():
        return []
    with gzip.open(RECORDS, "rt", encoding="utf-8") as file:
        return [entry["func"] for entry in json.load(file)]


def seconds_for(texts: list[str], rounds: int) -> dict[str, list[float]]:
    """Seconds for all texts, one entry a round: ``ours``, and ``torchgen`` where it is installed."""
    sides: dict[str, Side] = {"ours": lambda: _ours(texts)}
    if find_spec("torchgen") is not None:
        sides["torchgen"] = lambda: _torchgen(texts)
    return in_turn(sides, rounds, 0.0)


def beside_torchgen(seconds: dict[str, list[float]]) -> Ratio | None:
    """How long ours takes against torchgen, or None where that is not installed."""
    return ratio(seconds["ours"], seconds["torchgen"]) if "torchgen" in seconds else None


def report(rounds: int) -> str:
    """The line that the benchmark prints."""
    texts = schema_texts()
    if not texts:
        return (
            f"schemas  the table of schemas is not there: {RECORDS.parent.name}/{RECORDS.name} is read from beside the repository"
        )
    seconds = seconds_for(texts, rounds)
    found = beside_torchgen(seconds)
    verdict = "torchgen is not installed" if found is None else f"{found} of torchgen's time, goal {GOAL:g}"
    return f"schemas  parsing {len(texts)} schemas: {1e6 * median(seconds['ours']) / len(texts):.1f} us a schema; {verdict}"


def _ours(texts: list[str]) -> Step:
    caches: list[Callable[[], None]] = [
        value.cache_clear for module in _MODULES for value in vars(module).values() if hasattr(value, "cache_clear")
    ]
    parse = registry.schema.FunctionSchema.parse

    def step() -> list[registry.schema.FunctionSchema]:
        for clear in caches:
            clear()
        return [parse(text, "self") for text in texts]

    return step


def _torchgen(texts: list[str]) -> Step:
    from torchgen.model import FunctionSchema

    def step() -> list[FunctionSchema]:
        return [FunctionSchema.parse(text) for text in texts]

    return step


if __name__ == "__main__":
    print(report(rounds=9))
