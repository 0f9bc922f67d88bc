"""Gradients of eigenvalues and eigenvectors. Part of the family decompositions; its conventions stand there.

Sources: M. Giles, "An extended collection of matrix derivative results" (2008); C. Boeddeker et al., "On the computation of
complex-valued gradients" (2017), for eig, whose vectors keep their length and, as LAPACK has it, the phase of their largest
component.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from autograd import operators as op
from autograd.gradients.limits import slopes
from autograd.gradients.linalg import conjugate, dagger, hermitian_part, is_complex, over_matrices
from autograd.gradients.products import sum_broadcast
from autograd.gradients.spectra import (
    gaps,
    refuse_defective,
    refuse_order,
    refuse_phase,
    refuse_repeated,
    refuse_turned,
    repeated,
    shared,
    undetermined,
)
from autograd.tensor import Tensor, innermost_value
from registry.gradients import gradient


def diagonal(x: Any) -> Any:
    """The diagonals of matrices."""
    return op.diagonal(x, axis1=-2, axis2=-1)


def as_diagonal(x: Any) -> Any:
    """Matrices with a vector each on the diagonal, and zeros beside it."""
    return x[..., None] * np.eye(x.shape[-1], dtype=np.dtype(x.dtype))


# ------------------------------------------------------------------------------------------------ free vectors


def _basis_tangent(tangents: Mapping[str, Any], saved: Sequence[Any], attrs: Mapping[str, Any]) -> Any:
    refuse_turned(attrs["function"], attrs["values"], innermost_value(tangents["vectors"]))
    return tangents["vectors"]


@gradient("basis", jvp_func=_basis_tangent)
def basis(dy, saved, attrs):
    return {"vectors": lambda: dy}


def guarded(function: str, vectors: Any, values: Any, zeros: bool = False) -> Any:
    """Vectors behind a record that refuses, in forward mode, those of repeated values: only a use of them comes by there."""
    plain = innermost_value(values)
    return op.basis(vectors, function=function, values=plain) if undetermined(plain, zeros).any() else vectors


def without_free(change: Any, values: Any, zeros: bool = False) -> Any:
    """A change of vectors, which stand in columns, with NaN for those that are free to turn."""
    free = undetermined(innermost_value(values), zeros)
    return op.where(free[..., None, :], np.nan, change) if free.any() else change


# ------------------------------------------------------------------------------------------------ Hermitian eigenvalues


def _eigh_tangent(tangents: Mapping[str, Any], saved: Sequence[Any], attrs: Mapping[str, Any]) -> Any:
    _, w, v = saved
    inside = dagger(v) @ hermitian_part(tangents["a"]) @ v
    return shared(op.real(diagonal(inside)), innermost_value(w)), without_free(v @ (gaps(w) * inside), w)


@gradient("eigh", inputs_to_save=("a",), outputs_to_save=(True, True), accepts_none=True, jvp_func=_eigh_tangent)
def eigh(dy, saved, attrs):
    (dw, dv), (a, w, v) = dy, saved

    def da():
        if dv is None:
            return _of_values(dw, a, w, attrs)
        refuse_repeated("eigh", innermost_value(w), (dv,), dw)
        refuse_phase("eigh", diagonal(v.mT @ dv), dv)
        middle = gaps(w) * (v.mT @ dv)
        if dw is not None:
            middle = middle + as_diagonal(shared(dw, innermost_value(w)))
        return hermitian_part(conjugate(v) @ middle @ v.mT)

    return {"a": da}


def _eigvalsh_tangent(tangents: Mapping[str, Any], saved: Sequence[Any], attrs: Mapping[str, Any]) -> Any:
    a, w = saved
    v = _eigh_vectors(a, attrs)[1]
    change = op.sum(op.real(conjugate(v) * (hermitian_part(tangents["a"]) @ v)), axis=-2)
    return shared(change, innermost_value(w))


@gradient("eigvalsh", inputs_to_save=("a",), outputs_to_save=True, jvp_func=_eigvalsh_tangent)
def eigvalsh(dy, saved, attrs):
    a, w = saved
    return {"a": lambda: _of_values(dy, a, w, attrs)}


def _eigh_vectors(a: Any, attrs: Mapping[str, Any]) -> tuple[Any, Any]:
    w, v = op.eigh(a, UPLO=attrs["UPLO"])
    return w, guarded("eigh", v, w)


def _of_values(dw: Any, a: Any, w: Any, attrs: Mapping[str, Any]) -> Any:
    """The gradient of a function of eigenvalues: the matrix with the same eigenvectors whose eigenvalues are ``dw``."""
    g = conjugate(op.spectral(a, shared(dw, innermost_value(w)), UPLO=attrs["UPLO"]))
    within = _within_repeated(dw, a, w, attrs)
    return g if within is None else g + within


def _within_repeated(dw: Any, a: Any, w: Any, attrs: Mapping[str, Any]) -> Any:
    """What the gradient of a function of eigenvalues needs for a second derivative at repeated ones; None where there is none.

    In the space of a repeated eigenvalue the second derivative is ``f_ii - f_ij``, of the function in two of the equal
    eigenvalues, times the change less its mean (A. Lewis and H. Sendov, "Twice differentiable spectral functions", 2001). That
    number comes from the tape outside, where ``dw`` was computed from ``w``. The term itself is 0, because in that space ``a`` is
    its own mean.
    """
    plain = innermost_value(w)
    if type(dw) is not Tensor or type(a) is not Tensor or not undetermined(plain).any():
        return None
    same = repeated(plain)
    first = (same.sum(-1) > 1) & (same.argmax(-1) == np.arange(plain.shape[-1]))
    if (found := slopes_at(dw, w, first)) is None:
        return None
    chosen, matrices, rows = found
    members = same[(*matrices, chosen[:, -1])]
    counts = members.sum(-1, keepdims=True)
    curvature = op.sum(rows * own_less_mean_of_others(chosen, members, plain.dtype), axis=-1)
    vectors = np.linalg.eigh(innermost_value(a), attrs["UPLO"])[1][matrices] * members[:, None, :]
    space = vectors @ vectors.conj().mT
    change = hermitian_part(matrices_at(a, chosen, matrices))
    mean = op.sum(diagonal(space @ change), axis=-1) / counts[:, 0]
    part = conjugate(space @ change @ space - over_matrices(mean) * space) * over_matrices(curvature)
    return added_at(part, chosen, dw.shape[:-1])


def slopes_at(dw: Any, w: Any, first: Any) -> Any:
    """The derivatives of chosen cotangents in all values of their matrix, a row for each that is True in ``first``.

    With the position in ``dw`` of each, and the index of its matrix. None where ``dw`` is constant.
    """
    chosen = np.argwhere(np.broadcast_to(first, dw.shape))
    directions = np.zeros((len(chosen), *dw.shape), innermost_value(w).dtype)
    directions[(np.arange(len(chosen)), *chosen.T)] = 1
    rows = slopes(dw, w, directions)
    if rows is None:
        return None
    matrices = tuple(chosen[:, len(dw.shape) - len(w.shape) : -1].T)
    return chosen, matrices, rows[(np.arange(len(chosen)), *matrices)]


def own_less_mean_of_others(chosen: Any, members: Any, dtype: Any) -> Any:
    """Weights that make of a row of second derivatives the one of the chosen value, less the mean of those with its equals."""
    others = np.maximum(members.sum(-1, keepdims=True) - 1, 1)
    at = np.arange(members.shape[-1]) == chosen[:, -1:]
    return np.where(at, 1.0, np.where(members, -1.0 / others, 0.0)).astype(dtype)


def matrices_at(a: Any, chosen: Any, matrices: Any) -> Any:
    """The matrix of each chosen value, of a stack or the only one."""
    return a[matrices] if matrices else op.broadcast_to(a, shape=(len(chosen), *a.shape))


def added_at(part: Any, chosen: Any, ahead: Any) -> Any:
    """Matrices added to zeros, each in the place of its chosen value among the axes ``ahead``."""
    places = np.arange(math.prod(ahead)).reshape(ahead)[tuple(chosen[:, :-1].T)]
    index, shape = np.broadcast_to(places, (len(chosen),)), tuple(part.shape[-2:])
    total = op.scatter_add([part], indices=[index], shape=(math.prod(ahead), *shape), dtype=part.dtype, batch=0)
    return op.reshape(total, shape=(*ahead, *shape))


def _spectral_tangent(tangents: Mapping[str, Any], saved: Sequence[Any], attrs: Mapping[str, Any]) -> Any:
    a, values = saved[:2]
    w, v = _spectral_vectors(a, attrs)
    inside = None
    if tangents["a"] is not None:
        inside = _divided(w, values) * (dagger(v) @ hermitian_part(tangents["a"]) @ v)
    if tangents["values"] is not None:
        straight = as_diagonal(tangents["values"])
        inside = straight if inside is None else inside + straight
    return v @ inside @ dagger(v)


@gradient("spectral", inputs_to_save=("a", "values"), infos_to_save=("a", "values"), jvp_func=_spectral_tangent)
def spectral(dy, saved, attrs):
    a, values, (shape_a, _), (shape_values, _) = saved
    n_axes = max(len(shape_a), len(shape_values) + 1)

    def turned():
        w, v = _spectral_vectors(a, attrs)
        return w, v, v.mT @ dy @ conjugate(v)

    def da():
        w, v, inside = turned()
        return sum_broadcast(hermitian_part(conjugate(v) @ (_divided(w, values) * inside) @ v.mT), shape_a, n_axes)

    return {"a": da, "values": lambda: sum_broadcast(op.real(diagonal(turned()[2])), shape_values, n_axes - 1)}


def _spectral_vectors(a: Any, attrs: Mapping[str, Any]) -> tuple[Any, Any]:
    w, v = op.eigh(a, UPLO=attrs["UPLO"])
    refuse_order("third", "eigvalsh", a, innermost_value(w))
    return w, v


def _divided(w: Any, values: Any) -> Any:
    """The divided differences ``(values[j] - values[i]) / (w[j] - w[i])``, 0 for equal ``w``, which have equal values here."""
    return gaps(w) * (values[..., None, :] - values[..., :, None])


# ------------------------------------------------------------------------------------------------ general eigenvalues


def _largest(v: Any) -> Any:
    """For each eigenvector the position of its largest component, whose phase LAPACK fixes; and that component."""
    at = np.argmax(np.abs(innermost_value(v)), axis=-2)[..., None, :]
    return at, op.take_along_axis(v, indices=at, axis=-2)


def _eig_turned(v: Any, dv: Any) -> Any:
    """The cotangent of ``k`` in ``v k``, the columns of which then get back their length and their phase."""
    turned = v.mT @ dv
    own = diagonal(turned)[..., None, :]
    total = turned - (v.mT @ conjugate(v)) * op.real(own)
    if is_complex(v) and v.shape[-1]:
        at, component = _largest(v)
        rows = op.take_along_axis(v, indices=np.broadcast_to(at.mT, v.shape), axis=-2)
        total = total - (rows / component.mT).mT * (1j * op.imag(own))
    return total


def _eig_tangent(tangents: Mapping[str, Any], saved: Sequence[Any], attrs: Mapping[str, Any]) -> Any:
    w, v = saved
    refuse_defective("eig", innermost_value(w), innermost_value(v))
    inside = op.solve(v, tangents["a"] @ v)
    moved = v @ (gaps(w) * inside)
    scale = -op.sum(op.real(conjugate(v) * moved), axis=-2, keepdims=True)
    if is_complex(v) and v.shape[-1]:
        at, component = _largest(v)
        scale = scale - 1j * op.imag(op.take_along_axis(moved, indices=at, axis=-2) / component)
    return shared(diagonal(inside), innermost_value(w)), without_free(moved + v * scale, w)


@gradient("eig", outputs_to_save=(True, True), accepts_none=True, jvp_func=_eig_tangent)
def eig(dy, saved, attrs):
    (dw, dv), (w, v) = dy, saved

    def da():
        refuse_defective("eig", innermost_value(w), innermost_value(v))
        middle = None if dw is None else as_diagonal(shared(dw, innermost_value(w)))
        if dv is not None:
            refuse_repeated("eig", innermost_value(w), (dv,), dw)
            turned = gaps(w) * _eig_turned(v, dv)
            middle = turned if middle is None else turned + middle
        return op.solve(v.mT, middle) @ v.mT

    return {"a": da}


def _eig_vectors(a: Any, w: Any) -> Any:
    v = guarded("eig", op.eig(a)[1], w)
    refuse_defective("eigvals", innermost_value(w), innermost_value(v))
    return v


def _eigvals_tangent(tangents: Mapping[str, Any], saved: Sequence[Any], attrs: Mapping[str, Any]) -> Any:
    a, w = saved
    v = _eig_vectors(a, w)
    return shared(diagonal(op.solve(v, tangents["a"] @ v)), innermost_value(w))


@gradient("eigvals", inputs_to_save=("a",), outputs_to_save=True, jvp_func=_eigvals_tangent)
def eigvals(dy, saved, attrs):
    a, w = saved

    def da():
        if type(dy) is Tensor:
            refuse_order("second", "eigvals", a, innermost_value(w))
        v = _eig_vectors(a, w)
        return op.solve(v.mT, as_diagonal(shared(dy, innermost_value(w)))) @ v.mT

    return {"a": da}
