"""Joining and cutting arrays. Part of the family shape, whose names ``autograd.numpy.shape`` lists."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import accumulate, pairwise
from typing import Any

import numpy as np
from numpy.lib.array_utils import normalize_axis_index

from autograd import operators as op
from autograd.engine import innermost_tape, resolve
from autograd.numpy.arguments import as_array
from autograd.tensor import Tensor, innermost_value
from autograd.variant_calls import numpy_into

__all__ = [
    "append", "array_split", "atleast_1d", "atleast_2d", "atleast_3d", "block", "column_stack", "concat", "concatenate", "dsplit",
    "dstack", "hsplit", "hstack", "split", "stack", "unstack", "vsplit", "vstack",
]  # fmt: skip


# -------------------------------------------------------------------------------------------------- joining


def concatenate(
    arrays: Sequence[Any], axis: int | None = 0, out: Any = None, *, dtype: Any = None, casting: str = "same_kind"
) -> Any:
    """Arrays joined along an axis they have; ``axis=None`` joins them flattened.

    >>> concatenate([[1.0, 2.0], [3.0]])
    array([1., 2., 3.])
    """
    if out is not None or dtype is not None:
        return _joined(np.concatenate, arrays, axis, out, dtype, casting)
    return op.concatenate([as_array(each) for each in arrays], axis=axis)


concat = concatenate


def stack(arrays: Sequence[Any], axis: int = 0, out: Any = None, *, dtype: Any = None, casting: str = "same_kind") -> Any:
    """Arrays of one shape joined along a new axis.

    >>> stack([[1.0, 2.0], [3.0, 4.0]], axis=1)
    array([[1., 3.],
           [2., 4.]])
    """
    if out is not None or dtype is not None:
        return _joined(np.stack, arrays, axis, out, dtype, casting)
    return op.stack([as_array(each) for each in arrays], axis=axis)


def _joined(theirs: Callable[..., Any], arrays: Sequence[Any], axis: int | None, out: Any, dtype: Any, casting: Any) -> Any:
    """Joined into ``out``, or cast by NumPy's rules."""
    arrays = [as_array(resolve(each)) for each in arrays]
    name = theirs.__name__
    ours = getattr(op, name)
    if innermost_tape([*arrays, out]) is None:
        return theirs(arrays, axis, out, dtype=dtype, casting=casting)
    if out is not None and dtype is not None:
        raise TypeError(f"{name}: got out= and dtype=, expected one of the two: the result has the dtype of out")
    if out is not None:
        return numpy_into(f"{name}: out", lambda *parts: ours(list(parts), axis=axis), arrays, out)
    for each in arrays:
        given = np.asarray(innermost_value(each)).dtype
        if not np.can_cast(given, dtype, casting):
            raise TypeError(f"{name}: {given} cannot be cast to {np.dtype(dtype)} by the rule {casting!r}")
    return op.astype(ours(arrays, axis=axis), dtype=np.dtype(dtype))


def vstack(tup: Sequence[Any], *, dtype: Any = None, casting: str = "same_kind") -> Any:
    """Rows below one another: ``concatenate`` along the first axis, vectors taken as rows.

    >>> vstack([[1.0, 2.0], [3.0, 4.0]])
    array([[1., 2.],
           [3., 4.]])
    """
    return concatenate([atleast_2d(each) for each in tup], 0, dtype=dtype, casting=casting)


def hstack(tup: Sequence[Any], *, dtype: Any = None, casting: str = "same_kind") -> Any:
    """Arrays side by side: ``concatenate`` along the second axis, vectors along their only one.

    >>> hstack([[1.0, 2.0], 3.0])
    array([1., 2., 3.])
    """
    arrays = [atleast_1d(each) for each in tup]
    return concatenate(arrays, 0 if arrays and arrays[0].ndim == 1 else 1, dtype=dtype, casting=casting)


def dstack(tup: Sequence[Any]) -> Any:
    """Arrays behind one another: ``concatenate`` along the third axis.

    >>> dstack([[1.0, 2.0], [3.0, 4.0]]).shape
    (1, 2, 2)
    """
    return concatenate([atleast_3d(each) for each in tup], 2)


