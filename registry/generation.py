"""Adding to a list of operators the variants that are missing, as far as they can be generated and somebody asks for them.

Per operator one variant is the source of the others. It gets an out variant where one of the names in its `autogen` line holds
`out`, and, if there is an out variant then, a functional one. Nothing is generated for operators whose results are views, whose
bindings are written by hand, or whose kernels are all made of differentiable operators.

Which source comes first, and when, has changed with torchgen's versions, and `naming` chooses:

    "today"      the mutable variant, else in-place, out, functional; a composite operator counts if it is tagged `core`
    "late-2022"  in-place before mutable; the tag `core` says nothing
    "mid-2022"   as "late-2022"; operators with a functional variant alone are left alone; `autogen` is not asked

Where we differ from torchgen on purpose: its lists of operators that are excused from a rule are the caller's
(`Excused`), and empty by default; nothing that is passed in is changed; a name that another operator has is refused even
where their kernels are in different tables.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import Enum

from registry.backend_index import BackendMetadata, DispatchKey
from registry.errors import RegistrationError
from registry.grouping import PairingDefaults, pre_group
from registry.names import OperatorName
from registry.schema import SchemaKind
from registry.variant import Variant
from registry.variants import KernelTables, Naming, generate_function

CORE = "core"
"""The tag of an operator that gets its variants although all its kernels are composite."""


@dataclass(frozen=True, slots=True)
class Excused:
    """Operators that are excused from a rule, by full name; `not_views` by base name.

    lone_out        out variants that may stand alone
    ungrouped       in-place variants from whose operators nothing is generated
    without_out     operators that need no out variant although nothing can be written
    not_views       operators that count as no views whatever their annotations and tags say
    """

    lone_out: frozenset[str] = field(default_factory=frozenset)
    ungrouped: frozenset[str] = field(default_factory=frozenset)
    without_out: frozenset[str] = field(default_factory=frozenset)
    not_views: frozenset[str] = field(default_factory=frozenset)


_NONE_EXCUSED = Excused()


class Outcome(Enum):
    """Why variants of an operator are generated or not."""

    generated = "what is missing is generated"
    complete = "there is nothing to add"
    not_asked = "the autogen line of its source asks for no out variant"
    scratch = "it is an out variant with scratch room"
    functional_alone = "it has a functional variant alone, from which this version generates nothing"
    manual = "all its bindings are written by hand"
    view = "a result is a view"
    composite = "all its kernels are made of differentiable operators"
    lone_out = "it is an out variant alone, and excused"
    ungrouped = "its in-place variant is excused"
    nothing_to_write = "it returns no tensor, and is excused"


@dataclass(frozen=True, slots=True)
class Decision:
    """What is generated for one operator: why, from which variant, and the kinds in the order of generation."""

    outcome: Outcome
    source: Variant
    kinds: tuple[SchemaKind, ...] = ()


def decide(members: Mapping[SchemaKind, Variant], *, naming: Naming = "today", excused: Excused = _NONE_EXCUSED) -> Decision:
    """What is generated for the operator that has these variants.

    Raises RegistrationError for an out variant alone, and for an operator without tensor result that has no out variant, unless
    they are excused.

    >>> from registry.schema import FunctionSchema
    >>> exp_ = Variant(FunctionSchema.parse("exp_(Tensor(a!) x) -> Tensor(a!)"), autogen=(OperatorName.parse("exp.out"),))
    >>> [kind.value for kind in decide({exp_.kind: exp_}).kinds]
    ['out', 'functional']
    """
    source = next(members[kind] for kind in _sources(naming) if kind in members)
    skipped = _skipped(members, naming, excused)
    if skipped is not None:
        return Decision(skipped, source)
    has_out = SchemaKind.out in members
    writable = source.kind is SchemaKind.inplace or any(item.type.is_tensor_like() for item in source.schema.returns)
    if not has_out and not writable:
        if str(source.name) in excused.without_out:
            return Decision(Outcome.nothing_to_write, source)
        raise RegistrationError(
            f"operator {str(source.name)!r}{source.place} returns no tensor, so that no out variant can be generated:\n"
            f"  {source.schema}\nexpected a tensor to be returned, a composite kernel of differentiable operators, or its name"
            " in Excused.without_out"
        )
    asked = naming == "mid-2022" or any("out" in str(name) for name in source.autogen)
    kinds = [SchemaKind.out] if asked and not has_out else []
    if SchemaKind.functional not in members and (has_out or kinds):
        kinds.append(SchemaKind.functional)
    if kinds:
        return Decision(Outcome.generated, source, tuple(kinds))
    return Decision(Outcome.complete if has_out else Outcome.not_asked, source)


def add_generated_variants(
    variants: Iterable[Variant],
    kernels: Mapping[DispatchKey, Mapping[OperatorName, BackendMetadata]],
    *,
    naming: Naming = "today",
    kernel_namespace: str = "",
    pairing_defaults: PairingDefaults | None = None,
    excused: Excused = _NONE_EXCUSED,
) -> tuple[list[Variant], KernelTables]:
    """The variants followed by those that were generated, and the kernel tables with the entries of their composite kernels.

    Generated variants stand in the order of their operators, of each operator the out variant before the functional one.
    `naming` and `kernel_namespace` are those of `generate_function`, `pairing_defaults` those of `pre_group`.

    Raises RegistrationError where `decide` and `pre_group` do, and for a generated variant whose name is taken; SchemaError
    where `generate_function` does.
    """
    result = list(variants)
    tables: KernelTables = {}
    grow_tables(tables, kernels)
    by_name = {variant.name: variant for variant in result}
    for members in pre_group(result, pairing_defaults=pairing_defaults or {}).values():
        decision = decide(members, naming=naming, excused=excused)
        for kind in decision.kinds:
            made, entries = generate_function(decision.source, kind, naming=naming, kernel_namespace=kernel_namespace)
            holder = by_name.get(made.name)
            if holder is not None:
                source = decision.source
                raise RegistrationError(
                    f"the {kind.value} variant generated from {source.name}{source.place} has a name that is taken:\n"
                    f"  {made.schema}\n  {holder.schema}{holder.place}\nexpected another overload for one of the two"
                )
            by_name[made.name] = made
            result.append(made)
            grow_tables(tables, entries)
    return result, tables


def grow_tables(tables: KernelTables, more: Mapping[DispatchKey, Mapping[OperatorName, BackendMetadata]]) -> None:
    """Add entries to kernel tables, in place; raises RegistrationError for an operator that a table has already.

    >>> tables: KernelTables = {}
    >>> grow_tables(tables, {DispatchKey("numpy"): {OperatorName.parse("exp"): BackendMetadata("exp")}})
    >>> [str(name) for name in tables[DispatchKey("numpy")]]
    ['exp']
    """
    for key, entries in more.items():
        table = tables.setdefault(key, {})
        for name, metadata in entries.items():
            if name in table:
                raise RegistrationError(
                    f"operator {str(name)!r} has two kernels under the dispatch key {key}: {table[name].kernel!r} and"
                    f" {metadata.kernel!r}; expected one"
                )
            table[name] = metadata


def _sources(naming: Naming) -> tuple[SchemaKind, ...]:
    """The kinds in the order in which they are taken for the source of the others."""
    first, second = SchemaKind.mutable, SchemaKind.inplace
    if naming != "today":
        first, second = second, first
    return first, second, SchemaKind.out, SchemaKind.functional, SchemaKind.scratch


def _skipped(members: Mapping[SchemaKind, Variant], naming: Naming, excused: Excused) -> Outcome | None:
    """Why nothing is to be thought about, or None."""
    present = list(members.values())
    if members.keys() == {SchemaKind.scratch}:
        return Outcome.scratch
    if naming == "mid-2022" and members.keys() <= {SchemaKind.functional, SchemaKind.scratch}:
        return Outcome.functional_alone
    if all(variant.manual_binding for variant in present):
        return Outcome.manual
    if any(variant.is_view_op and str(variant.name.name) not in excused.not_views for variant in present):
        return Outcome.view
    kept_whole = naming == "today" and any(CORE in variant.tags for variant in present)
    if all(variant.composite_implicit for variant in present) and not kept_whole:
        return Outcome.composite
    out, inplace = members.get(SchemaKind.out), members.get(SchemaKind.inplace)
    if out is not None and len(present) == 1:
        if str(out.name) in excused.lone_out:
            return Outcome.lone_out
        raise RegistrationError(
            f"the out variant {out.name}{out.place} has no other variant beside it:\n  {out.schema}\n"
            f"expected a functional one of the same arguments, names and defaults:\n  {out.schema.signature()}"
        )
    if inplace is not None and str(inplace.name) in excused.ungrouped:
        return Outcome.ungrouped
    return None
