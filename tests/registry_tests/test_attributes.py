"""Calls that do not fit the schema: each error names the operator, the thing, what was got and what was expected."""

from __future__ import annotations

import inspect
import re

import numpy as np
import pytest

import registry
from autograd import Tape, run_kernel
from autograd import operators as op
from registry import FunctionSchema, GradConfig, KernelError, operator, register_gradient
from registry.attributes import check_attributes, check_names, fits

SCHEMA = "mix(Tensor a, Tensor? b, int[1]? axis=None, *, bool keepdims=False, float factor=1.0, str mode=full) -> Tensor"


@pytest.fixture
def mix():
    """An operator that notes the attributes it was called with."""
    calls = []

    def kernel(a, b, **attrs):
        calls.append(attrs)
        return a

    operator(SCHEMA, kernel)
    return calls


# ----------------------------------------------------------------------------------------------- what fits which type

INT, FLOAT, COMPLEX, BOOL = np.int64(3), np.float32(3.0), np.complex64(3j), np.bool_(True)
FITTING = [
    ("int", [3, -1, INT, np.array(3), np.uint8(1)]),
    ("bool", [True, False, BOOL]),
    ("float", [1.5, 3, FLOAT, INT]),
    ("complex", [1j, 1.5, 3, COMPLEX]),
    ("Scalar", [1, 1.5, 1j, True, INT, FLOAT, COMPLEX, BOOL, np.array(2.0)]),
    ("str", ["", "word"]),
    ("Callable", [len, lambda: None, int]),
    ("int?", [3, None]),
    ("int[]", [[], [1, 2], (1, 2), (INT,), np.array([1, 2])]),
    ("int[1]", [3, INT, [1, 2], (1,), ()]),
    ("int[1]?", [None, 3, (0, -1)]),
    ("int?[]", [[None, 3]]),
    ("bool[2]", [True, (True, False)]),
    ("float[]", [(1.0, 2)]),
    ("Any", [None, object(), 3, "x"]),
    ("Index", [3, slice(None), ..., None, (0, slice(1)), np.array([True])]),
    ("ScalarType", [np.float32, "float32", np.dtype("int8"), float]),
]
UNFITTING = [
    ("int", [1.0, 1.5, True, BOOL, "3", None, [3], FLOAT, np.array(3.0), np.array([3]), 1j]),
    ("bool", [0, 1, "True", None, INT, 1.0]),
    ("float", ["1.0", True, BOOL, None, 1j, [1.0]]),
    ("complex", ["1j", True, None]),
    ("Scalar", ["1", None, [1.0], np.array([1.0])]),
    ("str", [1, None, b"word", ["word"]]),
    ("Callable", [3, "len", None]),
    ("int?", ["3", 3.0]),
    ("int[]", [3, None, [1.0], ["1"], "12", {1: 2}, np.array([1.0]), np.array([[1]])]),
    ("int[1]", [None, 1.0, "1", (1.0,), (None,), True]),
    ("int[1]?", ["1", (None,)]),
]


def written(value):
    """A value as the name of a test has it: without an address, which would differ between the workers of one run."""
    return re.sub(r" at 0x[0-9a-fA-F]+", "", repr(value))


def pairs(table):
    return [pytest.param(text, value, id=f"{text}-{written(value)}") for text, values in table for value in values]


@pytest.mark.parametrize(("text", "value"), pairs(FITTING))
def test_fits(text, value):
    assert fits(text, value) is True


@pytest.mark.parametrize(("text", "value"), pairs(UNFITTING))
def test_does_not_fit(text, value):
    assert fits(text, value) is False


# ------------------------------------------------------------------------------------------------- run_kernel says no


WRONG_VALUES = [
    ("axis", "0", "int[1]?"),
    ("axis", 1.0, "int[1]?"),
    ("axis", (0, 1.5), "int[1]?"),
    ("keepdims", 1, "bool"),
    ("keepdims", None, "bool"),
    ("factor", "2", "float"),
    ("mode", 3, "str"),
]


@pytest.mark.parametrize(("name", "value", "expected"), WRONG_VALUES, ids=str)
@pytest.mark.parametrize("on_tape", [False, True])
def test_an_attribute_of_a_wrong_type(mix, name, value, expected, on_tape):
    with Tape() as tape:
        a = tape.watch(1.0) if on_tape else 1.0
        with pytest.raises(KernelError) as caught:
            run_kernel("mix", {"a": a}, {name: value})
    message = str(caught.value)
    for word in ("mix", repr(name), repr(value), type(value).__name__, f"expected {expected}", SCHEMA):
        assert word in message
    assert mix == []


