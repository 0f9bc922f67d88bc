"""check_derivative: for functions that are not ours, a derivative written by hand is right, or wrong in a way that is named."""

import math
import random
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from autograd import GradientError
from autograd.check import VERDICTS, check_derivative
from autograd.check.differences import mixed_slope

X = np.array([0.3, -1.2, 2.0, 0.7])
Z = np.array([1 + 2j, 0.5 - 1j])
SINGLE = X.astype(np.float32)
MANY = np.linspace(-1, 1, 2000)
I = np.eye(2)  # noqa: E741  # its name
OSCILLATING = np.array([100.3, 207.7, 333.0], np.float32)
WEIGHTS = {"w": np.arange(1.0, 7.0).reshape(2, 3), "b": 3.0}
chance = np.random.default_rng(0)


def cubes(x):
    return np.sum(x**3)


def three(x):
    """Three numbers of two, whose Jacobian is written out below."""
    return [x[0] * x[1], x[0] ** 2, np.exp(x[1])]


def jacobian_of_three(x):
    return [[x[1], x[0]], [2 * x[0], 0], [0, np.exp(x[1])]]


def mixed(x):
    return x[0] * x[1] ** 2


def hessian_of_mixed(x, v):
    return [2 * x[1] * v[1], 2 * x[1] * v[0] + 2 * x[0] * v[1]]


def scales(x):
    return x[0] ** 2 * np.exp(1e5 * x[1])


def hessian_of_scales(x, v):
    e, a = np.exp(1e5 * x[1]), x[0]
    return 2 * e * v[0] + 2e5 * a * e * v[1], 2e5 * a * e * v[0] + 1e10 * a**2 * e * v[1]


def one_twice(x):
    return 3 * x**2 * (1 + (np.arange(2000) == 777))


def insists_on_single(x):
    assert x.dtype == np.float32
    return np.sum(np.sin(x))


def changes_its_argument(x):
    x.sort()
    return x[0] * x[1]


class Foreign:
    """An array of another library: it knows how to become NumPy's, and nothing else."""

    def __init__(self, values):
        self.values = np.asarray(values)

    def __array__(self, dtype=None, copy=None):
        return np.array(self.values, dtype)


