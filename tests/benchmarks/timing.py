"""Timing by ratios: sides in turn, A B A B, in one process.

Absolute times drift by a factor of two on shared machines; a ratio of neighbours in time drifts far less. The clock counts
processor time, so that another program's turn is nobody's; every side runs on one thread.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from statistics import median
from time import process_time
from typing import Any

import numpy as np

from .workload import Recorder, Side, Step


@dataclass(frozen=True, slots=True)
class Ratio:
    """How long one side takes against another: over the rounds, and the best round of each against each other."""

    median: float
    least: float
    greatest: float
    of_minima: float

    def __str__(self) -> str:
        return f"{self.median:.2f} ({self.least:.2f}-{self.greatest:.2f})"


def ratio(seconds: list[float], floor_seconds: list[float]) -> Ratio:
    """The ratio of two sides that were timed in the same rounds.

    >>> print(ratio([2.0, 6.0, 3.0], [1.0, 2.0, 1.0]))
    3.00 (2.00-3.00)
    """
    ratios = [each / floor for each, floor in zip(seconds, floor_seconds, strict=True)]
    return Ratio(median(ratios), min(ratios), max(ratios), min(seconds) / min(floor_seconds))


def in_turn(sides: Mapping[str, Side], rounds: int, at_least: float) -> dict[str, list[float]]:
    """Seconds for one step of each side, one entry a round.

    A round gives every side fresh state, runs one step unmeasured, and then as many as take ``at_least`` seconds. The
    garbage collector is left as a user has it.
    """
    settle_allocator()
    counts = {name: _count(side(), at_least) for name, side in sides.items()}
    seconds: dict[str, list[float]] = {name: [] for name in sides}
    for _ in range(rounds):
        for name, side in sides.items():
            step = side()
            step()
            seconds[name].append(_seconds(step, counts[name]))
    return seconds


def settle_allocator() -> None:
    """Allocate and free one large block, so that no side pays for the allocator's first steps.

    The GNU C library gives freed blocks back to the system, and page-faults them in again, until it has seen a large block
    freed; which side that hits depends on the order. It made 40 % of a W4 step.
    """
    np.empty(31 * 2**20, np.uint8)


def backward_to_forward(record: Recorder, rounds: int, at_least: float) -> Ratio:
    """How long our backward pass takes against our forward pass, with a warm plan."""
    count = _count(lambda: _gradient(*record()), at_least)
    forward, backward = [], []
    for _ in range(rounds):
        seconds = [0.0, 0.0]
        for _ in range(count):
            start = process_time()
            recorded = record()
            middle = process_time()
            _gradient(*recorded)
            seconds[0] += middle - start
            seconds[1] += process_time() - middle
        forward.append(seconds[0])
        backward.append(seconds[1])
    return ratio(backward, forward)


def _gradient(tape: Any, target: Any, sources: Any) -> Any:
    return tape.gradient(target, sources)


def _count(step: Step, at_least: float) -> int:
    step()
    count = 1
    while (seconds := _seconds(step, count)) * count < at_least:
        count = max(2 * count, min(64 * count, int(at_least / max(seconds, 1e-9)) + 1))
    return count


def _seconds(step: Step, count: int) -> float:
    start = process_time()
    for _ in range(count):
        step()
    return (process_time() - start) / count
