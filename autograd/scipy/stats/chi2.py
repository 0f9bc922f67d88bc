"""The chi-squared distribution: ``logpdf(x, df, loc=0, scale=1)`` and its relatives, differentiable in ``df`` too.

It is twice a gamma variable with the shape ``df / 2``.
"""

from __future__ import annotations

import math
from typing import Any

from autograd import operators as op
from autograd.gradients.scipy.incomplete import gamma_density
from autograd.scipy.stats.families import LocationScale, others

__all__ = ["cdf", "isf", "logcdf", "logpdf", "logsf", "pdf", "ppf", "sf"]


def _half(x: Any) -> Any:
    return op.multiply(x, 0.5)


def _twice(x: Any) -> Any:
    return op.multiply(x, 2.0)


def _log_density(y: Any, df: Any) -> Any:
    power = op.xlogy(op.subtract(_half(df), 1.0), y)
    return op.subtract(power, op.add(op.add(_half(y), op.gammaln(_half(df))), op.multiply(df, 0.5 * math.log(2.0))))


_distribution = LocationScale(
    "chi2",
    shapes=("df",),
    support=(0.0, math.inf),
    inside=1.0,
    logpdf=_log_density,
    pdf=lambda y, df: _half(gamma_density(_half(df), _half(y))),
    cdf=lambda y, df: op.gammainc(_half(df), _half(y)),
    sf=lambda y, df: op.gammaincc(_half(df), _half(y)),
    ppf=lambda q, df: _twice(op.gammaincinv(_half(df), q)),
    isf=lambda q, df: _twice(op.gammainccinv(_half(df), q)),
)

pdf = _distribution.function("pdf")
logpdf = _distribution.function("logpdf")
cdf = _distribution.function("cdf")
logcdf = _distribution.function("logcdf")
sf = _distribution.function("sf")
logsf = _distribution.function("logsf")
ppf = _distribution.function("ppf")
isf = _distribution.function("isf")

__getattr__ = others("chi2")
