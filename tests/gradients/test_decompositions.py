"""Decompositions where all is distinct: values, derivatives of both orders, every shape. Repeated values are in test_spectra."""

import numpy as np
import pytest

import autograd.numpy as anp
from autograd import Tape, errors, grad, jacobian, jvp
from autograd import operators as op
from tests.gradients.harness import Case, each_case

SMALL = (-1.0, 1.0)


def spread(*shape):
    """Matrices with distinct eigenvalues and singular values, far from 0: random ones and a growing diagonal."""

    def draw(rng):
        rows, columns = shape[-2:]
        return [rng.uniform(-0.3, 0.3, shape) + np.eye(rows, columns) * np.arange(1.0, rows + 1)[:, None]]

    return draw


def case(name, label, call, *shape, **options):
    options = {"complex_domain": SMALL, "tolerance": 1e-6, **options}
    return Case(f"linalg.{name}", call=call, inputs=spread(*shape), label=f"{label} {shape}", **options)


def symmetric(np, a):
    return (a + np.conj(a).mT) / 2


def definite(np, a):
    return a @ np.conj(a).mT


def projections(np, v):
    """What a choice of phases does not change: the outer product of each column with its conjugate."""
    return v[..., :, None, :] * np.conj(v)[..., None, :, :]


def of_eigh(np, a, **options):
    w, v = np.linalg.eigh(symmetric(np, a), **options)
    return w, projections(np, v), (v * np.exp(w)[..., None, :]) @ np.conj(v).mT


def of_svd(np, a, **options):
    """Values, and products that depend on u and vh of each value, apart and together, and on what completes them."""
    u, s, vh = np.linalg.svd(a, **options)
    k = s.shape[-1]
    v = np.conj(vh).mT
    first_u, first_v = u[..., :k], v[..., :k]
    pairs = first_u[..., :, None, :] * np.conj(first_v)[..., None, :, :]
    rest = [x[..., k:] @ np.conj(x[..., k:]).mT for x in (u, v) if x.shape[-1] > k]
    return s, projections(np, first_u), projections(np, first_v), pairs, *rest


def of_qr(np, a, mode):
    """q and r; of the columns that complete q only their projection is a function of the matrix."""
    q, r = np.linalg.qr(a, mode)
    k = min(a.shape[-2:])
    rest = q[..., k:]
    return (q[..., :k], r, rest @ np.conj(rest).mT) if rest.shape[-1] else (q, r)


QR_SHAPES = [(3, 3), (4, 2), (2, 4), (2, 3, 2), (2, 2, 3), (1, 1), (3, 1), (1, 3)]
SVD_SHAPES = [(3, 3), (4, 2), (2, 4), (2, 3, 2), (1, 1), (3, 1), (1, 3)]
SQUARES = [(3, 3), (2, 2, 2), (1, 1)]
EMPTY = [(0, 0), (0, 2, 2)]

CASES = [
    *[case("cholesky", "", lambda np, a: np.linalg.cholesky(definite(np, a)), *shape) for shape in SQUARES + EMPTY],
    case("cholesky", "upper", lambda np, a: np.linalg.cholesky(definite(np, a), upper=True), 3, 3),
    *[case("qr", "reduced", lambda np, a: of_qr(np, a, "reduced"), *shape) for shape in QR_SHAPES],
    *[case("qr", "complete", lambda np, a: of_qr(np, a, "complete"), *shape) for shape in QR_SHAPES],
    *[case("qr", "r", lambda np, a: np.linalg.qr(a, "r"), *shape) for shape in [(3, 3), (4, 2), (2, 4)]],
    *[case("eigh", "", of_eigh, *shape) for shape in SQUARES + EMPTY],
    case("eigh", "UPLO", lambda np, a: of_eigh(np, a, UPLO="U"), 3, 3),
    case("eigh", "vectors", lambda np, a: np.linalg.eigh(symmetric(np, a))[1], 3, 3, complex_domain=None),
    *[case("eigvalsh", "", lambda np, a: np.linalg.eigvalsh(symmetric(np, a)), *shape) for shape in SQUARES + EMPTY],
    case("eigvalsh", "UPLO", lambda np, a: np.linalg.eigvalsh(symmetric(np, a), "U"), 3, 3),
    *[case("eig", "", lambda np, a: tuple(np.linalg.eig(a)), *shape) for shape in SQUARES],
    *[case("eigvals", "", lambda np, a: np.linalg.eigvals(a), *shape) for shape in SQUARES + EMPTY],
    *[case("svd", "thin", lambda np, a: of_svd(np, a, full_matrices=False), *shape) for shape in SVD_SHAPES],
    *[case("svd", "full", lambda np, a: of_svd(np, a), *shape) for shape in SVD_SHAPES],
    case("svd", "vectors", lambda np, a: tuple(np.linalg.svd(a, full_matrices=False)), 4, 3, complex_domain=None),
    case("svd", "values", lambda np, a: np.linalg.svd(a, compute_uv=False), 4, 3),
    case("svd", "hermitian", lambda np, a: of_svd(np, symmetric(np, a) - 1.5 * np.eye(3), hermitian=True), 3, 3),
    case(
        "svd",
        "hermitian values",
        lambda np, a: np.linalg.svd(symmetric(np, a) - 1.5 * np.eye(3), compute_uv=False, hermitian=True),
        3,
        3,
    ),
    *[case("svdvals", "", lambda np, a: np.linalg.svdvals(a), *shape) for shape in [*SVD_SHAPES, (0, 2), (2, 0)]],
]

