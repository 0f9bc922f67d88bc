"""Making arrays that may hold tensors. Part of the family shape, whose names ``autograd.numpy.shape`` lists."""

from __future__ import annotations

from itertools import islice
from typing import Any, Literal

import numpy as np

from autograd import operators as op
from autograd.assignable import assignable
from autograd.engine import innermost_tape, resolve
from autograd.numpy.arguments import as_array, as_dtype
from autograd.tensor import AssignableArray, Tensor, innermost_value

__all__ = [
    "array", "asanyarray", "asarray", "asarray_chkfinite", "ascontiguousarray", "asfortranarray", "empty_like",
    "fromiter", "full", "full_like", "meshgrid", "ones_like", "require", "zeros_like",
]  # fmt: skip


def array(object: Any, dtype: Any = None, **options: Any) -> Any:
    """An array of nested lists; a tensor if there are tensors among them.

    Options are NumPy's; with tensors ``ndmin`` works, and the others, which say how the array lies in memory, mean nothing. A
    tensor is copied, as an array is. While a tape is open, tensors can be assigned into what this and its relatives return.

    >>> array([[1.0, 2.0], [3.0, 4.0]], dtype="float32").shape
    (2, 2)
    """
    object = resolve(object)
    if type(object) is not Tensor and (not isinstance(object, list | tuple) or innermost_tape(object) is None):
        return assignable(np.array(object, dtype, **options))
    tensor: Any = as_array(object)
    if tensor is object and options.get("copy", True):
        tensor = op.copy(tensor)
    if dtype is not None:
        tensor = as_dtype(tensor, np.dtype(dtype))
    missing = options.get("ndmin", 0) - np.ndim(innermost_value(tensor))
    return tensor if missing <= 0 else op.reshape(tensor, shape=(1,) * missing + np.shape(innermost_value(tensor)))


def asarray(a: Any, dtype: Any = None, **options: Any) -> Any:
    """``a`` as an array: a tensor stays what it is, nested lists become an array, or a tensor if they hold tensors.

    >>> asarray([1.0, 2.0])
    array([1., 2.])
    """
    a = resolve(a)
    if type(a) is Tensor or isinstance(a, list | tuple):
        return array(a, dtype, copy=options.get("copy")) if innermost_tape((a,)) is not None else array(a, dtype, **options)
    return np.asarray(a, dtype, **options)


def asanyarray(a: Any, dtype: Any = None, **options: Any) -> Any:
    """As ``asarray``; subclasses of arrays stay what they are.

    >>> asanyarray([1.0])
    array([1.])
    """
    a = resolve(a)
    if type(a) is Tensor or isinstance(a, list | tuple):
        return asarray(a, dtype, **options)
    return np.asanyarray(a, dtype, **options)


def ascontiguousarray(a: Any, dtype: Any = None) -> Any:
    """As ``asarray``, with at least one axis; a plain array lies in one piece of memory.

    >>> ascontiguousarray(1.0)
    array([1.])
    """
    a = resolve(a)
    if innermost_tape((a,)) is not None:
        return _laid_out(a, dtype, "C_CONTIGUOUS")
    return array(a, dtype, ndmin=1) if isinstance(a, list | tuple) else np.ascontiguousarray(a, dtype)


def _laid_out(a: Any, dtype: Any, flag: Literal["C_CONTIGUOUS", "F_CONTIGUOUS"]) -> Any:
    """A tensor with at least one axis; a copy where NumPy makes one, so that a write to it does not reach ``a``."""
    a = array(a, dtype, ndmin=1, copy=False)
    return a if np.asarray(innermost_value(a)).flags[flag] else op.copy(a)


def asfortranarray(a: Any, dtype: Any = None) -> Any:
    """As ``asarray``, with at least one axis; a plain array lies in memory column by column.

    >>> asfortranarray([1.0])
    array([1.])
    """
    a = resolve(a)
    return np.asfortranarray(a, dtype) if innermost_tape((a,)) is None else _laid_out(a, dtype, "F_CONTIGUOUS")


def asarray_chkfinite(a: Any, dtype: Any = None, order: Any = None) -> Any:
    """As ``asarray``; raises ValueError if there is an inf or a NaN in it.

    >>> asarray_chkfinite([1.0])
    array([1.])
    """
    a = resolve(a)
    if innermost_tape((a,)) is None:
        return np.asarray_chkfinite(a, dtype, order)
    a = asarray(a, dtype)
    if not np.isfinite(innermost_value(a)).all():
        raise ValueError("asarray_chkfinite: got an array with infs or NaNs, expected finite numbers")
    return a


