"""NumPy's and SciPy's own functions, called with tensors, find ours; where they cannot, they raise, and never drop the tensor."""

from __future__ import annotations

import warnings
from typing import Any

import numpy
import pytest

from autograd import NotTrackedError, Tape, Tensor
from tests.coverage.arguments import call_with, tensors_in
from tests.coverage.namespaces import METHODS, NUMPY, ours, theirs
from tests.coverage.table import differentiable, found

NO_PROTOCOL = {
    f"numpy.{name}"
    for name in [
        *("asanyarray", "asarray", "asarray_chkfinite", "array", "ascontiguousarray", "asfortranarray", "require", "full"),
        *("full_like", "kaiser"),
    ]
}
"""Functions of NumPy that make an array of what they get without asking it: a tensor raises NotTrackedError."""

WRITE = {f"numpy.{name}" for name in ("copyto", "fill_diagonal", "place", "put", "put_along_axis", "putmask", "ufunc.at")}
"""Functions that return nothing; the family assignment tests what they write."""


def watched(tape: Tape, value: Any) -> Any:
    """Floats as tensors, in lists too."""
    if isinstance(value, list | tuple):
        return type(value)(watched(tape, each) for each in value)
    return tape.watch(value) if isinstance(value, float | numpy.ndarray | numpy.generic) and _is_float(value) else value


def _is_float(value: Any) -> bool:
    return numpy.asarray(value).dtype.kind in "fc"


def results(name: str, function: Any) -> list[Any]:
    """The tensors in the result of the first row's call, by value."""
    call = next(call for row, call in found()[name] if "first" in row.checks)
    with Tape() as tape, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        arguments = {each: watched(tape, call.arguments[each]) for each in call.tensors}
        return [each.value for each in tensors_in(call_with(call, function, arguments))]


@pytest.mark.parametrize(
    "name", sorted(each for each in differentiable() if each.rpartition(".")[0] in (*NUMPY, METHODS) and each not in WRITE)
)
def test_numpys_function_finds_ours(name):
    if not found()[name][0][1].arguments:
        pytest.skip("indexed, or an object")
    if name in NO_PROTOCOL:
        with pytest.raises(NotTrackedError):
            results(name, theirs(name))
        return
    expected, got = results(name, ours(name)), results(name, theirs(name))
    assert expected, "our function gave no tensor"
    assert len(got) == len(expected)
    for each, want in zip(got, expected, strict=True):
        assert not isinstance(each, Tensor)
        numpy.testing.assert_array_equal(each, want)
