"""The table of operators: declared and inferred schemas, and every operator as a function."""

from __future__ import annotations

import functools

import numpy as np
import pytest

from autograd import Tape, Tensor, run_kernel
from autograd import operators as op
from registry import (
    FunctionSchema,
    GradConfig,
    KernelConfig,
    KernelError,
    RegistrationError,
    SchemaError,
    declare,
    get_kernel,
    get_schema,
    operator,
    operator_names,
    operators,
    register_gradient,
    register_kernel,
    undeclare,
    unregister_kernel,
)


def twice(dy, saved, attrs):
    return {"x": lambda: 2.0 * dy}


# ------------------------------------------------------------------------------------------------------------ declaring


def test_what_is_declared_is_found():
    schema = declare("scaled(Tensor x, float factor=2.0) -> Tensor")
    assert schema == FunctionSchema.parse("scaled(Tensor x, float factor=2.0) -> Tensor")
    assert get_schema("scaled") is schema
    assert operator_names()[-1] == "scaled"


def test_a_parsed_schema_may_be_declared_too():
    schema = FunctionSchema.parse("scaled(Tensor x) -> Tensor")
    assert declare(schema) is schema


def test_get_schema_of_an_unknown_name_is_none():
    assert get_schema("nowhere") is None


def test_declaring_the_same_again_is_no_error_but_another_schema_is():
    declare("scaled(Tensor x) -> Tensor")
    declare("scaled(Tensor x) -> Tensor")
    with pytest.raises(RegistrationError) as caught:
        declare("scaled(Tensor x, Tensor y) -> Tensor")
    for word in ("'scaled'", "scaled(Tensor x) -> Tensor", "scaled(Tensor x, Tensor y) -> Tensor"):
        assert word in str(caught.value)
    assert str(get_schema("scaled")) == "scaled(Tensor x) -> Tensor"


def test_a_text_that_is_no_schema_declares_nothing():
    with pytest.raises(SchemaError):
        declare("scaled(Tensor x -> Tensor")
    assert get_schema("scaled") is None


def test_undeclare():
    declare("scaled(Tensor x) -> Tensor", constant=True)
    undeclare("scaled")
    assert get_schema("scaled") is None
    assert not operators.is_constant("scaled")
    with pytest.raises(RegistrationError, match="'scaled'"):
        undeclare("scaled")


def test_undeclaring_what_is_not_there_names_what_is_near():
    declare("scaled(Tensor x) -> Tensor")
    with pytest.raises(RegistrationError, match=r"'scalde'.*'scaled'"):
        undeclare("scalde")


def test_operator_declares_and_registers_in_one_line():
    operator("scaled(Tensor x, float factor=2.0) -> Tensor", lambda x, factor: x * factor)
    assert get_kernel("scaled", "numpy") is not None
    assert run_kernel("scaled", {"x": 3.0}) == 6.0
    operator("scaled(Tensor x, float factor=2.0) -> Tensor", lambda x, factor: -x, backend_name="fake")
    assert get_kernel("scaled", "fake") is not None
    with pytest.raises(RegistrationError, match="'scaled'"):
        operator("scaled(Tensor x, float factor=2.0) -> Tensor", lambda x, factor: x)


# ----------------------------------------------------------------------------------------- inferred from the signature


def plain(x):
    return 2.0 * x


def two(first, second):
    return first - second


def with_attributes(x, *, factor, shift=0.0):
    return x * factor + shift


INFERRED = [
    (plain, "fresh(Tensor x) -> Tensor"),
    (two, "fresh(Tensor first, Tensor second) -> Tensor"),
    (with_attributes, "fresh(Tensor x, *, Any? factor, Any? shift=0.0) -> Tensor"),
    (np.exp, "fresh(Tensor x) -> Tensor"),
    (np.arctan2, "fresh(Tensor x1, Tensor x2) -> Tensor"),
    (functools.partial(two, second=2.0), "fresh(Tensor first, *, Any? second=2.0) -> Tensor"),
]


@pytest.mark.parametrize(("function", "expected"), INFERRED, ids=[each[1] for each in INFERRED])
def test_the_schema_of_an_undeclared_kernel(function, expected):
    assert get_schema("fresh") is None
    register_kernel(KernelConfig("fresh", "numpy", function))
    assert str(get_schema("fresh")) == expected


