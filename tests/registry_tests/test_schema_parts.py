"""Names, types, annotations, arguments and returns: the parts of a schema, from text and to text."""

from __future__ import annotations

import math

import pytest

from registry.errors import SchemaError
from registry.schema import (
    Annotation,
    Argument,
    Arguments,
    BaseOperatorName,
    BaseType,
    CustomClass,
    ListType,
    OperatorName,
    OptionalType,
    Return,
    Type,
    parse_returns,
)

TENSOR = BaseType("Tensor")

# ---------------------------------------------------------------------------------------------------------------- names

# text, base, in-place, dunder, functional, namespace, overload
NAMES = [
    ("add", "add", False, False, False, None, ""),
    ("add_", "add", True, False, False, None, ""),
    ("add.out", "add", False, False, False, None, "out"),
    ("add_.Tensor", "add", True, False, False, None, "Tensor"),
    ("add.a.b", "add", False, False, False, None, "a.b"),
    ("__and__", "and", False, True, False, None, ""),
    ("__iand__.Scalar", "and", True, True, False, None, "Scalar"),
    ("__a_b__", "__a_b_", True, False, False, None, ""),
    ("foo_functional", "foo", False, False, True, None, ""),
    ("foo_functional.x", "foo", False, False, True, None, "x"),
    ("functional", "functional", False, False, False, None, ""),
    ("own::add_", "add", True, False, False, "own", ""),
    ("a::b::c", "c", False, False, False, "a::b", ""),
    ("add_out_", "add_out", True, False, False, None, ""),
    ("_", "", True, False, False, None, ""),
]

# text, position of the mistake
BAD_NAMES = [
    ("", 0),
    (".out", 0),
    ("add.", 4),
    ("add_out", 3),
    ("add_out.x", 3),
    ("foo_functional_out", 14),
    ("foo_functional_", 14),
    ("__int__", 2),
    ("__imatmul__", 2),
    ("::add", 0),
    ("own::", 5),
    ("a\n", 1),
    ("a\n.x", 1),
    ("a.x\n", 3),
]


@pytest.mark.parametrize(("text", "base", "inplace", "dunder", "functional", "namespace", "overload"), NAMES)
def test_name_fields(text, base, inplace, dunder, functional, namespace, overload):
    name = OperatorName.parse(text)
    assert name == OperatorName(BaseOperatorName(base, inplace, dunder, functional, namespace), overload)
    assert str(name) == text


@pytest.mark.parametrize(("text", "position"), BAD_NAMES)
def test_bad_names(text, position):
    with pytest.raises(SchemaError) as caught:
        OperatorName.parse(text)
    assert (caught.value.text, caught.value.position) == (text, position)
    assert caught.value.expected


@pytest.mark.parametrize(
    "marks",
    [
        {"base": "add_"},
        {"base": "foo_functional"},
        {"base": "foo_out"},
        {"base": "__and__"},
        {"base": "int", "dunder_method": True},
        {"base": "iadd", "dunder_method": True},
        {"base": "a_b", "dunder_method": True},
        {"base": "foo", "inplace": True, "functional_overload": True},
        {"base": "foo", "dunder_method": True, "functional_overload": True},
        {"base": "foo", "namespace": ""},
        {"base": ""},
    ],
)
def test_name_parts_that_print_as_another_name_are_refused(marks):
    with pytest.raises(SchemaError):
        BaseOperatorName(**marks)


def test_a_base_name_with_a_dot_takes_no_overload():
    assert BaseOperatorName.parse("add.Tensor").base == "add.Tensor"
    with pytest.raises(SchemaError, match="holds a dot"):
        OperatorName(BaseOperatorName("add.Tensor"))


@pytest.mark.parametrize(
    ("text", "unambiguous", "removed", "with_x"),
    [
        ("add", "add", "add", "add.x"),
        ("add_.Tensor", "add__Tensor", "add.Tensor", "add.x"),
        ("add.Tensor_out", "add_Tensor_out", "add.Tensor_out", "add.x"),
        ("__iand__.Tensor", "__iand___Tensor", "__and__.Tensor", "__and__.x"),
        ("own::foo_functional.y", "own::foo_functional_y", "foo.y", "foo.x"),
    ],
)
def test_names_made_from_a_name(text, unambiguous, removed, with_x):
    name = OperatorName.parse(text)
    assert name.unambiguous_name() == unambiguous
    assert str(name.remove_inplace()) == removed
    assert str(name.with_overload("x")) == with_x


