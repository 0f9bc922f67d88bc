"""Which kernel is to blame: the recorded tape, record by record, each checked against differences of its own kernel.

A gradient is a product of many rules; that the product is wrong says little. But every record can be run again by itself, at the
values that it had, and its rule asked for the cotangent that arrived: where that is wrong, the rule is, whatever came before.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from autograd import operators as op
from autograd.backprop import pull_back
from autograd.check.gradient import examine
from autograd.check.local import LocalCall, check_locally
from autograd.check.report import Culprit, GradientReport
from autograd.dag import plan_for
from autograd.engine import resolve
from autograd.locks import digest
from autograd.records import NO_ATTRS, node, places
from autograd.tape import Tape
from autograd.tensor import Tensor

MOST_OTHERS = 3
"""How many further kernels are named whose rules are wrong too."""

MOST_OF_A_KIND = 5
"""On a long tape, how many records of one kernel and one shape are looked at before others."""

LONG = 300


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
        name = f"kernel {local.binding.name!r} (record {record.number}{_at(record.line)})"
        if local.changed is None and report.verdict == "kink" and len(kinks) >= MOST_OTHERS:
            break
        found = _check_record(local, record, tuple(wrong) or tuple(modes), seed, rtol, report.order)
        if found.verdict == "wrong" and found.culprit is not None:
            inner = _inside(local, modes, seed, rtol) or found.culprit
            culprits.append(
                replace(inner, node_id=record.number, source_line=inner.source_line or record.line, scope=record.scope)
            )
            if len(culprits) > MOST_OTHERS:
                break
        elif found.verdict == "kink":
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
    key: Any


class Recorded:
    """The function once more on a tape that keeps everything, and the cotangents that arrive everywhere on it."""

    def __init__(self, call: Any, seed: int, *, as_given: bool = False) -> None:
        from autograd.check.question import ByTape

        question = ByTape(call, call.given, np.random.default_rng(seed))
        given = list(call.given) if as_given else question.as_given(question.points)
        with Tape(persistent=True, keep="all", sources=True) as tape:
            watched = [tape.watch(each) for each in given]
            results = [resolve(each) for each in call(*watched)]
            self.end = len(tape._bindings)
            total = None
            for result, weights in zip(results, question.rows[0], strict=True):
                if type(result) is Tensor and result._tape is tape:
                    part = op.sum(op.real(op.multiply(result, weights.astype(result.dtype))))
                    total = part if total is None else op.add(total, part)
        self.tape = tape
        self.cotangents: dict[int, Any] = {}
        if total is None:
            return
        ids = [n for n in range(self.end) if np.dtype(tape._dtypes[n]).kind in "fc"]
        try:
            results = pull_back(tape, plan_for(tape, total._id, tuple(ids)), total._id, np.float64(1.0), ids)
        except Exception:  # a rule that raises: then every record is asked with cotangents of its own
            return
        self.cotangents = dict(zip(ids, results, strict=True))

    def locals(self) -> Iterator[tuple[LocalCall, Record]]:
        """The records that have a rule, from the last to the first, as the walk meets them."""
        tape = self.tape
        rows = [row for row in places(tape) if row[0] < self.end]
        rows.reverse()
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
            for name, value, before in tape._details[number][2]:
                if before is not None and digest(value) != before:
                    local.changed = f"the saved {name}"
            yield local, Record(number, view.scope, view.source_line, dys, (binding.name, view.shape))


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
        outputs = [np.asarray(each) for each in local(*local.given)]
    except Exception as error:  # a kernel that does not run again by itself
        return GradientReport(f"operator {local.binding.name!r}", "too noisy to tell", notes=(str(error),))
    weights = None
    if any(each is not None and np.all(np.isfinite(each)) and np.any(each) for each in record.dys):
        arrived = [record.dys[number] if number < len(record.dys) else None for number in local.float_outputs]
        weights = [
            np.zeros(y.shape) if each is None or not np.all(np.isfinite(each)) else np.asarray(_dense(each))
            for each, y in zip(arrived, outputs, strict=True)
        ]
    return check_locally(local, modes, seed, rtol, order=order, weights=weights)


def _dense(dy: Any) -> Any:
    return dy.dense() if hasattr(dy, "dense") else dy


def _inside(local: LocalCall, modes: Sequence[str], seed: int, rtol: float) -> Culprit | None:
    """For a checkpoint: the kernel inside that is to blame."""
    function = local.inner
    if function is None:
        return None
    inside = Inside(local)
    report, _ = examine(inside, "checkpoint", modes, seed, 2, 32, rtol)
    return explain(inside, inside, report, modes, seed, rtol).culprit if report.verdict == "wrong" else None


class Inside:
    """What a checkpoint runs, as a function of its inputs, without the checkpoint."""

    def __init__(self, local: LocalCall) -> None:
        self.given, self.paths = local.given, local.paths
        self._call = local
        self.outputs: list[str] = []

    def __call__(self, *values: Any) -> list[Any]:
        results = self._call(*values)
        self.outputs = self._call.outputs
        return results


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
        from autograd.check.question import doubled, scale_of

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
        if number >= recorded.end:
            break
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
        dys = [each for each in record.dys if each is not None]
        if not all(_finite(_dense(each)) for each in dys):
            continue
        bad = _rule_not_finite(local, record)
        if bad is not None:
            return report.with_note(
                f"it arose backward in the rule of kernel {local.binding.name!r} (record {record.number}{_at(record.line)}): of a"
                f" finite cotangent it made {bad}"
            )
    return report


def _rule_not_finite(local: LocalCall, record: Record) -> str | None:
    from autograd.check.gradient import own_gradients

    outputs = [np.asarray(each) for each in local(*local.given)]
    arrived = [record.dys[number] if number < len(record.dys) else None for number in local.float_outputs]
    weights = [np.zeros(y.shape) if each is None else np.asarray(_dense(each)) for each, y in zip(arrived, outputs, strict=True)]
    try:
        gradients = own_gradients(local, local.given, weights)
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
    from autograd.check.asked import index_text

    plain = np.asarray(value)
    bad = np.argwhere(~np.isfinite(plain))
    first = tuple(bad[0]) if len(bad) else ()
    return f"{plain[first]} at element {index_text(first) or '[]'} ({len(bad)} of {plain.size} are not finite)"
