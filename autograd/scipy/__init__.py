"""SciPy's functions over tensors. They need SciPy, which comes with ``pip install "gradtape[scipy]"``.

``special``     gamma, beta, error, Bessel and logistic functions, ``logsumexp``; SciPy's own ufuncs find them on tensors too
``linalg``      triangular, banded and Sylvester equations, matrix functions
``signal``      ``convolve``
``integrate``   ``odeint``
``stats``       densities and distribution functions, one module a distribution

On plain arrays the functions are SciPy's own. Names that are not listed are SciPy's; given a tensor, those raise and name
themselves. A part is imported when it is first used, and so is SciPy.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

try:
    import scipy as _scipy
except ImportError as error:
    raise ImportError('autograd.scipy needs SciPy, which is missing: pip install "gradtape[scipy]"') from error

from autograd.scipy.fallback import without_tensors as _without_tensors

__all__ = ["integrate", "linalg", "signal", "special", "stats"]


def __getattr__(name: str) -> Any:
    if name in __all__:
        return import_module(f"autograd.scipy.{name}")
    return _without_tensors(getattr(_scipy, name), f"scipy.{name}")
