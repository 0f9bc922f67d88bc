"""Calls drawn from an operator's schema alone, for operators that have no row: a user's own."""

from __future__ import annotations

from typing import Any

import numpy as np

from autograd.check.domains import Drawn
from autograd.check.domains.drawing import Array, Draw, Interval
from registry.arguments import Argument
from registry.schema import FunctionSchema

WORDS: dict[str, tuple[str, ...]] = {
    "mode": ("full", "same", "valid"),
    "norm": ("backward", "ortho", "forward"),
    "order": ("C", "F"),
    "side": ("left", "right"),
    "UPLO": ("L", "U"),
}
"""What a ``str`` attribute of that name may be, beside its default."""

RANGES: tuple[tuple[Interval, ...], ...] = (((-2.0, -0.3), (0.3, 2.0)), ((0.3, 2.0),), ((0.1, 0.9),), ((1.1, 3.0),))
"""Where the inputs lie. A kernel that is not defined in one of them may be in another."""


def drawn_from_schema(draw: Draw, schema: FunctionSchema, dtype: str) -> Drawn:
    """Inputs whose shapes broadcast, or are equal, or multiply as matrices do, and attributes by type and name."""
    count = sum(1 if argument.type.is_list_like() is None else 2 for argument in schema.inputs)
    shapes = _shapes(draw, max(count, 1))
    intervals = draw.pick(RANGES)
    inputs: list[Any] = []
    for argument in schema.inputs:
        if argument.default is not None and draw.flip():
            inputs.append(argument.default_value)
        elif argument.type.is_list_like() is None:
            inputs.append(draw.array(shapes.pop(), *intervals, dtype=dtype))
        else:
            inputs.append([draw.array(shapes.pop(), *intervals, dtype=dtype) for _ in range(2)])
    arrays = [each for item in inputs for each in (item if isinstance(item, list) else [item]) if each is not None]
    return inputs, drawn_attributes(draw, schema, arrays)


def _shapes(draw: Draw, count: int) -> list[tuple[int, ...]]:
    kind = draw.choose(4)
    if kind == 3:
        sides = [draw.whole(1, 3) for _ in range(count + 1)]
        products: list[tuple[int, ...]] = [(sides[k], sides[k + 1]) for k in range(count)]
        return products[::-1]
    if kind == 2:
        side = draw.whole(1, 3)
        return [(side, side)] * count
    shapes = draw.broadcastable(count)
    return shapes if kind == 0 else [max(shapes, key=len)] * count


def drawn_attributes(draw: Draw, schema: FunctionSchema, arrays: list[Any]) -> dict[str, Any]:
    """A value for each attribute that has no default, and for about half of those that have one."""
    attrs: dict[str, Any] = {}
    for argument in schema.attributes:
        if argument.default is None or draw.flip():
            attrs[argument.name] = drawn_attribute(draw, argument, arrays)
    return attrs


def drawn_attribute(draw: Draw, argument: Argument, arrays: list[Any]) -> Any:
    """A value by the type and the name of an attribute; axes and indices are those of the first of ``arrays``."""
    text, name = str(argument.type), argument.name
    first: Array = np.asarray(arrays[0]) if arrays else np.empty(())
    optional = text.endswith("?")
    word = text.removesuffix("?").partition("[")[0]
    several = "[" in text
    if word in ("int", "SymInt") and "ax" in name:
        axis = draw.axis(first.ndim, several=several, optional=optional)
        return (axis,) if several and isinstance(axis, int) and "[]" in text else axis
    if optional and draw.flip():
        return None
    if name == "shape" and several:
        return first.shape
    value = _value(draw, word, name, argument, first)
    return (value,) * draw.whole(1, 2) if "[]" in text else value


def _value(draw: Draw, word: str, name: str, argument: Argument, first: Array) -> Any:
    if word == "bool":
        return draw.flip()
    if word in ("int", "SymInt"):
        return draw.whole(0, 3)
    if word in ("Scalar", "float"):
        return draw.pick((1.0, 0.5, 2.0, -1.0))
    if word == "complex":
        return draw.pick((1.0 + 0j, 1j, 0.5 - 1j))
    if word == "ScalarType":
        return draw.pick((first.dtype, np.dtype("float64"), "float64", np.float64))
    if word == "Index":
        return draw.index(first.shape)
    default = argument.default_value if argument.default is not None else None
    if word == "str":
        return draw.pick((*([default] if default is not None else []), *WORDS.get(name, ("",))))
    return default
