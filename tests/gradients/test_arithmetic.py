"""Arithmetic: the table of rules, and what happens at special points."""

import numpy
import pytest

import autograd
import autograd.numpy as np
from autograd import elementwise_grad, grad, holomorphic_grad, jacobian, jvp
from tests.gradients.harness import Case, each_case

inf, nan = numpy.inf, numpy.nan

POSITIVE = (0.5, 3.0)

CASES = [
    Case("add", complex_domain=(-1, 1)),
    Case("subtract", complex_domain=(-1, 1)),
    Case("multiply", complex_domain=(-1, 1)),
    Case("multiply", label="mixed", shapes=[((2, 3), (3,))], complex_domain=[(-1, 1), None]),
    Case("divide", domain=[(-2, 2), POSITIVE], complex_domain=[(-1, 1), (0.5, 1)]),
    Case("divide", label="negative divisor", shapes=[((3,), (3,)), ((), ())], domain=(-3, -0.5)),
    Case("true_divide", shapes=[((3,), (2, 1))], domain=POSITIVE),
    Case("remainder", domain=[(-8, 8), (1.5, 2.5)]),
    Case("mod", shapes=[((2, 3), (3,))], domain=[(-8, 8), (-2.5, -1.5)]),
    Case("fmod", domain=[(-8, 8), (1.5, 2.5)]),
    Case("negative", complex_domain=(-1, 1)),
    Case("positive", complex_domain=(-1, 1)),
    Case("power", domain=[POSITIVE, (-2, 3)], complex_domain=[(0.5, 1.5), (-1, 1)]),
    Case("power", label="real base", domain=POSITIVE, shapes=[((2,), (2,))], complex_domain=[None, (-1, 1)]),
    Case(
        "power",
        label="negative base",
        call=lambda np, x: np.power(x, numpy.array([-2.0, 0.0, 3.0])),
        domain=(-3, -0.5),
        shapes=[((3,),), ((2, 3),)],
    ),
    *[
        Case("power", label=f"exponent {p!r}", call=lambda np, x, p=p: x**p, domain=POSITIVE, complex_domain=(0.5, 1.5))
        for p in (2, 2.0, 0.5, -1, 3, 0, 1, -0.5, 2.5, numpy.float64(1.5))
    ],
    Case("power", label="constant base", call=lambda np, x: 2**x, shapes=[((3,),), ((),), (float,)], complex_domain=(-1, 1)),
    Case("pow", shapes=[((2,), (2,))], domain=POSITIVE),
    Case("float_power", domain=[POSITIVE, (-2, 3)], complex_domain=[(0.5, 1.5), (-1, 1)]),
    Case("square", complex_domain=(-1, 1)),
    Case("sqrt", domain=POSITIVE, complex_domain=(0.3, 1)),
    Case("cbrt", domain=(-3, -0.5)),
    Case("reciprocal", domain=POSITIVE, complex_domain=(0.5, 1.5)),
    Case("absolute", domain=(-3, 2.7), complex_domain=(0.3, 1)),
    Case("abs", domain=(-3, 2.7), shapes=[((3,),)]),
    Case("fabs", domain=(-3, 2.7)),
    Case("hypot"),
    Case("copysign", domain=(-3, 2.7)),
    Case("ldexp", call=lambda np, x: np.ldexp(x, numpy.array([-1, 0, 3])), shapes=[((3,),), ((2, 3),)]),
    Case("nextafter"),
    Case("spacing", orders=0),
    Case("heaviside", domain=(-3, 2.7)),
    Case("maximum", complex_domain=(-1, 1)),
    Case("minimum", complex_domain=(-1, 1)),
    Case("fmax"),
    Case("fmin"),
    Case("clip", shapes=[((2, 5),)], attrs={"a_min": -0.9, "a_max": 0.8}),
    Case("clip", label="lower", call=lambda np, x: np.clip(x, -0.9, None), shapes=[((2, 5),), (float,)]),
    Case("clip", label="upper", call=lambda np, x: np.clip(x, None, 0.8), shapes=[((2, 5),), (float,)]),
    Case(
        "clip",
        label="traced bounds",
        call=lambda np, x, low, high: np.clip(x, low, high),
        shapes=[((2, 6), (), ()), ((2, 6), (6,), (2, 1)), ((4,), (2, 4), (4,))],
        domain=[(-3, 3), (-2, -1), (1, 2)],
    ),
    Case(
        "clip",
        label="keywords",  # which NumPy has from 2.1 on
        call=lambda np, x: np.clip(x, max=0.8, min=-0.9),
        reference=lambda x: numpy.clip(x, -0.9, 0.8),
        shapes=[((2, 5),)],
    ),
    Case(
        "clip",
        label="crossed bounds",
        call=lambda np, x, low, high: np.clip(x, low, high),
        shapes=[((6,), (), ())],
        domain=[(-3, 3), (1, 2), (-2, -1)],
    ),
    Case("real", complex_domain=(-1, 1)),
    Case("imag", complex_domain=(-1, 1)),
    Case("conjugate", complex_domain=(-1, 1)),
    Case("conj", shapes=[((3,),)], complex_domain=(-1, 1)),
    Case("angle", domain=(-3, 2.7), complex_domain=(0.3, 1)),
    Case("angle", label="degrees", shapes=[((3,),)], attrs={"deg": True}, complex_domain=(-1, -0.3)),
    Case("nan_to_num"),
    *[Case(name, domain=(-3, 2.7), orders=0) for name in ("sign", "floor", "ceil", "rint", "trunc", "round", "around")],
    Case("round", label="decimals", call=lambda np, x: np.round(x, 1), orders=0),
    Case("floor_divide", domain=[(-8, 8), (1.5, 2.5)], orders=0),
    Case("sign", label="complex", call=lambda np, x: np.sign(x * 1j + 2), shapes=[((3,),)], domain=POSITIVE),
]


