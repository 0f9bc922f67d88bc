"""Products: values, derivatives of both orders, and what a tape keeps for them."""

import itertools

import numpy as np
import pytest

import autograd
import autograd.numpy as anp
from autograd import Tape, errors, grad, jacobian
from autograd import operators as op
from autograd.gradients.products import contracted_axes, einsum_terms
from tests.gradients.harness import Case, each_case

PAIRS = (-1.0, 1.0)

MATMUL_SHAPES = [
    ((3,), (3,)),
    ((3,), (3, 2)),
    ((2, 3), (3,)),
    ((2, 3), (3, 2)),
    ((3,), (2, 3, 2)),
    ((2, 2, 3), (3,)),
    ((2, 2, 3), (3, 2)),
    ((2, 3), (2, 3, 2)),
    ((2, 2, 3), (2, 3, 1)),
    ((2, 1, 1, 3), (3, 3, 2)),
    ((1, 2, 3), (2, 3, 1)),
    ((3, 1, 2), (1, 2, 2)),
    ((1, 3), (2, 1, 3, 1)),
    ((0, 3), (3, 2)),
    ((2, 0), (0, 3)),
    ((2, 2, 0), (0, 3)),
]

DOT_SHAPES = [
    ((), ()),
    ((), (2, 2)),
    ((3,), ()),
    (float, (3,)),
    ((2,), float),
    ((3,), (3,)),
    ((2, 3), (3,)),
    ((3,), (3, 2)),
    ((2, 3), (3, 2)),
    ((2, 2, 3), (3,)),
    ((3,), (2, 3, 2)),
    ((2, 1, 3), (3, 2)),
    ((2, 3), (2, 3, 2)),
    ((2, 1, 3), (2, 3, 2)),
    ((0, 3), (3,)),
]

EINSUMS = [
    ("ij,jk->ik", (2, 3), (3, 2)),
    ("ij,jk", (2, 3), (3, 2)),
    ("ji,jk", (3, 2), (3, 2)),
    ("ba", (2, 3)),
    ("Ba", (2, 3)),
    ("ii", (3, 3)),
    ("ii->i", (3, 3)),
    ("iij->ij", (2, 2, 3)),
    ("iji->j", (2, 3, 2)),
    ("iji->ji", (2, 3, 2)),
    ("iii->i", (2, 2, 2)),
    ("nd,nn->d", (3, 2), (3, 3)),
    ("abcd->bd", (2, 3, 2, 2)),
    ("ij->", (2, 3)),
    ("i->", (3,)),
    (",i->i", (), (3,)),
    (",", (), ()),
    ("i,j->ij", (2,), (3,)),
    ("i,i->i", (3,), (3,)),
    ("i,i", (3,), (3,)),
    ("ij,k->i", (2, 3), (2,)),
    ("ij,jk,kl->il", (2, 3), (3, 2), (2, 3)),
    ("ij,ij,ij->j", (2, 3), (2, 3), (2, 3)),
    ("...ij,...jk->...ik", (2, 2, 3), (2, 3, 1)),
    ("...ij,...jk", (2, 1, 2, 3), (3, 3, 1)),
    ("...ij,jk->...ik", (2, 2, 3), (3, 2)),
    ("i...,i...->...", (2, 3), (2, 3)),
    ("...ii->...i", (2, 3, 3)),
    ("...->...", (2, 3)),
    ("ij, j -> i", (2, 3), (3,)),
    ("ij,ij->ij", (1, 3), (2, 3)),
    ("ij,ij->i", (2, 1), (2, 3)),
    ("ij,ij->", (1, 3), (2, 1)),
    ("ij,jk->ik", (2, 1), (3, 2)),
    ("ij,jk->ik", (0, 3), (3, 2)),
    ("ij,jk->ik", (2, 0), (0, 3)),
]


def einsum_case(subscripts, *shapes, **options):
    return Case(
        "einsum",
        call=lambda np, *arrays: np.einsum(subscripts, *arrays, **options),
        shapes=[shapes],
        domain=PAIRS,
        complex_domain=PAIRS,
        label=f"{subscripts} {shapes} {options or ''}".strip(),
    )


