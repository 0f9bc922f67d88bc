"""What becomes of a tensor in the other arguments: those in which no row takes a derivative."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator
from inspect import Parameter
from typing import Any

import numpy

from autograd import NotTrackedError, Tape, Tensor
from autograd import operators as op
from tests.coverage.calls import Call
from tests.coverage.namespaces import ours, parameters

_ORDER = dict.fromkeys(("iv", "ive", "jn", "jv", "kv", "kve", "yv"), ("v",)) | dict.fromkeys(("polygamma", "yn"), ("n",))

REFUSED_ARGUMENTS: dict[str, tuple[str, ...]] = {
    **{f"scipy.special.{name}": order for name, order in _ORDER.items()},
    **{f"scipy.stats.poisson.{name}": ("k", "loc") for name in ("cdf", "logcdf", "logpmf", "logsf", "pmf", "sf")},
    "scipy.integrate.odeint": ("h0", "hmax", "hmin"),
    "numpy.cov": ("ddof", "fweights"),
    "numpy.extract": ("condition",),
    "numpy.histogram_bin_edges": ("weights",),
    "numpy.linalg.lstsq": ("rcond",),
    "numpy.linalg.norm": ("ord",),
    "numpy.linalg.pinv": ("rcond", "rtol"),
    "numpy.linalg.vector_norm": ("ord",),
    "numpy.nanquantile": ("weights",),
    "numpy.nanstd": ("correction", "ddof"),
    "numpy.nanvar": ("correction", "ddof"),
    "numpy.piecewise": ("condlist",),
    "numpy.place": ("mask",),
    "numpy.polyfit": ("rcond",),
    "numpy.put": ("ind",),
    "numpy.putmask": ("mask",),
    "numpy.real_if_close": ("tol",),
    "numpy.std": ("correction", "ddof"),
    "numpy.tril": ("k",),
    "numpy.triu": ("k",),
    "numpy.unwrap": ("discont",),
    "numpy.var": ("correction", "ddof"),
}
"""Arguments that take floats, in which a tensor raises NotTrackedError, at the latest where a derivative is taken."""

STEADY_ARGUMENTS: dict[str, tuple[str, ...]] = {
    "numpy.compress": ("condition",),
    "numpy.full_like": ("a",),
    "numpy.rot90": ("k",),
    "numpy.where": ("condition",),
    "scipy.stats.multivariate_normal.entropy": ("mean",),
}
"""Arguments that take floats, in which the result does not change, or in steps: a tensor gives a constant."""

SKIPPED = {
    ("numpy.ufunc.reduce", "initial"),  # without a tensor among the arrays NumPy never asks us, and raises
}
"""Arguments of functions that are not tried."""

NOT_NUMBERS = {
    *("out", "dtype", "like", "device"),  # places and kinds
    *("axis", "axisa", "axisb", "axisc", "axes", "M", "m", "deg", "edge_order", "repeats", "shift"),  # whole numbers
    *(
        "kind",
        "mode",
        "method",
        "order",
        "casting",
        "overwrite_input",
        "keepdims",
        "copy",
        "sorted",
        "wrap",
        "full",
        "cov",
        "trans",
    ),
    *("stable", "increasing", "density", "mxstep", "printmessg", "ixpr"),
}
"""Arguments that are no numbers that a derivative could be taken in, by their usual names; flags are known by their defaults."""


def outcomes(calls: Iterable[Call], differentiated: Iterable[str]) -> dict[str, set[str]]:
    """For each other argument what a tensor in it does: "tracked", "refused", "silent"; nothing where floats do not fit."""
    found: dict[str, set[str]] = {}
    for call in calls:
        for argument, parameter in parameters(call.name).items():
            flag = argument in NOT_NUMBERS or isinstance(parameter.default, bool | str)
            if flag or argument in differentiated or (call.name, argument) in SKIPPED:
                continue
            for value in _candidates(call, argument, parameter):
                outcome = _outcome(call, argument, value)
                if outcome:
                    found.setdefault(argument, set()).add(outcome)
    return found


def _candidates(call: Call, argument: str, parameter: Parameter) -> Iterator[Any]:
    """Floats that might fit: what the row gives, and ones of the shapes of the arguments that are there."""
    given = call.arguments.get(argument, parameter.default)
    if isinstance(given, float | int | numpy.ndarray | numpy.generic | complex) and numpy.asarray(given).dtype.kind in "biuf":
        yield numpy.asarray(given, float)[()]
    yield 1.0
    given_shapes = {numpy.shape(value) for value in call.arguments.values() if isinstance(value, numpy.ndarray)}
    for shape in sorted({each[-keep:] for each in given_shapes for keep in (1, len(each)) if each}):
        yield numpy.ones(shape)


def _outcome(call: Call, argument: str, value: Any) -> str:
    """What a tensor does where its value fits; "" where it does not, or where another error than NotTrackedError comes."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            _run(call, argument, value)
        except Exception:
            return ""
        tape = Tape()
        with tape:
            x = tape.watch(value)
            try:
                followed = list(tensors_in(_run(call, argument, x)))
            except NotTrackedError:
                return "refused"
            except Exception:
                return ""
            if not followed:
                return "silent"
            y = op.sum(op.real(followed[0]))
        try:
            tape.gradient(y, x)
        except NotTrackedError:
            return "refused"
    return "tracked"


def _run(call: Call, argument: str, value: Any) -> Any:
    return call_with(call, ours(call.name), {argument: value})


def call_with(call: Call, function: Callable[..., Any], others: dict[str, Any]) -> Any:
    """A function called as a row calls it, but with other values of some arguments."""
    given = {key: each.copy() if isinstance(each, numpy.ndarray) else each for key, each in call.arguments.items()} | others
    known = parameters(call.name)
    positional: list[Any] = []
    defaults = 0
    for place, (key, parameter) in enumerate(known.items()):
        if key in given and parameter.kind is Parameter.VAR_POSITIONAL:
            positional += given.pop(key)
            defaults = 0
        elif key in given and parameter.kind is not Parameter.KEYWORD_ONLY and place == len(positional):
            positional.append(given.pop(key))
            defaults = defaults + 1 if positional[-1] is parameter.default else 0
    keywords = {key: each for key, each in given.items() if each is not (known[key].default if key in known else None)}
    return function(*positional[: len(positional) - defaults], **keywords)


def tensors_in(result: Any) -> Iterator[Tensor]:
    """The tensors in a result, which may be in lists, or be coefficients."""
    if isinstance(result, tuple | list):
        for each in result:
            yield from tensors_in(each)
    elif isinstance(result, Tensor):
        yield result
    elif isinstance(getattr(result, "coeffs", None), Tensor):
        yield result.coeffs
