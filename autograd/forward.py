"""Forward mode: the same tape, walked from the sources to the target, pushing tangents.

No rule is written twice. What a ``GradConfig`` declares says how a tangent passes its operator: by ``jvp_func`` if there is one;
through the same rule as the cotangent if the operator is elementwise; through its kernel if it is linear; and otherwise by
the transpose of the rule, which is the gradient of the rule in ``dy`` (a rule is linear in ``dy``).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import isfinite
from typing import TYPE_CHECKING, Any

import numpy as np

from autograd import operators as op
from autograd.anomaly import finite, named_outputs, raise_or_hand_on, step_of_walk
from autograd.backprop import pull_back
from autograd.dag import NONE, WIDE, Plan, plan_for
from autograd.engine import run
from autograd.indexed import IndexedGradient
from autograd.records import NO_ATTRS, saved_count
from autograd.rules import Wanted, rule_gradients
from autograd.tape import Tape
from autograd.tensor import Tensor, innermost_value, source_id
from registry import backends
from registry.bindings import Binding

if TYPE_CHECKING:
    from autograd.anomaly_text import Anomaly


def push_forward(tape: Tape, plan: Plan, tangents: dict[int, Any], target: int) -> Any:
    """The tangent of the target, or None if no source with a tangent reaches it.

    ``tangents`` holds one for each source id, of its shape. If the result is not finite, the tape is walked again so that
    a local derivative of exactly zero annihilates a tangent that is not finite, and a tangent of zero an infinite derivative.
    """
    with np.errstate(all="ignore"):
        if tape._watch is not None and tape._watch.backward:
            return _push_watched(tape, plan, dict(tangents), target)
        result = _push(tape, plan, dict(tangents), target, strong=False)
        if result is not None and not _finite(result):
            result = _push(tape, plan, dict(tangents), target, strong=True)
    return result


def _finite(value: Any) -> bool:
    plain = innermost_value(value)
    return bool(np.isfinite(plain).all()) if isinstance(plain, np.ndarray) else isfinite(abs(plain))


def _push(tape: Tape, plan: Plan, tangents: dict[int, Any], target: int, *, strong: bool) -> Any:
    for step in _steps(tape, plan, tangents, strong):
        with backends.use_backend(step.binding.kernel.backend_name):
            outputs = step.tangent(tangents)
        for position, tangent in enumerate(outputs):
            tangents[step.number + position] = tangent
    return tangents.get(target)


def _push_watched(tape: Tape, plan: Plan, tangents: dict[int, Any], target: int) -> Any:
    """The tangent of the target with strong zeros; raises the anomaly that it comes from if it is not finite."""
    origins: dict[int, Anomaly] = {}
    for step in _steps(tape, plan, tangents, strong=True):
        arriving, origin = [], None
        for position, member, each in step.wanted:
            name = step.binding.input_names[position] + ("" if member is None else f"[{member}]")
            arriving.append((f"tangent of {name}", tangents[each]))
            origin = origin or origins.get(each)
        execution = step_of_walk(tape, step.number, step.binding, "forward mode", arriving, step.saved, origin)
        with execution.running(), backends.use_backend(step.binding.kernel.backend_name):
            outputs = step.tangent(tangents)
        for number, (name, tangent) in enumerate(named_outputs(step.binding, outputs), step.number):
            tangents[number] = tangent
            found = execution.blame(tangent, f"tangent of {name}") or origin
            if found is not None and not finite(tangent):
                origins[number] = found
    result = tangents.get(target)
    if target in origins:
        raise_or_hand_on(origins[target])
    return result


def _steps(tape: Tape, plan: Plan, tangents: dict[int, Any], strong: bool) -> Iterator[_Step]:
    """The steps of a plan that some tangent reaches, in the order of the tape; the tangents of each are there before the next."""
    steps = zip(plan.bindings, plan.numbers, plan.first, plan.second, plan.saved_at, strict=True)
    for binding, number, first, second, at in reversed(list(steps)):
        n_outputs = binding.n_outputs or 1
        lengths: tuple[int, ...] = ()
        wanted: tuple[Wanted, ...] = tuple((p, None, each) for p, each in enumerate((first, second)) if each != NONE)
        if first == WIDE:
            n_outputs, lengths, wanted = plan.wide[number]
        wanted = tuple(each for each in wanted if tangents.get(each[2]) is not None)
        if not wanted:
            continue
        count = binding.n_saved if binding.n_saved is not None else saved_count(binding, sum(lengths))
        yield _Step(tape, binding, number, n_outputs, lengths, wanted, tape._saved[at : at + count], strong)


class _Step:
    """One record, and the inputs of it that have a tangent."""

    __slots__ = ("attrs", "binding", "lengths", "n_outputs", "number", "saved", "strong", "tape", "wanted")

    def __init__(
        self,
        tape: Tape,
        binding: Binding,
        number: int,
        n_outputs: int,
        lengths: tuple[int, ...],
        wanted: tuple[Wanted, ...],
        saved: list[Any],
        strong: bool,
    ) -> None:
        self.tape = tape
        self.binding = binding
        self.number = number
        self.n_outputs = n_outputs
        self.lengths = lengths
        self.wanted = wanted
        self.saved = saved
        self.strong = strong
        self.attrs = tape._attrs.get(number, NO_ATTRS)

    def tangent(self, tangents: dict[int, Any]) -> list[Any]:
        """The tangents of the outputs."""
        gradient = self.binding.gradient
        assert gradient is not None  # a plan has no step without a rule
        if self.binding.jvp_func is not None:
            outputs = self.binding.jvp_func(self._by_name(tangents), self.saved, self.attrs)
            result = list(outputs) if self.binding.several else [outputs]
        elif gradient.elementwise and (gradient.holomorphic or not self._complex_input()):
            result = [self._elementwise(tangents)]
        elif all(self.binding.input_names[position] in gradient.linear for position, _, _ in self.wanted):
            result = self._linear(tangents)
        else:
            result = self._transposed(tangents)
        return [self._fit(position, each) for position, each in enumerate(result)]

    def _complex_input(self) -> bool:
        return any(np.dtype(self.tape._dtypes[each]).kind == "c" for _, _, each in self.wanted)

    def _by_name(self, tangents: dict[int, Any]) -> dict[str, Any]:
        named: dict[str, Any] = dict.fromkeys(self.binding.input_names)
        lengths = iter(self.lengths)
        for name, is_list in zip(self.binding.input_names, self.binding.list_inputs, strict=True):
            if is_list:
                named[name] = [None] * next(lengths)
        for position, member, each in self.wanted:
            name = self.binding.input_names[position]
            if member is None:
                named[name] = tangents[each]
            else:
                named[name][member] = tangents[each]
        return named

    def _elementwise(self, tangents: dict[int, Any]) -> Any:
        total = None
        for one in self.wanted:
            part = self._through_rule(one, tangents[one[2]])
            total = part if total is None else op.add(total, part)
        return total

    def _through_rule(self, one: Wanted, tangent: Any) -> Any:
        shape = self.tape._shapes[self.number]
        if np.shape(innermost_value(tangent)) != shape:
            tangent = op.broadcast_to(tangent, shape=shape)
        ((_, _, _, part),) = rule_gradients(self.binding, tangent, self.saved, self.attrs, (one,))
        if not self.strong or _finite(part):
            return part
        ones = op.zeros(shape=shape, dtype=np.dtype(self.tape._dtypes[one[2]])) + 1
        ((_, _, _, local),) = rule_gradients(self.binding, ones, self.saved, self.attrs, (one,))
        undefined = ~np.isfinite(innermost_value(part))  # elsewhere a zero has derivatives, which a tape outside may ask for
        zero = np.equal(innermost_value(local), 0) | np.equal(innermost_value(tangent), 0)
        return op.where(zero & undefined, 0.0, part)

    def _linear(self, tangents: dict[int, Any]) -> list[Any]:
        """Sum over the inputs of the kernel with the tangent in place of one input and the others fixed."""
        gradient = self.binding.gradient
        assert gradient is not None
        attrs = {**self.attrs, **gradient.affine} if gradient.affine else self.attrs
        total: list[Any] | None = None
        for position in dict.fromkeys(position for position, _, _ in self.wanted):
            result = run(self.binding.name, self._inputs_with_tangent(position, tangents), attrs)
            outputs = list(result) if self.binding.several else [result]
            total = outputs if total is None else [op.add(*pair) for pair in zip(total, outputs, strict=True)]
        assert total is not None
        return total

    def _inputs_with_tangent(self, position: int, tangents: dict[int, Any]) -> list[Any]:
        saved_names = [n for n, save in zip(self.binding.input_names, self.binding.save_inputs, strict=True) if save]
        inputs: list[Any] = []
        for place, (name, is_list) in enumerate(zip(self.binding.input_names, self.binding.list_inputs, strict=True)):
            if place != position:
                inputs.append(self.saved[saved_names.index(name)] if name in saved_names else None)
            elif is_list:
                inputs.append(self._list_tangent(position, tangents))
            else:
                inputs.append(next(tangents[each] for at, _, each in self.wanted if at == position))
        return inputs

    def _list_tangent(self, position: int, tangents: dict[int, Any]) -> list[Any]:
        by_member = {member: tangents[each] for at, member, each in self.wanted if at == position}
        infos = self.saved[-1]  # a linear rule of a list saves the infos of it last
        return [
            by_member[member] if member in by_member else op.zeros(shape=info.shape, dtype=np.dtype(info.dtype))
            for member, info in enumerate(infos)
        ]

    def _transposed(self, tangents: dict[int, Any]) -> list[Any]:
        """The gradient of the rule in ``dy``, with the tangents as cotangents: the transpose of the transpose."""
        with Tape() as inner:
            dys = [
                inner.watch(op.zeros(shape=self.tape._shapes[number], dtype=np.dtype(self.tape._dtypes[number])))
                for number in range(self.number, self.number + self.n_outputs)
            ]
            dy = tuple(dys) if self.binding.several else dys[0]
            rows = rule_gradients(self.binding, dy, self.saved, self.attrs, self.wanted)
            total = None
            for _, _, each, g in rows:
                g = g.dense() if type(g) is IndexedGradient else g
                if type(g) is Tensor and g._tape is inner:
                    part = op.sum(op.real(op.multiply(g, tangents[each])))
                    total = part if total is None else op.add(total, part)
        if total is None:
            return [op.zeros(shape=inner._shapes[n], dtype=np.dtype(inner._dtypes[n])) for n in range(self.n_outputs)]
        return transpose_gradient(inner, total, dys)

    def _fit(self, position: int, tangent: Any) -> Any:
        """The tangent in the shape and dtype of its output."""
        number = self.number + position
        shape, dtype = self.tape._shapes[number], np.dtype(self.tape._dtypes[number])
        if np.shape(innermost_value(tangent)) != shape:
            tangent = op.broadcast_to(tangent, shape=shape)
        got = np.dtype(getattr(tangent, "dtype", type(tangent)))
        if got.kind == "c" and dtype.kind != "c":
            tangent = op.real(tangent)
            got = np.dtype(getattr(tangent, "dtype", type(tangent)))
        return tangent if got == dtype else op.astype(tangent, dtype=dtype)


def transpose_gradient(tape: Tape, target: Tensor, sources: Sequence[Tensor]) -> list[Any]:
    """The gradient of a scalar in several sources of one tape, as the reverse walk gives it; zeros where it does not reach."""
    ids = tuple(source_id(each) for each in sources)
    results = pull_back(tape, plan_for(tape, target._id, ids), target._id, np.float64(1.0), ids)
    tape._free()
    return [
        op.zeros(shape=tape._shapes[n], dtype=np.dtype(tape._dtypes[n])) if g is None else g
        for n, g in zip(ids, results, strict=True)
    ]
