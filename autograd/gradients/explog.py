"""Gradients of exponentials and logarithms."""

import math

import numpy as np

from autograd import operators as op
from autograd.tensor import innermost_value
from registry.gradients import GradConfig, gradient, register_gradient

_LOG_2 = math.log(2.0)
_LOG_10 = math.log(10.0)


register_gradient(
    GradConfig(
        "exp",
        by_input={"x": lambda dy, saved, attrs: dy * saved[0]},
        outputs_to_save=True,
        elementwise=True,
        fresh=True,
    )
)


@gradient("exp2", outputs_to_save=True, elementwise=True)
def exp2(dy, saved, attrs):
    (y,) = saved
    return {"x": lambda: dy * y * _LOG_2}


@gradient("expm1", inputs_to_save=("x",), elementwise=True)
def expm1(dy, saved, attrs):
    (x,) = saved
    return {"x": lambda: dy * op.exp(x)}  # y + 1 would be 0 from x = -37 on


register_gradient(
    GradConfig(
        "log",
        by_input={"x": lambda dy, saved, attrs: dy / saved[0]},
        inputs_to_save=("x",),
        elementwise=True,
        fresh=True,
    )
)


@gradient("log2", inputs_to_save=("x",), elementwise=True)
def log2(dy, saved, attrs):
    (x,) = saved
    return {"x": lambda: dy / (x * _LOG_2)}


@gradient("log10", inputs_to_save=("x",), elementwise=True)
def log10(dy, saved, attrs):
    (x,) = saved
    return {"x": lambda: dy / (x * _LOG_10)}


@gradient("log1p", inputs_to_save=("x",), elementwise=True)
def log1p(dy, saved, attrs):
    (x,) = saved
    return {"x": lambda: dy / (x + 1.0)}


@gradient("logaddexp", inputs_to_save=("x1", "x2"), elementwise=True)
def logaddexp(dy, saved, attrs):
    x1, x2 = saved
    return {"x1": lambda: dy * _share(x1, x2, 1.0), "x2": lambda: dy * _share(x2, x1, 1.0)}


@gradient("logaddexp2", inputs_to_save=("x1", "x2"), elementwise=True)
def logaddexp2(dy, saved, attrs):
    x1, x2 = saved
    return {"x1": lambda: dy * _share(x1, x2, _LOG_2), "x2": lambda: dy * _share(x2, x1, _LOG_2)}


def _share(mine, other, log_base):
    """The part of the sum of two powers that is mine: half of two infinite ones, and 0 of 0, by convention."""
    share = op.sigmoid(op.multiply(op.subtract(mine, other), log_base))
    plain = innermost_value(mine)
    undefined = np.isinf(plain) & np.equal(plain, innermost_value(other))
    if undefined.any():
        share = op.where(undefined, 0.5 * np.greater(plain, 0), share)
    return share
