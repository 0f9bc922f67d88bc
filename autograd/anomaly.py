"""Anomaly mode: find the kernel that makes NaN or inf out of finite input.

The tapes in a block of ``detect_anomaly`` keep every value and the caller's lines; each of their records asks ``check_record``,
and each of their walks makes an ``Execution`` of every step. Other tapes never come here.

Forward, the first record stops the program. On the way back that would be too early: what one rule makes may be dropped by the
next, as ``where`` does, or be zero by definition (strong zeros). So the walk goes on with strong zeros and remembers which
anomaly each cotangent comes from; the one that reaches a gradient is raised.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from functools import partial
from threading import get_ident
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

import numpy as np

from autograd.errors import AnomalyError, GradtapeError
from autograd.records import NO_ATTRS, scope_of
from autograd.tape import Tape, anomaly_mode, open_tapes
from autograd.tensor import innermost_value
from registry.bindings import Binding

if TYPE_CHECKING:
    from autograd.anomaly_text import Anomaly

ndarray = np.ndarray

SHOWN = 3
"""How many elements a message shows."""


class Mode(NamedTuple):
    """What a block of ``detect_anomaly`` looks at."""

    forward: bool
    backward: bool


@contextmanager
def detect_anomaly(*, forward: bool = True, backward: bool = True) -> Iterator[None]:
    """Stop with AnomalyError where a kernel makes NaN or inf out of finite input, and say which, of what, and on which line.

    forward    stop at the first recorded kernel whose output is not finite although its inputs are
    backward   stop if a gradient, Jacobian or tangent is not finite, at the rule that made it so out of finite values

    Holds for the tapes of this thread that are open or opened inside the block, thus also for ``grad`` and its relatives.
    Such tapes keep every value and run several times slower; others are as fast as ever. What is not finite from the start,
    such as a mask of -inf, is never blamed, and neither is what strong zeros or ``where`` keep out of the gradient. Blocks
    nest, and the inner one counts: ``detect_anomaly(forward=False)`` lets a stretch of a program make inf on its way, and with
    ``backward=False`` too it is off. Operations that no tape records are not seen, nor is what happens in other threads.
    ``AnomalyError.anomaly`` is the record of what was found, an ``Anomaly``.

    >>> import autograd
    >>> import autograd.numpy as np
    >>> try:
    ...     with autograd.detect_anomaly():
    ...         autograd.grad(np.sqrt)(0.0)
    ... except autograd.AnomalyError as error:
    ...     print(error.anomaly.mode, error.anomaly.kernel_name, error.anomaly.input_name)
    backward sqrt x
    """
    mode = Mode(forward, backward) if forward or backward else None
    tapes = _tapes_open_here()
    before = [(tape._watch, tape._keep_all, tape._sources) for tape in tapes]
    for tape in tapes:
        tape._set_watch(mode)
    token = anomaly_mode.set(mode)
    try:
        yield
    finally:
        anomaly_mode.reset(token)
        for tape, was in zip(tapes, before, strict=True):
            tape._watch, tape._keep_all, tape._sources = was
            if tape._recording:
                tape._resume()


def _tapes_open_here() -> list[Tape]:
    """The open tapes of this thread, looked for among all objects, so that no tape ever pays for being found."""
    if not open_tapes:
        return []
    tapes = [each for each in gc.get_objects() if type(each) is Tape]
    return [each for each in tapes if getattr(each, "_thread", 0) == get_ident() and each._serial in open_tapes]


# -------------------------------------------------------------------------------------------------- forward


def check_record(
    tape: Tape, number: int, binding: Binding, values: Sequence[Any], outputs: Sequence[Any], attrs: Mapping[str, Any]
) -> None:
    """Raise AnomalyError if a new record of a watched tape has made NaN or inf out of finite input.

    What a rule records on a tape outside is judged by the walk that called the rule; it is noted where that came from.
    """
    step = _running.get()
    if step is not None:
        kept, _, digests = tape._details[number]
        tape._details[number] = (kept, step.line(), digests)
        return
    if tape._watch is None or not tape._watch.forward:
        return
    if binding.name == "checkpoint":
        _look_inside(tape, number, values, attrs)
        return
    if finite(outputs):
        return
    execution = Execution(tape, number, binding, "forward", _named_inputs(binding, values), attrs=attrs)
    for name, each in named_outputs(binding, outputs):
        anomaly = execution.blame(each, name)
        if anomaly is not None:
            _raise(anomaly)


def _look_inside(tape: Tape, number: int, values: Sequence[Any], attrs: Mapping[str, Any]) -> None:
    """Run a checkpointed function again, recorded this time, so that a kernel inside of it stops."""
    with Tape() as inner, inner.scope(scope_of(tape, number)):
        inner._set_watch(tape._watch)
        attrs["function"]([inner.watch(innermost_value(each)) for each in values[0]])


# -------------------------------------------------------------------------------------------------- walks


_running: ContextVar[Execution | None] = ContextVar("running", default=None)
"""The step whose rule is running; what it records, walks and opens is judged by that step."""


def raise_or_hand_on(anomaly: Anomaly) -> None:
    """Raise AnomalyError; inside the rule of a step that is watched itself, leave the anomaly to that step."""
    step = _running.get()
    if step is None:
        _raise(anomaly)
    step.inner = step.inner or anomaly


def _raise(anomaly: Anomaly, cause: BaseException | None = None) -> NoReturn:
    raise AnomalyError(anomaly) from cause


def step_of_walk(
    tape: Tape,
    number: int,
    binding: Binding,
    mode: str,
    arriving: list[tuple[str, Any]],
    saved: Sequence[Any],
    origin: Anomaly | None,
    n_batch: int = 0,
) -> Execution:
    """A step of a walk: ``arriving`` are the cotangents or tangents by name, ``origin`` the anomaly they come from, if any."""
    values = tape._details.get(number, (None,))[0]
    if values is None:  # recorded before the block: what the rule saved is all there is
        names = [name for name, save in zip(binding.input_names, binding.save_inputs, strict=True) if save]
        names += ["output"] * sum(binding.save_outputs)
        known = binding.n_saved is not None
        inputs = [
            (names[n] if known and n < len(names) else f"saved[{n}]", each) for n, each in enumerate(saved) if each is not None
        ]
        shown = []
    else:
        n_inputs = len(binding.input_names)
        inputs, shown = _named_inputs(binding, values[:n_inputs]), named_outputs(binding, values[n_inputs:])
    attrs = tape._attrs.get(number, NO_ATTRS)
    return Execution(tape, number, binding, mode, [*arriving, *inputs], attrs, shown, origin, n_batch)


class Execution:
    """One kernel on its way forward or back: what went into it, and whether it is to blame for what came out."""

    __slots__ = ("attrs", "binding", "inner", "mode", "n_batch", "number", "operands", "origin", "shown", "tape")

    def __init__(
        self,
        tape: Tape,
        number: int,
        binding: Binding,
        mode: str,
        operands: list[tuple[str, Any]],
        attrs: Mapping[str, Any],
        shown: Sequence[tuple[str, Any]] = (),
        origin: Anomaly | None = None,
        n_batch: int = 0,
    ) -> None:
        self.tape = tape
        self.number = number
        self.binding = binding
        self.mode = mode
        self.operands = operands
        self.attrs = attrs
        self.shown = shown
        self.origin = origin
        self.n_batch = n_batch
        self.inner: Anomaly | None = None

    @contextmanager
    def running(self) -> Iterator[None]:
        """While the rule runs. Where it fails at what is not finite, the origin of that is raised, unless it says itself why."""
        step, mode = _running.set(self), anomaly_mode.set(self.tape._watch)
        try:
            yield
        except Exception as error:
            if self.origin is None or isinstance(error, GradtapeError):
                raise
            _raise(self.origin, error)
        finally:
            _running.reset(step)
            anomaly_mode.reset(mode)

    def blame(self, result: Any, label: str, input_name: str = "", shape: tuple[int, ...] | None = None) -> Anomaly | None:
        """The anomaly, if elements of ``result`` are not finite although everything that they are made of is.

        ``shape`` is that of what ``label`` names, where the result is still to be summed to it.
        """
        if finite(result):
            return None
        if self.inner is not None or self.binding.name == "checkpoint":
            return self.inner
        value = np.asarray(innermost_value(result))
        bad = ~np.isfinite(value)
        if not finite(self._numbers_among_attributes()):
            return None
        for _, operand in self.operands:
            if not finite(operand):
                if not self._elementwise():
                    return None
                fine = np.isfinite(np.asarray(innermost_value(operand)))
                if np.broadcast_shapes(fine.shape, bad.shape) != bad.shape:
                    return None
                bad &= fine
        if not any(np.size(innermost_value(operand)) for _, operand in self.operands):
            bad &= np.isnan(value)  # of no elements at all: the logarithm of a sum is -inf by definition, the mean undefined
        if not bad.any():
            return None
        shape = value.shape[self.n_batch :] if shape is None else shape
        return self._anomaly(value, bad, label, input_name, shape)

    def blame_sum(self, total: Any, input_name: str, why: str) -> Anomaly | None:
        """The anomaly of a gradient that was finite until it was cast, summed, or added to others; ``why`` says which."""
        if finite(total):
            return None
        value = np.asarray(innermost_value(total))
        label = f"gradient of {input_name}"
        return self._anomaly(value, ~np.isfinite(value), label, input_name, value.shape[self.n_batch :], why)

    def line(self) -> str:
        """The caller's line behind what this step records on tapes outside."""
        line = self._source_line()
        return line and f"{line} ({self.mode} of {self.binding.name!r})"

    def _source_line(self) -> str:
        return self.tape._details.get(self.number, (None, None))[1] or ""

    def _numbers_among_attributes(self) -> list[Any]:
        call = self.attrs.get("call")  # of a primitive: its other arguments are there
        mine = list(self.attrs.values())
        return mine if call is None else [*mine, call.args, call.kwargs]

    def _elementwise(self) -> bool:
        kernel = self.binding.kernel_func
        return self.binding.elementwise or (isinstance(kernel, np.ufunc) and kernel.signature is None)

    def _anomaly(
        self,
        value: ndarray[Any, Any],
        bad: ndarray[Any, Any],
        label: str,
        input_name: str,
        shape: tuple[int, ...],
        why: str = "",
    ) -> Anomaly:
        from autograd import anomaly_text  # only now, when there is something to say

        places = [tuple(int(each) for each in place) for place in np.argwhere(bad)[:SHOWN]]
        name, backend, count = self.binding.name, self.binding.kernel.backend_name, int(bad.sum())
        source_line, scope = self._source_line(), scope_of(self.tape, self.number)
        recorded = [f"recorded at {source_line}"] if source_line else ["recorded before the block of detect_anomaly"]
        text = anomaly_text.message(
            heading=self._heading(label, input_name, why),
            name=name,
            mode=self.mode,
            value=value,
            places=places,
            count=count,
            label=label,
            shape=shape,
            n_batch=self.n_batch,
            operands=[] if why else [*self.operands, *self.shown],
            attrs=self.attrs,
            shown_attrs={key: each for key, each in self.attrs.items() if each is not self.binding.attr_defaults.get(key)},
            elementwise=self._elementwise(),
            recorded=recorded + [f"in scope {scope}"] * bool(scope),
        )
        indices = tuple(anomaly_text.broadcast_place(each[self.n_batch :], shape) for each in places)
        return anomaly_text.Anomaly(name, backend, self.mode, input_name, indices, count, self.number, source_line, scope, text)

    def _heading(self, label: str, input_name: str, why: str) -> str:
        kernel = f"kernel {self.binding.name!r} on backend {self.binding.kernel.backend_name!r}{_function_of(self.attrs)}"
        if self.mode == "forward":
            return f"forward: {kernel}" + (f" ({label})" if self.binding.several else "")
        if self.mode == "backward":
            return f"backward: {why or 'the rule'} of {kernel} for input {input_name!r}"
        return f"forward mode: the tangent rule of {kernel}"


