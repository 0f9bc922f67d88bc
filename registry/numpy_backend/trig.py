"""Trigonometric and hyperbolic functions."""

import math
from typing import Any

import numpy as np

from registry.declare import operator


def _sinc_derivative(x: Any, order: int) -> Any:
    """The derivative of ``sin(pi x) / (pi x)`` of any order, with full accuracy at and near 0.

    Of ``u * f(u) = sin(u)`` the derivative of order n reads ``u * f_n + n * f_(n-1) = sin(u + n pi / 2)``. Solved for
    ``f_n`` that loses all digits for small u; there the Taylor series takes over.
    """
    u = np.multiply(x, np.pi)
    near = np.abs(u) < order + 1
    small = np.where(near, u, 0.0)
    series: Any = 0.0
    for k in range(order + 16, (order + 1) // 2 - 1, -1):  # the powers u**(2k - order), highest first
        coefficient = (-1.0) ** k * math.perm(2 * k, order) / math.factorial(2 * k + 1)
        series = series * small * small + coefficient
    if order % 2:
        series = series * small
    large = np.where(near, order + 1.0, u)
    f = np.sin(large) / large
    for n in range(1, order + 1):
        f = (np.sin(large + n * (np.pi / 2)) - n * f) / large
    return (np.where(near, series, f) * np.pi**order)[()]


operator("sin(Tensor x) -> Tensor", np.sin)
operator("cos(Tensor x) -> Tensor", np.cos)
operator("tan(Tensor x) -> Tensor", np.tan)
operator("arcsin(Tensor x) -> Tensor", np.arcsin)
operator("arccos(Tensor x) -> Tensor", np.arccos)
operator("arctan(Tensor x) -> Tensor", np.arctan)
operator("arctan2(Tensor x1, Tensor x2) -> Tensor", np.arctan2)
operator("sinh(Tensor x) -> Tensor", np.sinh)
operator("cosh(Tensor x) -> Tensor", np.cosh)
operator("tanh(Tensor x) -> Tensor", np.tanh)
operator("arcsinh(Tensor x) -> Tensor", np.arcsinh)
operator("arccosh(Tensor x) -> Tensor", np.arccosh)
operator("arctanh(Tensor x) -> Tensor", np.arctanh)
operator("degrees(Tensor x) -> Tensor", np.degrees)
operator("radians(Tensor x) -> Tensor", np.radians)
operator("rad2deg(Tensor x) -> Tensor", np.rad2deg)
operator("deg2rad(Tensor x) -> Tensor", np.deg2rad)
operator("sinc(Tensor x) -> Tensor", np.sinc)
operator("sinc_derivative(Tensor x, *, int order) -> Tensor", _sinc_derivative)