ROTATION = np.array([[0.1, 1.0, 0.0], [-1.5, 0.2, 0.3], [0.2, 0.1, 2.0]])  # a real matrix with complex eigenvalues

CASES += [
    Case("linalg.eigvals", inputs=[ROTATION], tolerance=1e-6, label="complex values of a real matrix"),
    Case("linalg.eig", inputs=[ROTATION], tolerance=1e-6, label="complex values of a real matrix"),
]


@each_case(CASES)
def test_rule(case, check):
    check(case)


# ------------------------------------------------------------------------------------------------ values by hand


def test_cholesky_of_a_matrix_of_two():
    # y = [[sqrt(a), 0], [b / sqrt(a), sqrt(c - b^2 / a)]] with b half of each of the two elements beside the diagonal
    a, b, c = 4.0, 2.0, 5.0
    y = jacobian(anp.linalg.cholesky)(np.array([[a, b], [b, c]]))
    np.testing.assert_allclose(y[0, 0], [[0.25, 0], [0, 0]], atol=1e-16)
    np.testing.assert_allclose(y[1, 0], [[-b / (2 * a**1.5), 0.25], [0.25, 0]])
    np.testing.assert_allclose(y[1, 1], np.array([[b * b / (2 * a * a), -b / (2 * a)], [-b / (2 * a), 0.5]]) / 2)


def test_each_triangle_is_read_alone():
    with Tape() as tape:
        a = tape.watch(np.array([[4.0, 2.0], [99.0, 5.0]]))
        np.testing.assert_array_equal(anp.linalg.cholesky(a, upper=True).value, [[2, 1], [0, 2]])
        np.testing.assert_allclose(anp.linalg.eigvalsh(a, "U").value, np.linalg.eigvalsh([[4.0, 2.0], [2.0, 5.0]]))


def test_log_det_by_cholesky_is_the_inverse():
    x = np.array([[2.0, 0.5], [0.5, 1.0]])
    g = grad(lambda x: 2 * anp.sum(anp.log(anp.diag(anp.linalg.cholesky(x)))))(x)
    np.testing.assert_allclose(g, np.linalg.inv(x))


def test_eigenvalues_of_a_diagonal_matrix():
    # the first order of perturbation theory: v.T da v; the second: the squares of what is beside the diagonal over the gaps
    a = np.diag([1.0, 3.0])
    np.testing.assert_allclose(jacobian(anp.linalg.eigvalsh)(a), [[[1, 0], [0, 0]], [[0, 0], [0, 1]]])
    lowest = jacobian(grad(lambda a: anp.linalg.eigvalsh(a)[0]))(a)
    beside = np.array([[0, 1], [1, 0]])
    expected = -0.25 * beside[:, :, None, None] * beside  # b^2 / (1 - 3) with b half of the sum of two elements
    np.testing.assert_allclose(lowest, expected, atol=1e-15)


def test_eigenvector_of_a_diagonal_matrix():
    v = jacobian(lambda a: anp.linalg.eigh(a)[1][:, 0] * anp.linalg.eigh(a)[1][0, 0])(np.diag([1.0, 3.0]))
    np.testing.assert_allclose(v[1], [[0, -0.25], [-0.25, 0]])  # b / (1 - 3), b = (b1 + b2) / 2


def test_the_sum_of_eigenvalues_is_the_trace():
    a = np.array([[0.0, 1.0], [-1.0, 0.0]])
    np.testing.assert_allclose(grad(lambda a: anp.real(anp.sum(anp.linalg.eigvals(a))))(a), np.eye(2), atol=1e-15)


def test_values_of_singular_values():
    g = grad(lambda a: anp.sum(anp.linalg.svdvals(a)))(np.array([[0.0, 2.0], [3.0, 0.0]]))
    np.testing.assert_allclose(g, [[0, 1], [1, 0]])
    g = grad(lambda a: anp.sum(anp.linalg.svd(a)[1]))(np.array([[3.0, 0.0, 0.0], [0.0, 2.0, 0.0]]))
    np.testing.assert_allclose(g, [[1, 0, 0], [0, 1, 0]])


