"""Which variants belong to one operator, and what makes a group of them."""

from __future__ import annotations

from dataclasses import replace

import pytest

from registry.errors import RegistrationError
from registry.grouping import VariantGroup, check_autogen, group_variants, pairing_signature, pre_group
from registry.schema import FunctionSchema, OperatorName, SchemaKind
from registry.variant import GENERATED, Variant

TEXTS = {
    "exp": "exp(Tensor x) -> Tensor",
    "exp_": "exp_(Tensor(a!) x) -> Tensor(a!)",
    "exp.out": "exp.out(Tensor x, *, Tensor(a!) out) -> Tensor(a!)",
    "exp.other": "exp.other(Tensor x) -> Tensor",
    "exp.n": "exp.n(Tensor x, int n) -> Tensor",
    "exp.n1": "exp.n1(Tensor x, int n=1) -> Tensor",
    "exp.n1_out": "exp.n1_out(Tensor x, int n=1, *, Tensor(a!) out) -> Tensor(a!)",
    "exp.m": "exp.m(Tensor x, int m) -> Tensor",
    "exp.s": "exp.s(Tensor x, *, Tensor(a!) out, Tensor(b!) _scratch_x) -> Tensor(a!)",
    "two": "two(Tensor x) -> (Tensor, Tensor)",
    "two.s": "two.s(Tensor x, *, Tensor(a!) out, Tensor(b!) _scratch_x) -> Tensor(a!)",
    "step": "step(Tensor x, Tensor(a!) m) -> Tensor",
    "step_": "step_(Tensor(a!) x, Tensor(b!) m) -> Tensor(a!)",
    "step.f": "step.f(Tensor x, Tensor m) -> (Tensor, Tensor)",
    "step.functional": "step.functional(Tensor x, Tensor m) -> (Tensor, Tensor)",
    "step_functional": "step_functional(Tensor x, Tensor m) -> (Tensor, Tensor)",
    "step.out": "step.out(Tensor x, Tensor(a!) m, *, Tensor(b!) out) -> Tensor(b!)",
}


def variant(name, *, autogen=(), generated=False, delegate=None, **facts):
    return Variant(
        FunctionSchema.parse(TEXTS[name]),
        tags=frozenset({GENERATED} if generated else ()),
        autogen=tuple(OperatorName.parse(each) for each in autogen),
        structured_delegate=None if delegate is None else OperatorName.parse(delegate),
        location=f"place of {name}",
        **facts,
    )


def names(groups):
    return [[str(each.name) for each in group] if isinstance(group, VariantGroup) else str(group.name) for group in groups]


# -------------------------------------------------------------------------------------------------------------- pre-groups


def test_variants_are_sorted_by_signature_and_kind_in_order():
    groups = pre_group([variant(name) for name in ("exp_", "exp.n", "exp", "exp.m", "exp.n1", "exp.out", "exp.s")])
    assert [
        (str(signature), {kind.value: str(each.name) for kind, each in members.items()}) for signature, members in groups.items()
    ] == [
        ("exp(Tensor x) -> Tensor", {"inplace": "exp_", "functional": "exp", "out": "exp.out"}),
        ("exp(Tensor x, int n) -> Tensor", {"functional": "exp.n"}),
        ("exp(Tensor x, int m) -> Tensor", {"functional": "exp.m"}),
        ("exp(Tensor x, int n=1) -> Tensor", {"functional": "exp.n1"}),
        ("exp(Tensor x) -> (Tensor, Tensor)", {"scratch": "exp.s"}),
    ]
    assert list(next(iter(groups.values()))) == [SchemaKind.inplace, SchemaKind.functional, SchemaKind.out]


def test_two_variants_of_one_kind_are_both_named():
    with pytest.raises(RegistrationError) as caught:
        pre_group([variant("exp"), variant("exp_"), variant("exp.other")])
    for part in ("two functional variants", TEXTS["exp"], TEXTS["exp.other"], "place of exp)", "place of exp.other"):
        assert part in str(caught.value)