# -------------------------------------------------------------------------------------------------- values


def finite(value: Any) -> bool:
    """Whether all numbers in a value are finite; what has none is.

    >>> finite([1.0, float("inf")]), finite((2, "text", None))
    (False, True)
    """
    value = innermost_value(value)
    if isinstance(value, ndarray | np.generic | float | complex):
        array = np.asarray(value)
        return array.dtype.kind not in "fc" or bool(np.isfinite(array).all())
    if isinstance(value, list | tuple):
        return all(finite(each) for each in value)
    if isinstance(value, dict):
        return all(finite(each) for each in value.values())
    return True


def _function_of(attrs: Mapping[str, Any]) -> str:
    """The name of the user's function that a record stands for, as the heading has it."""
    call, pull_back = attrs.get("call"), attrs.get("pull_back")
    if call is not None:
        function = getattr(call.function, "fun", call.function)
    elif isinstance(pull_back, partial):
        function = pull_back.args[0]
    else:
        return ""
    return f" (function {getattr(function, '__qualname__', function)})"


def _named_inputs(binding: Binding, values: Sequence[Any]) -> list[tuple[str, Any]]:
    named: list[tuple[str, Any]] = []
    for name, value, is_list in zip(binding.input_names, values, binding.list_inputs, strict=True):
        if is_list:
            named += [(f"{name}[{member}]", each) for member, each in enumerate(value)]
        elif value is not None:
            named.append((name, value))
    return named


def named_outputs(binding: Binding, values: Sequence[Any], otherwise: str = "output") -> list[tuple[str, Any]]:
    """The outputs of a kernel, or what belongs to each of them, by the names of its schema; None is left out."""
    names = [each.name for each in binding.schema.returns]
    if binding.n_outputs is None:
        names = [f"{otherwise}[{place}]" for place in range(len(values))]
    elif len(values) == 1:
        names = [otherwise]
    return [(name or otherwise, each) for name, each in zip(names, values, strict=True) if each is not None]
