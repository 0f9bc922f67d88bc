"""``Optimiser``: what all optimisers that follow a gradient have in common, and ``State``, what they remember."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from math import inf
from typing import Any

import numpy as np

from autograd.containers import flatten
from autograd.errors import OptimiserError
from autograd.optim.layout import Layout
from autograd.optim.leaves import Array

Rate = float | Callable[[int], float]
"""A learning rate: a number, or a schedule that is asked with the number of steps made so far."""


class State(dict[str, Any]):
    """What an optimiser remembers between steps: a dict of numbers, and of dicts of arrays by the parameters' names.

    It is a container as any dict: flatten it to save it, rebuild it to go on. A copy has arrays of its own from its first step
    on.
    """

    __slots__ = ("_layout",)

    _layout: Any

    def __reduce__(self) -> Any:
        return State, (dict(self),)


class Optimiser(ABC):
    """A frozen record of settings; ``init`` makes the state for a model, ``update`` makes a step.

    >>> from autograd import grad
    >>> from autograd.optim import Adam
    >>> model, optimiser = {"w": np.array([1.0, 2.0])}, Adam(0.1)
    >>> state = optimiser.init(model)
    >>> for _ in range(100):
    ...     gradient = grad(lambda model: (model["w"] ** 2).sum())(model)
    ...     model, state = optimiser.update(model, gradient, state)
    >>> bool(np.abs(model["w"]).max() < 0.1), state["steps"]
    (True, 100)
    """

    __slots__ = ()

    learning_rate: Rate

    def init(self, model: Any) -> State:
        """The state before the first step, for a model that is an array or any container of arrays."""
        state = self._with_layout(State(steps=0, **self._extra()), model)
        for moment, by_name in state._layout.moments.items():
            for each in by_name.values():  # of a complex number there are two, for its real and its imaginary part
                each[...] = self._start(moment) * (1 + 1j if each.dtype.kind == "c" else 1)
        return state

    def update(self, model: Any, gradient: Any, state: Mapping[str, Any]) -> tuple[Any, State]:
        """One step: ``(model, state)``, whose arrays are changed in place.

        ``gradient`` is what ``grad`` returns for the model, or a map of the parameters' dotted names to gradients or to thunks
        that return them. Integers and everything else that has no derivative stay as they are; Python numbers are replaced in
        the model that is returned. Complex parameters move along the conjugate of the gradient, which is df/dx - i df/dy.
        A state that is a plain dict is copied: go on with the one that is returned.

        Raises OptimiserError if the gradient is of other names, shapes or kinds of numbers than the model, or the state is that
        of another model or optimiser; InPlaceError if a parameter is read-only. Then nothing has been changed.
        """
        layout = getattr(state, "_layout", None)
        if layout is None or layout.moment_names != self._moments() or not layout.holds(model, state):
            state = self._taken_over(model, state)
            layout = state._layout
        assert type(state) is State
        gradients = layout.gradients(gradient)
        layout.check_writable()
        steps = state["steps"]
        rate = self.learning_rate
        numbers = self._numbers(self._scheduled(rate, steps) if callable(rate) else rate, steps + 1, state)
        layout.subtract(self._change, numbers, gradients, self._reads_parameters())
        state["steps"] = steps + 1
        return model if layout.in_place else flatten(model)[1].rebuild(list(layout.values)), state

    def _scheduled(self, schedule: Callable[[int], float], step: int) -> float:
        rate = float(schedule(step))
        if not 0 <= rate < inf:
            raise OptimiserError(f"{type(self).__name__}: the schedule gave {rate} for step {step}, expected a number from 0 on")
        return rate

    # ------------------------------------------------------------------------------------------------ what differs

    @abstractmethod
    def _moments(self) -> tuple[str, ...]:
        """What is remembered of each number."""

    def _start(self, moment: str) -> float:
        """What a moment is before the first step."""
        return 0.0

    def _extra(self) -> dict[str, float]:
        """What numbers are remembered besides."""
        return {}

    def _reads_parameters(self) -> bool:
        """Whether ``_change`` looks at the parameters."""
        return False

    @abstractmethod
    def _numbers(self, rate: float, step: int, state: dict[str, Any]) -> tuple[float, ...]:
        """The numbers of a step, counted from 1, that ``_change`` needs."""

    @abstractmethod
    def _change(self, p: Array, g: Array, a: Array, b: Array, d: Array, numbers: list[Array], *moments: Array) -> None:
        """Leave in ``a`` what is to be subtracted; ``p`` and ``g`` stay as they are, ``b`` and ``d`` are free for use."""

    # ------------------------------------------------------------------------------------------------ the state

    def _with_layout(self, state: State, model: Any) -> State:
        layout = Layout(type(self).__name__, model, self._moments())
        state.update(layout.moments)
        state._layout = layout
        return state

    def _taken_over(self, model: Any, state: Mapping[str, Any]) -> State:
        """The state with a layout for this model; the arrays that it had are copied."""
        who = type(self).__name__
        expected = {"steps", *self._extra(), *self._moments()}
        if not isinstance(state, Mapping) or set(state) != expected:
            got = sorted(map(str, state)) if isinstance(state, Mapping) else type(state).__name__
            raise OptimiserError(
                f"{who}: the state has {got}, expected {sorted(expected)}; make it with init(model) of an optimiser of these"
                " settings"
            )
        layout = Layout(who, model, self._moments())
        layout.take_over(state)
        taken = state if type(state) is State else State(state)
        taken["steps"] = int(state["steps"])
        taken.update({name: float(state[name]) for name in self._extra()})
        taken.update(layout.moments)
        taken._layout = layout
        return taken


def decayed(p: Array, g: Array, into: Array, decay: Array) -> Array:
    """``g + decay * p``, the gradient with that of the penalty ``decay / 2 * |p|**2``."""
    np.multiply(p, decay, into)
    return np.add(into, g, into)


def check(who: str, **settings: tuple[Any, float, float]) -> None:
    """Raise OptimiserError for a setting, given as ``(value, lowest, end)``, that is not from ``lowest`` on and below ``end``."""
    for name, (value, lowest, end) in settings.items():
        if not (isinstance(value, int | float | np.number) and lowest <= value < end):
            expected = f"a number from {lowest:g} on" + (f" and below {end:g}" if end != np.inf else "")
            raise OptimiserError(f"{who}: {name} is {value!r}, expected {expected}")


def check_rate(who: str, rate: Any) -> None:
    """Raise OptimiserError for a learning rate that is neither a schedule nor a number from 0 on."""
    if not callable(rate):
        check(who, learning_rate=(rate, 0, np.inf))
