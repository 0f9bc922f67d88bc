"""The gradient of a loop that reads a vector element by element: its cost must grow linearly with the vector."""

from __future__ import annotations

from statistics import median
from time import process_time
from typing import Any

import numpy as np


def sum_of_squares(x: Any) -> Any:
    """``sum(x * x)``, one element at a time."""
    total = 0.0
    for position in range(len(x)):
        total = total + x[position] * x[position]
    return total


def microseconds_an_element(n: int, rounds: int) -> float:
    """Median processor time of one gradient, divided by the length of the vector."""
    from autograd import grad

    x = np.linspace(0.0, 1.0, n)
    gradient = grad(sum_of_squares)
    gradient(x)
    seconds = []
    for _ in range(rounds):
        start = process_time()
        gradient(x)
        seconds.append(process_time() - start)
    return 1e6 * median(seconds) / n
