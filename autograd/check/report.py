"""What a check found: the answers it compared, the kernel that is to blame, and the report in words."""

from __future__ import annotations

import textwrap
from dataclasses import dataclass, replace
from math import isclose, isfinite
from typing import Any

VERDICTS = ("wrong", "not finite", "not deterministic", "kink", "too noisy to tell", "vacuous", "right")
"""What a check may say; of several answers the first of these is the verdict of all."""


@dataclass(frozen=True, slots=True)
class Probe:
    """One number asked of a derivative, and two answers: ``found`` by ``how``, ``expected`` by the ``judge``.

    where        which derivative: output and input element, or "along a direction" in an input
    error        how far the answers differ, and the ``tolerance`` for it: both in the derivative's own size
    uncertainty  how far the judge may be from the truth, by its own account
    left, right  the slopes on either side, where they differ
    """

    where: str
    how: str
    found: float
    expected: float
    error: float
    tolerance: float
    uncertainty: float
    verdict: str
    left: float | None = None
    right: float | None = None
    judge: str = "differences"

    @property
    def ok(self) -> bool:
        """Whether the two answers agree and the derivative exists."""
        return self.verdict == "right"

    def __str__(self) -> str:
        return f"{self.where}: {self.answer}"

    @property
    def answer(self) -> str:
        """What both say, in words."""
        text = f"{self.how} says {self.found:.7g}, "
        if self.verdict == "kink" and self.left == self.right:
            return text + "but slopes along several elements do not add up: the function has no gradient here"
        if self.verdict == "kink":
            return text + f"the slopes on either side are {self.left:.7g} and {self.right:.7g}: the function has a kink here"
        if self.verdict == "too noisy to tell":
            return text + f"{self.judge} say {self.expected:.7g} but are certain to {self.uncertainty:.1e} alone"
        if self.verdict == "vacuous":
            return text + "and the function never changes: this input does not reach the output"
        if self.verdict == "right":
            return text + f"{self.judge} say {self.expected:.7g}, to {self.tolerance:.1e}"
        expected = f"expected {self.expected:.7g} by {self.judge}"
        return text + expected + (f"; off by {self.error:.1e}, tolerance {self.tolerance:.1e}" if isfinite(self.error) else "")


@dataclass(frozen=True, slots=True)
class Culprit:
    """The kernel whose rule is to blame, and how.

    kernel_name, backend_name   which kernel; ``mode`` says which of its rules ("reverse mode", "forward mode", "saved value")
    input_name, element         the input whose derivative is wrong, and its worst element, like ``[2, 1]``
    found, expected, tolerance  what the rule gives there, what differences of the kernel alone say, and how near they are
    diagnosis                   the kind of fault, where one fits
    node_id, scope, source_line where it is on the tape, and the caller's line that ran it
    n_wrong                     how many elements of that input are wrong, of how many, where that was looked at
    others                      further kernels on the tape whose rules are wrong too
    function                    the function of the user's that the kernel stands for, if it stands for one
    """

    kernel_name: str
    backend_name: str
    input_name: str
    element: str
    found: float
    expected: float
    tolerance: float
    diagnosis: str | None = None
    mode: str = "reverse mode"
    node_id: int | None = None
    source_line: str | None = None
    scope: str = ""
    n_wrong: tuple[int, int] | None = None
    others: tuple[str, ...] = ()
    function: str | None = None

    def __str__(self) -> str:
        return "\n".join(_wrapped(f"  {name:<10} ", value) for name, value in self.fields())

    def fields(self) -> list[tuple[str, str]]:
        """What there is to say, with a name for each part, for a table."""
        if self.backend_name:
            kernel = f"{self.kernel_name!r} on backend {self.backend_name!r}, {self.mode}"
            kernel += f" (function {self.function!r})" if self.function else ""
        else:
            kernel = f"{self.kernel_name}, written by hand" + (f", at {self.source_line}" if self.source_line else "")
        if self.node_id is not None:
            kernel += f", record {self.node_id}" + (f" in {self.scope}" if self.scope else "")
        rows = [("kernel" if self.backend_name else "culprit", kernel), ("input", f"{self.input_name}{self.element}")]
        if isfinite(self.tolerance) or isfinite(self.expected):
            rows += [
                ("found", f"{self.found:.7g}"),
                ("expected", f"{self.expected:.7g}" + (f", to {self.tolerance:.1e}" if isfinite(self.tolerance) else "")),
            ]
        if self.n_wrong is not None and self.n_wrong[1] > 1:
            rows.append(("elements", f"{self.n_wrong[0]} of {self.n_wrong[1]} are wrong"))
        if self.diagnosis:
            rows.append(("diagnosis", self.diagnosis))
        if self.source_line and self.backend_name:
            rows.append(("called at", self.source_line))
        if self.others:
            rows.append(("also wrong", ", ".join(self.others)))
        return rows


