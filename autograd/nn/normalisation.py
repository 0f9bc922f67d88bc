"""Normalisation: to mean 0 and variance 1 over some axes, then a scale and a shift for each channel or feature."""

from __future__ import annotations

import math
from typing import Any, ClassVar

import numpy as np

from autograd import operators as op
from autograd.functional import stop_gradient
from autograd.nn.module import Module, replace
from autograd.nn.shapes import fraction, positive, refuse_complex, shape_of, wrong_shape


def _centred(who: str, x: Any, axes: tuple[int, ...]) -> tuple[Any, Any, Any]:
    """``x`` less its mean over the axes, the mean, and the variance: the mean of the squares of what is left."""
    refuse_complex(who, x)
    mean = op.mean(x, axis=axes, keepdims=True)
    centred = op.subtract(x, mean)
    return centred, mean, op.mean(op.square(centred), axis=axes, keepdims=True)


class BatchNorm(Module):
    """``(x - mean) / sqrt(var + eps) * weight + bias`` for each channel: ``(N, n_channels)`` or ``(N, n_channels, ...)``.

    In use, mean and variance are ``running_mean`` and ``running_var``. In training they are those of the batch, over all axes
    but that of the channels, and the module that ``train`` returns has new running ones: ``(1 - momentum)`` of the old and
    ``momentum`` of the batch's. As in PyTorch, the batch is divided by its biased variance (the mean of the squares), and the
    running one follows the unbiased (by n - 1). The running ones are constants to every tape.

    weight, bias                ``(n_channels,)``: ones and zeros; None without ``affine``
    running_mean, running_var   ``(n_channels,)``: zeros and ones; buffers, which are no parameters

    Raises ValueError for other channels, and in training for a single value a channel, which has no variance. (Ioffe and
    Szegedy, 2015)

    >>> layer = BatchNorm(1)
    >>> y, layer = layer.train(np.array([[1.0], [3.0]]))
    >>> y.ravel().round(3), layer.running_mean, layer.running_var
    (array([-1., 1.]), array([0.2]), array([1.1]))
    """

    buffers: ClassVar[tuple[str, ...]] = ("running_mean", "running_var")

    def __init__(
        self, n_channels: int, *, momentum: float = 0.1, eps: float = 1e-5, affine: bool = True, dtype: Any = np.float64
    ) -> None:
        positive("BatchNorm", n_channels=n_channels)
        fraction("BatchNorm", momentum=momentum)
        self.weight: Any = np.ones(n_channels, dtype) if affine else None
        self.bias: Any = np.zeros(n_channels, dtype) if affine else None
        self.running_mean: Any = np.zeros(n_channels, dtype)
        self.running_var: Any = np.ones(n_channels, dtype)
        self.momentum, self.eps = momentum, eps

    def __call__(self, x: Any) -> Any:
        """Normalised by the running mean and variance."""
        self._check(x)
        channels = self._per_channel(x)
        centred = op.subtract(x, self.running_mean.reshape(channels))
        return self._scaled(centred, self.running_var.reshape(channels), channels)

    def train(self, x: Any, rng: np.random.Generator | None = None) -> tuple[Any, Any]:
        """Normalised by the mean and variance of the batch, and the module with new running ones."""
        self._check(x)
        shape, channels = shape_of(x), self._per_channel(x)
        count = math.prod(shape) // shape[1]
        if count < 2:
            raise ValueError(
                f"BatchNorm.train: x has shape {shape}, which is {count} value(s) a channel, expected at least 2 to have a"
                " variance; use a larger batch, leave out a last batch of one, or normalise by LayerNorm or GroupNorm"
            )
        centred, mean, var = _centred("BatchNorm", x, (0, *range(2, len(shape))))
        y = self._scaled(centred, var, channels)
        return y, replace(
            self,
            running_mean=self._followed(self.running_mean, stop_gradient(mean)),
            running_var=self._followed(self.running_var, stop_gradient(var) * (count / (count - 1))),
        )

    def _followed(self, running: Any, new: Any) -> Any:
        return ((1 - self.momentum) * running + self.momentum * new.reshape(running.shape)).astype(running.dtype)

    def _scaled(self, centred: Any, var: Any, channels: tuple[int, ...]) -> Any:
        deviation = op.sqrt(op.add(var, self.eps))
        if self.weight is None:
            return op.divide(centred, deviation)
        factor = op.divide(op.reshape(self.weight, shape=channels), deviation)
        return op.add(op.multiply(centred, factor), op.reshape(self.bias, shape=channels))

    def _per_channel(self, x: Any) -> tuple[int, ...]:
        return (1, -1, *(1,) * (len(shape_of(x)) - 2))

    def _check(self, x: Any) -> None:
        shape, n_channels = shape_of(x), len(self.running_mean)
        if len(shape) < 2 or shape[1] != n_channels:
            advice = f"make the layer with n_channels={shape[1]}" if len(shape) > 1 else "give a batch"
            raise wrong_shape("BatchNorm", "x", shape, f"(N, {n_channels}, ...)", advice)


