"""NumPy-shaped sets and partial orders. Part of the family indexing.

Which elements are taken is constant; the values that are taken have gradients. Elements that are equal share those of the one
that stands for them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.lib.array_utils import normalize_axis_index

from autograd import operators as op
from autograd.numpy.arguments import as_array
from autograd.numpy.following import follows
from autograd.tensor import innermost_value

__all__ = [
    "argpartition", "digitize", "intersect1d", "isin", "lexsort", "partition", "setdiff1d", "setxor1d", "sort_complex",
    "union1d", "unique", "unique_all", "unique_counts", "unique_inverse", "unique_values",
]  # fmt: skip


def _plain(a: Any) -> Any:
    return np.asarray(innermost_value(as_array(a)))


# -------------------------------------------------------------------------------------------------- partial orders


@follows(np.partition, "a")
def partition(a: Any, kth: Any, axis: int | None = -1, kind: Any = "introselect", order: Any = None) -> Any:
    """Values with those at the positions ``kth`` where sorting puts them, smaller ones before them and larger ones behind.

    Equal values share their gradients equally, as those of ``sort`` do.

    >>> partition([3.0, 1.0, 2.0], 1)
    array([1., 2., 3.])
    """
    a = op.ravel(as_array(a)) if axis is None else as_array(a)
    axis = -1 if axis is None else axis
    parted = np.argsort(np.partition(_plain(a), kth, axis, kind, order), axis=axis, kind="stable")
    return op.take_along_axis(op.sort(a, axis=axis), indices=np.argsort(parted, axis=axis), axis=axis)


@follows(np.argpartition, "a")
def argpartition(a: Any, kth: Any, axis: int | None = -1, kind: Any = "introselect", order: Any = None) -> Any:
    """The positions that ``partition`` takes; a constant.

    >>> argpartition([3.0, 1.0, 2.0], 1)
    array([1, 2, 0])
    """
    return np.argpartition(_plain(a), kth, axis, kind, order)


@follows(np.lexsort, "keys")
def lexsort(keys: Any, axis: int = -1) -> Any:
    """The positions that sort by several keys, the last one first; a constant.

    >>> lexsort(([3.0, 1.0, 2.0], [0.0, 0.0, -1.0]))
    array([2, 1, 0])
    """
    return np.lexsort([_plain(each) for each in keys] if isinstance(keys, list | tuple) else _plain(keys), axis)


@follows(np.sort_complex, "a")
def sort_complex(a: Any) -> Any:
    """Values in ascending order along the last axis, by real parts and then by imaginary ones, as complex numbers.

    >>> sort_complex([2.0, 1.0])
    array([1.+0.j, 2.+0.j])
    """
    a = op.sort(as_array(a), axis=-1)
    dtype = _plain(a).dtype
    return a if dtype.kind == "c" else op.astype(a, dtype=np.sort_complex(np.ones(1, dtype)).dtype)


@follows(np.digitize, "x", "bins")
def digitize(x: Any, bins: Any, right: bool = False) -> Any:
    """The numbers of the bins into which values fall; a constant.

    >>> digitize([0.5, 2.0], [0.0, 1.0, 2.0])
    array([1, 3])
    """
    return np.digitize(_plain(x)[()], _plain(bins), right)


@follows(np.isin, "element", "test_elements")
def isin(element: Any, test_elements: Any, assume_unique: bool = False, invert: bool = False, *, kind: Any = None) -> Any:
    """Which elements are among others; a constant.

    >>> isin([1.0, 2.0], [2.0, 3.0])
    array([False,  True])
    """
    return np.isin(_plain(element), _plain(test_elements), assume_unique, invert, kind=kind)


# -------------------------------------------------------------------------------------------------- unique values


@follows(np.unique, "ar")
def unique(
    ar: Any, return_index: bool = False, return_inverse: bool = False, return_counts: bool = False, axis: int | None = None, *,
    equal_nan: bool = True, sorted: bool = True,
) -> Any:  # fmt: skip
    """The different values in ascending order, or the different parts along an axis; and where and how often they are, if asked.

    >>> unique([3.0, 1.0, 3.0])
    array([1., 3.])
    """
    ar = as_array(ar)
    plain = _plain(ar)
    _, index, inverse, counts = np.unique(plain, True, True, True, axis, equal_nan=equal_nan)
    if axis is None or plain.ndim == 1:
        ordered = op.sort(op.ravel(ar), axis=-1)
        values = op.take(ordered, indices=np.cumsum(counts) - counts)
    else:
        values = _parts(ar, index, np.ravel(inverse), counts, normalize_axis_index(axis, plain.ndim))
    wanted = [each for each, asked in ((index, return_index), (inverse, return_inverse), (counts, return_counts)) if asked]
    return (values, *wanted) if wanted else values


def _parts(ar: Any, index: Any, inverse: Any, counts: Any, axis: int) -> Any:
    """The different parts along an axis. Equal ones are put side by side, and the maximum shares a gradient among them."""
    if not counts.size or counts.max() == 1:
        return op.take(ar, indices=index, axis=axis)
    order = np.argsort(inverse, kind="stable")
    first = np.cumsum(counts) - counts
    places = np.minimum(first[:, None] + np.arange(counts.max()), len(order) - 1)
    members = np.arange(counts.max()) < counts[:, None]
    beside = op.take(ar, indices=order[places], axis=axis)
    mask = members.reshape(members.shape + (1,) * (beside.ndim - axis - 2))
    if _plain(ar).dtype.kind == "c":  # which have no maximum
        return op.take(ar, indices=index, axis=axis)
    return op.max(beside, axis=axis + 1, initial=-np.inf, where=mask)


def _as_named(theirs: Callable[..., Any], x: Any) -> Any:
    """The namedtuple of a function of the array standard, with values that have gradients."""
    x = as_array(x)
    found = theirs(innermost_value(x))
    return found._replace(values=unique(x, equal_nan=False))


@follows(np.unique_values, "x")
def unique_values(x: Any) -> Any:
    """The different values in ascending order; NaN is different from NaN.

    >>> unique_values([3.0, 1.0, 3.0]).size
    2
    """
    return unique(x, equal_nan=False)


@follows(np.unique_counts, "x")
def unique_counts(x: Any) -> Any:
    """``(values, counts)``.

    >>> unique_counts([3.0, 1.0, 3.0]).counts
    array([1, 2])
    """
    return _as_named(np.unique_counts, x)


@follows(np.unique_inverse, "x")
def unique_inverse(x: Any) -> Any:
    """``(values, inverse_indices)``: ``values[inverse_indices]`` is ``x``.

    >>> unique_inverse([3.0, 1.0, 3.0]).inverse_indices
    array([1, 0, 1])
    """
    return _as_named(np.unique_inverse, x)


@follows(np.unique_all, "x")
def unique_all(x: Any) -> Any:
    """``(values, indices, inverse_indices, counts)``.

    >>> unique_all([3.0, 1.0, 3.0]).indices
    array([1, 0])
    """
    return _as_named(np.unique_all, x)


# -------------------------------------------------------------------------------------------------- sets


def _joined(ar1: Any, ar2: Any) -> Any:
    return op.concatenate([as_array(ar1), as_array(ar2)], axis=None)


def _as_set(ar: Any, assume_unique: bool) -> Any:
    return op.ravel(as_array(ar)) if assume_unique else unique(ar)


@follows(np.union1d, "ar1", "ar2")
def union1d(ar1: Any, ar2: Any) -> Any:
    """The different values of both.

    >>> union1d([1.0, 2.0], [2.0, 3.0])
    array([1., 2., 3.])
    """
    return unique(_joined(ar1, ar2))


@follows(np.intersect1d, "ar1", "ar2")
def intersect1d(ar1: Any, ar2: Any, assume_unique: bool = False, return_indices: bool = False) -> Any:
    """The values that both have, and where each has them, if asked; both share the gradient.

    >>> intersect1d([1.0, 2.0], [2.0, 3.0])
    array([2.])
    """
    ordered = op.sort(_joined(_as_set(ar1, assume_unique), _as_set(ar2, assume_unique)), axis=-1)
    plain = _plain(ordered)
    values = ordered[:-1][plain[1:] == plain[:-1]]
    if not return_indices:
        return values
    return values, *np.intersect1d(_plain(ar1), _plain(ar2), assume_unique, return_indices=True)[1:]


@follows(np.setdiff1d, "ar1", "ar2")
def setdiff1d(ar1: Any, ar2: Any, assume_unique: bool = False) -> Any:
    """The values of the first that the second does not have.

    >>> setdiff1d([1.0, 2.0], [2.0, 3.0])
    array([1.])
    """
    ar1 = _as_set(ar1, assume_unique)
    return op.getitem(ar1, index=~np.isin(_plain(ar1), _plain(ar2)))


@follows(np.setxor1d, "ar1", "ar2")
def setxor1d(ar1: Any, ar2: Any, assume_unique: bool = False) -> Any:
    """The values that only one of the two has.

    >>> setxor1d([1.0, 2.0], [2.0, 3.0])
    array([1., 3.])
    """
    ordered = op.sort(_joined(_as_set(ar1, assume_unique), _as_set(ar2, assume_unique)), axis=-1)
    plain = _plain(ordered)
    change = np.concatenate([[True], plain[1:] != plain[:-1], [True]]) if plain.size else np.zeros(1, bool)
    return op.getitem(ordered, index=change[1:] & change[:-1])
