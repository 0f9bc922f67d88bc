"""NumPy's linear algebra over tensors: ``autograd.numpy.linalg``. Matrices lie in the last two axes.

On plain arrays the functions do what those of ``numpy.linalg`` do. Names that are not listed here are NumPy's own. The
decompositions stand in ``autograd.numpy.decompositions``, the norms in ``autograd.numpy.norms``.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from operator import index
from typing import Any

import numpy as np

from autograd import operators as op
from autograd.engine import innermost_tape
from autograd.errors import GradientError, NotTrackedError
from autograd.gradients.linalg import conjugate
from autograd.numpy.arguments import as_array, refuse
from autograd.numpy.decompositions import (  # noqa: F401  # part of this module
    cholesky,
    eig,
    eigh,
    eigvals,
    eigvalsh,
    qr,
    result_type,
    svd,
    svdvals,
)
from autograd.numpy.later import LINALG
from autograd.numpy.norms import matrix_norm, norm, vector_norm  # noqa: F401
from autograd.tensor import Tensor, innermost_value

__all__ = [*LINALG]
METHODS: tuple[str, ...] = ()

_theirs: Any = np.linalg
"""NumPy's stubs know fewer combinations of arguments than its functions take."""


def __getattr__(name: str) -> Any:
    return getattr(_theirs, name)


def _shape(a: Any) -> tuple[int, ...]:
    return np.shape(innermost_value(a))


def _refuse_tensors(function: str, **options: Any) -> None:
    """Raise NotTrackedError for a tolerance that is a tensor: results jump where a value passes it, else they are constant."""
    for name, each in options.items():
        if type(each) is Tensor:
            raise NotTrackedError(
                f"{function}: {name} is a tensor, expected a plain number: the result has no derivative in it; write"
                f" {name}={name}.item() to use its value as a constant"
            )


# ------------------------------------------------------------------------------------------------ systems of equations


def inv(a: Any) -> Any:
    """The inverse of square matrices.

    >>> inv(np.array([[2.0, 0.0], [0.0, 4.0]]))
    array([[0.5 , 0.  ],
           [0.  , 0.25]])
    """
    return _theirs.inv(a) if innermost_tape((a,)) is None else op.inv(as_array(a))


def solve(a: Any, b: Any) -> Any:
    """The ``x`` with ``a @ x = b``: ``b`` is one vector, or a matrix of columns, or a stack of these.

    >>> solve(np.array([[2.0, 0.0], [0.0, 4.0]]), np.array([2.0, 2.0]))
    array([1. , 0.5])
    """
    if innermost_tape((a, b)) is None:
        return _theirs.solve(a, b)
    return op.solve(as_array(a), as_array(b))


def lstsq(a: Any, b: Any, rcond: float | None = None) -> Any:
    """The shortest ``x`` that minimises ``|a @ x - b|``, the squared residuals, the rank, and the singular values of ``a``.

    The derivative is that along matrices of the same rank. ``rcond`` is a constant, and the rank is one.

    >>> x, residuals, rank, s = lstsq(np.array([[1.0], [1.0]]), np.array([1.0, 3.0]))
    >>> np.round(x, 12), np.round(residuals, 12), int(rank)
    (array([2.]), array([2.]), 1)
    """
    _refuse_tensors("lstsq", rcond=rcond)
    if innermost_tape((a, b)) is None:
        return _theirs.lstsq(a, b, rcond)
    a, b = as_array(a), as_array(b)
    _, residuals, rank, s = _theirs.lstsq(innermost_value(a), innermost_value(b), rcond)
    if rcond is None:
        rcond = float(np.finfo(s.dtype).eps * max(_shape(a)))
    elif rcond == -1:
        rcond = float(np.finfo(s.dtype).eps)
    x = op.matmul(op.pinv(a, rcond=rcond), b)
    if residuals.size:
        difference = op.subtract(op.matmul(a, x), b)
        residuals = op.sum(op.real(conjugate(difference) * difference), axis=0, keepdims=len(_shape(b)) == 1)
    return x, residuals, rank, s if innermost_tape((a,)) is None else op.svdvals(a)


