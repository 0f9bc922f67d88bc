"""``Embedding``: a vector for each of a number of things."""

from __future__ import annotations

from typing import Any

import numpy as np

from autograd import operators as op
from autograd.nn.initialisers import Initialiser, normal
from autograd.nn.module import Module
from autograd.nn.shapes import positive
from autograd.tensor import Tensor


class Embedding(Module):
    """Row ``i`` of the weight for each number ``i``: integers of any shape to ``(..., n_features)``.

    weight   ``(n_rows, n_features)``, drawn by ``initialiser``: standard normal

    Raises TypeError for what is no integer, IndexError for numbers that are not from 0 to ``n_rows - 1``.

    >>> Embedding(10, 3)(np.array([[1, 2, 1]])).shape
    (1, 3, 3)
    """

    def __init__(
        self,
        n_rows: int,
        n_features: int,
        *,
        initialiser: Initialiser = normal,
        seed: int | np.random.Generator = 0,
        dtype: Any = np.float64,
    ) -> None:
        positive("Embedding", n_rows=n_rows, n_features=n_features)
        self.weight: Any = initialiser((n_rows, n_features), np.random.default_rng(seed), dtype)

    def __call__(self, indices: Any) -> Any:
        """The rows of the weight at these numbers."""
        numbers = None if isinstance(indices, Tensor) else np.asarray(indices)
        if numbers is None or (numbers.dtype.kind not in "iu" and numbers.size):
            kind = "a tensor" if numbers is None else f"dtype {numbers.dtype}"
            raise TypeError(f"Embedding: got indices of {kind}, expected integers; convert them with astype(int)")
        n_rows = self.weight.shape[0]
        if numbers.size and not 0 <= numbers.min() <= numbers.max() < n_rows:
            wrong = numbers.min() if numbers.min() < 0 else numbers.max()
            raise IndexError(f"Embedding: indices hold {wrong}, expected 0 to {n_rows - 1}; make the layer with more rows")
        return op.take(self.weight, numbers.astype(np.intp, copy=False), axis=0)
