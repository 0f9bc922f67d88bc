"""Gradients of trig."""

from autograd import operators as op
from registry.gradients import gradient


@gradient("sin", inputs_to_save=("x",), elementwise=True)
def sin(dy, saved, attrs):
    (x,) = saved
    return {"x": lambda: dy * op.cos(x)}


@gradient("cos", inputs_to_save=("x",), elementwise=True)
def cos(dy, saved, attrs):
    (x,) = saved
    return {"x": lambda: op.negative(dy * op.sin(x))}
