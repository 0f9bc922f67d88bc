"""Medians, percentiles and quantiles: every method, axes, NaN and weights, then ties and slopes in q by hand."""

import warnings

import numpy
import pytest
from hypothesis import given
from hypothesis import strategies as st

import autograd.numpy as np
from autograd import NotTrackedError, Tape, grad, jacobian, vjp
from tests.gradients.harness import Case, each_case

inf, nan = numpy.inf, numpy.nan
HOLE = numpy.array([[False, True, False, False], [True, True, False, False], [False, False, False, False]])
CONTINUOUS = ("interpolated_inverted_cdf", "hazen", "weibull", "linear", "median_unbiased", "normal_unbiased")
DISCRETE = (
    "inverted_cdf", "averaged_inverted_cdf", "closest_observation", "lower", "higher", "midpoint", "nearest",
)  # fmt: skip
WEIGHTS = numpy.array([[1.0, 2.0, 0.5, 1.5], [3.0, 1.0, 1.0, 0.5], [2.0, 2.0, 1.0, 4.0]])


def row(name, label, function, **fields):
    return Case(name, call=function, label=label, **fields)


def with_holes(name, label, **attrs):
    """The NaN stays where it is when the others move."""
    return row(name, label, lambda np, x: getattr(np, name)(np.where(HOLE, nan, x), **attrs), shapes=[((3, 4),)])


CASES = [
    Case("median", shapes=[((2, 3),), ((4,),)], label="all"),
    Case("median", shapes=[((2, 3, 2),)], attrs={"axis": (0, -1), "keepdims": True}, label="axes"),
    *[with_holes("nanmedian", f"axis={axis}", axis=axis, keepdims=axis == 0) for axis in (None, 0, -1)],
    *[
        row("quantile", method, lambda np, a, m=method: np.quantile(a, [0.1, 0.35, 0.8], axis=1, method=m), shapes=[((2, 5),)],
            dtypes=("float64",))
        for method in CONTINUOUS + DISCRETE
    ],
    *[
        row("quantile", f"in q, {method}", lambda np, a, q, m=method: np.quantile(a, q, method=m), shapes=[((5,), (3,))],
            domain=[(-2, 2), (0.22, 0.38)], dtypes=("float64",), tolerance=1e-6)
        for method in CONTINUOUS
    ],
    row("quantile", "weak q", lambda np, a: np.quantile(a, 0.3, axis=(0, 2), keepdims=True), shapes=[((2, 3, 2),)]),
    row("quantile", "q alone", lambda np, q: np.quantile(numpy.arange(6.0) ** 2, q), shapes=[((2, 2),), (float,)],
        domain=(0.25, 0.35), dtypes=("float64",)),
    row("quantile", "weights", lambda np, a: np.quantile(a, [0.3, 0.8], axis=0, method="inverted_cdf", weights=WEIGHTS),
        shapes=[((3, 4),)], dtypes=("float64",)),
    row("quantile", "weights of one axis", lambda np, a: np.quantile(a, 0.4, axis=1, method="inverted_cdf", weights=WEIGHTS[0]),
        shapes=[((3, 4),)]),
    row("percentile", "usual", lambda np, a: np.percentile(a, 30), shapes=[((5,),), ((2, 3),)]),
    row("percentile", "in q", lambda np, a, q: np.percentile(a, q, axis=0), shapes=[((5, 2), (2,))], domain=[(-2, 2), (30, 45)],
        dtypes=("float64",)),
    *[with_holes(name, f"axis={axis}", q=q, axis=axis) for name, q in (("nanquantile", 0.3), ("nanpercentile", 30))
      for axis in (None, 0, -1)],
    with_holes("nanquantile", "several", q=numpy.array([[0.2, 0.7]]), axis=1, keepdims=True, method="hazen"),
    row("nanpercentile", "in q", lambda np, x, q: np.nanpercentile(np.where(HOLE, nan, x), q, axis=1), shapes=[((3, 4), (2,))],
        domain=[(-2, 2), (53, 61)], dtypes=("float64",)),
    row("nanquantile", "weights",
        lambda np, x: np.nanquantile(np.where(HOLE, nan, x), 0.6, axis=1, method="inverted_cdf", weights=WEIGHTS),
        shapes=[((3, 4),)]),
]  # fmt: skip


