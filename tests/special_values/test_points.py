"""Special points of functions of single numbers: branches, kinks, 0 / 0, powers, removable singularities, lost digits, overflow.

Expected values are worked out by hand; a comment says how where it is not seen at once.
"""

import importlib
import math
from importlib.util import find_spec

import numpy

import autograd.numpy as np
from autograd import grad
from tests.special_values.table import Row, each_row

sps = importlib.import_module("autograd.scipy.special") if find_spec("scipy") else None

inf, nan, pi, e = math.inf, math.nan, math.pi, math.e
A = numpy.array

ROWS = []


def point(kind, label, f, x, first=None, second=None, **columns):
    ROWS.append(Row(kind, label, f, x, first, second, **columns))


# ------------------------------------------------------------------------------------------- branches

KIND = "a branch not taken"

point(
    KIND,
    "root of a negative number",
    lambda x: np.where(x > 0, np.sqrt(x), 0.0),
    A([-1.0, 0.0, 4.0]),
    [0, 0, 1 / 4],
    [0, 0, -1 / 32],
)
point(KIND, "reciprocal of 0", lambda x: np.where(x == 0, 0.0, 1 / x), A([0.0, 2.0]), [0, -1 / 4], [0, 1 / 4])
point(
    KIND,
    "log in select",
    lambda x: np.select([x < 0, x > 0], [np.log(-x), np.log(x)], 0.0),
    A([-2.0, 0.0, 4.0]),
    [-0.5, 0, 0.25],
    [-0.25, 0, -1 / 16],
)
point(
    KIND,
    "root in piecewise",
    lambda x: np.piecewise(x, [x < 0, x >= 0], [lambda v: -v, np.sqrt]),
    A([-4.0, 4.0]),
    [-1, 0.25],
    [0, -1 / 32],
)
point(
    KIND,
    "an exponential that overflows",
    lambda x: np.where(x > 30, x, np.log1p(np.exp(x))),
    A([-1e3, 0.0, 1e3]),
    [0, 0.5, 1],
    [0, 0.25, 0],
)
point(KIND, "root behind maximum", lambda x: np.sqrt(np.maximum(x, 0.0)), A([-1.0, 4.0]), [0, 0.25], [0, -1 / 32])
point(KIND, "root behind clip", lambda x: np.sqrt(np.clip(x, 0.0, None)), A([-1.0, 4.0]), [0, 0.25], [0, -1 / 32])
point(KIND, "log of what an index leaves out", lambda x: np.log(x[[True, False]]), A([2.0, 0.0]), [0.5, 0], [-0.25, 0])
point(KIND, "nan_to_num of a root", lambda x: np.nan_to_num(np.sqrt(x)), A([-1.0, 4.0]), [0, 0.25], [0, -1 / 32])
point(KIND, "nansum of a log", lambda x: np.nansum(np.log(x)), A([2.0, -1.0]), [0.5, 0], [-0.25, 0])
# arcsin' = (1 - x^2)^(-1/2) = 1 / 0.8, arcsin'' = x (1 - x^2)^(-3/2) = 0.6 / 0.512
point(
    KIND,
    "arcsin out of its domain",
    lambda x: np.where(np.abs(x) < 1, np.arcsin(x), 0.0),
    A([0.6, 2.0]),
    [1.25, 0],
    [0.6 / 0.512, 0],
)
point(KIND, "a square of inf and NaN", lambda x: np.where(np.isfinite(x), x**2, 0.0), A([inf, nan, 3.0]), [0, 0, 6], [0, 0, 2])
point(KIND, "log of a Python float", lambda x: np.where(x > 0, np.log(x), 3 * x), 0.0, 3.0, 0.0)
# f = exp(-1/x^2): f' = 2 f / x^3, f'' = (4 / x^6 - 6 / x^4) f
point(KIND, "a flat function", lambda x: np.where(x == 0, 0.0, np.exp(-1 / x**2)), A([0.0, 1.0]), [0, 2 / e], [0, -2 / e])

# ------------------------------------------------------------------------------------------- 0 / 0

KIND = "0 / 0 that does not count"
D = A([0.0, 2.0])

