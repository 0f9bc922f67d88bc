"""Rows of a table of special values: points at which rules go wrong, each with its derivative worked out by hand.

A row says which kind of fault it stands for; the checks are its columns:

value      ``f(x)``, where the row gives one
first      the gradient of ``sum(f(x))``, again and again: the first walk is careful, later ones take shorter ways
forward    forward mode along each element, which is the gradient's element
second     the gradient of ``sum(first)``, reverse over reverse and forward over reverse, where the row gives one
float32    the gradient in single precision: its dtype and its value

A test file reads::

    from tests.special_values.table import Row, each_row

    ROWS = [
        Row("a removable singularity", "sinc at 0", np.sinc, 0.0, first=0.0, second=-numpy.pi**2 / 3),
        Row("a branch not taken", "sqrt of what where drops", lambda x: np.where(x > 0, x, np.sqrt(-x)), 1.0, first=1.0),
        Row("degenerate spectra", "vectors of the identity", lambda a: np.linalg.eigh(a)[1], numpy.eye(2), error="repeat"),
    ]

    @each_row(ROWS)
    def test_special_value(row, check):
        check(row)
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy
import pytest

import autograd.numpy as np
from autograd import grad, make_jvp
from autograd.errors import GradtapeError

WALKS = 3
"""A structure's first walk checks what rules return; the second is the fast one; one more, as its plan is kept."""


@dataclass(frozen=True)
class Row:
    """One special point.

    kind       the kind of fault that the point stands for
    label      the function and the point, in words
    f          a function of one argument, written with ``autograd.numpy``
    x          the point: a float, an array of floats or complex numbers, or a container (then ``first`` alone is checked)
    first      the gradient of ``sum(f(x))`` (``df/dx - i df/dy`` of its real part for a complex ``x``), by hand
    second     the gradient of ``sum(first)`` in a real ``x``, by hand
    value      ``f(x)``, by hand, where it is worth a look
    error      instead of ``first``: what the error says where there is no derivative
    forward    False where forward mode has no answer, with the reason in a comment at the row
    float32    False where single precision cannot hold the point or the answer
    tolerance  relative, for float64; single precision has 1e-5 or this
    """

    kind: str
    label: str
    f: Callable[[Any], Any]
    x: Any
    first: Any = None
    second: Any = None
    value: Any = None
    error: str | None = None
    forward: bool = True
    float32: bool = True
    tolerance: float = 1e-10

    def __post_init__(self) -> None:
        if (self.first is None) == (self.error is None):
            raise ValueError(f"Row({self.label!r}): give first or error")

    def total(self, x: Any) -> Any:
        """The sum of all that ``f`` returns, real parts of complex results."""
        y = np.sum(self.f(x))
        return np.real(y) if y.dtype.kind == "c" else y


def each_row(rows: Sequence[Row]) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Parametrize a test with ``row`` and ``check``: each row with each column that it has."""
    return pytest.mark.parametrize(("row", "check"), list(_tests(rows)))


def _tests(rows: Sequence[Row]) -> Iterator[Any]:
    for row in rows:
        for check in _columns(row):
            yield pytest.param(row, check, id=f"{row.kind}-{row.label}-{check.__name__.removeprefix('check_')}")


def _columns(row: Row) -> Iterator[Callable[[Row], None]]:
    if row.value is not None:
        yield check_value
    if row.error is not None:
        yield check_error
        return
    yield check_first
    if not isinstance(row.x, (float, complex, numpy.ndarray, numpy.generic)):
        return
    if row.forward:
        yield check_forward
    if row.second is not None:
        yield check_second
    if row.float32 and not isinstance(row.x, float) and numpy.asarray(row.x).dtype == numpy.float64:
        yield check_float32


def check_value(row: Row) -> None:
    with numpy.errstate(all="ignore"):
        _assert_close(row.f(row.x), row.value, row.tolerance)


def check_error(row: Row) -> None:
    with numpy.errstate(all="ignore"), pytest.raises(GradtapeError, match=row.error):
        grad(row.total)(row.x)


def check_first(row: Row) -> None:
    with numpy.errstate(all="ignore"):  # plain NumPy warns at many of these points too
        for _ in range(WALKS):
            _assert_close(grad(row.total)(row.x), row.first, row.tolerance)


def check_forward(row: Row) -> None:
    first = numpy.asarray(row.first)
    with numpy.errstate(all="ignore"):
        for at in numpy.ndindex(first.shape):
            for unit in (1.0, 1j) if first.dtype.kind == "c" else (1.0,):
                tangent = numpy.zeros_like(first, dtype=numpy.result_type(first, float))
                tangent[at] = unit
                found = make_jvp(row.total)(row.x)(tangent if isinstance(row.x, numpy.ndarray) else tangent[()])[1]
                _assert_close(found, numpy.real(first[at] * unit), row.tolerance)


def check_second(row: Row) -> None:
    def slope(x: Any) -> Any:
        return np.sum(grad(row.total)(x))

    with numpy.errstate(all="ignore"):
        for _ in range(WALKS):
            _assert_close(grad(slope)(row.x), row.second, row.tolerance)
        second = numpy.asarray(row.second)
        for at in numpy.ndindex(second.shape):
            tangent = numpy.zeros(second.shape)
            tangent[at] = 1.0
            found = make_jvp(slope)(row.x)(tangent if isinstance(row.x, numpy.ndarray) else tangent[()])[1]
            _assert_close(found, second[at], row.tolerance)


def check_float32(row: Row) -> None:
    x = numpy.asarray(row.x, numpy.float32)
    with numpy.errstate(all="ignore"):
        found = grad(row.total)(x)
    assert found.dtype == numpy.float32
    _assert_close(found, row.first, max(1e-5, row.tolerance))


def _assert_close(found: Any, expected: Any, tolerance: float) -> None:
    """Equal up to ``tolerance`` times the largest finite number expected; the same shape, NaN and infinities."""
    if isinstance(expected, dict):
        assert found.keys() == expected.keys()
        for name in expected:
            _assert_close(found[name], expected[name], tolerance)
    elif isinstance(expected, (list, tuple)) and isinstance(found, (list, tuple)):
        assert type(found) is type(expected)
        assert len(found) == len(expected)
        for pair in zip(found, expected, strict=True):
            _assert_close(*pair, tolerance)
    else:
        want = numpy.asarray(expected)
        size = numpy.abs(want[numpy.isfinite(want)]).max(initial=0)
        assert numpy.shape(found) == want.shape
        numpy.testing.assert_allclose(numpy.asarray(found), want, rtol=0, atol=tolerance * (size or 1.0))
