"""Mutation testing of the checker: systematic faults in every operator's gradient, one at a time, each of which must be found.

A fault is planted in the gradient for one input of one operator, in the middle of a program of other kernels. The checker has
to call the program's gradient wrong, and to name the kernel and the input; where the fault has a name among diagnoses, that is
counted too. A fault that changes nothing at any of the points that are drawn (the sign of zero, the conjugate of a real number)
is not planted.

``python -m tests.check.mutation`` from the root of the repository prints how many were planted, caught, named and diagnosed.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from typing import Any

import numpy as np

from autograd import operators as op
from autograd.check import GradientReport, check_gradient
from autograd.check.calls import Call
from autograd.check.domains import domains
from autograd.check.domains.drawing import from_generator
from registry.operators import get_schema
from tests.check.faults import last_element_doubled, planted

DRAWN = 6
"""How many calls are drawn of each operator; a fault is planted in the first one that it changes."""

EFFECT = 2e-4
"""By how much of the largest element a fault must change a gradient to count as one."""


@dataclass(frozen=True)
class Mutation:
    """A way to spoil the gradient of one input: ``spoil(g, name, gradients, dy, saved)``, and what a diagnosis of it says."""

    name: str
    spoil: Callable[..., Any]
    says: tuple[str, ...] = ()


def _other(g: Any, name: str, gradients: dict[str, Any], dy: Any, saved: Any) -> Any:
    others = [each for each in gradients if each != name and callable(gradients[each])]
    for each in others:
        theirs = gradients[each]()
        if np.shape(theirs) == np.shape(g):
            return theirs
    return g


def _one_repetition(g: Any, name: str, gradients: dict[str, Any], dy: Any, saved: Any) -> Any:
    """For a gradient that has still to be summed over its first axis: the first part alone."""
    return g[..., :1, :] if len(np.shape(g)) >= 2 and np.shape(g)[-2] > 1 else g


def _transposed(g: Any, *_: Any) -> Any:
    shape = np.shape(g)
    return op.swapaxes(g, axis1=-1, axis2=-2) if len(shape) >= 2 and shape[-1] == shape[-2] else g


def _unscaled(g: Any, name: str, gradients: dict[str, Any], dy: Any, saved: Any) -> Any:
    sizes = [op.max(op.absolute(each)) for each in (dy if isinstance(dy, tuple) else [dy]) if each is not None]
    return g / sum(sizes)


MUTATIONS = (
    Mutation("sign", lambda g, *_: -g, ("wrong sign",)),
    Mutation("twice", lambda g, *_: 2.0 * g, ("factor 2",)),
    Mutation("a thousandth", lambda g, *_: 1.001 * g, ("factor of 1.001",)),
    Mutation("one entry", lambda g, *_: last_element_doubled(g), ("elements", "factor 2", "element")),
    Mutation("zero", lambda g, *_: 0.0 * g, ("zero where it should not be",)),
    Mutation(
        "conjugate", lambda g, *_: op.conjugate(g) if np.dtype(getattr(g, "dtype", float)).kind == "c" else g, ("conjugate",)
    ),
    Mutation("transposed", _transposed, ("transposed", "wrong elements", "reversed")),
    Mutation("swapped inputs", _other, ("swapped inputs",)),
    Mutation("one repetition", _one_repetition, ("un-broadcast", "wrong shape")),
    Mutation("not scaled by dy", _unscaled, ("dy",)),
)

STALE = Mutation("stale saved value", lambda g, *_: g)
"""Not a change of a gradient but of what the rule gets: its saved values, as they were a step earlier."""


def drawn_calls(name: str, n: int = DRAWN) -> list[Call]:
    """Calls of an operator at points where it is differentiable, in double precision, or complex where it takes that."""
    row = domains()[name]
    rng = np.random.default_rng(zlib.crc32(name.encode()))
    calls: list[Call] = []
    while len(calls) < n:
        dtype = "complex128" if "complex128" in row.dtypes and len(calls) % 2 else "float64"
        inputs, attrs = row.draw(from_generator(rng), dtype)
        call = Call(name, tuple(inputs), attrs)
        if all(np.size(each) for each in call.leaves()):  # of an empty array there is nothing to find
            calls.append(call)
    return calls


def program(call: Call) -> tuple[Callable[..., Any], list[Any]]:
    """A function of the float inputs of a call, with kernels before and behind it, and these inputs."""
    symmetric = domains()[call.name].symmetric
    places: list[tuple[int, int | None]] = []
    given: list[Any] = []
    for position, each in enumerate(call.inputs):
        members: Sequence[tuple[int | None, Any]] = list(enumerate(each)) if isinstance(each, list) else [(None, each)]
        for member, value in members:
            if value is not None and np.asarray(value).dtype.kind in "fc":
                places.append((position, member))
                given.append(value)
    names = call.input_names()
    attrs = call.all_attrs()

    def f(*values: Any) -> Any:
        inputs = [list(each) if isinstance(each, list) else each for each in call.inputs]
        for (position, member), value in zip(places, values, strict=True):
            value = op.add(value, 0.0)
            if names[position] in symmetric:
                value = (value + op.conjugate(op.swapaxes(value, axis1=-1, axis2=-2))) * 0.5
            if member is None:
                inputs[position] = value
            else:
                inputs[position][member] = value
        results = getattr(op, call.name)(*inputs, **attrs)
        total = 0.0
        for y in results if isinstance(results, tuple | list) else [results]:
            if np.dtype(getattr(y, "dtype", type(y))).kind not in "fc":
                continue
            kind = np.dtype(getattr(y, "dtype", type(y))).kind
            for weight, part in ((1.0, op.real(y)), (0.7, op.imag(y) if kind == "c" else None)):
                if part is not None:
                    total = total + weight * op.sum(op.tanh(part * 0.3) + part * 0.1)
        return total

    return f, given


@dataclass(frozen=True)
class Outcome:
    """What the checker said of one planted fault."""

    operator: str
    input: str
    mutation: str
    report: GradientReport
    caught: bool
    named: bool
    diagnosed: bool


def outcomes(name: str, mutations: Sequence[Mutation] = (*MUTATIONS, STALE)) -> Iterator[Outcome]:
    """Plant each fault in the gradient of each input of an operator, and check."""
    calls = drawn_calls(name)
    for position, input_name in enumerate(call_names(name)):
        for mutation in mutations:
            for call in calls:
                if position < len(call.inputs) and _changes(call, input_name, mutation):
                    yield _checked(call, input_name, mutation)
                    break


def call_names(name: str) -> list[str]:
    """The names of the inputs of an operator."""
    return [each.name for each in get_schema(name).inputs]


def _spoiled(mutation: Mutation, input_name: str, gradients: dict[str, Any], dy: Any, saved: Any) -> dict[str, Any]:
    if input_name not in gradients:
        return gradients
    thunk = gradients[input_name]

    def called(one: Any) -> Any:
        g = one()
        g = g.dense() if hasattr(g, "dense") else g
        return mutation.spoil(g, input_name, gradients, dy, saved)

    changed = [partial(called, each) for each in thunk] if isinstance(thunk, list | tuple) else partial(called, thunk)
    return {**gradients, input_name: changed}


def planted_mutation(name: str, input_name: str, mutation: Mutation) -> Any:
    """The fault in place, for as long as a ``with`` block lasts."""
    if mutation is STALE:
        return planted(name, lambda gradients, dy, saved: gradients, stale=input_name)
    return planted(name, partial(_spoiled, mutation, input_name))


def _gradients(f: Callable[..., Any], given: Sequence[Any]) -> list[Any]:
    from autograd import grad

    g = grad(f, tuple(range(len(given))))(*given)
    return [np.asarray(each) for each in g]


def _changes(call: Call, input_name: str, mutation: Mutation) -> bool:
    """Whether a fault changes the gradient of the program at all."""
    f, given = program(call)
    with np.errstate(all="ignore"):
        try:
            right = _gradients(f, given)
        except Exception:  # the result does not depend on a float
            return False
        with planted_mutation(call.name, input_name, mutation):
            try:
                spoiled = _gradients(f, given)
            except Exception:  # the rule now raises, which is a fault that can be seen
                return True
    for one, other in zip(right, spoiled, strict=True):
        size = np.max(np.abs(one), initial=0.0)
        if not np.all(np.abs(one - other) <= EFFECT * size):
            return True
    return False


def _checked(call: Call, input_name: str, mutation: Mutation) -> Outcome:
    f, given = program(call)
    with planted_mutation(call.name, input_name, mutation):
        report = check_gradient(f, *given, raise_error=False)
    culprit = report.culprit
    named = culprit is not None and culprit.kernel_name == call.name and culprit.input_name.partition("[")[0] == input_name
    said = (culprit.diagnosis or "") if culprit is not None else ""
    diagnosed = named and any(each in said for each in mutation.says)
    return Outcome(call.name, input_name, mutation.name, report, report.verdict == "wrong", named, diagnosed)


def table() -> str:
    """Every fault in every operator: how many of each kind were planted, caught, rightly named and rightly diagnosed."""
    from autograd.check.kernel import checkable

    found = [each for name in checkable("numpy") for each in outcomes(name)]
    kinds = dict.fromkeys(each.mutation for each in found)
    lines = ["| fault | planted | caught | named | diagnosed |", "|---|---|---|---|---|"]
    for kind in (*kinds, "all"):
        mine = [each for each in found if kind in (each.mutation, "all")]
        counts = [sum(getattr(each, field) for each in mine) for field in ("caught", "named", "diagnosed")]
        lines.append(f"| {kind} | {len(mine)} | " + " | ".join(map(str, counts)) + " |")
    missed = [f"missed: {each.operator} {each.input} {each.mutation}" for each in found if not (each.caught and each.named)]
    return "\n".join([*lines, "", f"{len({each.operator for each in found})} operators", *missed])


if __name__ == "__main__":
    for module in ("special", "linalg", "signal", "integrate"):
        import_module(f"autograd.scipy.{module}")
    print(table())
