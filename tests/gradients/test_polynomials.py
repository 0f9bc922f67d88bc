"""The family polynomials: rows of coefficients, their values, roots, products and fits."""

import numpy
import pytest

import autograd.numpy as np
from autograd import GradientError, NotTrackedError, Tape, grad, hessian, jacobian
from tests.gradients.harness import Case, each_case

PARTS = (-1.0, 1.0)


def row(name, label, function, **fields):
    return Case(name, call=function, label=label, **fields)


def apart(*roots):
    """The coefficients of a polynomial with these simple roots, times 2."""
    return [2.0 * numpy.poly(roots)]


CASES = [
    row("polyval", "usual", lambda np, p, x: np.polyval(p, x), shapes=[((4,), (3,)), ((3,), (2, 2)), ((1,), (2,)), ((3,), float)],
        complex_domain=PARTS),
    row("polyval", "constant p", lambda np, x: np.polyval([1.0, -2.0, 0.5], x), shapes=[((3,),), (float,)]),
    row("polyval", "constant x", lambda np, p: np.polyval(p, [1.0, 2.0]), shapes=[((3,),)], dtypes=("float64",)),
    *[
        row(name, "usual", lambda np, a, b, name=name: getattr(np, name)(a, b), shapes=[((3,), (3,)), ((2,), (4,)), ((4,), (1,))],
            complex_domain=PARTS)
        for name in ("polyadd", "polysub", "polymul")
    ],
    row("polydiv", "usual", lambda np, a, b: np.polydiv(a, b), shapes=[((4,), (2,)), ((3,), (3,))], complex_domain=PARTS,
        dtypes=("float64",)),
    row("polydiv", "remainder alone", lambda np, a: np.polydiv(a, [1.0, 2.0, 3.0])[1], shapes=[((2,),)],
        dtypes=("float64",)),
    row("polymul", "leading zeros", lambda np, a, b: np.polymul(np.concatenate([numpy.zeros(2, a.dtype), a]), b),
        shapes=[((2,), (3,))]),
    row("polyder", "usual", lambda np, p: np.polyder(p), shapes=[((4,),), ((2,),)], complex_domain=PARTS),
    row("polyder", "twice", lambda np, p: np.polyder(p, 2), shapes=[((4,),)]),
    row("polyint", "usual", lambda np, p: np.polyint(p), shapes=[((3,),)], dtypes=("float64",), complex_domain=PARTS),
    row("polyint", "constants", lambda np, p, k: np.polyint(p, 2, k=k), shapes=[((3,), (2,)), ((2,), (1,))], dtypes=("float64",)),
    row("poly", "roots", lambda np, z: np.poly(z), shapes=[((3,),), ((1,),)], complex_domain=PARTS),
    row("poly", "matrix", lambda np, a: np.poly(a), shapes=[((3, 3),), ((1, 1),)], dtypes=("float64",), complex_domain=PARTS),
    row("poly", "conjugates", lambda np, x: np.poly(np.stack([x[0] + 1j * x[1], x[0] - 1j * x[1], x[2] + 0j])),
        shapes=[((3,),)], dtypes=("float64",)),
    *[
        row("vander", f"{n} {increasing}", lambda np, x, n=n, increasing=increasing: np.vander(x, n, increasing),
            shapes=[((3,),)], dtypes=("float64",), complex_domain=PARTS)
        for n in (None, 2, 5)
        for increasing in (False, True)
    ],
    row("roots", "real", lambda np, p: np.roots(p), inputs=apart(1.0, -0.5, 2.0), tolerance=1e-6),
    row("roots", "pairs", lambda np, p: np.roots(p), inputs=apart(1.0 + 2.0j, 1.0 - 2.0j, 0.5), tolerance=1e-6),
    row("roots", "complex", lambda np, p: np.roots(p), inputs=[numpy.array([1.0, -1.0, 3.0, 0.5])], tolerance=1e-6,
        dtypes=("float64",), complex_domain=PARTS),
    row("polyfit", "exact", lambda np, x, y: np.polyfit(x, y, 2), shapes=[((3,), (3,))], tolerance=1e-6),
    row("polyfit", "over", lambda np, x, y: np.polyfit(x, y, 1), shapes=[((5,), (5,)), ((4,), (4, 2))], tolerance=1e-6),
    row("polyfit", "weights", lambda np, x, y, w: np.polyfit(x, y, 1, w=w), shapes=[((4,), (4,), (4,))], tolerance=1e-6,
        domain=[(-2, 2), (-2, 2), (0.5, 1.5)]),
    row("polyfit", "covariance", lambda np, x, y: np.polyfit(x, y, 1, cov=True), shapes=[((5,), (5,)), ((5,), (5, 2))],
        tolerance=1e-5, dtypes=("float64",)),
    row("polyfit", "unscaled", lambda np, x, w: np.polyfit(x, x * x, 1, w=w, cov="unscaled"), shapes=[((4,), (4,))],
        tolerance=1e-5, dtypes=("float64",), domain=[(-2, 2), (0.5, 1.5)]),
]  # fmt: skip


