"""The normal distribution: ``logpdf(x, loc=0, scale=1)`` and its relatives, exact far out in the tails."""

from __future__ import annotations

import math
from typing import Any

from autograd import operators as op
from autograd.gradients.scipy import special as _rules  # noqa: F401  # operators and rules come first
from autograd.scipy.stats.families import LocationScale, others

__all__ = ["cdf", "isf", "logcdf", "logpdf", "logsf", "pdf", "ppf", "sf"]

_LOG_ROOT_2_PI = 0.5 * math.log(2.0 * math.pi)


def _log_density(y: Any) -> Any:
    return op.subtract(op.multiply(op.square(y), -0.5), _LOG_ROOT_2_PI)


_distribution = LocationScale(
    "norm",
    shapes=(),
    support=(-math.inf, math.inf),
    inside=0.0,
    logpdf=_log_density,
    pdf=lambda y: op.divide(op.exp(op.multiply(op.square(y), -0.5)), math.sqrt(2.0 * math.pi)),
    cdf=op.ndtr,
    sf=lambda y: op.ndtr(op.negative(y)),
    logcdf=op.log_ndtr,
    logsf=lambda y: op.log_ndtr(op.negative(y)),
    ppf=op.ndtri,
    isf=lambda q: op.negative(op.ndtri(q)),
)

pdf = _distribution.function("pdf")
logpdf = _distribution.function("logpdf")
cdf = _distribution.function("cdf")
logcdf = _distribution.function("logcdf")
sf = _distribution.function("sf")
logsf = _distribution.function("logsf")
ppf = _distribution.function("ppf")
isf = _distribution.function("isf")

__getattr__ = others("norm")
