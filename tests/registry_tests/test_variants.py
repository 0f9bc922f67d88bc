"""Variants worked out from one another: schemas, names and metadata. Every expected text is written by hand."""

from __future__ import annotations

import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from registry.backend_index import COMPOSITE_EXPLICIT, BackendMetadata
from registry.errors import SchemaError
from registry.schema import FunctionSchema, OperatorName, SchemaKind
from registry.variant import Variant
from registry.variants import (
    functional_signature,
    functional_to_inplace_signature,
    functional_to_out_signature,
    generate_function,
    mutable_to_out_signature,
    self_to_out_signature,
)

FUNCTIONAL, INPLACE, MUTABLE, OUT, SCRATCH = (SchemaKind[kind] for kind in ("functional", "inplace", "mutable", "out", "scratch"))

OPTIONS = "ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None"

# receiver rule, source and result, one under the other
FROM_INPLACE = """
first   neg_(Tensor(a!) x) -> Tensor(a!)
        neg.out(Tensor x, *, Tensor(a!) out) -> Tensor(a!)
first   add_.own(Tensor(b!) x, int n=1) -> Tensor(b!)
        add.own_out(Tensor x, int n=1, *, Tensor(b!) out) -> Tensor(b!)
self    add_(Tensor(a!) self, *, int n) -> Tensor(a!)
        add.out(Tensor self, *, int n, Tensor(a!) out) -> Tensor(a!)
self    pick_(Tensor c, Tensor(a!) self, Tensor other) -> Tensor(a!)
        pick.out(Tensor c, Tensor self, Tensor other, *, Tensor(a!) out) -> Tensor(a!)
first   zero_(Tensor(a!)[] xs) -> ()
        zero.out(Tensor[] xs, *, Tensor(a!)[] out) -> ()
first   zero_(Tensor(a!)? x) -> ()
        zero.out(Tensor? x, *, Tensor(a!)? out) -> ()
first   step_(Tensor(a!) x, Tensor(b!) m) -> Tensor(a!)
        step.out(Tensor x, Tensor(b!) m, *, Tensor(a!) out) -> Tensor(a!)
first   __iand__.Tensor(Tensor(a!) x1, Tensor x2) -> Tensor(a!)
        __and__.Tensor_out(Tensor x1, Tensor x2, *, Tensor(a!) out) -> Tensor(a!)
self    fill_(Tensor(a!) self, Tensor out) -> Tensor(a!)
        fill.out(Tensor self, Tensor out, *, Tensor(a!) out) -> Tensor(a!)
"""

FROM_MUTABLE = """
first   norm(Tensor x, Tensor(a!) m) -> Tensor
        norm.out(Tensor x, Tensor(a!) m, *, Tensor(b!) out) -> Tensor(b!)
first   norm.own(Tensor(c!) m, Tensor(a) x, *, bool b=True) -> (Tensor y, Tensor z)
        norm.own_out(Tensor(c!) m, Tensor(a) x, *, bool b=True, Tensor(b!) out0, Tensor(d!) out1) -> (Tensor(b!), Tensor(d!))
first   reset(Tensor(a!) x) -> Tensor[]
        reset.out(Tensor(a!) x, *, Tensor(b!)[] out) -> ()
self    norm(Tensor self, Tensor(a!)[] m) -> Tensor[]
        norm.out(Tensor self, Tensor(a!)[] m, *, Tensor(b!)[] out) -> ()
self    norm(Tensor(a!) out) -> Tensor
        norm.out(Tensor(a!) out, *, Tensor(b!) out) -> Tensor(b!)
"""