# ---------------------------------------------------------------------------------------------------------------- types

TYPES = {
    "Tensor": TENSOR,
    "Tensor?": OptionalType(TENSOR),
    "Tensor[]": ListType(TENSOR),
    "Tensor?[]": ListType(OptionalType(TENSOR)),
    "Tensor[]?": OptionalType(ListType(TENSOR)),
    "int[2]?": OptionalType(ListType(BaseType("int"), 2)),
    "int[2][13]": ListType(ListType(BaseType("int"), 2), 13),
    "Index": BaseType("Index"),
    "__torch__.torch.classes.foo.Bar_1[]": ListType(CustomClass("foo.Bar_1")),
}


@pytest.mark.parametrize(("text", "value"), TYPES.items())
def test_type_is_read_from_the_right(text, value):
    assert Type.parse(text) == value
    assert str(value) == text


@pytest.mark.parametrize(
    "text",
    [
        "",
        "?",
        "[]",
        "tensor",
        "Tensor ",
        "Tensor(a)",
        "int[0]",
        "int[01]",
        "int[-1]",
        "int[ ]",
        "int[²]",
        "int]",
        "list[int]",
        "(int, int)",
        "__torch__.torch.classes.",
        "__torch__.torch.classes.a-b",
    ],
)
def test_bad_types(text):
    with pytest.raises(SchemaError):
        Type.parse(text)


def test_values_of_bad_types_are_refused():
    for build in (lambda: BaseType("tensor"), lambda: ListType(TENSOR, 0), lambda: CustomClass("é")):
        with pytest.raises(SchemaError):
            build()


@pytest.mark.parametrize(
    ("text", "tensor_like", "nullable", "list_like"),
    [
        ("Tensor", True, False, None),
        ("Tensor?", True, True, None),
        ("Tensor[]", True, False, "Tensor[]"),
        ("Tensor?[]", True, True, "Tensor?[]"),
        ("Tensor[]?", True, True, "Tensor[]"),
        ("int[2]?", False, True, "int[2]"),
        ("Any", False, False, None),
        ("__torch__.torch.classes.Tensor", False, False, None),
    ],
)
def test_type_predicates(text, tensor_like, nullable, list_like):
    found = Type.parse(text)
    assert found.is_tensor_like() is tensor_like
    assert found.is_nullable() is nullable
    assert found.is_list_like() == (list_like and Type.parse(list_like))


def test_is_base_like_looks_through_suffixes():
    assert Type.parse("SymInt[]?").is_base_like("SymInt")
    assert not Type.parse("SymInt[]?").is_base_like("int")


# -------------------------------------------------------------------------------------- annotations, arguments, returns


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("a", Annotation(("a",))),
        ("a!", Annotation(("a",), True)),
        ("a|b", Annotation(("a", "b"))),
        ("a -> *", Annotation(("a",), False, ("*",))),
        ("a! -> b|c", Annotation(("a",), True, ("b", "c"))),
    ],
)
def test_annotation(text, value):
    assert Annotation.parse(text) == value
    assert str(value) == text


@pytest.mark.parametrize(
    "text", ["", "!", "*", "A", "aa", "1", "a!!", "a|b!", "a|b|c", "a -> ", "a->*", "a -> *|b", "a|b -> c|d", " a"]
)
def test_bad_annotations(text):
    with pytest.raises(SchemaError):
        Annotation.parse(text)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("Tensor x", Argument("x", TENSOR)),
        ("Tensor(a!)[] out", Argument("out", ListType(TENSOR), None, Annotation(("a",), True))),
        ("Tensor(a -> *)? x", Argument("x", OptionalType(TENSOR), None, Annotation(("a",), False, ("*",)))),
        ("int axis=-1", Argument("axis", BaseType("int"), "-1")),
        ('str mode="hi there"', Argument("mode", BaseType("str"), '"hi there"')),
        ("int axis= 0", Argument("axis", BaseType("int"), " 0")),
    ],
)
def test_argument(text, value):
    assert Argument.parse(text) == value
    assert str(value) == text


