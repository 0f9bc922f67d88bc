"""Mistakes people make: each is an error that names the thing, loses nothing, and leaves the engine usable."""

from __future__ import annotations

import numpy as np
import pytest

from autograd import (
    GradientError,
    KernelError,
    KernelNotFoundError,
    NotTrackedError,
    SchemaError,
    Tape,
    TapeError,
    grad,
    jacobian,
    run_kernel,
)
from autograd import operators as op
from registry import KernelConfig, operator, register_kernel, unregister_kernel
from registry.operators import get_schema

X = np.array([1.0, 2.0, 3.0])


@pytest.fixture(autouse=True)
def _the_engine_is_usable_afterwards():
    yield
    with Tape() as tape:
        x = tape.watch(X.copy())
        y = op.sum(x * x)
    np.testing.assert_array_equal(tape.gradient(y, x), 2 * X)
    assert X.flags.writeable


@pytest.fixture
def tape():
    with Tape() as tape:
        yield tape
        tape._free()


# ------------------------------------------------------------------------------------------------ targets and sources


@pytest.mark.parametrize(
    ("target", "message"),
    [(3.0, "float 3.0"), (X, r"array of shape \(3,\)"), (None, "None"), ([1.0], "list"), (np.float64(2.0), "float64")],
    ids=["float", "array", "None", "list", "numpy scalar"],
)
def test_a_target_that_is_not_on_the_tape(tape, target, message):
    x = tape.watch(X)
    y = op.sum(x * x)
    for ask in (tape.gradient, tape.jacobian):
        with pytest.raises(GradientError, match=f"target is (an )?{message}"):
            ask(target, x)
    np.testing.assert_array_equal(tape.gradient(y, x), 2 * X)


def test_a_target_of_another_tape(tape):
    x = tape.watch(X)
    y = op.sum(x * x)
    with Tape() as other:
        z = op.sum(other.watch(X))
        with pytest.raises(GradientError, match="another tape"):
            tape.gradient(z, x)
    np.testing.assert_array_equal(tape.gradient(y, x), 2 * X)


@pytest.mark.parametrize(
    ("sources", "message"),
    [
        (X, r"sources is an array of shape \(3,\)"),
        ([X], r"sources\[0\] is an array of shape \(3,\)"),
        ({"w": {"b": 2.0}}, r"sources\['w'\]\['b'\] is float 2.0"),
        (None, "sources is None"),
        ("x", "sources is str"),
    ],
)
def test_a_source_that_is_not_on_the_tape(tape, sources, message):
    x = tape.watch(X)
    y = op.sum(x * x)
    with pytest.raises(GradientError, match=message + ".*tape.watch"):
        tape.gradient(y, sources)
    with pytest.raises(GradientError, match=r"sources\[1\]"):
        tape.gradient(y, [x, X])
    np.testing.assert_array_equal(tape.gradient(y, x), 2 * X)


@pytest.mark.parametrize("shape", [(1,), (3,), (1, 1), (0,)])
def test_a_target_that_is_not_a_scalar(tape, shape):
    x = tape.watch(np.ones(shape))
    y = x * 2.0
    with pytest.raises(GradientError, match=f"shape {str(shape).replace('(', '.').replace(')', '.')}.*scalar.*dy="):
        tape.gradient(y, x)
    with pytest.raises(GradientError, match="scalar"):
        grad(lambda x: x * 2.0)(np.ones(shape))
    np.testing.assert_array_equal(tape.gradient(y, x, dy=np.ones(shape)), np.full(shape, 2.0))


@pytest.mark.parametrize(
    ("dy", "message"),
    [
        (np.ones(2), r"dy has shape \(2,\), expected.*\(3,\)"),
        (1.0, r"dy has shape \(\), expected.*\(3,\)"),
        (np.ones(3, complex), "dy has dtype complex128, expected float64"),
        (np.array(["a"] * 3), "dy has dtype <U1"),
        (np.array([None] * 3), "dy has dtype object"),
        ([1.0, [2.0], 3.0], "inhomogeneous|ragged|shape"),
    ],
)
def test_a_cotangent_that_does_not_fit(tape, dy, message):
    x = tape.watch(X)
    y = x * 2.0
    with pytest.raises((GradientError, ValueError), match=message):
        tape.gradient(y, x, dy=dy)
    np.testing.assert_array_equal(tape.gradient(y, x, dy=[1, 2, 3]), 2 * X)


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (3, "int.*3.0"),
        (True, "bool"),
        (np.arange(3), "int64.*astype"),
        (np.array([True]), "bool.*astype"),
        (np.int64(3), "int64"),
        (np.array(["a"]), "<U1"),
        (np.array([1.0, None]), "object"),
        (np.ma.array([1.0], mask=[True]), "masked"),
        (np.array(["2020-01-01"], "M8[D]"), "datetime64"),
        ("text", "'text' of type str"),
        (None, "None of type NoneType"),
        (print, "builtin_function"),
    ],
)
def test_a_source_that_has_no_derivative(value, message):
    with Tape() as tape, pytest.raises(GradientError, match=f"(?s)source p.*{message}"):
        tape.watch(value, name="p")
    with pytest.raises(GradientError, match=f"(?s)argument 0.*{message}"):
        grad(lambda x: x)(value)
    with Tape() as tape, pytest.raises(GradientError, match=r"params\['w'\]\[1\]"):
        tape.watch({"w": [X, value]}, name="params")


