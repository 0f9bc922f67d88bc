"""Is a gradient right? Reverse mode, forward mode and central differences are asked the same question.

The question is a directional derivative: how fast does the function change along ``v``? Reverse mode says
``sum(gradient * v)``, forward mode pushes ``v``, and differences run the function at two points. A wrong rule is wrong
in both modes (one is the transpose of the other), so the differences are the judge of both.
"""

from __future__ import annotations

from collections.abc import Callable
from math import inf
from typing import Any

import numpy as np

from autograd.check.question import Question
from autograd.check.report import GradientReport, Probe
from autograd.errors import GradientError


def check_gradient(
    f: Callable[..., Any],
    *args: Any,
    seed: int = 0,
    n_directions: int = 3,
    max_elements: int = 32,
    rtol: float = 1e-6,
    forward: bool = True,
    raise_error: bool = True,
) -> GradientReport:
    """Compare the gradient of ``f`` at ``args``, in reverse and in forward mode, with central differences.

    args           arrays, scalars or nested containers of them; every float or complex leaf is checked, all else is
                   constant
    n_directions   how many random directions for an array of more than ``max_elements``; a smaller one is checked
                   element by element. Directions are dense and of random sign, so that no element is left out.
    rtol           tolerance relative to the size of the derivative
    forward        whether to check forward mode too
    raise_error    raise GradientError for a wrong gradient; False: only say so in the report

    ``f`` may return an array or a container; a random weight for each of its elements then makes one number of it.
    Arguments in less than double precision are checked as doubles, and their own gradients are then compared with those
    of the doubles, element by element. A wrong derivative smaller than the rounding error of ``f`` itself cannot be seen.
    Raises GradientError too if ``f`` gives two values for the same arguments.

    >>> from autograd import numpy as np
    >>> check_gradient(lambda x: np.sum(x * x), np.array([1.0, 2.0])).ok
    True
    """
    if not 0 < rtol < 0.1 or n_directions < 1:
        raise ValueError(
            f"check_gradient: got rtol={rtol!r}, n_directions={n_directions!r}; expected 0 < rtol < 0.1 and at least 1"
            " direction: with less, a wrong gradient would pass"
        )
    with np.errstate(all="ignore"):  # what is not finite is reported, not warned of
        probes = _ask_all(Question(f, args, seed), n_directions, max_elements, rtol, forward)
    worst = max(probes, key=lambda probe: (not probe.ok, probe.error / probe.tolerance if probe.error >= 0 else inf))
    if worst.ok:
        judged = [probe.error for probe in probes if probe.judge == "differences"]
        text = f"{len(judged)} derivatives agree with central differences, relative error at most {max(judged):.1e}"
        return GradientReport(True, worst.error, worst.where, worst.tolerance, text, tuple(probes))
    wrong = sum(not probe.ok for probe in probes)
    text = f"wrong gradient, {wrong} of {len(probes)} derivatives; worst at {worst}"
    if raise_error:
        raise GradientError(f"check_gradient: {text}")
    return GradientReport(False, worst.error, worst.where, worst.tolerance, text, tuple(probes))


def _ask_all(question: Question, n_directions: int, max_elements: int, rtol: float, forward: bool) -> list[Probe]:
    probes: list[Probe] = []
    for number in range(len(question.points)):
        for direction in question.directions(number, max_elements, n_directions):
            asked = question.ask(number, direction, rtol, forward)
            if not all(probe.ok for probe in asked):
                asked = question.narrow(number, direction, asked, rtol, forward)
            probes += asked
    return probes + question.compare_precisions()
