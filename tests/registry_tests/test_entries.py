"""Operators from entries: what is read, what is taken for granted, and every mistake with the entry named."""

from __future__ import annotations

from dataclasses import replace

import pytest

from registry.backend_index import COMPOSITE_EXPLICIT, COMPOSITE_IMPLICIT, BackendMetadata, DispatchKey
from registry.entries import EntryRules, check_together, read_entries, read_entry
from registry.errors import RegistrationError, SchemaError
from registry.schema import FunctionSchema, OperatorName
from registry.variant import Variant

EXP = "exp(Tensor x) -> Tensor"
EXP_ = "exp_(Tensor(a!) x) -> Tensor(a!)"
EXP_OUT = "exp.out(Tensor x, *, Tensor(a!) out) -> Tensor(a!)"

NUMPY = DispatchKey("numpy")

# One rule of each sort.
RULES = EntryRules(
    namespace="ours",
    kernel_namespace="kernels",
    inner_namespace="::inner",
    tags=frozenset({"core", "pointwise", "out", "ready", "inplace_view"}),
    added_tags=("ready",),
    dispatch_keys=("numpy", "torch", "tiny", "CompositeImplicitAutograd", "CompositeExplicitAutograd"),
    supported_keys=("numpy", "torch", "CompositeImplicitAutograd", "CompositeExplicitAutograd"),
    structured_keys=("numpy",),
    ignored=("__line__",),
)


def read(func=EXP, rules=RULES, **keys):
    return read_entry({"func": func, **keys}, rules=rules, location="line 3")


def expected(func=EXP, **facts):
    given = {"namespace": "ours", "tags": frozenset({"ready"}), "composite_implicit": True, "location": "line 3"}
    return replace(Variant(FunctionSchema.parse(func)), **(given | facts))


def test_an_entry_with_a_schema_alone():
    variant, kernels = read_entry({"func": EXP})
    assert variant == Variant(FunctionSchema.parse(EXP), composite_implicit=True)
    assert kernels == {COMPOSITE_IMPLICIT: BackendMetadata("exp")}
    variant, kernels = read()
    assert variant == expected()
    assert kernels == {COMPOSITE_IMPLICIT: BackendMetadata("exp", namespace="kernels")}


EXPLICIT = {"CompositeExplicitAutograd": "k"}

# entry, facts that differ from those of an entry with the schema alone
READ = [
    ({"func": "own::" + EXP}, {"namespace": "own", "tags": frozenset()}),
    ({"variants": "function"}, {}),
    ({"variants": "method"}, {"call_forms": frozenset({"method"})}),
    ({"variants": "function, method"}, {"call_forms": frozenset({"function", "method"})}),
    ({"tags": "core"}, {"tags": frozenset({"core", "ready"})}),
    ({"tags": ["core", "pointwise"]}, {"tags": frozenset({"core", "pointwise", "ready"})}),
    ({"tags": []}, {}),
    ({"autogen": "exp.out"}, {"autogen": ("exp.out",)}),
    ({"autogen": "exp_, exp.out"}, {"autogen": ("exp_", "exp.out")}),
    ({"autogen": "exp,exp.out"}, {"autogen": ("exp,exp.out",)}),
    ({"structured_delegate": "exp.out"}, {"structured_delegate": "exp.out", "composite_implicit": False}),
    ({"manual_cpp_binding": True}, {"manual_binding": True}),
    ({"manual_kernel_registration": True}, {"manual_registration": True}),
    ({"device_guard": False}, {"device_guard": False}),
    ({"device_check": "NoCheck"}, {"device_check": "NoCheck"}),
    ({"device_check": "ExactSame"}, {}),
    ({"python_module": "special"}, {"python_module": "special"}),
    ({"dispatch": EXPLICIT}, {"composite_implicit": False, "composite_explicit": True}),
    ({"dispatch": {}}, {"composite_implicit": False}),
    ({"dispatch": {"numpy": "k", "__line__": 4}, "__line__": 3}, {"composite_implicit": False}),
    ({"func": EXP_OUT}, {"func": EXP_OUT, "tags": frozenset({"ready", "out"})}),
    ({"func": EXP_}, {"func": EXP_}),
    (
        {"func": EXP_OUT, "structured": True, "structured_inherits": "Unary"},
        {
            "func": EXP_OUT,
            "tags": frozenset({"ready", "out"}),
            "structured": True,
            "structured_inherits": "Unary",
            "composite_implicit": False,
        },
    ),
]


