"""The family reduction: rows of operators and options, then the special points where the usual formulas break."""

import numpy
import pytest

import autograd.numpy as np
from autograd import Tape, grad, hessian, jacobian, make_jvp
from autograd import operators as op
from registry import TensorInfo, get_gradient
from tests.gradients.harness import Case, central_gradient, each_case

inf, nan = numpy.inf, numpy.nan
MASK = numpy.array([[True, False, True], [False, True, True]])
COLUMN = numpy.array([[True], [False]])

BLOCK = numpy.array([[[2.0, 0.0], [3.0, 1.0]], [[0.0, 0.5], [0.0, 4.0]]])

AXES = (None, 0, -1, (0, 2), (-1, 1), ())
"""For an array of three axes: all, one from either end, several, none."""


def options(name, shapes=((2, 3, 2),), **fields):
    """Rows of one function over axes and keepdims."""
    for axis in AXES:
        for keepdims in (False, True):
            attrs = {"axis": axis, "keepdims": keepdims}
            yield Case(name, shapes=[shapes], attrs=attrs, label=f"axis={axis},keepdims={keepdims}", **fields)


def call(name, label, function, **fields):
    return Case(name, call=function, label=label, **fields)


def logsumexp(axis, keepdims):
    return Case(
        "logsumexp",
        call=lambda np, x: op.logsumexp(x, axis=axis, keepdims=keepdims),
        reference=lambda x: numpy.log(numpy.sum(numpy.exp(x), axis=axis, keepdims=keepdims)),
        shapes=[((2, 3, 2),)],
        complex_domain=(-1, 1),
        label=f"axis={axis},keepdims={keepdims}",
    )


def recurrence(axis, reverse):
    def step_by_step(a, b):
        rows = numpy.moveaxis(a, axis, 0), numpy.moveaxis(b, axis, 0)
        y, order = [0 * rows[1][0]], slice(None, None, -1 if reverse else 1)
        for factor, term in zip(rows[0][order], rows[1][order], strict=True):
            y.append(factor * y[-1] + term)
        return numpy.moveaxis(numpy.stack(y[1:][order]), 0, axis)

    return Case(
        "linear_recurrence",
        call=lambda np, a, b: op.linear_recurrence(a, b, axis=axis, reverse=reverse),
        reference=step_by_step,
        shapes=[((3,), (3,))] if axis == -1 else [((2, 3, 2), (2, 3, 2))],
        complex_domain=(-1, 1),
        label=f"axis={axis},reverse={reverse}",
    )


def without_nan(name, **attrs):
    """The NaN stays where it is when the others move, so finite differences see a constant there."""
    hole = numpy.array([[False, True, False], [False, False, True]])
    return call(name, f"nan {attrs}", lambda np, x: getattr(np, name)(np.where(hole, nan, x), **attrs), shapes=[((2, 3),)])


LOGSUMEXP = [logsumexp(axis, keepdims) for axis in AXES for keepdims in (False, True)]

NAN = [
    *[without_nan(name) for name in ("nansum", "nanprod", "nanmean", "nanvar", "nanstd", "nanmax", "nanmin")],
    *[without_nan(name, axis=1, keepdims=True) for name in ("nansum", "nanmean", "nanstd", "nanmax", "nanmin")],
    without_nan("nanvar", axis=1, ddof=1),
    without_nan("nancumsum", axis=1),
    without_nan("nancumprod", axis=1),
]

WITH_MASK = [
    call(name, "mask", lambda np, x, name=name: getattr(np, name)(x, axis=1, where=MASK), shapes=[((2, 3),)])
    for name in ("sum", "prod", "mean", "var", "std")
] + [
    call(name, "mask-keepdims", lambda np, x, name=name: getattr(np, name)(x, keepdims=True, where=COLUMN), shapes=[((2, 3),)])
    for name in ("sum", "prod", "mean", "var", "std")
]

