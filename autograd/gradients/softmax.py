"""Gradients of softmax, its logarithm, and its cross-entropy."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from autograd import operators as op
from autograd.tensor import innermost_value
from registry.gradients import GradConfig, gradient, register_gradient


def _from_the_end(axis: Any, y: Any) -> Any:
    """The axes of a softmax as negative numbers: extra leading axes of ``dy`` do not move them."""
    if type(axis) is int and axis < 0:
        return axis
    ndim = np.ndim(innermost_value(y))
    axes = range(ndim) if axis is None else axis if isinstance(axis, list | tuple) else (axis,)
    return tuple(each if each < 0 else each - ndim for each in axes)


def _softmax_product(v: Any, y: Any, axis: Any) -> Any:
    """The Jacobian of softmax, which is symmetric, times ``v``."""
    product = v * y
    return product - y * op.sum(product, axis=axis, keepdims=True)


def _softmax_tangent(tangents: Mapping[str, Any], saved: Sequence[Any], attrs: Mapping[str, Any]) -> Any:
    (y,) = saved
    return _softmax_product(tangents["x"], y, _from_the_end(attrs["axis"], y))


@gradient("softmax", outputs_to_save=True, jvp_func=_softmax_tangent)
def softmax(dy, saved, attrs):
    (y,) = saved
    return {"x": lambda: _softmax_product(dy, y, _from_the_end(attrs["axis"], y))}


def _log_softmax_tangent(tangents: Mapping[str, Any], saved: Sequence[Any], attrs: Mapping[str, Any]) -> Any:
    (y,) = saved
    axis = _from_the_end(attrs["axis"], y)
    return tangents["x"] - op.sum(tangents["x"] * op.exp(y), axis=axis, keepdims=True)


@gradient("log_softmax", outputs_to_save=True, jvp_func=_log_softmax_tangent)
def log_softmax(dy, saved, attrs):
    (y,) = saved
    axis = _from_the_end(attrs["axis"], y)
    return {"x": lambda: dy - op.exp(y) * op.sum(dy, axis=axis, keepdims=True)}


def _times_each(dy: Any, g: Any) -> Any:
    """``g`` for each number of ``dy``, which is one, or a batch of them."""
    if type(dy) is np.float32 and dy == 1:  # the loss itself, in single precision as one trains: nothing to do
        return g
    return dy.reshape(dy.shape + (1,) * len(g.shape)) * g if dy.shape else dy * g


def _cross_entropy_tangent(tangents: Mapping[str, Any], saved: Sequence[Any], attrs: Mapping[str, Any]) -> Any:
    (logits,) = saved
    return op.sum(tangents["logits"] * op.softmax_cross_entropy_gradient(logits, **attrs))


def _cross_entropy_logits(dy, saved, attrs):
    return _times_each(dy, op.softmax_cross_entropy_gradient(saved[0], **attrs))


register_gradient(
    GradConfig(
        "softmax_cross_entropy",
        by_input={"logits": _cross_entropy_logits},
        inputs_to_save=("logits",),
        jvp_func=_cross_entropy_tangent,
    )
)


def _hessian_product(v: Any, logits: Any, labels: Any) -> Any:
    """The Hessian of the cross-entropy, which is symmetric, times ``v``."""
    labels, shape = np.asarray(labels), logits.shape
    rows = int(np.prod(shape[:-1]))
    product = _softmax_product(v, op.softmax(logits, axis=-1), -1) / rows
    if labels.shape != shape:
        return product
    return product * labels.sum(-1, keepdims=True).astype(innermost_value(logits).dtype)


@gradient(
    "softmax_cross_entropy_gradient",
    inputs_to_save=("logits",),
    jvp_func=lambda tangents, saved, attrs: _hessian_product(tangents["logits"], saved[0], attrs["labels"]),
)
def softmax_cross_entropy_gradient(dy, saved, attrs):
    (logits,) = saved
    return {"logits": lambda: _hessian_product(dy, logits, attrs["labels"])}
