"""Which variants belong to one operator: those of equal signature, at most one of each kind.

`pre_group` sorts a list of variants into operators, `group_variants` makes a `VariantGroup` of each operator that has a
functional and an out variant. Between the two, `registry.generation` adds what is missing.

Where we differ from torchgen on purpose: two variants of one kind are both named, with the places where they stand; a scratch
variant beside others is named; the functional variant of a mutable operator may carry its mark in the overload
(`foo.functional`), as it did in the middle of 2022; what `autogen` says is compared when groups are formed from a list, not
when one is built by itself, because not every list of operators has such lines.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import InitVar, dataclass, replace
from typing import TypeAlias

from registry.backend_index import COMPOSITE_IMPLICIT
from registry.errors import RegistrationError, close_matches
from registry.schema import Argument, FunctionSchema, SchemaKind
from registry.variant import Variant

PairingDefaults: TypeAlias = Mapping[str, Mapping[str, str]]
"""Defaults that an operator counts as having when it is compared with others: by its full name and the argument's name."""

PreGroups: TypeAlias = dict[FunctionSchema, dict[SchemaKind, Variant]]
"""The variants of each operator by kind, under their common signature, in the order in which they were declared."""

_NO_DEFAULTS: PairingDefaults = {}


@dataclass(frozen=True, slots=True)
class VariantGroup:
    """The variants of one operator: functional and out, and the in-place and mutable ones where they exist.

    Iterating gives those that exist, in this order. `pairing_defaults` is used for comparing signatures and not kept.

    Raises RegistrationError when they do not fit together: a variant of another kind than its field says, different
    signatures or namespaces, some structured and others not, a structured group whose members do not all delegate to its out
    variant or whose out variant is composite, and a functional variant that cannot be told from the mutable one by its name.

    >>> functional = Variant(FunctionSchema.parse("exp(Tensor x) -> Tensor"))
    >>> out = Variant(FunctionSchema.parse("exp.out(Tensor x, *, Tensor(a!) out) -> Tensor(a!)"))
    >>> [str(variant.name) for variant in VariantGroup(functional, out)]
    ['exp', 'exp.out']
    """

    functional: Variant
    out: Variant
    inplace: Variant | None = None
    mutable: Variant | None = None
    pairing_defaults: InitVar[PairingDefaults] = _NO_DEFAULTS

    def __post_init__(self, pairing_defaults: PairingDefaults) -> None:
        for kind in _GROUPED:
            variant = getattr(self, kind.value)
            if variant is not None and variant.kind is not kind:
                raise self._broken(f"{variant.name} is {variant.kind.value}", f"the {kind.value} variant")
        functional, out = self.functional, self.out
        signature = pairing_signature(functional, pairing_defaults)
        for variant in self:
            other = pairing_signature(variant, pairing_defaults)
            if other != signature:
                raise self._broken(
                    f"{variant.name} has not the signature of {functional.name}", f"\n  {signature}\ngot\n  {other}"
                )
            if variant.is_structured != self.structured:
                one, without = (variant, out) if variant.is_structured else (out, variant)
                raise self._broken(
                    f"{one.name} is structured or delegates to a structured kernel, {without.name} is not",
                    "structured or structured_delegate in every entry or in none",
                )
            if variant.namespace != functional.namespace:
                raise self._broken(
                    f"{variant.name} is of namespace {variant.namespace!r}, {functional.name} of {functional.namespace!r}",
                    "one namespace",
                )
        name = functional.name
        if self.mutable is not None and not name.name.functional_overload and "functional" not in name.overload_name:
            raise self._broken(
                f"beside the mutable {self.mutable.name}, {name} does not say that it is functional",
                f"a name such as {name.name.base}_functional",
            )
        if self.structured:
            self._check_structured()

    def _check_structured(self) -> None:
        out = self.out
        if out.composite_implicit:
            raise self._broken(
                f"{out.name} is structured and has a composite kernel", f"no {COMPOSITE_IMPLICIT} entry in its dispatch table"
            )
        for variant in (self.functional, self.inplace):
            if variant is not None and variant.structured_delegate != out.name:
                raise self._broken(
                    f"{variant.name} delegates to {variant.structured_delegate or 'nothing'}", f"structured_delegate: {out.name}"
                )

    def __iter__(self) -> Iterator[Variant]:
        members = (self.functional, self.out, self.inplace, self.mutable)
        return (variant for variant in members if variant is not None)

    @property
    def structured(self) -> bool:
        """Whether one structured kernel, that of the out variant, serves all."""
        return self.out.structured

    def _broken(self, message: str, expected: str) -> RegistrationError:
        names = ", ".join(f"{variant.name}{variant.place}" for variant in self)
        return RegistrationError(f"the variants {names} do not fit together: {message}; expected {expected}")


_GROUPED = (SchemaKind.functional, SchemaKind.out, SchemaKind.inplace, SchemaKind.mutable)


