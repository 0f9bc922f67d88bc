"""Dispatch keys, backend indices, and what the registered backends implement."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from registry import KernelConfig, declare, get_kernels_for_backend, register_backend, register_kernel
from registry.backend_index import (
    COMPOSITE_EXPLICIT,
    COMPOSITE_IMPLICIT,
    BackendIndex,
    BackendMetadata,
    DispatchKey,
    create_backend_index,
    index_of_backend,
    known_operators,
)
from registry.errors import RegistrationError, SchemaError
from registry.grouping import VariantGroup
from registry.names import OperatorName
from registry.schema import FunctionSchema
from registry.variant import Variant

XLA = DispatchKey("XLA")


def variant(text):
    return Variant(FunctionSchema.parse(text))


EXP = variant("exp(Tensor x) -> Tensor")
EXP_OUT = variant("exp.out(Tensor x, *, Tensor(a!) out) -> Tensor(a!)")
EXP_INPLACE = variant("exp_(Tensor(a!) x) -> Tensor(a!)")
GROUP = VariantGroup(EXP, EXP_OUT, EXP_INPLACE)


def index(*names, use_out_as_primary=False, external=True):
    entries = {OperatorName.parse(name): BackendMetadata(name.replace(".", "_")) for name in names}
    return BackendIndex(XLA, use_out_as_primary, device_guard=False, external=external, index=entries)


# -------------------------------------------------------------------------------------------------------- dispatch keys


@pytest.mark.parametrize("name", ["numpy", "AutogradNumpy", "CompositeExplicitAutograd", "CompositeImplicitAutograd"])
def test_the_keys_of_the_registry(name):
    assert DispatchKey.parse(name) == DispatchKey(name)
    assert str(DispatchKey(name)) == name


def test_a_registered_backend_has_two_keys():
    for name in ("fake", "AutogradFake"):
        with pytest.raises(RegistrationError, match=name):
            DispatchKey.parse(name)
    register_backend("fake", object)
    assert DispatchKey.parse("fake").autograd_key() == DispatchKey.parse("AutogradFake")


@pytest.mark.parametrize(
    ("text", "near"),
    [
        ("nunpy", "'numpy'"),
        ("NUMPY", ""),
        ("Autogradnumpy", "'AutogradNumpy'"),
        ("CompositeExplicit", "'CompositeExplicitAutograd'"),
        ("", ""),
        (" numpy", "'numpy'"),
        (3, ""),
        (None, ""),
        (["numpy"], "'numpy'"),
    ],
)
def test_an_unknown_key_is_named_with_what_is_near(text, near):
    with pytest.raises(RegistrationError) as caught:
        DispatchKey.parse(text)
    message = str(caught.value)
    assert repr(text) in message
    assert "numpy, AutogradNumpy, CompositeExplicitAutograd, CompositeImplicitAutograd" in message
    assert near in message


def test_known_keys_take_the_place_of_the_registered_ones():
    assert DispatchKey.parse("XLA", known={"XLA": 53}) == XLA
    with pytest.raises(RegistrationError, match="'numpy' is unknown; expected one of XLA, CPU, spelled"):
        DispatchKey.parse("numpy", known=["XLA", "CPU"])
    with pytest.raises(RegistrationError, match="the 20 known ones"):
        DispatchKey.parse("numpy", known=[f"key{number}" for number in range(20)])


@pytest.mark.parametrize("name", ["", None, 3, b"numpy"])
def test_a_key_is_a_name(name):
    with pytest.raises(RegistrationError, match="DispatchKey"):
        DispatchKey(name)


def test_generic_keys_serve_every_backend_and_have_no_autograd_key():
    assert COMPOSITE_EXPLICIT.is_generic
    assert COMPOSITE_IMPLICIT.is_generic
    assert not DispatchKey("numpy").is_generic
    for key in (COMPOSITE_EXPLICIT, COMPOSITE_IMPLICIT, DispatchKey("AutogradNumpy")):
        with pytest.raises(RegistrationError, match=f"'{key}' has no Autograd key"):
            key.autograd_key()


@given(st.from_regex(r"[A-Za-z_][A-Za-z0-9_]*", fullmatch=True))
def test_an_autograd_key_capitalises_one_letter(name):
    key = DispatchKey(f"x{name}")
    assert str(key.autograd_key()) == f"AutogradX{name}"
    assert key.autograd_key().is_autograd


# ------------------------------------------------------------------------------------------------------ one backend's index


@pytest.mark.parametrize(
    ("held", "operator", "use_out_as_primary", "expected"),
    [
        (["exp"], EXP, False, "exp"),
        (["exp"], EXP, True, "exp"),
        (["exp"], EXP_OUT, False, None),
        (["exp.out"], EXP_OUT, False, "exp_out"),
        (["exp_"], EXP_INPLACE, False, "exp_"),
        (["exp_"], EXP, False, None),
        ([], EXP, False, None),
        (["exp"], GROUP, False, "exp"),
        (["exp"], GROUP, True, None),
        (["exp.out"], GROUP, True, "exp_out"),
        (["exp.out"], GROUP, False, None),
        (["exp", "exp.out"], GROUP, True, "exp_out"),
        (["exp_"], GROUP, False, None),
    ],
)
def test_the_kernel_of_a_variant_or_of_the_primary_one_of_a_group(held, operator, use_out_as_primary, expected):
    found = index(*held, use_out_as_primary=use_out_as_primary)
    assert found.get_kernel(operator) == (expected and BackendMetadata(expected))
    assert found.has_kernel(operator) == (expected is not None)


def test_the_primary_variant():
    assert index().primary(GROUP) is EXP
    assert index(use_out_as_primary=True).primary(GROUP) is EXP_OUT


def test_an_index_grows_into_a_new_one():
    small, more = index("exp"), index("exp.out", "exp_").index
    grown = small.grow(more)
    assert grown == index("exp", "exp.out", "exp_")
    assert list(grown.kernel_names()) == ["exp", "exp.out", "exp_"]
    assert small == index("exp")
    assert small.grow({}) == small
    assert (grown.dispatch_key, grown.external) == (small.dispatch_key, small.external)


def test_an_index_has_one_kernel_an_operator():
    with pytest.raises(RegistrationError, match=r"'exp\.out'.*dispatch key XLA.*'exp_out'.*'another'"):
        index("exp", "exp.out").grow({EXP_OUT.name: BackendMetadata("another")})


def test_an_index_is_read_only_and_keeps_its_own_copy():
    entries = {EXP.name: BackendMetadata("exp")}
    held = BackendIndex(XLA, False, False, True, entries)
    entries.clear()
    assert held.has_kernel(EXP)
    with pytest.raises(TypeError):
        held.index[EXP_OUT.name] = BackendMetadata("exp_out")
    with pytest.raises(AttributeError):
        held.external = False
    assert {held: "found"}[index("exp")] == "found"


@pytest.mark.parametrize("entries", [{"exp": BackendMetadata("exp")}, {EXP.name: "exp"}])
def test_an_index_holds_metadata_by_name(entries):
    with pytest.raises(RegistrationError, match=r"XLA.*BackendMetadata by name"):
        BackendIndex(XLA, False, False, True, entries)


def test_only_an_external_index_has_a_class_name():
    assert index().class_name() == "XLANativeFunctions"
    assert index(external=False).class_name() is None


# ---------------------------------------------------------------------------------------------- an external backend's index


def test_create_backend_index():
    made = create_backend_index(
        ["add", "add.out", "add_", "sum", "add"],
        XLA,
        use_out_as_primary=True,
        use_device_guard=True,
        namespace="a::b",
        symint=["sum", "exp"],
    )
    kernels = {"add": "add", "add.out": "add_out", "add_": "add_", "sum": "sum_symint"}
    entries = {OperatorName.parse(name): BackendMetadata(kernel, False, "a::b") for name, kernel in kernels.items()}
    assert made == BackendIndex(XLA, True, True, True, entries)
    assert [metadata.supports_symint for metadata in made.index.values()] == [False, False, False, True]


def test_the_defaults_are_those_of_a_plain_backend():
    assert create_backend_index(["exp"], XLA) == index("exp")
    assert create_backend_index([], XLA) == index()
    assert create_backend_index([], XLA, use_device_guard=True) == BackendIndex(XLA, False, True, True)


def test_kernel_names_leave_out_the_overload():
    texts = [
        "mix.one(Tensor x) -> Tensor",
        "mix.two(Tensor x, Tensor y) -> Tensor",
        "mix.two_out(Tensor x, Tensor y, *, Tensor(a!) out) -> Tensor(a!)",
    ]
    schemas = {text.partition("(")[0]: FunctionSchema.parse(text) for text in texts}
    assert create_backend_index(schemas, XLA, known=schemas).kernel_names() == {
        "mix.one": "mix",
        "mix.two": "mix",
        "mix.two_out": "mix_out",
    }


@pytest.mark.parametrize(
    ("name", "near"),
    [("multipy", "'multiply'"), ("add.oot", "'add.out'"), ("ns::exp", ""), ("exp.Tensor", ""), ("zzzz", ""), ("concatenat_", "")],
)
def test_an_operator_that_does_not_exist_is_named_with_what_is_near(name, near):
    with pytest.raises(RegistrationError) as caught:
        create_backend_index(["exp", name], XLA)
    assert f"operator {name!r}, listed for dispatch key XLA, does not exist" in str(caught.value)
    assert near in str(caught.value)


def test_known_operators_take_the_place_of_the_declared_ones():
    known = {"mine": FunctionSchema.parse("mine(Tensor x) -> Tensor")}
    assert create_backend_index(["mine"], XLA, known=known).kernel_names() == {"mine": "mine"}
    with pytest.raises(RegistrationError, match=r"'exp'.*does not exist\.$"):
        create_backend_index(["exp"], XLA, known=known)


@pytest.mark.parametrize(
    ("names", "error", "words"),
    [
        ("exp", RegistrationError, "the text 'exp'"),
        ([3], RegistrationError, "3, a int"),
        ([None], RegistrationError, "None"),
        ([["exp"]], RegistrationError, r"\['exp'\], a list"),
        (["exp_out"], SchemaError, "_out"),
        ([""], SchemaError, "empty"),
        (["exp."], SchemaError, "dot"),
    ],
)
def test_what_is_no_list_of_names(names, error, words):
    with pytest.raises(error, match=words):
        create_backend_index(names, XLA)


def test_declared_operators_are_known_with_their_variants():
    before = known_operators()
    assert "no_such" not in before
    declare("no_such(Tensor x) -> Tensor")
    known = known_operators()
    assert known.keys() - before.keys() == {"no_such", "no_such.out", "no_such_"}
    assert all(str(schema.name) == name for name, schema in known.items())


# ------------------------------------------------------------------------------------------- what a registered backend has


def test_numpy_implements_every_operator_it_has_a_kernel_for():
    found = index_of_backend("numpy")
    assert (str(found.dispatch_key), found.external, found.class_name()) == ("numpy", False, None)
    names = {config.kernel_name for config in get_kernels_for_backend("numpy")}
    assert names <= found.kernel_names().keys()
    with_out = {config.kernel_name for config in get_kernels_for_backend("numpy") if config.out_func is not None}
    assert {str(name) for name in found.index if name.overload_name == "out"} == {f"{name}.out" for name in with_out}


def named_kernel(x):
    return x


def made_by_another():
    def run(x):
        return x

    return run


def test_kernels_have_the_name_of_their_function_where_it_can_be_found_by_it():
    import numpy as np

    register_backend("fake", object)
    register_kernel(KernelConfig("exp", "fake", np.exp))
    register_kernel(KernelConfig("log", "fake", named_kernel, out_func=lambda x, *, out: out))
    register_kernel(KernelConfig("sin", "fake", made_by_another()))
    register_kernel(KernelConfig("sin.out", "fake", named_kernel))
    register_kernel(KernelConfig("sin_", "fake", lambda x: x))
    register_kernel(KernelConfig("new_here", "fake", named_kernel))
    found = index_of_backend("fake")
    assert found.kernel_names() == {
        "exp": "exp",
        "log": "named_kernel",
        "log.out": "log_out",
        "sin": "sin",
        "sin.out": "named_kernel",
        "sin_": "sin_",
        "new_here": "named_kernel",
    }
    assert found.external
    assert {metadata.namespace for name, metadata in found.index.items() if str(name) == "log"} == {__name__}


def test_a_kernel_of_its_own_goes_before_the_out_form_of_another():
    register_backend("fake", object)
    register_kernel(KernelConfig("sin", "fake", named_kernel, out_func=made_by_another()))
    register_kernel(KernelConfig("sin.out", "fake", named_kernel))
    declare("fresh(Tensor x) -> Tensor")
    register_kernel(KernelConfig("fresh.out", "fake", named_kernel))
    register_kernel(KernelConfig("fresh", "fake", named_kernel, out_func=made_by_another()))
    assert set(index_of_backend("fake").kernel_names().values()) == {"named_kernel"}
    assert len(index_of_backend("fake").index) == 4


def test_a_backend_without_kernels_implements_nothing():
    register_backend("fake", object)
    assert index_of_backend("fake") == BackendIndex(DispatchKey("fake"), False, False, True)


def test_the_index_of_an_unknown_backend():
    with pytest.raises(RegistrationError, match=r"'nunpy' is unknown.*'numpy'"):
        index_of_backend("nunpy")