point(KIND, "divide with where", lambda x: np.divide(x, D, where=D != 0, out=np.zeros(2)), A([0.0, 1.0]), [0, 0.5], [0, 0])
point(KIND, "a number by itself", lambda x: np.where(x == 0, 1.0, x / x), A([0.0, 2.0]), [0, 0], [0, 0])
# w_k / s - (w . x) / s^2 with s = 4 and w . x = 7
point(
    KIND,
    "shares of a row of zeros",
    lambda x: np.where(np.any(x, axis=1, keepdims=True), x / np.sum(np.abs(x), axis=1, keepdims=True), 0.0) * A([1.0, 2.0]),
    A([[0.0, 0.0], [1.0, 3.0]]),
    [[0, 0], [-3 / 16, 1 / 16]],
)
point(KIND, "x log x", lambda x: np.where(x == 0, 0.0, x * np.log(x)), A([0.0, 1.0]), [0, 1], [0, 1])
point(KIND, "remainder by 0", lambda x: np.where(D == 0, 0.0, np.mod(x, D)), A([1.0, 3.0]), [0, 1], [0, 0])
point(KIND, "direction of the origin", lambda x: np.where(x == 0, 0.0, np.arctan2(x, 2 * x)), A([0.0, 1.0]), [0, 0], [0, 0])
point(KIND, "nanmean of a quotient", lambda x: np.nanmean(x / A([1.0, 0.0])), A([2.0, 0.0]), [1, 0], [0, 0])
point(KIND, "average with weight 0 of NaN", lambda x: np.nansum(A([0.0, 1.0]) * x), A([nan, 2.0]), [0, 1], [0, 0])
point(KIND, "angle of 0", lambda z: np.where(z == 0, 0.0, np.angle(z)), A([0j, 1j]), A([0, -1 + 0j]))

# ------------------------------------------------------------------------------------------- powers

KIND = "a power at 0"

point(KIND, "x times its root", lambda x: x * np.sqrt(x), A([0.0, 4.0]), [0, 3])
point(KIND, "third power of a root", lambda x: np.sqrt(x) ** 3, 0.0, 0.0)
point(KIND, "|x| to 3/2", lambda x: np.abs(x) ** 1.5, A([0.0, -4.0]), [0, -3])
point(KIND, "x to 5/2", lambda x: x**2.5, A([0.0, 1.0]), [0, 2.5], [0, 3.75])
point(KIND, "float_power", lambda x: np.float_power(x, 2), A([0.0, 3.0]), [0, 6], [2, 2])
point(KIND, "an array of exponents", lambda x: x ** A([0, 1, 2]), numpy.zeros(3), [0, 1, 0], [0, 0, 2])
point(KIND, "an exponent with axes of its own", lambda x: x ** A([[0.0], [2.0]]), A([0.0, 3.0]), [0, 6], [2, 2])
point(KIND, "minus 0", lambda x: x**2 + x**1 + x**0, -0.0, 1.0, 2.0)
point(KIND, "a polynomial", lambda x: np.polyval([1.0, 2.0, 5.0], x), 0.0, 2.0, 2.0)
point(KIND, "a complex square", lambda z: z**2 + z, A([0j, 1j]), A([1, 1 + 2j]))

# ------------------------------------------------------------------------------------------- squares of sizes

KIND = "the square of a size at 0"

for name, size in (("abs", np.abs), ("fabs", np.fabs), ("operator", abs)):
    point(KIND, name, lambda x, size=size: size(x) ** 2, A([0.0, -3.0]), [0, -6], [2, 2])
