"""A function once more, on a tape that keeps everything: its values, and how much each of them counts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from autograd.backprop import pull_back
from autograd.dag import plan_for
from autograd.engine import resolve
from autograd.indexed import IndexedGradient
from autograd.records import places
from autograd.tape import Tape
from autograd.tensor import Tensor

Array = np.ndarray[Any, Any]


class Recording:
    """The run of ``call`` at the leaves ``given``: its ``tape``, and the float ``values`` of its records by id.

    >>> recording = Recording(lambda x: [x * x + x], [np.array(3.0)])
    >>> {n: float(each) for n, each in recording.values.items()}
    {1: 9.0, 2: 12.0}
    >>> {n: float(each) for n, each in recording.cotangents([np.array(2.0)]).items()}
    {1: 2.0, 2: 2.0}
    """

    def __init__(self, call: Callable[..., Sequence[Any]], given: Sequence[Any], *, sources: bool = False) -> None:
        with Tape(persistent=True, keep="all", sources=sources) as tape:
            watched = [tape.watch(each) for each in given]
            self._results = [resolve(each) for each in call(*watched)]
        self.tape = tape
        self.values: dict[int, Array] = {}
        for number, n_outputs, _, _ in places(tape):
            for position, value in enumerate(tape._details[number][0][-n_outputs:]):
                plain = np.asarray(value)
                if plain.dtype.kind in "fc":
                    self.values[number + position] = plain

    def cotangents(self, weights: Sequence[Array]) -> dict[int, Array]:
        """What arrives at each record, by id, for a cotangent of each result; nothing where a rule raises."""
        tape, ids = self.tape, tuple(self.values)
        total: dict[int, Any] = {}
        for result, dy in zip(self._results, weights, strict=True):
            if type(result) is not Tensor or result._tape is not tape or not np.any(dy):
                continue
            try:
                parts = pull_back(tape, plan_for(tape, result._id, ids), result._id, np.asarray(dy, result.dtype), ids)
            except Exception:  # of a rule, or of a saved value that was changed: both are said elsewhere
                return {}
            for n, each in zip(ids, parts, strict=True):
                if each is not None:
                    dense = np.asarray(each.dense() if type(each) is IndexedGradient else each)
                    total[n] = total[n] + dense if n in total else dense
        return total
