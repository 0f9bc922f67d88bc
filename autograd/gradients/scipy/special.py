"""Gradients of special functions: error, gamma and logistic functions, logarithms of sums and products.

The formulas are those of the Digital Library of Mathematical Functions (dlmf.nist.gov), chapters 5 and 7.
"""

import math

import numpy as np

from autograd import operators as op
from autograd.errors import NotTrackedError
from autograd.gradients.products import sum_broadcast
from autograd.tensor import innermost_value
from registry.gradients import gradient
from registry.numpy_backend.scipy import special as _declared  # noqa: F401  # the operators come first

_ROOT_PI = math.sqrt(math.pi)
_TWO_OVER_ROOT_PI = 2.0 / _ROOT_PI


# -------------------------------------------------------------------------------------------------- error functions


@gradient("erf", inputs_to_save=("x",), elementwise=True)
def erf(dy, saved, attrs):
    (x,) = saved
    return {"x": lambda: dy * (_TWO_OVER_ROOT_PI * op.exp(-op.square(x)))}


@gradient("erfc", inputs_to_save=("x",), elementwise=True)
def erfc(dy, saved, attrs):
    (x,) = saved
    return {"x": lambda: dy * (-_TWO_OVER_ROOT_PI * op.exp(-op.square(x)))}


@gradient("erfi", inputs_to_save=("x",), elementwise=True)
def erfi(dy, saved, attrs):
    (x,) = saved
    return {"x": lambda: dy * (_TWO_OVER_ROOT_PI * op.exp(op.square(x)))}


_FAR = 25.0


def _far_series(u):
    """``1 + 3/2 u + 15/4 u**2 + ...``: the series of erfcx and dawsn far out, term by term (DLMF 7.12.1)."""
    return 1.0 + u * (1.5 + u * (3.75 + u * (13.125 + u * (59.0625 + 324.84375 * u))))


@gradient("erfcx", inputs_to_save=("x",), outputs_to_save=True, elementwise=True)
def erfcx(dy, saved, attrs):
    x, y = saved

    def slope():
        near = 2.0 * (x * y) - _TWO_OVER_ROOT_PI
        far = np.greater(np.real(innermost_value(x)), _FAR)
        if not far.any():
            return near
        u = op.reciprocal(op.square(op.where(far, x, _FAR)))  # the two terms cancel there
        return op.where(far, (-1.0 / _ROOT_PI) * u * _far_series(-u), near)

    return {"x": lambda: dy * slope()}


@gradient("dawsn", inputs_to_save=("x",), outputs_to_save=True, elementwise=True)
def dawsn(dy, saved, attrs):
    x, y = saved

    def slope():
        near = 1.0 - 2.0 * (x * y)
        far = np.greater(np.abs(np.real(innermost_value(x))), _FAR)
        if not far.any():
            return near
        u = op.reciprocal(op.square(op.where(far, x, _FAR)))  # the two terms cancel there
        return op.where(far, -0.5 * u * _far_series(u), near)

    return {"x": lambda: dy * slope()}


@gradient("erfinv", outputs_to_save=True, elementwise=True)
def erfinv(dy, saved, attrs):
    (y,) = saved
    return {"x": lambda: dy * (_ROOT_PI / 2.0 * op.exp(op.square(y)))}


@gradient("erfcinv", outputs_to_save=True, elementwise=True)
def erfcinv(dy, saved, attrs):
    (y,) = saved
    return {"x": lambda: dy * (-_ROOT_PI / 2.0 * op.exp(op.square(y)))}


@gradient("ndtr", inputs_to_save=("x",), elementwise=True)
def ndtr(dy, saved, attrs):
    (x,) = saved
    return {"x": lambda: dy * (op.exp(-0.5 * op.square(x)) / math.sqrt(2.0 * math.pi))}


@gradient("log_ndtr", inputs_to_save=("x",), elementwise=True)
def log_ndtr(dy, saved, attrs):
    """The density over the probability, which is never 0 by 0 in this form."""
    (x,) = saved
    return {"x": lambda: dy * op.divide(math.sqrt(2.0 / math.pi), op.erfcx(x * -math.sqrt(0.5)))}


@gradient("ndtri", outputs_to_save=True, elementwise=True)
def ndtri(dy, saved, attrs):
    (y,) = saved
    return {"x": lambda: dy * (math.sqrt(2.0 * math.pi) * op.exp(0.5 * op.square(y)))}


# -------------------------------------------------------------------------------------------------- gamma functions


@gradient("psi", inputs_to_save=("x",), elementwise=True)
def psi(dy, saved, attrs):
    (x,) = saved
    if np.iscomplexobj(innermost_value(x)):
        return {"x": lambda: _refuse_complex("psi")}
    return {"x": lambda: dy * op.scipy_polygamma(x, n=1)}