@pytest.mark.parametrize(("keys", "facts"), READ)
def test_what_is_read(keys, facts):
    if "autogen" in facts:
        facts = facts | {"autogen": tuple(OperatorName.parse(each) for each in facts["autogen"])}
    if "structured_delegate" in facts:
        facts = facts | {"structured_delegate": OperatorName.parse(facts["structured_delegate"])}
    assert read(**keys)[0] == expected(**facts)


# entry, kernels by dispatch key
KERNELS = [
    ({"dispatch": {"numpy": "k"}}, {"numpy": ("k", False, "kernels")}),
    ({"dispatch": {"numpy, torch": "k"}}, {"numpy": ("k", False, "kernels"), "torch": ("k", False, "kernels")}),
    ({"dispatch": {"numpy,torch": "k"}}, {"numpy": ("k", False, "kernels"), "torch": ("k", False, "kernels")}),
    ({"dispatch": {"numpy": "a::b::c::k"}}, {"numpy": ("k", False, "a::b::c::inner")}),
    ({"dispatch": {}}, {}),
    ({"structured_delegate": "exp.out"}, {}),
    ({"structured_delegate": "exp.out", "dispatch": {"torch": "k"}}, {"torch": ("k", False, "kernels")}),
    ({"func": EXP_OUT, "structured": True}, {}),
    (
        {"structured_delegate": "exp.out", "dispatch": {"CompositeImplicitAutograd": "exp"}},
        {"CompositeImplicitAutograd": ("exp", False, "kernels")},
    ),
    (
        {"func": EXP_OUT, "structured": True, "dispatch": {"numpy": "k", "torch": "l"}},
        {"numpy": ("k", True, "kernels"), "torch": ("l", False, "kernels")},
    ),
    ({"func": EXP_OUT}, {"CompositeImplicitAutograd": ("exp_out", False, "kernels")}),
    (
        {"dispatch": {"CompositeImplicitAutograd": "exp_symint"}},
        {"CompositeImplicitAutograd": ("exp_symint", False, "kernels")},
    ),
    (
        {"dispatch": {"CompositeImplicitAutograd": "exp", "numpy": "k"}},
        {"CompositeImplicitAutograd": ("exp", False, "kernels"), "numpy": ("k", False, "kernels")},
    ),
]


@pytest.mark.parametrize(("keys", "kernels"), KERNELS)
def test_kernels(keys, kernels):
    assert read(**keys)[1] == {DispatchKey(key): BackendMetadata(*metadata) for key, metadata in kernels.items()}


def test_without_rules_every_tag_and_key_is_known():
    variant, kernels = read(
        EXP_OUT, EntryRules(), tags="mine", structured=True, dispatch={"anything": "k", "CompositeExplicitAutograd": "l"}
    )
    assert variant.tags == {"mine"}
    assert kernels == {DispatchKey("anything"): BackendMetadata("k", structured=True), COMPOSITE_EXPLICIT: BackendMetadata("l")}


def test_receiver_rule():
    text = "pick_(Tensor c, Tensor(a!) self) -> Tensor(a!)"
    variant, _ = read(text, replace(RULES, receiver="self"))
    assert variant.schema == FunctionSchema.parse(text, "self")
    with pytest.raises(SchemaError):
        read(text)


