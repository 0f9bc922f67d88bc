"""Arguments and returns of a schema: `Tensor(a!) x`, `int axis=0`, and the list of them.

An item is a type, a space and a name; an argument may add `=` and a default, and a tensor may carry an *annotation* in
round brackets that says what it shares memory with: `a` marks a view, `a!` something that the operator writes to.

Items are joined by comma and space, and nothing inside an item may hold these two characters: a list default is written
`[0,1]`. So every value that can be built prints to a text that reads back as the same value.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Literal, TypeAlias, get_args

from registry.defaults import default_value
from registry.errors import SchemaError
from registry.types import (
    BASE_WORDS,
    ITEM_FORM,
    STAR_FORM,
    Annotation,
    BaseType,
    OptionalType,
    Type,
    annotated_text,
    check_annotated,
    parse_annotated,
    relocated,
)

_SEPARATOR = ", "

#: The four keyword-only arguments that, in this order, form torchgen's tensor-options bundle.
_TENSOR_OPTIONS = (("dtype", "ScalarType"), ("layout", "Layout"), ("device", "Device"), ("pin_memory", "bool"))

#: Which positional argument an in-place operator writes: the first, or the one that is called self.
ReceiverRule: TypeAlias = Literal["first", "self"]

_RECEIVER_RULES = get_args(ReceiverRule)


@dataclass(frozen=True, slots=True, repr=False)
class Argument:
    """One argument: name, type, default as text (or None when it has to be given) and annotation.

    >>> axis = Argument.parse("int[1]? axis=None")
    >>> axis.name, str(axis.type), axis.default, axis.default_value
    ('axis', 'int[1]?', 'None', None)
    """

    name: str
    type: Type
    default: str | None = None
    annotation: Annotation | None = None

    def __post_init__(self) -> None:
        check_annotated(self.type, self.annotation, str(self))
        if any(character in self.name for character in " =\n"):
            raise SchemaError(
                f"the argument name {self.name!r} is not one word",
                text=str(self),
                position=self.name_offset,
                expected="a name without spaces, next to its =",
            )
        if self.default is None:
            return
        if not self.default or any(part in self.default for part in ("=", "\n", _SEPARATOR)):
            raise SchemaError(
                f"the default {self.default!r} of argument {self.name!r} cannot be written in a schema",
                text=str(self),
                position=len(str(self)) - len(self.default),
                expected="a text that is not empty, without = and without comma and space: a list is written [0,1]",
            )

    @staticmethod
    def parse(text: str) -> Argument:
        """The argument that prints as `text`; raises `SchemaError` when there is none."""
        return _parse_argument(text)

    def __str__(self) -> str:
        text = f"{annotated_text(self.type, self.annotation)} {self.name}"
        return text if self.default is None else f"{text}={self.default}"

    def __repr__(self) -> str:
        return f"Argument.parse({str(self)!r})"

    @property
    def name_offset(self) -> int:
        """Where the name starts in the printed text."""
        return len(annotated_text(self.type, self.annotation)) + 1

    @property
    def is_write(self) -> bool:
        """Whether the operator writes to this argument."""
        return self.annotation is not None and self.annotation.is_write

    @property
    def default_value(self) -> object:
        """The default as a Python value; raises `SchemaError` when there is none.

        >>> [Argument.parse(f"Any x={text}").default_value for text in ("1", "inf", "[0,1]", "mean", "'fro'", "None")]
        [1, inf, (0, 1), 'mean', 'fro', None]
        """
        if self.default is None:
            raise SchemaError(f"argument {self.name!r} has no default", text=str(self), expected="a value from the caller")
        return default_value(self.default)


@dataclass(frozen=True, slots=True, repr=False)
class Return:
    """One returned value: type, name (None for most) and annotation.

    >>> Return.parse("Tensor(a!) values").name
    'values'
    """

    type: Type
    name: str | None = None
    annotation: Annotation | None = None

    def __post_init__(self) -> None:
        check_annotated(self.type, self.annotation, str(self))
        if self.annotation is not None and self.annotation.alias_set_after:
            raise SchemaError(
                f"the return {str(self)!r} says what it shares memory with after the call",
                text=str(self),
                position=len("Tensor("),
                expected="an annotation without arrow; what changes during the call is an argument",
            )
        if self.name is not None and (" " in self.name or "\n" in self.name):
            raise SchemaError(
                f"the return name {self.name!r} is not one word",
                text=str(self),
                position=len(annotated_text(self.type, self.annotation)) + 1,
                expected="a name without spaces",
            )

    @staticmethod
    def parse(text: str) -> Return:
        """The return that prints as `text`; raises `SchemaError` when there is none."""
        return _parse_return(text)

    def __str__(self) -> str:
        text = annotated_text(self.type, self.annotation)
        return text if self.name is None else f"{text} {self.name}"

    def __repr__(self) -> str:
        return f"Return.parse({str(self)!r})"


@dataclass(frozen=True, slots=True, repr=False)
class Arguments:
    """The arguments of an operator: positional, then keyword-only, then out.

    Out arguments are the keyword-only ones that are written to. `receiver_rule` says which positional argument is the
    *receiver*, the one that an in-place variant writes: "first" takes the first of them, whatever its name, "self" the
    first that is called self, as torchgen does. The finer buckets of torchgen are properties.

    >>> arguments = Arguments.parse("Tensor a, int axis=0, *, bool keepdims=False, Tensor(a!) out")
    >>> [argument.name for argument in arguments.flat_non_out]
    ['a', 'axis', 'keepdims']
    """

    positional: tuple[Argument, ...] = ()
    kwarg_only: tuple[Argument, ...] = ()
    out: tuple[Argument, ...] = ()
    receiver_rule: ReceiverRule = "first"
    _receiver_at: int = field(init=False, compare=False)
    _options_at: int = field(init=False, compare=False)

    def __post_init__(self) -> None:
        if self.receiver_rule not in _RECEIVER_RULES:
            raise SchemaError(f"unknown receiver rule {self.receiver_rule!r}", expected="'first' or 'self'")
        object.__setattr__(self, "_receiver_at", self._find_receiver())
        for argument in self.pre_self_positional:
            if argument.is_write:
                raise self._broken(argument, "is written, but stands before self", "written arguments after self")
        for argument in self.kwarg_only:
            if argument.is_write:
                raise self._broken(argument, "is written and keyword-only", "it among the out arguments")
        for argument in self.out:
            if not argument.is_write:
                raise self._broken(argument, "follows the out arguments", "unwritten arguments before written ones")
        object.__setattr__(self, "_options_at", self._find_options() if len(self.kwarg_only) > 3 else -1)

    def _find_receiver(self) -> int:
        if self.receiver_rule == "first":
            return 0 if self.positional else -1
        return next((index for index, argument in enumerate(self.positional) if argument.name == "self"), -1)

    def _find_options(self) -> int:
        found = [
            index
            for index in range(len(self.kwarg_only) - 3)
            if all(
                argument.name == name and argument.type in (BaseType(word), OptionalType(BaseType(word)))
                for argument, (name, word) in zip(self.kwarg_only[index : index + 4], _TENSOR_OPTIONS, strict=True)
            )
        ]
        if len(found) > 1:
            raise self._broken(self.kwarg_only[found[1]], "opens the tensor options a second time", "them once")
        return found[0] if found else -1

    def _broken(self, argument: Argument, what: str, expected: str) -> SchemaError:
        return SchemaError(
            f"argument {str(argument)!r} {what}", text=str(self), position=self.offset_of(argument), expected=expected
        )

    def offset_of(self, argument: Argument) -> int:
        """Where `argument` starts in the printed text; of equal arguments, the last."""
        return [offset for offset, item in _items(str(self)) if item == str(argument)][-1]

    @staticmethod
    def parse(text: str, receiver: ReceiverRule = "first") -> Arguments:
        """The arguments that print as `text`; raises `SchemaError` when there are none."""
        argument: Argument | None = None
        positional: list[Argument] = []
        kwarg_only: list[Argument] = []
        out: list[Argument] = []
        bucket = positional
        for offset, item in _items(text):
            if item == "*":
                if bucket is not positional or offset + 1 == len(text):
                    raise SchemaError(
                        "a * has no argument after it" if bucket is positional else "a second *",
                        text=text,
                        position=offset,
                        expected=STAR_FORM,
                    )
                bucket = kwarg_only
                continue
            try:
                argument = _parse_argument(item)
            except SchemaError as error:
                if argument is None or not _is_cut(argument.default):
                    raise relocated(error, text, offset) from None
                raise SchemaError(
                    f"the default {argument.default!r} of argument {argument.name!r} ends at a comma with a space",
                    text=text,
                    position=offset - len(_SEPARATOR),
                    expected="a default without comma and space: a list is written [0,1]",
                ) from None
            if bucket is kwarg_only and argument.is_write:
                bucket = out
            bucket.append(argument)
        return Arguments(tuple(positional), tuple(kwarg_only), tuple(out), receiver)

    def __str__(self) -> str:
        items = [str(argument) for argument in self.flat_all]
        if self.kwarg_only or self.out:
            items.insert(len(self.positional), "*")
        return _SEPARATOR.join(items)

    def __repr__(self) -> str:
        rule = "" if self.receiver_rule == "first" else f", receiver={self.receiver_rule!r}"
        return f"Arguments.parse({str(self)!r}{rule})"

    @property
    def self_arg(self) -> Argument | None:
        """The receiver: the argument that the in-place variant writes."""
        return None if self._receiver_at < 0 else self.positional[self._receiver_at]

    @property
    def pre_self_positional(self) -> tuple[Argument, ...]:
        """The positional arguments before the receiver, such as the condition of torch's `where`."""
        return self.positional[: max(self._receiver_at, 0)]

    @property
    def post_self_positional(self) -> tuple[Argument, ...]:
        """The positional arguments after the receiver; all of them when there is no receiver."""
        return self.positional[self._receiver_at + 1 :]

    @property
    def pre_tensor_options_kwarg_only(self) -> tuple[Argument, ...]:
        """The keyword-only arguments before the tensor options; all of them when there are no tensor options."""
        return self.kwarg_only if self._options_at < 0 else self.kwarg_only[: self._options_at]

    @property
    def tensor_options(self) -> tuple[Argument, ...]:
        """The keyword-only arguments dtype, layout, device, pin_memory where all four stand in this order, else ()."""
        return () if self._options_at < 0 else self.kwarg_only[self._options_at : self._options_at + 4]

    @property
    def post_tensor_options_kwarg_only(self) -> tuple[Argument, ...]:
        """The keyword-only arguments after the tensor options."""
        return () if self._options_at < 0 else self.kwarg_only[self._options_at + 4 :]

    @property
    def flat_non_out(self) -> tuple[Argument, ...]:
        """All arguments but the out arguments, in order."""
        return self.positional + self.kwarg_only

    @property
    def flat_all(self) -> tuple[Argument, ...]:
        """All arguments in order."""
        return self.positional + self.kwarg_only + self.out

    def signature(self, *, strip_default: bool = False) -> Arguments:
        """What the variants of one operator have in common: no annotations, no tensor options, no out arguments."""

        def stripped(arguments: tuple[Argument, ...]) -> tuple[Argument, ...]:
            return tuple(
                argument
                if argument.annotation is None and not strip_default
                else replace(argument, annotation=None, default=None if strip_default else argument.default)
                for argument in arguments
            )

        return Arguments(
            stripped(self.positional),
            stripped(self.pre_tensor_options_kwarg_only + self.post_tensor_options_kwarg_only),
            receiver_rule=self.receiver_rule,
        )