@each_case(CASES)
def test_rule(case, check):
    check(case)


# ---------------------------------------------------------------------------------------------------- values by hand


def test_slope_of_horner_is_the_derivative():
    p = numpy.array([1.0, 0.0, -2.0, 5.0])
    assert grad(lambda x: np.polyval(p, x))(2.0) == 10.0  # 3 x^2 - 2
    assert grad(grad(lambda x: np.polyval(p, x)))(2.0) == 12.0
    assert grad(lambda p: np.polyval(p, 2.0))(p).tolist() == [8, 4, 2, 1]
    assert grad(lambda p: np.polyval(p, 0.0))(p).tolist() == [0, 0, 0, 1]


def test_roots_of_a_quadratic_by_hand():
    # r = (-b +- sqrt(b^2 - 4 c)) / 2 with b = -3, c = 2: dr/db = -r / (2 r + b), dr/dc = -1 / (2 r + b)
    slopes = jacobian(np.roots)(numpy.array([1.0, -3.0, 2.0]))
    numpy.testing.assert_allclose(slopes, [[-4, -2, -1], [1, 1, 1]], rtol=1e-12)


def test_zero_roots_and_leading_zeros():
    # x (x - 2): the root 0 moves by -1 / p'(0) = 1/2 with the last coefficient, and not with the others
    slopes = jacobian(np.roots)(numpy.array([1.0, -2.0, 0.0]))
    numpy.testing.assert_allclose(slopes, [[-2, -1, -0.5], [0, 0, 0.5]], atol=1e-12)
    # 0 x^2 + x - 3: its one root 3 moves by -9 with the first coefficient
    numpy.testing.assert_allclose(jacobian(np.roots)(numpy.array([0.0, 1.0, -3.0])), [[-9, -3, -1]], rtol=1e-12)


@pytest.mark.parametrize("roots", [(1.0, 1.0, 3.0), (0.0, 0.0, 1.0), (2.0, 2.0, 2.0), (1 + 1j, 1 + 1j, 1 - 1j, 1 - 1j)])
def test_multiple_roots_raise_and_name_themselves(roots):
    p = numpy.poly(roots)
    with pytest.raises(GradientError, match="multiple roots"):
        grad(lambda p: np.sum(np.abs(np.roots(p) - 7.0)))(p)


def test_a_simple_root_beside_a_double_one_has_its_gradient():
    p = numpy.poly([1.0, 1.0, 3.0])
    g = grad(lambda p: np.max(np.real(np.roots(p))))(p)  # -r^(3 - j) / p'(3), with p'(3) = 4
    numpy.testing.assert_allclose(g, [-27 / 4, -9 / 4, -3 / 4, -1 / 4], rtol=1e-9)


def test_close_but_different_roots_are_not_refused():
    p = numpy.poly([1.0, 1.001, 3.0])
    numpy.testing.assert_allclose(numpy.sort(jacobian(np.roots)(p)[:, -1])[1], -1 / 3.998001, rtol=1e-6)


def test_roots_of_a_constant():
    assert jacobian(np.roots)(numpy.array([3.0])).shape == (0, 1)
    assert grad(lambda p: np.sum(np.roots(p)))(numpy.array([3.0])).tolist() == [0.0]


def test_characteristic_polynomial_where_eigenvalues_repeat():
    # det(t - A) = t^2 - tr(A) t + det(A): at the unit matrix both gradients exist, and that of det is the adjugate
    slopes = jacobian(np.poly)(numpy.eye(2))
    numpy.testing.assert_allclose(slopes, [numpy.zeros((2, 2)), -numpy.eye(2), numpy.eye(2)], atol=1e-14)
    numpy.testing.assert_allclose(hessian(lambda a: np.poly(a)[-1])(numpy.eye(2))[0, 0], [[0, 0], [0, 1]], atol=1e-14)


