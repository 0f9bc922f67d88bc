"""What all distributions have: location and scale, the edges of their support, and parameters that are out of range.

A formula is evaluated at a harmless point where it does not hold, and its result replaced, so that the gradient there is 0.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from inspect import Parameter, Signature
from typing import Any

import numpy as np
import scipy.stats

from autograd import operators as op
from autograd.errors import NotTrackedError
from autograd.scipy.fallback import as_array, holds_tensors, refuse, without_tensors
from autograd.tensor import Tensor, innermost_value

Formula = Callable[..., Any]

BELOW_AND_ABOVE = {
    "pdf": (0.0, 0.0),
    "logpdf": (-np.inf, -np.inf),
    "cdf": (0.0, 1.0),
    "logcdf": (-np.inf, 0.0),
    "sf": (1.0, 0.0),
    "logsf": (0.0, -np.inf),
}
"""What a function of a distribution is below its support, and above it."""


def plain(x: Any) -> Any:
    """The numbers of an argument, as an array."""
    return np.asarray(innermost_value(x))


def double(name: str, x: Any) -> Any:
    """An argument as a double-precision array or tensor, as SciPy's distributions compute; Python floats stay as they are."""
    x = as_array(name, x)
    if np.iscomplexobj(plain(x)):
        raise NotTrackedError(
            f"{name}: got a complex argument together with a tensor, expected real numbers; pass real and imaginary"
            " part to functions of their own"
        )
    if type(x) is float or plain(x).dtype == np.float64:
        return x
    return op.astype(x, dtype=np.float64)


def instead(mask: Any, x: Any, otherwise: Any) -> Any:
    """``x`` where the mask says so, and elsewhere something harmless."""
    return x if np.all(mask) else op.where(mask, x, otherwise)


@dataclass(frozen=True)
class LocationScale:
    """A continuous distribution of ``(x - loc) / scale``, by the formulas of its standard form.

    name      its name in ``scipy.stats``
    shapes    names of its further parameters
    support   the interval outside which it has no density
    inside    a point within that interval
    logpdf, pdf, cdf, sf, ppf, isf   formulas of the variable and the shapes
    logcdf, logsf                    where there is a better way than the logarithm of the probability
    valid     for values of the shapes, where they are parameters; positive ones by default
    """

    name: str
    shapes: tuple[str, ...]
    support: tuple[float, float]
    inside: float
    logpdf: Formula
    pdf: Formula
    cdf: Formula
    sf: Formula
    ppf: Formula
    isf: Formula
    logcdf: Formula | None = None
    logsf: Formula | None = None

    def function(self, method: str) -> Callable[..., Any]:
        """The public function: SciPy's on plain values, the formula with a gradient on tensors."""
        full = f"scipy.stats.{self.name}.{method}"
        theirs = getattr(getattr(scipy.stats, self.name), method)
        variable = "q" if method in ("ppf", "isf") else "x"
        named = [Parameter(each, Parameter.POSITIONAL_OR_KEYWORD) for each in (variable, *self.shapes)]
        scaled = [
            Parameter(each, Parameter.POSITIONAL_OR_KEYWORD, default=default) for each, default in (("loc", 0.0), ("scale", 1.0))
        ]
        signature = Signature([*named, *scaled])
        run = self._quantile if variable == "q" else self._of_variable

        def call(*args: Any, **kwargs: Any) -> Any:
            if not holds_tensors(args, kwargs):
                return theirs(*args, **kwargs)
            given = signature.bind(*args, **kwargs)
            given.apply_defaults()
            x, *shapes, loc, scale = [double(full, each) for each in given.args]
            return run(method, x, shapes, loc, scale)

        call.__name__ = call.__qualname__ = method
        call.__module__ = f"autograd.scipy.stats.{self.name}"
        call.__doc__ = f"``{full}``, differentiable in {', '.join((variable, *self.shapes, 'loc'))} and scale."
        call.__signature__ = signature  # type: ignore[attr-defined]
        return call

    def _valid(self, shapes: list[Any], scale: Any) -> Any:
        valid = plain(scale) > 0
        for each in shapes:
            valid = valid & (plain(each) > 0)
        return valid

    def _of_variable(self, method: str, x: Any, shapes: list[Any], loc: Any, scale: Any) -> Any:
        valid = self._valid(shapes, scale)
        scale = instead(valid, scale, 1.0)
        shapes = [instead(valid, each, 1.0) for each in shapes]
        y = op.divide(op.subtract(x, loc), scale)
        at, (low, high) = plain(y), self.support
        inside = (at >= low) & (at <= high)
        result = self._formula(method)(instead(inside, y, self.inside), *shapes)
        if method == "pdf":
            result = op.divide(result, scale)
        elif method == "logpdf":
            result = op.subtract(result, op.log(scale))
        below, above = BELOW_AND_ABOVE[method]
        outside = np.where(valid, np.where(at < low, below, np.where(at > high, above, np.nan)), np.nan)
        return instead(inside & valid, result, outside)

    def _quantile(self, method: str, q: Any, shapes: list[Any], loc: Any, scale: Any) -> Any:
        valid = self._valid(shapes, scale)
        at = plain(q)
        inside = (at >= 0) & (at <= 1)
        shapes = [instead(valid, each, 1.0) for each in shapes]
        y = self._formula(method)(instead(inside, q, 0.5), *shapes)
        return instead(inside & valid, op.add(loc, op.multiply(scale, y)), np.nan)

    def _formula(self, method: str) -> Formula:
        formula = getattr(self, method)
        if formula is not None:
            return formula  # type: ignore[no-any-return]
        probability = self._formula(method.removeprefix("log"))
        return lambda *given: op.log(probability(*given))


def constant(function: str, argument: str, value: Any) -> Any:
    """An argument that counts, and so has no derivative; raises NotTrackedError for a tensor."""
    value = as_array(function, value)
    if type(value) is Tensor:
        refuse(function, argument, "it is a whole number: pass a plain number")
    return np.asarray(value, float)[()]


def others(name: str) -> Callable[[str], Any]:
    """The ``__getattr__`` of a distribution's module: SciPy's functions, without tensors."""

    def find(attribute: str) -> Any:
        return without_tensors(getattr(getattr(scipy.stats, name), attribute), f"scipy.stats.{name}.{attribute}")

    return find
