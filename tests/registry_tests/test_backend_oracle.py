"""External backends, dispatch keys and indices against torchgen's own answers, wherever the recorded answers are at hand.

The records are facts about another project's tool and no part of this one; without them the tests are skipped.
"""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from registry.backend_index import BackendIndex, DispatchKey
from registry.errors import GradtapeError, RegistrationError
from registry.external import parse_backend, read_backend_file
from registry.schema import FunctionSchema

RECORDS = Path(__file__).resolve().parents[3] / "shared" / "torchgen"

pytestmark = pytest.mark.skipif(not RECORDS.is_dir(), reason="torchgen's recorded answers are not beside the repository")

# A mapping cannot hold a key twice, so this one is for whoever reads the file, as the last test here does.
REFUSED_BY_THE_READER = "duplicate_yaml_key"


def records(name):
    with gzip.open(RECORDS / f"{name}.json.gz", "rt", encoding="utf-8") as file:
        return json.load(file)


BACKENDS = {each["case"]: each for each in records("d_backend_yaml")} if RECORDS.is_dir() else {}


@pytest.fixture(scope="module")
def known_operators():
    """The schemas of all operators that torchgen knows, generated ones included, by name."""
    texts = [each["func"] for each in (*records("a_schemas"), *records("c_generated"))]
    schemas = [FunctionSchema.parse(text, receiver="self") for text in texts]
    return {str(schema.name): schema for schema in schemas}


@pytest.fixture(scope="module")
def known_keys():
    return records("d3_dispatch_keys")["members"].keys()


@pytest.fixture(scope="module")
def in_tree():
    return records("d2_in_tree_indices")


def describe_index(index):
    return {
        "dispatch_key": str(index.dispatch_key),
        "use_out_as_primary": index.use_out_as_primary,
        "external": index.external,
        "device_guard": index.device_guard,
        "native_function_class_name": index.class_name(),
        "index": {
            str(name): {
                "kernel": metadata.kernel,
                "structured": metadata.structured,
                "cpp_namespace": metadata.namespace,
                "supports_symint": metadata.supports_symint,
            }
            for name, metadata in index.index.items()
        },
    }


def describe_backend(backend):
    return {
        "ok": True,
        "backend_key": backend.backend_key and str(backend.backend_key),
        "autograd_key": backend.autograd_key and str(backend.autograd_key),
        "class_name": backend.class_name,
        "cpp_namespace": backend.namespace,
        "indices": {str(key): describe_index(index) for key, index in backend.indices.items()},
    }


def test_there_are_forty_backends():
    assert len(BACKENDS) == 40
    assert sum(each["result"]["ok"] for each in BACKENDS.values()) == 12


@pytest.mark.parametrize("case", BACKENDS)
def test_a_backend_is_accepted_or_refused_alike(case, known_keys, known_operators, in_tree):
    yaml = pytest.importorskip("yaml", reason="PyYAML, which reads the recorded texts, is not installed")
    description, result = yaml.safe_load(BACKENDS[case]["yaml"]), BACKENDS[case]["result"]
    parts = {"known_keys": known_keys, "known_operators": known_operators, "existing": in_tree}
    if result["ok"] or case == REFUSED_BY_THE_READER:
        parsed = describe_backend(parse_backend(description, **parts))
        if result["ok"]:
            assert parsed == result
            assert list(parsed["indices"]) == list(result["indices"])
    else:
        with pytest.raises(RegistrationError) as caught:
            parse_backend(description, **parts)
        assert str(caught.value).startswith("description of a backend: ")


