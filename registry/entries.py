"""Operators from entries: the mappings that a table of operators in TOML or YAML consists of, shaped as torchgen's are.

    func                        the schema, after a namespace and `::` where it is not the usual one; the only required key
    dispatch                    a mapping from dispatch keys, several joined by comma, to kernel names with or without namespace;
                                without it the kernel is made of differentiable operators and called like the operator
    autogen                     names of the variants to be generated, joined by comma and space
    variants                    how it is called: `function` (the usual), `method`, or both joined by comma and space
    tags                        a word or a list of words
    structured                  the kernels work in two steps; only in the entry of an out variant
    structured_delegate         the out variant whose structured kernel serves this one; structured_inherits what that builds upon
    manual_cpp_binding, manual_kernel_registration, device_guard, device_check, python_module

Reading text is left to a reader of the format; what comes here are mappings, lists, texts and truth values. What an operator
table takes for granted, such as its tags, is said by `EntryRules`.

Where we differ from torchgen on purpose: two entries of one name are an error even if their kernels are in different tables.
Its rules for names (random-number operators, factories, `_foreach_`) and its keys for C++ are not ours: `EntryRules.ignored`
names keys that are to be skipped.
"""

from __future__ import annotations

import keyword
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NoReturn

from registry.backend_index import COMPOSITE_EXPLICIT, COMPOSITE_IMPLICIT, BackendMetadata, DispatchKey
from registry.errors import RegistrationError, SchemaError, close_matches
from registry.generation import grow_tables
from registry.names import BaseOperatorName, OperatorName
from registry.schema import FunctionSchema, ReceiverRule, SchemaKind
from registry.variant import INPLACE_VIEW, Variant
from registry.variants import KernelTables

_KEYS = (
    "func",
    *("dispatch", "autogen", "variants", "tags", "structured", "structured_delegate", "structured_inherits"),
    *("manual_cpp_binding", "manual_kernel_registration", "device_guard", "device_check", "python_module"),
)
_SEPARATOR = ", "
_DEEPEST_NAMESPACE = 3
_COMPOSITE_KEYS = (COMPOSITE_IMPLICIT, COMPOSITE_EXPLICIT)


@dataclass(frozen=True, slots=True)
class EntryRules:
    """What a table of operators allows in its entries, and what it takes for granted.

    namespace           of operators that name none
    kernel_namespace    of kernels that name none
    inner_namespace     what follows the namespace that a kernel names
    receiver            which argument an in-place operator writes: the first, or the one called self
    tags                the tags that exist; None for any. If `out` or `inplace` exist, variants of that kind have them anyway
    added_tags          tags that every operator of the usual namespace has anyway
    dispatch_keys       the dispatch keys that exist; None for any
    supported_keys      those that a dispatch table may use; None for all that exist
    structured_keys     those under which the kernels of structured operators are; None for all but the composite ones
    exclusive_keys      composite keys of which a table may have one
    keyword_arguments   full names of operators that may have arguments called like a word of Python (`from`)
    lone_inplace_views  base names of operators tagged `inplace_view` that need no functional one beside them
    ignored             keys of entries that are skipped

    Keys, tags and names are texts.
    """

    namespace: str = ""
    kernel_namespace: str = ""
    inner_namespace: str = ""
    receiver: ReceiverRule = "first"
    tags: Collection[str] | None = None
    added_tags: Collection[str] = ()
    dispatch_keys: Collection[str] | None = None
    supported_keys: Collection[str] | None = None
    structured_keys: Collection[str] | None = None
    exclusive_keys: Collection[str] = tuple(key.name for key in _COMPOSITE_KEYS)
    keyword_arguments: Collection[str] = ()
    lone_inplace_views: Collection[str] = ()
    ignored: Collection[str] = field(default_factory=frozenset)


_PLAIN_RULES = EntryRules()


def read_entries(
    entries: Sequence[Mapping[str, Any]], *, rules: EntryRules = _PLAIN_RULES, source: str = ""
) -> tuple[list[Variant], KernelTables]:
    """The operators of a list of entries, in order, and what is known of their kernels.

    `source` says in messages where the entries come from. Raises RegistrationError or SchemaError, naming the entry, for one that
    cannot be read, and for entries that do not go together: two of one name, and what `check_together` refuses.

    >>> variants, kernels = read_entries([{"func": "exp(Tensor x) -> Tensor", "dispatch": {"numpy": "exp"}}])
    >>> print(variants[0].schema, {str(key): len(table) for key, table in kernels.items()})
    exp(Tensor x) -> Tensor {'numpy': 1}
    """
    where = source or "entries"
    if isinstance(entries, str) or not isinstance(entries, Sequence):
        raise RegistrationError(f"{where}: got {_shown(entries)}, expected a list of entries")
    by_name: dict[OperatorName, Variant] = {}
    tables: KernelTables = {}
    for number, entry in enumerate(entries, start=1):
        location = f"{where}, number {number}" if source else f"entry {number}"
        variant, kernels = read_entry(entry, rules=rules, location=location)
        holder = by_name.setdefault(variant.name, variant)
        if holder is not variant:
            raise RegistrationError(
                f"{location}: the name of\n  {variant.schema}\nis taken:\n  {holder.schema}{holder.place}\n"
                "expected another overload"
            )
        grow_tables(tables, {key: {variant.name: metadata} for key, metadata in kernels.items()})
    variants = list(by_name.values())
    check_together(variants, rules=rules)
    return variants, tables


