"""Operator names: `add`, `add_`, `add.out`, `__iand__`, `batch_norm_functional`.

A full name is a base name and an optional overload, joined by the first dot. Marks in the base name carry meaning: a
trailing `_` is the in-place variant, a trailing `_functional` the functional variant of an operator that is otherwise
mutable, and the suffix `_out` is reserved, because out variants are told apart by overload (`add.out`).

Every value that can be built prints to a text that reads back as the same value.
"""

from __future__ import annotations

from dataclasses import dataclass

from registry.errors import SchemaError

_FUNCTIONAL = "_functional"

# `__imul__` is the in-place form of `__mul__`, but `__invert__` is not one of `__nvert__`: only a list can tell.
_AUGMENTED = frozenset({"add", "sub", "mul", "div", "mod", "pow", "lshift", "rshift", "and", "xor", "or"})


@dataclass(frozen=True, slots=True, repr=False)
class BaseOperatorName:
    """The name of an operator without its overload, taken apart into a stem and its marks.

    `base` is the stem, `inplace` the trailing underscore (or the `i` of `__iand__`), `dunder_method` the double
    underscores on both sides, `functional_overload` the suffix `_functional`, `namespace` what precedes the last `::`.
    Raises `SchemaError` where stem and marks would print as another name's text.

    >>> BaseOperatorName("multiply", inplace=True)
    BaseOperatorName.parse('multiply_')
    """

    base: str
    inplace: bool = False
    dunder_method: bool = False
    functional_overload: bool = False
    namespace: str | None = None

    def __post_init__(self) -> None:
        text = str(self)
        marks = (self.base, self.inplace, self.dunder_method, self.functional_overload, self.namespace)
        found = _take_apart(text, len(text))
        if found != marks:
            raise SchemaError(
                f"the name parts {marks} print as {text!r}, which reads back as {found}",
                text=text,
                position=0,
                expected="a stem without marks of its own, and at most one of in-place, dunder and functional marks",
            )

    @staticmethod
    def parse(text: str) -> BaseOperatorName:
        """The name that prints as `text`; raises `SchemaError` when there is none.

        >>> BaseOperatorName.parse("__iand__").base
        'and'
        """
        return BaseOperatorName(*_take_apart(text, len(text)))

    def __str__(self) -> str:
        if self.dunder_method:
            text = f"__{'i' if self.inplace else ''}{self.base}__"
        elif self.inplace:
            text = f"{self.base}_"
        elif self.functional_overload:
            text = f"{self.base}{_FUNCTIONAL}"
        else:
            text = self.base
        return text if self.namespace is None else f"{self.namespace}::{text}"

    def __repr__(self) -> str:
        return f"BaseOperatorName.parse({str(self)!r})"


