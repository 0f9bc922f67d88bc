"""Special functions: those that NumPy does not have, in its style, and its modified Bessel function."""

from __future__ import annotations

from typing import Any

import numpy as np

from autograd import operators as op
from autograd.numpy.arguments import as_array
from autograd.numpy.following import follows
from autograd.tensor import innermost_value

__all__ = ["i0", "kaiser", "relu", "sigmoid", "softplus"]
METHODS: tuple[str, ...] = ()

sigmoid = op.sigmoid
relu = op.relu
softplus = op.softplus


@follows(np.i0, "x")
def i0(x: Any) -> Any:
    """The modified Bessel function of the first kind and order 0; its derivatives are those of higher orders.

    >>> i0(1.0).round(6)
    np.float64(1.266066)
    """
    x = as_array(x)
    if np.iscomplexobj(innermost_value(x)):
        raise TypeError("i0 not supported for complex values")
    return op.bessel_i(x, order=0)


@follows(np.kaiser, "beta")
def kaiser(M: Any, beta: Any) -> Any:
    """A window of M points whose shape the parameter ``beta`` sets, from a rectangle (0) to a narrow bell.

    >>> kaiser(3, 0.0)
    array([1., 1., 1.])
    """
    if M < 1:
        return np.zeros(0)
    if M == 1:
        return np.ones(1)
    half = (M - 1) / 2.0
    places = 1 - ((np.arange(M) - half) / half) ** 2.0
    return op.divide(i0(op.multiply(beta, np.sqrt(places))), i0(beta))
