"""NumPy-shaped functions that choose between values, or call a function for each part. Part of the family compare.

Conditions and indices are constants. What is not chosen gets a gradient of exactly 0. The functions that are called may use
tensors of their own, from outside: also then what they return is followed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.lib.array_utils import normalize_axis_index

from autograd import operators as op
from autograd.engine import innermost_tape, resolve
from autograd.errors import NotTrackedError
from autograd.numpy.arguments import as_array, as_dtype
from autograd.numpy.following import follows
from autograd.tensor import Tensor, innermost_value

__all__ = ["apply_along_axis", "apply_over_axes", "choose", "extract", "piecewise", "select"]


def _shape(a: Any) -> tuple[int, ...]:
    return np.shape(innermost_value(a))


def _plain(a: Any) -> Any:
    return np.asarray(innermost_value(a))


def _common_dtype(choices: Sequence[Any]) -> Any:
    """The dtype of all choices together, in which Python's numbers have no say beyond their kind."""
    values = [innermost_value(each) for each in choices]
    return np.result_type(*(each if type(each) in (int, float, complex) else np.asarray(each) for each in values))


# -------------------------------------------------------------------------------------------------- choices


@follows(np.select, "choicelist", "default")
def select(condlist: Sequence[Any], choicelist: Sequence[Any], default: Any = 0) -> Any:
    """For each element the choice whose condition is the first to hold, else ``default``.

    >>> select([np.array([True, False]), np.array([True, True])], [1.0, 2.0])
    array([1., 2.])
    """
    if len(condlist) != len(choicelist) or not len(condlist):
        raise ValueError(f"select: got {len(condlist)} conditions and {len(choicelist)} choices, expected as many, and not 0")
    choices = [as_array(each) for each in (*choicelist, default)]
    conditions = [np.asarray(each) for each in condlist]
    for number, each in enumerate(conditions):
        if each.dtype != bool:
            raise TypeError(f"select: condition {number} has dtype {each.dtype}, expected bool")
    dtype = _common_dtype(choices)
    shape = np.broadcast_shapes(*(each.shape for each in conditions), *(_shape(each) for each in choices))
    result = choices[-1]
    for condition, choice in zip(reversed(conditions), reversed(choices[:-1]), strict=True):
        result = op.where(condition, choice, result)
    result = op.broadcast_to(result, shape=shape) if _shape(result) != shape else result
    return result if _plain(result).dtype == dtype else op.astype(result, dtype=dtype)


@follows(np.choose, "choices")
def choose(a: Any, choices: Any, out: Any = None, mode: Any = "raise") -> Any:
    """For each whole number in ``a`` the element of that choice in the same place.

    >>> choose([0, 1], [[1.0, 2.0], [3.0, 4.0]])
    array([1., 4.])
    """
    several = [as_array(each) for each in choices]
    several = [as_dtype(each, _common_dtype(several)) for each in several]
    shape = np.broadcast_shapes(np.shape(a), *(_shape(each) for each in several))
    numbers = np.broadcast_to(a, shape)
    places = np.choose(numbers, [np.full(shape, number) for number in range(len(several))], mode=mode)  # by NumPy's modes
    stacked = op.stack([op.broadcast_to(each, shape=shape) for each in several])
    return op.getitem(op.take_along_axis(stacked, indices=places[None], axis=0), index=0)


@follows(np.extract, "arr")
def extract(condition: Any, arr: Any) -> Any:
    """The elements of the flattened array for which the flattened condition holds.

    >>> extract([True, False], [1.0, 2.0])
    array([1.])
    """
    return op.take(op.ravel(as_array(arr)), indices=np.flatnonzero(condition))


