"""NumPy-shaped polynomials, as rows of coefficients with that of the highest power first.

``numpy.poly1d`` wraps NumPy's own arrays: functions that get one together with a tensor raise NotTrackedError.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from autograd import operators as op
from autograd.errors import NotTrackedError
from autograd.numpy.arguments import as_array
from autograd.numpy.conv import convolve
from autograd.numpy.following import follows
from autograd.numpy.joining import atleast_1d
from autograd.tensor import innermost_value

__all__ = [
    "poly", "polyadd", "polyder", "polydiv", "polyfit", "polyint", "polymul", "polysub", "polyval", "roots", "vander",
]  # fmt: skip


def _coefficients(function: str, **polynomials: Any) -> list[Any]:
    """Rows of coefficients as arrays or tensors."""
    for name, each in polynomials.items():
        if isinstance(each, np.poly1d):
            raise NotTrackedError(
                f"{function}: {name} is a numpy.poly1d, which cannot go together with tensors; expected a row of coefficients:"
                f" pass {name}.coeffs"
            )
    return [atleast_1d(as_array(each)) for each in polynomials.values()]


def _plain(a: Any) -> Any:
    return np.asarray(innermost_value(a))


# -------------------------------------------------------------------------------------------------- values and roots


@follows(np.polyval, "p", "x")
def polyval(p: Any, x: Any) -> Any:
    """``p[0] * x**n + ... + p[n]``, by Horner's rule; ``x`` may have any shape.

    >>> polyval([1.0, 0.0, 2.0], 3.0)
    np.float64(11.0)
    """
    (p,) = _coefficients("polyval", p=p)
    x = as_array(x)
    if isinstance(x, np.poly1d):
        raise NotTrackedError("polyval: x is a numpy.poly1d, into which a tensor cannot be put; expected numbers or a tensor")
    y: Any = np.zeros(np.shape(innermost_value(x)), _plain(x).dtype)[()]
    for position in range(np.shape(innermost_value(p))[0]):
        y = op.add(op.multiply(y, x), p[position])
    return y


@follows(np.roots, "p")
def roots(p: Any) -> Any:
    """The zeros of a polynomial; the gradient in a multiple one does not exist, and raises GradientError when it is needed.

    >>> roots([1.0, -3.0, 2.0])
    array([2., 1.])
    """
    (p,) = _coefficients("roots", p=p)
    return op.roots(p)


@follows(np.poly, "seq_of_zeros")
def poly(seq_of_zeros: Any) -> Any:
    """The coefficients of the polynomial that has these zeros, or of the characteristic polynomial of a square matrix.

    That of a matrix is found from traces of powers (Faddeev and LeVerrier), which also has the right gradient where eigenvalues
    repeat.

    >>> poly([2.0, 1.0])
    array([ 1., -3.,  2.])
    """
    zeros = atleast_1d(as_array(seq_of_zeros))
    plain = _plain(zeros)
    if plain.ndim == 2 and plain.shape[0] == plain.shape[1] != 0:
        return _characteristic(zeros, len(plain))
    if plain.ndim != 1:
        raise ValueError(f"poly: got an array of shape {plain.shape}, expected a row of zeros or a square matrix")
    if not plain.size:
        return 1.0
    one = np.ones(1, plain.dtype)
    a: Any = one
    for position in range(len(plain)):
        a = convolve(a, op.concatenate([one, op.negative(zeros[position : position + 1])]))
    if plain.dtype.kind == "c" and np.array_equal(np.sort(plain), np.sort(plain.conj())):
        return op.real(a)
    return a


def _characteristic(matrix: Any, n: int) -> Any:
    """Each coefficient is minus the trace of ``matrix @ power`` over its number, and goes into the next power."""
    unit = np.eye(n, dtype=matrix.dtype)
    coefficients: list[Any] = [np.ones((), matrix.dtype)]
    power: Any = unit
    for number in range(1, n + 1):
        product = op.matmul(matrix, power)
        coefficients.append(op.divide(op.sum(op.diagonal(product)), -float(number)))
        power = op.add(product, op.multiply(coefficients[-1], unit))
    return op.stack(coefficients)


@follows(np.vander, "x")
def vander(x: Any, N: int | None = None, increasing: bool = False) -> Any:
    """The matrix whose columns are the powers of ``x`` below ``N``, falling from left to right; ``len(x)`` of them by default.

    With one column or none it is a constant.

    >>> vander([2.0, 3.0])
    array([[2., 1.],
           [3., 1.]])
    """
    x = as_array(x)
    shape = np.shape(innermost_value(x))
    if len(shape) != 1:
        raise ValueError(f"x must be a one-dimensional array or sequence; got shape {shape}")
    x = op.astype(x, dtype=np.promote_types(_plain(x).dtype, int))
    length, columns = shape[0], shape[0] if N is None else N
    ones = np.ones((length, min(columns, 1)), x.dtype)
    if columns <= 1:
        return ones
    repeated = op.broadcast_to(op.reshape(x, shape=(length, 1)), shape=(length, columns - 1))
    powers = op.concatenate([ones, op.cumprod(repeated, axis=1)], axis=1)
    return powers if increasing else op.flip(powers, axis=1)


# -------------------------------------------------------------------------------------------------- arithmetic


def _filled(a: Any, length: int) -> Any:
    """Coefficients with zeros in front, up to a length."""
    missing = length - np.shape(innermost_value(a))[0]
    return a if missing <= 0 else op.concatenate([np.zeros(missing, _plain(a).dtype), a])


def _same_length(function: str, a1: Any, a2: Any) -> tuple[Any, Any]:
    a1, a2 = _coefficients(function, a1=a1, a2=a2)
    length = max(np.shape(innermost_value(each))[0] for each in (a1, a2))
    return _filled(a1, length), _filled(a2, length)


@follows(np.polyadd, "a1", "a2")
def polyadd(a1: Any, a2: Any) -> Any:
    """The sum of two polynomials.

    >>> polyadd([1.0, 2.0], [5.0])
    array([1., 7.])
    """
    return op.add(*_same_length("polyadd", a1, a2))


@follows(np.polysub, "a1", "a2")
def polysub(a1: Any, a2: Any) -> Any:
    """The difference of two polynomials.

    >>> polysub([1.0, 2.0], [5.0])
    array([ 1., -3.])
    """
    return op.subtract(*_same_length("polysub", a1, a2))


@follows(np.polymul, "a1", "a2")
def polymul(a1: Any, a2: Any) -> Any:
    """The product of two polynomials, whose leading zeros do not count.

    >>> polymul([1.0, 2.0], [1.0, -2.0])
    array([ 1.,  0., -4.])
    """
    a1, a2 = _coefficients("polymul", a1=a1, a2=a2)
    return convolve(_without_leading_zeros(a1), _without_leading_zeros(a2))


def _without_leading_zeros(a: Any) -> Any:
    nonzero = np.flatnonzero(_plain(a))
    return a[int(nonzero[0]) :] if nonzero.size else a[-1:]


@follows(np.polydiv, "u", "v")
def polydiv(u: Any, v: Any) -> tuple[Any, Any]:
    """Quotient and remainder of two polynomials. Leading coefficients of the remainder that are nearly zero are left out.

    >>> polydiv([1.0, 0.0, 1.0], [1.0, 1.0])
    (array([ 1., -1.]), array([2.]))
    """
    u, v = (op.add(each, 0.0) for each in _coefficients("polydiv", u=u, v=v))
    m, n = (np.shape(innermost_value(each))[0] - 1 for each in (u, v))
    dtype = np.result_type(_plain(u), _plain(v))
    scale = op.divide(1.0, v[0])
    rest = u if _plain(u).dtype == dtype else op.astype(u, dtype=dtype)
    quotient = []
    for k in range(m - n + 1):
        quotient.append(op.multiply(scale, rest[k]))
        taken = op.multiply(quotient[-1], v)
        rest = op.concatenate([rest[:k], op.subtract(rest[k : k + n + 1], taken), rest[k + n + 1 :]])
    plain, first = _plain(rest), 0
    while first < len(plain) - 1 and np.allclose(plain[first], 0, rtol=1e-14):
        first += 1
    return (op.stack(quotient) if quotient else np.zeros(1, dtype)), rest[first:]


# -------------------------------------------------------------------------------------------------- calculus


@follows(np.polyder, "p")
def polyder(p: Any, m: int = 1) -> Any:
    """The coefficients of the derivative of order ``m``.

    >>> polyder([1.0, 0.0, 5.0])
    array([2., 0.])
    """
    m = int(m)
    if m < 0:
        raise ValueError("Order of derivative must be positive (see polyint)")
    (p,) = _coefficients("polyder", p=p)
    for _ in range(m):
        p = op.multiply(p[:-1], np.arange(np.shape(innermost_value(p))[0] - 1, 0, -1))
    return p


@follows(np.polyint, "p", "k")
def polyint(p: Any, m: int = 1, k: Any = None) -> Any:
    """The coefficients of an integral of order ``m``; ``k`` are the constants of integration, that of the first one first.

    >>> polyint([2.0, 0.0], k=5.0)
    array([1., 0., 5.])
    """
    m = int(m)
    if m < 0:
        raise ValueError("Order of integral must be positive (see polyder)")
    (p,) = _coefficients("polyint", p=p)
    constants = atleast_1d(as_array(np.zeros(m) if k is None else k))
    given = np.shape(innermost_value(constants))[0]
    if given < m and given != 1:
        raise ValueError(f"polyint: got {given} constants k for an integral of order {m}, expected one, or one for each")
    for number in range(m):
        at = number if given > 1 else 0
        divided = op.divide(p, np.arange(np.shape(innermost_value(p))[0], 0, -1))
        p = op.concatenate([divided, constants[at : at + 1]])
    return p


# -------------------------------------------------------------------------------------------------- fits


@follows(np.polyfit, "x", "y", "w")
def polyfit(
    x: Any, y: Any, deg: int, rcond: float | None = None, full: bool = False, w: Any = None, cov: bool | str = False
) -> Any:
    """The polynomial of degree ``deg`` that fits points best, by least squares; ``w`` are the weights of the points.

    The gradient exists where the fit is unique: as many different points as coefficients, or more.

    >>> [round(each, 9) for each in polyfit([0.0, 1.0, 2.0], [1.0, 3.0, 5.0], 1).tolist()]
    [2.0, 1.0]
    """
    from autograd.numpy import linalg

    x, y, order = op.add(as_array(x), 0.0), op.add(as_array(y), 0.0), int(deg) + 1
    x_shape, y_shape = (np.shape(innermost_value(each)) for each in (x, y))
    if deg < 0:
        raise ValueError(f"polyfit: got deg={deg}, expected 0 or more")
    if len(x_shape) != 1 or not x_shape[0]:
        raise TypeError(f"polyfit: got x of shape {x_shape}, expected a vector with at least one point")
    if len(y_shape) not in (1, 2) or y_shape[0] != x_shape[0]:
        raise TypeError(f"polyfit: got y of shape {y_shape}, expected ({x_shape[0]},) or ({x_shape[0]}, K), for x of {x_shape}")
    rcond = x_shape[0] * np.finfo(x.dtype).eps if rcond is None else rcond
    left, right = vander(x, order), y
    if w is not None:
        w = op.add(as_array(w), 0.0)
        if np.shape(innermost_value(w)) != x_shape:
            raise TypeError(f"polyfit: got w of shape {np.shape(innermost_value(w))}, expected {x_shape}, that of x")
        left = op.multiply(left, op.reshape(w, shape=(-1, 1)))
        right = op.multiply(right, op.reshape(w, shape=(-1,) + (1,) * (len(y_shape) - 1)))
    scale = op.sqrt(op.sum(op.multiply(left, left), axis=0))
    left = op.divide(left, scale)
    c, residuals, rank, singular_values = linalg.lstsq(left, right, rcond)
    c = op.divide(c, op.reshape(scale, shape=(-1,) + (1,) * (len(y_shape) - 1)))
    if full:
        return c, residuals, rank, singular_values, rcond
    if not cov:
        return c
    base = linalg.inv(op.matmul(op.transpose(left), left))
    base = op.divide(base, op.multiply(op.reshape(scale, shape=(-1, 1)), scale))
    if cov != "unscaled":
        if x_shape[0] <= order:
            raise ValueError(f"polyfit: got {x_shape[0]} points and {order} coefficients, expected more points, to scale cov")
        factor = op.divide(residuals, x_shape[0] - order)
        base = op.multiply(base if len(y_shape) == 1 else op.reshape(base, shape=(order, order, 1)), factor)
    elif len(y_shape) == 2:
        base = op.reshape(base, shape=(order, order, 1))
    return c, base
