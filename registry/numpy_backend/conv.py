"""Convolution and pooling over the last two axes.

A convolution is one product of matrices over a copy of the image in columns, one column for each position of the window.
Each gradient is an operator of its own, so that conv2d, its input gradient and its weight gradient differentiate into one
another. Axes in front of the four of ``x`` and ``w`` broadcast, as in ``matmul``.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.lib.stride_tricks import as_strided

from registry.declare import operator

Array = np.ndarray[Any, Any]

_sum: Any = np.add.reduce

_COLUMNS = 2**17
"""Elements of the column matrix that are made at a time: the whole has as many as image times kernel, and misses the cache."""

_IMAGES = 64
"""Images that the input gradient adds up at a time, for the same reason."""


class Axis(NamedTuple):
    """How a window moves along one axis: to ``steps`` positions, ``stride`` apart, the first one ``low`` before the array."""

    size: int
    kernel: int
    stride: int
    dilation: int
    low: int
    high: int
    steps: int

    @property
    def padded(self) -> int:
        """The length with the padding."""
        return self.low + self.size + self.high

    @property
    def apart(self) -> bool:
        """Whether no two positions of the window meet."""
        return (self.kernel - 1) * self.dilation < self.stride

    def tap(self, place: int) -> slice:
        """What element ``place`` of the window meets, at each position of the window, along the padded axis."""
        start = place * self.dilation
        return slice(start, start + (self.steps - 1) * self.stride + 1, self.stride)


def window_axes(size: Any, kernel: Any, stride: Any, padding: Any, dilation: Any) -> tuple[Axis, Axis]:
    """The two axes of a window; raises ValueError for a geometry that has no result.

    ``padding`` is an integer, a pair, a pair of pairs ``((top, bottom), (left, right))``, "valid" or "same" (as many positions
    as the length divided by the stride, rounded up).

    >>> rows, columns = window_axes((5, 4), (3, 2), (2, 1), "valid", (1, 1))
    >>> rows.steps, columns.steps, rows.tap(1)
    (2, 3, slice(1, 4, 2))
    """
    kernels, strides, dilations = _pair("kernel size", kernel, 1), _pair("stride", stride, 1), _pair("dilation", dilation, 1)
    paddings = (padding,) * 2 if isinstance(padding, str | int | np.integer) else tuple(padding)
    if len(paddings) != 2:
        raise ValueError(f"padding got {padding!r}, expected an integer, a pair, a pair of pairs, 'valid' or 'same'")
    first, second = (_axis(*each) for each in zip((int(n) for n in size), kernels, strides, dilations, paddings, strict=True))
    return first, second


def _axis(size: int, kernel: int, stride: int, dilation: int, padding: Any) -> Axis:
    extent = (kernel - 1) * dilation + 1
    if padding == "same":
        total = max((-(-size // stride) - 1) * stride + extent - size, 0)
        low, high = total // 2, total - total // 2
    elif padding == "valid":
        low, high = 0, 0
    elif isinstance(padding, str):
        raise ValueError(f"padding got {padding!r}, expected an integer, a pair, a pair of pairs, 'valid' or 'same'")
    else:
        low, high = _pair("padding", padding, 0)
    if low + size + high < extent:
        raise ValueError(
            f"the window covers {extent} elements of an axis of length {size} with padding {(low, high)}, expected at most"
            f" {low + size + high}; take a smaller kernel or dilation, or more padding"
        )
    return Axis(size, kernel, stride, dilation, low, high, (low + size + high - extent) // stride + 1)


def _pair(name: str, value: Any, least: int) -> tuple[int, int]:
    pair = (value, value) if isinstance(value, int | np.integer) else tuple(value)
    if len(pair) != 2 or not all(isinstance(each, int | np.integer) and each >= least for each in pair):
        raise ValueError(f"{name} got {value!r}, expected an integer of at least {least}, or a pair of these")
    return int(pair[0]), int(pair[1])


def _pad(x: Array, rows: Axis, columns: Axis, fill: Any = 0) -> Array:
    if not (rows.low or rows.high or columns.low or columns.high):
        return x
    padded = np.full((*x.shape[:-2], rows.padded, columns.padded), fill, x.dtype)
    _inside(padded, rows, columns)[...] = x
    return padded


def _inside(padded: Array, rows: Axis, columns: Axis) -> Array:
    return padded[..., rows.low : rows.low + rows.size, columns.low : columns.low + columns.size]


def _taps(rows: Axis, columns: Axis) -> Iterator[tuple[slice, slice]]:
    for i in range(rows.kernel):
        for j in range(columns.kernel):
            yield rows.tap(i), columns.tap(j)


# ------------------------------------------------------------------------------------------------ convolution


def _columns(x: Array, rows: Axis, columns: Axis, groups: int) -> Array:
    """``(..., N, groups, C/groups * KH * KW, OH * OW)``: for each position of the window what it covers, as one column."""
    *lead, channels, _, _ = x.shape
    down, across = x.strides[-2:]
    view = as_strided(
        x,
        (*lead, channels, rows.kernel, columns.kernel, rows.steps, columns.steps),
        (*x.strides[:-2], down * rows.dilation, across * columns.dilation, down * rows.stride, across * columns.stride),
        writeable=False,
    )
    depth = channels // groups * rows.kernel * columns.kernel
    return view.reshape((*lead, groups, depth, rows.steps * columns.steps))


def _column_blocks(x: Array, rows: Axis, columns: Axis, groups: int) -> Iterator[tuple[slice, Array]]:
    """``_columns`` for a few images at a time."""
    x = _pad(x, rows, columns)
    images = x.shape[-4]
    each = math.prod(x.shape[:-4]) * x.shape[-3] * rows.kernel * columns.kernel * rows.steps * columns.steps
    step = max(1, _COLUMNS // max(each, 1))
    for start in range(0, images, step):
        block = slice(start, min(start + step, images))
        yield block, _columns(x[..., block, :, :, :], rows, columns, groups)


def _check_channels(channels: int, outputs: int, depth: int, groups: int) -> None:
    if groups < 1 or channels != depth * groups or outputs % groups:
        raise ValueError(
            f"got {channels} channels, weights for {outputs} outputs of {depth} channels each, and groups={groups}; expected"
            f" channels = {depth} * groups and outputs a multiple of groups"
        )


def _conv2d(x: Array, w: Array, stride: Any, padding: Any, dilation: Any, groups: int) -> Array:
    *lead_w, outputs, depth, kernel_rows, kernel_columns = w.shape
    *lead_x, images, channels, _, _ = x.shape
    _check_channels(channels, outputs, depth, groups)
    rows, columns = window_axes(x.shape[-2:], (kernel_rows, kernel_columns), stride, padding, dilation)
    factor = w.reshape((*lead_w, 1, groups, outputs // groups, depth * kernel_rows * kernel_columns))
    lead = np.broadcast_shapes(tuple(lead_x), tuple(lead_w))
    y = np.empty((*lead, images, groups, outputs // groups, rows.steps * columns.steps), np.result_type(x.dtype, w.dtype))
    for block, matrix in _column_blocks(x, rows, columns, groups):
        np.matmul(factor, matrix, out=y[..., block, :, :, :])
    return y.reshape((*lead, images, outputs, rows.steps, columns.steps))


def _conv2d_weight_gradient(x: Array, dy: Array, size: Any, stride: Any, padding: Any, dilation: Any, groups: int) -> Array:
    *lead_y, images, outputs, _, _ = dy.shape
    rows, columns = window_axes(x.shape[-2:], size, stride, padding, dilation)
    depth = x.shape[-3] // groups
    factor = dy.reshape((*lead_y, images, groups, outputs // groups, rows.steps * columns.steps))
    lead = np.broadcast_shapes(x.shape[:-4], tuple(lead_y))
    dw = np.zeros((*lead, groups, outputs // groups, depth * rows.kernel * columns.kernel), np.result_type(x.dtype, dy.dtype))
    for block, matrix in _column_blocks(x, rows, columns, groups):
        dw += _sum(np.matmul(factor[..., block, :, :, :], matrix.swapaxes(-1, -2)), axis=-4)
    return dw.reshape((*lead, outputs, depth, rows.kernel, columns.kernel))


def _conv2d_input_gradient(dy: Array, w: Array, size: Any, stride: Any, padding: Any, dilation: Any, groups: int) -> Array:
    if w.ndim > 4:
        lead = np.broadcast_shapes(dy.shape[:-4], w.shape[:-4])
        dy = np.broadcast_to(dy, (*lead, *dy.shape[-4:]))
        w = np.broadcast_to(w, (*lead, *w.shape[-4:]))
        each = [_conv2d_input_gradient(dy[at], w[at], size, stride, padding, dilation, groups) for at in np.ndindex(lead)]
        return np.stack(each).reshape((*lead, *each[0].shape))
    outputs, depth, *kernel = w.shape
    rows, columns = window_axes(size, kernel, stride, padding, dilation)
    images = dy.reshape((-1, *dy.shape[-3:])) if dy.size else dy.reshape((math.prod(dy.shape[:-3]), *dy.shape[-3:]))
    factors = np.ascontiguousarray(w.reshape((groups, outputs // groups, depth, *kernel)).transpose(3, 4, 0, 2, 1))
    dx = np.empty((len(images), groups * depth, rows.size, columns.size), np.result_type(dy.dtype, w.dtype))
    for start in range(0, len(images), _IMAGES):
        block = slice(start, start + _IMAGES)
        dx[block] = _added_up(images[block], factors, rows, columns, dx.dtype)
    return dx.reshape((*dy.shape[:-3], *dx.shape[1:]))


def _added_up(dy: Array, factors: Array, rows: Axis, columns: Axis, dtype: Any) -> Array:
    """For each element of the window one product of matrices, added where that element was read.

    The images stand in the last axis meanwhile: the additions then run along long stretches of memory.
    """
    kernel_rows, kernel_columns, groups, depth, outputs = factors.shape
    positions = (rows.steps, columns.steps, len(dy))
    matrix = dy.transpose(1, 2, 3, 0).reshape((groups, outputs, math.prod(positions)))
    part = np.empty((groups, depth, math.prod(positions)), dtype)
    shaped = part.reshape((groups * depth, *positions))
    total = np.zeros((groups * depth, rows.padded, columns.padded, len(dy)), dtype)
    for i in range(kernel_rows):
        for j in range(kernel_columns):
            np.matmul(factors[i, j], matrix, out=part)
            total[:, rows.tap(i), columns.tap(j)] += shaped
    return _inside(total.transpose(3, 0, 1, 2), rows, columns)


_GEOMETRY = "int[1] stride=1, Any padding=0, int[1] dilation=1"

operator(f"conv2d(Tensor x, Tensor w, *, {_GEOMETRY}, int groups=1) -> Tensor", _conv2d)
operator(
    f"conv2d_input_gradient(Tensor dy, Tensor w, *, int[] size, {_GEOMETRY}, int groups=1) -> Tensor",
    _conv2d_input_gradient,
)
operator(
    f"conv2d_weight_gradient(Tensor x, Tensor dy, *, int[] size, {_GEOMETRY}, int groups=1) -> Tensor",
    _conv2d_weight_gradient,
)


# ------------------------------------------------------------------------------------------------ pooling


def _pooling_axes(size: Any, kernel_size: Any, stride: Any, padding: Any, dilation: Any) -> tuple[Axis, Axis]:
    return window_axes(size, kernel_size, kernel_size if stride is None else stride, padding, dilation)


def _covered(axis: Axis) -> Array:
    """How many elements, padding not counted, each position of the window covers along an axis."""
    starts = np.arange(axis.steps) * axis.stride - axis.low
    places = starts[:, None] + np.arange(axis.kernel) * axis.dilation
    covered: Array = _sum((places >= 0) & (places < axis.size), axis=1)
    if not covered.all():
        raise ValueError(
            f"a pooling window of {axis.kernel} elements (dilation {axis.dilation}) covers nothing but padding along an axis"
            f" of length {axis.size}, padding {(axis.low, axis.high)}; expected less padding than that"
        )
    return covered


def _gathered(combine: Any, x: Array, rows: Axis, columns: Axis) -> Array:
    """All elements of each window combined: first along the rows, then along the columns."""
    down = x[..., rows.tap(0), :]
    for i in range(1, rows.kernel):
        down = combine(down, x[..., rows.tap(i), :])
    y = down[..., columns.tap(0)]
    for j in range(1, columns.kernel):
        y = combine(y, down[..., columns.tap(j)])
    return y


def _max_pool2d(x: Array, kernel_size: Any, stride: Any, padding: Any, dilation: Any) -> Array:
    rows, columns = _pooling_axes(x.shape[-2:], kernel_size, stride, padding, dilation)
    if rows.padded > rows.size or columns.padded > columns.size:
        _covered(rows), _covered(columns)
        x = _pad(x, rows, columns, -np.inf if x.dtype.kind == "f" else np.iinfo(x.dtype).min)
    y = _gathered(np.maximum, x, rows, columns)
    return y.copy() if y.base is not None else y


def _maximal(x: Array, y: Array, rows: Axis, columns: Axis, dtype: Any) -> tuple[list[Array], Array]:
    """For each element of the window, where it is the maximum; and how many are."""
    x = _pad(x, rows, columns, -np.inf)
    masks = [x[..., down, across] == y for down, across in _taps(rows, columns)]
    ties: Any = np.zeros(y.shape, np.uint8 if len(masks) < 256 else np.int32)
    for mask in masks:
        ties += mask
    return masks, ties.astype(dtype)


def _max_pool2d_gradient(dy: Array, x: Array, y: Array, kernel_size: Any, stride: Any, padding: Any, dilation: Any) -> Array:
    rows, columns = _pooling_axes(x.shape[-2:], kernel_size, stride, padding, dilation)
    masks, ties = _maximal(x, y, rows, columns, dy.dtype)
    share = dy / ties
    total = np.zeros((*dy.shape[:-2], rows.padded, columns.padded), dy.dtype)
    apart = rows.apart and columns.apart
    for (down, across), mask in zip(_taps(rows, columns), masks, strict=True):
        if apart:
            np.multiply(share, mask, out=total[..., down, across])
        else:
            total[..., down, across] += share * mask
    return _inside(total, rows, columns)


def _max_pool2d_tangent(tangent: Array, x: Array, y: Array, kernel_size: Any, stride: Any, padding: Any, dilation: Any) -> Array:
    rows, columns = _pooling_axes(x.shape[-2:], kernel_size, stride, padding, dilation)
    masks, ties = _maximal(x, y, rows, columns, tangent.dtype)
    tangent = _pad(tangent, rows, columns)
    total = np.zeros((*tangent.shape[:-2], rows.steps, columns.steps), tangent.dtype)
    for (down, across), mask in zip(_taps(rows, columns), masks, strict=True):
        total += tangent[..., down, across] * mask
    return total / ties


def _area(rows: Axis, columns: Axis, count_include_pad: bool, dtype: Any) -> Any:
    """By what the sum over each window is divided."""
    if count_include_pad or (rows.padded == rows.size and columns.padded == columns.size):
        return rows.kernel * columns.kernel
    return np.multiply.outer(_covered(rows), _covered(columns)).astype(dtype if dtype.kind in "fc" else float)


def _avg_pool2d(x: Array, kernel_size: Any, stride: Any, padding: Any, count_include_pad: bool) -> Array:
    rows, columns = _pooling_axes(x.shape[-2:], kernel_size, stride, padding, 1)
    total = _gathered(np.add, _pad(x, rows, columns), rows, columns)
    y: Array = total / _area(rows, columns, count_include_pad, x.dtype)
    return y


def _avg_pool2d_gradient(dy: Array, size: Any, kernel_size: Any, stride: Any, padding: Any, count_include_pad: bool) -> Array:
    rows, columns = _pooling_axes(size, kernel_size, stride, padding, 1)
    share = dy / _area(rows, columns, count_include_pad, dy.dtype)
    across = np.zeros((*dy.shape[:-1], columns.padded), share.dtype)
    for j in range(columns.kernel):
        across[..., columns.tap(j)] += share
    total = np.zeros((*dy.shape[:-2], rows.padded, columns.padded), share.dtype)
    for i in range(rows.kernel):
        total[..., rows.tap(i), :] += across
    return _inside(total, rows, columns)


_POOLING = "int[1] kernel_size, int[1]? stride=None, Any padding=0"

operator(f"max_pool2d(Tensor x, *, {_POOLING}, int[1] dilation=1) -> Tensor", _max_pool2d)
operator(f"max_pool2d_gradient(Tensor dy, *, Any x, Any y, {_POOLING}, int[1] dilation=1) -> Tensor", _max_pool2d_gradient)
operator(f"max_pool2d_tangent(Tensor tangent, *, Any x, Any y, {_POOLING}, int[1] dilation=1) -> Tensor", _max_pool2d_tangent)
operator(f"avg_pool2d(Tensor x, *, {_POOLING}, bool count_include_pad=True) -> Tensor", _avg_pool2d)
operator(
    f"avg_pool2d_gradient(Tensor dy, *, int[] size, {_POOLING}, bool count_include_pad=True) -> Tensor",
    _avg_pool2d_gradient,
)


# ------------------------------------------------------------------------------------------------ convolution of vectors


def _convolve(a: Any, v: Any, mode: Any) -> Any:
    """``np.convolve`` along the last axis, for each pair of rows if there are axes in front."""
    if mode not in ("full", "valid"):
        raise ValueError(f"convolve: got mode={mode!r}, expected 'full' or 'valid'; a part of the full one is 'same'")
    a, v = np.asarray(a), np.asarray(v)
    if a.ndim == v.ndim == 1:
        return np.convolve(a, v, mode)
    batch = np.broadcast_shapes(a.shape[:-1], v.shape[:-1])
    first = np.broadcast_to(a, (*batch, a.shape[-1])).reshape(-1, a.shape[-1])
    second = np.broadcast_to(v, (*batch, v.shape[-1])).reshape(-1, v.shape[-1])
    lengths = a.shape[-1], v.shape[-1]
    length = max(lengths) - min(lengths) + 1 if mode == "valid" else sum(lengths) - 1
    y = np.empty((len(first), length), np.result_type(a, v))
    for row, one, other in zip(y, first, second, strict=True):
        row[:] = np.convolve(one, other, mode)
    return y.reshape((*batch, length))


operator("convolve(Tensor a, Tensor v, *, str mode='full') -> Tensor", _convolve)
