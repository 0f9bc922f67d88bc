"""The normal distribution of several variables: ``logpdf(x, mean, cov)``, ``pdf`` and ``entropy``, differentiable in each.

The covariance is symmetric, and so is its gradient: that for both of a pair of equal elements is shared between them.
With ``allow_singular=True`` the density is that on the subspace which the covariance spans; its gradient holds for changes that
keep the rank, such as those of a factor of a singular covariance.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import scipy.stats

from autograd import operators as op
from autograd.scipy.fallback import holds_tensors, refuse
from autograd.scipy.stats.families import double, others, plain

__all__ = ["entropy", "logpdf", "pdf"]


def logpdf(x: Any, mean: Any = None, cov: Any = 1, allow_singular: bool = False) -> Any:
    """``scipy.stats.multivariate_normal.logpdf``, differentiable in the points, the mean and the covariance.

    Raises ValueError and LinAlgError where SciPy does; NotTrackedError for a ``Covariance`` object together with a tensor.

    >>> round(float(logpdf([0.0, 0.0], [0.0, 0.0])), 6)  # -log(2 pi)
    -1.837877
    """
    if not holds_tensors(x, mean, cov):
        return scipy.stats.multivariate_normal.logpdf(x, mean, cov, allow_singular)
    name = "scipy.stats.multivariate_normal.logpdf"
    _refuse_object(name, cov)
    x = double(name, x)
    dim, mean, cov = _parameters(name, mean, cov)
    checked = scipy.stats.multivariate_normal.logpdf(plain(x), plain(mean), plain(cov), allow_singular)  # raises where it does
    shape = plain(x).shape
    if len(shape) < 2 and dim == 1:
        x = op.reshape(x, shape=(-1, 1)) if shape else op.reshape(x, shape=(1, 1))
    rows = op.subtract(x, mean)
    inverse, log_det, rank = _inverse_and_log_det(cov, allow_singular)
    distance = op.sum(op.multiply(op.matmul(rows, inverse), rows), axis=-1)
    result = op.multiply(op.add(op.add(distance, log_det), rank * math.log(2.0 * math.pi)), -0.5)
    result = op.reshape(result, shape=np.shape(checked))
    outside = np.isneginf(checked)  # of the subspace
    return op.where(outside, -np.inf, result) if np.any(outside) else result


def pdf(x: Any, mean: Any = None, cov: Any = 1, allow_singular: bool = False) -> Any:
    """``scipy.stats.multivariate_normal.pdf``, the exponential of ``logpdf``.

    >>> round(float(pdf([0.0, 0.0], [0.0, 0.0])) * 2 * math.pi, 12)
    1.0
    """
    if not holds_tensors(x, mean, cov):
        return scipy.stats.multivariate_normal.pdf(x, mean, cov, allow_singular)
    return op.exp(logpdf(x, mean, cov, allow_singular))


def entropy(mean: Any = None, cov: Any = 1) -> Any:
    """``scipy.stats.multivariate_normal.entropy``, differentiable in the covariance; it does not depend on the mean.

    >>> round(float(entropy(cov=1.0)), 6)  # (1 + log(2 pi)) / 2
    1.418939
    """
    if not holds_tensors(mean, cov):
        return scipy.stats.multivariate_normal.entropy(mean, cov)
    name = "scipy.stats.multivariate_normal.entropy"
    _refuse_object(name, cov)
    dim, _, cov = _parameters(name, mean, cov)
    scipy.stats.multivariate_normal.entropy(np.zeros(dim), plain(cov))  # raises where it does
    _, log_det, rank = _inverse_and_log_det(cov, allow_singular=False)
    return op.multiply(op.add(log_det, rank * (math.log(2.0 * math.pi) + 1.0)), 0.5)


def _refuse_object(name: str, cov: Any) -> None:
    if isinstance(cov, scipy.stats.Covariance):
        refuse(name, "an argument beside a Covariance object", "pass its matrix, cov.covariance")


def _parameters(name: str, mean: Any, cov: Any) -> tuple[int, Any, Any]:
    """The number of variables, the mean as a vector, and the covariance as a matrix: from one number or a diagonal too."""
    cov = double(name, 1.0 if cov is None else cov)
    shape = plain(cov).shape
    if mean is None:
        dim = shape[0] if shape else 1
        mean = np.zeros(dim)
    else:
        mean = op.reshape(double(name, mean), shape=(-1,))
        dim = mean.shape[0]
    if not shape:
        cov = op.multiply(cov, np.eye(dim))
    elif len(shape) == 1:
        cov = op.multiply(op.reshape(cov, shape=(-1, 1)), np.eye(shape[0]))
    return dim, mean, cov


def _inverse_and_log_det(cov: Any, allow_singular: bool) -> tuple[Any, Any, int]:
    """The inverse, the logarithm of the determinant, and the rank; of a singular covariance on the subspace that it spans."""
    cov = op.multiply(op.add(cov, op.swapaxes(cov, axis1=-1, axis2=-2)), 0.5)
    dim = cov.shape[-1]
    if not allow_singular:
        return op.inv(cov), op.slogdet(cov)[1], dim
    sizes = np.abs(np.linalg.eigvalsh(plain(cov)))
    limit = 1e6 * np.finfo(float).eps  # SciPy's, relative to the largest
    chosen = np.flatnonzero(sizes > limit * sizes.max(initial=0.0))
    values = op.getitem(op.eigvalsh(cov), index=chosen)
    return op.pinv(cov, rcond=limit, hermitian=True), op.sum(op.log(values)), len(chosen)


__getattr__ = others("multivariate_normal")
