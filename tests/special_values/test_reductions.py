"""Special points of functions that fold many numbers: infinities that are masked out, zeros in products, ties, nothing to add.

Expected values are worked out by hand; a comment says how where it is not seen at once.
"""

import importlib
import math
from importlib.util import find_spec

import numpy
import pytest

import autograd.numpy as np
from autograd import jacobian
from tests.special_values.table import Row, each_row

sps = importlib.import_module("autograd.scipy.special") if find_spec("scipy") else None

inf, nan, e = math.inf, math.nan, math.e
A = numpy.array
UPPER = A([True, False])
"""The first of two rows counts, the second one is masked out."""

ROWS = []


def point(kind, label, f, x, first=None, second=None, **columns):
    ROWS.append(Row(kind, label, f, x, first, second, **columns))


def upper(f):
    """What ``f`` makes of the first row."""
    return lambda x: np.where(UPPER if np.ndim(f(x)) == 1 else UPPER[:, None], f(x), 0.0)


# ------------------------------------------------------------------------------------------- infinities

KIND = "an infinity that is masked out"
ROW_INF, ROW_NAN = A([[1.0, 2.0], [inf, 3.0]]), A([[1.0, 2.0], [3.0, nan]])
SHARE = 1 / (1 + e)  # exp(1) / (exp(1) + exp(2))
ZEROS = numpy.zeros((2, 2))


def first_row(*row):
    return A([row, (0.0, 0.0)])


for name, x in (("inf", ROW_INF), ("nan", ROW_NAN)):
    point(KIND, f"prod beside {name}", upper(lambda x: np.prod(x, axis=1)), x, first_row(2, 1), first_row(1, 1))
    # half of the difference of two numbers is their deviation, and its square the variance
    point(KIND, f"var beside {name}", upper(lambda x: np.var(x, axis=1)), x, first_row(-0.5, 0.5), ZEROS)
    point(KIND, f"std beside {name}", upper(lambda x: np.std(x, axis=1)), x, first_row(-0.5, 0.5), ZEROS)
    point(KIND, f"mean beside {name}", upper(lambda x: np.mean(x, axis=1)), x, first_row(0.5, 0.5), ZEROS)
    point(KIND, f"max beside {name}", upper(lambda x: np.max(x, axis=1)), x, first_row(0, 1), ZEROS)
    # x0 + x0 x1
    point(KIND, f"cumprod beside {name}", upper(lambda x: np.cumprod(x, axis=1)), x, first_row(3, 1), first_row(1, 1))
    point(KIND, f"logsumexp beside {name}", upper(lambda x: np.logsumexp(x, axis=1)), x, first_row(SHARE, 1 - SHARE), ZEROS)
    point(KIND, f"softmax beside {name}", upper(lambda x: np.softmax(x)[:, 0]), x, SHARE * (1 - SHARE) * first_row(1, -1), ZEROS)
    point(KIND, f"log_softmax beside {name}", upper(lambda x: np.log_softmax(x)[:, 0]), x, (1 - SHARE) * first_row(1, -1), ZEROS)
    if sps:
        point(
            KIND,
            f"scipy logsumexp beside {name}",
            upper(lambda x: sps.logsumexp(x, axis=1)),
            x,
            first_row(SHARE, 1 - SHARE),
            ZEROS,
        )

point(KIND, "an exponential of inf", lambda x: np.where(x < 1, np.exp(x), 0.0), A([0.0, inf]), [1, 0], [1, 0])
point(KIND, "running products before inf", lambda x: np.cumprod(x)[:2], A([2.0, 3.0, inf]), [4, 2, 0], [1, 1, 0])  # a + a b
point(KIND, "the fraction of inf", lambda x: np.modf(x)[0], A([inf, 1.5]), [0, 1], [0, 0])
if sps:
    point(KIND, "logsumexp with weight 0 of inf", lambda x: sps.logsumexp(x, b=A([0.0, 1.0])), A([inf, 0.0]), [0, 1], [0, 0])

# ------------------------------------------------------------------------------------------- products with zeros