J, H = "jacobian", "hessian_vector_product"
ROWS = [
    # ---- right
    ("a gradient", cubes, lambda x: 3 * x**2, X, "gradient", "right"),
    ("a number", lambda x: x**3, lambda x: 3 * x**2, 2.0, "gradient", "right"),
    ("a function of Python floats", math.log, lambda x: 1 / x, 1.5, "gradient", "right"),
    ("a NumPy scalar", lambda x: x**3, lambda x: 3 * x**2, np.float64(2.0), "gradient", "right"),
    ("a list of numbers", cubes, lambda x: 3 * x**2, [1.0, -2.0], "gradient", "right"),
    ("a matrix", cubes, lambda x: 3 * x**2, X.reshape(2, 2), "gradient", "right"),
    ("more elements than are asked alone", cubes, lambda x: 3 * x**2, MANY, "gradient", "right"),
    ("a gradient of whole numbers", np.sum, lambda x: np.ones(4, int), X, "gradient", "right"),
    (
        "a dictionary, its keys in another order",
        lambda p: np.sum(p["w"] ** 2) * p["b"],
        lambda p: {"b": np.sum(p["w"] ** 2), "w": 2 * p["w"] * p["b"]},
        WEIGHTS,
        "gradient",
        "right",
    ),
    ("leaves without derivative", lambda p: p[0] ** 2 * p[1], lambda p: (2 * p[0] * p[1], None), (3.0, 2), "gradient", "right"),
    ("a Jacobian in lists", three, jacobian_of_three, [1.0, 2.0], J, "right"),
    ("a Jacobian of many numbers", lambda x: x**2, lambda x: np.diag(2 * x), np.linspace(-1, 1, 50), J, "right"),
    ("a matrix of a matrix", lambda a: a.T, lambda a: np.einsum("il,jk->ijkl", I, I), X.reshape(2, 2), J, "right"),
    (
        "a Jacobian between containers",
        lambda p: {"a": p[0] * 2, "b": (p[1] * p[0][0],)},
        lambda p: {"a": (2 * np.eye(2), np.zeros(2)), "b": ((np.array([p[1], 0.0]), p[0][0]),)},
        (np.array([1.0, 2.0]), 3.0),
        J,
        "right",
    ),
    ("a Hessian", cubes, lambda x, v: 6 * x * v, X, H, "right"),
    ("a Hessian of a number", lambda x: x**3, lambda x, v: 6 * x * v, 2.0, H, "right"),
    ("a large Hessian", cubes, lambda x, v: 6 * x * v, np.linspace(-1, 1, 40), H, "right"),
    ("a Hessian with mixed terms", mixed, hessian_of_mixed, [1.5, -2.0], H, "right"),
    ("a Hessian of zero", np.sum, lambda x, v: 0 * v, X, H, "right"),
    ("a real function of complex numbers", lambda z: np.sum(abs(z) ** 2), lambda z: 2 * np.conj(z), Z, "gradient", "right"),
    ("a holomorphic function", lambda z: np.sum(z**3), lambda z: 3 * z**2, Z, "gradient", "right"),
    ("a complex Jacobian", lambda z: z**3, lambda z: np.diag(3 * z**2), Z, J, "right"),
    ("a complex function of real numbers", lambda x: np.exp(1j * x), lambda x: np.diag(1j * np.exp(1j * x)), X, J, "right"),
    ("single precision", cubes, lambda x: 3 * x**2, SINGLE, "gradient", "right"),
    ("single precision alone", insists_on_single, np.cos, SINGLE, "gradient", "right"),
    ("single precision inside", lambda x: cubes(x.astype(np.float32)), lambda x: 3 * x**2, X, "gradient", "right"),
    ("a Hessian in single precision", cubes, lambda x, v: 6 * x * v, SINGLE, H, "right"),
    ("a point rounded coarsely", lambda x: np.sum(np.sin(x)), np.cos, OSCILLATING, "gradient", "right"),
    ("and all else in doubles", lambda x: np.sum(np.sin(x.astype(float))), np.cos, OSCILLATING, "gradient", "right"),
    ("a Hessian of very different scales", scales, hessian_of_scales, (1e5, 1e-5), H, "right"),
    ("another library's arrays", lambda x: Foreign(cubes(x)), lambda x: Foreign(3 * x**2), X, "gradient", "right"),
    ("another library's argument", lambda x: cubes(x), lambda x: 3 * x**2, Foreign(X), "gradient", "right"),
    ("its argument changed", changes_its_argument, lambda x: x[::-1], np.array([1.0, 2.0]), "gradient", "right"),
    ("the edge of a domain near", lambda x: math.sqrt(x) ** 4, lambda x: 2 * x, 0.001, "gradient", "right"),
    # ---- wrong
    ("the wrong sign", cubes, lambda x: -3 * x**2, X, "gradient", "wrong"),
    ("a small factor", cubes, lambda x: 3.003 * x**2, X, "gradient", "wrong"),
    ("one element of many", cubes, one_twice, MANY, "gradient", "wrong"),
    ("one number of a Jacobian", three, lambda x: [*jacobian_of_three(x)[:2], [0, 1.0]], [1.0, 2.0], J, "wrong"),
    ("a Hessian without its mixed terms", mixed, lambda x, v: [0, 2 * x[0] * v[1]], [1.5, -2.0], H, "wrong"),
    ("single precision, off by two in a hundred", cubes, lambda x: 1.02 * 3 * x**2, SINGLE, "gradient", "wrong"),
    ("no holomorphic function", lambda z: np.sum(z * np.conj(z)), lambda z: 2 * np.conj(z), Z, "gradient", "wrong"),
    # ---- neither
    ("a kink", lambda x: np.sum(abs(x)), np.sign, np.array([0.0, 1.0]), "gradient", "kink"),
    ("a kink of the gradient", lambda x: np.sum(x * abs(x)), lambda x, v: 2 * np.sign(x) * v, np.array([0.0, 1.0]), H, "kink"),
    ("a kink where there is no Hessian at all", lambda x: np.sum(abs(x)), lambda x, v: 0 * v, np.array([0.0, 1.0]), H, "kink"),
    ("NaN", cubes, lambda x: x * np.nan, X, "gradient", "not finite"),
    ("a vertical tangent", math.sqrt, lambda x: 0.5 / math.sqrt(x) if x else math.inf, 0.0, "gradient", "not finite"),
    ("a function of chance", lambda x: np.sum(x) * chance.normal(), np.ones_like, X, "gradient", "not deterministic"),
    ("a derivative of chance", np.sum, lambda x: chance.normal(size=4), X, "gradient", "not deterministic"),
    ("a slope below the noise", lambda x: 1e12 + 1e-9 * np.real(x), lambda x: 1e-9, 1.0, "gradient", "too noisy to tell"),
    ("a constant", lambda x: 3.0, lambda x: 0 * x, X, "gradient", "vacuous"),
    ("nothing returned", lambda x: None, lambda x: 0 * x, X, "jacobian", "vacuous"),
]  # fmt: skip