point(KIND, "abs of a Python float", lambda x: abs(x) ** 2, 0.0, 0.0, 2.0)
point(KIND, "abs of a complex number", lambda x: np.abs(x[0] + 1j * x[1]) ** 2, A([0.0, 0.0]), [0, 0], [2, 2])
point(KIND, "abs of complex numbers", lambda z: np.abs(z) ** 2, A([0j, 3 + 4j]), A([0, 6 - 8j]))
point(KIND, "fourth power", lambda x: np.abs(x) ** 4, A([0.0, 1.0]), [0, 4], [0, 12])
point(KIND, "cosine", lambda x: np.cos(np.abs(x)), 0.0, 0.0, -1.0)
point(KIND, "logarithm", lambda x: np.log(1 + np.abs(x) ** 2), 0.0, 0.0, 2.0)
point(
    KIND,
    "Huber",
    lambda x: np.where(np.abs(x) < 1, np.abs(x) ** 2 / 2, np.abs(x) - 0.5),
    A([0.0, 0.5, -3.0]),
    [0, 0.5, -1],
    [1, 1, 0],
)
point(KIND, "norm of abs", lambda x: np.linalg.norm(np.abs(x)) ** 2, numpy.zeros(2), [0, 0], [2, 2])
point(KIND, "square of mean squares", lambda x: np.mean(np.abs(x) ** 2), numpy.zeros(2), [0, 0], [1, 1])
# |x|^(3/2) has an infinite one; of (|x| + |y|)^2 the part 2 |x| |y| has none
point(KIND, "no second derivative", grad(lambda x: np.abs(x) ** 1.5), 0.0, error="abs: .*no second derivative at zero")
for name, size in (
    ("abs", np.abs),
    ("norm", lambda x: np.linalg.norm(x, axis=1)),
    ("hypot", lambda x: np.hypot(x[0], x[1])),
    ("std", lambda x: np.std(x, axis=1)),
):
    x = numpy.zeros(2 if name == "abs" else (2, 2))
    mixed = grad(lambda x, size=size: np.sum(size(x)) ** 2)
    point(KIND, f"sizes that mix, {name}", mixed, x, error=f"{name}: .*no second derivative at zero")

# ------------------------------------------------------------------------------------------- kinks

KIND = "the kink of a size"
HALVES, OUT_OF_SINGLE = [-0.5, 0.5], {"float32": False}

point(
    KIND,
    "std of equal numbers and what is left out",
    lambda x: np.std(x, where=A([True, True, False])),
    A([1.0, 1.0, nan]),
    [0, 0, 0],
    [0, 0, 0],
)
point(KIND, "std with ddof", lambda x: np.std(x, ddof=1), A([2.0, 2.0]), [0, 0], [0, 0])
point(KIND, "std of one number", np.std, A([3.0]), [0], [0])
point(KIND, "std of a Python float", np.std, 2.0, 0.0, 0.0)
point(KIND, "var of a Python float", np.var, 2.0, 0.0, 0.0)
# NumPy's squares under- and overflow here, and std is 0 or inf; the slope does not depend on the scale
point(KIND, "std of tiny numbers", np.std, A([1e-200, 3e-200]), HALVES, [0, 0], **OUT_OF_SINGLE)
point(KIND, "std of huge numbers", np.std, A([1e200, 3e200]), HALVES, [0, 0], **OUT_OF_SINGLE)
point(KIND, "std of single numbers whose squares are not", np.std, A([1e-23, 3e-23], "float32"), HALVES, tolerance=1e-6)
point(
    KIND,
    "std of rows of each kind",
    lambda x: np.std(x, axis=-1, keepdims=True),
    A([[1e-200, 3e-200], [2.0, 2.0], [3e200, 1e200], [1.0, 3.0]]),
    [HALVES, [0, 0], [0.5, -0.5], HALVES],
    numpy.zeros((4, 2)),
    **OUT_OF_SINGLE,
)
point(KIND, "nanstd of tiny numbers", np.nanstd, A([1e-200, nan, 3e-200]), [-0.5, 0, 0.5], [0, 0, 0], **OUT_OF_SINGLE)
# the deviation of 3 and 4i is |3 - 4i| / 2, with gradient conj(3 - 4i) / 10 in the first number
point(KIND, "std of tiny complex numbers", np.std, 1e-200 * A([3, 4j]), A([0.3 + 0.4j, -0.3 - 0.4j]))
point(KIND, "norm of complex zeros", np.linalg.norm, A([0j, 0j]), A([0j, 0j]))
point(KIND, "hypot of one number twice", lambda x: np.hypot(x, x), 0.0, 0.0)
point(KIND, "range of equal numbers", np.ptp, A([2.0, 2.0]), [0, 0], [0, 0])

# ------------------------------------------------------------------------------------------- removable singularities

KIND = "a removable singularity"

