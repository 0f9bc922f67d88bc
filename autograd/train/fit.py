"""``fit``: train a model on data, with all that a training has to keep in mind beside its loop."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from autograd import optim
from autograd.tape import Tape
from autograd.train.callbacks import Callback, EachStep, EarlyStopping
from autograd.train.checkpoint import Checkpoint, load_run
from autograd.train.data import Source, source_of
from autograd.train.evaluation import Metric
from autograd.train.history import History
from autograd.train.loop import Job, interrupts_noted, train
from autograd.train.progress import progress_of
from autograd.train.rates import scaled
from autograd.train.run import Run, copied
from autograd.train.step import Loss
from autograd.train.storage import check_place


@dataclass(frozen=True, slots=True, repr=False)
class Fitted:
    """What ``fit`` came to.

    model             the best model, where one was kept, else the last one
    state             the state of the optimiser; it belongs to ``last``
    history           one row an epoch
    stopped_because   why there are no more epochs, in words
    last              the model after the last step
    best_epoch        the epoch of ``model``, from 1; None where it is the last model
    """

    model: Any
    state: Any
    history: History
    stopped_because: str
    last: Any
    best_epoch: int | None = None

    def __repr__(self) -> str:
        best = "" if self.best_epoch is None else f"; the model is that of epoch {self.best_epoch}"
        reason = self.stopped_because.partition("\n")[0]
        return f"Fitted({len(self.history)} epochs{best}; stopped because {reason})\n{self.history!r}"


def fit(
    model: Any,
    loss: Loss,
    data: Any,
    *,
    optimiser: Any = None,
    epochs: int = 10,
    batch_size: int = 32,
    validation: Any = None,
    metrics: Mapping[str, Metric] | None = None,
    seed: int = 0,
    shuffle: bool = True,
    drop_last: bool = False,
    steps_per_epoch: int | None = None,
    accumulate: int = 1,
    clip: float | Callable[[Any], Any] | None = None,
    early_stopping: EarlyStopping | int | None = None,
    keep_best: bool = True,
    callbacks: Sequence[Callback | EachStep] = (),
    checkpoint: Checkpoint | str | os.PathLike[str] | None = None,
    resume: bool = True,
    progress: bool | None = None,
) -> Fitted:
    """Train a model on data, and say how it went. The model that is given stays as it is: a copy is trained.

    model            a container of arrays of floats: a ``Module``, a dict, a list, a dataclass
    loss             ``loss(model, x, y) -> mean over the rows`` for batches ``(x, y)``; ``loss(model, batch)`` where a batch is
                     an array or a dict. With an argument ``rng`` it gets a generator in training and None in validation, and may
                     return ``(mean, model)`` with a new running state. ``supervised(nn.cross_entropy)`` is such a loss
    data             an array, a tuple or dict of arrays, an iterable of batches, or a function from the number of the epoch (from
                     0) to an iterable, see ``batches``
    optimiser        of ``autograd.optim``; ``Adam(1e-3)`` if None
    epochs           how often all of the data is seen; a resumed training counts those before
    batch_size       rows in a batch of arrays; the last batch of an epoch has those that are left, or is left out (``drop_last``)
    validation       data on which the loss and the metrics are evaluated after each epoch: ``validation_loss`` and so on
    metrics          functions like the loss, by name; without ``validation`` they are evaluated on the training data
    seed             a whole number: the order of the rows (unless ``shuffle`` is False) and what ``rng`` draws follow from it
    steps_per_epoch  how many batches are an epoch, where that is not all of them; needed where one iterator serves all epochs
    accumulate       add up the gradients of so many batches for one step of the optimiser, weighted by their rows: the same step
                     as of one batch of all those rows
    clip             the largest global norm of a gradient, or a function from gradient to gradient
    early_stopping   an ``EarlyStopping``, or its patience in epochs
    keep_best        keep a copy of the model with the best ``validation_loss``, or of what ``early_stopping`` looks at; without
                     either there is no best model, and the last one counts
    callbacks        functions of an ``Event``, called after each epoch, or in ``EachStep(...)`` after each step
    checkpoint       a path, or a ``Checkpoint``: all of the training is written there after each epoch
    resume           go on from the checkpoint if the file is there; the training then ends as if never interrupted, bit for bit.
                     False begins anew and replaces it
    progress         show a bar; None for only if stderr is a terminal

    Ctrl-C ends the training after the step that is being made; a second one, at once. A loss or gradient that is NaN or inf ends
    it too, before the step is made, with a RuntimeWarning that names the kernel, the line and the batch. ``stopped_because`` of
    the result says so. Raises TypeError or ValueError for arguments that do not fit together, CheckpointError for a checkpoint
    that is damaged or of another training, and what the loss, the data and the callbacks raise.

    >>> from autograd import optim
    >>> x = np.linspace(-1, 1, 64)[:, None]
    >>> def loss(line, x, y):
    ...     return ((x @ line["slope"] + line["offset"] - y) ** 2).mean()
    >>> line = {"slope": np.zeros((1, 1)), "offset": np.zeros(1)}
    >>> fitted = fit(line, loss, (x, 3 * x - 1), optimiser=optim.SGD(0.1), epochs=50)
    >>> fitted.model["slope"].round(2), fitted.model["offset"].round(2), fitted.stopped_because
    (array([[3.]]), array([-1.]), 'all 50 epochs are done')
    """
    _check_counts(epochs=epochs, accumulate=accumulate)
    if isinstance(seed, bool) or not isinstance(seed, int | np.integer) or seed < 0:
        raise ValueError(f"fit: seed is {seed!r}, expected a whole number from 0 on")
    source = source_of(
        data, batch_size, shuffle=shuffle, seed=int(seed), drop_last=drop_last, steps=steps_per_epoch, who="fit: data"
    )
    tested = None if validation is None else source_of(validation, batch_size, who="fit: validation")
    metrics = dict(metrics or {})
    if taken := {"loss", "epoch"} & set(metrics):
        raise ValueError(f"fit: a metric is called {taken.pop()!r}, as is a column of the history anyway; expected another name")
    _check_again(source, tested, metrics, steps_per_epoch, epochs)
    stopping = EarlyStopping(early_stopping) if isinstance(early_stopping, int) else early_stopping
    watched = stopping or (EarlyStopping() if tested is not None else None)
    best = EarlyStopping(monitor=watched.monitor, mode=watched.mode) if keep_best and watched is not None else None
    job = Job(
        loss=loss,
        source=source,
        validation=tested,
        metrics=metrics,
        optimiser=optim.Adam(1e-3) if optimiser is None else optimiser,
        accumulate=accumulate,
        clip=_clipping(clip),
        epochs=epochs,
        stopping=stopping,
        best=best,
        after_step=tuple(each.callback for each in callbacks if isinstance(each, EachStep)),
        after_epoch=tuple(each for each in callbacks if not isinstance(each, EachStep)),
        checkpoint=checkpoint if checkpoint is None or isinstance(checkpoint, Checkpoint) else Checkpoint(checkpoint),
        settings={
            "seed": int(seed),
            "batch_size": int(batch_size),
            "accumulate": accumulate,
            "shuffle": shuffle,
            "drop_last": drop_last,
            "steps_per_epoch": steps_per_epoch,
            "rows": source.n_rows,
            "best": best and [best.monitor, best.mode],
        },
    )
    _check_model(model)
    model = copied(model)
    random = np.random.default_rng(np.random.SeedSequence(int(seed)).spawn(1)[0])
    run = Run(model, job.optimiser.init(model), job.optimiser, random)
    if job.checkpoint is not None:
        check_place(job.checkpoint.path)
    if job.checkpoint is not None and resume and Path(job.checkpoint.path).exists():
        load_run(job.checkpoint.path, run, job.settings)
        run.optimiser = scaled(job.optimiser, run.rate_scale)
    total = None if source.n_batches is None else epochs * source.n_batches
    done = run.epoch * (source.n_batches or 0) + run.batch
    with progress_of(progress, total, done, epochs) as (moved, ended), interrupts_noted() as interrupted:
        reason = train(job, run, moved, ended, interrupted)
    if run.best_epoch is None or job.best is None:
        return Fitted(run.model, run.state, run.history, reason, run.model)
    return Fitted(run.best, run.state, run.history, reason, run.model, run.best_epoch)


# -------------------------------------------------------------------------------------------------- what is asked for


def _check_counts(**counts: Any) -> None:
    for name, value in counts.items():
        if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < 1:
            raise ValueError(f"fit: {name} is {value!r}, expected a whole number from 1 on")


def _check_model(model: Any) -> None:
    """Raise GradientError, with its name, for what is no parameter."""
    with Tape() as tape:
        tape.watch(model, name="model")


def _check_again(source: Source, validation: Source | None, metrics: Any, steps: int | None, epochs: int) -> None:
    """An iterator serves one epoch, or with ``steps_per_epoch`` all of them, but cannot be begun again."""
    instead = "a function from the number of the epoch to an iterable, or a list of batches"
    if not source.again and steps is None and epochs > 1:
        raise ValueError(
            f"fit: data is an iterator, which one epoch exhausts, and epochs is {epochs}; expected {instead}, or steps_per_epoch,"
            " with which one iterator that goes on serves all epochs"
        )
    if validation is not None and not validation.again:
        raise ValueError(f"fit: validation is an iterator, which one epoch exhausts; expected arrays, {instead}")
    if metrics and validation is None and not source.again:
        raise ValueError(f"fit: metrics need validation=, as the data is an iterator, or for data {instead}")


def _clipping(clip: Any) -> Callable[[Any], Any] | None:
    if clip is None or callable(clip):
        return clip  # type: ignore[no-any-return]
    if isinstance(clip, bool) or not isinstance(clip, int | float | np.number) or not clip > 0:
        raise ValueError(f"fit: clip is {clip!r}, expected the largest norm, a number above 0, or a function of the gradient")
    return partial(_clipped, limit=float(clip))


def _clipped(gradient: Any, limit: float) -> Any:
    return optim.clip_by_global_norm(gradient, limit)[0]
