"""What happens between the epochs: early stopping, a lower learning rate on a plateau, log lines, functions of your own.

Early stopping and plateaus are functions of the history alone: there is no counter to be saved, and a resumed training decides
as the uninterrupted one.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from math import inf
from typing import Any

from autograd.optim import ReduceOnPlateau
from autograd.train.history import History, Row


@dataclass(frozen=True, slots=True)
class Event:
    """What a callback is told: after an epoch, or as ``EachStep`` after a step of the optimiser.

    kind        "epoch" or "step"
    epoch       the number of the epoch, from 1
    step        how many steps the optimiser has made
    loss        the mean loss of the epoch, or that of the step
    model       the model now. Its arrays are those that the optimiser changes in place: copy what is to last
    state       the state of the optimiser
    history     the rows of the epochs so far
    stop        ``stop(reason)`` ends the training after this event

    ``scale_learning_rate(factor)`` sets by what the learning rate of the optimiser is multiplied from the next step on.
    """

    kind: str
    epoch: int
    step: int
    loss: float
    model: Any
    state: Any
    history: History
    stop: Callable[[str], None]
    scale_learning_rate: Callable[[float], None]

    @property
    def row(self) -> Row:
        """The row of the last epoch that is complete."""
        return self.history.rows[-1]


Callback = Callable[[Event], Any]


@dataclass(frozen=True, slots=True)
class EachStep:
    """A callback that is called after each step of the optimiser, not after each epoch: ``callbacks=[EachStep(print)]``."""

    callback: Callback


@dataclass(frozen=True, slots=True)
class EarlyStopping:
    """Stop when a quantity of the history has not become better for ``patience`` epochs.

    monitor     the quantity; None for ``validation_loss``, or ``loss`` where there is no validation
    mode        "min" if lower is better, "max" if higher
    min_delta   by how much it must be better than the best before; NaN never is

    >>> history = History([{"epoch": n, "loss": loss} for n, loss in enumerate([3.0, 1.0, 2.0, 1.5], start=1)])
    >>> EarlyStopping(patience=2).waited(history), EarlyStopping(patience=2).best(history)
    (2, 1)
    """

    patience: int = 5
    monitor: str | None = None
    mode: str = "min"
    min_delta: float = 0.0

    def __post_init__(self) -> None:
        if isinstance(self.patience, bool) or not isinstance(self.patience, int) or self.patience < 1:
            raise ValueError(f"EarlyStopping: patience is {self.patience!r}, expected a number of epochs from 1 on")
        if self.mode not in ("min", "max"):
            raise ValueError(f"EarlyStopping: mode is {self.mode!r}, expected 'min' or 'max'")
        if not self.min_delta >= 0:
            raise ValueError(f"EarlyStopping: min_delta is {self.min_delta!r}, expected a number from 0 on")

    def best(self, history: History) -> int | None:
        """The place in the history of the best epoch; None if there is none yet."""
        best, place = inf, None
        for number, value in enumerate(_watched(history, self.monitor)):
            value = -value if self.mode == "max" else value
            if value < best - self.min_delta:
                best, place = value, number
        return place

    def waited(self, history: History) -> int:
        """How many epochs the best one is ago."""
        best = self.best(history)
        return len(history) - (0 if best is None else best + 1)


def on_plateau(plateau: ReduceOnPlateau, monitor: str | None = None) -> Callback:
    """A callback that lowers the learning rate, or what a schedule says, as ``optim.ReduceOnPlateau`` says of its own.

    plateau   its settings; it looks once an epoch, and what it does to its ``rate`` is done to every rate of the optimiser
    monitor   the quantity that it looks at; None for ``validation_loss``, or ``loss`` where there is no validation

    >>> fit(model, loss, data, callbacks=[on_plateau(optim.ReduceOnPlateau(1.0, patience=3))])  # doctest: +SKIP
    """
    return partial(_follow_plateau, plateau, monitor)


def _follow_plateau(plateau: ReduceOnPlateau, monitor: str | None, event: Event) -> None:
    state = plateau.init()
    for value in _watched(event.history, monitor):
        state = plateau.update(state, value)
    event.scale_learning_rate(plateau.rate_of(state) / plateau.rate)


def log_rows(write: Callable[[str], Any] | None = None, every: int = 1) -> Callback:
    """A callback that writes a line for each epoch, or for every few, to stderr or where ``write`` puts it.

    >>> fit(model, loss, data, callbacks=[log_rows(logging.getLogger("fit").info, every=10)])  # doctest: +SKIP
    """
    return partial(_log_row, write or _to_stderr, every)


def _log_row(write: Callable[[str], Any], every: int, event: Event) -> None:
    if event.epoch % every == 0:
        write(row_text(event.row))


def row_text(row: Row) -> str:
    """A row of the history in one line.

    >>> row_text({"epoch": 3, "loss": 0.123456})
    'epoch 3: loss 0.1235'
    """
    return f"epoch {row['epoch']}: " + ", ".join(f"{name} {value:.4g}" for name, value in row.items() if name != "epoch")


def _to_stderr(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


def _watched(history: History, monitor: str | None) -> list[float]:
    """The column that is looked at."""
    names = history.names
    if not names:
        return []
    if monitor is None:
        monitor = "validation_loss" if "validation_loss" in names else "loss"
    if monitor not in names:
        raise ValueError(f"monitor is {monitor!r}, which the history does not have; it has {names}. Add it to metrics")
    return history.to_dict()[monitor]
