"""The functions that run operators, in the fastest form that a schema allows.

``unary`` and ``binary`` serve operators of one or two tensors, ``unary_with_attributes`` and ``list_with_attributes`` those of
one tensor or one list of them and attributes, and ``general`` every other. All do what ``autograd.engine.run`` does.
"""

from __future__ import annotations

from collections.abc import Callable
from threading import get_ident
from typing import Any

import numpy as np

from autograd.call_arguments import CallArguments
from autograd.engine import PLAIN_TYPES, active, add_note, call_kernel, info_of, keep_attribute, record, run, weak
from autograd.records import FURTHER_OUTPUT, NO_ATTRS, PYTHON_SCALARS
from autograd.tape import Tape
from autograd.tensor import Tensor, note_view
from autograd.variant_calls import into, variant_function
from registry import bindings
from registry.bindings import Binding
from registry.errors import close_matches
from registry.operators import get_schema, is_constant, operator_names
from registry.schema import FunctionSchema, SchemaKind

ndarray = np.ndarray
float64 = np.float64
float32 = np.float32
FLOAT64 = np.dtype(np.float64)
FLOAT32 = np.dtype(np.float32)

FLOAT_RESULTS = frozenset({ndarray, float64, float32})

# Each line here is paid by every operation of a training step. Where anything is unusual - another thread, an odd operand, a
# first run - the fast path hands over to ``run``, which does the same work from the start and knows every case.


def unary(name: str) -> Callable[..., Any]:
    """The function of a differentiable operator with one tensor input and no attributes."""
    table = bindings.table(name)

    def call(x: Any, /, *, out: Any = None) -> Any:
        if out is not None:
            return into(name, (x,), NO_ATTRS, out)
        if type(x) is not Tensor:
            if type(x) is ndarray and not x.dtype.hasobject:
                binding = table.get(active())
                if binding is not None:
                    try:
                        return binding.kernel_func(x)
                    except Exception as error:
                        add_note(error, binding, (x,))
                        raise
            return run(name, (x,), NO_ATTRS)
        tape = x._tape
        binding = table.get(active())
        if tape._recorder != get_ident() or binding is None:
            return run(name, (x,), NO_ATTRS)
        value = x._value
        if tape._outer and type(value) is Tensor:
            if not value._tape._recording:
                return run(name, (x,), NO_ATTRS)
            y = call(value)
        else:
            try:
                y = binding.kernel_func(value)
            except Exception as error:
                add_note(error, binding, (value,))
                raise
        kind = type(y)
        if kind is ndarray or kind is float64 or kind is float32:
            shape, dtype = y.shape, y.dtype
            if (dtype is not FLOAT64 and dtype is not FLOAT32 and dtype.kind not in "fc") or type(value) in PYTHON_SCALARS:
                return record(tape, binding, (x,), (value,), weak(y, (value,)), NO_ATTRS)
        elif kind is Tensor:
            shape, dtype = y._tape._shapes[y._id], y._tape._dtypes[y._id]
        else:
            return record(tape, binding, (x,), (value,), weak(y, (value,)), NO_ATTRS)
        if binding.keeps_inputs:
            tape._saved.append(value)
        if binding.keep_output:
            tape._saved.append(y)
        if binding.info_positions:
            tape._saved.append(info_of(value))
        tape._ids.append(x._id)
        tensor = Tensor()
        tensor._value = y
        tensor._tape = tape
        tensor._id = len(tape._bindings)
        tape._bindings.append(binding)
        tape._shapes.append(shape)
        tape._dtypes.append(dtype)
        return tensor

    return call


