"""Which kernel is to blame: the recorded tape, record by record, each checked against differences of its own kernel.

A gradient is a product of many rules; that the product is wrong says little. But every record can be run again by itself, at the
values that it had, and its rule asked for the cotangent that arrived: where that is wrong, the rule is, whatever came before.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from autograd.check.asked import index_text
from autograd.check.examine import examine, own_gradients
from autograd.check.local import LocalCall, check_locally
from autograd.check.question import ByTape, doubled, scale_of
from autograd.check.recording import Recording
from autograd.check.report import Culprit, GradientReport
from autograd.locks import digest
from autograd.records import NO_ATTRS, node, places
from autograd.tape import Tape

MOST_OTHERS = 3
"""How many further kernels are named whose rules are wrong too."""

MOST_OF_A_KIND = 5
"""On a long tape, how many records of one kernel and one shape are looked at before others."""

LONG = 300
"""From how many records on a tape is long."""


def explain(call: Any, function: Any, report: GradientReport, modes: Sequence[str], seed: int, rtol: float) -> GradientReport:
    """A report that is not right, with what the tape says of it: the culprit, or where a kink or a NaN arose."""
    if report.verdict not in ("wrong", "kink", "not finite"):
        return report
    wrong = {each.how.partition(" ")[0] for each in report.probes if each.verdict == "wrong"} & set(modes)
    try:
        recorded = Recorded(call if report.order == 1 else function, seed, as_given=_own_precision(report))
    except Exception as error:  # the function does not run under a tape at all
        return report.with_note(f"the tape could not be looked at: {type(error).__name__}: {error}")
    if report.verdict == "not finite":
        return _where_not_finite(recorded, report)
    culprits: list[Culprit] = []
    kinks: list[str] = []
    for local, record in recorded.locals():
        if len(culprits) > MOST_OTHERS or (report.verdict == "kink" and len(kinks) >= MOST_OTHERS):
            break
        if record.changed is not None:
            culprits.append(record.blamed(_changed(local, record.changed)))
            continue
        found = _check_record(local, record, tuple(wrong) or tuple(modes), seed, rtol, report.order)
        if found.verdict == "wrong" and local.is_checkpoint:
            found = explain(local, local, found, modes, seed, rtol)
        if found.verdict == "wrong" and found.culprit is not None:
            culprits.append(record.blamed(found.culprit))
        elif found.verdict == "kink":
            name = f"kernel {local.binding.name!r} (record {record.number}{_at(record.line)})"
            kinks.append(f"{name} is at a kink: {next(str(each) for each in found.probes if each.verdict == 'kink')}")
    if report.verdict == "kink":
        return report.with_note(*kinks)
    if culprits:
        others = tuple(f"{each.kernel_name!r} in {each.input_name}{_at(each.source_line)}" for each in culprits[1:])
        return report.with_culprit(replace(culprits[0], others=others))
    if kinks and _right_nearby(call, report, modes, seed, rtol):
        note = "the rules choose a slope between those on either side; a little way off, where there is no kink, all agree"
        return replace(report, verdict="kink", notes=(*report.notes, *kinks[:MOST_OTHERS], note))
    return report.with_note(
        "every kernel on the tape is right by itself: a value has left the tape on the way (item(), value, stop_gradient), or the"
        " function does something else under a tape than without one"
    )


def _changed(local: LocalCall, name: str) -> Culprit:
    """A value that a rule saved and that was written to since: the rule can only be wrong then."""
    nan = float("nan")
    text = f"saved value changed: the saved {name} is no longer what it was when the kernel ran; write to a copy"
    backend = local.binding.kernel.backend_name
    return Culprit(local.binding.name, backend, name, "", nan, nan, nan, text, "saved value", function=local.function_name)


def _own_precision(report: GradientReport) -> bool:
    """Whether only single precision is wrong, so that the tape must be looked at in that."""
    wrong = [each for each in report.probes if each.verdict == "wrong"]
    return bool(wrong) and all(each.judge == "double precision" for each in wrong)


def _at(line: str | None) -> str:
    return f" at {line}" if line else ""


@dataclass(frozen=True, slots=True)
class Record:
    """One record of the tape that was looked at, with the cotangents that arrived at its outputs (None where none did)."""

    number: int
    scope: str
    line: str | None
    dys: list[Any]
    changed: str | None

    def blamed(self, culprit: Culprit) -> Culprit:
        """A culprit with its place on the tape; one further in has a line of its own."""
        return replace(culprit, node_id=self.number, source_line=culprit.source_line or self.line, scope=self.scope)


class Recorded:
    """The function once more on a tape that keeps everything, and the cotangents that arrive everywhere on it."""

    def __init__(self, call: Any, seed: int, *, as_given: bool = False) -> None:
        question = ByTape(call, call.given, np.random.default_rng(seed), rows=False)
        given = list(call.given) if as_given else question.as_given(question.points)
        recording = Recording(call, given, sources=True)
        self.tape = recording.tape
        self.cotangents = recording.cotangents(question.rows[0])

    def locals(self) -> Iterator[tuple[LocalCall, Record]]:
        """The records that have a rule, from the last to the first, as the walk meets them."""
        tape = self.tape
        rows = list(places(tape))[::-1]
        for number, n_outputs, at, saved_at in _varied(tape, rows) if len(rows) > LONG else rows:
            binding = tape._bindings[number]
            if binding.gradient is None or binding.constant:
                continue
            view = node(tape, number, n_outputs, at, saved_at)
            dys = [self.cotangents.get(number + each) for each in range(n_outputs)]
            if self.cotangents and all(each is None for each in dys):
                continue
            tracked = [[n is not None for n in ids] if isinstance(ids, list) else ids is not None for ids in view.inputs.values()]
            values = (view.values or ())[: len(view.inputs)]
            try:
                local = LocalCall(binding, values, tape._attrs.get(number, NO_ATTRS), tracked)
            except StopIteration:  # a primitive that got its tensors in an object which cannot be taken apart
                continue
            if not local.given:
                continue
            saved = tape._details[number][2]
            changed = next((name for name, value, before in saved if before is not None and digest(value) != before), None)
            yield local, Record(number, view.scope, view.source_line, dys, changed)


def _varied(tape: Tape, rows: list[tuple[int, int, int, int]]) -> list[tuple[int, int, int, int]]:
    """Records of a long tape, a few of every kind first."""
    seen: dict[Any, int] = {}
    first: list[tuple[int, int, int, int]] = []
    rest: list[tuple[int, int, int, int]] = []
    for row in rows:
        kind = (tape._bindings[row[0]].name, tape._shapes[row[0]])
        seen[kind] = seen.get(kind, 0) + 1
        (first if seen[kind] <= MOST_OF_A_KIND else rest).append(row)
    return first + rest


def _check_record(local: LocalCall, record: Record, modes: Sequence[str], seed: int, rtol: float, order: int) -> GradientReport:
    """One record, asked with the cotangents that arrived where these are finite and not all zero."""
    try:
        weights = _arrived(local, record)
    except Exception as error:  # a kernel that does not run again by itself
        return GradientReport(f"operator {local.binding.name!r}", "too noisy to tell", notes=(str(error),))
    usable = all(_finite(each) for each in weights) and any(np.any(each) for each in weights)
    return check_locally(local, modes, seed, rtol, order=order, weights=weights if usable else None)


def _arrived(local: LocalCall, record: Record) -> list[Any]:
    """The cotangents of the kernel's float outputs, zeros for one where none arrived."""
    outputs = [np.asarray(each) for each in local(*local.given)]
    arrived = [record.dys[number] if number < len(record.dys) else None for number in local.float_outputs]
    return [np.zeros(y.shape) if each is None else each for each, y in zip(arrived, outputs, strict=True)]