@dataclass(frozen=True, slots=True, repr=False)
class OperatorName:
    """The full name of an operator: a base name and an overload, which is empty for most operators.

    >>> OperatorName(BaseOperatorName("add"), "out")
    OperatorName.parse('add.out')
    """

    name: BaseOperatorName
    overload_name: str = ""

    def __post_init__(self) -> None:
        base_text = str(self.name)
        if "\n" in self.overload_name:
            raise SchemaError(
                f"the overload name {self.overload_name!r} holds a line break",
                text=str(self),
                position=str(self).index("\n"),
                expected="a name in one line",
            )
        if "." in base_text:
            raise SchemaError(
                f"the base name {base_text!r} holds a dot, so its rest would read back as an overload",
                text=str(self),
                position=base_text.index("."),
                expected="the part after the dot given as overload_name",
            )

    @staticmethod
    def parse(text: str) -> OperatorName:
        """The full name that prints as `text`; raises `SchemaError` when there is none.

        >>> name = OperatorName.parse("add_.Tensor")
        >>> name.name.base, name.name.inplace, name.overload_name
        ('add', True, 'Tensor')
        """
        base_text, dot, overload_name = text.partition(".")
        if dot and not overload_name:
            raise SchemaError(
                f"the operator name {text!r} ends in a dot",
                text=text,
                position=len(text),
                expected="an overload name after the dot, or no dot",
            )
        return OperatorName(BaseOperatorName(*_take_apart(text, len(base_text))), overload_name)

    def __str__(self) -> str:
        return f"{self.name}.{self.overload_name}" if self.overload_name else str(self.name)

    def __repr__(self) -> str:
        return f"OperatorName.parse({str(self)!r})"

    def unambiguous_name(self) -> str:
        """The full name as one word, fit for the name of a generated function.

        Two names may share a word: `foo.functional` and `foo_functional` do.

        >>> OperatorName.parse("add.Tensor_out").unambiguous_name()
        'add_Tensor_out'
        """
        return f"{self.name}_{self.overload_name}" if self.overload_name else str(self.name)

    def remove_inplace(self) -> OperatorName:
        """The same name and overload without the in-place and functional marks, and without namespace.

        >>> str(OperatorName.parse("add_.Tensor").remove_inplace())
        'add.Tensor'
        """
        return self.with_overload(self.overload_name)

    def with_overload(self, overload_name: str) -> OperatorName:
        """The name of a sibling: same stem, given overload, no in-place or functional mark, no namespace.

        >>> str(OperatorName.parse("add_").with_overload("out"))
        'add.out'
        """
        return OperatorName(BaseOperatorName(self.name.base, dunder_method=self.name.dunder_method), overload_name)


def _take_apart(text: str, stop: int) -> tuple[str, bool, bool, bool, str | None]:
    """The fields of the base name `text[:stop]`; errors show the whole text."""
    if stop == 0:
        raise SchemaError("an operator name is empty", text=text, position=0, expected="a name such as add")
    if "\n" in text[:stop]:
        raise SchemaError(
            f"the operator name {text[:stop]!r} holds a line break",
            text=text,
            position=text.index("\n"),
            expected="a name in one line",
        )
    if text.endswith("_out", 0, stop):
        raise SchemaError(
            f"the operator name {text[:stop]!r} ends in the reserved suffix _out",
            text=text,
            position=stop - len("_out"),
            expected=f"an out overload: {text[: stop - len('_out')]}.out",
        )
    separator = text.rfind("::", 0, stop)
    start = 0 if separator < 0 else separator + len("::")
    namespace = None if separator < 0 else text[:separator]
    if namespace == "":
        raise SchemaError(f"the namespace of {text[:stop]!r} is empty", text=text, position=0, expected="a word before the ::")
    stem = text[start:stop]
    if not stem:
        raise SchemaError(f"no operator name follows the namespace {namespace!r}", text=text, position=start, expected="a name")

    inner = stem[2:-2]
    if inner and "_" not in inner and stem.startswith("__") and stem.endswith("__"):
        if inner[0] == "i" and inner[1:] not in _AUGMENTED:
            raise SchemaError(
                f"the dunder name {stem!r} starts with an i but is no in-place operator",
                text=text,
                position=start + 2,
                expected="i before one of " + ", ".join(sorted(_AUGMENTED)),
            )
        inplace = inner[0] == "i"
        return inner[1:] if inplace else inner, inplace, True, False, namespace

    inplace = stem[-1] == "_"
    if inplace:
        stem = stem[:-1]
    functional = stem.endswith(_FUNCTIONAL)
    if functional:
        if inplace:
            raise SchemaError(
                f"the name {text[start:stop]!r} is marked both functional and in-place",
                text=text,
                position=stop - 1,
                expected="one of the two marks",
            )
        stem = stem[: -len(_FUNCTIONAL)]
    return stem, inplace, False, functional, namespace


def stem_of(name: str) -> str:
    """What the names of all variants of an operator have in common; any text has one.

    >>> [stem_of(name) for name in ("add", "add_", "add.out", "__iadd__", "step_functional")]
    ['add', 'add', 'add', 'add', 'step']
    """
    stem = name.partition(".")[0]
    if stem.startswith("__") and stem.endswith("__"):
        stem = stem[2:-2].removeprefix("i")
    return stem.removesuffix("_").removesuffix(_FUNCTIONAL)
