"""Comparison, logic, and the choice between two values."""

from typing import Any

import numpy as np

from registry.declare import operator

_BITS: dict[Any, Any] = {np.dtype(np.float64): np.dtype(np.int64), np.dtype(np.float32): np.dtype(np.int32)}


def _where(condition: Any, x: Any, y: Any) -> Any:
    chosen = np.where(condition, x, y)
    return chosen if chosen.ndim else chosen[()]


def _where_or_zero(condition: Any, x: Any) -> Any:
    """``np.where(condition, x, 0.0)``, for float arrays as the product of their bits with 0 or 1.

    That is several times as fast as choosing and, unlike ``x * condition``, gives 0 for inf and NaN.
    """
    if type(x) is np.ndarray and type(condition) is np.ndarray and condition.dtype == np.bool_:
        bits = _BITS.get(x.dtype)
        if bits is not None:
            return (x.view(bits) * condition).view(x.dtype)
    return _where(condition, x, 0.0)


operator("where(Tensor condition, Tensor x, Tensor y) -> Tensor", _where)
operator("where_or_zero(Tensor condition, Tensor x) -> Tensor", _where_or_zero)

for _name in ("equal", "not_equal", "less", "less_equal", "greater", "greater_equal"):
    operator(f"{_name}(Tensor x1, Tensor x2) -> Tensor", getattr(np, _name), constant=True)
for _name in ("logical_and", "logical_or", "logical_xor"):
    operator(f"{_name}(Tensor x1, Tensor x2) -> Tensor", getattr(np, _name), constant=True)
for _name in ("logical_not", "isnan", "isinf", "isfinite", "signbit"):
    operator(f"{_name}(Tensor x) -> Tensor", getattr(np, _name), constant=True)
