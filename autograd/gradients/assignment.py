"""Gradients of assignment: the values get what arrived where they stand, the old array what arrived elsewhere."""

from __future__ import annotations

from typing import Any

import numpy as np

from autograd import operators as op
from autograd.gradients.indexing import read_behind_batch
from autograd.indexed import IndexedGradient
from registry.gradients import gradient


def _tangent(tangents, saved, attrs):
    """Assignment is linear in value and array together: a zero stands for the one that has no tangent."""
    a = saved[1]
    dv, da = tangents["v"], tangents["a"]
    if da is None:
        da = np.zeros(a.shape, np.result_type(np.dtype(a.dtype), dv.dtype))
    return op.setitem(0.0 if dv is None else dv, da, index=attrs["index"])


@gradient("setitem", infos_to_save=("v", "a"), jvp_func=_tangent, takes_indexed=True)
def setitem(dy, saved, attrs):
    v, a = saved
    index = attrs["index"]
    indexed = dy if type(dy) is IndexedGradient and dy.buffer is not None else None
    if indexed is None and type(dy) is IndexedGradient:
        dy = dy.dense()

    def dv():
        n_batch = 0 if indexed is not None else np.ndim(dy) - len(a.shape)
        part = read_behind_batch(dy, index, len(a.shape)) if indexed is None else indexed.take(index)
        winners = _winners(index, a.shape)
        if winners is not None:
            part = op.where_or_zero(winners, part)
        return _sum_to(part, v.shape, n_batch)

    def da():  # after dv, which reads what is cleared here
        if indexed is not None:
            indexed.clear(index)
            return indexed
        if type(dy) is np.ndarray and dy.shape == a.shape:
            mine = IndexedGradient.of_array(np.array(dy))
            mine.clear(index)
            return mine
        untouched = np.ones(a.shape, bool)
        untouched[index] = False
        return op.where_or_zero(untouched, dy)

    return {"v": dv, "a": da}


def _winners(index: Any, shape: tuple[int, ...]) -> Any:
    """Which of the assigned elements stay, where some places are named twice: the last one; None if all do."""
    parts = index if isinstance(index, tuple) else (index,)
    if not any(np.ndim(each) and np.asarray(each).dtype.kind in "iu" for each in parts):
        return None
    places = np.full(shape, -1)
    numbers = np.arange(places[index].size).reshape(places[index].shape)
    places[index] = numbers
    winners = places[index] == numbers
    return None if winners.all() else winners


def _sum_to(part: Any, shape: tuple[int, ...], n_batch: int) -> Any:
    """The gradient of the assigned part, summed over the axes along which a value of ``shape`` was repeated to fill it."""
    batch, filled = np.shape(part)[:n_batch], np.shape(part)[n_batch:]
    kept = shape[max(len(shape) - len(filled), 0) :]  # NumPy drops leading axes of length 1 that the part does not have
    extra = len(filled) - len(kept)
    axes = [*range(n_batch, n_batch + extra)]
    axes += [at for at, length in enumerate(kept, n_batch + extra) if length == 1 and np.shape(part)[at] != 1]
    if axes:
        part = op.sum(part, axis=tuple(axes), keepdims=True)
    return op.reshape(part, shape=batch + shape) if np.shape(part) != batch + shape else part
