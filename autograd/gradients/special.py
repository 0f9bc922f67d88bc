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
