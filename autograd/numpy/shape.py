"""NumPy-shaped functions of the family shape.

Here: the same values in another shape or order, repeated or in another type. Joining and cutting are in
``autograd.numpy.joining``, making arrays in ``autograd.numpy.creation``, asking about them in ``autograd.numpy.inquiry``.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.lib.array_utils import normalize_axis_index, normalize_axis_tuple

from autograd import operators as op
from autograd.assignable import assignable
from autograd.engine import innermost_tape, resolve
from autograd.numpy import creation, inquiry, joining
from autograd.numpy.arguments import as_array, as_dtype
from autograd.numpy.creation import *  # noqa: F403  # the module lists its names
from autograd.numpy.following import written
from autograd.numpy.inquiry import *  # noqa: F403
from autograd.numpy.joining import *  # noqa: F403
from autograd.tensor import Tensor, innermost_value

__all__ = [
    *creation.__all__, *inquiry.__all__, *joining.__all__,
    "astype", "broadcast_arrays", "broadcast_to", "copy", "diag", "diagflat", "diagonal", "expand_dims", "flip", "fliplr",
    "flipud", "matrix_transpose", "moveaxis", "permute_dims", "ravel", "repeat", "reshape", "roll", "rollaxis", "rot90",
    "squeeze", "swapaxes", "tile", "trace", "transpose", "tril", "triu",
]  # fmt: skip
METHODS: tuple[str, ...] = (
    "astype", "copy", "diagonal", "flatten", "ravel", "repeat", "squeeze", "swapaxes", "trace",
)  # fmt: skip


def _shape(a: Any) -> tuple[int, ...]:
    return np.shape(innermost_value(a))


def _spelled_out(a: Any, order: str) -> str:
    """The order "A", which depends on how the array lies in memory, as "C" or "F"."""
    if order != "A":
        return order
    return "F" if np.asarray(innermost_value(a)).flags.fnc else "C"


def _axes_in_memory(a: Any) -> list[int]:
    """The axes from the one whose elements lie farthest apart to the one whose elements are neighbours."""
    packed = np.empty_like(innermost_value(a), dtype=np.int8, subok=False)  # in the order of memory, without gaps and turned axes
    return sorted(range(packed.ndim), key=lambda axis: -packed.strides[axis])


# -------------------------------------------------------------------------------------------------- another shape


def reshape(a: Any, shape: Any, order: str = "C", *, copy: bool | None = None) -> Any:
    """The same values in another shape; one length may be -1.

    >>> reshape([1.0, 2.0, 3.0, 4.0], (2, -1))
    array([[1., 2.],
           [3., 4.]])
    """
    a = as_array(a)
    result = op.reshape(a, shape=shape, order=_spelled_out(a, order))
    return op.copy(result) if copy else result


def ravel(a: Any, order: str = "C") -> Any:
    """All values in one axis.

    >>> ravel([[1.0, 2.0], [3.0, 4.0]])
    array([1., 2., 3., 4.])
    """
    a = as_array(a)
    if order == "K":
        return op.ravel(op.transpose(a, axes=_axes_in_memory(a)))
    return op.ravel(a, order=_spelled_out(a, order))


def flatten(a: Any, order: str = "C") -> Any:
    """The method ``t.flatten()``: all values in one axis, as ``ravel`` gives them.

    >>> flatten(np.eye(2))
    array([1., 0., 0., 1.])
    """
    return op.copy(ravel(a, order))


def expand_dims(a: Any, axis: Any) -> Any:
    """Axes of length one put in where they stand in the result.

    >>> expand_dims([1.0, 2.0], 0)
    array([[1., 2.]])
    """
    return op.expand_dims(a, axis=axis)


def squeeze(a: Any, axis: Any = None) -> Any:
    """Axes of length one taken out; all of them by default.

    >>> squeeze([[1.0, 2.0]])
    array([1., 2.])
    """
    return op.squeeze(a, axis=axis)


# -------------------------------------------------------------------------------------------------- another order


def transpose(a: Any, axes: Any = None) -> Any:
    """The axes permuted; reversed by default.

    >>> transpose([[1.0, 2.0], [3.0, 4.0]])
    array([[1., 3.],
           [2., 4.]])
    """
    return op.transpose(a, axes=axes)


permute_dims = transpose


def matrix_transpose(x: Any, /) -> Any:
    """The last two axes swapped.

    >>> matrix_transpose(np.zeros((5, 2, 3))).shape
    (5, 3, 2)
    """
    x = as_array(x)
    if len(_shape(x)) < 2:
        raise ValueError(f"matrix_transpose: got an array of {len(_shape(x))} axes, expected 2 or more")
    return op.swapaxes(x, axis1=-1, axis2=-2)


def swapaxes(a: Any, axis1: int, axis2: int) -> Any:
    """Two axes swapped.

    >>> swapaxes(np.zeros((2, 3, 4)), 0, -1).shape
    (4, 3, 2)
    """
    return op.swapaxes(a, axis1=axis1, axis2=axis2)


def moveaxis(a: Any, source: Any, destination: Any) -> Any:
    """Axes moved to other places, the others in their old order.

    >>> moveaxis(np.zeros((2, 3, 4)), 0, -1).shape
    (3, 4, 2)
    """
    a = as_array(a)
    ndim = len(_shape(a))
    sources = normalize_axis_tuple(source, ndim, "source")
    places = normalize_axis_tuple(destination, ndim, "destination")
    if len(sources) != len(places):
        raise ValueError(f"moveaxis: got {len(sources)} sources and {len(places)} destinations, expected as many of each")
    axes = [each for each in range(ndim) if each not in sources]
    for place, each in sorted(zip(places, sources, strict=True)):
        axes.insert(place, each)
    return op.transpose(a, axes=axes)


def rollaxis(a: Any, axis: int, start: int = 0) -> Any:
    """One axis moved so that it lies before axis ``start``; ``moveaxis`` is easier to read.

    >>> rollaxis(np.zeros((2, 3, 4)), 2).shape
    (4, 2, 3)
    """
    a = as_array(a)
    ndim = len(_shape(a))
    axis = normalize_axis_index(axis, ndim)
    start = normalize_axis_index(start, ndim + 1) if start >= 0 else normalize_axis_index(start, ndim)
    axes = [each for each in range(ndim) if each != axis]
    axes.insert(start - (axis < start), axis)
    return op.transpose(a, axes=axes)


def flip(m: Any, axis: Any = None) -> Any:
    """The order reversed along axes; along all by default.

    >>> flip([1.0, 2.0, 3.0])
    array([3., 2., 1.])
    """
    return op.flip(m, axis=axis)


def flipud(m: Any) -> Any:
    """The first axis reversed.

    >>> flipud([1.0, 2.0])
    array([2., 1.])
    """
    return op.flip(m, axis=0)


def fliplr(m: Any) -> Any:
    """The second axis reversed.

    >>> fliplr([[1.0, 2.0]])
    array([[2., 1.]])
    """
    return op.flip(m, axis=1)


def rot90(m: Any, k: int = 1, axes: Any = (0, 1)) -> Any:
    """Turned ``k`` times by a right angle, from the first of the two axes towards the second.

    >>> rot90([[1.0, 2.0], [3.0, 4.0]])
    array([[2., 4.],
           [1., 3.]])
    """
    m = as_array(m)
    first, second = normalize_axis_tuple(axes, len(_shape(m)))
    turns = k % 4
    if turns == 2:
        return op.flip(m, axis=(first, second))
    if turns == 1:
        return op.swapaxes(op.flip(m, axis=second), axis1=first, axis2=second)
    if turns == 3:
        return op.flip(op.swapaxes(m, axis1=first, axis2=second), axis=second)
    return op.getitem(m, index=...)


def roll(a: Any, shift: Any, axis: Any = None) -> Any:
    """Values moved along axes, those beyond the end coming in again at the other; tuples move along several axes.

    >>> roll([1.0, 2.0, 3.0], 1)
    array([3., 1., 2.])
    """
    return op.roll(a, shift=shift, axis=axis)


# -------------------------------------------------------------------------------------------------- repeated


def broadcast_to(array: Any, shape: Any, subok: bool = False) -> Any:
    """An array repeated to a shape, without a copy.

    >>> broadcast_to([1.0, 2.0], (2, 2))
    array([[1., 2.],
           [1., 2.]])
    """
    return op.broadcast_to(array, shape=tuple(shape) if hasattr(shape, "__len__") else (shape,))


def broadcast_arrays(*args: Any, subok: bool = False) -> tuple[Any, ...]:
    """Arrays broadcast to the shape they have in common.

    >>> [each.shape for each in broadcast_arrays([1.0, 2.0], [[3.0], [4.0]])]
    [(2, 2), (2, 2)]
    """
    arrays = [as_array(each) for each in args]
    shape = np.broadcast_shapes(*(_shape(each) for each in arrays))
    return tuple(op.broadcast_to(each, shape=shape) for each in arrays)


def repeat(a: Any, repeats: Any, axis: int | None = None) -> Any:
    """Each element several times in a row; ``repeats`` is one number, or one for each element along the axis.

    >>> repeat([1.0, 2.0], 2)
    array([1., 1., 2., 2.])
    """
    return op.repeat(a, repeats=repeats, axis=axis)


def tile(A: Any, reps: Any) -> Any:
    """The whole array several times along each axis.

    >>> tile([1.0, 2.0], 2)
    array([1., 2., 1., 2.])
    """
    A = resolve(A)
    if innermost_tape([A]) is None:
        return np.tile(A, reps)
    A = as_array(A)
    times = tuple(reps) if hasattr(reps, "__len__") else (reps,)
    shape = _shape(A)
    ndim = max(len(times), len(shape))
    times = (1,) * (ndim - len(times)) + times
    shape = (1,) * (ndim - len(shape)) + shape
    apart = [each for length in shape for each in (1, length)]
    repeated = [each for pair in zip(times, shape, strict=True) for each in pair]
    whole = tuple(count * length for count, length in zip(times, shape, strict=True))
    return op.copy(op.reshape(op.broadcast_to(op.reshape(A, shape=apart), shape=tuple(repeated)), shape=whole))


# -------------------------------------------------------------------------------------------------- diagonals


def diagonal(a: Any, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Any:
    """A diagonal of two axes, as the last axis of the result.

    >>> diagonal([[1.0, 2.0], [3.0, 4.0]])
    array([1., 4.])
    """
    return op.diagonal(a, offset=offset, axis1=axis1, axis2=axis2)


def trace(a: Any, offset: int = 0, axis1: int = 0, axis2: int = 1, dtype: Any = None, out: Any = None) -> Any:
    """The sum of a diagonal.

    >>> trace([[1.0, 2.0], [3.0, 4.0]])
    np.float64(5.0)
    """
    if out is not None:
        return written(np.trace, trace, a, out, offset=offset, axis1=axis1, axis2=axis2, dtype=dtype)
    return op.sum(diagonal(a, offset, axis1, axis2), axis=-1, dtype=dtype)


def diag(v: Any, k: int = 0) -> Any:
    """The diagonal ``k`` of a matrix, or for a vector the matrix that has it there.

    >>> diag([1.0, 2.0])
    array([[1., 0.],
           [0., 2.]])
    """
    v = as_array(v)
    shape = _shape(v)
    if len(shape) == 2:
        return op.diagonal(v, offset=k)
    if len(shape) != 1:
        raise ValueError(f"diag: got an array of {len(shape)} axes, expected a vector or a matrix")
    length = shape[0] + abs(k)
    return op.place_diagonal(v, shape=(length, length), offset=k)


def diagflat(v: Any, k: int = 0) -> Any:
    """The matrix that has all values of ``v`` on its diagonal ``k``.

    >>> diagflat([[1.0, 2.0]]).shape
    (2, 2)
    """
    return diag(op.ravel(v), k)


def tril(m: Any, k: int = 0) -> Any:
    """The lower triangle of the last two axes, zero above diagonal ``k``.

    >>> tril([[1.0, 2.0], [3.0, 4.0]])
    array([[1., 0.],
           [3., 4.]])
    """
    m = as_array(m)
    return op.where(_below(m, k), m, np.zeros((), np.asarray(innermost_value(m)).dtype))


def _below(m: Any, k: int) -> Any:
    """Where the last two axes lie on or below diagonal ``k``; a vector counts as the rows of a square matrix."""
    if not _shape(m):
        raise TypeError("tril, triu: got an array without axes, expected a vector, a matrix or a stack of matrices")
    *_, rows, columns = (*_shape(m)[-1:], *_shape(m)[-2:])
    return np.tri(rows, columns, k, bool)


def triu(m: Any, k: int = 0) -> Any:
    """The upper triangle of the last two axes, zero below diagonal ``k``.

    >>> triu([[1.0, 2.0], [3.0, 4.0]])
    array([[1., 2.],
           [0., 4.]])
    """
    m = as_array(m)
    return op.where(_below(m, k - 1), np.zeros((), np.asarray(innermost_value(m)).dtype), m)


# -------------------------------------------------------------------------------------------------- another type


def astype(x: Any, dtype: Any, order: str = "K", casting: Any = "unsafe", subok: bool = True, copy: bool = True) -> Any:
    """The same values in another type. To a type without derivatives (int, bool) the result is a constant.

    >>> astype(np.array([1.5]), "float32").dtype
    dtype('float32')
    """
    before, after = np.asarray(innermost_value(as_array(x))).dtype, np.dtype(dtype)
    if casting != "unsafe" and not np.can_cast(before, after, casting):
        raise TypeError(f"astype: {before} cannot be cast to {after} by the rule {casting!r}")
    if type(x) is Tensor and not hasattr(innermost_value(x), "dtype"):
        return as_dtype(x, after)
    return x if before == after and not copy else op.astype(x, dtype=after)


def copy(a: Any, order: Any = "K", subok: bool = False) -> Any:
    """The same values in memory of their own, into which tensors can be assigned while a tape is open.

    >>> copy([1.0, 2.0])
    array([1., 2.])
    """
    a = resolve(a)
    return assignable(np.array(a, order=order, subok=subok)) if innermost_tape([a]) is None else op.copy(a)
