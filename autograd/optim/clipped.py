"""An optimiser whose gradients are clipped on their way to it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from autograd.containers import flatten
from autograd.errors import OptimiserError
from autograd.optim.clipping import clip_by_global_norm, clip_by_value
from autograd.optim.groups import Groups


@dataclass(frozen=True, slots=True)
class Clipped:
    """What ``clipped`` makes: an optimiser whose gradients are clipped before it sees them."""

    optimiser: Any
    norm: float | None = None
    value: float | None = None

    def init(self, model: Any) -> Any:
        """The state of the optimiser."""
        return self.optimiser.init(model)

    def update(self, model: Any, gradient: Any, state: Any) -> tuple[Any, Any]:
        """One step of the optimiser, with the gradient clipped in place; first by value, if by both.

        The gradients of frozen parameters do not count, and stay as they are.
        """
        if isinstance(gradient, Mapping) and any(callable(each) for each in gradient.values()):
            gradient = {name: each() if callable(each) else each for name, each in gradient.items()}
        leaves, structure = flatten(gradient)
        used = dict(enumerate(leaves))
        if isinstance(self.optimiser, Groups):
            used = {n: each for (n, each), name in zip(used.items(), structure.names()) if not self.optimiser.is_frozen(name)}
        if self.value is not None:
            used = clip_by_value(used, self.value)
        if self.norm is not None:
            used = clip_by_global_norm(used, self.norm)[0]
        gradient = structure.rebuild([used.get(n, each) for n, each in enumerate(leaves)])
        return self.optimiser.update(model, gradient, state)  # type: ignore[no-any-return]


def clipped(optimiser: Any, *, norm: float | None = None, value: float | None = None) -> Clipped:
    """An optimiser that clips its gradients by their global norm, or by value, or by value and then by norm.

    >>> from autograd.optim import SGD
    >>> optimiser = clipped(SGD(1.0), value=0.5)
    >>> optimiser.update([np.array([1.0])], [np.array([9.0])], optimiser.init([np.array([1.0])]))[0]
    [array([0.5])]
    """
    if norm is None and value is None:
        raise OptimiserError(
            "clipped: got neither norm nor value, expected a limit for one of them, as clipped(optimiser, norm=1.0)"
        )
    for name, limit in {"norm": norm, "value": value}.items():
        if limit is not None and not (isinstance(limit, int | float | np.number) and limit > 0):
            raise OptimiserError(f"clipped: {name} is {limit!r}, expected a number above 0")
    return Clipped(optimiser, norm, value)
