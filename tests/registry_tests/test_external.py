"""Descriptions of external backends: what they say, and what is refused. Nothing here is registered."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from registry import operator_names, register_backend, registered_backends
from registry.backend_index import BackendIndex, BackendMetadata, DispatchKey
from registry.errors import RegistrationError
from registry.external import VALID_KEYS, parse_backend, read_backend_file
from registry.names import OperatorName
from registry.schema import FunctionSchema

SMALL = {"backend": "tiny", "namespace": "tiny_backend", "supported": ["exp", "exp.out"]}
TINY, AUTOGRAD_TINY = DispatchKey("tiny"), DispatchKey("AutogradTiny")


def entries(namespace="tiny_backend", **kernels):
    return {
        OperatorName.parse(name.replace("__", ".")): BackendMetadata(kernel, namespace=namespace)
        for name, kernel in kernels.items()
    }


def kernels_of(description, **parts):
    return parse_backend({**SMALL, **description}, **parts).kernel_names()


# ------------------------------------------------------------------------------------------------------ what is accepted


def test_a_description_whole():
    described = parse_backend(
        {
            "backend": "tiny",
            "namespace": "deep::tiny_backend",
            "class_name": "Kernels",
            "supported": ["exp", "add_", "sum"],
            "autograd": ["swish", "swish.out"],
            "operators": ["swish(Tensor x) -> Tensor"],
            "copy_from": "numpy",
            "use_out_as_primary": True,
            "device_guard": False,
            "symint": ["sum", "max"],
            "full_codegen": ["exp.out"],
            "non_native": [{"func": "anything"}],
            "ir_gen": 3,
        }
    )
    place = "deep::tiny_backend"
    supported = entries(place, exp="exp", add_="add_", sum="sum_symint", exp__out="exp_out")
    own = entries(place, swish="swish", swish__out="swish_out")
    assert described.indices == {
        TINY: BackendIndex(TINY, True, False, True, supported),
        AUTOGRAD_TINY: BackendIndex(AUTOGRAD_TINY, True, False, True, own),
    }
    assert (described.name, described.namespace, described.class_name) == ("tiny", place, "Kernels")
    assert (described.backend_key, described.autograd_key) == (TINY, AUTOGRAD_TINY)
    assert described.operators == (FunctionSchema.parse("swish(Tensor x) -> Tensor"),)
    assert described.own_operators().keys() == {"swish", "swish.out", "swish_"}
    assert described.copy_from == "numpy"
    assert repr(described) == "<backend 'tiny' of deep::tiny_backend>"


def test_the_flags_are_told_apart():
    index = parse_backend({**SMALL, "device_guard": True}).indices[TINY]
    assert (index.use_out_as_primary, index.device_guard) == (False, True)


def test_a_description_with_what_is_required():
    described = parse_backend({"backend": "tiny", "namespace": "tiny_backend"})
    assert (described.backend_key, described.autograd_key, described.indices) == (None, None, {})
    assert (described.class_name, described.operators, described.copy_from) == (None, (), None)


@pytest.mark.parametrize(
    ("description", "kernels"),
    [
        ({}, {"exp": "exp", "exp.out": "exp_out"}),
        ({"supported": ("exp",)}, {"exp": "exp"}),
        ({"supported": ["exp", "exp"]}, {"exp": "exp"}),
        ({"supported": []}, {}),
        ({"supported": None, "symint": None, "operators": None}, {}),
        ({"supported": [], "full_codegen": ["log"]}, {"log": "log"}),
        ({"supported": ["log"], "symint": ["exp"]}, {"log": "log"}),
        ({"supported": ["exp.out"], "symint": ["exp.out"]}, {"exp.out": "exp_out_symint"}),
        ({"supported": [], "autograd": ["exp"]}, {"exp": "exp"}),
        ({"supported": ["exp"], "autograd": ["log", "log_"]}, {"exp": "exp", "log": "log", "log_": "log_"}),
        ({"supported": ["foo"], "operators": ["foo(Tensor x) -> Tensor"]}, {"foo": "foo"}),
        ({"supported": ["exp", "foo_"], "operators": ["foo(Tensor x) -> Tensor"]}, {"exp": "exp", "foo_": "foo_"}),
    ],
)
def test_the_kernels_that_a_description_asks_for(description, kernels):
    assert kernels_of(description) == kernels


def test_torchgens_word_for_the_namespace():
    described = parse_backend({"backend": "tiny", "cpp_namespace": "a::b", "supported": ["exp"]})
    assert described.namespace == "a::b"
    assert described.indices[TINY].index == entries("a::b", exp="exp")


def test_the_mapping_is_not_changed():
    description = {"backend": "tiny", "cpp_namespace": "a", "supported": ["exp"]}
    parse_backend(description)
    assert description == {"backend": "tiny", "cpp_namespace": "a", "supported": ["exp"]}


def test_own_operators_are_known_beside_given_ones():
    known = {"bar": FunctionSchema.parse("bar(Tensor x) -> Tensor")}
    description = {"operators": ["foo(Tensor x) -> Tensor"], "supported": ["bar", "foo.out"]}
    assert kernels_of(description, known_operators=known) == {"bar": "bar", "foo.out": "foo_out"}
    with pytest.raises(RegistrationError, match="'exp'"):
        kernels_of({**description, "supported": ["exp"]}, known_operators=known)


def test_nothing_is_registered():
    before = operator_names(), registered_backends()
    parse_backend({**SMALL, "operators": ["foo(Tensor x) -> Tensor"], "supported": ["foo"]})
    assert (operator_names(), registered_backends()) == before


# -------------------------------------------------------------------------------------------------------- what is refused


@pytest.mark.parametrize(
    ("description", "words"),
    [
        ({"backend": None}, ["'backend'", "missing"]),
        ({"backend": ""}, ["'backend'", "''"]),
        ({"backend": 3}, ["'backend'", "3"]),
        ({"backend": ["tiny"]}, ["'backend'", "['tiny']"]),
        ({"backend": "numpy"}, ["'backend'", "'numpy'", "registered already"]),
        ({"backend": "Numpy"}, ["'numpy'", "registered already"]),
        ({"backend": "AutogradTiny"}, ["'AutogradTiny'", "another name"]),
        ({"backend": "CompositeExplicitAutograd"}, ["'CompositeExplicitAutograd'", "another name"]),
        ({"namespace": None}, ["'namespace'", "missing"]),
        ({"namespace": 3}, ["'namespace'", "3"]),
        ({"cpp_namespace": "x"}, ["'namespace'", "'cpp_namespace'", "leave out one"]),
        ({"class_name": 3}, ["'class_name'", "3"]),
        ({"class_name": ""}, ["'class_name'", "''"]),
        ({"copy_from": ["numpy"]}, ["'copy_from'", "['numpy']"]),
        ({"suported": ["exp"]}, ["['suported']", "'supported'?"]),
        ({"zed": 1, "alpha": 2}, ["['zed', 'alpha']", "class_name"]),
        ({3: 1}, ["[3]"]),
        ({"extra_headers": "x.h"}, ["extra_headers"]),
        ({"supported": "exp"}, ["'supported'", "'exp'", "str", "list"]),
        ({"supported": {"exp": 1}}, ["'supported'", "dict", "list"]),
        ({"supported": [3]}, ["'supported'", "3", "int"]),
        ({"supported": [None]}, ["'supported'", "None"]),
        ({"autograd": None}, ["'autograd'", "None", "list"]),
        ({"full_codegen": None}, ["'full_codegen'", "None", "list"]),
        ({"symint": "exp"}, ["'symint'", "'exp'", "list"]),
        ({"symint": [["exp"]]}, ["'symint'", "['exp']"]),
        ({"operators": "foo(Tensor x) -> Tensor"}, ["'operators'", "list"]),
        ({"operators": ["foo(Tensor x) - Tensor"]}, ["'operators'", "name(arguments) -> returns"]),
        ({"operators": ["f(Tensor x) -> Tensor", "f(Tensor y) -> Tensor"]}, ["'operators'", "'f'", "twice"]),
        ({"use_out_as_primary": 1}, ["'use_out_as_primary'", "1", "true or false"]),
        ({"use_out_as_primary": None}, ["'use_out_as_primary'", "None"]),
        ({"device_guard": "yes"}, ["'device_guard'", "'yes'"]),
        ({"supported": ["exq"]}, ["'supported'", "'exq'", "does not exist", "'exp'"]),
        ({"full_codegen": ["exq"]}, ["'exq'", "does not exist"]),
        ({"autograd": ["zzzz"]}, ["'autograd'", "'zzzz'", "AutogradTiny"]),
        ({"supported": ["exp_out"]}, ["'supported'", "exp.out"]),
        ({"supported": [""]}, ["'supported'", "empty"]),
        ({"supported": ["ns::exp"]}, ["'ns::exp'"]),
        ({"autograd": ["exp"]}, ["'exp'", "'supported'", "'autograd'"]),
        ({"autograd": ["exp_"]}, ["'exp.out'", "'exp_'"]),
        ({"supported": ["log.out"], "full_codegen": ["exp_"], "autograd": ["exp"]}, ["'exp_'", "variants of one operator"]),
    ],
)
def test_a_refusal_names_the_key_and_what_was_got(description, words):
    with pytest.raises(RegistrationError) as caught:
        parse_backend({**SMALL, **description}, source="tiny.toml")
    message = str(caught.value)
    assert message.startswith("tiny.toml: ")
    missing = [word for word in words if word not in message]
    assert not missing, f"{missing} not in: {message}"


@pytest.mark.parametrize("description", [None, [], "backend", 3, [("backend", "tiny")]])
def test_a_description_is_a_mapping(description):
    with pytest.raises(RegistrationError, match=f"got a {type(description).__name__}, expected a mapping"):
        parse_backend(description)


def test_a_name_that_somebody_registered_is_taken():
    assert parse_backend(SMALL).name == "tiny"
    register_backend("tiny", object)
    with pytest.raises(RegistrationError, match="'tiny' is registered already"):
        parse_backend(SMALL)
    assert parse_backend(SMALL, existing=()).name == "tiny"


def test_known_keys_and_indices_may_be_given():
    given_keys = {"known_keys": ["tiny", "AutogradTiny", "numpy"], "existing": ["AutogradTiny"]}
    assert parse_backend(SMALL, **given_keys).backend_key == TINY
    with pytest.raises(RegistrationError, match="AutogradTiny has an index already"):
        parse_backend({**SMALL, "autograd": ["log"]}, **given_keys)
    with pytest.raises(RegistrationError, match=r"'supported': dispatch key 'other' is unknown"):
        parse_backend({**SMALL, "backend": "other"}, **given_keys)
    assert parse_backend({**SMALL, "backend": "numpy"}, **given_keys).backend_key == DispatchKey("numpy")


values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.sampled_from(["", "exp", "exp.out", "tiny", "foo(Tensor x) -> Tensor"])
    | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=2),
    max_leaves=4,
)


@given(st.dictionaries(st.sampled_from([*VALID_KEYS, "cpp_namespace", "other"]), values, max_size=6))
def test_any_mapping_is_parsed_or_refused(changes):
    try:
        described = parse_backend({**SMALL, **changes})
    except RegistrationError:
        return
    for key, index in described.indices.items():
        assert index.dispatch_key == key
        assert index.external
        assert {metadata.namespace for metadata in index.index.values()} <= {described.namespace}


# ------------------------------------------------------------------------------------------------------------------- files


def test_a_file_is_read_as_a_mapping(tmp_path):
    path = tmp_path / "backend.toml"
    path.write_text('backend = "tiny"\nnamespace = "tiny_backend"\nsupported = ["exp", "exp.out"]\n')
    assert read_backend_file(path) == read_backend_file(str(path)) == SMALL


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b'backend = "tiny"\nbackend = "tiny"\n', "line 2"),
        (b"[supported]\n[supported]\n", "twice"),
        (b"backend: tiny\n", "line 1"),
        (b"backend = tiny\n", "no TOML"),
        (b"supported = [\n", "no TOML"),
        (b'backend = "\xff"\n', "no TOML"),
    ],
)
def test_a_file_that_is_no_toml_is_named(tmp_path, content, words):
    path = tmp_path / "broken.toml"
    path.write_bytes(content)
    with pytest.raises(RegistrationError, match=rf"broken\.toml .*{words}"):
        read_backend_file(path)


def test_a_file_that_cannot_be_read_is_named(tmp_path):
    with pytest.raises(RegistrationError, match=r"missing\.toml cannot be read: No such file"):
        read_backend_file(tmp_path / "missing.toml")
    (tmp_path / "folder.toml").mkdir()
    with pytest.raises(RegistrationError, match=r"folder\.toml cannot be read"):
        read_backend_file(tmp_path / "folder.toml")
    with pytest.raises(RegistrationError, match=r"backend\.yaml: expected a \.toml file"):
        read_backend_file(tmp_path / "backend.yaml")