# with f = sin(pi x) / (pi x): f' = (cos(pi x) - f) / x and f'' = -pi^2 f - 2 f' / x, and at 0 the series 1 - pi^2 x^2 / 6
point(KIND, "sinc", np.sinc, A([0.0, 0.5, 1.0]), [0, -4 / pi, -1], [-(pi**2) / 3, 16 / pi - 2 * pi, 2])
point(KIND, "third derivative of sinc", grad(grad(np.sinc)), 0.0, 0.0, pi**4 / 5)
point(KIND, "sinc of a complex number", np.sinc, A([0j]), A([0j]))
point(KIND, "i0", np.i0, A([0.0]), [0], [0.5])  # 1 + x^2 / 4
point(KIND, "the end of a window", lambda beta: np.kaiser(3, beta)[0], 0.0, 0.0, -0.5)  # 1 / i0(beta)
point(KIND, "arctan2 on the left axis", lambda x: np.arctan2(x, -1.0), A([0.0]), [-1], [0])
if sps:
    SERIES = [  # function, first, second derivative at 0
        ("j0", sps.j0, 0, -0.5), ("j1", sps.j1, 0.5, 0), ("jv", lambda x: sps.jv(2, x), 0, 0.25),
        ("i1", sps.i1, 0.5, 0), ("iv", lambda x: sps.iv(2, x), 0, 0.25), ("dawsn", sps.dawsn, 1, 0),
        ("rgamma", sps.rgamma, 1, 2 * numpy.euler_gamma), ("erfi", sps.erfi, 2 / math.sqrt(pi), 0),
        ("gammainc of 1", lambda x: sps.gammainc(1.0, x), 1, -1), ("gammainc of 2", lambda x: sps.gammainc(2.0, x), 0, 1),
        ("betainc", lambda x: sps.betainc(2.0, 3.0, x), 0, 12),  # its density is 12 x (1 - x)^2
        ("xlogy", lambda y: sps.xlogy(0.0, y), 0, 0), ("rel_entr", lambda y: sps.rel_entr(0.0, y), 0, 0),
        ("kl_div", lambda y: sps.kl_div(0.0, y), 1, 0),  # x log(x / y) - x + y
    ]  # fmt: skip
    for name, f, first, second in SERIES:
        point(KIND, name, f, A([0.0]), [first], [second])
    point(KIND, "xlog1py", lambda y: sps.xlog1py(0.0, y), A([-1.0]), [0], [0])

# ------------------------------------------------------------------------------------------- digits

KIND = "lost digits"
TINY = 2.0**-27 + 2.0**-52  # x * x loses its square
SQUARE = TINY * (2 - TINY)  # 1 - x^2 at x = 1 - TINY

point(KIND, "arcsin near 0", np.arcsin, 1e-9, 1.0, 1e-9)  # arcsin'' = x + ...
point(KIND, "arccos near 0", np.arccos, 1e-9, -1.0, -1e-9)
point(KIND, "arctanh near 0", np.arctanh, -1e-9, 1.0, -2e-9)
point(KIND, "arcsin near 1", np.arcsin, 1 - TINY, SQUARE**-0.5, (1 - TINY) * SQUARE**-1.5)
point(KIND, "arctanh near 1", np.arctanh, 1 - TINY, 1 / SQUARE, 2 * (1 - TINY) / SQUARE**2)
point(KIND, "arccosh near 1", np.arccosh, 1 + TINY, (TINY * (2 + TINY)) ** -0.5)
point(KIND, "arcsinh of large numbers", np.arcsinh, 1e200, 1e-200)
point(KIND, "arcsinh of large single numbers", np.arcsinh, A([1e25], "float32"), [1e-25], tolerance=1e-6)
point(KIND, "expm1 far to the left", np.expm1, -40.0, math.exp(-40), math.exp(-40))
point(KIND, "log of expm1", lambda x: np.log(-np.expm1(x)), -40.0, -1 / math.expm1(40), tolerance=1e-12)
point(KIND, "log1p near -1", np.log1p, -1 + TINY, 1 / TINY, -1 / TINY**2)
point(KIND, "logaddexp far to the left", lambda x: np.logaddexp(x, 0.0), -700.0, math.exp(-700), math.exp(-700))
point(KIND, "a small share", lambda x: np.logsumexp(np.stack([x, 0.0 * x])), -50.0, 1 / (1 + math.exp(50)))
point(KIND, "variance of large numbers", np.var, A([1e8, 1e8 + 1]), HALVES, [0, 0], **OUT_OF_SINGLE)
if sps:
    # far out dawsn is 1 / (2 x) + 1 / (4 x^3) + 3 / (8 x^5) + ..., and erfcx (1 / x - 1 / (2 x^3) + ...) / sqrt(pi)
    for x in (1e4, 1e8, -1e8):
        u = x**-2
        point(KIND, f"dawsn at {x}", sps.dawsn, x, -u / 2 - 3 * u**2 / 4 - 15 * u**3 / 8, (1 + 3 * u) * u / x)
    for x in (1e4, 1e8):
        u = x**-2
        point(KIND, f"erfcx at {x}", sps.erfcx, x, (-u + 1.5 * u**2) / math.sqrt(pi), (2 * u - 6 * u**2) / x / math.sqrt(pi))
    point(KIND, "log_expit", sps.log_expit, 40.0, 1 / (1 + math.exp(40)), -math.exp(-40), tolerance=1e-12)

