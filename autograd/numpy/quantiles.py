"""NumPy-shaped order statistics. Part of the family reduction.

What NumPy does with the values of a row it does here with their ranks, as plain numbers: for every method, weights and NaN it
says between which two of the ordered values the result lies, and where. The result is then read off the ordered tensor. Equal
values share their gradient equally, as ``sort`` has it.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.lib.array_utils import normalize_axis_tuple

from autograd import operators as op
from autograd.errors import NotTrackedError
from autograd.numpy.arguments import as_array
from autograd.numpy.following import follows
from autograd.tensor import Tensor, innermost_value

__all__ = ["median", "nanmedian", "nanpercentile", "nanquantile", "percentile", "quantile"]

_CONTINUOUS = {
    "interpolated_inverted_cdf": (0.0, 1.0),
    "hazen": (0.5, 0.5),
    "weibull": (0.0, 0.0),
    "linear": (1.0, 1.0),
    "median_unbiased": (1 / 3, 1 / 3),
    "normal_unbiased": (3 / 8, 3 / 8),
}
"""Hyndman and Fan's parameters (alpha, beta) of the methods whose result moves with q: by n + 1 - alpha - beta ranks."""


class _Rows:
    """An array or tensor with the folded axes as one axis, the last, and what it takes to put results into shape."""

    __slots__ = ("a", "axes", "kept", "shape")

    def __init__(self, a: Any, axis: Any) -> None:
        shape = self.shape = np.shape(innermost_value(a))
        self.axes = normalize_axis_tuple(range(len(shape)) if axis is None else axis, len(shape))
        self.kept = [each for each in range(len(shape)) if each not in self.axes]
        self.a = self.of(a)

    def of(self, a: Any) -> Any:
        """An array of the same shape, rearranged in the same way."""
        moved = op.transpose(a, axes=[*self.kept, *self.axes])
        length = int(np.prod([self.shape[each] for each in self.axes]))
        return op.reshape(moved, shape=[*(self.shape[each] for each in self.kept), length])

    def result(self, y: Any, keepdims: bool, ahead: tuple[int, ...] = ()) -> Any:
        """A result of shape ``ahead`` + kept axes; with the folded ones as axes of length one if they are kept."""
        if not keepdims:
            return y
        return op.reshape(y, shape=[*ahead, *(1 if at in self.axes else n for at, n in enumerate(self.shape))])


def _plain(a: Any) -> Any:
    return np.asarray(innermost_value(a))


def _read(ordered: Any, ranks: Any) -> Any:
    """The values of whole ranks, which lie in the last axis; those of a vector are the same for all rows."""
    if ranks.ndim == 1:
        return op.take(ordered, indices=ranks, axis=-1)
    return op.take_along_axis(ordered, indices=ranks, axis=-1)


# -------------------------------------------------------------------------------------------------- medians


@follows(np.median, "a")
def median(a: Any, axis: Any = None, out: Any = None, overwrite_input: bool = False, keepdims: bool = False) -> Any:
    """The middle value along axes, or the mean of the two middle ones.

    >>> median([3.0, 1.0, 2.0, 10.0])
    np.float64(2.5)
    """
    rows = _Rows(as_array(a), axis)
    plain = _plain(rows.a)
    count = plain.shape[-1]
    if not count:
        raise ValueError(f"median: got an array of shape {rows.shape}, with nothing along the axes {rows.axes}")
    return rows.result(_middle(rows.a, np.array([count]), np.isnan(plain).any(axis=-1)), keepdims)


@follows(np.nanmedian, "a")
def nanmedian(a: Any, axis: Any = None, out: Any = None, overwrite_input: bool = False, keepdims: bool = False) -> Any:
    """``median`` of what is not NaN; NaN if there is nothing else.

    >>> nanmedian([3.0, np.nan, 1.0])
    np.float64(2.0)
    """
    rows = _Rows(as_array(a), axis)
    count = np.count_nonzero(~np.isnan(_plain(rows.a)), axis=-1, keepdims=True)
    if not count.all():
        warnings.warn("All-NaN slice encountered", RuntimeWarning, stacklevel=3)
    return rows.result(_middle(rows.a, count, (count == 0)[..., 0]), keepdims)


