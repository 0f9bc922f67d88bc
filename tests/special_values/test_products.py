"""Special points of products, norms, diagonals, slopes and transforms: repeated indices, odd shapes and axes, complex numbers."""

from importlib.util import find_spec

import numpy
import pytest

import autograd.numpy as np
from autograd import Tape, value_and_grad
from tests.special_values.table import Row, each_row

linalg = np.linalg
I2, ONES = numpy.eye(2), numpy.ones((2, 2))


def rows_of(kind, *rows):
    """Rows of one kind: label, function, point, first derivative, and second derivative or None."""
    return [Row(kind, label, f, x, first=first, second=second) for label, f, x, first, second in rows]


def products(x, subscripts, *others, **options):
    return np.einsum(subscripts, x, *others, **options)


M = numpy.array([[1.0, 2.0], [3.0, 4.0]])
CUBE = numpy.arange(12.0).reshape(2, 2, 3)

EINSUMS = rows_of(
    "einsum",
    ("the square of a trace", lambda x: products(x, "ii") ** 2, M, 10 * I2, 4 * I2),  # 2 t, then 2 * 2 t
    # y_j sums two elements of a diagonal, each 2: 2 y on that diagonal, and its sum is 4 y
    ("a diagonal beside an axis", lambda x: products(x, "iij->j") ** 2, numpy.ones((2, 2, 3)),
     numpy.repeat(4 * I2[..., None], 3, -1), numpy.repeat(4 * I2[..., None], 3, -1)),
    ("a diagonal around an axis", lambda x: products(x, "iji->j"), CUBE.reshape(2, 3, 2), numpy.repeat(I2[:, None], 3, 1), None),
    ("a diagonal of one factor of two", lambda x: products(x, "ii,ij->j", M), I2, numpy.diag([3.0, 7.0]), None),
    ("a diagonal of the other factor", lambda x: np.einsum("nd,nn->d", M, x), I2, numpy.diag([3.0, 7.0]), None),
    ("a diagonal of three", lambda x: products(x, "iii->i"), numpy.zeros((2, 2, 2)),
     numpy.eye(2)[:, :, None] * numpy.eye(2)[:, None], None),
    ("the same vector thrice", lambda x: np.einsum("i,i,i->", x, x, x), numpy.array([1.0, -2.0]), numpy.array([3.0, 12.0]),
     numpy.array([6.0, -12.0])),
    ("axes summed alone", lambda x: products(x, "abcd->bd") ** 2, numpy.ones((3, 2, 3, 2)), numpy.full((3, 2, 3, 2), 18.0),
     numpy.full((3, 2, 3, 2), 18.0)),  # 2 y with y = 9; and 9 times 2
    ("the order of the alphabet", lambda x: products(x, "ba") * CUBE[0, :, :2].T, M, CUBE[0, :, :2], None),
    ("an axis of length 1", lambda x: products(x, "ij,ij->i", CUBE[0]), numpy.ones((2, 1)), numpy.array([[3.0], [12.0]]), None),
    ("a row", lambda x: products(x, "ij,jk->", CUBE[:, 0]), numpy.ones((1, 2)), numpy.array([[3.0, 21.0]]),
     None),
    ("ellipsis behind", lambda x: products(x, "i...->...") ** 2, M, numpy.array([[8.0, 12.0]] * 2), 4 * ONES),
    ("traces of a stack", lambda x: products(x, "...ii"), numpy.zeros((3, 2, 2)), numpy.stack([I2] * 3), None),
    ("ellipsis of different length", lambda x: products(x, "...i,...i", CUBE), numpy.ones(3), CUBE.sum((0, 1)), None),
    ("lists of axes", lambda x: np.einsum(x, [0, 0], M, [0, 1], [1]), I2, numpy.diag([3.0, 7.0]), None),
    ("with a path", lambda x: products(x, "ij,jk,kl->", M, M, optimize=True), I2, numpy.array([[17.0, 37.0]] * 2), None),
    ("complex", lambda x: np.real(products(x, "ii->i") * 1j), M + 0j, 1j * I2, None),
)  # fmt: skip

V = numpy.array([1.0, 2.0])

