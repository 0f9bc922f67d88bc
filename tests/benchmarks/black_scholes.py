"""W9: prices of a million European call options, and the gradient of their sum in all five inputs.

The normal distribution function is a kernel of our own here: an operator is declared, with its rule, for as long as the
workload runs. The function itself comes from SciPy where that is installed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from importlib import import_module
from typing import Any

import numpy as np

from .workload import HIPS, Recorder, Side, Step, Workload

try:
    from scipy.special import ndtr as normal_cdf
except ImportError:

    def normal_cdf(x: np.ndarray) -> np.ndarray:
        """The normal distribution function to 7.5e-8: Abramowitz and Stegun, formula 26.2.17."""
        t = 1 / (1 + 0.2316419 * np.abs(x))
        series = 0.319381530 + t * (-0.356563782 + t * (1.781477937 + t * (-1.821255978 + t * 1.330274429)))
        upper = normal_pdf(x) * t * series
        return np.where(x >= 0, 1 - upper, upper)


OPERATOR = "benchmark_normal_cdf"


def normal_pdf(x: np.ndarray) -> np.ndarray:
    """The normal density."""
    return np.exp(-0.5 * x * x) / np.sqrt(2 * np.pi)


@contextmanager
def normal_cdf_operator() -> Iterator[None]:
    """Declare the normal distribution function as an operator with a gradient, for the length of a block."""
    from autograd import operators as op
    from registry import operators, unregister_gradient, unregister_kernel
    from registry.declare import operator
    from registry.gradients import gradient

    operator(f"{OPERATOR}(Tensor x) -> Tensor", normal_cdf)

    @gradient(OPERATOR, inputs_to_save=("x",), elementwise=True)
    def rule(dy: Any, saved: Sequence[Any], attrs: Any) -> dict[str, Callable[[], Any]]:
        (x,) = saved
        return {"x": lambda: dy * (op.exp(-0.5 * x * x) / np.sqrt(2 * np.pi))}

    try:
        yield
    finally:
        unregister_gradient(OPERATOR)
        unregister_kernel(OPERATOR, "numpy")
        operators.undeclare(OPERATOR)


def workloads(*, quick: bool) -> list[Workload]:
    """One million options."""
    n = 10 if quick else 1_000_000
    rng = np.random.default_rng(9)
    inputs = (
        rng.uniform(80, 120, n), rng.uniform(80, 120, n), rng.uniform(0.01, 0.05, n),
        rng.uniform(0.1, 0.4, n), rng.uniform(0.25, 2.0, n),
    )  # fmt: skip
    sides: dict[str, Side] = {
        "floor": partial(_floor, inputs),
        "ours": partial(_ours, inputs),
        "torch": partial(_torch, inputs),
        HIPS: partial(_hips, inputs),
    }
    title = f"Black-Scholes, {n:.0e} elements, gradient in 5 inputs, f64"
    return [Workload("W9", title, 1.3, sides, record=partial(recorder, inputs), around=normal_cdf_operator)]


def call_price(np_like: Any, cdf: Any, s: Any, k: Any, r: Any, sigma: Any, t: Any) -> Any:
    """The price of a call: spot, strike, rate, volatility and time to expiry."""
    spread = sigma * np_like.sqrt(t)
    d1 = (np_like.log(s / k) + (r + 0.5 * sigma * sigma) * t) / spread
    d2 = d1 - spread
    return s * cdf(d1) - k * np_like.exp(-r * t) * cdf(d2)


def _floor(inputs: tuple[np.ndarray, ...]) -> Step:
    s, k, r, sigma, t = inputs

    def step() -> Sequence[Any]:
        root = np.sqrt(t)
        spread = sigma * root
        d1 = (np.log(s / k) + (r + 0.5 * sigma * sigma) * t) / spread
        d2 = d1 - spread
        cdf1, cdf2 = normal_cdf(d1), normal_cdf(d2)
        discount = np.exp(-r * t)
        discounted = k * discount
        total = np.sum(s * cdf1 - discounted * cdf2)

        ds = cdf1
        dk = -discount * cdf2
        dr = discounted * t * cdf2
        vega = s * normal_pdf(d1) * root
        dt = r * discounted * cdf2 + vega * sigma / (2 * t)
        return total, ds, dk, dr, vega, dt

    return step


def recorder(inputs: tuple[np.ndarray, ...]) -> Recorder:
    """Our forward part: the sum of all prices on a tape."""
    from autograd import Tape
    from autograd import numpy as anp
    from autograd import operators as op

    cdf = op.operator_function(OPERATOR)

    def record() -> tuple[Any, Any, Any]:
        with Tape() as tape:
            watched = tape.watch(inputs)
            total = anp.sum(call_price(anp, cdf, *watched))
        return tape, total, watched

    return record


def _ours(inputs: tuple[np.ndarray, ...]) -> Step:
    record = recorder(inputs)

    def step() -> Sequence[Any]:
        tape, total, watched = record()
        value, gradients = tape.value_and_gradient(total, watched)
        return value, *gradients

    return step


def _torch(inputs: tuple[np.ndarray, ...]) -> Step:
    import torch

    torch.set_num_threads(1)
    leaves = [torch.tensor(each, requires_grad=True) for each in inputs]

    def step() -> Sequence[Any]:
        for each in leaves:
            each.grad = None
        total = call_price(torch, torch.special.ndtr, *leaves).sum()
        total.backward()
        return total.detach(), *(each.grad for each in leaves)

    return step


def _hips(inputs: tuple[np.ndarray, ...]) -> Step:
    from autograd import numpy as anp
    from autograd import value_and_grad

    cdf = import_module("autograd.scipy.stats").norm.cdf
    function = value_and_grad(lambda *args: anp.sum(call_price(anp, cdf, *args)), tuple(range(5)))

    def step() -> Sequence[Any]:
        value, gradients = function(*inputs)
        return value, *gradients

    return step
