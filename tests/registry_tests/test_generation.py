"""Adding the variants that are missing: which, from which source, in which order, and when that is refused."""

from __future__ import annotations

import pytest

from registry.backend_index import COMPOSITE_EXPLICIT, BackendMetadata, DispatchKey
from registry.errors import RegistrationError, SchemaError
from registry.generation import Excused, Outcome, add_generated_variants, decide, grow_tables
from registry.grouping import pre_group
from registry.schema import FunctionSchema, OperatorName
from registry.variant import Variant

NUMPY = DispatchKey("numpy")

EXP = "exp(Tensor x) -> Tensor"
EXP_ = "exp_(Tensor(a!) x) -> Tensor(a!)"
EXP_OUT = "exp.out(Tensor x, *, Tensor(a!) out) -> Tensor(a!)"
SCRATCH = "exp.s(Tensor x, *, Tensor(a!) out, Tensor(b!) _scratch_x) -> Tensor(a!)"
STEP = "step(Tensor x, Tensor(a!) m) -> Tensor"
STEP_ = "step_(Tensor(a!) x, Tensor(b!) m) -> Tensor(a!)"
VIEW = "view(Tensor(a) x) -> Tensor(a)"
VIEW_ = "view_(Tensor(a!) x) -> Tensor(a!)"
SIZE = "size(Tensor x) -> int"
COUNT = "count(Tensor x, Tensor(a!) m) -> int"


def variant(text, *autogen, tags=(), **facts):
    parsed = tuple(OperatorName.parse(each) for each in autogen)
    return Variant(FunctionSchema.parse(text), tags=frozenset(tags), autogen=parsed, location="here", **facts)


def members(*variants):
    (group,) = pre_group(variants).values()
    return group


ANY = {"today", "late-2022", "mid-2022"}
ASKED = {"today", "late-2022"}

# variants, versions, outcome, name of the source, kinds to be generated
DECISIONS = [
    ([variant(EXP_, "exp.out")], ANY, Outcome.generated, "exp_", ["out", "functional"]),
    ([variant(EXP_, "exp.out"), variant(EXP)], ANY, Outcome.generated, "exp_", ["out"]),
    ([variant(EXP, "exp.out"), variant(EXP_)], ASKED, Outcome.not_asked, "exp_", []),
    ([variant(EXP, "exp.out"), variant(EXP_)], {"mid-2022"}, Outcome.generated, "exp_", ["out"]),
    ([variant(EXP, "exp.out")], ASKED, Outcome.generated, "exp", ["out"]),
    ([variant(EXP, "exp.out")], {"mid-2022"}, Outcome.functional_alone, "exp", []),
    ([variant(EXP, "about")], ASKED, Outcome.generated, "exp", ["out"]),
    ([variant(EXP, "exp")], ASKED, Outcome.not_asked, "exp", []),
    ([variant(EXP)], ASKED, Outcome.not_asked, "exp", []),
    ([variant(EXP_)], ASKED, Outcome.not_asked, "exp_", []),
    ([variant(EXP_)], {"mid-2022"}, Outcome.generated, "exp_", ["out", "functional"]),
    ([variant(EXP_), variant(EXP_OUT)], ANY, Outcome.generated, "exp_", ["functional"]),
    ([variant(EXP_), variant(EXP_OUT), variant(EXP)], ANY, Outcome.complete, "exp_", []),
    ([variant(EXP_OUT), variant(EXP)], {"today"}, Outcome.complete, "exp.out", []),
    ([variant(STEP, "step.out")], ANY, Outcome.generated, "step", ["out", "functional"]),
    ([variant(STEP_, "step.out"), variant(STEP)], {"today"}, Outcome.not_asked, "step", []),
    ([variant(STEP_, "step.out"), variant(STEP)], {"late-2022"}, Outcome.generated, "step_", ["out", "functional"]),
    ([variant(SCRATCH)], {"today", "late-2022"}, Outcome.scratch, "exp.s", []),
    ([variant(EXP_, "exp.out", manual_binding=True)], ANY, Outcome.manual, "exp_", []),
    ([variant(EXP_, "exp.out", manual_binding=True), variant(EXP)], ANY, Outcome.generated, "exp_", ["out"]),
    ([variant(VIEW, "view.out")], ASKED, Outcome.view, "view", []),
    ([variant(VIEW), variant(VIEW_, "view.out")], ANY, Outcome.view, "view_", []),
    ([variant(EXP_, "exp.out", tags=["inplace_view"])], ANY, Outcome.view, "exp_", []),
    ([variant(EXP, "exp.out", composite_implicit=True)], ASKED, Outcome.composite, "exp", []),
    ([variant(EXP, "exp.out", composite_implicit=True, tags=["core"])], {"today"}, Outcome.generated, "exp", ["out"]),
    ([variant(EXP, "exp.out", composite_implicit=True, tags=["core"])], {"late-2022"}, Outcome.composite, "exp", []),
    ([variant(EXP, composite_implicit=True), variant(EXP_, "exp.out")], ANY, Outcome.generated, "exp_", ["out"]),
    ([variant(SIZE, composite_implicit=True)], ASKED, Outcome.composite, "size", []),
    ([variant(SIZE)], {"mid-2022"}, Outcome.functional_alone, "size", []),
]