def column_stack(tup: Sequence[Any]) -> Any:
    """Vectors as the columns of a matrix; matrices side by side.

    >>> column_stack([[1.0, 2.0], [3.0, 4.0]])
    array([[1., 3.],
           [2., 4.]])
    """
    arrays = [as_array(each) for each in tup]
    columns = [each if np.ndim(innermost_value(each)) > 1 else op.reshape(each, shape=(-1, 1)) for each in arrays]
    return concatenate(columns, 1)


def append(arr: Any, values: Any, axis: int | None = None) -> Any:
    """``values`` behind ``arr``: ``concatenate`` of the two.

    >>> append([1.0, 2.0], 3.0)
    array([1., 2., 3.])
    """
    parts = [as_array(arr), as_array(values)]
    if axis is None:  # where concatenate, other than this, would let a number take the dtype of the array
        return op.concatenate([op.ravel(each) for each in parts], axis=0)
    return op.concatenate(parts, axis=axis)


def block(arrays: Any) -> Any:
    """An array of blocks: the innermost lists are joined along the last axis, those around them along the one before it.

    >>> block([[np.eye(2), np.zeros((2, 1))], [np.ones((1, 3))]])
    array([[1., 0., 0.],
           [0., 1., 0.],
           [1., 1., 1.]])
    """
    arrays = resolve(arrays)
    if innermost_tape([arrays]) is None:
        return np.block(arrays)
    depths = set(_depths(arrays, 0))
    if len(depths) > 1:
        raise ValueError(f"block: the blocks lie in lists of depths {sorted(depths)}, expected one depth for all")
    (depth,) = depths
    ndim = max([depth, *(len(np.shape(innermost_value(each))) for each in _leaves(arrays))])
    return op.copy(_built(arrays, depth, ndim)) if not depth else _built(arrays, depth, ndim)


def _depths(arrays: Any, depth: int) -> Iterator[int]:
    if isinstance(arrays, tuple):
        raise TypeError("block: got a tuple, expected lists: only these arrange blocks")
    if not isinstance(arrays, list):
        yield depth
        return
    if not arrays:
        raise ValueError("block: got an empty list, expected at least one block in each")
    for each in arrays:
        yield from _depths(each, depth + 1)


def _leaves(arrays: Any) -> Iterator[Any]:
    if not isinstance(arrays, list):
        yield arrays
        return
    for each in arrays:
        yield from _leaves(each)


def _built(arrays: Any, depth: int, ndim: int) -> Any:
    if isinstance(arrays, list):
        return op.concatenate([_built(each, depth - 1, ndim) for each in arrays], axis=-depth)
    shape = np.shape(innermost_value(arrays))
    return op.reshape(arrays, shape=(1,) * (ndim - len(shape)) + shape)


# -------------------------------------------------------------------------------------------------- axes at least


def _each(function: Callable[[Any], Any], arys: Sequence[Any]) -> Any:
    results = tuple(function(as_array(each)) for each in arys)
    return results[0] if len(results) == 1 else results


def _shaped(a: Any, choose: Callable[[tuple[int, ...]], tuple[int, ...]]) -> Any:
    shape = np.shape(innermost_value(a))
    wanted = choose(shape)
    if wanted == shape:
        return a if type(a) is Tensor else np.asanyarray(a)
    return op.reshape(a, shape=wanted)


def atleast_1d(*arys: Any) -> Any:
    """Scalars as arrays of one axis; a tuple for several arguments.

    >>> atleast_1d(3.0)
    array([3.])
    """
    return _each(lambda a: _shaped(a, lambda shape: shape or (1,)), arys)


def atleast_2d(*arys: Any) -> Any:
    """Scalars and vectors as matrices of one row; a tuple for several arguments.

    >>> atleast_2d([1.0, 2.0])
    array([[1., 2.]])
    """
    return _each(lambda a: _shaped(a, lambda shape: (1,) * (2 - len(shape)) + shape), arys)


