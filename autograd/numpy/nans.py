"""NumPy-shaped reductions that leave NaN out. Part of the family reduction.

Where something is NaN is a mask for the function without ``nan`` in its name; NaN elements get the gradient 0.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from autograd import operators as op
from autograd.numpy import reduction
from autograd.numpy.arguments import as_array, as_dtype
from autograd.numpy.following import follows
from autograd.tensor import innermost_value

__all__ = [
    "nanargmax", "nanargmin", "nancumprod", "nancumsum", "nanmax", "nanmean", "nanmin", "nanprod", "nanstd", "nansum", "nanvar",
]  # fmt: skip


def _defined(a: Any, where: Any = True) -> tuple[Any, Any]:
    """``a`` as an array, and where it is chosen and not NaN."""
    a = as_array(a)
    mask = ~np.isnan(innermost_value(a))
    return a, mask if where is True else mask & np.asarray(where, bool)


def _warn_where(bad: Any, message: str) -> bool:
    """Whether it holds anywhere; then a RuntimeWarning for whoever called the function."""
    if np.any(bad):
        warnings.warn(message, RuntimeWarning, stacklevel=4)
        return True
    return False


# -------------------------------------------------------------------------------------------------- sums and products


@follows(np.nansum, "a", "initial")
def nansum(
    a: Any, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: bool = False, initial: Any = None, where: Any = True
) -> Any:
    """``sum`` of what is not NaN; NaN elements get the gradient 0.

    >>> nansum([1.0, np.nan, 3.0])
    np.float64(4.0)
    """
    a, mask = _defined(a, where)
    return reduction.sum(a, axis, dtype, None, keepdims, initial, mask)


@follows(np.nanprod, "a", "initial")
def nanprod(
    a: Any, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: bool = False, initial: Any = None, where: Any = True
) -> Any:
    """``prod`` of what is not NaN.

    >>> nanprod([2.0, np.nan, 3.0])
    np.float64(6.0)
    """
    a, mask = _defined(a, where)
    return reduction.prod(a, axis, dtype, None, keepdims, initial, mask)


@follows(np.nancumsum, "a")
def nancumsum(a: Any, axis: int | None = None, dtype: Any = None, out: Any = None) -> Any:
    """``cumsum`` with NaN counted as 0.

    >>> nancumsum([1.0, np.nan, 3.0])
    array([1., 1., 4.])
    """
    a, mask = _defined(a)
    return op.cumsum(op.where(mask, a, 0.0), axis=axis, dtype=dtype)


@follows(np.nancumprod, "a")
def nancumprod(a: Any, axis: int | None = None, dtype: Any = None, out: Any = None) -> Any:
    """``cumprod`` with NaN counted as 1.

    >>> nancumprod([2.0, np.nan, 3.0])
    array([2., 2., 6.])
    """
    a, mask = _defined(a)
    return op.cumprod(op.where(mask, a, 1.0), axis=axis, dtype=dtype)


# -------------------------------------------------------------------------------------------------- moments


@follows(np.nanmean, "a")
def nanmean(a: Any, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: bool = False, *, where: Any = True) -> Any:
    """``mean`` of what is not NaN; NaN if there is nothing else.

    >>> nanmean([1.0, np.nan, 3.0])
    np.float64(2.0)
    """
    a, mask = _defined(a, where)
    empty = ~np.any(mask, axis=axis, keepdims=True)
    if not _warn_where(empty, "Mean of empty slice"):
        return reduction.mean(a, axis, dtype, None, keepdims, where=mask)
    y = reduction.mean(op.where(empty, 0.0, a), axis, dtype, None, keepdims, where=mask | empty)
    return op.where(empty if keepdims else np.squeeze(empty, axis), np.nan, y)


@follows(np.nanvar, "a", "mean")
def nanvar(
    a: Any, axis: Any = None, dtype: Any = None, out: Any = None, ddof: float = 0, keepdims: bool = False, *,
    where: Any = True, mean: Any = None, correction: float | None = None,
) -> Any:  # fmt: skip
    """``var`` of what is not NaN; NaN if there is nothing, or not more than ``ddof``, else.

    >>> nanvar([1.0, np.nan, 3.0])
    np.float64(1.0)
    """
    return _moment(reduction.var, a, axis, dtype, ddof, keepdims, where, mean, correction)


@follows(np.nanstd, "a", "mean")
def nanstd(
    a: Any, axis: Any = None, dtype: Any = None, out: Any = None, ddof: float = 0, keepdims: bool = False, *,
    where: Any = True, mean: Any = None, correction: float | None = None,
) -> Any:  # fmt: skip
    """``std`` of what is not NaN; NaN if there is nothing, or not more than ``ddof``, else.

    >>> nanstd([1.0, np.nan, 3.0])
    np.float64(1.0)
    """
    return _moment(reduction.std, a, axis, dtype, ddof, keepdims, where, mean, correction)


def _moment(
    function: Callable[..., Any], a: Any, axis: Any, dtype: Any, ddof: float, keepdims: bool, where: Any, mean: Any,
    correction: float | None,
) -> Any:  # fmt: skip
    a, mask = _defined(a, where)
    if mean is not None and np.dtype(getattr(innermost_value(a), "dtype", float)).kind in "fc":
        mean = as_dtype(as_array(mean), np.asarray(innermost_value(a)).dtype)
    bad = np.sum(mask, axis=axis, keepdims=True) <= (ddof if correction is None else correction)
    if not _warn_where(bad, "Degrees of freedom <= 0 for slice."):
        return function(a, axis, dtype, None, ddof, keepdims, where=mask, mean=mean, correction=correction)
    with np.errstate(divide="ignore", invalid="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # NumPy's own, where even a whole row would be too short
        whole = op.where(bad, 0.0, a)
        y = function(whole, axis, dtype, None, ddof, keepdims, where=mask | bad, mean=mean, correction=correction)
    return op.where(bad if keepdims else np.squeeze(bad, axis), np.nan, y)


# -------------------------------------------------------------------------------------------------- extremes


@follows(np.nanmax, "a", "initial")
def nanmax(a: Any, axis: Any = None, out: Any = None, keepdims: bool = False, initial: Any = None, where: Any = True) -> Any:
    """``max`` of what is not NaN; NaN if there is nothing else.

    >>> nanmax([1.0, np.nan, 3.0])
    np.float64(3.0)
    """
    return _extreme(reduction.max, -np.inf, a, axis, keepdims, initial, where)


@follows(np.nanmin, "a", "initial")
def nanmin(a: Any, axis: Any = None, out: Any = None, keepdims: bool = False, initial: Any = None, where: Any = True) -> Any:
    """``min`` of what is not NaN; NaN if there is nothing else.

    >>> nanmin([1.0, np.nan, 3.0])
    np.float64(1.0)
    """
    return _extreme(reduction.min, np.inf, a, axis, keepdims, initial, where)


def _extreme(extreme: Callable[..., Any], neutral: float, a: Any, axis: Any, keepdims: Any, initial: Any, where: Any) -> Any:
    a, mask = _defined(a, where)
    if mask.all():
        return extreme(a, axis, None, keepdims, initial)
    result = extreme(a, axis, None, keepdims, neutral if initial is None else initial, mask)
    empty = np.logical_not(np.any(mask, axis=axis, keepdims=keepdims))
    if initial is None and _warn_where(empty, "All-NaN slice encountered"):
        result = op.where(empty, np.nan, result)
    return result


@follows(np.nanargmax, "a")
def nanargmax(a: Any, axis: int | None = None, out: Any = None, *, keepdims: Any = False) -> Any:
    """The index of the first largest element that is not NaN; a constant.

    >>> nanargmax([1.0, np.nan, 3.0])
    np.int64(2)
    """
    return np.nanargmax(innermost_value(as_array(a)), axis, keepdims=keepdims)


@follows(np.nanargmin, "a")
def nanargmin(a: Any, axis: int | None = None, out: Any = None, *, keepdims: Any = False) -> Any:
    """The index of the first smallest element that is not NaN; a constant.

    >>> nanargmin([1.0, np.nan, 3.0])
    np.int64(0)
    """
    return np.nanargmin(innermost_value(as_array(a)), axis, keepdims=keepdims)
