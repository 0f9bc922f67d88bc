"""Differences, slopes, areas and interpolation: rows of options, then knots, ends and periods by hand."""

import numpy
import pytest
from hypothesis import given
from hypothesis import strategies as st

import autograd.numpy as np
from autograd import NotTrackedError, Tape, grad, hessian, jacobian, vjp
from tests.gradients.harness import Case, each_case

inf, nan = numpy.inf, numpy.nan
PARTS = (-1.0, 1.0)
POINTS = numpy.array([-1.0, 0.5, 0.75, 2.0])
INSIDE = numpy.array([[-0.5, 0.6], [1.3, -0.9]])


def row(name, label, function, **fields):
    return Case(name, call=function, label=label, **fields)


CASES = [
    Case("diff", shapes=[((4,),), ((2, 3),)], complex_domain=PARTS),
    *[Case("diff", shapes=[((3, 4),)], attrs=attrs, label=str(attrs)) for attrs in ({"n": 2}, {"axis": 0}, {"n": 0}, {"n": 5})],
    row("diff", "ends", lambda np, a, p, q: np.diff(a, axis=0, prepend=p, append=q), shapes=[((2, 3), (), (2, 3))]),
    row("ediff1d", "usual", lambda np, a: np.ediff1d(a), shapes=[((2, 3),), ((1,),)], complex_domain=PARTS),
    row("ediff1d", "ends", lambda np, a, b, e: np.ediff1d(a, to_end=e, to_begin=b), shapes=[((2, 3), (), (2,))]),
    *[
        row("gradient", f"edge_order={edge_order}{label}", function, complex_domain=PARTS, shapes=[((3, 4),)], tolerance=1e-6)
        for edge_order in (1, 2)
        for label, function in {
            "": lambda np, f, e=edge_order: np.gradient(f, edge_order=e),
            ",axis": lambda np, f, e=edge_order: np.gradient(f, axis=0, edge_order=e),
            ",negative axis": lambda np, f, e=edge_order: np.gradient(f, 0.5, axis=-1, edge_order=e),
            ",axes": lambda np, f, e=edge_order: np.gradient(f, 0.5, 2.0, axis=(1, 0), edge_order=e),
            ",points": lambda np, f, e=edge_order: np.gradient(f, POINTS.astype(f.dtype).real, axis=1, edge_order=e),
            ",equal points": lambda np, f, e=edge_order: np.gradient(f, [0.0, 1.0, 2.0, 3.0], axis=1, edge_order=e),
        }.items()
    ],
    *[
        row("gradient", f"spacing,edge_order={edge_order}", lambda np, f, h, e=edge_order: np.gradient(f, h, edge_order=e),
            shapes=[((4,), ()), ((3, 4), ())], domain=[(-2, 2), (0.5, 1.5)])
        for edge_order in (1, 2)
    ],
    *[
        row("gradient", f"coordinates,edge_order={edge_order}",
            lambda np, f, x, e=edge_order: np.gradient(f, 0.5, x, edge_order=e),
            inputs=lambda rng: [rng.standard_normal((3, 4)), POINTS], dtypes=("float64",), tolerance=1e-6)
        for edge_order in (1, 2)
    ],
    row("trapezoid", "usual", lambda np, y: np.trapezoid(y), shapes=[((4,),), ((2, 3),)], complex_domain=PARTS),
    row("trapezoid", "x", lambda np, y, x: np.trapezoid(y, x), shapes=[((2, 3), (3,)), ((2, 3), (2, 3))], complex_domain=PARTS),
    row("trapezoid", "axis", lambda np, y, x: np.trapezoid(y, x, axis=0), shapes=[((2, 3), (2,)), ((2, 3), (2, 3))]),
    row("trapezoid", "dx", lambda np, y, dx: np.trapezoid(y, dx=dx, axis=-2), shapes=[((2, 3), ())]),
    row("interp", "all", lambda np, x, xp, fp: np.interp(x, xp, fp),
        inputs=lambda rng: [INSIDE, POINTS, rng.standard_normal(4)]),
    row("interp", "outside", lambda np, x, xp, fp: np.interp(x, xp, fp),
        inputs=lambda rng: [3 * INSIDE, POINTS, rng.standard_normal(4)]),
    row("interp", "left and right", lambda np, x, fp, left, right: np.interp(x, POINTS, fp, left, right),
        inputs=lambda rng: [3 * INSIDE, rng.standard_normal(4), numpy.float64(5.0), numpy.float64(7.0)], dtypes=("float64",)),
    row("interp", "period", lambda np, x, xp, fp, period: np.interp(x, xp, fp, period=period),
        inputs=lambda rng: [5 * INSIDE, POINTS[[2, 0, 3, 1]], rng.standard_normal(4), numpy.float64(3.7)], dtypes=("float64",)),
    row("interp", "scalar", lambda np, x, fp: np.interp(x, POINTS, fp), inputs=[0.6, numpy.array([1.0, 5.0, 2.0, 4.0])],
        dtypes=("float64",)),
    row("interp", "complex values", lambda np, fp: np.interp(INSIDE, POINTS, fp), shapes=[((4,),)], complex_domain=PARTS,
        dtypes=("float64",)),
    row("interp", "one point", lambda np, fp: np.interp(INSIDE, [0.6], fp), shapes=[((1,),)], dtypes=("float64",)),
    Case("unwrap", shapes=[((5,),), ((2, 5),)], domain=(-9, 9)),
    Case("unwrap", shapes=[((5, 2),)], domain=(-9, 9), attrs={"axis": 0, "discont": 4.0}, label="options"),
    row("unwrap", "period", lambda np, p, period: np.unwrap(p, period=period),
        inputs=lambda rng: [rng.uniform(-9, 9, 6), numpy.float64(2.5)], dtypes=("float64",)),
]  # fmt: skip