@dataclass(frozen=True, slots=True, eq=False)
class JacobianPair:
    """One block of a Jacobian, of one output in one input: what ``how`` says beside the numerical one, and what differs.

    The three are arrays of numbers of shape (output elements, input elements); complex ones count twice, as real and imaginary.
    ``rows`` and ``columns`` are the names of these elements.
    """

    output: str
    input: str
    how: str
    found: Any
    expected: Any
    verdicts: Any
    rows: tuple[str, ...] = ()
    columns: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class GradientReport:
    """What a check found: a ``verdict`` (of ``VERDICTS``), the worst of its ``probes``, and the ``culprit`` where one was found.

    ``str(report)`` is the text; a notebook shows a table. ``ok`` is whether the verdict is "right".
    """

    subject: str
    verdict: str
    where: str = ""
    how: str = ""
    found: float = 0.0
    expected: float = 0.0
    error: float = 0.0
    tolerance: float = 0.0
    probes: tuple[Probe, ...] = ()
    culprit: Culprit | None = None
    notes: tuple[str, ...] = ()
    order: int = 1
    jacobians: tuple[JacobianPair, ...] = ()
    what: str = "gradient"

    @property
    def ok(self) -> bool:
        """Whether the gradient is right, as far as the differences can tell."""
        return self.verdict == "right"

    @property
    def text(self) -> str:
        """The report in words: a headline, the worst answers, the culprit, and notes."""
        return "\n".join([self.headline, *self._rows(), *(_wrapped("  note: ", each) for each in self.notes)])

    def __str__(self) -> str:
        return self.text

    def with_culprit(self, culprit: Culprit) -> GradientReport:
        """The same report, with the kernel that is to blame."""
        return replace(self, culprit=culprit)

    def named(self, what: str) -> GradientReport:
        """The same report, of a derivative that is called so."""
        return replace(self, what=what)

    def with_note(self, *notes: str) -> GradientReport:
        """The same report, with further notes."""
        return replace(self, notes=(*self.notes, *notes))

    def _repr_html_(self) -> str:
        from autograd.check.html import report_as_html

        return report_as_html(self)

    @property
    def headline(self) -> str:
        """The verdict in one line."""
        what = self.what if self.order == 1 or self.what != "gradient" else f"derivative of order {self.order}"
        if self.verdict == "right":
            agree = "1 derivative" if len(self.probes) == 1 else f"{len(self.probes)} derivatives"
            verb = "agrees" if len(self.probes) == 1 else "agree"
            return f"right: {agree} of {self.subject} {verb} with {self._judges()}{self._closeness()}"
        if self.verdict == "not deterministic":
            return f"not deterministic: {self.subject} gives two values for the same arguments"
        bad = [each for each in self.probes if each.verdict == self.verdict]
        count = f", {len(bad)} of {len(self.probes)} answers" if bad else ", see the notes" if self.notes else ""
        return f"{self.verdict}: the {what} of {self.subject}{count}"

    def _judges(self) -> str:
        return " and ".join(dict.fromkeys(each.judge for each in self.probes))

    def _closeness(self) -> str:
        right = [each for each in self.probes if each.verdict == "right" and abs(each.expected) > each.tolerance]
        sizes = max((abs(each.expected) for each in right), default=0.0)
        error = max((each.error for each in right), default=0.0)
        return f", to {error / sizes:.1e} of the largest" if sizes else ""

    def _rows(self) -> list[str]:
        rows = []
        if not self.ok:
            bad = [each for each in self.probes if each.verdict == self.verdict]
            bad.sort(key=lambda each: -each.error / (each.tolerance or 1.0) if each.error == each.error else -float("inf"))
            shown = list(dict.fromkeys(each.where for each in bad))
            width = max((len(where) for where in shown[:SHOWN]), default=0)
            for where in shown[:SHOWN]:
                first, *others = [each for each in bad if each.where == where]
                same = [each for each in others if each.how != first.how and isclose(each.found, first.found, rel_tol=1e-6)]
                rows.append(_wrapped(f"  {where + ':':<{width + 1}} ", first.answer + ("; in both modes" if same else "")))
            if len(shown) > SHOWN:
                rows.append(f"  ... and {len(shown) - SHOWN} more")
        if self.culprit is not None:
            rows.append(str(self.culprit))
        return rows


SHOWN = 4
"""How many bad answers a text shows."""

WIDTH = 120
"""How wide a text is, where it can be broken."""


def _wrapped(name: str, value: str) -> str:
    """A named text, with its further lines below the first."""
    if "\n" in value:
        return name + value
    further = min(len(name), 13)
    return textwrap.fill(
        value, WIDTH, initial_indent=name, subsequent_indent=" " * further, break_long_words=False, break_on_hyphens=False
    )