def binary(name: str) -> Callable[..., Any]:
    """The function of a differentiable operator with two tensor inputs and no attributes."""
    table = bindings.table(name)

    def call(x1: Any, x2: Any, /, *, out: Any = None) -> Any:
        if out is not None:
            return into(name, (x1, x2), NO_ATTRS, out)
        if type(x1) is Tensor:
            tape = x1._tape
            value1 = x1._value
            id1 = x1._id
            if type(x2) is Tensor:
                if x2._tape is not tape:
                    return run(name, (x1, x2), NO_ATTRS)
                value2 = x2._value
                id2 = x2._id
                mask = 3
            else:
                if type(x2) is not ndarray and type(x2) not in PLAIN_TYPES:
                    return run(name, (x1, x2), NO_ATTRS)
                value2 = x2
                id2 = -1
                mask = 1
        elif type(x2) is Tensor:
            if type(x1) is not ndarray and type(x1) not in PLAIN_TYPES:
                return run(name, (x1, x2), NO_ATTRS)
            tape = x2._tape
            value1 = x1
            value2 = x2._value
            id1 = -1
            id2 = x2._id
            mask = 2
        else:
            if type(x1) is ndarray and type(x2) is ndarray and not x1.dtype.hasobject and not x2.dtype.hasobject:
                binding = table.get(active())
                if binding is not None:
                    try:
                        return binding.kernel_func(x1, x2)
                    except Exception as error:
                        add_note(error, binding, (x1, x2))
                        raise
            return run(name, (x1, x2), NO_ATTRS)
        binding = table.get(active())
        if tape._recorder != get_ident() or binding is None:
            return run(name, (x1, x2), NO_ATTRS)
        if tape._outer and (type(value1) is Tensor or type(value2) is Tensor):
            if type(value1) is Tensor and not value1._tape._recording:
                return run(name, (x1, x2), NO_ATTRS)
            if type(value2) is Tensor and not value2._tape._recording:
                return run(name, (x1, x2), NO_ATTRS)
            y = call(value1, value2)
        else:
            try:
                y = binding.kernel_func(value1, value2)
            except Exception as error:
                add_note(error, binding, (value1, value2))
                raise
        kind = type(y)
        if kind is ndarray or kind is float64 or kind is float32:
            shape, dtype = y.shape, y.dtype
            if dtype is not FLOAT64 and dtype is not FLOAT32 and dtype.kind not in "fc":
                if dtype.hasobject:
                    return run(name, (x1, x2), NO_ATTRS)
                return record(tape, binding, (x1, x2), (value1, value2), y, NO_ATTRS)
            if kind is not ndarray and type(value1) in PYTHON_SCALARS and type(value2) in PYTHON_SCALARS:
                return record(tape, binding, (x1, x2), (value1, value2), y.item(), NO_ATTRS)
        elif kind is Tensor:
            shape, dtype = y._tape._shapes[y._id], y._tape._dtypes[y._id]
        else:
            return record(tape, binding, (x1, x2), (value1, value2), weak(y, (value1, value2)), NO_ATTRS)
        if binding.keeps_inputs:
            keep1, keep2 = binding.keep[mask]
            if keep1 is not None:
                if keep1 and mask == 2 and type(x1) is ndarray and id(x1) not in tape._locks:
                    tape._lock(x1)
                tape._saved.append(value1 if keep1 else None)
            if keep2 is not None:
                if keep2 and mask == 1 and type(x2) is ndarray and id(x2) not in tape._locks:
                    tape._lock(x2)
                tape._saved.append(value2 if keep2 else None)
        if binding.keep_output:
            tape._saved.append(y if binding.keep_output_if[mask] else None)
        for position in binding.info_positions:
            tape._saved.append(info_of(value2 if position else value1))
        ids = tape._ids
        ids.append(id1)
        ids.append(id2)
        tensor = Tensor()
        tensor._value = y
        tensor._tape = tape
        tensor._id = len(tape._bindings)
        tape._bindings.append(binding)
        tape._shapes.append(shape)
        tape._dtypes.append(dtype)
        return tensor

    return call


