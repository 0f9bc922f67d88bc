"""``Run``: everything that a training in progress consists of, and thus what a checkpoint has to hold."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from autograd.containers import flatten
from autograd.train.history import History


@dataclass(slots=True)
class Run:
    """A training between two steps.

    model, state        what the optimiser changes
    optimiser           that of ``fit``, with its learning rate multiplied by ``rate_scale``
    rng                 what the loss draws from
    history             the rows of the epochs that are complete
    epoch, batch        where it is: the epoch from 0, and how many of its batches are used
    n_steps             steps of the optimiser so far
    loss_sum, rows      of this epoch so far: the sum of the losses of all rows, and how many rows
    rate_scale          what callbacks have said
    best, best_epoch    a copy of the best model so far, and its epoch from 1
    updating            whether it is being brought from one step to the next just now, and not whole
    """

    model: Any
    state: Any
    optimiser: Any
    rng: np.random.Generator
    history: History = field(default_factory=History)
    epoch: int = 0
    batch: int = 0
    n_steps: int = 0
    loss_sum: float = 0.0
    rows: int = 0
    rate_scale: float = 1.0
    best: Any = None
    best_epoch: int | None = None
    updating: bool = False


NUMBERS = ("epoch", "batch", "n_steps", "loss_sum", "rows", "rate_scale", "best_epoch")
"""The fields of a run that are numbers, or None."""


def copied(model: Any) -> Any:
    """The model with arrays of its own for parameters. Buffers are never changed in place, and stay shared.

    >>> copied({"w": np.ones(2)})
    {'w': array([1., 1.])}
    """
    leaves, structure = flatten(model)
    return structure.rebuild([each.copy() if isinstance(each, np.ndarray) else each for each in leaves])
