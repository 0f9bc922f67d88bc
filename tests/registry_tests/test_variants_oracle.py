"""Our variants, groups and composite kernels against torchgen's own answers, wherever the recorded answers are at hand.

The records are facts about another project's tool and no part of this one; without them the tests are skipped. The names of
operators that torchgen excuses from its rules are such facts, too, and stand here.
"""

from __future__ import annotations

import gzip
import json
import re
from collections import Counter
from functools import cache
from pathlib import Path

import pytest

from registry.backend_index import BackendMetadata, DispatchKey
from registry.composite import composite_facts, composite_target
from registry.entries import EntryRules, read_entries
from registry.errors import RegistrationError, SchemaError
from registry.generation import Excused, Outcome, add_generated_variants, decide
from registry.grouping import VariantGroup, group_variants, pre_group
from registry.schema import SchemaKind
from registry.variants import (
    functional_signature,
    functional_to_out_signature,
    generate_function,
    mutable_to_out_signature,
    self_to_out_signature,
)

RECORDS = Path(__file__).resolve().parents[3] / "shared" / "torchgen"

pytestmark = pytest.mark.skipif(not RECORDS.is_dir(), reason="torchgen's recorded answers are not beside the repository")

PAIRING_DEFAULTS = {"bernoulli.p": {"p": "0.5"}}

# Variants that count as no views although they are tagged or annotated so.
NOT_VIEWS = frozenset({"resize_", "resize_as_", "set_"})

# Arguments of these are called `from`.
KEYWORD_ARGUMENTS = frozenset({"_has_compatible_shallow_copy_type", "random_.from", "uniform_"})

# Outcome of ours, and what the records call it.
OUTCOMES = {
    "complete_already": (Outcome.complete, ()),
    "skip_all_composite_implicit_not_core": (Outcome.composite, ()),
    "skip_has_view_op": (Outcome.view, ()),
    "skip_all_manual_cpp_binding": (Outcome.manual, ()),
    "skip_lone_out_allowlisted": (Outcome.lone_out, ()),
    "skip_inplace_allowlisted": (Outcome.ungrouped, ()),
    "no_tensor_return_allowlisted": (Outcome.nothing_to_write, ()),
    "no_out_and_no_autogen_out": (Outcome.not_asked, ()),
    "gen_out": (Outcome.generated, ("out",)),
    "gen_functional": (Outcome.generated, ("functional",)),
    "gen_out+gen_functional": (Outcome.generated, ("out", "functional")),
}

# What the small files check and we leave alone, and why.
NAME_RULE = "a rule about names in one library, which says nothing about schemas, variants or kernels"
CPP_KEY = "a key about C++, which is skipped"
OUT_OF_SCOPE = {
    "factory_no_dispatch": NAME_RULE,
    "new_no_dispatch": NAME_RULE,
    "like_no_dispatch": NAME_RULE,
    "random_missing_tag": NAME_RULE,
    "generator_missing_tag": "a rule about random numbers in one library",
    "foreach_devicecheck": NAME_RULE,
    "cpp_no_default_bad": CPP_KEY,
    "use_const_ref_with_out": CPP_KEY,
    "precomputed_unstructured": CPP_KEY,
    "duplicate_yaml_key": "what a mapping holds twice is lost before it gets here: a matter of the reader of the text",
}


@cache
def records(name):
    with gzip.open(RECORDS / f"{name}.json.gz", "rt", encoding="utf-8") as file:
        return json.load(file)


@cache
def torch_rules():
    keys = records("d3_dispatch_keys")
    return EntryRules(
        namespace="aten",
        kernel_namespace="at::native",
        inner_namespace="::native",
        receiver="self",
        tags=frozenset(tag for row in records("a_schemas") for tag in row["entry"]["tags"]),
        added_tags=frozenset({"pt2_compliant_tag"}),
        dispatch_keys=frozenset(keys["members"]),
        supported_keys=frozenset(keys["supported_in_dispatch"]),
        structured_keys=frozenset(keys["structured"]),
        exclusive_keys=("CompositeImplicitAutograd", "CompositeExplicitAutograd", "CompositeExplicitAutogradNonFunctional"),
        keyword_arguments=KEYWORD_ARGUMENTS,
        lone_inplace_views=NOT_VIEWS,
        ignored=frozenset({"cpp_no_default_args", "use_const_ref_for_mutable_tensors", "precomputed"}),
    )


