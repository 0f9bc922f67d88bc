"""The walk: along a plan from the target back to the sources.

Each step calls the rule of its record, then only the thunks of inputs on the plan's paths. What every rule would
otherwise repeat happens here once: un-broadcasting, shape and dtype checks, sums of contributions, zeros for outputs without a
cotangent, indexing gradients put together once, and strong zeros.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from math import isfinite
from typing import Any

import numpy as np

from autograd import operators as op
from autograd.dag import NONE, WIDE, Plan
from autograd.engine import binding_of
from autograd.errors import GradientError, InPlaceError
from autograd.indexed import IndexedGradient
from autograd.locks import digest
from autograd.records import NO_ATTRS, PYTHON_SCALARS, saved_count
from autograd.tape import Tape
from autograd.tensor import Tensor, innermost_value
from registry import backends
from registry.bindings import Binding
from registry.errors import close_matches

ndarray = np.ndarray

Wanted = tuple[int, int | None, int]
"""An input that a gradient is wanted for: its position, the position in it if it is a list, and its id."""


def pull_back(tape: Tape, plan: Plan, target: int, dy: Any, sources: Sequence[int], batch: tuple[int, ...] = ()) -> list[Any]:
    """The gradient of each source id, or None where the target does not depend on it.

    ``dy`` has the shape of the target behind the axes of ``batch``. If a result is not finite, the plan is walked again with
    strong zeros: in an elementwise operator a cotangent that is exactly zero then gives exactly zero, whatever the
    local derivative. What the first walk recorded on outer tapes is dropped.
    """
    if tape._keep_all:
        _check_digests(tape)
    nested = bool(tape._outer) or type(dy) is Tensor
    marks = [(each, each._mark()) for each in _outer_tapes(tape, dy)] if nested else []
    with np.errstate(all="ignore"):
        results = _Walk(tape, plan, batch, strong=False).run(target, dy, sources)
        if not _all_finite(results):
            del results
            for each, mark in marks:
                each._cut_back(mark)
            results = _Walk(tape, plan, batch, strong=True).run(target, dy, sources)
    return results


class _Walk:
    """One pass along a plan: the cotangents that have arrived, and which of them are the walk's own buffers."""

    __slots__ = ("backend", "batch", "cotangents", "kept", "owned", "plan", "strong", "tape")

    def __init__(self, tape: Tape, plan: Plan, batch: tuple[int, ...], *, strong: bool) -> None:
        self.tape = tape
        self.plan = plan
        self.batch = batch
        self.strong = strong
        self.backend = backends.get_backend()
        self.cotangents: list[Any] = [None] * len(tape._bindings)
        self.owned: set[int] = set()
        self.kept: dict[int, Any] = {}

    def run(self, target: int, dy: Any, sources: Sequence[int]) -> list[Any]:
        """Walk; the gradient of each source id, or None where no cotangent arrived."""
        self.cotangents[target] = dy
        plan = self.plan
        if self.strong or plan.kept or plan.backend != self.backend:
            self._run_careful()
        else:
            self._run_fast()
        results = []
        for each in sources:
            g = self.kept[each] if each in self.kept else self.cotangents[each]
            results.append(g.dense(self.batch) if type(g) is IndexedGradient else g)
        return results

    def _run_fast(self) -> None:
        """Every line here is paid at every step; wide steps and rules not seen before go the long way."""
        plan, tape, batch, cotangents, owned = self.plan, self.tape, self.batch, self.cotangents, self.owned
        saved, shapes, dtypes, attributes = tape._saved, tape._shapes, tape._dtypes, tape._attrs
        add_into = np.add
        dy: Any
        attrs: Any
        by_input: Any
        thunks: Any
        for binding, number, first, second, at in zip(
            plan.bindings, plan.numbers, plan.first, plan.second, plan.saved_at, strict=True
        ):
            if first == WIDE or not binding.checked or (batch and not binding.batched):
                self._step(binding, number, first, second, at)
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
            attrs = attributes.get(number, NO_ATTRS) if binding.attr_names else NO_ATTRS
            by_input = binding.by_input
            thunks = binding.grad_func(dy, values, attrs) if by_input is None else None  # type: ignore[misc]
            if first != NONE:
                g = _call(binding, thunks, 0) if by_input is None else by_input[0](dy, values, attrs)
                if type(g) is not ndarray or g.dtype is not dtypes[first] or g.shape != shapes[first]:
                    g = fit(g, shapes[first], dtypes[first], batch, binding, binding.input_names[0])
                before = cotangents[first]
                if before is None:
                    cotangents[first] = g
                elif first in owned and type(g) is ndarray:
                    add_into(before, g, before)
                else:
                    self._add(first, g, binding.fresh)
            if second != NONE:
                g = _call(binding, thunks, 1) if by_input is None else by_input[1](dy, values, attrs)
                if type(g) is not ndarray or g.dtype is not dtypes[second] or g.shape != shapes[second]:
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
            self._step(*step)

    def _step(self, binding: Binding, number: int, first: int, second: int, at: int) -> None:
        """One step of any kind: lists, several outputs, another backend, a batch, strong zeros, names checked."""
        n_outputs = binding.n_outputs or 1
        lengths: tuple[int, ...] = ()
        wanted: tuple[Wanted, ...]
        if first == WIDE:
            n_outputs, lengths, wanted = self.plan.wide[number]
        else:
            wanted = tuple((p, None, each) for p, each in enumerate((first, second)) if each != NONE)
        arrived = [self._take(each) for each in range(number, number + n_outputs)]
        if all(each is None for each in arrived):
            return
        if binding.kernel.backend_name != self.backend:
            with backends.use_backend(binding.kernel.backend_name):
                self._apply(binding, number, arrived, lengths, wanted, at)
        else:
            self._apply(binding, number, arrived, lengths, wanted, at)

    def _take(self, number: int) -> Any:
        dy = self.cotangents[number]
        self.cotangents[number] = None
        if type(dy) is IndexedGradient:
            dy = dy.dense(self.batch)
        if number in self.plan.kept:
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
        dy = self._cotangent(binding, number, arrived)
        for position, member, each, g in rule_gradients(binding, dy, saved, tape._attrs.get(number, NO_ATTRS), wanted, batch):
            name = binding.input_names[position] + ("" if member is None else f"[{member}]")
            if self.strong and binding.elementwise and type(g) is not IndexedGradient:
                g = strong_zeros(dy, g)
            g = fit(g, tape._shapes[each], tape._dtypes[each], batch, binding, name)
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
        """Add a contribution: in place where the walk owns a buffer, its own sum or a new array that a rule made."""
        before = self.cotangents[number]
        if type(before) is IndexedGradient or type(g) is IndexedGradient:
            if type(before) is type(g):
                before.extend(g)
                return
            before = before.dense(self.batch) if type(before) is IndexedGradient else before
            g = g.dense(self.batch) if type(g) is IndexedGradient else g
        if type(before) is ndarray and type(g) is ndarray:
            if number in self.owned:
                np.add(before, g, before)
                return
            if fresh and before.dtype is g.dtype:
                np.add(before, g, g)
                self.cotangents[number] = g
                self.owned.add(number)
                return
        total = self.cotangents[number] = op.add(before, g)
        if type(total) is ndarray:
            self.owned.add(number)


