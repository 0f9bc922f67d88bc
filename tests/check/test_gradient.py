"""check_gradient accepts what is right and never accepts what is wrong."""

import numpy
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import autograd.numpy as np
from autograd import GradientError, custom_gradient
from autograd.check import GradientReport, check_gradient, question

rng = numpy.random.default_rng(0)
LARGE = rng.normal(size=(30, 20))
SMALL = rng.normal(size=5)


# -------------------------------------------------------------------------------------------------- what is right

RIGHT = [
    ("elementwise, an array that is probed in directions", lambda x: np.sin(x) * x, (LARGE,)),
    ("a scalar", lambda x: x * x * x, (2.0,)),
    ("a NumPy scalar", lambda x: x * x * x, (numpy.float64(2.0),)),
    ("an axis of length zero beside one that is not", lambda x, y: np.sum(x) + y * y, (numpy.zeros((0, 3)), 2.0)),
    ("a dictionary", lambda p: np.sum(LARGE @ p["w"] + p["b"]), ({"w": rng.normal(size=(20, 3)), "b": numpy.zeros(3)},)),
    ("an argument without a derivative", lambda x, n: x * n, (SMALL, 3)),
    ("several outputs", lambda x: {"a": x * x, "b": (np.sum(x), 7)}, (SMALL,)),
    ("a complex output", lambda x: x * (1 + 2j), (SMALL,)),
    ("a complex argument", lambda z: z * z, (SMALL + 1j * SMALL[::-1],)),
    ("a real function of a complex argument", lambda z: np.sum(np.real(z) * np.imag(z)), (SMALL + 2j,)),
    ("single precision", lambda x: np.sum(np.sin(x) * x), (LARGE.astype(numpy.float32),)),
    ("two precisions", lambda p: p["a"] * p["b"], ({"a": SMALL.astype(numpy.float32), "b": SMALL},)),
    ("half precision", lambda x: x * x, (SMALL.astype(numpy.float16),)),
    ("a derivative of zero", lambda x: np.sum(x**5), (numpy.array([0.0, 1.0]),)),
    ("kinks nearby", lambda x: np.sum(np.where(x > 0, x, 0.1 * x)), (numpy.array([1e-4, -1e-4, 1.0]),)),
    ("the edge of a domain nearby", lambda x: np.sum(np.log(x)), (numpy.array([1e-6, 1.0]),)),
    ("large values", lambda x: np.sum(x * x), (1e150 * SMALL,)),
    ("small values", lambda x: np.sum(x * x), (1e-150 * SMALL,)),
    ("a steep function", lambda x: np.exp(50 * x), (SMALL,)),
    ("a fast oscillation", lambda x: np.sin(1000 * x), (SMALL,)),
]


@pytest.mark.parametrize(("f", "args"), [row[1:] for row in RIGHT], ids=[row[0] for row in RIGHT])
def test_a_right_gradient_passes(f, args):
    report = check_gradient(f, *args)
    assert report.verdict == "right", str(report)
    assert report.error <= report.tolerance
    assert {probe.verdict for probe in report.probes} <= {"right", "vacuous"}


def test_the_report_says_the_same_again():
    f = lambda x: np.sum(np.sin(x))  # noqa: E731  # as a user writes it
    assert str(check_gradient(f, LARGE)) == str(check_gradient(f, LARGE))
    assert check_gradient(f, LARGE).probes == check_gradient(f, LARGE).probes
    assert str(check_gradient(f, LARGE)).startswith("right: 12 derivatives of <lambda> agree with differences")


# -------------------------------------------------------------------------------------------------- what is wrong


def square_with(change):
    """``sum(x * x)`` whose gradient is changed on the way."""

    @custom_gradient
    def square(x):
        return np.sum(x * x), lambda dy: change(dy * 2.0 * x)

    return square


def wrong_at(place, factor):
    def change(g):
        mask = numpy.ones(g.shape)
        mask[place] = factor
        return g * mask.astype(g.dtype)

    return change


WRONG = [
    ("wrong sign", lambda g: -1.0 * g),
    ("factor 2", lambda g: 2.0 * g),
    ("slightly too large", lambda g: (1 + 1e-4) * g),
    ("zero", lambda g: 0.0 * g),
    ("reversed", lambda g: g[::-1]),
    ("one element of the wrong sign", wrong_at(-1, -1.0)),
    ("one element of twice the size", wrong_at(0, 2.0)),
    ("one element missing", wrong_at(1, 0.0)),
    ("one element 0.1 % too large", wrong_at(2, 1.001)),
    ("not a number", wrong_at(1, numpy.nan)),
    ("infinite", wrong_at(1, numpy.inf)),
    ("near the largest number there is", lambda g: 0.0 * g + numpy.finfo(g.dtype).max / 2),
    ("two neighbours exchanged", lambda g: np.concatenate([g[1:2], g[:1], g[2:]])),
]