def test_an_undeclared_kernel_runs_and_is_differentiated():
    register_kernel(KernelConfig("fresh", "numpy", plain))
    register_gradient(GradConfig("fresh", twice))
    assert run_kernel("fresh", {"x": 3.0}) == 6.0
    assert run_kernel("fresh", [np.array([3.0])]) == [6.0]
    with Tape() as tape:
        x = tape.watch(3.0)
        y = run_kernel("fresh", {"x": x})
    assert tape.gradient(y, x) == 2.0


def test_attributes_of_an_undeclared_kernel():
    register_kernel(KernelConfig("fresh", "numpy", with_attributes))
    assert run_kernel("fresh", {"x": 3.0}, {"factor": 2.0, "shift": 1.0}) == 7.0
    with pytest.raises(KernelError, match=r"(?s)fresh.*'factor'"):
        run_kernel("fresh", {"x": 3.0}, {"shift": 1.0})


DEFAULTS = [
    None, True, False, 0, -3, 1e-05, 2.5, 1 + 2j, float("inf"), "word", "two words", "None", "True", "1", "a.b", (1, -2),
    ("a",), (),
]  # fmt: skip


@pytest.mark.parametrize("default", DEFAULTS, ids=repr)
def test_an_attribute_left_out_has_the_default_of_the_function(default):
    seen = []

    def noting(x, *, option=default):
        seen.append(option)
        return x

    register_kernel(KernelConfig("fresh", "numpy", noting))
    run_kernel("fresh", {"x": 3.0})
    op.fresh(3.0)
    assert seen == [default, default]
    assert [type(each) for each in seen] == [type(default)] * 2


UNSPELT = [object(), np.float32, np.ones(2), "a, b", {"a": 1}, (object(),), (1, (2.5, None)), len]


@pytest.mark.parametrize("default", UNSPELT, ids=lambda value: type(value).__name__)
def test_a_default_that_no_schema_can_spell_must_be_given(default):
    seen = []

    def noting(x, *, option=default):
        seen.append(option)
        return x

    register_kernel(KernelConfig("fresh", "numpy", noting))
    with pytest.raises(KernelError, match=r"(?s)fresh.*'option'"):
        run_kernel("fresh", {"x": 3.0})
    run_kernel("fresh", {"x": 3.0}, {"option": default})
    assert seen[0] is default


@pytest.mark.parametrize("function", [lambda *arrays: arrays[0], lambda x, **options: x], ids=["args", "kwargs"])
def test_a_kernel_that_does_not_say_its_inputs_must_be_declared(function):
    with pytest.raises(KernelError, match=r"(?s)'fresh'.*\*(arrays|options).*declare\("):
        register_kernel(KernelConfig("fresh", "numpy", function))
    assert get_kernel("fresh", "numpy") is None
    assert get_schema("fresh") is None
    declare("fresh(Tensor[] arrays) -> Tensor")
    register_kernel(KernelConfig("fresh", "numpy", lambda *args, **attrs: args[0][0]))
    assert run_kernel("fresh", {"arrays": [3.0, 4.0]}) == 3.0


def test_a_kernel_without_a_readable_signature_must_be_declared():
    class Unreadable:
        __signature__ = 3

        def __call__(self, x):
            return x

    with pytest.raises(KernelError, match=r"(?s)'fresh'.*signature.*declare\("):
        register_kernel(KernelConfig("fresh", "numpy", Unreadable()))
    assert get_schema("fresh") is None


def test_an_inferred_schema_goes_with_its_last_kernel_and_a_declared_one_stays():
    register_kernel(KernelConfig("fresh", "numpy", plain))
    register_kernel(KernelConfig("fresh", "fake", plain))
    unregister_kernel("fresh", "numpy")
    assert get_schema("fresh") is not None
    unregister_kernel("fresh", "fake")
    assert get_schema("fresh") is None
    operator("declared(Tensor x) -> Tensor", plain)
    unregister_kernel("declared", "numpy")
    assert get_schema("declared") is not None
    register_kernel(KernelConfig("afterwards", "numpy", plain))
    declare("afterwards(Tensor x) -> Tensor")
    unregister_kernel("afterwards", "numpy")
    assert get_schema("afterwards") is not None


def test_a_declaration_takes_the_place_of_an_inferred_schema_at_once():
    register_kernel(KernelConfig("fresh", "numpy", lambda x, y: x + y))
    assert run_kernel("fresh", [1.0, 2.0]) == 3.0
    declare("fresh(Tensor x, float y=10.0) -> Tensor")
    assert run_kernel("fresh", {"x": 1.0}) == 11.0
    with pytest.raises(KernelError, match=r"(?s)fresh.*'y'"):
        run_kernel("fresh", {"x": 1.0, "y": 2.0})