def pinv(a: Any, rcond: Any = None, hermitian: bool = False, *, rtol: Any = None) -> Any:
    """The pseudo-inverse of matrices of any rank. The derivative is that along matrices of the same rank.

    >>> pinv(np.array([[2.0, 0.0], [0.0, 0.0]]))
    array([[0.5, 0. ],
           [0. , 0. ]])
    """
    _refuse_tensors("pinv", rcond=rcond, rtol=rtol)
    if rcond is not None and rtol is not None:
        raise ValueError("pinv: got rcond and rtol, which mean the same; give one of the two")
    if innermost_tape((a,)) is None:
        return _theirs.pinv(a, rcond, hermitian) if rtol is None else _theirs.pinv(a, None, hermitian, rtol=rtol)
    return op.pinv(as_array(a), rcond=rtol if rcond is None else rcond, hermitian=hermitian)


def tensorinv(a: Any, ind: int = 2) -> Any:
    """The inverse of ``tensordot`` with ``a``: of the matrix whose rows are the first ``ind`` axes.

    >>> tensorinv(np.eye(4).reshape(4, 2, 2), ind=1).shape
    (2, 2, 4)
    """
    if innermost_tape((a,)) is None or ind <= 0:
        return _theirs.tensorinv(innermost_value(a), ind)
    a = as_array(a)
    shape = _shape(a)
    flat = op.inv(op.reshape(a, shape=(math.prod(shape[:ind]), math.prod(shape[ind:]))))
    return op.reshape(flat, shape=shape[ind:] + shape[:ind])


def tensorsolve(a: Any, b: Any, axes: Any = None) -> Any:
    """The ``x`` with ``tensordot(a, x, x.ndim) = b``; ``axes`` of ``a`` are first moved to its end.

    >>> tensorsolve(2.0 * np.eye(4).reshape(2, 2, 4), np.ones((2, 2)))
    array([0.5, 0.5, 0.5, 0.5])
    """
    if innermost_tape((a, b)) is None:
        return _theirs.tensorsolve(a, b, axes)
    a, b = as_array(a), as_array(b)
    ndim = len(_shape(a))
    if axes is not None:
        moved = [each % ndim for each in axes]
        a = op.transpose(a, axes=[*(each for each in range(ndim) if each not in moved), *moved])
    rest = _shape(a) if len(_shape(b)) == ndim else _shape(a)[len(_shape(b)) :]  # NumPy gives a number the axes of a
    size = math.prod(_shape(b))
    if math.prod(rest) != size:
        raise np.linalg.LinAlgError(
            f"tensorsolve: the axes of a behind those of b have lengths {rest}, expected a product of {size}, the size of b"
        )
    return op.reshape(op.solve(op.reshape(a, shape=(size, size)), op.ravel(b)), shape=rest)


# ------------------------------------------------------------------------------------------------ numbers of a matrix


def det(a: Any) -> Any:
    """The determinant of square matrices. Its first and second derivatives exist at singular ones too.

    >>> from autograd import grad
    >>> grad(det)(np.array([[1.0, 2.0], [2.0, 4.0]]))
    array([[ 4., -2.],
           [-2.,  1.]])
    """
    return _theirs.det(a) if innermost_tape((a,)) is None else op.det(as_array(a))


def slogdet(a: Any) -> Any:
    """The sign of the determinant and the logarithm of its size, which neither overflow.

    >>> slogdet(np.array([[-1.0, 0.0], [0.0, 1.0]]))
    SlogdetResult(sign=np.float64(-1.0), logabsdet=np.float64(0.0))
    """
    if innermost_tape((a,)) is None:
        return _theirs.slogdet(a)
    return result_type("slogdet")(*op.slogdet(as_array(a)))


