"""Tensor: operators, attributes, NumPy's protocols, and where it refuses to be taken off the tape."""

from __future__ import annotations

import copy
import math
import operator
import pickle

import numpy as np
import pytest

from autograd import NotTrackedError, Tape, TapeError, Tensor, grad
from autograd import operators as op

X = np.array([1.5, -2.0, 3.0])


@pytest.fixture
def tape():
    with Tape() as tape:
        yield tape
        tape._free()


def close(got, want):
    np.testing.assert_allclose(got, want, rtol=1e-12)


# ------------------------------------------------------------------------------------------------ operators

DIFFERENTIABLE = [
    (operator.add, lambda a, b: (np.ones_like(a), np.ones_like(b))),
    (operator.sub, lambda a, b: (np.ones_like(a), -np.ones_like(b))),
    (operator.mul, lambda a, b: (b, a)),
    (operator.truediv, lambda a, b: (1 / b, -a / b**2)),
    (operator.pow, lambda a, b: (b * a ** (b - 1), a**b * np.log(a))),
    (operator.mod, lambda a, b: (np.ones_like(a), -np.floor(a / b))),
]
A, B = np.array([1.5, 2.5, 3.5]), np.array([2.2, 0.7, 1.3])


@pytest.mark.parametrize(("function", "derivatives"), DIFFERENTIABLE, ids=lambda f: getattr(f, "__name__", ""))
def test_operators_with_tensors_arrays_and_scalars_on_either_side(function, derivatives):
    da, db = derivatives(A, B)
    first, second = grad(lambda a, b: op.sum(function(a, b)), (0, 1))(A, B)
    close(first, da)
    close(second, db)
    close(grad(lambda a: op.sum(function(a, B)))(A), da)
    close(grad(lambda b: op.sum(function(A, b)))(B), db)
    close(grad(lambda a: op.sum(function(a, 2.0)))(A), derivatives(A, np.full(3, 2.0))[0])
    close(grad(lambda b: op.sum(function(2.0, b)))(B), derivatives(np.full(3, 2.0), B)[1])
    with Tape() as tape:
        close(function(tape.watch(A), B).value, function(A, B))
        close(function(A, tape.watch(B)).value, function(A, B))


def test_matmul_on_either_side():
    M = np.arange(9.0).reshape(3, 3)
    close(grad(lambda x: op.sum(M @ x))(A), M.sum(axis=0))
    close(grad(lambda x: op.sum(x @ M))(A), M.sum(axis=1))
    close(grad(lambda m: op.sum(m @ A))(M), np.tile(A, (3, 1)))


def test_unary_operators():
    close(grad(lambda x: op.sum(-x))(X), -np.ones(3))
    close(grad(lambda x: op.sum(+x))(X), np.ones(3))
    close(grad(lambda x: op.sum(abs(x)))(X), np.sign(X))


COMPARISONS = [operator.lt, operator.le, operator.gt, operator.ge, operator.eq, operator.ne]


@pytest.mark.parametrize("function", [*COMPARISONS, operator.floordiv])
def test_constant_operators_give_plain_values_on_either_side(tape, function):
    x = tape.watch(X)
    for got, want in [
        (function(x, B), function(X, B)),
        (function(B, x), function(B, X)),
        (function(x, 2.0), function(X, 2.0)),
        (function(2.0, x), function(2.0, X)),
        (function(x, x), function(X, X)),
    ]:
        assert type(got) is np.ndarray
        np.testing.assert_array_equal(got, want)


def test_divmod(tape):
    x = tape.watch(A)
    for got, want in [(divmod(x, B), divmod(A, B)), (divmod(B, x), divmod(B, A)), (divmod(x, 2.0), divmod(A, 2.0))]:
        assert type(got[1]) is Tensor
        close(got[0], want[0])
        close(got[1].value, want[1])


def test_augmented_operators_write_as_numpys_do():
    def f(x):
        y = x  # another name for the same array
        y += 1.0
        y *= x
        z = y * 1.0
        y -= 2.0 * x
        y /= 2.0
        y **= 2
        return op.sum(y * z * x)

    # x + 1 = s; then y = x = s^2 = z; y = x = -s^2, -s^2 / 2, s^4 / 4; the product is s^10 / 16
    close(grad(f)(X), 10 * (X + 1) ** 9 / 16)
    x = X.copy()
    assert f(x) == np.sum((X + 1) ** 10 / 16)
    close(x, (X + 1) ** 4 / 4)


def test_augmented_operators_replace_scalars():
    def f(x):
        y = x[0]  # for NumPy a number, not a view
        y += x[1]
        y *= y
        return y * x[0]

    # (x0 + x1)^2 x0
    s = X[0] + X[1]
    close(grad(f)(X), [2 * s * X[0] + s**2, 2 * s * X[0], 0.0][: len(X)])


# ------------------------------------------------------------------------------------------------ attributes


