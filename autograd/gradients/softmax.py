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
    total = op.sum(product, axis=axis, keepdims=True)
    return _unless_zero(product - y * total, v, np.isnan(innermost_value(total)), axis)


def _unless_zero(g: Any, v: Any, undefined: Any, axis: Any) -> Any:
    """``g``, and exactly 0 in rows that are undefined and of which ``v`` is 0 throughout: those are masked out."""
    if not undefined.any():
        return g
    silent = undefined & ~np.not_equal(innermost_value(v), 0).any(axis=axis, keepdims=True)
    return op.where(silent, 0.0, g) if silent.any() else g


def _softmax_tangent(tangents: Mapping[str, Any], saved: Sequence[Any], attrs: Mapping[str, Any]) -> Any:
    (y,) = saved
    return _softmax_product(tangents["x"], y, _from_the_end(attrs["axis"], y))


@gradient("softmax", outputs_to_save=True, jvp_func=_softmax_tangent)
def softmax(dy, saved, attrs):
    (y,) = saved
    return {"x": lambda: _softmax_product(dy, y, _from_the_end(attrs["axis"], y))}


def _log_softmax_tangent(tangents: Mapping[str, Any], saved: Sequence[Any], attrs: Mapping[str, Any]) -> Any:
    (y,), t = saved, tangents["x"]
    axis = _from_the_end(attrs["axis"], y)
    mean = op.sum(t * op.exp(y), axis=axis, keepdims=True)
    return _unless_zero(t - mean, t, np.isnan(innermost_value(mean)), axis)


@gradient("log_softmax", outputs_to_save=True, jvp_func=_log_softmax_tangent)
def log_softmax(dy, saved, attrs):
    (y,) = saved
    axis = _from_the_end(attrs["axis"], y)

    def dx():
        total = op.sum(dy, axis=axis, keepdims=True)
        g = dy - op.exp(y) * total
        zero = np.equal(innermost_value(total), 0)
        return _unless_zero(g, dy, zero & np.isnan(innermost_value(g)).any(axis=axis, keepdims=True), axis) if zero.any() else g

    return {"x": dx}


def _times_each(dy: Any, g: Any) -> Any:
    """``g`` for each number of ``dy``, which is one, or a batch of them."""
    return dy.reshape(dy.shape + (1,) * len(g.shape)) * g if dy.shape else dy * g


def _hessian_product(v: Any, logits: Any, labels: Any) -> Any:
    """The Hessian of the cross-entropy, which is symmetric, times ``v``."""
    labels, shape = np.asarray(labels), logits.shape
    rows = int(np.prod(shape[:-1]))
    product = _softmax_product(v, op.softmax(logits, axis=-1), -1) / rows
    if labels.shape != shape:
        return product
    return product * labels.sum(-1, keepdims=True).astype(innermost_value(logits).dtype)


def _cross_entropy_logits(dy: Any, saved: Sequence[Any], attrs: Mapping[str, Any]) -> Any:
    (d_loss, d_gradient), (logits, g) = dy, saved
    if d_gradient is None:
        return _times_each(d_loss, g)
    product = _hessian_product(d_gradient, logits, attrs["labels"])
    return product if d_loss is None else op.add(_times_each(d_loss, g), product)


def _cross_entropy_tangent(tangents: Mapping[str, Any], saved: Sequence[Any], attrs: Mapping[str, Any]) -> Any:
    (logits, g), v = saved, tangents["logits"]
    return op.sum(v * g), _hessian_product(v, logits, attrs["labels"])


register_gradient(
    GradConfig(
        "softmax_cross_entropy",
        by_input={"logits": _cross_entropy_logits},
        inputs_to_save=("logits",),
        outputs_to_save=(False, True),
        jvp_func=_cross_entropy_tangent,
        accepts_none=True,
    )
)
