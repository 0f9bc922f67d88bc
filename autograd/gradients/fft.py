"""Gradients of the discrete Fourier transforms along one axis. All are linear.

With w = exp(-2 pi i / n), the matrix of ``fft`` has the entries w^(jk) and is symmetric: its transpose is itself, with the same
scale, and the same holds for ``ifft``. What ``n`` cuts off gets the gradient 0, and what it adds is dropped.

``rfft`` holds the first n//2 + 1 rows of that matrix, so the gradient of real x_k is the real part of sum_j dy_j w^(jk).
``irfft`` gives the real part of sum_j m_j z_j w^(-jk) / n over the same rows, where m is 1 for the first row and, if n is even,
the last one, which are their own mirror images, and 2 for all others; so the gradient of z_j is m_j / n times
sum_k dy_k w^(-jk). Each is the other one, with conjugates and m.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.lib.array_utils import normalize_axis_index

from autograd import operators as op
from registry.gradients import gradient

_OTHER_SCALE = {None: "forward", "backward": "forward", "ortho": "ortho", "forward": "backward"}
"""The norm under which the transform in the other direction has the same factor."""


def _own_transpose(name: str) -> Callable[..., Any]:
    """The rule of a transform whose matrix is symmetric."""

    def rule(dy, saved, attrs):
        (a,) = saved
        axis = normalize_axis_index(attrs["axis"], len(a.shape)) - len(a.shape)

        def da():
            transform = getattr(op, name)
            return _fitted(transform(dy, n=attrs["n"], axis=axis, norm=attrs["norm"]), a.shape[axis], axis)

        return {"a": da}

    return rule


gradient("fft", infos_to_save=("a",), linear=("a",))(_own_transpose("fft"))
gradient("ifft", infos_to_save=("a",), linear=("a",))(_own_transpose("ifft"))


@gradient("rfft", infos_to_save=("a",), linear=("a",))
def rfft(dy, saved, attrs):
    (a,) = saved

    def da():
        axis = normalize_axis_index(attrs["axis"], len(a.shape)) - len(a.shape)
        n = a.shape[axis] if attrs["n"] is None else attrs["n"]
        folded = op.conjugate(op.divide(dy, _mirrored(n, axis, dy.dtype)))
        g = op.irfft(folded, n=n, axis=axis, norm=_OTHER_SCALE[attrs["norm"]])
        return _fitted(g, a.shape[axis], axis)

    return {"a": da}


@gradient("irfft", infos_to_save=("a",), linear=("a",))
def irfft(dy, saved, attrs):
    (a,) = saved

    def da():
        axis = normalize_axis_index(attrs["axis"], len(a.shape)) - len(a.shape)
        n = 2 * (a.shape[axis] - 1) if attrs["n"] is None else attrs["n"]
        rows = op.conjugate(op.rfft(dy, n=n, axis=axis, norm=_OTHER_SCALE[attrs["norm"]]))
        return _fitted(op.multiply(rows, _mirrored(n, axis, rows.dtype)), a.shape[axis], axis)

    return {"a": da}


def _mirrored(n: int, axis: int, dtype: Any) -> Any:
    """How many of the n rows of the whole transform each row of the half one stands for, along an axis from the end."""
    times = np.full(n // 2 + 1, 2, np.empty(0, dtype).real.dtype)
    times[0] = 1
    if n % 2 == 0:
        times[-1] = 1
    return times.reshape((-1,) + (1,) * (-axis - 1))


def _fitted(g: Any, length: int, axis: int) -> Any:
    """``g`` cut or filled with zeros to a length along an axis from the end."""
    now = g.shape[axis]
    if now == length:
        return g
    if now > length:
        return op.getitem(g, index=(..., slice(0, length), *(slice(None),) * (-axis - 1)))
    widths = [(0, 0)] * g.ndim
    widths[axis] = (0, length - now)
    return op.pad(g, pad_width=tuple(widths))
