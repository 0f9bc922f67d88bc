"""Gradients of indexing and sorting.

Reading gives an ``IndexedGradient``: the walk collects the pieces of an array and adds them up once.
"""

from functools import partial
from typing import Any

import numpy as np
from numpy.lib.array_utils import normalize_axis_index

from autograd import operators as op
from autograd.indexed import IndexedGradient
from autograd.tensor import innermost_value
from registry.gradients import GradConfig, gradient, register_gradient


def _getitem_a(dy, saved, attrs):
    shape, dtype = saved[0]
    return IndexedGradient(dy, attrs["index"], shape, dtype)


register_gradient(GradConfig("getitem", by_input={"a": _getitem_a}, infos_to_save=("a",), linear=("a",)))


@gradient("scatter_add", infos_to_save=("values",), linear=("values",))
def scatter_add(dy, saved, attrs):
    ndim = len(attrs["shape"])
    return {"values": [partial(read_behind_batch, dy, index, ndim - attrs["batch"]) for index in attrs["indices"]]}


def read_behind_batch(dy, index, ndim):
    """``dy[index]`` for the last ``ndim`` axes; those in front are a batch, and stay in front."""
    ahead = np.ndim(dy) - ndim
    if not ahead:
        return op.getitem(dy, index=index)
    parts = index if isinstance(index, tuple) else (index,)
    if not _moves_to_front(parts):
        return op.getitem(dy, index=(slice(None),) * ahead + parts)
    # NumPy would put the axes of the index arrays ahead of the batch: read from one flat axis instead.
    shape = dy.shape[ahead:]
    size = int(np.prod(shape))
    flat = op.reshape(dy, shape=(*dy.shape[:ahead], size))
    return op.getitem(flat, index=(..., np.arange(size).reshape(shape)[index]))


def _moves_to_front(parts):
    """Whether index arrays are kept apart by a slice, so that NumPy puts their axes first in the result."""
    apart = [each is None or each is Ellipsis or isinstance(each, slice) for each in parts]
    arrays = [at for at, each in enumerate(parts) if not apart[at] and np.ndim(each) + isinstance(each, bool | np.bool_)]
    if not arrays:
        return False
    advanced = [at for at, each in enumerate(apart) if not each]
    return len(advanced) != advanced[-1] - advanced[0] + 1


@gradient("take", infos_to_save=("a",), linear=("a",))
def take(dy, saved, attrs):
    (a,) = saved

    def da():
        axis = attrs["axis"]
        if not a.shape:
            return _of_the_only_element(dy, attrs["indices"])
        length = int(np.prod(a.shape)) if axis is None else a.shape[axis]
        indices = np.asarray(attrs["indices"])
        if attrs["mode"] == "wrap":
            indices = indices % length
        elif attrs["mode"] == "clip":
            indices = np.clip(indices, 0, length - 1)
        where: Any
        if axis is None:
            where = np.unravel_index(np.where(indices < 0, indices + length, indices), a.shape)
        else:
            where = (*(slice(None),) * normalize_axis_index(axis, len(a.shape)), indices)
        return IndexedGradient(dy, where, a.shape, a.dtype)

    return {"a": da}


def _of_the_only_element(dy, indices):
    """The cotangent of an array without axes, which NumPy reads by indices as if it had one of length one."""
    return op.sum(dy, axis=tuple(range(-np.ndim(indices), 0)))


@gradient("take_along_axis", infos_to_save=("arr",), linear=("arr",))
def take_along_axis(dy, saved, attrs):
    (arr,) = saved

    def darr():
        indices, shape, axis = np.asarray(attrs["indices"]), arr.shape, attrs["axis"]
        if not shape:
            return _of_the_only_element(dy, indices)
        if axis is None:
            size = int(np.prod(shape))
            return IndexedGradient(dy, np.unravel_index(indices % max(size, 1), shape), shape, arr.dtype)
        return IndexedGradient(dy, along_axis(indices, shape, axis), shape, arr.dtype)

    return {"arr": darr}


def along_axis(indices: Any, shape: tuple[int, ...], axis: int) -> tuple[Any, ...]:
    """The index that reads ``indices`` along an axis, and every position along the others."""
    ndim = len(shape)
    axis = normalize_axis_index(axis, ndim)
    others = [np.arange(length).reshape((-1,) + (1,) * (ndim - 1 - at)) for at, length in enumerate(shape)]
    return tuple(indices if at == axis else each for at, each in enumerate(others))


@gradient("sort", inputs_to_save=("a",))
def sort(dy, saved, attrs):
    (a,) = saved

    def da():
        plain = np.asarray(innermost_value(a))
        axis = attrs["axis"]
        if axis is None:
            return op.reshape(_unsorted(dy, plain.ravel(), -1), shape=dy.shape[:-1] + plain.shape)
        return _unsorted(dy, plain, normalize_axis_index(axis, plain.ndim) - plain.ndim)

    return {"a": da}


def _unsorted(dy, a, axis):
    """The cotangent of sorted values, brought back to where they came from; equal values share theirs equally."""
    order = np.argsort(a, axis=axis, kind="stable")
    ordered = np.moveaxis(np.take_along_axis(a, order, axis), axis, -1)
    batch = dy.shape[: dy.ndim - a.ndim]
    fresh = np.ones(ordered.shape, bool)
    fresh[..., 1:] = ordered[..., 1:] != ordered[..., :-1]
    if not fresh.all():
        group = np.moveaxis(np.cumsum(fresh, axis=-1) - 1, -1, axis)
        where = along_axis(group, a.shape, axis)
        count = np.zeros(a.shape, dy.dtype)
        np.add.at(count, where, 1)
        sums = op.scatter_add([dy], indices=[where], shape=batch + a.shape, dtype=dy.dtype, batch=len(batch))
        dy = _read_along(sums / np.maximum(count, 1), group, axis, len(batch))
    return _read_along(dy, np.argsort(order, axis=axis, kind="stable"), axis, len(batch))


def _read_along(x, indices, axis, n_batch):
    """``take_along_axis`` behind the axes of a batch; ``axis`` counts from the end."""
    return op.take_along_axis(x, indices=indices.reshape((1,) * n_batch + indices.shape), axis=axis)