# the sum of all products of the elements of x: 2 sum(x), and 2 n
PRODUCTS = rows_of(
    "products of different numbers of axes",
    ("kron of vectors", lambda x: np.kron(x, x), V, 6 * V**0, 4 * V**0),
    ("kron of a vector and a matrix", lambda x: np.kron(x, np.reshape(x, (1, 2))), V, 6 * V**0, 4 * V**0),
    ("kron of a matrix and a stack", lambda x: np.kron(x, numpy.ones((3, 1, 2))), M, 6 * ONES, None),
    ("kron of a stack and a vector", lambda x: np.kron(numpy.ones((3, 1, 2)), x), V, 6 * V**0, None),
    ("kron of numbers", lambda x: np.kron(x, x), 3.0, 6.0, 2.0),
    ("outer of matrices", lambda x: np.outer(x, x), M, 20 * ONES, 8 * ONES),
    ("outer of a number", lambda x: np.outer(x, V), 3.0, 3.0, None),
    # |sum of the rows|^2
    ("inner of matrices", lambda x: np.inner(x, x), M, numpy.array([[8.0, 12.0]] * 2), 4 * ONES),
    ("inner of a number", lambda x: np.inner(x, M), 2.0, 10.0, None),
    ("inner of a stack and a vector", lambda x: np.inner(numpy.ones((3, 2, 2)), x), V, 6 * V**0, None),
    ("dot of a vector and a stack", lambda x: np.dot(x, numpy.ones((3, 2, 2))), V, 6 * V**0, None),
    ("dot of a matrix and a stack", lambda x: np.dot(x, numpy.ones((3, 2, 2))), M, 6 * ONES, None),
    ("dot of a number", lambda x: np.dot(x, M), 2.0, 10.0, None),
    ("matmul of a vector and a stack", lambda x: x @ numpy.ones((3, 2, 4)), V, 12 * V**0, None),
    ("matmul of a stretched stack", lambda x: x @ numpy.ones((3, 2, 4)), CUBE[:1, :, :2],
     numpy.full((1, 2, 2), 12.0), None),
    ("vdot of matrices", lambda x: np.vdot(x, x), M, 2 * M, 2 * ONES),
    ("vecdot, stretched", lambda x: np.vecdot(x, numpy.ones((3, 2))), V, 3 * V**0, None),
    ("vecdot of complex", lambda z: np.real(np.vecdot(z, z)), numpy.array([1 + 2j]), numpy.array([2 - 4j]), None),
    ("tensordot of no axes", lambda x: np.tensordot(x, x, 0), M, 20 * ONES, 8 * ONES),
    ("tensordot of all axes", lambda x: np.tensordot(x, x, ([0, 1], [1, 0])), M, 2 * M.T, 2 * ONES),
    ("tensordot of an axis from the end", lambda x: np.tensordot(x, M, (-2, -1)), M, numpy.array([[4.0, 4], [6, 6]]), None),
    ("cross with itself", lambda x: np.cross(x, 2 * x) + x**2, numpy.array([1.0, 2.0, 3.0]), numpy.array([2.0, 4.0, 6.0]),
     numpy.full(3, 2.0)),
    ("matmul of no elements", lambda x: x @ numpy.ones((2, 0)), M, 0 * ONES, None),
)  # fmt: skip
if hasattr(numpy, "matvec"):  # since NumPy 2.2
    PRODUCTS += rows_of(
        "products of different numbers of axes",
        ("matvec, stretched", lambda x: np.matvec(numpy.ones((3, 4, 2)), x), V, 12 * V**0, None),
        ("vecmat, stretched", lambda x: np.vecmat(x, numpy.ones((3, 2, 4))), V, 12 * V**0, None),
        ("vecmat of complex", lambda z: np.real(np.vecmat(z, numpy.array([[1j]]))), numpy.array([1 + 2j]),
         numpy.array([-1j]), None),
    )  # fmt: skip

Z = numpy.array([3 + 4j, 0])
UNIT = numpy.array([0.6 - 0.8j, 0])