KIND = "a product with zeros"
MATRIX = A([[2.0, 0.0], [3.0, 1.0]])

point(KIND, "two zeros", np.prod, A([0.0, 0.0, 3.0]), [0, 0, 0], [3, 3, 0])
point(KIND, "all axes, kept", lambda x: np.prod(x, axis=(0, -1), keepdims=True), MATRIX, [[0, 6], [0, 0]], [[3, 11], [2, 6]])
point(KIND, "a negative axis", lambda x: np.prod(x, axis=-1), MATRIX, [[0, 2], [1, 3]], [[1, 1], [1, 1]])
point(KIND, "a mask", lambda x: np.prod(x, where=A([True, False, True])), A([2.0, 0.0, 0.0]), [0, 0, 2], [1, 0, 1])
point(KIND, "an initial 0", lambda x: np.prod(x, initial=0.0), A([2.0, 0.0, 3.0]), [0, 0, 0], [0, 0, 0])
point(KIND, "complex numbers", np.prod, A([0j, 2 + 1j]), A([2 + 1j, 0]))
point(KIND, "nanprod", np.nanprod, A([0.0, nan, 3.0]), [3, 0, 0], [1, 0, 1])
point(KIND, "reduce of plain NumPy", lambda x: numpy.multiply.reduce(x), A([2.0, 0.0, 3.0]), [0, 6, 0], [3, 5, 2])
point(KIND, "minus 0", np.prod, A([-0.0, 2.0]), [2, 0], [1, 1])
point(KIND, "its square", lambda x: np.prod(x) ** 2, A([0.0, 3.0]), [0, 0], [18, 0])  # (x y)^2 has 2 y^2 and 4 x y + 2 x^2

KIND = "a running product with zeros"
# a + a b + a b c has the gradient (1 + b + b c, a + a c, a b)
point(KIND, "two zeros", np.cumprod, A([0.0, 0.0, 3.0]), [1, 0, 0], [4, 4, 0])
point(KIND, "down the columns", lambda x: np.cumprod(x, axis=0), MATRIX, [[4, 2], [2, 0]], [[1, 1], [1, 1]])
point(KIND, "a negative axis", lambda x: np.cumprod(x, axis=-1), MATRIX, [[1, 2], [2, 3]], [[1, 1], [1, 1]])
# 2, 0, 3, 1 in one row: a + a b + a b c + a b c d
point(KIND, "a matrix as one row", np.cumprod, MATRIX, [[1, 14], [0, 0]], [[7, 17], [4, 6]])
point(KIND, "with the initial 1", lambda x: np.cumulative_prod(x, include_initial=True), A([2.0, 0.0, 3.0]), [1, 8, 0], [4, 6, 2])
point(KIND, "accumulate", np.multiply.accumulate, A([2.0, 0.0, 3.0]), [1, 8, 0], [4, 6, 2])
point(KIND, "nancumprod", np.nancumprod, A([2.0, nan, 0.0]), [2, 0, 2], [1, 0, 1])  # a + a + a c
point(KIND, "a Python float", np.cumprod, 0.0, 1.0, 0.0)
point(KIND, "underflow", np.cumprod, A([1e-200, 1e-200, 1e200]), [2, 1, 0], [1e200, 1e200, 2e-200], float32=False)

# ------------------------------------------------------------------------------------------- sums of exponentials

KIND = "logarithms of nothing"
NOTHING = A([[-inf, -inf], [0.0, 0.0]])