@pytest.mark.parametrize(
    ("case", "words"),
    [
        ("no_backend", ["'backend'", "missing"]),
        ("no_namespace", ["'namespace'", "missing"]),
        ("bad_backend", ["'NOT_XLA'"]),
        ("bad_autograd_backend", ["'autograd'", "'AutogradVulkan'"]),
        ("in_tree_backend", ["CPU", "already"]),
        ("unknown_op", ["'abs_BAD'", "'supported'"]),
        ("bad_op_name_out", ["'abs_out'", "abs.out"]),
        ("op_is_int", ["3", "int", "'supported'"]),
        ("namespaced_op", ["'aten::abs'"]),
        ("supported_is_str", ["'supported'", "'abs'", "list"]),
        ("autograd_is_none", ["'autograd'", "None", "list"]),
        ("symint_is_str", ["'symint'", "'abs'", "list"]),
        ("two_unexpected_keys", ["zed", "alpha", "class_name"]),
        ("mixed_forward_and_autograd", ["'add.Tensor'", "'add.out'", "'supported'", "'autograd'"]),
        ("same_in_both", ["'add.Tensor'"]),
        ("use_out_not_bool", ["'use_out_as_primary'", "1", "true or false"]),
        ("device_guard_not_bool", ["'device_guard'", "'yes'"]),
        ("top_level_list", ["list", "mapping"]),
        ("empty_file", ["NoneType", "mapping"]),
        ("full_codegen_unknown", ["'nope'"]),
        ("full_codegen_none", ["'full_codegen'", "None", "list"]),
        ("extra_headers_listed_but_rejected", ["extra_headers"]),
    ],
)
def test_a_refusal_names_what_is_wrong(case, words, known_keys, known_operators, in_tree):
    yaml = pytest.importorskip("yaml", reason="PyYAML, which reads the recorded texts, is not installed")
    with pytest.raises(RegistrationError) as caught:
        parse_backend(
            yaml.safe_load(BACKENDS[case]["yaml"]), known_keys=known_keys, known_operators=known_operators, existing=in_tree
        )
    missing = [word for word in words if word not in str(caught.value)]
    assert not missing, f"{missing} not in: {caught.value}"


# ------------------------------------------------------------------------------------------------------- dispatch keys


def test_every_key_is_read_and_printed(known_keys):
    assert len(known_keys) == 141
    for name in known_keys:
        assert str(DispatchKey.parse(name, known_keys)) == name


CHANGES = {
    "lower case": str.lower,
    "upper case": str.upper,
    "space before": " {}".format,
    "letter more": "{}s".format,
    "letter less": lambda name: name[:-1],
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_key_is_spelled_exactly(change, known_keys):
    changed = {CHANGES[change](name) for name in known_keys} - set(known_keys)
    assert len(changed) > 100
    for name in changed:
        with pytest.raises(RegistrationError, match="is unknown"):
            DispatchKey.parse(name, known_keys)


def test_the_generic_keys(known_keys):
    assert {name for name in known_keys if DispatchKey(name).is_generic} == set(records("d3_dispatch_keys")["generic"])


def test_each_backend_has_an_autograd_key(known_keys):
    for name in records("d3_dispatch_keys")["backend_components"]:
        key = DispatchKey(name).autograd_key()
        assert key == DispatchKey.parse(f"Autograd{name}", known_keys)
        assert key.is_autograd
        assert not DispatchKey(name).is_autograd


# ------------------------------------------------------------------------------------------------------- indices in the tree


def test_an_index_in_the_tree_is_not_external_and_no_external_one_takes_its_key(in_tree, known_keys, known_operators):
    """The same operators make a backend of every key that has no index yet, and of no key that has one."""
    assert len(in_tree) == 30
    for name in ("CPU", "XLA", *in_tree):
        description = {"backend": name, "namespace": "x", "supported": ["abs"], "use_out_as_primary": True}
        parts = {"known_keys": known_keys, "known_operators": known_operators}
        if name in in_tree:
            facts = {key: in_tree[name][key] for key in ("use_out_as_primary", "device_guard", "external")}
            assert BackendIndex(DispatchKey(name), **facts).class_name() is None
            with pytest.raises(RegistrationError, match=f"{name} has an index already"):
                parse_backend(description, **parts, existing=in_tree)
        assert parse_backend(description, **parts, existing=()).backend_key == DispatchKey(name)


def test_a_toml_file_cannot_give_a_key_twice_either(tmp_path):
    path = tmp_path / "backend.toml"
    path.write_text('backend = "XLA"\nsupported = ["abs"]\nsupported = ["abs"]\n')
    with pytest.raises(GradtapeError, match=r"backend\.toml.*twice.*line 3"):
        read_backend_file(path)
