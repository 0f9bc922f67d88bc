"""Functions of the family conv: convolution of vectors as NumPy has it, convolution and pooling of images."""

from __future__ import annotations

from typing import Any

import numpy as np

from autograd import operators as op
from autograd.numpy.arguments import as_array
from autograd.numpy.following import follows
from autograd.tensor import innermost_value

__all__ = ["avg_pool2d", "conv2d", "convolve", "correlate", "max_pool2d"]
METHODS: tuple[str, ...] = ()

_MODES = ("valid", "same", "full")


@follows(np.convolve, "a", "v")
def convolve(a: Any, v: Any, mode: str = "full") -> Any:
    """The sum of ``a[k] * v[n - k]`` for each n.

    All n where the two meet ("full"), as many as the longer one has, from their middle ("same"), or those where the shorter one
    lies inside the longer one ("valid").

    >>> convolve([1.0, 2.0], [1.0, 10.0])
    array([ 1., 12., 20.])
    """
    return _slid("convolve", a, v, mode)


@follows(np.correlate, "a", "v")
def correlate(a: Any, v: Any, mode: str = "valid") -> Any:
    """The sum of ``a[n + k] * conj(v[k])`` at each n: ``convolve`` with ``v`` reversed and conjugated.

    >>> correlate([1.0, 2.0, 3.0], [1.0, 10.0])
    array([21., 32.])
    """
    v = op.flip(_vector("correlate", v=v))
    return _slid("correlate", a, op.conjugate(v) if np.iscomplexobj(innermost_value(v)) else v, mode)


def _slid(function: str, a: Any, v: Any, mode: str) -> Any:
    a, v = _vector(function, a=a), _vector(function, v=v)
    if mode not in _MODES:
        raise ValueError(f"{function}: got mode={mode!r}, expected one of {_MODES}")
    if mode != "same":
        return op.convolve(a, v, mode=mode)
    lengths = a.shape[0], v.shape[0]
    start = (min(lengths) - 1) // 2
    if function == "correlate" and lengths[0] < lengths[1] and min(lengths) % 2 == 0:
        start += 1  # NumPy changes the two, and turns the result around
    return op.convolve(a, v)[start : start + max(lengths)]


def _vector(function: str, **operands: Any) -> Any:
    ((name, value),) = operands.items()
    value = as_array(value)
    shape = np.shape(innermost_value(value))
    if len(shape) > 1 or 0 in shape:
        raise ValueError(f"{function}: got {name} of shape {shape}, expected a vector with at least one element")
    return value if shape else op.reshape(value, shape=(1,))


def conv2d(
    x: Any,
    w: Any,
    bias: Any = None,
    *,
    stride: int | tuple[int, int] = 1,
    padding: Any = 0,
    dilation: int | tuple[int, int] = 1,
    groups: int = 1,
) -> Any:
    """The sum over a window of ``x`` times ``w``, at each position of the window, for each output channel (cross-correlation).

    x         ``(N, C, H, W)``, or one image ``(C, H, W)``
    w         ``(O, C / groups, KH, KW)``
    bias      ``(O,)``, added to every position
    padding   zeros around the image: an integer, a pair (rows, columns), a pair of pairs ``((top, bottom), (left, right))``,
              "valid" (none) or "same" (as many positions as the length divided by the stride, rounded up)
    groups    each of so many equal shares of the output channels sees its own share of the channels

    Raises ValueError where the channels do not fit, or the window is larger than the padded image.

    >>> conv2d(np.ones((1, 1, 4, 4)), np.ones((2, 1, 3, 3))).shape
    (1, 2, 2, 2)
    """
    shape, n_axes = np.shape(innermost_value(x)), np.ndim(innermost_value(w))
    if n_axes != 4 or len(shape) not in (3, 4):
        raise ValueError(
            f"conv2d got x of shape {shape} and w with {n_axes} axes, expected (N, C, H, W) or (C, H, W), and (O, C, KH, KW)"
        )
    single = len(shape) == 3
    y = op.conv2d(
        op.reshape(x, shape=(1, *shape)) if single else x,
        w,
        stride=stride,
        padding=padding,
        dilation=dilation,
        groups=groups,
    )
    if bias is not None:
        y = op.add(y, op.reshape(bias, shape=(-1, 1, 1)))
    return op.reshape(y, shape=y.shape[1:]) if single else y


def max_pool2d(
    x: Any,
    kernel_size: int | tuple[int, int],
    stride: int | tuple[int, int] | None = None,
    padding: Any = 0,
    dilation: int | tuple[int, int] = 1,
) -> Any:
    """The largest element under each position of a window over the last two axes; ``stride=None`` is ``kernel_size``.

    Padding never is the largest. Elements that tie share the gradient equally. Positions that the stride does not reach are
    left out. Raises ValueError if a window would see padding only.

    >>> max_pool2d(np.arange(16.0).reshape(1, 1, 4, 4), 2)
    array([[[[ 5.,  7.],
             [13., 15.]]]])
    """
    return op.max_pool2d(x, kernel_size=kernel_size, stride=stride, padding=padding, dilation=dilation)


def avg_pool2d(
    x: Any,
    kernel_size: int | tuple[int, int],
    stride: int | tuple[int, int] | None = None,
    padding: Any = 0,
    count_include_pad: bool = True,
) -> Any:
    """The mean under each position of a window over the last two axes; ``stride=None`` is ``kernel_size``.

    ``count_include_pad=False`` divides by the number of elements that are not padding.

    >>> avg_pool2d(np.arange(16.0).reshape(1, 1, 4, 4), 2)
    array([[[[ 2.5,  4.5],
             [10.5, 12.5]]]])
    """
    return op.avg_pool2d(x, kernel_size=kernel_size, stride=stride, padding=padding, count_include_pad=count_include_pad)
