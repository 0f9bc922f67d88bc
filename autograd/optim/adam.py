"""Adam and its relatives: a mean of the gradients over a mean of their squares, or of their sizes."""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt
from typing import Any

import numpy as np

from autograd.optim.leaves import Array
from autograd.optim.optimiser import Optimiser, Rate, check, check_rate, decayed


@dataclass(frozen=True, slots=True)
class _OfBetas(Optimiser):
    """Settings and state of the whole family."""

    learning_rate: Rate = 1e-3
    betas: tuple[float, float] = (0.9, 0.999)
    eps: float = 1e-8
    weight_decay: float = 0.0

    def __post_init__(self) -> None:
        who = type(self).__name__
        check_rate(who, self.learning_rate)
        check(who, beta1=(self.betas[0], 0, 1), beta2=(self.betas[1], 0, 1))
        check(who, eps=(self.eps, 0, np.inf), weight_decay=(self.weight_decay, 0, np.inf))

    def _moments(self) -> tuple[str, ...]:
        return ("sum", "square_sum")

    def _reads_parameters(self) -> bool:
        return self.weight_decay != 0


@dataclass(frozen=True, slots=True)
class Adam(_OfBetas):
    """Adam (Kingma and Ba 2015), as torch computes it.

    With gradient ``g``, learning rate ``r`` and ``betas = (b1, b2)``, at step ``t`` counted from 1::

        g = g + weight_decay * p
        mean = b1 * mean + (1 - b1) * g
        square = b2 * square + (1 - b2) * g**2
        p = p - r * mean / (1 - b1**t) / (sqrt(square / (1 - b2**t)) + eps)

    ``eps`` stands outside of the root, and is added after the correction of the bias. The weight decay is that of a penalty, and
    is divided by the root as the gradient is; ``AdamW`` decouples it. The state holds ``sum = mean / (1 - b1)`` and
    ``square_sum = square / (1 - b2)``, which take fewer operations.

    >>> model = [np.array([1.0])]
    >>> optimiser = Adam(0.25, eps=0.0)
    >>> optimiser.update(model, [np.array([-8.0])], optimiser.init(model))[0]
    [array([1.25])]
    """

    def _numbers(self, rate: float, step: int, state: dict[str, Any]) -> tuple[float, ...]:
        beta1, beta2 = self.betas
        root = sqrt((1.0 - beta2) / (1.0 - beta2**step))
        return beta1, beta2, self.eps / root, rate * (1.0 - beta1) / (1.0 - beta1**step) / root, self.weight_decay

    def _change(self, p: Array, g: Array, a: Array, b: Array, d: Array, numbers: list[Array], *moments: Array) -> None:
        if self.weight_decay:
            g = decayed(p, g, b, numbers[4])
        _mean_over_root(g, a, numbers, *moments)


@dataclass(frozen=True, slots=True)
class AdamW(_OfBetas):
    """Adam with decoupled weight decay (Loshchilov and Hutter 2019), as torch computes it.

    As ``Adam`` without a penalty, after ``p = p - r * weight_decay * p``: the decay is not divided by the root, and is scaled by
    the learning rate ``r``.

    >>> model = [np.array([1.0])]
    >>> optimiser = AdamW(0.25, eps=0.0, weight_decay=0.5)
    >>> optimiser.update(model, [np.array([-8.0])], optimiser.init(model))[0]
    [array([1.125])]
    """

    weight_decay: float = 1e-2

    def _numbers(self, rate: float, step: int, state: dict[str, Any]) -> tuple[float, ...]:
        beta1, beta2 = self.betas
        root = sqrt((1.0 - beta2) / (1.0 - beta2**step))
        return beta1, beta2, self.eps / root, rate * (1.0 - beta1) / (1.0 - beta1**step) / root, rate * self.weight_decay

    def _change(self, p: Array, g: Array, a: Array, b: Array, d: Array, numbers: list[Array], *moments: Array) -> None:
        _mean_over_root(g, a, numbers, *moments)
        if self.weight_decay:
            np.multiply(p, numbers[4], b)
            np.add(a, b, a)


def _mean_over_root(g: Array, a: Array, numbers: list[Array], total: Array, square_total: Array) -> None:
    """Add a gradient to both sums, and leave in ``a`` the step that they make."""
    beta1, beta2, eps, rate = numbers[:4]
    np.multiply(total, beta1, total)
    np.add(total, g, total)
    np.multiply(g, g, a)
    np.multiply(square_total, beta2, square_total)
    np.add(square_total, a, square_total)
    np.sqrt(square_total, a)
    np.add(a, eps, a)
    np.divide(total, a, a)
    np.multiply(a, rate, a)