def entry_of(row):
    """The entry that was read into this record; what every entry has anyway is left out."""
    facts, dispatch = row["entry"], {key: kernel["kernel"] for key, kernel in row["dispatch"].items()}
    usual = {} if facts["structured_delegate"] else {"CompositeImplicitAutograd": row["cpp_name"]}
    entry = {
        "func": row["func"],
        "variants": ", ".join(facts["variants"]),
        "tags": [tag for tag in facts["tags"] if tag not in ("out", "inplace", "pt2_compliant_tag")],
        "autogen": ", ".join(facts["autogen"]) or None,
        "dispatch": None if dispatch == usual else dispatch,
    }
    for key in ("structured", "structured_delegate", "manual_cpp_binding", "manual_kernel_registration"):
        entry[key] = facts[key]
    return entry | {key: facts[key] for key in ("device_guard", "device_check", "python_module")}


@cache
def declared():
    return read_entries([entry_of(row) for row in records("a_schemas")], rules=torch_rules(), source="native functions")


@cache
def torch_excused():
    without_out = {row["base_op"] for row in records("b2_decisions") if row["decision"] == "no_tensor_return_allowlisted"}
    return Excused(
        lone_out=frozenset({"adaptive_avg_pool3d_backward.grad_input", "_slow_conv2d_backward.grad_input"}),
        ungrouped=frozenset({"polygamma_"}),
        without_out=frozenset(without_out),
        not_views=NOT_VIEWS,
    )


def extended(variants, kernels):
    return add_generated_variants(
        variants,
        kernels,
        kernel_namespace="at::native",
        pairing_defaults=PAIRING_DEFAULTS,
        excused=torch_excused(),
    )


def grouped(variants):
    return group_variants(pre_group(variants, pairing_defaults=PAIRING_DEFAULTS), pairing_defaults=PAIRING_DEFAULTS)


@cache
def with_generated():
    return extended(*declared())


def metadata_of(kernels):
    return {
        str(key): {
            str(name): {"kernel": each.kernel, "structured": each.structured, "cpp_namespace": each.namespace}
            for name, each in table.items()
        }
        for key, table in kernels.items()
    }


# ------------------------------------------------------------------------------------------------------------- entries


def facts_of(variant):
    return {
        "namespace": variant.namespace,
        "variants": sorted(variant.call_forms),
        "tags": sorted(variant.tags),
        "autogen": [str(name) for name in variant.autogen],
        "structured": variant.structured,
        "structured_delegate": variant.structured_delegate and str(variant.structured_delegate),
        "manual_cpp_binding": variant.manual_binding,
        "manual_kernel_registration": variant.manual_registration,
        "device_guard": variant.device_guard,
        "device_check": variant.device_check,
        "python_module": variant.python_module,
        "has_composite_implicit_autograd_kernel": variant.composite_implicit,
        "has_composite_explicit_autograd_kernel": variant.composite_explicit,
        "is_view_op": variant.is_view_op,
    }


def test_every_entry_of_the_whole_table():
    variants, kernels = declared()
    rows = records("a_schemas")
    assert len(variants) == len(rows) == 2585
    counted = {key: facts["n"] for key, facts in records("d2_in_tree_indices").items()}
    tables = metadata_of(with_generated()[1])
    assert {key: len(table) for key, table in tables.items()} == counted
    tables = metadata_of(kernels)
    for variant, row in zip(variants, rows, strict=True):
        name = str(variant.name)
        facts = facts_of(variant)
        if name in ("resize_", "resize_as_"):
            facts["is_view_op"] = False  # torchgen excuses these two in the record itself
        assert facts == {key: row["entry"][key] for key in facts}, name
        assert {key: table[name] for key, table in tables.items() if name in table} == row["dispatch"], name