CASES = [
    *options("sum", complex_domain=(-1, 1)),
    *options("mean", complex_domain=(-1, 1)),
    *options("prod", domain=(0.5, 2)),
    *options("var"),
    *options("std"),
    *options("max"),
    *options("min"),
    *LOGSUMEXP,
    *[recurrence(axis, reverse) for axis in (-1, 0, -2) for reverse in (False, True)],
    Case("sum", label="usual"),
    Case("mean", shapes=[((2, 3),), ((),), (float,)], label="usual"),
    Case("prod", shapes=[((2, 3),), ((),), (float,), ((0, 2),)], domain=(0.5, 2), complex_domain=(0.5, 1), label="usual"),
    Case("max", shapes=[((2, 3),), ((),), (float,)], label="usual"),
    Case("min", shapes=[((2, 3),), ((),), (float,)], label="usual"),
    Case("var", shapes=[((2, 3),)], complex_domain=(-1, 1), label="complex"),
    Case("std", shapes=[((2, 3),)], complex_domain=(-1, 1), label="complex"),
    Case("var", shapes=[((2, 3),)], attrs={"axis": 1, "ddof": 1}, label="ddof"),
    Case("std", shapes=[((2, 3),)], attrs={"axis": 0, "correction": 1}, label="correction"),
    *WITH_MASK,
    call("sum", "initial", lambda np, x: np.sum(x, axis=0, initial=3.0), shapes=[((2, 3),)]),
    call("prod", "initial", lambda np, x: np.prod(x, axis=0, initial=3.0), shapes=[((2, 3),)]),
    call("prod", "initial-mask", lambda np, x: np.prod(x, axis=1, initial=3.0, where=MASK), shapes=[((2, 3),)]),
    call("max", "initial-mask", lambda np, x: np.max(x, axis=1, initial=-9.0, where=MASK), shapes=[((2, 3),)]),
    call("min", "initial-mask", lambda np, x: np.min(x, initial=9.0, where=MASK, keepdims=True), shapes=[((2, 3),)]),
    call("sum", "dtype", lambda np, x: np.sum(x, axis=0, dtype="float64"), shapes=[((2, 3),)]),
    call("mean", "dtype", lambda np, x: np.mean(x, axis=0, dtype="float64"), shapes=[((2, 3),)]),
    *[
        Case(name, shapes=[((2, 3),)], attrs={"axis": axis}, domain=(0.5, 2), complex_domain=(0.5, 1), label=f"axis={axis}")
        for name in ("cumsum", "cumprod")
        for axis in (None, 0, -1)
    ],
    Case("cumprod", shapes=[(float,), ((),)], domain=(0.5, 2), label="scalar"),
    *[
        call(name, f"{attrs}", lambda np, x, name=name, attrs=attrs: getattr(np, name)(x, **attrs), shapes=[((3,),)])
        for name in ("cumulative_sum", "cumulative_prod")
        for attrs in ({}, {"include_initial": True})
        if hasattr(numpy, name)  # since NumPy 2.1
    ],
    *[
        Case(
            name,
            call=lambda np, x, name=name, axis=axis: getattr(op, name)(x, axis=axis),
            reference=lambda x, name=name, axis=axis: getattr(numpy, name[8:] + "imum").accumulate(x, axis),
            shapes=[((2, 3, 2),)],
            label=f"axis={axis}",
        )
        for name in ("running_max", "running_min")
        for axis in (0, 1, -1)
    ],
    *[
        call(
            name,
            f"mean= {attrs}",
            lambda np, x, m, name=name, attrs=attrs: getattr(np, name)(x, mean=m, axis=1, **attrs),
            shapes=[((2, 3), (2, 1)), ((2, 3), ())],
            complex_domain=(-1, 1),
        )
        for name in ("var", "std")
        for attrs in ({}, {"ddof": 1, "keepdims": True}, {"where": MASK})
    ],
    Case("prod", inputs=[numpy.array([[2.0, 0.0, 3.0], [0.0, 0.0, 1.5]])], attrs={"axis": 1}, label="zeros"),
    Case("prod", inputs=[numpy.array([[2.0, 0.0, 3.0], [0.5, 4.0, 1.5]])], label="one-zero", complex_domain=(-1, 1)),
    Case("prod", inputs=[BLOCK], attrs={"axis": (0, 2)}, label="zeros-axes"),
    call("prod", "zero-initial-mask", lambda np, x: np.prod(x, axis=1, initial=3.0, where=MASK),
         inputs=[numpy.array([[0.0, 0.0, 2.0], [1.0, 3.0, 0.0]])]),
    Case("cumprod", inputs=[numpy.array([2.0, 0.0, 3.0, 0.0, 5.0])], label="zeros"),
    Case("cumprod", inputs=[numpy.array([[2.0, 0.0, 3.0], [0.0, 1.0, 4.0]])], attrs={"axis": 0}, label="zeros-axis0"),
    Case("cumprod", inputs=[numpy.array([[2.0, 0.0, 3.0], [0.0, 1.0, 4.0]])], attrs={"axis": 1}, label="zeros-axis1"),
    Case("ptp", shapes=[((2, 3),)], attrs={"axis": 1}),
    Case("median", shapes=[((2, 3),), ((4,),)], label="all"),
    Case("median", shapes=[((2, 3, 2),)], attrs={"axis": (0, -1), "keepdims": True}, label="axes"),
    Case("average", shapes=[((2, 3),)], label="plain"),
    call("average", "weights", lambda np, x, w: np.average(x, axis=1, weights=w), shapes=[((2, 3), (3,)), ((2, 3), (2, 3))],
         domain=[(-2, 2), (0.5, 1.5)]),
    *NAN,
    *[Case(name, shapes=[((2, 3),)], orders=0) for name in ("argmax", "argmin", "any", "all", "count_nonzero")],
    call("argmax", "axis", lambda np, x: np.argmax(x, axis=1, keepdims=True), shapes=[((2, 3),)], orders=0),
    call("any", "mask", lambda np, x: np.any(x, axis=0, where=MASK), shapes=[((2, 3),)], orders=0),
    call("count_nonzero", "axis", lambda np, x: np.count_nonzero(x, axis=0), shapes=[((2, 3),)], orders=0),
]  # fmt: skip


