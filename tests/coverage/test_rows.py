"""The rows that no family's test runs, and every elementwise function on shapes that nobody chose."""

from __future__ import annotations

import zlib
from dataclasses import replace
from typing import Any

import numpy
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import mutually_broadcastable_shapes

from registry import get_gradient
from tests.coverage.complex_rows import complex_rows, unchecked
from tests.coverage.namespaces import theirs
from tests.coverage.rows import CASES, all_rows
from tests.coverage.table import found
from tests.gradients.harness import CHECKS, each_case


@each_case(CASES)
def test_rule(case, check):
    check(case)


def test_every_table_is_read():
    places = {row.place for row in all_rows()}
    assert len(places) > 20
    assert all("first" in row.checks or row.checks == {"value"} for row in all_rows())


COMPLEX = complex_rows(found())


@pytest.mark.parametrize("check", ["value", "complex"])
@pytest.mark.parametrize("name", COMPLEX)
def test_complex_rows(name, check):
    assert COMPLEX[name], f"no row of {name} takes complex numbers; take it out of COMPLEX_TOO"
    for case in COMPLEX[name]:
        CHECKS[check](case)


def test_complex_numbers_are_checked_wherever_they_are_taken():
    assert not list(unchecked(found())), "add them to COMPLEX_TOO, or say in REAL_ALONE why not"
    for name in COMPLEX:
        rows = [row for row, _ in found()[name]]
        assert not any("complex" in row.checks for row in rows), f"{name} has complex rows now; take it out of COMPLEX_TOO"


UNEVEN = {
    *("abs", "absolute", "angle", "arctan2", "atan2", "cbrt", "copysign", "divmod", "fabs", "fmax", "fmin", "fmod", "frexp"),
    *("heaviside", "hypot", "maximum", "minimum", "mod", "modf", "nextafter", "relu", "remainder", "sign"),
}
"""Functions with kinks, jumps or poles, which differences at any point may meet; their tables choose the points."""


def elementwise() -> list[Any]:
    """A row of every function whose inputs broadcast, ufuncs and others, that is called on these alone."""
    rows = {}
    for name, pairs in found().items():
        for row, call in pairs:
            fixed = [value for argument, value in call.arguments.items() if argument not in call.tensors]
            constants = any(isinstance(value, numpy.ndarray | list | tuple) for value in fixed)
            free = row.case.inputs is None and len(call.tensors) == _arity(row.case) and not constants
            if "first" in row.checks and free and broadcasts(name) and name.rpartition(".")[2] not in UNEVEN:
                rows.setdefault(name, pytest.param(row.case, id=name))
    return [rows[name] for name in sorted(rows)]


def broadcasts(name: str) -> bool:
    """Whether a function is a ufunc, or has a rule that is elementwise."""
    function, config = theirs(name), get_gradient(name.rpartition(".")[2])
    if hasattr(function, "nin"):
        return function.signature is None
    return config is not None and bool(config.elementwise)


def _arity(case: Any) -> int:
    return len(next(iter(case.variants(case.dtypes[0]))))


ELEMENTWISE = elementwise()


def check_shapes(case, data):
    shapes = data.draw(mutually_broadcastable_shapes(num_shapes=_arity(case), max_dims=3, max_side=3)).input_shapes
    drawn = replace(case, shapes=[shapes], dtypes=case.dtypes[:1], complex_domain=None, label=f"{case.label} {shapes}")
    for check in ("value", "first", "forward"):
        CHECKS[check](drawn)


def test_most_ufuncs_are_drawn():
    assert len(ELEMENTWISE) > 40


@pytest.mark.parametrize("case", [each for each in ELEMENTWISE if zlib.crc32(each.id.encode()) % 4 == 0])
@settings(max_examples=4, derandomize=True)
@given(data=st.data())
def test_shapes(case, data):
    check_shapes(case, data)


@pytest.mark.full
@pytest.mark.parametrize("case", ELEMENTWISE)
@settings(max_examples=30, derandomize=True)
@given(data=st.data())
def test_all_shapes(case, data):
    check_shapes(case, data)
