"""NumPy-shaped trigonometric and hyperbolic functions."""

from __future__ import annotations

from autograd import operators as op
from autograd.numpy.ufuncs import ufunc

__all__ = [
    "acos",
    "acosh",
    "arccos",
    "arccosh",
    "arcsin",
    "arcsinh",
    "arctan",
    "arctan2",
    "arctanh",
    "asin",
    "asinh",
    "atan",
    "atan2",
    "atanh",
    "cos",
    "cosh",
    "deg2rad",
    "degrees",
    "rad2deg",
    "radians",
    "sin",
    "sinc",
    "sinh",
    "tan",
    "tanh",
]
METHODS: tuple[str, ...] = ()

sin = ufunc("sin")
cos = ufunc("cos")
tan = ufunc("tan")
arcsin = asin = ufunc("arcsin")
arccos = acos = ufunc("arccos")
arctan = atan = ufunc("arctan")
arctan2 = atan2 = ufunc("arctan2")
sinh = ufunc("sinh")
cosh = ufunc("cosh")
tanh = ufunc("tanh")
arcsinh = asinh = ufunc("arcsinh")
arccosh = acosh = ufunc("arccosh")
arctanh = atanh = ufunc("arctanh")
degrees = ufunc("degrees")
radians = ufunc("radians")
rad2deg = ufunc("rad2deg")
deg2rad = ufunc("deg2rad")
sinc = op.sinc
