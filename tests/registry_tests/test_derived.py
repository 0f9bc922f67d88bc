"""Which variants of the declared operators there are, and what they are derived from."""

from __future__ import annotations

import pytest

from registry import FunctionSchema, SchemaKind, declare, family_of, functional_name, get_schema, undeclare
from registry.derived import families

# declared, a name asked for, and the members of its family in order
FAMILIES = [
    (["f(Tensor x) -> Tensor"], "f_", ["f", "f.out", "f_"]),
    (["f.own(Tensor x) -> Tensor"], "f.own_out", ["f.own", "f.own_out", "f_.own"]),
    (["f(Tensor x) -> bool"], "f", ["f"]),
    (["f(Tensor[] xs) -> Tensor"], "f", ["f", "f.out"]),
    (["f(Tensor x) -> (Tensor, Tensor)"], "f.out", ["f", "f.out"]),
    (["f(int n) -> Tensor"], "f", ["f", "f.out"]),
    (["f_(Tensor(a!) x) -> Tensor(a!)"], "f.out", ["f_", "f", "f.out"]),
    (["f(Tensor x, Tensor(a!) s) -> Tensor"], "f_functional", ["f", "f_functional", "f.out"]),
    (["f.out(Tensor x, *, Tensor(a!) out) -> Tensor(a!)"], "f.out", ["f.out"]),
    (["f(Tensor x) -> Tensor", "f_(Tensor(a!) x) -> Tensor(a!)"], "f", ["f", "f_", "f.out"]),
    (["__and__(Tensor x1, Tensor x2) -> Tensor"], "__iand__", ["__and__", "__and__.out", "__iand__"]),
    # The name f_ belongs to an operator of two inputs: the one of one input has no in-place variant then.
    (["f(Tensor x) -> Tensor", "f_(Tensor(a!) x, Tensor y) -> Tensor(a!)"], "f", ["f", "f.out"]),
    (["f(Tensor x) -> Tensor", "f_(Tensor(a!) x, Tensor y) -> Tensor(a!)"], "f_", ["f_"]),
]


@pytest.mark.parametrize(("declared", "name", "members"), FAMILIES, ids=lambda value: str(value))
def test_families(declared, name, members):
    found = families(map(FunctionSchema.parse, declared))[name]
    assert [str(variant.name) for variant in found.values()] == members
    assert [str(variant.name) for variant in found.values() if not variant.generated] == [
        each for each in members if any(text.startswith(f"{each}(") for text in declared)
    ]
    assert all(variant.kind is kind for kind, variant in found.items())


def test_the_mutable_variant_is_the_source_of_the_others():
    declared = ["f(Tensor x, Tensor(a!) s) -> Tensor", "f_functional(Tensor x, Tensor s) -> (Tensor, Tensor)"]
    found = families(map(FunctionSchema.parse, declared))["f"]
    assert str(found[SchemaKind.out].schema) == "f.out(Tensor x, Tensor(a!) s, *, Tensor(b!) out) -> Tensor(b!)"


def test_an_unknown_name_has_no_family():
    assert family_of("nowhere") == {}
    assert functional_name("nowhere_") is None
    assert get_schema("nowhere.out") is None
    assert get_schema("add.other") is None


def test_a_declaration_changes_what_is_derived():
    declare("grown(Tensor x) -> Tensor")
    assert functional_name("grown.out") == "grown"
    assert str(get_schema("grown_")) == "grown_(Tensor(a!) x) -> Tensor(a!)"
    declare("grown_(Tensor(a!) x, Tensor y) -> Tensor(a!)")
    assert str(get_schema("grown_")) == "grown_(Tensor(a!) x, Tensor y) -> Tensor(a!)"
    assert SchemaKind.inplace not in family_of("grown")
    undeclare("grown_")
    assert SchemaKind.inplace in family_of("grown")
    undeclare("grown")
    assert get_schema("grown_") is None