def test_small_files():
    yaml = pytest.importorskip("yaml", reason="PyYAML, which reads the small files, is not installed")
    cases = records("f_mini_yaml_cases")
    assert len(cases) == 115
    assert {case["case"] for case in cases} >= OUT_OF_SCOPE.keys()
    for case in cases:
        accepted = case["result"]["ok"] or case["case"] in OUT_OF_SCOPE
        entries = yaml.safe_load(case["yaml"])
        if not accepted:
            with pytest.raises((RegistrationError, SchemaError)):
                grouped(extended(*read_entries(entries, rules=torch_rules()))[0])
            continue
        variants, kernels = extended(*read_entries(entries, rules=torch_rules()))
        groups = grouped(variants)
        if case["case"] in OUT_OF_SCOPE:
            assert not case["result"]["ok"], f"{case['case']} is no difference"
            continue
        expected = case["result"]["value"]
        found = [
            {
                "func": str(variant.schema),
                "kind": variant.kind.value,
                "tags": sorted(variant.tags),
                "variants": sorted(variant.call_forms),
            }
            for variant in variants
        ]
        assert found == expected["functions"], case["case"]
        names = [[str(each.name) for each in group] if isinstance(group, VariantGroup) else [str(group.name)] for group in groups]
        assert names == expected["groups"], case["case"]
        assert metadata_of(kernels) == expected["indices"], case["case"]


# ---------------------------------------------------------------------------------------------------- schemas and groups

TRANSFORMS = {
    "self_to_out_signature": self_to_out_signature,
    "mutable_to_out_signature": mutable_to_out_signature,
    "functional_to_out_signature": functional_to_out_signature,
    "historic_2022a_functional": lambda schema: functional_signature(schema, naming="mid-2022"),
}


def refused(answer):
    return isinstance(answer, dict) and "error" in answer


@pytest.mark.parametrize("column", TRANSFORMS)
def test_schema_of_every_operator(column):
    transform = TRANSFORMS[column]
    accepted = 0
    for variant, row in zip(declared()[0], records("c2_transforms_every_op"), strict=True):
        answer = row[column]
        if refused(answer):
            with pytest.raises(SchemaError):
                transform(variant.schema)
            continue
        made = transform(variant.schema)
        assert str(made) == answer
        assert made.arguments.receiver_rule == "self"
        accepted += 1
    assert accepted > 5


@pytest.mark.parametrize(("column", "kind"), [("to_functional", SchemaKind.functional), ("to_out", SchemaKind.out)])
def test_variant_of_every_operator(column, kind):
    accepted = 0
    for variant, row in zip(declared()[0], records("c2_transforms_every_op"), strict=True):
        answer = row[column]
        if refused(answer):
            with pytest.raises(SchemaError):
                generate_function(variant, kind)
            continue
        made, kernels = generate_function(variant, kind, kernel_namespace="at::native")
        metadata = BackendMetadata(answer["kernel"], answer["structured"], answer["cpp_namespace"])
        assert kernels == {DispatchKey(answer["dispatch_key"]): {made.name: metadata}}
        assert (str(made.schema), made.kind.value, sorted(made.tags)) == (answer["func"], answer["kind"], answer["tags"])
        accepted += 1
    assert accepted > 900


def test_groups_before_generation():
    found = pre_group(declared()[0], pairing_defaults=PAIRING_DEFAULTS)
    expected = records("b_groups")
    assert len(expected) == 1668
    assert [
        (str(signature), [(kind.value, str(variant.name)) for kind, variant in members.items()])
        for signature, members in found.items()
    ] == [(row["signature"], list(row["before"].items())) for row in expected]


def test_groups_after_generation():
    found = pre_group(with_generated()[0], pairing_defaults=PAIRING_DEFAULTS)
    for (signature, members), row in zip(found.items(), records("b_groups"), strict=True):
        assert str(signature) == row["signature"]
        described = [(kind.value, {"op": str(each.name), "generated": each.generated}) for kind, each in members.items()]
        assert described == list(row["after"].items())
        results = group_variants({signature: members}, pairing_defaults=PAIRING_DEFAULTS)
        group = results[0] if isinstance(results[0], VariantGroup) else None
        assert (group is not None) == row["forms_group"]
        assert (None if group is None else group.structured) == row["structured"]
    assert Counter(type(each).__name__ for each in grouped(with_generated()[0]))["VariantGroup"] == 1106


# ---------------------------------------------------------------------------------------------------------- generation


def test_what_is_generated_for_each_operator():
    found = pre_group(declared()[0], pairing_defaults=PAIRING_DEFAULTS)
    rows = records("b2_decisions")
    assert Counter(row["decision"] for row in rows)["gen_out"] == 439
    for members, row in zip(found.values(), rows, strict=True):
        decision = decide(members, excused=torch_excused())
        kinds = tuple(kind.value for kind in decision.kinds)
        assert (decision.outcome, kinds) == OUTCOMES[row["decision"]], row["signature"]
        assert str(decision.source.name) == row["base_op"]