CASES = [
    Case("matmul", shapes=MATMUL_SHAPES, domain=PAIRS, complex_domain=PAIRS),
    Case("matmul", shapes=[((2, 3), (3, 2)), ((2, 2, 3), (3,))], domain=PAIRS, complex_domain=[PAIRS, None], label="mixed"),
    Case("dot", shapes=DOT_SHAPES, domain=PAIRS, complex_domain=PAIRS),
    Case("vdot", shapes=[((3,), (3,)), ((2, 3), (3, 2)), ((), ())], domain=PAIRS, complex_domain=PAIRS),
    Case("vdot", shapes=[((3,), (3,))], domain=PAIRS, complex_domain=[None, PAIRS], label="mixed"),
    Case(
        "inner",
        shapes=[((3,), (3,)), ((2, 3), (3,)), ((3,), (2, 3)), ((2, 3), (2, 2, 3)), ((), (3,)), ((2,), float)],
        domain=PAIRS,
        complex_domain=PAIRS,
    ),
    Case("cross", shapes=[((3,), (3,)), ((2, 3), (3,)), ((2, 1, 3), (2, 3))], domain=PAIRS, complex_domain=PAIRS),
    Case("cross", shapes=[((3, 2), (2, 3))], attrs={"axisa": 0, "axisc": 0}, label="axes"),
    Case("cross", shapes=[((3, 2), (3, 1))], attrs={"axis": 0}, label="axis"),
    Case("outer", shapes=[((3,), (2,)), ((2, 2), (3,)), ((), (3,)), (float, (2,))], domain=PAIRS, complex_domain=PAIRS),
    Case(
        "kron",
        shapes=[((2,), (3,)), ((2, 2), (2, 3)), ((2, 2), (2, 2, 1)), ((1, 2, 2), (3,)), ((), (2,)), (float, float)],
        domain=PAIRS,
        complex_domain=PAIRS,
    ),
    *[
        Case("tensordot", shapes=[shapes], attrs={"axes": axes}, domain=PAIRS, complex_domain=PAIRS, label=f"{axes}")
        for axes, shapes in [
            (0, ((2,), (3,))),
            (1, ((2, 3), (3, 2))),
            (2, ((1, 2, 3), (2, 3, 2))),
            ((1, 0), ((2, 3), (3, 2))),
            ((-1, -1), ((2, 3), (2, 3))),
            (([0, 2], [2, 1]), ((2, 1, 3), (2, 3, 2))),
            (([2, 0], [1, 2]), ((2, 1, 3), (2, 3, 2))),
            (([1, 0, 2], [0, 2, 1]), ((2, 3, 1), (3, 1, 2))),
            (([], []), ((2,), (2,))),
        ]
    ],
    *[einsum_case(subscripts, *shapes) for subscripts, *shapes in EINSUMS],
    einsum_case("ij,jk,kl->il", (2, 3), (3, 2), (2, 3), optimize=True),
    einsum_case("ij,jk,kl->il", (2, 3), (3, 2), (2, 3), optimize=["einsum_path", (1, 2), (0, 1)]),
    einsum_case("...ij,...jk->...ik", (2, 2, 3), (1, 3, 2), optimize="greedy"),
    einsum_case("ij,ij->i", (2, 1), (2, 3), optimize=True),
    Case(
        "einsum",
        call=lambda np, a, b: np.einsum(a, [0, 1], b, [1, 2], [2, 0]),
        shapes=[((2, 3), (3, 2))],
        label="lists with a result",
    ),
    Case(
        "einsum",
        call=lambda np, a, b: np.einsum(a, [Ellipsis, 5, 2], b, [2, Ellipsis]),
        shapes=[((2, 2, 3), (3, 2))],
        label="lists without a result",
    ),
]


@each_case(CASES)
def test_rule(case, check):
    check(case)


# ------------------------------------------------------------------------------------------------ values by hand


def test_matrix_product_gradient_by_hand():
    # sum(W * (A @ B)) has the gradients W @ B.T and A.T @ W
    A, B, W = np.array([[1.0, 2.0]]), np.array([[3.0, 4.0], [5.0, 6.0]]), np.array([[7.0, 8.0]])
    dA, dB = grad(lambda A, B: anp.sum(W * (A @ B)), (0, 1))(A, B)
    np.testing.assert_array_equal(dA, [[7 * 3 + 8 * 4, 7 * 5 + 8 * 6]])
    np.testing.assert_array_equal(dB, [[7, 8], [14, 16]])


def test_no_conjugation():
    # for real(sum(c z)) the gradient df/dx - i df/dy is c itself
    c, z = np.array([[1 + 2j]]), np.array([[3 - 1j]])
    np.testing.assert_array_equal(grad(lambda z: anp.sum(anp.real(c @ z)))(z), c)


def test_diagonal_indices_of_one_operand():
    x = np.arange(8.0).reshape(4, 2)
    g = grad(lambda W: anp.sum(anp.einsum("nd,nn->d", x, W)))(np.ones((4, 4)))
    np.testing.assert_array_equal(g, np.diag(x.sum(1)))


def test_indices_of_one_operand_alone():
    # y has 4 elements, each the sum of 9 ones: d/dx sum(y**2) = 2 * 9
    g = grad(lambda x: anp.sum(anp.einsum("abcd->bd", x) ** 2))(np.ones((3, 2, 3, 2)))
    np.testing.assert_array_equal(g, np.full((3, 2, 3, 2), 18.0))


