"""What all answers together say: the verdict of a check, and its report."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from autograd.check.asked import Asked, gravest, index_text
from autograd.check.judge import Judge
from autograd.check.question import Question
from autograd.check.report import GradientReport, Probe
from autograd.check.tables import jacobian_pairs


def nothing_to_compare(question: Question, subject: str, order: int = 1) -> GradientReport | None:
    """The report on a function that gives nothing that answers could be compared of; None if it does."""
    again = question.run(question.points)
    if not all(np.array_equal(*pair, equal_nan=True) for pair in zip(question.outputs, again, strict=False)):
        note = "pass its random generator as an argument, which is then put back for each run, or fix the seed inside"
        return GradientReport(subject, "not deterministic", notes=(note,), order=order)
    if not question.outputs or not any(each.size for each in question.outputs):
        note = "it returns no float that could have a derivative" if not question.outputs else "its outputs are empty"
        return GradientReport(subject, "vacuous", notes=(note,), order=order)
    return None


def output_names(paths: Sequence[str], question: Question) -> list[str]:
    """A name for each row but the first: the element of an output, and which part of it if it is complex."""
    names = []
    for path, y in zip(paths, question.outputs, strict=True):
        parts = (" (real part)", " (imaginary part)") if y.dtype.kind == "c" else ("",)
        names += [f"{path}{index_text(at)}{part}" for at in np.ndindex(y.shape) for part in parts]
    return names if len(names) == len(question.rows) - 1 else []


def compared(
    judge: Judge, columns: Sequence[Asked], probes: Sequence[Probe], subject: str, max_elements: int, order: int = 1
) -> GradientReport:
    """The report on these columns and their probes: the gravest verdict, and the worst answer that has it."""
    question = judge.question
    notes = (*judge.notes, *(() if question.finite else ("the function itself is not finite at this point",)))
    verdict = _verdict(probes, columns, question, order)
    if verdict != "not finite" and not question.finite:
        verdict = "not finite" if verdict != "wrong" else verdict
    worst = max(
        (each for each in probes if each.verdict == verdict), default=None, key=lambda each: each.error / (each.tolerance or 1.0)
    )
    pairs = jacobian_pairs(question, judge, columns) if all(x.size <= max_elements for x in question.points) else ()
    if worst is None:
        return GradientReport(subject, verdict, probes=tuple(probes), notes=notes, order=order, jacobians=pairs)
    fields = (worst.where, worst.how, worst.found, worst.expected, worst.error, worst.tolerance)
    return GradientReport(subject, verdict, *fields, tuple(probes), None, notes, order, pairs)


def _verdict(probes: Sequence[Probe], columns: Sequence[Asked], question: Question, order: int) -> str:
    """The gravest verdict; an input none of whose elements ever changes the function makes the check vacuous."""
    verdict = gravest([each.verdict for each in probes])
    if verdict not in ("right", "vacuous"):
        return verdict
    for leaf in range(len(question.points)):
        mine = [each for each in columns if each.number == leaf]
        if mine and all(each.worst == "vacuous" for each in mine):
            return "vacuous" if order == 1 else "right"
    return "right"
