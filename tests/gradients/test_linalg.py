"""Linear algebra: systems of equations, determinants, products of matrices; the norms are in test_norms."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import autograd.numpy as anp
from autograd import Tape, errors, grad, hessian, jacobian, jvp, value_and_grad
from autograd import operators as op
from tests.gradients.harness import Case, each_case

SMALL = (-1.0, 1.0)


def near_unit(*shapes):
    """Matrices far from singular ones: small random numbers and twice the unit matrix; complex parts stay below 1 / 2."""

    def draw(rng):
        return [rng.uniform(-0.5, 0.5, shape) + (2 * np.eye(*shape[-2:]) if len(shape) > 1 else 0) for shape in shapes]

    return draw


def square_cases(name, *shapes, **options):
    return [Case(name, inputs=near_unit(shape), complex_domain=SMALL, label=f"{shape}", **options) for shape in shapes]


def call_case(label, call, *shapes, **options):
    return Case(label.partition(" ")[0], call=call, inputs=near_unit(*shapes), complex_domain=SMALL, label=label, **options)


RANK_TWO = np.array([[1.0, 2.0, 0.5], [2.0, 4.0, 1.0], [0.5, -1.0, 2.0]])
RANK_ONE = np.outer([1.0, -2.0, 0.5], [2.0, 1.0, -1.0])
SINGULAR = [RANK_TWO, RANK_ONE, np.zeros((3, 3)), np.zeros((2, 2)), np.zeros((1, 1)), np.diag([1.0, 0.0, 0.0, 0.0])]
SINGULAR += [np.stack([RANK_TWO, 2 * np.eye(3)])]

SOLVES = [
    ((3, 3), (3,)),
    ((3, 3), (3, 2)),
    ((1, 1), (1,)),
    ((2, 2), (2, 2)),
    ((2, 2), (3, 2, 1)),
    ((2, 2, 2), (2,)),
    ((3, 2, 2), (2, 1)),
    ((2, 2, 2), (2, 2, 3)),
    ((2, 1, 2, 2), (3, 2, 1)),
    ((0, 2, 2), (2,)),
    ((0, 0), (0, 2)),
    ((2, 2), (2, 0)),
]

CASES = [
    *square_cases("linalg.inv", (3, 3), (2, 2, 2), (1, 1), (0, 0), (0, 2, 2)),
    *square_cases("linalg.det", (3, 3), (2, 2, 2), (1, 1), (0, 0), (0, 2, 2)),
    *[Case("linalg.det", inputs=[a], label=f"singular {number}") for number, a in enumerate(SINGULAR)],
    Case("linalg.det", inputs=[RANK_TWO * (1 + 1j)], dtypes=("complex128",), label="singular, complex"),
    *square_cases("linalg.slogdet", (3, 3), (2, 2, 2), (1, 1)),
    *[
        Case("linalg.solve", inputs=near_unit(*shapes), complex_domain=SMALL, tolerance=1e-6, label=f"{shapes}")
        for shapes in SOLVES
    ],
    *[
        Case("linalg.pinv", shapes=[(shape,)], complex_domain=SMALL, tolerance=1e-6, label=f"{shape}")
        for shape in [(4, 2), (2, 3), (2, 3, 2)]
    ],
    Case("linalg.pinv", call=lambda np, a: np.linalg.pinv(a, rcond=0.1), shapes=[((3, 2),)], tolerance=1e-6, label="rcond"),
    Case("linalg.pinv", call=lambda np, a: np.linalg.pinv(a, rtol=0.1), shapes=[((3, 2),)], tolerance=1e-6, label="rtol"),
    Case("linalg.pinv", call=lambda np, a: np.linalg.pinv(a), inputs=[np.zeros((0, 2))], label="empty"),
    Case(
        "linalg.pinv",
        call=lambda np, a: np.linalg.pinv(a @ np.conj(a.mT), hermitian=True),
        inputs=near_unit((3, 3)),
        complex_domain=SMALL,
        tolerance=1e-6,
        label="hermitian",
    ),
    Case(
        "linalg.pinv",
        call=lambda np, a, b: np.linalg.pinv(np.outer(a, b)),
        shapes=[((3,), (2,))],
        complex_domain=SMALL,
        tolerance=1e-6,
        dtypes=("float64",),  # NumPy's cutoff of 1e-15 takes the rounding of float32 for rank
        label="rank one",
    ),
    *[
        Case(
            "linalg.lstsq",
            call=lambda np, a, b: [each for each in np.linalg.lstsq(a, b) if each.dtype.kind != "i"],
            reference=lambda a, b: [each for each in np.linalg.lstsq(a, b) if np.asarray(each).dtype.kind != "i"],
            shapes=[shapes],
            complex_domain=SMALL,
            tolerance=1e-6,
            label=f"{shapes}",
        )
        for shapes in [((4, 2), (4,)), ((4, 2), (4, 3))]
    ],
    *[
        Case("linalg.lstsq", call=lambda np, a, b: np.linalg.lstsq(a, b)[0], shapes=[shapes], tolerance=1e-6, label=f"{shapes}")
        for shapes in [((2, 3), (2,)), ((2, 2), (2, 1))]
    ],
    call_case("linalg.tensorinv", lambda np, a: np.linalg.tensorinv(a.reshape(2, 2, 2, 2)), (4, 4)),
    call_case("linalg.tensorinv ind", lambda np, a: np.linalg.tensorinv(a.reshape(4, 2, 2), ind=1), (4, 4)),
    call_case("linalg.tensorsolve", lambda np, a, b: np.linalg.tensorsolve(a.reshape(2, 2, 4), b), (4, 4), (2, 2)),
    call_case(
        "linalg.tensorsolve axes", lambda np, a, b: np.linalg.tensorsolve(a.reshape(4, 2, 2), b, axes=(0,)), (4, 4), (2, 2)
    ),
    *[
        Case(
            "linalg.cond",
            call=lambda np, a, p=p: np.real(np.linalg.cond(a, p)),  # NumPy 2.0 gives a complex number without imaginary part
            inputs=near_unit((3, 3)),
            complex_domain=SMALL,
            tolerance=1e-6,
            label=f"p={p}",
        )
        for p in (None, 2, -2, 1, -1, np.inf, -np.inf, "fro", "nuc")
    ],
    Case("linalg.cond", inputs=near_unit((2, 3, 2)), tolerance=1e-6, label="a stack of tall matrices"),
    Case("linalg.matrix_rank", inputs=near_unit((2, 3, 3)), orders=0),
    *[
        Case("linalg.matrix_power", inputs=near_unit((2, 2)), attrs={"n": n}, complex_domain=SMALL, tolerance=1e-6, label=f"{n}")
        for n in (0, 1, 2, 3, 7, -1, -3)
    ],
    *[
        Case(
            "linalg.multi_dot",
            call=lambda np, *arrays: np.linalg.multi_dot(arrays),
            shapes=[shapes],
            domain=SMALL,
            complex_domain=SMALL,
            label=f"{shapes}",
        )
        for shapes in [
            ((2, 3), (3, 2)),
            ((3,), (3, 2), (2,)),
            ((2, 1), (1, 3), (3, 2), (2, 2)),
            ((3,), (3, 1), (1, 2)),
            ((2,), (2,)),
        ]
    ],
    Case("linalg.outer", shapes=[((3,), (2,))], complex_domain=SMALL),
    Case("linalg.cross", shapes=[((3,), (3,)), ((2, 3), (3,)), ((2, 1, 3), (4, 3))], complex_domain=SMALL),
    Case("linalg.cross", shapes=[((3, 2), (3, 2))], attrs={"axis": 0}, complex_domain=SMALL, label="axis"),
    Case("linalg.vecdot", shapes=[((3,), (3,)), ((2, 3), (3,)), ((2, 1, 3), (4, 3))], complex_domain=SMALL),
    Case("linalg.vecdot", shapes=[((3, 2), (3, 2))], attrs={"axis": 0}, complex_domain=SMALL, label="axis"),
    Case("linalg.matmul", shapes=[((2, 3), (3, 2)), ((2, 2, 3), (3,))], complex_domain=SMALL),
    Case("linalg.tensordot", shapes=[((2, 3), (3, 2))], attrs={"axes": 1}, complex_domain=SMALL),
    Case("linalg.trace", shapes=[((3, 2),), ((2, 3, 3),)], complex_domain=SMALL),
    Case("linalg.trace", shapes=[((2, 3, 3),)], attrs={"offset": 1}, label="offset"),
    Case("linalg.diagonal", shapes=[((3, 2),), ((2, 3, 3),)], complex_domain=SMALL),
    Case("linalg.diagonal", shapes=[((2, 3, 3),)], attrs={"offset": -1}, label="offset"),
    Case("linalg.matrix_transpose", shapes=[((3, 2),), ((2, 3, 1),)], complex_domain=SMALL),
]


@each_case(CASES)
def test_rule(case, check):
    check(case)


# ------------------------------------------------------------------------------------------------ values by hand


def test_inverse_of_a_diagonal_matrix():
    # sum(inv(diag(a, b))) with a change e in the corner: -e / (a b)
    g = grad(lambda a: anp.sum(anp.linalg.inv(a)))(np.diag([2.0, 4.0]))
    np.testing.assert_allclose(g, [[-0.25, -0.125], [-0.125, -0.0625]])


def test_log_det_has_the_inverse():
    a = np.array([[3.0, 1.0], [-1.0, 2.0]])
    np.testing.assert_allclose(grad(lambda a: anp.linalg.slogdet(a)[1])(a), np.linalg.inv(a).T)
    np.testing.assert_allclose(grad(lambda a: anp.log(anp.linalg.det(a)))(a), np.linalg.inv(a).T)
    np.testing.assert_array_equal(grad(lambda a: anp.linalg.slogdet(a).sign)(a), np.zeros((2, 2)))


def test_det_of_a_zero_matrix_has_a_constant_second_derivative():
    # det = a d - b c
    second = hessian(anp.linalg.det)(np.zeros((2, 2)))
    expected = np.zeros((2, 2, 2, 2))
    expected[0, 0, 1, 1] = expected[1, 1, 0, 0] = 1
    expected[0, 1, 1, 0] = expected[1, 0, 0, 1] = -1
    np.testing.assert_array_equal(second, expected)
    np.testing.assert_array_equal(grad(anp.linalg.det)(np.zeros((3, 3))), np.zeros((3, 3)))


def test_det_of_a_nearly_singular_matrix_keeps_its_digits():
    # (a - x) (d - y) - b c has the second derivative 1 in (x, y), however small the determinant is
    a = np.array([[0.1, 0.2], [0.3, 0.6]])  # rounding leaves a determinant of 1e-17
    np.testing.assert_allclose(grad(anp.linalg.det)(a), [[0.6, -0.3], [-0.2, 0.1]], rtol=1e-14)
    np.testing.assert_allclose(hessian(anp.linalg.det)(a)[0, 0], [[0, 0], [0, 1]], atol=1e-14)


def test_third_derivative_of_det():
    # det(diag(x, x, x)) = x**3
    def f(x):
        return anp.linalg.det(x * np.eye(3))

    assert grad(grad(grad(f)))(2.0) == pytest.approx(6.0)
    assert grad(grad(grad(grad(lambda x: x * f(x)))))(2.0) == pytest.approx(24.0)
    third = jacobian(hessian(anp.linalg.det))(np.diag([1.0, 2.0, 3.0]))  # 1 for a product of the diagonal, by sign for others
    assert third[0, 0, 1, 1, 2, 2] == pytest.approx(1.0)
    assert third[0, 1, 1, 2, 2, 0] == pytest.approx(1.0)
    assert third[0, 1, 1, 0, 2, 2] == pytest.approx(-1.0)
    assert np.abs(third).sum() == pytest.approx(36.0)  # six terms of three factors, in any order
    with pytest.raises(errors.GradientError, match="det: its third derivative at a singular"):
        grad(grad(grad(f)))(0.0)
    with pytest.raises(errors.GradientError, match="det: its third derivative at a singular"):
        jacobian(hessian(anp.linalg.det))(np.array([[0.1, 0.2], [0.3, 0.6]]))


def test_cofactors_and_their_derivative_as_operators():
    a = np.array([[1.0, 2.0], [3.0, 4.0]])
    np.testing.assert_allclose(op.cofactors(a), [[4, -3], [-2, 1]])
    np.testing.assert_allclose(op.cofactors_derivative(np.ones((2, 2)), a), [[4, -3], [-2, 1]], atol=1e-15)
    np.testing.assert_allclose(jacobian(op.cofactors)(np.zeros((2, 2)))[0, 0], [[0, 0], [0, 1]], atol=1e-15)


def test_vector_norm_as_an_operator():
    y = jacobian(lambda x: op.vector_norm(x, axis=[0], ord=2))(np.array([[3.0, 0.0], [4.0, 1.0]]))
    np.testing.assert_allclose(y, [[[0.6, 0], [0.8, 0]], [[0, 0], [0, 1]]])


def test_pinv_of_a_vector():
    # pinv(x) = x / |x|^2 as a row: the derivative of its first element in x_0 is (|x|^2 - 2 x_0^2) / |x|^4
    g = jacobian(lambda x: anp.linalg.pinv(x[:, None])[0])(np.array([1.0, 2.0]))
    np.testing.assert_allclose(g, [[3 / 25, -4 / 25], [-4 / 25, -3 / 25]])


def test_pinv_of_a_hermitian_matrix_has_a_hermitian_gradient():
    # of the inverse of the unit matrix, with a change e of its corner: -e, half of it each of two elements
    g = grad(lambda a: anp.linalg.pinv(a, hermitian=True)[0, 1])(np.eye(2))
    np.testing.assert_allclose(g, [[0, -0.5], [-0.5, 0]], atol=1e-15)


def test_lstsq_of_a_line_is_its_mean():
    def fit(b):
        x, residuals, rank, s = anp.linalg.lstsq(np.ones((3, 1)), b)
        assert rank == 1
        assert s == pytest.approx([3**0.5])
        return x[0] + residuals[0]

    # the mean, and the sum of squares of what is left: 1/3 + 2 (b - 3)
    np.testing.assert_allclose(grad(fit)(np.array([1.0, 2.0, 6.0])), np.array([-4, -2, 6]) + 1 / 3)


def test_zero_power_is_constant_even_beside_nan():
    value, g = value_and_grad(lambda a: anp.sum(anp.linalg.matrix_power(a, 0)))(np.full((2, 2), np.nan))
    assert value == 2
    np.testing.assert_array_equal(g, np.zeros((2, 2)))


def test_power_of_a_jordan_block():
    # [[x, 1], [0, x]]**3 has 3 x**2 beside the diagonal
    def f(x):
        return anp.linalg.matrix_power(anp.array([[x, 1.0], [0.0, x]]), 3)[0, 1]

    assert grad(f)(2.0) == pytest.approx(12.0)
    assert grad(grad(f))(2.0) == pytest.approx(6.0)


def test_multi_dot_takes_the_cheap_order():
    with Tape() as tape:
        row = tape.watch(np.ones((1, 50)))
        anp.linalg.multi_dot([np.ones((50, 1)), row, np.ones((50, 1))])
    assert tape._shapes[-2] == (1, 1)  # the two vectors first


# ------------------------------------------------------------------------------------------------ stacks

OF_STACKS = {
    "inv": anp.linalg.inv,
    "det": anp.linalg.det,
    "slogdet": lambda a: anp.linalg.slogdet(a)[1],
    "solve": lambda a: anp.linalg.solve(a, np.ones((a.shape[-1], 2))),
    "pinv": anp.linalg.pinv,
    "cholesky": lambda a: anp.linalg.cholesky(a + a.mT),
    "qr": lambda a: anp.linalg.qr(a)[1],
    "eigvalsh": anp.linalg.eigvalsh,
    "svd": lambda a: anp.linalg.svd(a)[0] ** 2,
    "norm": lambda a: anp.linalg.norm(a, axis=(-2, -1)),
    "matrix_power": lambda a: anp.linalg.matrix_power(a, -2),
}


@given(
    name=st.sampled_from(sorted(OF_STACKS)),
    ahead=st.lists(st.integers(0, 3), max_size=2).map(tuple),
    n=st.integers(1, 4),
    seed=st.integers(0, 99),
)
def test_a_stack_is_its_matrices_one_by_one(name, ahead, n, seed):
    rng = np.random.default_rng(seed)
    a = rng.uniform(-0.3, 0.3, (*ahead, n, n)) + np.diag(np.arange(2.0, n + 2))

    def f(a):
        return anp.sum(OF_STACKS[name](a) ** 3)

    g = grad(f)(a)
    assert g.shape == a.shape
    for at in np.ndindex(ahead):
        np.testing.assert_allclose(g[at], grad(f)(a[at]), rtol=1e-10, atol=1e-10)


# ------------------------------------------------------------------------------------------------ plain NumPy, errors


def test_plain_numpy_calls_ours():
    a, b = np.array([[2.0, 1.0], [0.0, 4.0]]), np.array([1.0, 2.0])
    for f in (
        lambda np, a: np.linalg.inv(a),
        lambda np, a: np.linalg.solve(a, b),
        lambda np, a: np.linalg.det(a) * b,
        lambda np, a: np.linalg.matrix_power(a, 2),
        lambda np, a: np.linalg.multi_dot([a, b, b]),
        lambda np, a: np.linalg.trace(a) * b,
        lambda np, a: np.linalg.cross(a[0].sum() * np.ones(3), np.arange(3.0)),
        lambda np, a: np.linalg.outer(a[0], b),
        lambda np, a: np.linalg.norm(a) * b,
    ):
        np.testing.assert_array_equal(jacobian(lambda a: f(np, a))(a), jacobian(lambda a: f(anp, a))(a))  # noqa: B023  # at once


PLAIN = {"LinAlgError", "test", "linalg"}
"""Names of ``numpy.linalg`` that take no arrays; the last is a module of NumPy 2.0."""


@pytest.mark.parametrize("name", [name for name in dir(np.linalg) if not name.startswith("_") and name not in PLAIN])
def test_every_name_of_numpy_is_there(name):
    assert name in anp.linalg.__all__
    assert getattr(anp.linalg, name) is not getattr(np.linalg, name)


def test_results_are_named_as_numpys():
    with Tape() as tape:
        a = tape.watch(np.eye(2))
        for name in ("slogdet", "eigh", "eig", "svd", "qr"):
            assert type(getattr(anp.linalg, name)(a)) is type(getattr(np.linalg, name)(np.eye(2)))


def test_the_logarithm_of_a_zero_determinant_has_no_derivative():
    stack = np.stack([np.zeros((2, 2)), 2 * np.eye(2)])
    with pytest.raises(errors.GradientError, match="slogdet: a matrix is singular"):
        grad(lambda a: anp.sum(anp.linalg.slogdet(a)[1]))(stack)
    with pytest.raises(errors.GradientError, match="slogdet: a matrix is singular"):
        jvp(lambda a: anp.linalg.slogdet(a)[1], [stack], [stack])
    chosen = grad(lambda a: anp.linalg.slogdet(a)[1][1])(stack)  # the other one is left out
    np.testing.assert_array_equal(chosen, [np.zeros((2, 2)), np.eye(2) / 2])


def test_errors_are_numpys_and_name_the_operator():
    for function in (anp.linalg.inv, anp.linalg.det, anp.linalg.eigh, anp.linalg.cholesky):
        with pytest.raises(np.linalg.LinAlgError) as raised:
            grad(lambda a: anp.sum(function(a)))(np.ones((2, 3)))  # noqa: B023  # called at once
        assert "in operator" in raised.value.__notes__[0]
        del raised  # its traceback holds a tape
    with pytest.raises(np.linalg.LinAlgError, match="Singular"):
        grad(lambda a: anp.sum(anp.linalg.inv(a)))(np.ones((2, 2)))
    with Tape() as tape:
        x = tape.watch(np.ones((2, 2)))
        with pytest.raises(errors.NotTrackedError, match="multi_dot: out="):
            anp.linalg.multi_dot([x, x], out=np.empty((2, 2)))
        with pytest.raises(ValueError, match="multi_dot: got 1 arrays"):
            anp.linalg.multi_dot([x])
        with pytest.raises(ValueError, match="vecdot: the lengths along axis -1 are 2 and 3"):
            anp.linalg.vecdot(x, np.ones(3))
        with pytest.raises(ValueError, match="cross: the vectors have lengths"):
            anp.linalg.cross(x, x)
        with pytest.raises(ValueError, match="pinv: got rcond and rtol"):
            anp.linalg.pinv(x, 0.1, rtol=0.1)
        with pytest.raises(TypeError):
            anp.linalg.matrix_power(x, 0.5)
        with pytest.raises(errors.NotTrackedError, match="pinv: rcond is a tensor"):
            anp.linalg.pinv(np.eye(2), x[0, 0])
        with pytest.raises(errors.NotTrackedError, match="lstsq: rcond is a tensor"):
            anp.linalg.lstsq(np.eye(2), np.ones(2), x[0, 0])
        with pytest.raises(errors.NotTrackedError, match="matrix_rank: tol is a tensor"):
            anp.linalg.matrix_rank(np.eye(2), x[0, 0])
        with pytest.raises(errors.GradientError, match="cond: the condition number of order 1"):
            anp.linalg.cond(x, 1)
        with pytest.raises(np.linalg.LinAlgError, match="tensorsolve: the axes of a"):
            anp.linalg.tensorsolve(x, np.ones(2)[:, None, None])
        with pytest.raises(ValueError, match="Invalid ind"):
            anp.linalg.tensorinv(x, ind=0)
        with pytest.raises(ValueError, match="one-dimensional"):
            anp.linalg.outer(x, x)
