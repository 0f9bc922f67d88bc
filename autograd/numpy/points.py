"""NumPy-shaped rows of numbers between two ends, which may be tensors. Part of the family shape.

While a tape is open, tensors can be assigned into what these return, as ``autograd.numpy.creation`` has it.
"""

from __future__ import annotations

from operator import index
from typing import Any

import numpy as np

from autograd import operators as op
from autograd.assignable import assignable
from autograd.engine import innermost_tape, resolve
from autograd.errors import NotTrackedError
from autograd.numpy.arguments import as_array, as_dtype
from autograd.numpy.shape import moveaxis
from autograd.tensor import Tensor, innermost_value

__all__ = ["geomspace", "linspace", "logspace"]


def _shape(a: Any) -> tuple[int, ...]:
    return np.shape(innermost_value(a))


def _cast(result: Any, dtype: Any, function: str) -> Any:
    if dtype is None:
        return result
    if np.dtype(dtype).kind not in "fc" and type(result) is Tensor:
        raise NotTrackedError(
            f"{function}: got dtype {np.dtype(dtype)} with a tensor, expected a type of floats: whole numbers have no derivative;"
            f" write {function}(...).astype(int)"
        )
    return as_dtype(result, np.dtype(dtype))


def linspace(
    start: Any, stop: Any, num: int = 50, endpoint: bool = True, retstep: bool = False, dtype: Any = None, axis: int = 0, *,
    device: Any = None,
) -> Any:  # fmt: skip
    """``num`` numbers at equal distances from ``start`` to ``stop``, along a new axis; with ``retstep`` also their distance.

    >>> linspace(0.0, 1.0, 3)
    array([0. , 0.5, 1. ])
    """
    start, stop = as_array(resolve(start)), as_array(resolve(stop))
    if innermost_tape((start, stop)) is None:
        made: Any = np.linspace(start, stop, num, endpoint, retstep, dtype, axis, device=device)  # type: ignore[call-overload]
        return (assignable(made[0]), made[1]) if retstep else assignable(made)
    num = index(num)
    if num < 0:
        raise ValueError(f"linspace: got num={num}, expected 0 or more")
    parts = num - 1 if endpoint else num
    wide = np.result_type(innermost_value(start), innermost_value(stop), 0.0)
    start, stop = (as_dtype(each, wide) for each in (start, stop))
    span = op.subtract(stop, start)
    counts = np.arange(num, dtype=wide).reshape((-1,) + (1,) * len(_shape(span)))
    step: Any = op.divide(span, float(parts)) if parts > 0 else np.nan
    points = op.add(op.multiply(counts, step if parts > 0 else span), start)
    if endpoint and num > 1:
        last = op.broadcast_to(stop, shape=(1, *_shape(points)[1:]))
        points = op.concatenate([op.getitem(points, index=slice(None, -1)), last])
    points = points if axis == 0 else moveaxis(points, 0, axis)
    points = _cast(points, dtype, "linspace")
    return (points, step) if retstep else points


def logspace(
    start: Any, stop: Any, num: int = 50, endpoint: bool = True, base: Any = 10.0, dtype: Any = None, axis: int = 0
) -> Any:
    """Powers of ``base`` with exponents at equal distances from ``start`` to ``stop``.

    >>> logspace(0.0, 2.0, 3)
    array([  1.,  10., 100.])
    """
    start, stop, base = (as_array(resolve(each)) for each in (start, stop, base))
    if innermost_tape((start, stop, base)) is None:
        return assignable(np.logspace(start, stop, num, endpoint, base, dtype, axis))
    if _shape(base):  # then it counts for where the new axis stands
        ndim = len(np.broadcast_shapes(_shape(start), _shape(stop), _shape(base)))
        start, stop, base = (_of_ndim(each, ndim) for each in (start, stop, base))
        base = op.expand_dims(base, axis=axis)
    exponents = linspace(start, stop, num, endpoint=endpoint, axis=axis)
    return _cast(op.power(base, exponents), dtype, "logspace")


def _of_ndim(a: Any, ndim: int) -> Any:
    shape = _shape(a)
    return op.reshape(a, shape=(1,) * (ndim - len(shape)) + shape)


def geomspace(start: Any, stop: Any, num: int = 50, endpoint: bool = True, dtype: Any = None, axis: int = 0) -> Any:
    """Numbers from ``start`` to ``stop``, each the one before it times the same factor.

    >>> geomspace(1.0, 4.0, 3)
    array([1., 2., 4.])
    """
    start, stop = as_array(resolve(start)), as_array(resolve(stop))
    if innermost_tape((start, stop)) is None:
        return assignable(np.geomspace(start, stop, num, endpoint, dtype, axis))
    first, last = innermost_value(start), innermost_value(stop)
    if np.any(np.equal(first, 0)) or np.any(np.equal(last, 0)):
        raise ValueError("geomspace: an end is 0, which no factor leads to or from; expected two numbers that are not")
    wide = np.result_type(first, last, np.zeros((), dtype))
    start, stop = (as_dtype(each, wide) for each in (start, stop))
    ratio = op.divide(stop, start)
    exponents = linspace(np.zeros(_shape(ratio)), op.log(ratio), num, endpoint=endpoint)
    points = op.multiply(start, op.exp(exponents))
    if num > 0:  # exp and log would be off by a digit in the ends
        ends = [op.broadcast_to(start, shape=(1, *_shape(points)[1:])), op.getitem(points, index=slice(1, None))]
        if endpoint and num > 1:
            stop = op.broadcast_to(stop, shape=(1, *_shape(points)[1:]))
            ends = [ends[0], op.getitem(points, index=slice(1, -1)), stop]
        points = op.concatenate(ends)
    return _cast(points if axis == 0 else moveaxis(points, 0, axis), dtype, "geomspace")