def rule_gradients(
    binding: Binding,
    dy: Any,
    saved: Sequence[Any],
    attrs: Any,
    wanted: Sequence[Wanted],
    batch: tuple[int, ...] = (),
) -> list[tuple[int, int | None, int, Any]]:
    """Call a rule and the wanted thunks, with every check of the names; a rule that cannot follow a batch is called for each."""
    rule = binding.grad_func
    if batch and binding.gradient is not None and not binding.gradient.batched:
        singles = [rule_gradients(binding, each, saved, attrs, wanted, batch[1:]) for each in _split_batch(dy, batch[0])]
        return [(*columns[0][:3], _stack([row[3] for row in columns])) for columns in zip(*singles, strict=True)]
    thunks = rule(dy, saved, attrs)  # type: ignore[misc]  # a plan has no step without a rule
    if not binding.checked:
        _check_map(binding, thunks)
    return [(position, member, each, _call(binding, thunks, position, member)) for position, member, each in wanted]


def _check_map(binding: Binding, thunks: Any) -> None:
    """Raise GradientError unless a rule returned a map from names of inputs; done once for each rule that gives them all."""
    names = binding.input_names
    if not hasattr(thunks, "keys"):
        raise GradientError(
            f"gradient of operator {binding.name!r} returned {type(thunks).__name__}, expected a mapping from input names"
            f" {list(names)} to functions without arguments"
        )
    for name in thunks:
        if name not in names:
            raise GradientError(
                f"gradient of operator {binding.name!r} returned a gradient for {name!r}, which is not an input; expected"
                f" {list(names)}.{close_matches(str(name), names)}"
            )
    binding.checked = all(name in thunks for name in names)