def parse_returns(text: str) -> tuple[Return, ...]:
    """The returns that `returns_text` prints as `text`: `()`, a bare one, or several in brackets.

    >>> [str(item) for item in parse_returns("(Tensor q, Tensor r)")]
    ['Tensor q', 'Tensor r']
    """
    bracketed = text.startswith("(") and text.endswith(")")
    start = 1 if bracketed else 0
    returns = []
    for offset, item in _items(text[start : len(text) - start]):
        try:
            returns.append(_parse_return(item))
        except SchemaError as error:
            if text.count("(") != text.count(")"):
                raise _misread_returns("the brackets of the returns do not pair", text) from None
            raise relocated(error, text, start + offset) from None
    if bracketed == (len(returns) == 1):
        many = "no value is" if not returns else "one value is" if bracketed else "several values are"
        raise _misread_returns(f"{many} returned, and written {text!r}", text)
    return tuple(returns)


def _misread_returns(message: str, text: str) -> SchemaError:
    expected = "() for none, a bare item for one, brackets around several"
    return SchemaError(message, text=text, position=0, expected=expected)


def returns_text(returns: tuple[Return, ...]) -> str:
    """How returns are printed: a single one bare, none or several in brackets.

    >>> returns_text(())
    '()'
    """
    joined = _SEPARATOR.join([str(item) for item in returns])
    return joined if len(returns) == 1 else f"({joined})"


