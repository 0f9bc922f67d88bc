"""Questions about an array or tensor, whose answers are plain: its shape, its size, its kind of numbers."""

from __future__ import annotations

from typing import Any

import numpy as np

from autograd.numpy.arguments import of_bare_values
from autograd.tensor import innermost_value

__all__ = [
    "array2string", "array_repr", "array_str", "can_cast", "common_type", "iscomplexobj", "isfortran", "isrealobj", "isscalar",
    "may_share_memory", "min_scalar_type", "ndim", "result_type", "shape", "shares_memory", "size",
]  # fmt: skip

array2string = of_bare_values(np.array2string)
array_repr = of_bare_values(np.array_repr)
array_str = of_bare_values(np.array_str)
can_cast = of_bare_values(np.can_cast)
common_type = of_bare_values(np.common_type)
isfortran = of_bare_values(np.isfortran)
isscalar = of_bare_values(np.isscalar)
may_share_memory = of_bare_values(np.may_share_memory)
min_scalar_type = of_bare_values(np.min_scalar_type)
result_type = of_bare_values(np.result_type)
shares_memory = of_bare_values(np.shares_memory)


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
