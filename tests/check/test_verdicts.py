"""Each verdict, where it belongs: a table of functions and what a check must say of them, and why."""

import numpy
import pytest

import autograd.numpy as np
from autograd import GradientError, custom_gradient
from autograd import operators as op
from autograd.check import VERDICTS, check_call, check_gradient

X = numpy.array([0.3, -1.2, 2.0, 0.7])
chance = numpy.random.default_rng(0)


@custom_gradient
def relu_of_slope_five(x):
    """A rule that gives 5 at the kink, where the slopes are 0 and 1: no convention, a mistake."""
    return np.maximum(x, 0.0), lambda dy: dy * np.where(x == 0, 5.0, np.where(x > 0, 1.0, 0.0))


@custom_gradient
def doubled_rule(x):
    return np.sum(x * x), lambda dy: dy * 4.0 * x


@custom_gradient
def wrong_beside_a_kink(x):
    return np.sum(abs(x)), lambda dy: dy * np.where(x == 0, 0.0, 2.0 * np.sign(x))


@custom_gradient
def nan_rule(x):
    return np.sum(x * x), lambda dy: dy * 2.0 * x * numpy.nan


@custom_gradient
def zero_rule(x):
    return np.sum(x * x), lambda dy: 0.0 * x * dy


@custom_gradient
def slope_of_a_constant(x):
    return np.sum(x) * 0.0 + 1.0, lambda dy: dy * numpy.ones(4)


