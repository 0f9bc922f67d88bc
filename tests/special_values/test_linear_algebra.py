"""Special points of linear algebra: repeated and zero values, low rank, small and stacked systems, conventions."""

from importlib.util import find_spec

import numpy
import pytest

import autograd.numpy as np
from autograd import errors, grad, hessian, jvp
from tests.special_values.table import Row, each_row

linalg = np.linalg
I2, ONES = numpy.eye(2), numpy.ones((2, 2))
TURN = numpy.array([[0.6, -0.8], [0.8, 0.6]])


def rows_of(kind, *rows):
    """Rows of one kind: label, function, point, first derivative, and second derivative or None."""
    return [Row(kind, label, f, x, first=first, second=second) for label, f, x, first, second in rows]


def refused(kind, label, f, x, error):
    return Row(kind, label, f, x, error=error)


def matrix_function(a):
    w, v = linalg.eigh(a)
    return ((v * np.exp(w)) @ v.T) * numpy.array([[1.0, 2.0], [2.0, 5.0]])


def rebuilt(a):
    u, s, vh = linalg.svd(a, full_matrices=False)
    return ((u * s**3) @ vh) * numpy.array([[1.0, 2.0], [3.0, 5.0]])


REPEATED = rows_of(
    "functions of repeated values",
    # g(a) = 3 a (a.T a)^(1/2) at 2 times the unit: along a symmetric change 6 s = 12 times it, along a skew one 3 s = 6 times
    ("cubes of svdvals", lambda a: linalg.svdvals(a) ** 3, 2 * I2, 12 * I2, 12 * ONES),
    ("cubes of svdvals, turned", lambda a: linalg.svdvals(a) ** 3, 2 * TURN, 12 * TURN, None),
    # the derivative of the orthogonal factor is skew, so that it has the sum 0
    ("svdvals", linalg.svdvals, I2, I2, 0 * ONES),
    # beside the square the rows turn out of it by change / s
    ("svdvals of a wide matrix", linalg.svdvals, numpy.eye(2, 3), numpy.eye(2, 3), numpy.array([[0.0, 0.0, 1.0]] * 2)),
    # the logarithm of the size of the determinant: inv(a).T, and -inv(a).T @ ones @ inv(a).T
    ("logarithms of svdvals", lambda a: np.log(linalg.svdvals(a)), 2 * I2[::-1], 0.5 * I2[::-1], -0.25 * ONES),
    ("cubes of eigvalsh", lambda a: linalg.eigvalsh(a) ** 3, 2 * I2, 12 * I2, 12 * ONES),  # 3 a^2, then 3 (a 1 + 1 a)
    ("cubes of the values of eigh", lambda a: linalg.eigh(a)[0] ** 3, 2 * I2, 12 * I2, 12 * ONES),
    ("squares of eigvals", lambda a: np.real(linalg.eigvals(a) ** 2), 3 * I2, 6 * I2, None),
    # the eigenvalues 1j and -1j, each twice: the sum of their squares is the trace of a^2, with the gradient 2 a.T
    (
        "squares of complex eigvals",
        lambda a: np.real(linalg.eigvals(a) ** 2),
        numpy.kron(I2, [[0.0, 1.0], [-1.0, 0.0]]),
        2 * numpy.kron(I2, [[0.0, -1.0], [1.0, 0.0]]),
        None,
    ),
    ("values of svd, wide", lambda a: linalg.svd(a)[1], 3 * numpy.eye(2, 3), numpy.eye(2, 3), None),
    ("values of svd, tall", lambda a: linalg.svd(a, full_matrices=False)[1], numpy.eye(3, 2), numpy.eye(3, 2), None),
    ("svd without vectors", lambda a: linalg.svd(a, compute_uv=False) ** 2, 2 * I2, 4 * I2, 2 * ONES),
    ("svd of a symmetric matrix", lambda a: linalg.svd(a, hermitian=True)[1], -I2, -I2, None),
    ("singular values of lstsq", lambda a: linalg.lstsq(a, numpy.ones(2))[3] ** 2, 2 * I2, 4 * I2, 2 * ONES),
    ("nuclear norm", lambda a: linalg.norm(a, "nuc"), numpy.eye(3, 2), numpy.eye(3, 2), None),
    ("largest value, shared", lambda a: linalg.norm(a, 2), 2 * I2, 0.5 * I2, None),
    ("smallest value, shared", lambda a: linalg.norm(a, -2), 2 * I2, 0.5 * I2, None),
    ("cond of order -2", lambda a: linalg.cond(a, -2), numpy.diag([2.0, 1.0]), numpy.diag([-0.25, 0.5]), None),
    ("cond of the unit matrix", linalg.cond, I2, 0 * ONES, None),
    ("cond, nuclear, of the unit matrix", lambda a: linalg.cond(a, "nuc"), I2, 0 * ONES, None),
    ("a complex unit matrix", lambda a: linalg.eigvalsh(a) ** 2, 1.5 * I2 + 0j, 3 * I2 + 0j, None),
    ("complex svdvals", lambda a: linalg.svdvals(a) ** 2, 2j * I2, -4j * I2, None),  # 2 conj(a)
)

