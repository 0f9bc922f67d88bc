"""Composite kernels: the kernel of a variant that has none of its own, made of another variant of the same operator.

- A functional variant passes clones of what the in-place or mutable variant writes, and returns its new values and the clones.
- A variant that writes calls the functional one and copies the results into its out arguments and written inputs.

What is cloned, copied and returned follows from the two schemas: `composite_facts` tells, `composite_kernel` makes it run.

Where we differ from torchgen on purpose: an out variant whose schema writes an input too (`Tensor(b!) state`) does write it,
where torchgen drops that result; arrays are never resized; and any variant that writes can be made of its functional one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

import numpy as np

from registry.errors import KernelError, RegistrationError, SchemaError
from registry.schema import BaseType, FunctionSchema, SchemaKind
from registry.variant import Variant


@dataclass(frozen=True, slots=True)
class CompositeFacts:
    """How one variant is computed by calling another.

    variant         the schema of the one that is computed
    target          the schema of the one that is called, with the same inputs and attributes
    cloned          the inputs of which the target gets a clone, because it writes them
    copied          the arguments that are written, and of each the place of its value among the target's results
    options_from    the array that tells the target's dtype, layout, device and pin_memory, where the variant has no such options
    returned        what is returned: the name of an argument (its clone, if it is cloned), or a place among the results
    """

    variant: FunctionSchema
    target: FunctionSchema
    cloned: tuple[str, ...] = ()
    copied: tuple[tuple[str, int], ...] = ()
    options_from: str | None = None
    returned: tuple[str | int, ...] = ()


def composite_target(variant: Variant, members: Iterable[Variant]) -> Variant:
    """The variant that the composite kernel of `variant` calls, of those that its operator has.

    A functional variant calls the in-place one or, where that is generated itself, the mutable one; all others call the
    functional one, which may be generated: no circle comes of it, as a functional one calls none that is generated.

    Raises RegistrationError where there is no such variant.
    """
    found = {member.kind: member for member in members}
    if variant.kind is not SchemaKind.functional:
        target = found.get(SchemaKind.functional)
        if target is not None:
            return target
        raise RegistrationError(
            f"{variant.name}{variant.place} has no kernel of its own, and no functional variant to call; got"
            f" {[str(member.name) for member in found.values()]}, expected one, declared or generated"
        )
    for kind in (SchemaKind.inplace, SchemaKind.mutable):
        target = found.get(kind)
        if target is not None and not target.generated:
            return target
    raise RegistrationError(
        f"{variant.name}{variant.place} has no kernel of its own, and no in-place or mutable variant to call; got"
        f" {[str(member.name) for member in found.values()]}, expected one that is not generated"
    )


def composite_facts(variant: FunctionSchema, target: FunctionSchema) -> CompositeFacts:
    """How `variant` is computed by calling `target`: what is cloned, copied and returned.

    Raises SchemaError for two schemas that do not belong to one operator, or of which neither or both are functional.

    >>> mutable = FunctionSchema.parse("step(Tensor x, Tensor(a!) state) -> Tensor")
    >>> facts = composite_facts(FunctionSchema.parse("step_functional(Tensor x, Tensor state) -> (Tensor, Tensor)"), mutable)
    >>> facts.cloned, facts.returned
    (('state',), (0, 'state'))
    >>> facts = composite_facts(mutable, facts.variant)
    >>> facts.copied, facts.returned
    ((('state', 1),), (0,))
    """
    functional = SchemaKind.functional
    if (variant.kind() is functional) == (target.kind() is functional):
        _refuse(variant, target, "one of them functional, and the other not")
    options = [argument.name for argument in target.arguments.tensor_options if not variant.arguments.tensor_options]
    wanted = [[each.name for each in group if each.name not in options] for group in (target.inputs, target.attributes)]
    if [[each.name for each in group] for group in (variant.inputs, variant.attributes)] != wanted:
        _refuse(variant, target, "the same inputs and attributes")
    facts = _of_writing(variant, target) if variant.kind() is functional else _of_functional(variant, target, bool(options))
    if len(facts.returned) != len(variant.returns):
        _refuse(variant, target, "results for all returns")
    return facts


def composite_kernel(
    facts: CompositeFacts,
    call_target: Callable[..., Any],
    *,
    clone: Callable[[Any], Any],
    copy_into: Callable[[Any, Any], object],
) -> Callable[..., Any]:
    """The kernel that these facts describe: ``kernel(*inputs, **attributes)``, with out arguments by name.

    `call_target(*inputs, **attributes)` runs the target, `clone(array)` copies an array, and `copy_into(array, result)` writes a
    result into an array of the same shape and dtype, or raises. Lists are cloned and copied element by element, None is left
    alone. No results are returned as None, one as it is, several as a tuple.

    The kernel raises KernelError for a wrong number of inputs or results and for a missing out argument.

    >>> variant = FunctionSchema.parse("exp.out(Tensor x, *, Tensor(a!) out) -> Tensor(a!)")
    >>> facts = composite_facts(variant, FunctionSchema.parse("exp(Tensor x) -> Tensor"))
    >>> kernel = composite_kernel(facts, np.exp, clone=np.array, copy_into=np.copyto)
    >>> array = np.empty(2)
    >>> kernel(np.zeros(2), out=array) is array, array
    (True, array([1., 1.]))
    """
    if facts.variant.kind() is SchemaKind.functional:
        return _functional_kernel(facts, call_target, clone)
    results = facts.target.returns
    if len(results) == 1 and results[0].type.is_list_like() is None and facts.options_from is None:
        return _single_kernel(facts, call_target, copy_into)
    return _writing_kernel(facts, call_target, clone, copy_into)


def _of_writing(variant: FunctionSchema, target: FunctionSchema) -> CompositeFacts:
    """The facts of a functional variant that calls one which writes."""
    if target.arguments.out:
        _refuse(variant, target, "an in-place or mutable operator to be called")
    cloned = tuple(argument.name for argument in target.inputs if argument.is_write)
    fresh = (index for index, item in enumerate(target.returns) if item.annotation is None or not item.annotation.is_write)
    return CompositeFacts(variant, target, cloned=cloned, returned=(*fresh, *cloned))


def _of_functional(variant: FunctionSchema, target: FunctionSchema, needs_options: bool) -> CompositeFacts:
    """The facts of a variant that writes and calls the functional one.

    The functional variant returns what this one returns, and then what it writes without returning it: results of out arguments,
    then written inputs, since it was generated from an operator that had those inputs and no out arguments.
    """
    written = [argument for argument in (*variant.arguments.out, *variant.inputs) if argument.is_write]
    names = {argument.name for argument in written}
    returned = [name if name in names else None for name in variant.aliased_return_names()]
    results = returned + [argument.name for argument in written if argument.name not in returned]
    if len(results) != len(target.returns):
        _refuse(variant, target, f"{len(results)} results of the functional one")
    if needs_options and written[0].type != BaseType("Tensor"):
        _refuse(variant, target, "a single array that tells the dtype")
    return CompositeFacts(
        variant,
        target,
        copied=tuple((name, index) for index, name in enumerate(results) if name is not None),
        options_from=written[0].name if needs_options else None,
        returned=tuple(index if name is None else name for index, name in enumerate(returned)),
    )


def _functional_kernel(facts: CompositeFacts, call_target: Callable[..., Any], clone: Callable[[Any], Any]) -> Callable[..., Any]:
    positions = _positions(facts, facts.cloned)
    fresh = [each for each in facts.returned if isinstance(each, int)]

    def functional(*inputs: Any, **attributes: Any) -> Any:
        _check_inputs(facts, inputs)
        passed = list(inputs)
        for position in positions:
            passed[position] = _clone_of(passed[position], clone)
        result = call_target(*passed, **attributes)
        clones = [passed[position] for position in positions]
        if not fresh:
            return clones[0] if len(clones) == 1 else tuple(clones)
        results = _results(facts, result)
        return (*(results[index] for index in fresh), *clones)

    return functional


def _single_kernel(
    facts: CompositeFacts, call_target: Callable[..., Any], copy_into: Callable[[Any, Any], object]
) -> Callable[..., Any]:
    """The kernel where there is one result, as for most operators: the same as `_writing_kernel`, in a third of the time."""
    ((name, _),) = facts.copied
    position = None if facts.variant.arguments.out else _positions(facts, [name])[0]
    returns = bool(facts.returned)

    def writing(*inputs: Any, **attributes: Any) -> Any:
        _check_inputs(facts, inputs)
        target = _take_out(facts, attributes, name) if position is None else inputs[position]
        result = call_target(*inputs, **attributes)
        if isinstance(target, np.ndarray) and isinstance(result, np.ndarray):
            copy_into(target, result)
        else:
            for array, value in _pairs(facts, name, target, result):
                copy_into(array, value)
        return target if returns else None

    return writing


def _writing_kernel(
    facts: CompositeFacts, call_target: Callable[..., Any], clone: Callable[[Any], Any], copy_into: Callable[[Any, Any], object]
) -> Callable[..., Any]:
    out_names = [argument.name for argument in facts.variant.arguments.out]
    written_inputs = [name for name, _ in facts.copied if name not in out_names]
    positions = list(zip(written_inputs, _positions(facts, written_inputs), strict=True))
    options = [argument.name for argument in facts.target.arguments.tensor_options]

    def writing(*inputs: Any, **attributes: Any) -> Any:
        _check_inputs(facts, inputs)
        arrays = {name: _take_out(facts, attributes, name) for name in out_names}
        for name, position in positions:
            arrays[name] = inputs[position]
        if facts.options_from is not None:
            attributes.update({name: getattr(arrays[facts.options_from], name, None) for name in options})
        results = _results(facts, call_target(*inputs, **attributes))
        pairs = [pair for name, index in facts.copied for pair in _pairs(facts, name, arrays[name], results[index])]
        targets = [array for array, _ in pairs]
        returned = [arrays[each] if isinstance(each, str) else _kept(results[each], targets, clone) for each in facts.returned]
        values = [_kept(result, targets[:index], clone) for index, (_, result) in enumerate(pairs)]
        for array, value in zip(targets, values, strict=True):
            copy_into(array, value)
        return returned[0] if len(returned) == 1 else tuple(returned) or None

    return writing


def _positions(facts: CompositeFacts, names: Sequence[str]) -> list[int]:
    inputs = [argument.name for argument in facts.variant.inputs]
    return [inputs.index(name) for name in names]


def _check_inputs(facts: CompositeFacts, inputs: Sequence[Any]) -> None:
    if len(inputs) != len(facts.variant.inputs):
        raise KernelError(
            f"operator {str(facts.variant.name)!r}: got {len(inputs)} inputs, expected {len(facts.variant.inputs)} by\n"
            f"  {facts.variant}"
        )


def _take_out(facts: CompositeFacts, attributes: dict[str, Any], name: str) -> Any:
    if name not in attributes:
        raise KernelError(f"operator {str(facts.variant.name)!r}: missing out argument {name!r}, by\n  {facts.variant}")
    return attributes.pop(name)


def _clone_of(value: Any, clone: Callable[[Any], Any]) -> Any:
    if value is None:
        return None
    return [_clone_of(each, clone) for each in value] if isinstance(value, list | tuple) else clone(value)


def _results(facts: CompositeFacts, result: Any) -> Sequence[Any]:
    """What the target returned as a sequence of its results."""
    count = len(facts.target.returns)
    if count == 1:
        return (result,)
    if isinstance(result, list | tuple) and len(result) == count:
        return result
    got = f"{len(result)} results" if isinstance(result, list | tuple) else type(result).__name__
    raise KernelError(
        f"operator {str(facts.variant.name)!r}: {facts.target.name} returned {got}, expected {count} results by\n  {facts.target}"
    )


def _pairs(facts: CompositeFacts, name: str, array: Any, result: Any) -> list[tuple[Any, Any]]:
    """The arrays to be written and their values, one by one."""
    if array is None and result is None:
        return []
    if isinstance(array, list | tuple):
        if isinstance(result, list | tuple) and len(result) == len(array):
            return [pair for each, value in zip(array, result, strict=True) for pair in _pairs(facts, name, each, value)]
        got = f"{len(result)} arrays" if isinstance(result, list | tuple) else type(result).__name__
        raise KernelError(
            f"operator {str(facts.variant.name)!r}: {name} is a list of {len(array)} arrays, but the result is {got};"
            " pass one array for each result"
        )
    if array is None or result is None or isinstance(result, list | tuple):
        raise KernelError(
            f"operator {str(facts.variant.name)!r}: {name} is of type {type(array).__name__}, but the result of type"
            f" {type(result).__name__}; pass what holds the result, by\n  {facts.variant}"
        )
    return [(array, result)]


def _kept(result: Any, written: Sequence[Any], clone: Callable[[Any], Any]) -> Any:
    """The result, or its clone where it may change when the arrays are written: a kernel may return a view of its input."""
    if isinstance(result, list | tuple):
        return [_kept(each, written, clone) for each in result]
    return clone(result) if any(np.may_share_memory(result, array) for array in written) else result


def _refuse(variant: FunctionSchema, target: FunctionSchema, expected: str) -> NoReturn:
    raise SchemaError(
        f"{variant.name} cannot be computed by calling {target.name}: {target}", text=str(variant), expected=expected
    )
