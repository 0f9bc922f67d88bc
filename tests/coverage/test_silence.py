"""No function drops a tensor without a word: called with one in each place, it follows it, raises, or is known to be constant."""

from __future__ import annotations

import warnings
from typing import Any

import numpy
import pytest

from autograd import Tape
from tests.coverage.accounts import CONSTANT, NOT_CALLED
from tests.coverage.arguments import NOT_NUMBERS, REFUSED_ARGUMENTS, STEADY_ARGUMENTS, outcomes, tensors_in
from tests.coverage.namespaces import OBJECTS, all_names, ours, parameters
from tests.coverage.rows import WITHOUT_WATCHING
from tests.coverage.table import differentiable, found

MATRIX = numpy.array([[2.0, 1.0, 0.5], [0.5, 3.0, 0.1], [0.2, 0.7, 2.0]])
ARGUMENTS = (MATRIX, MATRIX[0], 1.5, 1.0)
"""What the sweep calls functions with, each of these in all places."""

STEADY_SOMETIMES = {
    "numpy.bmat": ("gdict", "ldict"),  # which are for texts alone
    "numpy.linalg.cond": ("p",),  # which says which norm
    "numpy.kaiser": ("beta",),  # a window of one point
    "numpy.setdiff1d": ("ar2",),  # which only chooses
    "numpy.sign": ("x", "all"),  # of real numbers
    "numpy.trapezoid": ("dx",),  # beside x, which says it all
}
"""Arguments that have a derivative in some calls, but not in those of the sweep."""

UNWATCHED = {name for name, _ in WITHOUT_WATCHING.values()}


# -------------------------------------------------------------------------------------------------- argument by argument


def different_calls(name: str) -> list[Any]:
    """Up to six calls by rows, which differ in the arguments that they give or in their types."""
    calls = {}
    for _, call in found()[name]:
        calls.setdefault(tuple((key, type(value)) for key, value in call.arguments.items()), call)
    return list(calls.values())[:6]


@pytest.mark.parametrize("name", sorted(differentiable().keys() - UNWATCHED))
def test_a_tensor_in_another_argument_is_refused(name, capfd):
    outcome = outcomes(different_calls(name), differentiable()[name].arguments)
    unproved = sorted(argument for argument, each in outcome.items() if "tracked" in each)
    assert not unproved, f"{name} follows a tensor in {unproved}: add a row to rows.py"
    silent = {argument for argument, each in outcome.items() if "silent" in each}
    steady, sometimes = set(STEADY_ARGUMENTS.get(name, ())), set(STEADY_SOMETIMES.get(name, ()))
    assert silent - sometimes == steady, f"{name} drops a tensor in {sorted(silent)} without a word"
    refused = {argument for argument, each in outcome.items() if each == {"refused"}}
    assert refused >= set(REFUSED_ARGUMENTS.get(name, ())), f"{name} refuses {sorted(refused)}, which arguments.py does not say"


def test_the_lists_of_arguments_belong_to_functions():
    for listed in (REFUSED_ARGUMENTS, STEADY_ARGUMENTS):
        here = {name: arguments for name, arguments in listed.items() if name in set(all_names())}
        assert here.keys() <= differentiable().keys()
        for name, arguments in here.items():
            assert set(arguments) <= parameters(name).keys()
            assert not set(arguments) & set(differentiable()[name].arguments)


# -------------------------------------------------------------------------------------------------- place by place


def places(name: str) -> list[str]:
    """The names of the places in which arguments go; more than there are where a function takes any number."""
    try:
        known = list(parameters(name).values())
    except (TypeError, ValueError):
        return []
    named = ["a flag" if isinstance(each.default, bool) else each.name for each in known if each.kind < each.VAR_POSITIONAL]
    return named + [each.name for each in known if each.kind is each.VAR_POSITIONAL] * 3


def silences(name: str) -> set[str]:
    """The arguments in which a tensor is dropped, in calls of one to three arguments of which one is a tensor, or all are."""
    function, names, dropped = ours(name), places(name), set()
    for value in ARGUMENTS:
        for count in (1, 2, 3):
            for at in (*range(count), None) if count > 1 else (0,):
                with warnings.catch_warnings(), Tape() as tape:
                    warnings.simplefilter("ignore")
                    arguments = [tape.watch(value) if at in (place, None) else numpy.copy(value)[()] for place in range(count)]
                    try:
                        result = function(*arguments)
                    except Exception:  # a refusal, or arguments that do not fit
                        continue
                    if holds_numbers(result) and next(tensors_in(result), None) is None:
                        dropped.add(names[at] if at is not None and at < len(names) else "all")
    return dropped


def holds_numbers(result: Any) -> bool:
    """Whether there are floats in a result, which a derivative could be of."""
    if isinstance(result, tuple | list):
        return any(map(holds_numbers, result))
    if isinstance(result, float | complex | numpy.ndarray | numpy.generic):
        return numpy.asarray(result).dtype.kind in "fcO"
    return hasattr(result, "coeffs")


SWEPT = sorted(name for name in all_names() if name not in NOT_CALLED and name.rpartition(".")[2] not in OBJECTS)


@pytest.mark.parametrize("name", SWEPT)
def test_a_tensor_in_any_place_is_not_dropped(name, capfd):
    allowed = {*STEADY_ARGUMENTS.get(name, ()), *STEADY_SOMETIMES.get(name, ()), *NOT_NUMBERS, "a flag"}
    silent = silences(name) - allowed
    assert not silent or name in CONSTANT, f"{name} drops a tensor in {sorted(silent)} without a word"


def test_the_sweep_sees_what_is_dropped(monkeypatch):
    monkeypatch.setitem(globals(), "ours", lambda _: lambda x, axis=None: numpy.sum(getattr(x, "value", x)))
    monkeypatch.setitem(globals(), "parameters", lambda _: {"a": __import__("inspect").Parameter("a", 1)})
    assert silences("numpy.sum") == {"a", "all"}
