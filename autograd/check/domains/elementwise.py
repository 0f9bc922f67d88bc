"""Rows of the elementwise operators: the intervals of their inputs, shapes that broadcast, and mixed dtypes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from autograd.check.domains import COMPLEX, REAL, Domain, Drawn
from autograd.check.domains.drawing import Array, Draw, Interval

WIDE: Interval = (-2.0, 2.0)
APART: tuple[Interval, ...] = ((-2.0, -0.3), (0.3, 2.0))
POSITIVE: Interval = (0.3, 3.0)

Intervals = tuple[Interval, ...]


def _intervals(domain: Any) -> Intervals:
    return domain if isinstance(domain[0], tuple) else (domain,)


def elementwise(
    *domains: Any,
    complex: Any = None,
    attrs: dict[str, Sequence[Any]] | None = None,
    dtypes: tuple[str, ...] = REAL,
    note: str = "",
) -> Domain:
    """A row of one interval an input, or a tuple of intervals; ``complex`` is that of both parts of complex inputs."""

    def draw(d: Draw, dtype: str) -> Drawn:
        inputs: list[Any] = []
        for shape, domain in zip(d.broadcastable(len(domains)), domains, strict=True):
            own = mixed(d, dtype)
            inputs.append(scalar_or_array(d, d.array(shape, *_intervals(complex if own == "complex128" else domain), dtype=own)))
        return inputs, options(d, attrs or {})

    return Domain(draw, dtypes + (("complex128",) if complex is not None else ()), note=note)


def mixed(d: Draw, dtype: str) -> str:
    """The dtype, or now and then a lesser one: single beside double precision, real beside complex."""
    return {"float64": "float32", "complex128": "float64"}.get(dtype, dtype) if d.rarely(8) else dtype


def scalar_or_array(d: Draw, x: Array) -> Any:
    """An array; one without axes also as the scalar of NumPy or, in double precision, of Python that it holds."""
    if x.ndim:
        return x
    kind = d.choose(3)
    if kind == 2 and x.dtype in (np.float64, np.complex128):
        return x.item()
    return x[()] if kind else x


def options(d: Draw, attrs: dict[str, Sequence[Any]]) -> dict[str, Any]:
    """Each attribute left out, or one of its values."""
    return {name: d.pick(values) for name, values in attrs.items() if not d.flip()}


def _quotient(d: Draw, dtype: str) -> Drawn:
    """``x1 = (k + part) * x2`` with the part far from 0 and 1, where the remainder jumps."""
    shape = d.shape()
    x2 = d.array(shape, (-2.0, -0.6), (0.6, 2.0), dtype=dtype)
    parts = d.array(shape, (0.2, 0.8), dtype=dtype) + d.integers(shape, -2, 2)
    return [np.asarray(parts * x2, dtype), x2], {}


def _power(d: Draw, dtype: str) -> Drawn:
    """A positive base; one of any sign under whole exponents, which have no derivative then."""
    base, exponent = d.broadcastable(2)
    if d.rarely(3):
        return [d.array(base, *APART, dtype=dtype), d.integers(exponent, -2, 3)], {}
    part = (0.4, 1.5) if dtype == "complex128" else POSITIVE
    return [scalar_or_array(d, d.array(base, part, dtype=dtype)), scalar_or_array(d, d.array(exponent, WIDE, dtype=dtype))], {}


def _float_power(d: Draw, dtype: str) -> Drawn:
    base, exponent = d.broadcastable(2)
    return [d.array(base, POSITIVE, dtype=dtype), d.array(exponent, WIDE, dtype=dtype)], {}


def _clip(d: Draw, dtype: str) -> Drawn:
    """Bounds that broadcast, apart from all elements; either may be left out, not both."""
    shapes = d.broadcastable(3)
    a = d.array(shapes[0], (-3.0, 3.0), dtype=dtype)
    low, high = d.array(shapes[1], (-2.0, -0.5), dtype=dtype), d.array(shapes[2], (0.5, 2.0), dtype=dtype)
    bounds: Sequence[list[Any]] = ([low, high], [low, None], [None, high])
    return [a, *d.pick(bounds)], {}


def _ldexp(d: Draw, dtype: str) -> Drawn:
    shapes = d.broadcastable(2)
    return [d.array(shapes[0], WIDE, dtype=dtype), d.integers(shapes[1], -2, 3)], {}


def _heaviside(d: Draw, dtype: str) -> Drawn:
    """Whole numbers, 0 among them, have no derivative but say where the second input counts."""
    shapes = d.broadcastable(2)
    if d.rarely(4):
        return [d.array(shapes[0], *APART, dtype=dtype), d.array(shapes[1], WIDE, dtype=dtype)], {}
    signs = [d.pick((0, 1, -1)) for _ in range(math.prod(shapes[0]))]
    return [np.array(signs, np.int64).reshape(shapes[0]), d.array(shapes[1], WIDE, dtype=dtype)], {}


def _where(d: Draw, dtype: str) -> Drawn:
    condition, x, y = d.broadcastable(3)
    values = [scalar_or_array(d, d.array(shape, WIDE, dtype=mixed(d, dtype))) for shape in (x, y)]
    return [d.mask(condition), *values], {}


def _where_or_zero(d: Draw, dtype: str) -> Drawn:
    condition, x = d.broadcastable(2)
    return [d.mask(condition), d.array(x, WIDE, dtype=dtype)], {}


def _astype(d: Draw, dtype: str) -> Drawn:
    wider = {"float64": ("float64", "complex128"), "float32": ("float32", "float64", "complex128"), "complex128": ("complex128",)}
    name = d.pick(wider[dtype])
    return [d.array(d.shape(), WIDE, dtype=dtype)], {"dtype": d.pick((name, np.dtype(name), getattr(np, name)))}


def _with_order(name: str, *domains: Any, low: int, high: int) -> Domain:
    """A row of an operator whose attribute is a whole number."""

    def draw(d: Draw, dtype: str) -> Drawn:
        shapes = d.broadcastable(len(domains))
        inputs: list[Any] = [d.array(shape, *_intervals(each), dtype=dtype) for shape, each in zip(shapes, domains, strict=True)]
        return inputs, {name: d.whole(low, high)}

    return Domain(draw)


ROWS: dict[str, Domain] = {
    **{name: elementwise(WIDE, WIDE, complex=(-1.0, 1.0)) for name in ("add", "subtract", "multiply")},
    "divide": elementwise(WIDE, ((-2.0, -0.5), (0.5, 2.0)), complex=(0.4, 1.5)),
    "remainder": Domain(_quotient, note="far from the jumps at whole quotients"),
    "fmod": Domain(_quotient, note="far from the jumps at whole quotients"),
    "power": Domain(_power, COMPLEX, note="a negative base has no derivative in a real exponent"),
    "float_power": Domain(_float_power, note="a positive base; the result is in double precision"),
    **{name: elementwise(WIDE, complex=(-1.0, 1.0)) for name in ("negative", "positive", "square", "conjugate", "real", "copy")},
    "imag": elementwise(WIDE, complex=(-1.0, 1.0), dtypes=("float64", "complex128")),
    "angle": elementwise(APART, complex=(0.3, 1.5), attrs={"deg": (False, True)}, dtypes=("float64", "complex128"),
                         note="away from the cut along the negative half-line"),
    "sqrt": elementwise(POSITIVE, complex=(0.3, 1.5)),
    "cbrt": elementwise(APART),
    "reciprocal": elementwise(((-2.0, -0.4), (0.4, 2.0)), complex=(0.4, 1.5)),
    "absolute": elementwise(APART, complex=(0.3, 1.5), note="away from the kink at 0"),
    "fabs": elementwise(APART, note="away from the kink at 0"),
    "hypot": elementwise(APART, APART, note="away from the kink at 0"),
    "copysign": elementwise(APART, APART, note="away from 0"),
    "heaviside": Domain(_heaviside, note="away from the jump at 0"),
    **{name: elementwise(WIDE, WIDE, note="no ties") for name in ("maximum", "minimum", "fmax", "fmin")},
    "clip": Domain(_clip, note="no element at a bound"),
    "ldexp": Domain(_ldexp),
    "nextafter": elementwise(WIDE, WIDE, dtypes=("float64",), note="no ties"),
    "where": Domain(_where, COMPLEX),
    "where_or_zero": Domain(_where_or_zero, COMPLEX),
    "astype": Domain(_astype, COMPLEX, note="never to a dtype with fewer digits, whose rounding differences would see"),
    **{name: elementwise(WIDE, complex=(-1.0, 1.0)) for name in ("exp", "exp2", "expm1", "sin", "cos", "sinh", "cosh")},
    **{name: elementwise(POSITIVE, complex=(0.3, 1.5)) for name in ("log", "log2", "log10")},
    "log1p": elementwise((-0.6, 3.0), complex=(-0.5, 1.0)),
    "logaddexp": elementwise(WIDE, WIDE),
    "logaddexp2": elementwise(WIDE, WIDE),
    "tan": elementwise((-1.0, 1.0), complex=(-0.7, 0.7)),
    **{name: elementwise((-0.8, 0.8), complex=(-0.6, 0.6)) for name in ("arcsin", "arccos", "arctanh")},
    "arctan": elementwise(WIDE, complex=(-0.6, 0.6)),
    "arctan2": elementwise(APART, WIDE, note="away from the cut"),
    "tanh": elementwise(WIDE, complex=(-0.7, 0.7)),
    "arcsinh": elementwise(WIDE, complex=(-0.6, 0.6)),
    "arccosh": elementwise((1.3, 4.0), complex=(1.2, 2.0)),
    **{name: elementwise(WIDE) for name in ("degrees", "radians", "rad2deg", "deg2rad")},
    "sinc": elementwise(WIDE, complex=(-1.0, 1.0)),
    "sinc_derivative": _with_order("order", WIDE, low=1, high=3),
    "sigmoid": elementwise((-5.0, 5.0), complex=(-1.0, 1.0)),
    "relu": elementwise(((-3.0, -0.2), (0.2, 3.0)), note="away from the kink at 0"),
    "softplus": elementwise((-5.0, 5.0)),
    "bessel_i": _with_order("order", (-4.0, 4.0), low=0, high=3),
}  # fmt: skip