WIDE = numpy.diag([2.0, 0.0, 0.0])[:2]

ZERO = rows_of(
    "singular values of 0",
    # a sum of squares of all elements, whatever the rank: 2 a and 2
    ("squares, wide", lambda a: linalg.svdvals(a) ** 2, WIDE, 2 * WIDE, numpy.full((2, 3), 2.0)),
    ("squares, tall", lambda a: linalg.svdvals(a) ** 2, numpy.ones((3, 2)), numpy.full((3, 2), 2.0), numpy.full((3, 2), 2.0)),
    ("squares, square", lambda a: linalg.svdvals(a) ** 2, numpy.diag([2.0, 0.0]), numpy.diag([4.0, 0.0]), 2 * ONES),
    ("squares of zeros", lambda a: linalg.svdvals(a) ** 2, 0 * WIDE, 0 * WIDE, numpy.full((2, 3), 2.0)),
    ("squares, a stack", lambda a: linalg.svdvals(a) ** 2, numpy.stack([WIDE, 0 * WIDE]), numpy.stack([2 * WIDE, 0 * WIDE]),
     numpy.full((2, 2, 3), 2.0)),
    ("cosines of zeros", lambda a: np.cos(linalg.svdvals(a)), 0 * I2, 0 * I2, -ONES),
    ("fourth powers of zeros", lambda a: linalg.svdvals(a) ** 4, 0 * I2, 0 * I2, 0 * ONES),
    # of the values above 0 alone, by convention
    ("nuclear norm", lambda a: linalg.norm(a, "nuc"), numpy.diag([3.0, 0.0]), numpy.diag([1.0, 0.0]), None),
    ("nuclear norm of zeros", lambda a: linalg.norm(a, "nuc"), 0 * WIDE, 0 * WIDE, None),
    ("nuclear norm of a row", lambda a: linalg.norm(a, "nuc"), numpy.array([[3.0, 4.0]]), numpy.array([[0.6, 0.8]]), None),
)  # fmt: skip

REFUSED = [
    refused("vectors of repeated values", "a function of a matrix by eigh", matrix_function, I2, "eigh: the eigenvalues 1, 1"),
    refused("vectors of repeated values", "a matrix rebuilt from svd", rebuilt, I2, "svd: the singular values 1, 1"),
    refused("vectors of repeated values", "one element of eigh", lambda a: linalg.eigh(a)[1][0, 0], I2, "use eigvalsh"),
    refused("vectors of repeated values", "eig", lambda a: np.real(linalg.eig(a)[1][0, 1]), I2, "use eigvals"),
    refused("low rank", "slogdet", lambda a: linalg.slogdet(a)[1], ONES, "slogdet: a matrix is singular"),
    refused("low rank", "qr", lambda a: linalg.qr(a)[1], ONES, "qr: column 1 depends"),
    refused("low rank", "cond of order 1", lambda a: linalg.cond(a, 1), ONES, "cond: the condition number of order 1"),
    refused("low rank", "a defective matrix", lambda a: np.real(linalg.eigvals(a)), numpy.tri(2), "defective"),
]

