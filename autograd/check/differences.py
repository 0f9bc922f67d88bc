"""A derivative by central differences, extrapolated to step zero, with its uncertainty."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import inf, isfinite, nan

FIRST_STEP = 2.0**-4
SHRINK = 4.0
LEVELS = 12


@dataclass(frozen=True, slots=True)
class Difference:
    """A numerical derivative: its ``value``, how far two estimates of it differ, and what rounding may do to it."""

    value: float
    uncertainty: float
    noise: float


def central_difference(f: Callable[[float], tuple[float, float]], eps: float) -> Difference:
    """The derivative at 0 of ``f(t) = (value, magnitude)``; ``eps * magnitude`` is the rounding error of the value.

    Steps shrink from 1/16 by 4 and the differences are extrapolated to step zero, until two estimates agree to rounding
    (Ridders, "Accurate computation of F'(x) and F'(x)F''(x)", Advances in Engineering Software 4, 1982). So no step has
    to be chosen: a kink or the end of the domain within one step is outrun by the next. Steps at which ``f`` is not
    finite are passed over; if all are, the value is NaN.

    >>> from math import exp
    >>> round(central_difference(lambda t: (exp(2 * t), exp(2 * t)), 2.2e-16).value, 9)
    2.0
    """
    best = Difference(nan, inf, 0.0)
    above: list[float] = []
    for level in range(LEVELS):
        step = FIRST_STEP * SHRINK**-level
        (up, up_magnitude), (down, down_magnitude) = f(step), f(-step)
        if not (isfinite(up) and isfinite(down)):
            above = []
            continue
        noise = eps * max(up_magnitude, down_magnitude) / step
        row = [(up - down) / (2 * step)]
        for order, older in enumerate(above, start=1):
            row.append(row[-1] + (row[-1] - older) / (SHRINK ** (2 * order) - 1))
            uncertainty = max(abs(row[-1] - row[-2]), abs(row[-1] - older))
            if uncertainty < best.uncertainty:
                best = Difference(row[-1], uncertainty, noise)
        if best.uncertainty <= best.noise:
            break
        above = row
    return best
