"""Special functions: error functions, gamma functions, logistic functions, and logarithms of sums and products."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import special

from registry.declare import operator

for _name in (
    "erf", "erfc", "erfcinv", "erfcx", "erfi", "erfinv", "dawsn", "ndtr", "ndtri", "log_ndtr",
    "digamma", "gamma", "gammaln", "psi", "rgamma",
    "entr", "expit", "log_expit", "logit",
):  # fmt: skip
    _ufunc = getattr(special, _name)
    if _ufunc.__name__ == _name:  # digamma is psi
        operator(f"{_name}(Tensor x) -> Tensor", _ufunc)

operator("gammasgn(Tensor x) -> Tensor", special.gammasgn, constant=True)
operator("beta(Tensor a, Tensor b) -> Tensor", special.beta)
operator("betaln(Tensor a, Tensor b) -> Tensor", special.betaln)
operator("xlogy(Tensor x, Tensor y) -> Tensor", special.xlogy)
operator("xlog1py(Tensor x, Tensor y) -> Tensor", special.xlog1py)
operator("rel_entr(Tensor x, Tensor y) -> Tensor", special.rel_entr)
operator("kl_div(Tensor x, Tensor y) -> Tensor", special.kl_div)


def _polygamma(x: Any, n: Any) -> Any:
    y = special.polygamma(n, x)
    return y[()] if isinstance(y, np.ndarray) else y


def _logsumexp(a: Any, b: Any, axis: Any, keepdims: bool) -> tuple[Any, Any]:
    """The logarithm of a sum's size, and its sign; SciPy's way keeps the digits of small terms beside a large one."""
    with np.errstate(invalid="ignore", divide="ignore"):
        y, sign = special.logsumexp(a, axis=axis, b=b, keepdims=keepdims, return_sign=True)
    return y, sign


operator("scipy_polygamma(Tensor x, *, Any n) -> Tensor", _polygamma)
operator(
    "scipy_logsumexp(Tensor a, Tensor? b=None, int[1]? axis=None, *, bool keepdims=False) -> (Tensor y, Tensor sign)", _logsumexp
)