def cond(x: Any, p: Any = None) -> Any:
    """The condition number of matrices: the norm times that of the inverse; by default the ratio of the singular values.

    >>> cond(np.array([[4.0, 0.0], [0.0, 2.0]]))
    np.float64(2.0)
    """
    _refuse_tensors("cond", p=p)
    if innermost_tape((x,)) is None:
        return _theirs.cond(x, p)
    x = as_array(x)
    if p is None or p in (2, -2):
        s = op.svdvals(x)
        return op.divide(s[..., -1], s[..., 0]) if p == -2 else op.divide(s[..., 0], s[..., -1])
    try:
        inverse = op.inv(x)
    except np.linalg.LinAlgError as error:
        raise GradientError(
            f"cond: the condition number of order {p} has no derivative here, because a matrix has no inverse ({error}); expected"
            " square invertible matrices"
        ) from error
    return op.multiply(norm(x, p, axis=(-2, -1)), norm(inverse, p, axis=(-2, -1)))


def matrix_rank(A: Any, tol: Any = None, hermitian: bool = False, *, rtol: Any = None) -> Any:
    """The rank of matrices, by the number of singular values above a tolerance; a constant.

    >>> int(matrix_rank(np.ones((2, 2))))
    1
    """
    _refuse_tensors("matrix_rank", tol=tol, rtol=rtol)
    return _theirs.matrix_rank(innermost_value(as_array(A)), tol, hermitian, rtol=rtol)


def trace(x: Any, /, *, offset: int = 0, dtype: Any = None) -> Any:
    """The sum over a diagonal of matrices.

    >>> trace(np.eye(2))
    np.float64(2.0)
    """
    return op.sum(diagonal(x, offset=offset), axis=-1, dtype=None if dtype is None else np.dtype(dtype))


# ------------------------------------------------------------------------------------------------ products


matmul = op.matmul


def multi_dot(arrays: Sequence[Any], *, out: Any = None) -> Any:
    """The product of several matrices, in the order that costs least; the first and the last may be vectors.

    >>> multi_dot([np.ones(2), np.ones((2, 3)), np.ones(3)])
    np.float64(6.0)
    """
    if innermost_tape(list(arrays)) is None:
        return _theirs.multi_dot(arrays, out=out)
    refuse("multi_dot", out=out)
    factors = [as_array(each) for each in arrays]
    if len(factors) < 2:
        raise ValueError(f"multi_dot: got {len(factors)} arrays, expected two or more")
    shapes = [_shape(each) for each in factors]
    lengths = [1 if len(shapes[0]) == 1 else shapes[0][0], *(shape[0] if len(shape) == 1 else shape[-1] for shape in shapes)]
    if len(shapes[0]) == 1:
        lengths[1] = shapes[0][0]
    if len(shapes[-1]) == 1:
        lengths[-2:] = [shapes[-1][0], 1]
    return _product(factors, _splits(lengths), 0, len(factors) - 1)


def _splits(lengths: Sequence[int]) -> dict[tuple[int, int], int]:
    """Where to part each run of factors: matrix ``i`` has ``lengths[i]`` rows and ``lengths[i + 1]`` columns."""
    n = len(lengths) - 1
    costs = {(at, at): 0 for at in range(n)}
    splits = {}
    for size in range(1, n):
        for first in range(n - size):
            last = first + size
            options = [
                (costs[first, at] + costs[at + 1, last] + lengths[first] * lengths[at + 1] * lengths[last + 1], at)
                for at in range(first, last)
            ]
            costs[first, last], splits[first, last] = min(options)
    return splits


def _product(factors: Sequence[Any], splits: dict[tuple[int, int], int], first: int, last: int) -> Any:
    if first == last:
        return factors[first]
    at = splits[first, last]
    return op.dot(_product(factors, splits, first, at), _product(factors, splits, at + 1, last))


def matrix_power(a: Any, n: int) -> Any:
    """Square matrices multiplied by themselves ``n`` times; for negative ``n`` their inverses.

    >>> matrix_power(np.array([[1.0, 1.0], [0.0, 1.0]]), 3)
    array([[1., 3.],
           [0., 1.]])
    """
    if innermost_tape((a,)) is None:
        return _theirs.matrix_power(a, n)
    a, n = as_array(a), index(n)
    if n == 0:
        unit = _theirs.matrix_power(innermost_value(a), 0)
        return op.add(op.where_or_zero(False, a), unit)  # a tensor with gradient 0, whatever is in it
    power, factor, n = None, op.inv(a) if n < 0 else a, abs(n)
    while True:
        if n & 1:
            power = factor if power is None else op.matmul(power, factor)
        n >>= 1
        if not n:
            return power
        factor = op.matmul(factor, factor)


