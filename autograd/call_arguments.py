"""How a call of an operator's function maps to inputs and attributes."""

from __future__ import annotations

from typing import Any, NoReturn

from autograd.errors import KernelError
from registry.errors import close_matches
from registry.operators import get_schema

ARRAY_WORDS = ("Any", "Index", "Tensor", "Scalar")
"""Schema words of attributes that may be arrays, which are locked like saved values."""


class CallArguments:
    """How a call of an operator's function maps to inputs and attributes."""

    __slots__ = (
        "attribute_defaults",
        "attribute_names",
        "input_defaults",
        "input_names",
        "may_hold_arrays",
        "name",
        "positional",
        "schema",
    )

    def __init__(self, name: str) -> None:
        schema = get_schema(name)
        if schema is None:
            raise KernelError(f"operator {name!r} is not declared")
        self.name = name
        self.schema = schema
        self.input_names = [each.name for each in schema.inputs]
        self.attribute_names = [each.name for each in schema.attributes]
        others = [each.name for each in schema.arguments.positional if each not in schema.inputs]
        self.positional = self.input_names + others
        self.input_defaults = {each.name: each.default_value for each in schema.inputs if each.default is not None}
        self.attribute_defaults = {each.name: each.default_value for each in schema.attributes if each.default is not None}
        self.may_hold_arrays = tuple(
            each.name
            for each in schema.attributes
            if each.type.is_list_like() is not None or any(each.type.is_base_like(word) for word in ARRAY_WORDS)
        )

    def sort(self, args: tuple[Any, ...], attrs: dict[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """Inputs in schema order, and attributes by name."""
        if len(args) > len(self.positional):
            raise KernelError(f"operator {self.name!r}: got {len(args)} positional arguments, expected at most {self.positional}")
        by_name = dict(zip(self.positional, args, strict=False))
        twice = by_name.keys() & attrs.keys()
        if twice:
            raise KernelError(f"operator {self.name!r}: got {sorted(twice)} by position and by name")
        by_name = {**self.input_defaults, **by_name, **attrs}
        missing = [each for each in self.input_names if each not in by_name]
        if missing:
            raise KernelError(f"operator {self.name!r}: missing input {missing[0]!r}; expected {self.schema}")
        return tuple(by_name.pop(each) for each in self.input_names), by_name

    def refuse(self, attrs: dict[str, Any]) -> NoReturn:
        """Raise KernelError for the attribute that is unknown or missing."""
        known = self.input_names + self.attribute_names
        for each in attrs:
            if each not in self.attribute_names:
                raise KernelError(
                    f"operator {self.name!r} has no argument {each!r}; expected {self.schema}.{close_matches(each, known)}"
                )
        missing = [each for each in self.attribute_names if each not in attrs]
        raise KernelError(f"operator {self.name!r}: missing attribute {missing[0]!r}; expected {self.schema}")