@each_case(CASES)
def test_rule(case, check):
    check(case)


# ------------------------------------------------------------------------------------------- special points


def slopes(function, *values, dtype="float64"):
    """The derivative of an elementwise function in each of its arguments, all arrays of one dtype, as lists."""
    arrays = [numpy.array(each, dtype) for each in values]
    gradients = elementwise_grad(function, tuple(range(len(values))))(*arrays)
    assert all(each.dtype == dtype for each in gradients)
    return [each.tolist() for each in gradients]


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_absolute_at_its_kink_and_far_out(dtype):
    for function in (np.absolute, np.fabs):
        (slope,) = slopes(function, [0.0, -0.0, inf, -inf, 2.0, -2.0], dtype=dtype)
        assert slope == [0.0, 0.0, 1.0, -1.0, 1.0, -1.0]
        assert numpy.isnan(grad(function)(nan))
        assert grad(function)(0.0) == 0.0


def test_absolute_of_complex_numbers():
    # |z| has the gradient conj(z) / |z|, and 0 at the origin by convention.
    z = numpy.array([3 + 4j, 0, -2j])
    numpy.testing.assert_allclose(grad(lambda z: np.sum(np.abs(z)))(z), [0.6 - 0.8j, 0, 1j], rtol=1e-15)
    assert grad(lambda z: np.abs(z))(3 + 4j) == 0.6 - 0.8j
    assert grad(lambda z: np.abs(z) ** 2)(0j) == 0


def test_hypot_at_the_origin_and_far_out():
    assert slopes(np.hypot, [0.0, 3.0, 0.0], [0.0, 4.0, -2.0]) == [[0.0, 0.6, 0.0], [0.0, 0.8, -1.0]]
    numpy.testing.assert_allclose(grad(np.hypot, (0, 1))(3e300, 4e300), (0.6, 0.8))
    assert grad(lambda x, y: np.hypot(x, y) ** 2, (0, 1))(0.0, 0.0) == (0.0, 0.0)


def test_sqrt_at_zero_is_infinite_unless_its_cotangent_is_zero():
    assert slopes(np.sqrt, [0.0, 4.0]) == [[inf, 0.25]]
    assert grad(np.sqrt)(0.0) == inf
    assert grad(lambda x: x * np.sqrt(x))(0.0) == 0.0
    assert grad(np.cbrt)(0.0) == inf
    assert grad(lambda x: np.sqrt(x) ** 2)(0.0) == 0.0  # the root's cotangent, 2 * 0, is zero


