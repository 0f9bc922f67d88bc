"""The walk: along a plan from the target back to the sources.

Each step calls the rule of its record, then only the thunks of inputs on the plan's paths (``autograd.rules`` calls them and
makes what they return fit). Here contributions are summed, outputs without a cotangent get zeros, gradients of indexing are put
together once, and cotangents of exactly zero stay so.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from autograd import operators as op
from autograd.anomaly import Execution, finite, named_outputs, raise_or_hand_on, step_of_walk
from autograd.blocks import rows_of_a_block, walk_in_blocks
from autograd.dag import LONGEST_COMPILED, NONE, WIDE, Plan
from autograd.errors import InPlaceError
from autograd.indexed import IndexedGradient
from autograd.locks import digest
from autograd.records import NO_ATTRS, saved_count
from autograd.rules import Wanted, add_up, all_finite, call_thunk, fit, rule_gradients, strong_zeros
from autograd.straight import compile_plan
from autograd.tape import Tape
from autograd.tensor import Tensor, innermost_value
from registry import backends
from registry.bindings import Binding

if TYPE_CHECKING:
    from autograd.anomaly_text import Anomaly

ndarray = np.ndarray

COMPILE_AFTER = 16
"""How often a plan is walked as it is; then it is compiled, which takes 0.1 ms a step and saves a quarter of each later walk."""


NO_DETAILS: tuple[Any, ...] = ((), None, ())
"""Of a record that was made before its tape kept all: values, source line, digests."""


@np.errstate(all="ignore")  # the decorator costs half of a block
def pull_back(tape: Tape, plan: Plan, target: int, dy: Any, sources: Sequence[int], batch: tuple[int, ...] = ()) -> list[Any]:
    """The gradient of each source id, or None where the target does not depend on it.

    ``dy`` has the shape of the target behind the axes of ``batch``. If a result is not finite, the plan is walked again with
    strong zeros: in an elementwise operator a cotangent that is exactly zero then gives exactly zero, whatever the
    local derivative. What the first walk recorded on outer tapes is dropped.
    """
    if tape._keep_all:
        _check_digests(tape)
        if tape._watch is not None and tape._watch.backward:
            return _WatchedWalk(tape, plan, batch).run(target, dy, sources)
    nested = bool(tape._outer) or type(dy) is Tensor
    marks = [(each, each._mark()) for each in _outer_tapes(tape, dy)] if nested else []
    walk = _Walk(tape, plan, batch, strong=False)
    results = walk.run(target, dy, sources)
    if plan.strong and not (walk.seen_finite or all_finite(results)):
        del results, walk
        for each, mark in marks:
            each._cut_back(mark)
        results = _Walk(tape, plan, batch, strong=True).run(target, dy, sources)
    return results


class _Walk:
    """One pass along a plan: the cotangents that have arrived, and which of them are the walk's own buffers."""

    __slots__ = ("backend", "batch", "cotangents", "kept", "owned", "plan", "release", "seen_finite", "strong", "tape")

    def __init__(self, tape: Tape, plan: Plan, batch: tuple[int, ...], *, strong: bool) -> None:
        self.tape = tape
        self.plan = plan
        self.batch = batch
        self.strong = strong
        self.seen_finite = False
        self.release = not plan.strong and not tape._persistent  # nothing will be asked for again: free it as the walk goes
        self.backend = backends.get_backend()
        self.cotangents: list[Any] = [None] * len(tape._bindings)
        self.owned: set[int] = set()
        self.kept: dict[int, Any] = {}

    def run(self, target: int, dy: Any, sources: Sequence[int]) -> list[Any]:
        """Walk; the gradient of each source id, or None where no cotangent arrived."""
        plan = self.plan
        careful = self.strong or plan.kept or plan.backend != self.backend
        n_rows = 0
        if not careful and not self.batch and plan.tail < len(plan):
            n_rows = rows_of_a_block(self.tape, plan)
        if not n_rows and not careful and (not self.batch or plan.batched):
            if plan.compiled is None and len(plan) <= LONGEST_COMPILED:
                if plan.uses >= COMPILE_AFTER:
                    plan.guarded = plan.guarded and all(each.checked for each in plan.bindings)  # the long way has no guard
                    plan.compiled = compile_plan(plan, (target,), sources)
                plan.uses += 1
            if plan.compiled is not None:
                self.seen_finite = plan.guarded
                return self._run_compiled(plan.compiled, (dy,))
        self.cotangents[target] = dy
        if n_rows:
            self._run_in_blocks(sources, n_rows)
        elif careful:
            self._run_careful()
        else:
            self._run_fast()
        results = []
        for each in sources:
            g = self.kept[each] if each in self.kept else self.cotangents[each]
            results.append(g.dense(self.batch) if type(g) is IndexedGradient else g)
        return results

    def _run_compiled(self, walk_along: Callable[..., list[Any]], given: tuple[Any, ...]) -> list[Any]:
        tape, batch = self.tape, self.batch
        shapes = tape._shapes
        expected = [batch + each for each in shapes] if batch else shapes
        return walk_along(self, given, tape._saved, shapes, expected, tape._dtypes, tape._attrs, batch, self.release)

    def _run_in_blocks(self, sources: Sequence[int], n_rows: int) -> None:
        """The elementwise steps at the end of the plan block by block, what comes before them as usual."""
        plan, tape, cotangents = self.plan, self.tape, self.cotangents
        steps = list(zip(plan.bindings, plan.numbers, plan.first, plan.second, plan.saved_at, strict=True))
        for step in steps[: plan.tail]:
            self.step(*step)
        in_tail = {each for step in steps[plan.tail :] for each in step[1:4]}
        starts = [number for number, each in enumerate(cotangents) if each is not None and number in in_tail]
        given = [self._take(each) for each in starts]
        shape = tape._shapes[plan.numbers[plan.tail]]
        if any(type(each) is not ndarray or each.shape != shape for each in given):
            for number, each in zip(starts, given, strict=True):
                cotangents[number] = each
            for step in steps[plan.tail :]:
                self.step(*step)
            return
        if plan.compiled_tail is None:
            plan.compiled_tail = compile_plan(plan, starts, sources, plan.tail)
        results, finite = walk_in_blocks(tape, plan, plan.compiled_tail, given, n_rows)
        self.seen_finite = finite and all(cotangents[each] is None for each in sources)
        for number, each in zip(sources, results, strict=True):
            if each is not None:
                cotangents[number] = each

    def _run_fast(self) -> None:
        """Every line here is paid at every step; wide steps and rules not seen before go the long way."""
        plan, tape, batch, cotangents, owned = self.plan, self.tape, self.batch, self.cotangents, self.owned
        saved, shapes, dtypes, attributes = tape._saved, tape._shapes, tape._dtypes, tape._attrs
        release = self.release
        add_into = np.add
        dy: Any
        attrs: Any
        by_input: Any
        thunks: Any
        for binding, number, first, second, at in zip(
            plan.bindings, plan.numbers, plan.first, plan.second, plan.saved_at, strict=True
        ):
            if first == WIDE or not binding.checked or (batch and not binding.batched):
                self.step(binding, number, first, second, at)
                continue
            if binding.several:
                dy = self._take_several(number, binding.n_outputs)
            else:
                dy = cotangents[number]
                cotangents[number] = None
                if type(dy) is IndexedGradient:
                    dy = dy.dense(batch)
            if dy is None:
                continue
            n_saved = binding.n_saved
            values = saved[at : at + n_saved] if n_saved else ()
            if release and n_saved:
                saved[at : at + n_saved] = [None] * n_saved
            attrs = attributes.get(number, NO_ATTRS) if binding.attr_names else NO_ATTRS
            by_input = binding.by_input
            thunks = binding.grad_func(dy, values, attrs) if by_input is None else None  # type: ignore[misc]
            if first != NONE:
                g = call_thunk(binding, thunks, 0) if by_input is None else by_input[0](dy, values, attrs)
                if batch or type(g) is not ndarray or g.dtype is not dtypes[first] or g.shape != shapes[first]:
                    g = fit(g, shapes[first], dtypes[first], batch, binding, binding.input_names[0])
                before = cotangents[first]
                if before is None:
                    cotangents[first] = g
                elif first in owned and type(g) is ndarray:
                    add_into(before, g, before)
                else:
                    self._add(first, g, binding.fresh)
            if second != NONE:
                g = call_thunk(binding, thunks, 1) if by_input is None else by_input[1](dy, values, attrs)
                if batch or type(g) is not ndarray or g.dtype is not dtypes[second] or g.shape != shapes[second]:
                    g = fit(g, shapes[second], dtypes[second], batch, binding, binding.input_names[1])
                before = cotangents[second]
                if before is None:
                    cotangents[second] = g
                elif second in owned and type(g) is ndarray:
                    add_into(before, g, before)
                else:
                    self._add(second, g, binding.fresh)

    def _take_several(self, number: int, n_outputs: int | None) -> tuple[Any, ...] | None:
        """What arrived for each output of a record, None for an output where nothing did; None if nothing did at all."""
        arrived = tuple([self._take(each) for each in range(number, number + (n_outputs or 0))])
        return None if all(each is None for each in arrived) else arrived

    def _run_careful(self) -> None:
        plan = self.plan
        for step in zip(plan.bindings, plan.numbers, plan.first, plan.second, plan.saved_at, strict=True):
            self.step(*step)

    def step(self, binding: Binding, number: int, first: int, second: int, at: int) -> None:
        """One step of any kind: lists, several outputs, another backend, a batch, strong zeros, names checked."""
        n_outputs = binding.n_outputs or 1
        lengths: tuple[int, ...] = ()
        wanted: tuple[Wanted, ...]
        if first == WIDE:
            n_outputs, lengths, wanted = self.plan.wide[number]
        else:
            wanted = tuple((p, None, each) for p, each in enumerate((first, second)) if each != NONE)
        arrived = [self._take(each, binding.takes_indexed) for each in range(number, number + n_outputs)]
        if all(each is None for each in arrived):
            return
        if binding.kernel.backend_name != self.backend:
            with backends.use_backend(binding.kernel.backend_name):
                self._apply(binding, number, arrived, lengths, wanted, at)
        else:
            self._apply(binding, number, arrived, lengths, wanted, at)

    def _take(self, number: int, indexed: bool = False) -> Any:
        dy = self.cotangents[number]
        self.cotangents[number] = None
        kept = number in self.plan.kept
        if type(dy) is IndexedGradient and (kept or not indexed or self.batch or not dy.is_plain()):
            dy = dy.dense(self.batch)
        if kept:
            self.kept[number] = dy
        return dy

    def _apply(
        self,
        binding: Binding,
        number: int,
        arrived: list[Any],
        lengths: tuple[int, ...],
        wanted: Sequence[Wanted],
        at: int,
    ) -> None:
        tape, batch = self.tape, self.batch
        count = binding.n_saved if binding.n_saved is not None else saved_count(binding, sum(lengths))
        saved = tape._saved[at : at + count]
        if self.release:
            tape._saved[at : at + count] = [None] * count
        dy = self._cotangent(binding, number, arrived)
        for position, member, each, g in rule_gradients(binding, dy, saved, tape._attrs.get(number, NO_ATTRS), wanted, batch):
            if self.strong and binding.elementwise and type(g) is not IndexedGradient:
                g = strong_zeros(dy, g)
            shape, dtype = tape._shapes[each], tape._dtypes[each]
            if batch or type(g) is not ndarray or g.dtype is not dtype or g.shape != shape:
                name = binding.input_names[position] + ("" if member is None else f"[{member}]")
                g = fit(g, shape, dtype, batch, binding, name)
            if self.cotangents[each] is None:
                self.cotangents[each] = g
            else:
                self._add(each, g, binding.fresh)

    def _cotangent(self, binding: Binding, number: int, arrived: list[Any]) -> Any:
        """What the rule takes as ``dy``: a tuple exactly when there are several outputs, zeros for what did not arrive."""
        if not binding.several:
            return arrived[0]
        if not (binding.gradient is not None and binding.gradient.accepts_none):
            for position, each in enumerate(arrived):
                if each is None:
                    shape, dtype = self.tape._shapes[number + position], self.tape._dtypes[number + position]
                    arrived[position] = op.zeros(shape=self.batch + shape, dtype=np.dtype(dtype))
        return tuple(arrived)

    def _add(self, number: int, g: Any, fresh: bool) -> None:
        total = self.cotangents[number] = add_up(self.cotangents[number], g, number in self.owned, fresh, self.batch)
        if type(total) is ndarray:
            self.owned.add(number)


