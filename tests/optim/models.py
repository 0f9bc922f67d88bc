"""Small models, and every optimiser once, for the tests of updates."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from autograd import grad, optim
from autograd.containers import flatten


@dataclass
class Pair:
    scale: Any
    shift: Any


ALL = [
    optim.SGD(0.1),
    optim.SGD(0.1, momentum=0.9, nesterov=True, weight_decay=0.1),
    optim.Adagrad(0.1),
    optim.Adadelta(),
    optim.RMSProp(0.1, momentum=0.5, centered=True, weight_decay=0.1),
    optim.Adam(0.1),
    optim.AdamW(0.1),
    optim.Adamax(0.1),
    optim.NAdam(0.1),
    optim.Lion(0.1, weight_decay=0.1),
]
EACH = pytest.mark.parametrize("optimiser", ALL, ids=lambda each: type(each).__name__)


def small():
    rng = np.random.default_rng(7)
    return {"w": rng.normal(size=(3, 2)), "layers": [{"b": rng.normal(size=2)}, {"b": np.array(0.5)}]}


def loss(model):
    total = (model["w"] ** 2).sum() + ((model["w"] + model["layers"][0]["b"]) ** 4).sum()
    return total + (model["layers"][1]["b"] - 2.0) ** 2


def train(optimiser, model, state, n_steps):
    for _ in range(n_steps):
        model, state = optimiser.update(model, grad(loss)(model), state)
    return model, state


def contents(container):
    return [np.asarray(each).tobytes() for each in flatten(container)[0]]
