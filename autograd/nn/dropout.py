"""``Dropout``: in training, some elements are zero, drawn from the generator that ``train`` is given."""

from __future__ import annotations

from typing import Any

import numpy as np

from autograd import operators as op
from autograd.nn.module import Module
from autograd.nn.shapes import fraction, needs_generator, shape_of


def dropped(x: Any, p: float, rng: Any, who: str) -> Any:
    """``x`` with each element zero with probability ``p``, and else divided by ``1 - p``.

    >>> dropped(np.ones(4), 0.0, None, "here")
    array([1., 1., 1., 1.])
    """
    if p == 0:
        return x
    needs_generator(who, rng)
    dtype = np.dtype(getattr(x, "dtype", float))
    dtype = dtype if dtype.kind in "fc" else np.dtype(float)
    kept = rng.random(shape_of(x)) >= p
    return op.multiply(x, kept.astype(dtype) / dtype.type(1 - p) if p < 1 else np.zeros(shape_of(x), dtype))


class Dropout(Module):
    """In training, each element is zero with probability ``p``, and else divided by ``1 - p``; in use, nothing changes.

    ``train(x, rng)`` draws from ``rng``, a ``numpy.random.Generator``: the same state gives the same zeros. Raises TypeError
    there without one, ValueError for a ``p`` that is not from 0 to 1. (Srivastava and others, 2014)

    >>> layer = Dropout(0.5)
    >>> sorted(set(layer.train(np.ones(100), np.random.default_rng(0))[0].tolist())), layer(np.ones(2))
    ([0.0, 2.0], array([1., 1.]))
    """

    def __init__(self, p: float = 0.5) -> None:
        fraction("Dropout", p=p)
        self.p = p

    def __call__(self, x: Any) -> Any:
        """The input itself."""
        return x

    def train(self, x: Any, rng: np.random.Generator | None = None) -> tuple[Any, Any]:
        """The input with zeros in it, and this layer."""
        return dropped(x, self.p, rng, "Dropout.train"), self
