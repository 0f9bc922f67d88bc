"""Optimisers that divide each gradient by the size that it has had: ``Adagrad``, ``Adadelta``, ``RMSProp``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from autograd.optim.leaves import Array
from autograd.optim.optimiser import Optimiser, Rate, check, check_rate, decayed


@dataclass(frozen=True, slots=True)
class Adagrad(Optimiser):
    """Adagrad (Duchi et al. 2011), as torch computes it.

    With gradient ``g`` and learning rate ``r``, at step ``t`` counted from 1::

        g = g + weight_decay * p
        square_sum = square_sum + g**2                          before the first step: initial_accumulator
        p = p - r / (1 + (t - 1) * rate_decay) * g / (sqrt(square_sum) + eps)

    >>> model = [np.array([1.0])]
    >>> optimiser = Adagrad(0.5)
    >>> optimiser.update(model, [np.array([7.0])], optimiser.init(model))[0]
    [array([0.5])]
    """

    learning_rate: Rate = 1e-2
    rate_decay: float = 0.0
    initial_accumulator: float = 0.0
    eps: float = 1e-10
    weight_decay: float = 0.0

    def __post_init__(self) -> None:
        check_rate("Adagrad", self.learning_rate)
        check("Adagrad", rate_decay=(self.rate_decay, 0, np.inf), initial_accumulator=(self.initial_accumulator, 0, np.inf))
        check("Adagrad", eps=(self.eps, 0, np.inf), weight_decay=(self.weight_decay, 0, np.inf))

    def _moments(self) -> tuple[str, ...]:
        return ("square_sum",)

    def _start(self, moment: str) -> float:
        return self.initial_accumulator

    def _reads_parameters(self) -> bool:
        return self.weight_decay != 0

    def _numbers(self, rate: float, step: int, state: dict[str, Any]) -> tuple[float, ...]:
        return rate / (1 + (step - 1) * self.rate_decay), self.eps, self.weight_decay

    def _change(self, p: Array, g: Array, a: Array, b: Array, d: Array, numbers: list[Array], *moments: Array) -> None:
        (square_sum,) = moments
        rate, eps, decay = numbers[:3]
        if self.weight_decay:
            g = decayed(p, g, b, decay)
        np.multiply(g, g, a)
        np.add(square_sum, a, square_sum)
        np.sqrt(square_sum, a)
        np.add(a, eps, a)
        np.divide(g, a, a)
        np.multiply(a, rate, a)


@dataclass(frozen=True, slots=True)
class Adadelta(Optimiser):
    """Adadelta (Zeiler 2012), as torch computes it.

    With gradient ``g`` and learning rate ``r``, at each step::

        g = g + weight_decay * p
        square = rho * square + (1 - rho) * g**2
        delta = sqrt(delta_square + eps) / sqrt(square + eps) * g
        delta_square = rho * delta_square + (1 - rho) * delta**2
        p = p - r * delta

    ``eps`` stands inside of the roots: it is what the first steps are made of.

    >>> model = [np.array([1.0])]
    >>> optimiser = Adadelta(rho=0.75, eps=0.0)
    >>> optimiser.update(model, [np.array([2.0])], optimiser.init(model))[0]
    [array([1.])]
    """

    learning_rate: Rate = 1.0
    rho: float = 0.9
    eps: float = 1e-6
    weight_decay: float = 0.0

    def __post_init__(self) -> None:
        check_rate("Adadelta", self.learning_rate)
        check("Adadelta", rho=(self.rho, 0, 1), eps=(self.eps, 0, np.inf), weight_decay=(self.weight_decay, 0, np.inf))

    def _moments(self) -> tuple[str, ...]:
        return ("square", "delta_square")

    def _reads_parameters(self) -> bool:
        return self.weight_decay != 0

    def _numbers(self, rate: float, step: int, state: dict[str, Any]) -> tuple[float, ...]:
        return rate, self.rho, 1.0 - self.rho, self.eps, self.weight_decay

    def _change(self, p: Array, g: Array, a: Array, b: Array, d: Array, numbers: list[Array], *moments: Array) -> None:
        square, delta_square = moments
        rate, rho, share, eps, decay = numbers[:5]
        if self.weight_decay:
            g = decayed(p, g, d, decay)
        np.multiply(square, rho, square)
        np.multiply(g, g, a)
        np.multiply(a, share, a)
        np.add(square, a, square)
        np.add(delta_square, eps, a)
        np.add(square, eps, b)
        np.divide(a, b, a)
        np.sqrt(a, a)
        np.multiply(a, g, a)
        np.multiply(delta_square, rho, delta_square)
        np.multiply(a, a, b)
        np.multiply(b, share, b)
        np.add(delta_square, b, delta_square)
        np.multiply(a, rate, a)


@dataclass(frozen=True, slots=True)
class RMSProp(Optimiser):
    """RMSProp (Hinton 2012; centred: Graves 2013), as torch computes it.

    With gradient ``g`` and learning rate ``r``, at each step::

        g = g + weight_decay * p
        square = alpha * square + (1 - alpha) * g**2
        mean = alpha * mean + (1 - alpha) * g                   centred alone, or else 0
        step = g / (sqrt(square - mean**2) + eps)
        buffer = momentum * buffer + step
        p = p - r * buffer                                      without momentum: p = p - r * step

    ``eps`` stands outside of the root. What rounding makes of ``square - mean**2`` may be below 0 in the centred form, where
    the gradient hardly changes; then it is taken for 0.

    >>> model = [np.array([1.0])]
    >>> optimiser = RMSProp(0.25, alpha=0.75, eps=0.0)
    >>> optimiser.update(model, [np.array([3.0])], optimiser.init(model))[0]
    [array([0.5])]
    """

    learning_rate: Rate = 1e-2
    alpha: float = 0.99
    eps: float = 1e-8
    momentum: float = 0.0
    centered: bool = False
    weight_decay: float = 0.0

    def __post_init__(self) -> None:
        check_rate("RMSProp", self.learning_rate)
        check("RMSProp", alpha=(self.alpha, 0, 1), eps=(self.eps, 0, np.inf), momentum=(self.momentum, 0, np.inf))
        check("RMSProp", weight_decay=(self.weight_decay, 0, np.inf))

    def _moments(self) -> tuple[str, ...]:
        return ("square", *(("mean",) if self.centered else ()), *(("buffer",) if self.momentum else ()))

    def _reads_parameters(self) -> bool:
        return self.weight_decay != 0

    def _numbers(self, rate: float, step: int, state: dict[str, Any]) -> tuple[float, ...]:
        return rate, self.alpha, 1.0 - self.alpha, self.eps, self.weight_decay, self.momentum

    def _change(self, p: Array, g: Array, a: Array, b: Array, d: Array, numbers: list[Array], *moments: Array) -> None:
        square, *others = moments
        rate, alpha, share, eps, decay, momentum = numbers[:6]
        if self.weight_decay:
            g = decayed(p, g, d, decay)
        np.multiply(square, alpha, square)
        np.multiply(g, g, a)
        np.multiply(a, share, a)
        np.add(square, a, square)
        if self.centered:
            mean = others[0]
            np.multiply(mean, alpha, mean)
            np.multiply(g, share, a)
            np.add(mean, a, mean)
            np.multiply(mean, mean, a)
            np.subtract(square, a, a)
            np.maximum(a, 0, out=a)
            np.sqrt(a, a)
        else:
            np.sqrt(square, a)
        np.add(a, eps, a)
        np.divide(g, a, a)
        if self.momentum:
            buffer = others[-1]
            np.multiply(buffer, momentum, buffer)
            np.add(buffer, a, buffer)
            np.multiply(buffer, rate, a)
        else:
            np.multiply(a, rate, a)
