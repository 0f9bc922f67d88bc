"""Decompositions of matrices, as ``numpy.linalg`` has them. Part of ``autograd.numpy.linalg``, which lists their names.

What a derivative here is and where it does not exist, ``autograd.gradients.decompositions`` says. In short: a gradient in a
Hermitian matrix is Hermitian; values of any multiplicity have derivatives; vectors of repeated values have none, and raise
GradientError if the result depends on them.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from autograd import operators as op
from autograd.engine import innermost_tape
from autograd.errors import NotTrackedError
from autograd.gradients.eigenvalues import guarded
from autograd.gradients.linalg import conjugate, dagger
from autograd.numpy.arguments import as_array
from autograd.tensor import innermost_value

__all__ = ["cholesky", "eig", "eigh", "eigvals", "eigvalsh", "qr", "svd", "svdvals"]
METHODS: tuple[str, ...] = ()

_theirs: Any = np.linalg
"""NumPy's stubs know fewer combinations of arguments than its functions take."""


@lru_cache(maxsize=8)
def result_type(name: str) -> Any:
    """The named tuple that a function of ``numpy.linalg`` returns.

    >>> result_type("eigh")._fields
    ('eigenvalues', 'eigenvectors')
    """
    return type(getattr(_theirs, name)(np.eye(1)))


def cholesky(a: Any, /, *, upper: bool = False) -> Any:
    """The lower triangular ``y`` with ``y @ y.mT = a`` (``y.conj().mT``), or with ``upper`` its adjoint.

    ``a`` is Hermitian and positive definite, and so is its gradient Hermitian.

    >>> cholesky(np.array([[4.0, 2.0], [2.0, 5.0]]))
    array([[2., 0.],
           [1., 2.]])
    """
    if innermost_tape((a,)) is None:
        return _theirs.cholesky(a, upper=upper)
    a = as_array(a)
    return dagger(op.cholesky(dagger(a))) if upper else op.cholesky(a)


def qr(a: Any, mode: str = "reduced") -> Any:
    """Orthonormal columns ``q`` and an upper triangular ``r`` with ``q @ r = a``.

    Modes with a gradient are 'reduced', 'complete' and 'r'; with a tensor the others raise NotTrackedError. The columns of
    ``a`` must be independent.

    >>> qr(np.array([[-3.0], [-4.0]])).R
    array([[5.]])
    """
    if innermost_tape((a,)) is None:
        return _theirs.qr(a, mode)
    if mode not in ("reduced", "complete", "r"):
        raise NotTrackedError(
            f"qr: mode {mode!r} has no gradient rule; expected 'reduced', 'complete' or 'r', from which q and r can be computed"
        )
    q, r = op.qr(as_array(a), mode="reduced" if mode == "r" else mode)
    return r if mode == "r" else result_type("qr")(q, r)


def eigh(a: Any, UPLO: str = "L") -> Any:
    """The eigenvalues of Hermitian matrices in ascending order, and orthonormal eigenvectors in columns.

    >>> eigh(np.array([[2.0, 0.0], [0.0, 1.0]])).eigenvalues
    array([1., 2.])
    """
    if innermost_tape((a,)) is None:
        return _theirs.eigh(a, UPLO)
    w, v = op.eigh(as_array(a), UPLO=UPLO)
    return result_type("eigh")(w, guarded("eigh", v, w))


def eigvalsh(a: Any, UPLO: str = "L") -> Any:
    """The eigenvalues of Hermitian matrices in ascending order.

    >>> eigvalsh(np.array([[2.0, 0.0], [0.0, 1.0]]))
    array([1., 2.])
    """
    if innermost_tape((a,)) is None:
        return _theirs.eigvalsh(a, UPLO)
    return op.eigvalsh(as_array(a), UPLO=UPLO)


def eig(a: Any) -> Any:
    """The eigenvalues of any square matrices, and eigenvectors of length 1 in columns, each with its largest component real.

    >>> eig(np.array([[0.0, 1.0], [-1.0, 0.0]])).eigenvalues
    array([0.+1.j, 0.-1.j])
    """
    if innermost_tape((a,)) is None:
        return _theirs.eig(a)
    w, v = op.eig(as_array(a))
    return result_type("eig")(w, guarded("eig", v, w))


def eigvals(a: Any) -> Any:
    """The eigenvalues of any square matrices; complex where they are, of real matrices too.

    >>> eigvals(np.array([[0.0, 1.0], [-1.0, 0.0]]))
    array([0.+1.j, 0.-1.j])
    """
    if innermost_tape((a,)) is None:
        return _theirs.eigvals(a)
    return op.eigvals(as_array(a))


def svd(a: Any, full_matrices: bool = True, compute_uv: bool = True, hermitian: bool = False) -> Any:
    """Singular vectors and singular values, in descending order: ``a = u @ diag(s) @ vh`` with as many columns as there are.

    >>> svd(np.array([[3.0, 0.0], [0.0, 4.0]])).S
    array([4., 3.])
    """
    if innermost_tape((a,)) is None:
        return _theirs.svd(a, full_matrices, compute_uv, hermitian)
    a = as_array(a)
    if hermitian:
        return _svd_of_hermitian(a, compute_uv)
    if not compute_uv:
        return op.svdvals(a)
    u, s, vh = op.svd(a, full_matrices=full_matrices)
    rows, columns = u.shape[-2], vh.shape[-1]
    u = guarded("svd", u, s, rows > columns)
    return result_type("svd")(u, s, dagger(guarded("svd", dagger(vh), s, columns > rows)))


def _svd_of_hermitian(a: Any, compute_uv: bool) -> Any:
    w, v = eigh(a) if compute_uv else (eigvalsh(a), None)
    plain = innermost_value(w)
    order = np.argsort(np.abs(plain), axis=-1)[..., ::-1]
    s = op.take_along_axis(op.absolute(w), indices=order, axis=-1)
    if v is None:
        return s
    signs = np.take_along_axis(np.sign(plain), order, axis=-1)
    u = op.take_along_axis(v, indices=np.broadcast_to(order[..., None, :], v.shape), axis=-1)
    return result_type("svd")(u, s, conjugate(u * signs[..., None, :]).mT)


def svdvals(x: Any, /) -> Any:
    """The singular values of matrices in descending order.

    >>> svdvals(np.array([[3.0, 0.0], [0.0, 4.0]]))
    array([4., 3.])
    """
    if innermost_tape((x,)) is None:
        return _theirs.svdvals(x)
    return op.svdvals(as_array(x))