FROM_FUNCTIONAL = f"""
first   exp(Tensor x) -> Tensor
        exp.out(Tensor x, *, Tensor(a!) out) -> Tensor(a!)
self    exp(Tensor x) -> Tensor
        exp.out(Tensor x, *, Tensor(a!) out) -> Tensor(a!)
first   qr.own(Tensor a) -> (Tensor q, Tensor r)
        qr.own_out(Tensor a, *, Tensor(a!) out0, Tensor(b!) out1) -> (Tensor(a!), Tensor(b!))
first   rand(int[] size) -> Tensor
        rand.out(int[] size, *, Tensor(a!) out) -> Tensor(a!)
first   rand(int n, *, {OPTIONS}) -> Tensor
        rand.out(int n, *, Tensor(a!) out) -> Tensor(a!)
first   rand(int n, *, int seed=0, {OPTIONS}, bool slow=False) -> Tensor
        rand.out(int n, *, int seed=0, bool slow=False, Tensor(a!) out) -> Tensor(a!)
first   split(Tensor x) -> Tensor[]
        split.out(Tensor x, *, Tensor(a!)[] out) -> ()
first   find(Tensor x) -> Tensor?
        find.out(Tensor x, *, Tensor(a!)? out) -> ()
first   both(Tensor x) -> (Tensor, Tensor[])
        both.out(Tensor x, *, Tensor(a!) out0, Tensor(b!)[] out1) -> ()
first   view(Tensor(a) x) -> Tensor(a)
        view.out(Tensor x, *, Tensor(b!) out) -> Tensor(b!)
first   keep(Tensor(b -> *) x) -> Tensor
        keep.out(Tensor x, *, Tensor(a!) out) -> Tensor(a!)
first   step_functional(Tensor x) -> Tensor
        step.out(Tensor x, *, Tensor(a!) out) -> Tensor(a!)
first   own::exp(Tensor x) -> Tensor
        exp.out(Tensor x, *, Tensor(a!) out) -> Tensor(a!)
self    back(Tensor grad, Tensor out) -> (Tensor, Tensor)
        back.out(Tensor grad, Tensor out, *, Tensor(a!) out0, Tensor(b!) out1) -> (Tensor(a!), Tensor(b!))
"""

TO_INPLACE = f"""
first   add(Tensor x1, Tensor x2) -> Tensor
        add_(Tensor(a!) x1, Tensor x2) -> Tensor(a!)
first   add.own(Tensor x, *, Scalar alpha=1) -> Tensor y
        add_.own(Tensor(a!) x, *, Scalar alpha=1) -> Tensor(a!)
self    add(Tensor x, Tensor self) -> Tensor
        add_(Tensor x, Tensor(a!) self) -> Tensor(a!)
first   view(Tensor(a) a, int n) -> Tensor(a)
        view_(Tensor(a!) a, int n) -> Tensor(a!)
first   pick(Tensor x, Tensor(a) y) -> Tensor(a)
        pick_(Tensor(a!) x, Tensor y) -> Tensor(a!)
first   like(Tensor x, *, {OPTIONS}, int n=0) -> Tensor
        like_(Tensor(a!) x, *, int n=0) -> Tensor(a!)
first   __and__(Tensor x1, Tensor x2) -> Tensor
        __iand__(Tensor(a!) x1, Tensor x2) -> Tensor(a!)
first   step_functional(Tensor x) -> Tensor
        step_(Tensor(a!) x) -> Tensor(a!)
"""

TO_FUNCTIONAL = """
first   neg_(Tensor(a!) x) -> Tensor(a!)
        neg(Tensor x) -> Tensor
first   __iand__.own(Tensor(a!) x1, Tensor x2) -> Tensor(a!)
        __and__.own(Tensor x1, Tensor x2) -> Tensor
first   zero_(Tensor(a!)[] xs) -> ()
        zero(Tensor[] xs) -> Tensor[] xs_out
first   step_(Tensor(a!) x, Tensor(b!) m) -> Tensor(a!)
        step(Tensor x, Tensor m) -> (Tensor, Tensor m_out)
first   norm.own(Tensor x, Tensor(a!) m) -> (Tensor y, Tensor)
        norm_functional.own(Tensor x, Tensor m) -> (Tensor y, Tensor, Tensor m_out)
first   reset(Tensor(a!) x, int n=0) -> ()
        reset_functional(Tensor x, int n=0) -> Tensor x_out
first   exp.out(Tensor x, *, Tensor(a!) out) -> Tensor(a!)
        exp.out(Tensor x) -> Tensor
"""


def rows(name, table):
    lines = table.strip().splitlines()
    return [
        pytest.param(TRANSFORMS[name], *first.split(maxsplit=1), second.strip(), id=f"{name}-{first.split(maxsplit=1)[1]}")
        for first, second in zip(lines[::2], lines[1::2], strict=True)
    ]


