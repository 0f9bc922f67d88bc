"""SciPy's linear algebra: the table of rules, and values by hand."""

import math

import numpy as np
import pytest

from autograd import Tape, errors, grad, hessian, jacobian

pytest.importorskip("scipy", reason="SciPy is not installed: pip install 'gradtape[scipy]'")

import scipy
import scipy.linalg

from autograd.scipy import linalg
from tests.gradients.harness import Case, each_case

PAIRS = (-1.0, 1.0)
RNG = np.random.default_rng(0)


def matrices(*shape, shift=3.0):
    """Well-conditioned matrices without symmetry."""
    return RNG.uniform(-1, 1, shape) + shift * np.eye(shape[-2], shape[-1])


def case(name, *inputs, label="", prepare=None, dtypes=("float64", "float32"), **options):
    """A row; ``prepare`` makes the arguments from the inputs, for a matrix of a certain kind."""
    arguments = prepare or (lambda *x: x)
    ours, theirs = getattr(linalg, name), getattr(scipy.linalg, name)
    return Case(
        name,
        call=lambda _, *x: ours(*arguments(*x), **options),
        reference=lambda *x: _on_stacks(theirs, *arguments(*x), **options),
        inputs=list(inputs),
        complex_domain=PAIRS,
        dtypes=dtypes,
        label=label or " ".join(str(each) for each in [*[np.shape(x) for x in inputs], options]),
    )


def _on_stacks(theirs, *arguments, **options):
    """SciPy's function of a stack, by each of it, also where that SciPy does not take stacks."""
    arrays = [each for each in arguments if isinstance(each, np.ndarray)]
    fixed = [each for each in arguments if not isinstance(each, np.ndarray)]
    stack = np.broadcast_shapes(*[each.shape[:-2] for each in arrays])
    if not stack:
        return theirs(*arguments, **options)
    wide = [np.broadcast_to(x, stack + x.shape[-2:]) if x.ndim > 1 else np.broadcast_to(x, stack + x.shape) for x in arrays]
    return np.array([theirs(*fixed, *[x[at] for x in wide], **options) for at in np.ndindex(stack)]).reshape(
        stack + theirs(*fixed, *[x[(0,) * len(stack)] for x in wide], **options).shape
    )


BAND = np.concatenate([RNG.uniform(-1, 1, (1, 5)), RNG.uniform(4, 5, (1, 5)), RNG.uniform(-1, 1, (2, 5))])

CASES = [
    *[
        case("solve_triangular", matrices(3, 3), np.array([1.0, -2.0, 3.0]), trans=trans, lower=lower, unit_diagonal=unit)
        for trans in (0, 1, 2, "N", "T", "C")
        for lower in (False, True)
        for unit in ((False, True) if trans in (0, 1) else (False,))
    ],
    *[
        case("solve_triangular", matrices(*a), RNG.uniform(-1, 1, b), lower=True)
        for a, b in [((3, 3), (3, 2)), ((2, 3, 3), (3,)), ((2, 3, 3), (2, 3, 2)), ((3, 3), (2, 3, 2)), ((2, 1, 3, 3), (3, 3, 1))]
    ],
    case("solve_triangular", matrices(2, 2), np.zeros((2, 0)), label="no column"),
    *[
        case("solve_banded", band, b, prepare=lambda ab, b, bounds=bounds: (bounds, ab, b), label=f"{bounds} {np.shape(b)}")
        for bounds, band, b in [
            ((2, 1), BAND, RNG.uniform(-1, 1, 5)),
            ((2, 1), BAND, RNG.uniform(-1, 1, (5, 2))),
            ((1, 1), BAND[:3], RNG.uniform(-1, 1, 5)),
            ((0, 1), BAND[:2], RNG.uniform(-1, 1, (5, 2))),
            ((0, 0), BAND[1:2], RNG.uniform(-1, 1, 5)),
            ((1, 1), np.array([[7.0], [2.0], [7.0]]), np.array([3.0])),
            ((2, 1), BAND, RNG.uniform(-1, 1, (2, 5, 1))),
            ((2, 1), np.stack([BAND, BAND[:, ::-1]]), RNG.uniform(-1, 1, (2, 5, 2))),
        ]
    ],
    *[
        case("solve_sylvester", matrices(*a), matrices(*b), RNG.uniform(-1, 1, q))
        for a, b, q in [
            ((3, 3), (2, 2), (3, 2)), ((1, 1), (2, 2), (1, 2)), ((2, 3, 3), (2, 2), (3, 2)), ((2, 2), (2, 2), (2, 2, 2)),
        ]
    ],
    *[case("sqrtm", matrices(*shape)) for shape in [(2, 2), (3, 3), (2, 2, 2)]],
    *[case("expm", matrices(*shape, shift=0)) for shape in [(1, 1), (3, 3), (2, 2, 2)]],
    case("inv", matrices(3, 3)),
    case("det", matrices(3, 3), dtypes=("float64",)),  # SciPy multiplies a float32 diagonal in double precision
    *[case("solve", matrices(3, 3), RNG.uniform(-1, 1, b)) for b in [(3,), (3, 2)]],
    *[
        case("cholesky", matrices(3, 3), prepare=lambda a: (a @ a.conj().T,), lower=lower, label=f"{lower}")
        for lower in (True, False)
    ],
    *[
        case("cho_solve", matrices(3, 3), RNG.uniform(-1, 1, b), prepare=lambda a, b, lower=lower: ((a, lower), b),
             label=f"{lower} {b}")
        for lower in (True, False)
        for b in ((3,), (3, 2))
    ],
]  # fmt: skip


