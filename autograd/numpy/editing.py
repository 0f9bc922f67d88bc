"""NumPy-shaped functions that put elements in, leave them out, or fill a shape. Part of the family shape.

NumPy is asked, with whole numbers in place of the elements, which element comes where; the tensor is read at these places.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.lib.array_utils import normalize_axis_index, normalize_axis_tuple

from autograd import operators as op
from autograd.errors import NotTrackedError
from autograd.numpy.arguments import as_array, as_dtype
from autograd.numpy.following import follows
from autograd.numpy.joining import atleast_1d
from autograd.tensor import Tensor, innermost_value

__all__ = [
    "delete", "diag_indices_from", "insert", "real_if_close", "resize", "tril_indices_from", "trim_zeros", "triu_indices_from",
]  # fmt: skip


def _plain(a: Any) -> Any:
    return np.asarray(innermost_value(a))


def _along(arr: Any, axis: int | None) -> tuple[Any, int]:
    """``arr``, flattened if there is no axis, and the axis from the front."""
    arr = as_array(arr)
    if axis is None:
        return op.ravel(arr), 0
    return arr, normalize_axis_index(axis, np.ndim(innermost_value(arr)))


@follows(np.delete, "arr")
def delete(arr: Any, obj: Any, axis: int | None = None) -> Any:
    """An array without the elements at the indices, slice or mask ``obj`` along an axis; of the flattened array by default.

    >>> delete([1.0, 2.0, 3.0], 1)
    array([1., 3.])
    """
    arr, axis = _along(arr, axis)
    return op.take(arr, indices=np.delete(np.arange(np.shape(innermost_value(arr))[axis]), obj), axis=axis)


@follows(np.insert, "arr", "values")
def insert(arr: Any, obj: Any, values: Any, axis: int | None = None) -> Any:
    """An array with ``values`` put in before the indices, slice or mask ``obj`` along an axis; into the flattened one by default.

    >>> insert([1.0, 2.0], 1, 5.0)
    array([1., 5., 2.])
    """
    arr, axis = _along(arr, axis)
    values = as_array(values)
    shape, dtype = np.shape(innermost_value(arr)), _plain(arr).dtype
    if dtype.kind not in "fc" and type(values) is Tensor:
        raise NotTrackedError(
            f"insert: values is a tensor, but arr has dtype {dtype}, to which it would be cast as a constant; convert the array:"
            " arr.astype(float)"
        )
    values = as_dtype(values, dtype)
    whole = obj if isinstance(obj, slice) else np.asarray(obj)
    if not isinstance(whole, slice) and whole.ndim == 0 and whole.dtype != bool:
        given = np.shape(innermost_value(values))
        given = (1,) * (len(shape) - len(given)) + given
        values = op.reshape(values, shape=given)
        if len(given) == len(shape):  # what stands first is what is put in
            order = [*range(1, axis + 1), 0, *range(axis + 1, len(given))]
            values = op.transpose(values, axes=order)
        count = np.shape(innermost_value(values))[axis]
    else:
        before = np.insert(np.arange(shape[axis]), obj, -1)
        count = len(before) - shape[axis]
    places = np.insert(np.arange(shape[axis]), obj, -1 - np.arange(count))
    values = op.broadcast_to(values, shape=(*shape[:axis], count, *shape[axis + 1 :]))
    joined = op.concatenate([arr, values], axis=axis)
    return op.take(joined, indices=np.where(places < 0, shape[axis] - 1 - places, places), axis=axis)


@follows(np.resize, "a")
def resize(a: Any, new_shape: Any) -> Any:
    """The elements of an array, over and over, until a shape is full.

    >>> resize([1.0, 2.0], 5)
    array([1., 2., 1., 2., 1.])
    """
    flat = op.ravel(as_array(a))
    shape = tuple(new_shape) if hasattr(new_shape, "__len__") else (new_shape,)
    if any(each < 0 for each in shape):
        raise ValueError(f"resize: got the shape {shape}, expected no negative length")
    length, size = np.shape(innermost_value(flat))[0], int(np.prod(shape))
    if not length:
        return op.copy(op.broadcast_to(op.sum(flat), shape=shape))  # zeros
    return op.reshape(op.take(flat, indices=np.arange(size) % length), shape=shape)


@follows(np.trim_zeros, "filt")
def trim_zeros(filt: Any, trim: str = "fb", axis: Any = None) -> Any:
    """An array without the zeros in front and behind; ``trim`` names the sides, front and back, that are looked at.

    >>> trim_zeros(np.array([0.0, 1.0, 0.0, 2.0, 0.0]))
    array([1., 0., 2.])
    """
    sides = trim.lower()
    if sides not in ("fb", "bf", "f", "b"):
        raise ValueError(f"trim_zeros: got trim={trim!r}, expected 'fb', 'f' or 'b'")
    filt = atleast_1d(as_array(filt))
    plain = _plain(filt)
    axes = range(plain.ndim) if axis is None else normalize_axis_tuple(axis, plain.ndim)
    index = []
    for each, places in enumerate(np.nonzero(plain)):
        start, stop = (int(places.min()), int(places.max()) + 1) if places.size else (0, 0)
        if each not in axes:
            start, stop = 0, plain.shape[each]
        elif places.size:
            start, stop = start if "f" in sides else 0, stop if "b" in sides else plain.shape[each]
        index.append(slice(start, stop))
    return op.getitem(filt, index=tuple(index))


@follows(np.real_if_close, "a")
def real_if_close(a: Any, tol: float = 100) -> Any:
    """The real parts, if all imaginary ones are smaller than ``tol`` rounding errors; else everything as it is.

    >>> real_if_close([1.0 + 1e-17j])
    array([1.])
    """
    a = as_array(a)
    return op.real(a) if np.isrealobj(np.real_if_close(_plain(a), tol)) and _plain(a).dtype.kind == "c" else a


# -------------------------------------------------------------------------------------------------- of the shape alone


@follows(np.diag_indices_from, "arr")
def diag_indices_from(arr: Any) -> Any:
    """Where the main diagonal is; a constant, for it depends on the shape alone.

    >>> diag_indices_from(np.eye(2))
    (array([0, 1]), array([0, 1]))
    """
    return np.diag_indices_from(_plain(arr))


@follows(np.tril_indices_from, "arr")
def tril_indices_from(arr: Any, k: int = 0) -> Any:
    """Where the lower triangle of a matrix is; a constant, for it depends on the shape alone.

    >>> tril_indices_from(np.eye(2))
    (array([0, 1, 1]), array([0, 0, 1]))
    """
    return np.tril_indices_from(_plain(arr), k)


@follows(np.triu_indices_from, "arr")
def triu_indices_from(arr: Any, k: int = 0) -> Any:
    """Where the upper triangle of a matrix is; a constant, for it depends on the shape alone.

    >>> triu_indices_from(np.eye(2))
    (array([0, 0, 1]), array([0, 1, 1]))
    """
    return np.triu_indices_from(_plain(arr), k)