def test_attributes(tape):
    values = np.arange(6, dtype=np.float32).reshape(2, 3)
    x = tape.watch(values)
    assert (x.shape, x.ndim, x.size, x.dtype, x.itemsize, x.nbytes) == ((2, 3), 2, 6, np.float32, 4, 24)
    assert len(x) == 2
    assert x.tape is tape
    assert x.id == 0
    close(x.T.value, values.T)
    close(x.mT.value, values.T)
    close(x.transpose(1, 0).value, values.T)
    close(x.transpose((1, 0)).value, values.T)
    close(x.reshape(3, 2).value, values.reshape(3, 2))
    close(x.reshape((3, -1)).value, values.reshape(3, 2))
    close(x.reshape(-1, order="F").value, values.reshape(-1, order="F"))
    close(x[1, ::2].value, values[1, ::2])
    close(x[..., None].value, values[..., None])
    scalar = tape.watch(2.5)
    assert (scalar.shape, scalar.ndim, scalar.size, scalar.dtype) == ((), 0, 1, np.float64)
    z = tape.watch(np.array([1 + 2j]))
    close(z.real.value, [1.0])
    close(z.imag.value, [2.0])
    with pytest.raises(AttributeError):
        x.no_such_attribute  # noqa: B018
    with pytest.raises(AttributeError):
        x.shape = (6,)


def test_value_is_a_read_only_view(tape):
    x = tape.watch(X.copy())
    y = x * 2.0
    assert np.shares_memory(y.value, y._value)
    with pytest.raises(ValueError, match="read-only"):
        y.value[0] = 1.0
    assert tape.watch(2.5).value == 2.5


# ------------------------------------------------------------------------------------------------ NumPy's protocols


def test_ufuncs_of_numpy_arrive_at_the_operator_of_that_name():
    close(grad(lambda x: np.sum(np.sin(x)))(X), np.cos(X))
    close(grad(lambda x: np.sum(np.multiply(B, x)))(X), B)
    close(grad(lambda x: np.sum(np.multiply(x, x, out=None)))(X), 2 * X)
    close(grad(lambda x: np.sum(np.matmul(np.eye(3), x)))(X), np.ones(3))
    close(grad(lambda x: np.sum(np.add(x, x, where=True)))(X), np.full(3, 2.0))
    assert np.array_equal(np.less(X, 2.0), grad_free(lambda x: np.less(x, 2.0)))


def grad_free(f):
    with Tape() as tape:
        return f(tape.watch(X))


def test_functions_of_numpy_arrive_at_ours():
    close(grad(lambda x: np.sum(x))(X), np.ones(3))
    close(grad(lambda x: np.sum(x, axis=0))(X), np.ones(3))
    close(grad(lambda x: np.add.reduce(x))(X), np.ones(3))


@pytest.mark.parametrize(
    ("use", "name"),
    [
        (lambda x: np.packbits(x), "numpy.packbits"),
        (lambda x: np.gcd.reduce(x), "numpy.gcd.reduce"),
        (lambda x: np.add(x, x, where=np.array([True, False, True])), "numpy.add got where="),
        (lambda x: np.bitwise_and(x, x), "numpy.bitwise_and"),
    ],
)
def test_what_has_no_rule_raises_and_names_itself(tape, use, name):
    with pytest.raises(NotTrackedError, match=name):
        use(tape.watch(X))


def test_out_with_a_wrong_shape_or_a_tensor(tape):
    x = tape.watch(X)
    with pytest.raises(ValueError, match=r"\(2,\), expected \(3,\)"):
        np.add(x, 1.0, out=np.zeros(2))
    assert np.add(x, 1.0, out=x) is x
    np.testing.assert_array_equal(x.value, X + 1.0)


# ------------------------------------------------------------------------------------------------ no silent escape


ESCAPES = {
    "float": float,
    "int": int,
    "complex": complex,
    "math": math.sin,
    "asarray": np.asarray,
    "array": np.array,
    "scalar type": np.float64,
    "array of two": lambda t: np.array([t, t]),
    "nested": lambda t: np.array([[t], [t]]),
    "mixed": lambda t: np.asarray([t, 1.0]),
    "index": lambda t: [0, 1, 2][t],
    "range": lambda t: range(t),
    "array item": lambda t: np.zeros(3).__setitem__(0, t),
    "fromiter": lambda t: np.fromiter([t], float),
    "astype": lambda t: np.array([0.0]).__setitem__(slice(None), [t]),
}


@pytest.mark.parametrize("escape", ESCAPES.values(), ids=ESCAPES)
def test_taking_a_value_off_the_tape_without_a_word_raises(tape, escape):
    with pytest.raises((NotTrackedError, ValueError)) as caught:
        escape(tape.watch(1.0))
    assert NotTrackedError in (type(caught.value), type(caught.value.__cause__))


def test_taking_a_value_off_on_purpose(tape):
    x = tape.watch(X)
    assert x.tolist() == X.tolist()
    assert tape.watch(2.5).item() == 2.5
    assert type(op.sum(x).item()) is float
    assert x[0].item() == 1.5
    assert x.item(1) == -2.0
    with pytest.raises(ValueError, match="size 1"):
        x.item()


