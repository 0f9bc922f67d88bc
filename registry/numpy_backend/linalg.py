"""Linear algebra: systems of equations, inverses, determinants and norms. Matrices lie in the last two axes.

Each of these has a routine of LAPACK or a formula that a composition of other operators would not match in speed or digits.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from registry.declare import operator


def _slogdet(a: Any) -> tuple[Any, Any]:
    sign, logabsdet = np.linalg.slogdet(a)
    return sign, logabsdet


def _pinv(a: Any, rcond: Any, hermitian: bool) -> Any:
    return np.linalg.pinv(a, hermitian=hermitian) if rcond is None else np.linalg.pinv(a, rcond, hermitian)


def _vector_norm(x: Any, axis: Any, ord: Any, keepdims: bool) -> Any:
    return np.linalg.vector_norm(x, axis=tuple(axis), ord=ord, keepdims=keepdims)


def well_conditioned(a: Any) -> bool:
    """Whether every matrix is far enough from a singular one for formulas that divide by its determinant.

    >>> well_conditioned(np.eye(2)), well_conditioned(np.ones((2, 2)))
    (True, False)
    """
    try:
        inverse = np.linalg.inv(a)
    except np.linalg.LinAlgError:
        return False
    condition = np.abs(a).sum(-2).max(-1, initial=0) * np.abs(inverse).sum(-2).max(-1, initial=0)
    limit = np.finfo(inverse.dtype).eps ** -0.25  # a third derivative then keeps half of its digits
    return bool(np.all(condition < limit))  # a NaN compares as False


def _cofactors(a: Any) -> Any:
    """The transpose of the adjugate, of any rank: that of ``u s vh`` is the product of those of its factors."""
    a = np.asarray(a)
    if well_conditioned(a):
        return np.linalg.det(a)[..., None, None] * np.linalg.inv(a).mT
    u, s, vh = np.linalg.svd(a)
    c = np.linalg.det(u) * np.linalg.det(vh)
    return c[..., None, None] * (u.conj() * _products_of_others(s)[..., None, :]) @ vh.conj()


def _cofactors_derivative(a: Any, direction: Any) -> Any:
    """The derivative of the cofactors along a direction, at a matrix of any rank.

    In the bases of the singular vectors the matrix is diagonal, where an entry of the adjugate changes with those entries of the
    direction that share a term of the determinant with it: each times the product of all singular values but two.
    """
    u, s, vh = np.linalg.svd(np.asarray(a))
    n = s.shape[-1]
    c = np.linalg.det(u) * np.linalg.det(vh)
    inside = u.conj().mT @ direction @ vh.conj().mT
    unit = np.eye(n, dtype=bool)
    pairs = _products_of_others(np.where(unit, s.dtype.type(1), s[..., None, :]))
    pairs = np.where(unit, s.dtype.type(0), pairs)
    change = np.where(unit, 0, -inside * pairs)
    diagonal = (np.diagonal(inside, axis1=-2, axis2=-1)[..., None, :] * pairs).sum(-1)
    change = change + np.where(unit, diagonal[..., None, :], 0)
    return c[..., None, None] * (u.conj() @ change.mT @ vh.conj())


def _products_of_others(s: Any) -> Any:
    """For each element the product of all others along the last axis, without a division."""
    one = np.ones((*s.shape[:-1], 1), s.dtype)
    before = np.cumprod(np.concatenate([one, s[..., :-1]], -1), -1)
    after = np.cumprod(np.concatenate([one, s[..., :0:-1]], -1), -1)[..., ::-1]
    return before * after if s.shape[-1] else s


operator("inv(Tensor a) -> Tensor", np.linalg.inv)
operator("solve(Tensor a, Tensor b) -> Tensor", np.linalg.solve)
operator("pinv(Tensor a, *, Any rcond=None, bool hermitian=False) -> Tensor", _pinv)
operator("det(Tensor a) -> Tensor", np.linalg.det)
operator("slogdet(Tensor a) -> (Tensor sign, Tensor logabsdet)", _slogdet)
operator("vector_norm(Tensor x, *, int[] axis, Scalar ord=2, bool keepdims=False) -> Tensor", _vector_norm)

# The first and second derivative of det. They exist at singular matrices, where det times an inverse does not.
operator("cofactors(Tensor a) -> Tensor", _cofactors)
operator("cofactors_derivative(Tensor a, Tensor direction) -> Tensor", _cofactors_derivative)
