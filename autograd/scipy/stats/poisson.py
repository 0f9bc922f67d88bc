"""The Poisson distribution: ``logpmf(k, mu, loc=0)`` and its relatives, differentiable in ``mu``.

The count ``k`` and the shift ``loc`` are whole numbers and have no derivative: a tensor there raises NotTrackedError.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.stats

from autograd import operators as op
from autograd.gradients.scipy.incomplete import gamma_density
from autograd.scipy.fallback import holds_tensors
from autograd.scipy.stats.families import constant, double, instead, others, plain

__all__ = ["cdf", "logcdf", "logpmf", "logsf", "pmf", "sf"]


def _function(method: str, formula: Callable[..., Any], below: float, *, whole: bool = False) -> Callable[..., Any]:
    """A public function by its formula of ``(count, mu)``; ``below`` is its value for less than 0, or a fraction if ``whole``."""
    full = f"scipy.stats.poisson.{method}"
    theirs = getattr(scipy.stats.poisson, method)

    def call(k: Any, mu: Any, loc: Any = 0) -> Any:
        if not holds_tensors(k, mu, loc):
            return theirs(k, mu, loc)
        count = constant(full, "the count k", k) - constant(full, "the shift loc", loc)
        mu = double(full, mu)
        valid = plain(mu) >= 0
        inside = (count >= 0) & ((np.floor(count) == count) | (not whole))
        result = formula(np.where(inside, np.floor(count), 0.0), instead(valid, mu, 1.0))
        outside = np.where(valid & ~np.isnan(count), below, np.nan)
        return instead(inside & valid, result, outside)

    call.__name__ = call.__qualname__ = method
    call.__doc__ = f"``{full}``, differentiable in mu."
    return call


def _log_mass(k: Any, mu: Any) -> Any:
    return op.subtract(op.xlogy(k, mu), op.add(op.gammaln(k + 1.0), mu))


def _cumulative(k: Any, mu: Any) -> Any:
    return op.gammaincc(k + 1.0, mu)


def _survival(k: Any, mu: Any) -> Any:
    return op.gammainc(k + 1.0, mu)


pmf = _function("pmf", lambda k, mu: gamma_density(k + 1.0, mu), 0.0, whole=True)
logpmf = _function("logpmf", _log_mass, -np.inf, whole=True)
cdf = _function("cdf", _cumulative, 0.0)
logcdf = _function("logcdf", lambda k, mu: op.log(_cumulative(k, mu)), -np.inf)
sf = _function("sf", _survival, 1.0)
logsf = _function("logsf", lambda k, mu: op.log(_survival(k, mu)), 0.0)

__getattr__ = others("poisson")