def test_a_declaration_after_the_first_run_counts_for_constants_too():
    register_kernel(KernelConfig("fresh", "numpy", plain))
    with Tape() as tape:
        x = tape.watch(1.0)
        assert type(run_kernel("fresh", [x])) is Tensor
        declare("fresh(Tensor x) -> Tensor", constant=True)
        assert type(run_kernel("fresh", [x])) is float


# ------------------------------------------------------------------------------------------------- operators as functions


@pytest.fixture
def family():
    """Three operators, one for each way in which functions are made."""
    operator("one(Tensor x) -> Tensor", lambda x: 2.0 * x)
    operator("pair(Tensor x, Tensor y) -> Tensor", lambda x, y: x - y)
    operator(
        "many(Tensor x, Tensor? y=None, float factor=2.0, *, str word=abc) -> Tensor",
        lambda x, y, factor, word: (x if y is None else x - y) * factor,
    )


VALUES = {"array": np.array([3.0]), "float": 3.0, "NumPy scalar": np.float64(3.0), "list": [3.0]}
CALLS = {
    "one": (lambda x: op.one(x), 6.0),
    "pair": (lambda x: op.pair(x, 1.0), 2.0),
    "pair, swapped": (lambda x: op.pair(9.0, x), 6.0),
    "pair of arrays": (lambda x: op.pair(x, np.array([1.0])), 2.0),
    "many": (lambda x: op.many(x, None, factor=2.0), 6.0),
}


def number(result):
    """The one number in a result of any kind."""
    return float(np.sum(getattr(result, "value", result)))


@pytest.mark.parametrize(("call", "expected"), CALLS.values(), ids=CALLS)
@pytest.mark.parametrize("value", VALUES.values(), ids=VALUES)
@pytest.mark.parametrize("on_tape", [False, True])
def test_functions_see_an_override_at_once(family, call, expected, value, on_tape):
    with Tape() as tape:
        x = tape.watch(np.array(value) if type(value) is list else value) if on_tape else value
        for _ in range(2):
            assert number(call(x)) == expected
        for name in ("one", "pair", "many"):
            with pytest.warns(UserWarning, match=f"'{name}'"):
                register_kernel(KernelConfig(name, "numpy", lambda x, *rest, **attrs: x * 0.0 + 1000.0), override=True)
        for _ in range(2):
            assert number(call(x)) == 1000.0


@pytest.mark.parametrize("name", ["one", "pair", "many"])
def test_functions_see_a_new_gradient_at_once_and_old_records_keep_theirs(family, name):
    def slope(by):
        return GradConfig(name, lambda dy, saved, attrs: {"x": lambda: by * dy})

    def recorded():
        with Tape(persistent=True) as tape:
            x = tape.watch(np.array(3.0))
            y = getattr(op, name)(*([x, 1.0] if name == "pair" else [x]))
        return lambda: tape.gradient(y, x)

    register_gradient(slope(5.0))
    before = recorded()
    assert before() == 5.0
    with pytest.warns(UserWarning, match=f"'{name}'"):
        register_gradient(slope(7.0), override=True)
    assert recorded()() == 7.0
    assert before() == 5.0


def test_a_function_is_made_once_and_known_by_its_name(family):
    assert op.one is op.one
    assert op.one.__name__ == "one"
    assert "one(Tensor x) -> Tensor" in op.one.__doc__


def test_an_undeclared_operator_is_no_attribute_and_close_names_are_given(family):
    with pytest.raises(AttributeError, match=r"'pairr'.*'pair'"):
        _ = op.pairr
    with pytest.raises(AttributeError):
        _ = op.__wrapped__


