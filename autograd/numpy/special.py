"""Functions that NumPy does not have, in its style."""

from __future__ import annotations

from autograd import operators as op

__all__ = ["relu", "sigmoid", "softplus"]
METHODS: tuple[str, ...] = ()

sigmoid = op.sigmoid
relu = op.relu
softplus = op.softplus
