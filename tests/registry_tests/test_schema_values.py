"""Values of every part of a schema, and whole schemas of every kind: what can be built goes round exactly."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import Phase, example, given, settings
from hypothesis import strategies as st

from registry.defaults import default_value
from registry.schema import (
    Annotation,
    Argument,
    Arguments,
    BaseOperatorName,
    FunctionSchema,
    ListType,
    OperatorName,
    Return,
    SchemaKind,
    Type,
)

from .schema_strategies import (
    RULES,
    TENSOR,
    annotations,
    any_schema,
    arguments,
    quoted,
    scalars,
    schemas,
    spelled,
    types,
    value_or_error,
)


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("kind", SchemaKind, ids=lambda kind: kind.value)
@settings(max_examples=40)
@given(data=st.data())
def test_valid_schemas_round_trip(kind, rule, data):
    schema = data.draw(schemas(kind, rule))
    assert schema.kind() is kind
    text = str(schema)
    again = FunctionSchema.parse(text, rule)
    assert str(again) == text
    assert again == schema
    assert hash(again) == hash(schema)
    assert eval(repr(schema)) == schema
    assert (again.inputs, again.attributes) == (schema.inputs, schema.attributes)
    both = Counter(again.inputs) + Counter(again.attributes)
    assert both == Counter(again.arguments.flat_non_out)
    if rule == "first":
        for argument in again.arguments.flat_all:
            assert argument.default is None or spelled(argument.default_value) is not None


@settings(max_examples=60)
@given(any_schema)
def test_signatures_return_what_is_returned_or_written(schema):
    returned = {item.annotation for item in schema.returns}
    lost = [each for each in schema.arguments.flat_all if each.is_write and each.annotation not in returned]
    signature = schema.signature()
    assert Counter(item.type for item in signature.returns) == Counter(each.type for each in (*schema.returns, *lost))
    assert signature.kind() is SchemaKind.functional
    assert not signature.is_mutable()
    assert signature.signature() == signature
    assert FunctionSchema.parse(str(signature), signature.arguments.receiver_rule) == signature
    options = set(schema.arguments.tensor_options)
    kept = [argument.name for argument in schema.arguments.flat_non_out if argument not in options]
    assert [argument.name for argument in signature.arguments.flat_all] == kept


FORMS = {
    "tensor options with arguments on both sides": lambda schema: (
        schema.arguments.pre_tensor_options_kwarg_only
        and schema.arguments.tensor_options
        and schema.arguments.post_tensor_options_kwarg_only
    ),
    "arguments before self": lambda schema: schema.arguments.pre_self_positional,
    "self written without in-place mark": lambda schema: schema.kind() is SchemaKind.functional and schema.is_mutable(),
    "out lists": lambda schema: any(each.type == ListType(TENSOR) for each in schema.arguments.out),
    "two returned out arguments": lambda schema: len(schema.returns) == len(schema.arguments.out) == 2,
    "a written operand beside out": lambda schema: (
        schema.arguments.out and any(each.is_write for each in schema.arguments.positional)
    ),
    "a namespace": lambda schema: schema.name.name.namespace,
    "a dunder in place": lambda schema: schema.name.name.dunder_method and schema.name.name.inplace,
    "a default in quotes": lambda schema: any((each.default or "")[:1] == "'" for each in schema.arguments.flat_all),
    "a return that is a view": lambda schema: any(each.annotation and not each.annotation.is_write for each in schema.returns),
}


def test_the_generators_reach_every_form():
    missing = dict(FORMS)

    @settings(max_examples=400, phases=[Phase.generate], derandomize=True, database=None)
    @given(any_schema)
    def collect(schema):
        for form in [form for form, holds in missing.items() if holds(schema)]:
            del missing[form]

    collect()
    assert not missing


# ------------------------------------------------------------------------------------------- values, one part at a time


@given(types)
def test_types_round_trip(value):
    assert Type.parse(str(value)) == value


@given(annotations)
def test_annotations_round_trip(value):
    assert Annotation.parse(str(value)) == value


@given(arguments)
def test_arguments_round_trip(value):
    assert Argument.parse(str(value)) == value


@given(st.lists(arguments, max_size=4), st.lists(arguments, max_size=4), st.sampled_from(RULES))
def test_argument_lists_round_trip(positional, others, rule):
    kwarg_only = tuple(argument for argument in others if not argument.is_write)
    out = tuple(argument for argument in others if argument.is_write)
    value = Arguments(tuple(positional), kwarg_only, out, rule)
    assert Arguments.parse(str(value), rule) == value


@given(scalars | st.lists(scalars, max_size=4).map(tuple))
def test_default_values_round_trip(value):
    found = default_value(spelled(value))
    assert repr(found) == repr(value)  # so that nan and the sign of zero count


@given(quoted)
def test_default_texts_in_quotes_are_pythons(text):
    assert default_value(text) == eval(text)


parts = st.text(max_size=6) | st.sampled_from(
    ["", "a", "self", "add_", "__iand__", "a.b", "x=1", "f(", ") -> ", "a\nb", ", ", "*"]
)


@given(parts, st.booleans(), st.booleans(), st.booleans(), st.none() | parts, parts)
def test_whatever_name_can_be_built_round_trips(stem, inplace, dunder, functional, namespace, overload):
    name, _ = value_or_error(lambda: OperatorName(BaseOperatorName(stem, inplace, dunder, functional, namespace), overload))
    if name is not None:
        assert OperatorName.parse(str(name)) == name


@settings(max_examples=300)
@given(
    st.tuples(parts, parts),
    st.lists(st.tuples(parts, types, st.none() | parts), max_size=3),
    st.integers(0, 3),
    st.lists(st.tuples(types, st.none() | parts), max_size=2),
    st.sampled_from(RULES),
)
@example(("foo(", ""), [], 0, [], "self")
@example(("foo", "x("), [], 0, [], "self")
def test_whatever_schema_can_be_built_round_trips(names, arguments, n_positional, returns, rule):
    def build():
        built = [Argument(name, type_, default) for name, type_, default in arguments]
        lists = Arguments(tuple(built[:n_positional]), tuple(built[n_positional:]), (), rule)
        name = OperatorName(BaseOperatorName.parse(names[0]), names[1])
        return FunctionSchema(name, lists, tuple(Return(type_, name) for type_, name in returns))

    schema, _ = value_or_error(build)
    if schema is not None:
        assert FunctionSchema.parse(str(schema), rule) == schema
