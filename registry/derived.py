"""Variants that nobody declared: worked out from those of the same operator that somebody did.

``add(Tensor x1, Tensor x2) -> Tensor`` alone gives ``add.out`` and ``add_``; an in-place or mutable operator alone gives its
functional and out variants. Which variants belong together is told by their signature (``FunctionSchema.signature``).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from registry.errors import SchemaError
from registry.schema import FunctionSchema, SchemaKind
from registry.variant import Variant

Family = Mapping[SchemaKind, Variant]
"""The variants of one operator by kind."""

_SOURCES = (SchemaKind.mutable, SchemaKind.inplace, SchemaKind.functional)
"""What the others are generated from: the first of these that there is, as torchgen has it."""

_WANTED = (SchemaKind.functional, SchemaKind.out, SchemaKind.inplace)


def families(declared: Iterable[FunctionSchema]) -> dict[str, Family]:
    """The variants of the operators that these schemas declare, generated ones included: each family by each of its names.

    A variant whose name another operator has is not generated.

    >>> found = families([FunctionSchema.parse("add(Tensor x1, Tensor x2) -> Tensor")])
    >>> for variant in found["add"].values():
    ...     print(variant.schema)
    add(Tensor x1, Tensor x2) -> Tensor
    add.out(Tensor x1, Tensor x2, *, Tensor(a!) out) -> Tensor(a!)
    add_(Tensor(a!) x1, Tensor x2) -> Tensor(a!)
    """
    groups: dict[FunctionSchema, dict[SchemaKind, Variant]] = {}
    for schema in declared:
        groups.setdefault(schema.signature(), {}).setdefault(schema.kind(), Variant(schema))
    taken = {str(variant.name) for group in groups.values() for variant in group.values()}
    by_name: dict[str, Family] = {}
    for group in groups.values():
        for kind in _WANTED:
            made = _generated(group, kind)
            if made is not None and str(made.name) not in taken:
                group[kind] = made
                taken.add(str(made.name))
        by_name.update((str(variant.name), group) for variant in group.values())
    return by_name


def _generated(group: Family, kind: SchemaKind) -> Variant | None:
    """The missing variant of that kind; None where it exists, or nothing there can give it."""
    source = next((group[each] for each in _SOURCES if each in group and each is not kind), None)
    if kind in group or source is None or (kind is SchemaKind.inplace and source.kind is not SchemaKind.functional):
        return None
    from registry.variants import generate_function  # on first use: most programs never ask for a variant

    try:
        return generate_function(source, kind)[0]
    except SchemaError:
        return None  # such as an operator that returns no tensor, and so has nothing to write