# changes to an entry, what is got and what is expected
MISTAKES = [
    ({"variants": "functional"}, "variants: 'functional'", "function, method"),
    ({"variants": "function,method"}, "variants: 'function,method'", "comma and space"),
    ({"variants": ["function"]}, "variants: ['function'] (of type list)", "a text"),
    ({"func": EXP_OUT, "variants": "function, method"}, "a method with out arguments", "variants: function"),
    ({"tags": "croe"}, "the unknown tag 'croe'", "Did you mean 'core'"),
    ({"tags": 3}, "tags: 3 (of type int)", "a list of words"),
    ({"tags": ["core", 3]}, "tags: ['core', 3]", "a list of words"),
    ({"autogen": ["exp.out"]}, "autogen: ['exp.out']", "a text"),
    ({"structured": "yes"}, "structured: 'yes'", "true or false"),
    ({"manual_cpp_binding": 1}, "manual_cpp_binding: 1", "true or false"),
    ({"device_guard": None}, "device_guard: None", "true or false"),
    ({"device_check": "Nope"}, "device_check: 'Nope'", "ExactSame or NoCheck"),
    ({"structured": True}, "structured, in the entry of a variant that is functional", "structured_delegate"),
    (
        {"func": EXP_OUT, "structured_delegate": "a.out"},
        "structured_delegate 'a.out', in the entry of an out variant",
        "structured: true",
    ),
    ({"structured_delegate": "own::exp.out"}, "structured_delegate: 'own::exp.out'", "without namespace"),
    ({"structured_inherits": "own::Unary"}, "structured_inherits: 'own::Unary'", "without namespace"),
    ({"structured_inherits": "Unary"}, "structured_inherits 'Unary' without structured", "structured: true"),
    ({"func": EXP_OUT, "structured": True, "device_guard": False}, "structured, and device_guard: false", "one of the two"),
    ({"python_module": "nn", "variants": "method"}, "python_module 'nn' and a method", "variants: function"),
    ({"python_module": 3}, "python_module: 3", "a text"),
    ({"colour": "red"}, "the unknown key 'colour'", "one of func"),
    ({"autogne": "exp.out"}, "the unknown key 'autogne'", "Did you mean 'autogen'"),
    ({"dispatch": "exp"}, "dispatch: 'exp' (of type str)", "a mapping"),
    ({"dispatch": {"numpy": 3}}, "dispatch: 'numpy': 3", "two texts"),
    ({"dispatch": {3: "k"}}, "dispatch: 3: 'k'", "two texts"),
    ({"dispatch": {"nunpy": "k"}}, "the unknown dispatch key 'nunpy'", "Did you mean 'numpy'"),
    ({"dispatch": {"tiny": "k"}}, "the dispatch key 'tiny'", "one that a dispatch table may use"),
    ({"dispatch": {"numpy, torch": "k", "torch": "l"}}, "two kernels under the dispatch key torch", "one"),
    ({"dispatch": {"numpy": "a::b::c::d::k"}}, "the kernel 'a::b::c::d::k'", "at most 3 levels"),
    ({"dispatch": {"numpy": "a::"}}, "the kernel 'a::'", "a name"),
    ({"dispatch": EXPLICIT, "manual_kernel_registration": True}, "a dispatch table, and manual_kernel", "one of the two"),
    ({"dispatch": {"numpy": "k"}, "structured_delegate": "exp.out"}, "a kernel under numpy", "in that entry"),
    ({"dispatch": {"CompositeImplicitAutograd": "exp"}}, "a dispatch table that says what holds without it", "no dispatch table"),
    ({"dispatch": {"CompositeImplicitAutograd": "mine"}}, "a single kernel 'mine'", "to be called exp"),
    (
        {"dispatch": {"CompositeImplicitAutograd": "exp", "CompositeExplicitAutograd": "k"}},
        *("kernels under CompositeImplicitAutograd and CompositeExplicitAutograd", "one of these"),
    ),
    ({"func": "a::b::" + EXP}, "the namespace 'a::b'", "one level of namespaces"),
    ({"func": 3}, "func: 3 (of type int)", "a text"),
    ({"func": None}, "the keys []", "the key 'func'"),
]


@pytest.mark.parametrize(("changes", "got", "expected"), MISTAKES)
def test_mistakes(changes, got, expected):
    with pytest.raises(RegistrationError) as caught:
        read(**changes)
    message = str(caught.value)
    assert message.startswith("line 3: " + str(changes.get("func", EXP)))
    assert f"got {got}" in message
    assert expected in message.partition("; expected ")[2]


@pytest.mark.parametrize(
    ("changes", "key", "text", "position"),
    [
        ({"func": "exp(Tensor x) => Tensor"}, "func", "exp(Tensor x) => Tensor", 13),
        ({"func": "own::exp(Tensr x) -> Tensor"}, "func", "exp(Tensr x) -> Tensor", 4),
        ({"autogen": "exp_, exp_out"}, "autogen", "exp_out", 3),
        ({"structured_delegate": "exp_out"}, "structured_delegate", "exp_out", 3),
    ],
)
def test_schemas_and_names_that_cannot_be_read(changes, key, text, position):
    with pytest.raises(SchemaError) as caught:
        read(**changes)
    assert str(caught.value).startswith("line 3")
    assert f"\n{key}: " in str(caught.value)
    assert (caught.value.text, caught.value.position) == (text, position)
    assert caught.value.expected


