"""One function examined: all answers asked and compared, without a search for who is to blame."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from autograd.check.asked import Names, gravest, index_text
from autograd.check.comparison import compared, nothing_to_compare, output_names
from autograd.check.judge import Judge
from autograd.check.question import ByTape, Question, sum_of_gradients
from autograd.check.report import GradientReport, Probe
from autograd.engine import resolve
from autograd.functional import make_vjp
from autograd.tape import Tape
from autograd.tensor import innermost_value


def examine(
    call: Any,
    subject: str,
    modes: Sequence[str],
    seed: int,
    n_directions: int,
    max_elements: int,
    rtol: float,
    *,
    order: int = 1,
    weights: Sequence[Any] | None = None,
    own_precision: bool = False,
) -> tuple[GradientReport, Judge | None]:
    """The report on one function, without a culprit, and the judge of it, if it came to that.

    ``call`` has ``given`` leaves, their ``paths``, and the names of its ``outputs``.
    """
    question = ByTape(call, call.given, np.random.default_rng(seed), weights=weights, own_precision=own_precision)
    unasked = nothing_to_compare(question, subject, order)
    if unasked is not None:
        return unasked, None
    judge = Judge(question, Names(call.paths, output_names(call.outputs, question)), modes, rtol)
    columns = judge.columns(max_elements, n_directions)
    probes = [probe for asked in columns for probe in judge.probes(asked)]
    dot = judge.dot_test()
    if dot is not None and gravest([each.verdict for each in probes]) in ("right", "vacuous") and dot.verdict != "right":
        probes.append(dot)
    probes += _compare_precisions(call, question, judge)
    report = compared(judge, columns, probes, subject, max_elements, order)
    return (report if question.tracked else report.with_note("no output depends on an input, as far as the tape saw")), judge


def _compare_precisions(call: Any, question: Question, judge: Judge) -> list[Probe]:
    """For leaves in less than double precision: the worst element of their own gradient, against the doubles'."""
    dtypes = [np.asarray(each).dtype for each in call.given]
    if judge.gradients is None or dtypes == [each.dtype for each in question.points]:
        return []
    eps = float(max(np.finfo(each).eps for each in dtypes))
    tolerance = 3 * eps**0.5
    own = own_gradients(call, call.given, question.rows[0])
    if own is None:
        return []
    least = eps * float(np.sum(question.rounding[0] / np.finfo(float).eps)) / tolerance
    probes = []
    for number, dtype in enumerate(dtypes):
        scale, double = question.scales[number], judge.gradients[0][number]
        sizes = np.abs(double) * scale
        typical = float(np.sqrt(np.mean((sizes / (sizes.max() or 1.0)) ** 2)) * sizes.max()) if sizes.size else 0.0
        errors = np.abs(own[number] - double) * scale / np.maximum(np.maximum(sizes, typical), least or 1.0)
        worst = np.unravel_index(np.argmax(np.where(np.isnan(errors), np.inf, errors)), errors.shape)
        where = f"{call.paths[number]}{index_text(worst)} as {dtype}"
        one, two = [float(complex(each[worst]).real) for each in (own[number], double)]
        size = float(np.abs(double[worst])) or 1.0
        verdict = "right" if errors[worst] <= tolerance else "wrong" if np.isfinite(one) else "not finite"
        found = Probe(
            where, "reverse mode", one, two, float(errors[worst]) * size, tolerance * size, 0.0, verdict, judge="double precision"
        )
        probes.append(found)
    return probes


def own_gradients(call: Any, given: Sequence[Any], weights: Sequence[Any]) -> list[Any] | None:
    """The gradient in each leaf as it was given, in its own precision; None where the function gives nothing of that shape."""
    with Tape(persistent=True) as tape:
        watched = [tape.watch(each) for each in given]
        results = [resolve(each) for each in call(*watched)]
    if [np.shape(innermost_value(each)) for each in results] != [np.shape(each) for each in weights]:
        return None
    return sum_of_gradients(tape, watched, results, weights)


class Derivative:
    """The gradient of a function, as a function of the same leaves: what an order more is asked about."""

    def __init__(self, call: Any, seed: int) -> None:
        self._call = call
        self.given, self.paths = call.given, call.paths
        question = ByTape(call, call.given, np.random.default_rng(seed), rows=False)
        self._weights = question.rows[0]
        self.outputs = [f"gradient in {path}" for path in call.paths]

    def __call__(self, *values: Any) -> list[Any]:
        weights = self._weights

        def weighted(*leaves: Any) -> Any:
            return list(self._call(*leaves))

        pull_back, y = make_vjp(weighted, tuple(range(len(values))))(*values)
        dys = [w.astype(np.asarray(innermost_value(each)).dtype) for w, each in zip(weights, y, strict=True)]
        return list(pull_back(dys))