def test_one_variant_given_twice():
    same = variant("exp")
    with pytest.raises(RegistrationError, match="two functional variants"):
        pre_group([same, same])


def test_pairing_defaults_bring_variants_together():
    variants = [variant("exp.n"), variant("exp.n1_out")]
    assert len(pre_group(variants)) == 2
    (signature,) = pre_group(variants, pairing_defaults={"exp.n": {"n": "1"}})
    assert str(signature) == "exp(Tensor x, int n=1) -> Tensor"
    defaults = {"exp.n": {"n": "1"}}
    (group,) = group_variants(pre_group(variants, pairing_defaults=defaults), pairing_defaults=defaults)
    assert names([group]) == [["exp.n", "exp.n1_out"]]
    with pytest.raises(RegistrationError, match="signature"):
        VariantGroup(*variants)


def test_pairing_default_of_a_keyword_only_argument():
    draw = Variant(FunctionSchema.parse("draw(Tensor x, *, float p) -> Tensor"))
    assert str(pairing_signature(draw, {"draw": {"p": "0.5"}})) == "draw(Tensor x, *, float p=0.5) -> Tensor"


def test_pairing_default_of_an_argument_that_is_not_there():
    with pytest.raises(
        RegistrationError, match=r"'exp.n' name 'nn', expected one of its arguments \['x', 'n'\]. Did you mean 'n'"
    ):
        pairing_signature(variant("exp.n"), {"exp.n": {"nn": "1"}})


# ------------------------------------------------------------------------------------------------------------------ groups

# variants, names of what comes of them
GROUPED = [
    (["exp"], ["exp"]),
    (["exp.s"], ["exp.s"]),
    (["exp.out"], ["exp.out"]),
    (["exp_", "exp"], ["exp_", "exp"]),
    (["exp.out", "exp"], [["exp", "exp.out"]]),
    (["exp_", "exp.out", "exp"], [["exp", "exp.out", "exp_"]]),
    (["exp", "step", "exp.out"], [["exp", "exp.out"], "step"]),
    (["step", "step_functional", "step.out"], [["step_functional", "step.out", "step"]]),
    (["step", "step.functional", "step.out"], [["step.functional", "step.out", "step"]]),
    (["step_", "step_functional", "step", "step.out"], [["step_functional", "step.out", "step_", "step"]]),
    (["step.f", "step_", "step.out"], [["step.f", "step.out", "step_"]]),
]


@pytest.mark.parametrize(("given", "expected"), GROUPED, ids=str)
def test_groups(given, expected):
    assert names(group_variants(pre_group([variant(name) for name in given]))) == expected


# variants, parts of the message
NOT_GROUPED = [
    (["two.s", "two"], ["scratch variant two.s", "place of two)"]),
    (["step_", "step"], ["no variant among step_", "step (place of step)", "is functional"]),
    (["step_", "step.out"], ["is functional"]),
    (["step", "step.f", "step.out"], ["step.f does not say that it is functional", "step_functional", "place of step.out"]),
]


@pytest.mark.parametrize(("given", "parts"), NOT_GROUPED, ids=str)
def test_variants_that_do_not_go_together(given, parts):
    with pytest.raises(RegistrationError) as caught:
        group_variants(pre_group([variant(name) for name in given]))
    for part in parts:
        assert part in str(caught.value)


def test_a_generated_variant_without_a_group():
    with pytest.raises(RegistrationError, match=r"generated variant exp \(place of exp\) is in no group"):
        group_variants(pre_group([variant("exp_"), variant("exp", generated=True)]))


STRUCTURED = {
    "functional": variant("exp", delegate="exp.out"),
    "out": variant("exp.out", structured=True),
    "inplace": variant("exp_", delegate="exp.out"),
}


def test_a_structured_group():
    group = VariantGroup(**STRUCTURED)
    assert group.structured
    assert list(group) == list(STRUCTURED.values())
    assert not VariantGroup(variant("exp"), variant("exp.out")).structured


