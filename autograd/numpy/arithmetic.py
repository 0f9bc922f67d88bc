"""NumPy-shaped arithmetic."""

from __future__ import annotations

from typing import Any

import numpy as _np

from autograd import operators as op
from autograd.engine import innermost_tape
from autograd.errors import NotTrackedError
from autograd.numpy.ufuncs import of_ufunc, ufunc, with_options
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
    "frexp",
    "heaviside",
    "hypot",
    "imag",
    "ldexp",
    "maximum",
    "minimum",
    "mod",
    "modf",
    "multiply",
    "nan_to_num",
    "negative",
    "nextafter",
    "positive",
    "pow",
    "power",
    "real",
    "reciprocal",
    "remainder",
    "rint",
    "round",
    "sign",
    "spacing",
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
ldexp = ufunc("ldexp")
nextafter = ufunc("nextafter")
spacing = ufunc("spacing")
real = op.real
imag = op.imag
angle = op.angle

_LEFT_OUT = object()


def _sign(x: Any) -> Any:
    """A constant for real tensors, and ``x / |x|``, which is differentiable, for complex ones."""
    if type(x) is not Tensor or not _np.iscomplexobj(innermost_value(x)):
        return op.sign(x)
    size = op.absolute(x)
    return op.divide(x, op.where(_np.equal(innermost_value(size), 0), 1.0, size))


def _divmod(x1: Any, x2: Any) -> tuple[Any, Any]:
    return op.floor_divide(x1, x2), op.remainder(x1, x2)


def _modf(x: Any) -> tuple[Any, Any]:
    """The part behind the point, which moves as ``x`` does, and the whole number, a constant."""
    if type(x) is not Tensor:
        return _np.modf(x)
    fraction, whole = _np.modf(innermost_value(x))
    infinite = _np.isinf(whole)
    if not infinite.any():
        return op.fmod(x, 1.0), whole
    return op.where(infinite, fraction, op.fmod(op.where(infinite, 0.0, x), 1.0)), whole


def _frexp(x: Any) -> tuple[Any, Any]:
    """``x`` as a fraction times a power of two, whose exponent is a constant."""
    if type(x) is not Tensor:
        return _np.frexp(x)
    _, exponent = _np.frexp(innermost_value(x))
    return op.ldexp(x, _np.negative(exponent)), exponent


sign = of_ufunc(_np.sign, _sign, "sign")
divmod = of_ufunc(_np.divmod, _divmod, "divmod")
modf = of_ufunc(_np.modf, _modf, "modf")
frexp = of_ufunc(_np.frexp, _frexp, "frexp")


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
    if not options and out is None:
        return op.clip(a, low, high)
    bounds = [each for each in (low, high) if each is not None]
    if innermost_tape([a, out, *bounds, *options.values()]) is None:
        return _np.clip(a, low, high, out=out, **options)

    def run(a: Any, *bounds: Any) -> Any:
        return op.clip(a, None if low is None else bounds[0], None if high is None else bounds[-1])

    return with_options(run, _np.clip, (a, *bounds), out, options)


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
    """NumPy's ``nan_to_num``: what is replaced has no gradient; what it is replaced by has.

    ``copy=False`` changes plain arrays in place, never tensors.

    >>> nan_to_num([1.0, float("nan")], nan=9.0)
    array([1., 9.])
    """
    if type(x) in (list, tuple):
        x = op.copy(x)
    if innermost_tape((x, nan, posinf, neginf)) is None:
        return _np.nan_to_num(x, copy=copy, nan=nan, posinf=posinf, neginf=neginf)
    plain = innermost_value(x)
    replacements = [innermost_value(each) for each in (nan, posinf, neginf)]
    y = op.where(_np.isfinite(plain), x, _np.nan_to_num(plain, True, *replacements))
    for value, chooses in ((nan, _np.isnan), (posinf, _np.isposinf), (neginf, _np.isneginf)):
        if type(value) is Tensor and not _np.iscomplexobj(plain):
            y = op.where(chooses(plain), op.astype(value, dtype=_np.asarray(plain).dtype), y)
        elif type(value) is Tensor:
            raise NotTrackedError("nan_to_num: got a tensor as a replacement in complex numbers, expected plain ones; use where")
    return y
