"""Averages, covariances, counts and sums without NaN: rows of options, then perfect correlation, edges and ties by hand."""

import numpy
import pytest

import autograd.numpy as np
from autograd import NotTrackedError, Tape, grad, jacobian
from tests.gradients.harness import Case, each_case

nan = numpy.nan
PARTS = (-1.0, 1.0)
NUMBERS = numpy.array([0, 2, 2, 1, 4])
SAMPLES = numpy.array([0.1, 0.35, 0.4, 0.8, 0.95])
EDGES = numpy.array([0.0, 0.3, 0.6, 0.95])
POSITIVE = [(-2, 2), (0.5, 1.5)]


def row(name, label, function, **fields):
    return Case(name, call=function, label=label, **fields)


CASES = [
    Case("ptp", shapes=[((2, 3),)], attrs={"axis": 1}),
    Case("ptp", shapes=[((2, 3),)], attrs={"keepdims": True}, label="all"),
    Case("average", shapes=[((2, 3),)], complex_domain=PARTS),
    row("average", "weights", lambda np, a, w: np.average(a, axis=1, weights=w), shapes=[((2, 3), (3,)), ((2, 3), (2, 3))],
        domain=POSITIVE),
    row("average", "axes", lambda np, a, w: np.average(a, axis=(2, 0), weights=w, keepdims=True), shapes=[((2, 3, 4), (4, 2))],
        domain=POSITIVE),
    row("average", "returned", lambda np, a, w: np.average(a, axis=0, weights=w, returned=True), shapes=[((2, 3), (2, 3))],
        domain=POSITIVE),
    row("average", "constant values", lambda np, w: np.average(numpy.arange(3), weights=w), shapes=[((3,),)], domain=(0.5, 1.5),
        dtypes=("float64",)),
    row("cov", "usual", lambda np, m: np.cov(m), shapes=[((3, 4),), ((4,),)], complex_domain=PARTS),
    row("cov", "columns", lambda np, m, y: np.cov(m, y, rowvar=False, bias=True), shapes=[((4, 2), (4, 3)), ((4,), (4,))],
        complex_domain=PARTS),
    row("cov", "second", lambda np, m, y: np.cov(m, y, ddof=0), shapes=[((2, 4), (4,))]),
    row("cov", "aweights", lambda np, m, w: np.cov(m, aweights=w), shapes=[((2, 4), (4,))], domain=POSITIVE, dtypes=("float64",)),
    row("cov", "both weights", lambda np, m, w: np.cov(m, fweights=[1, 2, 1, 3], aweights=w, ddof=2), shapes=[((2, 4), (4,))],
        domain=POSITIVE, dtypes=("float64",)),
    row("cov", "fweights", lambda np, m: np.cov(m, fweights=[1, 2, 1, 3]), shapes=[((2, 4),)]),
    row("corrcoef", "usual", lambda np, m: np.corrcoef(m), shapes=[((3, 4),)], tolerance=1e-6),
    row("corrcoef", "second", lambda np, m, y: np.corrcoef(m, y, rowvar=False), shapes=[((5,), (5,)), ((4, 2), (4, 2))],
        tolerance=1e-6),
    row("bincount", "weights", lambda np, w: np.bincount(NUMBERS, w, minlength=7), shapes=[((5,),)]),
    row("histogram", "weights", lambda np, w: np.histogram(SAMPLES, bins=EDGES, weights=w)[0], shapes=[((5,),)],
        complex_domain=PARTS),
    row("histogram", "weights, density", lambda np, w: np.histogram(SAMPLES, bins=3, weights=w, density=True)[0],
        shapes=[((5,),)], domain=(0.5, 1.5)),
    row("histogram", "edges", lambda np, a: np.histogram(a, bins=4)[1], shapes=[((5,),), ((2, 3),)]),
    row("histogram", "density", lambda np, a: np.histogram(a, bins=3, density=True), shapes=[((6,),)]),
    row("histogram", "given edges", lambda np, e: np.histogram(SAMPLES, bins=e, density=True), inputs=[EDGES + 0.02]),
    row("histogram", "range", lambda np, low: np.histogram(SAMPLES, bins=2, range=(low, 1.0), density=True),
        inputs=[numpy.float64(0.05)], dtypes=("float64",)),
    row("histogram_bin_edges", "usual", lambda np, a: np.histogram_bin_edges(a, 3), shapes=[((5,),)]),
    row("histogram2d", "weights", lambda np, w: np.histogram2d(SAMPLES, SAMPLES[::-1], bins=2, weights=w)[0], shapes=[((5,),)]),
    row("histogram2d", "density", lambda np, x, y: np.histogram2d(x, y, bins=(2, 3), density=True)[0], shapes=[((6,), (6,))]),
    row("histogramdd", "weights", lambda np, w: np.histogramdd((SAMPLES, SAMPLES**2), bins=[EDGES, 2], weights=w)[0],
        shapes=[((5,),)]),
    row("histogramdd", "density", lambda np, x: np.histogramdd(x, bins=2, density=True), shapes=[((6, 2),)], dtypes=("float64",)),
    row("histogram", "counts", lambda np, a: np.histogram(a, bins=[-2.0, 0.0, 2.0])[0], shapes=[((6,),)], orders=0),
]  # fmt: skip


