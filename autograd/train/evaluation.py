"""What a model is worth on some data: the means of a loss or of metrics over all rows."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from autograd.tensor import innermost_value
from autograd.train.data import Source, rows_of, source_of
from autograd.train.step import check_call, parts_of, takes_rng

Metric = Callable[..., Any]


def evaluate(model: Any, metrics: Mapping[str, Metric], data: Any, batch_size: int = 256) -> dict[str, float]:
    """The mean of each metric over the rows of the data, by name.

    metrics   functions ``(model, x, y) -> mean over the rows of the batch``; one with an argument ``rng`` is given None
    data      as for ``batches``

    Where a metric is no mean over rows (a median, an area under a curve), this is the mean of its values over batches, weighted
    by their rows: pass a ``batch_size`` that takes in all of them. Raises TypeError or ValueError for a metric that is not one
    real number, and for a loss that runs the model as in training.

    >>> line = {"slope": 2.0}
    >>> evaluate(line, {"error": lambda line, x, y: abs(line["slope"] * x - y).mean()}, (np.ones(3), np.array([2.0, 2.0, 5.0])))
    {'error': 1.0}
    """
    return means_over(source_of(data, batch_size), model, metrics)


def means_over(
    source: Source, model: Any, metrics: Mapping[str, Metric], epoch: int = 0, before_each: Callable[[], None] | None = None
) -> dict[str, float]:
    """The same for a source of batches; ``before_each`` is called before each batch, and may raise to break off."""
    keywords: dict[str, dict[str, Any]] = {name: {"rng": None} if takes_rng(each) else {} for name, each in metrics.items()}
    sums = dict.fromkeys(metrics, 0.0)
    rows = 0
    for batch in source.epoch(epoch, 0):
        if before_each is not None:
            before_each()
        if not rows:
            for name, function in metrics.items():
                check_call(function, batch, f"metric {name!r}")
        count = rows_of(batch)
        rows += count
        for name, function in metrics.items():
            sums[name] += _mean_of(function, model, batch, keywords[name], name) * count
    if not rows:
        raise ValueError("there is no row to evaluate the model on; give data with one batch at least")
    return {name: total / rows for name, total in sums.items()}


def _mean_of(function: Metric, model: Any, batch: Any, keywords: Mapping[str, Any], name: str) -> float:
    """A loss or metric of a batch, without a tape."""
    result = function(model, *parts_of(batch), **keywords)
    if type(result) is tuple and len(result) == 2:
        result, after = result
        if after is not model:
            raise ValueError(
                f"{name!r} returned a model with another running state in validation: it runs the model as in training there."
                " Give it an argument rng, which is None in validation, and call model(x) then; supervised(...) does so"
            )
    value = np.asarray(innermost_value(result)) if not isinstance(result, tuple) else np.empty(0)
    if value.size != 1 or value.dtype.kind not in "biuf":
        kind = type(result).__name__
        raise ValueError(f"{name!r} returned {kind} {result!r:.60}, expected one real number, the mean over the rows")
    return float(value.item())