@dataclass(frozen=True, slots=True)
class Adamax(_OfBetas):
    """Adamax (Kingma and Ba 2015, section 7.1), as torch computes it.

    With gradient ``g``, learning rate ``r`` and ``betas = (b1, b2)``, at step ``t`` counted from 1::

        g = g + weight_decay * p
        mean = b1 * mean + (1 - b1) * g
        largest = max(b2 * largest, |g| + eps)
        p = p - r / (1 - b1**t) * mean / largest

    The state holds ``sum = mean / (1 - b1)``.

    >>> model = [np.array([1.0])]
    >>> optimiser = Adamax(0.25, eps=0.0)
    >>> optimiser.update(model, [np.array([-8.0])], optimiser.init(model))[0]
    [array([1.25])]
    """

    learning_rate: Rate = 2e-3

    def _moments(self) -> tuple[str, ...]:
        return ("sum", "largest")

    def _numbers(self, rate: float, step: int, state: dict[str, Any]) -> tuple[float, ...]:
        beta1, beta2 = self.betas
        return beta1, beta2, self.eps, rate * (1.0 - beta1) / (1.0 - beta1**step), self.weight_decay

    def _change(self, p: Array, g: Array, a: Array, b: Array, d: Array, numbers: list[Array], *moments: Array) -> None:
        total, largest = moments
        beta1, beta2, eps, rate, decay = numbers[:5]
        if self.weight_decay:
            g = decayed(p, g, b, decay)
        np.multiply(total, beta1, total)
        np.add(total, g, total)
        np.absolute(g, a)
        np.add(a, eps, a)
        np.multiply(largest, beta2, largest)
        np.maximum(largest, a, out=largest)
        np.divide(total, largest, a)
        np.multiply(a, rate, a)


@dataclass(frozen=True, slots=True)
class NAdam(_OfBetas):
    """Adam with Nesterov's momentum (Dozat 2016), as torch computes it.

    With gradient ``g``, learning rate ``r``, ``betas = (b1, b2)`` and ``m(t) = b1 * (1 - 0.96**(t * momentum_decay) / 2)``, at
    step ``t`` counted from 1::

        g = g + weight_decay * p
        mean = b1 * mean + (1 - b1) * g
        square = b2 * square + (1 - b2) * g**2
        product = product * m(t)                                before the first step: 1
        ahead = (1 - m(t)) / (1 - product) * g + m(t + 1) / (1 - product * m(t + 1)) * mean
        p = p - r * ahead / (sqrt(square / (1 - b2**t)) + eps)

    The state holds ``sum = mean / (1 - b1)``, ``square_sum = square / (1 - b2)`` and ``product``.

    >>> model = [np.array([1.0])]
    >>> optimiser = NAdam(0.25, betas=(0.0, 0.5), eps=0.0)
    >>> optimiser.update(model, [np.array([-8.0])], optimiser.init(model))[0]
    [array([1.25])]
    """

    learning_rate: Rate = 2e-3
    momentum_decay: float = 4e-3

    def _extra(self) -> dict[str, float]:
        return {"product": 1.0}

    def _numbers(self, rate: float, step: int, state: dict[str, Any]) -> tuple[float, ...]:
        beta1, beta2 = self.betas
        now = beta1 * (1.0 - 0.5 * 0.96 ** (step * self.momentum_decay))
        then = beta1 * (1.0 - 0.5 * 0.96 ** ((step + 1) * self.momentum_decay))
        product = state["product"] = state["product"] * now
        root = sqrt((1.0 - beta2) / (1.0 - beta2**step))
        of_gradient = rate * (1.0 - now) / (1.0 - product) / root
        of_sum = rate * (1.0 - beta1) * then / (1.0 - product * then) / root
        return beta1, beta2, self.eps / root, of_gradient, of_sum, self.weight_decay

    def _change(self, p: Array, g: Array, a: Array, b: Array, d: Array, numbers: list[Array], *moments: Array) -> None:
        total, square_total = moments
        beta1, beta2, eps, of_gradient, of_sum, decay = numbers[:6]
        if self.weight_decay:
            g = decayed(p, g, d, decay)
        np.multiply(total, beta1, total)
        np.add(total, g, total)
        np.multiply(g, g, a)
        np.multiply(square_total, beta2, square_total)
        np.add(square_total, a, square_total)
        np.sqrt(square_total, b)
        np.add(b, eps, b)
        np.multiply(total, of_sum, a)
        np.multiply(g, of_gradient, d)
        np.add(a, d, a)
        np.divide(a, b, a)
