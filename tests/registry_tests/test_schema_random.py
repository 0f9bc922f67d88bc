"""Random and damaged texts: each is refused with a SchemaError or prints back; nothing else happens."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from registry.defaults import default_value
from registry.errors import SchemaError
from registry.schema import (
    Annotation,
    Argument,
    Arguments,
    BaseOperatorName,
    BaseType,
    FunctionSchema,
    ListType,
    OperatorName,
    OptionalType,
    Return,
    Type,
    parse_returns,
)

from .schema_strategies import any_schema, arguments, evaluable, value_or_error

# --------------------------------------------------------------------------------------------------------- any text

READERS = {
    "BaseOperatorName": BaseOperatorName.parse,
    "OperatorName": OperatorName.parse,
    "Type": Type.parse,
    "Annotation": Annotation.parse,
    "Argument": Argument.parse,
    "Return": Return.parse,
    "Arguments, first": Arguments.parse,
    "Arguments, self": lambda text: Arguments.parse(text, "self"),
    "parse_returns": parse_returns,
    "FunctionSchema, first": FunctionSchema.parse,
    "FunctionSchema, self": lambda text: FunctionSchema.parse(text, "self"),
}
"""Every parser of a text; SchemaError is all that any of them raises."""

PIECES = [
    *(" ", ", ", "*", "*, ", "(", ")", "()", "!", "?", "[]", "[2]", "[", "]", "=", "=1", "='", "_", "__", ".", "::", ":", "|"),
    *(
        " -> ",
        "-> *",
        "self",
        "a",
        "out",
        "_out",
        "_functional",
        "_scratch_",
        "Tensor",
        "Tensor(a!) ",
        "int",
        "x",
        "i",
        "0",
        "\n",
    ),
    *("__torch__.torch.classes.", ") -> Tensor", "foo(Tensor x", "²", "é", "\t", "\0", "\ud800"),
]
any_text = (
    st.text(max_size=30)
    | st.text(alphabet="aT_.!?[](),*=->: 12\n'\"", max_size=25)
    | st.lists(st.sampled_from(PIECES)).map("".join)
)


def check_refused_or_printed_back(parse, text):
    value, error = value_or_error(parse, text)
    if error is not None:
        assert error.text == text
        assert 0 <= error.position <= len(text)
        assert error.expected
        assert not text or str(error).endswith("\n  " + " " * error.position + "^")
        return
    again = parse(text)
    assert again == value
    assert hash(again) == hash(value)
    if isinstance(value, tuple):
        assert ", ".join(map(str, value)) == (text if len(value) == 1 else text[1:-1])
    else:
        assert str(value) == text
    if isinstance(value, FunctionSchema):
        for derive in (value.signature, value.aliased_return_names, value.kernel_name, value.name.remove_inplace):
            value_or_error(derive)


@pytest.mark.parametrize("reader", READERS)
@settings(max_examples=60)
@given(text=any_text)
def test_any_text_is_refused_or_prints_back(reader, text):
    check_refused_or_printed_back(READERS[reader], text)


@st.composite
def damaged(draw, texts):
    """A text with up to three slips: something deleted, inserted, replaced, doubled or exchanged."""
    text = draw(texts)
    for _ in range(draw(st.integers(1, 3))):
        start, middle, stop = sorted(draw(st.tuples(*[st.integers(0, len(text))] * 3)))
        near = min(start + 3, len(text))
        piece = draw(st.sampled_from(PIECES) | st.characters())
        text = draw(
            st.sampled_from(
                [
                    text[:start] + text[near:],
                    text[:start] + text[stop:],
                    text[:start] + piece + text[start:],
                    text[:start] + piece + text[near:],
                    text[:stop] + text[start:],
                    text[:start] + text[middle:stop] + text[start:middle] + text[stop:],
                ]
            )
        )
    return text


@settings(max_examples=300)
@given(damaged(any_schema.map(str)), st.sampled_from(["FunctionSchema, first", "FunctionSchema, self"]))
def test_damaged_schemas_are_refused_or_print_back(text, reader):
    check_refused_or_printed_back(READERS[reader], text)


REAL = [
    "add.out(Tensor x1, Tensor x2, *, Tensor(a!) out) -> Tensor(a!)",
    "sum(Tensor a, int[1]? axis=None, ScalarType? dtype=None, *, bool keepdims=False, Tensor? where=None) -> Tensor",
    "foo_(Tensor(a!)[] self, Tensor(b!) y) -> ()",
    "eye(int n, *, ScalarType? dtype=None, Layout layout, Device? device=None, bool? pin_memory=None) -> Tensor",
    'own::foo_functional.x(str s="(x) -> y!", int[2] pad=[0,1]) -> (Tensor(a) p, Tensor[] q)',
    "foo.x(Tensor x, *, Tensor(a!) out, Tensor(b!) _scratch_y) -> Tensor(a!)",
]


@settings(max_examples=300)
@given(damaged(st.sampled_from(REAL)), st.sampled_from(["FunctionSchema, first", "FunctionSchema, self"]))
def test_damaged_readable_schemas_are_refused_or_print_back(text, reader):
    check_refused_or_printed_back(READERS[reader], text)


@settings(max_examples=200)
@given(damaged(arguments.map(str)), st.sampled_from(["Argument", "Return", "Arguments, first", "parse_returns", "Type"]))
def test_damaged_items_are_refused_or_print_back(text, reader):
    check_refused_or_printed_back(READERS[reader], text)


@given(any_text | damaged(evaluable))
def test_any_default_is_a_value_or_refused(text):
    value, error = value_or_error(default_value, text)
    assert error is None or (error.text == text and error.expected)
    assert value is None or isinstance(value, bool | int | float | complex | str | tuple)


# Texts beyond what Python itself can take: its recursion limit, its limit of digits.
@pytest.mark.parametrize(
    ("reader", "text"),
    [
        ("Type", "Tensor" + "?" * 100_000),
        ("Type", "int" + "[]" * 100_000),
        ("Type", f"int[{'9' * 5000}]"),
        ("Type", "[" * 100_000),
        ("Argument", f"Tensor{'?' * 5000} x"),
        ("FunctionSchema, first", f"foo(int x={'[' * 5000}{']' * 5000}) -> Tensor"),
        ("FunctionSchema, first", f"foo(int x={'9' * 5000}) -> Tensor"),
        ("FunctionSchema, first", f"foo(str x={'+'.join(['x'.__repr__()] * 50_000)}) -> Tensor"),
        ("FunctionSchema, first", f"foo(int x) -> {'(' * 5000}"),
    ],
)
def test_texts_beyond_the_limits_of_python_are_refused(reader, text):
    with pytest.raises(SchemaError):
        READERS[reader](text)


def test_the_deepest_type_goes_round_and_no_deeper_one_is_built():
    deepest = Type.parse("Tensor" + "[]?" * 16)
    assert Type.parse(str(deepest)) == deepest
    for build in (OptionalType, ListType, lambda elem: Type.parse(f"{elem}[2]")):
        with pytest.raises(SchemaError, match="nested too deeply"):
            build(deepest)


def test_a_list_size_goes_up_to_18_digits():
    assert Type.parse(f"int[{'9' * 18}]") == ListType(BaseType("int"), 10**18 - 1)
    for size in (10**18, 0, -1):
        with pytest.raises(SchemaError, match="size"):
            ListType(BaseType("int"), size)


def test_no_default_is_silently_something_else():
    assert math.isnan(default_value("nan"))
    with pytest.raises(SchemaError, match="is no value"):
        default_value("9" * 5000)  # float would read it as inf
