"""Convolutions of sequences and images, with their weights. Channels come before the axes of the window, as in PyTorch."""

from __future__ import annotations

from typing import Any

import numpy as np

from autograd import operators as op
from autograd.nn.initialisers import Initialiser, he_uniform
from autograd.nn.module import Module
from autograd.nn.shapes import pair, positive, shape_of, wrong_shape
from autograd.numpy.conv import conv2d


def _weight(
    who: str, n_in: int, n_out: int, window: tuple[int, ...], groups: int, initialiser: Initialiser, seed: Any, dtype: Any
) -> Any:
    positive(who, n_in=n_in, n_out=n_out, groups=groups, **{f"kernel_size[{n}]": each for n, each in enumerate(window)})
    if n_in % groups or n_out % groups:
        raise ValueError(
            f"{who}: got n_in={n_in} and n_out={n_out} with groups={groups}, expected both to be multiples of it: each group has"
            " an equal share of the channels"
        )
    return initialiser((n_out, n_in // groups, *window), np.random.default_rng(seed), dtype)


def _check_images(who: str, x: Any, n_channels: int, axes: str) -> None:
    shape, n_axes = shape_of(x), 1 + axes.count(",")
    if len(shape) not in (n_axes + 1, n_axes + 2) or shape[-n_axes - 1] != n_channels:
        advice = (
            "add the axis of channels: x[:, None]"
            if len(shape) == n_axes + 1
            else f"make the layer with n_in of {axes}'s channels"
        )
        if len(shape) == n_axes + 2:
            advice = f"make the layer with n_in={shape[1]}, or move the axis of channels: numpy.moveaxis(x, -1, 1)"
        raise wrong_shape(who, "x", shape, f"(N, {n_channels}, {axes}) or ({n_channels}, {axes})", advice)


class Conv2d(Module):
    """The sum over a window times a weight, at each of its positions in an image, for each channel of the output.

    ``(N, n_in, H, W)``, or one image without N, to ``(N, n_out, H', W')``; no flip of the window (cross-correlation).

    weight       ``(n_out, n_in / groups, rows, columns)``, drawn by ``initialiser``
    bias         ``(n_out,)``, zeros; None without it
    kernel_size  of the window: a whole number, or ``(rows, columns)``; so also ``stride`` and ``dilation``
    padding      of zeros: a whole number, a pair, a pair of pairs, "valid" or "same"; see ``autograd.numpy.conv2d``

    Raises ValueError for images of other channels, or smaller than the window.

    >>> Conv2d(1, 8, 3, padding="same")(np.zeros((2, 1, 28, 28))).shape
    (2, 8, 28, 28)
    """

    def __init__(
        self,
        n_in: int,
        n_out: int,
        kernel_size: int | tuple[int, int],
        *,
        stride: int | tuple[int, int] = 1,
        padding: Any = 0,
        dilation: int | tuple[int, int] = 1,
        groups: int = 1,
        bias: bool = True,
        initialiser: Initialiser = he_uniform,
        seed: int | np.random.Generator = 0,
        dtype: Any = np.float64,
    ) -> None:
        window = pair("Conv2d", "kernel_size", kernel_size)
        self.weight: Any = _weight("Conv2d", n_in, n_out, window, groups, initialiser, seed, dtype)
        self.bias: Any = np.zeros(n_out, dtype) if bias else None
        self.stride, self.padding, self.dilation, self.groups = stride, padding, dilation, groups

    def __call__(self, x: Any) -> Any:
        """The output image."""
        _check_images("Conv2d", x, shape_of(self.weight)[1] * self.groups, "H, W")
        return conv2d(
            x, self.weight, self.bias, stride=self.stride, padding=self.padding, dilation=self.dilation, groups=self.groups
        )


class Conv1d(Module):
    """``Conv2d`` along one axis: ``(N, n_in, L)``, or one sequence without N, to ``(N, n_out, L')``.

    weight    ``(n_out, n_in / groups, kernel_size)``, drawn by ``initialiser``
    bias      ``(n_out,)``, zeros; None without it
    padding   of zeros: a whole number, ``(before, after)``, "valid" or "same"

    >>> Conv1d(2, 4, 3, stride=2)(np.zeros((5, 2, 9))).shape
    (5, 4, 4)
    """

    def __init__(
        self,
        n_in: int,
        n_out: int,
        kernel_size: int,
        *,
        stride: int = 1,
        padding: Any = 0,
        dilation: int = 1,
        groups: int = 1,
        bias: bool = True,
        initialiser: Initialiser = he_uniform,
        seed: int | np.random.Generator = 0,
        dtype: Any = np.float64,
    ) -> None:
        self.weight: Any = _weight("Conv1d", n_in, n_out, (kernel_size,), groups, initialiser, seed, dtype)
        self.bias: Any = np.zeros(n_out, dtype) if bias else None
        self.stride, self.padding, self.dilation, self.groups = stride, padding, dilation, groups

    def __call__(self, x: Any) -> Any:
        """The output sequence."""
        _check_images("Conv1d", x, shape_of(self.weight)[1] * self.groups, "L")
        padding = self.padding
        if not isinstance(padding, str):
            padding = ((0, 0), pair("Conv1d", "padding", padding))
        y = conv2d(
            op.expand_dims(x, axis=-2),
            op.expand_dims(self.weight, axis=-2),
            self.bias,
            stride=(1, self.stride),
            padding=padding,
            dilation=(1, self.dilation),
            groups=self.groups,
        )
        return op.squeeze(y, axis=-2)


class ConvTranspose2d(Module):
    """The gradient of ``Conv2d`` in its image, as a layer: each element of ``x`` adds the weight, times itself, to a window.

    ``(N, n_in, H, W)``, or one image without N, to ``(N, n_out, H', W')``, with
    ``H' = (H - 1) * stride - 2 * padding + dilation * (rows - 1) + output_padding + 1``, and W' so too.

    weight          ``(n_in, n_out / groups, rows, columns)``, drawn by ``initialiser`` as for the convolution that it is of
    bias            ``(n_out,)``, zeros; None without it
    padding         a whole number, or ``(rows, columns)``: so many elements at each edge are left out
    output_padding  so many more rows and columns at the end, fewer than the stride: the sizes a convolution makes one of

    >>> ConvTranspose2d(4, 1, 2, stride=2)(np.zeros((3, 4, 7, 7))).shape
    (3, 1, 14, 14)
    """

    def __init__(
        self,
        n_in: int,
        n_out: int,
        kernel_size: int | tuple[int, int],
        *,
        stride: int | tuple[int, int] = 1,
        padding: int | tuple[int, int] = 0,
        output_padding: int | tuple[int, int] = 0,
        dilation: int | tuple[int, int] = 1,
        groups: int = 1,
        bias: bool = True,
        initialiser: Initialiser = he_uniform,
        seed: int | np.random.Generator = 0,
        dtype: Any = np.float64,
    ) -> None:
        who = "ConvTranspose2d"
        drawn = _weight(who, n_in, n_out, pair(who, "kernel_size", kernel_size), groups, initialiser, seed, dtype)
        self.weight: Any = np.ascontiguousarray(
            drawn.reshape((groups, n_out // groups, *drawn.shape[1:])).swapaxes(1, 2)
        ).reshape((n_in, n_out // groups, *drawn.shape[2:]))
        self.bias: Any = np.zeros(n_out, dtype) if bias else None
        self.stride, self.padding = pair(who, "stride", stride), pair(who, "padding", padding)
        self.output_padding, self.dilation = pair(who, "output_padding", output_padding), pair(who, "dilation", dilation)
        self.groups = groups
        if any(not 0 <= more < step for more, step in zip(self.output_padding, self.stride, strict=True)):
            raise ValueError(f"{who}: got output_padding={self.output_padding}, expected less than stride={self.stride}")

    def __call__(self, x: Any) -> Any:
        """The output image."""
        n_in, share, *window = shape_of(self.weight)
        _check_images("ConvTranspose2d", x, n_in, "H, W")
        shape = shape_of(x)
        size = [
            (length - 1) * self.stride[n] - 2 * self.padding[n] + self.dilation[n] * (window[n] - 1) + self.output_padding[n] + 1
            for n, length in enumerate(shape[-2:])
        ]
        if min(size) < 1:
            advice = f"the output would have the size {tuple(size)}; use less padding"
            raise wrong_shape("ConvTranspose2d", "x", shape, "images that are larger", advice)
        images = x if len(shape) == 4 else op.expand_dims(x, axis=0)
        y = op.conv2d_input_gradient(
            images, self.weight, size=size, stride=self.stride, padding=self.padding, dilation=self.dilation, groups=self.groups
        )
        if self.bias is not None:
            y = op.add(y, op.reshape(self.bias, shape=(share * self.groups, 1, 1)))
        return y if len(shape) == 4 else op.squeeze(y, axis=0)