def read_entry(
    entry: Mapping[str, Any], *, rules: EntryRules = _PLAIN_RULES, location: str = ""
) -> tuple[Variant, dict[DispatchKey, BackendMetadata]]:
    """One operator from its entry, and its kernels by dispatch key.

    Raises RegistrationError for a key, type or combination that is not allowed, SchemaError for a schema or name that cannot be
    read; both name the entry.

    >>> variant, kernels = read_entry({"func": "own::exp_(Tensor(a!) x) -> Tensor(a!)", "autogen": "exp, exp.out"})
    >>> variant.namespace, [str(name) for name in variant.autogen], kernels[COMPOSITE_IMPLICIT].kernel
    ('own', ['exp', 'exp.out'], 'exp_')
    """
    if not isinstance(entry, Mapping):
        raise RegistrationError(f"{location or 'entry'}: got {_shown(entry)}, expected a mapping with the key 'func'")
    fields = _Fields(entry, rules.ignored, location)
    namespace, schema = fields.take_func(rules)
    call_forms = fields.take_call_forms()
    structured = fields.take_flag("structured", False)
    delegate = fields.take_text("structured_delegate")
    inherits = fields.take_text("structured_inherits")
    manual_registration = fields.take_flag("manual_kernel_registration", False)
    device_guard = fields.take_flag("device_guard", True)
    python_module = fields.take_text("python_module")
    _check_structured(fields, schema, structured, delegate, inherits, device_guard)
    if python_module is not None and "method" in call_forms:
        fields.refuse(f"python_module {python_module!r} and a method", "variants: function, for what stands in a module")
    if schema.arguments.out and call_forms != {"function"}:
        fields.refuse("a method with out arguments", "variants: function")
    kernels = _take_dispatch(fields, rules, schema, structured, delegate, manual_registration)
    variant = Variant(
        schema,
        tags=_take_tags(fields, rules, schema, namespace),
        autogen=fields.take_autogen(),
        call_forms=call_forms,
        namespace=namespace,
        manual_binding=fields.take_flag("manual_cpp_binding", False),
        manual_registration=manual_registration,
        structured=structured,
        structured_delegate=None if delegate is None else fields.name_of("structured_delegate", delegate),
        structured_inherits=inherits,
        composite_implicit=COMPOSITE_IMPLICIT in kernels,
        composite_explicit=COMPOSITE_EXPLICIT in kernels,
        device_guard=device_guard,
        device_check=fields.take_word("device_check", ("ExactSame", "NoCheck")),
        python_module=python_module,
        location=location,
    )
    fields.finish()
    return variant, kernels


def check_together(variants: Iterable[Variant], *, rules: EntryRules = _PLAIN_RULES) -> None:
    """Raise RegistrationError where one operator needs another one that is not there, or cannot be called from Python.

    The structured operator that one delegates to has to exist and be structured; an operator tagged `inplace_view` has to be
    in-place, with a functional one beside it; no argument is called like a word of Python. `rules` names the exceptions.
    """
    by_name = {variant.name: variant for variant in variants}
    base_names = {name.name for name in by_name}
    for variant in by_name.values():
        name = variant.name
        who = f"operator {str(name)!r}{variant.place}"
        delegate = variant.structured_delegate
        if delegate is not None and delegate not in by_name:
            near = close_matches(str(delegate), [str(each) for each in by_name])
            raise RegistrationError(f"{who} delegates to {delegate}, expected an operator that is there.{near}")
        if delegate is not None and not by_name[delegate].structured:
            raise RegistrationError(f"{who} delegates to {delegate}, expected that one to say 'structured: true'")
        for argument in variant.schema.arguments.flat_all:
            if keyword.iskeyword(argument.name) and str(name) not in rules.keyword_arguments:
                raise RegistrationError(
                    f"{who} has an argument called {argument.name!r}, expected a name that is no word of Python"
                )
        if INPLACE_VIEW in variant.tags and str(name.name) not in rules.lone_inplace_views:
            if not name.name.inplace:
                raise RegistrationError(f"{who} is tagged {INPLACE_VIEW!r}, expected an in-place name such as {name.name}_")
            functional = BaseOperatorName(name.name.base, dunder_method=name.name.dunder_method)
            if functional not in base_names:
                raise RegistrationError(f"{who} is tagged {INPLACE_VIEW!r}, expected an operator {functional} beside it")


