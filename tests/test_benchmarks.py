"""Every benchmark runs once at its smallest size, and ours agrees with the hand-written floor. No time is asserted."""

from __future__ import annotations

from importlib import import_module

import numpy as np
import pytest

from .benchmarks.element_loop import sum_of_squares
from .benchmarks.million_ops import FORMS, recorder_and_floor
from .benchmarks.timing import in_turn, ratio
from .benchmarks.workload import Workload, check_agreement

MODULES = ("chain", "mlp", "cnn", "curvature", "lstm", "black_scholes")


def quick_workloads() -> list[Workload]:
    package = __package__ + ".benchmarks"
    return [each for name in MODULES for each in import_module(f"{package}.{name}").workloads(quick=True)]


@pytest.mark.parametrize("workload", quick_workloads(), ids=lambda workload: workload.name)
def test_ours_agrees_with_the_floor(workload):
    with workload.around():
        check_agreement(workload, workload.importable_sides(peers=False))


@pytest.mark.parametrize("form", FORMS)
def test_the_long_tape_agrees_with_its_floor(form):
    record, floor = recorder_and_floor(form, 20)
    tape, total, watched = record()
    value, gradients = tape.value_and_gradient(total, watched)
    for got, expected in zip((value, *gradients), floor(), strict=True):
        np.testing.assert_allclose(got, expected, rtol=1e-12)


def test_the_element_loop_computes_what_it_says():
    from autograd import grad

    x = np.linspace(0.0, 1.0, 5)
    np.testing.assert_allclose(grad(sum_of_squares)(x), 2 * x)


def test_sides_that_disagree_are_named():
    sides = {"floor": lambda: lambda: [1.0], "ours": lambda: lambda: [1.1]}
    with pytest.raises(AssertionError, match="W0: number 0 of ours"):
        check_agreement(Workload("W0", "two numbers", None, sides), sides)


def test_a_workload_needs_both_sides():
    with pytest.raises(ValueError, match=r"expected \['ours'\] too"):
        Workload("W0", "half of it", None, {"floor": lambda: lambda: [1.0]})


def test_sides_are_timed_in_turn():
    calls = []
    sides = {name: lambda name=name: lambda: calls.append(name) or [0.0] for name in ("floor", "ours")}
    seconds = in_turn(sides, rounds=2, at_least=0.0)
    assert {name: len(each) for name, each in seconds.items()} == {"floor": 2, "ours": 2}
    assert calls[-4:] == ["floor", "floor", "ours", "ours"]
    assert ratio([2.0, 4.0], [1.0, 1.0]).of_minima == 2.0