def outer(x1: Any, x2: Any, /) -> Any:
    """Every element of one vector times every element of another.

    >>> outer(np.array([1.0, 2.0]), np.array([3.0, 4.0]))
    array([[3., 4.],
           [6., 8.]])
    """
    x1, x2 = as_array(x1), as_array(x2)
    if innermost_tape((x1, x2)) is None or len(_shape(x1)) != 1 or len(_shape(x2)) != 1:
        return _theirs.outer(innermost_value(x1), innermost_value(x2))
    return op.multiply(op.reshape(x1, shape=(-1, 1)), x2)


def cross(x1: Any, x2: Any, /, *, axis: int = -1) -> Any:
    """The vector product of vectors of three elements, which lie along an axis.

    >>> cross(np.array([1.0, 0.0, 0.0]), np.array([0.0, 1.0, 0.0]))
    array([0., 0., 1.])
    """
    if innermost_tape((x1, x2)) is None:
        return _theirs.cross(x1, x2, axis=axis)
    x1, x2 = as_array(x1), as_array(x2)
    lengths = [_shape(each)[axis] for each in (x1, x2)]
    if lengths != [3, 3]:
        raise ValueError(f"cross: the vectors have lengths {lengths} along axis {axis}, expected 3 and 3")
    (a0, a1, a2), (b0, b1, b2) = _components(x1, axis), _components(x2, axis)
    return op.stack([a1 * b2 - a2 * b1, a2 * b0 - a0 * b2, a0 * b1 - a1 * b0], axis=axis)


def _components(x: Any, axis: int) -> list[Any]:
    ahead = (slice(None),) * (axis % len(_shape(x)))
    return [op.getitem(x, index=(*ahead, at)) for at in range(3)]


def vecdot(x1: Any, x2: Any, /, *, axis: int = -1) -> Any:
    """The sum along an axis of the conjugate of one times the other.

    >>> vecdot(np.array([1j, 2.0]), np.array([1j, 1.0]))
    np.complex128(3+0j)
    """
    if innermost_tape((x1, x2)) is None:
        return _theirs.vecdot(x1, x2, axis=axis)
    x1, x2 = (_last(as_array(each), axis) for each in (x1, x2))
    if _shape(x1)[-1] != _shape(x2)[-1]:
        raise ValueError(f"vecdot: the lengths along axis {axis} are {_shape(x1)[-1]} and {_shape(x2)[-1]}, expected equal ones")
    return op.sum(op.multiply(conjugate(x1), x2), axis=-1)


def _last(x: Any, axis: int) -> Any:
    ndim = len(_shape(x))
    at = axis % ndim
    return x if at == ndim - 1 else op.transpose(x, axes=[*(each for each in range(ndim) if each != at), at])


def tensordot(x1: Any, x2: Any, /, *, axes: Any = 2) -> Any:
    """The sum of products over pairs of axes; see ``autograd.numpy.tensordot``.

    >>> tensordot(np.ones((2, 3)), np.ones((3, 4)), axes=1).shape
    (2, 4)
    """
    return op.tensordot(x1, x2, axes=axes)


def diagonal(x: Any, /, *, offset: int = 0) -> Any:
    """The elements on a diagonal of matrices.

    >>> diagonal(np.array([[1.0, 2.0], [3.0, 4.0]]))
    array([1., 4.])
    """
    return op.diagonal(as_array(x), offset=offset, axis1=-2, axis2=-1)


def matrix_transpose(x: Any, /) -> Any:
    """Matrices with rows and columns exchanged.

    >>> matrix_transpose(np.ones((4, 2, 3))).shape
    (4, 3, 2)
    """
    x = as_array(x)
    return _theirs.matrix_transpose(x) if len(_shape(x)) < 2 else op.swapaxes(x, axis1=-1, axis2=-2)