@pytest.mark.parametrize(
    ("result", "message"),
    [
        (3.0, "a float.*does not depend"),
        (None, "None.*return the loss"),
        ([1.0], "a list.*one number"),
        ((1.0, 2.0), "a tuple.*grad_and_aux"),
        (X, "a ndarray"),
        ("text", "a str"),
    ],
)
def test_a_function_that_returns_no_tensor(result, message):
    with pytest.raises(GradientError, match=message):
        grad(lambda x: result)(2.0)


def test_a_function_that_returns_a_list_of_tensors_or_detaches():
    with pytest.raises(GradientError, match="a list"):
        grad(lambda x: [x, x])(2.0)
    with pytest.raises(GradientError, match=r"item\(\)"):
        grad(lambda x: (x * x).item())(2.0)
    with pytest.raises(GradientError, match=r"a (bool|ndarray)"):
        grad(lambda x: x > 1.0)(2.0)


# ------------------------------------------------------------------------------------------------ kernels


@pytest.mark.parametrize(
    ("schema", "result", "message"),
    [
        ("fake_bad(Tensor x) -> Tensor", (X, X), "returned 2 outputs in a tuple, expected one array"),
        ("fake_bad(Tensor x) -> (Tensor a, Tensor b)", X, "returned one ndarray, expected a tuple of 2"),
        ("fake_bad(Tensor x) -> (Tensor a, Tensor b)", (X,), "returned 1 outputs, expected a tuple of 2"),
        ("fake_bad(Tensor x) -> (Tensor a, Tensor b)", (X, X, X), "returned 3 outputs, expected a tuple of 2"),
        ("fake_bad(Tensor x) -> Tensor[]", X, "returned one ndarray, expected a list"),
        ("fake_bad(Tensor x) -> Tensor[]", [], "no output"),
        ("fake_bad(Tensor x) -> Tensor", None, "returned None of type NoneType"),
        ("fake_bad(Tensor x) -> Tensor", "text", "returned 'text' of type str"),
        ("fake_bad(Tensor x) -> (Tensor a, Tensor b)", (X, None), "returned None of type NoneType"),
        ("fake_bad(Tensor x) -> ()", (), "no output"),
    ],
)
def test_a_kernel_that_returns_what_its_schema_does_not_say(fake, schema, result, message):
    f = fake(schema, lambda x: result)
    with Tape() as tape:
        x = tape.watch(X)
        y = x * x
        with pytest.raises(KernelError, match=f"'fake_bad'.*{message}"):
            f(y)
        z = op.sum(y * y)
    assert len(tape) == 3
    np.testing.assert_allclose(tape.gradient(z, x), 4 * X**3, err_msg="the columns of the tape are out of step")


def test_an_unknown_kernel_says_what_is_near():
    with pytest.raises(KernelNotFoundError, match=r"'multipy'.*not registered.*multiply"):
        run_kernel("multipy", [X, X])
    with pytest.raises(AttributeError, match=r"'multipy'.*multiply"):
        op.multipy  # noqa: B018


