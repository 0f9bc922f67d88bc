"""Gradients of arithmetic."""

from autograd import operators as op
from registry.gradients import gradient


@gradient("add", elementwise=True)
def add(dy, saved, attrs):
    return {"x1": lambda: dy, "x2": lambda: dy}


@gradient("subtract", elementwise=True)
def subtract(dy, saved, attrs):
    return {"x1": lambda: dy, "x2": lambda: op.negative(dy)}


@gradient("multiply", inputs_to_save=("x1", "x2"), needs={"x1": ("x2",), "x2": ("x1",)}, elementwise=True)
def multiply(dy, saved, attrs):
    x1, x2 = saved
    return {"x1": lambda: dy * x2, "x2": lambda: dy * x1}
