"""Assignment: the functional form of ``a[index] = v``."""

from __future__ import annotations

from typing import Any

import numpy as np

from registry.declare import operator


def _setitem(v: Any, a: Any, index: Any) -> Any:
    y = np.array(a)
    check_value(v, y.dtype)
    y[index] = v
    return y if y.ndim else y[()]


def check_value(v: Any, dtype: Any) -> None:
    """Raise TypeError unless numbers of ``v`` may stand in an array of that dtype without a loss of kind."""
    given = v if isinstance(v, int | float | complex) else np.asarray(v)
    if not np.can_cast(np.result_type(given), dtype, "same_kind") and np.result_type(given, dtype) != dtype:
        raise TypeError(
            f"a value of dtype {np.result_type(given)} is assigned into an array of dtype {dtype}, which would drop a part of it:"
            " make the array with the wider dtype first"
        )


# The values come first, so that a walk takes their gradient before it clears their places in the cotangent of the array.
operator("setitem(Tensor v, Tensor a, *, Index index) -> Tensor", _setitem)