@pytest.mark.parametrize(
    ("inputs", "attrs", "message"),
    [
        ({"b": X}, {}, "'b'.*'a'"),
        ({}, {}, "missing input 'a'"),
        ([X, X], {}, "got 2 inputs, expected"),
        ([], {}, "got 0 inputs, expected"),
        ([X], {"axes": 0}, "(?s)'axes'.*axis"),
        ([X], {"axis": "0"}, "(?s)'axis' got '0' of type str, expected int"),
        ([X], {"axis": 1.5}, "(?s)'axis' got 1.5 of type float, expected int"),
        ([X], {"keepdims": 3}, "(?s)'keepdims' got 3 of type int, expected bool"),
    ],
)
def test_names_and_attributes_that_the_schema_does_not_have_or_allow(inputs, attrs, message):
    with pytest.raises(KernelError, match=message):
        run_kernel("sum", inputs, attrs)
    with Tape() as tape:
        x = tape.watch(X)
        watched = dict.fromkeys(inputs, x) if isinstance(inputs, dict) else [x for _ in inputs]
        with pytest.raises(KernelError, match=message):
            run_kernel("sum", watched, attrs)
        tape._free()


def test_operator_functions_check_their_arguments():
    with pytest.raises(KernelError, match=r"'axes'.*axis"):
        op.sum(X, axes=0)
    with pytest.raises(KernelError, match="positional"):
        op.sum(X, 0, None, 1, 2, 3, 4)
    with pytest.raises(KernelError, match=r"\['axis'\] by position and by name"):
        op.sum(X, 0, axis=0)
    with pytest.raises(KernelError, match="missing input 'a'"):
        op.sum(axis=0)
    with pytest.raises((KernelError, TypeError), match=r"str|integer"):
        op.sum(X, axis="0")


def test_an_attribute_of_a_wrong_type_on_the_tape_is_named_and_leaves_the_tape_in_step():
    with Tape() as tape:
        x = tape.watch(X)
        y = x * x
        with pytest.raises(KernelError, match=r"(?s)operator sum: attribute 'axis' got 'a' of type str"):
            op.sum(y, axis="a")
        z = op.sum(y * y)
    np.testing.assert_allclose(tape.gradient(z, x), 4 * X**3)


def test_shapes_that_do_not_fit_name_operator_and_shapes(tape):
    x = tape.watch(X)
    for first, second in [(x, np.ones(4)), (x, x[:2]), (np.ones((2, 2)), x)]:
        with pytest.raises(ValueError, match="broadcast") as caught:
            op.add(first, second)
        (note,) = caught.value.__notes__
        assert "'add'" in note
        assert "[3]" in note
    y = op.sum(x * x)
    np.testing.assert_array_equal(tape.gradient(y, x), 2 * X)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "nonsense",
        "f(Tensor x)",
        "f(Tensor x) -> ",
        "f(Tensor) -> Tensor",
        "f(Tensr x) -> Tensor",
        "f(Tensor x, Tensor x) -> Tensor",
    ],
)
def test_a_schema_that_does_not_parse(text):
    with pytest.raises(SchemaError) as caught:
        operator(text, np.sin)
    assert len(str(caught.value)) > 20
    assert get_schema("f") is None


def test_a_kernel_without_a_schema_takes_it_from_its_signature():
    register_kernel(KernelConfig("fake_inferred", "numpy", lambda x, *, k=2: x * (k or 2)))
    try:
        assert run_kernel("fake_inferred", {"x": 3.0}, {"k": 5}) == 15.0
    finally:
        unregister_kernel("fake_inferred", "numpy")
    with pytest.raises(KernelError, match=r"fake_varargs.*\*args.*declare"):
        register_kernel(KernelConfig("fake_varargs", "numpy", lambda *args: args))


# ------------------------------------------------------------------------------------------------ operands


def test_ragged_lists():
    for build in (lambda x: [[x, x], [x]], lambda x: [[1.0, 2.0], [x]], lambda x: [x, [x, x]]):
        with Tape() as tape:
            x = tape.watch(2.0)
            with pytest.raises(ValueError, match=r"'sin'.*ragged"):
                op.sin(build(x))
    with pytest.raises(ValueError, match="ragged"):
        op.sin([[1.0, 2.0], [3.0]])


@pytest.mark.parametrize(
    "use", [op.sin, lambda a: op.multiply(a, 2.0), lambda a: op.add(X, a), op.sum, lambda a: op.stack([a, a])]
)
def test_object_arrays_that_hold_tensors(tape, use):
    x = tape.watch(2.0)
    holder = np.array([1.0, None, 3.0])
    holder[1] = x
    with pytest.raises(NotTrackedError, match="object array that holds tensors"):
        use(holder)


def test_object_arrays_without_tensors_are_numpys_business():
    holder = np.array([1, 2, 3], object)
    assert op.sum(holder) == 6
    np.testing.assert_array_equal(op.add(holder, 1), [2, 3, 4])