@pytest.mark.parametrize("entry", [None, 3, "func", ["func"]])
def test_what_is_no_entry(entry):
    with pytest.raises(RegistrationError, match="expected a mapping with the key 'func'"):
        read_entry(entry)
    with pytest.raises(RegistrationError, match=r"table, number 2: got .* expected a mapping"):
        read_entries([{"func": EXP}, entry], source="table")


def test_an_entry_without_schema():
    with pytest.raises(RegistrationError, match=r"entry 1\ngot the keys \['name'\]; expected the key 'func'"):
        read_entries([{"name": "exp"}])


# -------------------------------------------------------------------------------------------------------- several entries


def test_entries_in_order():
    entries = [
        {"func": EXP_, "dispatch": {"numpy": "k"}},
        {"func": EXP, "dispatch": {"numpy": "l"}},
        {"func": "log(Tensor x) -> Tensor"},
    ]
    variants, kernels = read_entries(entries, source="table.toml")
    assert [str(variant.name) for variant in variants] == ["exp_", "exp", "log"]
    assert [variant.location for variant in variants] == [f"table.toml, number {number}" for number in (1, 2, 3)]
    assert {str(key): [str(name) for name in table] for key, table in kernels.items()} == {
        "numpy": ["exp_", "exp"],
        "CompositeImplicitAutograd": ["log"],
    }
    assert read_entries([]) == ([], {})


@pytest.mark.parametrize("entries", [{"func": EXP}, EXP, None, 3])
def test_what_is_no_list_of_entries(entries):
    with pytest.raises(RegistrationError, match=r"table: got .* expected a list of entries"):
        read_entries(entries, source="table")


def test_two_entries_of_one_name():
    entries = [
        {"func": "exp(Tensor x) -> Tensor", "dispatch": {"numpy": "k"}},
        {"func": "exp(Tensor x, int n) -> Tensor", "dispatch": {"torch": "k"}},
    ]
    with pytest.raises(RegistrationError) as caught:
        read_entries(entries)
    for part in ("entry 2: ", entries[0]["func"], entries[1]["func"], "(entry 1)", "another overload"):
        assert part in str(caught.value)


# entries, part of the message, the rules under which they go together (None: never)
TOGETHER = [
    (
        [{"func": EXP, "structured_delegate": "exp.out"}],
        *("'exp' (entry 1) delegates to exp.out, expected an operator that is there", None),
    ),
    (
        [{"func": EXP, "structured_delegate": "exp.ot"}, {"func": EXP_OUT, "structured": True}],
        *("there. Did you mean 'exp.out'?", None),
    ),
    (
        [{"func": EXP, "structured_delegate": "exp.out"}, {"func": EXP_OUT}],
        *("expected that one to say 'structured: true'", None),
    ),
    (
        [{"func": "exp(Tensor x, int lambda) -> Tensor"}],
        *("'exp' (entry 1) has an argument called 'lambda'", EntryRules(keyword_arguments=("exp",))),
    ),
    (
        [{"func": "exp(Tensor(a!) x) -> ()", "tags": "inplace_view"}],
        *("expected an in-place name such as exp_", EntryRules(lone_inplace_views=("exp",))),
    ),
    (
        [{"func": "exp_.own(Tensor(a!) x) -> Tensor(a!)", "tags": "inplace_view"}],
        *("expected an operator exp beside it", EntryRules(lone_inplace_views=("exp_",))),
    ),
]


@pytest.mark.parametrize(("entries", "message", "rules"), TOGETHER)
def test_entries_that_do_not_go_together(entries, message, rules):
    with pytest.raises(RegistrationError) as caught:
        read_entries(entries)
    assert message in str(caught.value)
    if rules is not None:
        assert len(read_entries(entries, rules=rules)[0]) == len(entries)


def test_entries_that_go_together():
    entries = [
        {"func": EXP, "structured_delegate": "exp.out"},
        {"func": "exp_.own(Tensor(a!) x) -> Tensor(a!)", "tags": "inplace_view"},
        {"func": EXP_OUT, "structured": True},
    ]
    variants, _ = read_entries(entries)
    check_together(reversed(variants))
    assert len(variants) == 3
