"""Student's t distribution: ``logpdf(x, df, loc=0, scale=1)`` and its relatives, differentiable in ``df`` too.

Infinitely many degrees of freedom make it normal; the gradient in ``df`` is 0 there.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from autograd import operators as op
from autograd.gradients.scipy.incomplete import t_density, t_spread
from autograd.scipy.stats import norm
from autograd.scipy.stats.families import LocationScale, instead, others, plain

__all__ = ["cdf", "isf", "logcdf", "logpdf", "logsf", "pdf", "ppf", "sf"]


def _or_normal(formula: Callable[..., Any], normal: Callable[..., Any]) -> Callable[..., Any]:
    """A formula of ``(y, df)``, with the normal one where ``df`` is infinite."""

    def run(y: Any, df: Any) -> Any:
        finite = plain(df) < np.inf
        result = formula(y, instead(finite, df, 1.0))
        return result if np.all(finite) else op.where(finite, result, normal(y))

    return run


def _log_density(y: Any, df: Any) -> Any:
    growth = op.log1p(op.divide(op.square(y), df))
    return op.negative(op.add(t_spread(df), op.multiply(op.multiply(op.add(df, 1.0), 0.5), growth)))


_normal = norm._distribution

_distribution = LocationScale(
    "t",
    shapes=("df",),
    support=(-math.inf, math.inf),
    inside=0.0,
    logpdf=_or_normal(_log_density, _normal.logpdf),
    pdf=_or_normal(lambda y, df: t_density(df, y), _normal.pdf),
    cdf=_or_normal(lambda y, df: op.stdtr(df, y), _normal.cdf),
    sf=_or_normal(lambda y, df: op.stdtr(df, op.negative(y)), _normal.sf),
    ppf=_or_normal(lambda q, df: op.stdtrit(df, q), _normal.ppf),
    isf=_or_normal(lambda q, df: op.negative(op.stdtrit(df, q)), _normal.isf),
)

pdf = _distribution.function("pdf")
logpdf = _distribution.function("logpdf")
cdf = _distribution.function("cdf")
logcdf = _distribution.function("logcdf")
sf = _distribution.function("sf")
logsf = _distribution.function("logsf")
ppf = _distribution.function("ppf")
isf = _distribution.function("isf")

__getattr__ = others("t")
