"""The walk along one plan as straight-line Python: what a plan that is used again and again is compiled to.

The walk of ``autograd.backprop`` asks at every step what kind of step it is. A plan knows all of that, so here the answers
are written into source, one or two calls a step, with a local variable for each cotangent. What only the values can tell is
still asked: that a gradient has the shape and dtype of its input, and whether it is one of indexing. Of the step
``multiply(x1, x2) -> y`` with ids 0, 1 and 2 this becomes, where 1 has had a contribution before::

    saved = values[0:2]
    g0 = rule0_0(g2, saved, NO_ATTRS)
    if type(g0) is not ndarray or g0.dtype is not dtypes[0] or g0.shape != expected[0]:
        g0 = fit(g0, shapes[0], dtypes[0], batch, step0, 'x1')
        if type(g0) is IndexedGradient:
            g0 = g0.dense(batch)
    g = rule0_1(g2, saved, NO_ATTRS)
    if type(g) is not ndarray or g.dtype is not dtypes[1] or g.shape != expected[1]:
        g = fit(g, shapes[1], dtypes[1], batch, step0, 'x2')
    g1 = add_up(g1, g, False, True, batch)
    del g2
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from autograd.dag import NONE, WIDE, Plan, keeps_zeros
from autograd.indexed import IndexedGradient
from autograd.records import NO_ATTRS
from autograd.rules import add_up, all_finite, call_thunk, fit, strong_zeros
from registry.bindings import Binding

ARGUMENTS = "walk, given, values, shapes, expected, dtypes, attributes, batch, release"
"""Of a compiled plan: a walk, for steps that go the long way; the cotangents to begin with; columns of the tape, of which
``expected`` is ``shapes`` behind the axes of ``batch``; and whether to let go of saved values on the way."""


def compile_plan(plan: Plan, starts: Sequence[int], sources: Sequence[int], first: int = 0) -> Callable[..., list[Any]]:
    """A function of ``ARGUMENTS`` that walks along ``plan`` and returns the cotangent of each source, or None.

    ``starts`` are the ids whose cotangents are given, ``first`` the step to begin with.
    """
    names: dict[str, Any] = {
        "IndexedGradient": IndexedGradient,
        "NO_ATTRS": NO_ATTRS,
        "add_into": np.add,
        "add_up": add_up,
        "all_finite": all_finite,
        "call_thunk": call_thunk,
        "fit": fit,
        "ndarray": np.ndarray,
        "strong_zeros": strong_zeros,
    }
    source = "\n    ".join([f"def walk_along({ARGUMENTS}):", *_Writer(plan, starts, first, names).lines(sources)])
    exec(compile(source, "<plan>", "exec"), names)
    walk_along: Callable[..., list[Any]] = names["walk_along"]
    return walk_along


class _Writer:
    """Writes the lines of one plan; ``names`` collects what they refer to."""

    def __init__(self, plan: Plan, starts: Sequence[int], first: int, names: dict[str, Any]) -> None:
        self.plan = plan
        self.names = names
        self.starts = starts
        self.steps = range(first, len(plan))
        self.arrived: Counter[int] = Counter(starts)
        self.due: Counter[int] = Counter(starts)
        for step in self.steps:
            if any(self.due[each] for each in self._outputs(step)):
                self.due.update(each for _, each in self._wanted(step))

    def _outputs(self, step: int) -> range:
        number, wide = self.plan.numbers[step], self.plan.first[step] == WIDE
        return range(number, number + (self.plan.wide[number][0] if wide else self.plan.bindings[step].n_outputs or 1))

    def _wanted(self, step: int) -> list[tuple[int, int]]:
        """Position and id of each input of a step that a gradient is wanted for; a member of a list has that of the list."""
        plan = self.plan
        if plan.first[step] == WIDE:
            return [(position, each) for position, _, each in plan.wide[plan.numbers[step]][2]]
        return [(position, each) for position, each in enumerate((plan.first[step], plan.second[step])) if each != NONE]

    def lines(self, sources: Sequence[int]) -> Iterator[str]:
        yield "".join(f"g{each}, " for each in self.starts) + "= given"
        yield "del given"
        for step in self.steps:
            binding = self.plan.bindings[step]
            outputs = [each for each in self._outputs(step) if self.arrived[each]]
            if not outputs:
                continue
            self.names[f"step{step}"] = binding
            if self.plan.first[step] == WIDE or not binding.checked:
                yield from self._long_way(step, outputs)
            else:
                yield from self._short_way(step, outputs)
                yield "del " + ", ".join(f"g{each}" for each in outputs)
        yield "return [" + ", ".join(f"g{each}" if self.arrived[each] else "None" for each in sources) + "]"

    def _short_way(self, step: int, outputs: list[int]) -> Iterator[str]:
        plan, binding, number = self.plan, self.plan.bindings[step], self.plan.numbers[step]
        at, n_saved = plan.saved_at[step], binding.n_saved or 0
        dy = f"g{number}"
        if binding.several:
            dy = "(" + "".join(f"g{each}, " if each in outputs else "None, " for each in self._outputs(step)) + ")"
        saved = "()"
        if n_saved:
            saved = "saved"
            yield f"saved = values[{at}:{at + n_saved}]"
            if not plan.strong:
                yield f"if release: values[{at}:{at + n_saved}] = [None] * {n_saved}"
        attrs = f"attributes.get({number}, NO_ATTRS)" if binding.attr_names else "NO_ATTRS"
        if binding.by_input is None:
            self.names[f"rule{step}"] = binding.grad_func
            yield f"thunks = rule{step}({dy}, {saved}, {attrs})"
        for position, each in self._wanted(step):
            call = f"call_thunk(step{step}, thunks, {position})"
            if binding.by_input is not None:
                self.names[f"rule{step}_{position}"] = binding.by_input[position]
                call = f"rule{step}_{position}({dy}, {saved}, {attrs})"
            yield from self._contribution(call, each, step, binding, position, dy)

    def _contribution(self, call: str, each: int, step: int, binding: Binding, position: int, dy: str) -> Iterator[str]:
        before = self.arrived[each]
        self.arrived[each] += 1
        g = "g" if before else f"g{each}"
        yield f"{g} = {call}"
        if self.plan.guarded and not keeps_zeros(binding):
            yield f"if not all_finite(({g},)): {g} = strong_zeros({dy}, {g})"
        yield f"if type({g}) is not ndarray or {g}.dtype is not dtypes[{each}] or {g}.shape != expected[{each}]:"
        name = binding.input_names[position]
        yield f"    {g} = fit({g}, shapes[{each}], dtypes[{each}], batch, step{step}, {name!r})"
        if self.due[each] == 1:
            yield f"    if type({g}) is IndexedGradient:"
            yield f"        {g} = {g}.dense(batch)"
        if not before:
            return
        add_up = f"g{each} = add_up(g{each}, g, {before > 1}, {binding.fresh}, batch)"
        if before > 1:
            yield f"if type(g{each}) is ndarray is type(g): add_into(g{each}, g, g{each})"
            yield f"else: {add_up}"
        else:
            yield add_up
        if self.arrived[each] == self.due[each]:
            yield f"if type(g{each}) is IndexedGradient: g{each} = g{each}.dense(batch)"

    def _long_way(self, step: int, outputs: list[int]) -> Iterator[str]:
        """A call of the walk's own step: it takes cotangents from the walk's column and puts them there."""
        plan = self.plan
        wanted = Counter(each for _, each in self._wanted(step))
        for each in outputs:
            yield f"walk.cotangents[{each}] = g{each}"
            yield f"del g{each}"
        for each in wanted:
            if self.arrived[each]:
                yield f"walk.cotangents[{each}] = g{each}"
        place = f"{plan.numbers[step]}, {plan.first[step]}, {plan.second[step]}, {plan.saved_at[step]}"
        yield f"walk.step(step{step}, {place})"
        for each, count in wanted.items():
            self.arrived[each] += count
            yield f"g{each}, walk.cotangents[{each}] = walk.cotangents[{each}], None"
            if self.arrived[each] == self.due[each]:
                yield f"if type(g{each}) is IndexedGradient: g{each} = g{each}.dense(batch)"
