"""Comparison."""

import numpy as np

from registry.declare import operator

for name in ("less", "less_equal", "greater", "greater_equal", "equal", "not_equal"):
    operator(f"{name}(Tensor x1, Tensor x2) -> Tensor", getattr(np, name), constant=True)
operator("where(Tensor condition, Tensor x, Tensor y) -> Tensor", np.where)
