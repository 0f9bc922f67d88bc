"""Ordinary differential equations."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from scipy import integrate

from registry.declare import operator


def _odeint(inputs: list[Any], function: Callable[..., Any], options: Mapping[str, Any]) -> Any:
    """``scipy.integrate.odeint``; the inputs are the initial state, the times, and parameters of ``function``."""
    y0, t, *parameters = inputs
    return integrate.odeint(lambda y, t: function(y, t, *parameters), np.asarray(y0, float), np.asarray(t, float), **options)


# Several tensors in one list, because their number depends on the equation. The state is a vector.
operator("scipy_odeint(Tensor[] inputs, *, Callable function, Any options) -> Tensor", _odeint)
