"""What kind of fault a wrong gradient has: patterns between what a rule gives and what it should.

The patterns are those of mistakes that people make in rules. Each is tried on the whole gradient of one input, for one
cotangent; the first that fits is the diagnosis, and if none does, there is none.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from autograd.check import patterns
from autograd.check.asked import index_text
from autograd.check.differences import ROUNDING
from autograd.check.judge import Judge
from autograd.check.question import ByTape
from autograd.check.report import Probe

if TYPE_CHECKING:
    from autograd.check.local import LocalCall

Array = np.ndarray[Any, Any]

MOST_ELEMENTS = 512
"""Of a larger input the gradient is not worked out element by element; its worst answer says what there is to say."""


@dataclass(frozen=True, slots=True)
class Finding:
    """The worst element of a wrong gradient, both values of it, how many are wrong, and the kind of fault."""

    element: str
    found: float
    expected: float
    tolerance: float
    n_wrong: tuple[int, int] | None
    text: str | None


def diagnose(local: LocalCall, judge: Judge, number: int, worst: Probe, order: int, rtol: float) -> Finding:
    """What is wrong with the gradient of input ``number`` of one kernel."""
    question = judge.question
    place = worst.where.rpartition(" by ")[2]
    element = place[len(local.paths[number]) :] if place.startswith(local.paths[number]) else ""
    simple = Finding(element, worst.found, worst.expected, worst.tolerance, None, None)
    if worst.judge == "double precision":
        dtype = np.asarray(local.given[number]).dtype
        alone = f"wrong in {dtype} alone: in double precision the same rule gives {worst.expected:.7g}"
        return Finding(element.partition(" as ")[0], worst.found, worst.expected, worst.tolerance, None, alone)
    if worst.judge == "reverse mode":
        return Finding("", worst.found, worst.expected, worst.tolerance, None, "forward mode differs from reverse mode")
    if question.points[number].size > MOST_ELEMENTS:
        return simple
    for row in dict.fromkeys((0, _row_of(judge, worst))):  # a combination of all outputs may hide it
        found, expected, margin = gradient_arrays(judge, number, worst.how, row)
        with np.errstate(all="ignore"):
            errors = np.abs(found - expected)
            tolerance = rtol * np.maximum(np.abs(found), np.abs(expected)) + margin
            wrong = ~(errors <= tolerance)
        if wrong.any():
            break
    else:
        return simple
    at = np.unravel_index(np.argmax(np.where(np.isnan(errors), np.inf, errors * wrong)), errors.shape)
    text = _kind(local, judge, number, row, worst.how, found, expected, wrong) if order == 1 else None
    values = [_shown(each[at]) for each in (found, expected)]
    return Finding(index_text(at), values[0], values[1], float(tolerance[at]), (int(wrong.sum()), wrong.size), text)


def _row_of(judge: Judge, worst: Probe) -> int:
    output = worst.where.partition(" by ")[0] if " by " in worst.where else ""
    return 1 + list(judge.names.outputs).index(output) if output in judge.names.outputs else 0


def _shown(value: Any) -> float:
    return float(value) if not isinstance(value, complex | np.complexfloating) else float(value.real or value.imag)


def gradient_arrays(judge: Judge, number: int, how: str, row: int) -> tuple[Array, Array, Array]:
    """The gradient of one row in one input, as one mode has it and as differences have it, and how far these are certain."""
    question = judge.question
    x, scales = question.points[number], question.scales[number]
    found: Array = np.zeros(x.shape, x.dtype)
    expected: Array = np.zeros(x.shape, x.dtype)
    margin: Array = np.zeros(x.shape)
    for unit, back in ((1.0, 1.0), (1j, -1j)) if x.dtype.kind == "c" else ((1.0, 1.0),):  # the gradient is df/dx - i df/dy
        directions = [np.where(mask, unit * scales, 0) for mask in np.eye(x.size, dtype=bool).reshape(x.size, *x.shape)]
        values, margins = _values_along(judge, number, directions, row)
        expected = expected + back * (values.reshape(x.shape) / scales)
        margin = np.maximum(margin, margins.reshape(x.shape) / scales)
        if how == "forward mode":
            tangents = [judge.tangent(number, each)[row] for each in directions]
            found = found + back * (np.reshape(tangents, x.shape) / scales)
    if how == question.answer:
        found = np.asarray(question.gradients([question.rows[row]])[0][number])
    return found, expected, margin


def _values_along(judge: Judge, number: int, directions: list[Array], row: int) -> tuple[Array, Array]:
    """The derivative of one row along each direction, and its margin: by one difference where the function is plain enough."""
    question = judge.question
    if not question.plain:
        found = [question.slopes(number, each, None, 0.0) for each in directions]
        return np.array([each.value[row] for each in found]), np.array([each.margin[row] for each in found])
    ups, downs, step = question.pairs(number, directions)
    with np.errstate(all="ignore"):
        values = (ups[:, row] - downs[:, row]) / (2 * step)
        bends = np.abs(ups[:, row] - 2 * question.y[row] + downs[:, row]) / step
        noise = ROUNDING * question.rounding[row] / step
        largest = np.max(np.abs(values), initial=0.0)
    margins = np.full(values.shape, noise)
    for n in np.flatnonzero(~(bends <= 1e-3 * np.maximum(np.abs(values), 1e-3 * largest) + noise)):
        slopes = question.slopes(number, directions[n], None, 0.0)
        values[n], margins[n] = slopes.value[row], slopes.margin[row]
    return values, margins


def _kind(
    local: LocalCall, judge: Judge, number: int, row: int, how: str, found: Array, expected: Array, wrong: Array
) -> str | None:
    if not np.isfinite(found).all():
        return patterns.not_finite(found)
    reverse = how == "reverse mode"
    checks = (
        _scaling(judge, number, row),
        patterns.zero(found, wrong),
        patterns.conjugate(found, expected),
        patterns.simple_factor(found, expected, _broadcast_counts(judge, number)),
        patterns.order_of_elements(found, expected),
        _other_input(local, judge, number, row, found),
        _sum_left_out(local, judge, number, row, found) if reverse else None,
        patterns.precision(found, expected),
        patterns.factor(found, expected),
        patterns.part(found, expected, wrong),
    )
    return next((each for each in checks if each is not None), None)


def _scaling(judge: Judge, number: int, row: int) -> str | None:
    """Whether the rule is linear in ``dy``, as every rule must be."""
    weights = judge.question.rows[row]
    once, twice = [each[number] for each in judge.question.gradients([weights, [2.0 * each for each in weights]])]
    if patterns.near(twice, 2.0 * once):
        return None
    if patterns.near(twice, once):
        return "not scaled by dy: twice the cotangent gives the same gradient"
    return "not linear in dy: twice the cotangent does not give twice the gradient"


def _broadcast_counts(judge: Judge, number: int) -> list[int]:
    size = judge.question.points[number].size
    return [each.size // size for each in judge.question.outputs if size and each.size % size == 0]


def _other_input(local: LocalCall, judge: Judge, number: int, row: int, found: Array) -> str | None:
    for other, x in enumerate(judge.question.points):
        if other != number and x.shape == found.shape and x.size <= MOST_ELEMENTS:
            theirs = gradient_arrays(judge, other, "differences", row)[1]
            if patterns.near(found, theirs):
                return f"swapped inputs: it is the gradient for {local.paths[other]}"
    return None


def _sum_left_out(local: LocalCall, judge: Judge, number: int, row: int, found: Array) -> str | None:
    """Whether the gradient of a broadcast input is that of one of its repetitions alone."""
    x = judge.question.points[number]
    shapes = [y.shape for y in judge.question.outputs]
    if len(shapes) != 1 or shapes[0] == x.shape or int(np.prod(shapes[0])) > MOST_ELEMENTS:
        return None
    try:
        wide = np.array(np.broadcast_to(x, shapes[0]))
    except ValueError:
        return None
    given = list(local.given)
    given[number] = wide
    try:
        question = ByTape(local, given, np.random.default_rng(0), weights=judge.question.rows[row], rows=False)
    except Exception:  # an operator that does not take the broadcast input: no un-broadcast to miss
        return None
    every = gradient_arrays(Judge(question, judge.names, (), judge.rtol), number, "differences", 0)[1]
    extra = every.ndim - x.ndim
    axes = [*range(extra), *(extra + axis for axis in range(x.ndim) if x.shape[axis] != every.shape[extra + axis])]
    for end, words in ((0, "first"), (-1, "last")):
        index = tuple(end if axis in axes else slice(None) for axis in range(every.ndim))
        if patterns.near(found, every[index].reshape(x.shape)):
            return f"missing un-broadcast: the gradient of the {words} repetition in place of the sum over all"
    return None