# text, position of the mistake, a word of the message
BAD_ARGUMENTS = [
    ("", 0, "missing"),
    ("int", 0, "no name"),
    ("x", 0, "no type"),
    ("Tensor?x", 0, "no space between type and name"),
    ("int x=", 6, "default"),
    ('str s="a=b"', 6, "default"),
    ("int[2] x=[1, 2]", 9, "default"),
    ("int x =1", 5, "a space too many"),
    (" int x", 0, "a space too many"),
    (" x", 0, "unknown type"),
    ("int(a!) x", 3, "no annotation"),
    ("Tensor(a)[z] x", 10, "list size"),
    ("Tensor(a)(b) x", 9, "no annotation"),
    ("int x\n", 4, "not one word"),
    ("int x=1\n", 6, "default"),
    ("Tensor(a!?) x", 7, "annotation"),
    ("Tensor(a!)[2] x", 0, "annotation"),
    ("Tensor(a!)[]? x", 0, "annotation"),
    ("Tensor() x", 7, "annotation"),
]


@pytest.mark.parametrize(("text", "position", "words"), BAD_ARGUMENTS)
def test_bad_arguments(text, position, words):
    with pytest.raises(SchemaError, match=words) as caught:
        Argument.parse(text)
    assert (caught.value.text, caught.value.position) == (text, position)


@pytest.mark.parametrize(
    "build",
    [
        lambda: Argument("x y", TENSOR),
        lambda: Argument("x=1", TENSOR),
        lambda: Argument("x\n", TENSOR),
        lambda: Argument("x", TENSOR, "a\n"),
        lambda: Return(TENSOR, "x\n"),
        lambda: Argument("x", TENSOR, ""),
        lambda: Argument("x", BaseType("int"), None, Annotation(("a",))),
        lambda: Return(TENSOR, "x y"),
        lambda: Return(ListType(TENSOR, 2), None, Annotation(("a",))),
        lambda: Return(TENSOR, "x", Annotation(("a",), False, ("*",))),
        lambda: Annotation(()),
        lambda: Annotation(("a", "b"), True),
    ],
)
def test_values_that_could_not_be_read_back_are_refused(build):
    with pytest.raises(SchemaError):
        build()


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("None", None),
        ("True", True),
        ("False", False),
        ("0", 0),
        ("-100", -100),
        ("0.0", 0.0),
        (".5", 0.5),
        ("1e-05", 1e-05),
        ("inf", math.inf),
        ("-inf", -math.inf),
        ("2j", 2j),
        ("[]", ()),
        ("[-2,-1]", (-2, -1)),
        ("[mean,None]", ("mean", None)),
        ("[[1],[]]", ((1,), ())),
        ("[" * 8 + "]" * 8, ((((((((),),),),),),),)),
        ("1_000", 1000),
        ("'fro'", "fro"),
        ('"\\"\'\\\\"', "\"'\\"),
        ('""', ""),
        ("mean", "mean"),
        ("torch.strided", "torch.strided"),
        (" 0", 0),
    ],
)
def test_default_value(text, value):
    found = Argument("x", BaseType("Any"), text).default_value
    assert (found, type(found)) == (value, type(value))


def test_default_nan():
    assert math.isnan(Argument.parse("float x=nan").default_value)


@pytest.mark.parametrize(
    "text", ["1x", "(0,1)", "[1", "'a", "'a'+'b'", "'\\x'", "'a''b'", "a b", "[1,]", "[1,2x]", "-", "{}", "[" * 9 + "]" * 9]
)
def test_defaults_that_are_no_value(text):
    with pytest.raises(SchemaError, match="is no value"):
        _ = Argument("x", BaseType("Any"), text).default_value


def test_an_argument_without_default_says_so():
    with pytest.raises(SchemaError, match="'x' has no default"):
        _ = Argument("x", TENSOR).default_value


BUNDLE = "ScalarType? dtype=None, Layout layout, Device? device=None, bool? pin_memory=None"
REORDERED = "Layout layout, ScalarType? dtype=None, Device? device=None, bool? pin_memory=None"

