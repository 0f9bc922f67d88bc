"""NumPy-shaped functions of the family reduction: sums, means, products, extremes, running sums.

Options are NumPy's. Where several elements attain a maximum or minimum they share its gradient equally; the gradient of
``std`` is 0 where all elements are equal; that of ``max(initial=...)`` is 0 where the initial value is larger.
"""

from __future__ import annotations

import builtins
from typing import Any

import numpy as np

from autograd import operators as op
from autograd.errors import NotTrackedError
from autograd.tensor import Tensor, innermost_value

__all__ = [
    "all", "amax", "amin", "any", "argmax", "argmin", "average", "count_nonzero", "cumprod", "cumsum", "max", "mean", "median",
    "min", "nancumprod", "nancumsum", "nanmax", "nanmean", "nanmin", "nanprod", "nanstd", "nansum", "nanvar", "prod", "ptp",
    "std", "sum", "var",
]  # fmt: skip
METHODS: tuple[str, ...] = (
    "all", "any", "argmax", "argmin", "cumprod", "cumsum", "max", "mean", "min", "prod", "std", "sum", "var",
)  # fmt: skip


def refuse(function: str, **options: Any) -> None:
    """Raise NotTrackedError if one of the options, which a tape cannot follow, is not None.

    >>> refuse("sum", out=None)
    """
    for name, value in options.items():
        if value is not None:
            raise NotTrackedError(
                f"{function}: {name}= is not supported, because a tape could not follow it; got"
                f" {type(innermost_value(value)).__name__}, expected none. Use the result that {function} returns, or NumPy's own"
                " function on plain arrays"
            )


def _mask(where: Any) -> Any:
    """A mask as kernels take it: None if everything is chosen."""
    return None if where is True or where is None else np.asarray(innermost_value(where), bool)


# -------------------------------------------------------------------------------------------------- sums and products


def sum(
    a: Any, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: bool = False, initial: Any = None, where: Any = True
) -> Any:
    """The sum over axes; all of them by default.

    >>> sum([[1.0, 2.0], [3.0, 4.0]], axis=0)
    array([4., 6.])
    """
    if out is not None:
        refuse("sum", out=out)
    if type(initial) is Tensor:
        return op.add(initial, sum(a, axis, dtype, None, keepdims, None, where))
    return op.sum(a, axis=axis, dtype=dtype, keepdims=keepdims, initial=initial, where=None if where is True else _mask(where))


def prod(
    a: Any, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: bool = False, initial: Any = None, where: Any = True
) -> Any:
    """The product over axes. Its derivatives are exact where factors are zero.

    >>> prod([2.0, 3.0, 4.0])
    np.float64(24.0)
    """
    refuse("prod", out=out)
    if type(initial) is Tensor:
        return op.multiply(initial, prod(a, axis, dtype, None, keepdims, None, where))
    return op.prod(a, axis=axis, dtype=dtype, keepdims=keepdims, initial=initial, where=_mask(where))


def cumsum(a: Any, axis: int | None = None, dtype: Any = None, out: Any = None) -> Any:
    """Running sums along an axis; over all elements in one row by default.

    >>> cumsum([1.0, 2.0, 3.0])
    array([1., 3., 6.])
    """
    refuse("cumsum", out=out)
    return op.cumsum(a, axis=axis, dtype=dtype)


def cumprod(a: Any, axis: int | None = None, dtype: Any = None, out: Any = None) -> Any:
    """Running products along an axis. Derivatives are exact where factors are zero.

    >>> cumprod([2.0, 3.0, 4.0])
    array([ 2.,  6., 24.])
    """
    refuse("cumprod", out=out)
    return op.cumprod(a, axis=axis, dtype=dtype)


# -------------------------------------------------------------------------------------------------- moments


def mean(
    a: Any, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: bool = False, *, where: Any = True
) -> Any:
    """The arithmetic mean over axes.

    >>> mean([1.0, 2.0, 6.0])
    np.float64(3.0)
    """
    if out is not None:
        refuse("mean", out=out)
    return op.mean(a, axis=axis, dtype=dtype, keepdims=keepdims, where=None if where is True else _mask(where))


def var(
    a: Any, axis: Any = None, dtype: Any = None, out: Any = None, ddof: float = 0, keepdims: bool = False, *,
    where: Any = True, mean: Any = None, correction: float | None = None,
) -> Any:  # fmt: skip
    """The variance over axes: the mean squared distance from the mean, with divisor ``n - ddof``.

    >>> var([1.0, 3.0])
    np.float64(1.0)
    """
    refuse("var", out=out, mean=mean)
    ddof = _delta("var", ddof, correction)
    return op.var(a, axis=axis, dtype=dtype, ddof=ddof, keepdims=keepdims, where=_mask(where))


def std(
    a: Any, axis: Any = None, dtype: Any = None, out: Any = None, ddof: float = 0, keepdims: bool = False, *,
    where: Any = True, mean: Any = None, correction: float | None = None,
) -> Any:  # fmt: skip
    """The standard deviation over axes, the square root of ``var``; its gradient is 0 where all elements are equal.

    >>> std([1.0, 3.0])
    np.float64(1.0)
    """
    refuse("std", out=out, mean=mean)
    ddof = _delta("std", ddof, correction)
    return op.std(a, axis=axis, dtype=dtype, ddof=ddof, keepdims=keepdims, where=_mask(where))


