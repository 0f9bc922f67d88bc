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
from autograd.gradients.eigenvalues import (
    added_at,
    as_diagonal,
    diagonal,
    guarded,
    matrices_at,
    own_less_mean_of_others,
    slopes_at,
    without_free,
)
from autograd.gradients.linalg import conjugate, dagger, hermitian_part, is_complex, over_matrices
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
    tolerance,
    undetermined,
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
    plain = innermost_value(s)
    refuse_order("second (begun in forward mode; grad of grad works)", "svdvals", x, plain, zeros=x.shape[-2] != x.shape[-1])
    u, vh = _thin_vectors(x)
    change = op.sum(op.real(conjugate(u) * (tangents["x"] @ dagger(vh))), axis=-2)
    return shared(change, plain)


@gradient("svdvals", inputs_to_save=("x",), outputs_to_save=True, jvp_func=_svdvals_tangent)
def svdvals(dy, saved, attrs):
    x, s = saved
    plain = innermost_value(s)

    def dx():
        if type(x) is Tensor and undetermined(plain, zeros=True).any():
            if not _has_kink(innermost_value(dy), plain):
                return _of_degenerate(dy, x, s)
            refuse_order("second", "svdvals", x, plain, zeros=x.shape[-2] != x.shape[-1])
        u, vh = _thin_vectors(x)
        return (conjugate(u) * shared(dy, plain)[..., None, :]) @ conjugate(vh)

    return {"x": dx}


def _has_kink(dy: Any, values: Any) -> bool:
    """Whether a function has slopes in values that are 0 and cannot fall; an infinite or undefined slope is one."""
    sizes = np.abs(dy)
    smooth = np.isfinite(sizes) & (sizes <= tolerance(values) * sizes.max(-1, keepdims=True, initial=0))
    return bool(np.any((values <= rounding(values)) & ~smooth))


def _of_degenerate(dy: Any, x: Any, s: Any) -> Any:
    """The gradient of a smooth function of singular values, in a form that has a derivative where values repeat or are 0.

    ``[[0, x], [dagger(x), 0]]`` has the eigenvalues ``s`` and ``-s``, and zeros; the gradient is a corner of the matrix with the
    same eigenvectors and the eigenvalues ``ds`` and ``-ds``, and zeros.
    """
    plain, (rows, columns) = innermost_value(s), x.shape[-2:]
    ds = shared(op.where(plain <= rounding(plain), 0.0, dy), plain)
    above, below = (np.zeros((*x.shape[:-2], n, n), np.dtype(x.dtype)) for n in (rows, columns))
    both = [op.concatenate([above, x], axis=-1), op.concatenate([dagger(x), below], axis=-1)]
    between = np.zeros((*ds.shape[:-1], abs(rows - columns)), np.dtype(ds.dtype))
    values = op.concatenate([-ds, between, op.flip(ds, axis=-1)], axis=-1)
    g = conjugate(op.spectral(op.concatenate(both, axis=-2), values)[..., :rows, rows:])
    within = _within_degenerate(dy, x, s)
    return g if within is None else g + within


def _within_degenerate(dy: Any, x: Any, s: Any) -> Any:
    """What that gradient needs for a second derivative, in the spaces of repeated values and of zeros; it is 0 itself.

    As with repeated eigenvalues the number comes from the tape outside. A function of singular values that is smooth at a zero is
    even in it: its second derivative there counts for every change between the spaces that x maps to 0 and does not reach.

    Raises GradientError for zeros of which the function has mixed second derivatives: it is not smooth.
    """
    plain = innermost_value(s)
    same, zero = repeated(plain), plain <= rounding(plain)
    first = (same.argmax(-1) == np.arange(plain.shape[-1])) & (zero | (same.sum(-1) > 1))
    if (found := slopes_at(dy, s, first)) is None:
        return None
    chosen, matrices, rows = found
    index = (*matrices, chosen[:, -1])
    members, null = same[index], zero[index][:, None]
    weights = own_less_mean_of_others(chosen, members & ~null, plain.dtype)
    others = innermost_value(rows) * (members & null & (weights == 0))
    if np.any(np.abs(others) > tolerance(plain) * np.abs(innermost_value(rows)).max(-1, keepdims=True, initial=0)):
        raise GradientError(
            "svdvals: this function of singular values has no second derivative where several of them are 0; expected a smooth"
            " function of their squares. Write it with products of the matrix, or move away from zero"
        )
    curvature = over_matrices(op.sum(rows * weights, axis=-1))
    u, _, vh = np.linalg.svd(innermost_value(x))
    left, right = u[matrices], vh.conj().mT[matrices]
    at_left, at_right = (_columns(each.shape[-1], members, null)[:, None, :] for each in (left, right))
    left, right = left * at_left, right * at_right
    change = left.conj().mT @ matrices_at(x, chosen, matrices) @ right
    size = min(change.shape[-2:])
    square = hermitian_part(change[..., :size, :size])
    mean = over_matrices(op.sum(op.real(diagonal(square)), axis=-1) / members.sum(-1))
    unit = as_diagonal(members.astype(plain.dtype))
    turned = left[..., :size] @ (square - mean * unit) @ right[..., :size].conj().mT
    part = op.where(null[..., None], left @ change @ right.conj().mT, turned)
    return added_at(conjugate(part) * curvature, chosen, dy.shape[:-1])


def _columns(count: int, members: Any, null: Any) -> Any:
    """For each chosen value which of ``count`` vectors belong to it: beside its equals, to 0 those that complete the basis."""
    rest = np.broadcast_to(null, (len(members), count - members.shape[-1]))
    return np.concatenate([members, rest], axis=-1)
