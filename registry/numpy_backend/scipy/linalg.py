"""Linear algebra by SciPy: triangular, banded and Sylvester equations, square root and exponential of matrices.

Each is one routine of LAPACK, or an algorithm that a composition would not match. Matrices lie in the last two axes; axes in
front of them broadcast. Right-hand sides are matrices here.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import linalg

from registry.declare import operator

Array = np.ndarray[Any, Any]


def _for_each(function: Callable[..., Any], *arrays: Array) -> Any:
    """``function`` of matrices, for each in the broadcast axes in front of them."""
    if all(each.ndim == 2 for each in arrays):
        return function(*arrays)
    stack = np.broadcast_shapes(*[each.shape[:-2] for each in arrays])
    wide = [np.broadcast_to(each, stack + each.shape[-2:]) for each in arrays]
    if not math.prod(stack):
        ones = function(*[np.eye(each.shape[-2], each.shape[-1], dtype=each.dtype) for each in arrays])
        return np.empty(stack + ones.shape, ones.dtype)
    results = [function(*[each[at] for each in wide]) for at in np.ndindex(stack)]
    dtype = np.result_type(*results)
    return np.stack(results).astype(dtype, copy=False).reshape(stack + results[0].shape)


def _with_columns(solve: Callable[[Array, Array], Array], a: Array, b: Array) -> Any:
    """``solve``, where one matrix and a stack of right-hand sides are one system with many columns."""
    if a.ndim > 2 or b.ndim == 2 or not b.size:
        return _for_each(solve, a, b)
    n, m = b.shape[-2:]
    columns = np.moveaxis(b.reshape((-1, n, m)), 0, 1).reshape((n, -1))
    x = solve(a, columns)
    return np.moveaxis(x.reshape((n, -1, m)), 1, 0).reshape(b.shape)


def _solve_triangular(a: Any, b: Any, trans: Any, lower: bool, unit_diagonal: bool) -> Any:
    def solve(a: Array, b: Array) -> Array:
        x: Array = linalg.solve_triangular(a, b, trans, lower, unit_diagonal, check_finite=False)
        return x

    return _with_columns(solve, np.asarray(a), np.asarray(b))


def _solve_banded(ab: Any, b: Any, l_and_u: Any) -> Any:
    def solve(ab: Array, b: Array) -> Array:
        x: Array = linalg.solve_banded(tuple(l_and_u), ab, b, check_finite=False)
        return x

    return _with_columns(solve, np.asarray(ab), np.asarray(b))


def _solve_sylvester(a: Any, b: Any, q: Any) -> Any:
    dtype = np.result_type(a, b, q)  # SciPy takes a real matrix among complex ones for triangular, which it may not be
    return _for_each(linalg.solve_sylvester, *[np.asarray(each, dtype) for each in (a, b, q)])


def _sqrtm(a: Any) -> Any:
    return _for_each(linalg.sqrtm, np.asarray(a))


def _expm(a: Any) -> Any:
    return _for_each(linalg.expm, np.asarray(a))


operator(
    "scipy_solve_triangular(Tensor a, Tensor b, *, Any trans=0, bool lower=False, bool unit_diagonal=False) -> Tensor",
    _solve_triangular,
)
operator("scipy_solve_banded(Tensor ab, Tensor b, *, int[] l_and_u) -> Tensor", _solve_banded)
operator("scipy_solve_sylvester(Tensor a, Tensor b, Tensor q) -> Tensor", _solve_sylvester)
operator("scipy_sqrtm(Tensor a) -> Tensor", _sqrtm)
operator("scipy_expm(Tensor a) -> Tensor", _expm)
