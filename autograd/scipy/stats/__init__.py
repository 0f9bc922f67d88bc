"""SciPy's distributions over tensors, one module each: ``from autograd.scipy.stats import norm; norm.logpdf(x, loc, scale)``.

On plain arrays the functions are SciPy's. On tensors they have gradients in the variable and in every parameter, 0 outside the
support. Other distributions, and other functions of these, are SciPy's own; given a tensor, those raise and name themselves.
"""

from __future__ import annotations

from typing import Any

import scipy.stats as _stats

from autograd.scipy.fallback import without_tensors
from autograd.scipy.stats import beta, chi2, dirichlet, gamma, multivariate_normal, norm, poisson, t

__all__ = ["beta", "chi2", "dirichlet", "gamma", "multivariate_normal", "norm", "poisson", "t"]


def __getattr__(name: str) -> Any:
    return without_tensors(getattr(_stats, name), f"scipy.stats.{name}")
