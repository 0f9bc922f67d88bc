"""``Linear``: a matrix and a bias."""

from __future__ import annotations

from typing import Any, NoReturn

import numpy as np

from autograd import operators as op
from autograd.nn.initialisers import Initialiser, glorot_uniform
from autograd.nn.module import Module
from autograd.nn.shapes import positive, shape_of, wrong_shape


class Linear(Module):
    """``x @ weight + bias`` over the last axis: ``(..., n_in)`` to ``(..., n_out)``.

    weight   ``(n_in, n_out)``, drawn by ``initialiser``: the transpose of PyTorch's
    bias     ``(n_out,)``, zeros; None without it
    seed     a whole number, or a ``numpy.random.Generator`` to go on drawing from: layers made with one number start out equal

    Raises ValueError for an input whose last axis is not ``n_in`` long.

    >>> rng = np.random.default_rng(0)
    >>> Linear(2, 3, seed=rng)(np.ones((5, 2))).shape
    (5, 3)
    """

    def __init__(
        self,
        n_in: int,
        n_out: int,
        *,
        bias: bool = True,
        initialiser: Initialiser = glorot_uniform,
        seed: int | np.random.Generator = 0,
        dtype: Any = np.float64,
    ) -> None:
        positive("Linear", n_in=n_in, n_out=n_out)
        self.weight: Any = initialiser((n_in, n_out), np.random.default_rng(seed), dtype)
        self.bias: Any = np.zeros(n_out, dtype) if bias else None

    def __call__(self, x: Any) -> Any:
        """``x @ weight + bias``."""
        bias = self.bias
        try:
            y = op.matmul(x, self.weight)
        except (TypeError, ValueError):
            self._explain(x)
        return y if bias is None else op.add(y, bias)

    def _explain(self, x: Any) -> NoReturn:
        """Say what is wrong with the shape of ``x``, or raise again what was raised."""
        shape, n_in = shape_of(x), shape_of(self.weight)[0]
        if shape and shape[-1] == n_in:
            raise
        images = "" if len(shape) < 3 else ", or put autograd.nn.flatten in front of it, which makes rows of images"
        advice = f"make the layer with n_in={shape[-1]}{images}" if shape else "give an array of rows"
        raise wrong_shape("Linear", "x", shape, f"(..., {n_in})", advice) from None