def test_generated_operators():
    variants, kernels = with_generated()
    made, rows = variants[2585:], records("c_generated")
    assert variants[:2585] == declared()[0]
    assert len(made) == len(rows) == 518
    for variant, row in zip(made, rows, strict=True):
        assert str(variant.schema) == row["func"]
        assert variant.kind.value == row["kind"]
        assert facts_of(variant) == {key: row["entry"][key] for key in facts_of(variant)}
        assert str(variant.schema.signature()) == row["signature"]
        found = {str(key): table[variant.name] for key, table in kernels.items() if variant.name in table}
        assert metadata_of({key: {variant.name: each} for key, each in found.items()}) == {
            key: {row["name"]["text"]: facts} for key, facts in row["backend_metadata"].items()
        }
    sources = Counter((row["source_kind"], variant.kind.value) for variant, row in zip(made, rows, strict=True))
    assert sources == {
        ("functional", "out"): 343,
        ("inplace", "out"): 133,
        ("inplace", "functional"): 37,
        ("mutable", "functional"): 4,
        ("mutable", "out"): 1,
    }
    names = {variant.name for variant in made}
    kernel_names = [each.kernel for table in kernels.values() for name, each in table.items() if name in names]
    assert sum(name.endswith("_symint") for name in kernel_names) == 82


# --------------------------------------------------------------------------------------------------- composite kernels

# What torchgen's kernels of out variants drop and ours write (registry/composite.py): results that belong to written inputs.


def written_inputs(row):
    args = row["schema"]["args"]
    return [arg["name"] for arg in args if arg["annotation"] and arg["annotation"]["is_write"] and not arg["out"]]


def call_of(facts):
    """The arguments of the call, as the records show them."""
    options = [argument.name for argument in facts.target.arguments.tensor_options] if facts.options_from else []
    shown = {"dtype": "out.scalar_type()", "layout": "out.layout()", "device": "out.device()", "pin_memory": "::std::nullopt"}
    return [
        shown[name].replace("out", facts.options_from) if name in options else f"{name}_clone" if name in facts.cloned else name
        for name in (argument.name for argument in facts.target.arguments.flat_non_out)
    ]


def shown_result(facts, index):
    name = "tmp_output" if facts.copied else "output"
    return name if len(facts.target.returns) == 1 else f"std::get<{index}>({name})"


def shown_return(facts):
    items = [
        shown_result(facts, each) if isinstance(each, int) else f"{each}_clone" if each in facts.cloned else each
        for each in facts.returned
    ]
    return items or None


def test_composite_kernels():
    groups = {str(variant.name): group for group in grouped(with_generated()[0]) for variant in _members(group)}
    rows = records("c3_composite_kernels")
    assert Counter(row["which"] for row in rows) == {"out": 477, "functional": 41}
    also_written = {row["name"]["text"]: written_inputs(row) for row in records("c_generated")}
    for row in rows:
        group = groups[row["op"]]
        variant = next(each for each in group if str(each.name) == row["op"])
        target = composite_target(variant, group)
        facts = composite_facts(variant.schema, target.schema)
        assert target.name.unambiguous_name() == row["calls_unambiguous"]
        assert call_of(facts) == [re.sub(r"const_cast<.*&>\((.*)\)", r"\1", text) for text in row["call_args"]]
        assert list(facts.cloned) == row["cloned_args"]
        outs = [argument.name for argument in variant.schema.arguments.out]
        copied = [[name, shown_result(facts, index)] for name, index in facts.copied if name in outs]
        assert copied == row["resized_and_copied"]
        others = {name: index for name, index in facts.copied if name not in outs}
        assert list(others) == also_written[row["op"]]
        assert [target.schema.returns[index].name for index in others.values()] in ([f"{name}_out" for name in others], [None])
        items = re.sub(r"^::std::tuple<[^(]*>\((.*)\)$", r"\1", row["return_expr"] or "")
        assert shown_return(facts) == (items.split(", ") if items else None), row["op"]
    assert sum(map(bool, also_written.values())) == 11


def _members(group):
    return group if isinstance(group, VariantGroup) else [group]