def general(name: str) -> Callable[..., Any]:
    """The function of any operator: tensors first, then attributes by position or by name."""
    arguments = CallArguments(name)
    n_inputs = len(arguments.input_names)
    n_attributes = len(arguments.attribute_names)
    defaults = arguments.attribute_defaults

    def call(*args: Any, out: Any = None, **attrs: Any) -> Any:
        if len(args) != n_inputs:
            args, attrs = arguments.sort(args, attrs)
        attrs = {**defaults, **attrs}
        if len(attrs) != n_attributes:
            arguments.refuse(attrs)
        return run(name, args, attrs) if out is None else into(name, args, attrs, out)

    return call


def unary_with_attributes(name: str) -> Callable[..., Any]:
    """The function of an operator with one tensor input, and attributes by position or by name."""
    table = bindings.table(name)
    arguments = CallArguments(name)
    n_attributes = len(arguments.attribute_names)
    defaults = arguments.attribute_defaults
    may_hold_arrays = arguments.may_hold_arrays

    def call(*args: Any, out: Any = None, **attrs: Any) -> Any:
        if len(args) != 1:
            args, attrs = arguments.sort(args, attrs)
        attrs = {**defaults, **attrs}
        if len(attrs) != n_attributes:
            arguments.refuse(attrs)
        if out is not None:
            return into(name, args, attrs, out)
        (x,) = args
        binding = table.get(active())
        if type(x) is not Tensor:
            if type(x) is not ndarray or binding is None or x.dtype.hasobject:
                return run(name, args, attrs)
            return call_kernel(binding, (x,), attrs)
        tape = x._tape
        if tape._recorder != get_ident() or binding is None:
            return run(name, args, attrs)
        value = x._value
        if tape._outer and type(value) is Tensor:
            if not value._tape._recording:
                return run(name, args, attrs)
            y = call(value, **attrs)
        else:
            y = call_kernel(binding, (value,), attrs)
        if binding.several:
            return _record_several(tape, binding, x, value, y, attrs, may_hold_arrays)
        kind = type(y)
        if kind is ndarray or kind is float64 or kind is float32:
            shape, dtype = y.shape, y.dtype
            if (dtype is not FLOAT64 and dtype is not FLOAT32 and dtype.kind not in "fc") or type(value) in PYTHON_SCALARS:
                return record(tape, binding, args, (value,), weak(y, (value,)), attrs)
        elif kind is Tensor:
            shape, dtype = y._tape._shapes[y._id], y._tape._dtypes[y._id]
        else:
            return record(tape, binding, args, (value,), weak(y, (value,)), attrs)
        if binding.keeps_inputs:
            tape._saved.append(value)
        if binding.keep_output:
            tape._saved.append(y)
        if binding.info_positions:
            tape._saved.append(info_of(value))
        for each in may_hold_arrays:
            if attrs[each] is not None:
                attrs[each] = keep_attribute(tape, attrs[each])
        tape._ids.append(x._id)
        tensor = Tensor()
        tensor._value = y
        tensor._tape = tape
        number = tensor._id = len(tape._bindings)
        if binding.views:
            note_view(x, tensor)
        tape._attrs[number] = attrs
        tape._bindings.append(binding)
        tape._shapes.append(shape)
        tape._dtypes.append(dtype)
        return tensor

    return call


