"""The beta distribution: ``logpdf(x, a, b, loc=0, scale=1)`` and its relatives, differentiable in ``a`` and ``b`` too."""

from __future__ import annotations

from typing import Any

from autograd import operators as op
from autograd.gradients.scipy.incomplete import beta_density
from autograd.scipy.stats.families import LocationScale, others

__all__ = ["cdf", "isf", "logcdf", "logpdf", "logsf", "pdf", "ppf", "sf"]


def _log_density(y: Any, a: Any, b: Any) -> Any:
    powers = op.add(op.xlog1py(op.subtract(b, 1.0), op.negative(y)), op.xlogy(op.subtract(a, 1.0), y))
    return op.subtract(powers, op.betaln(a, b))


_distribution = LocationScale(
    "beta",
    shapes=("a", "b"),
    support=(0.0, 1.0),
    inside=0.5,
    logpdf=_log_density,
    pdf=lambda y, a, b: beta_density(a, b, y),
    cdf=lambda y, a, b: op.betainc(a, b, y),
    sf=lambda y, a, b: op.betaincc(a, b, y),
    ppf=lambda q, a, b: op.betaincinv(a, b, q),
    isf=lambda q, a, b: op.betainccinv(a, b, q),
)

pdf = _distribution.function("pdf")
logpdf = _distribution.function("logpdf")
cdf = _distribution.function("cdf")
logcdf = _distribution.function("logcdf")
sf = _distribution.function("sf")
logsf = _distribution.function("logsf")
ppf = _distribution.function("ppf")
isf = _distribution.function("isf")

__getattr__ = others("beta")
