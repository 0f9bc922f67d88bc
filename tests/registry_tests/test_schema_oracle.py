"""Our schemas against torchgen's own answers, wherever the recorded answers are at hand.

The records are facts about another project's tool and no part of this one; without them the tests are skipped.
"""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from registry.backend_index import DispatchKey
from registry.errors import RegistrationError, SchemaError
from registry.schema import (
    Annotation,
    Argument,
    Arguments,
    BaseOperatorName,
    BaseType,
    CustomClass,
    FunctionSchema,
    ListType,
    OperatorName,
    OptionalType,
    Return,
    Type,
    parse_returns,
)

RECORDS = Path(__file__).resolve().parents[3] / "shared" / "torchgen"

pytestmark = pytest.mark.skipif(not RECORDS.is_dir(), reason="torchgen's recorded answers are not beside the repository")

# What torchgen accepts and we refuse, or the other way round, and why. registry/schema.py lists the same in words.
EARLIER = "torchgen refuses it one level up, when the schema around it is printed and compared"
DIFFERENCES = {
    ("Type.parse", "complex"): "complex is one of our base words",
    ("Argument.parse", "int[2] x=[1, 2]"): EARLIER,
    ("Arguments.parse", "Tensor self, *"): EARLIER,
    ("Arguments.parse", "int x, "): EARLIER,
    ("Arguments.parse", "int x, , int y"): EARLIER,
    ("parse_returns", "(Tensor)"): EARLIER,
    ("parse_returns", "Tensor, Tensor"): EARLIER,
}

# torchgen adds a default to this one operator, by name, before it compares signatures.
OWN_SIGNATURE = "bernoulli.p"


def records(name):
    with gzip.open(RECORDS / f"{name}.json.gz", "rt", encoding="utf-8") as file:
        return json.load(file)


def describe_base_name(name):
    return {
        "text": str(name),
        "base": name.base,
        "inplace": name.inplace,
        "dunder_method": name.dunder_method,
        "functional_overload": name.functional_overload,
        "namespace": name.namespace,
    }


def describe_name(name):
    return describe_base_name(name.name) | {
        "text": str(name),
        "overload_name": name.overload_name,
        "base_text": str(name.name),
        "unambiguous_name": name.unambiguous_name(),
    }


def describe_type(value):
    match value:
        case BaseType(name):
            return {"kind": "base", "name": name}
        case OptionalType(elem):
            return {"kind": "optional", "elem": describe_type(elem)}
        case ListType(elem, size):
            return {"kind": "list", "elem": describe_type(elem), "size": size}
        case CustomClass(class_name):
            return {"kind": "custom", "class_name": class_name}


def describe_annotation(value):
    return value and {
        "text": str(value),
        "alias_set": list(value.alias_set),
        "is_write": value.is_write,
        "alias_set_after": list(value.alias_set_after),
    }


def describe_return(value):
    return {"name": value.name, "type": str(value.type), "annotation": describe_annotation(value.annotation)}


def describe_argument(value):
    return describe_return(value) | {"default": value.default}


def describe_arguments(arguments):
    buckets = {
        "pre_self": arguments.pre_self_positional,
        "self": () if arguments.self_arg is None else (arguments.self_arg,),
        "positional": arguments.post_self_positional,
        "kwarg": arguments.pre_tensor_options_kwarg_only,
        "tensor_options": arguments.tensor_options,
        "kwarg_after_tensor_options": arguments.post_tensor_options_kwarg_only,
        "out": arguments.out,
    }
    return [
        describe_argument(argument)
        | {
            "type_tree": describe_type(argument.type),
            "section": section,
            "kwarg_only": section not in ("pre_self", "self", "positional"),
            "out": section == "out",
        }
        for section, bucket in buckets.items()
        for argument in bucket
    ]


def describe_schema(schema):
    try:
        aliased = list(schema.aliased_return_names())
    except SchemaError:
        aliased = "error"
    return {
        "func": str(schema),
        "name": describe_name(schema.name),
        "kind": schema.kind().value,
        "is_mutable": schema.is_mutable(),
        "args": describe_arguments(schema.arguments),
        "returns": [describe_return(item) for item in schema.returns],
        "aliased_return_names": aliased,
        "signature": str(schema.signature()),
        "signature_named_returns": str(schema.signature(keep_return_names=True)),
        "cpp_name": schema.kernel_name(),
        "view_signature": str(schema.signature(strip_view_copy_name=True)),
    }


def expected_schema(record):
    """torchgen's record, cut to what we describe."""
    record = {key: record[key] for key in describe_schema(FunctionSchema.parse("foo() -> ()"))}
    if isinstance(record["aliased_return_names"], dict):
        record["aliased_return_names"] = "error"
    if record["name"]["text"] == OWN_SIGNATURE:
        for key in ("signature", "signature_named_returns", "view_signature"):
            record[key] = record[key].replace("float p=0.5", "float p")
    return record


