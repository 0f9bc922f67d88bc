"""NumPy-shaped arithmetic."""

from __future__ import annotations

from typing import Any

import numpy as _np

from autograd import operators as op
from autograd.functional import stop_gradient
from autograd.numpy.ufuncs import ufunc, with_options
from autograd.tensor import Tensor, innermost_value

__all__ = [
    "abs",
    "absolute",
    "add",
    "angle",
    "around",
    "cbrt",
    "ceil",
    "clip",
    "conj",
    "conjugate",
    "copysign",
    "divide",
    "divmod",
    "fabs",
    "fix",
    "float_power",
    "floor",
    "floor_divide",
    "fmax",
    "fmin",
    "fmod",
    "heaviside",
    "hypot",
    "imag",
    "maximum",
    "minimum",
    "mod",
    "multiply",
    "nan_to_num",
    "negative",
    "positive",
    "pow",
    "power",
    "real",
    "reciprocal",
    "remainder",
    "rint",
    "round",
    "sign",
    "sqrt",
    "square",
    "subtract",
    "true_divide",
    "trunc",
]
METHODS = ("clip", "conj", "conjugate", "round")

add = ufunc("add")
subtract = ufunc("subtract")
multiply = ufunc("multiply")
divide = true_divide = ufunc("divide")
floor_divide = ufunc("floor_divide")
remainder = mod = ufunc("remainder")
fmod = ufunc("fmod")
negative = ufunc("negative")
positive = ufunc("positive")
power = pow = ufunc("power")
float_power = ufunc("float_power")
square = ufunc("square")
sqrt = ufunc("sqrt")
cbrt = ufunc("cbrt")
reciprocal = ufunc("reciprocal")
absolute = abs = ufunc("absolute")
fabs = ufunc("fabs")
hypot = ufunc("hypot")
copysign = ufunc("copysign")
heaviside = ufunc("heaviside")
maximum = ufunc("maximum")
minimum = ufunc("minimum")
fmax = ufunc("fmax")
fmin = ufunc("fmin")
conjugate = conj = ufunc("conjugate")
floor = ufunc("floor")
ceil = ufunc("ceil")
rint = ufunc("rint")
trunc = ufunc("trunc")
real = op.real
imag = op.imag
angle = op.angle

_sign = ufunc("sign")
_LEFT_OUT = object()


def sign(x: Any, /, out: Any = None, **options: Any) -> Any:
    """NumPy's ``sign``: a constant for real tensors, and ``x / |x|``, which is differentiable, for complex ones.

    >>> sign([-2.0, 0.0]), sign(3.0 + 4.0j)
    (array([-1.,  0.]), (0.6+0.8j))
    """
    if type(x) is not Tensor or not _np.iscomplexobj(innermost_value(x)):
        return _sign(x, out=out, **options)
    return with_options(_complex_sign, _np.sign, (x,), out, options) if options or out is not None else _complex_sign(x)


def _complex_sign(x: Any) -> Any:
    size = op.absolute(x)
    return op.divide(x, op.where(_np.equal(innermost_value(size), 0), 1.0, size))


def divmod(x1: Any, x2: Any, /) -> tuple[Any, Any]:
    """``(floor_divide(x1, x2), remainder(x1, x2))``.

    >>> divmod(7.5, 2.0)
    (3.0, 1.5)
    """
    return op.floor_divide(x1, x2), op.remainder(x1, x2)


def clip(
    a: Any,
    a_min: Any = _LEFT_OUT,
    a_max: Any = _LEFT_OUT,
    out: Any = None,
    *,
    min: Any = _LEFT_OUT,
    max: Any = _LEFT_OUT,
    **options: Any,
) -> Any:
    """``minimum(maximum(a, a_min), a_max)``; a bound that is None or left out is none. ``min``, ``max`` are other names.

    A tensor may be any of the three. At a bound the gradient is shared equally between the element and the bound.

    Raises TypeError for a bound given by both of its names.

    >>> clip([-5.0, 0.5, 5.0], -1.0, max=1.0)
    Traceback (most recent call last):
    ...
    TypeError: clip: got a_min and max; expected a_min and a_max, or min and max
    >>> clip([-5.0, 0.5, 5.0], -1.0, 1.0)
    array([-1. ,  0.5,  1. ])
    """
    old = [name for name, value in (("a_min", a_min), ("a_max", a_max)) if value is not _LEFT_OUT]
    new = [name for name, value in (("min", min), ("max", max)) if value is not _LEFT_OUT]
    if old and new:
        raise TypeError(f"clip: got {' and '.join(old + new)}; expected a_min and a_max, or min and max")
    low, high = (min, max) if new else (a_min, a_max)
    low, high = (None if low is _LEFT_OUT else low), (None if high is _LEFT_OUT else high)
    if options or out is not None:
        return with_options(op.clip, _np.clip, (a, low, high), out, options)
    return op.clip(a, low, high)


def round(a: Any, decimals: int = 0, out: Any = None) -> Any:
    """NumPy's ``round``: a constant for a tensor.

    >>> round(2.567, 1)
    2.6
    """
    if out is not None:
        return with_options(op.round, _np.round, (a, decimals), out, {})
    return op.round(a, decimals=decimals)


around = round


def fix(x: Any, out: Any = None) -> Any:
    """Towards zero, to whole numbers: ``trunc``, a constant for a tensor."""
    return trunc(x, out=out)


def nan_to_num(x: Any, copy: bool = True, nan: Any = 0.0, posinf: Any = None, neginf: Any = None) -> Any:
    """NumPy's ``nan_to_num``: what is replaced is a constant. ``copy=False`` changes plain arrays in place, never tensors.

    >>> nan_to_num([1.0, float("nan")], nan=9.0)
    array([1., 9.])
    """
    if type(x) in (list, tuple):
        x = op.copy(x)
    if type(x) is not Tensor:
        return _np.nan_to_num(x, copy=copy, nan=stop_gradient(nan), posinf=posinf, neginf=neginf)
    plain = innermost_value(x)
    return op.where(_np.isfinite(plain), x, _np.nan_to_num(plain, nan=nan, posinf=posinf, neginf=neginf))
