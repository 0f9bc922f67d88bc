"""Repeated eigenvalues and singular values, and zero ones: what has a derivative there, and the errors for what has none."""

import numpy as np
import pytest

import autograd.numpy as anp
from autograd import Tape, errors, grad, hessian, jacobian, jvp
from autograd import operators as op

TURN = np.linalg.qr(np.array([[1.0, 2.0, 0.5], [0.3, -1.0, 1.0], [0.7, 0.1, 1.0]]))[0]
TWICE = TURN @ np.diag([1.0, 1.0, 3.0]) @ TURN.T
"""A symmetric matrix with a repeated eigenvalue, which rounding parts by some 1e-16."""

P = np.array([[1.0, 2.0, 0.0], [2.0, 3.0, 1.0], [0.0, 1.0, 5.0]])
DIRECTION = np.array([[1.0, 0.5, -1.0], [2.0, 0.0, 0.3], [0.4, -0.7, 1.5]])


def matrix_function(f):
    def call(a):
        w, v = anp.linalg.eigh((a + a.T) / 2)
        return anp.sum(P * ((v * f(w)) @ v.T))

    return call


# ------------------------------------------------------------------------------------------------ functions of the values

# Each with the function of the matrix that it is, and so its gradient.
OF_VALUES = {
    "sum": (lambda w: anp.sum(w), lambda a: np.eye(3)),
    "squares": (lambda w: anp.sum(w**2), lambda a: 2 * a),
    "product": (lambda w: anp.prod(w), lambda a: np.linalg.det(a) * np.linalg.inv(a)),
    "logarithms": (lambda w: anp.sum(anp.log(w)), lambda a: np.linalg.inv(a)),
    "cubes": (lambda w: anp.sum(w**3), lambda a: 3 * a @ a),
}


@pytest.mark.parametrize("a", [np.eye(3), TWICE, np.diag([2.0, 1.0, 2.0])], ids=["unit", "turned", "diagonal"])
@pytest.mark.parametrize("name", OF_VALUES)
@pytest.mark.parametrize("values", ["eigvalsh", "eigh", "eigvals", "eig", "svdvals", "svd", "svd thin", "svd values"])
def test_functions_of_repeated_values(values, name, a):
    f, gradient = OF_VALUES[name]
    of = {
        "eigvalsh": anp.linalg.eigvalsh,
        "eigh": lambda a: anp.linalg.eigh(a)[0],
        "eigvals": lambda a: anp.real(anp.linalg.eigvals(a)),
        "eig": lambda a: anp.real(anp.linalg.eig(a)[0]),
        "svdvals": anp.linalg.svdvals,
        "svd": lambda a: anp.linalg.svd(a)[1],
        "svd thin": lambda a: anp.linalg.svd(a, full_matrices=False)[1],
        "svd values": lambda a: anp.linalg.svd(a, compute_uv=False),
    }[values]
    np.testing.assert_allclose(grad(lambda a: f(of(a)))(a), gradient(a), rtol=1e-12, atol=1e-12)
    _, change = jvp(lambda a: f(of(a)), [a], [DIRECTION])
    assert change == pytest.approx(np.sum(gradient(a) * DIRECTION), rel=1e-12)


def test_equal_values_share():
    np.testing.assert_allclose(grad(lambda a: anp.linalg.eigvalsh(a)[0])(np.eye(2)), np.eye(2) / 2)
    np.testing.assert_allclose(grad(lambda a: anp.linalg.svdvals(a)[1])(np.eye(2)), np.eye(2) / 2)
    np.testing.assert_allclose(grad(lambda a: anp.real(anp.linalg.eigvals(a)[0]))(np.eye(2)), np.eye(2) / 2)
    _, change = jvp(anp.linalg.eigvalsh, [np.eye(2)], [np.diag([1.0, 3.0])])
    np.testing.assert_allclose(change, [2, 2])


def test_repeated_values_in_one_matrix_of_a_stack():
    stack = np.stack([np.eye(3), TWICE, np.diag([1.0, 2.0, 4.0])])
    g = grad(lambda a: anp.sum(anp.linalg.eigh(a)[0] ** 2))(stack)
    np.testing.assert_allclose(g, 2 * stack, atol=1e-14)
    g = grad(lambda a: anp.sum(DIRECTION * anp.linalg.eigh(a)[1][2]))(stack)  # vectors of the last one alone
    assert np.all(g[:2] == 0)
    assert np.any(g[2])