@pytest.mark.parametrize(
    ("inputs", "attrs", "words"),
    [
        ({"a": 1.0, "c": 2.0}, {}, ["mix", "input 'c'", "['a', 'b']"]),
        ({"a": 1.0, "bb": 2.0}, {}, ["mix", "input 'bb'", "Did you mean 'b'"]),
        ({"b": 1.0}, {}, ["mix", "missing input 'a'", SCHEMA]),
        ({}, {}, ["mix", "missing input 'a'", SCHEMA]),
        ({"a": 1.0}, {"axes": 0}, ["mix", "attribute 'axes'", "'axis', 'keepdims', 'factor', 'mode'", "Did you mean 'axis'"]),
        ({"a": 1.0, "axis": 0}, {}, ["mix", "input 'axis'", "['a', 'b']"]),
        ({"a": 1.0}, {"b": 2.0}, ["mix", "attribute 'b'"]),
        ([], {}, ["mix", "0 inputs", "'a', 'b'"]),
        ([1.0], {}, ["mix", "1 input", "'a', 'b'"]),
        ([1.0, 2.0, 3.0], {}, ["mix", "3 inputs", "'a', 'b'"]),
    ],
)
@pytest.mark.parametrize("times", [1, 2])
def test_names_that_do_not_fit(mix, inputs, attrs, words, times):
    for _ in range(times):
        with pytest.raises(KernelError) as caught:
            run_kernel("mix", inputs, attrs)
        for word in words:
            assert word in str(caught.value)
    assert mix == []


@pytest.mark.parametrize("kind", ["int", "Any?", "int?", "Callable"])
def test_an_attribute_without_default_must_be_given(kind):
    operator(f"picky(Tensor x, *, {kind} how) -> Tensor", lambda x, how: x)
    with pytest.raises(KernelError, match=r"(?s)picky.*missing attribute 'how'.*picky\(Tensor x"):
        run_kernel("picky", {"x": 1.0})
    with pytest.raises(KernelError, match=r"(?s)picky.*missing attribute 'how'.*picky\(Tensor x"):
        op.picky(1.0)


def test_an_optional_input_may_be_left_out(mix):
    assert run_kernel("mix", {"a": 1.0}) == 1.0
    assert run_kernel("mix", {"a": 1.0, "b": None}) == 1.0
    assert run_kernel("mix", [1.0, None]) == 1.0


def test_defaults_are_filled_in_and_what_is_given_goes_before_them(mix):
    run_kernel("mix", {"a": 1.0})
    run_kernel("mix", {"a": 1.0}, {"axis": (0, 1), "mode": "same", "keepdims": True, "factor": 2})
    assert mix == [
        {"axis": None, "keepdims": False, "factor": 1.0, "mode": "full"},
        {"axis": (0, 1), "keepdims": True, "factor": 2, "mode": "same"},
    ]


def test_the_callers_attributes_are_not_changed(mix):
    attrs = {"axis": 0}
    run_kernel("mix", {"a": 1.0}, attrs)
    assert attrs == {"axis": 0}


def test_a_wrong_attribute_of_an_operator_function_is_named_when_the_kernel_fails():
    operator("add_up(Tensor a, int[1]? axis=None) -> Tensor", lambda a, axis: np.sum(a, axis=axis))
    with pytest.raises(KernelError, match=r"add_up.*'axis'.*'0'.*str.*int\[1\]\?"):
        op.add_up(np.ones(3), axis="0")


def test_numpy_names_what_is_wrong_in_the_call_of_its_own_operators():
    with pytest.raises(KernelError, match=r"(?s)sum.*'axis'.*'0'.*int\[1\]\?"):
        run_kernel("sum", {"a": np.ones(3)}, {"axis": "0"})
    with pytest.raises(KernelError, match=r"(?s)add.*missing input 'x2'"):
        run_kernel("add", {"x1": 1.0})
    with pytest.raises(KernelError, match=r"(?s)add.*input 'x3'.*'x1', 'x2'"):
        run_kernel("add", {"x1": 1.0, "x2": 2.0, "x3": 3.0})


# ------------------------------------------------------------------------------------------------- attributes travel whole

NESTED = [
    3,
    2.5,
    1j,
    True,
    "text",
    None,
    [1, 2.0, "three", False],
    ((1, (2, (3,))), []),
    {"a": 1, "b": {"c": [1, {"d": (2.5, "x")}], "e": {}}},
    slice(1, None, 2),
    ...,
    np.dtype("float32"),
    len,
]


@pytest.mark.parametrize("value", NESTED, ids=repr)
def test_an_attribute_of_any_shape_reaches_the_kernel_the_tape_and_the_rule(value):
    seen = []

    def rule(dy, saved, attrs):
        seen.append(attrs["extra"])
        return {"x": lambda: dy}

    operator("carry(Tensor x, *, Any? extra=None) -> Tensor", lambda x, extra: seen.append(extra) or x * 1.0)
    register_gradient(GradConfig("carry", rule))
    with Tape() as tape:
        x = tape.watch(2.0)
        y = run_kernel("carry", {"x": x}, {"extra": value})
    assert tape.nodes[-1].attrs == {"extra": value}
    tape.gradient(y, x)
    assert seen == [value, value]


# --------------------------------------------------------------------------------------------------------- the functions


def test_the_checks_alone():
    schema = FunctionSchema.parse(SCHEMA)
    check_names(schema, {"a": 1.0}, {"axis": 3})
    check_names(schema, None, {})
    check_attributes(schema, {"axis": 3, "keepdims": True})
    with pytest.raises(KernelError, match="'keepdims'"):
        check_attributes(schema, {"keepdims": "no"})
    with pytest.raises(KernelError, match="missing input 'a'"):
        check_names(schema, {}, {})


def test_registry_checks_without_autograd():
    assert "autograd" not in inspect.getsource(registry.attributes)