NORMS = rows_of(
    "norms",
    ("complex, order 1", lambda z: linalg.norm(z, 1), Z, UNIT, None),
    ("complex, order 3", lambda z: linalg.norm(z, 3), Z, UNIT, None),
    ("complex, order inf", lambda z: linalg.norm(z, numpy.inf), Z, UNIT, None),
    ("complex, by rows", lambda z: linalg.norm(z, axis=1), Z[:, None], UNIT[:, None], None),
    ("complex matrix", lambda z: linalg.norm(z), numpy.diag(Z), numpy.diag(UNIT), None),
    ("complex matrix, nuclear", lambda z: linalg.norm(z, "nuc"), numpy.diag(Z), numpy.diag(UNIT), None),
    ("complex matrix, order 2", lambda z: linalg.norm(z, 2), numpy.diag(Z), numpy.diag(UNIT), None),
    ("complex matrix, order 1", lambda z: linalg.norm(z, 1), numpy.diag(Z), numpy.diag(UNIT), None),
    ("complex vector_norm", linalg.vector_norm, Z, UNIT, None),
    ("complex logarithm of det", lambda z: linalg.slogdet(z)[1], numpy.array([[3 + 4j]]), numpy.array([[3 - 4j]]) / 25, None),
    ("complex det", lambda z: np.real(linalg.det(z)), numpy.array([[1j, 2], [3, 4]]), numpy.array([[4, -3], [-2, 1j]]), None),
    ("complex energy of a transform", lambda z: np.abs(np.fft.fft(z)) ** 2, numpy.array([1 + 2j, 3j]),
     numpy.array([4 - 8j, -12j]), None),  # n |z|^2
    # (w - u (w . u)) / |x| for x = (3, 4) and w = (1, 1)
    ("a vector over its norm", lambda x: x / linalg.norm(x), numpy.array([3.0, 4.0]), numpy.array([0.032, -0.024]), None),
    ("columns over their norms", lambda x: x / linalg.norm(x, axis=0, keepdims=True), numpy.array([[3.0, 0], [4, 2]]),
     numpy.array([[0.032, 0.5], [-0.024, 0.0]]), None),
    ("matrices over their norms", lambda x: x / linalg.norm(x, axis=(-2, -1), keepdims=True), numpy.array([[[3.0], [4.0]]]),
     numpy.array([[[0.032], [-0.024]]]), None),
    ("rows over their sums", lambda x: x / linalg.norm(x, 1, axis=-1, keepdims=True), numpy.array([[1.0, 3.0]]),
     numpy.zeros((1, 2)), None),
    ("squares of row norms", lambda x: linalg.norm(x, axis=-1) ** 2, numpy.array([[0.0, 0.0], [3.0, 4.0]]),
     numpy.array([[0.0, 0.0], [6.0, 8.0]]), 2 * ONES),
    ("order 1 by columns", lambda x: linalg.norm(x, 1, axis=0), numpy.array([[1.0, -2.0], [0.0, 3.0]]),
     numpy.array([[1.0, -1.0], [0.0, 1.0]]), None),
    ("order inf of a matrix", lambda x: linalg.norm(x, numpy.inf), numpy.array([[1.0, -2.0], [0.5, 1.0]]),
     numpy.array([[1.0, -1.0], [0.0, 0.0]]), None),
    ("two axes of three, exchanged", lambda x: linalg.norm(x, 1, axis=(2, 0)), numpy.array([[[1.0, -4.0]], [[2.0, 2.0]]]),
     numpy.array([[[1.0, -1.0]], [[0.0, 0.0]]]), None),
    ("vector_norm of two axes", lambda x: linalg.vector_norm(x, axis=(0, 2)), numpy.array([[[3.0], [0.0]], [[4.0], [2.0]]]),
     numpy.array([[[0.6], [0.0]], [[0.8], [1.0]]]), None),
    ("matrix_norm of a stack", linalg.matrix_norm, numpy.array([[[3.0, 4.0]], [[0.0, 0.0]]]),
     numpy.array([[[0.6, 0.8]], [[0.0, 0.0]]]), None),
)  # fmt: skip

BAND = numpy.array([[0.0, 1.0, 0.0], [0.0, 0.0, 1.0]])
RECTANGLE = numpy.arange(6.0).reshape(2, 3)

