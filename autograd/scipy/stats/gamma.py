"""The gamma distribution: ``logpdf(x, a, loc=0, scale=1)`` and its relatives, differentiable in the shape ``a`` too."""

from __future__ import annotations

import math
from typing import Any

from autograd import operators as op
from autograd.gradients.scipy.incomplete import gamma_density
from autograd.scipy.stats.families import LocationScale, others

__all__ = ["cdf", "isf", "logcdf", "logpdf", "logsf", "pdf", "ppf", "sf"]


def _log_density(y: Any, a: Any) -> Any:
    return op.subtract(op.xlogy(op.subtract(a, 1.0), y), op.add(y, op.gammaln(a)))


_distribution = LocationScale(
    "gamma",
    shapes=("a",),
    support=(0.0, math.inf),
    inside=1.0,
    logpdf=_log_density,
    pdf=lambda y, a: gamma_density(a, y),
    cdf=lambda y, a: op.gammainc(a, y),
    sf=lambda y, a: op.gammaincc(a, y),
    ppf=lambda q, a: op.gammaincinv(a, q),
    isf=lambda q, a: op.gammainccinv(a, q),
)

pdf = _distribution.function("pdf")
logpdf = _distribution.function("logpdf")
cdf = _distribution.function("cdf")
logcdf = _distribution.function("logcdf")
sf = _distribution.function("sf")
logsf = _distribution.function("logsf")
ppf = _distribution.function("ppf")
isf = _distribution.function("isf")

__getattr__ = others("gamma")