@each_case(CASES)
def test_rule(case, check):
    check(case)


# ---------------------------------------------------------------------------------------------------- values by hand


def test_interpolation_by_hand():
    assert grad(lambda fp: np.interp(0.25, [0.0, 1.0], fp))(numpy.array([2.0, 5.0])).tolist() == [0.75, 0.25]
    assert grad(lambda x: np.interp(x, [0.0, 1.0], [2.0, 5.0]))(0.25) == 3.0
    # y = f0 + s (x - x0) with s = 3: dy/dx0 = -s (1 - t), dy/dx1 = -s t, where t = 1/4
    assert grad(lambda xp: np.interp(0.25, xp, [2.0, 5.0]))(numpy.array([0.0, 1.0])).tolist() == [-2.25, -0.75]
    # mixed: d2y / dx df = (-1, 1) / (x1 - x0)
    both = grad(lambda fp: grad(lambda x: np.interp(x, [0.0, 2.0], fp))(0.5))(numpy.array([2.0, 5.0]))
    assert both.tolist() == [-0.5, 0.5]


@pytest.mark.parametrize(
    ("x", "slope"),
    [(-1.0, 0.0), (0.0, 2.0), (1.0, -1.0), (2.0, -1.0), (3.0, 0.0)],
)
def test_slopes_at_knots_are_those_to_the_right_and_in_the_last_one_to_the_left(x, slope):
    assert grad(lambda x: np.interp(x, [0.0, 1.0, 2.0], [0.0, 2.0, 1.0]))(x) == slope


def test_at_a_knot_the_value_is_that_of_the_knot_alone():
    fp = numpy.array([1.0, 2.0, 4.0])
    for at in range(3):
        assert grad(lambda fp: np.interp(float(at), [0.0, 1.0, 2.0], fp))(fp).tolist() == numpy.eye(3)[at].tolist()  # noqa: B023


def test_beyond_the_points_the_end_values_or_the_given_ones_count():
    fp, x = numpy.array([1.0, 2.0]), numpy.array([-1.0, 5.0])
    assert jacobian(lambda fp: np.interp(x, [0.0, 1.0], fp))(fp).tolist() == [[1, 0], [0, 1]]
    assert grad(lambda left: np.sum(np.interp(x, [0.0, 1.0], fp, left=left)))(3.0) == 1.0
    assert grad(lambda right: np.sum(np.interp(x, [0.0, 1.0], fp, right=right)))(3.0) == 1.0


def test_a_point_around_the_period():
    # at 350 degrees between 340 and 20 (380): a quarter of the way
    fp = numpy.array([1.0, 2.0])
    assert grad(lambda fp: np.interp(350.0, [20.0, 340.0], fp, period=360.0))(fp).tolist() == [0.25, 0.75]
    assert grad(lambda x: np.interp(x, [20.0, 340.0], fp, period=360))(350.0) == -1 / 40


def test_interpolation_with_steps_infinite_values_and_nan():
    xp, fp = numpy.array([0.0, 1.0, 1.0, 2.0, 2.0]), numpy.array([4.0, 1.0, 2.0, 3.0, 5.0])
    x = numpy.array([-1.0, 0.5, 1.0, 1.5, 2.0, 3.0, nan])
    slopes = numpy.diagonal(jacobian(lambda x: np.interp(x, xp, fp))(x))
    numpy.testing.assert_array_equal(slopes[:6], [0, -3, 1, 1, 0, 0])
    low = numpy.array([-inf, 3.0, 4.0])
    with Tape() as tape:
        y = np.interp(tape.watch(x), numpy.array([0.0, 1.0, 2.0]), low)
    numpy.testing.assert_array_equal(y.value, numpy.interp(x, [0.0, 1.0, 2.0], low))
    assert grad(lambda x: np.interp(x, [0.0, 1.0, 2.0], low))(1.5) == 1.0


def test_gradient_of_a_rectangle_along_one_axis():
    # row 0 of the slopes is x[1] - x[0]
    g = grad(lambda x: np.sum(np.gradient(x, axis=0)[0]))(numpy.ones((3, 4)))
    assert g.tolist() == [[-1] * 4, [1] * 4, [0] * 4]


