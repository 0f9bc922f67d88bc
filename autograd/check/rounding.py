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

from autograd.backprop import pull_back
from autograd.dag import plan_for
from autograd.engine import resolve
from autograd.records import places
from autograd.tape import Tape
from autograd.tensor import Tensor

Array = np.ndarray[Any, Any]


def rounding_inside(call: Callable[..., Sequence[Any]], given: Sequence[Any], rows: Sequence[Sequence[Array]]) -> Array:
    """For each row, which weighs the outputs of ``call`` at the leaves ``given``, how far rounding inside moves it.

    Zero where a rule cannot tell. A wrong rule may make it wrong by its own factor; it is a size, not a bound.

    >>> rounding_inside(lambda x: [(x + 1e8) - 1e8], [1.0], [[np.ones(())]]) > 1e-9
    array([ True])
    """
    with Tape(persistent=True, keep="all") as tape:
        watched = [tape.watch(each) for each in given]
        results = [resolve(each) for each in call(*watched)]
    values: dict[int, Array] = {}
    for number, n_outputs, _, _ in places(tape):
        for position, value in enumerate(tape._details[number][0][-n_outputs:]):
            plain = np.asarray(value)
            if plain.dtype.kind in "fc":
                sizes = np.abs(plain)
                if not tape._bindings[number].elementwise:
                    sizes = np.full(plain.shape, np.max(sizes, initial=0.0))
                values[number + position] = sizes * float(np.finfo(plain.dtype).eps)
    ids = tuple(values)
    errors = []
    for weights in rows:
        cotangents: dict[int, Any] = {}
        for result, dy in zip(results, weights, strict=True):
            if type(result) is Tensor and result._tape is tape and np.any(dy):
                try:
                    parts = pull_back(tape, plan_for(tape, result._id, ids), result._id, np.asarray(dy, result.dtype), ids)
                except Exception:  # a rule that raises, which is said elsewhere
                    continue
                for n, each in zip(ids, parts, strict=True):
                    if each is not None:
                        cotangents[n] = cotangents.get(n, 0.0) + np.asarray(each)
        moved = [np.sum((np.abs(each) * values[n]) ** 2) for n, each in cotangents.items()]
        total = float(np.sqrt(np.sum(moved)))
        errors.append(total if np.isfinite(total) else 0.0)
    return np.array(errors)