@pytest.mark.parametrize(
    ("variants", "naming", "outcome", "source", "kinds"),
    [(variants, naming, *rest) for variants, versions, *rest in DECISIONS for naming in sorted(versions)],
)
def test_decision(variants, naming, outcome, source, kinds):
    decision = decide(members(*variants), naming=naming)
    assert (decision.outcome, str(decision.source.name), [kind.value for kind in decision.kinds]) == (outcome, source, kinds)


# variant, parts of the message, what excuses it, and the outcome then
EXCUSED = [
    (EXP_OUT, ["exp.out (here)", EXP], {"lone_out": {"exp.out"}}, Outcome.lone_out),
    (SIZE, ["'size' (here)", SIZE, "without_out"], {"without_out": {"size"}}, Outcome.nothing_to_write),
    (COUNT, ["'count'", "returns no tensor"], {"without_out": {"count"}}, Outcome.nothing_to_write),
    ("free(Tensor x) -> ()", ["'free'", "returns no tensor"], {"without_out": {"free"}}, Outcome.nothing_to_write),
]


@pytest.mark.parametrize(("text", "parts", "names", "outcome"), EXCUSED)
def test_refused_unless_excused(text, parts, names, outcome):
    given = members(variant(text))
    with pytest.raises(RegistrationError) as caught:
        decide(given)
    for part in parts:
        assert part in str(caught.value)
    excused = Excused(**{name: frozenset(value) for name, value in names.items()})
    assert decide(given, excused=excused).outcome is outcome


def test_names_that_leave_something_out_or_in():
    assert decide(members(variant(EXP_, "exp.out")), excused=Excused(ungrouped=frozenset({"exp_"}))).outcome is Outcome.ungrouped
    excused = Excused(not_views=frozenset({"view_"}))
    assert decide(members(variant(VIEW_, "view.out", tags=["inplace_view"])), excused=excused).kinds
    assert decide(members(variant(VIEW), variant(VIEW_, "view.out")), excused=excused).outcome is Outcome.view


# --------------------------------------------------------------------------------------------------------------- the driver


def test_generated_variants_follow_in_order():
    declared = [
        variant(EXP_, "exp", "exp.out"),
        variant("log(Tensor x) -> Tensor", "log.out"),
        variant(SIZE, composite_implicit=True),
        variant(STEP, "step.out", "step_functional"),
    ]
    kernels = {NUMPY: {declared[0].name: BackendMetadata("exp_inplace")}}
    variants, tables = add_generated_variants(declared, kernels, kernel_namespace="own")
    assert variants[:4] == declared
    assert [str(each.name) for each in variants[4:]] == ["exp.out", "exp", "log.out", "step.out", "step_functional"]
    assert all(each.generated for each in variants[4:])
    assert tables[NUMPY] == kernels[NUMPY]
    assert {str(name): metadata for name, metadata in tables[COMPOSITE_EXPLICIT].items()} == {
        name: BackendMetadata(kernel, namespace="own")
        for name, kernel in [
            ("exp.out", "exp_out"),
            ("exp", "exp"),
            ("log.out", "log_out"),
            ("step.out", "step_out"),
            ("step_functional", "step_functional"),
        ]
    }