def test_float32_repeats_by_its_own_rounding():
    a = (TURN @ np.diag([1.0, 1.0, 3.0]) @ TURN.T).astype(np.float32)
    g = grad(lambda a: anp.sum(anp.linalg.eigvalsh(a) ** 2))(a)
    assert g.dtype == np.float32
    np.testing.assert_allclose(g, 2 * a, atol=1e-5)
    with pytest.raises(errors.GradientError, match="eigh: the eigenvalues"):
        grad(matrix_function(anp.exp))(a)


# ------------------------------------------------------------------------------------------------ functions of the vectors


@pytest.mark.parametrize("a", [np.eye(3), TWICE, np.diag([1.0, 1.0, 3.0])], ids=["unit", "turned", "diagonal"])
@pytest.mark.parametrize(
    "f",
    [anp.exp, anp.sqrt, anp.square, lambda w: w, lambda w: w - 1, anp.log],
    ids=["exp", "sqrt", "square", "itself", "0 there", "log"],
)
def test_a_matrix_function_at_a_repeated_eigenvalue_is_refused(f, a):
    # its gradient involves the derivative of f, also beside the diagonal, where f alone says nothing: f may even be 0 there
    with pytest.raises(errors.GradientError, match=r"eigh: the eigenvalues 1, 1.* repeat.*eigvalsh"):
        grad(matrix_function(f))(a)
    with pytest.raises(errors.GradientError, match="eigh: the eigenvalues 1, 1"):
        jvp(matrix_function(f), [a], [DIRECTION])


def test_an_element_of_a_matrix_function_that_is_zero_there():
    # d log(a)[0, 1] at the unit matrix is half of each of two elements; every cotangent of the decomposition is 0
    def f(a):
        w, v = anp.linalg.eigh(a)
        return ((v * anp.log(w)) @ v.T)[0, 1]

    with pytest.raises(errors.GradientError, match="eigh: the eigenvalues 1, 1, 1"):
        grad(f)(np.eye(3))
    with pytest.raises(errors.GradientError, match="eigh: the eigenvalues 1, 1"):
        grad(f)(np.diag([1.0, 1.0, 2.0]))


def test_a_matrix_of_low_rank_rebuilt_from_its_decomposition_is_refused():
    def rebuilt(a):
        w, v = anp.linalg.eigh(a)
        return anp.sum(P * ((v * w) @ v.T))

    with pytest.raises(errors.GradientError, match="eigh: the eigenvalues"):
        grad(rebuilt)(np.diag([0.0, 0.0, 2.0]))

    def from_svd(a):
        u, s, vh = anp.linalg.svd(a)
        return anp.sum(P * ((u * s) @ vh))

    for a in (np.diag([2.0, 0.0, 0.0]), np.eye(3)):
        with pytest.raises(errors.GradientError, match=r"svd: the singular values .* repeat or are zero.*svdvals"):
            grad(from_svd)(a)
        with pytest.raises(errors.GradientError, match=r"svd: the singular values .* repeat or are zero.*svdvals"):
            jvp(from_svd, [a], [DIRECTION])
    np.testing.assert_allclose(grad(from_svd)(np.diag([2.0, 1.0, 0.0])), P, atol=1e-14)  # one 0 of a square matrix is a value


@pytest.mark.parametrize("function", ["eigh", "svd", "eig"])
def test_vectors_of_other_values_have_derivatives(function):
    # the vector of 3 beside the repeated 1: first order of perturbation theory, a[i, 2] / (3 - 1), or half of a sum of two
    a = np.diag([1.0, 1.0, 3.0])
    pick = {"eigh": lambda a: anp.linalg.eigh(a)[1][:, 2], "svd": lambda a: anp.linalg.svd(a)[0][:, 0]}
    pick["eig"] = lambda a: anp.real(anp.linalg.eig(a)[1][:, 2])
    y = jacobian(lambda a: pick[function](a) * pick[function](a)[2])(a)
    of_symmetric = 0.25 * (np.eye(3)[:, :, None] * np.eye(3)[2] + np.eye(3)[2][:, None] * np.eye(3)[:, None, :])
    expected = {
        "eigh": of_symmetric,
        "svd": (3 * np.eye(3)[:, :, None] * np.eye(3)[2] + np.eye(3)[2][:, None] * np.eye(3)[:, None, :]) / 8,
        "eig": 0.5 * np.eye(3)[:, :, None] * np.eye(3)[2],
    }[function]
    np.testing.assert_allclose(y[:2], expected[:2], atol=1e-15)
    np.testing.assert_allclose(y[2], np.zeros((3, 3)), atol=1e-15)


