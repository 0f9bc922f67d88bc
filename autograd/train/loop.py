"""The loop of a training: steps, epochs, and what ends it."""

from __future__ import annotations

import signal
import sys
import threading
import warnings
from cmath import isfinite
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain, islice
from typing import Any

from numpy import ndarray, vdot

from autograd.anomaly import finite
from autograd.containers import flatten
from autograd.nn.module import Module
from autograd.train.callbacks import Callback, EarlyStopping, Event
from autograd.train.checkpoint import Checkpoint, save_run
from autograd.train.data import Source
from autograd.train.evaluation import Metric, means_over
from autograd.train.history import VALIDATION
from autograd.train.progress import Ended, Moved
from autograd.train.rates import scaled
from autograd.train.run import Run, copied
from autograd.train.step import Loss, check_call, explain, step_of_batches, takes_rng


@dataclass(frozen=True, slots=True)
class Job:
    """The arguments of ``fit``, made ready."""

    loss: Loss
    source: Source
    validation: Source | None
    metrics: dict[str, Metric]
    optimiser: Any
    accumulate: int
    clip: Callable[[Any], Any] | None
    epochs: int
    stopping: EarlyStopping | None
    best: EarlyStopping | None
    after_step: tuple[Callback, ...]
    after_epoch: tuple[Callback, ...]
    checkpoint: Checkpoint | None
    settings: dict[str, Any]


class _Stopped(Exception):
    """Ends the training; the text is the reason."""


def train(job: Job, run: Run, moved: Moved | None, ended: Ended | None, interrupted: list[bool]) -> str:
    """Train until something ends it, and say what."""
    try:
        while run.epoch < job.epochs:
            if job.stopping is not None and job.stopping.waited(run.history) >= job.stopping.patience and run.history.rows:
                return f"{job.stopping.monitor or _monitored(job)} has not become better for {job.stopping.patience} epochs"
            if interrupted:
                return _after_interrupt(job, run)
            _train_epoch(job, run, moved, ended, interrupted)
    except _Stopped as stopped:
        return str(stopped)
    except KeyboardInterrupt:  # raised by a callback, or where the signal could not be noted
        if run.updating:
            raise  # the run is half of one step and half of the next
        return _after_interrupt(job, run)
    return f"all {job.epochs} epochs are done"


def _train_epoch(job: Job, run: Run, moved: Moved | None, ended: Ended | None, interrupted: list[bool]) -> None:
    batches = job.source.epoch(run.epoch, run.batch)
    keywords: dict[str, Any] = {"rng": run.rng} if takes_rng(job.loss) else {}
    every = job.checkpoint.every_steps if job.checkpoint is not None else None
    first = next(batches, None)
    if first is not None:
        check_call(job.loss, first)
        batches = chain((first,), batches)
    elif not run.rows:
        raise ValueError(f"fit: data gave no batch in epoch {run.epoch + 1}, expected one at least")

    groups = zip(batches) if job.accumulate == 1 else iter(lambda: tuple(islice(batches, job.accumulate)), ())
    for group in groups:
        before = run.rng.bit_generator.state if keywords else None
        try:
            mean, gradient, model, rows = step_of_batches(job.loss, run.model, group, keywords)
        except KeyboardInterrupt:
            if before is not None:
                run.rng.bit_generator.state = before
            raise
        if not (isfinite(mean) and _all_finite(gradient)):
            _stop_at_anomaly(job, run, group, mean, before)
        if job.clip is not None:
            gradient = job.clip(gradient)
        run.updating = True
        run.model, run.state = run.optimiser.update(model, gradient, run.state)
        run.batch += len(group)
        run.n_steps += 1
        run.loss_sum += mean * rows
        run.rows += rows
        run.updating = False
        if job.after_step:
            _call(job.after_step, job, run, "step", mean)
        if moved is not None:
            moved(len(group))
        if every is not None and run.n_steps % every == 0:
            _save(job, run)
        if interrupted:
            raise _Stopped(_after_interrupt(job, run))

    _end_epoch(job, run, interrupted)
    if ended is not None:
        ended(run.history.rows[-1])


