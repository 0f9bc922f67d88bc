"""What has a derivative where eigenvalues or singular values repeat, and the errors for what has none. Part of decompositions.

The vectors of a repeated value are no function of the matrix: any rotation among them will do, and the least change of the
matrix picks one. A function that needs them may still have a derivative, as ``v f(w) v.T`` has, but that involves the derivative
of ``f``, which no rule of the decomposition can know. So the rules accept cotangents that leave these vectors alone, and refuse
all others, also those that vanish only because ``f`` is 0 at the value.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NoReturn

import numpy as np

from autograd import operators as op
from autograd.errors import GradientError
from autograd.tensor import Tensor, innermost_value

CLOSE = 10
"""Values that differ by less than this times n times the rounding of the largest are equal: no algorithm can tell them apart."""

_NOTHING = 1e-8
"""What rounding may leave of a cotangent of 0, relative to its largest element, in double precision."""


def rounding(values: Any) -> Any:
    """What the values of each matrix may differ by and be equal, in an axis of length 1."""
    n = values.shape[-1]
    return CLOSE * n * np.finfo(values.dtype).eps * np.abs(values).max(-1, keepdims=True, initial=0)


def repeated(values: Any) -> Any:
    """For each pair of values whether they are equal up to rounding; each equals itself.

    >>> repeated(np.array([1.0, 1.0, 2.0])).astype(int)
    array([[1, 1, 0],
           [1, 1, 0],
           [0, 0, 1]])
    """
    return np.abs(values[..., None, :] - values[..., :, None]) <= rounding(values)[..., None]


def undetermined(values: Any, zeros: bool = False) -> Any:
    """For each value whether another one equals it, or with ``zeros`` whether it is 0: its vectors are then free to turn.

    >>> undetermined(np.array([2.0, 1.0, 1.0])), undetermined(np.array([2.0, 0.0]), zeros=True)
    (array([False,  True,  True]), array([False,  True]))
    """
    free = repeated(values).sum(-1) > 1
    return free | (np.abs(values) <= rounding(values)) if zeros else free


def gaps(values: Any) -> Any:
    """``1 / (w[j] - w[i])`` for each pair, and 0 for equal ones.

    >>> gaps(np.array([1.0, 1.0, 3.0]))[0]
    array([0. , 0. , 0.5])
    """
    same = repeated(innermost_value(values))
    difference = values[..., None, :] - values[..., :, None]
    return op.where(same, 0.0, 1.0 / op.where(same, 1.0, difference))


def shared(d_values: Any, values: Any) -> Any:
    """Cotangents of values, those of equal ones shared equally.

    >>> shared(np.array([4.0, 0.0, 1.0]), np.array([1.0, 1.0, 2.0]))
    array([2., 2., 1.])
    """
    same = repeated(values)
    count = same.sum(-1)
    if (count == 1).all():
        return d_values
    weights = (same / count[..., None]).astype(values.real.dtype)
    return (weights @ d_values[..., None])[..., 0]


def _spelled(values: Any, free: Any) -> str:
    """The repeated values, with their positions, of the first matrix that has some."""
    at = tuple(np.argwhere(free)[0])
    row, there = values[at[:-1]], np.flatnonzero(free[at[:-1]])
    where = f" of matrix {[int(each) for each in at[:-1]]}" if len(at) > 1 else ""
    return f"{', '.join(f'{row[each]:.6g}' for each in there)} (positions {', '.join(map(str, there))}){where}"


def _refuse(function: str, values: Any, free: Any) -> NoReturn:
    kind = "singular values" if function == "svd" else "eigenvalues"
    alone = {"svd": "svdvals", "eigh": "eigvalsh", "eig": "eigvals"}[function]
    repeats = "repeat or are zero" if function == "svd" else "repeat"
    raise GradientError(
        f"{function}: the {kind} {_spelled(values, free)} {repeats}, so that their vectors are free to turn and have no"
        " derivative, but the result depends on them."
        f" For a function of the {kind} alone use {alone}, which has a derivative here; write a"
        " function of the matrix itself by products, inv or solve; or take vectors of other values only"
    )


def refuse_repeated(function: str, values: Any, vectors: Sequence[Any], d_values: Any, zeros: bool = False) -> None:
    """Raise GradientError if the result depends on vectors of repeated values, by the cotangents that have arrived.

    A cotangent that vanishes on them is accepted if it comes from a use of other vectors: then something is left elsewhere,
    and the values are not used together with the vectors. ``v f(w) v.T`` with ``f = 0`` at the repeated value is not that.
    """
    free = undetermined(values, zeros)
    if not free.any():
        return
    touched = _touched([innermost_value(each) for each in vectors], values)
    if d_values is not None:
        touched = touched | np.not_equal(innermost_value(d_values), 0)
    alone = values.ndim == 1 and (free.all() or not touched.any())
    if alone or np.any(touched & free):
        _refuse(function, values, free)


def _touched(vectors: Sequence[Any], values: Any) -> Any:
    """Where cotangents of vectors, which stand in columns, are not zero up to rounding."""
    n = values.shape[-1]
    touched = np.zeros(n, bool)
    for each in vectors:
        sizes = np.abs(each[..., :n]).max(-2, initial=0)
        touched = touched | (sizes > tolerance(each) * sizes.max(-1, keepdims=True, initial=0))
    return touched


def tolerance(x: Any) -> float:
    """What rounding may leave of a cotangent of 0, relative to its largest element.

    >>> tolerance(np.ones(1)), tolerance(np.ones(1, np.float32))
    (1e-08, 0.0001)
    """
    return _NOTHING if np.finfo(x.dtype).eps < 1e-10 else 1e-4


def refuse_order(order: str, function: str, a: Any, values: Any, zeros: bool = False) -> None:
    """Raise GradientError if ``a`` is a tensor and values repeat, or with ``zeros`` are 0: that derivative is then asked for."""
    if type(a) is Tensor and (free := undetermined(values, zeros)).any():
        kind = "singular values" if function == "svdvals" else "eigenvalues"
        equal = "repeat or are zero" if zeros else "repeat"
        raise GradientError(
            f"{function}: the {kind} {_spelled(values, free)} {equal}; the {order} derivative of a function of them cannot be"
            " found from the decomposition, lower ones can. Write the function of the matrix by products (a trace of powers,"
            " slogdet, inv), or move the matrix so that the values differ"
        )


def refuse_phase(function: str, turned: Any, cotangent: Any) -> None:
    """Raise GradientError if the result depends on the phase of complex vectors, which is free.

    ``turned`` holds for each vector the sum of its elements times their cotangents, which is imaginary along a turn of phase.
    """
    plain = innermost_value(turned)
    if not np.iscomplexobj(plain):
        return
    size = np.abs(innermost_value(cotangent)).max((-2, -1), initial=0)
    if np.any(np.abs(plain.imag) > tolerance(plain) * size[..., None]):
        raise GradientError(
            f"{function}: the result depends on the phase of complex vectors, which is free (any factor exp(1j * t) gives vectors"
            " again) and has no derivative; use the vectors in products that do not depend on it, such as v * conj(v)"
        )


def refuse_turned(function: str, values: Any, change: Any) -> None:
    """Raise GradientError if a change of vectors has NaN, which stands for those that are free to turn: they are used."""
    if np.isnan(change).any():
        _refuse(function, values, undetermined(values, zeros=function == "svd"))


def refuse_completed(values: Any, cotangent: Any) -> None:
    """Raise GradientError if vectors that complete a basis are used beside a singular value 0, whose vectors are among them."""
    zero = values <= rounding(values)
    if np.any(zero.any(-1) & (np.abs(innermost_value(cotangent)).max((-2, -1), initial=0) > 0)):
        _refuse("svd", values, zero)


def refuse_rotation(function: str, what: str, vectors: Any, cotangent: Any) -> None:
    """Raise GradientError if the result depends on the choice of vectors that only complete a basis."""
    if not vectors.shape[-1]:
        return
    turned = innermost_value(vectors.mT @ cotangent)
    away = np.abs(turned - np.conj(turned.mT)).max((-2, -1), initial=0)
    if np.any(away > tolerance(turned) * np.abs(innermost_value(cotangent)).max((-2, -1), initial=0)):
        raise GradientError(
            f"{function}: the result depends on {what}, which may be any basis of what is orthogonal to the others and have no"
            " derivative; use them in products that any such basis gives, or ask for the reduced form, without them"
        )


def refuse_defective(function: str, values: Any, vectors: Any) -> None:
    """Raise GradientError if a matrix has no basis of eigenvectors: its eigenvalues move by roots of a change."""
    if not vectors.size:
        return
    smallest = np.linalg.svd(vectors, compute_uv=False)[..., -1]
    low = np.atleast_1d(smallest < 1e4 * np.finfo(smallest.dtype).eps)
    if low.any():
        row = np.reshape(values, (-1, values.shape[-1]))[np.flatnonzero(low)[0]]
        raise GradientError(
            f"{function}: a matrix with the eigenvalues {np.array2string(row, precision=6)} has no basis of eigenvectors (it is"
            " defective), so that they have no derivative; use the trace, det, or products of the matrix for what is smooth"
        )