def piecewise(x: Any, condlist: Any, funclist: Sequence[Any], *args: Any, **kw: Any) -> Any:
    """``f(x)`` with a function, or a constant, for each condition; where several hold, the last one; where none does, 0.

    One function more than there are conditions is for all other elements. Each gets the elements of its condition in one vector.

    >>> piecewise(np.array([-1.0, 2.0]), [np.array([True, False])], [lambda x: -x, lambda x: x * x])
    array([1., 4.])
    """
    x, funclist = resolve(x), resolve(list(funclist))
    x = as_array(x) if isinstance(x, list | tuple) else x
    shape, plain = _shape(x), _plain(x)
    if np.isscalar(condlist) or (not isinstance(condlist[0], list | np.ndarray) and shape):
        condlist = [condlist]
    conditions = np.asarray(condlist, bool)
    if len(conditions) == len(funclist) - 1:
        conditions = np.concatenate([conditions, ~np.any(conditions, axis=0, keepdims=True)])
    if len(conditions) != len(funclist):
        raise ValueError(
            f"piecewise: got {len(conditions)} conditions and {len(funclist)} functions, expected as many, or one function more"
        )
    flat, masks = op.reshape(x, shape=(-1,)), [np.broadcast_to(each, shape).ravel() for each in conditions]
    pieces: list[Any] = []
    for mask, function in zip(masks, funclist, strict=True):
        piece = function(flat[mask], *args, **kw) if callable(function) and mask.any() else function
        pieces.append(np.zeros(0) if callable(piece) else resolve(piece))
    dtype, taken = plain.dtype, np.zeros(plain.size, bool)
    values, indices = [], []
    for mask, piece in reversed(list(zip(masks, pieces, strict=True))):
        chosen = mask & ~taken
        taken |= mask
        if chosen.any():
            whole = op.broadcast_to(as_array(piece), shape=(int(mask.sum()),))
            if type(whole) is Tensor and dtype.kind not in "fc":
                raise NotTrackedError(
                    f"piecewise: a function returned a tensor, but x has dtype {dtype}, to which it would be cast as a constant;"
                    " convert it: x.astype(float)"
                )
            values.append(op.astype(whole[chosen[mask]], dtype=dtype))
            indices.append(np.flatnonzero(chosen))
    if not values:
        return np.zeros(shape, dtype)
    y = op.scatter_add(values, indices=indices, shape=(plain.size,), dtype=dtype)
    return op.reshape(y, shape=shape)


# -------------------------------------------------------------------------------------------------- a function for each part


def apply_along_axis(func1d: Callable[..., Any], axis: int, arr: Any, *args: Any, **kwargs: Any) -> Any:
    """``func1d(row, *args, **kwargs)`` of every row along an axis; the axes of its result take the place of that axis.

    >>> apply_along_axis(np.sum, 1, np.array([[1.0, 2.0], [3.0, 4.0]]))
    array([3., 7.])
    """
    arr = resolve(arr)
    arr = as_array(arr) if isinstance(arr, list | tuple) else arr
    shape = _shape(arr)
    axis = normalize_axis_index(axis, len(shape))
    others = [each for each in range(len(shape)) if each != axis]
    moved = op.transpose(arr, axes=[*others, axis])
    results = [resolve(func1d(moved[index], *args, **kwargs)) for index in np.ndindex(*_shape(moved)[:-1])]
    if innermost_tape(results) is None:
        given = iter(results)
        return np.apply_along_axis(lambda _: next(given), axis, innermost_value(arr))  # with NumPy's rules for types and shapes
    rows = [as_array(each) for each in results]
    result = _shape(rows[0])
    stacked = op.reshape(op.stack(rows), shape=(*_shape(moved)[:-1], *result))
    ahead, behind = range(axis), range(axis, len(others))
    return op.transpose(stacked, axes=[*ahead, *range(len(others), len(others) + len(result)), *behind])


@follows(np.apply_over_axes, "a")
def apply_over_axes(func: Callable[..., Any], a: Any, axes: Any) -> Any:
    """``func(a, axis)`` for one axis after the other, which stays as an axis of length one if ``func`` takes it away.

    >>> apply_over_axes(np.sum, np.eye(2), [0, 1])
    array([[2.]])
    """
    y = as_array(a)
    ndim = len(_shape(y))
    for axis in axes if hasattr(axes, "__len__") else (axes,):
        axis = axis + ndim if axis < 0 else axis
        y = func(y, axis)
        if len(_shape(y)) == ndim - 1:
            y = op.expand_dims(y, axis=axis)
        if len(_shape(y)) != ndim:
            raise ValueError(f"apply_over_axes: the function returned {len(_shape(y))} axes, expected {ndim} or one less")
    return y