@each_case(CASES)
def test_rule(case, check):
    check(case)


# ---------------------------------------------------------------------------------------------------- subgradients


@pytest.mark.parametrize("name", ["max", "min"])
def test_ties_of_extremes_share_equally(name):
    f = getattr(np, name)
    x = numpy.array([[1.0, 1.0, 1.0], [2.0, 5.0, 5.0], [0.0, 0.0, 7.0]])
    shares = {
        "max": [[1 / 3, 1 / 3, 1 / 3], [0, 0.5, 0.5], [0, 0, 1]],
        "min": [[1 / 3, 1 / 3, 1 / 3], [1, 0, 0], [0.5, 0.5, 0]],
    }[name]
    numpy.testing.assert_allclose(grad(lambda x: np.sum(f(x, axis=1)))(x), shares)
    numpy.testing.assert_allclose(jacobian(lambda x: f(x, axis=1))(x)[1], [[0] * 3, shares[1], [0] * 3])
    everywhere = grad(f)(numpy.full((2, 2), 3.0))
    numpy.testing.assert_array_equal(everywhere, numpy.full((2, 2), 0.25))


def test_extremes_with_a_larger_initial_value_do_not_depend_on_the_operand():
    x = numpy.array([1.0, 5.0, 3.0])
    assert grad(lambda x: np.max(x, initial=10.0))(x).tolist() == [0, 0, 0]
    assert grad(lambda x: np.min(x, initial=-10.0))(x).tolist() == [0, 0, 0]
    assert grad(lambda x: np.max(x, initial=5.0))(x).tolist() == [0, 0.5, 0]  # a tie with the initial value


def test_an_initial_value_may_be_a_tensor():
    x = numpy.array([1.0, 5.0])
    assert grad(lambda t: np.sum(x, initial=t * t))(3.0) == 6.0
    assert grad(lambda t: np.prod(x, initial=t))(3.0) == 5.0
    assert grad(lambda t: np.max(x, initial=t))(7.0) == 1.0
    assert grad(lambda t: np.min(x, initial=t))(7.0) == 0.0
    numpy.testing.assert_array_equal(grad(lambda x: np.max(x, initial=x[0]))(x), [0, 1])


