"""How far rounding inside a function moves its result: what differences of it cannot see below.

A result may be tiny because large numbers have cancelled; its own size then says nothing of its error. But the tape knows all
numbers on the way, and the walk how much each of them counts: rounding each by ``eps`` moves a result by ``eps`` times the value
times its cotangent, to first order. (So does a running error analysis: N. J. Higham, "Accuracy and Stability of Numerical
Algorithms", second edition, SIAM 2002, section 3.3.) An elementwise kernel rounds each element by its own size, any other one all
by the size of the largest.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from autograd.check.recording import Recording

Array = np.ndarray[Any, Any]


class Inside:
    """What happens inside a function on its way from the leaves ``given``: values, and how much they count for each of ``rows``.

    A row weighs the outputs of ``call``. Where a rule raises, nothing counts. A wrong rule may make what is said here wrong by
    its own factor: these are sizes, not bounds.

    >>> inside = Inside(lambda x: [(x + 1e8) - 1e8], [np.array(1.0)], [[np.ones(())]])
    >>> float(inside.rounding()[0]) > 1e-9
    True
    """

    def __init__(self, call: Callable[..., Sequence[Any]], given: Sequence[Any], rows: Sequence[Sequence[Array]]) -> None:
        self._call = call
        recording = Recording(call, given)
        self._values = recording.values
        self._elementwise = {n: recording.tape._bindings[n].elementwise for n in self._values}
        self._cotangents = [recording.cotangents(weights) for weights in rows]

    def rounding(self) -> Array:
        """For each row, how far rounding of all values moves it."""
        errors = {}
        for n, value in self._values.items():
            errors[n] = self._sizes(n, value) * float(np.finfo(value.dtype).eps)
        return self._for_each_row(lambda n, dy: np.sum((np.abs(dy) * errors[n]) ** 2), lambda parts: float(np.sqrt(sum(parts))))

    def paths(self, moved: Sequence[Any], step: float) -> Array:
        """For each row, its slope along the way to the leaves ``moved``, a ``step`` off, if nothing on that way cancelled.

        Zero where the function takes another way there.
        """
        there = Recording(self._call, moved).values
        if {n: each.shape for n, each in there.items()} != {n: each.shape for n, each in self._values.items()}:
            return np.zeros(len(self._cotangents))
        changes = {n: self._sizes(n, there[n] - each) / step for n, each in self._values.items()}
        return self._for_each_row(lambda n, dy: np.sum(np.abs(dy) * changes[n]), lambda parts: float(max(parts, default=0.0)))

    def _sizes(self, n: int, value: Array) -> Array:
        """The size of each element; of a kernel that mixes its elements, that of the largest for all."""
        sizes = np.abs(value)
        return sizes if self._elementwise[n] else np.full(value.shape, np.max(sizes, initial=0.0))

    def _for_each_row(self, part: Callable[[int, Array], Any], whole: Callable[[list[Any]], float]) -> Array:
        totals = [whole([part(n, dy) for n, dy in each.items()]) for each in self._cotangents]
        return np.array([each if np.isfinite(each) else 0.0 for each in totals])