def require(a: Any, dtype: Any = None, requirements: Any = None) -> Any:
    """As ``asanyarray``; a plain array lies in memory as is required of it.

    >>> require([1.0], requirements="C")
    array([1.])
    """
    a = resolve(a)
    return asarray(a, dtype) if innermost_tape((a,)) is not None else np.require(a, dtype, requirements)


def fromiter(iter: Any, dtype: Any, count: int = -1, **options: Any) -> Any:
    """A vector of the elements that an iterator gives, the first ``count`` of them if there is a count; they may be tensors.

    >>> fromiter((k * k for k in range(3)), float)
    array([0., 1., 4.])
    """
    elements = list(iter if count < 0 else islice(iter, count))
    if innermost_tape(elements) is None:
        return assignable(np.fromiter(elements, dtype, count, **options))
    if len(elements) < count:
        raise ValueError(f"fromiter: got an iterator of {len(elements)} elements, expected {count}")
    return array(elements, dtype)


def full(shape: Any, fill_value: Any, dtype: Any = None, **options: Any) -> Any:
    """An array filled with a value, which may be a tensor.

    >>> full(2, 3.0)
    array([3., 3.])
    """
    value = as_array(fill_value)
    if type(value) is not Tensor:
        return assignable(np.full(shape, fill_value, dtype, **options))
    wanted = tuple(shape) if hasattr(shape, "__len__") else (shape,)
    return op.copy(op.broadcast_to(array(value, dtype, copy=False), shape=wanted))


def full_like(a: Any, fill_value: Any, dtype: Any = None, order: Any = "K", subok: Any = True, shape: Any = None) -> Any:
    """An array of the shape and dtype of ``a``, filled with a value, which may be a tensor.

    >>> full_like([1.0, 2.0], 3.0)
    array([3., 3.])
    """
    like = _bare(a)
    if type(as_array(fill_value)) is not Tensor:
        return assignable(np.full_like(like, fill_value, dtype, order, subok, shape))
    return full(np.shape(like) if shape is None else shape, fill_value, np.asarray(like).dtype if dtype is None else dtype)


def zeros_like(a: Any, dtype: Any = None, order: Any = "K", subok: Any = True, shape: Any = None) -> Any:
    """Zeros of the shape and dtype of ``a``; a constant.

    >>> zeros_like([1.0, 2.0])
    array([0., 0.])
    """
    return assignable(np.zeros_like(_bare(a), dtype, order, subok, shape))


def ones_like(a: Any, dtype: Any = None, order: Any = "K", subok: Any = True, shape: Any = None) -> Any:
    """Ones of the shape and dtype of ``a``; a constant.

    >>> ones_like([1.0, 2.0])
    array([1., 1.])
    """
    return assignable(np.ones_like(_bare(a), dtype, order, subok, shape))


def empty_like(prototype: Any, dtype: Any = None, order: Any = "K", subok: Any = True, shape: Any = None) -> Any:
    """An array of the shape and dtype of ``prototype`` with any content; a constant.

    >>> empty_like([1.0, 2.0]).shape
    (2,)
    """
    return assignable(np.empty_like(_bare(prototype), dtype, order, subok, shape))


def _bare(a: Any) -> Any:
    plain = innermost_value(as_array(a))
    return plain.view(np.ndarray) if type(plain) is AssignableArray else plain


def meshgrid(*xi: Any, copy: bool = True, sparse: bool = False, indexing: str = "xy") -> tuple[Any, ...]:
    """Coordinate arrays of a grid from the coordinates along each axis.

    >>> [each.shape for each in meshgrid([1.0, 2.0, 3.0], [4.0, 5.0])]
    [(2, 3), (2, 3)]
    """
    if indexing not in ("xy", "ij"):
        raise ValueError(f"meshgrid: got indexing={indexing!r}, expected 'xy' or 'ij'")
    order = list(range(len(xi)))
    if indexing == "xy" and len(xi) > 1:
        order[:2] = [1, 0]
    axes = []
    for place, each in zip(order, xi, strict=True):
        each = as_array(each)
        axes.append(op.reshape(each, shape=(1,) * place + (-1,) + (1,) * (len(xi) - 1 - place)))
    if sparse:
        return tuple(op.copy(each) if copy else each for each in axes)
    shape = np.broadcast_shapes(*(np.shape(innermost_value(each)) for each in axes))
    return tuple(op.copy(op.broadcast_to(each, shape=shape)) for each in axes)