@pytest.mark.parametrize(("f", "df", "x", "kind", "verdict"), [row[1:] for row in ROWS], ids=[row[0] for row in ROWS])
def test_the_verdict(f, df, x, kind, verdict):
    report = check_derivative(f, df, x, kind=kind, raise_error=False)
    assert report.verdict == verdict, str(report)
    assert str(report).startswith(verdict)
    if verdict == "right":
        assert check_derivative(f, df, x, kind=kind).ok
    else:
        with pytest.raises(GradientError, match=f"check_derivative: {verdict}"):
            check_derivative(f, df, x, kind=kind)


def test_every_verdict_has_rows():
    assert {row[5] for row in ROWS} == set(VERDICTS)


SQUARE = lambda x: np.array([x[0] * x[1], x[0] ** 2])  # noqa: E731
FAULTS = [
    ("sign", cubes, lambda x: -3 * x**2, X, "gradient", "wrong sign"),
    ("twice", cubes, lambda x: 6 * x**2, X, "gradient", "factor 2: it is twice the right one"),
    ("half, of a large array", cubes, lambda x: 1.5 * x**2, np.linspace(1, 2, 100), "gradient", "it is half of the right one"),
    ("a mean for a sum", np.sum, lambda x: np.full(4, 0.2), X, "gradient", "wrong by a factor of 0.2"),
    ("a factor in single precision", cubes, lambda x: 3.3 * x**2, SINGLE, "gradient", "wrong by a factor of 1.1"),
    ("zero", cubes, lambda x: 0 * x, X, "gradient", "zero where it should not be"),
    ("one zero", cubes, lambda x: 3 * x**2 * [1, 0, 1, 1], X, "gradient", "zero where it should not be, in 1 of 4 elements"),
    ("one element", cubes, lambda x: 3 * x**2 * [1, 1, 3, 1], X, "gradient", "wrong in 1 of 4 elements, by a factor of 3"),
    ("reversed", cubes, lambda x: 3 * x[::-1] ** 2, X, "gradient", "reversed"),
    ("conjugate", lambda z: np.sum(abs(z) ** 2), lambda z: 2 * z, Z, "gradient", "missing conjugate"),
    ("conjugate of a complex one", lambda z: z**3, lambda z: np.diag(np.conj(3 * z**2)), Z, J, "missing conjugate"),
    ("the imaginary part lost", lambda z: np.sum(z**3), lambda z: (3 * z**2).real, Z, "gradient", "the imaginary part is lost"),
    ("transposed", SQUARE, lambda x: np.array([[x[1], 2 * x[0]], [x[0], 0]]), [1.0, 2.0], J, "transposed"),
    ("cut to whole numbers", cubes, lambda x: (3 * x**2).astype(int), X, "gradient", "cut to whole numbers"),
    ("some not finite", cubes, lambda x: np.where(x < 0, np.inf, 6 * x**2), X, "gradient", None),
    ("a Hessian of the wrong sign", cubes, lambda x, v: -6 * x * v, X, H, "wrong sign"),
    ("not scaled by v", cubes, lambda x, v: 6 * x * v / np.linalg.norm(v), X, H, "not scaled by v"),
    ("not linear in v", cubes, lambda x, v: 6 * x * v**2, X, H, "not linear in v"),
    ("swapped", lambda p: np.sum(p[0] * p[1] ** 2), lambda p: (2 * p[0] * p[1], p[1] ** 2), (X, X + 3), "gradient", "swapped"),
    ("a leaf", lambda p: np.sum(p[0]) * p[1] ** 2, lambda p: (p[1] ** 2 + 0 * X, p[1] * sum(p[0])), (X, 3.0), "gradient", "half"),
    # ---- of the wrong shape
    ("a column", cubes, lambda x: 3 * x[:, None] ** 2, X, "gradient", "found shape (4, 1) for x, expected shape (4,)"),
    ("nothing", cubes, lambda x: None, X, "gradient", "found NoneType for x, expected an array of shape (4,)"),
    ("inputs first", three, lambda x: np.transpose(jacobian_of_three(x)), [1.0, 2.0], J, "(3, 2); it is the transposed"),
    ("inputs first, and wrong", three, lambda x: np.ones((2, 3)), [1.0, 2.0], J, "found shape (2, 3)"),
    ("a leaf missing", lambda p: p["w"].sum() * p["b"], lambda p: {"w": p["b"]}, WEIGHTS, "gradient", "one of ['w'], ['b']"),
    ("a leaf of the wrong shape", lambda p: p[0].sum(), lambda p: [np.ones(3)], [X], "gradient", "found shape (3,) for x[0]"),
    ("a product of the wrong shape", cubes, lambda x, v: np.dot(x, v), X, H, "found shape () for x, expected shape (4,)"),
]  # fmt: skip


