"""Derivatives by differences: what the rules are compared with."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy


def richardson(f: Callable[[float], float], step: float = 1e-3) -> float:
    """The derivative of ``f`` at 0 by central differences of two steps, extrapolated: its error is of order ``step**4``."""
    wide = (f(step) - f(-step)) / (2 * step)
    narrow = (f(step / 2) - f(-step / 2)) / step
    return (4 * narrow - wide) / 3


def central_gradient(f: Callable[..., float], inputs: Sequence[Any]) -> list[numpy.ndarray]:
    """``df/dx - i df/dy`` of a real function in each element of each input, by ``richardson``."""
    gradients = []
    for position, each in enumerate(inputs):
        x = numpy.asarray(each)
        g = numpy.zeros(x.shape, x.dtype)
        for at in numpy.ndindex(x.shape):
            parts = (1.0, 1j) if x.dtype.kind == "c" else (1.0,)
            slopes = [richardson(_moved(f, inputs, position, at, direction)) for direction in parts]
            g[at] = slopes[0] if len(slopes) == 1 else slopes[0] - 1j * slopes[1]
        gradients.append(g)
    return gradients


def _moved(
    f: Callable[..., float], inputs: Sequence[Any], position: int, at: tuple[int, ...], direction: Any
) -> Callable[[float], float]:
    def at_step(step: float) -> float:
        x = numpy.array(inputs[position])
        x[at] += step * direction
        moved = x.item() if type(inputs[position]) in (float, complex) else x[()]
        return f(*[moved if number == position else each for number, each in enumerate(inputs)])

    return at_step


def assert_close(got: Any, want: Any, tolerance: float, where: str, like: Sequence[Any] = ()) -> None:
    """``got`` equals ``want`` up to ``tolerance`` times the largest of ``want``, ``like`` and 1e-3."""
    sizes = [numpy.abs(numpy.asarray(each)).max(initial=0) for each in (want, *like)]
    numpy.testing.assert_allclose(got, want, rtol=0, atol=tolerance * max(1e-3, *sizes), err_msg=where)
