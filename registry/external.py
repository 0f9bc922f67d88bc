"""Descriptions of backends from other packages: a mapping, as TOML or YAML gives it, that lists what one implements.

Keys of a description:

backend             the name of the backend; required
namespace           a word that tells its kernels from others'; required. ``cpp_namespace``, torchgen's name for it, is taken too
class_name          the class of the module that holds the kernels, as static methods; without it the module itself holds them
supported           names of the operators that it has kernels for; a variant such as ``add.out`` is listed by itself
autograd            names of operators for which it brings a gradient besides the kernel. A gradient belongs to an operator and
                    serves all its backends, so these are operators that it declares itself
operators           schemas of the operators that it declares
copy_from           a backend whose kernels it takes over, as they are when it is loaded, wherever it has none of its own
use_out_as_primary  of the variants of an operator, the out variant is the one that is implemented; default false
device_guard        callers switch to the device of their inputs first; default false
symint              names of operators whose kernels are called ``..._symint``
full_codegen        further names for ``supported``
non_native, ir_gen  for other tools that read the same description; not looked at

``operators`` and ``copy_from`` are ours, the others torchgen's. All variants of an operator are listed under ``supported``, or
all under ``autograd``. ``registry.loading`` makes a backend of a description and a module, and shows a package whole.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from registry import backend_index, operators
from registry.backend_index import BackendIndex, DispatchKey, create_backend_index
from registry.backends import registered_backends
from registry.derived import Family, families
from registry.errors import RegistrationError, SchemaError, close_matches
from registry.schema import FunctionSchema

AUTOGRAD_KEY = "autograd"
"""The key of a description that lists operators which bring their own gradient."""

VALID_KEYS = (
    "backend",
    "namespace",
    "class_name",
    "supported",
    AUTOGRAD_KEY,
    "operators",
    "copy_from",
    "use_out_as_primary",
    "device_guard",
    "symint",
    "full_codegen",
    "non_native",
    "ir_gen",
)

_MAY_BE_NULL = frozenset({"supported", "symint", "operators"})
"""Lists for which null means that they are empty."""


@dataclass(frozen=True, slots=True, repr=False)
class ExternalBackend:
    """What a description says of a backend.

    name          its name
    namespace     of its kernels
    class_name    the class that holds them, or None
    backend_key   the dispatch key of its kernels; None if it lists none as supported
    autograd_key  the dispatch key of the kernels that bring their own gradient; None if it lists none
    indices       the index of each of these keys
    operators     the schemas that it declares
    copy_from     the backend whose kernels it takes over, or None
    """

    name: str
    namespace: str
    class_name: str | None
    backend_key: DispatchKey | None
    autograd_key: DispatchKey | None
    indices: Mapping[DispatchKey, BackendIndex]
    operators: tuple[FunctionSchema, ...] = ()
    copy_from: str | None = None

    def __repr__(self) -> str:
        return f"<backend {self.name!r} of {self.namespace}>"

    def kernel_names(self) -> dict[str, str]:
        """The names of the kernel functions that its module has to define, by operator."""
        return {operator: kernel for index in self.indices.values() for operator, kernel in index.kernel_names().items()}

    def own_operators(self) -> dict[str, Family]:
        """The operators that it declares, by the name of each of their variants."""
        return families(self.operators)


def parse_backend(
    description: object,
    *,
    known_keys: Collection[str] | None = None,
    known_operators: Mapping[str, FunctionSchema] | None = None,
    existing: Collection[str] | None = None,
    source: str = "description of a backend",
) -> ExternalBackend:
    """The backend that a mapping describes; its keys are those of this module's docstring. Nothing is registered.

    ``known_keys`` are the dispatch keys that exist: by default, any name is free for a new backend. ``known_operators`` are the
    schemas of the operators that exist, by name: by default the declared ones, with their variants. ``existing`` are the names of
    dispatch keys that have an index already, by default the registered backends. ``source`` is what messages call the mapping.

    Raises RegistrationError, which names the key concerned, what was got and what was expected.

    >>> backend = parse_backend({"backend": "tiny", "namespace": "tiny_backend", "supported": ["add", "add.out"]})
    >>> backend.kernel_names()
    {'add': 'add', 'add.out': 'add_out'}
    """
    given = _valid_keys(description, source)
    name = _text(given, "backend", source)
    namespace = _text(given, "namespace", source)
    class_name = _text(given, "class_name", source) if given.get("class_name") is not None else None
    copy_from = _text(given, "copy_from", source) if given.get("copy_from") is not None else None
    use_out_as_primary, device_guard = (_flag(given, key, source) for key in ("use_out_as_primary", "device_guard"))
    listed = {
        "supported": [*_names(given, "supported", source), *_names(given, "full_codegen", source)],
        AUTOGRAD_KEY: _names(given, AUTOGRAD_KEY, source),
    }
    symint = frozenset(_names(given, "symint", source))
    own = _schemas(given, source)
    known = _known_operators(own, known_operators)
    taken = registered_backends() if existing is None else existing
    if known_keys is None:
        _check_new_name(name, taken, source)

    keys: dict[str, DispatchKey] = {}
    indices: dict[DispatchKey, BackendIndex] = {}
    for field, names in listed.items():
        if not names:
            continue
        try:
            key = keys[field] = _dispatch_key(name, field, known_keys)
            indices[key] = create_backend_index(
                names,
                key,
                known=known,
                use_out_as_primary=use_out_as_primary,
                use_device_guard=device_guard,
                namespace=namespace,
                symint=symint,
            )
        except (RegistrationError, SchemaError) as error:
            raise RegistrationError(f"{source}: {field!r}: {error}") from error
        if str(key) in taken:
            raise RegistrationError(f"{source}: {key} has an index already; choose another name for 'backend' than {name!r}")
    _check_not_mixed(listed["supported"], listed[AUTOGRAD_KEY], known, source)
    return ExternalBackend(
        name,
        namespace,
        class_name,
        keys.get("supported"),
        keys.get(AUTOGRAD_KEY),
        MappingProxyType(indices),
        own,
        copy_from,
    )


def read_backend_file(path: str | os.PathLike[str]) -> dict[str, Any]:
    """The description in a TOML file, not looked at further.

    Raises RegistrationError, which names the file, if it cannot be read, is no TOML or gives a key twice. A description in
    another format is read by a reader of that format, and passed on as a mapping.
    """
    import tomllib  # here, because few programs read such a file

    name = os.fspath(path)
    if not name.endswith(".toml"):
        raise RegistrationError(f"{name}: expected a .toml file; read another format with its own reader, and pass the mapping")
    try:
        with open(path, "rb") as file:
            return tomllib.load(file)
    except OSError as error:
        raise RegistrationError(f"{name} cannot be read: {error.strerror or error}") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise RegistrationError(f"{name} is no TOML, or gives a key twice: {error}") from error


# ------------------------------------------------------------------------------------------------ parts of a description


def _valid_keys(description: object, source: str) -> dict[str, Any]:
    if not isinstance(description, Mapping):
        raise RegistrationError(f"{source}: got a {type(description).__name__}, expected a mapping with keys such as 'backend'")
    given = dict(description)
    if "cpp_namespace" in given:
        if "namespace" in given:
            raise RegistrationError(f"{source}: got 'namespace' and 'cpp_namespace', which mean the same; leave out one of them")
        given["namespace"] = given.pop("cpp_namespace")
    surplus = [key for key in given if key not in VALID_KEYS]
    if surplus:
        near = "".join(close_matches(str(key), VALID_KEYS) for key in surplus)
        raise RegistrationError(f"{source}: got the keys {surplus}, expected of {list(VALID_KEYS)}.{near}")
    return given


def _text(given: Mapping[str, Any], key: str, source: str) -> str:
    if given.get(key) is None:
        raise RegistrationError(f'{source}: {key!r} is missing; add it, such as {key} = "my_backend"')
    value = given[key]
    if not isinstance(value, str) or not value:
        raise RegistrationError(f"{source}: {key!r}: got {value!r}, expected a name (a text that is not empty)")
    return value


def _flag(given: Mapping[str, Any], key: str, source: str) -> bool:
    value = given.get(key, False)
    if not isinstance(value, bool):
        raise RegistrationError(f"{source}: {key!r}: got {value!r}, expected true or false")
    return value


def _names(given: Mapping[str, Any], key: str, source: str) -> list[str]:
    value = given.get(key, [])
    if value is None and key in _MAY_BE_NULL:
        return []
    if not isinstance(value, list | tuple):
        raise RegistrationError(f"{source}: {key!r}: got {value!r}, a {type(value).__name__}, expected a list of texts")
    for each in value:
        if not isinstance(each, str):
            raise RegistrationError(f"{source}: {key!r}: got {each!r}, a {type(each).__name__}, in the list, expected texts")
    return list(value)


def _schemas(given: Mapping[str, Any], source: str) -> tuple[FunctionSchema, ...]:
    schemas: dict[str, FunctionSchema] = {}
    for text in _names(given, "operators", source):
        try:
            schema = FunctionSchema.parse(text)
        except SchemaError as error:
            raise RegistrationError(f"{source}: 'operators': {error}") from error
        if str(schema.name) in schemas:
            raise RegistrationError(f"{source}: 'operators': {str(schema.name)!r} is declared twice; leave out one of the two")
        schemas[str(schema.name)] = schema
    return tuple(schemas.values())


def _known_operators(
    own: tuple[FunctionSchema, ...], known: Mapping[str, FunctionSchema] | None
) -> Mapping[str, FunctionSchema] | None:
    """The operators that exist, those of the description included; None for just those of the registry."""
    if not own:
        return known
    variants = (variant for family in families(own).values() for variant in family.values())
    added = {str(variant.name): variant.schema for variant in variants}
    return {**(backend_index.known_operators() if known is None else known), **added}


def _check_new_name(name: str, taken: Collection[str], source: str) -> None:
    """Raise RegistrationError unless a new backend may have this name, which no key may stand for already."""
    key = DispatchKey(name)
    if key.is_generic or key.is_autograd:
        raise RegistrationError(f"{source}: 'backend': {name!r} begins as other dispatch keys do; choose another name")
    for each in taken:
        other = DispatchKey(each)
        if other == key or (not other.is_generic and not other.is_autograd and other.autograd_key() == key.autograd_key()):
            raise RegistrationError(f"{source}: 'backend': {each!r} is registered already; choose another name than {name!r}")


def _dispatch_key(name: str, field: str, known: Collection[str] | None) -> DispatchKey:
    """The key for the operators listed under ``field``; raises RegistrationError if there is none of that name."""
    key = DispatchKey(name)
    if known is None:
        return key.autograd_key() if field == AUTOGRAD_KEY else key
    return DispatchKey.parse(str(key.autograd_key()) if field == AUTOGRAD_KEY else name, known)


def _check_not_mixed(
    supported: list[str], with_gradient: list[str], known: Mapping[str, FunctionSchema] | None, source: str
) -> None:
    """Raise RegistrationError if variants of one operator, which have one signature, are listed in both places."""
    schema_of = operators.get_schema if known is None else known.get
    schemas = {name: schema for name in (*supported, *with_gradient) if (schema := schema_of(name)) is not None}
    by_signature = {schemas[name].signature(): name for name in supported}
    for name in with_gradient:
        other = by_signature.get(schemas[name].signature())
        if other is not None:
            raise RegistrationError(
                f"{source}: {other!r} is listed under 'supported' and {name!r} under {AUTOGRAD_KEY!r}, but they are variants of"
                " one operator; list all its variants in one of the two places"
            )
