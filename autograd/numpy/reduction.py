"""NumPy-shaped functions of the family reduction: sums, means, products, extremes, running sums.

Options are NumPy's. Where several elements attain a maximum or minimum they share its gradient equally; the gradient of
``std`` is 0 where all elements are equal; that of ``max(initial=...)`` is 0 where the initial value is larger.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.lib.array_utils import normalize_axis_tuple

from autograd import operators as op
from autograd.numpy.arguments import as_array, refuse
from autograd.tensor import Tensor, innermost_value

__all__ = [
    "all", "amax", "amin", "any", "argmax", "argmin", "average", "count_nonzero", "cumprod", "cumsum", "logsumexp",
    "max", "mean", "median", "min", "nancumprod", "nancumsum", "nanmax", "nanmean", "nanmin", "nanprod", "nanstd", "nansum",
    "nanvar", "prod", "ptp", "std", "sum", "var",
]  # fmt: skip
METHODS: tuple[str, ...] = (
    "all", "any", "argmax", "argmin", "cumprod", "cumsum", "max", "mean", "min", "prod", "std", "sum", "var",
)  # fmt: skip


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


def logsumexp(a: Any, axis: Any = None, keepdims: bool = False) -> Any:
    """``log(sum(exp(a)))`` over axes, by the shift that never overflows; -inf, with gradient 0, where all elements are.

    >>> logsumexp([1000.0, 1000.0]) == 1000.0 + np.log(2.0)
    np.True_
    """
    return op.logsumexp(a, axis=axis, keepdims=keepdims)


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


def mean(a: Any, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: bool = False, *, where: Any = True) -> Any:
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


def average(a: Any, axis: Any = None, weights: Any = None, returned: bool = False, *, keepdims: bool = False) -> Any:
    """The mean with weights: ``sum(a * weights) / sum(weights)``. Weights are of the shape of ``a``, or of its one axis.

    >>> average([1.0, 2.0], weights=[3.0, 1.0])
    np.float64(1.25)
    """
    a, weights = as_array(a), as_array(weights)
    shape = np.shape(innermost_value(a))
    if weights is None:
        dtype = np.asarray(innermost_value(a)).dtype
        weights = np.ones(shape, dtype if dtype.kind in "fc" else float)
    given = np.shape(innermost_value(weights))
    if given != shape:
        if not isinstance(axis, int) or given != (shape[axis],):
            raise ValueError(
                f"average: weights have shape {given}, expected {shape}, that of a, or one axis= and its length along it"
            )
        weights = op.reshape(weights, shape=(*given, *(1,) * (len(shape) - 1 - axis % len(shape))))
    total = sum(op.broadcast_to(weights, shape=shape), axis=axis, keepdims=keepdims)
    if np.any(np.equal(innermost_value(total), 0)):
        raise ZeroDivisionError("average: the weights sum to zero, so nothing can be divided by their sum")
    result = op.divide(sum(op.multiply(a, weights), axis=axis, keepdims=keepdims), total)
    return (result, total) if returned else result


# -------------------------------------------------------------------------------------------------- extremes


def max(a: Any, axis: Any = None, out: Any = None, keepdims: bool = False, initial: Any = None, where: Any = True) -> Any:
    """The largest element along axes; equal ones share its gradient.

    >>> max([[1.0, 5.0], [3.0, 4.0]], axis=1)
    array([5., 4.])
    """
    refuse("max", out=out)
    if type(initial) is Tensor:
        return op.maximum(initial, max(a, axis, None, keepdims, -np.inf, where))
    return op.max(a, axis=axis, keepdims=keepdims, initial=initial, where=_mask(where))


def min(a: Any, axis: Any = None, out: Any = None, keepdims: bool = False, initial: Any = None, where: Any = True) -> Any:
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
    a = as_array(a)
    shape = np.shape(innermost_value(a))
    ndim = len(shape)
    axes = normalize_axis_tuple(range(ndim) if axis is None else axis, ndim)
    kept = [each for each in range(ndim) if each not in axes]
    rows = op.reshape(op.transpose(a, axes=[*kept, *axes]), shape=[*(shape[each] for each in kept), -1])
    ordered = op.sort(rows, axis=-1)
    length = ordered.shape[-1]
    middle = mean(ordered[..., (length - 1) // 2 : length // 2 + 1], axis=-1)
    undefined = np.isnan(innermost_value(ordered)[..., -1:]).any(axis=-1)
    if undefined.any():
        middle = op.where(undefined, np.nan, middle)
    return op.reshape(middle, shape=[1 if each in axes else shape[each] for each in range(ndim)]) if keepdims else middle


def argmax(a: Any, axis: int | None = None, out: Any = None, *, keepdims: bool = False) -> Any:
    """The index of the first largest element; a constant.

    >>> argmax([1.0, 5.0, 3.0])
    np.int64(1)
    """
    refuse("argmax", out=out)
    return op.argmax(a, axis=axis, keepdims=keepdims)


def argmin(a: Any, axis: int | None = None, out: Any = None, *, keepdims: bool = False) -> Any:
    """The index of the first smallest element; a constant.

    >>> argmin([4.0, 5.0, 3.0])
    np.int64(2)
    """
    refuse("argmin", out=out)
    return op.argmin(a, axis=axis, keepdims=keepdims)


# -------------------------------------------------------------------------------------------------- questions


def any(a: Any, axis: Any = None, out: Any = None, keepdims: bool = False, *, where: Any = True) -> Any:
    """Whether an element is true (not zero) along axes; a constant.

    >>> any([0.0, 1.0])
    np.True_
    """
    refuse("any", out=out)
    return op.any(a, axis=axis, keepdims=keepdims, where=_mask(where))


def all(a: Any, axis: Any = None, out: Any = None, keepdims: bool = False, *, where: Any = True) -> Any:
    """Whether all elements are true (not zero) along axes; a constant.

    >>> all([0.0, 1.0])
    np.False_
    """
    refuse("all", out=out)
    return op.all(a, axis=axis, keepdims=keepdims, where=_mask(where))


def count_nonzero(a: Any, axis: Any = None, *, keepdims: bool = False) -> Any:
    """How many elements are not zero along axes; a constant.

    >>> count_nonzero([0.0, 1.0, 2.0], axis=0)
    np.int64(2)
    """
    return op.count_nonzero(a, axis=axis, keepdims=keepdims)


# -------------------------------------------------------------------------------------------------- without NaN


def _defined(a: Any, where: Any = True) -> tuple[Any, Any]:
    """``a`` as an array, and where it is chosen and not NaN."""
    a = as_array(a)
    mask = ~np.isnan(innermost_value(a))
    return a, mask if where is True else mask & np.asarray(where, bool)


def nansum(
    a: Any, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: bool = False, initial: Any = None, where: Any = True
) -> Any:
    """``sum`` of what is not NaN; NaN elements get the gradient 0.

    >>> nansum([1.0, np.nan, 3.0])
    np.float64(4.0)
    """
    a, mask = _defined(a, where)
    return sum(a, axis, dtype, out, keepdims, initial, mask)


def nanprod(
    a: Any, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: bool = False, initial: Any = None, where: Any = True
) -> Any:
    """``prod`` of what is not NaN.

    >>> nanprod([2.0, np.nan, 3.0])
    np.float64(6.0)
    """
    a, mask = _defined(a, where)
    return prod(a, axis, dtype, out, keepdims, initial, mask)


def nanmean(a: Any, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: bool = False, *, where: Any = True) -> Any:
    """``mean`` of what is not NaN.

    >>> nanmean([1.0, np.nan, 3.0])
    np.float64(2.0)
    """
    a, mask = _defined(a, where)
    return mean(a, axis, dtype, out, keepdims, where=mask)


def nanvar(
    a: Any, axis: Any = None, dtype: Any = None, out: Any = None, ddof: float = 0, keepdims: bool = False, *,
    where: Any = True, mean: Any = None, correction: float | None = None,
) -> Any:  # fmt: skip
    """``var`` of what is not NaN.

    >>> nanvar([1.0, np.nan, 3.0])
    np.float64(1.0)
    """
    a, mask = _defined(a, where)
    return var(a, axis, dtype, out, ddof, keepdims, where=mask, mean=mean, correction=correction)


def nanstd(
    a: Any, axis: Any = None, dtype: Any = None, out: Any = None, ddof: float = 0, keepdims: bool = False, *,
    where: Any = True, mean: Any = None, correction: float | None = None,
) -> Any:  # fmt: skip
    """``std`` of what is not NaN.

    >>> nanstd([1.0, np.nan, 3.0])
    np.float64(1.0)
    """
    a, mask = _defined(a, where)
    return std(a, axis, dtype, out, ddof, keepdims, where=mask, mean=mean, correction=correction)


def nanmax(a: Any, axis: Any = None, out: Any = None, keepdims: bool = False, initial: Any = None, where: Any = True) -> Any:
    """``max`` of what is not NaN; NaN if there is nothing else.

    >>> nanmax([1.0, np.nan, 3.0])
    np.float64(3.0)
    """
    refuse("nanmax", out=out)
    return _extreme_of_defined(max, -np.inf, a, axis, keepdims, initial, where)


def nanmin(a: Any, axis: Any = None, out: Any = None, keepdims: bool = False, initial: Any = None, where: Any = True) -> Any:
    """``min`` of what is not NaN; NaN if there is nothing else.

    >>> nanmin([1.0, np.nan, 3.0])
    np.float64(1.0)
    """
    refuse("nanmin", out=out)
    return _extreme_of_defined(min, np.inf, a, axis, keepdims, initial, where)


def _extreme_of_defined(
    extreme: Callable[..., Any], neutral: float, a: Any, axis: Any, keepdims: bool, initial: Any, where: Any
) -> Any:
    a, mask = _defined(a, where)
    if mask.all():
        return extreme(a, axis, None, keepdims, initial)
    result = extreme(a, axis, None, keepdims, neutral if initial is None else initial, mask)
    empty: Any = np.logical_not(op.any(mask, axis=axis, keepdims=keepdims))
    if initial is None and empty.any():
        warnings.warn("All-NaN slice encountered", RuntimeWarning, stacklevel=3)
        result = op.where(empty, np.nan, result)
    return result


def nancumsum(a: Any, axis: int | None = None, dtype: Any = None, out: Any = None) -> Any:
    """``cumsum`` with NaN counted as 0.

    >>> nancumsum([1.0, np.nan, 3.0])
    array([1., 1., 4.])
    """
    a, mask = _defined(a)
    return cumsum(op.where(mask, a, 0.0), axis, dtype, out)


def nancumprod(a: Any, axis: int | None = None, dtype: Any = None, out: Any = None) -> Any:
    """``cumprod`` with NaN counted as 1.

    >>> nancumprod([2.0, np.nan, 3.0])
    array([2., 2., 6.])
    """
    a, mask = _defined(a)
    return cumprod(op.where(mask, a, 1.0), axis, dtype, out)