class LayerNorm(Module):
    """``(x - mean) / sqrt(var + eps) * weight + bias`` with mean and variance over the last axes, of each example alone.

    shape          of these axes: ``(..., *shape)``; a whole number for the last axis alone
    weight, bias   of that shape: ones and zeros; None without ``affine``

    The variance is the mean of the squares. Raises ValueError for an input that does not end in ``shape``. (Ba and others, 2016)

    >>> LayerNorm(2)(np.array([[1.0, 3.0], [10.0, 30.0]])).round(3)
    array([[-1., 1.],
           [-1., 1.]])
    """

    def __init__(self, shape: int | tuple[int, ...], *, eps: float = 1e-5, affine: bool = True, dtype: Any = np.float64) -> None:
        self.shape = (shape,) if isinstance(shape, int | np.integer) else tuple(shape)
        positive("LayerNorm", **{f"shape[{number}]": each for number, each in enumerate(self.shape)})
        if not self.shape:
            raise ValueError("LayerNorm: got shape=(), expected at least one axis")
        self.weight: Any = np.ones(self.shape, dtype) if affine else None
        self.bias: Any = np.zeros(self.shape, dtype) if affine else None
        self.eps = eps

    def __call__(self, x: Any) -> Any:
        """Normalised over the last axes."""
        shape, last = shape_of(x), len(self.shape)
        if shape[-last:] != self.shape:
            expected = f"(..., {', '.join(map(str, self.shape))})"
            raise wrong_shape("LayerNorm", "x", shape, expected, f"make the layer with shape={shape[-last:]}")
        centred, _, var = _centred("LayerNorm", x, tuple(range(-last, 0)))
        y = op.divide(centred, op.sqrt(op.add(var, self.eps)))
        return y if self.weight is None else op.add(op.multiply(y, self.weight), self.bias)


class GroupNorm(Module):
    """``(x - mean) / sqrt(var + eps) * weight + bias`` with mean and variance over each group of channels of each example.

    ``(N, n_channels, ...)``, the channels in ``n_groups`` equal shares of neighbours: one group is LayerNorm over all but the
    batch, one channel a group is called instance normalisation.

    weight, bias   ``(n_channels,)``: ones and zeros; None without ``affine``

    The variance is the mean of the squares. Raises ValueError for other channels. (Wu and He, 2018)

    >>> GroupNorm(2, 4)(np.array([[1.0, 3.0, 10.0, 30.0]])).round(3)
    array([[-1., 1., -1., 1.]])
    """

    def __init__(
        self, n_groups: int, n_channels: int, *, eps: float = 1e-5, affine: bool = True, dtype: Any = np.float64
    ) -> None:
        positive("GroupNorm", n_groups=n_groups, n_channels=n_channels)
        if n_channels % n_groups:
            raise ValueError(f"GroupNorm: got n_channels={n_channels}, expected a multiple of n_groups={n_groups}")
        self.n_groups, self.n_channels = n_groups, n_channels
        self.weight: Any = np.ones(n_channels, dtype) if affine else None
        self.bias: Any = np.zeros(n_channels, dtype) if affine else None
        self.eps = eps

    def __call__(self, x: Any) -> Any:
        """Normalised over each group."""
        shape = shape_of(x)
        if len(shape) < 2 or shape[1] != self.n_channels:
            advice = f"make the layer with n_channels={shape[1]}" if len(shape) > 1 else "give a batch"
            raise wrong_shape("GroupNorm", "x", shape, f"(N, {self.n_channels}, ...)", advice)
        share = math.prod(shape[1:]) // self.n_groups
        centred, _, var = _centred("GroupNorm", op.reshape(x, shape=(shape[0], self.n_groups, share)), (2,))
        y = op.reshape(op.divide(centred, op.sqrt(op.add(var, self.eps))), shape=shape)
        if self.weight is None:
            return y
        channels = (self.n_channels, *(1,) * (len(shape) - 2))
        return op.add(op.multiply(y, op.reshape(self.weight, shape=channels)), op.reshape(self.bias, shape=channels))