def _refuse_complex(name):
    raise NotTrackedError(
        f"{name}: its derivative at complex numbers needs polygamma, which SciPy has for real ones alone; pass real numbers"
    )


@gradient("scipy_polygamma", inputs_to_save=("x",), elementwise=True)
def polygamma(dy, saved, attrs):
    (x,) = saved
    return {"x": lambda: dy * op.scipy_polygamma(x, n=np.add(attrs["n"], 1))}


@gradient("gamma", inputs_to_save=("x",), outputs_to_save=True, elementwise=True)
def gamma(dy, saved, attrs):
    x, y = saved
    return {"x": lambda: dy * (y * op.psi(x))}


@gradient("gammaln", inputs_to_save=("x",), elementwise=True)
def gammaln(dy, saved, attrs):
    (x,) = saved
    return {"x": lambda: dy * op.psi(x)}


@gradient("rgamma", inputs_to_save=("x",), elementwise=True)
def rgamma(dy, saved, attrs):
    (x,) = saved

    def slope():
        plain = innermost_value(x)
        left = np.less(np.real(plain), 0.5)
        if not left.any():
            return -(op.rgamma(x) * op.psi(x))
        right = op.where(left, 1.0, x)
        # The reciprocal is entire, but psi has poles: 1 / G(x) = G(1 - x) sin(pi x) / pi on the left (DLMF 5.5.3).
        near = np.where(left, plain, 0.0)
        mirrored = op.where(left, op.subtract(1.0, x), 1.0)
        turn = math.pi * op.subtract(op.where(left, x, 0.0), 2.0 * np.round(np.real(near) / 2.0))
        reflected = op.gamma(mirrored) * (op.cos(turn) - op.psi(mirrored) * op.sin(turn) / math.pi)
        return op.where(left, reflected, -(op.rgamma(right) * op.psi(right)))

    return {"x": lambda: dy * slope()}


@gradient("beta", inputs_to_save=("a", "b"), outputs_to_save=True, elementwise=True)
def beta(dy, saved, attrs):
    a, b, y = saved
    return {
        "a": lambda: dy * y * op.subtract(op.psi(a), op.psi(op.add(a, b))),
        "b": lambda: dy * y * op.subtract(op.psi(b), op.psi(op.add(a, b))),
    }


@gradient("betaln", inputs_to_save=("a", "b"), elementwise=True)
def betaln(dy, saved, attrs):
    a, b = saved
    return {
        "a": lambda: dy * op.subtract(op.psi(a), op.psi(op.add(a, b))),
        "b": lambda: dy * op.subtract(op.psi(b), op.psi(op.add(a, b))),
    }


# -------------------------------------------------------------------------------------------------- logistic functions


@gradient("expit", inputs_to_save=("x",), outputs_to_save=True, elementwise=True)
def expit(dy, saved, attrs):
    x, y = saved
    return {"x": lambda: dy * (y * op.expit(-x))}  # y * (1 - y) would be 0 from x = 37 on


@gradient("log_expit", inputs_to_save=("x",), elementwise=True)
def log_expit(dy, saved, attrs):
    (x,) = saved
    return {"x": lambda: dy * op.expit(-x)}


@gradient("logit", inputs_to_save=("x",), elementwise=True)
def logit(dy, saved, attrs):
    (x,) = saved
    return {"x": lambda: op.divide(dy, x * (1.0 - x))}


# -------------------------------------------------------------------------------------------------- entropies

# x log y is 0 for x = 0 whatever y is, so that its derivative in y is 0 there too.


def _quotient(x, y):
    """``x / y``, and 0 for ``x = 0``."""
    zero = np.equal(innermost_value(x), 0) & np.equal(innermost_value(y), 0)
    return op.divide(x, op.where(zero, 1.0, y) if zero.any() else y)


@gradient("xlogy", inputs_to_save=("x", "y"), elementwise=True)
def xlogy(dy, saved, attrs):
    x, y = saved
    return {"x": lambda: dy * op.log(y), "y": lambda: dy * _quotient(x, y)}


@gradient("xlog1py", inputs_to_save=("x", "y"), elementwise=True)
def xlog1py(dy, saved, attrs):
    x, y = saved
    return {"x": lambda: dy * op.log1p(y), "y": lambda: dy * _quotient(x, op.add(y, 1.0))}


@gradient("entr", inputs_to_save=("x",), elementwise=True)
def entr(dy, saved, attrs):
    (x,) = saved
    return {"x": lambda: dy * (-1.0 - op.log(x))}


@gradient("rel_entr", inputs_to_save=("x", "y"), elementwise=True)
def rel_entr(dy, saved, attrs):
    x, y = saved
    return {"x": lambda: dy * (op.log(op.divide(x, y)) + 1.0), "y": lambda: -(dy * _quotient(x, y))}


