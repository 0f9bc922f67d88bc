"""Check names and attribute values of a call against the operator's schema."""

from __future__ import annotations

import numbers
from collections.abc import Callable, Mapping
from typing import Any

from registry.errors import KernelError, close_matches
from registry.schema import FunctionSchema


def check_names(schema: FunctionSchema, inputs: Mapping[str, Any] | None, attrs: Mapping[str, Any]) -> None:
    """Raise KernelError for an input or attribute that the schema does not have, or one that it needs and lacks."""
    groups = [("attribute", attrs, schema.attributes)]
    if inputs is not None:
        groups.insert(0, ("input", inputs, schema.inputs))
    for kind, given, arguments in groups:
        names = [argument.name for argument in arguments]
        for name in given:
            if name not in names:
                raise KernelError(
                    f"operator {schema.name}: got {kind} {name!r}, expected {names}, by its schema\n  {schema}\n"
                    f"Leave it out or rename it.{close_matches(str(name), names)}"
                )
        for argument in arguments:
            left_out = argument.name not in given and argument.default is None
            if left_out and not (kind == "input" and argument.type.is_nullable()):
                raise KernelError(f"operator {schema.name}: missing {kind} {argument.name!r}, by its schema\n  {schema}")


def check_attributes(schema: FunctionSchema, attrs: Mapping[str, Any]) -> None:
    """Raise KernelError for an attribute whose value is not of the type that the schema gives it.

    >>> check_attributes(FunctionSchema.parse("sum(Tensor a, int[1]? axis=None) -> Tensor"), {"axis": (0, -1)})
    """
    for argument in schema.attributes:
        if argument.name in attrs and not fits(str(argument.type), attrs[argument.name]):
            raise KernelError(
                f"operator {schema.name}: attribute {argument.name!r} got {attrs[argument.name]!r} of type"
                f" {type(attrs[argument.name]).__name__}, expected {argument.type}, by its schema\n  {schema}"
            )


def fits(type_text: str, value: Any) -> bool:
    """Whether a value may be given where the schema says ``type_text``; a sized list takes a single value too.

    >>> fits("int[1]?", 3), fits("int[1]?", None), fits("int", "3")
    (True, True, False)
    """
    if type_text.endswith("?"):
        return value is None or fits(type_text[:-1], value)
    if type_text.endswith("]"):
        element, _, size = type_text[:-1].rpartition("[")
        if isinstance(value, list | tuple) or (hasattr(value, "ndim") and value.ndim == 1):
            return all(fits(element, each) for each in value)
        return bool(size) and fits(element, value)
    return _CHECKS.get(type_text, _anything)(value)


def _anything(value: Any) -> bool:
    return True


def _is_int(value: Any) -> bool:
    return (isinstance(value, numbers.Integral) and not _is_bool(value)) or (
        hasattr(value, "ndim") and value.ndim == 0 and getattr(value, "dtype", None) is not None and value.dtype.kind in "iu"
    )


def _is_bool(value: Any) -> bool:
    return isinstance(value, bool) or type(value).__name__ in ("bool", "bool_")


def _is_scalar(value: Any) -> bool:
    return isinstance(value, numbers.Number) or _is_bool(value) or (hasattr(value, "ndim") and value.ndim == 0)


_CHECKS: dict[str, Callable[[Any], bool]] = {
    "int": _is_int,
    "bool": _is_bool,
    "float": lambda value: isinstance(value, numbers.Real) and not _is_bool(value),
    "complex": lambda value: isinstance(value, numbers.Complex) and not _is_bool(value),
    "Scalar": _is_scalar,
    "str": lambda value: isinstance(value, str),
    "Callable": callable,
}
