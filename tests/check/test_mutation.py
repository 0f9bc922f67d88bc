"""Every planted fault is called wrong, and its kernel and input are named; what is right is never called wrong."""

import zlib
from importlib import import_module
from importlib.util import find_spec

import numpy
import pytest

from autograd.check import check_gradient
from autograd.check.kernel import checkable
from tests.check.mutation import MUTATIONS, STALE, drawn_calls, outcomes, program

pytest.importorskip("hypothesis")

if find_spec("scipy"):  # before any test, which may not leave registrations behind
    for module in ("special", "linalg", "signal", "integrate"):
        import_module(f"autograd.scipy.{module}")

NAMES = checkable("numpy")

ALL = (*MUTATIONS, STALE)

A_FEW = 2
"""Of the kinds of faults each operator gets so many in the short form; which ones differs from operator to operator."""


def some_of(name):
    first = zlib.crc32(name.encode()) % len(ALL)
    return [ALL[(first + 5 * n) % len(ALL)] for n in range(A_FEW)]


def check_outcomes(name, mutations):
    for each in outcomes(name, mutations):
        text = f"{each.operator}, input {each.input}, {each.mutation}:\n{each.report}"
        assert each.caught, f"not called wrong: {text}"
        assert each.named, f"another kernel or input is named: {text}"


@pytest.mark.parametrize("name", NAMES)
def test_some_planted_faults_are_caught_and_named(name):
    check_outcomes(name, some_of(name))


@pytest.mark.full
@pytest.mark.parametrize("name", NAMES)
def test_all_planted_faults_are_caught_and_named(name):
    check_outcomes(name, ALL)


@pytest.mark.parametrize("name", NAMES)
def test_the_rule_as_it_is_is_never_called_wrong(name):
    for call in drawn_calls(name, 2):
        f, given = program(call)
        with numpy.errstate(all="ignore"):
            report = check_gradient(f, *given, raise_error=False)
        assert report.verdict in ("right", "vacuous"), f"{call}:\n{report}"


def test_most_kinds_of_faults_are_diagnosed():
    """A sample of operators whose gradients have every kind of fault."""
    found = [each for name in ("multiply", "tanh", "divide", "matmul", "solve", "sum") for each in outcomes(name, MUTATIONS)]
    missing = [(each.operator, each.input, each.mutation) for each in found if not each.diagnosed]
    assert len(missing) <= 0.1 * len(found), missing