def _delta(function: str, ddof: float, correction: float | None) -> float:
    if correction is None:
        return ddof
    if ddof:
        raise ValueError(f"{function}: got ddof={ddof} and correction={correction}, which mean the same; give one of the two")
    return correction


def average(
    a: Any, axis: Any = None, weights: Any = None, returned: bool = False, *, keepdims: bool = False
) -> Any:
    """The mean with weights: ``sum(a * weights) / sum(weights)``. Weights are of the shape of ``a``, or of its one axis.

    >>> average([1.0, 2.0], weights=[3.0, 1.0])
    np.float64(1.25)
    """
    shape = np.shape(innermost_value(a)) if hasattr(a, "shape") else np.shape(_bare(a))
    if weights is None:
        result = mean(a, axis=axis, keepdims=keepdims)
        total = np.full(np.shape(innermost_value(result)), float(np.prod(shape) / builtins.max(_size(result), 1)))
    else:
        given = np.shape(innermost_value(weights)) if hasattr(weights, "shape") else np.shape(_bare(weights))
        if given != shape:
            if not isinstance(axis, int) or given != (shape[axis],):
                raise ValueError(
                    f"average: weights have shape {given}, expected {shape}, that of a, or one axis= and its length along it"
                )
            weights = op.reshape(weights, shape=(*given, *(1,) * (len(shape) - 1 - axis % len(shape))))
        total = sum(op.broadcast_to(weights, shape=shape), axis=axis, keepdims=keepdims)
        if np.any(np.equal(innermost_value(total), 0)):
            raise ZeroDivisionError("average: the weights sum to zero, so they cannot be normalised")
        result = op.divide(sum(op.multiply(a, weights), axis=axis, keepdims=keepdims), total)
    return (result, total) if returned else result


def _size(value: Any) -> int:
    return int(np.size(innermost_value(value)))


def _bare(nested: Any) -> Any:
    """The shape of nested lists that may hold tensors is that of their bare values."""
    if isinstance(nested, list | tuple):
        return [_bare(each) for each in nested]
    return innermost_value(nested)


# -------------------------------------------------------------------------------------------------- extremes


def max(
    a: Any, axis: Any = None, out: Any = None, keepdims: bool = False, initial: Any = None, where: Any = True
) -> Any:
    """The largest element along axes; equal ones share its gradient.

    >>> max([[1.0, 5.0], [3.0, 4.0]], axis=1)
    array([5., 4.])
    """
    refuse("max", out=out)
    if type(initial) is Tensor:
        return op.maximum(initial, max(a, axis, None, keepdims, -np.inf, where))
    return op.max(a, axis=axis, keepdims=keepdims, initial=initial, where=_mask(where))


def min(
    a: Any, axis: Any = None, out: Any = None, keepdims: bool = False, initial: Any = None, where: Any = True
) -> Any:
    """The smallest element along axes; equal ones share its gradient.

    >>> min([[1.0, 5.0], [3.0, 4.0]], axis=1)
    array([1., 3.])
    """
    refuse("min", out=out)
    if type(initial) is Tensor:
        return op.minimum(initial, min(a, axis, None, keepdims, np.inf, where))
    return op.min(a, axis=axis, keepdims=keepdims, initial=initial, where=_mask(where))


amax = max
amin = min


def ptp(a: Any, axis: Any = None, out: Any = None, keepdims: bool = False) -> Any:
    """The range of values along axes: ``max - min``.

    >>> ptp([1.0, 5.0, 3.0])
    np.float64(4.0)
    """
    refuse("ptp", out=out)
    return op.subtract(max(a, axis=axis, keepdims=keepdims), min(a, axis=axis, keepdims=keepdims))


def median(a: Any, axis: Any = None, out: Any = None, overwrite_input: bool = False, keepdims: bool = False) -> Any:
    """The middle value along axes, or the mean of the two middle ones.

    >>> median([3.0, 1.0, 2.0, 10.0])
    np.float64(2.5)
    """
    refuse("median", out=out)
    a = op.array(a) if isinstance(a, list | tuple) else a
    ndim = np.ndim(innermost_value(a))
    axes = [each % ndim for each in (range(ndim) if axis is None else axis if isinstance(axis, tuple) else (axis,))]
    kept = [each for each in range(ndim) if each not in axes]
    shape = np.shape(innermost_value(a))
    ordered = op.sort(op.reshape(op.transpose(a, axes=kept + axes), shape=[*(shape[each] for each in kept), -1]), axis=-1)
    length = np.shape(innermost_value(ordered))[-1]
    middle = mean(ordered[..., (length - 1) // 2 : length // 2 + 1], axis=-1)
    if np.isnan(innermost_value(ordered)[..., -1:]).any():
        middle = op.where(np.isnan(innermost_value(ordered)[..., -1]), np.nan, middle)
    return op.reshape(middle, shape=[1 if each in axes else shape[each] for each in range(ndim)]) if keepdims else middle
