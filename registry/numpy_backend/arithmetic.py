"""Arithmetic: sums, products, powers, remainders, rounding, and the parts of complex numbers."""

from typing import Any

import numpy as np

from registry.declare import operator
from registry.out_arrays import check_result, copy_into, ufunc_into


def _power(x1: Any, x2: Any) -> Any:
    """``np.power``; the operator form of it takes square, root and reciprocal by their own, much faster, loops."""
    return x1**x2 if type(x1) is np.ndarray else np.power(x1, x2)


def _clip(a: Any, a_min: Any, a_max: Any) -> Any:
    if a_min is None:
        return np.positive(a) if a_max is None else np.minimum(a, a_max)
    return np.maximum(a, a_min) if a_max is None else np.clip(a, a_min, a_max)


def _power_into(x1: Any, x2: Any, *, out: Any) -> Any:
    if type(x1) is np.ndarray and not np.ndim(x2):
        copy_into("operator 'power': the array to write", out, x1**x2)  # the loops of the operator form take no out=
        return out
    return ufunc_into(np.power)(x1, x2, out=out)


def _clip_into(a: Any, a_min: Any, a_max: Any, *, out: Any) -> Any:
    if a_min is None:
        return ufunc_into(np.positive)(a, out=out) if a_max is None else ufunc_into(np.minimum)(a, a_max, out=out)
    if a_max is None:
        return ufunc_into(np.maximum)(a, a_min, out=out)
    shape = np.broadcast_shapes(np.shape(a), np.shape(a_min), np.shape(a_max))
    check_result("operator 'clip': the array to write", out, shape, np.result_type(a, a_min, a_max))
    return np.clip(a, a_min, a_max, out=out)


def _round_into(a: Any, *, decimals: int = 0, out: Any) -> Any:
    a = np.asarray(a)
    check_result("operator 'round': the array to write", out, a.shape, np.round(np.ones(1, a.dtype)).dtype)
    return np.round(a, decimals, out=out)


operator("add(Tensor x1, Tensor x2) -> Tensor", np.add)
operator("subtract(Tensor x1, Tensor x2) -> Tensor", np.subtract)
operator("multiply(Tensor x1, Tensor x2) -> Tensor", np.multiply)
operator("divide(Tensor x1, Tensor x2) -> Tensor", np.divide)
operator("floor_divide(Tensor x1, Tensor x2) -> Tensor", np.floor_divide, constant=True)
operator("remainder(Tensor x1, Tensor x2) -> Tensor", np.remainder)
operator("fmod(Tensor x1, Tensor x2) -> Tensor", np.fmod)
operator("negative(Tensor x) -> Tensor", np.negative)
operator("positive(Tensor x) -> Tensor", np.positive)

operator("power(Tensor x1, Tensor x2) -> Tensor", _power, out_func=_power_into)
operator("float_power(Tensor x1, Tensor x2) -> Tensor", np.float_power)
operator("square(Tensor x) -> Tensor", np.square)
operator("sqrt(Tensor x) -> Tensor", np.sqrt)
operator("cbrt(Tensor x) -> Tensor", np.cbrt)
operator("reciprocal(Tensor x) -> Tensor", np.reciprocal)

operator("absolute(Tensor x) -> Tensor", np.absolute)
operator("fabs(Tensor x) -> Tensor", np.fabs)
operator("hypot(Tensor x1, Tensor x2) -> Tensor", np.hypot)
operator("copysign(Tensor x1, Tensor x2) -> Tensor", np.copysign)
operator("heaviside(Tensor x1, Tensor x2) -> Tensor", np.heaviside)

operator("maximum(Tensor x1, Tensor x2) -> Tensor", np.maximum)
operator("minimum(Tensor x1, Tensor x2) -> Tensor", np.minimum)
operator("fmax(Tensor x1, Tensor x2) -> Tensor", np.fmax)
operator("fmin(Tensor x1, Tensor x2) -> Tensor", np.fmin)
operator("clip(Tensor a, Tensor? a_min=None, Tensor? a_max=None) -> Tensor", _clip, out_func=_clip_into)

operator("ldexp(Tensor x1, Tensor x2) -> Tensor", np.ldexp)
operator("nextafter(Tensor x1, Tensor x2) -> Tensor", np.nextafter)
operator("spacing(Tensor x) -> Tensor", np.spacing, constant=True)

operator("real(Tensor(a) val) -> Tensor(a)", np.real)
operator("imag(Tensor(a) val) -> Tensor(a)", np.imag)
operator("conjugate(Tensor x) -> Tensor", np.conjugate)
operator("angle(Tensor z, bool deg=False) -> Tensor", np.angle)

operator("sign(Tensor x) -> Tensor", np.sign, constant=True)
operator("floor(Tensor x) -> Tensor", np.floor, constant=True)
operator("ceil(Tensor x) -> Tensor", np.ceil, constant=True)
operator("rint(Tensor x) -> Tensor", np.rint, constant=True)
operator("trunc(Tensor x) -> Tensor", np.trunc, constant=True)
operator("round(Tensor a, int decimals=0) -> Tensor", np.round, constant=True, out_func=_round_into)