@pytest.mark.parametrize("x", [0.0, numpy.float32(0), numpy.float64(0), numpy.zeros(())])
def test_powers_of_a_zero_base(x):
    with numpy.errstate(divide="ignore"):
        assert grad(lambda x: x * x**0.5)(x) == 0.0
        assert grad(lambda x: x**0.5)(x) == inf
        assert grad(lambda x: x**-0.5)(x) == -inf
        assert grad(lambda x: x**-1)(x) == -inf
    assert grad(lambda x: x**0)(x) == 0.0
    assert grad(lambda x: x**0.0)(x) == 0.0
    assert grad(lambda x: x**1)(x) == 1.0
    assert grad(lambda x: x**2)(x) == 0.0
    assert grad(grad(lambda x: x**2))(x) == 2.0
    assert grad(grad(lambda x: x**3))(x) == 0.0
    assert type(grad(lambda x: x**2)(x)) is (float if type(x) is float else x.dtype.type)


def test_zero_to_a_traced_power_is_flat():
    base = numpy.array([0.0, 2.0])
    expected = [0.0, 2 * numpy.log(2.0)]
    numpy.testing.assert_allclose(grad(lambda b: np.sum(base**b))(numpy.array([1.0, 1.0])), expected, rtol=1e-15)
    assert grad(lambda b: 0.0**b)(2.0) == 0.0
    assert grad(lambda b: 0**b)(0.0) == 0.0
    by_base, by_exponent = slopes(np.power, [0.0, 0.0, 0.0, 0.0], [0.0, 1.0, 2.0, 0.5])
    assert by_base == [0.0, 1.0, 0.0, inf]
    assert by_exponent == [0.0] * 4


def test_a_negative_base_has_no_gradient_in_its_exponent_and_none_is_computed_unless_wanted():
    exponents = numpy.array([2.0, 3.0, -1.0, 0.0])
    got = grad(lambda x: np.sum(x**exponents))(numpy.full(4, -2.0))
    assert got.tolist() == [-4.0, 12.0, -0.25, 0.0]
    assert numpy.isnan(grad(lambda b: (-2.0) ** b)(2.0))
    assert grad(lambda x: x ** numpy.uint8(0))(3.0) == 0.0
    assert grad(lambda x: np.sum(x ** numpy.array([0, 1, 2], "uint16")))(3.0) == 7.0


def test_a_negative_base_has_a_gradient_in_a_complex_exponent():
    # (-2)^b = exp(b log(-2)), with log(-2) = log 2 + i pi.
    b = 0.5 + 1.0j
    expected = numpy.exp(b * (numpy.log(2) + 1j * numpy.pi)) * (numpy.log(2) + 1j * numpy.pi)
    numpy.testing.assert_allclose(holomorphic_grad(lambda b: np.power(-2.0, b))(b), expected, rtol=1e-14)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_ties_share_equally_and_signed_zeros_are_a_tie(dtype):
    x1, x2 = [1.0, 0.0, -0.0, inf, -inf, 2.0], [1.0, -0.0, 0.0, inf, 3.0, -inf]
    ours = [0.5, 0.5, 0.5, 0.5, 0.0, 1.0]
    for function in (np.maximum, np.fmax):
        assert slopes(function, x1, x2, dtype=dtype) == [ours, [1 - each for each in ours]]
    for function in (np.minimum, np.fmin):
        assert slopes(function, x1, x2, dtype=dtype) == [[*ours[:4], 1.0, 0.0], [*ours[:4], 0.0, 1.0]]


def test_maximum_with_a_constant():
    assert grad(lambda x: np.sum(np.maximum(x, 0.0)))(numpy.array([-1.0, 0.0, 2.0])).tolist() == [0.0, 0.5, 1.0]
    assert grad(lambda x: np.maximum(x, 0.0))(0.0) == 0.5
    assert grad(lambda x: np.sum(np.sqrt(np.maximum(x, 0.0))))(numpy.array([-1.0, 4.0])).tolist() == [0.0, 0.25]


def test_fmax_and_fmin_pass_the_number_beside_nan():
    for function in (np.fmax, np.fmin):
        assert slopes(function, [nan, 1.0, nan], [2.0, nan, nan]) == [[0.0, 1.0, 0.0], [1.0, 0.0, 0.0]]


def test_clip_at_its_bounds_is_maximum_and_minimum():
    x, low, high = [-2.0, -1.0, 0.0, 1.0, 2.0], [-1.0] * 5, [1.0] * 5
    expected = [[0.0, 0.5, 1.0, 0.5, 0.0], [1.0, 0.5, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.5, 1.0]]
    assert slopes(np.clip, x, low, high) == expected
    assert slopes(lambda x, low, high: np.minimum(np.maximum(x, low), high), x, low, high) == expected


