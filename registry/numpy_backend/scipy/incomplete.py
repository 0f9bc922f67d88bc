"""Incomplete gamma and beta functions, the distribution function of Student's t, their inverses, and parameter derivatives.

``gammainc_derivative`` and its like are the derivatives in the parameters (``a``, ``b``, ``df``), which SciPy does not have.
"""

from __future__ import annotations

from collections.abc import Callable
from math import factorial
from typing import Any

import numpy as np
from scipy import special

from registry.declare import operator
from registry.numpy_backend.scipy.densities import Array, density_ratio, tail_mean

_ROWS = 4096
"""Elements whose quadrature nodes are in memory at a time."""

operator("gammainc(Tensor a, Tensor x) -> Tensor", special.gammainc)
operator("gammaincc(Tensor a, Tensor x) -> Tensor", special.gammaincc)
operator("gammaincinv(Tensor a, Tensor y) -> Tensor", special.gammaincinv)
operator("gammainccinv(Tensor a, Tensor y) -> Tensor", special.gammainccinv)
operator("betainc(Tensor a, Tensor b, Tensor x) -> Tensor", special.betainc)
operator("betaincc(Tensor a, Tensor b, Tensor x) -> Tensor", special.betaincc)
operator("betaincinv(Tensor a, Tensor b, Tensor y) -> Tensor", special.betaincinv)
operator("betainccinv(Tensor a, Tensor b, Tensor y) -> Tensor", special.betainccinv)
operator("stdtr(Tensor df, Tensor t) -> Tensor", special.stdtr)
operator("stdtrit(Tensor df, Tensor p) -> Tensor", special.stdtrit)


def _in_rows(function: Callable[..., Any], *inputs: Any) -> Any:
    """``function`` of broadcast, flattened double arrays, a few thousand elements at a time; the dtype is that of the inputs."""
    arrays = np.broadcast_arrays(*inputs)
    flat = [np.asarray(each, float).reshape(-1) for each in arrays]
    y = np.empty(flat[0].size)
    with np.errstate(all="ignore"):
        for start in range(0, y.size, _ROWS):
            y[start : start + _ROWS] = function(*[each[start : start + _ROWS] for each in flat])
    dtype = np.result_type(*inputs)
    return y.reshape(arrays[0].shape).astype(dtype if dtype == np.float32 else np.float64, copy=False)[()]


def _piecewise(function: Callable[..., Any], where: Array, y: Array, *inputs: Array) -> None:
    """Write ``function`` of the chosen elements, as columns, into ``y``."""
    if where.any():
        y[where] = function(*[each[where][:, None] for each in inputs])


# -------------------------------------------------------------------------------------------------- gamma


def _gammainc_derivative(a: Any, x: Any, order: int) -> Any:
    def rows(a: Array, x: Array) -> Array:
        y = np.where(np.isnan(a) | np.isnan(x) | (a <= 0) | (x < 0), np.nan, 0.0)
        inside = (a > 0) & (x > 0) & (a < np.inf) & (x < np.inf)
        _piecewise(lower, inside & (x <= a), y, a, x)
        _piecewise(upper, inside & (x > a), y, a, x)
        return y

    def score(a: Array, log_t: Array) -> Any:
        return density_ratio(lambda k, _: log_t - special.psi(a) if k == 1 else -special.polygamma(k - 1, a), order)

    def lower(a: Array, x: Array) -> Array:
        mean = tail_mean(lambda v: a * v + x * np.expm1(-v), lambda v: score(a, np.log(x) - v), len(a))
        return _times(special.gammainc(a, x)[:, 0], mean)

    def upper(a: Array, x: Array) -> Array:
        mean = tail_mean(lambda v: x * np.expm1(v) - a * v, lambda v: score(a, np.log(x) + v), len(a))
        return _times(-special.gammaincc(a, x)[:, 0], mean)

    return _in_rows(rows, a, x)


def _times(probability: Any, mean: Array) -> Array:
    """The product, which is 0 where the probability is, far beyond the range of numbers."""
    return np.where(probability == 0, 0.0, probability * mean)


# -------------------------------------------------------------------------------------------------- beta


def _beta_drop(a: Array, b: Array, x: Array) -> tuple[Callable[[Array], Array], Callable[[Array], Array]]:
    """How ``a log t + b log(1 - t)`` falls from ``t = x`` to where the logit of ``t`` is ``v`` less; and ``log D(v)``.

    With ``D = 1 - x + x exp(-v)`` there, ``log t = log x - v - log D`` and ``log(1 - t) = log(1 - x) - log D``.
    """

    def log_d(v: Array) -> Array:
        fall = x * np.expm1(-v)
        y: Array = np.where(fall < -0.5, np.log((1 - x) + x * np.exp(-v)), np.log1p(np.maximum(fall, -0.5)))
        return y

    return lambda v: a * v + (a + b) * log_d(v), log_d


