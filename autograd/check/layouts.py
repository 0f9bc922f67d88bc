"""How an array lies in memory, and Python source that makes exactly such an array again."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

LAYOUTS = ("C", "F", "strided", "negative", "readonly")
"""Row by row, column by column, every second element of a longer row, backwards along every axis, and not writeable."""


def laid_out(a: Any, layout: str) -> np.ndarray[Any, Any]:
    """The same elements in another memory layout, one of ``LAYOUTS``; raises ValueError for any other word.

    An array without axes, or without elements, has but two layouts, "C" and "readonly"; others leave it as it is.

    >>> laid_out(np.eye(2), "negative").strides
    (-16, -8)
    """
    x = np.array(a)
    if layout not in LAYOUTS:
        raise ValueError(f"laid_out: got layout {layout!r}, expected one of {', '.join(LAYOUTS)}")
    if layout == "readonly":
        return np.broadcast_to(x, x.shape)
    if layout == "C" or not x.ndim or not x.size:
        return np.ascontiguousarray(x) if x.ndim else x
    if layout == "F":
        return np.asfortranarray(x)
    if layout == "strided":
        return np.repeat(x, 2, axis=-1)[..., ::2]
    return np.flip(np.ascontiguousarray(np.flip(x)))


def layout_of(a: np.ndarray[Any, Any]) -> str:
    """The layout of an array: one of ``LAYOUTS``, the nearest where it is none exactly.

    >>> layout_of(np.ones((2, 3)).T), layout_of(np.arange(6)[::2])
    ('F', 'strided')
    """
    if not a.flags.writeable:
        return "readonly"
    if any(step < 0 for step in a.strides):
        return "negative"
    if a.flags.c_contiguous:
        return "C"
    return "F" if a.flags.f_contiguous else "strided"


def source(value: Any) -> str:
    """Python source of a value, with NumPy as ``np``: arrays with their dtype, layout and every bit of their elements.

    >>> print(source(laid_out(np.array([1.5, -0.0], "float32"), "negative")))
    np.flip(np.array([-0.0, 1.5], 'float32'))
    >>> eval(source((slice(None), Ellipsis, np.float64("inf"))), {"np": np})
    (slice(None, None, None), Ellipsis, np.float64(inf))
    """
    if isinstance(value, np.ndarray):
        return _array_source(value)
    if isinstance(value, np.dtype):
        return f"np.dtype({value.str!r})" if value.isnative is False else f"np.dtype({value.name!r})"
    if isinstance(value, type) and issubclass(value, np.generic):
        return f"np.{value.__name__}"
    if isinstance(value, np.generic):
        return f"np.{type(value).__name__}({_number(value.item())})"
    if isinstance(value, bool) or value is None or value is Ellipsis:
        return repr(value)
    if isinstance(value, float | complex):
        return _number(value)
    if isinstance(value, slice):
        return f"slice({source(value.start)}, {source(value.stop)}, {source(value.step)})"
    if isinstance(value, list):
        return f"[{', '.join(source(each) for each in value)}]"
    if type(value) is tuple:
        return f"({', '.join(source(each) for each in value)}{',' if len(value) == 1 else ''})"
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{source(key)}: {source(each)}" for key, each in value.items()) + "}"
    return repr(value)


def _array_source(a: np.ndarray[Any, Any]) -> str:
    layout = layout_of(a)
    dtype = a.dtype.name if a.dtype.isnative else a.dtype.str
    if not a.size:
        plain = f"np.zeros({a.shape!r}, {dtype!r})"
    else:
        plain = f"np.array({_elements((np.flip(a) if layout == 'negative' else a).tolist())}, {dtype!r})"
    if layout == "readonly":
        return f"np.broadcast_to({plain}, {a.shape!r})"
    if layout == "negative":
        return f"np.flip({plain})"
    if layout == "F":
        return f"np.asfortranarray({plain})"
    return f"np.repeat({plain}, 2, axis=-1)[..., ::2]" if layout == "strided" else plain


def _elements(value: Any) -> str:
    if isinstance(value, list):
        return f"[{', '.join(_elements(each) for each in value)}]"
    return _number(value)


def _number(value: Any) -> str:
    """A number in a spelling that gives back its bits; Python reads ``-0.0 + 1j`` as ``0.0 + 1j``."""
    if isinstance(value, complex):
        odd = [part for part in (value.real, value.imag) if not math.isfinite(part) or (part == 0 and math.copysign(1, part) < 0)]
        return f"complex({_number(value.real)}, {_number(value.imag)})" if odd else repr(value)
    if isinstance(value, float) and not math.isfinite(value):
        return "np.nan" if math.isnan(value) else "np.inf" if value > 0 else "-np.inf"
    return repr(value)
