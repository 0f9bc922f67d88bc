"""What ``python -m autograd train NAME`` does: train, say how well, check the gradient, write model and pictures."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy

from autograd.check import check_gradient
from autograd.containers import flatten
from autograd.train import digits
from autograd.train.digits import Digits, Epoch, Trained
from autograd.viz import draw_curves, draw_tape

CHECKED = 256
"""How many training images the checked loss is a mean of: some hundred runs of it take a tenth of a second."""


@dataclass(frozen=True, slots=True)
class Job:
    """One model that can be trained: its default number of epochs, the files it writes, and the work.

    ``run(seed, epochs, folder)`` returns the exit code: 0, or 1 if the gradient turned out wrong.
    """

    name: str
    summary: str
    epochs: int
    files: tuple[str, ...]
    run: Callable[[int, int, Path], int]


def train_digits(seed: int, epochs: int, folder: Path) -> int:
    """Train on the digits and write ``model.npz``, ``curves.png`` and ``tape.png`` into the folder."""
    started = perf_counter()
    training, test = digits.split(digits.load(), seed)
    print(f"digits: {len(training)} images to train on, {len(test)} held out; seed {seed}, {epochs} epochs", flush=True)
    with progress("training", epochs) as report:
        trained = digits.train(training, test, seed=seed, epochs=epochs, report=report)
    last = trained.epochs[-1]
    print(f"training accuracy  {last.training_accuracy:7.2%}   loss {last.training_loss:.4f}")
    print(f"test accuracy      {last.test_accuracy:7.2%}   loss {last.test_loss:.4f}", flush=True)

    some = training.take(numpy.arange(CHECKED))

    def loss(params: Any) -> Any:
        return digits.loss_of(params, some)

    check = check_gradient(loss, trained.params, raise_error=False)
    print(f"gradient check     {'passed' if check.ok else 'FAILED'}: {check}", flush=True)

    accuracies = {"training_accuracy": last.training_accuracy, "test_accuracy": last.test_accuracy}
    save_model(folder / "model.npz", trained.params, {"seed": seed, "epochs": epochs, **accuracies})
    written = ["model.npz"]
    try:
        draw_pictures(folder, trained, training)
        written += ["curves.png", "tape.png"]
    except ImportError as error:
        print(f"pictures left out: {error}")
    print(f"written to {folder}{os.sep}: {', '.join(written)}")
    print(f"took {perf_counter() - started:.1f} s")
    return 0 if check.ok else 1


def draw_pictures(folder: Path, trained: Trained, training: Digits) -> None:
    """The learning curve, and the tape of one training step. Raises ImportError without matplotlib."""
    epochs = trained.epochs
    panels = {
        "loss": {
            "training": [each.training_loss for each in epochs],
            "test": [each.test_loss for each in epochs],
        },
        "accuracy": {
            "training": [each.training_accuracy for each in epochs],
            "test": [each.test_accuracy for each in epochs],
        },
    }
    draw_curves(panels, folder / "curves.png", title="Learning to read handwritten digits")
    tape, _, _ = digits.record_step(trained.params, training.take(numpy.arange(digits.BATCH)))
    draw_tape(tape, folder / "tape.png", title="One training step on the tape")


def save_model(path: Path, params: Any, about: Mapping[str, float]) -> None:
    """Write the arrays under their names (``hidden.weight``), and what is to be known about them, as ``.npz``.

    The file appears whole or not at all. ``numpy.load(path)`` reads it.
    """
    leaves, structure = flatten(params)
    names = [each.replace("']['", ".").strip("[]'") for each in structure.paths()]
    arrays: dict[str, Any] = dict(zip(names, leaves, strict=True))
    arrays |= {name: numpy.asarray(each) for name, each in about.items()}
    part = path.with_suffix(".part")
    try:
        with part.open("wb") as file:
            numpy.savez(file, **arrays)
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)


@contextmanager
def progress(title: str, n_epochs: int) -> Iterator[Callable[[Epoch], None]]:
    """Something to call after each epoch: it moves a bar on stderr, or without tqdm prints a line now and then."""
    try:
        from tqdm import tqdm
    except ImportError:
        seen: list[Epoch] = []

        def print_line(epoch: Epoch) -> None:
            seen.append(epoch)
            if len(seen) % max(1, n_epochs // 10) == 0 or len(seen) == n_epochs:
                print(f"{title}: epoch {len(seen)} of {n_epochs}, {_brief(epoch)}", file=sys.stderr, flush=True)

        yield print_line
        return
    with tqdm(total=n_epochs, desc=title, unit="epoch", file=sys.stderr) as bar:

        def move_bar(epoch: Epoch) -> None:
            bar.set_postfix_str(_brief(epoch), refresh=False)
            bar.update()

        yield move_bar


def _brief(epoch: Epoch) -> str:
    return f"loss {epoch.training_loss:.3f}, test accuracy {epoch.test_accuracy:.1%}"


JOBS: dict[str, Job] = {
    job.name: job
    for job in (
        Job(
            "digits",
            "a network with one hidden layer reads handwritten digits (8 x 8 pixels)",
            digits.EPOCHS,
            ("model.npz", "curves.png", "tape.png"),
            train_digits,
        ),
    )
}