DIAGONALS = rows_of(
    "diagonals of rectangles",
    ("diag above", lambda x: np.diag(x, 1) ** 2, RECTANGLE, 2 * RECTANGLE * BAND, 2 * BAND),
    ("diag below", lambda x: np.diag(x, -1), RECTANGLE, numpy.array([[0.0, 0, 0], [1, 0, 0]]), None),
    ("diag outside", lambda x: np.diag(x, 5), RECTANGLE, numpy.zeros((2, 3)), None),
    ("diag of a vector, below", lambda x: np.diag(x, -1) ** 2, V, 2 * V, 2 * V**0),
    ("diagflat", lambda x: np.diagflat(x, 1) ** 2, RECTANGLE, 2 * RECTANGLE, 2 * RECTANGLE**0),
    ("diagonal of other axes", lambda x: np.diagonal(x, 1, 2, 0), CUBE,
     numpy.stack([numpy.zeros((2, 3)), [[1.0, 0, 0]] * 2]), None),
    ("trace above", lambda x: np.trace(x, 1) ** 2, RECTANGLE, 12 * BAND, 4 * BAND),  # twice the sum 1 + 5, and 2 * 2
    ("trace of a stack", lambda x: linalg.trace(x, offset=-1), CUBE, numpy.stack([[[0.0, 0, 0], [1, 0, 0]]] * 2), None),
    ("tril", lambda x: np.tril(x, -1), RECTANGLE, numpy.array([[0.0, 0, 0], [1, 0, 0]]), None),
    ("triu of a stack", lambda x: np.triu(x, 2), CUBE, numpy.stack([[[0.0, 0, 1], [0, 0, 0]]] * 2), None),
    ("tril of a vector", lambda x: np.tril(x) * numpy.array([[1.0, 10.0], [100.0, 1000.0]]), V,
     numpy.array([101.0, 1000.0]), None),
    ("fill of a diagonal of 1 by 1", lambda x: np.diag(x) ** 2, numpy.array([[3.0]]), numpy.array([[6.0]]), numpy.array([[2.0]])),
)  # fmt: skip

EDGES = numpy.array([-1.0, 1.0, 0.0])

SLOPES = rows_of(
    "slopes, differences and areas",
    ("gradient of rows", lambda x: np.gradient(x, axis=0), numpy.zeros((2, 3)), numpy.array([[-2.0] * 3, [2.0] * 3]), None),
    # (-3 f0 + 4 f1 - f2) / 2, (f2 - f0) / 2 and (f0 - 4 f1 + 3 f2) / 2
    ("gradient by parabolas", lambda x: np.gradient(x, edge_order=2), numpy.ones(3), numpy.array([-1.5, 0, 1.5]), None),
    ("gradient by parabolas, an axis", lambda x: np.gradient(x, axis=1, edge_order=2), numpy.ones((1, 3)),
     numpy.array([[-1.5, 0, 1.5]]), None),
    ("both gradients", lambda x: sum(np.gradient(x)), numpy.zeros((2, 2)), numpy.array([[-4.0, 0], [0, 4]]), None),
    ("the distance of points", lambda h: np.gradient(numpy.array([1.0, 4.0, 9.0]), h), 2.0, -3.0, 3.0),  # 12 / h
    # (f1 - f0) / (x1 - x0), twice: 2 (-3) / 2^2 to the right
    ("the coordinates of points", lambda x: np.gradient(numpy.array([1.0, 4.0]), x), numpy.array([0.0, 2.0]),
     numpy.array([1.5, -1.5]), numpy.zeros(2)),
    # 2 (x1 - x0)^2
    ("squares of a gradient", lambda x: np.gradient(x) ** 2, numpy.array([1.0, 4.0]), numpy.array([-12.0, 12.0]), numpy.zeros(2)),
    ("second differences of rows", lambda x: np.diff(x, 2, axis=0), numpy.zeros((3, 1)), numpy.array([[1.0], [-2], [1]]), None),
    ("differences of too few", lambda x: np.diff(x, 3), numpy.ones(2), numpy.zeros(2), None),
    ("differences with an end", lambda x: np.diff(x, prepend=x[0] * x[0]), numpy.array([3.0, 5.0]),
     numpy.array([-6.0, 1.0]), numpy.array([-2.0, 0])),
    ("trapezoid, its coordinates", lambda x: np.trapezoid(numpy.array([1.0, 2.0, 4.0]), x), numpy.zeros(3),
     numpy.array([-1.5, -1.5, 3.0]), None),
    ("trapezoid of rows", lambda y: np.trapezoid(y, axis=0), numpy.zeros((3, 2)),
     numpy.array([[0.5, 0.5], [1, 1], [0.5, 0.5]]), None),
    ("trapezoid of one point", np.trapezoid, numpy.ones(1), numpy.zeros(1), None),
    ("ediff1d of a rectangle", lambda x: np.ediff1d(x, to_begin=x[0, 0]), numpy.ones((2, 2)),
     numpy.array([[0.0, 0], [0, 1]]), None),
    ("unwrap of nothing", np.unwrap, numpy.zeros((2, 0)), numpy.zeros((2, 0)), None),
)  # fmt: skip