def _items(text: str) -> Iterator[tuple[int, str]]:
    """The items of a list with the place where each starts; an empty text has none."""
    offset = 0
    for item in text.split(_SEPARATOR) if text else ():
        yield offset, item
        offset += len(item) + len(_SEPARATOR)


# Items recur from operator to operator (`Tensor x`, `int? axis=None`) and are immutable, so each is read once.
@lru_cache(maxsize=1024)
def _parse_argument(text: str) -> Argument:
    head, equals, default = text.partition("=")
    typed, space, name = head.rpartition(" ")
    if not space:
        raise _one_word(head, text)
    type_, annotation = parse_annotated(typed, text)
    return Argument(name, type_, default if equals else None, annotation)


@lru_cache(maxsize=256)
def _parse_return(text: str) -> Return:
    typed, space, name = text.rpartition(" ")
    type_, annotation = parse_annotated(typed if space else text, text)
    return Return(type_, name if space else None, annotation)


def _one_word(head: str, text: str) -> SchemaError:
    """What is wrong with an argument in which no space precedes the default; `head` is `text` without it."""
    if text.startswith("*"):
        return SchemaError(f"the * in {text!r} does not stand alone", text=text, position=0, expected=STAR_FORM)
    if not text:
        what = "an argument is missing"
    elif text == "/":
        what = "a / stands where an argument belongs"
    elif any(character in head for character in ")]?"):
        what = f"{text!r} has no space between type and name"
    else:
        what = f"the argument {text!r} has no {'name' if head in BASE_WORDS else 'type'}"
    return SchemaError(what, text=text, position=0, expected=ITEM_FORM)


def _is_cut(default: str | None) -> bool:
    """Whether a default opens a list or a text in quotes and does not close it."""
    if not default or default[0] not in "['\"":
        return False
    return len(default) == 1 or default[-1] != default[0].replace("[", "]")
