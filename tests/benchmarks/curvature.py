"""W7: a Jacobian, a Hessian and a Hessian-vector product, beside their closed forms."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from .workload import HIPS, Side, Step, Workload


def workloads(*, quick: bool) -> list[Workload]:
    """W7a, W7b and W7c."""
    width, n_hessian, n_product = (5, 6, 8) if quick else (64, 50, 1000)
    perceptron = _perceptron(width)
    rng = np.random.default_rng(7)
    x = rng.normal(size=n_hessian)
    point, vector = rng.normal(size=n_product), rng.normal(size=n_product)
    return [
        Workload("W7a", f"Jacobian R{width} -> R{width} of a tanh MLP, f64", 6.0, _jacobian_sides(*perceptron)),
        Workload("W7b", f"Hessian of Rosenbrock, n = {n_hessian}", 60.0, _hessian_sides(x)),
        Workload("W7c", f"Hessian-vector product of the same, n = {n_product}", 12.0, _product_sides(point, vector)),
    ]


def rosenbrock(np_like: Any, x: Any) -> Any:
    """The sum of ``100 (x[i+1] - x[i]^2)^2 + (1 - x[i])^2``, on the arrays of the given module."""
    return np_like.sum(100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2)


# -------------------------------------------------------------------------------------------------- Jacobian


def _perceptron(width: int) -> tuple[np.ndarray, ...]:
    rng = np.random.default_rng(8)
    weights = [rng.normal(size=(width, width)) / np.sqrt(width) for _ in range(2)]
    return rng.normal(size=width), weights[0], rng.normal(size=width), weights[1], rng.normal(size=width)


def _jacobian_sides(x: np.ndarray, w1: np.ndarray, b1: np.ndarray, w2: np.ndarray, b2: np.ndarray) -> dict[str, Side]:
    def perceptron(np_like: Any, x: Any) -> Any:
        return w2 @ np_like.tanh(w1 @ x + b1) + b2

    def floor() -> Step:
        def step() -> Sequence[Any]:
            h = np.tanh(w1 @ x + b1)
            return [(w2 * (1 - h * h)) @ w1]

        return step

    def ours() -> Step:
        from autograd import jacobian
        from autograd import numpy as anp

        return lambda: [jacobian(partial(perceptron, anp))(x)]

    def torch_side() -> Step:
        import torch

        torch.set_num_threads(1)
        at, v1, c1, v2, c2 = (torch.tensor(each) for each in (x, w1, b1, w2, b2))
        return lambda: [torch.func.jacrev(lambda z: v2 @ torch.tanh(v1 @ z + c1) + c2)(at)]

    return {"floor": floor, "ours": ours, "torch": torch_side, HIPS: ours}


# -------------------------------------------------------------------------------------------------- Hessian


def _hessian_sides(x: np.ndarray) -> dict[str, Side]:
    def floor() -> Step:
        def step() -> Sequence[Any]:
            i = np.arange(len(x) - 1)
            hessian = np.zeros((len(x), len(x)))
            hessian[i, i] = 1200 * x[:-1] ** 2 - 400 * x[1:] + 2
            hessian[i + 1, i + 1] += 200
            hessian[i, i + 1] = hessian[i + 1, i] = -400 * x[:-1]
            return [hessian]

        return step

    def ours() -> Step:
        from autograd import hessian
        from autograd import numpy as anp

        return lambda: [hessian(partial(rosenbrock, anp))(x)]

    def torch_side() -> Step:
        import torch

        torch.set_num_threads(1)
        at = torch.tensor(x)
        return lambda: [torch.autograd.functional.hessian(partial(rosenbrock, torch), at, vectorize=True)]

    return {"floor": floor, "ours": ours, "torch": torch_side, HIPS: ours}


def _product_sides(x: np.ndarray, v: np.ndarray) -> dict[str, Side]:
    def floor() -> Step:
        def step() -> Sequence[Any]:
            off_diagonal = -400 * x[:-1]
            product = np.zeros_like(x)
            product[:-1] = (1200 * x[:-1] ** 2 - 400 * x[1:] + 2) * v[:-1] + off_diagonal * v[1:]
            product[1:] += 200 * v[1:] + off_diagonal * v[:-1]
            return [product]

        return step

    def ours() -> Step:
        from autograd import hessian_vector_product
        from autograd import numpy as anp

        return lambda: [hessian_vector_product(partial(rosenbrock, anp))(x, v)]

    def torch_side() -> Step:
        import torch

        torch.set_num_threads(1)
        at, along = torch.tensor(x), torch.tensor(v)
        return lambda: [torch.autograd.functional.vhp(partial(rosenbrock, torch), at, along)[1]]

    return {"floor": floor, "ours": ours, "torch": torch_side, HIPS: ours}
