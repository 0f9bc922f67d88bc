"""SciPy's special functions over tensors: ``import autograd.scipy.special as special``.

They are differentiable in each real argument, parameters included (``gammainc`` in ``a``, ``betainc`` in ``a`` and ``b``), but
for the order of a Bessel function and of ``polygamma``, which raise NotTrackedError.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as _np
import scipy.special as _special

from autograd import operators as op
from autograd.gradients.scipy import bessel as _bessel_rules  # noqa: F401  # operators and rules come first
from autograd.gradients.scipy import incomplete as _incomplete_rules  # noqa: F401
from autograd.gradients.scipy import special as _special_rules  # noqa: F401
from autograd.scipy.fallback import as_array, holds_tensors, refuse, without_tensors
from autograd.scipy.ufuncs import ufunc
from autograd.tensor import Tensor, innermost_value

__all__ = [
    "beta", "betainc", "betaincc", "betainccinv", "betaincinv", "betaln", "dawsn", "digamma", "entr", "erf", "erfc", "erfcinv",
    "erfcx", "erfi", "erfinv", "expit", "gamma", "gammainc", "gammaincc", "gammainccinv", "gammaincinv", "gammaln", "gammasgn",
    "i0", "i0e", "i1", "i1e", "iv", "ive", "j0", "j1", "jn", "jv", "k0", "k0e", "k1", "k1e", "kl_div", "kv", "kve", "log_expit",
    "log_ndtr", "logit", "logsumexp", "multigammaln", "ndtr", "ndtri", "polygamma", "psi", "rel_entr", "rgamma", "stdtr",
    "stdtrit", "xlog1py", "xlogy", "y0", "y1", "yn", "yv",
]  # fmt: skip

beta = ufunc("beta")
betainc = ufunc("betainc")
betaincc = ufunc("betaincc")
betaincinv = ufunc("betaincinv")
betainccinv = ufunc("betainccinv")
betaln = ufunc("betaln")
dawsn = ufunc("dawsn")
digamma = psi = ufunc("psi")
entr = ufunc("entr")
erf = ufunc("erf")
erfc = ufunc("erfc")
erfcinv = ufunc("erfcinv")
erfcx = ufunc("erfcx")
erfi = ufunc("erfi")
erfinv = ufunc("erfinv")
expit = ufunc("expit")
gamma = ufunc("gamma")
gammainc = ufunc("gammainc")
gammaincc = ufunc("gammaincc")
gammaincinv = ufunc("gammaincinv")
gammainccinv = ufunc("gammainccinv")
gammaln = ufunc("gammaln")
gammasgn = ufunc("gammasgn")
i0 = ufunc("i0")
i0e = ufunc("i0e")
i1 = ufunc("i1")
i1e = ufunc("i1e")
iv = ufunc("iv")
ive = ufunc("ive")
j0 = ufunc("j0")
j1 = ufunc("j1")
jn = jv = ufunc("jv")
k0 = ufunc("k0")
k0e = ufunc("k0e")
k1 = ufunc("k1")
k1e = ufunc("k1e")
kl_div = ufunc("kl_div")
kv = ufunc("kv")
kve = ufunc("kve")
log_expit = ufunc("log_expit")
log_ndtr = ufunc("log_ndtr")
logit = ufunc("logit")
ndtr = ufunc("ndtr")
ndtri = ufunc("ndtri")
rel_entr = ufunc("rel_entr")
rgamma = ufunc("rgamma")
stdtr = ufunc("stdtr")
stdtrit = ufunc("stdtrit")
xlog1py = ufunc("xlog1py")
xlogy = ufunc("xlogy")
y0 = ufunc("y0")
y1 = ufunc("y1")
yv = ufunc("yv")
_yn = ufunc("yn")


def yn(n: Any, x: Any, /, out: Any = None, **options: Any) -> Any:
    """``scipy.special.yn``: the Bessel function of the second kind of a whole order; differentiable in ``x``.

    Raises ValueError for a fractional order together with a tensor.

    >>> float(yn(1, 2.0)) == float(y1(2.0))
    True
    """
    if not holds_tensors(n, x, out, options):
        return _special.yn(n, x, out=out, **options)
    return _yn(n, x, out=out, **options)


def polygamma(n: Any, x: Any) -> Any:
    """``scipy.special.polygamma``: the derivative of order ``n`` of ``psi``; differentiable in ``x``.

    Raises NotTrackedError for a tensor in the place of the integer ``n``.

    >>> round(float(polygamma(1, 1.0)), 6)  # pi ** 2 / 6
    1.644934
    """
    if holds_tensors(n):
        refuse("scipy.special.polygamma", "the order n", "it is an integer: pass a plain number")
    return op.scipy_polygamma(x, n=n) if holds_tensors(x) else _special.polygamma(n, x)


def multigammaln(a: Any, d: Any) -> Any:
    """``scipy.special.multigammaln``: the logarithm of the gamma function of ``d`` dimensions, a sum of ``d`` plain ones.

    Raises ValueError as SciPy does, NotTrackedError for a tensor in the place of the integer ``d``.

    >>> float(multigammaln(2.5, 1)) == float(gammaln(2.5))
    True
    """
    if holds_tensors(d):
        refuse("scipy.special.multigammaln", "the dimension d", "it is an integer: pass a plain number")
    if not holds_tensors(a):
        return _special.multigammaln(a, d)
    a = as_array("multigammaln", a)
    _special.multigammaln(innermost_value(a), d)  # raises where it does
    halves = _np.arange(int(d)) / 2.0
    parts = op.gammaln(op.subtract(op.expand_dims(a, axis=-1), halves))
    return op.add(op.sum(parts, axis=-1), math.log(math.pi) * (d * (d - 1) / 4.0))


def logsumexp(a: Any, axis: Any = None, b: Any = None, keepdims: bool = False, return_sign: bool = False) -> Any:
    """``scipy.special.logsumexp``: ``log(sum(b * exp(a)))``, differentiable in ``a`` and in the weights ``b``.

    Where all of ``a`` is -inf the gradient is 0; infinite elements share it. With ``return_sign=True`` a pair of the logarithm of
    the sum's size and its sign: a constant for real numbers, a differentiable phase for complex ones.

    >>> round(float(logsumexp([1000.0, 1000.0], b=[1.0, -0.5])), 6)  # 1000 - log(2)
    999.306853
    """
    if not holds_tensors(a, b):
        return _special.logsumexp(a, axis=axis, b=b, keepdims=keepdims, return_sign=return_sign)
    a, b = as_array("logsumexp", a), None if b is None else as_array("logsumexp", b)
    if _np.iscomplexobj(innermost_value(a)) or _np.iscomplexobj(innermost_value(b)):
        y = _complex_logsumexp(a, axis, b, keepdims)
        return (op.real(y), op.exp(1j * op.imag(y))) if return_sign else y
    if _np.asarray(innermost_value(a)).dtype.kind in "biu":
        a = op.astype(a, dtype=float)
    y, sign = op.scipy_logsumexp(a, b, axis=axis, keepdims=keepdims)
    sign = innermost_value(sign)
    if return_sign:
        return y, sign
    negative = _np.less(sign, 0)
    return op.where(negative, _np.nan, y) if negative.any() else y


def _complex_logsumexp(a: Any, axis: Any, b: Any, keepdims: bool) -> Any:
    if b is None:
        return op.logsumexp(a if type(a) is Tensor else _np.asarray(a), axis=axis, keepdims=keepdims)
    largest = _np.max(_np.real(innermost_value(a)), axis=axis, keepdims=True, initial=-_np.inf)
    shift = _np.where(_np.isfinite(largest), largest, 0.0)
    total = op.sum(op.multiply(b, op.exp(op.subtract(a, shift))), axis=axis, keepdims=keepdims)
    return op.add(op.log(total), shift if keepdims else _np.sum(shift, axis=axis))


def __getattr__(name: str) -> Any:
    return without_tensors(getattr(_special, name), f"scipy.special.{name}")