@pytest.mark.parametrize(("f", "df", "x", "kind", "says"), [row[1:] for row in FAULTS], ids=[row[0] for row in FAULTS])
def test_the_kind_of_fault(f, df, x, kind, says):
    report = check_derivative(f, df, x, kind=kind, raise_error=False)
    if says is None:
        assert report.verdict in ("wrong", "not finite")
        return
    assert report.verdict == "wrong"
    assert report.culprit.kernel_name == "df"
    assert says in report.culprit.diagnosis, str(report)
    assert report.culprit.source_line.startswith("test_derivative.py:")
    assert ("transposed" in report.culprit.diagnosis) == ("transposed" in says)


def test_the_worst_element_has_both_values():
    def derivative(x):
        return 3 * x**2 + np.array([0, 0, 0.5, 0])

    report = check_derivative(cubes, derivative, X, raise_error=False)
    assert report.where == "x[2]"
    assert report.found == 12.5
    assert report.expected == pytest.approx(12.0)
    assert "written by hand" in str(report)
    assert "derivative says 12.5, expected 12 by differences" in str(report)
    assert report.culprit.n_wrong == (1, 4)


def test_the_jacobian_is_kept_beside_the_differences():
    (pair,) = check_derivative(three, jacobian_of_three, [1.0, 2.0], kind="jacobian").jacobians
    expected = [[2.0, 1.0], [2.0, 0.0], [0.0, math.e**2]]
    np.testing.assert_allclose(pair.found, expected, rtol=1e-15)
    np.testing.assert_allclose(pair.expected, expected, rtol=1e-8, atol=1e-12)


def test_the_hessian_is_kept_column_by_column():
    hessian = np.array([[0.0, -4.0], [-4.0, 3.0]])  # of x0 * x1**2 at (1.5, -2)
    report = check_derivative(lambda x: x[0] * x[1] ** 2, lambda x, v: hessian @ v, [1.5, -2.0], kind=H)
    assert report.jacobians[0].found.tolist() == hessian.tolist()
    np.testing.assert_allclose(report.jacobians[0].expected, hessian, atol=1e-8)


