"""Rows of the operators that SciPy computes: special functions, incomplete integrals, matrix equations, convolution."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from autograd.check.domains import COMPLEX, Domain, Drawn
from autograd.check.domains.drawing import Draw, Interval
from autograd.check.domains.elementwise import elementwise, options
from autograd.check.domains.matrices import square

UNIT: Interval = (-1.0, 1.0)
RIGHT: Interval = (0.4, 4.0)
SHAPE: Interval = (0.7, 5.0)
PART: Interval = (0.1, 0.9)


def _of_order(low: int = 0) -> Callable[[Draw, str], Drawn]:
    """A whole order, which has no derivative, and an argument on the right."""

    def draw(d: Draw, dtype: str) -> Drawn:
        order, argument = d.broadcastable(2)
        part = (0.4, 2.0) if dtype == "complex128" else RIGHT
        return [d.integers(order, low, 3), d.array(argument, part, dtype=dtype)], {}

    return draw


def _precise(*domains: Interval, attrs: tuple[dict[str, Any], ...] = ({},)) -> Domain:
    """A row of an operator that is computed by a series or an integral, with one of the sets of attributes."""

    def draw(d: Draw, dtype: str) -> Drawn:
        shapes = d.broadcastable(len(domains))
        inputs: list[Any] = [d.array(shape, domain, dtype=dtype) for shape, domain in zip(shapes, domains, strict=True)]
        return inputs, d.pick(attrs)

    return Domain(draw, ("float64",), note="double precision: the kernel is a series or an integral")


def _polygamma(d: Draw, dtype: str) -> Drawn:
    x = d.array(d.shape(), (0.6, 4.0), dtype=dtype)
    return [x], {"n": d.integers(x.shape[-1:], 0, 2) if d.rarely(4) else d.whole(0, 2)}


def _logsumexp(d: Draw, dtype: str) -> Drawn:
    a = d.array(d.shape(1, sides=(1, 2, 3)), (-1.0, 1.0), dtype=dtype)
    b = None
    if d.flip():
        b = d.array(d.broadcastable(2, a.shape)[1], (0.3, 2.0), dtype=dtype)
    attrs = {"axis": d.axis(a.ndim, several=True, optional=True)} if d.flip() else {}
    return [a, b], attrs | options(d, {"keepdims": (False, True)})


def _matrix(d: Draw, dtype: str, n: int, shift: float) -> Any:
    return (d.array((n, n), (-0.3, 0.3), dtype=dtype) + np.diag(shift + np.arange(n))).astype(dtype)


def _triangular(d: Draw, dtype: str) -> Drawn:
    n = d.whole(1, 3)
    b = d.array((*d.pick(((), (2,))), n, d.pick((1, 2, 0))), UNIT, dtype=dtype)
    return [_matrix(d, dtype, n, 1.0), b], options(
        d, {"trans": (0, 1, "T"), "lower": (False, True), "unit_diagonal": (False, True)}
    )


def _banded(d: Draw, dtype: str) -> Drawn:
    """A strong diagonal, and bands whose corners the matrix does not have."""
    n, lower, upper = 3, d.whole(0, 1), d.whole(0, 1)
    ab = d.array((lower + upper + 1, n), (-0.3, 0.3), dtype=dtype)
    ab[upper] += 2
    return [ab, d.array((n, d.whole(1, 2)), UNIT, dtype=dtype)], {"l_and_u": (lower, upper)}


def _sylvester(d: Draw, dtype: str) -> Drawn:
    n, m = d.whole(1, 2), d.whole(1, 2)
    return [_matrix(d, dtype, n, 1.0), _matrix(d, dtype, m, 1.5), d.array((n, m), UNIT, dtype=dtype)], {}


def _convolve(d: Draw, dtype: str) -> Drawn:
    p, q, depth = d.whole(1, 2), d.whole(1, 2), d.whole(1, 2)
    attrs = options(d, {"mode": ("full", "valid"), "method": ("auto", "direct", "fft")})
    ndim = d.whole(1, 2)
    large, small = (3,) * ndim, (d.whole(1, 2),) * ndim
    if ndim == 2:
        depth = 1
    return [d.array((p, depth, *large), UNIT, dtype=dtype), d.array((q, depth, *small), UNIT, dtype=dtype)], attrs


_ORDER = "whole orders: the derivative in the order is not provided"
_ORDERS = ({"order": 1}, {"order": 2})
_TWO_ORDERS = ({"order_a": 1, "order_b": 0}, {"order_a": 0, "order_b": 1}, {"order_a": 1, "order_b": 1})
_POLES = ((0.6, 4.0), (-1.8, -1.2))

ROWS: dict[str, Domain] = {
    **{name: elementwise((-4.0, 4.0)) for name in ("j0", "j1", "i0", "i1")},
    **{name: elementwise(((-4.0, -0.3), (0.3, 4.0)), note="away from the kink at 0") for name in ("i0e", "i1e")},
    **{name: elementwise(RIGHT) for name in ("y0", "y1", "k0", "k1", "k0e", "k1e")},
    **{name: Domain(_of_order(), COMPLEX, note=_ORDER) for name in ("jv", "yv", "iv", "ive", "kv", "kve")},
    "yn": Domain(_of_order(), note=_ORDER),
    **{name: elementwise((-2.0, 2.0), complex=UNIT) for name in ("erf", "erfc", "erfcx", "dawsn")},
    "erfi": elementwise(UNIT, complex=UNIT),
    "erfinv": elementwise((-0.9, 0.9)),
    "erfcinv": elementwise((0.1, 1.9)),
    "ndtr": elementwise((-3.0, 3.0), complex=UNIT),
    "ndtri": elementwise((0.05, 0.95)),
    "log_ndtr": elementwise((-6.0, 3.0)),
    "gamma": elementwise(_POLES),
    "gammaln": elementwise(_POLES),
    "psi": elementwise(_POLES),
    "rgamma": elementwise((-2.9, 4.0)),
    "entr": elementwise((0.2, 3.0)),
    "expit": elementwise((-4.0, 4.0)),
    "log_expit": elementwise((-4.0, 4.0)),
    "logit": elementwise(PART),
    "beta": elementwise((0.5, 4.0), (0.5, 4.0)),
    "betaln": elementwise((0.5, 4.0), (0.5, 4.0)),
    "xlogy": elementwise((-2.0, 2.0), (0.3, 3.0)),
    "xlog1py": elementwise((-2.0, 2.0), (-0.6, 2.0)),
    "rel_entr": elementwise((0.3, 2.0), (0.3, 2.0)),
    "kl_div": elementwise((0.3, 2.0), (0.3, 2.0)),
    "scipy_polygamma": Domain(_polygamma, ("float64",)),
    "scipy_logsumexp": Domain(_logsumexp, note="real: complex numbers go another way"),
    "gammainc": _precise((0.5, 5.0), (0.3, 6.0)),
    "gammaincc": _precise((0.5, 5.0), (0.3, 6.0)),
    "gammaincinv": _precise(SHAPE, PART),
    "gammainccinv": _precise(SHAPE, PART),
    "betainc": _precise((0.5, 5.0), (0.5, 5.0), (0.05, 0.95)),
    "betaincc": _precise((0.5, 5.0), (0.5, 5.0), (0.05, 0.95)),
    "betaincinv": _precise(SHAPE, SHAPE, PART),
    "betainccinv": _precise(SHAPE, SHAPE, PART),
    "stdtr": _precise((0.8, 9.0), (-3.0, 3.0)),
    "stdtrit": _precise((1.5, 9.0), PART),
    "gammainc_derivative": _precise((0.5, 5.0), (0.3, 6.0), attrs=_ORDERS),
    "betainc_derivative": _precise((0.5, 5.0), (0.5, 5.0), (0.1, 0.9), attrs=_TWO_ORDERS),
    "stdtr_derivative": _precise((0.8, 9.0), (-3.0, 3.0), attrs=_ORDERS),
    "scipy_solve_triangular": Domain(_triangular, COMPLEX),
    "scipy_solve_banded": Domain(_banded, COMPLEX),
    "scipy_solve_sylvester": Domain(_sylvester, COMPLEX),
    "scipy_sqrtm": Domain(square, COMPLEX, note="positive eigenvalues"),
    "scipy_expm": Domain(square, COMPLEX),
    "scipy_convolve": Domain(_convolve, COMPLEX),
}
