"""Whole schemas: kinds, signatures, and what is derived from a schema."""

from __future__ import annotations

import copy
import dataclasses
import pickle

import pytest

from registry.errors import SchemaError
from registry.schema import (
    Annotation,
    Argument,
    Arguments,
    BaseOperatorName,
    BaseType,
    FunctionSchema,
    OperatorName,
    Return,
    SchemaKind,
    Type,
)

TENSOR = BaseType("Tensor")

BUNDLE = "ScalarType? dtype=None, Layout layout, Device? device=None, bool? pin_memory=None"


# ------------------------------------------------------------------------------------------------- kinds and signatures

# Our own operators: text, names of the inputs, names of the attributes
OPERATORS = [
    ("add(Tensor x1, Tensor x2) -> Tensor", "x1 x2", ""),
    (
        "sum(Tensor a, int[1]? axis=None, ScalarType? dtype=None, *, bool keepdims=False, Scalar? initial=None,"
        " Tensor? where=None) -> Tensor",
        "a",
        "axis dtype keepdims initial where",
    ),
    ("concatenate(Tensor[] arrays, int? axis=0) -> Tensor", "arrays", "axis"),
    ("split(Tensor ary, Any indices_or_sections, int axis=0) -> Tensor[]", "ary", "indices_or_sections axis"),
    ("getitem(Tensor a, *, Index index) -> Tensor", "a", "index"),
    ("clip(Tensor a, int low, Tensor? a_max=None) -> Tensor", "a a_max", "low"),
    ("add.out(Tensor x1, Tensor x2, *, Tensor(a!) out) -> Tensor(a!)", "x1 x2", ""),
    ("eye(int n, *, complex scale=1j) -> Tensor", "", "n scale"),
    ("seed() -> ()", "", ""),
]


@pytest.mark.parametrize(("text", "inputs", "attributes"), OPERATORS)
def test_inputs_and_attributes(text, inputs, attributes):
    schema = FunctionSchema.parse(text)
    assert str(schema) == text
    assert " ".join(argument.name for argument in schema.inputs) == inputs
    assert " ".join(argument.name for argument in schema.attributes) == attributes
    assert schema.inputs is schema.inputs


# text, kind with the first argument as receiver, kind with the argument called self (None: refused)
KINDS = [
    ("foo(Tensor x) -> Tensor", "functional", "functional"),
    ("foo(Tensor(a) x) -> Tensor(a)", "functional", "functional"),
    ("foo_(Tensor(a!) self) -> Tensor(a!)", "inplace", "inplace"),
    ("foo_(Tensor(a!) x) -> Tensor(a!)", "inplace", None),
    ("foo_(Tensor(a!) x, Tensor(b!) y) -> Tensor(a!)", "inplace", None),
    ("foo_(Tensor x, Tensor(a!) self) -> Tensor(a!)", None, "inplace"),
    ("foo_(Tensor(a!)[] self) -> ()", "inplace", "inplace"),
    ("foo_(Tensor(a!)[] self) -> Tensor(a!)[]", None, None),
    ("foo_(Tensor(a!) self) -> ()", None, None),
    ("foo_(Tensor(a!) self) -> Tensor", None, None),
    ("foo_(Tensor(a) self) -> Tensor(a)", None, None),
    ("foo_() -> ()", None, None),
    ("foo_(Tensor(a!) self, *, Tensor(a!) out) -> Tensor(a!)", None, None),
    ("foo(Tensor(a!) x) -> ()", "mutable", "mutable"),
    ("foo(Tensor(a!) self) -> ()", "mutable", "functional"),
    ("foo(Tensor(a!) self) -> Tensor(a!)", None, "functional"),
    ("foo(Tensor x, Tensor(a!) y) -> Tensor", "mutable", "mutable"),
    ("foo(Tensor x, Tensor(a!) y) -> Tensor(a!)", None, None),
    ("foo(Tensor(a!) x) -> (Tensor(a!), Tensor)", None, None),
    ("foo(Tensor(a!) self) -> (Tensor(a!), Tensor)", None, None),
    ("foo(Tensor x) -> Tensor(a!)", None, None),
    ("foo.out(Tensor x, *, Tensor(a!) out) -> Tensor(a!)", "out", "out"),
    ("foo.out(Tensor x, *, Tensor(a!) out) -> ()", None, None),
    ("foo.out(Tensor x, *, Tensor(a!) out) -> Tensor(b!)", None, None),
    ("foo.out(Tensor x, *, Tensor(a!) p, Tensor(b!) q) -> (Tensor(a!), Tensor(b!))", "out", "out"),
    ("foo.out(Tensor x, *, Tensor(a!) p, Tensor(b!) q) -> (Tensor(b!), Tensor(a!))", None, None),
    ("foo.out(Tensor x, *, Tensor(a!) p, Tensor(b!) q) -> Tensor(a!)", None, None),
    ("foo.out(Tensor x, *, Tensor(a!)[] out) -> ()", "out", "out"),
    ("foo.out(Tensor x, *, Tensor(a!)[] out) -> Tensor(a!)[]", None, None),
    ("foo.x(Tensor x, *, Tensor(a!) out, Tensor(b!) _scratch_y) -> Tensor(a!)", "scratch", "scratch"),
    ("foo.functional(Tensor x) -> Tensor", "functional", "functional"),
    ("foo.my_functional_one(Tensor x, Tensor(a!) y) -> Tensor", None, None),
    (f"foo(*, {BUNDLE}) -> Tensor", "functional", "functional"),
    (f"foo(Tensor(a!) x, *, {BUNDLE}) -> Tensor", None, None),
    (f"foo.out(*, {BUNDLE}, Tensor(a!) out) -> Tensor(a!)", None, None),
    ("foo(Tensor x, Tensor x) -> Tensor", None, "functional"),
    ("foo(Tensor x, int x-y) -> Tensor", None, "functional"),
    ("foo(int x=1, int y) -> Tensor", None, "functional"),
    ("foo(int x=1, *, int y) -> Tensor", "functional", "functional"),
    ("foo(int x=(0,1)) -> Tensor", None, "functional"),
    ('foo(str s="(x) -> y!") -> Tensor', "functional", "functional"),
]


