"""Gradients of functions that NumPy does not have. relu at 0 has 0."""

import numpy as np

from autograd import operators as op
from autograd.tensor import innermost_value
from registry.gradients import GradConfig, gradient, register_gradient

register_gradient(
    GradConfig(
        "sigmoid",
        by_input={"x": lambda dy, saved, attrs: dy * (saved[0] - saved[0] * saved[0])},
        outputs_to_save=True,
        elementwise=True,
        fresh=True,
    )
)


# Of relu the output is kept rather than the input: the next layer's matmul keeps the same array anyway.


def _relu_x(dy, saved, attrs):
    return op.where_or_zero(np.greater(innermost_value(saved[0]), 0), dy)


register_gradient(
    GradConfig("relu", by_input={"x": _relu_x}, outputs_to_save=True, elementwise=True, keeps_zeros=True, fresh=True)
)


@gradient("softplus", inputs_to_save=("x",), elementwise=True)
def softplus(dy, saved, attrs):
    (x,) = saved
    return {"x": lambda: dy * op.sigmoid(x)}


@gradient("bessel_i", inputs_to_save=("x",), elementwise=True)
def bessel_i(dy, saved, attrs):
    (x,) = saved
    order = attrs["order"]
    if order == 0:
        return {"x": lambda: dy * op.bessel_i(x, order=1)}
    return {"x": lambda: dy * (op.bessel_i(x, order=order - 1) + op.bessel_i(x, order=order + 1)) * 0.5}