point(KIND, "rows", lambda x: np.logsumexp(x, axis=1), NOTHING, [[0, 0], [0.5, 0.5]], ZEROS)
point(
    KIND,
    "rows less their sum",
    lambda x: np.where(np.isinf(x), 0.0, x - np.logsumexp(x, axis=-1, keepdims=True)) * A([1.0, 0.0]),
    NOTHING,
    [[0, 0], [0.5, -0.5]],
    ZEROS,
)
point(KIND, "reduce", lambda x: np.logaddexp.reduce(x), A([-inf, -inf]), [0, 0], [0, 0])
point(KIND, "reduce beside numbers", lambda x: np.logaddexp.reduce(x), A([-inf, 1.0, 1.0]), [0, 0.5, 0.5], [0, 0, 0])
point(KIND, "logaddexp", lambda x: np.logaddexp(x, A([1.0, -inf, -inf])), A([-inf, 2.0, -inf]), [0, 1, 0], [0, 0, 0])
point(KIND, "log_softmax", lambda x: np.log_softmax(x)[0], A([0.0, -inf]), [0, 0], [0, 0])
point(
    KIND,
    "softmax of a masked row",
    lambda x: np.where(A([[False], [True]]), np.softmax(x), 0.0)[:, 0],
    NOTHING,
    [[0, 0], [0.25, -0.25]],
    ZEROS,
)
if sps:
    point(KIND, "scipy rows", lambda x: sps.logsumexp(x, axis=1, keepdims=True), NOTHING, [[0, 0], [0.5, 0.5]], ZEROS)
    point(KIND, "scipy weights of nothing", lambda b: sps.logsumexp(A([-inf, -inf]), b=b), A([1.0, 1.0]), [0, 0], [0, 0])
    point(KIND, "scipy weights of 0", lambda x: sps.logsumexp(x, b=A([0.0, 0.0])), A([1.0, 0.0]), [0, 0], [0, 0])

# ------------------------------------------------------------------------------------------- ties

KIND = "a tie"

point(KIND, "three of them", np.max, A([2.0, 2.0, 1.0, 2.0]), A([1, 1, 0, 1]) / 3, [0, 0, 0, 0])
point(KIND, "zeros of both signs", np.min, A([-0.0, 0.0]), [0.5, 0.5], [0, 0])
point(KIND, "minus infinities", np.max, A([-inf, -inf]), [0.5, 0.5], [0, 0])
point(KIND, "a number and its opposite", lambda x: np.minimum(x, -x), A([0.0, 2.0]), [0, -1], [0, 0])
point(KIND, "a number and itself", lambda x: np.maximum(x, x), A([1.0, 2.0]), [1, 1], [0, 0])
point(KIND, "running maximum", np.maximum.accumulate, A([1.0, 1.0, 0.0]), [2, 1, 0], [0, 0, 0])
point(KIND, "sort", lambda x: np.sort(x) * A([1.0, 2.0, 3.0]), A([2.0, 2.0, 1.0]), [2.5, 2.5, 1], [0, 0, 0])
point(KIND, "median", np.median, A([2.0, 2.0, 1.0]), [0.5, 0.5, 0], [0, 0, 0])
point(KIND, "percentile of equal numbers", lambda x: np.percentile(x, 30), A([2.0, 2.0]), [0.5, 0.5], [0, 0])
point(KIND, "nanmin", np.nanmin, A([nan, 3.0, 3.0]), [0, 0.5, 0.5], [0, 0, 0])
point(KIND, "clip at infinite bounds", lambda x: np.clip(x, -inf, inf), A([inf, 2.0, -inf]), [0.5, 1, 0.5], [0, 0, 0])
point(KIND, "clip between crossed bounds", lambda x: np.clip(x, 1.0, 0.0), A([-1.0, 0.5, 2.0]), [0, 0, 0], [0, 0, 0])
point(KIND, "fmax beside NaN", lambda x: np.fmax(x, A([nan, 1.0])), A([1.0, 1.0]), [1, 0.5], [0, 0])

KIND = "an initial value"