@each_case(CASES)
def test_rule(case, check):
    check(case)


# ---------------------------------------------------------------------------------------------------- averages by hand


def test_weights_of_an_average_by_hand():
    # d/dw of (1 w1 + 3 w2) / (w1 + w2) at (1, 3) is (x - mean) / sum
    assert grad(lambda w: np.average([1.0, 3.0], weights=w))(numpy.array([1.0, 3.0])).tolist() == [-0.375, 0.125]
    assert grad(lambda w: np.average([1.0, 3.0], weights=w, returned=True)[1])(numpy.array([1.0, 3.0])).tolist() == [1, 1]
    with Tape() as tape:
        mean, total = np.average(tape.watch(numpy.ones((2, 3))), axis=0, returned=True)
    assert total.tolist() == [2, 2, 2]
    assert mean.value.tolist() == [1, 1, 1]


def test_range_with_ties():
    assert grad(np.ptp)(numpy.array([1.0, 5.0, 5.0, 1.0])).tolist() == [-0.5, 0.5, 0.5, -0.5]
    assert grad(np.ptp)(numpy.full(3, 2.0)).tolist() == pytest.approx([0, 0, 0])


# ---------------------------------------------------------------------------------------------------- covariances by hand


def test_covariance_by_hand():
    # cov(x, x) of (0, 1) is sum (x - 1/2)^2 = 1/2 with the gradient 2 (x - mean)
    assert grad(np.cov)(numpy.array([0.0, 1.0])).tolist() == [-1, 1]
    slopes = jacobian(lambda y: np.cov([0.0, 2.0], y))(numpy.array([1.0, 5.0]))
    assert slopes[0, 1].tolist() == slopes[1, 0].tolist() == [-1, 1]
    assert slopes[0, 0].tolist() == [0, 0]


def test_perfect_correlation_is_an_extreme_without_slope():
    x = numpy.array([1.0, 2.0, 4.0])
    for factor in (3.0, -0.5):
        g = grad(lambda y: np.corrcoef(x, y)[0, 1])(factor * x + 1)
        numpy.testing.assert_allclose(g, 0, atol=1e-12)
    assert not numpy.abs(jacobian(lambda y: np.diagonal(np.corrcoef(x, y)))(x**2)).max() > 1e-12


def test_second_derivative_of_perfect_correlation():
    # with x, e centred and at right angles the correlation of x and x + t e is (1 + t^2 |e|^2 / |x|^2)^(-1/2)
    x, e = numpy.array([-1.0, 0.0, 1.0]), numpy.array([1.0, -2.0, 1.0])
    for scale in (1.0, 3.0, 0.1, 7.7):  # rounding takes some of these beyond 1
        second = grad(grad(lambda t: np.corrcoef(x, scale * x + t * scale * e)[0, 1]))  # noqa: B023
        assert second(0.0) == pytest.approx(-3.0, rel=1e-12)


def test_covariance_without_freedom_warns_as_numpy_does():
    with Tape() as tape, pytest.warns(RuntimeWarning, match="Degrees of freedom"):
        y = np.cov(tape.watch(numpy.ones((2, 1))))
    assert numpy.isnan(y.value).all()


# ---------------------------------------------------------------------------------------------------- counts by hand


def test_sums_of_weights_by_hand():
    assert grad(lambda w: np.bincount([0, 2, 2], w)[2])(numpy.array([1.0, 2.0, 3.0])).tolist() == [0, 1, 1]
    assert jacobian(lambda w: np.bincount([0, 2, 2], weights=w))(numpy.ones(3)).tolist() == [[1, 0, 0], [0, 0, 0], [0, 1, 1]]
    # the last bin holds its upper edge, others do not, and what lies outside counts nowhere
    g = jacobian(lambda w: np.histogram([0.0, 1.0, 2.0, 2.5, -1.0], bins=[0.0, 1.0, 2.0], weights=w)[0])(numpy.ones(5))
    assert g.tolist() == [[1, 0, 0, 0, 0], [0, 1, 1, 0, 0]]


def test_edges_follow_the_extreme_samples():
    jac = jacobian(lambda a: np.histogram(a, bins=2)[1])(numpy.array([3.0, 1.0, 2.0]))
    assert jac.tolist() == [[0, 1, 0], [0.5, 0.5, 0], [1, 0, 0]]
    # all equal: NumPy makes the range one wide, around the value
    assert jacobian(lambda a: np.histogram(a, bins=1)[1])(numpy.array([2.0])).tolist() == [[1], [1]]