@each_case(CASES)
def test_rule(case, check):
    check(case)


# ---------------------------------------------------------------------------------------------------- values by hand


def test_shares_of_an_interpolated_value():
    # at 3/4 of 1, 2, 4 (rank 1.5) both neighbours have half
    assert grad(lambda a: np.quantile(a, 0.75))(numpy.array([4.0, 1.0, 2.0])).tolist() == [0.5, 0, 0.5]
    assert grad(lambda a: np.percentile(a, 100))(numpy.array([4.0, 1.0, 2.0])).tolist() == [1, 0, 0]
    # rank 2 q on 1, 2, 4: the slope in q is 2 times the step
    assert grad(lambda q: np.quantile([4.0, 1.0, 2.0], q))(0.75) == 4.0
    assert grad(lambda q: np.percentile([4.0, 1.0, 2.0], q))(20.0) == 0.02


def test_beyond_the_outer_ranks_the_value_does_not_move_with_q():
    # Weibull's rank is (n + 1) q - 1: below 0 for q < 1/4 of three values
    assert grad(lambda q: np.quantile([1.0, 2.0, 4.0], q, method="weibull"))(0.1) == 0.0
    assert grad(lambda q: np.quantile([1.0, 2.0, 4.0], q, method="weibull"))(0.9) == 0.0
    assert grad(lambda q: np.quantile([1.0, 2.0, 4.0], q, method="weibull"))(0.3) == 4.0


def test_the_last_rank_beside_nan_and_infinity():
    a = numpy.array([[3.0, nan, 1.0], [2.0, inf, inf]])
    slopes = jacobian(lambda q: np.nanquantile(a, q, axis=1))(1.0)
    assert slopes.tolist() == [0, 0]
    assert grad(lambda a: np.nanquantile(a, 1.0, axis=1)[0])(a).tolist() == [[1, 0, 0], [0, 0, 0]]
    assert grad(lambda q: np.nanquantile(a[0], q))(0.5) == 2.0


def test_equal_values_share():
    a = numpy.array([1.0, 2.0, 2.0, 2.0, 5.0])
    assert grad(np.median)(a).tolist() == pytest.approx([0, 1 / 3, 1 / 3, 1 / 3, 0])
    assert grad(lambda a: np.quantile(a, 0.5))(a).tolist() == pytest.approx([0, 1 / 3, 1 / 3, 1 / 3, 0])
    assert grad(lambda a: np.percentile(a, 10, method="higher"))(a).tolist() == pytest.approx([0, 1 / 3, 1 / 3, 1 / 3, 0])


def test_infinite_values_beside_the_quantile():
    a = numpy.array([-inf, 1.0, 3.0, inf])
    assert grad(np.median)(a).tolist() == [0, 0.5, 0.5, 0]
    assert grad(lambda a: np.quantile(a, 0.5))(a).tolist() == [0, 0.5, 0.5, 0]


def test_nan_in_a_row_and_rows_of_nan():
    a = numpy.array([[1.0, nan, 3.0], [1.0, 2.0, 4.0]])
    jac = jacobian(lambda a: np.quantile(a, 0.5, axis=1))(a)
    assert jac[1].tolist() == [[0, 0, 0], [0, 1, 0]]
    with Tape() as tape:
        x = tape.watch(numpy.array([[nan, 1.0, 2.0, 3.0, 4.0], [5.0, 1.0, 2.0, 3.0, 4.0]]))
        numpy.testing.assert_array_equal(np.median(x, axis=1).value, [nan, 3.0])
        numpy.testing.assert_array_equal(np.quantile(x, 0.5, axis=1).value, [nan, 3.0])
    assert grad(lambda a: np.nanmedian(a))(numpy.array([nan, 1.0, 3.0])).tolist() == [0, 0.5, 0.5]
    a[0] = nan
    for name in ("nanmedian", "nanquantile"):
        args = (0.5,) if name == "nanquantile" else ()
        with Tape() as tape, pytest.warns(RuntimeWarning, match="All-NaN"):
            y = getattr(np, name)(tape.watch(a), *args, axis=1)
        numpy.testing.assert_array_equal(y.value, [nan, 2.0])