class _WatchedWalk(_Walk):
    """A walk with strong zeros that remembers for cotangents that are not finite which anomaly they come from.

    The one that reaches a gradient is raised, see ``autograd.anomaly``.
    """

    __slots__ = ("origins",)

    def __init__(self, tape: Tape, plan: Plan, batch: tuple[int, ...]) -> None:
        super().__init__(tape, plan, batch, strong=True)
        self.origins: dict[int, Anomaly] = {}

    def run(self, target: int, dy: Any, sources: Sequence[int]) -> list[Any]:
        results = super().run(target, dy, sources)
        for number in sources:
            if number in self.origins:
                raise_or_hand_on(self.origins[number])
        return results

    def _apply(
        self,
        binding: Binding,
        number: int,
        arrived: list[Any],
        lengths: tuple[int, ...],
        wanted: Sequence[Wanted],
        at: int,
    ) -> None:
        tape, batch = self.tape, self.batch
        count = binding.n_saved if binding.n_saved is not None else saved_count(binding, sum(lengths))
        saved = tape._saved[at : at + count]
        dy = self._cotangent(binding, number, arrived)
        origin = next((self.origins[each] for each in range(number, number + len(arrived)) if each in self.origins), None)
        arriving = named_outputs(binding, dy if binding.several else [dy], "dy")
        step = step_of_walk(tape, number, binding, "backward", arriving, saved, origin, len(batch))
        with step.running():
            rows = rule_gradients(binding, dy, saved, tape._attrs.get(number, NO_ATTRS), wanted, batch)
            for position, member, each, g in rows:
                self._contribute(step, dy, position, member, each, g)

    def _contribute(self, step: Execution, dy: Any, position: int, member: int | None, each: int, g: Any) -> None:
        binding, shape, dtype = step.binding, self.tape._shapes[each], self.tape._dtypes[each]
        name = binding.input_names[position] + ("" if member is None else f"[{member}]")
        made = None
        if type(g) is not IndexedGradient:  # the pieces of one are those of dy
            if binding.elementwise and not finite(g):
                g = strong_zeros(dy, g)
            made = step.blame(g, f"gradient of {name}", name, shape)
        was_finite = _finite(g)
        g = fit(g, shape, dtype, self.batch, binding, name)
        if was_finite:
            made = step.blame_sum(g, name, f"the sum over broadcast axes, or cast to {np.dtype(dtype)}, of the gradient")
        self._count(each, g, step, name, made or step.origin)

    def _count(self, number: int, g: Any, step: Execution, name: str, origin: Anomaly | None) -> None:
        """Add one contribution to a cotangent, and remember where it comes from if it is not finite."""
        before = self.cotangents[number]
        was_finite = _finite(before)
        if not _finite(g):
            was_finite = False
            if origin is not None:
                self.origins.setdefault(number, origin)
        if before is None:
            self.cotangents[number] = g
            return
        self._add(number, g, step.binding.fresh)
        made = step.blame_sum(self.cotangents[number], name, "the sum with other gradients") if was_finite else None
        if made is not None:
            self.origins[number] = made


def _finite(g: Any) -> bool:
    return finite([*g.values, g.buffer] if type(g) is IndexedGradient else g)


def _outer_tapes(tape: Tape, dy: Any) -> list[Tape]:
    """Every tape that a walk over this one may record on."""
    found: dict[int, Tape] = {}
    pending = list(tape._outer.values())
    while type(dy) is Tensor:
        pending.append(dy._tape)
        dy = dy._value
    while pending:
        each = pending.pop()
        if each._serial not in found:
            found[each._serial] = each
            pending.extend(each._outer.values())
    return list(found.values())


def _check_digests(tape: Tape) -> None:
    """Raise InPlaceError if a saved array is no longer what it was when it was saved (``Tape(keep="all")``)."""
    for node in tape.nodes:
        for name, value, before in tape._details.get(node.id, NO_DETAILS)[2]:
            if before is not None and digest(value) != before:
                shape = np.shape(innermost_value(value)) if not isinstance(value, list) else "list"
                raise InPlaceError(
                    f"kernel {node.kernel_name!r}: its saved {name} of shape {shape} was changed in place after it was saved,"
                    " through a view taken before; change a copy instead, or change it after the gradient has been taken"
                    + (f"\n  recorded at {node.source_line}" if node.source_line else "")
                )
