"""Records: how they lie in the columns of a tape, and how people see them.

The hot path appends to the columns; everything here reads them. ``TapeNode`` is the view of one record, ``graph`` that of all.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from autograd.tensor import innermost_value
from registry.bindings import Binding
from registry.kernels import KernelConfig
from registry.schema import FunctionSchema

if TYPE_CHECKING:
    import networkx

    from autograd.tape import Tape

PYTHON_SCALARS = frozenset({float, int, complex, bool})
NO_ATTRS: dict[str, Any] = {}


def _marker(schema: str) -> Binding:
    parsed = FunctionSchema.parse(schema)
    return Binding(KernelConfig(str(parsed.name), "tape", lambda: None), parsed, None)


SOURCE = _marker("source() -> Tensor")
"""Stands in the column of bindings where a watched source has its id."""

FURTHER_OUTPUT = _marker("further_output() -> Tensor")
"""Stands in the column of bindings where the second and later outputs of a record have their ids."""


@dataclass(frozen=True, slots=True)
class TapeNode:
    """One recorded kernel execution, as people see it. All fields are by name; ids are those of ``Tensor.id``.

    ``inputs`` maps each input to its id (None for a constant; a list input to a list), ``outputs`` lists ids, ``saved`` maps
    what the rule asked for to its value, ``gradient`` is the rule. ``values`` and ``source_line`` are there on a tape
    made with ``keep="all"`` and ``sources=True``.
    """

    id: int
    kernel_name: str
    backend_name: str
    inputs: dict[str, Any]
    outputs: list[int]
    shape: tuple[int, ...]
    dtype: Any
    attrs: dict[str, Any]
    inputs_to_save: tuple[str, ...]
    outputs_to_save: tuple[bool, ...]
    saved: dict[str, Any]
    gradient: Any
    scope: str
    values: tuple[Any, ...] | None
    source_line: str | None


def skip_inputs(binding: Binding, ids: list[int], at: int) -> tuple[int, int]:
    """Where the input ids of the next record begin, and how many ids the list inputs of this one have."""
    if not binding.has_list:
        return at + len(binding.input_names), 0
    n_listed = 0
    for is_list in binding.list_inputs:
        if is_list:
            n_listed += ids[at]
            at += 1 + ids[at]
        else:
            at += 1
    return at, n_listed


def saved_count(binding: Binding, n_listed: int) -> int:
    """How many saved values a record holds whose rule saves a list of inputs."""
    return n_listed + sum(binding.save_outputs) + len(binding.info_positions)


def places(tape: Tape) -> Iterator[tuple[int, int, int, int]]:
    """For each record: its id, the number of its outputs, where its input ids begin, where its saved values begin."""
    ids = tape._ids
    at = saved_at = 0
    bindings = tape._bindings
    number, end = 0, len(bindings)
    while number < end:
        binding = bindings[number]
        n_outputs = 1
        while number + n_outputs < end and bindings[number + n_outputs] is FURTHER_OUTPUT:
            n_outputs += 1
        if binding is not SOURCE:
            yield number, n_outputs, at, saved_at
            at, n_listed = skip_inputs(binding, ids, at)
            saved_at += binding.n_saved if binding.n_saved is not None else saved_count(binding, n_listed)
        number += n_outputs


def node(tape: Tape, number: int, n_outputs: int, at: int, saved_at: int) -> TapeNode:
    binding = tape._bindings[number]
    inputs: dict[str, Any] = {}
    for name, is_list in zip(binding.input_names, binding.list_inputs, strict=True):
        if is_list:
            count = tape._ids[at]
            inputs[name] = [each if each >= 0 else None for each in tape._ids[at + 1 : at + 1 + count]]
            at += 1 + count
        else:
            inputs[name] = tape._ids[at] if tape._ids[at] >= 0 else None
            at += 1
    gradient = binding.gradient
    values, line = tape._details.get(number, (None, None, None))[:2]
    return TapeNode(
        id=number,
        kernel_name=binding.name,
        backend_name=binding.kernel.backend_name,
        inputs=inputs,
        outputs=list(range(number, number + n_outputs)),
        shape=tape._shapes[number],
        dtype=tape._dtypes[number],
        attrs=dict(tape._attrs.get(number, NO_ATTRS)),
        inputs_to_save=tuple(name for name, save in zip(binding.input_names, binding.save_inputs, strict=True) if save),
        outputs_to_save=tuple(binding.save_outputs),
        saved={} if tape._freed else _saved_by_name(tape, binding, inputs, saved_at),
        gradient=None if gradient is None else gradient.grad_func,
        scope=scope_of(tape, number),
        values=values,
        source_line=line,
    )


def _saved_by_name(tape: Tape, binding: Binding, inputs: dict[str, Any], at: int) -> dict[str, Any]:
    by_name: dict[str, Any] = {}
    for name, save in zip(binding.input_names, binding.save_inputs, strict=True):
        if save:
            listed = isinstance(inputs[name], list)
            count = len(inputs[name]) if listed else 1
            by_name[name] = tape._saved[at : at + count] if listed else tape._saved[at]
            at += count
    for position, save in enumerate(binding.save_outputs):
        if save:
            by_name["output" if len(binding.save_outputs) == 1 else f"output {position}"] = tape._saved[at]
            at += 1
    for position in binding.info_positions:
        by_name[f"info of {binding.input_names[position]}"] = tape._saved[at]
        at += 1
    return by_name


def scope_of(tape: Tape, number: int) -> str:
    names = [name for start, end, name in tape._scopes if start <= number and (end is None or number < end)]
    return "/".join(names)


def graph(tape: Tape) -> networkx.DiGraph:
    """The tape as a ``networkx.DiGraph``: a node for each record and source, an edge for each use of a value.

    Node attributes are the fields of ``TapeNode``; a source has ``kernel_name`` "source". An edge holds the names of the
    inputs it feeds as ``inputs``.
    """
    import networkx

    graph = networkx.DiGraph()
    owner: dict[int, int] = {}
    for number, name in tape._names.items():
        owner[number] = number
        graph.add_node(
            number,
            id=number,
            kernel_name="source",
            name=name,
            shape=tape._shapes[number],
            dtype=tape._dtypes[number],
            scope=scope_of(tape, number),
        )
    for each in [node(tape, *place) for place in places(tape)]:
        graph.add_node(each.id, **{field: getattr(each, field) for field in TapeNode.__slots__})
        owner.update(dict.fromkeys(each.outputs, each.id))
        for input_name, numbers in each.inputs.items():
            for number in numbers if isinstance(numbers, list) else [numbers]:
                if number is not None:
                    used_by = graph.get_edge_data(owner[number], each.id, {"inputs": ()})["inputs"]
                    graph.add_edge(owner[number], each.id, inputs=(*used_by, input_name))
    return graph


def saved_bytes(tape: Tape, *, by_kernel: bool = False) -> int | dict[str, int]:
    """Bytes of the arrays that the tape holds for its gradients, each base buffer counted once.

    ``by_kernel=True`` gives a dictionary by kernel name; a buffer counts for the kernel that saved it first.
    """
    totals: dict[str, int] = {}
    seen: set[int] = set()
    for number, _, at, saved_at in places(tape):
        binding = tape._bindings[number]
        _, n_listed = skip_inputs(binding, tape._ids, at)
        count = binding.n_saved if binding.n_saved is not None else saved_count(binding, n_listed)
        for value in tape._saved[saved_at : saved_at + count]:
            buffer = innermost_value(value)
            while isinstance(getattr(buffer, "base", None), np.ndarray):
                buffer = buffer.base
            if isinstance(buffer, np.ndarray | np.generic) and id(buffer) not in seen:
                seen.add(id(buffer))
                totals[binding.name] = totals.get(binding.name, 0) + buffer.nbytes
    return totals if by_kernel else sum(totals.values())
