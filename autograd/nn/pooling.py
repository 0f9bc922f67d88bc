"""Pooling layers: the largest, or the mean, under each position of a window. They have no parameters."""

from __future__ import annotations

from typing import Any

from autograd import operators as op
from autograd.nn.module import Module
from autograd.nn.shapes import shape_of, wrong_shape
from autograd.numpy.conv import avg_pool2d, max_pool2d


class _Pool(Module):
    def __init__(self, kernel_size: Any, stride: Any = None, *, padding: Any = 0) -> None:
        self.kernel_size, self.stride, self.padding = kernel_size, stride, padding

    def _check(self, x: Any, axes: str) -> None:
        shape, n_axes = shape_of(x), 1 + axes.count(",")
        if len(shape) not in (n_axes + 1, n_axes + 2):
            advice = f"a batch of images is an array (N, C, {axes})"
            raise wrong_shape(type(self).__name__, "x", shape, f"(N, C, {axes}) or (C, {axes})", advice)

    def _rows(self) -> dict[str, Any]:
        """The window of one row over ``(..., 1, L)``."""
        stride = self.kernel_size if self.stride is None else self.stride
        before, after = (self.padding, self.padding) if isinstance(self.padding, int) else self.padding
        return {"kernel_size": (1, self.kernel_size), "stride": (1, stride), "padding": ((0, 0), (before, after))}


class MaxPool2d(_Pool):
    """The largest element under each position of a window: ``(N, C, H, W)`` to ``(N, C, H', W')``.

    kernel_size   of the window: a whole number, or ``(rows, columns)``
    stride        as far as the window moves; None is its size, so that windows do not meet
    padding       by what never is the largest

    Elements that tie share the gradient; see ``autograd.numpy.max_pool2d``, also for the errors.

    >>> import numpy as np
    >>> MaxPool2d(2)(np.arange(16.0).reshape(1, 1, 4, 4))
    array([[[[ 5.,  7.],
             [13., 15.]]]])
    """

    def __call__(self, x: Any) -> Any:
        """The largest under each position."""
        self._check(x, "H, W")
        return max_pool2d(x, self.kernel_size, self.stride, self.padding)


class AvgPool2d(_Pool):
    """The mean under each position of a window: ``(N, C, H, W)`` to ``(N, C, H', W')``; arguments as ``MaxPool2d``.

    padding             by zeros
    count_include_pad   whether the mean counts these zeros

    >>> import numpy as np
    >>> AvgPool2d(2)(np.arange(16.0).reshape(1, 1, 4, 4))
    array([[[[ 2.5,  4.5],
             [10.5, 12.5]]]])
    """

    def __init__(self, kernel_size: Any, stride: Any = None, *, padding: Any = 0, count_include_pad: bool = True) -> None:
        super().__init__(kernel_size, stride, padding=padding)
        self.count_include_pad = count_include_pad

    def __call__(self, x: Any) -> Any:
        """The mean under each position."""
        self._check(x, "H, W")
        return avg_pool2d(x, self.kernel_size, self.stride, self.padding, self.count_include_pad)


class MaxPool1d(_Pool):
    """``MaxPool2d`` along one axis: ``(N, C, L)`` to ``(N, C, L')``; padding is a whole number or ``(before, after)``.

    >>> import numpy as np
    >>> MaxPool1d(2)(np.array([[[1.0, 4.0, 3.0, 2.0]]]))
    array([[[4., 3.]]])
    """

    def __call__(self, x: Any) -> Any:
        """The largest under each position."""
        self._check(x, "L")
        return op.squeeze(max_pool2d(op.expand_dims(x, axis=-2), **self._rows()), axis=-2)


class AvgPool1d(AvgPool2d):
    """``AvgPool2d`` along one axis: ``(N, C, L)`` to ``(N, C, L')``; padding is a whole number or ``(before, after)``.

    >>> import numpy as np
    >>> AvgPool1d(2)(np.array([[[1.0, 4.0, 3.0, 2.0]]]))
    array([[[2.5, 2.5]]])
    """

    def __call__(self, x: Any) -> Any:
        """The mean under each position."""
        self._check(x, "L")
        y = avg_pool2d(op.expand_dims(x, axis=-2), count_include_pad=self.count_include_pad, **self._rows())
        return op.squeeze(y, axis=-2)


def global_avg_pool(x: Any) -> Any:
    """The mean over all places of each channel: ``(N, C, ...)`` to ``(N, C)``. A layer of ``Sequential``.

    >>> import numpy as np
    >>> global_avg_pool(np.arange(8.0).reshape(1, 2, 2, 2))
    array([[1.5, 5.5]])
    """
    shape = shape_of(x)
    if len(shape) < 3:
        raise wrong_shape("global_avg_pool", "x", shape, "(N, C, ...)", "it takes a batch of images or sequences")
    return op.mean(x, axis=tuple(range(2 - len(shape), 0)))