def test_the_weighted_quantile_is_one_of_the_values():
    # the weights reach 0.7 of their sum, 10, with the value 2
    a, w = numpy.array([3.0, 1.0, 2.0]), numpy.array([2.0, 3.0, 5.0])
    assert grad(lambda a: np.quantile(a, 0.7, method="inverted_cdf", weights=w))(a).tolist() == [0, 0, 1]


def test_second_derivatives_in_values_and_q():
    # d2 / dq da of a rank 4 q in 0..4 at q = 0.3: -4 and 4 at the neighbours 1 and 2
    both = grad(lambda a: grad(lambda q: np.quantile(a, q))(0.3))(numpy.array([0.0, 1.0, 2.0, 5.0, 7.0]))
    assert both.tolist() == [0, -4, 4, 0, 0]


@given(
    shape=st.lists(st.integers(1, 4), min_size=1, max_size=3),
    q=st.lists(st.floats(0, 1), min_size=1, max_size=3),
    method=st.sampled_from(CONTINUOUS + DISCRETE),
    keepdims=st.booleans(),
    data=st.data(),
)
def test_values_are_numpys_and_shares_sum_to_one(shape, q, method, keepdims, data):
    axis = data.draw(st.none() | st.integers(-len(shape), len(shape) - 1))
    name = data.draw(st.sampled_from(["quantile", "nanquantile"]))
    rng = numpy.random.default_rng(data.draw(st.integers(0, 99)))
    a = rng.integers(0, 5, shape).astype(float)  # with ties
    if name == "nanquantile" and a.size > 1:
        a.flat[0] = nan
    options = {"axis": axis, "method": method, "keepdims": keepdims}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # rows of NaN alone
        expected = getattr(numpy, name)(a, q, **options)
        y, pull_back = vjp(lambda a: getattr(np, name)(a, q, **options), a)
    numpy.testing.assert_allclose(y, expected, rtol=1e-13, atol=1e-13)
    (g,) = pull_back(numpy.ones(y.shape))
    assert numpy.sum(g) == pytest.approx(numpy.count_nonzero(~numpy.isnan(y)))


# ---------------------------------------------------------------------------------------------------- ways to call


def test_plain_numpy_arrives_here():
    a = numpy.array([3.0, 1.0, 2.0, 7.0])
    for name, *args in [("median",), ("nanmedian",), ("quantile", 0.3), ("percentile", 30), ("nanquantile", 0.3)]:
        f = lambda module: grad(lambda a: getattr(module, name)(a, *args))(a)  # noqa: B023, E731
        numpy.testing.assert_array_equal(f(numpy), f(np))


def test_out_takes_the_result():
    a, out = numpy.array([[3.0, 1.0], [2.0, 7.0]]), numpy.zeros(2)
    assert np.median(a, axis=0, out=out) is out
    assert grad(lambda a: np.sum(np.median(a, axis=0, out=numpy.zeros(2)) ** 2))(a).tolist() == [[2.5, 4.0], [2.5, 4.0]]


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda a: np.quantile(a, 1.5), ValueError, "range"),
        (lambda a: np.quantile(a + 1j, 0.5), TypeError, "expected real numbers"),
        (lambda a: np.quantile(a, 0.5, method="fair"), ValueError, "'fair' is not a valid method"),
        (lambda a: np.quantile(a[:0], 0.5), ValueError, "with nothing along the axes"),
        (lambda a: np.median(a[:0]), ValueError, "with nothing along the axes"),
        (lambda a: np.quantile(a, a[0] / 2, method="lower"), NotTrackedError, "by method 'lower' the result is constant in q"),
        (lambda a: np.quantile(a, 0.5, method="inverted_cdf", weights=a), NotTrackedError, "quantile: weights is a tensor"),
        (lambda a: np.quantile(a, 0.5, weights=numpy.ones(3)), ValueError, "Only method 'inverted_cdf' supports weights"),
        (lambda a: np.quantile(a, 0.5, method="inverted_cdf", weights=numpy.ones(2)), TypeError, "got weights of shape"),
    ],
)
def test_errors(call, error, message):
    with Tape() as tape, pytest.raises(error, match=message):
        call(tape.watch(numpy.ones(3)))
