"""Gradients of functions that NumPy does not have. relu at 0 has 0."""

import numpy as np

from autograd import operators as op
from autograd.tensor import innermost_value
from registry.gradients import gradient


@gradient("sigmoid", outputs_to_save=True, elementwise=True)
def sigmoid(dy, saved, attrs):
    (y,) = saved
    return {"x": lambda: dy * (y - y * y)}


# Of relu the output is kept rather than the input: the next layer's matmul keeps the same array anyway.


@gradient("relu", outputs_to_save=True, elementwise=True)
def relu(dy, saved, attrs):
    (y,) = saved
    return {"x": lambda: op.where_or_zero(np.greater(innermost_value(y), 0), dy)}


@gradient("softplus", inputs_to_save=("x",), elementwise=True)
def softplus(dy, saved, attrs):
    (x,) = saved
    return {"x": lambda: dy * op.sigmoid(x)}
