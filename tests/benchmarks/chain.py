"""W1: a chain of small operations, ``x = sin(x * a + b)`` again and again, forward and backward.

``chain`` and ``web`` are the work of W6 too, where the tape is long.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from .workload import HIPS, Recorder, Side, Step, Workload

Function = Callable[..., Any]
Values = tuple[np.ndarray, np.ndarray, np.ndarray]


def workloads(*, quick: bool) -> list[Workload]:
    """The chain with the gradient in ``x``, ``a`` and ``b``, and with the gradient in ``x`` alone."""
    links = 5 if quick else 333
    return [
        _workload("W1", f"chain of {3 * links} ops on (4,), f64", 3.0, 3, links),
        _workload("W1x", "the same, gradient in x alone", None, 1, links),
    ]


def _workload(name: str, title: str, goal: float | None, n_sources: int, links: int) -> Workload:
    values = starting_values()
    sides: dict[str, Side] = {
        "floor": partial((floor_in_all if n_sources == 3 else floor_in_x), values, links),
        "ours": partial(_ours, values, links, n_sources),
        "torch": partial(_torch, values, links, n_sources),
        "MyGrad": partial(_mygrad, values, links, n_sources),
        HIPS: partial(_hips, values, links, n_sources),
    }
    return Workload(name, title, goal, sides, record=partial(recorder, chain, values, links, n_sources))


def starting_values() -> Values:
    """``x``, ``a`` and ``b`` of shape (4,)."""
    rng = np.random.default_rng(1)
    return rng.normal(size=4), rng.uniform(0.9, 1.1, size=4), rng.uniform(-0.1, 0.1, size=4)


def chain(sin: Function, x: Any, a: Any, b: Any, links: int) -> Any:
    """Three operations a link, each result used by the next one only."""
    for _ in range(links):
        x = sin(x * a + b)
    return x


def web(sin: Function, x: Any, a: Any, b: Any, links: int) -> Any:
    """Four operations a link, each result of a link used twice by the next one."""
    for _ in range(links):
        u = x * a
        v = x * b
        x = sin(u + v)
    return x


def floor_in_all(values: Values, links: int) -> Step:
    """The chain by hand, gradient in ``x``, ``a`` and ``b``."""
    start, a, b = values

    def step() -> Sequence[Any]:
        inputs, arguments = [], []
        x = start
        for _ in range(links):
            u = x * a + b
            inputs.append(x)
            arguments.append(u)
            x = np.sin(u)
        dx = np.ones_like(x)
        da = np.zeros_like(a)
        db = np.zeros_like(b)
        for x_in, u in zip(reversed(inputs), reversed(arguments)):
            du = dx * np.cos(u)
            da += du * x_in
            db += du
            dx = du * a
        return x.sum(), dx, da, db

    return step


def floor_in_x(values: Values, links: int) -> Step:
    """The chain by hand, gradient in ``x``."""
    start, a, b = values

    def step() -> Sequence[Any]:
        arguments = []
        x = start
        for _ in range(links):
            u = x * a + b
            arguments.append(u)
            x = np.sin(u)
        dx = np.ones_like(x)
        for u in reversed(arguments):
            du = dx * np.cos(u)
            dx = du * a
        return x.sum(), dx

    return step


def web_floor(values: Values, links: int) -> Step:
    """The web by hand, gradient in ``x``."""
    start, a, b = values

    def step() -> Sequence[Any]:
        arguments = []
        x = start
        for _ in range(links):
            u = x * a
            v = x * b
            w = u + v
            arguments.append(w)
            x = np.sin(w)
        dx = np.ones_like(x)
        for w in reversed(arguments):
            dw = dx * np.cos(w)
            dx = dw * a + dw * b
        return x.sum(), dx

    return step


def recorder(form: Function, values: Values, links: int, n_sources: int) -> Recorder:
    """Our forward part of ``chain`` or ``web``, with the first ``n_sources`` of ``x, a, b`` watched."""
    from autograd import Tape
    from autograd import numpy as anp

    def record() -> tuple[Any, Any, Any]:
        with Tape() as tape:
            watched = tape.watch(values[:n_sources])
            x = form(anp.sin, *watched, *values[n_sources:], links)
            total = anp.sum(x)
        return tape, total, watched

    return record


def _ours(values: Values, links: int, n_sources: int) -> Step:
    record = recorder(chain, values, links, n_sources)

    def step() -> Sequence[Any]:
        tape, total, watched = record()
        value, gradients = tape.value_and_gradient(total, watched)
        return value, *gradients

    return step


def _torch(values: Values, links: int, n_sources: int) -> Step:
    import torch

    torch.set_num_threads(1)

    def step() -> Sequence[Any]:
        inputs = [torch.tensor(each, requires_grad=position < n_sources) for position, each in enumerate(values)]
        total = chain(torch.sin, *inputs, links).sum()
        total.backward()
        return total.item(), *(each.grad.numpy() for each in inputs[:n_sources])

    return step


def _mygrad(values: Values, links: int, n_sources: int) -> Step:
    import mygrad

    def step() -> Sequence[Any]:
        inputs = [mygrad.tensor(each) if position < n_sources else each for position, each in enumerate(values)]
        total = chain(mygrad.sin, *inputs, links).sum()
        total.backward()
        return total.item(), *(each.grad for each in inputs[:n_sources])

    return step


def _hips(values: Values, links: int, n_sources: int) -> Step:
    from autograd import numpy as anp
    from autograd import value_and_grad

    function = value_and_grad(lambda *inputs: anp.sum(chain(anp.sin, *inputs, links)), tuple(range(n_sources)))

    def step() -> Sequence[Any]:
        value, gradients = function(*values)
        return value, *gradients

    return step
