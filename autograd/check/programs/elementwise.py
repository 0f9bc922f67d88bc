"""How a random program takes a step that works element by element, and where such operators are smooth."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from autograd.check.programs.drawing import Drawing, is_anything

Move = Callable[[Drawing], object]
"""One try to add a step, with what it needs before it; it may add none."""

APART = 0.1
"""How far a value keeps from a kink."""


class Domain(NamedTuple):
    """The values that an operator takes: ``has`` tests one, ``make`` makes one if there is none."""

    has: Callable[[Any], bool]
    make: Callable[[Drawing], str | None]


def _made_small(d: Drawing) -> str | None:
    name = d.find()
    bounded = name and d.add("tanh", name)
    return bounded and d.add("multiply", bounded, d.constant(0.75))


def _made_positive(d: Drawing) -> str | None:
    name = d.find(is_moderate)
    squared = name and d.add("square", name)
    return squared and d.add("add", squared, d.constant(d.one_of(0.5, 1.5)))


def _made_above_one(d: Drawing) -> str | None:
    name = _made_positive(d)
    return name and d.add("add", name, d.constant(1.0))


def is_small(v: Any) -> bool:
    """Whether all elements are well inside the unit circle."""
    return bool(np.all(np.abs(v) <= 0.8))


def is_moderate(v: Any) -> bool:
    """Whether no element is so large that its exponential is."""
    return bool(np.all(np.abs(v) <= 2.5))


def is_positive(v: Any) -> bool:
    """Whether the real part is well above zero everywhere."""
    return bool(np.all(v.real >= 0.3))


def is_nonzero(v: Any) -> bool:
    """Whether all elements are well away from zero."""
    return bool(np.all(np.abs(v) >= 0.3))


ANY = Domain(is_anything, lambda d: d.find())
SMALL = Domain(is_small, _made_small)
MODERATE = Domain(is_moderate, _made_small)
POSITIVE = Domain(is_positive, _made_positive)
NONZERO = Domain(is_nonzero, _made_positive)
ABOVE_ONE = Domain(lambda v: bool(np.all(v >= 1.2)), _made_above_one)

UNARY: dict[str, tuple[Domain, str]] = {
    **dict.fromkeys(["negative", "positive", "square", "copy", "conjugate"], (ANY, "fc")),
    **dict.fromkeys(["radians", "deg2rad", "sinc", "sigmoid", "softplus", "tanh", "arctan", "arcsinh"], (ANY, "f")),
    **dict.fromkeys(["sin", "cos", "exp", "sinh", "cosh", "expm1", "exp2"], (MODERATE, "fc")),
    **dict.fromkeys(["tan", "arcsin", "arccos", "arctanh", "log1p"], (SMALL, "fc")),
    **dict.fromkeys(["degrees", "rad2deg"], (SMALL, "f")),
    **dict.fromkeys(["log", "log2", "log10", "sqrt"], (POSITIVE, "fc")),
    "cbrt": (NONZERO, "f"),
    "reciprocal": (NONZERO, "fc"),
    "arccosh": (ABOVE_ONE, "f"),
}
"""Smooth operators of one value: where they are, and for which kinds of dtype."""

KINKED = {"absolute": "fc", "fabs": "f", "relu": "f"}
"""Operators of one value that have a kink at zero."""

COMPLEX = ("real", "imag", "absolute", "angle")
"""How a complex value becomes a real one."""


def _unary(operator: str, domain: Domain, kinds: str, d: Drawing) -> str | None:
    name = d.find(domain.has, kinds) or domain.make(d)
    return name and d.add(operator, name)


def _kinked(operator: str, kinds: str, d: Drawing) -> str | None:
    name = d.find(lambda v: d.far(np.abs(v) >= APART), kinds)
    return name and d.add(operator, name)


def made_real(d: Drawing, name: str | None, how: str | None = None) -> str | None:
    """Make a real value of a complex one."""
    how = how or d.one_of(*COMPLEX)
    if name is None or (how in COMPLEX[2:] and not d.far(np.abs(d.value(name)) >= APART)):
        return None
    if how != "angle":
        return d.add(how, name)
    v = d.value(name)
    if not d.far((v.real >= APART) | (np.abs(v.imag) >= APART)):  # the cut, where the angle jumps
        return None
    return d.add("angle", name, **({"deg": True} if d.pick(4) == 3 else {}))


def _of_complex(how: str, d: Drawing) -> str | None:
    return made_real(d, d.find(kinds="c") or made_complex(d), how)


def made_complex(d: Drawing) -> str | None:
    """Make a complex value of a real one."""
    name = d.find()
    return name and d.add("multiply", name, d.constant(complex(d.number(), d.number())))


# --------------------------------------------------------------------------------------------------- of two values


def broadcasts(d: Drawing, name: str) -> Callable[[Any], bool]:
    """The test of a value that broadcasts with the one of that name."""
    shape = d.value(name).shape

    def test(v: Any) -> bool:
        return all(m == n or 1 in (m, n) for m, n in zip(v.shape[::-1], shape[::-1], strict=False))

    return test


def other(d: Drawing, name: str, kinds: str = "f") -> str:
    """A second operand: another value that broadcasts, the same once more, or a constant."""
    kind = d.pick(5)
    found = d.find(broadcasts(d, name), kinds) if kind < 3 else name if kind == 3 else None
    if found is None:
        shape = d.value(name).shape
        kind = d.pick(3)
        return d.constant(d.number() if kind == 0 else d.numbers(shape if kind == 1 else shape[-1:]), like=name)
    return found


def _binary(operator: str, accepts: Callable[[Any, Any], Any], kinds: str, d: Drawing) -> str | None:
    """An operator of two values, in either order, where it is smooth."""
    first = d.find(kinds=kinds)
    if first is None:
        return None
    second = other(d, first, kinds)
    if d.flip():
        first, second = second, first
    if operator not in SMOOTH and not d.far(accepts(d.value(first), d.value(second))):
        return None
    return d.add(operator, first, second)


def _of_denominator(operator: str, d: Drawing) -> str | None:
    second = d.find(is_nonzero, "fc" if operator == "divide" else "f") or _made_positive(d)
    first = second and other(d, second, "fc" if operator == "divide" else "f")
    if not first or not second:
        return None
    x1, x2 = d.value(first), d.value(second)
    if operator != "divide":
        quotient = x1 / x2
        if not d.far(np.abs(quotient - np.rint(quotient)) >= APART):
            return None
    return d.add(operator, first, second)


def _power(operator: str, d: Drawing) -> str | None:
    if d.flip():
        name = d.find(is_moderate)
        return name and d.add(operator, name, d.constant(float(d.one_of(2, 3, 1))))
    base = d.find(is_positive) or _made_positive(d)
    exponent = base and (d.find(lambda v: is_moderate(v) and broadcasts(d, base)(v)) or d.constant(d.number()))
    return exponent and base and d.add(operator, base, exponent)


def _apart(x1: Any, x2: Any) -> Any:
    return np.abs(x1 - x2) >= APART


SMOOTH = ("add", "subtract", "multiply", "logaddexp", "logaddexp2")

BINARY: dict[str, tuple[Callable[[Any, Any], Any], str]] = {
    **dict.fromkeys(["add", "subtract", "multiply"], (_apart, "fc")),
    **dict.fromkeys(["logaddexp", "logaddexp2"], (_apart, "f")),
    **dict.fromkeys(["maximum", "minimum", "fmax", "fmin"], (_apart, "f")),
    "hypot": (lambda x1, x2: np.hypot(x1, x2) >= 0.3, "f"),
    "arctan2": (lambda x1, x2: (np.hypot(x1, x2) >= 0.3) & ((x2 > APART) | (np.abs(x1) > APART)), "f"),
    "copysign": (lambda x1, x2: (np.abs(x1) >= APART) & (np.abs(x2) >= APART), "f"),
}
"""Operators of two values: where they are smooth, and for which kinds of dtype."""


# ------------------------------------------------------------------------------------------- with constants beside


def _bessel_i(d: Drawing) -> str | None:
    name = d.find(is_moderate)
    return name and d.add("bessel_i", name, order=d.pick(4))


def _clip(d: Drawing) -> str | None:
    name = d.find()
    if name is None:
        return None
    v, low = d.value(name), d.number()
    high = low + 1.5
    if not d.far((np.abs(v - low) >= APART) & (np.abs(v - high) >= APART)):
        return None
    limits = d.one_of((low, high), (low, None), (None, high))
    names = [d.constant(each) for each in limits]
    return d.add("clip", name, *names)


def _ldexp(d: Drawing) -> str | None:
    name = d.find()
    if name is None:
        return None
    exponents = np.array([d.pick(4) - 1 for _ in range(d.value(name).size)], int).reshape(d.value(name).shape)
    return d.add("ldexp", name, d.constant(exponents))


def _nextafter(d: Drawing) -> str | None:
    name = d.find(is_nonzero)
    return name and d.add("nextafter", name, d.constant(d.one_of(9.0, -9.0)))


def _where(d: Drawing) -> str | None:
    name = d.find(kinds="fc")
    if name is None:
        return None
    branches = [name, other(d, name, "fc")]
    if d.flip():
        branches.reverse()
    shape = d.value(name).shape
    return d.add("where", d.constant(d.mask(d.one_of(shape, shape[-1:]))), *branches)


def _where_or_zero(d: Drawing) -> str | None:
    name = d.find(kinds="fc")
    return name and d.add("where_or_zero", d.constant(d.mask(d.value(name).shape)), name)


MOVES: dict[str, Move] = {
    **{name: partial(_binary, name, accepts, kinds) for name, (accepts, kinds) in BINARY.items()},
    **{name: partial(_unary, name, domain, kinds) for name, (domain, kinds) in UNARY.items()},
    **{name: partial(_kinked, name, kinds) for name, kinds in KINKED.items()},
    **{name: partial(_of_complex, name) for name in ("real", "imag", "angle")},
    **{name: partial(_of_denominator, name) for name in ("divide", "remainder", "fmod")},
    **{name: partial(_power, name) for name in ("power", "float_power")},
    "bessel_i": _bessel_i,
    "clip": _clip,
    "ldexp": _ldexp,
    "nextafter": _nextafter,
    "where": _where,
    "where_or_zero": _where_or_zero,
}
"""One way to draw a step for each operator, simplest first."""