@gradient("kl_div", inputs_to_save=("x", "y"), elementwise=True)
def kl_div(dy, saved, attrs):
    x, y = saved
    return {"x": lambda: dy * op.log(op.divide(x, y)), "y": lambda: dy * (1.0 - _quotient(x, y))}


# -------------------------------------------------------------------------------------------------- logsumexp


def _widened(y, attrs, ndim):
    """``y``, or a cotangent of it, with the folded axes as axes of length one, counted from the end."""
    if attrs["keepdims"] or not ndim:
        return y
    axis = attrs["axis"]
    axes = range(ndim) if axis is None else axis if isinstance(axis, tuple | list) else (axis,)
    shape = list(np.shape(innermost_value(y)))
    for each in sorted((each % ndim) - ndim for each in axes)[::-1]:
        shape.insert(len(shape) + 1 + each, 1)
    return op.reshape(y, shape=shape)


def _shares(saved, full, attrs):
    """The derivative of the logarithm in each weight: ``exp(a - y)``, with the sign of the sum; and the logarithm, widened."""
    a, b, y, sign = saved[:4]
    total = _widened(y, attrs, len(full))
    limit = np.isinf(innermost_value(total))
    if not limit.any():
        share = op.exp(op.subtract(a, total))
    else:  # beside an infinite element the finite ones vanish, and equal infinities share; a sum of nothing has none
        infinite = np.isposinf(np.real(innermost_value(a)))
        axes = tuple(k for k, length in enumerate(np.shape(innermost_value(total))) if length == 1)
        count = np.maximum(np.sum(np.broadcast_to(infinite, full), axes, keepdims=True), 1)
        finite = op.exp(op.where(limit, 0.0, op.subtract(a, total)))
        share = op.where(limit, (infinite / count).astype(finite.dtype), finite)
    return (share if b is None else share * _widened(innermost_value(sign), attrs, len(full))), innermost_value(total)


def _in_exponent(share, b):
    """The derivative of the logarithm in an exponent: what has the weight 0 is not there, be it infinite."""
    if b is None:
        return share
    weight = share * b
    absent = np.equal(innermost_value(b), 0) & ~np.isfinite(innermost_value(weight))
    return op.where(absent, 0.0, weight) if absent.any() else weight


def _unless_zero(g, factor, total):
    """``g``, and exactly 0 where the logarithm is not a number but does not count, its factor being 0."""
    undefined = np.isnan(total)
    if not undefined.any():
        return g
    silent = np.equal(innermost_value(factor), 0) & ~np.isfinite(innermost_value(g))
    return op.where(silent, 0.0, g) if silent.any() else g


def _full_shape(saved):
    a, b = saved[4:]
    return np.broadcast_shapes(a.shape, () if saved[1] is None else b.shape)


def _logsumexp_tangent(tangents, saved, attrs):
    b, y, sign, full = saved[1], saved[2], saved[3], _full_shape(saved)
    share, total = _shares(saved, full, attrs)
    change = op.zeros(shape=np.shape(innermost_value(y)), dtype=np.result_type(innermost_value(y)))
    for name, weight in (("a", _in_exponent(share, b)), ("b", share)):
        t = tangents[name]
        if t is not None:
            part = op.broadcast_to(_unless_zero(t * weight, t, total), shape=full)
            change = op.add(change, op.sum(part, axis=attrs["axis"], keepdims=attrs["keepdims"]))
    return change, op.zeros(shape=np.shape(innermost_value(sign)), dtype=np.result_type(innermost_value(sign)))


@gradient(
    "scipy_logsumexp",
    inputs_to_save=("a", "b"),
    infos_to_save=("a", "b"),
    outputs_to_save=(True, True),
    accepts_none=True,
    jvp_func=_logsumexp_tangent,
)
def logsumexp(dy, saved, attrs):
    _, b, _, _, info_a, info_b = saved
    full = _full_shape(saved)
    ndim = len(full)
    dy_y = op.multiply(dy[1], 0.0) if dy[0] is None else dy[0]  # of the sign alone nothing comes back

    def folded(weight, total, shape):
        factor = _widened(dy_y, attrs, ndim)
        g = _unless_zero(factor * weight, factor, total)
        whole = g.shape[: len(g.shape) - ndim] + full
        return sum_broadcast(g if g.shape == whole else op.broadcast_to(g, shape=whole), shape, ndim)

    def da():
        share, total = _shares(saved, full, attrs)
        return folded(_in_exponent(share, b), total, info_a.shape)

    def db():
        share, total = _shares(saved, full, attrs)
        return folded(share, total, () if b is None else info_b.shape)

    return {"a": da, "b": db}
