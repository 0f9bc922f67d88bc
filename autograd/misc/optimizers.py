"""Three ways to follow a gradient downhill, for parameters in any nested container of arrays.

They call ``grad(x, i)`` with the number of the step, and ``callback(x, i, gradient)`` before they move. They are written in
operators, so that what they return can be differentiated too. Training of models has ``autograd.optim`` and ``autograd.train``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from autograd import numpy as np
from autograd.misc.flatten import flatten
from autograd.wrap_util import wraps

__all__ = ["adam", "rmsprop", "sgd", "unflatten_optimizer"]

Gradient = Callable[[Any, int], Any]
Callback = Callable[[Any, int, Any], Any]


def unflatten_optimizer(optimize: Callable[..., Any]) -> Callable[..., Any]:
    """From an optimizer of vectors make one of nested containers."""

    @wraps(optimize)
    def of_containers(grad: Gradient, x0: Any, callback: Callback | None = None, *args: Any, **kwargs: Any) -> Any:
        x, unflatten = flatten(x0)

        def gradient_vector(vector: Any, i: int) -> Any:
            return flatten(grad(unflatten(vector), i))[0]

        def call_back(vector: Any, i: int, g: Any) -> None:
            if callback:
                callback(unflatten(vector), i, unflatten(g))

        return unflatten(optimize(gradient_vector, x, call_back, *args, **kwargs))

    return of_containers  # type: ignore[no-any-return]  # a decorator gives it a name, and nothing else


@unflatten_optimizer
def sgd(
    grad: Gradient, x: Any, callback: Callback | None = None, num_iters: int = 200, step_size: float = 0.1, mass: float = 0.9
) -> Any:
    """Gradient descent with momentum: the velocity is a running mean of gradients, ``mass`` of it kept at each step.

    >>> sgd(lambda x, i: 2.0 * x, 1.0, num_iters=1, step_size=0.5, mass=0.0)
    array(0.)
    """
    velocity = np.zeros_like(x)
    for i in range(num_iters):
        g = grad(x, i)
        if callback:
            callback(x, i, g)
        velocity = mass * velocity - (1.0 - mass) * g
        x = x + step_size * velocity
    return x


@unflatten_optimizer
def rmsprop(
    grad: Gradient,
    x: Any,
    callback: Callback | None = None,
    num_iters: int = 100,
    step_size: float = 0.1,
    gamma: float = 0.9,
    eps: float = 1e-8,
) -> Any:
    """Steps divided by the root of a running mean of squared gradients, which begins at 1.

    Tieleman and Hinton, "Lecture 6.5 - RMSProp", Coursera, 2012.

    >>> rmsprop(lambda x, i: 2.0 * x, 1.0, num_iters=1, step_size=1.0, gamma=0.0, eps=0.0)
    array(0.)
    """
    mean_square = np.ones_like(x)
    for i in range(num_iters):
        g = grad(x, i)
        if callback:
            callback(x, i, g)
        mean_square = gamma * mean_square + (1.0 - gamma) * g**2
        x = x - step_size * g / (np.sqrt(mean_square) + eps)
    return x


@unflatten_optimizer
def adam(
    grad: Gradient,
    x: Any,
    callback: Callback | None = None,
    num_iters: int = 100,
    step_size: float = 0.001,
    b1: float = 0.9,
    b2: float = 0.999,
    eps: float = 1e-8,
) -> Any:
    """Running means of gradients and of their squares, each freed from the bias of its zero beginning.

    Kingma and Ba, "Adam: a method for stochastic optimization", ICLR 2015.

    >>> adam(lambda x, i: 2.0 * x, 1.0, num_iters=1, step_size=1.0, eps=0.0)
    array(0.)
    """
    mean, mean_square = np.zeros_like(x), np.zeros_like(x)
    for i in range(num_iters):
        g = grad(x, i)
        if callback:
            callback(x, i, g)
        mean = b1 * mean + (1.0 - b1) * g
        mean_square = b2 * mean_square + (1.0 - b2) * g**2
        unbiased = mean / (1.0 - b1 ** (i + 1))
        x = x - step_size * unbiased / (np.sqrt(mean_square / (1.0 - b2 ** (i + 1))) + eps)
    return x