def test_fit_of_a_line_by_hand():
    # through three points at -1, 0, 1 the slope is (y2 - y0) / 2 and the height their mean
    x = numpy.array([-1.0, 0.0, 1.0])
    slopes = jacobian(lambda y: np.polyfit(x, y, 1))(numpy.array([1.0, 5.0, 2.0]))
    numpy.testing.assert_allclose(slopes, [[-0.5, 0, 0.5], [1 / 3, 1 / 3, 1 / 3]], atol=1e-12)


def test_everything_that_a_full_fit_returns():
    x, y = numpy.arange(4.0), numpy.array([1.0, 3.0, 2.0, 5.0])
    with Tape() as tape:
        results = np.polyfit(x, tape.watch(y), 1, full=True)
    expected = numpy.polyfit(x, y, 1, full=True)
    for got, want in zip(results, expected, strict=True):
        numpy.testing.assert_allclose(getattr(got, "value", got), want)
    # the sum of squared residuals has the gradient 2 (y - fit)
    g = grad(lambda y: np.polyfit(x, y, 1, full=True)[1][0])(y)
    numpy.testing.assert_allclose(g, 2 * (y - numpy.polyval(expected[0], x)), atol=1e-12)


def test_vander_at_zero():
    slopes = jacobian(lambda x: np.vander(x, 4))(numpy.array([0.0]))
    assert slopes.ravel().tolist() == [0, 0, 1, 0]
    assert grad(lambda x: np.sum(np.vander(x, 1)) + np.sum(x))(numpy.ones(2)).tolist() == [1, 1]


# ---------------------------------------------------------------------------------------------------- ways to call


def test_plain_numpy_arrives_here():
    p = numpy.array([1.0, -2.0, 3.0])
    for name, *args in [("polyval", 2.0), ("polymul", [1.0, 1.0]), ("polyadd", [1.0]), ("polyder",), ("polyint",), ("vander",)]:
        f = lambda module: grad(lambda p: np.sum(getattr(module, name)(p, *args) ** 2))(p)  # noqa: B023, E731
        numpy.testing.assert_array_equal(f(numpy), f(np))


def test_poly1d_stays_numpys_without_tensors_and_is_refused_with_them():
    assert isinstance(np.polyadd(numpy.poly1d([1.0]), [2.0]), numpy.poly1d)
    for call, argument in [
        (lambda x: np.polyadd(numpy.poly1d([1.0, 2.0]), np.stack([x, x])), "a1"),
        (lambda x: np.polyval(numpy.poly1d([1.0, 2.0]), x), "p"),
        (lambda x: np.polyval(np.stack([x, x]), numpy.poly1d([1.0, 2.0])), "x"),
    ]:
        with pytest.raises(NotTrackedError, match=f"{argument} is a numpy.poly1d"):
            grad(lambda x: np.sum(call(x)))(1.0)  # noqa: B023
    assert grad(numpy.poly1d([3.0, 1.0, 2.0]))(2.0) == 13.0  # which is called with a plain row of coefficients


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda p: np.polyder(p, -1), ValueError, "Order of derivative"),
        (lambda p: np.polyint(p, -1), ValueError, "Order of integral"),
        (lambda p: np.polyint(p, 3, k=[1.0, 2.0]), ValueError, "got 2 constants k"),
        (lambda p: np.poly(np.reshape(p, (1, 3))), ValueError, "row of zeros or a square matrix"),
        (lambda p: np.vander(np.reshape(p, (1, 3))), ValueError, "one-dimensional"),
        (lambda p: np.polyfit(p, p, -1), ValueError, "expected 0 or more"),
        (lambda p: np.polyfit(p, p[:2], 1), TypeError, "got y of shape"),
        (lambda p: np.polyfit(p, p, 1, w=p[:2]), TypeError, "got w of shape"),
        (lambda p: np.polyfit([0.0, 1.0, 2.0], p, 2, cov=True), ValueError, "more points"),
        (lambda p: np.polyfit([1.0, 2.0], [1.0, 2.0], p[0]), NotTrackedError, "polyfit: deg is a tensor"),
    ],
)
def test_errors(call, error, message):
    with Tape() as tape, pytest.raises(error, match=message):
        call(tape.watch(numpy.ones(3)))
