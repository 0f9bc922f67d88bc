"""The variants of an operator that nobody wrote, worked out from one that somebody did: their schemas, names and metadata.

From an in-place operator `foo_` follow `foo` and `foo.out`, from a mutable one `foo` follow `foo_functional` and `foo.out`,
from a functional one follows `foo.out`, as torchgen has it. An in-place variant from a functional operator is an addition of
ours. Every result belongs to the same operator as its source: their signatures are equal.

torchgen's names have changed over time, and code that was written for the older ones exists, so `naming` chooses:

    naming       from a mutable operator     from an in-place one     out arguments           kernel of an out variant
    "today"      foo_functional, foo.out     foo, foo.out             out, or out0 and out1   foo_out, foo_out_symint
    "late-2022"  foo_functional, foo.out     foo, foo.out             out, or out0 and out1   foo_out
    "mid-2022"   foo.functional, foo.out     foo.functional, foo.out  out0 (mutable sources)  none

The versions differ in the tags they pass on, too, and "mid-2022" gives a functional operator no out variant.

Where we differ from torchgen on purpose, besides what `registry.schema` lists:

- Everything that is refused raises `SchemaError` with the source's text. Four cases get a reason of their own: returns of which
  some are no tensors (torchgen complains about the annotations of a schema nobody wrote), more results than letters left
  (there: IndexError), a result type that cannot be written, such as `Tensor?[]` (there: when the schema is printed), and an
  out argument whose name an input has.
- The last is an error only where argument names have to differ, which is not so with `receiver="self"`, as in torchgen.
- In-place variants of functional operators (torchgen refuses all but functional and out variants).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from string import ascii_lowercase
from typing import Literal, TypeAlias

from registry.backend_index import COMPOSITE_EXPLICIT, BackendMetadata, DispatchKey
from registry.errors import SchemaError
from registry.names import BaseOperatorName, OperatorName
from registry.schema import Annotation, Argument, Arguments, BaseType, FunctionSchema, Return, SchemaKind, Type
from registry.variant import GENERATED, Variant

Naming: TypeAlias = Literal["today", "late-2022", "mid-2022"]
"""Whose names a generated variant gets: those of torchgen today, at the end of 2022, or in the middle of 2022."""

KernelTables: TypeAlias = dict[DispatchKey, dict[OperatorName, BackendMetadata]]
"""What is known of kernels: by dispatch key and operator name."""

_TENSOR = BaseType("Tensor")


@dataclass(frozen=True, slots=True)
class _Version:
    """How one version of torchgen describes what it generates."""

    marks_overload: bool = False  # foo.functional; else foo_functional, and only if the source is mutable
    numbers_single: bool = False  # the only out argument of a mutable operator's out variant is called out0
    out_from_functional: bool = True
    out_has_kernel: bool = True
    marks_symint: bool = False  # kernels of operators with arguments of type SymInt are called ..._symint
    tags_kind: bool = False
    kept_tags: frozenset[str] = frozenset()


_VERSIONS: dict[str, _Version] = {
    "today": _Version(
        marks_symint=True, tags_kind=True, kept_tags=frozenset({"nondeterministic_seeded", "view_copy", "pt2_compliant_tag"})
    ),
    "late-2022": _Version(kept_tags=frozenset({"nondeterministic_seeded"})),
    "mid-2022": _Version(marks_overload=True, numbers_single=True, out_from_functional=False, out_has_kernel=False),
}


def self_to_out_signature(schema: FunctionSchema) -> FunctionSchema:
    """The out variant of an in-place operator: what was written in place goes to a new argument `out`.

    Raises `SchemaError` for a schema of another kind.

    >>> print(self_to_out_signature(FunctionSchema.parse("clip_(Tensor(a!) x, Scalar top) -> Tensor(a!)")))
    clip.out(Tensor x, Scalar top, *, Tensor(a!) out) -> Tensor(a!)
    """
    arguments = schema.arguments
    receiver = arguments.self_arg
    if schema.kind() is not SchemaKind.inplace or receiver is None:
        raise _of_other_kind(schema, SchemaKind.inplace)
    out = Argument("out", receiver.type, annotation=receiver.annotation)
    bare = (*arguments.pre_self_positional, replace(receiver, annotation=None), *arguments.post_self_positional)
    return _with_out(schema, replace(arguments, positional=bare), (out,), schema.returns)


def mutable_to_out_signature(schema: FunctionSchema, *, numbers_single: bool = False) -> FunctionSchema:
    """The out variant of a mutable operator: what it returned goes to new arguments; what it wrote, it writes still.

    A single result is called `out`, with `numbers_single` `out0`; several are called `out0`, `out1` and so on.
    Raises `SchemaError` for a schema of another kind, and for one whose returns are not all tensors.

    >>> print(mutable_to_out_signature(FunctionSchema.parse("step(Tensor x, Tensor(a!) state) -> Tensor")))
    step.out(Tensor x, Tensor(a!) state, *, Tensor(b!) out) -> Tensor(b!)
    """
    if schema.kind() is not SchemaKind.mutable:
        raise _of_other_kind(schema, SchemaKind.mutable)
    return _with_out(schema, schema.arguments, *_results_as_out(schema, numbers_single))


def functional_to_out_signature(schema: FunctionSchema) -> FunctionSchema:
    """The out variant of a functional operator: what it returned goes to new arguments.

    It has no tensor options, since the arrays to be written have their dtype and device already, and shares no memory.
    Raises `SchemaError` for a schema of another kind, and for one whose returns are not all tensors.

    >>> print(functional_to_out_signature(FunctionSchema.parse("split(Tensor(a) x, int n) -> (Tensor(a), Tensor(a))")))
    split.out(Tensor x, int n, *, Tensor(b!) out0, Tensor(c!) out1) -> (Tensor(b!), Tensor(c!))
    """
    if schema.kind() is not SchemaKind.functional:
        raise _of_other_kind(schema, SchemaKind.functional)
    return _with_out(schema, schema.arguments.signature(), *_results_as_out(schema))


def functional_to_inplace_signature(schema: FunctionSchema) -> FunctionSchema:
    """The in-place variant of a functional operator: it writes its result into its receiver and returns that.

    Receiver and result have to be plain tensors; `SchemaError` is raised for others, for several results and for a schema of
    another kind. Tensor options and what the arguments of a view share are dropped, as in an out variant.

    >>> print(functional_to_inplace_signature(FunctionSchema.parse("add.own(Tensor x1, Tensor x2) -> Tensor")))
    add_.own(Tensor(a!) x1, Tensor x2) -> Tensor(a!)
    """
    if schema.kind() is not SchemaKind.functional:
        raise _of_other_kind(schema, SchemaKind.functional)
    arguments = schema.arguments.signature()
    receiver = arguments.self_arg
    if receiver is None or receiver.type != _TENSOR or any(argument.is_write for argument in schema.arguments.flat_all):
        rule = "first argument" if arguments.receiver_rule == "first" else "argument called self"
        raise _refused(schema, f"{schema.name} has nothing to write in place", f"a {rule} of type Tensor that is not written yet")
    if [item.type for item in schema.returns] != [_TENSOR]:
        raise _refused(schema, f"{schema.name} has no in-place variant", "one return of type Tensor, to be written in place")
    written = Annotation(("a",), is_write=True)
    positional = (*arguments.pre_self_positional, replace(receiver, annotation=written), *arguments.post_self_positional)
    stem = schema.name.name
    try:
        name = BaseOperatorName(stem.base, inplace=True, dunder_method=stem.dunder_method)
    except SchemaError:
        raise _refused(schema, f"{schema.name} has no in-place name", "an operator such as __and__, with its __iand__") from None
    return FunctionSchema(
        OperatorName(name, schema.name.overload_name),
        replace(arguments, positional=positional),
        (Return(_TENSOR, annotation=written),),
    )


def functional_signature(schema: FunctionSchema, *, naming: Naming = "today") -> FunctionSchema:
    """The functional variant of an operator that writes: what it wrote, it returns, after what it returned already.

    A result that was an argument is called after it: `x_out`. Raises `SchemaError` for a schema that is functional already.

    >>> mutable = FunctionSchema.parse("step(Tensor x, Tensor(a!) state) -> Tensor")
    >>> print(functional_signature(mutable))
    step_functional(Tensor x, Tensor state) -> (Tensor, Tensor state_out)
    >>> print(functional_signature(mutable, naming="mid-2022").name)
    step.functional
    """
    version = _version(naming)
    if schema.kind() is SchemaKind.functional:
        raise _refused(schema, f"{schema.name} is functional already", "an in-place, mutable or out schema")
    stem, overload = schema.name.name, schema.name.overload_name
    if version.marks_overload:
        overload = f"{overload}_functional" if overload else "functional"
    marked = schema.kind() is SchemaKind.mutable and not version.marks_overload
    base = BaseOperatorName(stem.base, dunder_method=stem.dunder_method, functional_overload=marked)
    return schema.signature(keep_return_names=True).with_name(OperatorName(base, overload))


def generate_function(
    variant: Variant, kind: SchemaKind, *, naming: Naming = "today", kernel_namespace: str = ""
) -> tuple[Variant, KernelTables]:
    """The variant of that kind of the operator to which `variant` belongs, and the entry of its composite kernel.

    Functional variants come from all others, out variants from functional, in-place and mutable ones, in-place variants from
    functional ones. `kernel_namespace` is where the composite kernel will stand. The variant is tagged as generated, keeps the
    namespace and location of its source, and those of its tags that hold for every variant.

    Raises `SchemaError` where there is no such variant.

    >>> variant, kernels = generate_function(Variant(FunctionSchema.parse("exp(Tensor x) -> Tensor")), SchemaKind.out)
    >>> print(variant.schema)
    exp.out(Tensor x, *, Tensor(a!) out) -> Tensor(a!)
    >>> [(str(key), metadata.kernel) for key, table in kernels.items() for metadata in table.values()]
    [('CompositeExplicitAutograd', 'exp_out')]
    """
    version = _version(naming)
    source = variant.schema
    if kind is SchemaKind.functional:
        schema = functional_signature(source, naming=naming)
    elif kind is SchemaKind.out:
        schema = _out_signature(source, version)
    elif kind is SchemaKind.inplace:
        schema = functional_to_inplace_signature(source)
    else:
        raise _refused(source, f"{kind.value} variants are not generated", "functional, out or inplace")
    has_kernel = kind is not SchemaKind.out or version.out_has_kernel
    tags = {GENERATED} | (variant.tags & version.kept_tags)
    if version.tags_kind and kind is not SchemaKind.functional:
        tags.add(kind.value)
    made = Variant(
        schema,
        tags=frozenset(tags),
        namespace=variant.namespace,
        composite_explicit=has_kernel,
        device_guard=False,
        device_check="NoCheck",
        location=variant.location,
    )
    if not has_kernel:
        return made, {}
    # Overloads of one operator share the name of a functional kernel, in torchgen as well: the operator's name tells them apart.
    kernel = schema.kernel_name() if kind is SchemaKind.functional else schema.name.unambiguous_name()
    if version.marks_symint and any(argument.type.is_base_like("SymInt") for argument in source.arguments.flat_non_out):
        kernel += "_symint"
    return made, {COMPOSITE_EXPLICIT: {schema.name: BackendMetadata(kernel, namespace=kernel_namespace)}}


def _version(naming: str) -> _Version:
    version = _VERSIONS.get(naming)
    if version is None:
        raise SchemaError(f"unknown naming {naming!r}", expected=" or ".join(repr(known) for known in _VERSIONS))
    return version


def _out_signature(schema: FunctionSchema, version: _Version) -> FunctionSchema:
    kind = schema.kind()
    if kind is SchemaKind.inplace:
        return self_to_out_signature(schema)
    if kind is SchemaKind.mutable:
        return mutable_to_out_signature(schema, numbers_single=version.numbers_single)
    if kind is SchemaKind.functional and version.out_from_functional:
        return functional_to_out_signature(schema)
    expected = "an in-place, mutable or functional schema" if version.out_from_functional else "an in-place or mutable schema"
    raise _refused(schema, f"no out variant is generated from {schema.name}, which is {kind.value}", expected)


def _results_as_out(schema: FunctionSchema, numbers_single: bool = False) -> tuple[tuple[Argument, ...], tuple[Return, ...]]:
    """Out arguments for the results of a schema, and what is then returned: them, or nothing if some are not plain tensors."""
    returns = schema.returns
    for item in returns:
        if item.annotation is not None and item.annotation.is_write:
            raise _refused(schema, f"{schema.name} returns {item}, an argument that it writes", "new values to be returned")
    others = [item for item in returns if not item.type.is_tensor_like()]
    if len(others) == len(returns):
        raise _refused(schema, f"{schema.name} returns no tensor, so an out variant would have nothing to write", "a tensor")
    if others:
        raise _refused(schema, f"{schema.name} returns {others[0]} beside tensors, and that cannot be written", "only tensors")
    used = {letter for each in schema.arguments.flat_all if each.annotation is not None for letter in each.annotation.alias_set}
    letters = [letter for letter in ascii_lowercase if letter not in used]
    if len(letters) < len(returns):
        raise _refused(
            schema, f"the arguments of {schema.name} use {len(used)} letters", f"{len(returns)} of the 26 left for the results"
        )
    single = len(returns) == 1 and not numbers_single
    out = tuple(
        _out_argument(schema, "out" if single else f"out{index}", item.type, Annotation((letter,), is_write=True))
        for index, (item, letter) in enumerate(zip(returns, letters, strict=False))
    )
    if any(argument.type != _TENSOR for argument in out):
        return out, ()
    return out, tuple(Return(argument.type, annotation=argument.annotation) for argument in out)


def _out_argument(schema: FunctionSchema, name: str, of_type: Type, annotation: Annotation) -> Argument:
    try:
        return Argument(name, of_type, annotation=annotation)
    except SchemaError:
        expected = "Tensor, Tensor? or Tensor[]"
        raise _refused(schema, f"{schema.name} returns {of_type}, which is no type to be written", expected) from None


def _with_out(
    source: FunctionSchema, arguments: Arguments, out: tuple[Argument, ...], returns: tuple[Return, ...]
) -> FunctionSchema:
    """The out variant of `source` with these arguments and returns, under the name that out variants have."""
    taken = {argument.name for argument in arguments.flat_all}
    clash = next((argument.name for argument in out if argument.name in taken), None)
    if clash is not None and arguments.receiver_rule == "first":
        raise _refused(source, f"{source.name} has an argument called {clash!r} already", "that name free for the out variant")
    overload = source.name.overload_name
    name = source.name.with_overload(f"{overload}_out" if overload else "out")
    return FunctionSchema(name, replace(arguments, out=out), returns)


def _of_other_kind(schema: FunctionSchema, expected: SchemaKind) -> SchemaError:
    return _refused(schema, f"{schema.name} is {schema.kind().value}", f"a schema of kind {expected.value}")


def _refused(schema: FunctionSchema, message: str, expected: str) -> SchemaError:
    return SchemaError(message, text=str(schema), expected=expected)
