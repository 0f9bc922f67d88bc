"""The table of operators: a name with a schema, however many backends implement it."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from registry import bindings
from registry.defaults import default_value
from registry.derived import Family, families
from registry.errors import KernelError, RegistrationError, SchemaError, close_matches
from registry.names import stem_of
from registry.schema import FunctionSchema, SchemaKind

_schemas: dict[str, FunctionSchema] = {}
_inferred: set[str] = set()
_constants: set[str] = set()
_families: dict[str, dict[str, Family]] = {}
"""By stem: the variants of the operators of that stem, worked out when first asked for."""

when_changed: list[Callable[[str], None]] = []
"""Called with the name of an operator whose schema has come, gone or changed; ``autograd.operators`` drops its function then."""


def _changed(name: str) -> None:
    _families.pop(stem_of(name), None)
    bindings.forget(name)
    for each in when_changed:
        each(name)


def declare(schema: str | FunctionSchema, *, constant: bool = False) -> FunctionSchema:
    """Add an operator by its schema text; returns the parsed schema.

    ``constant=True`` says that the result never depends on the inputs in a differentiable way (comparisons, ``floor``,
    ``argmax``): it leaves the engine as a plain array.

    Raises SchemaError for a text that does not parse, RegistrationError for a name that has another schema already.
    """
    parsed = FunctionSchema.parse(schema) if isinstance(schema, str) else schema
    name = str(parsed.name)
    old = _schemas.get(name)
    if old is not None and name not in _inferred and old != parsed:
        raise RegistrationError(f"operator {name!r} is already declared as\n  {old}\nand cannot also be\n  {parsed}")
    _schemas[name] = parsed
    _inferred.discard(name)
    if constant:
        _constants.add(name)
    _changed(name)
    return parsed


def declare_from_function(name: str, function: Callable[..., Any], *, again: bool = False) -> FunctionSchema:
    """The schema of ``name``; an undeclared operator gets one from the signature of its kernel function.

    ``again=True`` infers once more what was inferred before, for a kernel that takes the place of another.
    """
    schema = get_schema(name)
    if schema is None or (again and name in _inferred):
        schema = _schemas[name] = FunctionSchema.parse(_schema_text(name, function))
        _inferred.add(name)
        _changed(name)
    return schema


def forget_inferred(name: str) -> None:
    """Drop a schema that was inferred from a kernel which is gone; declared ones stay."""
    if name in _inferred:
        _inferred.discard(name)
        del _schemas[name]
        _changed(name)


def undeclare(name: str) -> None:
    """Take an operator's schema out of the table; raises RegistrationError if it is not there."""
    if name not in _schemas:
        raise RegistrationError(f"operator {name!r} is not declared." + close_matches(name, _schemas))
    del _schemas[name]
    _inferred.discard(name)
    _constants.discard(name)
    _changed(name)


def get_schema(name: str) -> FunctionSchema | None:
    """The schema of an operator or of one of its variants, also of those that nobody declared; None if there is none.

    >>> print(get_schema("add_"))
    add_(Tensor(a!) x1, Tensor x2) -> Tensor(a!)
    >>> get_schema("no such operator") is None
    True
    """
    schema = _schemas.get(name)
    if schema is not None:
        return schema
    variant = next((each for each in family_of(name).values() if str(each.name) == name), None)
    return None if variant is None else variant.schema


def family_of(name: str) -> Family:
    """The variants of the operator that has one of that name, by kind; declared ones, and those generated from them.

    >>> [str(variant.name) for variant in family_of("exp_").values()]
    ['exp', 'exp.out', 'exp_']
    """
    stem = stem_of(name)
    known = _families.get(stem)
    if known is None:
        known = _families[stem] = families(schema for each, schema in _schemas.items() if stem_of(each) == stem)
    return known.get(name, {})


def functional_name(name: str) -> str | None:
    """The name under which the operator of a variant is recorded: that of its functional form, which also has the gradient.

    >>> functional_name("add_"), functional_name("add.out"), functional_name("no such operator")
    ('add', 'add', None)
    """
    functional = family_of(name).get(SchemaKind.functional)
    return None if functional is None else str(functional.name)


def is_constant(name: str) -> bool:
    """Whether the operator was declared with ``constant=True``."""
    return name in _constants


def operator_names() -> list[str]:
    """Every declared operator, in order of declaration."""
    return list(_schemas)


def _schema_text(name: str, function: Callable[..., Any]) -> str:
    number_of_inputs = getattr(function, "nin", None)  # a ufunc says its arity itself
    if isinstance(number_of_inputs, int):
        names = ["x"] if number_of_inputs == 1 else [f"x{position + 1}" for position in range(number_of_inputs)]
        return f"{name}({', '.join('Tensor ' + each for each in names)}) -> Tensor"
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError) as error:
        raise KernelError(
            f"kernel {name!r}: no schema is declared and the signature of {function!r} cannot be read ({error});"
            f" declare it first: declare('{name}(Tensor x) -> Tensor')"
        ) from error
    inputs, attributes = [], []
    for parameter in parameters:
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
            raise KernelError(
                f"kernel {name!r}: no schema is declared, and its function takes *{parameter.name}, which does not say"
                f" what the inputs are; declare it first: declare('{name}(Tensor[] arrays) -> Tensor')"
            )
        if parameter.kind is parameter.KEYWORD_ONLY:
            attributes.append(f"Any? {parameter.name}{_default_text(parameter.default)}")
        else:
            inputs.append(f"Tensor {parameter.name}")
    parts = inputs + (["*", *attributes] if attributes else [])
    return f"{name}({', '.join(parts)}) -> Tensor"


def _default_text(value: Any) -> str:
    """``=`` and the text of a default; "" where there is none, or none that a schema can spell: then it must be given."""
    value = tuple(value) if isinstance(value, list) else value
    text = _spelled(value)
    try:
        same = ", " not in text and default_value(text) == value
    except SchemaError:
        return ""
    return f"={text}" if same else ""


def _spelled(value: Any) -> str:
    if isinstance(value, tuple):
        return f"[{','.join(_spelled(each) for each in value)}]"
    if isinstance(value, str):
        return value if value.isidentifier() and default_value(value) == value else repr(value)
    return repr(value) if value is None or isinstance(value, bool | int | float | complex) else ""