SYMMETRIC = rows_of(
    "the symmetric convention",
    # inv(a), and -outer(inv(a) 1, inv(a) 1)
    (
        "log det by the upper cholesky",
        lambda a: 2 * np.log(np.diag(linalg.cholesky(a, upper=True))),
        numpy.array([[4.0, 2.0], [2.0, 5.0]]),
        numpy.array([[5.0, -2.0], [-2.0, 4.0]]) / 16,
        -numpy.outer([3.0, 2.0], [3.0, 2.0]) / 256,
    ),
    ("cholesky of the unit matrix", linalg.cholesky, I2, 0.5 * ONES, None),  # halves of the diagonal, and of two elements
    ("upper cholesky of the unit matrix", lambda a: linalg.cholesky(a, upper=True), I2, 0.5 * ONES, None),
    # one triangle is read, the other one may hold anything
    ("lower triangle", lambda a: linalg.eigvalsh(a) ** 2, numpy.array([[1.0, 9.0], [0.0, 2.0]]), numpy.diag([2.0, 4.0]), None),
    ("upper triangle", lambda a: linalg.eigvalsh(a, "U") ** 2, numpy.array([[1.0, 0], [9, 2]]), numpy.diag([2.0, 4.0]), None),
    (
        "upper triangle of cholesky",
        lambda a: linalg.cholesky(a, upper=True),
        numpy.array([[1.0, 0.0], [9.0, 1.0]]),
        0.5 * ONES,
        None,
    ),
    # -y 1 y of y = inv(a), with the sum -(1 y 1)^2, whose derivative is 2 (1 y 1) y 1 y
    (
        "pinv of a lower triangle",
        lambda a: linalg.pinv(a, hermitian=True),
        numpy.array([[1.0, 7.0], [0.0, 1.0]]),
        -ONES,
        4 * ONES,
    ),
    # the vector of 3 is (0, 1): its square moves with a01 / (3 - 1), a half of two elements
    ("a product of an eigenvector", lambda a: linalg.eigh(a)[1][0, 1] * linalg.eigh(a)[1][1, 1], numpy.diag([1.0, 3.0]),
     numpy.array([[0.0, 0.25], [0.25, 0.0]]), None),
    # conj(2 a) of a complex Hermitian one
    (
        "complex eigvalsh",
        lambda a: linalg.eigvalsh(a) ** 2,
        numpy.array([[2.0, 1j], [-1j, 2.0]]),
        numpy.array([[4.0, -2j], [2j, 4.0]]),
        None,
    ),
)  # fmt: skip

# Along matrices of the same rank: -y h y + y y.T h.T (1 - a y) + (1 - y a) h.T y.T y with y = pinv(a)
LOW_RANK = rows_of(
    "low rank",
    ("pinv", linalg.pinv, numpy.diag([3.0, 0.0]), numpy.array([[-1.0, 1.0], [1.0, 0.0]]) / 9, None),
    ("pinv of zeros", linalg.pinv, numpy.zeros((2, 3)), numpy.zeros((2, 3)), None),
    ("pinv of a row", linalg.pinv, numpy.array([[3.0, 4.0]]), numpy.array([[25 - 42.0, 25 - 56]]) / 625, None),
    ("pinv with hermitian", lambda a: linalg.pinv(a, hermitian=True), numpy.diag([3.0, 0.0]),
     numpy.array([[-1.0, 1.0], [1.0, 0.0]]) / 9, None),
    # pinv(a) b = (1, 1) / 2 = pinv(a).T 1, and b as 1 lie in the range of a: -outer of these
    ("lstsq", lambda a: linalg.lstsq(a, numpy.ones(2))[0], ONES, -0.25 * ONES, None),
    ("lstsq of zeros", lambda a: linalg.lstsq(a, numpy.ones(2))[0], numpy.zeros((2, 2)), 0 * ONES, None),
    # a d - b c: the cofactors, whose sum is a + d - b - c
    ("det", linalg.det, numpy.array([[1.0, 2.0], [2.0, 4.0]]), numpy.array([[4.0, -2.0], [-2.0, 1.0]]), [[1, -1], [-1, 1]]),
    ("det of zeros", linalg.det, numpy.zeros((2, 2)), 0 * ONES, [[1, -1], [-1, 1]]),
    ("det of a corner", linalg.det, numpy.diag([0.0, 0.0, 1.0]), numpy.zeros((3, 3)), [[1, -1, 0], [-1, 1, 0], [0, 0, 0]]),
    ("det of 1 by 1", linalg.det, numpy.zeros((1, 1)), numpy.ones((1, 1)), None),
    ("det of a stack", linalg.det, numpy.zeros((2, 2, 2)), numpy.zeros((2, 2, 2)), [[[1, -1], [-1, 1]]] * 2),
    ("trace of a power of zeros", lambda a: np.trace(linalg.matrix_power(a, 2)), numpy.zeros((2, 2)), 0 * ONES, 2 * ONES),
)  # fmt: skip

