"""Calls that write: ``add(x, y, out=a)``, ``add_(x, y)``, and every other variant of an operator with written arguments.

On plain arrays the variant's kernel runs. Where a tensor takes part, the functional form runs and is recorded, and each result
takes the place of what would have been written. A tensor is *rebound*: the same handle stands for the new value from here on,
while the gradient in a watched one stays that in the value which was watched. A plain array is filled with NaN and the tensor
is returned: ``a += t`` and ``out=a`` look the same from here, and another name for the old array must not hold numbers that
no tape follows.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from autograd.call_arguments import CallArguments
from autograd.engine import as_operand, binding_of, call_kernel, innermost_tape, run
from autograd.errors import KernelError, NotTrackedError, OutArrayError
from autograd.tensor import AssignableArray, Tensor, innermost_value
from autograd.views import check_writable, rebind
from registry.attributes import check_attributes, check_names
from registry.operators import family_of, functional_name, is_constant
from registry.out_arrays import check_result, check_target
from registry.schema import FunctionSchema, SchemaKind


class VariantCall:
    """How a call of an in-place, mutable or out variant runs; made once for each variant.

    out_names   its out arguments
    written     all arguments that it writes, in order, and for each whether it is a list
    constant    its results have no derivative, so they are plain, also where an input is on a tape
    results     for each result of the functional form, the written argument that it belongs to, or None
    returned    for each of those results, whether the variant returns it
    """

    __slots__ = ("arguments", "constant", "functional", "name", "out_names", "results", "returned", "schema", "written")

    def __init__(self, name: str) -> None:
        self.name = name
        self.arguments = CallArguments(name)
        schema = self.schema = self.arguments.schema
        self.functional = functional_name(name)
        self.constant = self.functional is not None and is_constant(self.functional)
        self.out_names = [each.name for each in schema.arguments.out]
        self.written = {each.name: each.type.is_list_like() is not None for each in schema.arguments.flat_all if each.is_write}
        returned = list(schema.aliased_return_names())
        self.results = returned + [each for each in _order_of_results(schema) if each not in returned]
        self.returned = len(returned)

    def __call__(self, *args: Any, **given: Any) -> Any:
        outs = {name: given.pop(name) for name in self.out_names if name in given}
        inputs, attrs = self.arguments.sort(args, given)
        attrs = {**self.arguments.attribute_defaults, **attrs}
        if len(attrs) != len(self.arguments.attribute_names):
            self.arguments.refuse(attrs)
        return self.run(inputs, attrs, outs)

    def run(self, inputs: Sequence[Any], attrs: dict[str, Any], outs: dict[str, Any]) -> Any:
        """Run on inputs in schema order, with all attributes given and the out arguments by name."""
        missing = [name for name in self.out_names if name not in outs]
        if missing:
            raise KernelError(f"operator {self.name!r}: missing out argument {missing[0]!r}, by its schema\n  {self.schema}")
        targets = {**dict(zip(self.arguments.input_names, inputs, strict=True)), **outs}
        targets = {name: targets[name] for name in self.written if targets[name] is not None}
        plain = innermost_tape([*inputs, *targets.values()]) is None
        if plain and not any(type(each) is AssignableArray for each in targets.values()):
            return self._run_plain(inputs, attrs, outs, targets)
        if self.functional is None:
            raise NotTrackedError(
                f"operator {self.name!r} has no functional form, which is what a tape records; declare one with the same"
                f" arguments: {self.schema.signature()}"
            )
        operands = list(inputs)
        for name, target in targets.items():
            operands = prepare(f"operator {self.name!r}: {name}", target, operands, constant=self.constant)
        results = run(self.functional, operands, attrs)
        several = isinstance(results, tuple) or (isinstance(results, list) and len(self.results) > 1)
        delivered = [
            result if name not in targets else write(f"operator {self.name!r}: {name}", targets[name], result)
            for name, result in zip(self.results, results if several else (results,), strict=True)
        ][: self.returned]
        return delivered[0] if len(delivered) == 1 else tuple(delivered) or None

    def _run_plain(self, inputs: Sequence[Any], attrs: dict[str, Any], outs: dict[str, Any], targets: dict[str, Any]) -> Any:
        binding = binding_of(self.name)
        names = self.arguments.input_names
        operands = [
            each if name in targets else as_operand(self.name, each, is_list)
            for name, each, is_list in zip(names, inputs, binding.list_inputs, strict=True)
        ]
        others: list[Any] = []
        for name, target in targets.items():
            for each in target if self.written[name] else (target,):
                check_target(f"operator {self.name!r}: {name}", each, [operands, others])
                others.append(each)
        y = call_kernel(binding, operands, {**attrs, **outs})
        if any(name not in targets for name in self.results[: self.returned]):
            return y
        # What was written is returned, whatever the kernel did return: NumPy's may give a scalar.
        written = [targets[name] for name in self.results[: self.returned] if name is not None]
        return written[0] if len(written) == 1 else tuple(written) or None


def run_kernel(name: str, inputs: Mapping[str, Any] | Sequence[Any], attrs: Mapping[str, Any] | None = None) -> Any:
    """Run the active backend's kernel of an operator or of one of its variants, and record it if an input is on an open tape.

    ``inputs`` maps input names to values, or lists them in schema order; ``attrs`` maps attribute names to values. Out arguments
    go by name into either. Raises KernelNotFoundError for an unknown kernel, KernelError for inputs or attributes that the schema
    does not have or allow, OutArrayError for an array that cannot be written.

    >>> run_kernel("add", {"x1": 1.0, "x2": 2.0})
    3.0
    >>> run_kernel("add.out", {"x1": 1.0, "x2": np.ones(2), "out": np.empty(2)})
    array([2., 2.])
    """
    binding = binding_of(name)
    schema = binding.schema
    writes = schema.kind() is not SchemaKind.functional
    given = dict(attrs or {})
    outs = {each.name: given.pop(each.name) for each in schema.arguments.out if each.name in given}
    if isinstance(inputs, Mapping):
        outs.update({each.name: inputs[each.name] for each in schema.arguments.out if each.name in inputs})
        inputs = {each: value for each, value in inputs.items() if each not in outs}
    check_names(schema, inputs if isinstance(inputs, Mapping) else None, given)
    check_attributes(schema, given)
    if isinstance(inputs, Mapping):
        inputs = [inputs.get(each) for each in binding.input_names]
    if len(inputs) != len(binding.input_names):
        raise KernelError(f"operator {name!r}: got {len(inputs)} inputs, expected {list(binding.input_names)}")
    given = {**binding.attr_defaults, **given}
    return VariantCall(name).run(inputs, given, outs) if writes else run(name, tuple(inputs), given)


def into(name: str, inputs: Sequence[Any], attrs: dict[str, Any], out: Any) -> Any:
    """``f(..., out=out)``: the out variant of an operator; ``out`` is an array or tensor, or a tuple of one for each result.

    Raises KernelError for an operator that has no out variant, and for an ``out`` that does not fit.

    >>> into("add", (np.array([1.0, 2.0]), 1.0), {}, np.empty(2))
    array([2., 3.])
    """
    variant = family_of(name).get(SchemaKind.out)
    if variant is None:
        raise KernelError(f"operator {name!r} has no out variant: it returns no tensor; call it without out=")
    call = _call_of(str(variant.name), variant.schema)
    names = call.out_names
    given = out if isinstance(out, tuple) else (out,)
    if len(given) != len(names):
        raise OutArrayError(f"operator {name!r}: got out= with {len(given)} arrays, expected {len(names)}, one for each result")
    return call.run(inputs, attrs, dict(zip(names, given, strict=True)))


def numpy_into(who: str, function: Callable[..., Any], inputs: Sequence[Any], out: Any) -> Any:
    """``np.f(*inputs, out=out)`` with a tensor among them, by NumPy's rule: the result is cast if its kind of number allows that.

    ``out`` is one array or tensor, or a tuple of one.
    """
    (target,) = out if isinstance(out, tuple) else (out,)
    if type(target) is AssignableArray:
        result = function(*[each.copy() if each is target else each for each in inputs])
        check_result(who, target, np.shape(innermost_value(result)), target.dtype)
        target[...] = result
        return target
    constant = is_constant(getattr(function, "__name__", ""))
    result = function(*prepare(who, target, list(inputs), constant=constant))
    dtype = getattr(innermost_value(result), "dtype", None)
    wanted = innermost_value(target)
    if dtype is not None and isinstance(wanted, np.ndarray | np.generic) and dtype != wanted.dtype:
        if not np.can_cast(dtype, wanted.dtype, "same_kind"):
            raise OutArrayError(f"{who} has dtype {wanted.dtype}, to which the result, {dtype}, cannot be cast; write y = f(...)")
        result = run("astype", (result,), {"dtype": wanted.dtype})
    return write(who, target, result)


def variant_function(name: str) -> Callable[..., Any]:
    """The function of an in-place, mutable or out variant: ``variant_function("add_")(x, y)``.

    >>> x = np.array([1.0, 2.0])
    >>> variant_function("add_")(x, 1.0) is x, x
    (True, array([2., 3.]))
    """
    call = VariantCall(name)

    def function(*args: Any, **given: Any) -> Any:
        return call(*args, **given)

    return function


_calls: dict[str, VariantCall] = {}
"""Of out variants, by name, each made for the schema that it had then."""


def _call_of(name: str, schema: FunctionSchema) -> VariantCall:
    known = _calls.get(name)
    if known is None or known.schema is not schema:
        known = _calls[name] = VariantCall(name)
    return known


def _order_of_results(schema: FunctionSchema) -> list[str]:
    """The written arguments in the order in which the functional form returns them (see ``FunctionSchema.signature``)."""
    arguments = schema.arguments
    receiver = () if arguments.self_arg is None else (arguments.self_arg,)
    return [each.name for each in arguments.out + receiver + arguments.post_self_positional if each.is_write]


# -------------------------------------------------------------------------------------------------- what is written


def prepare(who: str, target: Any, operands: list[Any], *, constant: bool = False) -> list[Any]:
    """Raise unless ``target`` can take a result that is on a tape; the operands to use, which do not change when it does."""
    if isinstance(target, list | tuple):
        for each in target:
            operands = prepare(who, each, operands, constant=constant)
        return operands
    if type(target) is Tensor:
        check_writable(who, target)
        return operands
    if type(target) is AssignableArray:
        return [each.copy() if each is target else each for each in operands]
    check_target(who, target, operands)
    if target.dtype.kind not in "fc" and not constant:
        raise NotTrackedError(
            f"{who} is a plain array of dtype {target.dtype}, but the result is on a tape, which it cannot hold; take what is"
            " returned: y = f(...)"
        )
    return [target.copy() if each is target else each for each in operands]


def write(who: str, target: Any, result: Any) -> Any:
    """Put a result where it was to be written; returns what stands for it from now on: the tensor, or the array.

    Raises OutArrayError for another shape or dtype.
    """
    if isinstance(target, list | tuple):
        if len(target) != len(result):
            raise OutArrayError(f"{who} has {len(target)} arrays, expected {len(result)}, one for each result")
        return [write(who, each, part) for each, part in zip(target, result, strict=True)]
    plain = innermost_value(result)
    shape, dtype = np.shape(plain), plain.dtype if hasattr(plain, "dtype") else np.dtype(type(plain))
    if type(target) is Tensor:
        check_result(who, target, shape, dtype)
        rebind(who, target, result)
        return target
    check_result(who, target, shape, dtype)
    if type(target) is AssignableArray:
        target[...] = result
        return target
    target[...] = np.nan if type(result) is Tensor else result
    return result if type(result) is Tensor else target