def test_infinite_gradient_beside_a_diagonal_stays_zero():
    g = grad(lambda x: anp.sum(anp.sqrt(anp.einsum("ii->i", x))))(np.zeros((2, 2)))
    np.testing.assert_array_equal(g, [[np.inf, 0], [0, np.inf]])


def test_kron_of_parts_of_one_vector():
    # sum(kron(a, b)) = sum(a) * sum(b)
    g = grad(lambda x: anp.sum(anp.kron(x[:2], x[2:])))(np.array([1.0, 2.0, 3.0, 4.0]))
    np.testing.assert_array_equal(g, [7, 7, 3, 3])


def test_kron_of_different_numbers_of_axes():
    b, w = np.arange(8.0).reshape(2, 2, 2), np.arange(32.0).reshape(2, 4, 4)
    g = grad(lambda a: anp.sum(anp.kron(a, b) * w))(np.ones((2, 2)))
    for at in np.ndindex(2, 2):
        unit = np.zeros((2, 2))
        unit[at] = 1
        assert g[at] == (np.kron(unit, b) * w).sum()


def test_plain_numpy_dot_is_followed():
    A = np.arange(4.0).reshape(2, 2)
    np.testing.assert_array_equal(jacobian(lambda x: np.dot(A, x))(np.ones(2)), A)
    np.testing.assert_array_equal(jacobian(lambda x: A @ x)(np.ones(2)), A)
    np.testing.assert_array_equal(jacobian(lambda x: np.einsum("ij,j", A, x))(np.ones(2)), A)
    np.testing.assert_array_equal(jacobian(lambda x: np.tensordot(A, x, 1))(np.ones(2)), A)


def test_dot_method():
    # sum(A A) has the gradient ones A.T + A.T ones: for the unit matrix 2 everywhere
    np.testing.assert_array_equal(grad(lambda x: x.dot(x).sum())(np.eye(2)), np.full((2, 2), 2.0))


def test_matrix_and_itself():
    g = grad(lambda A: anp.sum(anp.einsum("ij,jk->ik", A, A)))(np.eye(2))
    np.testing.assert_array_equal(g, np.full((2, 2), 2.0))


def einsum_of_vectors(a, b):
    return anp.einsum("i,j->ij", a, b)


@pytest.mark.parametrize(
    "function", [anp.inner, anp.outer, anp.kron, anp.dot, anp.vdot, anp.matmul, anp.tensordot, einsum_of_vectors]
)
def test_lists_that_hold_tensors(function):
    options = {"axes": 1} if function is anp.tensordot else {}
    g = grad(lambda x: anp.sum(function([x, 2.0], [3.0, x], **options)))(1.0)
    h = grad(lambda x: anp.sum(function(anp.stack([x, 2.0]), anp.stack([3.0, x]), **options)))(1.0)
    assert g == h != 0


def test_cross_product_by_hand():
    # a . (b x c) is the determinant: its gradient in a is b x c, and in b c x a
    a, b, c = np.array([1.0, 2.0, 0.0]), np.array([0.0, 3.0, 1.0]), np.array([2.0, 0.0, 1.0])
    da, db = grad(lambda a, b: anp.dot(a, anp.cross(b, c)), (0, 1))(a, b)
    np.testing.assert_array_equal(da, [3, 2, -6])
    np.testing.assert_array_equal(db, [-2, 1, 4])
    np.testing.assert_array_equal(grad(lambda b: anp.dot(a, np.cross(b, c)))(b), db)
    with Tape() as tape, pytest.raises(ValueError, match="expected three components"):
        anp.cross(tape.watch(np.ones(2)), np.ones(2))


def test_hessian_of_a_quadratic_form():
    A = np.array([[1.0, 2.0], [5.0, 3.0]])
    np.testing.assert_allclose(autograd.hessian(lambda x: x @ A @ x)(np.array([1.0, 2.0])), A + A.T)
    np.testing.assert_allclose(autograd.hessian(lambda x: anp.einsum("i,ij,j", x, A, x))(np.array([1.0, 2.0])), A + A.T)


def test_third_order_through_stacks():
    # f(x) = sum over the stack of x.T (x x.T) x = 2 |x|^4; along e_0 at (t, 0) it is 2 t^4, third derivative 48 t
    def f(t):
        x = anp.stack([t, 0.0 * t])
        stack = anp.stack([anp.outer(x, x), anp.outer(x, x)])
        return anp.sum(x @ (stack @ x[:, None]))

    assert grad(grad(grad(f)))(2.0) == pytest.approx(96.0)