def test_counts_are_plain_integers():
    with Tape() as tape:
        x = tape.watch(SAMPLES)
        counts, edges = np.histogram(x, bins=EDGES)
        auto = np.histogram(x, bins="auto")
        numbers = np.digitize(x, EDGES)
    numpy.testing.assert_array_equal(counts, [1, 2, 2])
    assert counts.dtype == int
    assert edges is EDGES
    numpy.testing.assert_array_equal(auto[0], numpy.histogram(SAMPLES, bins="auto")[0])
    numpy.testing.assert_array_equal(numbers, numpy.digitize(SAMPLES, EDGES))


# ---------------------------------------------------------------------------------------------------- without NaN


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("nanmean", "Mean of empty slice"),
        ("nanvar", "Degrees of freedom <= 0"),
        ("nanstd", "Degrees of freedom <= 0"),
        ("nanmax", "All-NaN"),
        ("nanmin", "All-NaN"),
    ],
)
def test_rows_of_nan_alone_warn_and_leave_the_others_alone(name, message):
    a = numpy.array([[nan, nan, nan], [1.0, nan, 3.0]])
    with Tape() as tape, pytest.warns(RuntimeWarning, match=message) as seen:
        y = getattr(np, name)(tape.watch(a), axis=1)
    assert len(seen) == 1
    with pytest.warns(RuntimeWarning, match=message):
        numpy.testing.assert_array_equal(y.value, getattr(numpy, name)(a, axis=1))
    with pytest.warns(RuntimeWarning, match=message):
        g = grad(lambda a: getattr(np, name)(a, axis=1)[1])(a)
    assert g[0].tolist() == [0, 0, 0]
    assert g[1, 1] == 0
    assert numpy.isfinite(g).all()


def test_positions_of_extremes_are_plain():
    a = numpy.array([nan, 3.0, 1.0])
    with Tape() as tape:
        x = tape.watch(a)
        assert np.nanargmax(x) == 1
        assert np.nanargmin(x) == 2
        with pytest.raises(ValueError, match="All-NaN"):
            np.nanargmax(x[:1])


def test_plain_numpy_arrives_here():
    a = numpy.array([[1.0, nan, 3.0], [2.0, 5.0, 4.0]])
    for name in ("nansum", "nanprod", "nanmean", "nanvar", "nanstd", "nanmax", "nanmin", "nancumsum", "nancumprod"):
        f = lambda module: grad(lambda a: np.sum(getattr(module, name)(a, axis=1) ** 2))(a)  # noqa: B023, E731
        numpy.testing.assert_array_equal(f(numpy), f(np))
        assert numpy.isfinite(f(np)).all()
    b = numpy.array([[1.0, 2.0, 4.0], [2.0, 5.0, 4.0]])
    for name in ("average", "ptp", "cov", "corrcoef"):
        f = lambda module: grad(lambda b: np.sum(getattr(module, name)(b) ** 2))(b)  # noqa: B023, E731
        numpy.testing.assert_array_equal(f(numpy), f(np))
    assert grad(lambda w: np.sum(numpy.bincount([0, 0], w) ** 2))(numpy.ones(2)).tolist() == [4, 4]


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda x: np.average(x, weights=[1.0, 2.0]), TypeError, "got weights of shape"),
        (lambda x: np.average(x, axis=0, weights=[1.0, 2.0]), ValueError, "got weights of shape"),
        (lambda x: np.average(x, weights=[1.0, -1.0, 0.0]), ZeroDivisionError, "weights sum to zero"),
        (lambda x: np.cov(x, ddof=0.5), ValueError, "whole number"),
        (lambda x: np.cov(x, aweights=[1.0]), RuntimeError, "aweights has shape"),
        (lambda x: np.cov(x, aweights=-x), ValueError, "aweights holds negative numbers"),
        (lambda x: np.cov(x, fweights=[0.5, 1, 1]), TypeError, "fweights are not whole numbers"),
        (lambda x: np.cov(x, fweights=x), NotTrackedError, "cov: fweights is a tensor"),
        (lambda x: np.cov(np.reshape(x, (1, 1, 3))), ValueError, "expected two axes at most"),
        (lambda x: np.bincount(x), NotTrackedError, "bincount: x is a tensor"),
        (lambda x: np.histogram(x, weights=[1.0]), ValueError, "weights should have the same shape"),
        (lambda x: np.histogramdd(np.reshape(x, (3, 1)), bins=[2, 2]), ValueError, "got 2 bins for a sample of 1 columns"),
        (lambda x: np.histogram2d(x, x[:2]), ValueError, "got 3 and 2 coordinates"),
    ],
)
def test_errors(call, error, message):
    with Tape() as tape, pytest.raises(error, match=message):
        call(tape.watch(numpy.ones(3)))
