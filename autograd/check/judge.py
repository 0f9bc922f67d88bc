"""Answers compared: what reverse and forward mode say, beside what differences say, with a verdict for each.

The differences are the judge of both modes, because a rule that is wrong is often wrong in both (one is made of the other). Two
tests need no differences: that both modes say the same of one number (they do to rounding), and the complex step, which
proves a derivative where noise hides it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from autograd.check.asked import ORDER, Asked, Names, index_text
from autograd.check.differences import ROUNDING, SURE, Slopes
from autograd.check.question import ByTape, Question
from autograd.check.report import Probe

Array = np.ndarray[Any, Any]

DOT_TOLERANCE = 1e-9
"""How near two modes come that compute the same sums in another order."""

FAR_OFF = 1000.0
"""How many tolerances away an answer is wrong by a single difference already: noise that does not show moves it less far."""

BATCH = (
    "right for one cotangent at a time, but not for a batch of them, which jacobian and hessian use: a rule counts axes from the"
    " front; write it with negative axes and ..., or declare batched=False"
)
"""What is said of a rule that fails only when several cotangents are asked at once."""

DECADES = 3
"""Elements whose derivatives differ in size by more than this are probed apart: beside a large one a small one is not seen."""


class Judge:
    """Asks a question column by column, and compares the answers."""

    def __init__(self, question: Question, names: Names, modes: Sequence[str], rtol: float) -> None:
        self.question = question
        self.names = names
        self.modes = modes
        self.rtol = rtol
        self.notes: list[str] = []
        self.gradients = question.gradients() if "reverse" in modes else None
        self._still = [np.zeros(each.shape) for each in question.points]
        self._unproven = np.zeros(len(question.rows), bool)
        self._scale = np.zeros(len(question.rows))
        self._sure = question.sure
        if self.gradients is not None:
            for position, row in enumerate(self.gradients):
                for g, scale in zip(row, question.scales, strict=True):
                    self._scale[position] = max(self._scale[position], _largest(g * scale))

        # beside a large derivative, one that is zero by the structure of the function is what rounding left of it
        self._floor = ROUNDING * float(np.max(question.eps, initial=0.0)) * float(np.max(self._scale, initial=0.0))

    def ask_all(self, number: int, directions: Sequence[Array]) -> list[Asked]:
        """Columns, one for each direction in one leaf.

        Where what is found agrees with a single central difference of small step, and the function bends no more there than a
        smooth one does, that is all; whatever is not that plain is asked with every care.
        """
        question = self.question
        plain = question.plain and self.gradients is not None and question.finite and len(directions) > 0
        if not plain or not all(np.isfinite(row[number]).all() for row in self.gradients or ()):
            return [self.ask(number, each) for each in directions]
        found = self._found_along(number, directions)
        ups, downs, step = question.pairs(number, directions)
        with np.errstate(all="ignore"):
            value = (ups - downs) / (2 * step)
            bend = np.abs(ups - 2 * question.y + downs) / step
        errors = {how: np.abs(each - value) for how, each in found.items()}
        still = (ups == question.y) & (downs == question.y)
        noise, tolerance, good, far = self._plainly(found, errors, value, bend, still, step)
        if any(each.any() for each in far.values()) and question.look_inside():
            noise, tolerance, good, far = self._plainly(found, errors, value, bend, still, step)
        verdicts = {how: np.select([still & (each == 0), far[how]], ["vacuous", "wrong"], "right") for how, each in found.items()}
        telling = {how: _telling_rows(each / np.maximum(tolerance, 1e-300)) for how, each in errors.items()}
        columns = []
        for n, direction in enumerate(directions):
            if not good[n].all():
                columns.append(self.ask(number, direction, {how: each[n] for how, each in found.items()}))
                continue
            slopes = Slopes(value[n], step * bend[n], noise, value[n], value[n], self._unproven, still[n], np.abs(value[n]))
            where, length = self._place(number, direction)
            columns.append(
                Asked(
                    number, direction, length, where, {how: each[n] for how, each in found.items()}, slopes, ROUNDING * noise,
                    {how: each[n] for how, each in verdicts.items()}, value[n], self._unproven,
                    {how: int(each[n]) for how, each in telling.items()},
                )
            )  # fmt: skip
        return columns

    def _plainly(
        self, found: dict[str, Array], errors: dict[str, Array], value: Array, bend: Array, still: Array, step: float
    ) -> tuple[Array, Array, Array, dict[str, Array]]:
        """By one difference: its noise, the tolerance, where it settles the answers, and by mode where it says "wrong"."""
        noise = self.question.rounding / step
        with np.errstate(all="ignore"):
            sizes = np.max(np.abs([*found.values()]), axis=0)
            around = np.maximum(self._scale, np.abs(value))
            good = (bend <= 1e-3 * around + ROUNDING * noise) & (ROUNDING * noise <= SURE / 10 * around) | still & (sizes == 0)
            noise = np.maximum(noise, self._floor / ROUNDING)
            tolerance = self.rtol * np.maximum(sizes, np.abs(value)) + ROUNDING * noise
            far_off = FAR_OFF * tolerance + SURE * around + self.rtol * np.max(self._scale, initial=0.0)
            far = {how: (each > far_off) & (sizes > 0) for how, each in errors.items()}  # beside 0, cutting off looks large
            for how, each in errors.items():  # what is between agreement and plain disagreement is looked at again
                good &= (each <= 0.5 * self.rtol * sizes + ROUNDING * noise) | far[how]
        return noise, tolerance, good, far

    def _found_along(self, number: int, directions: Sequence[Array]) -> dict[str, Array]:
        """What each mode says of every row (second axis) along every direction (first axis)."""
        found: dict[str, Array] = {}
        if self.gradients is not None:
            rows = np.array([np.ravel(row[number]) for row in self.gradients])
            found[self.question.answer] = np.real(np.array([np.ravel(each) for each in directions]) @ rows.T)
        if "forward" in self.modes:
            found["forward mode"] = np.array([self.tangent(number, each) for each in directions])
        return found

    def tangent(self, number: int, direction: Array) -> Array:
        """What forward mode says of every row along a direction in one leaf."""
        directions = list(self._still)
        directions[number] = direction
        assert isinstance(self.question, ByTape)
        return self.question.tangent(directions)

    def ask(self, number: int, direction: Array, found: dict[str, Array] | None = None) -> Asked:
        """One column: every row in every mode, along a direction in one leaf."""
        question = self.question
        if found is None:
            found = {}
            if self.gradients is not None:
                moved = direction != 0  # elsewhere an infinite gradient must not matter
                found[question.answer] = np.array([_real_sum(row[number][moved] * direction[moved]) for row in self.gradients])
            if "forward" in self.modes:
                found["forward mode"] = self.tangent(number, direction)
        sizes = np.max(np.abs([*found.values()]), axis=0)
        sizes = np.where(np.isfinite(sizes), sizes, 0.0)
        scale = np.maximum(self._scale, sizes)
        slopes = question.slopes(number, direction, self.rtol * sizes, scale)
        asked = self._judged(number, direction, found, slopes, scale)
        if asked.worst in ("wrong", "too noisy to tell") and not (
            question.plain and self._far_off(asked)
        ):  # a quick estimate is not enough for that
            question.look_inside()
            asked = self._judged(number, direction, found, question.slopes(number, direction, None, scale), scale)
        if asked.worst in ("wrong", "too noisy to tell"):
            self._prove_by_complex_step(asked)
        if asked.worst == "too noisy to tell":
            self._allow_what_cancels(asked)
        return asked

    def _judged(self, number: int, direction: Array, found: dict[str, Array], slopes: Slopes, scale: Array) -> Asked:
        verdicts = {how: self._verdicts(each, slopes, scale) for how, each in found.items()}
        where, length = self._place(number, direction)
        return Asked(number, direction, length, where, found, slopes, slopes.margin, verdicts, slopes.value, self._unproven)

    def _far_off(self, asked: Asked) -> bool:
        """Whether all that is wrong is so by far more than an estimate that has settled can be mistaken."""
        if asked.worst != "wrong":
            return False
        for how, found in asked.found.items():
            error = np.abs(found - asked.expected)
            tolerance = self.rtol * np.maximum(np.abs(found), np.abs(asked.expected)) + asked.margin + self._floor
            if np.any((asked.verdicts[how] == "wrong") & ~(error > 100 * tolerance + SURE * self._scale)):
                return False
        return not any(np.isin(each, ["kink", "too noisy to tell"]).any() for each in asked.verdicts.values())

    def _verdicts(self, found: Array, slopes: Slopes, scale: Array) -> Array:
        """A verdict for each row."""
        with np.errstate(all="ignore"):
            expected, margin = slopes.value, slopes.margin
            error = np.abs(found - expected)
            tolerance = self.rtol * np.maximum(np.abs(found), np.abs(expected)) + margin + self._floor
            low, high = np.fmin(slopes.left, slopes.right), np.fmax(slopes.left, slopes.right)
            inside = ((found >= low - tolerance) & (found <= high + tolerance)) | (np.isinf(low) & (low == high))
            finite = np.isfinite(found) & np.isfinite(expected)
            agree = error <= tolerance
            around = np.maximum(np.maximum(scale, slopes.change), np.where(agree, np.abs(found), np.abs(expected)))
            unsure = ~(margin <= self._sure * around) & ~(error > 10 * tolerance)
            kinked = slopes.kinked & ~(high - low <= SURE * scale) & inside
            still = (slopes.constant | ~self.question.finite_rows) & (found == 0)
        return np.select(
            [still, kinked, ~finite, unsure, agree], ["vacuous", "kink", "not finite", "too noisy to tell", "right"], "wrong"
        )

    def _prove_by_complex_step(self, asked: Asked) -> None:
        exact = self.question.complex_step(asked.number, asked.direction)
        if exact is None:
            return
        for how, found in asked.found.items():
            near = (np.abs(found - exact) <= DOT_TOLERANCE * np.abs(exact)) & (exact != 0)
            proven = near & np.isin(asked.verdicts[how], ["wrong", "too noisy to tell"])
            asked.verdicts[how] = np.where(proven, "right", asked.verdicts[how])
            asked.expected = np.where(proven, exact, asked.expected)
            asked.margin = np.where(proven, DOT_TOLERANCE * np.abs(exact), asked.margin)
            asked.proven = asked.proven | proven

    def _allow_what_cancels(self, asked: Asked) -> None:
        """A slope that is zero but for rounding, because what it is made of cancels, is right if differences see none either."""
        whole = self.question.paths(asked.number, asked.direction)
        rounding = ROUNDING * float(np.max(self.question.eps, initial=0.0)) * whole
        with np.errstate(all="ignore"):
            none = (np.abs(asked.expected) <= asked.margin) & (asked.margin <= self._sure * whole)
        for how, found in asked.found.items():
            zero = none & (np.abs(found) <= rounding) & (asked.verdicts[how] == "too noisy to tell")
            asked.verdicts[how] = np.where(zero, "right", asked.verdicts[how])

    def _place(self, number: int, direction: Array) -> tuple[str, float]:
        """The name of an element, and how long the step in it is, so that answers are those of the element."""
        places = np.flatnonzero(direction)
        name = self.names.inputs[number]
        if len(places) != 1:
            return f"{name}, along a direction in {len(places)} elements", 1.0
        place = np.unravel_index(places[0], direction.shape)
        step = direction[place]
        part = "" if direction.dtype.kind != "c" else " (imaginary part)" if step.real == 0 else ""
        size = float(abs(step)) if direction.dtype.kind == "c" else float(step)
        return f"{name}{index_text(place)}{part}", size

    def probes(self, asked: Asked) -> Iterator[Probe]:
        """The answers of one column, as reports show them: for each mode the worst row."""
        if asked.telling is not None:
            for how, row in asked.telling.items():
                yield self._probe(asked, how, row)
            return
        with np.errstate(all="ignore"):
            for how, found in asked.found.items():
                error = np.abs(found - asked.expected)
                tolerance = self.rtol * np.maximum(np.abs(found), np.abs(asked.expected)) + asked.margin
                grave = np.array([ORDER.index(each) for each in asked.verdicts[how]])
                rows = np.flatnonzero(grave == grave.min())
                if len(rows) > 1 and rows[0] == 0:
                    rows = rows[1:]  # a single output says more than the combination of all
                yield self._probe(
                    asked, how, int(rows[np.argmax(np.nan_to_num(error[rows] / np.maximum(tolerance[rows], 1e-300)))])
                )

    def _probe(self, asked: Asked, how: str, row: int) -> Probe:
        """One answer of a column."""
        found, expected = float(asked.found[how][row]), float(asked.expected[row])
        size, margin = abs(asked.length), float(asked.margin[row])
        verdict = str(asked.verdicts[how][row])
        kinked = verdict == "kink"
        return Probe(
            self._output(row) + asked.where,
            how,
            found / asked.length,
            expected / asked.length,
            abs(found - expected) / size,
            (self.rtol * max(abs(found), abs(expected)) + margin) / size,
            margin / size,
            verdict,
            float(asked.slopes.left[row]) / asked.length if kinked else None,
            float(asked.slopes.right[row]) / asked.length if kinked else None,
            "the complex step" if asked.proven[row] else "differences",
        )

    def _output(self, row: int) -> str:
        if row == 0 or len(self.names.outputs) <= row - 1:
            return ""
        return f"{self.names.outputs[row - 1]} by "

    # ------------------------------------------------------------------------------------------------ columns

    def directions(self, number: int, max_elements: int, n_directions: int) -> list[Array]:
        """What to probe of one leaf: each element alone, or a few dense directions; in the leaf's own scale.

        Elements whose derivatives are of very different size, or exactly zero, are probed in groups of their own.
        """
        question = self.question
        x, scale = question.points[number], question.scales[number]
        if x.size <= max_elements:
            alone = np.eye(x.size, dtype=bool).reshape(x.size, *x.shape)
            if x.dtype.kind == "c":
                return [np.where(mask, scale * unit, 0) for mask in alone for unit in (1 + 0j, 1j)]
            return [np.where(mask, scale, 0.0) for mask in alone]
        if self.gradients is None:
            groups = [np.ones(x.shape, bool)]
        else:
            groups = list(_by_size(np.abs(self.gradients[0][number]) * scale))
        return [np.where(group, scale * question.signed(x), 0) for group in groups for _ in range(n_directions)]

    def columns(self, max_elements: int, n_directions: int) -> list[Asked]:
        """All that is asked: every column, and of those that are not right the elements that make them so."""
        columns = self._columns(max_elements, n_directions)
        if self.question.together and any(each.worst not in ("right", "vacuous") for each in columns):
            self.question.together = False
            self.gradients = self.question.gradients(self.question.rows)  # now one by one, as ``grad`` does
            columns = self._columns(max_elements, n_directions)
            if all(each.worst in ("right", "vacuous") for each in columns):
                self.notes.append(BATCH)
        return columns

    def _columns(self, max_elements: int, n_directions: int) -> list[Asked]:
        columns: list[Asked] = []
        for leaf, x in enumerate(self.question.points):
            first = len(columns)
            for asked in self.ask_all(leaf, self.directions(leaf, max_elements, n_directions)):
                if asked.worst in ("right", "vacuous"):
                    columns.append(asked)
                elif x.size <= max_elements or not any(
                    each.number == leaf and each.worst == asked.worst for each in columns
                ):  # one element is enough of a large array
                    columns.append(self.narrow(asked))
            if 1 < x.size <= max_elements and any(each.worst == "wrong" for each in columns[first:]):
                self._look_for_a_gradient(columns[first:])
        return columns

    def _look_for_a_gradient(self, columns: Sequence[Asked]) -> None:
        """Call it a kink where the slopes along the elements do not add up to that along all of them: there is no gradient then.

        So it is for single eigenvalues where several are equal, though each has a slope along any one line.
        """
        question = self.question
        missing = np.zeros(len(question.rows), bool)
        for _ in range(2):
            signs = question.rng.choice([-1.0, 1.0], len(columns))
            along = np.sum([sign * each.direction for sign, each in zip(signs, columns, strict=True)], axis=0)
            slopes = question.slopes(columns[0].number, along, None, self._scale)
            with np.errstate(all="ignore"):
                parts = np.array([sign * each.slopes.value for sign, each in zip(signs, columns, strict=True)])
                apart = np.abs(slopes.value - parts.sum(axis=0))
                margin = slopes.margin + np.sum([each.margin for each in columns], axis=0)
                largest = np.maximum(np.abs(slopes.value), np.abs(parts).max(axis=0))
                missing |= apart > 10 * margin + 1e-3 * largest
        for asked in columns:
            for how, verdicts in asked.verdicts.items():
                asked.verdicts[how] = np.where(missing & (verdicts == "wrong"), "kink", verdicts)

    def narrow(self, asked: Asked) -> Asked:
        """Halve a direction whose answer is bad, again and again, down to one element if that can be seen."""
        verdict = asked.worst
        while np.count_nonzero(asked.direction) > 1:
            places = np.flatnonzero(asked.direction)
            halves = []
            for part in (places[: len(places) // 2], places[len(places) // 2 :]):
                half = np.zeros_like(asked.direction)
                half.flat[part] = asked.direction.flat[part]
                halves.append(self.ask(asked.number, half))
            bad = [each for each in halves if each.worst == verdict]
            if not bad:
                break
            asked = max(bad, key=_excess)
        return asked

    def dot_test(self) -> Probe | None:
        """Both modes asked one number, the derivative of row 0 along a direction in all inputs: they agree to rounding."""
        if self.gradients is None or "forward" not in self.modes:
            return None
        question = self.question
        assert isinstance(question, ByTape)
        directions = [scale * question.signed(x) for x, scale in zip(question.points, question.scales, strict=True)]
        terms = [g * v for g, v in zip(self.gradients[0], directions, strict=True)]
        by_reverse = sum(_real_sum(each) for each in terms)
        by_forward = float(question.tangent(directions)[0])
        size = sum(float(np.sum(np.abs(each))) for each in terms)
        with np.errstate(all="ignore"):
            error = abs(by_forward - by_reverse)
        tolerance = DOT_TOLERANCE * max(size, abs(by_forward)) + ROUNDING * float(question.rounding[0])
        verdict = "right" if error <= tolerance else "wrong" if np.isfinite(error) else "not finite"
        where = "all inputs, along a direction"
        return Probe(where, "forward mode", by_forward, by_reverse, error, tolerance, 0.0, verdict, judge="reverse mode")


def _telling_rows(excess: Array) -> Array:
    """For each column the row whose answers differ most; the combination of all outputs only where there is no other."""
    if excess.shape[1] == 1:
        return np.zeros(len(excess), int)
    rows = 1 + np.argmax(excess[:, 1:], axis=1)
    largest = np.max(excess[:, 1:], axis=1)
    return np.where((largest <= 1) & (excess[:, 0] > 1), 0, rows)


def _by_size(sizes: Array) -> Iterator[Array]:
    """Groups of elements, as masks: those of size zero, and for the rest those within some decades of each other."""
    with np.errstate(divide="ignore", invalid="ignore"):
        levels = np.floor(np.log10(sizes / (_largest(sizes) or 1.0)) / DECADES)
    levels = np.where(np.isfinite(levels), np.maximum(levels, -4), -5)
    for level in np.unique(levels)[::-1]:
        yield levels == level


def _largest(values: Array) -> float:
    sizes = np.abs(values)
    return float(np.max(sizes[np.isfinite(sizes)], initial=0.0))


def _real_sum(values: Array) -> float:
    return float(np.sum(values).real)


def _excess(asked: Asked) -> float:
    with np.errstate(all="ignore"):
        errors = [np.abs(each - asked.slopes.value) / np.maximum(asked.margin, 1e-300) for each in asked.found.values()]
    return float(np.max(np.nan_to_num(errors, nan=np.inf, posinf=np.inf), initial=0.0))
