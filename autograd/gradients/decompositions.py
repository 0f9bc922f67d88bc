"""Gradients of decompositions, over the complex numbers, with nothing conjugated in the cotangents.

Functions of a Hermitian matrix read one triangle of it; their gradients are those of ``(a + dagger(a)) / 2``, so Hermitian.

A decomposition is not unique: eigenvectors and singular vectors may turn by a phase, and those of a repeated value by any
rotation among themselves. What depends on that choice has no derivative, and a rule raises GradientError where its cotangent
says so. The individual values have one: equal ones share their cotangents equally, as the elements of a sort do. The eigenvalue
problems stand in ``autograd.gradients.eigenvalues``.

Sources: I. Murray, "Differentiation of the Cholesky decomposition" (2016); S. Walter and L. Lehmann, "Algorithmic
differentiation of linear algebra functions" (2013), for qr; M. Giles, "An extended collection of matrix derivative results"
(2008); J. Townsend, "Differentiating the singular value decomposition" (2016). Complex forms are derived here in the same way,
from the differential of the product.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from autograd import operators as op
from autograd.errors import GradientError
from autograd.gradients.eigenvalues import as_diagonal, diagonal, guarded, without_free
from autograd.gradients.linalg import conjugate, dagger, hermitian_part, is_complex
from autograd.gradients.spectra import (
    gaps,
    refuse_completed,
    refuse_order,
    refuse_phase,
    refuse_repeated,
    refuse_rotation,
    repeated,
    rounding,
    shared,
)
from autograd.tensor import Tensor, innermost_value
from registry.gradients import gradient


def _lower(x: Any, diagonal: float) -> Any:
    """The lower triangle of matrices, with the diagonal times a number."""
    n = x.shape[-1]
    mask = np.tri(n, dtype=np.dtype(x.dtype).char.lower())
    return x * (mask - (1.0 - diagonal) * np.eye(n, dtype=mask.dtype))


# ------------------------------------------------------------------------------------------------ cholesky


@gradient("cholesky", outputs_to_save=True)
def cholesky(dy, saved, attrs):
    (y,) = saved

    def da():
        inner = _lower(y.mT @ dy, 0.5)
        left = op.solve(y.mT, inner)
        return hermitian_part(op.solve(dagger(y), left.mT).mT)

    return {"a": da}


# ------------------------------------------------------------------------------------------------ qr


def _qr_core(q: Any, r: Any, dq: Any, dr: Any, dq_rest: Any, q_rest: Any) -> Any:
    """The gradient of a tall or square matrix; ``dq_rest`` is the cotangent of the columns that complete ``q``, or None."""
    inside = q.mT @ dq - dr @ r.mT
    mixed = _lower(inside - dagger(inside), 0.0) - inside
    if is_complex(inside):
        mixed = mixed + 1j * as_diagonal(op.imag(diagonal(inside)))
    total = conjugate(q) @ mixed + dq
    if dq_rest is not None:
        total = total - conjugate(q_rest) @ dagger(q.mT @ dq_rest)
    return op.solve(r, total.mT).mT


@gradient("qr", outputs_to_save=(True, True))
def qr(dy, saved, attrs):
    (dq, dr), (q, r) = dy, saved

    def da():
        rows, columns = q.shape[-2], r.shape[-1]
        k = min(rows, columns)
        _refuse_deficient(r, k)
        if rows < columns:
            first, rest = r[..., :k], r[..., k:]
            dr_rest = dr[..., k:]
            through = conjugate(q @ rest @ dr_rest.mT)
            g = _qr_core(q, first, dq + through, dr[..., :k], None, None)
            return op.concatenate([g, op.broadcast_to(conjugate(q) @ dr_rest, shape=(*g.shape[:-1], columns - k))], axis=-1)
        if q.shape[-1] == k:
            return _qr_core(q, r, dq, dr, None, None)
        dq_rest, q_rest = dq[..., k:], q[..., k:]
        refuse_rotation("qr", "the columns that complete q", q_rest, dq_rest)
        return _qr_core(q[..., :k], r[..., :k, :], dq[..., :k], dr[..., :k, :], dq_rest, q_rest)

    return {"a": da}


def _refuse_deficient(r: Any, k: int) -> None:
    plain = innermost_value(r)
    sizes = np.abs(np.diagonal(plain, axis1=-2, axis2=-1)[..., :k])
    low = sizes <= 10 * max(plain.shape[-2:]) * np.finfo(sizes.dtype).eps * sizes.max(-1, keepdims=True, initial=0)
    if low.any():
        column = int(np.argwhere(low)[0][-1])
        raise GradientError(
            f"qr: column {column} depends on the columns before it (r[{column}, {column}] is {sizes[low][0]:.3g}), where q and r"
            " have no derivative; expected independent columns. Drop such columns, or use svd or pinv"
        )


# ------------------------------------------------------------------------------------------------ singular values

# The rules are those of a tall or square matrix, with left vectors u, right vectors v; a wide one is the adjoint of a tall one.


def _square_gaps(s: Any) -> Any:
    """``1 / (s[j]**2 - s[i]**2)`` for each pair, and 0 for equal ones."""
    same = repeated(innermost_value(s))
    return gaps(s) / op.where(same, 1.0, s[..., None, :] + s[..., :, None])


def _divisor(s: Any) -> Any:
    """``s`` with 1 for each 0: what is divided by it there is 0, or was refused."""
    zero = innermost_value(s) <= rounding(innermost_value(s))
    return op.where(zero, 1.0, s) if zero.any() else s


def _tall_gradient(u: Any, s: Any, v: Any, du: Any, ds: Any, dv: Any) -> Any:
    k, square = s.shape[-1], u.shape[-2] == v.shape[-2]
    inner = None if ds is None else as_diagonal(ds)
    outer = None
    first = u[..., :k]
    if du is not None:
        turned = first.mT @ du[..., :k]
        part = _square_gaps(s) * turned
        part = (part + dagger(part)) * s[..., None, :]
        if is_complex(turned):
            part = part + 1j * as_diagonal(op.imag(diagonal(turned)) / _divisor(s))
        inner = part if inner is None else inner + part
        if not square:
            outer = du[..., :k] - conjugate(first) @ turned
            if u.shape[-1] > k:
                outer = outer - conjugate(u[..., k:]) @ dagger(first.mT @ du[..., k:])
            outer = outer / _divisor(s)[..., None, :]
    if dv is not None:
        part = _square_gaps(s) * (v.mT @ dv)
        part = s[..., :, None] * (part + dagger(part))
        inner = part if inner is None else inner + part
    total = conjugate(first) @ inner
    return (total if outer is None else total + outer) @ v.mT


def _tall_tangent(u: Any, s: Any, v: Any, change: Any) -> tuple[Any, Any, Any]:
    k, first = s.shape[-1], u[..., : s.shape[-1]]
    inside = dagger(first) @ change @ v
    left, right = inside * s[..., None, :], s[..., :, None] * inside
    f = _square_gaps(s)
    turn = f * (left + dagger(left))
    if is_complex(inside):
        turn = turn + 1j * as_diagonal(op.imag(diagonal(inside)) / _divisor(s))
    du, dv = first @ turn, v @ (f * (right + dagger(right)))
    if u.shape[-2] > k:
        du = du + (change @ v - first @ inside) / _divisor(s)[..., None, :]
        if u.shape[-1] > k:
            rest = -(first @ (dagger(change @ v) @ u[..., k:] / _divisor(s)[..., :, None]))
            du = op.concatenate([without_free(du, s, True), rest], axis=-1)
        else:
            du = without_free(du, s, True)
    else:
        du = without_free(du, s)
    return du, shared(op.real(diagonal(inside)), innermost_value(s)), without_free(dv, s)


def _svd_tangent(tangents: Mapping[str, Any], saved: Sequence[Any], attrs: Mapping[str, Any]) -> Any:
    (u, s, vh), change = saved, tangents["a"]
    if u.shape[-2] >= vh.shape[-1]:
        du, ds, dv = _tall_tangent(u, s, dagger(vh), change)
        return du, ds, dagger(dv)
    dv, ds, du = _tall_tangent(dagger(vh), s, u, dagger(change))
    return du, ds, dagger(dv)


def _check_turns(u: Any, s: Any, v: Any, du: Any, ds: Any, dv: Any) -> None:
    """Raise where the cotangents of a singular value decomposition say that the result depends on the choice of vectors."""
    plain, k = innermost_value(s), s.shape[-1]
    phases = []
    for vectors, cotangent, other in ((u, du, v), (v, dv, u)):
        if cotangent is None:
            continue
        zeros = vectors.shape[-2] > other.shape[-2]  # those of the value 0 are then among others that complete the basis
        refuse_repeated("svd", plain, (cotangent,), ds, zeros)
        if vectors.shape[-1] > k:
            refuse_rotation("svd", "the vectors that complete u or vh", vectors[..., k:], cotangent[..., k:])
            refuse_completed(plain, cotangent[..., k:])
        phases.append(diagonal(vectors[..., :k].mT @ cotangent[..., :k]))
    if phases:
        refuse_phase("svd", phases[0] if len(phases) == 1 else phases[0] + phases[1], du if du is not None else dv)


@gradient("svd", outputs_to_save=(True, True, True), accepts_none=True, jvp_func=_svd_tangent)
def svd(dy, saved, attrs):
    (du, ds, dvh), (u, s, vh) = dy, saved

    def da():
        v, dv = dagger(vh), None if dvh is None else dagger(dvh)
        _check_turns(u, s, v, du, ds, dv)
        values = None if ds is None else shared(ds, innermost_value(s))
        if u.shape[-2] >= v.shape[-2]:
            return _tall_gradient(u, s, v, du, values, dv)
        return dagger(_tall_gradient(v, s, u, dv, values, du))

    return {"a": da}


def _thin_vectors(x: Any) -> tuple[Any, Any]:
    u, s, vh = op.svd(x, full_matrices=False)
    tall, wide = u.shape[-2] > vh.shape[-1], u.shape[-2] < vh.shape[-1]
    return guarded("svd", u, s, tall), dagger(guarded("svd", dagger(vh), s, wide))


def _svdvals_tangent(tangents: Mapping[str, Any], saved: Sequence[Any], attrs: Mapping[str, Any]) -> Any:
    x, s = saved
    u, vh = _thin_vectors(x)
    change = op.sum(op.real(conjugate(u) * (tangents["x"] @ dagger(vh))), axis=-2)
    return shared(change, innermost_value(s))


@gradient("svdvals", inputs_to_save=("x",), outputs_to_save=True, jvp_func=_svdvals_tangent)
def svdvals(dy, saved, attrs):
    x, s = saved

    def dx():
        if type(dy) is Tensor:
            refuse_order("second", "svdvals", x, innermost_value(s))
        u, vh = _thin_vectors(x)
        return (conjugate(u) * shared(dy, innermost_value(s))[..., None, :]) @ conjugate(vh)

    return {"x": dx}