TRANSFORMS = {
    "self_to_out": self_to_out_signature,
    "mutable_to_out": mutable_to_out_signature,
    "functional_to_out": functional_to_out_signature,
    "to_inplace": functional_to_inplace_signature,
    "to_functional": functional_signature,
}

ACCEPTED = [
    *rows("self_to_out", FROM_INPLACE),
    *rows("mutable_to_out", FROM_MUTABLE),
    *rows("functional_to_out", FROM_FUNCTIONAL),
    *rows("to_inplace", TO_INPLACE),
    *rows("to_functional", TO_FUNCTIONAL),
]


@pytest.mark.parametrize(("transform", "receiver", "source", "expected"), ACCEPTED)
def test_schema(transform, receiver, source, expected):
    schema = FunctionSchema.parse(source, receiver)
    made = transform(schema)
    assert str(made) == expected
    assert made == FunctionSchema.parse(expected, receiver), "it reads back as the same value, receiver rule and all"
    assert made.signature() == schema.signature(), "it belongs to the same operator"


LETTERS_USED = ", ".join(f"Tensor({letter}) x{letter}" for letter in string.ascii_lowercase[:25])

# transform, receiver rule, source, part of the message
REFUSED = [
    ("self_to_out", "first", "exp(Tensor x) -> Tensor", "exp is functional"),
    ("self_to_out", "first", "norm(Tensor x, Tensor(a!) m) -> Tensor", "norm is mutable"),
    ("self_to_out", "first", "fill_(Tensor(a!) x, Tensor out) -> Tensor(a!)", "an argument called 'out'"),
    ("mutable_to_out", "first", "exp(Tensor x) -> Tensor", "exp is functional"),
    ("mutable_to_out", "first", "neg_(Tensor(a!) x) -> Tensor(a!)", "neg_ is inplace"),
    ("mutable_to_out", "first", "norm(Tensor(a!) x) -> ()", "returns no tensor"),
    ("mutable_to_out", "first", "norm(Tensor x, Tensor(a!) m) -> (Tensor, int)", "returns int beside tensors"),
    ("mutable_to_out", "first", "norm(Tensor x, Tensor(a!) out) -> Tensor", "an argument called 'out'"),
    ("functional_to_out", "first", "neg_(Tensor(a!) x) -> Tensor(a!)", "neg_ is inplace"),
    ("functional_to_out", "first", "exp.out(Tensor x, *, Tensor(a!) out) -> Tensor(a!)", "exp.out is out"),
    ("functional_to_out", "first", "size(Tensor x) -> int", "returns no tensor"),
    ("functional_to_out", "first", "free(Tensor x) -> ()", "returns no tensor"),
    ("functional_to_out", "first", "mode(Tensor x) -> (int n, Tensor)", "returns int n beside tensors"),
    ("functional_to_out", "first", "fill(Tensor out) -> Tensor", "an argument called 'out'"),
    ("functional_to_out", "first", "qr(Tensor out1) -> (Tensor, Tensor)", "an argument called 'out1'"),
    ("functional_to_out", "first", "some(Tensor x) -> Tensor?[]", "returns Tensor?[]"),
    ("functional_to_out", "first", f"many({LETTERS_USED}) -> (Tensor, Tensor)", "use 25 letters"),
    ("functional_to_out", "self", "set_data(Tensor(a!) self) -> Tensor(a!)", "returns Tensor(a!), an argument that it writes"),
    ("to_functional", "first", "exp(Tensor x) -> Tensor", "exp is functional already"),
    ("to_inplace", "first", "neg_(Tensor(a!) x) -> Tensor(a!)", "neg_ is inplace"),
    ("to_inplace", "first", "norm(Tensor x, Tensor(a!) m) -> Tensor", "norm is mutable"),
    ("to_inplace", "first", "rand(*, int n) -> Tensor", "nothing to write in place"),
    ("to_inplace", "first", "rand(int n, Tensor x) -> Tensor", "nothing to write in place"),
    ("to_inplace", "first", "join(Tensor[] xs) -> Tensor", "nothing to write in place"),
    ("to_inplace", "first", "maybe(Tensor? x) -> Tensor", "nothing to write in place"),
    ("to_inplace", "self", "add(Tensor x1, Tensor x2) -> Tensor", "nothing to write in place"),
    ("to_inplace", "self", "set_data(Tensor(a!) self) -> Tensor", "nothing to write in place"),
    ("to_inplace", "first", "qr(Tensor a) -> (Tensor, Tensor)", "no in-place variant"),
    ("to_inplace", "first", "split(Tensor x) -> Tensor[]", "no in-place variant"),
    ("to_inplace", "first", "size(Tensor x) -> int", "no in-place variant"),
    ("to_inplace", "first", "__neg__(Tensor x) -> Tensor", "no in-place name"),
]


