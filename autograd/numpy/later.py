"""Functions whose modules are imported when one of them is first used, so that ``import autograd`` does not wait for them.

The table says in which module of this package a name is. Both ways to a function lead through it: ``autograd.numpy.interp``, and
``numpy.interp`` called with a tensor.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial
from importlib import import_module
from typing import Any

import numpy as np

from autograd.methods import numpy_functions

NAMES: dict[str, tuple[str, ...]] = {
    "calculus": ("diff", "ediff1d", "gradient", "interp", "trapezoid", "unwrap"),
    "choosing": ("apply_along_axis", "apply_over_axes", "choose", "extract", "piecewise", "select"),
    "editing": (
        "delete", "diag_indices_from", "insert", "real_if_close", "resize", "tril_indices_from", "trim_zeros",
        "triu_indices_from",
    ),
    "index_tricks": ("bmat", "c_", "r_", "vectorize"),
    "nans": (
        "nanargmax", "nanargmin", "nancumprod", "nancumsum", "nanmax", "nanmean", "nanmin", "nanprod", "nanstd", "nansum",
        "nanvar",
    ),
    "padding": ("pad",),
    "points": ("geomspace", "linspace", "logspace"),
    "polynomials": (
        "poly", "polyadd", "polyder", "polydiv", "polyfit", "polyint", "polymul", "polysub", "polyval", "roots", "vander",
    ),
    "quantiles": ("median", "nanmedian", "nanpercentile", "nanquantile", "percentile", "quantile"),
    "sorting": (
        "argpartition", "digitize", "intersect1d", "isin", "lexsort", "partition", "setdiff1d", "setxor1d", "sort_complex",
        "union1d", "unique", "unique_all", "unique_counts", "unique_inverse", "unique_values",
    ),
    "statistics": (
        "average", "bincount", "corrcoef", "cov", "histogram", "histogram2d", "histogram_bin_edges", "histogramdd", "ptp",
    ),
}  # fmt: skip
"""Module of this package -> the names that it gives to ``autograd.numpy``."""

FFT = (
    "fft", "fft2", "fftn", "fftshift", "hfft", "ifft", "ifft2", "ifftn", "ifftshift", "ihfft", "irfft", "irfft2", "irfftn",
    "rfft", "rfft2", "rfftn",
)  # fmt: skip
"""The functions of ``numpy.fft`` that take arrays; ``autograd.numpy.fft`` has the others too."""

LINALG = (
    "cholesky", "cond", "cross", "det", "diagonal", "eig", "eigh", "eigvals", "eigvalsh", "inv", "lstsq", "matmul",
    "matrix_norm", "matrix_power", "matrix_rank", "matrix_transpose", "multi_dot", "norm", "outer", "pinv", "qr", "slogdet",
    "solve", "svd", "svdvals", "tensordot", "tensorinv", "tensorsolve", "trace", "vecdot", "vector_norm",
)  # fmt: skip
"""The functions of ``numpy.linalg``."""

MODULES = ("fft", "linalg")
"""Modules of this package that are part of its interface, as NumPy's modules of these names are."""

PLACES = {name: module for module, names in NAMES.items() for name in names} | {module: module for module in MODULES}
"""Every name that ``find`` knows, and the module where it is."""


def find(name: str) -> Any:
    """The function or module of a name, imported if it was not; raises KeyError for a name that is not in the table.

    >>> find("interp")(0.5, [0.0, 1.0], [2.0, 4.0])
    np.float64(3.0)
    """
    package = __name__.rpartition(".")[0]
    module = import_module(f"{package}.{PLACES[name]}")
    found = module if name in MODULES else getattr(module, name)
    setattr(sys.modules[package], name, found)
    return found


def register() -> None:
    """Tell plain NumPy of all of them: with a tensor among its arguments, its function calls ours."""
    for name in PLACES.keys() - {*MODULES, *NAMES["index_tricks"]}:
        numpy_functions[getattr(np, name)] = partial(_call, None, name)
    for name in FFT:
        numpy_functions[getattr(np.fft, name)] = partial(_call, "fft", name)
    for name in LINALG:
        numpy_functions[getattr(np.linalg, name)] = partial(_call, "linalg", name)


def _call(module: str | None, name: str, *args: Any, **options: Any) -> Any:
    function: Callable[..., Any] = find(name) if module is None else getattr(find(module), name)
    theirs = getattr(np if module is None else getattr(np, module), name)
    numpy_functions[theirs] = function
    return function(*args, **options)
