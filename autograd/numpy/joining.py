"""Joining and cutting arrays. Part of the family shape, whose names ``autograd.numpy.shape`` lists."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import accumulate, pairwise
from typing import Any

import numpy as np
from numpy.lib.array_utils import normalize_axis_index

from autograd import operators as op
from autograd.errors import NotTrackedError
from autograd.numpy.arguments import as_array, refuse
from autograd.tensor import Tensor, innermost_value

__all__ = [
    "append", "array_split", "atleast_1d", "atleast_2d", "atleast_3d", "column_stack", "concat", "concatenate", "dsplit",
    "dstack", "hsplit", "hstack", "pad", "split", "stack", "vsplit", "vstack",
]  # fmt: skip

_PAD_MODES = ("constant", "edge", "reflect", "symmetric", "wrap")


def _cast(result: Any, dtype: Any) -> Any:
    return result if dtype is None else op.astype(result, dtype=np.dtype(dtype))


# -------------------------------------------------------------------------------------------------- joining


def concatenate(
    arrays: Sequence[Any], axis: int | None = 0, out: Any = None, *, dtype: Any = None, casting: str = "same_kind"
) -> Any:
    """Arrays joined along an axis they have; ``axis=None`` joins them flattened.

    >>> concatenate([[1.0, 2.0], [3.0]])
    array([1., 2., 3.])
    """
    refuse("concatenate", out=out)
    return _cast(op.concatenate([as_array(each) for each in arrays], axis=axis), dtype)


concat = concatenate


def stack(arrays: Sequence[Any], axis: int = 0, out: Any = None, *, dtype: Any = None, casting: str = "same_kind") -> Any:
    """Arrays of one shape joined along a new axis.

    >>> stack([[1.0, 2.0], [3.0, 4.0]], axis=1)
    array([[1., 3.],
           [2., 4.]])
    """
    refuse("stack", out=out)
    return _cast(op.stack([as_array(each) for each in arrays], axis=axis), dtype)


def vstack(tup: Sequence[Any], *, dtype: Any = None, casting: str = "same_kind") -> Any:
    """Rows below one another: ``concatenate`` along the first axis, vectors taken as rows.

    >>> vstack([[1.0, 2.0], [3.0, 4.0]])
    array([[1., 2.],
           [3., 4.]])
    """
    return concatenate([atleast_2d(each) for each in tup], 0, dtype=dtype)


def hstack(tup: Sequence[Any], *, dtype: Any = None, casting: str = "same_kind") -> Any:
    """Arrays side by side: ``concatenate`` along the second axis, vectors along their only one.

    >>> hstack([[1.0, 2.0], 3.0])
    array([1., 2., 3.])
    """
    arrays = [atleast_1d(each) for each in tup]
    return concatenate(arrays, 0 if arrays and arrays[0].ndim == 1 else 1, dtype=dtype)


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
    return op.concatenate([as_array(arr), as_array(values)], axis=axis)


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


# -------------------------------------------------------------------------------------------------- padding


def pad(array: Any, pad_width: Any, mode: Any = "constant", **kwargs: Any) -> Any:
    """An array with margins. Modes: constant (with ``constant_values``, which may be tensors), edge, reflect, symmetric, wrap.

    On plain arrays NumPy's other modes and options work too; on a tensor they raise NotTrackedError.

    >>> pad([1.0, 2.0], 1)
    array([0., 1., 2., 0.])
    >>> pad([1.0, 2.0], (0, 2), mode="edge")
    array([1., 2., 2., 2.])
    """
    array = as_array(array)
    given = kwargs.get("constant_values", 0)
    values = as_array(given)
    if type(array) is not Tensor and type(values) is not Tensor:
        return np.pad(array, pad_width, mode, **kwargs)
    others = sorted(kwargs.keys() - {"constant_values"})
    if mode not in _PAD_MODES or (others and not (others == ["reflect_type"] and kwargs["reflect_type"] == "even")):
        raise NotTrackedError(
            f"pad: mode {mode!r} with options {others} has no gradient rule; expected one of {_PAD_MODES}, and of the options"
            " constant_values alone. Build other margins with concatenate"
        )
    if "constant_values" in kwargs and mode != "constant":
        raise ValueError(f"pad: mode {mode!r} does not take constant_values")
    shape = np.shape(innermost_value(array))
    widths = _pairs(pad_width, len(shape))
    if type(values) is not Tensor:
        return op.pad(array, pad_width=widths, mode=mode, constant_values=given)
    margins = op.broadcast_to(op.astype(values, dtype=array.dtype), shape=(len(shape), 2))
    for axis, (before, after) in enumerate(widths):
        now = np.shape(innermost_value(array))
        sides = [
            op.broadcast_to(margins[axis, side], shape=(*now[:axis], width, *now[axis + 1 :]))
            for side, width in enumerate((before, after))
        ]
        array = op.concatenate([sides[0], array, sides[1]], axis=axis)
    return array


def _pairs(pad_width: Any, ndim: int) -> tuple[tuple[int, int], ...]:
    """A margin before and behind for each axis."""
    if isinstance(pad_width, dict):
        widths = [(0, 0)] * ndim
        for axis, width in pad_width.items():
            widths[axis] = width if isinstance(width, tuple) else (width, width)
        return tuple(widths)
    pairs = np.broadcast_to(np.asarray(pad_width), (ndim, 2)).tolist()
    return tuple((before, after) for before, after in pairs)