def _call(binding: Binding, thunks: Any, position: int, member: int | None = None) -> Any:
    """Call the thunk of one input, or of one member of a list; raises GradientError if there is none."""
    name = binding.input_names[position]
    try:
        thunk = thunks[name]
    except (KeyError, TypeError) as error:
        raise GradientError(
            f"gradient of operator {binding.name!r} returned none for input {name!r}; it returned {list(thunks or ())};"
            f" add {name!r}: lambda: ..."
        ) from error
    if member is not None:
        thunk = _member_thunk(binding, name, thunk, member)
    if not callable(thunk):
        raise GradientError(
            f"gradient of operator {binding.name!r} for input {name!r} is {type(thunk).__name__}, expected a function"
            " without arguments: write lambda: ..."
        )
    return thunk()


def _member_thunk(binding: Binding, name: str, thunks: Any, member: int) -> Callable[[], Any]:
    if callable(thunks) or not hasattr(thunks, "__getitem__") or len(thunks) <= member:
        got = "a function" if callable(thunks) else f"{type(thunks).__name__} of length {len(thunks)}"
        raise GradientError(
            f"gradient of operator {binding.name!r}: input {name!r} is a list of tensors, so its entry must be a list of"
            f" functions, one for each; got {got}"
        )
    thunk: Callable[[], Any] = thunks[member]
    return thunk


def _split_batch(dy: Any, length: int) -> list[Any]:
    if isinstance(dy, tuple):
        return [tuple(None if each is None else each[position] for each in dy) for position in range(length)]
    return [dy[position] for position in range(length)]


def _stack(parts: list[Any]) -> Any:
    dense = [each.dense() if type(each) is IndexedGradient else each for each in parts]
    return op.stack(dense, axis=0)


def strong_zeros(dy: Any, g: Any) -> Any:
    """``g``, but exactly zero wherever the cotangent ``dy`` is."""
    if type(dy) is tuple:
        zeros = [np.equal(innermost_value(each), 0) for each in dy if each is not None]
        zero: Any = np.all(np.asarray(zeros), axis=0)
    else:
        zero = np.equal(innermost_value(dy), 0)
    return op.where(zero, 0.0, g) if zero.any() else g


