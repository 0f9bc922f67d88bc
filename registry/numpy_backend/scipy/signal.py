"""Convolution along any number of axes, with sums over others.

The operator takes ``x1[p, d, ...]`` and ``x2[q, d, ...]``, and returns ``y[p, q, ...]``: convolved along the last axes, summed
over d. Its gradients are the same operator.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from scipy import fft, signal

from registry.declare import operator

Array = np.ndarray[Any, Any]

_WINDOWS = 2**21
"""Elements of the windows of an array from which Fourier transforms are faster than a product with all of them."""


def _convolve(x1: Any, x2: Any, mode: str, method: str) -> Any:
    x1, x2 = np.asarray(x1), np.asarray(x2)
    if x1.shape[:2] == (1, 1) == x2.shape[:2]:
        y = signal.convolve(x1[0, 0], x2[0, 0], mode, method)
        return y.astype(np.result_type(x1, x2), copy=False)[None, None]
    steps, kernel = _steps(x1, x2, mode), x2.shape[2:]
    if method == "auto":
        method = "fft" if math.prod(x1.shape[:2] + steps + kernel) > _WINDOWS else "direct"
    return _by_fourier(x1, x2, mode) if method == "fft" else _by_windows(x1, x2, mode)


def _steps(x1: Array, x2: Array, mode: str) -> tuple[int, ...]:
    sign = 1 if mode == "full" else -1
    return tuple(n + sign * (k - 1) for n, k in zip(x1.shape[2:], x2.shape[2:], strict=True))


def _by_windows(x1: Array, x2: Array, mode: str) -> Array:
    kernel = x2.shape[2:]
    if mode == "full":
        x1 = np.pad(x1, [(0, 0), (0, 0), *[(k - 1, k - 1) for k in kernel]])
    axes = tuple(range(2, x1.ndim))
    view: Any = sliding_window_view  # NumPy 2.0's stubs know one axis alone
    windows = view(x1, kernel, axes)
    summed = [1, *range(x1.ndim, windows.ndim)]
    y = np.tensordot(np.flip(x2, axes), windows, ([1, *axes], summed))
    return np.swapaxes(y, 0, 1)


def _by_fourier(x1: Array, x2: Array, mode: str) -> Array:
    axes = tuple(range(2, x1.ndim))
    whole = tuple(n + k - 1 for n, k in zip(x1.shape[2:], x2.shape[2:], strict=True))
    is_complex = np.iscomplexobj(x1) or np.iscomplexobj(x2)
    size = tuple(fft.next_fast_len(each, not is_complex) for each in whole)
    forward, backward = (fft.fftn, fft.ifftn) if is_complex else (fft.rfftn, fft.irfftn)
    product = np.einsum("pd...,qd...->pq...", forward(x1, size, axes), forward(x2, size, axes))
    y = backward(product, size, axes)
    starts = [0 if mode == "full" else k - 1 for k in x2.shape[2:]]
    places = tuple(slice(start, start + steps) for start, steps in zip(starts, _steps(x1, x2, mode), strict=True))
    return np.ascontiguousarray(y[(..., *places)]).astype(np.result_type(x1, x2), copy=False)


operator("scipy_convolve(Tensor x1, Tensor x2, *, str mode='full', str method='auto') -> Tensor", _convolve)