@pytest.mark.parametrize(("transform", "receiver", "source", "message"), REFUSED)
def test_schema_that_cannot_be(transform, receiver, source, message):
    with pytest.raises(SchemaError) as caught:
        TRANSFORMS[transform](FunctionSchema.parse(source, receiver))
    assert message in str(caught.value)
    assert caught.value.text == source
    assert caught.value.expected


def test_letters_that_are_left_are_enough():
    schema = functional_to_out_signature(FunctionSchema.parse(f"one({LETTERS_USED}) -> Tensor"))
    assert str(schema.returns[0]) == "Tensor(z!)"


# ------------------------------------------------------------------------------------------------- names across versions

# source, kind wanted, then by version: the name and the names of its out arguments, and its kernel (None: it has none)
NAMES = [
    ("foo_(Tensor(a!) x) -> Tensor(a!)", FUNCTIONAL, ("foo", "foo"), ("foo", "foo"), ("foo.functional", "foo")),
    ("foo_.X(Tensor(a!) x) -> Tensor(a!)", FUNCTIONAL, ("foo.X", "foo"), ("foo.X", "foo"), ("foo.X_functional", "foo")),
    (
        *("foo(Tensor(a!) x) -> ()", FUNCTIONAL),
        *(("foo_functional", "foo_functional"), ("foo_functional", "foo_functional"), ("foo.functional", "foo")),
    ),
    (
        *("foo.X(Tensor(a!) x) -> ()", FUNCTIONAL),
        *(("foo_functional.X", "foo_functional"), ("foo_functional.X", "foo_functional"), ("foo.X_functional", "foo")),
    ),
    (
        *("foo_(Tensor(a!) x, SymInt n) -> Tensor(a!)", FUNCTIONAL),
        *(("foo", "foo_symint"), ("foo", "foo"), ("foo.functional", "foo")),
    ),
    (
        *("foo_.X(Tensor(a!) x) -> Tensor(a!)", OUT),
        *(("foo.X_out out", "foo_X_out"), ("foo.X_out out", "foo_X_out"), ("foo.X_out out", None)),
    ),
    (
        *("foo(Tensor(a!) x, SymInt? n) -> Tensor", OUT),
        *(("foo.out out", "foo_out_symint"), ("foo.out out", "foo_out"), ("foo.out out0", None)),
    ),
    (
        *("foo(Tensor(a!) x) -> (Tensor, Tensor)", OUT),
        *(("foo.out out0 out1", "foo_out"), ("foo.out out0 out1", "foo_out"), ("foo.out out0 out1", None)),
    ),
    ("foo(Tensor x) -> Tensor", OUT, ("foo.out out", "foo_out"), ("foo.out out", "foo_out"), None),
    ("foo(Tensor x) -> Tensor", INPLACE, ("foo_", "foo_"), ("foo_", "foo_"), ("foo_", "foo_")),
    ("foo.X(Tensor x, SymInt[] n) -> Tensor", INPLACE, ("foo_.X", "foo__X_symint"), ("foo_.X", "foo__X"), ("foo_.X", "foo__X")),
]

VERSIONS = ("today", "late-2022", "mid-2022")


