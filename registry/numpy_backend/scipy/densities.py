"""Derivatives of a distribution function in the parameters of its density, to any order and to the last digits.

With ``p`` the density, the derivative of ``P = integral of p`` is the integral of ``p * H``, where ``H`` is the derivative of
``p`` divided by ``p``: a polynomial in the derivatives of ``log p``. It is ``P`` times the mean of ``H`` over the tail. A mean
needs no normalising constant, and both tails have one, so nothing cancels: the shorter tail is taken.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from math import comb
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]

_NODES = 64
_DROP = 45.0
"""Nats below its start at which a tail is cut: ``exp(-45)`` is 3e-20."""

_PANEL = 40.0
"""How far one rule of Gauss goes, in logarithms of the variable: what follows is a plain exponential, for another."""


def density_ratio(log_derivative: Callable[[int, int], Any], i: int, j: int = 0) -> Any:
    """The derivative of order ``(i, j)`` of a density in two parameters, divided by the density.

    ``log_derivative(k, l)`` is that of its logarithm. This is the complete Bell polynomial, by its recurrence (Comtet, Advanced
    Combinatorics, 1974, section 3.3); it only adds and multiplies, so tensors will do.

    >>> density_ratio(lambda k, l: {1: 3.0, 2: -1.0}[k], 2)  # p'' / p = (log p)'' + (log p)' ** 2
    8.0
    """
    if not i and not j:
        return 1.0
    total: Any = 0.0
    if i:
        for k in range(i):
            for m in range(j + 1):
                part = log_derivative(k + 1, m) * density_ratio(log_derivative, i - 1 - k, j - m)
                total = total + float(comb(i - 1, k) * comb(j, m)) * part
        return total
    for m in range(j):
        part = log_derivative(0, m + 1) * density_ratio(log_derivative, 0, j - 1 - m)
        total = total + float(comb(j - 1, m)) * part
    return total


@cache
def _gauss() -> tuple[Array, Array]:
    rule: Any = np.polynomial.legendre.leggauss  # NumPy 2.0's stubs do not type it
    nodes, weights = rule(_NODES)
    return (nodes + 1) / 2, weights / 2


def tail_mean(drop: Callable[[Array], Array], score: Callable[[Array], Any], size: int) -> Array:
    """The mean of ``score(v)`` over ``v > 0`` with the weight ``exp(-drop(v))``, in each of ``size`` rows.

    ``drop`` is convex and increasing from 0. Both functions take ``v`` as a matrix, one row for each mean.

    >>> tail_mean(lambda v: v, lambda v: v, 1)  # the mean of an exponential variable
    array([1.])
    """
    end = _end(drop, size)
    first = np.minimum(end, _PANEL)
    nodes, weights = _gauss()
    total, weight = np.zeros(size), np.zeros(size)
    for start, stop in ((np.zeros_like(end), first), (first, end)):
        length = stop - start
        if length.any():
            v = start + length * nodes
            mass = np.exp(-drop(v)) * weights * length
            total += np.sum(mass * score(v), axis=1)
            weight += np.sum(mass, axis=1)
    return total / weight


def _end(drop: Callable[[Array], Array], size: int) -> Array:
    """Where ``drop`` reaches its cut, by doubling, halving and four bisections: a little further does no harm."""
    end = np.ones((size, 1))
    for _ in range(1100):
        short = drop(end) < _DROP
        if not short.any():
            break
        end[short] *= 2
    for _ in range(1100):
        long = drop(end / 2) >= _DROP
        if not long.any():
            break
        end[long] /= 2
    low = end / 2
    for _ in range(4):
        middle = (low + end) / 2
        enough = drop(middle) >= _DROP
        end, low = np.where(enough, middle, end), np.where(enough, low, middle)
    return end
