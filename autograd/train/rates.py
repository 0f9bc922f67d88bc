"""Learning rates multiplied: of an optimiser, and of those that it is made of."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields, is_dataclass, replace
from functools import partial
from typing import Any


def scaled(optimiser: Any, scale: float) -> Any:
    """The optimiser with each ``learning_rate`` in it, or what its schedule says, multiplied; it has the same states.

    Raises TypeError if there is none: a ``learning_rate`` is a field of a dataclass, or of one that it has in a field.

    >>> from autograd.optim import SGD, groups
    >>> scaled(SGD(0.5), 0.5).learning_rate
    0.25
    >>> [each.learning_rate for _, each in scaled(groups({"bias": SGD(1.0), "*": SGD(lambda step: 3.0)}), 0.5).members][0]
    0.5
    """
    if scale == 1:
        return optimiser
    changed, n_rates = _scaled(optimiser, scale)
    if not n_rates:
        raise TypeError(
            f"fit: the learning rate of {type(optimiser).__name__} cannot be scaled; expected a dataclass with the field"
            " learning_rate, as those of autograd.optim are"
        )
    return changed


def _scaled(value: Any, scale: float) -> tuple[Any, int]:
    """A value with the learning rates in it multiplied, and how many there are."""
    if isinstance(value, list | tuple):
        members = [_scaled(each, scale) for each in value]
        n_rates = sum(each for _, each in members)
        return (type(value)([each for each, _ in members]), n_rates) if n_rates else (value, 0)
    if not is_dataclass(value) or isinstance(value, type):
        return value, 0
    changes: dict[str, Any] = {}
    n_rates = 0
    for name in [field.name for field in fields(value) if field.init]:
        old = getattr(value, name)
        if name == "learning_rate":
            changes[name], count = partial(_scaled_schedule, old, scale) if callable(old) else old * scale, 1
        else:
            new, count = _scaled(old, scale)
            if count:
                changes[name] = new
        n_rates += count
    return (replace(value, **changes), n_rates) if changes else (value, 0)


def _scaled_schedule(schedule: Callable[[int], float], scale: float, step: int) -> float:
    return schedule(step) * scale