def _right_nearby(call: Any, report: GradientReport, modes: Sequence[str], seed: int, rtol: float) -> bool:
    """Whether the gradient is right at points a little way off."""
    rng = np.random.default_rng(seed + 1)
    for _ in range(2):
        near = Nearby(call, rng)
        if examine(near, report.subject, modes, seed, 2, 32, rtol)[0].verdict not in ("right", "vacuous"):
            return False
    return True


class Nearby:
    """A function at a point a thousandth away in every element."""

    def __init__(self, call: Any, rng: np.random.Generator) -> None:
        self._call = call
        self.paths = call.paths
        points = [doubled(each) for each in call.given]
        self.given = [
            (x + 1e-3 * scale_of(x) * rng.uniform(0.5, 1.0, x.shape) * rng.choice([-1, 1], x.shape))[()] for x in points
        ]

    @property
    def outputs(self) -> Sequence[str]:
        """The names of the outputs, as the function itself has them."""
        outputs: Sequence[str] = self._call.outputs
        return outputs

    def __call__(self, *values: Any) -> list[Any]:
        result: list[Any] = self._call(*values)
        return result


def _where_not_finite(recorded: Recorded, report: GradientReport) -> GradientReport:
    """Where the first NaN or inf came from: a kernel that made one of finite input, or a rule that did."""
    tape = recorded.tape
    for number, n_outputs, at, saved_at in places(tape):
        view = node(tape, number, n_outputs, at, saved_at)
        values = view.values or ()
        inputs, outputs = values[: len(view.inputs)], values[len(view.inputs) :]
        if all(_finite(each) for each in inputs) and not all(_finite(each) for each in outputs):
            made = next(each for each in outputs if not _finite(each))
            return report.with_note(
                f"it arose forward in kernel {view.kernel_name!r} (record {number}{_at(view.source_line)}): of finite input it"
                f" made {_first_not_finite(made)}"
            )
    for local, record in recorded.locals():
        if not all(_finite(each) for each in record.dys if each is not None):
            continue
        bad = _rule_not_finite(local, record)
        if bad is not None:
            return report.with_note(
                f"it arose backward in the rule of kernel {local.binding.name!r} (record {record.number}{_at(record.line)}): of a"
                f" finite cotangent it made {bad}"
            )
    return report


def _rule_not_finite(local: LocalCall, record: Record) -> str | None:
    try:
        gradients = own_gradients(local, local.given, _arrived(local, record))
    except Exception:
        return None
    for path, g in zip(local.paths, gradients or (), strict=False):
        if not _finite(g):
            return f"{_first_not_finite(g)} for its input {path}"
    return None


def _finite(value: Any) -> bool:
    if isinstance(value, list | tuple):
        return all(_finite(each) for each in value)
    plain = np.asarray(value)
    return plain.dtype.kind not in "fc" or bool(np.isfinite(plain).all())


def _first_not_finite(value: Any) -> str:
    plain = np.asarray(value)
    bad = np.argwhere(~np.isfinite(plain))
    first = tuple(bad[0]) if len(bad) else ()
    return f"{plain[first]} at element {index_text(first) or '[]'} ({len(bad)} of {plain.size} are not finite)"