class _Fields:
    """The keys of one entry that are not read yet."""

    def __init__(self, entry: Mapping[str, Any], ignored: Collection[str], location: str) -> None:
        self.left = {key: value for key, value in entry.items() if key not in ignored}
        self.location = location or "entry"
        self.who = f"{self.location}: {entry['func']}" if "func" in entry else self.location

    def refuse(self, got: str, expected: str) -> NoReturn:
        raise RegistrationError(f"{self.who}\ngot {got}; expected {expected}")

    def take(self, key: str) -> Any:
        """The value of a key, or None."""
        return self.left.pop(key, None)

    def take_text(self, key: str) -> str | None:
        value = self.take(key)
        if value is not None and not isinstance(value, str):
            self.refuse(f"{key}: {_shown(value)}", "a text")
        return value

    def take_flag(self, key: str, default: bool) -> bool:
        value = self.left.pop(key, default)
        if not isinstance(value, bool):
            self.refuse(f"{key}: {_shown(value)}", "true or false")
        return value

    def take_word(self, key: str, words: Sequence[str]) -> str:
        """One of the words; the first where the key is missing."""
        word = self.take_text(key)
        if word is None:
            return words[0]
        if word not in words:
            self.refuse(f"{key}: {word!r}", " or ".join(words) + "." + close_matches(word, words))
        return word

    def take_func(self, rules: EntryRules) -> tuple[str, FunctionSchema]:
        """The namespace and the schema of the operator."""
        text = self.take_text("func")
        if text is None:
            self.refuse(f"the keys {sorted(map(str, self.left))}", "the key 'func' with a schema")
        namespace, colons, _ = text.partition("(")[0].rpartition("::")
        if "::" in namespace:
            self.refuse(f"the namespace {namespace!r}", "one level of namespaces")
        offset = len(namespace) + len(colons)
        try:
            return namespace if colons else rules.namespace, FunctionSchema.parse(text[offset:], rules.receiver)
        except SchemaError as error:
            raise self._named("func", error) from None

    def take_call_forms(self) -> frozenset[str]:
        text = self.take_text("variants") or "function"
        forms = frozenset(text.split(_SEPARATOR))
        if not forms <= {"function", "method"}:
            self.refuse(f"variants: {text!r}", "function, method, or both joined by comma and space")
        return forms

    def take_autogen(self) -> tuple[OperatorName, ...]:
        text = self.take_text("autogen")
        return () if text is None else tuple(self.name_of("autogen", part) for part in text.split(_SEPARATOR))

    def name_of(self, key: str, text: str) -> OperatorName:
        """The operator name that is the value of a key, or a part of it."""
        try:
            return OperatorName.parse(text)
        except SchemaError as error:
            raise self._named(key, error) from None

    def _named(self, key: str, error: SchemaError) -> SchemaError:
        message = str(error).partition("\n")[0]
        who = self.location if key == "func" else self.who
        return SchemaError(f"{who}\n{key}: {message}", text=error.text, position=error.position, expected=error.expected)

    def finish(self) -> None:
        """Raise RegistrationError if any key was not read."""
        for key in self.left:
            self.refuse(f"the unknown key {key!r}", f"one of {', '.join(_KEYS)}.{close_matches(str(key), _KEYS)}")


def _check_structured(
    fields: _Fields, schema: FunctionSchema, structured: bool, delegate: str | None, inherits: str | None, device_guard: bool
) -> None:
    is_out = schema.kind() is SchemaKind.out
    if structured and not is_out:
        fields.refuse(f"structured, in the entry of a variant that is {schema.kind().value}", "structured_delegate there")
    if delegate is not None and is_out:
        fields.refuse(f"structured_delegate {delegate!r}, in the entry of an out variant", "structured: true there")
    for key, text in (("structured_delegate", delegate), ("structured_inherits", inherits)):
        if text is not None and "::" in text:
            fields.refuse(f"{key}: {text!r}", "a name without namespace")
    if inherits is not None and not structured:
        fields.refuse(f"structured_inherits {inherits!r} without structured", "structured: true beside it")
    if structured and not device_guard:
        fields.refuse("structured, and device_guard: false", "one of the two")


