"""Norms of vectors and matrices: every order, axis and kink. Part of the family linalg."""

import numpy as np
import pytest

import autograd.numpy as anp
from autograd import Tape, errors, grad, hessian, jacobian, jvp
from tests.gradients.harness import Case, each_case

INF = np.inf
UNIT = (-1.0, 1.0)
VECTOR_ORDERS = (None, 1, 2, 3, 2.5, 1.5, 0.5, -1, -2, INF, -INF)
MATRIX_ORDERS = (None, "fro", "nuc", 1, -1, 2, -2, INF, -INF)


def norm_case(name, shape, *, orders=2, **attrs):
    return Case(
        f"linalg.{name}",
        shapes=[(shape,)],
        attrs=attrs,
        domain=UNIT,
        complex_domain=UNIT,
        tolerance=1e-6,
        orders=orders,
        label=f"{shape} {attrs}",
    )


CASES = [
    *[norm_case("norm", (4,), ord=order) for order in VECTOR_ORDERS],
    *[norm_case("norm", (2, 3), ord=order, axis=0) for order in VECTOR_ORDERS],
    *[norm_case("norm", (2, 3), ord=order, axis=-1, keepdims=True) for order in (None, 1, 3, INF)],
    *[norm_case("norm", (3, 2), ord=order) for order in MATRIX_ORDERS],
    *[norm_case("norm", (2, 2, 3), ord=order, axis=(2, 0), keepdims=True) for order in MATRIX_ORDERS],
    *[norm_case("norm", (2, 3, 2), ord=order, axis=(0, 1)) for order in MATRIX_ORDERS],
    norm_case("norm", (2, 3), keepdims=True),
    norm_case("norm", (2, 3, 2)),
    norm_case("norm", (2, 3, 2), axis=1),
    norm_case("norm", ()),
    norm_case("norm", (0,)),
    norm_case("norm", (0, 2), axis=1),
    norm_case("norm", (2, 3), ord=0, axis=1, orders=0),
    *[norm_case("vector_norm", (2, 3), ord=order) for order in (1, 2, 3, INF, -INF)],
    norm_case("vector_norm", (2, 3, 2), axis=(0, 2), ord=3),
    norm_case("vector_norm", (2, 3, 2), axis=(2, 0), keepdims=True),
    norm_case("vector_norm", (2, 3), ord=0, orders=0),
    *[norm_case("matrix_norm", (2, 2, 3), ord=order) for order in MATRIX_ORDERS[1:]],
    norm_case("matrix_norm", (2, 2, 3), keepdims=True),
]


@each_case(CASES)
def test_rule(case, check):
    check(case)


# ------------------------------------------------------------------------------------------------ values by hand


def test_gradients_of_a_vector():
    x = np.array([3.0, -4.0])
    np.testing.assert_allclose(grad(anp.linalg.norm)(x), [0.6, -0.8])
    np.testing.assert_array_equal(grad(lambda x: anp.linalg.norm(x, 1))(x), [1, -1])
    np.testing.assert_array_equal(grad(lambda x: anp.linalg.norm(x, INF))(x), [0, -1])
    np.testing.assert_array_equal(grad(lambda x: anp.linalg.norm(x, -INF))(x), [1, 0])
    # the cube root of 27 + 64 = 91: |x|^2 sign(x) / 91^(2/3)
    np.testing.assert_allclose(grad(lambda x: anp.linalg.norm(x, 3))(x), np.array([9, -16]) / 91 ** (2 / 3))


@pytest.mark.parametrize("order", VECTOR_ORDERS)
def test_a_vector_of_zeros_has_gradient_zero(order):
    with np.errstate(divide="ignore"):
        np.testing.assert_array_equal(grad(lambda x: anp.linalg.norm(x, order))(np.zeros(3)), np.zeros(3))
        _, change = jvp(lambda x: anp.linalg.norm(x, order), [np.zeros(3)], [np.ones(3)])
    assert change == 0


@pytest.mark.parametrize("order", MATRIX_ORDERS)
def test_a_matrix_of_zeros_has_gradient_zero(order):
    np.testing.assert_array_equal(grad(lambda x: anp.linalg.norm(x, order))(np.zeros((2, 3))), np.zeros((2, 3)))
    _, change = jvp(lambda x: anp.linalg.norm(x, order), [np.zeros((2, 3))], [np.ones((2, 3))])
    assert change == 0