def _end_epoch(job: Job, run: Run, interrupted: list[bool]) -> None:
    """Evaluate the model, keep it if it is the best, and tell everybody."""
    mean = run.loss_sum / run.rows
    row = {"epoch": run.epoch + 1, "loss": mean}

    def check_interrupts() -> None:
        if interrupted:
            raise _Stopped(_after_interrupt(job, run))

    if job.validation is not None:
        found = means_over(job.validation, run.model, {"loss": job.loss, **job.metrics}, run.epoch, check_interrupts)
        row |= {VALIDATION + name: value for name, value in found.items()}
    elif job.metrics:
        row |= means_over(job.source, run.model, job.metrics, run.epoch, check_interrupts)
    run.updating = True
    run.history.rows.append(row)
    run.epoch += 1
    run.batch, run.loss_sum, run.rows = 0, 0.0, 0
    if job.best is not None and job.best.best(run.history) == len(run.history) - 1:
        run.best, run.best_epoch = copied(run.model), run.epoch
    run.updating = False
    _call(job.after_epoch, job, run, "epoch", mean)
    _save(job, run)


def _all_finite(gradient: Any) -> bool:
    """By a product of each array with itself, which is fast; where one overflows, by a look at each number."""
    leaves = _leaves(gradient)
    for each in leaves:
        if not isfinite(vdot(each, each)):
            return finite(leaves)
    return True


def _leaves(gradient: Any) -> Sequence[Any]:
    """The arrays of a gradient. ``flatten`` costs 2 % of a small step, which a list of arrays, or a module, need not pay."""
    known = gradient if type(gradient) is list else getattr(gradient, "_leaves", ()) if isinstance(gradient, Module) else ()
    for each in known:
        if type(each) is not ndarray:
            break
    else:
        if known:
            return known
    return flatten(gradient)[0]


def _stop_at_anomaly(job: Job, run: Run, group: tuple[Any, ...], loss: float, before: Any) -> None:
    what = "the gradient has NaN or inf in it" if isfinite(loss) else f"the loss is {loss}"
    first = run.batch + 1
    where = f"batch {first}" if len(group) == 1 else f"batches {first} to {run.batch + len(group)}"
    why = explain(job.loss, run.model, group, run.rng if before is not None else None, before)
    reason = f"{what} in epoch {run.epoch + 1}, {where}; the model is as before this step\n{why}"
    warnings.warn(f"fit: {reason}", RuntimeWarning, stacklevel=5)
    raise _Stopped(reason)


def _after_interrupt(job: Job, run: Run) -> str:
    _save(job, run)
    reason = f"it was interrupted in epoch {run.epoch + 1}, after batch {run.batch}"
    print(f"fit: {reason}; the history and the model are returned", file=sys.stderr, flush=True)
    return reason


def _save(job: Job, run: Run) -> None:
    if job.checkpoint is not None:
        save_run(job.checkpoint.path, run, job.settings)


def _monitored(job: Job) -> str:
    return "loss" if job.validation is None else VALIDATION + "loss"


def _call(callbacks: tuple[Callback, ...], job: Job, run: Run, kind: str, loss: float) -> None:
    if not callbacks:
        return
    reasons: list[str] = []
    epoch = run.epoch + (kind == "step")

    def scale(factor: float) -> None:
        if factor != run.rate_scale:
            run.optimiser, run.rate_scale = scaled(job.optimiser, factor), float(factor)

    event = Event(kind, epoch, run.n_steps, loss, run.model, run.state, run.history, reasons.append, scale)
    for each in callbacks:
        each(event)
    if reasons:
        _save(job, run)
        raise _Stopped(reasons[0])


@contextmanager
def interrupts_noted() -> Iterator[list[bool]]:
    """A list that has something in it after Ctrl-C. A second Ctrl-C is KeyboardInterrupt, as ever.

    Only in the main thread, and where nobody else has asked for the signal: elsewhere it is KeyboardInterrupt at once.
    """
    noted: list[bool] = []
    if (
        threading.current_thread() is not threading.main_thread()
        or signal.getsignal(signal.SIGINT) is not signal.default_int_handler
    ):
        yield noted
        return

    def note(number: int, frame: Any) -> None:
        if noted:
            signal.default_int_handler(number, frame)
        noted.append(True)

    signal.signal(signal.SIGINT, note)
    try:
        yield noted
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)
