"""SciPy's linear algebra over tensors: ``import autograd.scipy.linalg as linalg``.

Axes in front of those of a matrix are a stack, as SciPy has it. Every function is differentiable in each of its arrays; of a
triangular, banded or Hermitian matrix, only in what is read of it.
"""

from __future__ import annotations

from typing import Any

import numpy as _np
import scipy.linalg as _linalg

from autograd import operators as op
from autograd.errors import NotTrackedError
from autograd.gradients.linalg import dagger
from autograd.gradients.scipy import linalg as _rules  # noqa: F401  # operators and rules come first
from autograd.scipy.fallback import as_array, holds_tensors, without_tensors
from autograd.tensor import Tensor, innermost_value

__all__ = [
    "cho_solve", "cholesky", "det", "expm", "inv", "solve", "solve_banded", "solve_sylvester", "solve_triangular", "sqrtm",
]  # fmt: skip

_TRANS = {0: 0, "N": 0, 1: 1, "T": 1, 2: 2, "C": 2}


def _array(name: str, value: Any, check_finite: bool = True) -> Any:
    """An argument as an array or a tensor; raises ValueError, as SciPy does, where it is not finite."""
    value = as_array(name, value)
    plain = innermost_value(value)
    if check_finite:
        plain = _np.asarray_chkfinite(plain)
    return value if type(value) is Tensor else _np.asarray(plain)


def _square(name: str, a: Any) -> None:
    shape = a.shape
    if len(shape) < 2 or shape[-1] != shape[-2]:
        raise ValueError(f"{name}: got a matrix of shape {shape}, expected a square one")


def _with_columns(name: str, n: int, b: Any) -> tuple[Any, bool]:
    """A right-hand side as a matrix, and whether it was a vector."""
    is_vector = len(b.shape) == 1
    columns = b[:, None] if is_vector else b
    if not b.shape or columns.shape[-2] != n:
        raise ValueError(f"{name}: got a right-hand side b of shape {b.shape}, expected {n} rows, as the matrix has")
    return columns, is_vector


def solve_triangular(
    a: Any,
    b: Any,
    trans: Any = 0,
    lower: bool = False,
    unit_diagonal: bool = False,
    overwrite_b: bool = False,
    check_finite: bool = True,
) -> Any:
    """``scipy.linalg.solve_triangular``: the solution of ``a x = b``; of ``a.T x = b`` or ``a.conj().T x = b`` by ``trans``.

    The gradient in ``a`` is zero in the other triangle, and on the diagonal with ``unit_diagonal=True``. Tensors are not
    overwritten.

    >>> solve_triangular([[2.0, 0.0], [1.0, 1.0]], [2.0, 3.0], lower=True)
    array([1., 2.])
    """
    if not holds_tensors(a, b):
        return _linalg.solve_triangular(a, b, trans, lower, unit_diagonal, overwrite_b, check_finite)
    a, b = _array("solve_triangular", a, check_finite), _array("solve_triangular", b, check_finite)
    _square("solve_triangular", a)
    if trans not in _TRANS:
        raise ValueError(f"solve_triangular: got trans={trans!r}, expected 0, 1, 2, 'N', 'T' or 'C'")
    way = _TRANS[trans]
    if way == 2:  # of the conjugate it is the transpose, which is holomorphic
        a = op.conjugate(a) if _np.iscomplexobj(innermost_value(a)) else a
        way = 1
    columns, is_vector = _with_columns("solve_triangular", a.shape[-1], b)
    x = op.scipy_solve_triangular(a, columns, trans=way, lower=bool(lower), unit_diagonal=bool(unit_diagonal))
    return x[..., 0] if is_vector else x


def solve_banded(
    l_and_u: Any, ab: Any, b: Any, overwrite_ab: bool = False, overwrite_b: bool = False, check_finite: bool = True
) -> Any:
    """``scipy.linalg.solve_banded``: the solution of ``a x = b`` for a matrix with few diagonals.

    These are stored in ``ab``, with ``ab[u + i - j, j] == a[i, j]``. Places of ``ab`` that stand for no element of the matrix
    have the gradient 0.

    >>> solve_banded((0, 1), [[0.0, 1.0], [1.0, 2.0]], [3.0, 2.0])
    array([2., 1.])
    """
    if not holds_tensors(ab, b):
        return _linalg.solve_banded(l_and_u, ab, b, overwrite_ab, overwrite_b, check_finite)
    ab, b = _array("solve_banded", ab, check_finite), _array("solve_banded", b, check_finite)
    lower, upper = l_and_u
    if len(ab.shape) < 2 or ab.shape[-2] != lower + upper + 1:
        raise ValueError(f"solve_banded: got ab of shape {ab.shape}, expected l + u + 1 = {lower + upper + 1} rows")
    columns, is_vector = _with_columns("solve_banded", ab.shape[-1], b)
    x = op.scipy_solve_banded(ab, columns, l_and_u=(int(lower), int(upper)))
    return x[..., 0] if is_vector else x