def _middle(rows: Any, count: Any, undefined: Any) -> Any:
    """The mean of the two middle ones of the first ``count`` ordered values of each row."""
    ordered = op.sort(rows, axis=-1)
    low, high = _read(ordered, np.maximum(count - 1, 0) // 2), _read(ordered, count // 2)
    y = op.divide(op.add(low, high), 2.0)[..., 0]
    return op.where(undefined, np.nan, y) if np.any(undefined) else y


# -------------------------------------------------------------------------------------------------- quantiles


@follows(np.quantile, "a", "q")
def quantile(
    a: Any, q: Any, axis: Any = None, out: Any = None, overwrite_input: bool = False, method: str = "linear",
    keepdims: bool = False, *, weights: Any = None,
) -> Any:  # fmt: skip
    """The value below which the fraction ``q`` of the values along axes lies, by any of NumPy's methods.

    Differentiable in ``a``, and in ``q`` where the method interpolates. The axes of ``q`` come first in the result.

    >>> quantile([1.0, 2.0, 4.0], 0.75)
    np.float64(3.0)
    """
    return _quantile(np.quantile, a, q, 1, axis, method, keepdims, weights)


@follows(np.percentile, "a", "q")
def percentile(
    a: Any, q: Any, axis: Any = None, out: Any = None, overwrite_input: bool = False, method: str = "linear",
    keepdims: bool = False, *, weights: Any = None,
) -> Any:  # fmt: skip
    """``quantile`` at ``q`` hundredths.

    >>> percentile([1.0, 2.0, 4.0], 75)
    np.float64(3.0)
    """
    return _quantile(np.percentile, a, q, 100, axis, method, keepdims, weights)


@follows(np.nanquantile, "a", "q")
def nanquantile(
    a: Any, q: Any, axis: Any = None, out: Any = None, overwrite_input: bool = False, method: str = "linear",
    keepdims: bool = False, *, weights: Any = None,
) -> Any:  # fmt: skip
    """``quantile`` of what is not NaN; NaN if there is nothing else.

    >>> nanquantile([1.0, np.nan, 2.0, 4.0], 0.75)
    np.float64(3.0)
    """
    return _quantile(np.nanquantile, a, q, 1, axis, method, keepdims, weights)


@follows(np.nanpercentile, "a", "q")
def nanpercentile(
    a: Any, q: Any, axis: Any = None, out: Any = None, overwrite_input: bool = False, method: str = "linear",
    keepdims: bool = False, *, weights: Any = None,
) -> Any:  # fmt: skip
    """``percentile`` of what is not NaN; NaN if there is nothing else.

    >>> nanpercentile([1.0, np.nan, 2.0, 4.0], 75)
    np.float64(3.0)
    """
    return _quantile(np.nanpercentile, a, q, 100, axis, method, keepdims, weights)


def _quantile(
    theirs: Callable[..., Any], a: Any, q: Any, parts: int, axis: Any, method: str, keepdims: bool, weights: Any
) -> Any:
    name, a, q = theirs.__name__, as_array(a), as_array(q)
    dtype = _plain(a).dtype
    if dtype.kind == "c":
        raise TypeError(f"{name}: got an array of dtype {dtype}, expected real numbers")
    if type(q) is Tensor and method not in _CONTINUOUS:
        raise NotTrackedError(
            f"{name}: q is a tensor, but by method {method!r} the result is constant in q between jumps; pass q.value, or choose"
            f" one of {sorted(_CONTINUOUS)}"
        )
    rows = _Rows(a, axis)
    plain, at = _plain(rows.a), innermost_value(q)
    if not plain.shape[-1]:
        raise ValueError(f"{name}: got an array of shape {rows.shape}, with nothing along the axes {rows.axes}")
    rank = _ranks(theirs, rows, plain, at, method, weights, axis)  # the axes of q flattened, and the last
    count = np.array([plain.shape[-1]])
    if rank.ndim == plain.ndim and name.startswith("nan"):
        count = np.count_nonzero(~np.isnan(plain), axis=-1, keepdims=True)
    if type(q) is Tensor:
        rank = _moving(rank, q, parts, count, method)
    y = _between(op.sort(rows.a, axis=-1), rank, count - 1)
    undefined = np.isnan(plain).all(-1) if name.startswith("nan") else np.isnan(plain).any(-1)
    if undefined.any():
        y = op.where(undefined[..., None], np.nan, y)
    expected = np.asarray(theirs(np.ones(1, dtype), at, method=method)).dtype
    y = y if _plain(y).dtype == expected else op.astype(y, dtype=expected)
    ahead = np.shape(at)
    order = [plain.ndim - 1, *range(plain.ndim - 1)]
    y = op.reshape(op.transpose(y, axes=order), shape=[*ahead, *plain.shape[:-1]])
    return rows.result(y, keepdims, ahead)


def _ranks(theirs: Callable[..., Any], rows: _Rows, plain: Any, at: Any, method: str, weights: Any, axis: Any) -> Any:
    """The rank, which need not be whole, of each quantile: those of all rows alike, or with the rows ahead."""
    length = plain.shape[-1]
    if weights is None and not np.isnan(plain).any():
        return np.ravel(theirs(np.arange(float(length)), at, method=method))
    order = np.argsort(plain, axis=-1)
    ranks = np.empty(plain.shape)
    np.put_along_axis(ranks, order, np.broadcast_to(np.arange(float(length)), plain.shape), axis=-1)
    if theirs.__name__.startswith("nan"):
        ranks[np.isnan(plain)] = np.nan
    options = {} if weights is None else {"weights": rows.of(weights_like(theirs.__name__, weights, rows.shape, axis))}
    result = np.asarray(theirs(ranks, at, axis=-1, method=method, **options))
    ndim = np.ndim(at)
    result = np.moveaxis(result.reshape(-1, *result.shape[ndim:]), 0, -1)
    return np.where(np.isnan(result), 0.0, result)


def _moving(rank: Any, q: Any, parts: int, count: Any, method: str) -> Any:
    """The ranks as a tensor that follows ``q``; one that would lie before the first value stays there."""
    alpha, beta = _CONTINUOUS[method]
    flat = op.reshape(q, shape=(-1,))
    fraction = innermost_value(flat) / parts
    slope = count + 1 - alpha - beta
    virtual = count * fraction + (alpha + fraction * (1 - alpha - beta)) - 1
    slope = np.where(virtual < 0, 0.0, slope) / parts
    return op.add(rank, op.multiply(slope, op.subtract(flat, innermost_value(flat))))


def _between(ordered: Any, rank: Any, last: Any) -> Any:
    """The values of ranks that need not be whole; behind the ``last`` one of a row there is no other."""
    plain = _plain(rank)
    low = np.floor(plain).astype(np.intp)
    below = _read(ordered, low)
    whole = plain == low
    if whole.all() and type(rank) is not Tensor:
        return below
    high = np.clip(low + 1, 0, np.maximum(last, 0))
    above = _read(ordered, high)
    part = op.subtract(rank, low)
    near = plain - low >= 0.5  # from the nearer end, as NumPy does it
    base = op.where(near, above, below)
    with np.errstate(invalid="ignore"):
        step = op.where(low == high, 0.0, op.subtract(above, below))  # also where both are infinite
        y = op.add(base, op.multiply(step, op.where(near, op.subtract(part, 1.0), part)))
    return y if type(rank) is Tensor else op.where(whole, below, y)


def weights_like(function: str, weights: Any, shape: tuple[int, ...], axis: Any) -> Any:
    """Weights of an array's shape, or of its folded axes in the order in which they are given, broadcast to that shape.

    >>> weights_like("average", [1.0, 2.0], (2, 3), 0).shape
    (2, 3)
    """
    weights = as_array(weights)
    given = np.shape(innermost_value(weights))
    if given == shape:
        return weights
    if axis is None:
        raise TypeError(f"{function}: got weights of shape {given}, expected {shape}, that of a, or the axis that they belong to")
    axes = normalize_axis_tuple(axis, len(shape))
    if given != tuple(shape[each] for each in axes):
        raise ValueError(f"{function}: got weights of shape {given}, expected {shape}, or the lengths of the axes {axes} of it")
    weights = op.transpose(weights, axes=[int(each) for each in np.argsort(axes)])
    weights = op.reshape(weights, shape=[length if at in axes else 1 for at, length in enumerate(shape)])
    return op.broadcast_to(weights, shape=shape)