TRANSFORMS = rows_of(
    "transforms of odd lengths",
    # y0 and y1 of three: 1 + cos(2 pi k / 3)
    ("rfft of three", lambda x: np.real(np.fft.rfft(x)), numpy.zeros(3), numpy.array([2.0, 0.5, 0.5]), None),
    # (z0 + z1, z0 - z1) / 2 of the real parts; and (z0 + 2 Re z1, ...) / 3, whose sum is z0
    ("irfft of two", lambda z: np.fft.irfft(z, 2), numpy.zeros(2, complex), numpy.array([1.0 + 0j, 0]), None),
    ("irfft of three", lambda z: np.fft.irfft(z, 3) * EDGES, numpy.zeros(2, complex),
     numpy.array([0, -2 + 2 * numpy.exp(2j * numpy.pi / 3)]) / 3, None),
    ("cut off", lambda x: np.real(np.fft.fft(x, 2)), numpy.zeros(3), numpy.array([2.0, 0.0, 0.0]), None),
    ("filled with zeros", lambda x: np.real(np.fft.fft(x, 3)), numpy.zeros(2), numpy.array([3.0, 0.0]), None),
    ("energy", lambda x: np.abs(np.fft.fft(x)) ** 2, numpy.array([1.0, 2.0, 4.0]),
     numpy.array([6.0, 12.0, 24.0]), numpy.full(3, 6.0)),
    ("an axis twice", lambda x: np.real(np.fft.fftn(x, axes=(0, 0))) ** 2, V, 8 * V, 8 * V**0),  # twice the signal, reversed
    ("no axis", lambda x: np.fft.fftn(x, axes=()) ** 2, V, 2 * V, 2 * V**0),
    ("a number", lambda x: np.fft.ifftn(x) ** 2, 3.0, 6.0, 2.0),
    ("shift of three", lambda x: np.fft.fftshift(x) * EDGES, numpy.zeros(3), numpy.array([1.0, 0.0, -1.0]), None),
    ("shift back of three", lambda x: np.fft.ifftshift(x) * EDGES, numpy.zeros(3), numpy.array([0.0, -1.0, 1.0]), None),
)  # fmt: skip

ROWS = [*EINSUMS, *PRODUCTS, *NORMS, *DIAGONALS, *SLOPES, *TRANSFORMS]

if find_spec("scipy"):  # before any test, which may not leave registrations behind
    import autograd.scipy.signal as signal

    ROWS += rows_of(
        "convolutions",
        ("convolve, same", lambda x: signal.convolve(x, numpy.array([1.0, 10.0]), "same"), numpy.zeros(3),
         numpy.array([11.0, 11.0, 1.0]), None),
        ("convolve with itself", lambda x: signal.convolve(x, x), V, 6 * V**0, 4 * V**0),
        ("correlate with a longer one", lambda x: signal.correlate(x, numpy.array([1.0, 2.0, 3.0]), "valid"), numpy.ones(1),
         numpy.array([6.0]), None),
    )  # fmt: skip


@each_row(ROWS)
def test_special_value(row, check):
    check(row)


def test_the_largest_element_of_none():
    x = numpy.zeros((0, 2))
    try:
        numpy.linalg.norm(x, numpy.inf, axis=0)
    except ValueError:
        pytest.skip("this NumPy has no norm of order inf of no elements")
    for keepdims in (False, True):
        value, g = value_and_grad(lambda x: np.sum(linalg.norm(x, numpy.inf, axis=0, keepdims=keepdims)))(x)  # noqa: B023
        assert value == 0
        assert g.shape == (0, 2)


# ------------------------------------------------------------------------------------------------ shapes that NumPy refuses


def test_too_few_axes_are_refused_as_numpy_refuses_them():
    with Tape() as tape:
        x, number = tape.watch(numpy.ones(2)), tape.watch(1.0)
        with pytest.raises(ValueError, match=r"vecdot: the second factor has shape \(\), expected a vector"):
            np.vecdot(x, number)
        if hasattr(numpy, "matvec"):
            with pytest.raises(ValueError, match=r"matvec: the first factor has shape \(2,\), expected a matrix"):
                np.matvec(x, x)
            with pytest.raises(ValueError, match=r"matvec: the second factor has shape \(\), expected a vector"):
                np.matvec(numpy.ones((1, 1)), number)
            with pytest.raises(ValueError, match=r"vecmat: the second factor has shape \(2,\), expected a matrix"):
                np.vecmat(x, x)
        for function in (np.fft.rfftn, np.fft.irfftn):
            with pytest.raises(ValueError, match="got no axis"):
                function(x, axes=())