def test_extreme_of_nan_and_of_infinity():
    assert grad(np.max)(numpy.array([1.0, nan, nan])).tolist() == [0, 0.5, 0.5]
    assert grad(np.max)(numpy.array([1.0, inf, -inf])).tolist() == [0, 1, 0]
    assert grad(lambda x: np.sqrt(np.max(x)))(numpy.array([0.0, -1.0])).tolist() == [inf, 0]  # not NaN for the second


@pytest.mark.parametrize("value", [0.0, 2.0, 0.1, 1 / 3, 1e8 / 7])
@pytest.mark.parametrize("shape", [(3,), (7,), (1000,)])
def test_std_at_zero_variance_has_gradient_zero(value, shape):
    x = numpy.full(shape, value)
    assert not grad(np.std)(x).any()
    assert not hessian(np.std)(x[:3]).any()
    narrow = x.astype("float32")
    assert not grad(np.std)(narrow).any()


def test_std_kink_in_one_row_leaves_the_others_alone():
    x = numpy.array([[2.0, 2.0, 2.0], [1.0, 2.0, 4.0]])
    g = grad(lambda x: np.sum(np.std(x, axis=1)))(x)
    assert g[0].tolist() == [0, 0, 0]
    numpy.testing.assert_allclose(g[1], central_gradient(lambda row: float(numpy.std(row)), [x[1]])[0], rtol=1e-8)
    masked = grad(lambda x: np.std(x, where=numpy.array([[True], [False]])))(x)
    assert not masked.any()


def test_std_of_nearly_equal_numbers_is_not_taken_for_a_kink():
    x = numpy.array([1.0, 1.0 + 2**-50])
    numpy.testing.assert_allclose(grad(np.std)(x), [-0.5, 0.5])


@pytest.mark.parametrize(
    ("x", "expected"),
    [
        ([-inf, -inf], [0, 0]),
        ([inf, 1.0], [1, 0]),
        ([inf, inf, -inf], [0.5, 0.5, 0]),
        ([1e5, 0.0], [1, 0]),
        ([-inf, 2.0], [0, 1]),
    ],
)
def test_logsumexp_at_the_ends_of_the_line(x, expected):
    x = numpy.array(x)
    assert grad(lambda x: op.logsumexp(x))(x).tolist() == expected
    assert not numpy.isnan(hessian(lambda x: op.logsumexp(x))(x)).any()
    assert op.logsumexp(x) == numpy.logaddexp.reduce(x)
    assert op.logsumexp(numpy.zeros(0)) == -inf


# ---------------------------------------------------------------------------------------------------- zeros, masks, emptiness


def test_product_of_a_single_zero():
    assert grad(lambda x: np.sum(np.prod(x, axis=0)))(numpy.array([0.0])).tolist() == [1.0]
    assert grad(np.prod)(0.0) == 1.0


def test_products_with_zeros_by_hand():
    assert grad(np.prod)(numpy.array([2.0, 0.0, 3.0])).tolist() == [0, 6, 0]
    assert grad(np.prod)(numpy.array([0.0, 0.0, 3.0])).tolist() == [0, 0, 0]
    assert hessian(np.prod)(numpy.array([0.0, 0.0, 3.0])).tolist() == [[0, 3, 0], [3, 0, 0], [0, 0, 0]]
    assert hessian(np.prod)(numpy.array([0.0, 5.0, 3.0])).tolist() == [[0, 3, 5], [3, 0, 0], [5, 0, 0]]
    assert grad(lambda x: np.sum(np.cumprod(x)))(numpy.array([2.0, 0.0, 3.0])).tolist() == [1, 8, 0]


def test_products_that_leave_the_range_of_floats():
    x = numpy.array([1e-200, 1e-200, 1e300])
    numpy.testing.assert_allclose(grad(np.prod)(x), [1e100, 1e100, 0])
    g = grad(lambda x: np.sum(np.cumprod(x)))(numpy.full(500, 0.1))
    numpy.testing.assert_allclose(g[:3], [10 / 9, 1 / 9, 1 / 90], rtol=1e-12)