def test_clip_as_a_method_and_with_odd_arguments():
    x = numpy.array([-2.0, 0.5])
    assert grad(lambda x: x.clip(min=-1.0).sum())(x).tolist() == [0.0, 1.0]
    assert grad(lambda x: numpy.clip(x, -1.0, 1.0).sum())(x).tolist() == [0.0, 1.0]
    assert np.clip(x, None, 0.0).tolist() == [-2.0, 0.0]
    with pytest.raises(TypeError, match="a_min and a_max, or min and max"):
        np.clip(x, -1.0, max=1.0)


def test_remainders_at_negative_numbers():
    # Python's remainder takes away floor(x1 / x2) times x2, fmod trunc(x1 / x2) times.
    assert slopes(np.remainder, [-7.5, 7.5], [2.0, -2.0]) == [[1.0, 1.0], [4.0, 4.0]]
    assert slopes(np.fmod, [-7.5, 7.5], [2.0, -2.0]) == [[1.0, 1.0], [3.0, 3.0]]
    quotient, rest = np.divmod(-7.5, 2.0)
    assert (quotient, rest) == (-4.0, 0.5)


def test_division_by_and_of_zero():
    with numpy.errstate(divide="ignore", invalid="ignore"):
        assert grad(lambda x: x / 0.0)(1.0) == inf
        assert grad(lambda x: 1.0 / x)(0.0) == -inf
        assert grad(lambda x: np.reciprocal(x))(0.0) == -inf
    assert grad(lambda x: 0.0 / x)(2.0) == 0.0
    numpy.testing.assert_allclose(grad(lambda x: 1e200 / x)(1e200), -1e-200)


def test_copysign_and_heaviside_at_zero():
    assert slopes(np.copysign, [0.0, 2.0, -2.0], [-1.0, -0.0, -3.0]) == [[0.0, -1.0, 1.0], [0.0, 0.0, 0.0]]
    assert slopes(np.heaviside, [0.0, -1.0, 2.0], [0.3, 0.3, 0.3]) == [[0.0] * 3, [1.0, 0.0, 0.0]]


def test_nan_to_num_is_flat_where_it_replaces():
    x = numpy.array([1.0, nan, inf, -inf])
    assert grad(lambda x: np.sum(np.nan_to_num(x, posinf=8.0, neginf=9.0) ** 2))(x).tolist() == [2.0, 0.0, 0.0, 0.0]
    assert np.nan_to_num([nan, 1.0], nan=7.0).tolist() == [7.0, 1.0]


def test_angle_of_real_numbers_is_flat():
    assert slopes(np.angle, [-1.0, 0.0, 2.0]) == [[0.0, 0.0, 0.0]]


def test_complex_sign_is_not_a_constant():
    # For real z0 and t, sign(z0 + i t) turns by t / z0 at t = 0.
    turned = jvp(np.sign, (2.0 + 0.0j,), (1j,))[1]
    numpy.testing.assert_allclose(turned, 0.5j, atol=1e-15)
    numpy.testing.assert_array_equal(np.sign(numpy.array([0j, 3 + 4j])), numpy.sign(numpy.array([0j, 3 + 4j])))


@pytest.mark.parametrize("name", ["sign", "floor", "ceil", "rint", "trunc", "fix", "round", "floor_divide"])
def test_constants_leave_the_tape(name):
    arguments = (2.0,) if name == "floor_divide" else ()
    with autograd.Tape() as tape:
        result = getattr(np, name)(tape.watch(numpy.array([1.5, -2.5])), *arguments)
    assert type(result) is numpy.ndarray
    slope = grad(lambda x: np.sum(x * getattr(np, name)(x, *arguments)))(numpy.array([1.5]))
    assert slope == getattr(np, name)(1.5, *arguments)


def test_empty_arrays_have_empty_gradients():
    for function in (np.add, np.multiply, np.divide, np.power, np.maximum, np.hypot, np.remainder):
        assert slopes(function, [], []) == [[], []]
    assert jacobian(np.square)(numpy.zeros((0, 2))).shape == (0, 2, 0, 2)