READERS = {
    "BaseOperatorName.parse": (BaseOperatorName.parse, describe_base_name),
    "OperatorName.parse": (OperatorName.parse, describe_name),
    "Type.parse": (Type.parse, describe_type),
    "Annotation.parse": (Annotation.parse, describe_annotation),
    "Argument.parse": (Argument.parse, lambda value: {"text": str(value)} | describe_argument(value)),
    "Arguments.parse": (
        lambda text: Arguments.parse(text, receiver="self"),
        lambda value: {"text": str(value), "args": describe_arguments(value)},
    ),
    "Return.parse": (Return.parse, lambda value: {"text": str(value)} | describe_return(value)),
    "parse_returns": (parse_returns, lambda value: [describe_return(item) for item in value]),
    "FunctionSchema.parse": (lambda text: FunctionSchema.parse(text, receiver="self"), describe_schema),
}


@pytest.mark.parametrize("reader", READERS)
def test_hand_made_texts(reader):
    parse, describe = READERS[reader]
    cases = [case for case in records("e_parse_cases") if case["parser"] == reader]
    assert cases
    for case in cases:
        text, answer = case["input"], case["result"]
        accepted = answer["ok"] != ((reader, text) in DIFFERENCES)
        if not accepted:
            with pytest.raises(SchemaError) as caught:
                parse(text)
            assert caught.value.expected, text
        elif answer["ok"]:
            value = answer["value"]
            assert describe(parse(text)) == (expected_schema(value) if reader == "FunctionSchema.parse" else value), text
        else:
            assert str(parse(text)) == text


# torchgen knows a closed list of dispatch keys, in which CatchAll is a second name of Undefined; ours is an open one.
def test_hand_made_dispatch_keys():
    known = records("d3_dispatch_keys")["members"]
    cases = [case for case in records("e_parse_cases") if case["parser"] == "DispatchKey.parse"]
    assert len(cases) == 14
    for case in cases:
        text, answer = case["input"], case["result"]
        if answer["ok"]:
            assert str(DispatchKey.parse(text, known)) == text
            assert answer["value"] == ("Undefined" if text == "CatchAll" else text)
        else:
            with pytest.raises(RegistrationError):
                DispatchKey.parse(text, known)


def test_no_hand_made_text_is_left_out():
    cases = records("e_parse_cases")
    assert len(cases) == 369
    assert {case["parser"] for case in cases} == READERS.keys() | {"DispatchKey.parse"}


def test_every_difference_is_still_one():
    recorded = {(case["parser"], case["input"]) for case in records("e_parse_cases")}
    assert recorded >= DIFFERENCES.keys()


@pytest.mark.parametrize(("file", "count"), [("a_schemas", 2585), ("c_generated", 518)])
def test_whole_table(file, count):
    entries = [entry.get("schema", entry) for entry in records(file)]
    assert len(entries) == count
    for entry in entries:
        schema = FunctionSchema.parse(entry["func"], receiver="self")
        assert describe_schema(schema) == expected_schema(entry), entry["func"]


def test_our_receiver_rule_reads_and_pairs_the_whole_table_too():
    for entry in records("a_schemas"):
        schema = FunctionSchema.parse(entry["func"])
        assert str(schema) == entry["func"]
        assert str(schema.signature()) == expected_schema(entry)["signature"]


def test_schemas_pair_up_by_signature():
    expected = {}
    for group in records("b_groups"):
        for name in group["before"].values():
            expected[name] = group["signature"]
    groups, theirs = {}, {}
    for entry in records("a_schemas"):
        if entry["name"]["text"] == OWN_SIGNATURE:
            continue
        schema = FunctionSchema.parse(entry["func"], receiver="self")
        groups.setdefault(schema.signature(), []).append(str(schema.name))
        theirs.setdefault(expected[str(schema.name)], []).append(str(schema.name))
    assert sorted(groups.values()) == sorted(theirs.values())


# How variants are derived is another module's; here it counts that torchgen's results can be read and printed.
def test_transformed_schemas_read_back():
    texts = {
        answer["func"] if isinstance(answer, dict) else answer
        for entry in records("c2_transforms_every_op")
        for answer in entry.values()
        if (isinstance(answer, str) and " -> " in answer) or (isinstance(answer, dict) and "func" in answer)
    }
    assert len(texts) > 1000
    for text in texts:
        assert str(FunctionSchema.parse(text, receiver="self")) == text


def test_mini_files_read_back():
    texts = {
        function["func"]
        for case in records("f_mini_yaml_cases")
        if case["result"]["ok"]
        for function in case["result"]["value"]["functions"]
    }
    assert texts
    for text in texts:
        assert str(FunctionSchema.parse(text, receiver="self")) == text
