"""Discrete Fourier transforms along one axis; those along several axes are made of these.

``numpy.fft`` is named inside the functions, because NumPy loads it when it is first used.
"""

from typing import Any

import numpy as np

from registry.declare import operator
from registry.out_arrays import checked_into


def _fft(a: Any, n: Any, axis: int, norm: Any, out: Any = None) -> Any:
    return np.fft.fft(a, n, axis, norm, out)


def _ifft(a: Any, n: Any, axis: int, norm: Any, out: Any = None) -> Any:
    return np.fft.ifft(a, n, axis, norm, out)


def _rfft(a: Any, n: Any, axis: int, norm: Any, out: Any = None) -> Any:
    return np.fft.rfft(a, n, axis, norm, out)


def _irfft(a: Any, n: Any, axis: int, norm: Any, out: Any = None) -> Any:
    return np.fft.irfft(a, n, axis, norm, out)


def _complex_dtype(a: Any, **_: Any) -> Any:
    return np.result_type(np.asarray(a).dtype, 1j)


def _real_dtype(a: Any, **_: Any) -> Any:
    return np.result_type(np.asarray(a).real.dtype, 1.0)


_OPTIONS = "int? n=None, int axis=-1, str? norm=None"

operator(f"fft(Tensor a, {_OPTIONS}) -> Tensor", _fft, out_func=checked_into(_fft, _complex_dtype))
operator(f"ifft(Tensor a, {_OPTIONS}) -> Tensor", _ifft, out_func=checked_into(_ifft, _complex_dtype))
operator(f"rfft(Tensor a, {_OPTIONS}) -> Tensor", _rfft, out_func=checked_into(_rfft, _complex_dtype))
operator(f"irfft(Tensor a, {_OPTIONS}) -> Tensor", _irfft, out_func=checked_into(_irfft, _real_dtype))