def test_spectral_as_an_operator():
    y = op.spectral(np.diag([1.0, 2.0]), np.array([5.0, 7.0]))
    np.testing.assert_array_equal(y, np.diag([5.0, 7.0]))
    _, change = jvp(op.spectral, [np.diag([1.0, 2.0]), np.array([5.0, 7.0])], [np.ones((2, 2)), np.array([1.0, 0.0])])
    np.testing.assert_allclose(change, [[1, 2], [2, 0]])  # beside the diagonal (7 - 5) / (2 - 1)
    g = grad(lambda a, c: anp.sum(np.array([[1.0, 2.0], [2.0, 3.0]]) * op.spectral(a, c)), (0, 1))(
        np.diag([1.0, 2.0]), np.array([5.0, 7.0])
    )
    np.testing.assert_allclose(g[0], [[0, 4], [4, 0]])
    np.testing.assert_allclose(g[1], [1, 3])


def test_qr_of_a_column():
    # r = -|x| or |x|, q = x / r
    x = np.array([[3.0], [4.0]])
    sign = np.sign(np.linalg.qr(x)[1][0, 0])
    np.testing.assert_allclose(grad(lambda x: sign * anp.linalg.qr(x)[1][0, 0])(x), [[0.6], [0.8]])
    np.testing.assert_allclose(jacobian(lambda x: anp.linalg.qr(x)[0][0, 0])(x), sign * np.array([[16], [-12]]) / 125)


# ------------------------------------------------------------------------------------------------ what has no derivative


@pytest.mark.parametrize("function", ["eigh", "svd"])
def test_the_phase_of_complex_vectors_is_refused(function):
    a = np.array([[2.0, 1j], [-1j, 5.0]])
    with pytest.raises(errors.GradientError, match=f"{function}: the result depends on the phase"):
        grad(lambda a: anp.real(anp.sum(getattr(anp.linalg, function)(a)[-1 if function == "svd" else 1] * (1 - 2j))))(a)


@pytest.mark.parametrize(("function", "a"), [("qr", np.eye(4)[:, :2]), ("svd", np.diag([1.0, 2, 3, 4])[:, :2])])
def test_the_basis_of_what_is_left_is_refused(function, a):
    def rest(a):
        result = anp.linalg.qr(a, "complete")[0] if function == "qr" else anp.linalg.svd(a)[0]
        return anp.sum(result[:, 2:] * np.arange(8.0).reshape(4, 2))

    with pytest.raises(errors.GradientError, match=rf"{function}: the result depends on the .* that complete"):
        grad(rest)(a)


def test_a_single_vector_that_completes_a_basis_has_a_derivative():
    # the normal of a plane, up to its sign: n.T d n / |n|^2
    a = np.array([[1.0, 0.0], [0.0, 2.0], [0.0, 0.0]])
    for complete in (lambda a: anp.linalg.qr(a, "complete")[0], lambda a: anp.linalg.svd(a)[0]):
        y = jacobian(lambda a: complete(a)[:, 2] * complete(a)[2, 2])(a)  # noqa: B023  # called at once
        np.testing.assert_allclose(y[0], [[0, 0], [0, 0], [-1, 0]], atol=1e-15)
        np.testing.assert_allclose(y[1], [[0, 0], [0, 0], [0, -0.5]], atol=1e-15)


def test_dependent_columns_are_refused():
    wide = np.array([[1.0, 1.0, 0.0], [1.0, 1.0, 2.0]])
    for a in (np.ones((3, 2)), np.array([[0.1, 0.3], [0.2, 0.6]]), np.zeros((2, 2)), wide):
        with pytest.raises(errors.GradientError, match=r"qr: column \d depends on the columns before it"):
            grad(lambda a: anp.sum(anp.linalg.qr(a)[1]))(a)


def test_a_defective_matrix_is_refused():
    a = np.array([[1.0, 1.0], [0.0, 1.0]])
    for f in (lambda a: anp.real(anp.linalg.eigvals(a)[0]), lambda a: anp.real(anp.sum(anp.linalg.eig(a)[1]))):
        with pytest.raises(errors.GradientError, match="has no basis of eigenvectors"):
            grad(f)(a)
        with pytest.raises(errors.GradientError, match="has no basis of eigenvectors"):
            jvp(f, [a], [np.ones((2, 2))])


def test_raw_qr_is_not_followed():
    with Tape() as tape, pytest.raises(errors.NotTrackedError, match="qr: mode 'raw'"):
        anp.linalg.qr(tape.watch(np.eye(2)), "raw")