def test_an_object_array_that_holds_tensors_beside_a_tensor(tape):
    x = tape.watch(np.ones(2))
    holder = np.array([None, None])
    holder[0] = holder[1] = x
    with pytest.raises(NotTrackedError):
        x * holder
    with pytest.raises(NotTrackedError):
        op.add(holder, x)
    y = op.sum(x * x)
    np.testing.assert_array_equal(tape.gradient(y, x), np.full(2, 2.0))


def test_masked_arrays(tape):
    masked = np.ma.array([1.0, 2.0, 3.0], mask=[0, 1, 0])
    x = tape.watch(X)
    for use in (lambda: x * masked, lambda: op.add(masked, x), lambda: op.sin(masked)):
        with pytest.raises(NotTrackedError, match="masked"):
            use()


def test_python_float_zero_does_not_raise_python_errors():
    with np.errstate(all="ignore"):
        assert op.divide(1.0, 0.0) == np.inf
        assert grad(lambda x: op.divide(1.0, x))(0.0) == -np.inf
        assert grad(lambda x: x / x)(2.0) == 0.0


# ------------------------------------------------------------------------------------------------ tapes in the wrong state


def test_a_tape_that_was_never_opened_or_is_closed():
    tape = Tape()
    with pytest.raises(TapeError, match="with Tape"):
        tape.watch(X)
    with tape:
        x = tape.watch(X)
        y = op.sum(x)
    with pytest.raises(TapeError, match="not recording"):
        tape.watch(X)
    never = Tape()
    with pytest.raises((TapeError, GradientError), match=r"never opened|another tape"):
        never.gradient(y, x)
    np.testing.assert_array_equal(tape.gradient(y, x), np.ones(3))


def test_watching_a_tensor_of_a_tape_inside():
    with Tape() as outer:
        outer.watch(1.0)
        with Tape() as inner:
            y = inner.watch(2.0)
            with pytest.raises(TapeError, match="opened inside this one"):
                outer.watch(y)


def test_a_tape_cannot_be_pickled_or_copied():
    import copy
    import pickle

    for use in (copy.copy, copy.deepcopy, pickle.dumps):
        with pytest.raises(TapeError, match="pickled or copied"):
            use(Tape())


# ------------------------------------------------------------------------------------------------ empty things


@pytest.mark.parametrize("shape", [(0,), (0, 3), (3, 0)])
def test_empty_arrays(shape):
    x = np.zeros(shape)
    g = grad(lambda x: op.sum(op.sin(x) * x + 1.0))(x)
    assert g.shape == shape
    assert jacobian(op.sin)(x).shape == shape * 2
    assert grad(lambda x: op.sum(x * np.zeros(shape)))(x).shape == shape


def test_a_batch_of_size_zero():
    W, batch = np.ones((3, 2)), np.zeros((0, 3))
    g = grad(lambda W: op.sum(op.sin(op.matmul(batch, W)) * 2.0))(W)
    np.testing.assert_array_equal(g, np.zeros((3, 2)))
    g = grad(lambda b: op.sum(op.matmul(batch, W) + b))(np.ones(2))
    np.testing.assert_array_equal(g, np.zeros(2))


def test_no_sources_at_all(tape):
    x = tape.watch(X)
    y = op.sum(x)
    assert tape.gradient(y, []) == []


def test_functions_of_numpy_refuse_with_their_own_name(tape):
    x = tape.watch(X)
    with pytest.raises(NotTrackedError, match=r"numpy.packbits"):
        np.packbits(x)
    with pytest.raises(NotTrackedError, match=r"sliding_window_view"):
        np.lib.stride_tricks.sliding_window_view(x, 2)


@pytest.mark.parametrize(
    ("name", "call"),
    [
        ("add", lambda x: op.add(x, np.ones(4))),
        ("reshape", lambda x: op.reshape(x, shape=(2, 2))),
        ("concatenate", lambda x: op.concatenate([x, np.ones((2, 2))], axis=0)),
        ("where", lambda x: op.where(np.ones(4) > 0, x, 0.0)),
    ],
)
@pytest.mark.parametrize("taped", [True, False])
def test_an_error_of_numpy_says_in_which_operator(name, call, taped):
    with Tape() as tape:
        x = tape.watch(np.ones(3)) if taped else np.ones(3)
        for _ in range(3):  # the first run of a kernel goes another way than the next ones
            with pytest.raises(ValueError) as caught:  # noqa: PT011  # the words are NumPy's, and change
                call(x)
            assert any(f"in operator {name!r}" in note for note in caught.value.__notes__)
    del caught