@pytest.mark.parametrize(("text", "first", "by_name"), KINDS)
def test_kinds(text, first, by_name):
    for receiver, kind in (("first", first), ("self", by_name)):
        if kind is None:
            with pytest.raises(SchemaError) as caught:
                FunctionSchema.parse(text, receiver)
            assert caught.value.text == text
            assert 0 <= caught.value.position <= len(text)
            assert caught.value.expected
        else:
            schema = FunctionSchema.parse(text, receiver)
            assert schema.kind() is SchemaKind(kind)
            assert str(schema) == text
            assert schema.is_mutable() is ("!)" in text)


# text, signature, signature with names of returns
SIGNATURES = [
    ("add(Tensor x1, Tensor x2) -> Tensor", "add(Tensor x1, Tensor x2) -> Tensor", None),
    ("add_(Tensor(a!) x1, Tensor x2) -> Tensor(a!)", "add(Tensor x1, Tensor x2) -> Tensor", None),
    ("add.out(Tensor x1, Tensor x2, *, Tensor(a!) out) -> Tensor(a!)", "add(Tensor x1, Tensor x2) -> Tensor", None),
    (
        "foo(Tensor x, Tensor(a!) y) -> Tensor",
        "foo(Tensor x, Tensor y) -> (Tensor, Tensor)",
        "foo(Tensor x, Tensor y) -> (Tensor, Tensor y_out)",
    ),
    (
        "foo(Tensor(a!) x, Tensor(b!)? y) -> int n",
        "foo(Tensor x, Tensor? y) -> (int, Tensor, Tensor?)",
        "foo(Tensor x, Tensor? y) -> (int n, Tensor x_out, Tensor? y_out)",
    ),
    (
        "foo_(Tensor(a!)[] x, Tensor(b!) y) -> ()",
        "foo(Tensor[] x, Tensor y) -> (Tensor[], Tensor)",
        "foo(Tensor[] x, Tensor y) -> (Tensor[] x_out, Tensor y_out)",
    ),
    (
        "foo.out(Tensor x, Tensor(b!) y, *, Tensor(a!)[] out) -> ()",
        "foo(Tensor x, Tensor y) -> (Tensor[], Tensor)",
        "foo(Tensor x, Tensor y) -> (Tensor[] out_out, Tensor y_out)",
    ),
    (
        "foo.out(Tensor(b!) self, Tensor(c!) y, *, Tensor(a!)[] out) -> ()",
        "foo(Tensor self, Tensor y) -> (Tensor[], Tensor, Tensor)",
        "foo(Tensor self, Tensor y) -> (Tensor[] out_out, Tensor self_out, Tensor y_out)",
    ),
    ("foo(Tensor(a) x, int n=1) -> Tensor(a)", "foo(Tensor x, int n=1) -> Tensor", None),
    (f"foo(*, int a, {BUNDLE}, int b) -> Tensor", "foo(*, int a, int b) -> Tensor", None),
    ("own::foo_functional.x(Tensor x) -> Tensor", "foo(Tensor x) -> Tensor", None),
    ("__iand__(Tensor(a!) x) -> Tensor(a!)", "__and__(Tensor x) -> Tensor", None),
]


