"""What the registry holds, operator by operator: the rows that ``python -m registry`` prints."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from fnmatch import fnmatchcase

from registry.backends import registered_backends
from registry.errors import BackendError, close_matches
from registry.gradients import GradConfig, get_gradient
from registry.kernels import backends_of, get_kernel
from registry.operators import family_of, is_constant, operator_names
from registry.schema import FunctionSchema, SchemaKind
from registry.variant import Variant
from registry.variant_kernels import own_code_for_out


@dataclass(frozen=True, slots=True)
class VariantRow:
    """One variant of an operator; ``origin`` is ``native`` where a backend has code of its own for it, else ``generated``."""

    name: str
    schema: str
    origin: str


@dataclass(frozen=True, slots=True)
class OperatorRow:
    """One declared operator.

    gradient    ``yes``, ``no``, or ``constant`` for an operator whose result has no derivative by definition, or no input
    saves       what its gradient saves, in the order in which the rule gets it; ``x: shape`` is an input without its values
    backends    those on which it has a kernel of its own
    variants    all its variants by kind, itself included
    """

    name: str
    schema: str
    kind: str
    gradient: str
    saves: tuple[str, ...]
    backends: tuple[str, ...]
    variants: dict[str, VariantRow]

    def as_dict(self) -> dict[str, object]:
        """The row in values that JSON knows."""
        return asdict(self)


_NONE = VariantRow("", "", "none")

LACKS: dict[str, Callable[[OperatorRow], bool]] = {
    "gradient": lambda row: row.gradient == "no",
    "kernel": lambda row: not row.backends,
    "out": lambda row: row.variants.get("out", _NONE).origin != "native",
    "inplace": lambda row: row.variants.get("inplace", _NONE).origin != "native",
}
"""What an operator can be asked to lack, and when it does: a gradient, a kernel, native code for a variant."""


def rows(patterns: Sequence[str] = (), *, backend: str | None = None, missing: Iterable[str] = ()) -> list[OperatorRow]:
    """The declared operators, sorted by name: those whose name fits one of the patterns, and that lack all of ``missing``.

    With ``backend``, those that have a kernel there; with ``missing=["kernel"]`` besides, those that have none there; whether a
    variant is native is then told of that backend alone. Raises BackendError for an unknown backend.

    >>> for row in rows(["logadd*", "swapaxes"]):
    ...     print(row.name, row.backends, row.variants["out"].name, row.variants["out"].origin)
    logaddexp ('numpy',) logaddexp.out native
    logaddexp2 ('numpy',) logaddexp2.out native
    swapaxes ('numpy',) swapaxes.out generated
    """
    known = _known_backends()
    if backend is not None and backend not in known:
        raise BackendError(f"no backend {backend!r} has kernels, expected one of {known}.{close_matches(backend, known)}")
    asked = list(missing)
    backends = known if backend is None else [backend]
    found = []
    for name in sorted(operator_names()):
        if patterns and not any(fnmatchcase(name, pattern) for pattern in patterns):
            continue
        row = _row(name, backends)
        if backend is not None and not row.backends and "kernel" not in asked:
            continue
        if all(LACKS[each](row) for each in asked):
            found.append(row)
    return found


def _known_backends() -> list[str]:
    with_kernels = {each for name in operator_names() for each in backends_of(name)}
    return sorted(with_kernels | set(registered_backends()))


def _row(name: str, backends: Sequence[str]) -> OperatorRow:
    family = family_of(name)
    schema = next(each.schema for each in family.values() if str(each.name) == name)
    gradient = get_gradient(name)
    return OperatorRow(
        name=name,
        schema=str(schema),
        kind=schema.kind().value,
        gradient="yes" if gradient is not None else "constant" if is_constant(name) or not schema.inputs else "no",
        saves=() if gradient is None else tuple(_saves(gradient, schema)),
        backends=tuple(each for each in backends if get_kernel(name, each) is not None),
        variants={
            kind.value: VariantRow(str(each.name), str(each.schema), _origin(each, backends))
            for kind, each in sorted(family.items(), key=lambda item: list(SchemaKind).index(item[0]))
        },
    )


def _saves(gradient: GradConfig, schema: FunctionSchema) -> list[str]:
    flags = gradient.outputs_to_save
    kept = [at for at, flag in enumerate(flags if isinstance(flags, tuple) else (flags,)) if flag]
    return [
        *([each.name for each in schema.inputs] if gradient.save_all_inputs else gradient.inputs_to_save),
        *("output" if len(schema.returns) == 1 else f"output {at}" for at in kept),
        *(f"{each}: shape" for each in gradient.infos_to_save),
    ]


def _origin(variant: Variant, backends: Sequence[str]) -> str:
    """``native`` if one of the backends has code for the variant, ``generated`` if it runs by way of another variant."""
    name = str(variant.name)
    by_out = variant.kind in (SchemaKind.out, SchemaKind.inplace)
    for backend in backends:
        if get_kernel(name, backend) is not None or (by_out and own_code_for_out(family_of(name), backend) is not None):
            return "native"
    return "generated"


def table(found: Sequence[OperatorRow]) -> str:
    """The rows as text: a line each under a heading, columns in line, the schema last.

    >>> print(table(rows(["floor"])))
    name   kind        out     inplace  backends  gradient  saves  schema
    floor  functional  native  native   numpy     constant  -      floor(Tensor x) -> Tensor
    """
    heading = ("name", "kind", "out", "inplace", "backends", "gradient", "saves", "schema")
    lines: list[tuple[str, ...]] = [heading]
    for row in found:
        origins = (row.variants[kind].origin if kind in row.variants else "-" for kind in ("out", "inplace"))
        saves = ", ".join(row.saves) or "nothing"
        backends = ", ".join(row.backends) or "none"
        lines.append((row.name, row.kind, *origins, backends, row.gradient, saves if row.gradient == "yes" else "-", row.schema))
    widths = [max(len(line[at]) for line in lines) for at in range(len(heading) - 1)]
    return "\n".join("  ".join([*(cell.ljust(width) for cell, width in zip(line, widths)), line[-1]]) for line in lines)
