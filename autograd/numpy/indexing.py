"""NumPy-shaped functions of the family indexing: take parts of an array, find positions, sort.

Reading with brackets, ``t[...]``, is the operator ``getitem``. Positions are constants.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from autograd import operators as op
from autograd.errors import NotTrackedError
from autograd.numpy.arguments import as_array, refuse
from autograd.numpy.following import written
from autograd.tensor import innermost_value

__all__ = [
    "argsort", "argwhere", "compress", "flatnonzero", "nonzero", "searchsorted", "sort", "take", "take_along_axis",
]  # fmt: skip
METHODS: tuple[str, ...] = ("argsort", "nonzero", "searchsorted", "take")


def _positions(function: str, indices: Any) -> Any:
    """Indices as an array of integers; a tensor, which holds floats, cannot be one."""
    found = as_array(indices)
    if innermost_value(found) is not found:
        raise NotTrackedError(
            f"{function}: the indices are a tensor of dtype {found.dtype}, expected integers, which have no gradient: write"
            " indices.astype(int)"
        )
    return np.asarray(found)


def take(a: Any, indices: Any, axis: int | None = None, out: Any = None, mode: str = "raise") -> Any:
    """Elements at ``indices`` along an axis; of the flattened array by default. Equal indices add up in the gradient.

    >>> take([1.0, 2.0, 3.0], [2, 0])
    array([3., 1.])
    """
    if out is not None:
        return written(np.take, take, a, out, indices=indices, axis=axis, mode=mode)
    return op.take(a, indices=_positions("take", indices), axis=axis, mode=mode)


def take_along_axis(arr: Any, indices: Any, axis: int | None = -1) -> Any:
    """For each position along the other axes, the elements at ``indices`` along one; undoes ``argsort`` and ``argmax``.

    >>> take_along_axis([[3.0, 1.0]], [[1, 0]], axis=1)
    array([[1., 3.]])
    """
    return op.take_along_axis(arr, indices=_positions("take_along_axis", indices), axis=axis)


def compress(condition: Any, a: Any, axis: int | None = None, out: Any = None) -> Any:
    """The parts along an axis for which a vector of conditions is true.

    >>> compress([True, False], [[1.0], [2.0]], axis=0)
    array([[1.]])
    """
    return take(a, np.flatnonzero(innermost_value(as_array(condition))), axis, out)


def sort(a: Any, axis: int | None = -1, kind: Any = None, order: Any = None, *, stable: Any = None) -> Any:
    """Values in ascending order along an axis. Each gets its gradient back; equal ones share theirs equally.

    >>> sort([3.0, 1.0, 2.0])
    array([1., 2., 3.])
    """
    refuse("sort", order=order)
    return op.sort(a, axis=axis)


def argsort(a: Any, axis: int | None = -1, kind: Any = None, order: Any = None, *, stable: Any = None) -> Any:
    """The positions that sort; a constant.

    >>> argsort([3.0, 1.0, 2.0])
    array([1, 2, 0])
    """
    refuse("argsort", order=order)
    return op.argsort(a, axis=axis, kind="stable" if stable else kind)


def searchsorted(a: Any, v: Any, side: str = "left", sorter: Any = None) -> Any:
    """Where values would be put in to keep ``a`` sorted; a constant.

    >>> searchsorted([1.0, 2.0, 3.0], 2.5)
    np.int64(2)
    """
    return op.searchsorted(a, v, side=side, sorter=sorter)


def nonzero(a: Any) -> tuple[Any, ...]:
    """The positions of what is not zero, one array for each axis; a constant.

    >>> nonzero([0.0, 1.0])
    (array([1]),)
    """
    return np.nonzero(innermost_value(as_array(a)))


def flatnonzero(a: Any) -> Any:
    """The positions, in the flattened array, of what is not zero; a constant.

    >>> flatnonzero([0.0, 1.0])
    array([1])
    """
    return np.flatnonzero(innermost_value(as_array(a)))


def argwhere(a: Any) -> Any:
    """The positions of what is not zero, one row for each; a constant.

    >>> argwhere([0.0, 1.0])
    array([[1]])
    """
    return np.argwhere(innermost_value(as_array(a)))
