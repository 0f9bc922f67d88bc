"""Models of layers in a row: ``Sequential``, ``Residual``, and ``flatten`` between images and rows."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from autograd import operators as op
from autograd.nn.module import Module, replace
from autograd.nn.shapes import shape_of, wrong_shape


class Sequential(Module):
    """Each layer on the output of the one before. Among the layers may be plain functions of one array.

    ``model.layers[0]`` is the first one; its parameters are named ``layers.0.weight`` and so on.

    >>> from autograd.nn import Linear, tanh
    >>> rng = np.random.default_rng(0)
    >>> model = Sequential(Linear(2, 8, seed=rng), tanh, Linear(8, 1, seed=rng))
    >>> model(np.ones((5, 2))).shape
    (5, 1)
    >>> model
    Sequential(
      layers.0=Linear(weight=float64[2, 8], bias=float64[8])
      layers.1=tanh
      layers.2=Linear(weight=float64[8, 1], bias=float64[1])
    )
    """

    def __init__(self, *layers: Callable[[Any], Any]) -> None:
        _check_layers("Sequential", layers)
        self.layers = layers

    def __call__(self, x: Any) -> Any:
        """The output of the last layer."""
        for layer in self.layers:
            x = layer(x)
        return x

    def train(self, x: Any, rng: np.random.Generator | None = None) -> tuple[Any, Any]:
        """The output, and the model with the new state of each layer; all draw from ``rng``, in order."""
        after = []
        for layer in self.layers:
            new = layer
            if isinstance(layer, Module):
                x, new = layer.train(x, rng)
            else:
                x = layer(x)
            after.append(new)
        if all(new is old for new, old in zip(after, self.layers, strict=True)):
            return x, self
        return x, replace(self, layers=tuple(after))


class Residual(Module):
    """``x + layer(x)``, or ``shortcut(x) + layer(x)`` where the layer changes the shape.

    Raises ValueError where the two have different shapes: no broadcasting.

    >>> Residual(lambda x: 2 * x)(np.array([1.0]))
    array([3.])
    """

    def __init__(self, layer: Callable[[Any], Any], shortcut: Callable[[Any], Any] | None = None) -> None:
        _check_layers("Residual", (layer,) if shortcut is None else (layer, shortcut))
        self.layer = layer
        self.shortcut = shortcut

    def __call__(self, x: Any) -> Any:
        """The sum of both."""
        return self._sum(x if self.shortcut is None else self.shortcut(x), self.layer(x))

    def train(self, x: Any, rng: np.random.Generator | None = None) -> tuple[Any, Any]:
        """The sum, and the module with the new state of both parts; the layer draws from ``rng`` first."""
        y, layer = self.layer.train(x, rng) if isinstance(self.layer, Module) else (self.layer(x), self.layer)
        short, shortcut = x, self.shortcut
        if isinstance(shortcut, Module):
            short, shortcut = shortcut.train(x, rng)
        elif shortcut is not None:
            short = shortcut(x)
        same = layer is self.layer and shortcut is self.shortcut
        return self._sum(short, y), self if same else replace(self, layer=layer, shortcut=shortcut)

    def _sum(self, short: Any, y: Any) -> Any:
        if shape_of(short) != shape_of(y):
            advice = "give a shortcut of the same kind, such as Conv2d with a window of 1 and the layer's stride, or Linear"
            raise wrong_shape("Residual", "what the layer gives", shape_of(y), f"{shape_of(short)}, that of the shortcut", advice)
        return op.add(short, y)


def flatten(x: Any) -> Any:
    """All axes but the first as one: images ``(N, C, H, W)`` as rows ``(N, C * H * W)``. A layer of ``Sequential``.

    Raises ValueError for an input without axes.

    >>> flatten(np.zeros((2, 3, 4, 5))).shape
    (2, 60)
    """
    shape = shape_of(x)
    if not shape:
        raise wrong_shape("flatten", "x", shape, "(N, ...)", "give a batch")
    return op.reshape(x, shape=(shape[0], math.prod(shape[1:])))


def _check_layers(who: str, layers: tuple[Any, ...]) -> None:
    for number, each in enumerate(layers):
        if not callable(each) or isinstance(each, type):
            kind = f"the class {each.__name__}" if isinstance(each, type) else f"{type(each).__name__} {each!r}"
            advice = "make one of it, as in Linear(2, 3)" if isinstance(each, type) else "write the layers one by one"
            raise TypeError(f"{who}: layer {number} is {kind}, expected a Module or a function of one array; {advice}")
