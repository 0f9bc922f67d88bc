"""Bessel functions of the first and second kind, plain and modified, with and without exponential scaling."""

from typing import Any

import numpy as np
from scipy import special

from registry.declare import operator

for _name in ("j0", "j1", "y0", "y1", "i0", "i1", "i0e", "i1e", "k0", "k1", "k0e", "k1e"):
    operator(f"{_name}(Tensor x) -> Tensor", getattr(special, _name))

for _name in ("jv", "yv", "iv", "ive", "kv", "kve"):
    operator(f"{_name}(Tensor v, Tensor z) -> Tensor", getattr(special, _name))


def _yn(n: Any, x: Any) -> Any:
    if np.any(np.trunc(n) != n):
        raise ValueError(f"yn: got the order {n}, expected whole numbers; use yv")
    return special.yn(n, x)


operator("yn(Tensor n, Tensor x) -> Tensor", _yn)