def fit(g: Any, shape: tuple[int, ...], dtype: Any, batch: tuple[int, ...], binding: Binding, input_name: str) -> Any:
    """A gradient in the shape and dtype of its input; raises GradientError if it cannot be the gradient of that input.

    Elementwise operators are un-broadcast. A complex gradient of a real input gives its real part, and floats change their
    precision to that of the input.
    """
    expected = batch + shape
    if type(g) is ndarray and g.dtype is dtype:
        if g.shape == expected:
            return g
        if binding.elementwise:
            return _unbroadcast(g, g.shape, expected, len(batch), binding, input_name)
    elif type(g) is Tensor and g._tape._dtypes[g._id] is dtype and g._tape._shapes[g._id] == expected:
        return g
    if type(g) is IndexedGradient:
        if g.shape != shape:
            raise GradientError(
                f"gradient of operator {binding.name!r} for input {input_name!r} is of indexing into shape {g.shape}, expected"
                f" {shape}"
            )
        return g
    if type(g) in PYTHON_SCALARS and type(g) is not bool:
        g_shape: tuple[int, ...] = ()
        kind = "f" if type(g) is not complex else "c"
        g_dtype: Any = type(g)
    elif hasattr(g, "dtype") and hasattr(g, "shape"):
        g_shape, g_dtype = g.shape, g.dtype
        kind = g_dtype.kind
    else:
        raise GradientError(
            f"gradient of operator {binding.name!r} for input {input_name!r} is {type(g).__name__}, expected an array of"
            f" shape {expected}"
        )
    if kind not in "fc":
        raise GradientError(
            f"gradient of operator {binding.name!r} for input {input_name!r} has dtype {g_dtype}, expected"
            f" {np.dtype(dtype)}; a gradient is a float"
        )
    if g_shape != expected:
        if not binding.elementwise:
            raise GradientError(
                f"gradient of operator {binding.name!r} for input {input_name!r} has shape {g_shape}, expected {expected}"
            )
        g = _unbroadcast(g, g_shape, expected, len(batch), binding, input_name)
    if dtype is float or dtype is complex:
        return op.real(g) if kind == "c" and dtype is float else g
    if g_dtype != dtype:
        if kind == "c" and dtype.kind == "f":
            g = op.real(g)
            g_dtype = np.dtype(g.dtype)
        if g_dtype != dtype:
            g = op.astype(g, dtype=dtype)
    return g


def _unbroadcast(
    g: Any, g_shape: tuple[int, ...], expected: tuple[int, ...], n_batch: int, binding: Binding, input_name: str
) -> Any:
    axes = _summed_axes(g_shape, expected, n_batch)
    if axes is None:
        raise GradientError(
            f"gradient of operator {binding.name!r} for input {input_name!r} has shape {g_shape}, which does not sum to the"
            f" expected {expected}"
        )
    if type(g) is ndarray:  # straight to the backend's kernel: biases come this way in every step of a training loop
        total = binding_of("sum").kernel_func(g, axis=axes, dtype=None, keepdims=False, initial=None, where=None)
    else:
        total = op.sum(g, axis=axes)
    return total if total.shape == expected else op.reshape(total, shape=expected)


@lru_cache(maxsize=1024)
def _summed_axes(g_shape: tuple[int, ...], expected: tuple[int, ...], n_batch: int) -> tuple[int, ...] | None:
    """The axes over which a gradient of shape ``g_shape`` is summed to that of its input; None if it does not fit."""
    extra = len(g_shape) - len(expected)
    if extra < 0 or g_shape[:n_batch] != expected[:n_batch]:
        return None
    axes = list(range(n_batch, n_batch + extra))
    for axis in range(n_batch, len(expected)):
        if expected[axis] != g_shape[axis + extra]:
            if expected[axis] != 1:
                return None
            axes.append(axis + extra)
    return tuple(axes)


def _all_finite(results: Sequence[Any]) -> bool:
    """Whether every gradient is finite, by one product with itself each: inf and NaN survive it, and it costs one read.

    A product that overflows is a false alarm: the gradient is then walked again, and stays what it is.
    """
    total = 0.0
    for each in results:
        plain = each if type(each) is ndarray else innermost_value(each)
        if type(plain) is ndarray:
            if plain.ndim != 1:
                plain = (plain if plain.base is None else _distinct(plain)).ravel(order="K")
            total += abs(plain.dot(plain))
        elif plain is not None:
            total += abs(plain)
    return isfinite(total)


def _distinct(array: ndarray) -> ndarray:
    """A view without the repetitions of a broadcast: the gradient of a sum is one number, however large its shape."""
    if array.base is None or 0 not in array.strides or not array.size:
        return array
    return array[tuple([0 if stride == 0 else slice(None) for stride in array.strides])]


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
        for name, value, before in tape._details[node.id][2]:
            if before is not None and digest(value) != before:
                shape = np.shape(innermost_value(value)) if not isinstance(value, list) else "list"
                raise InPlaceError(
                    f"kernel {node.kernel_name!r}: its saved {name} of shape {shape} was changed in place after it was saved,"
                    " through a view taken before; change a copy instead, or change it after the gradient has been taken"
                    + (f"\n  recorded at {node.source_line}" if node.source_line else "")
                )