def test_the_null_vector_of_a_tall_matrix_has_a_derivative():
    # a v = 0 for v = (1, -1) / sqrt(2): d v = -pinv(a) da v
    a = np.array([[1.0, 1.0], [2.0, 2.0], [0.0, 0.0]])
    v = np.linalg.svd(a)[2][1]
    y = jacobian(lambda a: anp.linalg.svd(a, full_matrices=False)[2][1])(a)
    change = np.arange(6.0).reshape(3, 2)
    np.testing.assert_allclose(np.einsum("iab,ab->i", y, change), -np.linalg.pinv(a) @ change @ v)
    with pytest.raises(errors.GradientError, match=r"svd: the singular values .* repeat or are zero"):
        grad(lambda a: anp.linalg.svd(a, full_matrices=False)[0][0, 1])(a)
    with pytest.raises(errors.GradientError, match=r"svd: the singular values .* repeat or are zero"):
        grad(lambda a: anp.linalg.svd(a)[0][0, 2])(a)
    for chosen in ([2], [0, 2]):  # a vector that completes the basis may turn with that of the value 0, also beside others
        with pytest.raises(errors.GradientError, match=r"svd: the singular values .* repeat or are zero"):
            grad(lambda a: anp.sum(anp.linalg.svd(a)[0][0, chosen]))(a)  # noqa: B023  # called at once
        with pytest.raises(errors.GradientError, match=r"svd: the singular values .* repeat or are zero"):
            jvp(lambda a: anp.linalg.svd(a)[0][0, chosen], [a], [change])  # noqa: B023  # called at once


def test_the_message_names_values_positions_and_matrix():
    stack = np.stack([np.diag([1.0, 2.0, 4.0]), np.diag([5.0, 2.0, 5.0])])
    with pytest.raises(errors.GradientError, match=r"eigh: the eigenvalues 5, 5 \(positions 1, 2\) of matrix \[1\] repeat"):
        grad(lambda a: anp.sum(anp.linalg.eigh(a)[1][..., 1]))(stack)
    with pytest.raises(errors.GradientError, match=r"eig: the eigenvalues .* \(positions 0, 1\) repeat.*use eigvals"):
        grad(lambda a: anp.real(anp.linalg.eig(a)[1][0, 1]))(np.eye(2))


# ------------------------------------------------------------------------------------------------ second derivatives


def test_second_derivatives_of_a_distinct_value_beside_repeated_ones():
    # the largest of diag(1, 1, 3): 2 a[i, 2]^2 / (3 - 1) summed over i, each a half of two elements
    second = hessian(lambda a: anp.linalg.eigvalsh(a)[2])(np.diag([1.0, 1.0, 3.0]))
    assert second[0, 2, 0, 2] == pytest.approx(0.25)
    assert second[1, 2, 2, 1] == pytest.approx(0.25)
    assert second[0, 1, 0, 1] == 0


# Each with the derivative, along a symmetric direction h, of the gradient that is written beside it above.
SECOND = {
    "sum": lambda a, h: np.zeros((3, 3)),
    "squares": lambda a, h: 2 * h,
    "cubes": lambda a, h: 3 * (a @ h + h @ a),
    "logarithms": lambda a, h: -np.linalg.inv(a) @ h @ np.linalg.inv(a),
    "product": lambda a, h: op.cofactors_derivative(a, h),
}
SECOND["distances from 1"] = SECOND["squares"]
FUNCTIONS = {name: f for name, (f, _) in OF_VALUES.items()} | {"distances from 1": lambda w: anp.sum((w - 1) ** 2)}


