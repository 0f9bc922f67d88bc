"""The gradient of the roots of a polynomial.

p(r) = 0 holds at a root r for all coefficients, so dr/dp_j = -r^(n-j) / p'(r) by the implicit function theorem (n is the degree,
p_0 the first coefficient). A multiple root has p'(r) = 0: it moves like a fractional power of the coefficients, and has no
derivative.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from autograd import operators as op
from autograd.errors import GradientError
from autograd.tensor import innermost_value
from registry.gradients import gradient

_FEW_ERRORS = 8.0
"""Roots are equal, as far as can be known, if they lie closer together than this many times their own rounding errors."""


@gradient("roots", inputs_to_save=("p",), outputs_to_save=True)
def roots(dy, saved, attrs):
    p, r = saved

    def dp():
        length = np.shape(innermost_value(p))[0]
        degrees = np.arange(length - 1, 0, -1).astype(p.dtype)
        if not np.shape(innermost_value(r))[0]:
            return op.zeros(shape=(*dy.shape[:-1], length), dtype=dy.dtype)
        _refuse_multiple_roots(np.asarray(innermost_value(p)), np.asarray(innermost_value(r)), innermost_value(dy))
        powers = [r * 0 + 1]
        for _ in range(length - 1):
            powers.append(powers[-1] * r)
        rows = op.stack(powers[::-1], axis=0)  # row j holds r^(n-j)
        slopes = op.matmul(p[:-1] * degrees, rows[1:])
        return op.matmul(op.divide(op.negative(dy), slopes), op.transpose(rows))

    return {"p": dp}


def _refuse_multiple_roots(p: Any, r: Any, dy: Any) -> None:
    """Raise GradientError if the gradient in a multiple root is asked for.

    A root is known up to eps * sum |p_j r^(n-j)| / |p'(r)|, the change that rounding the coefficients makes. For a computed
    double root that estimate is as large as the distance to its twin.
    """
    eps = np.finfo(r.dtype).eps
    with np.errstate(all="ignore"):
        slopes = np.abs(np.polyval(np.polyder(p), r))
        errors = _FEW_ERRORS * eps * np.polyval(np.abs(p), np.abs(r)) / slopes
    distances = np.abs(r[:, None] - r)
    np.fill_diagonal(distances, np.inf)
    multiple = (slopes == 0) | (distances <= errors[:, None]).any(axis=1)
    asked = multiple & (np.asarray(dy) != 0).reshape(-1, r.size).any(axis=0)
    if asked.any():
        raise GradientError(
            f"roots: the gradient was asked for at the multiple roots {r[asked].tolist()}, which have no derivative in the"
            " coefficients; symmetric functions of all roots are coefficients themselves: their sum is -p[1] / p[0]"
        )
