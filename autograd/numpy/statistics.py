"""NumPy-shaped averages, covariances and counts. Part of the family reduction.

How many samples fall into a bin does not change with small changes of the samples: that is a constant. Sums of weights in bins,
the edges that follow the smallest and the largest sample, and densities have gradients.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.lib.array_utils import normalize_axis_tuple

from autograd import operators as op
from autograd.numpy.arguments import as_array, as_dtype
from autograd.numpy.calculus import diff
from autograd.numpy.following import follows
from autograd.numpy.joining import atleast_2d
from autograd.numpy.quantiles import weights_like
from autograd.tensor import Tensor, innermost_value

__all__ = [
    "average", "bincount", "corrcoef", "cov", "histogram", "histogram2d", "histogram_bin_edges", "histogramdd", "ptp",
]  # fmt: skip


def _plain(a: Any) -> Any:
    return np.asarray(innermost_value(a))


# -------------------------------------------------------------------------------------------------- averages


@follows(np.ptp, "a")
def ptp(a: Any, axis: Any = None, out: Any = None, keepdims: bool = False) -> Any:
    """The range of values along axes: ``max - min``.

    >>> ptp([1.0, 5.0, 3.0])
    np.float64(4.0)
    """
    return op.subtract(op.max(a, axis=axis, keepdims=keepdims), op.min(a, axis=axis, keepdims=keepdims))


@follows(np.average, "a", "weights")
def average(a: Any, axis: Any = None, weights: Any = None, returned: bool = False, *, keepdims: bool = False) -> Any:
    """The mean with weights: ``sum(a * weights) / sum(weights)``; with ``returned=True`` also the sum of the weights.

    Weights are of the shape of ``a``, or of the axes that are averaged.

    >>> average([1.0, 2.0], weights=[3.0, 1.0])
    np.float64(1.25)
    """
    a = as_array(a)
    plain = _plain(a)
    axes = None if axis is None else normalize_axis_tuple(axis, plain.ndim)
    if weights is None:
        mean = op.mean(a, axis=axes, keepdims=keepdims)
        shape = np.shape(innermost_value(mean))
        count = plain.size / max(int(np.prod(shape)), 1)
        return (mean, np.full(shape, count, mean.dtype)[()]) if returned else mean
    weights = weights_like("average", weights, plain.shape, axis)
    dtype = np.result_type(plain.dtype, _plain(weights).dtype, *(("f8",) if plain.dtype.kind in "biu" else ()))
    total = op.sum(weights, axis=axes, dtype=dtype, keepdims=keepdims)
    if np.any(np.equal(innermost_value(total), 0)):
        raise ZeroDivisionError("average: the weights sum to zero, so nothing can be divided by their sum")
    products = op.multiply(a, weights)
    products = products if _plain(products).dtype == dtype else op.astype(products, dtype=dtype)
    result = op.divide(op.sum(products, axis=axes, keepdims=keepdims), total)
    return (result, total) if returned else result


# -------------------------------------------------------------------------------------------------- covariances


@follows(np.cov, "m", "y", "aweights")
def cov(
    m: Any, y: Any = None, rowvar: bool = True, bias: bool = False, ddof: int | None = None, fweights: Any = None,
    aweights: Any = None, *, dtype: Any = None,
) -> Any:  # fmt: skip
    """The matrix of covariances of the rows of ``m`` and ``y``, or of their columns.

    ``fweights`` say how often an observation was made, ``aweights`` how much it weighs.

    >>> cov([1.0, 2.0, 3.0])
    array(1.)
    """
    if ddof is not None and ddof != int(ddof):
        raise ValueError(f"cov: got ddof={ddof}, expected a whole number")
    parts = [as_array(each) for each in ((m,) if y is None else (m, y))]
    dtype = np.result_type(*(_plain(each).dtype for each in parts), np.float64) if dtype is None else np.dtype(dtype)
    for name, each in zip("my", parts, strict=False):
        if np.ndim(innermost_value(each)) > 2:
            raise ValueError(f"cov: {name} has shape {np.shape(innermost_value(each))}, expected two axes at most")
    rows = [_variables(each, rowvar, number) for number, each in enumerate(parts)]
    if not np.shape(innermost_value(rows[0]))[0]:
        return np.zeros((0, 0))
    x = op.concatenate(rows, axis=0) if len(rows) > 1 else rows[0]
    x = x if _plain(x).dtype == dtype else op.astype(x, dtype=dtype)
    ddof = (0 if bias else 1) if ddof is None else ddof
    count = np.shape(innermost_value(x))[1]
    weights, freedom = _observations(fweights, aweights, count, ddof)
    if weights is None:
        centred = op.subtract(x, op.mean(x, axis=1, keepdims=True))
        weighted = centred
    else:
        mean = op.divide(op.sum(op.multiply(x, weights), axis=1, keepdims=True), op.sum(weights))
        centred = op.subtract(x, mean)
        weighted = op.multiply(centred, weights)
    if innermost_value(freedom) <= 0:
        warnings.warn("Degrees of freedom <= 0 for slice", RuntimeWarning, stacklevel=3)
        freedom = 0.0
    transposed = op.transpose(op.conjugate(weighted) if dtype.kind == "c" else weighted)
    with np.errstate(divide="ignore", invalid="ignore"):
        scale = op.divide(np.float64(1.0), freedom)
        result = op.multiply(op.matmul(centred, transposed), as_dtype(scale, dtype))
    return op.squeeze(result)


def _variables(a: Any, rowvar: bool, number: int) -> Any:
    """One row for each variable; the first operand tells a vector by its axes, the second by its one row, as NumPy does."""
    vector = np.ndim(innermost_value(a)) == 1
    a = atleast_2d(a)
    single = vector if number == 0 else np.shape(innermost_value(a))[0] == 1
    return a if rowvar or single else op.transpose(a)


def _observations(fweights: Any, aweights: Any, count: int, ddof: int) -> tuple[Any, Any]:
    """The weight of each observation, None if all count as one; and the divisor of the sums."""
    given: dict[str, Any] = {}
    for name, each in (("fweights", fweights), ("aweights", aweights)):
        if each is None:
            continue
        given[name] = each = as_array(each)
        if np.shape(innermost_value(each)) != (count,):
            raise RuntimeError(f"cov: {name} has shape {np.shape(innermost_value(each))}, expected ({count},), the observations")
        if np.any(np.less(innermost_value(each), 0)):
            raise ValueError(f"cov: {name} holds negative numbers, expected none")
    if "fweights" in given and np.any(given["fweights"] != np.around(given["fweights"])):
        raise TypeError("cov: fweights are not whole numbers, which they must be, for they say how often something was observed")
    if not given:
        return None, count - ddof
    weights = op.astype(next(iter(given.values())), dtype=np.dtype(float))
    if len(given) == 2:
        weights = op.multiply(weights, given["aweights"])
    total = op.sum(weights)
    if "aweights" not in given or ddof == 0:
        return weights, op.subtract(total, ddof)
    return weights, op.subtract(total, op.divide(op.sum(op.multiply(weights, given["aweights"])) * ddof, total))


@follows(np.corrcoef, "x", "y")
def corrcoef(x: Any, y: Any = None, rowvar: bool = True, *, dtype: Any = None) -> Any:
    """``cov`` with each covariance divided by the standard deviations of its two variables.

    >>> corrcoef([1.0, 2.0, 3.0], [1.0, 2.0, 4.0]).round(4)
    array([[1.   , 0.982],
           [0.982, 1.   ]])
    """
    c = cov(x, y, rowvar, dtype=dtype)
    if not np.ndim(innermost_value(c)):
        return op.divide(c, c)
    deviation = op.sqrt(op.real(op.diagonal(c)))
    c = op.divide(op.divide(c, op.reshape(deviation, shape=(-1, 1))), op.reshape(deviation, shape=(1, -1)))
    plain = _plain(c)
    if plain.dtype.kind == "c":
        parts = (np.clip(each, -1, 1) for each in (plain.real, plain.imag))
        bounded = np.add(next(parts), 1j * next(parts))
    else:
        bounded = np.clip(plain, -1, 1)
    excess = np.nan_to_num(bounded - plain)
    return op.add(c, excess) if excess.any() else c  # rounding went beyond the bound: of the value, not of derivatives


# -------------------------------------------------------------------------------------------------- counts


@follows(np.bincount, "weights")
def bincount(x: Any, /, weights: Any = None, minlength: int = 0) -> Any:
    """For each whole number the sum of the weights of the elements of ``x`` that are equal to it.

    >>> bincount([0, 2, 2], weights=[1.0, 2.0, 3.0])
    array([1., 0., 5.])
    """
    weights = as_array(weights)
    counts = np.bincount(x, innermost_value(weights), minlength)
    return _summed(weights, np.asarray(x), len(counts))


def _summed(weights: Any, numbers: Any, length: int) -> Any:
    """The sums of the weights with each number below ``length``; complex weights stay complex, others become float64."""
    dtype = np.result_type(_plain(weights).dtype, np.float64)
    weights = weights if _plain(weights).dtype == dtype else op.astype(weights, dtype=dtype)
    return op.scatter_add([weights], indices=[numbers], shape=(length,), dtype=dtype)


@follows(np.histogram_bin_edges, "a", "bins", "range")
def histogram_bin_edges(a: Any, bins: Any = 10, range: Any = None, weights: Any = None) -> Any:
    """The edges of the bins of ``histogram``. Those of equal bins follow the smallest and the largest sample, or the range.

    >>> histogram_bin_edges([0.0, 4.0], 2)
    array([0., 2., 4.])
    """
    bins, a = as_array(bins), as_array(a)
    if type(bins) is Tensor:
        return bins
    limits = None if range is None else tuple(innermost_value(each) for each in range)
    edges = np.histogram_bin_edges(innermost_value(a), bins, limits, weights)
    if np.ndim(bins):
        return edges
    low, high = (op.min(a), op.max(a)) if range is None else range
    return _spaced(low, high, edges)


def _spaced(low: Any, high: Any, edges: Any) -> Any:
    """Edges between two numbers that may be tensors, with the values of ``edges``."""
    if type(low) is not Tensor and type(high) is not Tensor:
        return edges
    parts = np.linspace(0.0, 1.0, len(edges)).astype(edges.dtype)
    moved = op.add(op.multiply(low, 1 - parts), op.multiply(high, parts))
    return op.add(moved, edges - innermost_value(moved))  # also where NumPy widens a range of no width


@follows(np.histogram, "a", "bins", "range", "weights")
def histogram(a: Any, bins: Any = 10, range: Any = None, density: bool | None = None, weights: Any = None) -> tuple[Any, Any]:
    """``(counts, edges)``: how many samples, or what sum of weights, lies in each bin; with ``density=True`` per unit of length.

    >>> histogram([1.0, 2.0, 2.5], bins=[0.0, 2.0, 4.0])
    (array([1, 2]), array([0., 2., 4.]))
    """
    weights = as_array(weights)
    edges = histogram_bin_edges(a, bins, range, innermost_value(weights))
    samples, limits = np.ravel(innermost_value(as_array(a))), innermost_value(edges)
    if weights is None:
        counts: Any = np.histogram(samples, limits)[0]
    else:
        weights = op.ravel(weights)
        numbers, inside = _bins_of(samples, limits)
        counts = _summed(weights[inside], numbers[inside], len(limits) - 1)
        dtype = _plain(weights).dtype
        counts = counts if counts.dtype == dtype else op.astype(counts, dtype=dtype)
    if not density:
        return counts, edges
    return op.divide(op.divide(counts, diff(edges)), op.sum(counts)), edges


def _bins_of(samples: Any, edges: Any) -> tuple[Any, Any]:
    """The number of each sample's bin, and whether there is one; the last bin holds its upper edge."""
    numbers = np.searchsorted(edges, samples, side="right") - 1
    numbers[samples == edges[-1]] = len(edges) - 2
    return numbers, (numbers >= 0) & (numbers < len(edges) - 1)


