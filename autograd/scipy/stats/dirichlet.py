"""The Dirichlet distribution: ``logpdf(x, alpha)`` and ``pdf(x, alpha)``, differentiable in both.

The components of ``x`` stand in its first axis and are taken as independent; where the last is left out, it is the rest to 1.
"""

from __future__ import annotations

from typing import Any

import scipy.stats

from autograd import operators as op
from autograd.gradients.scipy import special as _rules  # noqa: F401  # operators and rules come first
from autograd.scipy.fallback import holds_tensors
from autograd.scipy.stats.families import double, others, plain

__all__ = ["logpdf", "pdf"]


def logpdf(x: Any, alpha: Any) -> Any:
    """``scipy.stats.dirichlet.logpdf``, differentiable in the point and in the concentrations.

    Raises ValueError, as SciPy does, for what is not a point of the simplex or not positive.

    >>> round(float(logpdf([0.2, 0.8], [1.0, 1.0])), 12)
    0.0
    """
    if not holds_tensors(x, alpha):
        return scipy.stats.dirichlet.logpdf(x, alpha)
    x, alpha = double("dirichlet.logpdf", x), double("dirichlet.logpdf", alpha)
    scipy.stats.dirichlet.logpdf(plain(x), plain(alpha))  # raises where it does
    length = plain(alpha).shape[0]
    if plain(x).shape[0] == length - 1:
        rest = op.subtract(1.0, op.sum(x, axis=0, keepdims=True))
        x = op.concatenate([x, rest], axis=0)
    columns = op.reshape(alpha, shape=(length, *(1,) * (plain(x).ndim - 1)))
    normalizer = op.subtract(op.sum(op.gammaln(alpha)), op.gammaln(op.sum(alpha)))
    return op.subtract(op.sum(op.xlogy(op.subtract(columns, 1.0), x), axis=0), normalizer)


def pdf(x: Any, alpha: Any) -> Any:
    """``scipy.stats.dirichlet.pdf``, the exponential of ``logpdf``.

    >>> round(float(pdf([0.25, 0.75], [2.0, 1.0])), 12)
    0.5
    """
    return op.exp(logpdf(x, alpha)) if holds_tensors(x, alpha) else scipy.stats.dirichlet.pdf(x, alpha)


__getattr__ = others("dirichlet")