def test_assignment_is_recorded_or_refused():
    """Never ignored: the gradient is right or there is an error."""

    def f(x):
        y = x * 2.0
        y[0] = 7.0
        return op.sum(y * y)

    try:
        g = grad(f)(X)
    except NotTrackedError:
        return
    close(g, [0.0, 8 * X[1], 8 * X[2]])


# ------------------------------------------------------------------------------------------------ Python protocols


def test_repr_shows_the_value_and_the_tape(tape):
    x = tape.watch(X)
    assert "1.5" in repr(x)
    assert "Tensor" in repr(x)
    assert "tape" in repr(x)
    y = x * 2.0
    assert "multiply" in repr(y)
    assert "-4." in repr(y)
    assert str(y) == repr(y)
    tape._free()
    assert "multiply" in repr(y)


def test_format(tape):
    x = tape.watch(1.23456)
    assert f"{x:.2f}" == "1.23"
    assert f"{op.sum(tape.watch(X)):.1f}" == "2.5"
    assert f"{tape.watch(np.array(1.5)):.3f}" == "1.500"
    assert f"{x}" == repr(x)


def test_truth_length_and_iteration(tape):
    x, s = tape.watch(X), tape.watch(2.0)
    assert bool(s)
    assert not tape.watch(0.0)
    assert s > 1.0
    with pytest.raises(ValueError, match="ambiguous"):
        bool(x)
    assert len(x) == 3
    with pytest.raises(TypeError, match=r"len\(\)"):
        len(s)
    with pytest.raises(TypeError, match="iteration"):
        iter(s)
    parts = list(x)
    assert [type(each) for each in parts] == [Tensor] * 3
    a, b, c = x
    y = a * b * c
    close(tape.gradient(y, x), [-6.0, 4.5, -3.0])


def test_hash_is_identity_and_equality_is_by_element(tape):
    x, y = tape.watch(X), tape.watch(X)
    assert hash(x) != hash(y)
    assert {x: 1, y: 2}[x] == 1
    np.testing.assert_array_equal(x == y, [True] * 3)


def test_copies_are_recorded():
    close(grad(lambda x: op.sum(copy.copy(x) * copy.deepcopy(x)))(X), 2 * X)
    close(grad(lambda x: op.sum(copy.deepcopy({"a": [x]})["a"][0] * 3.0))(X), np.full(3, 3.0))


def test_pickling_raises_and_says_what_to_do(tape):
    with pytest.raises(TapeError, match=r"t\.value"):
        pickle.dumps(tape.watch(X))


def test_a_tensor_cannot_get_other_attributes(tape):
    with pytest.raises(AttributeError):
        tape.watch(X).note = 1


# ------------------------------------------------------------------------------------------------ scalars stay weak


def test_python_scalars_stay_weak_beside_float32():
    x = X.astype(np.float32)
    with Tape() as tape:
        t = tape.watch(x)
        for y in (2.0 * t, t * 2.0, t + 1, 1 - t, t / 3.0, 3 / t, abs(t) ** 2.0, t @ t * 0.5, op.sin(t) * math.pi):
            assert y.dtype == np.float32
        s = tape.watch(2.0)
        assert (s * t).dtype == np.float32
        assert (s * s * 0.5 * t).dtype == np.float32
        assert (op.sin(s) * t).dtype == np.float32
        assert (t * op.divide(1.0, 3.0)).dtype == np.float32
        loss = op.sum(s * t * t)
    gt, gs = tape.gradient(loss, [t, s])
    assert gt.dtype == np.float32
    assert type(gs) is float


def test_operations_on_python_scalars_give_python_scalars():
    assert type(op.multiply(2.0, 3.0)) is float
    assert type(op.add(1, 2)) is int
    assert type(op.multiply(2.0, 1j)) is complex
    with Tape() as tape:
        x = tape.watch(2.0)
        assert type((x * x + 1).value) is float
        assert type((x * np.float32(2.0)).value) is not float


def test_the_namespaces_of_numpy_are_there():
    """``autograd.numpy.linalg`` and the like follow tensors, are NumPy's on plain arrays, and have all of its names."""
    import autograd.numpy as anp

    for ours, theirs in ((anp.linalg.inv, np.linalg.inv), (anp.linalg.norm, np.linalg.norm), (anp.fft.fft, np.fft.fft)):
        np.testing.assert_array_equal(ours(np.eye(2)), theirs(np.eye(2)))
        with Tape() as tape:
            x = tape.watch(np.eye(2))
            assert type(ours(x)) is type(theirs(x)) is Tensor
    assert anp.linalg.LinAlgError is np.linalg.LinAlgError
    assert anp.pi == np.pi
    assert anp.random.default_rng is np.random.default_rng
    with pytest.raises(AttributeError):
        anp.linalg.no_such_function  # noqa: B018
