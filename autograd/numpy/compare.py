"""NumPy-shaped comparison, logic, and ``where``. All but ``where`` give plain values: they are constants for every tape."""

from __future__ import annotations

from typing import Any

import numpy as _np

from autograd import operators as op
from autograd.functional import stop_gradient
from autograd.numpy.arguments import of_bare_values
from autograd.numpy.ufuncs import ufunc

__all__ = [
    "allclose",
    "array_equal",
    "array_equiv",
    "equal",
    "greater",
    "greater_equal",
    "isclose",
    "iscomplex",
    "iscomplexobj",
    "isfinite",
    "isinf",
    "isnan",
    "isneginf",
    "isposinf",
    "isreal",
    "isrealobj",
    "less",
    "less_equal",
    "logical_and",
    "logical_not",
    "logical_or",
    "logical_xor",
    "not_equal",
    "signbit",
    "where",
]
METHODS: tuple[str, ...] = ()

equal = ufunc("equal")
not_equal = ufunc("not_equal")
less = ufunc("less")
less_equal = ufunc("less_equal")
greater = ufunc("greater")
greater_equal = ufunc("greater_equal")
logical_and = ufunc("logical_and")
logical_or = ufunc("logical_or")
logical_xor = ufunc("logical_xor")
logical_not = ufunc("logical_not")
isnan = ufunc("isnan")
isinf = ufunc("isinf")
isfinite = ufunc("isfinite")
signbit = ufunc("signbit")

isclose = of_bare_values(_np.isclose)
allclose = of_bare_values(_np.allclose)
array_equal = of_bare_values(_np.array_equal)
array_equiv = of_bare_values(_np.array_equiv)
isreal = of_bare_values(_np.isreal)
iscomplex = of_bare_values(_np.iscomplex)
isrealobj = of_bare_values(_np.isrealobj)
iscomplexobj = of_bare_values(_np.iscomplexobj)
isposinf = of_bare_values(_np.isposinf)
isneginf = of_bare_values(_np.isneginf)


def where(condition: Any, *choices: Any) -> Any:
    """``where(condition, x, y)``: elements of ``x`` where the condition holds, else of ``y``. Alone: ``nonzero``.

    The condition is a constant. What is not chosen gets a gradient of exactly 0, also if it is inf or NaN.

    Raises ValueError for one choice alone.

    >>> where([True, False], [1.0, 2.0], 0.0), where([False, True])
    (array([1., 0.]), (array([1]),))
    """
    if type(condition) is not _np.ndarray:
        condition = stop_gradient(condition)
    if len(choices) == 2:
        return op.where(condition, *choices)
    if choices:
        raise ValueError(f"where: got {len(choices)} choices, expected two, x and y, or none")
    return _np.nonzero(condition)