def _take_tags(fields: _Fields, rules: EntryRules, schema: FunctionSchema, namespace: str) -> frozenset[str]:
    given = fields.take("tags")
    words = () if given is None else (given,) if isinstance(given, str) else given
    if not isinstance(words, list | tuple) or not all(isinstance(word, str) for word in words):
        fields.refuse(f"tags: {_shown(given)}", "a word or a list of words")
    known = rules.tags
    tags = set(words)
    for word in words:
        if known is not None and word not in known:
            fields.refuse(f"the unknown tag {word!r}", f"one of {', '.join(sorted(known))}.{close_matches(word, known)}")
    if namespace == rules.namespace:
        tags.update(rules.added_tags)
    of_kind = {"out": bool(schema.arguments.out), "inplace": schema.kind() is SchemaKind.inplace}
    tags.update(word for word, holds in of_kind.items() if holds and known is not None and word in known)
    return frozenset(tags)


def _take_dispatch(
    fields: _Fields, rules: EntryRules, schema: FunctionSchema, structured: bool, delegate: str | None, by_hand: bool
) -> dict[DispatchKey, BackendMetadata]:
    table = fields.take("dispatch")
    if table is None:
        if structured or delegate is not None:
            return {}
        return {COMPOSITE_IMPLICIT: BackendMetadata(schema.kernel_name(), namespace=rules.kernel_namespace)}
    if not isinstance(table, Mapping):
        fields.refuse(f"dispatch: {_shown(table)}", "a mapping from dispatch keys to kernel names")
    if by_hand:
        fields.refuse("a dispatch table, and manual_kernel_registration: true", "one of the two")
    kernels: dict[DispatchKey, BackendMetadata] = {}
    for keys, kernel in table.items():
        if keys in rules.ignored:
            continue
        if not isinstance(keys, str) or not isinstance(kernel, str):
            fields.refuse(f"dispatch: {keys!r}: {kernel!r}", "dispatch keys and a kernel name, two texts")
        for text in keys.split(","):
            key = _dispatch_key(fields, rules, text.strip())
            if key in kernels:
                fields.refuse(f"two kernels under the dispatch key {key}", "one")
            has_structured = structured and _is_structured(key, rules)
            if delegate is not None and _is_structured(key, rules):
                fields.refuse(f"a kernel under {key}, and structured_delegate {delegate!r}", "the kernel in that entry")
            kernels[key] = _kernel(fields, rules, kernel, has_structured)
    _check_composite(fields, rules, schema, kernels, delegate)
    return kernels


def _dispatch_key(fields: _Fields, rules: EntryRules, text: str) -> DispatchKey:
    for known, what in ((rules.dispatch_keys, "the unknown dispatch key"), (rules.supported_keys, "the dispatch key")):
        if known is not None and text not in known:
            near = close_matches(text, known)
            fields.refuse(f"{what} {text!r}", f"one that a dispatch table may use.{near}")
    return DispatchKey(text)


def _is_structured(key: DispatchKey, rules: EntryRules) -> bool:
    return key not in _COMPOSITE_KEYS if rules.structured_keys is None else key.name in rules.structured_keys


def _kernel(fields: _Fields, rules: EntryRules, text: str, structured: bool) -> BackendMetadata:
    namespace, colons, kernel = text.rpartition("::")
    if namespace.count("::") >= _DEEPEST_NAMESPACE or not kernel:
        fields.refuse(f"the kernel {text!r}", f"a name after at most {_DEEPEST_NAMESPACE} levels of namespaces")
    return BackendMetadata(kernel, structured, namespace + rules.inner_namespace if colons else rules.kernel_namespace)


def _check_composite(
    fields: _Fields,
    rules: EntryRules,
    schema: FunctionSchema,
    kernels: Mapping[DispatchKey, BackendMetadata],
    delegate: str | None,
) -> None:
    composite = [key.name for key in kernels if key.name in rules.exclusive_keys]
    if len(composite) > 1:
        fields.refuse(f"kernels under {' and '.join(composite)}", "one of these, since each serves every backend")
    if list(kernels) != [COMPOSITE_IMPLICIT] or delegate is not None:
        return
    kernel, usual = kernels[COMPOSITE_IMPLICIT].kernel, schema.kernel_name()
    if kernel == usual:
        fields.refuse(f"a dispatch table that says what holds without it ({COMPOSITE_IMPLICIT}: {usual})", "no dispatch table")
    if "_symint" not in kernel:
        fields.refuse(f"a single kernel {kernel!r} under {COMPOSITE_IMPLICIT}", f"it to be called {usual}, and no dispatch table")


def _shown(value: object) -> str:
    return f"{value!r} (of type {type(value).__name__})"
