"""Every declared operator as a function: ``operators.multiply(x, y)``, ``operators.sum(a, axis=0)``.

Gradient rules are written with these, so that gradients of gradients need no further code. A function is made from the
operator's schema when it is first asked for.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from autograd.calls import binary, general, unary, unary_with_attributes
from registry.errors import close_matches
from registry.operators import get_schema, is_constant, operator_names, when_changed
from registry.schema import FunctionSchema

_made: set[str] = set()
"""Names of the functions that this module holds."""


def operator_function(name: str) -> Callable[..., Any]:
    """The function of one operator; ``operators.add`` is ``operator_function("add")``.

    Raises AttributeError for an operator that is not declared.

    >>> operator_function("add")(1.0, 2.0)
    3.0
    """
    schema = get_schema(name)
    if schema is None:
        raise AttributeError(f"no operator {name!r} is declared." + close_matches(name, operator_names()))
    function = _maker(schema)(name)
    function.__name__ = function.__qualname__ = name
    function.__module__ = __name__
    function.__doc__ = f"{schema}"
    return function


def _maker(schema: FunctionSchema) -> Callable[[str], Callable[..., Any]]:
    """Which kind of function an operator gets: the fastest one that its schema allows."""
    types = [each.type for each in schema.inputs] + [each.type for each in schema.returns]
    tensors_only = all(str(each) == "Tensor" for each in types)
    if not tensors_only or not schema.returns or is_constant(str(schema.name)):
        return general
    if schema.attributes and len(schema.inputs) == 1:
        return unary_with_attributes
    if schema.attributes or len(schema.returns) != 1:
        return general
    return {1: unary, 2: binary}.get(len(schema.inputs), general)


def __getattr__(name: str) -> Any:
    if name.startswith("__"):
        raise AttributeError(name)
    function = operator_function(name)
    globals()[name] = function  # later look-ups find it without coming here, until the operator's schema changes
    _made.add(name)
    return function


def _drop(name: str) -> None:
    if name in _made:
        _made.discard(name)
        globals().pop(name, None)


when_changed.append(_drop)