def test_rows_of_zeros_beside_others():
    g = grad(lambda x: anp.sum(anp.linalg.norm(x, axis=1)))(np.array([[0.0, 0.0], [0.0, 2.0]]))
    np.testing.assert_array_equal(g, [[0, 0], [0, 1]])


def test_functions_of_a_norm_of_zeros():
    for f in (lambda x: anp.linalg.norm(x) ** 2, lambda x: anp.linalg.norm(x) ** 3, lambda x: anp.cos(anp.linalg.norm(x))):
        np.testing.assert_array_equal(grad(f)(np.zeros(3)), np.zeros(3))
    complex_zero = grad(lambda z: anp.linalg.norm(z) ** 2)(np.zeros(2, complex))
    np.testing.assert_array_equal(complex_zero, np.zeros(2))


# Even functions of the norm, each with its second derivative at zero, which is that of the sum of squares times a number.
EVEN = {
    "square": (lambda y: y**2, 2.0),
    "product": (lambda y: y * y * 3.0, 6.0),
    "fourth power": (lambda y: y**4, 0.0),
    "cosine": (anp.cos, -1.0),
    "square and more": (lambda y: anp.exp(y**2) * 2.0, 4.0),
    "logarithm": (lambda y: anp.log(1.0 + y * y), 2.0),
}


@pytest.mark.parametrize("name", EVEN)
@pytest.mark.parametrize("function", [anp.linalg.norm, anp.linalg.vector_norm])
def test_second_derivatives_of_functions_of_a_norm_of_zeros(name, function):
    f, second = EVEN[name]

    def of_norm(x):
        return f(function(x))

    np.testing.assert_array_equal(grad(of_norm)(np.zeros(3)), np.zeros(3))
    np.testing.assert_allclose(hessian(of_norm)(np.zeros(3)), second * np.eye(3), atol=1e-15)
    _, change = jvp(grad(of_norm), [np.zeros(3)], [np.array([1.0, 2.0, 3.0])])
    np.testing.assert_allclose(change, second * np.array([1.0, 2.0, 3.0]), atol=1e-15)
    third = jacobian(hessian(of_norm))(np.zeros(2))
    np.testing.assert_allclose(third, np.zeros((2, 2, 2, 2))[0], atol=1e-15)


def test_the_fourth_derivative_at_zero_is_refused():
    with pytest.raises(errors.GradientError, match="norm: its fourth derivative at zero"):
        jacobian(jacobian(hessian(lambda x: anp.linalg.norm(x) ** 4)))(np.zeros(2))


def test_second_derivatives_beside_rows_of_zeros():
    x = np.array([[0.0, 0.0], [3.0, 4.0], [0.0, 0.0]])

    def f(x):  # the sum of the squares of all, and the last row is masked
        y = anp.linalg.norm(x, axis=1)
        return anp.sum(anp.where(np.array([True, True, False]), y, 0.0) ** 2)

    expected = np.zeros((3, 2, 3, 2))
    for row, column in ((0, 0), (0, 1), (1, 0), (1, 1)):
        expected[row, column, row, column] = 2
    np.testing.assert_allclose(hessian(f)(x), expected, atol=1e-14)
    rows = jacobian(jacobian(lambda x: anp.linalg.norm(x, axis=1, keepdims=True)[:, 0] ** 2))(x)
    np.testing.assert_allclose(rows[0, 0, :, 0, :], 2 * np.eye(2), atol=1e-14)
    np.testing.assert_allclose(rows[2, 2, :, 2, :], 2 * np.eye(2), atol=1e-14)


def test_the_tape_outside_stays_as_it_is():
    # a quadratic form in the norms by products alone, of which a walk would let go what it has used
    weights = np.diag([1.0, 2.0])

    def f(x):
        y = anp.linalg.norm(x, axis=1, keepdims=True)
        return (y.T @ weights @ y)[0, 0]

    expected = 2 * weights[:, None, :, None] * np.eye(2)[:, None, :]
    np.testing.assert_allclose(hessian(f)(np.zeros((2, 2))), expected)


def test_a_factor_of_zero_from_another_tape():
    def f(c):
        for _ in range(20):  # its number is then beyond those of the tape of x
            c = c * 1.0
        return anp.sum(hessian(lambda x: c * anp.linalg.norm(x))(np.zeros(2)))

    assert grad(f)(0.0) == 0