@settings(deadline=None, max_examples=60)
@given(
    shape=st.lists(st.integers(1, 7), min_size=1, max_size=3).map(tuple),
    seed=st.integers(0, 2**32 - 1),
    factor=st.sampled_from([-1.0, 0.0, 2.0, 1.01]),
    single=st.booleans(),
)
def test_one_wrong_element_is_found_and_named_wherever_it_is(shape, seed, factor, single):
    generator = np.random.default_rng(seed)
    x = generator.uniform(0.5, 2.0, shape) * generator.choice([-1, 1], shape)
    place = tuple(int(generator.integers(length)) for length in shape)
    mask = np.ones(shape)
    mask[place] = 2.0 if single and factor == 1.01 else factor
    x = x.astype(np.float32) if single else x
    right = check_derivative(lambda x: np.sum(x * x), lambda x: 2 * x, x, seed=seed, allow=["too noisy to tell"])
    assert right.verdict == "right" or single
    report = check_derivative(lambda x: np.sum(x * x), lambda x: 2 * x * mask, x, seed=seed, raise_error=False)
    assert not report.ok
    if report.verdict == "wrong":
        assert report.where == f"x[{', '.join(map(str, place))}]" or (single and "along a direction" in report.where)
    else:
        assert (report.verdict, single) == ("too noisy to tell", True)


def test_further_arguments_go_to_both():
    f = lambda x, a, b: np.sum(a * x) + b  # noqa: E731
    assert check_derivative(f, lambda x, a, b: a, X, args=(X + 1, 3.0)).ok
    f = lambda x, a: a * cubes(x)  # noqa: E731
    assert check_derivative(f, lambda x, v, a: 6 * a * x * v, X, args=(2.0,), kind=H).ok


@pytest.mark.parametrize("generator", [np.random.default_rng(3), random.Random(3)])
def test_a_generator_is_put_back_for_each_run(generator):
    draw = (lambda g: g.normal()) if isinstance(generator, np.random.Generator) else (lambda g: g.random())
    report = check_derivative(lambda x, g: cubes(x) * draw(g), lambda x, g: 3 * x**2 * draw(g), X, args=(generator,))
    assert report.ok


def test_a_sparse_jacobian():
    sparse = pytest.importorskip("scipy.sparse")
    assert check_derivative(lambda x: x**2, lambda x: sparse.diags(2 * x), X, kind="jacobian").ok


def test_where_it_raises_beside_the_point_is_said():
    report = check_derivative(math.sqrt, lambda x: math.inf, 0.0, raise_error=False)
    assert any("f raised ValueError" in each or "sqrt raised ValueError" in each for each in report.notes)


def cuts_to_real(x):
    return np.sum(x.astype(float) ** 2)


def raises_of_complex(x):
    if np.iscomplexobj(x):
        raise ValueError("complex")
    return np.sum(x**2)


@pytest.mark.parametrize("f", [cuts_to_real, raises_of_complex])
def test_a_function_that_takes_no_complex_numbers_is_not_troubled_with_them(f):
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        report = check_derivative(f, lambda x: 2.0001 * x, X, raise_error=False)
    assert (report.verdict, report.notes, warned) == ("wrong", (), [])


def test_what_it_raises_at_the_point_itself_is_raised():
    with pytest.raises(ValueError, match=r"math domain error|expected a nonnegative input"):
        check_derivative(math.sqrt, lambda x: 1.0, -1.0)
    with pytest.raises(ZeroDivisionError):
        check_derivative(cubes, lambda x: 1 / 0, X)


def test_the_report_says_the_same_again_and_another_seed_another_thing():
    x = np.linspace(-1, 1, 100)
    texts = [check_derivative(cubes, lambda x: 3 * x**2, x, seed=seed).probes for seed in (1, 1, 2)]
    assert texts[0] == texts[1] != texts[2]


def test_what_was_given_is_left_as_it_was():
    x = np.array([2.0, 1.0])
    check_derivative(changes_its_argument, lambda x: x[::-1], x, allow=["wrong"][:0], raise_error=False)
    assert x.tolist() == [2.0, 1.0]
    assert x.flags.writeable


