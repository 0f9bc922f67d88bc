"""Schemas of operators, text and value: `sum(Tensor a, int[1]? axis=None, *, bool keepdims=False) -> Tensor`.

The notation is torchgen's, so that its conventions carry over, such as pairing variants of an operator by signature:

    schema   = name "(" [item {", " item}] ")" " -> " returns
    item     = "*" | type " " name ["=" default]
    returns  = "()" | return | "(" return ", " return {", " return} ")"
    return   = type [" " name]
    type     = word {"?" | "[]" | "[" size "]"}
    a tensor may be annotated: "Tensor(" annotation ")" ["?" | "[]"]

What can be read prints back to exactly the same text. The parts are in `registry.names`, `registry.types` and
`registry.arguments`; this module offers them all under one roof.

Where we differ from torchgen (2.14) on purpose:

- Everything that is wrong raises `SchemaError` with the text, the place in it and what was expected. torchgen raises
  AssertionError and RuntimeError, and lets IndexError, TypeError, KeyError and ValueError through.
- Four more base words: `Any`, `Index`, `Callable`, `complex`.
- The receiver of an in-place operator is its first argument. With `receiver="self"` it is the argument called self, as
  torchgen has it; the next three points do not apply then.
- An operator without in-place mark that writes its first argument is mutable and may not return it, as for every other
  written argument. torchgen calls it functional, and lets it, if that argument is called self.
- A signature returns out arguments before a written first argument. torchgen puts one that is called self before them.
- Argument names are distinct identifiers, no required positional argument follows one with a default, and defaults can
  be evaluated: kernels are called with these names and values. Operator names hold no white space, and the names of
  returns are identifiers: a space at an end of a name is a slip of the pen.
- A value is checked when built, so that it prints to a text that reads back. Hence some mistakes are found earlier than
  in torchgen: an in-place operator with out arguments (there: when its kind is asked for); an empty item, a `*` without
  arguments after it, a default with comma and space, brackets around one return or none around several (there: when
  the whole schema is read); a name that without its marks reads as another, as `foo__` does (there: never).
- A schema is one line. torchgen lets line breaks into names.
- A type has at most 32 suffixes, and the size of a list at most 18 digits. torchgen goes on until it meets Python's own
  limits.
- No return has an after-set (`a -> *`): torchgen reads it only where the return has a name.
- torchgen's signatures give `bernoulli.p` a default, to pair it with `bernoulli_.float`. No name is special to us.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from enum import Enum

from registry.arguments import Argument, Arguments, ReceiverRule, Return, parse_returns, returns_text
from registry.errors import SchemaError
from registry.names import BaseOperatorName, OperatorName
from registry.types import (
    BASE_WORDS,
    Annotation,
    BaseType,
    CustomClass,
    ListType,
    OptionalType,
    Type,
    annotated_text,
    relocated,
)

__all__ = [
    "BASE_WORDS",
    "Annotation",
    "Argument",
    "Arguments",
    "BaseOperatorName",
    "BaseType",
    "CustomClass",
    "FunctionSchema",
    "ListType",
    "OperatorName",
    "OptionalType",
    "ReceiverRule",
    "Return",
    "SchemaKind",
    "Type",
    "parse_returns",
]

_ARROW = ") -> "
_SCRATCH_PREFIX = "_scratch_"
_TENSOR = BaseType("Tensor")


class SchemaKind(Enum):
    """Which variant of an operator a schema is.

    functional
        Returns new values and writes nothing.
    inplace
        Writes its receiver and returns it; the name ends in `_`.
    mutable
        Writes some argument, but is neither in-place nor out.
    out
        Writes its results into arguments that come last.
    scratch
        An out variant that also takes room for intermediate results, in arguments called `_scratch_...`.
    """

    functional = "functional"
    inplace = "inplace"
    mutable = "mutable"
    out = "out"
    scratch = "scratch"


@dataclass(frozen=True, slots=True, repr=False)
class FunctionSchema:
    """The schema of one operator: its name, its arguments and what it returns.

    `inputs` are the arguments that a kernel takes as tensors: the positional ones of tensor type, lists and optionals
    included. `attributes` are all others but the out arguments; a keyword-only tensor (such as a mask `where=`) is a
    constant and belongs to them.

    Raises `SchemaError` when name, arguments and returns do not fit together.

    >>> schema = FunctionSchema.parse("sum(Tensor a, int? axis=None, *, Tensor? where=None) -> Tensor")
    >>> [argument.name for argument in schema.inputs], [argument.name for argument in schema.attributes]
    (['a'], ['axis', 'where'])
    >>> str(schema)
    'sum(Tensor a, int? axis=None, *, Tensor? where=None) -> Tensor'
    """

    name: OperatorName
    arguments: Arguments
    returns: tuple[Return, ...] = ()
    inputs: tuple[Argument, ...] = field(init=False, compare=False)
    attributes: tuple[Argument, ...] = field(init=False, compare=False)
    _kind: SchemaKind = field(init=False, compare=False)

    def __post_init__(self) -> None:
        arguments = self.arguments
        name = str(self.name)
        if "(" in name:
            raise self._broken(f"the operator name {name!r} holds a bracket", "a name without (", "(")
        inputs = tuple(argument for argument in arguments.positional if argument.type.is_tensor_like())
        others = tuple(argument for argument in arguments.positional if not argument.type.is_tensor_like())
        object.__setattr__(self, "inputs", inputs)
        object.__setattr__(self, "attributes", others + arguments.kwarg_only)
        object.__setattr__(self, "_kind", self._find_kind())
        if arguments.receiver_rule == "first":
            self._check_callable(name)
        self._check_returns()
        if arguments.out:
            self._check_out()
        if self.name.name.inplace:
            self._check_inplace()
        if self._kind is not SchemaKind.functional:
            self._check_not_functional()

    @staticmethod
    def parse(text: str, receiver: ReceiverRule = "first") -> FunctionSchema:
        """The schema that prints as `text`; raises `SchemaError` when there is none.

        `receiver` says which argument an in-place operator writes: the first, or the one called self.

        >>> FunctionSchema.parse("negative_(Tensor(a!) x) -> Tensor(a!)").kind()
        <SchemaKind.inplace: 'inplace'>
        """
        opening = text.find("(")
        arrow = text.rfind(_ARROW)
        if opening < 0 or arrow < opening or "\n" in text:
            raise _misread(text)
        offset = 0
        try:
            name = OperatorName.parse(text[:opening])
            offset = opening + 1
            arguments = Arguments.parse(text[offset:arrow], receiver)
            offset = arrow + len(_ARROW)
            returns = parse_returns(text[offset:])
        except SchemaError as error:
            raise relocated(error, text, offset) from None
        return FunctionSchema(name, arguments, returns)

    def __str__(self) -> str:
        return f"{self.name}({self.arguments}{_ARROW}{returns_text(self.returns)}"

    def __repr__(self) -> str:
        rule = self.arguments.receiver_rule
        return f"FunctionSchema.parse({str(self)!r}{'' if rule == 'first' else f', receiver={rule!r}'})"

    def kind(self) -> SchemaKind:
        """Which variant of its operator this is."""
        return self._kind

    def is_mutable(self) -> bool:
        """Whether any argument is written, out arguments included."""
        return any(argument.is_write for argument in self.arguments.flat_all)

    def kernel_name(self) -> str:
        """The customary name of the kernel function: the base name, followed by `_out` when there are out arguments.

        >>> FunctionSchema.parse("add.out(Tensor x1, Tensor x2, *, Tensor(a!) out) -> Tensor(a!)").kernel_name()
        'add_out'
        """
        return f"{self.name.name}_out" if self.arguments.out else str(self.name.name)

    def aliased_return_names(self) -> tuple[str | None, ...]:
        """For each return, the name of the argument that it shares memory with, or None.

        Raises `SchemaError` when a return may be one of several arguments.
        """
        return tuple(self._aliased_name(item) for item in self.returns)

    def _aliased_name(self, item: Return) -> str | None:
        if item.annotation is None:
            return None
        names = [argument.name for argument in self.arguments.flat_all if argument.annotation == item.annotation]
        if len(names) > 1:
            raise self._broken(
                f"the return {item} shares memory with several arguments: {', '.join(names)}",
                "a letter for each argument",
                item,
            )
        return names[0] if names else None

    def with_name(self, name: OperatorName) -> FunctionSchema:
        """The same schema under another name; raises `SchemaError` when name and arguments do not fit."""
        return replace(self, name=name)

    def signature(
        self, *, strip_default: bool = False, keep_return_names: bool = False, strip_view_copy_name: bool = False
    ) -> FunctionSchema:
        """What the variants of one operator share: two schemas are variants of one operator iff these are equal.

        Overload, in-place and functional marks, annotations, tensor options and out arguments are dropped. A written
        argument that is not returned is added to the returns, so that nothing the operator computes is lost.

        `strip_default` drops the defaults too. `keep_return_names` keeps the names of returns, and calls the added ones
        after their argument: `x_out`. `strip_view_copy_name` calls `foo_copy` just `foo`, and `foo_scatter`
        `foo_inverse`, to pair them with the view `foo`.

        >>> print(FunctionSchema.parse("add.out(Tensor x1, Tensor x2, *, Tensor(a!) out) -> Tensor(a!)").signature())
        add(Tensor x1, Tensor x2) -> Tensor
        """
        arguments = self.arguments
        receiver = () if arguments.self_arg is None else (arguments.self_arg,)
        # What was a result before there were out arguments comes first; torchgen puts a written self before it.
        first = arguments.out + receiver if arguments.receiver_rule == "first" else receiver + arguments.out
        returned = {item.annotation for item in self.returns}
        added = [
            Return(argument.type, f"{argument.name}_out" if keep_return_names else None)
            for argument in first + arguments.post_self_positional
            if argument.is_write and argument.annotation not in returned
        ]
        kept = [Return(item.type, item.name if keep_return_names else None) for item in self.returns]
        stem = self.name.name.base
        if strip_view_copy_name:
            if stem.endswith("_copy"):
                stem = stem.replace("_copy", "")
            elif stem.endswith("_scatter"):
                stem = stem.replace("scatter", "inverse")
        name = OperatorName(BaseOperatorName(stem, dunder_method=self.name.name.dunder_method))
        return FunctionSchema(name, arguments.signature(strip_default=strip_default), tuple(kept + added))

    def _find_kind(self) -> SchemaKind:
        if self.name.name.inplace:
            return SchemaKind.inplace
        if self.arguments.out:
            scratch = any(argument.name.startswith(_SCRATCH_PREFIX) for argument in self.arguments.out)
            return SchemaKind.scratch if scratch else SchemaKind.out
        if any(argument.is_write for argument in self._operands()):
            return SchemaKind.mutable
        return SchemaKind.functional

    def _operands(self) -> tuple[Argument, ...]:
        """The positional arguments without the one, if any, that may be written and returned."""
        if self.arguments.receiver_rule == "self" or self.name.name.inplace:
            return self.arguments.pre_self_positional + self.arguments.post_self_positional
        return self.arguments.positional

    def _check_callable(self, name: str) -> None:
        if name.split() != [name]:
            first = next(character for character in name if character.isspace())
            raise self._broken(f"the operator name {name!r} holds white space", "one word, right before the bracket", first)
        for item in self.returns:
            if item.name is not None and not item.name.isidentifier():
                raise self._broken(
                    f"the return name {item.name!r} is no identifier",
                    "a Python name, or nothing at all after the type",
                    item,
                    len(annotated_text(item.type, item.annotation)),
                )
        seen: set[str] = set()
        for argument in self.arguments.flat_all:
            if not argument.name.isidentifier():
                raise self._broken(
                    f"the argument name {argument.name!r} is no identifier",
                    "a Python name; comma and space stand between items, and ?, [] or [2] at the end of the type",
                    argument,
                    argument.name_offset,
                )
            if argument.name in seen:
                raise self._broken(f"two arguments are called {argument.name!r}", "a name for each argument", argument)
            seen.add(argument.name)
            if argument.default is not None:
                try:
                    _ = argument.default_value
                except SchemaError as error:
                    message, _, _ = str(error).partition("\n")
                    within = len(str(argument)) - len(argument.default)
                    raise self._broken(message, error.expected, argument, within) from None
        defaulted = False
        for argument in self.arguments.positional:
            if defaulted and argument.default is None:
                raise self._broken(
                    f"the required argument {argument.name!r} follows one with a default",
                    "required arguments first",
                    argument,
                )
            defaulted = defaulted or argument.default is not None

    def _check_returns(self) -> None:
        arguments = self.arguments
        for argument, item in zip(arguments.out, self.returns, strict=False):
            if argument.annotation != item.annotation:
                raise self._broken(
                    f"the return {item} is not the out argument {argument.name!r} at the same place",
                    annotated_text(argument.type, argument.annotation),
                    item,
                )
        written = [item for item in self.returns if item.annotation is not None and item.annotation.is_write]
        if not written:
            return
        returned = {item.annotation for item in self.returns}
        for argument in self._operands():
            if argument.is_write and argument.annotation in returned:
                raise self._broken(
                    f"the argument {argument.name!r} is written and returned, which only an out argument may be,"
                    " and the receiver of an in-place operator",
                    "a * before it, which makes it an out argument; a name that ends in _, if it is the receiver; or -> ()",
                    argument,
                )
        if len(written) < len(self.returns):
            raise self._broken(
                f"the return {written[0]} is a written argument, but others are new values",
                "either written arguments or new values",
                written[0],
            )
        sources = {argument.annotation for argument in arguments.out}
        if arguments.self_arg is not None:
            sources.add(arguments.self_arg.annotation)
        for item in written:
            if item.annotation not in sources:
                raise self._broken(
                    f"the return {item} is no argument that is written",
                    "the annotation of an out argument or of the receiver",
                    item,
                )

    def _check_out(self) -> None:
        if self.name.name.inplace:
            raise self._broken(
                f"the in-place operator {self.name} has out arguments",
                "either an in-place name or out arguments",
                self.arguments.out[0],
            )
        for argument in self.arguments.out:
            if argument.type != _TENSOR and self.returns:
                raise self._broken(
                    f"the out argument {argument.name!r} is of type {argument.type}, and something is returned",
                    "no returns, unless all out arguments are plain tensors",
                    argument,
                )
            if argument.type != _TENSOR:
                return
        results = [argument for argument in self.arguments.out if not argument.name.startswith(_SCRATCH_PREFIX)]
        if len(results) != len(self.returns):
            outs = tuple(Return(argument.type, None, argument.annotation) for argument in results)
            raise self._broken(
                f"the number of returns is {len(self.returns)}, and that of out arguments {len(results)}",
                f"-> {returns_text(outs)}",
                _ARROW,
            )

    def _check_inplace(self) -> None:
        receiver = self.arguments.self_arg
        if receiver is None or not receiver.is_write:
            rule = "first argument" if self.arguments.receiver_rule == "first" else "argument called self"
            raise self._broken(
                f"the in-place operator {self.name} does not write its {rule}",
                f"that {rule} to be annotated as written, such as Tensor(a!) x",
                "(" if receiver is None else receiver,
            )
        if receiver.type != _TENSOR:
            if self.returns:
                raise self._broken(f"the in-place operator {self.name} on {receiver.type} returns something", "-> ()", _ARROW)
        elif len(self.returns) != 1 or self.returns[0].annotation != receiver.annotation:
            raise self._broken(
                f"the in-place operator {self.name} does not return its argument {receiver.name!r}",
                f"-> Tensor({receiver.annotation})",
                _ARROW,
            )

    def _check_not_functional(self) -> None:
        if self.arguments.tensor_options:
            raise self._broken(
                f"the {self._kind.value} operator {self.name} has tensor options",
                "the four arguments dtype, layout, device, pin_memory in functional operators only",
                self.arguments.tensor_options[0],
            )
        if "functional" in self.name.overload_name:
            raise self._broken(
                f"the overload of {self.name} says functional, but the operator is {self._kind.value}",
                "an overload without this word",
                f".{self.name.overload_name}",
            )

    def _broken(self, message: str, expected: str, at: Argument | Return | str, within: int = 0) -> SchemaError:
        text = str(self)
        if isinstance(at, Argument):
            position = len(f"{self.name}(") + self.arguments.offset_of(at)
        elif isinstance(at, Return):
            before = self.returns[: self.returns.index(at)]
            position = len(text) - len(returns_text(self.returns)) + len(self.returns[1:2])
            position += sum(len(f"{item}, ") for item in before)
        else:
            position = text.rindex(at) if at == _ARROW else text.index(at)
        return SchemaError(message, text=text, position=position + within, expected=expected)


def _misread(text: str) -> SchemaError:
    """What is wrong with a text that does not fall into name, arguments and returns."""
    opening, closing = text.find("("), text.rfind(")")
    if "\n" in text:
        what, position = "the schema goes over several lines", text.index("\n")
    elif opening < 0:
        what, position = "the schema has no brackets around its arguments", len(text.partition(" ")[0])
    elif text.count("(") > text.count(")"):
        what, position = "the schema has a bracket that is not closed", opening if " -> " not in text else text.rindex(" -> ")
    else:
        what, position = "the schema has no arrow between arguments and returns", closing + 1
    expected = "name(arguments) -> returns in one line, with one space on either side of the arrow"
    return SchemaError(what, text=text, position=position, expected=expected)
