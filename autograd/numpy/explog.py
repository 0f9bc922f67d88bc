"""NumPy-shaped exponentials and logarithms."""

from __future__ import annotations

from autograd.numpy.ufuncs import ufunc

__all__ = ["exp", "exp2", "expm1", "log", "log1p", "log2", "log10", "logaddexp", "logaddexp2"]
METHODS: tuple[str, ...] = ()

exp = ufunc("exp")
exp2 = ufunc("exp2")
expm1 = ufunc("expm1")
log = ufunc("log")
log2 = ufunc("log2")
log10 = ufunc("log10")
log1p = ufunc("log1p")
logaddexp = ufunc("logaddexp")
logaddexp2 = ufunc("logaddexp2")
