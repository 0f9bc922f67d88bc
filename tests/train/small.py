"""A line that is fitted to points, small enough to work out by hand, and an optimiser of one line."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from autograd.containers import flatten


def points(n: int = 12, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Points near the line 2 x - 1."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=n)
    return x, 2 * x - 1 + 0.1 * rng.normal(size=n)


def line() -> dict[str, Any]:
    return {"slope": np.array(0.5), "offset": np.array([0.25])}


def squares(line, x, y):
    """The mean squared distance."""
    return ((line["slope"] * x + line["offset"][0] - y) ** 2).mean()


def slope_and_offset(line, x, y, rate):
    """The line after one step along the gradient of ``squares``, by the formula of its derivatives."""
    distance = line["slope"] * x + line["offset"][0] - y
    return {
        "slope": line["slope"] - rate * 2 * np.mean(distance * x),
        "offset": line["offset"] - rate * 2 * np.mean(distance),
    }


@dataclass(frozen=True)
class Descent:
    """Steps of a fixed rate along the gradient, counted."""

    learning_rate: float = 0.1

    def init(self, model: Any) -> dict[str, Any]:
        return {"n_steps": 0, "last": [np.zeros_like(each) for each in flatten(model)[0]]}

    def update(self, model: Any, gradient: Any, state: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
        for parameter, slope, last in zip(flatten(model)[0], flatten(gradient)[0], state["last"], strict=True):
            last[...] = slope
            parameter -= self.learning_rate * slope
        state["n_steps"] += 1
        return model, state
