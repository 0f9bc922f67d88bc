"""A training in which everything that a checkpoint has to hold matters: ``python -m tests.train.job CHECKPOINT RESULT``.

Dropout draws from the random state, BatchNorm has a running state, batches are accumulated, the learning rate follows a plateau,
and there is a best model. After each step it writes a line and waits for one, so that who started it can kill it soon after. At
its end it writes everything into RESULT, to the last bit.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from autograd import nn, optim
from autograd.containers import flatten
from autograd.train import Checkpoint, EachStep, Fitted, fit, on_plateau, supervised

EPOCHS = 12
STEPS = 4
"""Of the optimiser in an epoch."""


def train(checkpoint: Any, tell: Callable[[int], Any] | None = None, epochs: int = EPOCHS, every_steps: int = 1) -> Fitted:
    rng = np.random.default_rng(0)
    x = rng.normal(size=(30, 5))
    labels = (x[:, 0] * x[:, 1] > 0).astype(int)
    model = nn.Sequential(nn.Linear(5, 12, seed=rng), nn.BatchNorm(12), nn.tanh, nn.Dropout(0.2), nn.Linear(12, 2, seed=rng))
    return fit(
        model, supervised(nn.cross_entropy), (x, labels), optimiser=optim.Adam(0.03), epochs=epochs, batch_size=4, accumulate=2,
        validation=(x[:8], labels[:8]), metrics={"accuracy": lambda model, x, y: (model(x).argmax(axis=1) == y).mean()},
        callbacks=[
            on_plateau(optim.ReduceOnPlateau(1.0, patience=0, factor=0.5)),
            EachStep(lambda event: tell is not None and tell(event.step)),
        ],
        checkpoint=None if checkpoint is None else Checkpoint(checkpoint, every_steps=every_steps),
    )  # fmt: skip


def as_text(fitted: Fitted) -> str:
    """All that a training came to, with the bytes of its arrays."""

    def spelled(container: Any) -> list[Any]:
        leaves = flatten(container)[0]
        return [each.tobytes().hex() if isinstance(each, np.ndarray | np.generic) else each for each in leaves]

    return json.dumps(
        {
            "model": spelled(fitted.model) + spelled(list(nn.named_buffers(fitted.model).values())),
            "last": spelled(fitted.last) + spelled(list(nn.named_buffers(fitted.last).values())),
            "state": spelled(fitted.state),
            "history": [{name: repr(value) for name, value in row.items()} for row in fitted.history],
            "best_epoch": fitted.best_epoch,
        }
    )


if __name__ == "__main__":
    checkpoint, result = sys.argv[1:]
    fitted = train(checkpoint, lambda step: print(step, flush=True) or sys.stdin.readline())
    with open(result, "w") as file:
        file.write(as_text(fitted))
