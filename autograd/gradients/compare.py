"""Gradients of the choice between two values. The cotangent of what was not chosen is exactly 0, be it inf or NaN."""

import numpy as np

from autograd import operators as op
from autograd.tensor import innermost_value
from registry.gradients import gradient


@gradient("where", inputs_to_save=("condition",), elementwise=True, keeps_zeros=True)
def where(dy, saved, attrs):
    (condition,) = saved
    return {
        "x": lambda: op.where_or_zero(innermost_value(condition), dy),
        "y": lambda: op.where_or_zero(np.logical_not(innermost_value(condition)), dy),
    }


@gradient("where_or_zero", inputs_to_save=("condition",), elementwise=True, keeps_zeros=True)
def where_or_zero(dy, saved, attrs):
    (condition,) = saved
    return {"x": lambda: op.where_or_zero(innermost_value(condition), dy)}
