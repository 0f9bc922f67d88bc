"""What a workload is: the same work done by hand, by this project, and by its peers.

A *side* is a function without arguments that sets up fresh state and returns one step; a step does the work once and
returns its numbers. The side ``floor`` is the hand-written NumPy version, ``ours`` is written as a user would write it.
Sides import the library they need when they are called, so that a workload can be described where it is not installed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from importlib.util import find_spec
from typing import Any

import numpy as np

Step = Callable[[], Sequence[Any]]
Side = Callable[[], Step]
Recorder = Callable[[], tuple[Any, Any, Any]]
"""Runs the forward part once: ``(tape, target, sources)``, ready for ``tape.gradient(target, sources)``."""

PEERS = {"torch": "torch", "MyGrad": "mygrad"}
"""Peers that run in the same process, and the module that must be importable for them."""

HIPS = "HIPS"
"""The side of HIPS autograd, which has our import name and therefore runs in a process of its own."""


@dataclass(frozen=True, slots=True)
class Workload:
    """One line of the table.

    name      short name; workloads of one module share their first letters (``W7a``, ``W7b``)
    title     what is computed
    goal      the largest ratio to the floor that meets the goal; None where there is none
    sides     by name; ``floor`` and ``ours`` are always there
    record    a function that sets up fresh state and returns our forward part alone, to time forward and backward apart
    rtol      how far the numbers of two sides may differ, relative to the largest entry
    around    a context in which ``ours`` runs
    """

    name: str
    title: str
    goal: float | None
    sides: Mapping[str, Side]
    record: Callable[[], Recorder] | None = None
    rtol: float = 1e-9
    around: Callable[[], AbstractContextManager[Any]] = field(default=nullcontext)

    def __post_init__(self) -> None:
        missing = {"floor", "ours"} - set(self.sides)
        if missing:
            raise ValueError(f"workload {self.name}: got sides {sorted(self.sides)}, expected {sorted(missing)} too")

    def importable_sides(self, *, peers: bool) -> dict[str, Side]:
        """``floor`` and ``ours``, and the peers that this process can import if ``peers`` is set."""
        names = ["floor", "ours", *(name for name, module in PEERS.items() if peers and find_spec(module))]
        return {name: self.sides[name] for name in names if name in self.sides}


def check_agreement(workload: Workload, sides: Mapping[str, Side]) -> None:
    """Run two steps of every side from equal state and compare the numbers of the second with the floor's.

    The second step sees what the first one updated. Raises AssertionError that names workload, side and number.
    """
    numbers = {name: _second_step(side) for name, side in sides.items()}
    expected = numbers.pop("floor")
    for name, got in numbers.items():
        if len(got) != len(expected):
            raise AssertionError(f"{workload.name}: {name} gave {len(got)} numbers, the floor {len(expected)}")
        for position, (ours, floor) in enumerate(zip(got, expected, strict=True)):
            scale = float(np.max(np.abs(floor), initial=0.0))
            np.testing.assert_allclose(
                np.asarray(ours), floor, rtol=workload.rtol, atol=workload.rtol * scale,
                err_msg=f"{workload.name}: number {position} of {name} against the floor",
            )  # fmt: skip


def _second_step(side: Side) -> list[np.ndarray]:
    step = side()
    step()
    return [np.array(each) for each in step()]