def test_third_derivative_of_a_product_with_zeros():
    def slope(t):
        return np.prod(np.stack([t, t, t, 2.0 * t]))  # 2 t^4

    third = grad(grad(grad(slope)))
    assert third(0.0) == 0.0
    assert grad(third)(0.0) == 48.0
    numpy.testing.assert_allclose(third(0.5), 24.0)


def test_mean_counts_what_the_mask_chooses():
    mask = numpy.array([True, False, True])
    assert grad(lambda x: np.mean(x, where=mask))(numpy.ones(3)).tolist() == [0.5, 0, 0.5]
    assert grad(np.nanmean)(numpy.array([1.0, nan, 3.0])).tolist() == [0.5, 0, 0.5]


def test_a_masked_element_may_be_anything():
    mask = numpy.array([True, False])
    x = numpy.array([2.0, nan])
    for f in (np.sum, np.mean, np.prod):
        assert numpy.isfinite(grad(lambda x, f=f: f(x * x, where=mask))(x)[0])
        assert grad(lambda x, f=f: f(x, where=mask))(x)[1] == 0.0
    assert grad(lambda x: np.prod(x, where=mask))(numpy.array([2.0, 0.0])).tolist() == [1.0, 0.0]


def test_empty_arrays():
    empty = numpy.zeros((0, 3))
    for f in (np.sum, np.prod, lambda x: np.max(x, initial=1.0)):
        assert grad(f)(empty).shape == (0, 3)
    assert grad(lambda x: np.sum(np.max(x, axis=1)))(empty).shape == (0, 3)
    assert jacobian(lambda x: np.sum(x, axis=0))(empty).shape == (3, 0, 3)


@pytest.mark.parametrize("name", ["nanmax", "nanmin"])
def test_extreme_of_a_row_without_numbers(name):
    x = numpy.array([[nan, nan], [1.0, nan]])
    with pytest.warns(RuntimeWarning, match="All-NaN"):
        value = getattr(np, name)(x, axis=1)
    numpy.testing.assert_array_equal(value, [nan, 1.0])


# ---------------------------------------------------------------------------------------------------- lists, methods, options


def test_lists_of_tensors_are_arrays():
    assert grad(lambda x: np.mean([x, x + 2]))(0.0) == 1.0
    assert grad(lambda x: np.max([[x, 2.0 * x], [0.0, 1.0]]))(3.0) == 2.0
    assert grad(lambda x: np.average([x, 3 * x], weights=[1.0, 3.0]))(0.0) == 2.5
    assert grad(lambda x: np.median([x, 3 * x, 100.0]))(1.0) == 3.0


def test_methods_and_plain_numpy_arrive_here():
    x = numpy.array([[1.0, 2.0], [3.0, 5.0]])
    for f, plain in [
        (lambda t: t.sum(axis=0)[1], numpy.sum),
        (lambda t: numpy.sum(t, axis=0)[1], numpy.sum),
        (lambda t: numpy.add.reduce(t)[1], numpy.sum),
    ]:
        assert grad(f)(x).tolist() == [[0, 1], [0, 1]], plain
    for name in ("sum", "mean", "std", "var", "max", "min", "prod"):
        by_method = grad(lambda t, name=name: getattr(t, name)())(x)
        numpy.testing.assert_array_equal(by_method, grad(getattr(np, name))(x))
        numpy.testing.assert_array_equal(by_method, grad(getattr(numpy, name))(x))
    assert grad(lambda t: np.sum(t.cumsum(axis=0)))(x).tolist() == [[2, 2], [1, 1]]
    assert grad(lambda t: t[t.argmax(axis=0)[0], 0])(x).tolist() == [[0, 0], [1, 0]]