@pytest.mark.parametrize("dtype", [numpy.float64, numpy.float32])
@pytest.mark.parametrize("x", [SMALL, LARGE], ids=["small", "large"])
@pytest.mark.parametrize("change", [row[1] for row in WRONG], ids=[row[0] for row in WRONG])
def test_a_wrong_gradient_never_passes(change, x, dtype):
    f = square_with(change)
    report = check_gradient(f, x.astype(dtype), raise_error=False)
    assert not report.ok
    assert report.where.startswith("argument 0")
    assert report.verdict == ("wrong" if numpy.isfinite(report.found) else "not finite")
    with pytest.raises(GradientError, match=f"check_gradient: {report.verdict}: the gradient of square"):
        check_gradient(f, x.astype(dtype))


@settings(deadline=None, max_examples=60)
@given(
    shape=st.lists(st.integers(1, 9), min_size=1, max_size=3).map(tuple),
    seed=st.integers(0, 2**32 - 1),
    factor=st.sampled_from([-1.0, 0.0, 2.0, 1.01]),
)
def test_one_wrong_element_is_found_and_named_wherever_it_is(shape, seed, factor):
    generator = numpy.random.default_rng(seed)
    x = generator.uniform(0.5, 2.0, shape) * generator.choice([-1, 1], shape)
    place = tuple(int(generator.integers(length)) for length in shape)
    report = check_gradient(square_with(wrong_at(place, factor)), x, raise_error=False)
    assert not report.ok
    assert report.where == f"argument 0[{', '.join(map(str, place))}]"


@pytest.mark.parametrize("n", [5, 500])
def test_a_wrong_element_is_found_also_where_the_argument_is_zero(n):
    x = numpy.ones(n)
    x[2] = 0.0

    @custom_gradient
    def total(x):
        return np.sum(x), lambda dy: dy * numpy.where(numpy.arange(n) == 2, -1.0, 1.0)

    report = check_gradient(total, x, raise_error=False)
    assert not report.ok
    assert report.where == "argument 0[2]"


def test_the_wrong_leaf_of_a_container_is_named():
    wrong = square_with(lambda g: 2.0 * g)
    right = square_with(lambda g: g)
    report = check_gradient(lambda p: right(p["a"]) + wrong(p["b"][1]), {"a": SMALL, "b": [3.0, 4.0]}, raise_error=False)
    assert not report.ok
    assert report.where == "argument 0['b'][1]"
    assert "reverse mode says 16, expected 8 by differences" in report.text


def test_a_gradient_that_is_wrong_in_single_precision_alone_is_found():
    f = square_with(lambda g: g if g.dtype == numpy.float64 else wrong_at((3, 4), 1.5)(g))
    assert check_gradient(f, LARGE).ok
    report = check_gradient(f, LARGE.astype(numpy.float32), raise_error=False)
    assert not report.ok
    assert report.where == "argument 0[3, 4] as float32"


@pytest.mark.parametrize("x", [SMALL, LARGE], ids=["small", "large"])
def test_wrong_forward_mode_is_found_although_reverse_mode_is_right(monkeypatch, x):
    right = question.push_forward
    monkeypatch.setattr(question, "push_forward", lambda *args: 2.0 * right(*args))
    f = square_with(lambda g: g)
    assert check_gradient(f, x, modes=["reverse"]).ok
    report = check_gradient(f, x, raise_error=False)
    assert not report.ok
    assert "forward mode says" in report.text
    assert report.where.endswith("]")


def test_what_is_constant_by_mistake_does_not_pass():
    """A part of the function that leaves the tape on purpose gives no gradient, and the differences see it."""
    report = check_gradient(lambda x: np.sum(x * x.value if hasattr(x, "value") else x * x), SMALL, raise_error=False)
    assert not report.ok


# -------------------------------------------------------------------------------------------------- what cannot be asked


def test_a_function_of_chance_is_refused():
    with pytest.raises(GradientError, match="not deterministic: <lambda> gives two values for the same arguments"):
        check_gradient(lambda x: x * rng.normal(), 2.0)


def test_arguments_without_floats_are_refused():
    with pytest.raises(GradientError, match="nothing to check"):
        check_gradient(lambda n: n * 2, 3)


@pytest.mark.parametrize("options", [{"rtol": 0.0}, {"rtol": 1.0}, {"rtol": float("nan")}, {"n_directions": 0}])
def test_options_with_which_wrong_gradients_would_pass_are_refused(options):
    with pytest.raises(ValueError, match="a wrong gradient would pass"):
        check_gradient(lambda x: x * x, 2.0, **options)


def test_a_function_that_changes_its_argument_is_stopped():
    def f(x):
        x += 1.0
        return np.sum(x)

    with pytest.raises(ValueError, match="read-only"):
        check_gradient(f, SMALL.copy())


def test_reports_are_frozen():
    report = check_gradient(lambda x: x * x, 2.0)
    assert isinstance(report, GradientReport)
    with pytest.raises(AttributeError):
        report.verdict = "right"
