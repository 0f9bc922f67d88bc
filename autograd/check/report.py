"""What a check of a gradient found: the answers it compared, and the report."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Probe:
    """One question and two answers: ``found`` by the mode ``how``, ``expected`` by the ``judge``.

    ``error`` is relative to the size of the derivative, or to the least that rounding lets anyone see.
    """

    where: str
    how: str
    found: float
    expected: float
    error: float
    tolerance: float
    judge: str = "differences"
    settled: bool = True

    @property
    def ok(self) -> bool:
        """Whether the two answers agree, and the expected one is known well enough to say so."""
        return self.settled and self.error <= self.tolerance

    def __str__(self) -> str:
        if not self.settled:
            return (
                f"{self.where}: the differences do not settle (they say {self.expected:.6g}, {self.how} says"
                f" {self.found:.6g}): a kink, a jump or noise at this point; check at another point"
            )
        return (
            f"{self.where}: {self.how} says {self.found:.6g}, expected {self.expected:.6g} by {self.judge};"
            f" relative error {self.error:.1e}, tolerance {self.tolerance:.1e}"
        )


@dataclass(frozen=True, slots=True)
class GradientReport:
    """What ``check_gradient`` found: ``ok``, and ``error``, ``where`` and ``tolerance`` of the worst of its ``probes``.

    ``str(report)`` is the text.
    """

    ok: bool
    error: float
    where: str
    tolerance: float
    text: str
    probes: tuple[Probe, ...]

    def __str__(self) -> str:
        return self.text
