"""Learning rates that change with the step: records that are called with the number of steps made so far, 0 for the first.

An optimiser takes one in place of a number: ``Adam(CosineDecay(1e-3, steps=1000, warmup=100))``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import cos, inf, pi
from typing import Any

from autograd.errors import OptimiserError
from autograd.optim.optimiser import check


@dataclass(frozen=True, slots=True)
class Constant:
    """``rate``, always.

    >>> Constant(0.1)(1000)
    0.1
    """

    rate: float

    def __post_init__(self) -> None:
        check("Constant", rate=(self.rate, 0, inf))

    def __call__(self, step: int) -> float:
        return self.rate


@dataclass(frozen=True, slots=True)
class StepDecay:
    """``rate * factor**(step // every)``: ``rate`` for ``every`` steps, then ``rate * factor`` for as many, and so on.

    >>> schedule = StepDecay(1.0, every=10, factor=0.5)
    >>> schedule(0), schedule(9), schedule(10), schedule(20)
    (1.0, 1.0, 0.5, 0.25)
    """

    rate: float
    every: int
    factor: float = 0.1

    def __post_init__(self) -> None:
        check("StepDecay", rate=(self.rate, 0, inf), every=(self.every, 1, inf), factor=(self.factor, 0, inf))

    def __call__(self, step: int) -> float:
        return float(self.rate * self.factor ** (step // self.every))


@dataclass(frozen=True, slots=True)
class ExponentialDecay:
    """``rate * factor**(step / every)``, at each step a little less.

    >>> schedule = ExponentialDecay(1.0, factor=0.25, every=2)
    >>> schedule(0), schedule(1), schedule(2)
    (1.0, 0.5, 0.25)
    """

    rate: float
    factor: float
    every: int = 1

    def __post_init__(self) -> None:
        check("ExponentialDecay", rate=(self.rate, 0, inf), every=(self.every, 1, inf), factor=(self.factor, 0, inf))

    def __call__(self, step: int) -> float:
        return float(self.rate * self.factor ** (step / self.every))


@dataclass(frozen=True, slots=True)
class CosineDecay:
    """Half a wave of a cosine, down from ``rate`` to ``final`` (Loshchilov and Hutter 2017), after a linear warm-up.

    For the first ``warmup`` steps ``rate * (step + 1) / warmup``: the first step is not 0, the last of them is ``rate``. Then::

        final + (rate - final) * (1 + cos(pi * (step - warmup) / (steps - warmup))) / 2

    which is ``rate`` at ``step = warmup``, and ``final`` from ``step = steps`` on. So the last of ``steps`` steps, which has the
    number ``steps - 1``, is not yet ``final``, as in torch's ``CosineAnnealingLR``.

    >>> schedule = CosineDecay(1.0, steps=6, warmup=4, final=0.5)
    >>> [schedule(step) for step in range(8)]
    [0.25, 0.5, 0.75, 1.0, 1.0, 0.75, 0.5, 0.5]
    """

    rate: float
    steps: int
    warmup: int = 0
    final: float = 0.0

    def __post_init__(self) -> None:
        check("CosineDecay", rate=(self.rate, 0, inf), steps=(self.steps, 1, inf), warmup=(self.warmup, 0, self.steps))
        check("CosineDecay", final=(self.final, 0, inf))

    def __call__(self, step: int) -> float:
        if step < self.warmup:
            return self.rate * (step + 1) / self.warmup
        if step >= self.steps:
            return self.final
        return self.final + (self.rate - self.final) * _half_wave((step - self.warmup) / (self.steps - self.warmup))


@dataclass(frozen=True, slots=True)
class OneCycle:
    """Up to ``rate`` and down to almost nothing, in half waves of a cosine (Smith and Topin 2018), as torch's ``OneCycleLR``.

    The first step has ``rate / start_divisor``, the last one, number ``steps - 1``, has that divided by ``final_divisor``, and so
    have all after it; the top is at step ``warmup * steps - 1``, which need not be whole. The momentum is not cycled.

    >>> schedule = OneCycle(1.0, steps=5, warmup=0.6, start_divisor=4.0, final_divisor=5.0)
    >>> [round(schedule(step), 4) for step in range(6)]
    [0.25, 0.625, 1.0, 0.525, 0.05, 0.05]
    """

    rate: float
    steps: int
    warmup: float = 0.3
    start_divisor: float = 25.0
    final_divisor: float = 1e4

    def __post_init__(self) -> None:
        check("OneCycle", rate=(self.rate, 0, inf), steps=(self.steps, 2, inf), warmup=(self.warmup, 0, 1))
        check("OneCycle", start_divisor=(self.start_divisor, 1, inf), final_divisor=(self.final_divisor, 1, inf))

    def __call__(self, step: int) -> float:
        top = max(self.warmup * self.steps - 1, 0.0)
        start = self.rate / self.start_divisor
        final = start / self.final_divisor
        if step >= self.steps - 1:
            return final
        if step < top:
            return self.rate + (start - self.rate) * _half_wave(step / top)
        return final + (self.rate - final) * _half_wave((step - top) / (self.steps - 1 - top))


def _half_wave(part: float) -> float:
    """From 1 to 0 as ``part`` goes from 0 to 1."""
    return (1.0 + cos(pi * part)) / 2.0


@dataclass(frozen=True, slots=True)
class ReduceOnPlateau:
    """The rate times ``factor``, each time that a loss has not become better for more than ``patience`` values in a row.

    A loss is better if it is below ``best * (1 - threshold)`` (of a negative best ``best * (1 + threshold)``); with
    ``mode="max"`` if it is above ``best * (1 + threshold)``, or ``best * (1 - threshold)``. NaN is not better. After a reduction
    the count starts anew. As torch's ``ReduceLROnPlateau``, but that a negative best asks for more than itself here too.

    Nothing is hidden: ``init`` makes a state, ``update`` with a loss the next one, and ``rate_of`` reads the rate, which
    ``dataclasses.replace(optimiser, learning_rate=...)`` gives to an optimiser.

    >>> plateau = ReduceOnPlateau(1.0, factor=0.5, patience=1)
    >>> state = plateau.init()
    >>> for loss in [3.0, 2.0, 2.0, 2.0]:
    ...     state = plateau.update(state, loss)
    >>> plateau.rate_of(state)
    0.5
    """

    rate: float
    factor: float = 0.1
    patience: int = 10
    threshold: float = 1e-4
    mode: str = "min"
    smallest: float = 0.0

    def __post_init__(self) -> None:
        check("ReduceOnPlateau", rate=(self.rate, 0, inf), factor=(self.factor, 0, 1), patience=(self.patience, 0, inf))
        check("ReduceOnPlateau", threshold=(self.threshold, 0, 1), smallest=(self.smallest, 0, inf))
        if self.mode not in ("min", "max"):
            raise OptimiserError(f"ReduceOnPlateau: mode is {self.mode!r}, expected 'min' or 'max'")

    def init(self) -> dict[str, Any]:
        """The state before the first loss."""
        return {"rate": self.rate, "best": inf if self.mode == "min" else -inf, "waited": 0}

    def update(self, state: Mapping[str, Any], loss: float) -> dict[str, Any]:
        """The state after a loss."""
        best, loss = state["best"], float(loss)
        margin = self.threshold * abs(best) if abs(best) != inf else 0.0
        better = loss < best - margin if self.mode == "min" else loss > best + margin
        if better:
            return {"rate": state["rate"], "best": loss, "waited": 0}
        if state["waited"] < self.patience:
            return {**state, "waited": state["waited"] + 1}
        return {"rate": max(state["rate"] * self.factor, self.smallest), "best": best, "waited": 0}

    def rate_of(self, state: Mapping[str, Any]) -> float:
        """The learning rate now."""
        return float(state["rate"])