def list_with_attributes(name: str) -> Callable[..., Any]:
    """The function of an operator whose input is one list of tensors, with one output, and attributes."""
    table = bindings.table(name)
    arguments = CallArguments(name)
    n_attributes = len(arguments.attribute_names)
    defaults = arguments.attribute_defaults

    def call(*args: Any, out: Any = None, **attrs: Any) -> Any:
        if len(args) != 1:
            args, attrs = arguments.sort(args, attrs)
        attrs = {**defaults, **attrs}
        if len(attrs) != n_attributes:
            arguments.refuse(attrs)
        if out is not None:
            return into(name, args, attrs, out)
        members = args[0]
        binding = table.get(active())
        tape = None
        if type(members) is list and binding is not None and not binding.keeps_inputs and not binding.keep_output:
            tape = _common_tape(members)
        if tape is None or binding is None:
            return run(name, args, attrs)
        values = [each._value if type(each) is Tensor else each for each in members]
        y = call_kernel(binding, (values,), attrs)
        if type(y) is not ndarray or y.dtype.kind not in "fc":
            return record(tape, binding, args, (values,), y, attrs)
        if binding.info_positions:
            tape._saved.append([info_of(each) for each in values])
        tape._ids.append(len(members))
        tape._ids += [each._id if type(each) is Tensor else -1 for each in members]
        number = len(tape._bindings)
        tape._attrs[number] = {name: keep_attribute(tape, each) for name, each in attrs.items()}
        tape._bindings.append(binding)
        tape._shapes.append(y.shape)
        tape._dtypes.append(y.dtype)
        tensor = Tensor()
        tensor._value = y
        tensor._tape = tape
        tensor._id = number
        return tensor

    return call


def _common_tape(members: list[Any]) -> Tape | None:
    """The tape of all tensors among these, if it records the fast way and everything else is an array; None otherwise."""
    tape = None
    for each in members:
        if type(each) is Tensor:
            if tape is None:
                tape = each._tape
                if tape._recorder != get_ident() or tape._outer:
                    return None
            elif each._tape is not tape:
                return None
            if type(each._value) is not ndarray:
                return None
        elif type(each) is not ndarray or each.dtype.hasobject:
            return None
    return tape


def _record_several(
    tape: Tape,
    binding: Binding,
    x: Tensor,
    value: Any,
    y: Any,
    attrs: dict[str, Any],
    may_hold_arrays: tuple[str, ...],
) -> Any:
    """Record a kernel of one tensor and attributes that returned several outputs."""
    if type(y) is not tuple or len(y) != binding.n_outputs or type(value) is not ndarray:
        return record(tape, binding, (x,), (value,), y, attrs)
    for each in y:
        if type(each) not in FLOAT_RESULTS or each.dtype.kind not in "fc":
            return record(tape, binding, (x,), (value,), y, attrs)
    if binding.keeps_inputs:
        tape._saved.append(value)
    for each, keep in zip(y, binding.save_outputs, strict=False):
        if keep:
            tape._saved.append(each)
    if binding.info_positions:
        tape._saved.append(info_of(value))
    for name in may_hold_arrays:
        if attrs[name] is not None:
            attrs[name] = keep_attribute(tape, attrs[name])
    tape._ids.append(x._id)
    number = len(tape._bindings)
    tape._attrs[number] = attrs
    results: list[Tensor] = []
    for each in y:
        tensor = Tensor()
        tensor._value = each
        tensor._tape = tape
        tensor._id = len(tape._bindings)
        tape._bindings.append(FURTHER_OUTPUT if results else binding)
        tape._shapes.append(each.shape)
        tape._dtypes.append(each.dtype)
        results.append(tensor)
    return tuple(results)


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
    function.__module__ = "autograd.operators"  # where pickle finds it again
    function.__doc__ = f"{schema}"
    return function


def _maker(schema: FunctionSchema) -> Callable[[str], Callable[..., Any]]:
    """Which kind of function an operator gets: the fastest one that its schema allows."""
    if schema.kind() is not SchemaKind.functional:
        return variant_function
    types = [each.type for each in schema.inputs] + [each.type for each in schema.returns]
    tensors_only = all(str(each) == "Tensor" for each in types)
    if [str(each) for each in types] == ["Tensor[]", "Tensor"] and not is_constant(str(schema.name)):
        return list_with_attributes
    if not tensors_only or not schema.returns or is_constant(str(schema.name)):
        return general
    views = any(each.annotation is not None for each in schema.returns)
    if (schema.attributes or views) and len(schema.inputs) == 1:
        return unary_with_attributes
    if schema.attributes or len(schema.returns) != 1:
        return general
    return {1: unary, 2: binary}.get(len(schema.inputs), general)