@pytest.mark.parametrize(
    ("source", "kind", "naming", "expected"),
    [
        (source, kind, naming, expected)
        for source, kind, *by_version in NAMES
        for naming, expected in zip(VERSIONS, by_version, strict=True)
    ],
)
def test_names_in_each_version(source, kind, naming, expected):
    variant = Variant(FunctionSchema.parse(source))
    if expected is None:
        with pytest.raises(SchemaError, match="no out variant"):
            generate_function(variant, kind, naming=naming)
        return
    made, kernels = generate_function(variant, kind, naming=naming, kernel_namespace="own")
    names = [str(made.name), *(argument.name for argument in made.schema.arguments.out)]
    assert " ".join(names) == expected[0]
    assert made.kind is kind
    assert made.composite_explicit == (expected[1] is not None)
    if expected[1] is None:
        assert kernels == {}
    else:
        assert kernels == {COMPOSITE_EXPLICIT: {made.name: BackendMetadata(expected[1], namespace="own")}}


def test_naming_that_does_not_exist():
    variant = Variant(FunctionSchema.parse("foo_(Tensor(a!) x) -> Tensor(a!)"))
    with pytest.raises(SchemaError, match=r"unknown naming '2021'(.|\n)*'mid-2022'"):
        generate_function(variant, FUNCTIONAL, naming="2021")


# source, kind, version, tags passed on
TAGS = [
    ("foo(Tensor x) -> Tensor", OUT, "today", {"nondeterministic_seeded", "view_copy", "pt2_compliant_tag", "out"}),
    ("foo(Tensor x) -> Tensor", INPLACE, "today", {"nondeterministic_seeded", "view_copy", "pt2_compliant_tag", "inplace"}),
    ("foo_(Tensor(a!) x) -> Tensor(a!)", FUNCTIONAL, "today", {"nondeterministic_seeded", "view_copy", "pt2_compliant_tag"}),
    ("foo(Tensor x) -> Tensor", OUT, "late-2022", {"nondeterministic_seeded"}),
    ("foo_(Tensor(a!) x) -> Tensor(a!)", FUNCTIONAL, "mid-2022", set()),
]


@pytest.mark.parametrize(("source", "kind", "naming", "kept"), TAGS)
def test_tags_that_are_passed_on(source, kind, naming, kept):
    tags = frozenset({"nondeterministic_seeded", "view_copy", "pt2_compliant_tag", "core", "pointwise"})
    made, _ = generate_function(Variant(FunctionSchema.parse(source), tags=tags), kind, naming=naming)
    assert made.tags == kept | {"generated"}
    assert made.generated


def test_metadata_of_a_generated_variant():
    source = Variant(
        FunctionSchema.parse("foo(Tensor x) -> Tensor"),
        autogen=(OperatorName.parse("foo.out"),),
        call_forms=frozenset({"function", "method"}),
        namespace="own",
        manual_binding=True,
        manual_registration=True,
        composite_implicit=True,
        python_module="special",
        location="table 3",
    )
    made, _ = generate_function(source, OUT)
    assert made == Variant(
        FunctionSchema.parse("foo.out(Tensor x, *, Tensor(a!) out) -> Tensor(a!)"),
        tags=frozenset({"generated", "out"}),
        namespace="own",
        composite_explicit=True,
        device_guard=False,
        device_check="NoCheck",
        location="table 3",
    )


@pytest.mark.parametrize(
    ("source", "kind", "message"),
    [
        ("exp(Tensor x) -> Tensor", FUNCTIONAL, "functional already"),
        ("exp.out(Tensor x, *, Tensor(a!) out) -> Tensor(a!)", OUT, "which is out"),
        ("exp.s(Tensor x, *, Tensor(a!) out, Tensor(b!) _scratch_x) -> Tensor(a!)", OUT, "which is scratch"),
        ("exp(Tensor x) -> Tensor", MUTABLE, "mutable variants are not generated"),
        ("exp(Tensor x) -> Tensor", SCRATCH, "scratch variants are not generated"),
        ("exp_(Tensor(a!) x) -> Tensor(a!)", INPLACE, "exp_ is inplace"),
        ("exp.out(Tensor x, *, Tensor(a!) out) -> Tensor(a!)", INPLACE, "exp.out is out"),
    ],
)
def test_variant_that_is_not_generated(source, kind, message):
    with pytest.raises(SchemaError) as caught:
        generate_function(Variant(FunctionSchema.parse(source)), kind)
    assert message in str(caught.value)
    assert caught.value.text == source


# ------------------------------------------------------------------------------------------------------- facts of a variant