def _betainc_derivative(a: Any, b: Any, x: Any, order_a: int, order_b: int) -> Any:
    def rows(a: Array, b: Array, x: Array) -> Array:
        y = np.where(np.isnan(a) | np.isnan(b) | (a <= 0) | (b <= 0) | ~((x >= 0) & (x <= 1)), np.nan, 0.0)
        inside = (a > 0) & (b > 0) & (a < np.inf) & (b < np.inf) & (x > 0) & (x < 1)
        below = x * (a + b) <= a
        _piecewise(lambda a, b, x: part(a, b, x, order_a, order_b), inside & below, y, a, b, x)
        _piecewise(lambda a, b, x: -part(b, a, 1 - x, order_b, order_a), inside & ~below, y, a, b, x)
        return y

    def part(a: Array, b: Array, x: Array, i: int, j: int) -> Array:
        drop, log_d = _beta_drop(a, b, x)

        def score(v: Array) -> Any:
            of_d = log_d(v)

            def log_derivative(k: int, m: int) -> Any:
                common = special.polygamma(k + m - 1, a + b)
                if k and m:
                    return common
                if k:
                    return common - special.polygamma(k - 1, a) + (np.log(x) - v - of_d if k == 1 else 0.0)
                return common - special.polygamma(m - 1, b) + (np.log1p(-x) - of_d if m == 1 else 0.0)

            return density_ratio(log_derivative, i, j)

        return _times(special.betainc(a, b, x)[:, 0], tail_mean(drop, score, len(a)))

    return _in_rows(rows, a, b, x)


# -------------------------------------------------------------------------------------------------- Student's t


def log_t_derivative(order: int, df: Any, growth: Any, of_gammas: Any, expm1: Callable[[Any], Any]) -> Any:
    """The derivative of the logarithm of Student's density in ``df``, where ``growth`` is ``log(1 + t ** 2 / df)``.

    That logarithm is ``log G((df + 1) / 2) - log G(df / 2) - log(df) / 2 - (df + 1) / 2 * growth``; ``of_gammas`` is the
    derivative of the first three terms. ``expm1`` is given, so that arrays and tensors will do.
    """

    def bend(k: int) -> Any:
        """The derivative of order k of the growth in df."""
        return expm1(-float(k) * growth) * ((-1.0) ** (k - 1) * factorial(k - 1)) / df ** float(k) if k else growth

    return of_gammas - (df + 1.0) / 2.0 * bend(order) - order / 2.0 * bend(order - 1)


STIRLING = {1: -1 / 4, 3: 1 / 24, 5: -1 / 20, 7: 17 / 112, 9: -31 / 36}
"""``log G((n + 1) / 2) - log G(n / 2) - log(n / 2) / 2`` in powers of ``1 / n`` (from DLMF 5.11.8)."""

STIRLING_FROM = 50.0
"""Degrees of freedom from which the series is right to the last digit, while the terms that it stands for cancel."""


def _of_gammas(order: int, df: Array) -> Array:
    """The derivative of ``log G((df + 1) / 2) - log G(df / 2) - log(df) / 2``, by its series where the terms would cancel."""
    n = order
    exact = (special.polygamma(n - 1, (df + 1) / 2) - special.polygamma(n - 1, df / 2)) / 2.0**n
    exact = exact + (-1.0) ** n * factorial(n - 1) / 2 / df**n
    chosen: Array = np.where(df > STIRLING_FROM, stirling_derivative(n, np.maximum(df, 1.0)), exact)
    return chosen


def stirling_derivative(order: int, df: Any) -> Any:
    """The derivative of ``STIRLING``, which is the series itself for order 0; tensors will do.

    >>> round(stirling_derivative(0, 100.0), 12), round(stirling_derivative(1, 100.0), 12)
    (-0.002499958338, 2.499875e-05)
    """
    total: Any = 0.0
    for k, c in STIRLING.items():
        total = total + c * (-1.0) ** order * factorial(k + order - 1) / factorial(k - 1) / df ** float(k + order)
    return total


def _stdtr_derivative(df: Any, t: Any, order: int) -> Any:
    def rows(df: Array, t: Array) -> Array:
        y = np.where(np.isnan(df) | np.isnan(t) | (df <= 0), np.nan, 0.0)
        inside = (df > 0) & (df < np.inf) & (t != 0) & np.isfinite(t)
        central = t * t <= 1
        _piecewise(within, inside & central, y, df, t)
        _piecewise(beyond, inside & ~central, y, df, t)
        return y

    def mean(df: Array, odds: Array, side: float) -> Array:
        a, b, x = (0.5 * np.ones_like(df), df / 2, odds / (1 + odds))
        if side > 0:
            a, b, x = b, a, 1 / (1 + odds)
        drop, _ = _beta_drop(a, b, x)

        def score(v: Array) -> Any:
            growth = np.logaddexp(0, np.log(odds) + side * v)
            return density_ratio(lambda k, _: log_t_derivative(k, df, growth, _of_gammas(k, df), np.expm1), order)

        return tail_mean(drop, score, len(df))

    def within(df: Array, t: Array) -> Array:
        share = special.betainc(0.5, df / 2, t * t / (df + t * t))
        return _times((np.sign(t) * share / 2)[:, 0], mean(df, t * t / df, -1.0))

    def beyond(df: Array, t: Array) -> Array:
        return _times((-np.sign(t) * special.stdtr(df, -np.abs(t)))[:, 0], mean(df, t * t / df, 1.0))

    return _in_rows(rows, df, t)


operator("gammainc_derivative(Tensor a, Tensor x, *, int order) -> Tensor", _gammainc_derivative)
operator("betainc_derivative(Tensor a, Tensor b, Tensor x, *, int order_a, int order_b) -> Tensor", _betainc_derivative)
operator("stdtr_derivative(Tensor df, Tensor t, *, int order) -> Tensor", _stdtr_derivative)
