"""Functions that NumPy does not have, in forms that neither overflow nor lose digits."""

from typing import Any

import numpy as np

from registry.declare import operator


def _sigmoid(x: Any) -> Any:
    """``1 / (1 + exp(-x))``; where the power overflows, the quotient is rightly 0."""
    with np.errstate(over="ignore"):
        y = np.exp(np.multiply(x, -1.0))  # not np.negative, which wraps around for unsigned integers
    y += 1.0
    return np.reciprocal(y)


def _relu(x: Any) -> Any:
    return np.maximum(x, 0)


def _softplus(x: Any) -> Any:
    """``log(1 + exp(x))``; ``np.logaddexp(x, 0)`` is the same and takes three times as long."""
    return np.maximum(x, 0) + np.log1p(np.exp(np.abs(x) * -1.0))


operator("sigmoid(Tensor x) -> Tensor", _sigmoid)
operator("relu(Tensor x) -> Tensor", _relu)
operator("softplus(Tensor x) -> Tensor", _softplus)


def _bessel_i(x: Any, order: int) -> Any:
    """The modified Bessel function of the first kind, of whole order.

    It is the mean of ``exp(x cos t) cos(order t)`` over a circle. For functions of period 2 pi the mean over equally spaced
    points converges faster than any power: what it misses is the function of order ``n_points``, below the rounding error.
    """
    if order == 0:
        return np.i0(x)
    x = np.asarray(x, np.result_type(x, 0.0))
    largest = min(float(np.max(np.abs(x), initial=0.0, where=np.isfinite(x))), 720.0)  # beyond it the result is infinite
    n_points = int(24 + abs(order) + np.sqrt(80.0 * largest))
    angles = 2.0 * np.pi / n_points * np.arange(n_points)
    wide, cosines = np.abs(x).astype(np.float64), np.cos(angles)
    with np.errstate(over="ignore", invalid="ignore"):
        scaled = np.exp(wide[..., None] * (cosines - 1.0))
        small = wide < 1.0  # there the 1 in exp(x cos t) hides the digits of a result near 0, to which it adds nothing
        scaled[small] = np.expm1(wide[small][..., None] * cosines) * np.exp(-wide[small])[..., None]
        mean = np.mean(scaled * np.cos(order * angles), axis=-1)
        half = np.exp(0.5 * wide)  # in two steps, for exp(712) overflows and the result there does not
        y = half * mean * half
    odd = np.sign(x) if order % 2 else 1.0
    return (odd * np.where(np.isinf(x), np.inf, y)).astype(x.dtype)[()]


operator("bessel_i(Tensor x, *, int order=0) -> Tensor", _bessel_i)