def test_a_function_without_name_has_one_in_the_report():
    text = str(check_derivative(lambda x: x * x, lambda x: x, 2.0, raise_error=False))
    assert text.startswith("wrong: the gradient of f, 1 of 1 answers")
    assert "df says 2, expected 4" in text


REFUSED = [
    (GradientError, "f gives 4 numbers, but a gradient is of one", lambda: check_derivative(np.sin, np.cos, X)),
    (GradientError, "a Hessian-vector product is of one", lambda: check_derivative(np.sin, np.cos, X, kind=H)),
    (GradientError, "complex numbers for a Hessian", lambda: check_derivative(np.sum, np.cos, Z, kind=H)),
    (GradientError, "nothing to check", lambda: check_derivative(np.sum, np.cos, [1, 2])),
    (ValueError, "got kind='hessian'", lambda: check_derivative(np.sum, np.cos, X, kind="hessian")),
    (ValueError, "check_derivative: got rtol=0.5", lambda: check_derivative(np.sum, np.cos, X, rtol=0.5)),
    (ValueError, "check_derivative: got allow=", lambda: check_derivative(np.sum, np.cos, X, allow=["wrong"])),
]


@pytest.mark.parametrize(("error", "says", "call"), REFUSED, ids=[row[1] for row in REFUSED])
def test_what_cannot_be_asked_is_refused(error, says, call):
    with pytest.raises(error, match=says):
        call()


def test_a_verdict_may_be_allowed():
    assert check_derivative(lambda x: np.sum(abs(x)), np.sign, np.array([0.0, 1.0]), allow=["kink"]).verdict == "kink"


# -------------------------------------------------------------------------------------------------- second derivatives

MIXED = [
    ("a product", lambda s, t: 5 * s * t, 5.0),
    ("an exponential", lambda s, t: math.exp(2 * s + 3 * t), 6.0),
    ("no mixed term", lambda s, t: math.sin(s) + math.cos(t), 0.0),
    ("a large constant beside it", lambda s, t: 1e3 + math.sin(s * t + s), 1.0),
    ("a fast oscillation", lambda s, t: math.sin(100 * s) * math.sin(100 * t), 1e4),
    ("not defined far away", lambda s, t: math.sqrt(1e-2 + s * t) if s * t > -1e-2 else math.nan, 5.0),
]


@pytest.mark.parametrize(("f", "expected"), [row[1:] for row in MIXED], ids=[row[0] for row in MIXED])
def test_a_mixed_slope_knows_how_far_it_may_be_trusted(f, expected):
    found = mixed_slope(f, f(0.0, 0.0), 2.3e-16 * abs(f(0.0, 0.0)) + 1e-16)
    assert not found.kinked
    assert abs(found.value - expected) <= found.margin
    assert found.margin <= 1e-6 * max(abs(expected), 1.0)


def test_a_mixed_slope_of_a_kink_differs_on_either_side():
    bent = mixed_slope(lambda s, t: (s + t) * abs(s + t), 0.0, 1e-16)
    assert (bool(bent.kinked), round(float(bent.left), 6), round(float(bent.right), 6)) == (True, -2.0, 2.0)
    sharp = mixed_slope(lambda s, t: abs(s + t), 0.0, 1e-16)
    assert (bool(sharp.kinked), float(sharp.right)) == (True, math.inf)
    assert mixed_slope(lambda s, t: 3 * s + t, 0.0, 1e-16).constant


def test_in_single_precision_what_bends_is_no_kink():
    f = lambda x: np.sum(np.sin(x) * x) + np.prod(x)  # noqa: E731
    hessian = lambda x, v: (2 * np.cos(x) - x * np.sin(x)) * v + np.prod(x) * (np.sum(v / x) - v / x) / x  # noqa: E731
    assert check_derivative(f, hessian, X, kind=H).ok
    assert check_derivative(f, hessian, SINGLE, kind=H, allow=["too noisy to tell"]).verdict != "kink"