@pytest.mark.parametrize("a", [np.eye(3), TWICE, np.diag([2.0, 1.0, 2.0])], ids=["unit", "turned", "diagonal"])
@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("values", [anp.linalg.eigvalsh, lambda a: anp.linalg.eigh(a)[0]], ids=["eigvalsh", "eigh"])
def test_second_derivatives_of_functions_of_repeated_eigenvalues(values, name, a):
    h = DIRECTION + DIRECTION.T
    expected = SECOND[name](a, h)
    first = grad(lambda a: FUNCTIONS[name](values(a)))
    np.testing.assert_allclose(np.tensordot(jacobian(first)(a), h), expected, rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose(jvp(first, [a], [h])[1], expected, rtol=1e-10, atol=1e-10)


def test_second_derivatives_in_stacks_and_of_mixed_functions():
    # (sum w) (sum w^2): the gradient is tr(a^2) I + 2 tr(a) a
    h = DIRECTION + DIRECTION.T
    stack = np.stack([TWICE, np.diag([1.0, 2.0, 4.0]), 2 * np.eye(3)])

    def f(a):
        w = anp.linalg.eigvalsh(a)
        return anp.sum(anp.sum(w, axis=-1) * anp.sum(w**2, axis=-1))

    expected = [2 * np.trace(a @ h) * np.eye(3) + 2 * np.trace(h) * a + 2 * np.trace(a) * h for a in stack]
    np.testing.assert_allclose(np.tensordot(hessian(f)(stack), np.stack([h] * 3), 3), expected, rtol=1e-10, atol=1e-10)
    rows = jacobian(jacobian(lambda a: anp.linalg.eigvalsh(a)[..., ::-1] ** 0 * anp.sum(anp.linalg.eigvalsh(a) ** 2)))(TWICE)
    np.testing.assert_allclose(np.tensordot(rows[0], h), 2 * h, atol=1e-10)


def test_second_derivatives_of_complex_matrices():
    a = np.array([[2.0, 0.0], [0.0, 2.0]]) + 0j
    h = np.array([[1.0, 2 - 1j], [2 + 1j, 3.0]])
    _, change = jvp(grad(lambda a: anp.sum(anp.linalg.eigvalsh(a) ** 3)), [a], [h])
    np.testing.assert_allclose(change, 12 * h.conj(), atol=1e-12)  # of 3 a^2, conjugated as gradients are


def test_third_derivatives_of_functions_of_repeated_eigenvalues_are_refused():
    with pytest.raises(errors.GradientError, match=r"eigvalsh: the eigenvalues 1, 1 .* the third derivative"):
        jacobian(hessian(lambda a: anp.sum(anp.linalg.eigvalsh(a) ** 2)))(np.eye(2))
    with pytest.raises(errors.GradientError, match=r"eigvalsh: the eigenvalues 1, 1 .* the third derivative"):
        jacobian(hessian(lambda a: anp.sum(anp.linalg.eigvalsh(a))))(np.eye(2))
    third = jacobian(hessian(lambda a: anp.sum(anp.linalg.eigvalsh(a) ** 3)))(np.diag([1.0, 2.0]))
    assert third[0, 0, 0, 0, 0, 0] == pytest.approx(6.0)


def test_second_derivatives_of_functions_of_other_repeated_eigenvalues_are_refused():
    for f in (lambda w: anp.sum(w**2), lambda w: anp.sum((w - 1) ** 2)):
        for a in (np.eye(2), np.diag([1.0, 1.0, 3.0])):
            with pytest.raises(errors.GradientError, match=r"second derivative|free to turn"):
                hessian(lambda a: f(anp.real(anp.linalg.eigvals(a))))(a)  # noqa: B023  # called at once


def test_the_guard_of_free_vectors_passes_gradients():
    v = np.array([[1.0, 0.0], [0.0, 1.0]])
    np.testing.assert_array_equal(grad(lambda v: anp.sum(op.basis(v, function="eigh", values=np.ones(2)) * v))(v), 2 * v)
    with Tape() as tape:
        anp.linalg.eigh(tape.watch(np.diag([1.0, 2.0])))
    assert "basis" not in [node.kernel_name for node in tape.nodes]  # no further record where nothing repeats
