"""``LBFGS``: the method of second order for losses without noise, whose memory grows with the model and not with its square."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import inf, isfinite
from typing import Any, NoReturn

import numpy as np

from autograd.errors import OptimiserError
from autograd.functional import value_and_grad
from autograd.optim.line_search import Point, strong_wolfe
from autograd.optim.vector import Vector

Array = np.ndarray[Any, Any]
Loss = Callable[[Any], Any]


@dataclass(frozen=True, slots=True)
class Minimum:
    """What ``LBFGS.minimize`` found.

    x             the container with the lowest value
    value         the value there
    gradient      the gradient there, in the structure of ``x``
    iterations    how many steps were made
    evaluations   how often the function and its gradient were evaluated
    converged     whether one of the tolerances ended it
    message       what ended it, in words
    """

    x: Any
    value: float
    gradient: Any
    iterations: int
    evaluations: int
    converged: bool
    message: str


@dataclass(frozen=True, slots=True)
class LBFGS:
    """L-BFGS (Liu and Nocedal, 1989) with a line search for the strong Wolfe conditions.

    The direction is - H g, where H comes from the last ``history`` moves s and changes of the gradient y by the two-loop
    recursion, on top of (s y / y y) of the last pair. A pair without positive curvature is left out. The first move, without any
    pair, is tried with the length min(1, 1 / sum |g|), all others with that of the direction. It is computed in float64.

    history               how many pairs are kept
    learning_rate         times the length that is tried first
    gradient_tolerance    ends it when no |g| is larger
    change_tolerance      ends it when the value changes by less than this part of it; 0 for never
    decrease, curvature   the constants of the Wolfe conditions

    It asks for the loss at several points, so it has ``step`` and ``minimize``, and no ``update``. The loss must be the same
    function throughout: all data, and no dropout.

    >>> rosenbrock = lambda p: (1 - p["x"]) ** 2 + 100 * (p["y"] - p["x"] ** 2) ** 2
    >>> found = LBFGS().minimize(rosenbrock, {"x": -1.2, "y": 1.0})
    >>> {name: round(value, 6) for name, value in found.x.items()}, found.converged
    ({'x': 1.0, 'y': 1.0}, True)
    """

    history: int = 10
    learning_rate: float = 1.0
    gradient_tolerance: float = 1e-7
    change_tolerance: float = 1e-12
    decrease: float = 1e-4
    curvature: float = 0.9

    def __post_init__(self) -> None:
        if isinstance(self.history, bool) or not isinstance(self.history, int) or self.history < 1:
            raise OptimiserError(f"LBFGS: history is {self.history!r}, expected a whole number from 1 on")
        for name in ("learning_rate", "gradient_tolerance", "change_tolerance"):
            value = getattr(self, name)
            if not (isinstance(value, int | float | np.number) and 0 <= value < inf) or (name == "learning_rate" and value == 0):
                least = "above 0" if name == "learning_rate" else "from 0 on"
                raise OptimiserError(f"LBFGS: {name} is {value!r}, expected a number {least}")
        if not 0 < self.decrease < self.curvature < 1:
            raise OptimiserError(
                f"LBFGS: decrease is {self.decrease!r} and curvature {self.curvature!r}, expected 0 < decrease < curvature < 1"
            )

    def init(self, model: Any) -> dict[str, Any]:
        """The state before the first step: a dict of numbers and arrays, which grow no more."""
        size = Vector("LBFGS.init", model).size
        return {
            "steps": 0,
            "pairs": 0,
            "moves": np.zeros((self.history, size)),
            "changes": np.zeros((self.history, size)),
            "products": np.zeros(self.history),
        }

    def step(self, loss: Loss, model: Any, state: dict[str, Any], iterations: int = 1) -> tuple[Any, dict[str, Any], float]:
        """``(model, state, value)`` after so many moves, or fewer if a tolerance ends it; arrays are changed in place.

        ``loss(model)`` is evaluated at the beginning, and at least once for each move. Raises OptimiserError if the loss or its
        gradient is not finite at the beginning, or if the state is that of another model, and InPlaceError for read-only arrays;
        then, and when the loss raises, the model is as before.

        >>> model, optimiser = {"w": np.array([3.0, -4.0])}, LBFGS()
        >>> state = optimiser.init(model)
        >>> model, state, value = optimiser.step(lambda m: (m["w"] ** 2).sum(), model, state, iterations=5)
        >>> bool(value < 1e-12), bool(np.abs(model["w"]).max() < 1e-6)
        (True, True)
        """
        run = _Run(self, loss, Vector("LBFGS.step", model), state)
        run.go(iterations)
        return run.model, state, run.value

    def minimize(self, function: Loss, x0: Any, iterations: int = 1000) -> Minimum:
        """The minimum that is found from ``x0``, a container of arrays or numbers, which stays as it is.

        The result says whether a tolerance was reached; raises OptimiserError if the function is not finite at ``x0``.

        >>> found = LBFGS().minimize(lambda x: ((x - np.array([1.0, 2.0])) ** 4).sum(), np.zeros(2))
        >>> found.x.round(2), found.converged
        (array([1., 2.]), True)
        """
        vector = Vector("LBFGS.minimize", x0)
        own = Vector("LBFGS.minimize", vector.container(vector.values()))
        run = _Run(self, function, own, self.init(x0))
        message, converged = run.go(iterations)
        gradient = own.gradient_container(run.gradient)
        return Minimum(run.model, run.value, gradient, run.state["steps"], run.evaluations, converged, message)

    def update(self, model: Any, gradient: Any, state: Any) -> NoReturn:
        """L-BFGS cannot go on from a gradient alone; raises OptimiserError, which says what to call."""
        raise OptimiserError(
            "LBFGS.update: its line search asks for the loss at several points, not for one gradient; expected a call of"
            " step(loss, model, state) or minimize(loss, model)"
        )


class _Run:
    """A model on its way downhill."""

    def __init__(self, optimiser: LBFGS, loss: Loss, vector: Vector, state: dict[str, Any]) -> None:
        self.optimiser = optimiser
        self.state = state
        self.vector = vector
        self.evaluations = 0
        shape = (optimiser.history, vector.size)
        if not isinstance(state, dict) or any(getattr(state.get(name), "shape", None) != shape for name in ("moves", "changes")):
            raise OptimiserError(f"{vector.who}: the state is of another model or history, expected that of init(model)")
        vector.check_writable()
        self._evaluate = value_and_grad(loss)
        self.x = vector.values()
        self.model: Any = None
        self.value, self.gradient = self._at(self.x)
        if not (isfinite(self.value) and np.isfinite(self.gradient).all()):
            what = f"the loss is {self.value}" if not isfinite(self.value) else "the gradient has NaN or inf in it"
            raise OptimiserError(
                f"{vector.who}: {what} at the beginning, expected finite numbers; detect_anomaly() finds its origin"
            )

    def go(self, iterations: int) -> tuple[str, bool]:
        """Move so often, unless something ends it before: what ended it, and whether that was a tolerance."""
        try:
            return self._go(iterations)
        finally:
            self.model = self.vector.written(self.x)  # whatever was tried last, and if the loss raised

    def _go(self, iterations: int) -> tuple[str, bool]:
        optimiser = self.optimiser
        for _ in range(iterations):
            if np.max(np.abs(self.gradient)) <= optimiser.gradient_tolerance:
                return f"no part of the gradient is above {optimiser.gradient_tolerance:g}", True
            before = self.value
            if not self._move():
                return "the line search found no lower point: the loss may have kinks, noise, or a wrong gradient", False
            self.state["steps"] += 1
            if abs(before - self.value) < optimiser.change_tolerance * max(abs(before), abs(self.value)):
                return f"the value changed by less than {optimiser.change_tolerance:g} of it", True
        return f"{iterations} iterations are done", False

    def _move(self) -> bool:
        direction = self._direction()
        slope = float(self.gradient @ direction)
        first = min(1.0, 1.0 / float(np.abs(self.gradient).sum())) if self.state["pairs"] == 0 else 1.0
        start = Point(0.0, self.value, slope)

        def along(t: float) -> Point:
            x = self.x + t * direction
            value, gradient = self._at(x)
            return Point(t, value, float(gradient @ direction), (x, gradient))

        found = strong_wolfe(
            along,
            start,
            first * self.optimiser.learning_rate,
            decrease=self.optimiser.decrease,
            curvature=self.optimiser.curvature,
            rounding=4 * self._eps,
        )
        if found is None:
            if self.state["pairs"] == 0:
                return False
            self.state["pairs"] = 0  # the old pairs may mislead: once more, straight down
            return self._move()
        x, gradient = found.more
        self._remember(x - self.x, gradient - self.gradient)
        self.x, self.value, self.gradient = x, found.value, gradient
        return True

    def _at(self, x: Array) -> tuple[float, Array]:
        """Value and gradient at a point; ``x`` becomes what the arrays of the model hold of it."""
        self.model = self.vector.written(x)
        value, gradient = self._evaluate(self.model)
        self.evaluations += 1
        dtype = np.asarray(value).dtype
        self._eps = float(np.finfo(dtype).eps) if dtype.kind == "f" else 0.0
        return float(value), self.vector.gradient(gradient)

    def _direction(self) -> Array:
        """- H g by the two-loop recursion, the newest pair first."""
        state, history = self.state, self.optimiser.history
        moves, changes, products = state["moves"], state["changes"], state["products"]
        direction = -self.gradient
        count = state["pairs"]
        rows = [(count - 1 - back) % history for back in range(min(count, history))]
        if not rows:
            return direction
        factors = []
        for row in rows:
            factors.append(float(moves[row] @ direction) / products[row])
            direction -= factors[-1] * changes[row]
        newest = rows[0]
        direction *= products[newest] / float(changes[newest] @ changes[newest])
        for row, factor in zip(reversed(rows), reversed(factors), strict=True):
            direction += moves[row] * (factor - float(changes[row] @ direction) / products[row])
        return direction

    def _remember(self, move: Array, change: Array) -> None:
        product = float(move @ change)
        if not product > np.finfo(np.float64).eps * float(change @ change):
            return
        state = self.state
        row = state["pairs"] % self.optimiser.history
        state["moves"][row], state["changes"][row], state["products"][row] = move, change, product
        state["pairs"] += 1