def test_functions_take_attributes_by_position_and_by_name(family):
    assert op.many(3.0) == 6.0
    assert op.many(3.0, 1.0) == 4.0
    assert op.many(3.0, 1.0, 5.0) == 10.0
    assert op.many(3.0, 1.0, factor=5.0, word="x") == 10.0
    assert op.many(3.0, y=1.0) == 4.0
    assert op.many(x=3.0, y=1.0) == 4.0


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: op.many(), ["'many'", "'x'"]),
        (lambda: op.many(3.0, factr=2.0), ["'many'", "'factr'", "factor"]),
        (lambda: op.many(3.0, 1.0, 2.0, "x", 5), ["'many'", "5"]),
        (lambda: op.many(3.0, 1.0, y=2.0), ["'many'", "'y'"]),
        (lambda: op.many(3.0, 1.0, 2.0, factor=2.0), ["'many'", "'factor'"]),
    ],
)
def test_a_wrong_call_says_what_is_wrong(family, call, words):
    with pytest.raises(KernelError) as caught:
        call()
    for word in words:
        assert word in str(caught.value)


def test_a_constant_operator_gives_plain_results():
    operator("sign_of(Tensor x) -> Tensor", np.sign, constant=True)
    assert operators.is_constant("sign_of")
    with Tape() as tape:
        x = tape.watch(np.array([2.0, -3.0]))
        y = op.sign_of(x)
    assert type(y) is np.ndarray
    np.testing.assert_array_equal(y, [1.0, -1.0])


def test_an_integer_result_is_constant():
    operator("rounded(Tensor x) -> Tensor", lambda x: np.rint(x).astype(int))
    with Tape() as tape:
        x = tape.watch(np.array([2.2]))
        assert type(run_kernel("rounded", [x])) is np.ndarray


# --------------------------------------------------------------------------------------- kernels that break their schema


@pytest.mark.parametrize(
    ("schema", "kernel", "words"),
    [
        ("broken(Tensor x) -> Tensor", lambda x: (x, x), ["'broken'", "'numpy'", "2 outputs", "one array"]),
        ("broken(Tensor x) -> (Tensor a, Tensor b)", lambda x: x, ["'broken'", "'numpy'", "tuple of 2"]),
        ("broken(Tensor x) -> (Tensor a, Tensor b)", lambda x: (x, x, x), ["'broken'", "3 outputs", "tuple of 2"]),
        ("broken(Tensor x) -> Tensor[]", lambda x: x, ["'broken'", "list"]),
        ("broken(Tensor x) -> Tensor", lambda x: None, ["'broken'", "None"]),
        ("broken(Tensor x) -> Tensor", lambda x: "text", ["'broken'", "'text'"]),
    ],
)
@pytest.mark.parametrize("run", [lambda x: op.broken(x), lambda x: run_kernel("broken", [x])], ids=["function", "by name"])
@pytest.mark.parametrize("times", [1, 2])
def test_a_kernel_that_returns_something_else_is_named(schema, kernel, words, run, times):
    operator(schema, kernel)
    with Tape() as tape:
        x = tape.watch(np.array([1.0]))
        for _ in range(times):
            with pytest.raises(KernelError) as caught:
                run(x)
    for word in words:
        assert word in str(caught.value)


@pytest.mark.parametrize(
    ("run", "on_tape"),
    [
        (lambda x: op.broken(x), True),
        (lambda x: run_kernel("broken", [x]), True),
        (lambda x: run_kernel("broken", [x]), False),
    ],
    ids=["function on a tensor", "by name on a tensor", "by name on an array"],
)
def test_an_exception_in_a_kernel_carries_a_note_with_operator_and_shapes(run, on_tape):
    operator("broken(Tensor x) -> Tensor", lambda x: x.reshape(7))
    with Tape() as tape:
        value = np.ones((2, 3))
        x = tape.watch(value) if on_tape else value
        for _ in range(2):
            with pytest.raises(ValueError, match="reshape") as caught:
                run(x)
            notes = " ".join(getattr(caught.value, "__notes__", []))
            assert "'broken'" in notes
            assert "float64[2, 3]" in notes


def test_an_operator_declared_anew_gets_a_new_function():
    operator("shifting(Tensor x) -> Tensor", lambda x: x + 1.0)
    assert op.shifting(1.0) == 2.0
    unregister_kernel("shifting", "numpy")
    undeclare("shifting")
    operator("shifting(Tensor x, *, float by) -> Tensor", lambda x, by: x + by)
    assert op.shifting(1.0, by=3.0) == 4.0


def test_operators_named_like_builtins_do_not_get_in_the_way():
    assert op.all(np.array([True, False])) == np.False_  # from now on a global of the module that makes functions
    operator("listing(Tensor x) -> Tensor[]", lambda x: [x, x])
    with Tape() as tape:
        x = tape.watch(np.array([1.0]))
        for _ in range(2):
            assert len(op.listing(x)) == 2
