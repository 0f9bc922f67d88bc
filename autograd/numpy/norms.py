"""Norms of vectors and matrices, as ``numpy.linalg`` has them. Part of ``autograd.numpy.linalg``, which lists their names.

Where a norm has a kink its gradient is 0: at a vector of zeros, and in what belongs to singular values that are 0. Elements that
attain a maximum together share its gradient equally.
"""

from __future__ import annotations

from collections.abc import Sequence
from operator import index
from typing import Any

import numpy as np
from numpy.lib.array_utils import normalize_axis_index, normalize_axis_tuple

from autograd import operators as op
from autograd.engine import innermost_tape
from autograd.errors import NotTrackedError
from autograd.gradients.spectra import rounding
from autograd.numpy.arguments import as_array
from autograd.tensor import Tensor, innermost_value

__all__ = ["matrix_norm", "norm", "vector_norm"]
METHODS: tuple[str, ...] = ()

_theirs: Any = np.linalg
"""NumPy's stubs know fewer combinations of arguments than its functions take."""


def norm(x: Any, ord: Any = None, axis: Any = None, keepdims: bool = False) -> Any:
    """The norm of vectors (one axis, or all by default) or of matrices (two axes), of any order that NumPy has.

    The order is a constant; order 0, the number of elements that are not zero, gives a constant.

    >>> from autograd import grad
    >>> norm(np.array([3.0, 4.0])), grad(norm)(np.array([3.0, 4.0]))
    (np.float64(5.0), array([0.6, 0.8]))
    >>> grad(norm)(np.zeros(2))
    array([0., 0.])
    """
    _refuse_order("norm", ord)
    if innermost_tape((x,)) is None:
        return _theirs.norm(x, ord, axis, keepdims)
    x = as_array(x)
    ndim = np.ndim(innermost_value(x))
    if axis is None:
        if ord is None or (ndim == 1 and ord == 2) or (ndim == 2 and ord in ("f", "fro")):
            return _vector_norm(x, 2, tuple(range(ndim)), keepdims)
        axes = tuple(range(ndim))
    elif isinstance(axis, tuple):
        axes = normalize_axis_tuple(axis, ndim)
    else:
        axes = (normalize_axis_index(index(axis), ndim),)
    if len(axes) == 1:
        if isinstance(ord, str):
            raise ValueError(f"norm: order {ord!r} is for matrices, but one axis makes vectors; expected a number")
        return _vector_norm(x, 2 if ord is None else ord, axes, keepdims)
    if len(axes) == 2:
        return _matrix_norm(x, ord, axes, keepdims)
    raise ValueError(f"norm: got {len(axes)} axes and ord={ord!r}, expected one axis or two; or all axes and ord=None")


def vector_norm(x: Any, /, *, axis: Any = None, keepdims: bool = False, ord: Any = 2) -> Any:
    """The norm of the elements along axes, all of them by default, taken as one vector.

    >>> vector_norm(np.array([[3.0, 4.0]]), ord=1)
    np.float64(7.0)
    """
    _refuse_order("vector_norm", ord)
    if innermost_tape((x,)) is None:
        return _theirs.vector_norm(x, axis=axis, keepdims=keepdims, ord=ord)
    x = as_array(x)
    ndim = np.ndim(innermost_value(x))
    axes = tuple(range(ndim)) if axis is None else normalize_axis_tuple(axis, ndim)
    return _vector_norm(x, 2 if ord is None else ord, axes, keepdims)


def matrix_norm(x: Any, /, *, keepdims: bool = False, ord: Any = "fro") -> Any:
    """The norm of the matrices in the last two axes.

    >>> matrix_norm(np.array([[3.0, 0.0], [0.0, 4.0]]), ord="nuc")
    np.float64(7.0)
    """
    _refuse_order("matrix_norm", ord)
    if innermost_tape((x,)) is None:
        return _theirs.matrix_norm(x, keepdims=keepdims, ord=ord)
    x = as_array(x)
    return _matrix_norm(x, ord, normalize_axis_tuple((-2, -1), np.ndim(innermost_value(x))), keepdims)


def _refuse_order(function: str, ord: Any) -> None:
    if type(ord) is Tensor:
        raise NotTrackedError(
            f"{function}: ord is a tensor, expected a plain number: no rule for the derivative in the order; write"
            " sum(abs(x)**p)**(1/p) to have one, or ord.item() to use its value as a constant"
        )


def _vector_norm(x: Any, ord: Any, axes: Sequence[int], keepdims: bool) -> Any:
    if not axes:
        x, axes = op.reshape(x, shape=(1,)), (0,)
        keepdims = False
    if ord == np.inf:
        if not np.size(innermost_value(x)):  # NumPy gives 0; older ones raise, as this call then does
            _theirs.vector_norm(innermost_value(x), axis=tuple(axes), ord=ord)
            return op.sum(op.absolute(x), axis=tuple(axes), keepdims=keepdims)
        return op.max(op.absolute(x), axis=tuple(axes), keepdims=keepdims)
    if ord == -np.inf:
        return op.min(op.absolute(x), axis=tuple(axes), keepdims=keepdims)
    if ord == 0:
        return _theirs.vector_norm(innermost_value(x), axis=tuple(axes), keepdims=keepdims, ord=0)
    if ord == 1:
        return op.sum(op.absolute(x), axis=tuple(axes), keepdims=keepdims)
    return op.vector_norm(x, axis=list(axes), ord=ord, keepdims=keepdims)


def _matrix_norm(x: Any, ord: Any, axes: Sequence[int], keepdims: bool) -> Any:
    rows, columns = axes
    if ord is None or ord in ("fro", "f"):
        return _vector_norm(x, 2, axes, keepdims)
    if ord in ("nuc", 2, -2):
        others = [each for each in range(np.ndim(innermost_value(x))) if each not in axes]
        s = _without_kinks(op.svdvals(op.transpose(x, axes=[*others, rows, columns])))
        fold = op.sum if ord == "nuc" else op.max if ord == 2 else op.min
        y = fold(s, axis=-1)
        return op.expand_dims(y, axis=tuple(sorted(axes))) if keepdims else y
    if ord in (1, -1, np.inf, -np.inf):
        within, across = (rows, columns) if abs(ord) == 1 else (columns, rows)
        sums = op.sum(op.absolute(x), axis=within, keepdims=True)
        y = (op.max if ord > 0 else op.min)(sums, axis=across, keepdims=True)
        return y if keepdims else op.squeeze(y, axis=tuple(sorted(axes)))
    raise ValueError(
        f"norm: there is no norm of order {ord!r} for matrices; expected None, 'fro', 'nuc', 1, -1, 2, -2, inf or -inf"
    )


def _without_kinks(s: Any) -> Any:
    """Singular values as they are, those that are 0 as constants: they cannot fall, so they have a kink there."""
    plain = innermost_value(s)
    zero = plain <= rounding(plain)
    return op.where(zero, plain, s) if zero.any() else s