# a^2 at c times the unit is c^2 + 2 c h + h^2; the gradient of sum(h^2) is h.T 1 + 1 h.T, with the sum 4 sum(h)
POWERS = rows_of(
    "powers and inverses of matrices",
    ("square of zeros", lambda a: linalg.matrix_power(a, 2), numpy.zeros((2, 2)), 0 * ONES, 4 * ONES),
    ("power -2", lambda a: linalg.matrix_power(a, -2), 2 * I2, -0.25 * ONES, 0.75 * ONES),  # c^-2 (1 - 2 h / c + 3 h^2 / c^2)
    ("power 1", lambda a: linalg.matrix_power(a, 1) ** 2, I2, 2 * I2, 2 * ONES),
    ("power 0", lambda a: linalg.matrix_power(a, 0) * a, 3 * I2, I2, None),
    ("inv of 1 by 1", linalg.inv, numpy.array([[4.0]]), numpy.array([[-0.0625]]), numpy.array([[2 / 64]])),
    ("inv of a stack", linalg.inv, numpy.array([[[2.0]], [[4.0]]]), -numpy.array([[[0.25]], [[0.0625]]]), None),
    ("tensorinv", lambda a: linalg.tensorinv(a, ind=1), numpy.array([[2.0]]), numpy.array([[-0.25]]), numpy.array([[0.25]])),
    ("multi_dot", lambda a: linalg.multi_dot([a, a, a]), I2, 3 * ONES, 12 * ONES),  # 1 + 3 h + 3 h^2
)

THREE, FIVE = numpy.array([3.0]), numpy.array([[3.0, 5.0]])

SOLVES = rows_of(
    "systems of small and stacked matrices",
    ("1 by 1 and a row", lambda a: linalg.solve(a, FIVE), numpy.array([[2.0]]), numpy.array([[-2.0]]), numpy.array([[2.0]])),
    ("a stack and a vector", lambda a: linalg.solve(a, THREE), numpy.full((3, 1, 1), 2.0), numpy.full((3, 1, 1), -0.75),
     numpy.full((3, 1, 1), 0.75)),
    ("a stack and a vector, right side", lambda b: linalg.solve(numpy.array([[[2.0]], [[4.0]], [[8.0]]]), b), THREE,
     numpy.array([0.875]), None),
    # 3 1.T inv(a) 1: -3 outer(v, v) with v = inv(a).T 1 = 1 / 2; its sum is -3 (1 v)^2, with the derivative 6 (1 v) outer(v, v)
    ("one matrix and a stack", lambda a: linalg.solve(a, numpy.ones((3, 2, 1))), 2 * I2, -0.75 * ONES, 1.5 * ONES),
    ("a stack and one matrix", lambda b: linalg.solve(numpy.stack([2 * I2, 4 * I2]), b), ONES, 0.75 * ONES, None),
    ("stacks both ways", lambda a: linalg.solve(a, numpy.ones((3, 1, 2, 1))), numpy.stack([2 * I2, 2 * I2]),
     numpy.stack([-0.75 * ONES, -0.75 * ONES]), None),
    ("tensorsolve of 1 by 1", lambda a: linalg.tensorsolve(a, THREE), numpy.array([[2.0]]), numpy.array([[-0.75]]),
     numpy.array([[0.75]])),
    # NumPy gives the solution of a number the axes of a
    ("tensorsolve of a number", lambda a: linalg.tensorsolve(a, THREE)[0], numpy.array([2.0]), numpy.array([-0.75]),
     numpy.array([0.75])),
    ("tensorsolve of axes", lambda b: linalg.tensorsolve(2 * I2.reshape(2, 2, 1), b, axes=(0,)), numpy.ones((2, 1)),
     numpy.full((2, 1), 0.5), None),
    ("a complex right side", lambda a: np.real(linalg.solve(a, numpy.array([3 + 4j]))), numpy.array([[2.0]]),
     numpy.array([[-0.75]]), numpy.array([[0.75]])),
)  # fmt: skip

ROWS = [*REPEATED, *ZERO, *REFUSED, *SYMMETRIC, *LOW_RANK, *POWERS, *SOLVES]