if tuple(int(each) for each in scipy.__version__.split(".")[:2]) < (1, 17):  # before, few of SciPy's functions take stacks
    CASES = [each for each in CASES if not any(np.ndim(x) > 2 for x in each.inputs) and "(2, 3, 3) (3,)" not in each.label]


@each_case(CASES)
def test_rule(case, check):
    check(case)


# ------------------------------------------------------------------------------------------------ by hand


def test_triangular_by_hand():
    # x0 = b0 / a00, x1 = (b1 - a10 x0) / a11; of sum(x) at a = [[2, *], [1, 4]], b = (2, 5): x = (1, 1)
    a, b = np.array([[2.0, 99.0], [1.0, 4.0]]), np.array([2.0, 5.0])
    da, db = grad(lambda a, b: linalg.solve_triangular(a, b, lower=True).sum(), (0, 1))(a, b)
    np.testing.assert_allclose(db, [0.5 - 1 / 8, 1 / 4])
    np.testing.assert_allclose(da, [[-3 / 8, 0], [-1 / 4, -1 / 4]])


def test_banded_equals_the_full_matrix():
    ab, b = BAND, np.arange(5.0)
    full = np.zeros((5, 5))
    for i in range(5):
        for j in range(5):
            if 0 <= 1 + i - j < 4:
                full[i, j] = ab[1 + i - j, j]
    dab = grad(lambda ab: (linalg.solve_banded((2, 1), ab, b) ** 2).sum())(ab)
    dfull = grad(lambda a: (linalg.solve(a, b) ** 2).sum())(full)
    for i in range(5):
        for j in range(5):
            if 0 <= 1 + i - j < 4:
                assert dab[1 + i - j, j] == pytest.approx(dfull[i, j], rel=1e-10)
    assert dab[0, 0] == dab[2, 4] == dab[3, 3] == dab[3, 4] == 0


def test_square_root_by_hand():
    # at a multiple c**2 of the unit matrix the derivative is that of the scalar root, 1 / (2 c)
    J = jacobian(linalg.sqrtm)(9 * np.eye(2))
    np.testing.assert_allclose(J.reshape(4, 4), np.eye(4) / 6, atol=1e-12)


def test_square_root_with_a_complex_result():
    # sqrt(diag(-4, 9)) = diag(2i, 3): the imaginary part of the first entry is sqrt(-a), with derivative -1 / (2 sqrt(-a))
    g = grad(lambda a: linalg.sqrtm(a)[0, 0].imag)(np.diag([-4.0, 9.0]))
    assert g[0, 0] == pytest.approx(-0.25)
    assert g.dtype == np.float64


def test_exponential_of_a_rotation():
    # expm(t [[0, -1], [1, 0]]) turns by t
    J = np.array([[0.0, -1.0], [1.0, 0.0]])
    first = grad(lambda t: linalg.expm(t * J)[1, 0])
    assert first(0.3) == pytest.approx(math.cos(0.3))
    assert grad(first)(0.3) == pytest.approx(-math.sin(0.3))
    assert grad(grad(first))(0.3) == pytest.approx(-math.cos(0.3))


def test_a_real_matrix_among_complex_ones():
    # the real one has complex eigenvalues, so that its real Schur form is no triangle
    a, b, q = (1 + 1j) * np.eye(2), np.array([[0.0, -2.0], [2.0, 0.0]]), np.ones((2, 2)) + 0j
    with Tape() as tape:
        x = linalg.solve_sylvester(a, b, tape.watch(q)).value
    np.testing.assert_allclose(a @ x + x @ b, q, atol=1e-13)


def test_hessian_of_a_quadratic_form_through_cholesky():
    # -x**2 / (2 a) at a = 1, x = 3: -x**2 / a**3, x / a**2 and -1 / a
    def log_density(p):
        c = linalg.cholesky(p[:1].reshape(1, 1), lower=True)
        z = linalg.solve_triangular(c, p[1:], lower=True)
        return -0.5 * (z @ z)

    np.testing.assert_allclose(hessian(log_density)(np.array([1.0, 3.0])), [[-9, 3], [3, -1]], rtol=1e-12)


def test_errors_say_what_is_wrong():
    with Tape() as tape:
        a, b = tape.watch(np.eye(2)), np.ones(3)
        with pytest.raises(ValueError, match="expected 2 rows"):
            linalg.solve_triangular(a, b)
        with pytest.raises(ValueError, match="square"):
            linalg.expm(a[:1])
        with pytest.raises(ValueError, match="trans='X'"):
            linalg.solve_triangular(a, np.ones(2), trans="X")
        with pytest.raises(ValueError, match="l \\+ u \\+ 1 = 3"):
            linalg.solve_banded((1, 1), a, np.ones(2))
        with pytest.raises(ValueError, match="infs or NaNs"):
            linalg.solve_triangular(a, np.array([1.0, np.nan]))
        with pytest.raises(errors.NotTrackedError, match=r"scipy\.linalg\.solve: got options \['assume_a'\]"):
            linalg.solve(a, np.ones(2), assume_a="pos")
        with pytest.raises(errors.NotTrackedError, match=r"scipy\.linalg\.sqrtm: got options"):
            linalg.sqrtm(a, disp=False)
        with pytest.raises(errors.NotTrackedError, match=r"scipy\.linalg\.logm has no gradient rule"):
            linalg.logm(a)
        with pytest.raises(np.linalg.LinAlgError, match="singular"):
            linalg.solve_triangular(a * 0.0, np.ones(2))
    np.testing.assert_array_equal(linalg.logm(np.eye(2)), np.zeros((2, 2)))


def test_lists_that_hold_tensors():
    assert grad(lambda x: linalg.solve_triangular([[x, 1.0], [0.0, 1.0]], [4.0, 2.0])[0])(2.0) == pytest.approx(-0.5)