def test_a_kink_has_no_second_derivative():
    # the gradient of the norm at zero is 0 by choice, and constant by choice too, as that of abs
    np.testing.assert_array_equal(hessian(anp.linalg.norm)(np.zeros(2)), np.zeros((2, 2)))
    for f in (lambda x: anp.linalg.norm(x) ** 1.5, lambda x: anp.linalg.norm(x, 3) ** 2):
        with pytest.raises(errors.GradientError, match="has no second derivative at zero"):
            hessian(f)(np.zeros(2))


def test_zero_elements():
    # |x|^p has derivative 0 at 0 for p > 1, and a cusp, where the gradient is 0 by choice, below
    x = np.array([0.0, 2.0])
    for order in (0.5, 1, 1.5, 2, 3):
        np.testing.assert_allclose(grad(lambda x: anp.linalg.norm(x, order))(x), [0, 1])  # noqa: B023  # called at once
    np.testing.assert_allclose(grad(lambda x: anp.linalg.norm(x, 3))(x.astype(complex)), [0, 1])


def test_squares_out_of_the_range_of_floats():
    # NumPy's norm is then 0 or inf, but its slope is that of the vector scaled: 3 and 4 over 5
    with np.errstate(all="ignore"):
        for scale in (1e-200, 1e200):
            np.testing.assert_allclose(grad(anp.linalg.norm)(scale * np.array([3.0, 4.0])), [0.6, 0.8])
            rows = scale ** np.array([[1], [0]]) * np.array([[3.0, 4.0], [0.0, 0.0]])
            g = grad(lambda x: anp.sum(anp.linalg.norm(x, 3, axis=1)))(rows)
            np.testing.assert_allclose(g, [np.array([9, 16]) / 91 ** (2 / 3), [0, 0]])
        small = grad(anp.linalg.norm)(np.array([3e-30, 4e-30], np.float32))
        np.testing.assert_allclose(small, [0.6, 0.8], rtol=1e-6)


def test_ties_share():
    np.testing.assert_array_equal(grad(lambda x: anp.linalg.norm(x, INF))(np.array([2.0, -2.0])), [0.5, -0.5])
    np.testing.assert_array_equal(grad(lambda x: anp.linalg.norm(x, 2))(np.eye(2)), np.eye(2) / 2)
    np.testing.assert_array_equal(grad(lambda x: anp.linalg.norm(x, 1))(np.eye(2)), np.eye(2) / 2)


def test_nuclear_norm_of_a_matrix_of_lower_rank():
    # u v.T of the singular values above 0: the subgradient of least size
    np.testing.assert_allclose(grad(lambda x: anp.linalg.norm(x, "nuc"))(np.diag([3.0, 0.0])), np.diag([1.0, 0.0]))
    np.testing.assert_allclose(grad(lambda x: anp.linalg.norm(x, "nuc"))(np.ones((2, 3))), np.full((2, 3), 6**-0.5))
    np.testing.assert_allclose(grad(lambda x: anp.linalg.norm(x, -2))(np.diag([3.0, 0.0])), np.zeros((2, 2)))


def test_complex_convention():
    # df/dx - i df/dy of |z| is conj(z) / |z|
    np.testing.assert_allclose(grad(anp.linalg.norm)(np.array([3 + 4j, 0])), [0.6 - 0.8j, 0])
    np.testing.assert_allclose(grad(lambda z: anp.linalg.norm(z, 3))(np.array([3 + 4j])), [0.6 - 0.8j])


def test_row_normalisation():
    # x / |x| of the row (3, 4), times (1, 2): the derivative is (w - u (w . u)) / |x|
    w, u = np.array([1.0, 2.0]), np.array([0.6, 0.8])
    g = grad(lambda x: anp.sum(x / anp.linalg.norm(x, axis=1, keepdims=True) * w))(np.array([[3.0, 4.0], [1.0, 0.0]]))
    np.testing.assert_allclose(g, [(w - u * (w @ u)) / 5, [0, 2]])


def test_errors():
    with Tape() as tape:
        x = tape.watch(np.ones((2, 2)))
        with pytest.raises(errors.NotTrackedError, match="norm: ord is a tensor"):
            anp.linalg.norm(np.ones(2), x[0, 0])
        with pytest.raises(ValueError, match="norm: order 'fro' is for matrices"):
            anp.linalg.norm(x, "fro", axis=0)
        with pytest.raises(ValueError, match="there is no norm of order 3"):
            anp.linalg.norm(x, 3)
        with pytest.raises(ValueError, match="norm: got 3 axes"):
            anp.linalg.norm(anp.stack([x, x]), 2)
