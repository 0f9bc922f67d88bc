"""Questions about an array or tensor, whose answers are plain: its shape, its size, its kind of numbers."""

from __future__ import annotations

from typing import Any

import numpy as np

from autograd.tensor import innermost_value

__all__ = ["iscomplexobj", "isrealobj", "ndim", "shape", "size"]


def shape(a: Any) -> tuple[int, ...]:
    """The length of each axis.

    >>> shape([[1.0, 2.0, 3.0]])
    (1, 3)
    """
    return np.shape(innermost_value(a))


def ndim(a: Any) -> int:
    """The number of axes.

    >>> ndim([[1.0, 2.0, 3.0]])
    2
    """
    return np.ndim(innermost_value(a))


def size(a: Any, axis: Any = None) -> int:
    """The number of elements, or the length of an axis.

    >>> size([[1.0, 2.0, 3.0]]), size([[1.0, 2.0, 3.0]], 0)
    (3, 1)
    """
    return np.size(innermost_value(a), axis)


def iscomplexobj(x: Any) -> bool:
    """Whether the dtype is complex.

    >>> iscomplexobj(1.0)
    False
    """
    return np.iscomplexobj(innermost_value(x))


def isrealobj(x: Any) -> bool:
    """Whether the dtype is not complex.

    >>> isrealobj(1.0)
    True
    """
    return np.isrealobj(innermost_value(x))
