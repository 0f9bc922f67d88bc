"""Gradients of trigonometric and hyperbolic functions.

arctan2 has no derivative of any kind at the origin, where it jumps: its gradient there is NaN, unless its cotangent is 0.
"""

import math

import numpy as np

from autograd import operators as op
from autograd.tensor import Tensor, innermost_value
from registry.gradients import GradConfig, gradient, register_gradient

_DEGREE = math.pi / 180.0


def _sin_x(dy, saved, attrs):
    return dy * op.cos(saved[0])


register_gradient(GradConfig("sin", by_input={"x": _sin_x}, inputs_to_save=("x",), elementwise=True, fresh=True))


def _cos_x(dy, saved, attrs):
    return -(dy * op.sin(saved[0]))


register_gradient(GradConfig("cos", by_input={"x": _cos_x}, inputs_to_save=("x",), elementwise=True, fresh=True))


@gradient("tan", outputs_to_save=True, elementwise=True)
def tan(dy, saved, attrs):
    (y,) = saved
    return {"x": lambda: dy * (op.square(y) + 1.0)}


def _one_minus_square(x):
    """``1 - x * x``, by factors where that would lose half of the digits: near 1. The derivatives are those of ``-x * x``.

    Those of the factors would cancel near 0, where the second derivative of arcsin is ``x``.
    """
    plain = innermost_value(x)
    exact = (1.0 - plain) * (1.0 + plain)
    if type(x) is not Tensor:
        return exact
    near = op.subtract(1.0, op.square(x))
    return op.add(near, exact - innermost_value(near))


@gradient("arcsin", inputs_to_save=("x",), elementwise=True)
def arcsin(dy, saved, attrs):
    (x,) = saved
    return {"x": lambda: dy / op.sqrt(_one_minus_square(x))}


@gradient("arccos", inputs_to_save=("x",), elementwise=True)
def arccos(dy, saved, attrs):
    (x,) = saved
    return {"x": lambda: -(dy / op.sqrt(_one_minus_square(x)))}


@gradient("arctan", inputs_to_save=("x",), elementwise=True)
def arctan(dy, saved, attrs):
    (x,) = saved
    return {"x": lambda: dy / (op.square(x) + 1.0)}


@gradient("arctan2", inputs_to_save=("x1", "x2"), elementwise=True)
def arctan2(dy, saved, attrs):
    x1, x2 = saved
    # The radius twice rather than its square, which overflows and underflows long before the quotient does.
    radius = None

    def over_radius(x):
        nonlocal radius
        if radius is None:
            radius = op.hypot(x1, x2)
        return op.divide(op.divide(x, radius), radius)

    return {"x1": lambda: dy * over_radius(x2), "x2": lambda: -(dy * over_radius(x1))}


@gradient("sinh", inputs_to_save=("x",), elementwise=True)
def sinh(dy, saved, attrs):
    (x,) = saved
    return {"x": lambda: dy * op.cosh(x)}


@gradient("cosh", inputs_to_save=("x",), elementwise=True)
def cosh(dy, saved, attrs):
    (x,) = saved
    return {"x": lambda: dy * op.sinh(x)}


def _tanh_x(dy, saved, attrs):
    return dy - dy * saved[0] * saved[0]  # as exact as dy * (1 - y * y), and no scalar to convert


register_gradient(GradConfig("tanh", by_input={"x": _tanh_x}, outputs_to_save=True, elementwise=True, fresh=True))


@gradient("arcsinh", inputs_to_save=("x",), elementwise=True)
def arcsinh(dy, saved, attrs):
    (x,) = saved

    def dx():
        root = op.sqrt(op.square(x) + 1.0)
        if np.isinf(innermost_value(root)).any() and not np.iscomplexobj(innermost_value(x)):
            root = op.hypot(x, 1.0)  # of large numbers too, whose squares overflow; it takes twice the time
        return dy / root

    return {"x": dx}


@gradient("arccosh", inputs_to_save=("x",), elementwise=True)
def arccosh(dy, saved, attrs):
    (x,) = saved
    # Two roots rather than one: for complex numbers the root of the product is another branch.
    return {"x": lambda: dy / (op.sqrt(x - 1.0) * op.sqrt(x + 1.0))}


@gradient("arctanh", inputs_to_save=("x",), elementwise=True)
def arctanh(dy, saved, attrs):
    (x,) = saved
    return {"x": lambda: dy / _one_minus_square(x)}


@gradient("rad2deg", elementwise=True)
@gradient("degrees", elementwise=True)
def degrees(dy, saved, attrs):
    return {"x": lambda: dy / _DEGREE}


@gradient("deg2rad", elementwise=True)
@gradient("radians", elementwise=True)
def radians(dy, saved, attrs):
    return {"x": lambda: dy * _DEGREE}


@gradient("sinc", inputs_to_save=("x",), elementwise=True)
def sinc(dy, saved, attrs):
    (x,) = saved
    return {"x": lambda: dy * op.sinc_derivative(x, order=1)}


@gradient("sinc_derivative", inputs_to_save=("x",), elementwise=True)
def sinc_derivative(dy, saved, attrs):
    (x,) = saved
    return {"x": lambda: dy * op.sinc_derivative(x, order=attrs["order"] + 1)}
