"""SciPy's convolutions over tensors: ``import autograd.scipy.signal as signal``."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as _np
import scipy.signal as _signal

from autograd import operators as op
from autograd.gradients.scipy import signal as _rules  # noqa: F401  # operators and rules come first
from autograd.scipy.fallback import as_array, holds_tensors, without_tensors
from autograd.tensor import Tensor

__all__ = ["convolve", "correlate", "fftconvolve"]


def convolve(
    in1: Any,
    in2: Any,
    *args: Any,
    mode: str = "full",
    method: str = "auto",
    axes: Sequence[Sequence[int]] | None = None,
    dot_axes: Sequence[Sequence[int]] = ((), ()),
) -> Any:
    """``scipy.signal.convolve``; with ``axes`` only along those axes of the two, and summed over the pairs of ``dot_axes``.

    The axes of the result are then those of ``in1`` that are left, those of ``in2`` that are left, and the convolved ones. By
    position, ``mode, method`` may follow the two, as SciPy has it, or ``axes, dot_axes, mode``, as HIPS autograd has it.

    Raises ValueError where axes do not fit, or ``mode="valid"`` finds neither factor larger along all axes.

    >>> convolve([1.0, 2.0], [1.0, 10.0])
    array([ 1., 12., 20.])
    >>> convolve(_np.ones((2, 3, 5)), _np.ones((4, 3, 2)), axes=([2], [2]), dot_axes=([1], [1]), mode="valid").shape
    (2, 4, 4)
    """
    if args and isinstance(args[0], str):
        mode, method = (*args, method)[:2]
    elif args:
        given: list[Any] = [*args, *[axes, dot_axes, mode][len(args) :]]
        axes, dot_axes, mode = given
    alone = axes is None and not any(len(each) for each in dot_axes)
    if alone and not holds_tensors(in1, in2):
        return _signal.convolve(in1, in2, mode, method)
    if mode not in ("full", "same", "valid"):
        raise ValueError(f"convolve: got mode {mode!r}, expected 'full', 'same' or 'valid'")
    in1, in2 = _array(in1), _array(in2)
    if not in1.shape and not in2.shape:
        return op.multiply(in1, in2)
    conv, dots = _axes(in1, in2, axes, dot_axes)
    (first, left1), (second, left2) = (_arranged(x, conv[n], dots[n]) for n, x in enumerate((in1, in2)))
    y = _canonical(first, second, mode, method)
    return op.reshape(y, shape=(*left1, *left2, *y.shape[2:]))


def correlate(in1: Any, in2: Any, mode: str = "full", method: str = "auto") -> Any:
    """``scipy.signal.correlate``: the convolution with ``in2`` reversed and conjugated.

    >>> correlate([1.0, 2.0, 3.0], [0.0, 1.0], mode="valid")
    array([2., 3.])
    """
    if not holds_tensors(in1, in2):
        return _signal.correlate(in1, in2, mode, method)
    return convolve(in1, op.conjugate(op.flip(_array(in2), axis=None)), mode, method)


def fftconvolve(in1: Any, in2: Any, mode: str = "full", axes: Any = None) -> Any:
    """``scipy.signal.fftconvolve``: ``convolve`` by Fourier transforms; ``axes`` are for plain arrays.

    >>> fftconvolve([1.0, 2.0], [1.0, 10.0]).round(12)
    array([ 1., 12., 20.])
    """
    if axes is not None or not holds_tensors(in1, in2):
        return without_tensors(_signal.fftconvolve, "scipy.signal.fftconvolve(axes=...)")(in1, in2, mode, axes)
    return convolve(in1, in2, mode, "fft")


def _array(x: Any) -> Any:
    x = as_array("convolve", x)
    return x if type(x) is Tensor else _np.asarray(x)


def _axes(in1: Any, in2: Any, axes: Any, dot_axes: Any) -> tuple[list[list[int]], list[list[int]]]:
    """The convolved and the summed axes of both, as non-negative numbers."""
    ndims = (len(in1.shape), len(in2.shape))
    if axes is None:
        axes = [range(ndims[0]), range(ndims[1])]
    conv, dots = ([[int(axis) % ndims[n] for axis in given[n]] for n in (0, 1)] for given in (axes, dot_axes))
    for what, (one, other) in (("axes", conv), ("dot_axes", dots)):
        if len(one) != len(other):
            raise ValueError(f"convolve: got {what} {one} of in1 and {other} of in2, expected equally many")
    for one, other in zip(*dots, strict=True):
        if in1.shape[one] != in2.shape[other]:
            raise ValueError(f"convolve: summed axes have lengths {in1.shape[one]} and {in2.shape[other]}, expected equal ones")
    return conv, dots


def _arranged(x: Any, conv: list[int], dots: list[int]) -> tuple[Any, tuple[int, ...]]:
    """``x`` with its axes in three groups, those left over as one, the summed as one, the convolved; and lengths of the first."""
    left = [axis for axis in range(len(x.shape)) if axis not in conv and axis not in dots]
    order = [*left, *dots, *conv]
    if order != sorted(order):
        x = op.transpose(x, axes=order)
    shape, n, m = x.shape, len(left), len(left) + len(dots)
    return op.reshape(x, shape=(math.prod(shape[:n]), math.prod(shape[n:m]), *shape[m:])), shape[:n]


def _canonical(first: Any, second: Any, mode: str, method: str) -> Any:
    lengths1, lengths2 = first.shape[2:], second.shape[2:]
    if mode == "valid" and any(one < other for one, other in zip(lengths1, lengths2, strict=True)):
        if any(one > other for one, other in zip(lengths1, lengths2, strict=True)):
            raise ValueError(
                f"convolve: mode 'valid' got lengths {lengths1} and {lengths2}, expected one to be as large along all axes"
            )
        return op.swapaxes(op.scipy_convolve(second, first, mode="valid", method=method), axis1=0, axis2=1)
    y = op.scipy_convolve(first, second, mode="valid" if mode == "valid" else "full", method=method)
    if mode == "same":
        middle = [slice((k - 1) // 2, (k - 1) // 2 + n) for n, k in zip(lengths1, lengths2, strict=True)]
        y = op.getitem(y, index=(slice(None), slice(None), *middle))
    return y


def __getattr__(name: str) -> Any:
    return without_tensors(getattr(_signal, name), f"scipy.signal.{name}")