def test_coordinates_that_happen_to_be_equally_spaced_all_have_derivatives():
    # d/dx1 of (f2 - f1) / (x2 - x1) is f' / h, of every point that a slope uses
    f, x = numpy.array([1.0, 4.0, 9.0]), numpy.array([0.0, 1.0, 2.0])
    slopes = jacobian(lambda x: np.gradient(f, x))(x)
    assert slopes[0].tolist() == [3, -3, 0]
    assert slopes[2].tolist() == [0, 5, -5]
    # the middle slope is 3 b / (a (a + b)) + 5 a / (b (a + b)) with the steps a = b = 1. Its derivative in a is
    # -3 b (2 a + b) / (a (a + b))^2 + 5 / (a + b)^2 = -1, and in b 3 / (a + b)^2 - 5 a (2 b + a) / (b (a + b))^2 = -3
    numpy.testing.assert_allclose(slopes[1], [1.0, 2.0, -3.0])


def test_area_in_the_coordinates_by_hand():
    # (x1 - x0) (y0 + y1) / 2 + (x2 - x1) (y1 + y2) / 2 with y = 1, 2, 4
    g = grad(lambda x: np.trapezoid([1.0, 2.0, 4.0], x))(numpy.array([0.0, 1.0, 5.0]))
    assert g.tolist() == [-1.5, -1.5, 3.0]


def test_unwrapped_angles_have_slope_one():
    p = numpy.array([3.0, -3.0, 2.9, -2.9, -3.1, 3.1])
    numpy.testing.assert_array_equal(jacobian(np.unwrap)(p), numpy.eye(6))
    assert not hessian(lambda p: np.sum(np.unwrap(p)))(p).any()
    # 0, 9 -> one period of 10 back; 0, 24 -> two
    assert jacobian(lambda t: np.unwrap([0.0, 9.0, 24.0], period=t))(10.0).tolist() == [0, -1, -2]


@given(n=st.integers(2, 6), size=st.integers(1, 4), seed=st.integers(0, 99), period=st.none() | st.floats(1.0, 5.0))
def test_interpolated_values_are_numpys_and_weights_sum_to_one(n, size, seed, period):
    rng = numpy.random.default_rng(seed)
    x, xp, fp = rng.uniform(-3, 3, size), numpy.sort(rng.uniform(-2, 2, n)), rng.standard_normal(n)
    y, pull_back = vjp(lambda fp: np.interp(x, xp, fp, period=period), fp)
    numpy.testing.assert_allclose(y, numpy.interp(x, xp, fp, period=period), rtol=1e-12, atol=1e-12)
    (g,) = pull_back(numpy.ones(size))
    assert numpy.sum(g) == pytest.approx(size)
    assert numpy.sum(g * fp) == pytest.approx(numpy.sum(y))  # it is linear in fp


# ---------------------------------------------------------------------------------------------------- ways to call


def test_plain_numpy_arrives_here():
    x = numpy.array([1.0, 4.0, 9.0, 7.0])
    for name in ("diff", "ediff1d", "gradient", "trapezoid", "unwrap"):
        f = lambda module: grad(lambda x: np.sum(getattr(module, name)(x) ** 2))(x)  # noqa: B023, E731
        numpy.testing.assert_array_equal(f(numpy), f(np))
    assert grad(lambda x: numpy.interp(x, [0.0, 1.0], [2.0, 5.0]))(0.25) == 3.0


def test_arrays_that_were_assigned_into_are_followed():
    def f(x):
        points = np.array([0.0, 1.0])
        points[1] = x
        return np.interp(0.5, [0.0, 1.0], points) + np.trapezoid(points)

    assert grad(f)(3.0) == 1.0


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda x: np.diff(x, -1), ValueError, "got order n=-1"),
        (lambda x: np.diff(x[0]), ValueError, "without axes"),
        (lambda x: np.gradient(x, 1.0, 2.0), TypeError, "got 2 spacings for 1 axes"),
        (lambda x: np.gradient(x, edge_order=3), ValueError, "expected 1 or 2"),
        (lambda x: np.gradient(x, [0.0, 1.0]), ValueError, "got coordinates of shape"),
        (lambda x: np.gradient(x[:1]), ValueError, "got 1 points along axis 0"),
        (lambda x: np.interp(x, [0.0, 1.0], x), ValueError, "two vectors of one length"),
        (lambda x: np.interp(x, [0.0, 1.0], [0.0, 1.0], period=0), ValueError, "got period=0"),
        (lambda x: np.ediff1d(x, to_end=[1j]), TypeError, "got to_end of dtype complex128"),
        (lambda x: np.diff(numpy.ones(3), x[0]), NotTrackedError, "diff: n is a tensor"),
        (lambda x: np.unwrap(x, discont=x[0]), NotTrackedError, "unwrap: discont is a tensor"),
    ],
)
def test_errors(call, error, message):
    with Tape() as tape, pytest.raises(error, match=message):
        call(tape.watch(numpy.ones(3)))