@pytest.mark.parametrize("name", ["sum", "mean", "prod", "max", "min", "var", "std", "cumsum", "cumprod", "cumulative_sum"])
def test_results_with_a_place(name):
    f, x = getattr(np, name), numpy.array([[1.0, 2.0], [3.0, 5.0]])
    out = numpy.zeros((2, 2) if name.startswith("cum") else 2)
    assert f(x, axis=1, out=out) is out
    numpy.testing.assert_array_equal(out, f(x, axis=1))
    with Tape(persistent=True) as tape:
        t = tape.watch(x)
        y = f(t, axis=1, out=out)
        assert numpy.isnan(out).all(), "a plain array does not hold what only the tape follows"
        made = np.zeros(out.shape)
        assert f(t, axis=1, out=made) is made
        z = made * 1.0
    expected = grad(lambda x: np.sum(f(x, axis=1)))(x)
    assert tape.gradient(y, t, dy=numpy.ones(out.shape)).tolist() == expected.tolist()
    assert tape.gradient(z, t, dy=numpy.ones(out.shape)).tolist() == expected.tolist()


def test_a_sum_of_nothing_has_a_place_too():
    out = numpy.ones(())
    assert np.sum(numpy.zeros(0), out=out) is out
    assert out == 0.0


def test_places_for_constant_results():
    x = numpy.array([1.0, 3.0, 2.0])
    with Tape() as tape:
        t, place, flag = tape.watch(x), numpy.zeros((), int), numpy.zeros((), bool)
        assert np.argmax(t, out=place) is place
        assert np.all(t, out=flag) is flag
    assert (place.item(), flag.item()) == (1, True)


def test_moments_about_a_given_mean():
    """With ``mean=m`` the variance is ``sum((a - m) ** 2) / n``: its gradient in m is ``-2 sum(a - m) / n``."""
    a, m = numpy.array([1.0, 2.0, 6.0]), 2.0
    assert grad(lambda m: np.var(a, mean=m))(m) == pytest.approx(-2.0)
    numpy.testing.assert_allclose(grad(lambda a: np.var(a, mean=m, ddof=1))(a), [-1.0, 0.0, 4.0])
    assert grad(lambda m: np.std(a, mean=m))(m) == pytest.approx(-1.0 / numpy.sqrt(17 / 3))
    assert grad(lambda a: np.std(a, mean=2.0))(numpy.array([2.0, 2.0])).tolist() == [0, 0]
    about_itself = grad(lambda a: np.var(a, mean=np.mean(a, keepdims=True)))(a)
    numpy.testing.assert_allclose(about_itself, grad(np.var)(a))
    assert np.var(a, mean=m) == numpy.var(a, mean=m)


def test_gradients_are_float32_for_float32():
    x = numpy.arange(4, dtype="float32")
    for f in (np.max, np.mean, np.std, np.sum, np.var, np.prod, lambda x: op.logsumexp(x)):
        assert grad(f)(x).dtype == "float32"


def test_forward_mode_of_a_variance_over_two_axes():
    assert make_jvp(lambda x: np.var(x, axis=(0, 1)))(numpy.array([[1.0, 2.0], [3.0, 6.0]]))(numpy.ones((2, 2)))[1] == 0.0


def test_the_cotangent_of_a_sum_is_spread_without_a_copy():
    rule = get_gradient("sum").grad_func
    attrs = {"axis": None, "dtype": None, "keepdims": False, "initial": None, "where": None}
    spread = rule(numpy.float64(2.0), [TensorInfo((100, 100), numpy.dtype(float))], attrs)["a"]()
    assert spread.shape == (100, 100)
    assert spread.strides == (0, 0)
    assert grad(np.sum)(numpy.ones((2, 2))).flags.writeable


@pytest.mark.parametrize("options", [{}, {"axis": 1}, {"axis": 0, "ddof": 1}, {"keepdims": True}])
def test_the_square_of_std_has_the_second_derivative_of_var_where_all_elements_are_equal(options):
    a = numpy.full((3, 4), 0.7)
    a[1] = 2.5
    for each in (a, numpy.full((3, 4), 0.7)):
        got = hessian(lambda x: np.sum(np.std(x, **options) ** 2))(each)
        want = hessian(lambda x: np.sum(np.var(x, **options)))(each)
        numpy.testing.assert_allclose(got, want, rtol=0, atol=1e-13)
