"""Initial values of parameters: functions ``(shape, rng, dtype)`` that draw from an explicit generator.

The *fans* of a weight are how many inputs reach one output and how many outputs one input reaches: ``(n_in, n_out)`` for a matrix
``(n_in, n_out)``; for the weight ``(n_out, n_in, *window)`` of a convolution each of the two times the size of the window.
A complex dtype gets half of the variance in each part. To change a setting use ``functools.partial(he_normal, gain=1.0)``.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]

Initialiser = Callable[[tuple[int, ...], np.random.Generator, Any], Array]
"""``(shape, rng, dtype) -> array``."""


def fans(shape: tuple[int, ...]) -> tuple[int, int]:
    """``(fan_in, fan_out)`` of a weight; raises ValueError for fewer than two axes.

    >>> fans((3, 5)), fans((8, 2, 3, 3))
    ((3, 5), (18, 72))
    """
    if len(shape) < 2:
        raise ValueError(f"fans: got shape {shape}, expected at least two axes: a vector has no inputs and outputs")
    if len(shape) == 2:
        return shape[0], shape[1]
    window = math.prod(shape[2:])
    return shape[1] * window, shape[0] * window


def glorot_uniform(shape: tuple[int, ...], rng: np.random.Generator, dtype: Any = np.float64, *, gain: float = 1.0) -> Array:
    """Uniform in ``+-gain * sqrt(6 / (fan_in + fan_out))`` (Glorot and Bengio, 2010).

    >>> bool(abs(glorot_uniform((3, 3), np.random.default_rng(0))).max() <= 1.0)
    True
    """
    return _uniform(shape, rng, dtype, gain * math.sqrt(6 / max(1, sum(fans(shape)))))


def glorot_normal(shape: tuple[int, ...], rng: np.random.Generator, dtype: Any = np.float64, *, gain: float = 1.0) -> Array:
    """Normal with standard deviation ``gain * sqrt(2 / (fan_in + fan_out))`` (Glorot and Bengio, 2010).

    >>> glorot_normal((2, 3), np.random.default_rng(0)).shape
    (2, 3)
    """
    return _normal(shape, rng, dtype, gain * math.sqrt(2 / max(1, sum(fans(shape)))))


def he_uniform(shape: tuple[int, ...], rng: np.random.Generator, dtype: Any = np.float64, *, gain: float = math.sqrt(2)) -> Array:
    """Uniform in ``+-gain * sqrt(3 / fan_in)`` (He and others, 2015); the gain of sqrt(2) is that for relu.

    >>> bool(abs(he_uniform((6, 3), np.random.default_rng(0))).max() <= 1.0)
    True
    """
    return _uniform(shape, rng, dtype, gain * math.sqrt(3 / max(1, fans(shape)[0])))


def he_normal(shape: tuple[int, ...], rng: np.random.Generator, dtype: Any = np.float64, *, gain: float = math.sqrt(2)) -> Array:
    """Normal with standard deviation ``gain / sqrt(fan_in)`` (He and others, 2015); the gain of sqrt(2) is that for relu.

    >>> he_normal((2, 3), np.random.default_rng(0), np.float32).dtype
    dtype('float32')
    """
    return _normal(shape, rng, dtype, gain / math.sqrt(max(1, fans(shape)[0])))


def lecun_normal(shape: tuple[int, ...], rng: np.random.Generator, dtype: Any = np.float64) -> Array:
    """Normal with standard deviation ``1 / sqrt(fan_in)`` (LeCun and others, 1998), which selu asks for.

    >>> lecun_normal((2, 3), np.random.default_rng(0)).shape
    (2, 3)
    """
    return he_normal(shape, rng, dtype, gain=1.0)


def normal(
    shape: tuple[int, ...], rng: np.random.Generator, dtype: Any = np.float64, *, mean: float = 0.0, std: float = 1.0
) -> Array:
    """Normal with this mean and standard deviation.

    >>> normal((2,), np.random.default_rng(0), std=0.0)
    array([0., 0.])
    """
    drawn = _normal(shape, rng, dtype, std)
    drawn += mean
    return drawn


def truncated_normal(
    shape: tuple[int, ...],
    rng: np.random.Generator,
    dtype: Any = np.float64,
    *,
    mean: float = 0.0,
    std: float = 1.0,
    limit: float = 2.0,
) -> Array:
    """Normal numbers of which none is more than ``limit`` standard deviations from the mean; others are drawn again.

    ``std`` is that of the normal distribution before it is cut: of the numbers themselves it is 0.88 of that at the limit of 2.
    Raises ValueError for a limit that is not positive, TypeError for a complex dtype.

    >>> bool(abs(truncated_normal((1000,), np.random.default_rng(0))).max() <= 2.0)
    True
    """
    if not limit > 0:
        raise ValueError(f"truncated_normal: got limit={limit!r}, expected a positive number of standard deviations")
    if np.dtype(dtype).kind != "f":
        raise TypeError(f"truncated_normal: got dtype {np.dtype(dtype)}, expected one of floats")
    numbers = np.empty(math.prod(shape))
    wanted = np.arange(numbers.size)
    while wanted.size:
        drawn = rng.standard_normal(wanted.size) if limit >= 0.5 else rng.uniform(-limit, limit, wanted.size)
        kept = np.abs(drawn) <= limit
        if limit < 0.5:  # the normal would be kept too rarely
            kept = rng.random(wanted.size) <= np.exp(-drawn * drawn / 2)
        numbers[wanted[kept]] = drawn[kept]
        wanted = wanted[~kept]
    return (mean + std * numbers).reshape(shape).astype(dtype)


def orthogonal(shape: tuple[int, ...], rng: np.random.Generator, dtype: Any = np.float64, *, gain: float = 1.0) -> Array:
    """``gain`` times a matrix of orthonormal rows or columns, whichever are fewer (Saxe and others, 2014).

    Uniform over all of these. Axes after the first count as one. Raises ValueError for fewer than two axes.

    >>> q = orthogonal((2, 4), np.random.default_rng(0))
    >>> np.allclose(q @ q.T, np.eye(2))
    True
    """
    fans(shape)
    rows, columns = shape[0], math.prod(shape[1:])
    q, r = np.linalg.qr(_normal((max(rows, columns), min(rows, columns)), rng, np.result_type(dtype, np.float64), 1.0))
    corners = np.diagonal(r)
    q = q * (corners / np.abs(corners))  # or the distribution would depend on how qr chooses the signs
    return np.ascontiguousarray(gain * (q if rows >= columns else q.T)).reshape(shape).astype(dtype)


def zeros(shape: tuple[int, ...], rng: Any = None, dtype: Any = np.float64) -> Array:
    """Zeros.

    >>> zeros((2,))
    array([0., 0.])
    """
    return np.zeros(shape, dtype)


def ones(shape: tuple[int, ...], rng: Any = None, dtype: Any = np.float64) -> Array:
    """Ones.

    >>> ones((2,))
    array([1., 1.])
    """
    return np.ones(shape, dtype)


def _uniform(shape: tuple[int, ...], rng: np.random.Generator, dtype: Any, limit: float) -> Array:
    return _drawn(lambda: rng.uniform(-limit, limit, shape), dtype)


def _normal(shape: tuple[int, ...], rng: np.random.Generator, dtype: Any, std: float) -> Array:
    return _drawn(lambda: std * rng.standard_normal(shape), dtype)


def _drawn(draw: Callable[[], Any], dtype: Any) -> Array:
    dtype = np.dtype(dtype)
    if dtype.kind not in "fc":
        raise TypeError(f"initialisers: got dtype {dtype}, expected one of floats or complex numbers")
    drawn: Any = draw() if dtype.kind == "f" else (draw() + 1j * draw()) / math.sqrt(2)
    return np.asarray(drawn).astype(dtype)