def atleast_3d(*arys: Any) -> Any:
    """Arrays with three axes or more: a vector gets one on both sides, a matrix one behind.

    >>> atleast_3d([1.0, 2.0]).shape
    (1, 2, 1)
    """

    def shape_of(shape: tuple[int, ...]) -> tuple[int, ...]:
        return {0: (1, 1, 1), 1: (1, *shape, 1), 2: (*shape, 1)}.get(len(shape), shape)

    return _each(lambda a: _shaped(a, shape_of), arys)


# -------------------------------------------------------------------------------------------------- cutting


def array_split(ary: Any, indices_or_sections: Any, axis: int = 0) -> list[Any]:
    """Parts along an axis: about equally long ones for a number, or cut before each of several indices.

    >>> array_split([1.0, 2.0, 3.0], 2)
    [array([1., 2.]), array([3.])]
    """
    ary = as_array(ary)
    shape = np.shape(innermost_value(ary))
    axis = normalize_axis_index(axis, len(shape))
    length = shape[axis]
    if hasattr(indices_or_sections, "__len__"):
        points = [0, *indices_or_sections, length]
    else:
        sections = int(indices_or_sections)
        if sections <= 0:
            raise ValueError(f"array_split: got {sections} sections, expected one or more")
        part, longer = divmod(length, sections)
        points = [0, *accumulate([part + 1] * longer + [part] * (sections - longer))]
    ahead = (slice(None),) * axis
    return [op.getitem(ary, index=(*ahead, slice(*ends))) for ends in pairwise(points)]


def split(ary: Any, indices_or_sections: Any, axis: int = 0) -> list[Any]:
    """As ``array_split``, but a number of parts must divide the length.

    >>> split([1.0, 2.0, 3.0, 4.0], 2)
    [array([1., 2.]), array([3., 4.])]
    """
    ary = as_array(ary)
    length = np.shape(innermost_value(ary))[axis]
    if not hasattr(indices_or_sections, "__len__") and length % indices_or_sections:
        raise ValueError(
            f"split: {indices_or_sections} sections do not divide the length {length} of axis {axis}; array_split may have"
            " parts of different lengths"
        )
    return array_split(ary, indices_or_sections, axis)


def _split_along(function: str, ary: Any, indices_or_sections: Any, axis: int) -> list[Any]:
    ary = as_array(ary)
    ndim = np.ndim(innermost_value(ary))
    needed = axis + 1 if function != "hsplit" else 1
    if ndim < needed:
        raise ValueError(f"{function}: got an array of {ndim} axes, expected {needed} or more")
    return split(ary, indices_or_sections, min(axis, ndim - 1))


def hsplit(ary: Any, indices_or_sections: Any) -> list[Any]:
    """``split`` along the second axis; a vector along its only one.

    >>> hsplit([1.0, 2.0], 2)
    [array([1.]), array([2.])]
    """
    return _split_along("hsplit", ary, indices_or_sections, 1)


def vsplit(ary: Any, indices_or_sections: Any) -> list[Any]:
    """``split`` along the first axis of an array with two or more.

    >>> vsplit([[1.0], [2.0]], 2)
    [array([[1.]]), array([[2.]])]
    """
    if np.ndim(innermost_value(as_array(ary))) < 2:
        raise ValueError("vsplit: got an array of fewer than 2 axes; use split")
    return _split_along("vsplit", ary, indices_or_sections, 0)


def dsplit(ary: Any, indices_or_sections: Any) -> list[Any]:
    """``split`` along the third axis.

    >>> dsplit([[[1.0, 2.0]]], 2)
    [array([[[1.]]]), array([[[2.]]])]
    """
    return _split_along("dsplit", ary, indices_or_sections, 2)


def unstack(x: Any, /, *, axis: int = 0) -> tuple[Any, ...]:
    """The parts along an axis, without it: what ``stack`` puts together.

    >>> unstack([[1.0, 2.0], [3.0, 4.0]])
    (array([1., 2.]), array([3., 4.]))
    """
    x = as_array(x)
    shape = np.shape(innermost_value(x))
    if not shape:
        raise ValueError("unstack: got an array without axes, expected at least one")
    axis = normalize_axis_index(axis, len(shape))
    ahead = (slice(None),) * axis
    return tuple(op.getitem(x, index=(*ahead, at)) for at in range(shape[axis]))