# text, receiver rule, then the names in each of the seven buckets
BUCKETS = [
    ("", "first", "", "", "", "", "", "", ""),
    ("Tensor a, Tensor self", "first", "", "a", "self", "", "", "", ""),
    ("Tensor a, Tensor self", "self", "a", "self", "", "", "", "", ""),
    ("Tensor a, int b", "self", "", "", "a b", "", "", "", ""),
    ("*, int a, int b", "first", "", "", "", "a b", "", "", ""),
    (f"*, int a, {BUNDLE}, int b", "first", "", "", "", "a", "dtype layout device pin_memory", "b", ""),
    (f"*, {BUNDLE}, Tensor(a!) o", "first", "", "", "", "", "dtype layout device pin_memory", "", "o"),
    ("*, ScalarType dtype, Device device", "first", "", "", "", "dtype device", "", "", ""),
    (f"*, {REORDERED}", "first", "", "", "", "layout dtype device pin_memory", "", "", ""),
    ("Tensor(a!) x, *, Tensor(b) y, Tensor(c!) o, Tensor(d!)[] p", "first", "", "x", "", "y", "", "", "o p"),
]


@pytest.mark.parametrize(("text", "receiver", "pre", "self_arg", "post", "kwarg", "options", "after", "out"), BUCKETS)
def test_buckets(text, receiver, pre, self_arg, post, kwarg, options, after, out):
    arguments = Arguments.parse(text, receiver)
    buckets = [
        arguments.pre_self_positional,
        () if arguments.self_arg is None else (arguments.self_arg,),
        arguments.post_self_positional,
        arguments.pre_tensor_options_kwarg_only,
        arguments.tensor_options,
        arguments.post_tensor_options_kwarg_only,
        arguments.out,
    ]
    assert [" ".join(argument.name for argument in bucket) for bucket in buckets] == [
        *(pre, self_arg, post, kwarg, options, after, out)
    ]
    assert arguments.flat_all == sum(buckets, ())
    assert arguments.flat_non_out == sum(buckets[:-1], ())
    assert str(arguments) == text


@pytest.mark.parametrize(
    ("text", "receiver", "position"),
    [
        ("int x,int y", "first", 5),
        ("int x, int y=[1, 2]", "first", 15),
        ("int x, str y=', '", "first", 14),
        ("int x, str y=a, 'b", "first", 16),
        ("int x, ", "first", 7),
        ("int x, , int y", "first", 7),
        ("int x, *", "first", 7),
        ("*, *, int x", "first", 3),
        ("*, int x, *, int y", "first", 10),
        ("*, Tensor(a!) o, int x", "first", 17),
        ("int x, Foo y", "first", 7),
        ("int x, Tensor(a!?) y", "first", 14),
        ("Tensor(a!) x, Tensor self", "self", 0),
        (f"*, {BUNDLE}, {BUNDLE}", "first", len(BUNDLE) + 5),
    ],
)
def test_bad_argument_lists(text, receiver, position):
    with pytest.raises(SchemaError) as caught:
        Arguments.parse(text, receiver)
    assert (caught.value.text, caught.value.position) == (text, position)


def test_arguments_in_the_wrong_bucket_are_refused():
    written, plain = Argument.parse("Tensor(a!) x"), Argument.parse("Tensor x")
    for build in (lambda: Arguments(kwarg_only=(written,)), lambda: Arguments(out=(plain,))):
        with pytest.raises(SchemaError):
            build()
    with pytest.raises(SchemaError, match="receiver rule 'last'"):
        Arguments((plain,), receiver_rule="last")


@pytest.mark.parametrize(
    ("text", "position"),
    [
        ("", 0),
        ("(Tensor)", 0),
        ("Tensor, Tensor", 0),
        ("(Tensor,Tensor)", 7),
        ("(Tensor, Tensor", 0),
        ("Tensor, Tensor)", 0),
        ("Tensor x\n", 7),
        ("(Tensor, Foo)", 9),
        ("( )", 1),
    ],
)
def test_bad_returns(text, position):
    with pytest.raises(SchemaError) as caught:
        parse_returns(text)
    assert (caught.value.text, caught.value.position) == (text, position)
