"""One step of a training: the loss of a batch, its gradient, the sum over the parts of a batch, and what went wrong where.

A loss is a function of the model and the parts of a batch: ``loss(model, x, y)`` for batches ``(x, y)``, ``loss(model, batch)``
for an array or a dict. If it has an argument ``rng``, it is given a ``numpy.random.Generator`` in training and None in
validation. It returns the mean over the rows of the batch, or in training ``(mean, model)`` with the model that has the new
running state, as ``Module.train`` returns it.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from autograd.anomaly import detect_anomaly, finite
from autograd.containers import flatten
from autograd.errors import AnomalyError
from autograd.nn.module import Module
from autograd.nn.names import named_buffers, named_parameters, with_buffers
from autograd.tape import Tape
from autograd.tensor import innermost_value
from autograd.train.data import rows_of

Loss = Callable[..., Any]


Step = tuple[float, Any, Any, int]
"""What a batch, or some of them together, come to: mean loss, its gradient, the model with a new running state, and the rows."""


def supervised(loss: Callable[[Any, Any], Any]) -> Loss:
    """A loss for ``fit`` from one of outputs and targets: ``supervised(nn.cross_entropy)``.

    In training the model, if it is a ``Module``, is run by its ``train``, with dropout and the statistics of the batch; in
    validation it is called.

    >>> loss = supervised(lambda y, target: ((y - target) ** 2).mean())
    >>> float(loss(lambda x: 2 * x, np.array([1.0]), np.array([3.0]), rng=None))
    1.0
    """

    def of_model(model: Any, x: Any, y: Any, rng: np.random.Generator | None = None) -> Any:
        if rng is None or not isinstance(model, Module):
            return loss(model(x), y)
        output, trained = model.train(x, rng)
        return loss(output, y), trained

    return of_model


def takes_rng(loss: Loss) -> bool:
    """Whether a loss has an argument ``rng``.

    >>> takes_rng(lambda model, x, rng: x), takes_rng(lambda model, x: x)
    (True, False)
    """
    parameters = _parameters(loss)
    return "rng" in parameters and parameters["rng"].kind is not inspect.Parameter.POSITIONAL_ONLY


def check_call(loss: Loss, batch: Any, who: str = "loss") -> None:
    """Raise TypeError if a function cannot be called with a model and the parts of a batch."""
    if not callable(loss):
        raise TypeError(f"fit: {who} is {type(loss).__name__} {loss!r:.60}, expected a function of the model and a batch")
    name = getattr(loss, "__name__", type(loss).__name__)
    if getattr(loss, "__module__", None) == "autograd.nn.losses":
        raise TypeError(
            f"fit: {who} is nn.{name}, which takes outputs and targets, expected a function of the model and a batch: write"
            f" supervised(nn.{name})"
        )
    parameters = _parameters(loss)
    if not parameters:
        return
    parts = parts_of(batch)
    with_rng = {"rng": None} if takes_rng(loss) else {}
    try:
        inspect.Signature(list(parameters.values())).bind(None, *parts, **with_rng)
    except TypeError as error:
        arguments = ", ".join(["model", *[f"part {number}" for number in range(1, len(parts) + 1)], *with_rng])
        raise TypeError(
            f"fit: {who} is {name}({', '.join(map(str, parameters.values()))}), which cannot be called as {name}({arguments})"
            f" ({error}); a batch here has {len(parts)} part(s): those of a tuple are arguments each, all else is one"
        ) from None


def parts_of(batch: Any) -> Sequence[Any]:
    """The arguments that a batch is: the parts of a tuple or list, or the batch itself.

    >>> parts_of((1, 2)), parts_of({"x": 1})
    ((1, 2), ({'x': 1},))
    """
    return batch if isinstance(batch, tuple | list) else (batch,)


def _parameters(function: Any) -> Mapping[str, inspect.Parameter]:
    try:
        return inspect.signature(function).parameters
    except (TypeError, ValueError):  # of some functions written in C nothing is known
        return {}


# -------------------------------------------------------------------------------------------------- the gradient


def step_of_batch(loss: Loss, model: Any, batch: Any, keywords: Mapping[str, Any]) -> Step:
    """The loss of a batch and its gradient; ``keywords`` is ``{"rng": generator}`` for a loss that takes it."""
    parts = batch if type(batch) is tuple else parts_of(batch)
    with Tape() as tape:
        watched = new = tape.watch(model)
        result = loss(watched, *parts, **keywords)
        if type(result) is tuple:
            result, new = _split(result)
        value, gradient = tape.value_and_gradient(result, watched)  # type: ignore[attr-defined]  # from methods
    if new is not watched:
        model = _with_running_state(model, new)
    return float(value), gradient, model, rows_of(batch)


def step_of_batches(loss: Loss, model: Any, batches: Sequence[Any], keywords: Mapping[str, Any]) -> Step:
    """The same for several batches as one: the means are weighted by rows, so that it is that of all rows together."""
    if len(batches) == 1:
        return step_of_batch(loss, model, batches[0], keywords)
    total, rows = 0.0, 0
    sums: list[Any] = []
    for batch in batches:
        mean, gradient, model, count = step_of_batch(loss, model, batch, keywords)
        total, rows = total + mean * count, rows + count
        leaves, structure = flatten(gradient)
        weighted = [each * _weight(each, count) for each in leaves]
        sums = [a + b for a, b in zip(sums, weighted, strict=True)] if sums else weighted
    return total / rows, structure.rebuild([each / _weight(each, rows) for each in sums]), model, rows


def _weight(gradient: Any, rows: int) -> Any:
    """A number of rows in the precision of the gradient."""
    return np.asarray(gradient).real.dtype.type(rows) if isinstance(gradient, np.ndarray | np.generic) else float(rows)


def _split(result: tuple[Any, ...]) -> tuple[Any, Any]:
    if len(result) != 2:
        raise TypeError(f"loss returned a tuple of {len(result)}, expected the mean loss, or (mean loss, model)")
    return result


def _with_running_state(model: Any, new: Any) -> Any:
    """The model with the buffers of ``new``, which is made of tensors of a tape."""
    if type(new) is not type(model):
        raise TypeError(
            f"loss returned (mean loss, {type(new).__name__}), expected (mean loss, model) with the {type(model).__name__} that"
            " train returned; quantities to be looked at go into metrics"
        )
    values = {name: innermost_value(each) for name, each in named_buffers(new).items()}
    return with_buffers(model, values) if values else model


# -------------------------------------------------------------------------------------------------- what went wrong


def explain(loss: Loss, model: Any, batches: Sequence[Any], rng: np.random.Generator | None, before: Any) -> str:
    """Why the loss or gradient of these batches is not finite; ``before`` is the state that ``rng`` had before them."""
    found = _names_not_finite("the model", named_parameters(model) | named_buffers(model))
    for number, batch in enumerate(batches):
        of = "the batch" if len(batches) == 1 else f"part {number + 1} of the batch"
        leaves, structure = flatten(batch)
        found += _names_not_finite(of, dict(zip(structure.paths(), leaves, strict=True)))
    lines = [f"{each} before the step already" for each in found]
    keywords = {} if rng is None else {"rng": rng}
    if rng is not None:
        rng.bit_generator.state = before
    try:
        with np.errstate(all="ignore"), detect_anomaly():
            for batch in batches:
                _, _, model, _ = step_of_batch(loss, model, batch, keywords)
    except AnomalyError as error:
        lines.append(str(error))
    if not lines:
        lines.append("no single kernel made it out of finite numbers; look at the constants in the loss")
    return "\n".join(lines)


def _names_not_finite(what: str, named: Mapping[str, Any]) -> list[str]:
    return [f"{what}{' at ' + name if name else ''} holds NaN or inf" for name, each in named.items() if not finite(each)]
