"""Gradients of linear algebra: systems of equations, inverses, determinants, norms.

Nothing is conjugated but where a function itself is not holomorphic. Sources: M. Giles, "An extended collection of matrix
derivative results" (2008), for the holomorphic ones; G. Golub and V. Pereyra, "The differentiation of pseudo-inverses" (1973).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from autograd import operators as op
from autograd.errors import GradientError
from autograd.gradients.limits import curvature_at_zero
from autograd.gradients.products import sum_broadcast
from autograd.tensor import innermost_value
from registry.gradients import GradConfig, gradient, register_gradient
from registry.numpy_backend.linalg import well_conditioned


def is_complex(x: Any) -> bool:
    """Whether a value is complex under any number of tapes."""
    return np.iscomplexobj(innermost_value(x))


def conjugate(x: Any) -> Any:
    """The conjugate; a real value as it is, without an operation."""
    return op.conjugate(x) if is_complex(x) else x


def dagger(x: Any) -> Any:
    """The conjugate transpose of matrices."""
    return conjugate(x).mT


def hermitian_part(x: Any) -> Any:
    """``(x + dagger(x)) / 2``: what a function of Hermitian matrices can see of a change of its input."""
    return 0.5 * (x + dagger(x))


def of_lower_triangle(x: Any) -> Any:
    """The Hermitian matrices of which LAPACK reads the lower triangle. A change of them is the Hermitian part of one of ``x``."""
    plain = innermost_value(x)
    lower = np.tril(plain, -1)
    whole = lower + lower.conj().mT + plain.real * np.eye(plain.shape[-1], dtype=plain.real.dtype)
    return hermitian_part(x) + (whole - hermitian_part(plain))


def over_matrices(x: Any) -> Any:
    """One number for each matrix, with two axes of length 1 behind, so that it multiplies matrices."""
    return op.reshape(x, shape=(*np.shape(innermost_value(x)), 1, 1))


def _total(x: Any) -> Any:
    """The sum of each matrix."""
    return op.sum(x, axis=(-2, -1))


# ------------------------------------------------------------------------------------------------ inverse and solve


def _inv_a(dy: Any, saved: Sequence[Any], attrs: Mapping[str, Any]) -> Any:
    transposed = saved[0].mT
    return -(transposed @ dy @ transposed)


def _inv_tangent(tangents: Mapping[str, Any], saved: Sequence[Any], attrs: Mapping[str, Any]) -> Any:
    (y,) = saved
    return -(y @ tangents["a"] @ y)


register_gradient(GradConfig("inv", by_input={"a": _inv_a}, outputs_to_save=True, jvp_func=_inv_tangent))


def _solve_tangent(tangents: Mapping[str, Any], saved: Sequence[Any], attrs: Mapping[str, Any]) -> Any:
    a, y, (_, (shape_b, _)) = saved[0], saved[1], saved[2:]
    is_vector = len(shape_b) == 1
    change = tangents["b"]
    if is_vector:  # as a column, so that a stack of matrices takes no stack of vectors for a matrix
        y, change = y[..., None], None if change is None else change[..., None]
    if tangents["a"] is not None:
        moved = tangents["a"] @ y
        change = -moved if change is None else change - moved
    change = op.solve(a, change)
    return change[..., 0] if is_vector else change


@gradient("solve", inputs_to_save=("a",), outputs_to_save=True, infos_to_save=("a", "b"), jvp_func=_solve_tangent)
def solve(dy, saved, attrs):
    a, y, (shape_a, _), (shape_b, _) = saved
    is_vector = len(shape_b) == 1
    if is_vector:
        dy, y = dy[..., None], y[..., None]
    n_axes = max(len(shape_a), len(shape_b) + is_vector)
    reached: list[Any] = []

    def right_side():
        if not reached:
            reached.append(op.solve(a.mT, dy))
        return reached[0]

    def db():
        g = right_side()
        return sum_broadcast(g[..., 0], shape_b, n_axes - 1) if is_vector else sum_broadcast(g, shape_b, n_axes)

    return {"a": lambda: sum_broadcast(-(right_side() @ y.mT), shape_a, n_axes), "b": db}


@gradient("pinv", inputs_to_save=("a",), outputs_to_save=True)
def pinv(dy, saved, attrs):
    """Along changes that keep the rank; others have no derivative (Golub and Pereyra 1973)."""
    given, y = saved

    def da():
        a = of_lower_triangle(given) if attrs["hermitian"] else given
        transposed, adjoint = y.mT, dagger(y)
        g = -(transposed @ dy @ transposed)
        through = conjugate(dy.mT @ y @ adjoint)
        g = g + through - conjugate(a @ y) @ through
        through = conjugate(adjoint @ y @ dy.mT)
        g = g + through - through @ conjugate(y @ a)
        return hermitian_part(g) if attrs["hermitian"] else g

    return {"a": da}


# ------------------------------------------------------------------------------------------------ determinants


def _det_tangent(tangents: Mapping[str, Any], saved: Sequence[Any], attrs: Mapping[str, Any]) -> Any:
    return _total(op.cofactors(saved[0]) * tangents["a"])


@gradient("det", inputs_to_save=("a",), jvp_func=_det_tangent)
def det(dy, saved, attrs):
    (a,) = saved
    return {"a": lambda: over_matrices(dy) * op.cofactors(a)}


def _cofactors_tangent(tangents: Mapping[str, Any], saved: Sequence[Any], attrs: Mapping[str, Any]) -> Any:
    return op.cofactors_derivative(saved[0], tangents["a"])


@gradient("cofactors", inputs_to_save=("a",), jvp_func=_cofactors_tangent)
def cofactors(dy, saved, attrs):
    (a,) = saved
    return {"a": lambda: op.cofactors_derivative(a, dy)}  # a matrix of second derivatives is symmetric


@gradient(
    "cofactors_derivative",
    inputs_to_save=("a", "direction"),
    infos_to_save=("a", "direction"),
    needs={"a": ("a", "direction"), "direction": ("a",)},
    linear=("direction",),
)
def cofactors_derivative(dy, saved, attrs):
    a, direction, (shape_a, _), (shape, _) = saved
    n_axes = max(len(shape_a), len(shape))

    def da():
        if not well_conditioned(innermost_value(a)):
            raise GradientError(
                "det: its third derivative at a singular or nearly singular matrix is not available; two derivatives are. Move"
                " the matrix away from the singular one, or write the determinant out by its rows"
            )
        inverse = op.inv(a).mT
        turned, other = inverse @ direction.mT @ inverse, inverse @ dy.mT @ inverse
        along, across = over_matrices(_total(direction * inverse)), over_matrices(_total(dy * inverse))
        change = across * (along * inverse - turned) - over_matrices(_total(direction * other)) * inverse
        change = change - along * other + other @ direction.mT @ inverse + turned @ dy.mT @ inverse
        return sum_broadcast(over_matrices(op.det(a)) * change, shape_a, n_axes)

    return {"a": da, "direction": lambda: sum_broadcast(op.cofactors_derivative(a, dy), shape, n_axes)}


def _without_singular(a: Any, sign: Any, used: Any) -> tuple[Any, Any]:
    """``a`` with unit matrices for singular ones, and where those are; raises where the derivative there is ``used``."""
    singular = np.asarray(np.equal(innermost_value(sign), 0))
    if not singular.any():
        return a, None
    if np.any(singular & used):
        raise GradientError(
            "slogdet: a matrix is singular, where the logarithm of the determinant is -inf and has no derivative; expected an"
            " invertible matrix. Leave such matrices out, or use det, which has a derivative there"
        )
    return op.where(singular[..., None, None], np.eye(a.shape[-1], dtype=a.dtype), a), singular


def _slogdet_tangent(tangents: Mapping[str, Any], saved: Sequence[Any], attrs: Mapping[str, Any]) -> Any:
    a, sign = saved
    a, _ = _without_singular(a, sign, True)
    change = op.sum(op.diagonal(op.solve(a, tangents["a"]), axis1=-2, axis2=-1), axis=-1)
    return sign * (1j * op.imag(change)) if is_complex(a) else 0.0 * change, op.real(change)


@gradient("slogdet", inputs_to_save=("a",), outputs_to_save=(True, False), accepts_none=True, jvp_func=_slogdet_tangent)
def slogdet(dy, saved, attrs):
    d_sign, d_log = dy
    a, sign = saved

    def da():
        turn = None if d_sign is None or not is_complex(a) else 1j * op.imag(d_sign * sign)
        total = turn if d_log is None else d_log if turn is None else d_log + turn
        if total is None:  # the sign of a real determinant is constant
            return op.broadcast_to(over_matrices(op.where_or_zero(False, d_sign)), shape=d_sign.shape + a.shape[-2:])
        matrices, singular = _without_singular(a, sign, np.not_equal(innermost_value(total), 0))
        if singular is not None:
            total = op.where(singular, 0.0, total)
        return over_matrices(total) * op.inv(matrices).mT

    return {"a": da}


# ------------------------------------------------------------------------------------------------ norms


def _unit(x: Any, y: Any, attrs: Mapping[str, Any]) -> Any:
    """The derivative of a norm in each element, 0 at a vector of zeros; and ``y`` with all axes."""
    order = attrs["ord"]
    if not attrs["keepdims"]:
        ndim = len(x.shape)
        kept = set(range(ndim)) - {each % ndim for each in attrs["axis"]}
        y = op.reshape(y, shape=tuple(length if at in kept else 1 for at, length in enumerate(x.shape)))
    x, y = _in_range(x, y, attrs)
    zero = np.equal(innermost_value(y), 0)
    if zero.any():
        y = op.where(zero, 1.0, y)
    if order == 2:
        unit = conjugate(x) / y
    else:
        size = op.absolute(x)
        absent = np.equal(innermost_value(x), 0)
        ratio = size / y
        if order < 1:
            ratio = op.where(absent, 1.0, ratio)
        phase = conjugate(x) / op.where(absent, 1.0, size) if is_complex(x) else np.sign(innermost_value(x))
        unit = phase * op.power(ratio, order - 1)
    return op.where(zero, 0.0, unit) if zero.any() else unit


def _in_range(x: Any, y: Any, attrs: Mapping[str, Any]) -> tuple[Any, Any]:
    """Vectors and their norms, scaled where a power of finite elements has left the range of floats: the unit is the same."""
    norms = innermost_value(y)
    extreme = np.equal(norms, 0) | np.isinf(norms)
    if not extreme.any():
        return x, y
    sizes = np.abs(innermost_value(x)).max(tuple(attrs["axis"]), keepdims=True, initial=0)
    extreme = extreme & (sizes > 0) & (sizes < np.inf)
    if attrs["ord"] < 0 or not extreme.any():
        return x, y
    x = op.divide(x, np.where(extreme, sizes, sizes.dtype.type(1)))
    return x, op.where(extreme, op.vector_norm(x, **{**attrs, "keepdims": True}), y)


def _norm_tangent(tangents: Mapping[str, Any], saved: Sequence[Any], attrs: Mapping[str, Any]) -> Any:
    x, y = saved
    return op.sum(op.real(tangents["x"] * _unit(x, y, attrs)), axis=tuple(attrs["axis"]), keepdims=attrs["keepdims"])


@gradient("vector_norm", inputs_to_save=("x",), outputs_to_save=True, jvp_func=_norm_tangent)
def vector_norm(dy, saved, attrs):
    x, y = saved

    def dx():
        factor, unit = _wide(dy, x, attrs), _unit(x, y, attrs)
        g = factor * unit
        if not np.isfinite(innermost_value(y)).all():  # a vector that is masked out may hold anything
            g = op.where(np.equal(innermost_value(factor), 0) & ~np.isfinite(innermost_value(g)), 0.0, g)
        curvature = curvature_at_zero("norm", dy, y, smooth=attrs["ord"] == 2)
        return g if curvature is None else g + _wide(curvature, x, attrs) * conjugate(x)

    return {"x": dx}


def _wide(dy: Any, x: Any, attrs: Mapping[str, Any]) -> Any:
    """A number for each vector, with the axes of the vectors as axes of length 1."""
    if attrs["keepdims"]:
        return dy
    ndim, shape = len(x.shape), list(dy.shape)
    for axis in sorted((each % ndim - ndim for each in attrs["axis"]), reverse=True):
        shape.insert(len(shape) + 1 + axis, 1)
    return op.reshape(dy, shape=tuple(shape))
