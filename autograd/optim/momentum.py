"""Optimisers whose steps are of one length for all parameters: ``SGD``, and ``Lion``, which takes signs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from autograd.errors import OptimiserError
from autograd.optim.leaves import Array
from autograd.optim.optimiser import Optimiser, Rate, check, check_rate, decayed


@dataclass(frozen=True, slots=True)
class SGD(Optimiser):
    """Gradient descent, with momentum (Polyak 1964) or Nesterov's (Sutskever et al. 2013), as torch computes it.

    With gradient ``g`` and learning rate ``r``, at each step::

        g = g + weight_decay * p
        buffer = momentum * buffer + (1 - dampening) * g        at the first step: buffer = g
        p = p - r * buffer                                      nesterov: p = p - r * (g + momentum * buffer)

    The learning rate stands outside the buffer: after a change of the rate the whole buffer moves at the new one. Without
    momentum ``p = p - r * g``, and nothing is remembered.

    >>> model = [np.array([1.0])]
    >>> optimiser = SGD(0.1)
    >>> optimiser.update(model, [np.array([2.0])], optimiser.init(model))[0]
    [array([0.8])]
    """

    learning_rate: Rate = 1e-3
    momentum: float = 0.0
    nesterov: bool = False
    weight_decay: float = 0.0
    dampening: float = 0.0

    def __post_init__(self) -> None:
        check_rate("SGD", self.learning_rate)
        check("SGD", momentum=(self.momentum, 0, np.inf), weight_decay=(self.weight_decay, 0, np.inf))
        check("SGD", dampening=(self.dampening, -np.inf, np.inf))
        if self.nesterov and (not self.momentum or self.dampening):
            raise OptimiserError(
                f"SGD: nesterov=True with momentum={self.momentum} and dampening={self.dampening}, expected a momentum above 0"
                " and no dampening"
            )

    def _moments(self) -> tuple[str, ...]:
        return ("buffer",) if self.momentum else ()

    def _reads_parameters(self) -> bool:
        return self.weight_decay != 0

    def _numbers(self, rate: float, step: int, state: dict[str, Any]) -> tuple[float, ...]:
        return rate, self.momentum, 1.0 if step == 1 else 1.0 - self.dampening, self.weight_decay

    def _change(self, p: Array, g: Array, a: Array, b: Array, d: Array, numbers: list[Array], *moments: Array) -> None:
        rate, momentum, share, decay = numbers[:4]
        if self.weight_decay:
            g = decayed(p, g, b, decay)
        if not self.momentum:
            np.multiply(g, rate, a)
            return
        (buffer,) = moments
        np.multiply(buffer, momentum, buffer)
        if self.dampening:
            np.multiply(g, share, a)
            np.add(buffer, a, buffer)
        else:
            np.add(buffer, g, buffer)
        if self.nesterov:
            np.multiply(buffer, momentum, a)
            np.add(a, g, a)
            np.multiply(a, rate, a)
        else:
            np.multiply(buffer, rate, a)


@dataclass(frozen=True, slots=True)
class Lion(Optimiser):
    """Lion (Chen et al. 2023): each number moves by the learning rate, in the direction of a sign.

    With gradient ``g``, learning rate ``r`` and ``betas = (b1, b2)``, at each step::

        p = p - r * (sign(b1 * mean + (1 - b1) * g) + weight_decay * p)
        mean = b2 * mean + (1 - b2) * g

    The sign of 0 is 0. Of a complex number both parts move so. Rates want to be a tenth of Adam's.

    >>> model = [np.array([1.0, 1.0])]
    >>> optimiser = Lion(0.25)
    >>> optimiser.update(model, [np.array([3.0, -0.001])], optimiser.init(model))[0]
    [array([0.75, 1.25])]
    """

    learning_rate: Rate = 1e-4
    betas: tuple[float, float] = (0.9, 0.99)
    weight_decay: float = 0.0

    def __post_init__(self) -> None:
        check_rate("Lion", self.learning_rate)
        check("Lion", beta1=(self.betas[0], 0, 1), beta2=(self.betas[1], 0, 1), weight_decay=(self.weight_decay, 0, np.inf))

    def _moments(self) -> tuple[str, ...]:
        return ("mean",)

    def _reads_parameters(self) -> bool:
        return self.weight_decay != 0

    def _numbers(self, rate: float, step: int, state: dict[str, Any]) -> tuple[float, ...]:
        beta1, beta2 = self.betas
        return rate, beta1, 1.0 - beta1, beta2, 1.0 - beta2, rate * self.weight_decay

    def _change(self, p: Array, g: Array, a: Array, b: Array, d: Array, numbers: list[Array], *moments: Array) -> None:
        (mean,) = moments
        rate, beta1, share1, beta2, share2, decay = numbers[:6]
        np.multiply(mean, beta1, a)
        np.multiply(g, share1, b)
        np.add(a, b, a)
        np.sign(a, a)
        np.multiply(a, rate, a)
        np.multiply(mean, beta2, mean)
        np.multiply(g, share2, b)
        np.add(mean, b, mean)
        if self.weight_decay:
            np.multiply(p, decay, b)
            np.add(a, b, a)
