"""NumPy's discrete Fourier transforms over tensors: ``autograd.numpy.fft``.

Transforms along several axes are made of those along one, in NumPy's order. Real inputs get real gradients.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as _numpy
from numpy.lib.array_utils import normalize_axis_index as _normalize_axis_index

from autograd import operators as _op
from autograd.numpy.arguments import as_array as _as_array
from autograd.numpy.following import follows as _follows
from autograd.numpy.shape import roll as _roll
from autograd.tensor import innermost_value as _innermost_value

__all__ = [
    "fft", "fft2", "fftfreq", "fftn", "fftshift", "hfft", "ifft", "ifft2", "ifftn", "ifftshift", "ihfft", "irfft", "irfft2",
    "irfftn", "rfft", "rfft2", "rfftfreq", "rfftn",
]  # fmt: skip
METHODS: tuple[str, ...] = ()

_theirs = _numpy.fft
_OTHER_DIRECTION = {None: "forward", "backward": "forward", "ortho": "ortho", "forward": "backward"}

fftfreq = _theirs.fftfreq
rfftfreq = _theirs.rfftfreq


# -------------------------------------------------------------------------------------------------- one axis


@_follows(_theirs.fft, "a")
def fft(a: Any, n: int | None = None, axis: int = -1, norm: str | None = None, out: Any = None) -> Any:
    """The discrete Fourier transform along an axis, which is cut or filled with zeros to ``n``.

    >>> fft([1.0, 2.0])
    array([ 3.+0.j, -1.+0.j])
    """
    return _op.fft(a, n=n, axis=axis, norm=norm)


@_follows(_theirs.ifft, "a")
def ifft(a: Any, n: int | None = None, axis: int = -1, norm: str | None = None, out: Any = None) -> Any:
    """The inverse of ``fft``.

    >>> ifft([3.0, -1.0])
    array([1.+0.j, 2.+0.j])
    """
    return _op.ifft(a, n=n, axis=axis, norm=norm)


@_follows(_theirs.rfft, "a")
def rfft(a: Any, n: int | None = None, axis: int = -1, norm: str | None = None, out: Any = None) -> Any:
    """The first ``n // 2 + 1`` elements of the transform of real numbers; the others are their conjugates.

    >>> rfft([1.0, 2.0, 3.0])[0]
    np.complex128(6+0j)
    """
    return _op.rfft(a, n=n, axis=axis, norm=norm)


@_follows(_theirs.irfft, "a")
def irfft(a: Any, n: int | None = None, axis: int = -1, norm: str | None = None, out: Any = None) -> Any:
    """The inverse of ``rfft``, with ``n`` real results. Imaginary parts that must be zero are ignored, and get none.

    >>> irfft([3.0, -1.0])
    array([1., 2.])
    """
    return _op.irfft(a, n=n, axis=axis, norm=norm)


@_follows(_theirs.hfft, "a")
def hfft(a: Any, n: int | None = None, axis: int = -1, norm: str | None = None, out: Any = None) -> Any:
    """The real transform of a signal of which half is given: the other half are its conjugates.

    >>> hfft([1.0, 2.0])
    array([ 3., -1.])
    """
    return _op.irfft(_op.conjugate(a), n=n, axis=axis, norm=_turned(norm))


@_follows(_theirs.ihfft, "a")
def ihfft(a: Any, n: int | None = None, axis: int = -1, norm: str | None = None, out: Any = None) -> Any:
    """The inverse of ``hfft``.

    >>> ihfft([3.0, -1.0])
    array([1.-0.j, 2.-0.j])
    """
    return _op.conjugate(_op.rfft(a, n=n, axis=axis, norm=_turned(norm)))


def _turned(norm: str | None) -> str | None:
    """The norm of the transform in the other direction; one that NumPy does not know as it is, so that NumPy says so."""
    return _OTHER_DIRECTION.get(norm, norm)


# -------------------------------------------------------------------------------------------------- several axes


@_follows(_theirs.fftn, "a")
def fftn(
    a: Any, s: Sequence[int] | None = None, axes: Sequence[int] | None = None, norm: str | None = None, out: Any = None
) -> Any:
    """``fft`` along several axes; along all by default. An axis given twice is transformed twice.

    >>> fftn([[1.0, 2.0], [3.0, 4.0]])[0]
    array([10.+0.j, -2.+0.j])
    """
    return _along_all(_op.fft, a, *_lengths_and_axes(a, s, axes), norm)


@_follows(_theirs.ifftn, "a")
def ifftn(
    a: Any, s: Sequence[int] | None = None, axes: Sequence[int] | None = None, norm: str | None = None, out: Any = None
) -> Any:
    """The inverse of ``fftn``.

    >>> ifftn([[10.0, -2.0], [-4.0, 0.0]])[0]
    array([1.+0.j, 2.+0.j])
    """
    return _along_all(_op.ifft, a, *_lengths_and_axes(a, s, axes), norm)


@_follows(_theirs.rfftn, "a")
def rfftn(
    a: Any, s: Sequence[int] | None = None, axes: Sequence[int] | None = None, norm: str | None = None, out: Any = None
) -> Any:
    """``rfft`` along the last of the axes, then ``fft`` along the others.

    >>> rfftn([[1.0, 2.0], [3.0, 4.0]])[0]
    array([10.+0.j, -2.+0.j])
    """
    lengths, along = _lengths_and_axes(a, s, axes, least=1)
    a = _op.rfft(a, n=lengths[-1], axis=along[-1], norm=norm)
    return _along_all(_op.fft, a, lengths[:-1], along[:-1], norm)


@_follows(_theirs.irfftn, "a")
def irfftn(
    a: Any, s: Sequence[int] | None = None, axes: Sequence[int] | None = None, norm: str | None = None, out: Any = None
) -> Any:
    """The inverse of ``rfftn``.

    >>> irfftn([[10.0, -2.0], [-4.0, 0.0]])
    array([[1., 2.],
           [3., 4.]])
    """
    lengths, along = _lengths_and_axes(a, s, axes, least=1)
    if s is None:
        lengths[-1] = 2 * (_numpy.shape(_innermost_value(_as_array(a)))[along[-1]] - 1)
    for n, axis in zip(lengths[:-1], along[:-1], strict=True):
        a = _op.ifft(a, n=n, axis=axis, norm=norm)
    return _op.irfft(a, n=lengths[-1], axis=along[-1], norm=norm)


@_follows(_theirs.fft2, "a")
def fft2(
    a: Any, s: Sequence[int] | None = None, axes: Sequence[int] | None = (-2, -1), norm: str | None = None, out: Any = None
) -> Any:
    """``fftn`` along the last two axes.

    >>> fft2([[1.0, 2.0], [3.0, 4.0]])[0]
    array([10.+0.j, -2.+0.j])
    """
    return fftn(a, s, axes, norm)


@_follows(_theirs.ifft2, "a")
def ifft2(
    a: Any, s: Sequence[int] | None = None, axes: Sequence[int] | None = (-2, -1), norm: str | None = None, out: Any = None
) -> Any:
    """``ifftn`` along the last two axes.

    >>> ifft2([[10.0, -2.0], [-4.0, 0.0]])[0]
    array([1.+0.j, 2.+0.j])
    """
    return ifftn(a, s, axes, norm)


@_follows(_theirs.rfft2, "a")
def rfft2(
    a: Any, s: Sequence[int] | None = None, axes: Sequence[int] | None = (-2, -1), norm: str | None = None, out: Any = None
) -> Any:
    """``rfftn`` along the last two axes.

    >>> rfft2([[1.0, 2.0], [3.0, 4.0]])[0]
    array([10.+0.j, -2.+0.j])
    """
    return rfftn(a, s, axes, norm)


@_follows(_theirs.irfft2, "a")
def irfft2(
    a: Any, s: Sequence[int] | None = None, axes: Sequence[int] | None = (-2, -1), norm: str | None = None, out: Any = None
) -> Any:
    """``irfftn`` along the last two axes.

    >>> irfft2([[10.0, -2.0], [-4.0, 0.0]])
    array([[1., 2.],
           [3., 4.]])
    """
    return irfftn(a, s, axes, norm)


def _along_all(transform: Callable[..., Any], a: Any, lengths: list[Any], axes: list[int], norm: str | None) -> Any:
    """The last axis first, as NumPy does it, so that the results are the same to the last digit."""
    a = _as_array(a)
    for n, axis in zip(reversed(lengths), reversed(axes), strict=True):
        a = transform(a, n=n, axis=axis, norm=norm)
    return a


def _lengths_and_axes(a: Any, s: Sequence[int] | None, axes: Sequence[int] | None, least: int = 0) -> tuple[list[Any], list[int]]:
    """A length for each axis; -1 and None stand for the length that it has in ``a``."""
    shape = _numpy.shape(_innermost_value(_as_array(a)))
    if axes is None:
        if s is not None:
            warnings.warn(
                "axes=None together with s is deprecated since NumPy 2.0; give the axes", DeprecationWarning, stacklevel=4
            )
        axes = range(-len(shape if s is None else s), 0)
    along = [_normalize_axis_index(axis, len(shape)) for axis in axes]
    if len(along) < least:
        raise ValueError(f"got no axis for an array of shape {shape}, expected at least one that is transformed")
    given = [None] * len(along) if s is None else list(s)
    if len(given) != len(along):
        raise ValueError(f"got {len(given)} lengths s for {len(along)} axes, expected as many of each")
    return [shape[axis] if n is None or n == -1 else n for n, axis in zip(given, along, strict=True)], along


# -------------------------------------------------------------------------------------------------- order


@_follows(_theirs.fftshift, "x")
def fftshift(x: Any, axes: Any = None) -> Any:
    """Half of the elements moved to the other end, so that frequency 0 comes into the middle; along all axes by default.

    >>> fftshift([0.0, 1.0, 2.0, -2.0, -1.0])
    array([-2., -1.,  0.,  1.,  2.])
    """
    return _shifted(x, axes, 1)


@_follows(_theirs.ifftshift, "x")
def ifftshift(x: Any, axes: Any = None) -> Any:
    """The inverse of ``fftshift``.

    >>> ifftshift([-2.0, -1.0, 0.0, 1.0, 2.0])
    array([ 0.,  1.,  2., -2., -1.])
    """
    return _shifted(x, axes, -1)


def _shifted(x: Any, axes: Any, direction: int) -> Any:
    x = _as_array(x)
    shape = _numpy.shape(_innermost_value(x))
    along = tuple(range(len(shape))) if axes is None else tuple(axes) if hasattr(axes, "__len__") else (axes,)
    return _roll(x, tuple(direction * (shape[axis] // 2) for axis in along), along)


def __getattr__(name: str) -> Any:
    return getattr(_theirs, name)