def test_nothing_given_is_changed():
    declared = [variant(EXP_, "exp.out")]
    kernels = {COMPOSITE_EXPLICIT: {OperatorName.parse("log"): BackendMetadata("log")}}
    variants, tables = add_generated_variants(declared, kernels)
    assert len(declared) == 1
    assert len(variants) == 3
    assert [str(name) for name in kernels[COMPOSITE_EXPLICIT]] == ["log"]
    assert [str(name) for name in tables[COMPOSITE_EXPLICIT]] == ["log", "exp.out", "exp"]


def test_names_of_an_older_version():
    variants, tables = add_generated_variants([variant(STEP)], {}, naming="mid-2022")
    assert [str(each.name) for each in variants[1:]] == ["step.out", "step.functional"]
    assert [argument.name for argument in variants[1].schema.arguments.out] == ["out0"]
    assert [str(name) for name in tables[COMPOSITE_EXPLICIT]] == ["step.functional"]


def test_generation_once_more_adds_nothing():
    variants, tables = add_generated_variants([variant(EXP_, "exp", "exp.out")], {})
    assert add_generated_variants(variants, tables) == (variants, tables)


def test_pairing_defaults():
    declared = [
        variant("pick(Tensor x, float p) -> Tensor"),
        variant("pick_(Tensor(a!) x, float p=0.5) -> Tensor(a!)", "pick.out"),
    ]
    variants, _ = add_generated_variants(declared, {}, pairing_defaults={"pick": {"p": "0.5"}})
    assert [str(each.name) for each in variants[2:]] == ["pick.out"]


@pytest.mark.parametrize(
    "other", ["exp.out(Tensor x, Tensor y) -> Tensor", "exp(Tensor x, int extra) -> Tensor"], ids=["of out", "of functional"]
)
def test_a_name_that_is_taken(other):
    with pytest.raises(RegistrationError) as caught:
        add_generated_variants([variant(other), variant(EXP_, "exp.out")], {})
    for part in ("generated from exp_ (here)", f"{other} (here)", "expected another overload"):
        assert part in str(caught.value)


def test_a_name_that_another_generated_variant_has():
    declared = [variant(EXP, "exp.out"), variant("exp_functional(Tensor x, Tensor y) -> Tensor", "exp.out")]
    with pytest.raises(RegistrationError, match=r"generated from exp_functional \(here\) has a name that is taken"):
        add_generated_variants(declared, {})


def test_a_kernel_that_is_there_already():
    kernels = {COMPOSITE_EXPLICIT: {OperatorName.parse("exp.out"): BackendMetadata("mine")}}
    with pytest.raises(
        RegistrationError, match=r"'exp.out' has two kernels under .* CompositeExplicitAutograd: 'mine' and 'exp_out'"
    ):
        add_generated_variants([variant(EXP_, "exp.out")], kernels)


def test_results_that_cannot_be_written():
    with pytest.raises(SchemaError, match="returns int beside tensors"):
        add_generated_variants([variant("mode(Tensor x) -> (Tensor, int)", "mode.out")], {})


def test_kernel_tables_grow_in_place():
    tables = {}
    exp, log = OperatorName.parse("exp"), OperatorName.parse("log")
    entry = {NUMPY: {exp: BackendMetadata("exp")}}
    grow_tables(tables, entry)
    grow_tables(tables, {NUMPY: {log: BackendMetadata("log")}, COMPOSITE_EXPLICIT: {exp: BackendMetadata("exp")}})
    assert tables == {
        NUMPY: {exp: BackendMetadata("exp"), log: BackendMetadata("log")},
        COMPOSITE_EXPLICIT: {exp: BackendMetadata("exp")},
    }
    with pytest.raises(RegistrationError, match="'exp' has two kernels under the dispatch key numpy"):
        grow_tables(tables, entry)
