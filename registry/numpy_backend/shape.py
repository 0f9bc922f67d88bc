"""Shapes: kernels that move, repeat, join and cut what an array holds, and change its type."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from registry.declare import operator
from registry.out_arrays import checked_into


def _broadcast_to(array: Any, shape: Any) -> Any:
    if np.ndim(array) == 0 and type(shape) is tuple:  # most often a cotangent of a sum; a fifth of np.broadcast_to's time
        plain = np.asarray(array)
        view: Any = np.ndarray(shape, plain.dtype, plain, 0, (0,) * len(shape))
        view.flags.writeable = False
        return view
    return np.broadcast_to(array, shape)


def _concatenate(arrays: Sequence[Any], axis: int | None, out: Any = None) -> Any:
    return np.concatenate(arrays, axis, out)


def _stack(arrays: Sequence[Any], axis: int, out: Any = None) -> Any:
    return np.stack(arrays, axis, out)


def _joined_dtype(arrays: Sequence[Any], axis: int | None) -> Any:
    return np.result_type(*(np.asarray(each).dtype for each in arrays))


def _reshape(a: Any, shape: Any, order: Any) -> Any:
    if order == "C":
        return np.asarray(a).reshape(shape)
    return np.reshape(a, shape, order=order)


def _pad(array: Any, pad_width: Any, mode: Any, constant_values: Any) -> Any:
    if mode == "constant":
        return np.pad(array, pad_width, constant_values=constant_values)
    return np.pad(array, pad_width, mode)


def _place_diagonal(a: Any, shape: Any, offset: int, axis1: int, axis2: int) -> Any:
    total = np.zeros(a.shape[: a.ndim + 1 - len(shape)] + tuple(shape), a.dtype)
    ahead = total.ndim - len(shape)
    axes = [each % len(shape) + ahead for each in (axis1, axis2)]
    view = np.diagonal(total, offset, *axes)
    view.flags.writeable = True  # NumPy hands the view out read-only
    view[...] = a
    return total


def _zeros(shape: Any, dtype: Any) -> Any:
    return np.zeros(shape, dtype)


operator("reshape(Tensor(a) a, int[1] shape, *, str order='C') -> Tensor(a)", _reshape)
operator("ravel(Tensor(a) a, *, str order='C') -> Tensor(a)", np.ravel)
operator("transpose(Tensor(a) a, int[]? axes=None) -> Tensor(a)", np.transpose)
operator("swapaxes(Tensor(a) a, int axis1, int axis2) -> Tensor(a)", np.swapaxes)
operator("expand_dims(Tensor(a) a, int[1] axis) -> Tensor(a)", np.expand_dims)
operator("squeeze(Tensor(a) a, int[1]? axis=None) -> Tensor(a)", np.squeeze)
operator("broadcast_to(Tensor(a) array, int[1] shape) -> Tensor(a)", _broadcast_to)

operator("concatenate(Tensor[] arrays, int? axis=0) -> Tensor", _concatenate, out_func=checked_into(_concatenate, _joined_dtype))
operator("stack(Tensor[] arrays, int axis=0) -> Tensor", _stack, out_func=checked_into(_stack, _joined_dtype))
operator("pad(Tensor array, Any pad_width, *, str mode='constant', Any constant_values=0) -> Tensor", _pad)
operator("repeat(Tensor a, Any repeats, int? axis=None) -> Tensor", np.repeat)
operator("flip(Tensor(a) m, int[1]? axis=None) -> Tensor(a)", np.flip)
operator("roll(Tensor a, Any shift, int[1]? axis=None) -> Tensor", np.roll)

operator("diagonal(Tensor(a) a, int offset=0, int axis1=0, int axis2=1) -> Tensor(a)", np.diagonal)
# The transpose of diagonal: zeros of a shape with the last axis of `a` on a diagonal.
operator("place_diagonal(Tensor a, *, int[] shape, int offset=0, int axis1=0, int axis2=1) -> Tensor", _place_diagonal)

operator("astype(Tensor x, ScalarType dtype) -> Tensor", lambda x, dtype: np.asarray(x).astype(dtype)[()])
operator("copy(Tensor a) -> Tensor", lambda a: np.array(a)[()])
operator("zeros(*, int[] shape, ScalarType dtype) -> Tensor", _zeros)