point(KIND, "that ties", lambda x: np.max(x, initial=3.0), A([1.0, 3.0]), [0, 0.5], [0, 0])
point(KIND, "below all", lambda x: np.max(x, initial=-inf), A([1.0, 3.0]), [0, 1], [0, 0])
point(KIND, "of a minimum", lambda x: np.min(x, initial=0.0), A([1.0, 3.0]), [0, 0], [0, 0])
point(
    KIND,
    "along an axis",
    lambda x: np.max(x, axis=-1, initial=2.0, keepdims=True),
    A([[1.0, 0.0], [3.0, 0.0]]),
    [[0, 0], [1, 0]],
    ZEROS,
)
point(KIND, "with a mask", lambda x: np.max(x, initial=-1.0, where=A([True, False])), A([3.0, 3.0]), [1, 0], [0, 0])
point(KIND, "with a mask of nothing", lambda x: np.max(x, initial=7.0, where=A([False, False])), A([1.0, 3.0]), [0, 0], [0, 0])
point(KIND, "of no elements", lambda x: np.max(x, initial=7.0), numpy.zeros(0), numpy.zeros(0), numpy.zeros(0), value=7.0)
point(KIND, "of reduce", lambda x: np.maximum.reduce(x, initial=10.0), A([1.0, 0.0]), [0, 0], [0, 0])
point(KIND, "of plain NumPy", lambda x: numpy.max(x, initial=2.0), A([1.0, 3.0]), [0, 1], [0, 0])
point(KIND, "of a sum", lambda x: np.sum(x**2, initial=5.0), A([1.0, 3.0]), [2, 6], [2, 2], value=15.0)


@each_row(ROWS)
def test_special_value(row, check):
    check(row)


# ------------------------------------------------------------------------------------------- whole Jacobians

# One undefined entry leaves the rows of others alone: a cotangent of 0 times inf or NaN is 0. Each line: a function, a point
# whose first element (or row) is bad, and the part of the Jacobian that belongs to the second result.
JACOBIANS = {
    "sqrt": (np.sqrt, A([-1.0, 4.0]), [0, 0.25]),
    "log": (np.log, A([0.0, 2.0]), [0, 0.5]),
    "reciprocal": (np.reciprocal, A([0.0, 0.5]), [0, -4]),
    "arcsin": (np.arcsin, A([2.0, 0.6]), [0, 1.25]),
    "root as a power": (lambda x: x**0.5, A([0.0, 4.0]), [0, 0.25]),
    "a product with a log": (lambda x: x * np.log(x), A([-1.0, 1.0]), [0, 1]),
    "prod": (lambda x: np.prod(x, axis=1), A([[0.0, inf], [3.0, 4.0]]), [[0, 0], [4, 3]]),
    "var": (lambda x: np.var(x, axis=1), A([[0.0, inf], [3.0, 5.0]]), [[0, 0], [-1, 1]]),
    "std": (lambda x: np.std(x, axis=1), A([[nan, 1.0], [3.0, 4.0]]), [[0, 0], [-0.5, 0.5]]),
    "cumprod": (lambda x: np.cumprod(x, axis=1)[:, 1], A([[2.0, inf], [3.0, 4.0]]), [[0, 0], [4, 3]]),
    "logsumexp": (lambda x: np.logsumexp(x, axis=1), A([[0.0, nan], [0.0, 0.0]]), [[0, 0], [0.5, 0.5]]),
    "softmax": (lambda x: np.softmax(x)[:, 0], A([[0.0, inf], [0.0, 0.0]]), [[0, 0], [0.25, -0.25]]),
    "log_softmax": (lambda x: np.log_softmax(x)[:, 0], A([[0.0, nan], [0.0, 0.0]]), [[0, 0], [0.5, -0.5]]),
    "max": (lambda x: np.max(x, axis=1), A([[0.0, nan], [3.0, 4.0]]), [[0, 0], [0, 1]]),
}
if sps:
    JACOBIANS["scipy logsumexp"] = (lambda x: sps.logsumexp(x, axis=1), A([[0.0, nan], [0.0, 0.0]]), [[0, 0], [0.5, 0.5]])
    JACOBIANS["gammaln"] = (sps.gammaln, A([-1.0, 1.0]), [0, -numpy.euler_gamma])


@pytest.mark.parametrize("name", JACOBIANS)
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_an_undefined_entry_leaves_the_rows_of_others_alone(name, dtype):
    f, x, expected = JACOBIANS[name]
    with numpy.errstate(all="ignore"):
        for _ in range(3):
            found = jacobian(f)(x.astype(dtype))
            assert found.dtype == dtype
            numpy.testing.assert_allclose(found[1], expected, rtol=1e-12 if dtype == "float64" else 1e-6)