if find_spec("scipy"):  # before any test, which may not leave registrations behind
    import autograd.scipy.linalg as scipy_linalg

    ROWS += rows_of(
        "SciPy's",
        # 1 + (a.T 1 + 1 a.T) / 2 up to second order, whose sum is 4 + 2 sum(a)
        ("expm of zeros", scipy_linalg.expm, 0 * I2, ONES, 2 * ONES),
        # y.T g + g y.T = 1 with y = sqrt(a), which moves by h / 4; so g moves by -(h.T 1 + 1 h.T) / 64
        ("sqrtm of a multiple of the unit", scipy_linalg.sqrtm, 4 * I2, 0.25 * ONES, -0.0625 * ONES),
        # one triangle is read: inv(a), and -outer(inv(a) 1, inv(a) 1)
        ("the upper triangle of cholesky", lambda a: 2 * np.log(np.diag(scipy_linalg.cholesky(a))),
         numpy.array([[4.0, 2.0], [0.0, 5.0]]), numpy.array([[5.0, -2.0], [-2.0, 4.0]]) / 16,
         -numpy.outer([3.0, 2.0], [3.0, 2.0]) / 256),
        ("cho_solve of 1 by 1", lambda c: scipy_linalg.cho_solve((c, True), THREE), numpy.array([[2.0]]),
         numpy.array([[-0.75]]), numpy.array([[1.125]])),  # 3 / c^2
        ("solve_sylvester of 1 by 1", lambda a: scipy_linalg.solve_sylvester(a, a, numpy.array([[8.0]])), numpy.array([[2.0]]),
         numpy.array([[-1.0]]), numpy.array([[1.0]])),  # 4 / a
        ("solve_banded, one diagonal", lambda a: scipy_linalg.solve_banded((0, 0), a, FIVE[0]), numpy.array([[2.0, 4.0]]),
         numpy.array([[-3 / 4, -5 / 16]]), numpy.array([[3 / 4, 5 / 32]])),
        ("solve of 1 by 1", lambda a: scipy_linalg.solve(a, THREE), numpy.array([[2.0]]), numpy.array([[-0.75]]),
         numpy.array([[0.75]])),
    )  # fmt: skip

    @pytest.mark.filterwarnings("ignore:Matrix is singular")  # SciPy says so too
    @pytest.mark.parametrize("a", [0 * I2, numpy.diag([3.0, 0.0]), numpy.array([[1.0, 2.0], [2.0, 4.0]])])
    def test_the_root_of_a_singular_matrix_has_no_derivative(a):
        with pytest.raises(errors.GradientError, match="sqrtm: two eigenvalues of the root"):
            grad(lambda a: np.sum(np.real(scipy_linalg.sqrtm(a))))(a)
        with pytest.raises(errors.GradientError, match="sqrtm: two eigenvalues of the root"):
            jvp(lambda a: np.real(scipy_linalg.sqrtm(a)), [a], [I2])


@each_row(ROWS)
def test_special_value(row, check):
    check(row)


# ------------------------------------------------------------------------------------------------ second derivatives, whole


def squares_and_more(a):
    """A function of the products alone: its second derivatives are known without any decomposition."""
    return np.trace(a @ a.T) ** 2 + np.trace(a @ a.T @ a @ a.T)


def squares_and_more_of_values(a):
    s = linalg.svdvals(a)
    return np.sum(s**2) ** 2 + np.sum(s**4)


@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize("shape", [(2, 2), (2, 4), (3, 2), (3, 3)])
@pytest.mark.parametrize("values", [(2.0, 2.0), (2.0, 0.0), (0.0, 0.0), (2.0, 1.0)])
def test_second_derivatives_of_functions_of_singular_values(values, shape, turned):
    rng = numpy.random.default_rng(0)
    a = numpy.zeros(shape)
    a[:2, :2] = numpy.diag(values)
    if turned:
        left, right = (numpy.linalg.qr(rng.standard_normal((n, n)))[0] for n in shape)
        a = left @ a @ right
    expected = hessian(squares_and_more)(a)
    numpy.testing.assert_allclose(hessian(squares_and_more_of_values)(a), expected, atol=1e-10)
    change = rng.standard_normal(shape)
    _, found = jvp(grad(squares_and_more_of_values), [a], [change])
    numpy.testing.assert_allclose(found, numpy.tensordot(expected, change, 2), atol=1e-10)


@pytest.mark.parametrize("f", [lambda s: np.sum(s) ** 2, lambda s: s[0] * s[1]], ids=["square of the sum", "product"])
def test_functions_with_a_kink_at_two_zeros_are_refused(f):
    with pytest.raises(errors.GradientError, match="svdvals: this function of singular values has no second derivative"):
        hessian(lambda a: f(linalg.svdvals(a)))(numpy.zeros((2, 2)))


@pytest.mark.parametrize("a", [WIDE, 2 * I2, numpy.zeros((2, 3))])
def test_a_derivative_of_a_forward_derivative_at_degenerate_values_is_refused(a):
    def along(a):
        return jvp(lambda a: np.sum(linalg.svdvals(a) ** 2), [a], [numpy.ones(a.shape)])[1]

    for call in (lambda: grad(along)(a), lambda: jvp(along, [a], [a])):
        with pytest.raises(errors.GradientError, match=r"svdvals: the singular values .*grad of grad works"):
            call()
