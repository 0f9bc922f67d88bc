"""What is asked and answered: one column of a Jacobian with a verdict for each row, and which of verdicts is the gravest."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from autograd.check.differences import Slopes

Array = np.ndarray[Any, Any]


@dataclass(frozen=True, slots=True)
class Names:
    """What the inputs and the outputs of a question are called in reports."""

    inputs: Sequence[str]
    outputs: Sequence[str]


@dataclass(eq=False)
class Asked:
    """One column: how far the input was moved, and for each mode what it found, what was expected, and the verdicts, by row.

    ``telling`` is the row that a report shows, where that is known already.
    """

    number: int
    direction: Array
    length: float
    where: str
    found: dict[str, Array]
    slopes: Slopes
    margin: Array
    verdicts: dict[str, Array]
    expected: Array
    proven: Array
    telling: dict[str, int] | None = None

    @property
    def worst(self) -> str:
        """The gravest of its verdicts."""
        return gravest({each for row in self.verdicts.values() for each in row.tolist()})


ORDER = ("wrong", "not finite", "kink", "too noisy to tell", "right", "vacuous")


def gravest(verdicts: Collection[str]) -> str:
    """The verdict of several answers; a part that never changes says nothing beside one that does."""
    return min(verdicts, key=ORDER.index, default="vacuous")


def index_text(place: Sequence[Any]) -> str:
    """``[2, 1]`` for the element at that place, nothing for the only element of a scalar."""
    return f"[{', '.join(str(int(each)) for each in place)}]" if len(place) else ""
