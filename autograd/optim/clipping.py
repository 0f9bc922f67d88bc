"""Gradients that are too large, made smaller: number by number, or all together by their norm."""

from __future__ import annotations

from math import inf, isfinite, sqrt
from typing import Any

import numpy as np

from autograd.containers import flatten
from autograd.errors import OptimiserError
from autograd.tensor import Tensor


def clip_by_value(gradient: Any, limit: float) -> Any:
    """The gradient with each number limited to ``[-limit, limit]``, both parts of a complex one; NaN stays NaN.

    The arrays are changed in place; one that cannot be (it is read-only, or a view) is replaced by a new one.

    >>> clip_by_value([np.array([3.0, -0.5]), -4.0], 1.0)
    [array([ 1. , -0.5]), -1.0]
    """
    _check_limit("clip_by_value", limit)
    leaves, structure = _leaves("clip_by_value", gradient)
    return structure.rebuild([_limited(each, limit) for each in leaves])


def clip_by_global_norm(gradient: Any, limit: float, *, eps: float = 1e-6) -> tuple[Any, float]:
    """``(gradient, norm)``: the gradient scaled so that the norm of all its numbers together is at most ``limit``.

    The norm, which is that before, is the root of the sum of ``|g|**2`` over all numbers of all arrays. If it is above the limit,
    every array is multiplied by ``limit / (norm + eps)``, as torch does; Pascanu et al. (2013) have ``eps = 0``. The norm is
    right also where the squares overflow or vanish in the gradient's own precision. If a number is NaN the norm is, and the whole
    gradient becomes NaN; if one is infinite the others become 0 and it becomes NaN: neither is left out without a sign.

    The arrays are changed in place; one that cannot be (it is read-only, or a view) is replaced by a new one.

    >>> clip_by_global_norm({"w": np.array([3.0]), "b": 4.0}, 1.0, eps=0.0)
    ({'w': array([0.6]), 'b': 0.8}, 5.0)
    """
    _check_limit("clip_by_global_norm", limit)
    leaves, structure = _leaves("clip_by_global_norm", gradient)
    norm = _norm(leaves)
    if norm <= limit:
        return gradient, norm
    scale = limit / (norm + eps)
    scaled: dict[int, Any] = {}
    for each in leaves:
        if id(each) not in scaled:  # one array may be the gradient of two parameters
            scaled[id(each)] = _scaled(each, scale)
    return structure.rebuild([scaled[id(each)] for each in leaves]), norm


def global_norm(gradient: Any) -> float:
    """The root of the sum of ``|g|**2`` over all numbers in a container, right also where the squares overflow or vanish.

    >>> f"{global_norm({'w': np.array([3e30, 0.0], np.float32), 'b': 4e30}):.6g}"
    '5e+30'
    """
    return _norm(_leaves("global_norm", gradient)[0])


def _check_limit(who: str, limit: float) -> None:
    if not isinstance(limit, int | float | np.number) or not limit > 0:
        raise OptimiserError(f"{who}: the limit is {limit!r}, expected a number above 0")


def _leaves(who: str, gradient: Any) -> tuple[list[Any], Any]:
    leaves, structure = flatten(gradient)
    for each in leaves:
        if isinstance(each, Tensor):
            raise OptimiserError(f"{who}: the gradient holds a Tensor; take it when the tape outside is closed")
        if callable(each):
            raise OptimiserError(f"{who}: the gradient holds a function; call the thunks of a map of gradients first")
    return leaves, structure


def _is_array(leaf: Any) -> bool:
    return isinstance(leaf, np.ndarray) and leaf.dtype.kind in "fc"


def _is_number(leaf: Any) -> bool:
    return type(leaf) in (float, complex) or (isinstance(leaf, np.generic) and leaf.dtype.kind in "fc")


def _limited(leaf: Any, limit: float) -> Any:
    if _is_number(leaf):
        return type(leaf)(_limited(np.array(leaf), limit)[()])
    if not _is_array(leaf):
        return leaf
    into = leaf if _can_be_changed(leaf) else np.array(leaf)
    parts = (into.real, into.imag) if into.dtype.kind == "c" else (into,)
    for part in parts:
        np.minimum(part, limit, out=part)
        np.maximum(part, -limit, out=part)
    return into


def _scaled(leaf: Any, scale: float) -> Any:
    if _is_number(leaf):
        return type(leaf)(leaf * scale)
    if _is_array(leaf):
        return np.multiply(leaf, scale, leaf) if _can_be_changed(leaf) else np.asarray(np.multiply(leaf, scale))
    return leaf


def _can_be_changed(leaf: Any) -> bool:
    """Whether an array can be written without something else being: the memory of a view may be another gradient's too."""
    return bool(leaf.flags.writeable and leaf.flags.owndata)


def _norm(leaves: list[Any]) -> float:
    """By plain sums of squares; where these overflow or nearly vanish, of numbers divided by the largest."""
    total = 0.0
    for each in leaves:
        if _is_array(each):
            vector = each.ravel()
            total += float(np.vdot(vector, vector).real)
        elif _is_number(each):
            size = float(np.abs(each))
            total += size * size
    if 1e-30 < total < inf:
        return sqrt(total)
    parts = [np.abs(np.atleast_1d(each)) for each in leaves if _is_array(each) or _is_number(each)]
    largest = max((float(each.max(initial=0.0)) for each in parts), default=0.0)
    if any(bool(np.isnan(each).any()) for each in parts):
        return float("nan")
    if largest == 0 or not isfinite(largest):
        return largest
    return largest * sqrt(sum(float(np.sum((each.astype(float) / largest) ** 2)) for each in parts))
