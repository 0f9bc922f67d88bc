"""Gradients of SciPy's linear algebra. Nothing is conjugated.

Sources: M. Giles, "An extended collection of matrix derivative results" (2008), for the equations; N. Higham, "Functions of
Matrices" (2008), sections 3.1 and 6.1, for square root and exponential.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from autograd import operators as op
from autograd.errors import GradientError
from autograd.gradients.products import sum_broadcast
from autograd.gradients.spectra import CLOSE
from autograd.tensor import innermost_value
from registry.gradients import gradient
from registry.numpy_backend.scipy import linalg as _declared  # noqa: F401  # the operators come first

# -------------------------------------------------------------------------------------------------- triangular

# For S x = b: db = S.T \ dy and dS = -db x.T, of which the given triangle counts.


@gradient(
    "scipy_solve_triangular",
    inputs_to_save=("a",),
    outputs_to_save=True,
    infos_to_save=("a", "b"),
    linear=("b",),
)
def solve_triangular(dy, saved, attrs):
    a, y, (shape_a, _), (shape_b, _) = saved
    ndim = max(len(shape_a), len(shape_b))
    transposed = attrs["trans"] != 0
    reached: list[Any] = []

    def right_side():
        if not reached:
            reached.append(op.scipy_solve_triangular(a, dy, **{**attrs, "trans": 0 if transposed else 1}))
        return reached[0]

    def da():
        g = y @ right_side().mT if transposed else right_side() @ y.mT
        n, skip = shape_a[-1], int(attrs["unit_diagonal"])
        mask = np.tri(n, k=-skip, dtype=bool) if attrs["lower"] else np.tri(n, k=-skip, dtype=bool).T
        return sum_broadcast(op.where(mask, -g, 0.0), shape_a, ndim)

    return {"a": da, "b": lambda: sum_broadcast(right_side(), shape_b, ndim)}


# -------------------------------------------------------------------------------------------------- banded

# The matrix A is stored as ab[u + i - j, j] = A[i, j].


def _band(n: int, l_and_u: Sequence[int]) -> tuple[Any, Any]:
    """Of each place in the storage, the row that it stands for, and whether the matrix has that row."""
    lower, upper = l_and_u
    rows = np.arange(n) + np.arange(lower + upper + 1)[:, None] - upper
    inside = (rows >= 0) & (rows < n)
    return np.where(inside, rows, 0), inside


def _transposed_band(ab: Any, l_and_u: Sequence[int]) -> Any:
    """The storage of the transposed matrix."""
    lower, upper = l_and_u
    rows, inside = _band(np.shape(innermost_value(ab))[-1], (upper, lower))
    places = np.broadcast_to((lower + upper - np.arange(lower + upper + 1))[:, None], rows.shape)
    return op.where(inside, op.getitem(ab, index=(..., places, rows)), 0.0)


@gradient("scipy_solve_banded", inputs_to_save=("ab",), outputs_to_save=True, infos_to_save=("ab", "b"), linear=("b",))
def solve_banded(dy, saved, attrs):
    ab, y, (shape_ab, _), (shape_b, _) = saved
    lower, upper = l_and_u = attrs["l_and_u"]
    ndim = max(len(shape_ab), len(shape_b))
    reached: list[Any] = []

    def right_side():
        if not reached:
            reached.append(op.scipy_solve_banded(_transposed_band(ab, l_and_u), dy, l_and_u=(upper, lower)))
        return reached[0]

    def dab():
        rows, inside = _band(shape_ab[-1], l_and_u)
        g = op.getitem(right_side(), index=(..., rows, slice(None)))  # places of the storage, then columns of b
        g = -op.sum(g * op.expand_dims(y, axis=-3), axis=-1)
        return sum_broadcast(op.where(inside, g, 0.0), shape_ab, ndim)

    return {"ab": dab, "b": lambda: sum_broadcast(right_side(), shape_b, ndim)}


# -------------------------------------------------------------------------------------------------- Sylvester


def _sylvester_tangent(tangents: Mapping[str, Any], saved: Sequence[Any], attrs: Mapping[str, Any]) -> Any:
    a, b, y = saved[:3]
    change = tangents["q"]
    for part in (
        None if tangents["a"] is None else tangents["a"] @ y,
        None if tangents["b"] is None else y @ tangents["b"],
    ):
        if part is not None:
            change = -part if change is None else change - part
    return op.scipy_solve_sylvester(a, b, change)


@gradient(
    "scipy_solve_sylvester",
    inputs_to_save=("a", "b"),
    outputs_to_save=True,
    infos_to_save=("a", "b", "q"),
    jvp_func=_sylvester_tangent,
)
def solve_sylvester(dy, saved, attrs):
    a, b, y, (shape_a, _), (shape_b, _), (shape_q, _) = saved
    ndim = max(len(shape_a), len(shape_b), len(shape_q))
    reached: list[Any] = []

    def dq():
        if not reached:
            reached.append(op.scipy_solve_sylvester(a.mT, b.mT, dy))
        return reached[0]

    return {
        "a": lambda: sum_broadcast(-(dq() @ y.mT), shape_a, ndim),
        "b": lambda: sum_broadcast(-(y.mT @ dq()), shape_b, ndim),
        "q": lambda: sum_broadcast(dq(), shape_q, ndim),
    }


# -------------------------------------------------------------------------------------------------- matrix functions


def _refuse_singular(y: Any) -> None:
    """Raise GradientError for a root with eigenvalues that add up to 0, as 0 does with itself: its equation has no solution."""
    w = np.linalg.eigvals(innermost_value(y))
    sums, size = np.abs(w[..., :, None] + w[..., None, :]), np.abs(w).max(-1, initial=0)
    low = sums <= 2 * np.sqrt(CLOSE * w.shape[-1] * np.finfo(w.dtype).eps) * size[..., None, None]
    if low.any():
        raise GradientError(
            f"sqrtm: two eigenvalues of the root add up to {sums[low][0]:.3g}, so that it has no derivative: the matrix has an"
            " eigenvalue 0, or its negative ones have roots of both signs; expected an invertible matrix. Move it away from the"
            " singular one, or add a multiple of the unit matrix"
        )


def _sqrtm_tangent(tangents: Mapping[str, Any], saved: Sequence[Any], attrs: Mapping[str, Any]) -> Any:
    (y,) = saved
    _refuse_singular(y)
    return op.scipy_solve_sylvester(y, y, tangents["a"])


@gradient("scipy_sqrtm", outputs_to_save=True, jvp_func=_sqrtm_tangent)
def sqrtm(dy, saved, attrs):
    (y,) = saved

    def da():
        _refuse_singular(y)
        return op.scipy_solve_sylvester(y.mT, y.mT, dy)

    return {"a": da}


def _expm_change(a: Any, change: Any) -> Any:
    """The derivative of the exponential along a change: the upper right block of ``expm([[a, change], [0, a]])``."""
    n = a.shape[-1]
    a = op.broadcast_to(a, shape=change.shape)
    zero = np.zeros(change.shape)
    block = op.concatenate([op.concatenate([a, change], axis=-1), op.concatenate([zero, a], axis=-1)], axis=-2)
    return op.scipy_expm(block)[..., :n, n:]


def _expm_tangent(tangents: Mapping[str, Any], saved: Sequence[Any], attrs: Mapping[str, Any]) -> Any:
    return _expm_change(saved[0], tangents["a"])


@gradient("scipy_expm", inputs_to_save=("a",), jvp_func=_expm_tangent)
def expm(dy, saved, attrs):
    (a,) = saved
    return {"a": lambda: _expm_change(a.mT, dy)}
