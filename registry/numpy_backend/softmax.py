"""Softmax, its logarithm, and the cross-entropy of it: each shifts by the maximum, so that no exponential overflows."""

from __future__ import annotations

from typing import Any

import numpy as np

from registry.declare import operator

Array = np.ndarray[Any, Any]


def _softmax(x: Any, axis: Any) -> Any:
    axis = tuple(axis) if isinstance(axis, list) else axis
    y = np.exp(x - np.maximum.reduce(x, axis, None, None, True))
    y /= np.add.reduce(y, axis, None, None, True)
    return y


def _log_softmax(x: Any, axis: Any) -> Any:
    axis = tuple(axis) if isinstance(axis, list) else axis
    shifted = x - np.maximum.reduce(x, axis, None, None, True)
    return shifted - np.log(np.add.reduce(np.exp(shifted), axis, None, None, True))


def label_weights(logits: Array, labels: Array) -> Array | None:
    """The sum of the weights of each row of ``labels``, or None if they are class numbers.

    Raises ValueError for labels that are neither class numbers nor one weight for each class.
    """
    if labels.shape == logits.shape and labels.dtype.kind in "fb":
        return np.add.reduce(labels, -1, None, None, True)
    if labels.shape != logits.shape[:-1] or labels.dtype.kind not in "iu":
        raise ValueError(
            f"labels are {labels.dtype} of shape {labels.shape}; for logits of shape {logits.shape} expected class numbers"
            f" (integers) of shape {logits.shape[:-1]}, or one float for each class of shape {logits.shape}"
        )
    if labels.size and np.minimum.reduce(labels, None) < 0:
        raise ValueError(
            f"labels hold {labels.min()}, expected class numbers from 0 to {logits.shape[-1] - 1}; leave out what has no label"
        )
    return None


def _softmax_cross_entropy(logits: Array, labels: Any) -> Any:
    labels = np.asarray(labels)
    weights = label_weights(logits, labels)
    shifted = logits - np.maximum.reduce(logits, -1, None, None, True)
    log_total = np.log(np.add.reduce(np.exp(shifted), -1))
    count = log_total.size
    if weights is not None:
        parts = np.zeros_like(shifted)  # a weight of 0 counts as nothing, also where the probability is 0
        np.multiply(labels, log_total[..., None] - shifted, out=parts, where=labels != 0, casting="same_kind")
        return np.add.reduce(parts, None) / count
    rows = shifted.reshape((count, -1))
    return np.add.reduce(log_total.ravel() - rows[np.arange(count), labels.ravel()]) / count


def _softmax_cross_entropy_gradient(logits: Array, labels: Any) -> Array:
    labels = np.asarray(labels)
    weights = label_weights(logits, labels)
    g = np.exp(logits - np.maximum.reduce(logits, -1, None, None, True))
    total = np.add.reduce(g, -1, None, None, True)
    count = total.size
    total *= count
    g /= total
    if weights is not None:
        g *= weights.astype(g.dtype)
        g -= labels / g.dtype.type(count)
        return g
    g.reshape((count, -1))[np.arange(count), labels.ravel()] -= 1 / count
    return g


operator("softmax(Tensor x, *, int[1]? axis=-1) -> Tensor", _softmax)
operator("log_softmax(Tensor x, *, int[1]? axis=-1) -> Tensor", _log_softmax)
operator("softmax_cross_entropy(Tensor logits, *, Any labels) -> Tensor", _softmax_cross_entropy)
operator("softmax_cross_entropy_gradient(Tensor logits, *, Any labels) -> Tensor", _softmax_cross_entropy_gradient)
