"""Every public function of the namespaces, by its dotted name: NumPy's or SciPy's, and ours."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from importlib import import_module
from importlib.util import find_spec
from inspect import Parameter, signature
from typing import Any

import numpy

from registry import get_schema

NUMPY = ("numpy", "numpy.linalg", "numpy.fft")
SCIPY = ("scipy.special", "scipy.linalg", "scipy.signal", "scipy.integrate")
DISTRIBUTIONS = ("beta", "chi2", "dirichlet", "gamma", "multivariate_normal", "norm", "poisson", "t")
STATS = tuple(f"scipy.stats.{name}" for name in DISTRIBUTIONS)
EXTRA = "autograd.numpy"
"""What is in ``autograd.numpy`` and not in NumPy."""

HAS_SCIPY = find_spec("scipy") is not None
METHODS = "numpy.ufunc"
_MODULES_OF_METHODS = {
    "accumulate": "ufunc_methods", "at": "assignment", "outer": "ufunc_methods", "reduce": "ufunc_methods",
    "reduceat": "ufunc_methods",
}  # fmt: skip
"""The methods of universal functions, and the module of ours that a tensor leads them to."""

NAMESPACES = (*NUMPY, METHODS, EXTRA, *SCIPY, *STATS)

SINCE = {
    "numpy.cumulative_prod": "2.1", "numpy.cumulative_sum": "2.1", "numpy.unstack": "2.1", "numpy.matvec": "2.2",
    "numpy.vecmat": "2.2",
}  # fmt: skip
"""Functions that not every supported NumPy has, with the first that has them."""

OBJECTS = ("c_", "index_exp", "mgrid", "ogrid", "r_", "s_")
"""Names of NumPy's main namespace that are indexed, not called."""

GONE = {"numpy.in1d": "numpy.isin", "numpy.row_stack": "numpy.vstack", "numpy.trapz": "numpy.trapezoid"}
"""Functions that the lowest supported NumPy has under an old name too, with the name that stays."""


WITHOUT_SIGNATURE = {
    "copyto": ("dst", "src", "casting", "where"),
    "frombuffer": ("buffer", "dtype", "count", "offset"),
    "fromiter": ("iter", "dtype", "count"),
    "fromstring": ("string", "dtype", "count"),
    "putmask": ("a", "mask", "values"),
    "where": ("condition", "x", "y"),
}
"""The parameters of functions that some version of NumPy does not tell."""


def is_here(name: str) -> bool:
    """Whether the NumPy, or SciPy, that is installed has the function."""
    if name.startswith("scipy."):
        return HAS_SCIPY
    module, _, last = name.rpartition(".")
    return module not in NUMPY or hasattr(import_module(module), last)


def names_of(namespace: str) -> list[str]:
    """The dotted names of a namespace, as the installed libraries have it: all callables of NumPy, what we have of SciPy."""
    if namespace == METHODS:
        return [f"{namespace}.{each}" for each in _MODULES_OF_METHODS]
    ours = our_module(namespace)
    if namespace in NUMPY:
        theirs = import_module(namespace)
        found = [each for each in dir(theirs) if not each.startswith("_") and callable(getattr(theirs, each))]
        found += OBJECTS if namespace == "numpy" else ()
    elif namespace == EXTRA:
        later = {name.rpartition(".")[2] for name in SINCE}
        found = [
            each for each in ours.__all__ if not hasattr(numpy, each) and each not in later and callable(getattr(ours, each))
        ]
    else:
        found = [each for each in ours.__all__ if callable(getattr(ours, each))]
    return [name for name in sorted(f"{namespace}.{each}" for each in found) if name not in GONE]


def all_names() -> Iterator[str]:
    """The names of all namespaces whose library is installed."""
    for namespace in NAMESPACES:
        if HAS_SCIPY or not namespace.startswith("scipy."):
            yield from names_of(namespace)


def our_module(namespace: str) -> Any:
    """``numpy.linalg`` -> ``autograd.numpy.linalg``."""
    return import_module(namespace if namespace == EXTRA else f"autograd.{namespace}")


def ours(name: str) -> Any:
    """Our function of a dotted name."""
    namespace, _, last = name.rpartition(".")
    module = import_module(f"{EXTRA}.{_MODULES_OF_METHODS[last]}") if namespace == METHODS else our_module(namespace)
    return getattr(module, last)


def theirs(name: str) -> Any:
    """NumPy's or SciPy's function; ours where they have none."""
    namespace, _, last = name.rpartition(".")
    if namespace == EXTRA:
        return ours(name)
    if namespace == METHODS:
        return getattr(numpy.ufunc, last)
    if namespace in STATS:
        namespace, _, distribution = namespace.rpartition(".")
        return getattr(getattr(import_module(namespace), distribution), last)
    return getattr(import_module(namespace), last)


def parameters(name: str) -> dict[str, Parameter]:
    """The parameters of a function, by name."""
    if name.startswith(f"{METHODS}."):
        return dict(signature(ours(name)).parameters)
    return _named(theirs(name), ours(name))


def _named(their_function: Callable[..., Any], our_function: Callable[..., Any]) -> dict[str, Parameter]:
    arity = getattr(their_function, "nin", None)
    if arity is not None:
        schema = get_schema(their_function.__name__)
        fallback = ["x"] if arity == 1 else [f"x{number + 1}" for number in range(arity)]
        inputs = [each.name for each in schema.inputs] if schema is not None else fallback
        options = {"out": None, "where": True, "dtype": None}
        return {each: Parameter(each, Parameter.POSITIONAL_ONLY) for each in inputs} | {
            each: Parameter(each, Parameter.KEYWORD_ONLY, default=default) for each, default in options.items()
        }
    name = getattr(their_function, "__name__", "")
    known = {each: Parameter(each, Parameter.POSITIONAL_OR_KEYWORD, default=None) for each in WITHOUT_SIGNATURE.get(name, ())}
    if known:
        return known
    for function in (our_function, their_function):
        try:
            known = dict(signature(function).parameters)
        except (TypeError, ValueError):  # some of what C makes does not say
            continue
        if not any(each.kind in (Parameter.VAR_POSITIONAL, Parameter.VAR_KEYWORD) for each in known.values()):
            break
    return known