ROWS = [
    # ---- kinks: the gradient lies between the slopes on either side
    ("abs at 0", np.abs, (0.0,), "kink"),
    ("relu at 0", op.relu, (0.0,), "kink"),
    ("one element at a kink", lambda x: np.sum(np.abs(x)), (numpy.array([0.0, 1.0, -2.0]),), "kink"),
    ("max of a tie", np.max, (numpy.array([1.0, 3.0, 3.0]),), "kink"),
    ("norm at 0", np.linalg.norm, (numpy.zeros(3),), "kink"),
    ("sort of a tie", lambda x: np.sort(x), (numpy.array([2.0, 1.0, 2.0]),), "kink"),
    ("clip at its bound", lambda x: np.clip(x, -1.0, 1.0), (numpy.array([1.0, 0.5]),), "kink"),
    ("a step", lambda x: x + np.floor(x), (1.0,), "kink"),
    ("kinks that cancel", lambda x: op.relu(x) - op.relu(-x), (numpy.array([0.0, 3.0]),), "kink"),
    ("a kink in a large array", lambda x: np.sum(np.abs(x)), (numpy.arange(200.0) - 100,), "kink"),
    ("a kink of complex numbers", np.abs, (0j,), "kink"),
    ("a kink in single precision", lambda x: np.sum(np.abs(x)), (numpy.array([0.0, 1.0], numpy.float32),), "kink"),
    ("equal eigenvalues", lambda a: np.linalg.eigh(a + np.swapaxes(a, -1, -2))[0], (numpy.eye(3),), "kink"),
    # ---- no kinks
    ("abs beside 0", np.abs, (1e-6,), "right"),
    ("abs in the square", lambda x: np.abs(x) ** 2, (0.0,), "right"),
    ("a half power at the edge", lambda x: x**1.5, (numpy.array([0.0, 1.0]),), "right"),
    ("norm squared at 0", lambda x: np.linalg.norm(x) ** 2, (numpy.zeros(3),), "right"),
    # ---- slopes that cancel to nothing but rounding
    ("a sum about the mean", lambda x: np.sum(x - np.mean(x)), (X,), "right"),
    ("the sum of a softmax", lambda x: np.sum(np.exp(x) / np.sum(np.exp(x))), (X,), "right"),
    ("an imaginary part that is none", lambda x: np.imag(np.exp(1j * x) * np.exp(-1j * x)), (X,), "right"),
    ("a cube beside zero", lambda x: np.sum(x**3), (numpy.linspace(-1.0, 1.0, 2000),), "right"),
    ("a flat point", lambda x: x**3, (0.0,), "right"),
    # ---- wrong, and no kink
    ("twice the gradient", doubled_rule, (X,), "wrong"),
    ("no slope between", relu_of_slope_five, (numpy.array([0.0, 1.0]),), "wrong"),
    ("wrong at the other elements", wrong_beside_a_kink, (numpy.array([0.0, 1.0]),), "wrong"),
    ("zero", zero_rule, (X,), "wrong"),
    ("a slope of a constant", slope_of_a_constant, (X,), "wrong"),
    ("off the tape", lambda x: np.sum(x * (x.value if hasattr(x, "value") else x)), (X,), "wrong"),
    # ---- not finite
    ("sqrt at 0", lambda x: np.sum(np.sqrt(x)), (numpy.array([0.0, 1.0]),), "not finite"),
    ("log of a negative number", lambda x: np.log(x), (numpy.array([-1.0, 2.0]),), "not finite"),
    ("overflow", lambda x: np.exp(x), (1000.0,), "not finite"),
    ("a NaN of the rule's", nan_rule, (X,), "not finite"),
    ("NaN among the inputs", lambda x: np.sum(x * x), (numpy.array([numpy.nan, 1.0]),), "not finite"),
    # ---- not deterministic
    ("a generator of its own", lambda x: x * chance.normal(), (X,), "not deterministic"),
    ("a generator among the arguments", lambda x, g: x * g.normal(size=4), (X, numpy.random.default_rng(1)), "right"),
    # ---- noise
    ("a slope drowned by a constant", lambda x: np.real(1e12 + 1e-9 * x), (1.0,), "too noisy to tell"),
    ("a hidden oscillation", lambda x: np.real(np.sin(x) + 1e-4 * stop(np.sin(1e12 * x))), (0.3,), "too noisy to tell"),
    ("noise that the complex step sees through", lambda x: 1e12 + 1e-9 * x, (1.0,), "right"),
    ("single precision inside", lambda x: np.sum(np.sin(np.astype(x, numpy.float32))), (X,), "right"),
    # ---- vacuous
    ("a constant", lambda x: 3.0, (1.0,), "vacuous"),
    ("an argument without effect", lambda x, y: x * x, (X, 2.0), "vacuous"),
    ("a leaf without effect", lambda p: np.sum(p["w"]), ({"w": X, "b": X},), "vacuous"),
    ("nothing returned", lambda x: None, (X,), "vacuous"),
    ("a text returned", lambda x: "text", (X,), "vacuous"),
    ("whole numbers returned", lambda x: np.argsort(x), (X,), "vacuous"),
    ("an empty output", lambda x: x[:0], (X,), "vacuous"),
    ("dead units", lambda x: np.sum(np.maximum(x, 0.0)), (-numpy.abs(X),), "vacuous"),
    ("an element without effect", lambda x: x[0] * x[1], (X,), "right"),
    # ---- dtypes, scales, containers
    ("single precision", lambda x: np.sum(np.sin(x) * x), (X.astype(numpy.float32),), "right"),
    ("complex to real", lambda z: np.sum(np.abs(z) ** 2), (X + 1j,), "right"),
    ("complex to complex", lambda z: z * z, (X + 1j,), "right"),
    ("real to complex", lambda x: np.exp(1j * x), (X,), "right"),
    ("huge", lambda x: np.sum(x * x), (1e150 * X,), "right"),
    ("tiny", lambda x: np.sum(x * x), (1e-150 * X,), "right"),
    ("of very different size", lambda x: np.sum(x**2), (numpy.logspace(-8, 8, 60),), "right"),
    ("lists and dictionaries", lambda p: {"a": [p["w"] * 2, "name"], "b": (np.sum(p["b"]), 7)}, ({"w": X, "b": X},), "right"),
]


def stop(x):
    return x.value if hasattr(x, "value") else x


@pytest.mark.parametrize(("f", "args", "verdict"), [row[1:] for row in ROWS], ids=[row[0] for row in ROWS])
def test_the_verdict(f, args, verdict):
    report = check_gradient(f, *args, raise_error=False)
    assert report.verdict == verdict, str(report)
    assert report.ok == (verdict == "right")
    assert str(report).startswith(verdict)
    if verdict != "right":
        with pytest.raises(GradientError, match=f"check_gradient: {verdict}"):
            check_gradient(f, *args)
        if verdict != "wrong":
            assert check_gradient(f, *args, allow=[verdict]).verdict == verdict