def solve_sylvester(a: Any, b: Any, q: Any) -> Any:
    """``scipy.linalg.solve_sylvester``: the solution of ``a x + x b = q``.

    >>> solve_sylvester([[1.0]], [[3.0]], [[8.0]])
    array([[2.]])
    """
    if not holds_tensors(a, b, q):
        return _linalg.solve_sylvester(*[_np.asarray(each) for each in (a, b, q)])
    a, b, q = (_array("solve_sylvester", each, check_finite=False) for each in (a, b, q))
    _square("solve_sylvester", a)
    _square("solve_sylvester", b)
    return op.scipy_solve_sylvester(a, b, q)


def sqrtm(A: Any, *args: Any, **kwargs: Any) -> Any:
    """``scipy.linalg.sqrtm``: the principal square root of a matrix. Older SciPy's options are for plain arrays.

    >>> sqrtm([[4.0, 0.0], [0.0, 9.0]])
    array([[2., 0.],
           [0., 3.]])
    """
    if not holds_tensors(A, args, kwargs):
        return _linalg.sqrtm(A, *args, **kwargs)
    if args or kwargs:
        raise NotTrackedError(
            f"scipy.linalg.sqrtm: got options {[*args, *kwargs]} together with a tensor, expected the matrix alone"
        )
    return _of_matrix("sqrtm", op.scipy_sqrtm, A)


def expm(A: Any) -> Any:
    """``scipy.linalg.expm``: the exponential of a matrix.

    >>> expm([[0.0, 1.0], [0.0, 0.0]])
    array([[1., 1.],
           [0., 1.]])
    """
    return _of_matrix("expm", op.scipy_expm, A) if holds_tensors(A) else _linalg.expm(A)


def _of_matrix(name: str, function: Any, a: Any) -> Any:
    a = _array(name, a, check_finite=False)
    _square(name, a)
    return function(op.astype(a, dtype=float) if a.dtype.kind in "biu" else a)


# -------------------------------------------------------------------------------------------------- by NumPy's operators


def inv(a: Any, overwrite_a: bool = False, check_finite: bool = True, **options: Any) -> Any:
    """``scipy.linalg.inv``: the inverse of a matrix. Options on its structure change nothing for a tensor.

    >>> inv([[2.0]])
    array([[0.5]])
    """
    if not holds_tensors(a):
        return _linalg.inv(a, overwrite_a, check_finite, **options)
    a = _array("inv", a, check_finite)
    _square("inv", a)
    return op.inv(a)


def det(a: Any, overwrite_a: bool = False, check_finite: bool = True) -> Any:
    """``scipy.linalg.det``: the determinant of a matrix.

    >>> det([[2.0, 0.0], [1.0, 3.0]])
    np.float64(6.0)
    """
    if not holds_tensors(a):
        return _linalg.det(a, overwrite_a, check_finite)
    a = _array("det", a, check_finite)
    _square("det", a)
    return op.det(op.astype(a, dtype=_np.result_type(a.dtype, float)))  # in double precision, as SciPy does


def solve(a: Any, b: Any, *args: Any, **options: Any) -> Any:
    """``scipy.linalg.solve``: the solution of ``a x = b``. Options on the matrix's structure are for plain arrays.

    Raises NotTrackedError for options together with a tensor, but for ``check_finite``, ``overwrite_a`` and ``overwrite_b``.

    >>> solve([[2.0]], [4.0])
    array([2.])
    """
    if not holds_tensors(a, b):
        return _linalg.solve(a, b, *args, **options)
    given = [key for key in options if key not in ("check_finite", "overwrite_a", "overwrite_b")]
    if args or given:
        raise NotTrackedError(
            f"scipy.linalg.solve: got options {[*args, *given]} together with a tensor, expected a and b alone; for a triangle"
            " use solve_triangular, for a transposed matrix a.T"
        )
    check_finite = options.get("check_finite", True)
    a, b = _array("solve", a, check_finite), _array("solve", b, check_finite)
    _square("solve", a)
    columns, is_vector = _with_columns("solve", a.shape[-1], b)
    x = op.solve(a, columns)
    return x[..., 0] if is_vector else x


def cholesky(a: Any, lower: bool = False, overwrite_a: bool = False, check_finite: bool = True) -> Any:
    """``scipy.linalg.cholesky``: the triangle ``u`` with ``u.conj().T u = a``, or the lower one; it reads that triangle of ``a``.

    >>> cholesky([[4.0]])
    array([[2.]])
    """
    if not holds_tensors(a):
        return _linalg.cholesky(a, lower, overwrite_a, check_finite)
    a = _array("cholesky", a, check_finite)
    _square("cholesky", a)
    return op.cholesky(a) if lower else dagger(op.cholesky(dagger(a)))


def cho_solve(c_and_lower: Any, b: Any, overwrite_b: bool = False, check_finite: bool = True) -> Any:
    """``scipy.linalg.cho_solve``: the solution of ``a x = b`` from the triangle of ``cholesky``: two triangular systems.

    >>> cho_solve((cholesky([[4.0]]), False), [8.0])
    array([2.])
    """
    c, lower = c_and_lower
    if not holds_tensors(c, b):
        return _linalg.cho_solve((c, lower), b, overwrite_b, check_finite)
    first, then = (0, 2) if lower else (2, 0)
    half = solve_triangular(c, b, first, lower, check_finite=check_finite)
    return solve_triangular(c, half, then, lower, check_finite=False)


def __getattr__(name: str) -> Any:
    return without_tensors(getattr(_linalg, name), f"scipy.linalg.{name}")