# ------------------------------------------------------------------------------------------- exponents of zero

KIND = "0 to a power"

for name, f in (
    ("array", lambda b: numpy.zeros(2) ** b), ("float", lambda b: 0.0**b), ("int", lambda b: 0**b),
    ("power", lambda b: np.power(0.0, b)), ("float_power", lambda b: np.float_power(0, b)),
    ("minus 0", lambda b: (-0.0) ** b), ("complex", lambda b: np.real(numpy.zeros(2, complex) ** b)),
):  # fmt: skip
    point(KIND, name, f, A([0.5, 2.0]), [0, 0], [0, 0])
point(
    KIND, "beside others", lambda b: A([[0.0], [2.0]]) ** b, A([1.0, 2.0]), math.log(2) * A([2, 4]), math.log(2) ** 2 * A([2, 4])
)
point(KIND, "limits of the exponent", lambda b: A([0.5, 1.0, 1.0]) ** b, A([inf, inf, -inf]), [0, 0, 0], [0, 0, 0])
# d/db of b x^(b-1) at x = 0 is 0 for b > 1
point(KIND, "mixed second derivative", lambda b: grad(lambda x: x**b)(0.0), 2.5, 0.0)

# ------------------------------------------------------------------------------------------- overflow

KIND = "overflow on the way"
FAR = A([-1e3, 0.0, 1e3])

# the largest argument of each is far beyond where exp overflows
point(KIND, "logistic function by hand", lambda x: 1 / (1 + np.exp(-x)), FAR, [0, 0.25, 0], [0, 0, 0])
point(KIND, "log cosh", lambda x: np.logaddexp(x, -x), FAR, [-1, 0, 1], [0, 1, 0])
point(KIND, "softplus", np.softplus, FAR, [0, 0.5, 1], [0, 0.25, 0])
point(KIND, "tanh", np.tanh, A([-400.0, 0.0, 1e308]), [0, 1, 0], [0, 0, 0], **OUT_OF_SINGLE)
point(KIND, "double exponential", lambda x: np.exp(-np.exp(x)), FAR, [0, -1 / e, 0], [0, 0, 0])
point(KIND, "bell", lambda x: np.exp(-(x**2)), A([1e200, 0.0]), [0, 0], [0, -2], **OUT_OF_SINGLE)
point(KIND, "arctan", np.arctan, A([-1e200, 0.0, inf]), [0, 1, 0], [0, 0, 0], **OUT_OF_SINGLE)
point(KIND, "softmax", lambda x: np.softmax(x)[0], A([1e308, -1e308]), [0, 0], [0, 0], **OUT_OF_SINGLE)
point(
    KIND,
    "softmax of all",
    lambda x: np.softmax(x, axis=None)[0, 0],
    A([[1e3, 0.0], [0.0, 1e3]]),
    [[0.25, 0], [0, -0.25]],
    numpy.zeros((2, 2)),
)
point(KIND, "log_softmax", lambda x: np.log_softmax(x)[1], A([1e308, -1e308]), [-1, 1], [0, 0], **OUT_OF_SINGLE)
point(KIND, "hypot", lambda x: np.hypot(x, A([4e300, 4e-300])), A([3e300, 3e-300]), [0.6, 0.6], **OUT_OF_SINGLE)
if sps:
    point(KIND, "expit", sps.expit, FAR, [0, 0.25, 0], [0, 0, 0])
    point(KIND, "log_expit", sps.log_expit, FAR, [1, 0.5, 0], [0, -0.25, 0])
    point(KIND, "erf", sps.erf, A([-30.0, 0.0, inf]), [0, 2 / math.sqrt(pi), 0], [0, 0, 0])


@each_row(ROWS)
def test_special_value(row, check):
    check(row)