# changes to the structured group, part of the message
MISFITS = [
    ({"functional": variant("exp_")}, "exp_ is inplace; expected the functional variant"),
    ({"out": variant("exp")}, "exp is functional; expected the out variant"),
    ({"inplace": variant("exp")}, "exp is functional; expected the inplace variant"),
    ({"mutable": variant("exp")}, "exp is functional; expected the mutable variant"),
    ({"functional": variant("exp.n", delegate="exp.out")}, "exp.out has not the signature of exp.n"),
    ({"functional": variant("exp")}, "exp.out is structured or delegates to a structured kernel, exp is not"),
    ({"out": variant("exp.out")}, "exp is structured or delegates to a structured kernel, exp.out is not"),
    ({"inplace": variant("exp_")}, "exp.out is structured or delegates to a structured kernel, exp_ is not"),
    ({"functional": variant("exp", delegate="log.out")}, "exp delegates to log.out; expected structured_delegate: exp.out"),
    ({"inplace": variant("exp_", delegate="log.out")}, "exp_ delegates to log.out"),
    ({"functional": replace(STRUCTURED["functional"], namespace="own")}, "exp.out is of namespace '', exp of 'own'"),
    ({"inplace": replace(STRUCTURED["inplace"], namespace="own")}, "exp_ is of namespace 'own', exp of ''"),
    ({"out": variant("exp.out", structured=True, composite_implicit=True)}, "exp.out is structured and has a composite kernel"),
]


@pytest.mark.parametrize(("changes", "message"), MISFITS)
def test_variants_that_do_not_fit_together(changes, message):
    with pytest.raises(RegistrationError) as caught:
        VariantGroup(**(STRUCTURED | changes))
    assert message in str(caught.value)


def test_a_group_is_a_value():
    one, same = VariantGroup(variant("exp"), variant("exp.out")), VariantGroup(variant("exp"), variant("exp.out"))
    assert one == same
    assert len({one, same}) == 1


# ----------------------------------------------------------------------------------------------------------------- autogen

# autogen lines and generated names by variant, and what is missing from the message (None: they agree)
AUTOGEN = [
    ({}, set(), None),
    ({"exp_": ["exp", "exp.out"]}, {"exp", "exp.out"}, None),
    ({"exp_": ["exp.out", "exp"]}, {"exp", "exp.out"}, None),
    ({"exp_": ["exp", "exp.out", "exp"]}, {"exp", "exp.out"}, None),
    ({"exp_": ["exp.out"], "exp": ["exp.out"]}, {"exp.out"}, None),
    ({"exp_": ["exp.out"], "exp": ["exp.out"]}, {"exp.out", "exp_"}, "got 'autogen: exp.out', expected 'autogen: exp.out, exp_'"),
    ({"exp_": ["exp.out"]}, {"exp", "exp.out"}, "got 'autogen: exp.out', expected 'autogen: exp, exp.out'"),
    ({"exp_": ["exp,exp.out"]}, {"exp", "exp.out"}, "got 'autogen: exp,exp.out'"),
    ({"exp": ["exp.out"]}, set(), "got 'autogen: exp.out', expected no such line"),
    ({}, {"exp.out"}, "exp.out is generated from exp_ (place of exp_), but nothing there says so; add"),
]


@pytest.mark.parametrize(("declared", "generated", "message"), AUTOGEN)
def test_autogen_lines(declared, generated, message):
    members = [variant(name, autogen=declared.get(name, ()), generated=name in generated) for name in ("exp", "exp.out", "exp_")]
    if message is None:
        assert len(group_variants(pre_group(members))) == 1
        return
    with pytest.raises(RegistrationError) as caught:
        group_variants(pre_group(members))
    assert message in str(caught.value)
    (group,) = group_variants(pre_group(members), autogen=False)
    with pytest.raises(RegistrationError):
        check_autogen(group)


def test_autogen_of_what_forms_no_group_says_nothing():
    assert names(group_variants(pre_group([variant("exp", autogen=["exp.out"])]))) == ["exp"]
