"""Rows of linear algebra, products and polynomials: matrices far from singular ones, whose spectra keep apart.

A matrix is a growing diagonal and small random numbers, so that LAPACK meets the same order, pivots and signs on both sides of
a difference: what it returns is then a smooth function, though eigenvectors and orthogonal factors are defined up to a sign.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from autograd.check.domains import COMPLEX, REAL, Domain, Drawn
from autograd.check.domains.drawing import Array, Draw
from autograd.check.domains.elementwise import mixed, options, scalar_or_array

WIDE = (-2.0, 2.0)
SMALL = ((-0.3, -0.06), (0.06, 0.3))


def _matrix(d: Draw, dtype: str, shape: tuple[int, ...]) -> Array:
    """Small numbers and 1, 2, ... on the diagonal."""
    rows, columns = shape[-2:]
    return (d.array(shape, *SMALL, dtype=dtype) + np.eye(rows, columns) * np.arange(1.0, rows + 1)[:, None]).astype(dtype)


def _ahead(d: Draw, empty: bool = True) -> tuple[int, ...]:
    """The axes of a stack: mostly none."""
    return d.pick(((), (), (), (2,), (1,), (0,) if empty else (2,)))


def _square(d: Draw, dtype: str, largest: int = 3, empty: bool = True) -> Array:
    n = d.whole(1, largest)
    return _matrix(d, dtype, (*_ahead(d, empty), n, n))


def _hermitian(d: Draw, dtype: str) -> Array:
    """The lower triangle, mirrored: a mean of both could be 0, where the matrix falls into blocks."""
    a = _square(d, dtype)
    below = np.tril(a, -1)
    diagonal = np.real(np.diagonal(a, axis1=-2, axis2=-1))
    x: Array = (below + below.conj().mT + diagonal[..., None] * np.eye(a.shape[-1])).astype(dtype)
    return x


def _larger(d: Draw, dtype: str) -> Drawn:
    """Two rows or three: the cofactor of a single number is 1."""
    n = d.whole(2, 3)
    return [_matrix(d, dtype, (*_ahead(d), n, n))], {}


def square(d: Draw, dtype: str) -> Drawn:
    """One square matrix, or a stack."""
    return [_square(d, dtype)], {}


def _rectangle(d: Draw, dtype: str) -> Array:
    return _matrix(d, dtype, (*_ahead(d), d.whole(1, 3), d.whole(1, 3)))


def _steady(d: Draw, make: Callable[[], Array], vectors: Callable[[Array], Any]) -> Array:
    """A matrix whose vectors turn a little when any of its elements changes by a tenth, and none of them changes its sign."""
    for _ in range(8):
        a = make()
        if _keeps_signs(a, vectors):
            break
    else:
        n, columns = a.shape[-2:]
        a = np.broadcast_to(np.eye(n, columns) * np.arange(1.0, n + 1)[:, None] + 0.2, a.shape).astype(a.dtype)
    return a


def _keeps_signs(a: Array, vectors: Callable[[Array], Any]) -> bool:
    here = vectors(a)
    for step in (0.1, 0.03, -0.03, -0.1):
        for at in np.ndindex(a.shape[-2:]):
            moved = a.copy()
            index: Any = (..., *at)
            moved[index] += step
            for old, new in zip(here, vectors(moved), strict=True):
                if np.abs(old - new).max(initial=0) > 0.5:
                    return False
    return True


# ---------------------------------------------------------------------------------------------------- equations


def _solve(d: Draw, dtype: str) -> Drawn:
    n, ahead = d.whole(1, 3), _ahead(d)
    shape = d.pick([(n, 1), (n,), (n, 2), (2, n, 1)])
    if len(shape) == 3 and ahead:
        shape = (*ahead, n, 1)
    return [_matrix(d, dtype, (*ahead, n, n)), d.array(shape, WIDE, dtype=mixed(d, dtype))], {}


def _pinv(d: Draw, dtype: str) -> Drawn:
    return [_rectangle(d, dtype)], {}


def _vector_norm(d: Draw, dtype: str) -> Drawn:
    x = d.array(d.shape(1, sides=(1, 2, 3)), (0.3, 2.0), dtype=dtype)
    if dtype != "complex128":
        x = np.where(d.mask(x.shape), x, -x)
    axis = d.axis(x.ndim, several=True)
    axes = axis if isinstance(axis, tuple) else (axis,)
    attrs = options(d, {"ord": (2, 1, 3, 2.5, 0.5, -1), "keepdims": (False, True)})
    return [x], {"axis": axes, **attrs}


def _cofactors_derivative(d: Draw, dtype: str) -> Drawn:
    """Three rows: with fewer the cofactors are linear, and what a rule computes for their second derivative is rounding."""
    a = _matrix(d, dtype, (*_ahead(d), 3, 3))
    return [a, d.array(a.shape, WIDE, dtype=dtype)], {}


# ---------------------------------------------------------------------------------------------------- decompositions


def _cholesky(d: Draw, dtype: str) -> Drawn:
    return [_hermitian(d, dtype)], {}


def _qr(d: Draw, dtype: str) -> Drawn:
    """Columns that complete q are free to turn unless there is but one."""
    rows, columns = d.whole(1, 3), d.whole(1, 3)
    a = _matrix(d, dtype, (*_ahead(d, False), rows, columns))
    complete = rows - columns <= (1 if dtype != "complex128" else 0)
    return [a], options(d, {"mode": ("reduced", "complete" if complete else "reduced")})


def _eigvalsh(d: Draw, dtype: str) -> Drawn:
    return [_hermitian(d, dtype)], options(d, {"UPLO": ("L", "U")})


def _eigh(d: Draw, dtype: str) -> Drawn:
    attrs: dict[str, Any] = options(d, {"UPLO": ("L", "U")})
    return [_steady(d, lambda: _hermitian(d, dtype), lambda a: np.linalg.eigh(a, **attrs)[1:])], attrs


def _eig(d: Draw, dtype: str) -> Drawn:
    return [_steady(d, lambda: _square(d, dtype), lambda a: np.linalg.eig(a)[1:])], {}


def _svd(d: Draw, dtype: str) -> Drawn:
    """Vectors that complete a basis are free to turn unless there is but one."""
    rows, columns = d.whole(1, 3), d.whole(1, 3)
    whole = abs(rows - columns) <= 1 and d.flip()
    attrs = {} if whole else {"full_matrices": False}
    shape = (*_ahead(d), rows, columns)
    return [_steady(d, lambda: _matrix(d, dtype, shape), lambda a: np.linalg.svd(a, whole)[::2])], attrs


def _svdvals(d: Draw, dtype: str) -> Drawn:
    return [_rectangle(d, dtype)], {}


def _spectral(d: Draw, dtype: str) -> Drawn:
    a = _hermitian(d, dtype)
    values = d.array(a.shape[:-1], WIDE, dtype="float32" if dtype == "float32" else "float64")
    return [a, values], options(d, {"UPLO": ("L", "U")})


def _basis(d: Draw, dtype: str) -> Drawn:
    vectors = _square(d, dtype, empty=False)
    return [vectors], {"function": "eigh", "values": np.broadcast_to(np.arange(1.0, vectors.shape[-1] + 1), vectors.shape[:-1])}


# ---------------------------------------------------------------------------------------------------- products


def _matmul(d: Draw, dtype: str) -> Drawn:
    n, k, m = d.whole(1, 3), d.pick((1, 2, 3, 0)), d.whole(1, 2)
    first = d.pick(((n, k), (k,), (2, n, k), (2, 1, n, k)))
    second = d.pick(((k, m), (k,), (2, k, m), (1, k, m)))
    return [d.array(shape, WIDE, dtype=mixed(d, dtype)) for shape in (first, second)], {}


def _dot(d: Draw, dtype: str) -> Drawn:
    n, k, m = d.whole(1, 3), d.pick((1, 2, 3, 0)), d.whole(1, 2)
    pairs = [((k,), (k,)), ((n, k), (k,)), ((k,), (k, m)), ((n, k), (k, m)), ((2, n, k), (k,)), ((k,), (2, k, m)),
             ((n, k), (2, k, m)), ((), (n, m)), ((n,), ()), ((), ())]  # fmt: skip
    return [scalar_or_array(d, d.array(shape, WIDE, dtype=mixed(d, dtype))) for shape in d.pick(pairs)], {}


def _tensordot(d: Draw, dtype: str) -> Drawn:
    n, m, k = d.whole(1, 2), d.whole(1, 3), d.whole(1, 2)
    rows: list[tuple[Any, ...]] = [
        ((n, m), (m, k), 1), ((n, m), (n, m), 2), ((n,), (k,), 0), ((n, m), (k, m), (1, 1)),
        ((n, m, k), (m, n), ((0, 1), (1, 0))), ((n, m), (k, m), (-1, -1)), ((n, m), (m, n), ([0, 1], [-1, -2])),
    ]  # fmt: skip
    a, b, axes = d.pick(rows)
    attrs = {} if axes == 2 and d.flip() else {"axes": axes}
    return [d.array(shape, WIDE, dtype=mixed(d, dtype)) for shape in (a, b)], attrs


EINSUMS = (
    "ij,jk->ik", "ij,jk", "i,i", "i->", "ij->ji", "ba", "ii", "ii->i", "iij->ij", "ij,k->i", "i,j->ij", "ij,ij,ij->j", ",i->i",
    "...ij,...jk->...ik", "...i,i->...", "i...,i...->...", "ij,jk,kl->il", "ab,ab->b", "ijk,jk->i",
)  # fmt: skip


def _einsum(d: Draw, dtype: str) -> Drawn:
    subscripts = d.pick(EINSUMS)
    terms = subscripts.partition("->")[0].split(",")
    sides = {letter: d.whole(1, 3 if len(terms) < 3 else 2) for letter in sorted(set("".join(terms)) - {"."})}
    operands = []
    for term in terms:
        before, dots, after = term.partition("...")
        ahead = d.pick(((), (2,), (1,))) if dots else ()
        shape = (*[sides[each] for each in before], *ahead, *[sides[each] for each in after])
        operands.append(d.array(shape, WIDE, dtype=mixed(d, dtype)))
    return [operands], {"subscripts": subscripts, **options(d, {"optimize": (False, True)})}


def _roots(d: Draw, dtype: str) -> Drawn:
    """The coefficients of a polynomial whose roots, each four times the one before, stay real when a coefficient changes."""
    roots = [each * 4.0**k for k, each in enumerate(d.numbers(d.whole(1, 3), (0.45, 0.55)))]
    return [np.asarray(np.poly(roots) * 2.0, dtype)], {}


def _matrix_row(draw: Callable[[Draw, str], Drawn], *, real: bool = False, symmetric: str = "", note: str = "") -> Domain:
    return Domain(draw, REAL if real else COMPLEX, (symmetric,) if symmetric else (), note)


_PHASE = "real: complex vectors are defined up to a phase, which a random cotangent depends on"
_STEADY = "far from where LAPACK turns a vector round"
_TRIANGLE = "the kernel reads one triangle"

ROWS: dict[str, Domain] = {
    **{name: _matrix_row(square) for name in ("inv", "det", "slogdet", "eigvals")},
    "solve": _matrix_row(_solve),
    "pinv": _matrix_row(_pinv, note="full rank"),
    "vector_norm": _matrix_row(_vector_norm, note="away from 0"),
    "cofactors": _matrix_row(_larger),
    "cofactors_derivative": _matrix_row(_cofactors_derivative),
    "cholesky": _matrix_row(_cholesky, symmetric="a", note=_TRIANGLE),
    "qr": _matrix_row(_qr, note="the signs of r are those that LAPACK chooses, the same for a small step"),
    "eigh": _matrix_row(_eigh, real=True, symmetric="a", note=f"{_TRIANGLE}; {_PHASE}; {_STEADY}"),
    "eig": _matrix_row(_eig, note=_STEADY),
    "eigvalsh": _matrix_row(_eigvalsh, symmetric="a", note=_TRIANGLE),
    "svd": _matrix_row(_svd, real=True, note=f"{_PHASE}; {_STEADY}"),
    "svdvals": _matrix_row(_svdvals),
    "spectral": _matrix_row(_spectral, symmetric="a", note=_TRIANGLE),
    "basis": _matrix_row(_basis),
    "matmul": _matrix_row(_matmul),
    "dot": _matrix_row(_dot),
    "tensordot": _matrix_row(_tensordot),
    "einsum": _matrix_row(_einsum),
    "roots": _matrix_row(_roots, real=True, note="real roots, far apart"),
}
