"""Gradients of convolution and pooling.

A convolution is linear in the image and in the weights, and so are its two gradients: the three operators are each other's
gradients. The same holds for an average pool and its gradient, and for the gradient and the tangent of a maximum pool.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from autograd import operators as op
from autograd.gradients.products import sum_broadcast
from autograd.tensor import innermost_value
from registry.gradients import gradient

# ------------------------------------------------------------------------------------------------ convolution


@gradient(
    "conv2d",
    inputs_to_save=("x", "w"),
    infos_to_save=("x", "w"),
    needs={"x": ("w",), "w": ("x",)},
    linear=("x", "w"),
)
def conv2d(dy, saved, attrs):
    x, w, (shape_x, _), (shape_w, _) = saved
    ndim = max(len(shape_x), len(shape_w))
    return {
        "x": lambda: sum_broadcast(op.conv2d_input_gradient(dy, w, size=shape_x[-2:], **attrs), shape_x, ndim),
        "w": lambda: sum_broadcast(op.conv2d_weight_gradient(x, dy, size=shape_w[-2:], **attrs), shape_w, ndim),
    }


@gradient(
    "conv2d_input_gradient",
    inputs_to_save=("dy", "w"),
    infos_to_save=("dy", "w"),
    needs={"dy": ("w",), "w": ("dy",)},
    linear=("dy", "w"),
)
def conv2d_input_gradient(ddx, saved, attrs):
    dy, w, (shape_dy, _), (shape_w, _) = saved
    ndim = max(len(shape_dy), len(shape_w))
    geometry = {name: value for name, value in attrs.items() if name != "size"}
    return {
        "dy": lambda: sum_broadcast(op.conv2d(ddx, w, **geometry), shape_dy, ndim),
        "w": lambda: sum_broadcast(op.conv2d_weight_gradient(ddx, dy, size=shape_w[-2:], **geometry), shape_w, ndim),
    }


@gradient(
    "conv2d_weight_gradient",
    inputs_to_save=("x", "dy"),
    infos_to_save=("x", "dy"),
    needs={"x": ("dy",), "dy": ("x",)},
    linear=("x", "dy"),
)
def conv2d_weight_gradient(ddw, saved, attrs):
    x, dy, (shape_x, _), (shape_dy, _) = saved
    ndim = max(len(shape_x), len(shape_dy))
    geometry = {name: value for name, value in attrs.items() if name != "size"}
    return {
        "x": lambda: sum_broadcast(op.conv2d_input_gradient(dy, ddw, size=shape_x[-2:], **geometry), shape_x, ndim),
        "dy": lambda: sum_broadcast(op.conv2d(x, ddw, **geometry), shape_dy, ndim),
    }


# ------------------------------------------------------------------------------------------------ pooling


def _max_pool_tangent(tangents: Mapping[str, Any], saved: Sequence[Any], attrs: Mapping[str, Any]) -> Any:
    x, y = saved
    return op.max_pool2d_tangent(tangents["x"], x=innermost_value(x), y=innermost_value(y), **attrs)


@gradient("max_pool2d", inputs_to_save=("x",), outputs_to_save=True, jvp_func=_max_pool_tangent)
def max_pool2d(dy, saved, attrs):
    x, y = saved
    # which elements are maximal does not change with a small step, so they are constants, as attributes are
    return {"x": lambda: op.max_pool2d_gradient(dy, x=innermost_value(x), y=innermost_value(y), **attrs)}


@gradient("max_pool2d_gradient", linear=("dy",))
def max_pool2d_gradient(ddx, saved, attrs):
    return {"dy": lambda: op.max_pool2d_tangent(ddx, **attrs)}


@gradient("max_pool2d_tangent", linear=("tangent",))
def max_pool2d_tangent(dy, saved, attrs):
    return {"tangent": lambda: op.max_pool2d_gradient(dy, **attrs)}


@gradient("avg_pool2d", infos_to_save=("x",), linear=("x",))
def avg_pool2d(dy, saved, attrs):
    (x,) = saved
    return {"x": lambda: op.avg_pool2d_gradient(dy, size=x.shape[-2:], **attrs)}


@gradient("avg_pool2d_gradient", linear=("dy",))
def avg_pool2d_gradient(ddx, saved, attrs):
    geometry = {name: value for name, value in attrs.items() if name != "size"}
    return {"dy": lambda: op.avg_pool2d(ddx, **geometry)}


# ------------------------------------------------------------------------------------------------ convolution of vectors


@gradient(
    "convolve",
    inputs_to_save=("a", "v"),
    infos_to_save=("a", "v"),
    needs={"a": ("v",), "v": ("a",)},
    linear=("a", "v"),
)
def convolve(dy, saved, attrs):
    a, v, (shape_a, _), (shape_v, _) = saved
    return {
        "a": lambda: _convolved_factor(dy, v, shape_a, shape_v, attrs["mode"]),
        "v": lambda: _convolved_factor(dy, a, shape_v, shape_a, attrs["mode"]),
    }


def _convolved_factor(dy: Any, other: Any, shape: tuple[int, ...], other_shape: tuple[int, ...], mode: str) -> Any:
    """The gradient of a convolution in one of its two operands: a convolution of ``dy`` with the other one reversed.

    The modes change places: what a "full" one has at all positions is read off at the "valid" ones. Only the shorter operand
    of a "valid" one needs ``dy`` reversed instead, for then ``dy`` slides along the other one.
    """
    if mode == "full":
        g = op.convolve(dy, op.flip(other, axis=-1), mode="valid")
    elif shape[-1] >= other_shape[-1]:
        g = op.convolve(dy, op.flip(other, axis=-1), mode="full")
    else:
        g = op.flip(op.convolve(other, op.flip(dy, axis=-1), mode="valid"), axis=-1)
    return sum_broadcast(g, shape, max(len(shape), len(other_shape)))