def pairing_signature(variant: Variant, pairing_defaults: PairingDefaults = _NO_DEFAULTS) -> FunctionSchema:
    """The signature by which a variant finds its operator, with the defaults that it counts as having.

    Raises RegistrationError for a default of an argument that the operator has not.

    >>> draw = Variant(FunctionSchema.parse("draw.p(Tensor x, float p) -> Tensor"))
    >>> print(pairing_signature(draw, {"draw.p": {"p": "0.5"}}))
    draw(Tensor x, float p=0.5) -> Tensor
    """
    signature = variant.schema.signature()
    defaults = pairing_defaults.get(str(variant.name))
    if not defaults:
        return signature
    arguments = signature.arguments
    known = [argument.name for argument in arguments.flat_all]
    for name in defaults:
        if name not in known:
            raise RegistrationError(
                f"the pairing defaults of operator {str(variant.name)!r} name {name!r}, expected one of its arguments {known}."
                + close_matches(name, known)
            )

    def completed(group: tuple[Argument, ...]) -> tuple[Argument, ...]:
        return tuple(replace(each, default=defaults.get(each.name, each.default)) for each in group)

    positional, kwarg_only = completed(arguments.positional), completed(arguments.kwarg_only)
    return replace(signature, arguments=replace(arguments, positional=positional, kwarg_only=kwarg_only))


def pre_group(variants: Iterable[Variant], *, pairing_defaults: PairingDefaults = _NO_DEFAULTS) -> PreGroups:
    """The variants sorted into operators: signature, then kind; both in the order given.

    Raises RegistrationError for two variants of one kind and one signature.

    >>> texts = "exp(Tensor x) -> Tensor", "add_(Tensor(a!) x, int n) -> Tensor(a!)", "exp_(Tensor(a!) x) -> Tensor(a!)"
    >>> for signature, members in pre_group([Variant(FunctionSchema.parse(text)) for text in texts]).items():
    ...     print(signature, [kind.value for kind in members])
    exp(Tensor x) -> Tensor ['functional', 'inplace']
    add(Tensor x, int n) -> Tensor ['inplace']
    """
    groups: PreGroups = {}
    for variant in variants:
        members = groups.setdefault(pairing_signature(variant, pairing_defaults), {})
        first = members.get(variant.kind)
        if first is not None:
            raise RegistrationError(
                f"two {variant.kind.value} variants of one operator:\n  {first.schema}{first.place}\n"
                f"  {variant.schema}{variant.place}\n"
                "expected one; take one out, or let them differ in more than overload and annotations"
            )
        members[variant.kind] = variant
    return groups


def group_variants(
    pre_groups: PreGroups, *, pairing_defaults: PairingDefaults = _NO_DEFAULTS, autogen: bool = True
) -> list[Variant | VariantGroup]:
    """A group for each operator with a functional and an out variant; the variants of all others stay by themselves.

    With `autogen`, the `autogen` lines of a group have to name exactly its generated variants.

    Raises RegistrationError for a group that does not fit together, for several variants of which none is functional, for a
    scratch variant beside others, and for a generated variant that would stay by itself.
    """
    result: list[Variant | VariantGroup] = []
    for members in pre_groups.values():
        group = _formed(members, pairing_defaults)
        if group is not None:
            if autogen:
                check_autogen(group)
            result.append(group)
            continue
        for variant in members.values():
            if variant.generated:
                raise RegistrationError(
                    f"the generated variant {variant.name}{variant.place} is in no group; expected a functional and an out"
                    " variant of its operator beside it"
                )
            result.append(variant)
    return result


def check_autogen(group: VariantGroup) -> None:
    """Raise RegistrationError unless the `autogen` lines of the group's members name exactly those that were generated."""
    generated = ", ".join(sorted(str(variant.name) for variant in group if variant.generated))
    declared = ", ".join(sorted({str(name) for variant in group for name in variant.autogen}))
    if generated == declared:
        return
    last = list(group)[-1]
    if not declared:
        raise RegistrationError(
            f"{generated} is generated from {last.name}{last.place}, but nothing there says so; add to its entry the line"
            f" 'autogen: {generated}'"
        )
    raise RegistrationError(
        f"the variants generated for {group.functional.name}{group.functional.place} are not those that its entries name:"
        f" got 'autogen: {declared}', expected " + (f"'autogen: {generated}'" if generated else "no such line")
    )


def _formed(members: Mapping[SchemaKind, Variant], pairing_defaults: PairingDefaults) -> VariantGroup | None:
    if len(members) == 1:
        return None
    all_names = ", ".join(f"{variant.name}{variant.place}" for variant in members.values())
    if SchemaKind.scratch in members:
        raise RegistrationError(
            f"the scratch variant {members[SchemaKind.scratch].name} is among {all_names}; expected it to have a signature of its"
            " own, or its operator to have no other variants"
        )
    functional, out = members.get(SchemaKind.functional), members.get(SchemaKind.out)
    if functional is None:
        raise RegistrationError(f"no variant among {all_names} is functional; expected one, declared or generated")
    if out is None:
        return None
    inplace, mutable = members.get(SchemaKind.inplace), members.get(SchemaKind.mutable)
    return VariantGroup(functional, out, inplace, mutable, pairing_defaults)