@pytest.mark.parametrize(("text", "signature", "named"), SIGNATURES)
def test_signature(text, signature, named):
    schema = FunctionSchema.parse(text)
    assert schema.signature() == FunctionSchema.parse(signature)
    assert str(schema.signature()) == signature
    assert str(schema.signature(keep_return_names=True)) == (named or signature)
    assert schema.signature().signature() == schema.signature()


def test_torchgen_returns_a_written_self_before_out_arguments():
    schema = FunctionSchema.parse("foo.out(Tensor(b!) self, Tensor(c!) y, *, Tensor(a!)[] out) -> ()", receiver="self")
    assert str(schema.signature()) == "foo(Tensor self, Tensor y) -> (Tensor, Tensor[], Tensor)"


def test_signature_options():
    schema = FunctionSchema.parse("foo_copy_copy.x(Tensor a, int n=1, *, bool b=True) -> (Tensor q, Tensor r)")
    assert str(schema.signature(strip_default=True)) == "foo_copy_copy(Tensor a, int n, *, bool b) -> (Tensor, Tensor)"
    assert str(schema.signature(strip_view_copy_name=True).name) == "foo"
    scatter = schema.with_name(OperatorName.parse("foo_scatter"))
    assert str(scatter.signature(strip_view_copy_name=True).name) == "foo_inverse"


def test_a_name_that_reads_as_another_one_without_its_mark_has_no_signature():
    schema = FunctionSchema.parse("foo__(Tensor(a!) x) -> Tensor(a!)")
    with pytest.raises(SchemaError, match="reads back as"):
        schema.signature()


def test_with_name_checks_the_name_against_the_arguments():
    schema = FunctionSchema.parse("foo(Tensor x) -> Tensor")
    assert str(schema.with_name(OperatorName.parse("bar.x"))) == "bar.x(Tensor x) -> Tensor"
    with pytest.raises(SchemaError, match="foo_ does not write its first argument"):
        schema.with_name(OperatorName.parse("foo_"))


def test_replacing_a_part_brings_the_derived_fields_up_to_date():
    schema = FunctionSchema.parse("foo(Tensor x) -> Tensor")
    changed = dataclasses.replace(schema, arguments=Arguments.parse("Tensor x, int n, Tensor(a!) y"))
    assert [argument.name for argument in changed.inputs] == ["x", "y"]
    assert changed.kind() is SchemaKind.mutable


def test_kernel_name():
    for text, name in [
        ("add_.x(Tensor(a!) x1) -> Tensor(a!)", "add_"),
        ("add.x(Tensor x1, *, Tensor(a!) out) -> Tensor(a!)", "add_out"),
        ("__and__.x(Tensor x1) -> Tensor", "__and__"),
    ]:
        assert FunctionSchema.parse(text).kernel_name() == name


def test_aliased_return_names():
    schema = FunctionSchema.parse("foo(Tensor(a) x, Tensor(b) y) -> (Tensor(b), Tensor, Tensor(c))")
    assert schema.aliased_return_names() == ("y", None, None)
    with pytest.raises(SchemaError, match="several arguments: x, y"):
        FunctionSchema.parse("foo(Tensor(a) x, Tensor(a) y) -> Tensor(a)").aliased_return_names()


def test_the_receiver_rule_is_part_of_the_value():
    text = "foo(Tensor x) -> Tensor"
    first, by_name = FunctionSchema.parse(text), FunctionSchema.parse(text, receiver="self")
    assert str(first) == str(by_name)
    assert first != by_name
    assert by_name.signature().arguments.receiver_rule == "self"


# --------------------------------------------------------------------------------------------------------------- values

VALUES = [
    BaseOperatorName.parse("add_"),
    OperatorName.parse("add.out"),
    Type.parse("int[2]?"),
    Type.parse("__torch__.torch.classes.a.B"),
    Annotation.parse("a! -> *"),
    Argument.parse("Tensor(a!)? x=None"),
    Arguments.parse("Tensor self, *, int x", "self"),
    Return.parse("Tensor(a) x"),
    FunctionSchema.parse("foo(Tensor x, *, Tensor(a!) out) -> Tensor(a!)"),
    FunctionSchema.parse("foo(Tensor self, int x=1) -> Tensor", "self"),
]


@pytest.mark.parametrize("value", VALUES, ids=str)
def test_values_are_frozen_hashable_and_survive_pickle_and_copy(value):
    field = dataclasses.fields(value)[0].name
    with pytest.raises(dataclasses.FrozenInstanceError):
        setattr(value, field, None)
    assert not hasattr(value, "__dict__")
    for twin in (pickle.loads(pickle.dumps(value)), copy.deepcopy(value), eval(repr(value))):
        assert twin == value
        assert hash(twin) == hash(value)
        assert repr(twin) == repr(value)