def test_python_scalars_stay_weak():
    x = numpy.ones(2, "float32")
    functions = (
        lambda x: 0.5 * 2.0 * x,
        lambda x: x**0.5,
        lambda x: np.maximum(x, 0.0),
        lambda x: 2.0 / x,
        lambda x: x % 2.0,
    )
    for function in functions:
        assert function(x).dtype == "float32"
        assert grad(lambda x: np.sum(function(x)))(x).dtype == "float32"  # noqa: B023  # called at once
    assert type(grad(lambda x: np.maximum(x, 0.0) * 2.0)(1.0)) is float


def test_what_is_saved():
    x, w = numpy.ones((10, 10)), numpy.ones((10, 10))
    saved = {
        "x + w": 0, "x - w": 0, "x * w": 800, "x * 2.0": 0, "x / w": 800, "-x": 0,
        "2.0 / x": 1600,  # the gradient in a divisor takes the quotient
        "x * x": 800, "np.exp(x)": 800, "np.tanh(x)": 800, "np.real(x)": 0,
    }  # fmt: skip
    for text, expected in saved.items():
        with autograd.Tape() as tape:
            eval(text, {"np": np, "x": tape.watch(x), "w": w})
        buffers = {id(each): each.nbytes for each in tape._saved if isinstance(each, numpy.ndarray)}
        assert sum(buffers.values()) == expected, text


# ------------------------------------------------------------------------------------------- how ufuncs are called


def test_options_of_ufuncs():
    x = numpy.array([1.0, 2.0])
    assert grad(lambda x: np.sum(np.multiply(x, x, out=None)))(x).tolist() == [2.0, 4.0]
    assert grad(lambda x: np.sum(np.exp(x, where=True)))(x).tolist() == numpy.exp(x).tolist()
    out = numpy.zeros(2)
    assert np.add(x, 1, out=out) is out
    assert out.tolist() == [2.0, 3.0]
    assert np.add(x, 1, dtype="float32").dtype == "float32"
    assert np.add.reduce(x) == 3.0
    assert np.multiply.outer(x, x).shape == (2, 2)
    assert grad(lambda x: np.add.reduce(x))(x).tolist() == [1.0, 1.0]
    with autograd.Tape() as tape:
        t = tape.watch(x)
        assert isinstance(np.add(t, 1, out=out), autograd.Tensor)
        assert numpy.isnan(out).all(), "a plain array does not hold what only the tape follows"
        assert np.exp(t, dtype="float32").dtype == "float32"
        with pytest.raises(TypeError, match="where: got a mask of dtype float64"):
            np.exp(x, where=t)


def test_functions_of_tensors_pickle_by_name():
    import pickle

    assert pickle.loads(pickle.dumps(grad(np.sin)))(0.0) == 1.0
    assert pickle.loads(pickle.dumps(grad(np.maximum)))(1.0, 0.0) == 1.0


@pytest.mark.parametrize(
    ("reduce", "slopes"),
    [(np.sum, [1.0, 1.0]), (np.mean, [0.5, 0.5]), (np.prod, [3 - 1j, 1 + 2j])],
)
def test_the_imaginary_part_of_a_complex_number_that_a_reduction_made(reduce, slopes):
    z = numpy.array([1 + 2j, 3 - 1j])
    # the imaginary part of g has the gradient -i g'
    numpy.testing.assert_allclose(grad(lambda z: np.imag(reduce(z)))(z), -1j * numpy.array(slopes), rtol=1e-15)


def test_the_square_of_hypot_has_a_second_derivative_at_the_origin():
    f = lambda x: np.sum(np.hypot(x[0], x[1]) ** 2)  # noqa: E731  # the sum of x * x
    x = numpy.array([[0.0, 3.0], [0.0, 4.0]])
    expected = 2.0 * numpy.eye(4).reshape(2, 2, 2, 2)
    numpy.testing.assert_allclose(autograd.hessian(f)(x), expected, rtol=0, atol=1e-14)
    numpy.testing.assert_allclose(autograd.hessian(f)(0.0 * x), expected, rtol=0, atol=1e-14)
    with pytest.raises(autograd.GradientError, match=r"hypot: this function of it has no second derivative at zero"):
        autograd.hessian(lambda x: np.hypot(x[0], x[1]) ** 1.5)(numpy.zeros(2))