def test_batched_walk_over_a_batched_walk():
    W = np.arange(6.0).reshape(2, 3) / 6

    def f(x):
        return (x @ W) * (x @ W)

    x = np.array([[0.5, -1.0], [2.0, 1.0]])
    second = jacobian(jacobian(f))(x)  # y_rk = (sum_i x_ri W_ik)^2: the second derivative is 2 W_ik W_jk in row r
    expected = np.zeros((2, 3, 2, 2, 2, 2))
    for r, k, i, j in itertools.product(range(2), range(3), range(2), range(2)):
        expected[r, k, r, i, r, j] = 2 * W[i, k] * W[j, k]
    np.testing.assert_allclose(second, expected)


# ------------------------------------------------------------------------------------------------ what a tape keeps


@pytest.mark.parametrize("product", [anp.matmul, anp.dot, lambda a, b: anp.tensordot(a, b, 1)])
def test_a_constant_factor_alone_is_kept(product):
    x, constant = np.ones((50, 4)), np.ones((4, 2))
    with Tape() as tape:
        product(tape.watch(x), constant)
    assert tape.saved_bytes() == constant.nbytes
    with Tape() as tape:
        product(constant.T, tape.watch(x.T))
    assert tape.saved_bytes() == constant.nbytes


def test_float32_stays():
    x, w = np.ones((2, 3), np.float32), np.ones((3, 2), np.float32)
    for f in (anp.matmul, anp.dot, lambda a, b: anp.einsum("ij,jk", a, b)):
        assert grad(lambda x: anp.sum(f(x, w)))(x).dtype == np.float32  # noqa: B023  # called at once


def test_large_einsum_takes_matrix_products():
    rng = np.random.default_rng(0)
    a, b = rng.standard_normal((2, 20, 40)), rng.standard_normal((40, 30))
    da, db = grad(lambda a, b: anp.sum(anp.einsum("nij,jk->nik", a, b) ** 2), (0, 1))(a, b)
    y = a @ b
    np.testing.assert_allclose(da, 2 * y @ b.T)
    np.testing.assert_allclose(db, 2 * np.einsum("nij,nik->jk", a, y))


# ------------------------------------------------------------------------------------------------ parts and errors


def test_einsum_terms_write_out_what_is_implicit():
    assert einsum_terms("...ij,...jk", (4, 3)) == (("abij", "bjk"), "abik")
    assert einsum_terms("ba", (2,)) == (("ba",), "ab")
    assert einsum_terms("i...->...", (3,)) == (("iab",), "ab")
    assert einsum_terms("ii", (2,)) == (("ii",), "")


def test_contracted_axes_are_counted_from_the_front():
    assert contracted_axes(1, 3, 2) == ((2,), (0,))
    assert contracted_axes((-1, [0]), 3, 4) == ((2,), (0,))
    assert contracted_axes(([-1, 0], (0, -2)), 2, 3) == ((1, 0), (0, 1))


def test_options_of_products():
    with Tape(persistent=True) as tape:
        x = tape.watch(np.ones(3))
        with pytest.raises(TypeError, match="float32 by the rule 'safe'"):
            anp.einsum("i->", x, dtype="float32")
        assert anp.einsum("i->", x, dtype="float32", casting="unsafe", order="F").dtype == np.float32
        for f in (anp.dot, anp.einsum, anp.outer):
            out = np.empty((3, 3)) if f is anp.outer else np.empty(())
            y = f("i,i->", x, x, out=out) if f is anp.einsum else f(x, x, out=out)
            assert np.isnan(out).all()
            assert tape.gradient(y, x, dy=np.ones(out.shape)).tolist() == ([6, 6, 6] if f is anp.outer else [2, 2, 2])
        with pytest.raises(errors.OutArrayError, match="shape"):
            anp.dot(x, x, out=np.empty(3))
    assert anp.einsum("i->", np.ones(3, np.float32), dtype="float64").dtype == np.float64
    np.testing.assert_array_equal(anp.einsum("i->i", np.ones(3), out=np.zeros(3)), np.ones(3))
    with pytest.raises(ValueError, match="no operands"):
        anp.einsum()


def test_shapes_that_do_not_fit_name_the_operator():
    with pytest.raises(ValueError, match="not aligned") as raised:
        grad(lambda x: anp.dot(x, np.ones(3)))(np.ones(2))
    assert "operator 'dot' (a float64[2], b float64[3])" in raised.value.__notes__[0]
    with pytest.raises(ValueError, match="broadcast") as raised:
        op.einsum([np.ones(2), np.ones(3)], subscripts="i,i")
    assert "operator 'einsum' (operands [float64[2], float64[3]])" in raised.value.__notes__[0]