def _length(bins: Any) -> int:
    """How many entries there are; 0 for a number."""
    return len(bins) if isinstance(bins, Sequence) or np.ndim(innermost_value(bins)) else 0


@follows(np.histogramdd, "sample", "bins", "weights")
def histogramdd(
    sample: Any, bins: Any = 10, range: Any = None, density: bool | None = None, weights: Any = None
) -> tuple[Any, list[Any]]:
    """``histogram`` in several dimensions: one column of ``sample`` for each, and a list of edges.

    >>> histogramdd(np.array([[0.0, 0.0], [1.0, 1.0]]), bins=2)[0]
    array([[1., 0.],
           [0., 1.]])
    """
    listed, sample = isinstance(sample, Sequence), as_array(sample)
    if listed or np.ndim(innermost_value(sample)) != 2:  # a list holds the columns
        sample = op.transpose(atleast_2d(sample))
    count, dimensions = np.shape(innermost_value(sample))
    per_axis = list(bins) if _length(bins) else [bins] * dimensions
    if len(per_axis) != dimensions:
        raise ValueError(f"histogramdd: got {len(per_axis)} bins for a sample of {dimensions} columns, expected one for each")
    ranges = (None,) * dimensions if range is None else range
    if len(ranges) != dimensions:
        raise ValueError(f"histogramdd: got {len(ranges)} ranges for a sample of {dimensions} columns, expected one for each")
    edges, lengths = [], []
    flat: Any = np.zeros(count, np.intp)
    inside: Any = np.ones(count, bool)
    for column, (each, limits) in enumerate(zip(per_axis, ranges, strict=True)):
        edges.append(histogram_bin_edges(sample[:, column], each, limits))
        lengths.append(len(innermost_value(edges[-1])) - 1)
        numbers, within = _bins_of(innermost_value(sample)[:, column], innermost_value(edges[-1]))
        flat, inside = flat * lengths[-1] + numbers, inside & within
    cells = int(np.prod(lengths))
    if weights is None:
        counts: Any = np.bincount(flat[inside], minlength=cells).astype(float)
    else:
        counts = _summed(as_array(weights)[inside], flat[inside], cells)
    counts = op.reshape(counts, shape=lengths)
    if density:
        total = op.sum(counts)
        for axis, each in enumerate(edges):
            counts = op.divide(counts, op.reshape(diff(each), shape=(-1,) + (1,) * (dimensions - 1 - axis)))
        counts = op.divide(counts, total)
    return counts, edges


@follows(np.histogram2d, "x", "y", "bins", "weights")
def histogram2d(
    x: Any, y: Any, bins: Any = 10, range: Any = None, density: bool | None = None, weights: Any = None
) -> tuple[Any, Any, Any]:
    """``(counts, x_edges, y_edges)``: ``histogramdd`` in two dimensions.

    >>> histogram2d([0.0, 1.0], [0.0, 1.0], bins=2)[0]
    array([[1., 0.],
           [0., 1.]])
    """
    x, y = as_array(x), as_array(y)
    lengths = [np.shape(innermost_value(each))[0] for each in (x, y)]
    if lengths[0] != lengths[1]:
        raise ValueError(f"histogram2d: got {lengths[0]} and {lengths[1]} coordinates, expected as many of x as of y")
    if _length(bins) not in (0, 1, 2):
        bins = [bins, bins]  # edges for both
    counts, edges = histogramdd(op.stack([x, y], axis=1), bins, range, density, weights)
    return counts, edges[0], edges[1]