def test_every_verdict_has_rows():
    assert {row[3] for row in ROWS} == set(VERDICTS)


@pytest.mark.parametrize(("left", "right", "x"), [(-1.0, 1.0, 0.0), (0.25, 3.0, 2.0)])
def test_a_kink_shows_the_slopes_on_either_side(left, right, x):
    f = lambda t: np.where(t < x, left, right) * (t - x)  # noqa: E731
    report = check_gradient(f, x, raise_error=False)
    (probe,) = {(each.left, each.right) for each in report.probes}
    numpy.testing.assert_allclose(probe, (left, right), rtol=1e-9)
    assert f"{left:.7g} and {right:.7g}" in str(report)


def test_where_there_is_no_gradient_the_report_says_why():
    """The middle one of three equal eigenvalues does not change along any diagonal element, but does along all of them."""
    report = check_gradient(lambda a: np.linalg.eigh(a)[0][1], numpy.diag([1.0, 1.0, 1.0]), raise_error=False)
    assert report.verdict == "kink"
    assert "do not add up: the function has no gradient here" in " ".join(str(report).split())


def test_a_wrong_gradient_of_a_linear_function_stays_wrong():
    @custom_gradient
    def total(x):
        return np.sum(x), lambda dy: dy * numpy.array([1.0, 1.0, 2.0, 1.0])

    assert check_gradient(total, X, raise_error=False).verdict == "wrong"


def test_what_is_no_function_or_no_list_is_named():
    with pytest.raises(TypeError, match="got 3 of type int, expected a function"):
        check_gradient(3, X)
    with pytest.raises(GradientError, match="operator 'sin' got one array, expected a list of 1, for x"):
        check_call("sin", X)


def test_where_a_nan_arose_is_said_forward():
    report = check_gradient(lambda x: np.sum(np.log(x - 1.0) * 2.0), numpy.array([3.0, 0.5]), raise_error=False)
    assert "it arose forward in kernel 'log'" in str(report)
    assert "nan at element [1]" in str(report)
    assert "test_verdicts.py" in str(report)


def test_where_an_infinite_slope_arose_is_said_backward():
    report = check_gradient(lambda x: np.sum(np.sqrt(x * x[::-1])), numpy.array([0.0, 2.0]), raise_error=False)
    assert "it arose backward in the rule of kernel 'sqrt'" in str(report)


def test_a_generator_is_put_back_for_each_run():
    g = numpy.random.default_rng(7)
    before = g.bit_generator.state
    assert check_gradient(lambda x, options: x * options["rng"].normal(), X, {"rng": g}).ok
    assert g.bit_generator.state == before


def test_keyword_arguments_go_to_the_function_and_their_arrays_are_checked():
    f = lambda x, *, weight, power: np.sum(weight * x**power)  # noqa: E731
    report = check_gradient(f, X, kwargs={"weight": X + 3.0, "power": 2.0})
    assert {probe.where.partition("[")[0] for probe in report.probes} == {"argument 0", "keyword argument 'weight'"}


@pytest.mark.parametrize("order", [2, 3])
def test_higher_orders(order):
    assert check_gradient(lambda x: np.sum(np.exp(x) * x[0]), X, order=order).order == order


def test_a_wrong_second_derivative_is_found_although_the_first_is_right():
    @custom_gradient
    def cube(x):
        return x**3, lambda dy: dy * 3.0 * stop(x) * x  # half of the second derivative has left the tape

    f = lambda x: np.sum(cube(x))  # noqa: E731
    assert check_gradient(f, X).ok
    report = check_gradient(f, X, order=2, raise_error=False)
    assert (report.verdict, report.order) == ("wrong", 2)
    assert report.culprit.kernel_name == "custom_gradient"


@pytest.mark.parametrize(
    "options",
    [{"modes": "reverse"}, {"modes": []}, {"modes": ["sideways"]}, {"order": 0}, {"allow": ["wrong"]}, {"allow": "kink"}],
)
def test_options_that_mean_nothing_are_refused(options):
    with pytest.raises(ValueError, match="check_gradient: got"):
        check_gradient(lambda x: x * x, 2.0, **options)