@pytest.mark.parametrize(
    ("source", "tags", "is_view"),
    [
        ("exp(Tensor x) -> Tensor", (), False),
        ("view(Tensor(a) x) -> Tensor(a)", (), True),
        ("split(Tensor(a -> *) x) -> Tensor(a)[]", (), True),
        ("keep(Tensor(a -> *) x) -> Tensor", (), True),
        ("choose(Tensor(a|b) x) -> Tensor", (), False),
        ("move(Tensor(a -> b) x) -> Tensor", (), False),
        ("exp_(Tensor(a!) x) -> Tensor(a!)", (), False),
        ("flip_(Tensor(a!) x) -> Tensor(a!)", ("inplace_view",), True),
    ],
)
def test_view(source, tags, is_view):
    assert Variant(FunctionSchema.parse(source), tags=frozenset(tags)).is_view_op is is_view


def test_structured_by_its_own_kernel_or_by_another():
    schema = FunctionSchema.parse("exp(Tensor x) -> Tensor")
    assert not Variant(schema).is_structured
    assert Variant(schema, structured=True).is_structured
    assert Variant(schema, structured_delegate=OperatorName.parse("exp.out")).is_structured


# --------------------------------------------------------------------------------------------------- random operators

_WORDS = st.sampled_from(["x", "y", "z", "condition", "weight", "state"])
_TENSORS = st.sampled_from(["Tensor", "Tensor", "Tensor?", "Tensor[]"])
_OTHERS = st.sampled_from(["int", "bool", "SymInt", "float[2]", "Scalar?"])


@st.composite
def operators(draw, kind):
    """The text of a random schema of that kind."""
    names = draw(st.lists(_WORDS, min_size=1, max_size=5, unique=True))
    written = draw(st.lists(st.booleans(), min_size=len(names), max_size=len(names)))
    items, letters = [], iter("abcdefgh")
    for name, writes in zip(names, written, strict=True):
        is_tensor = draw(st.booleans()) or (kind != "functional" and not items)
        base = draw(_TENSORS) if is_tensor else draw(_OTHERS)
        if is_tensor and ((kind != "functional" and writes) or (kind == "inplace" and not items)):
            base = base.replace("Tensor", f"Tensor({next(letters)}!)")
        items.append(f"{base} {name}")
    overload = draw(st.sampled_from(["", ".own"]))
    results = draw(st.lists(_TENSORS, min_size=1, max_size=3))
    if kind == "inplace":
        name, results = "foo_", ["Tensor(a!)"] if items[0].startswith("Tensor(a!) ") else []
    else:
        name = "foo"
    if kind == "mutable" and "!" not in "".join(items[1:]):
        items.append("Tensor(z!) memory")
    split = draw(st.integers(1, len(items)))
    if split < len(items) and "!" not in "".join(items[split:]):
        items.insert(split, "*")
    returns = results[0] if len(results) == 1 else f"({', '.join(results)})"
    return f"{name}{overload}({', '.join(items)}) -> {returns}"


@given(st.data(), st.sampled_from(["functional", "inplace", "mutable"]), st.sampled_from(VERSIONS))
def test_generated_variants_of_random_operators_belong_to_them(data, kind, naming):
    source = Variant(FunctionSchema.parse(data.draw(operators(kind))))
    assert source.kind.value == kind
    for wanted in (FUNCTIONAL, OUT, INPLACE):
        try:
            made, kernels = generate_function(source, wanted, naming=naming)
        except SchemaError:
            single = [str(item.type) for item in source.schema.returns] == ["Tensor"]
            receiver = source.schema.arguments.self_arg
            assert {
                FUNCTIONAL: kind == "functional",
                OUT: kind == "functional" and naming == "mid-2022",
                INPLACE: kind != "functional" or not single or str(receiver.type) != "Tensor",
            }[wanted]
            continue
        assert made.kind is wanted
        assert made.schema.signature() == source.schema.signature()
        assert FunctionSchema.parse(str(made.schema)) == made.schema
        assert made.name.overload_name.startswith(source.name.overload_name)
        assert all(list(table) == [made.name] for table in kernels.values())
        if wanted is OUT and naming != "mid-2022":
            again, _ = generate_function(made, FUNCTIONAL, naming=naming)
            assert again.schema.signature() == source.schema.signature()
