"""The types of a schema: `Tensor`, `int?`, `Tensor[]`, `int[2]?`.

A type is a base word with suffixes, read from the right: `?` makes what stands before it optional, `[]` a list of it,
and `[2]` a list for which a single element may stand in, to be repeated twice. So `Tensor?[]` is a list of optional
tensors, and `Tensor[]?` an optional list of tensors.

A tensor may carry an *annotation* in round brackets, which says what it shares memory with: `Tensor(a!)`. It belongs to
the argument or return that is so annotated, not to the type.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import lru_cache

from registry.errors import SchemaError, close_matches

#: The base words torchgen knows, so that its schemas can be read.
TORCHGEN_WORDS = frozenset(
    {"Tensor", "Scalar", "ScalarType", "int", "float", "bool", "str", "SymInt", "SymBool", "DimVector"}
    | {"Device", "DeviceIndex", "Generator", "GraphModule", "Layout", "MemoryFormat", "QScheme", "Storage", "Stream"}
)

#: Our own: any Python value, what may stand in the brackets of `x[...]`, a function, a complex number.
OWN_WORDS = frozenset({"Any", "Index", "Callable", "complex"})

BASE_WORDS = TORCHGEN_WORDS | OWN_WORDS

_CUSTOM_CLASS_PREFIX = "__torch__.torch.classes."

#: What errors about arguments expect.
ITEM_FORM = "a type, one space and a name; a list default without spaces, such as [0,1]"
STAR_FORM = "a *, then comma, space and the keyword-only arguments"

# Types are printed, compared and hashed by recursion, which must end before Python's own limit.
_DEEPEST = 32
_MOST_DIGITS = 18
_SIZE_FORM = f"a whole number from 1 on of at most {_MOST_DIGITS} digits"

_LIST = "int[] for a list of int"
_OPTIONAL = "int? for an int or None"

# How a schema says what other notations call by these words.
_WORDS_ELSEWHERE = {
    **dict.fromkeys(("array", "ndarray", "arraylike"), "Tensor"),
    **dict.fromkeys(("list", "tuple", "sequence"), _LIST),
    **dict.fromkeys(("object", "dict"), "Any"),
    "boolean": "bool",
    "double": "float",
    "dtype": "ScalarType",
    "function": "Callable",
    "integer": "int",
    "none": "() where nothing is returned, and " + _OPTIONAL,
    "number": "Scalar",
    "optional": _OPTIONAL,
    "slice": "Index",
    "string": "str",
}


def relocated(error: SchemaError, text: str, offset: int) -> SchemaError:
    """The same error told of the longer text `text`, in which the text of `error` starts at `offset`."""
    message = str(error).partition("\n")[0]
    return SchemaError(message, text=text, position=offset + (error.position or 0), expected=error.expected)


def _check_depth(text: str) -> None:
    if text.count("?") + text.count("[") > _DEEPEST:
        raise SchemaError(
            "a type is nested too deeply", text=text, position=0, expected=f"at most {_DEEPEST} suffixes ?, [] or [2]"
        )


class Type(ABC):
    """The type of an argument or of a return: `BaseType`, `OptionalType`, `ListType` or `CustomClass`."""

    __slots__ = ()

    @staticmethod
    def parse(text: str) -> Type:
        """The type that prints as `text`; raises `SchemaError` when there is none.

        >>> Type.parse("int[2]?") == OptionalType(ListType(BaseType("int"), 2))
        True
        """
        try:
            return _parse_type(text)
        except SchemaError as error:
            raise relocated(error, text, 0) from None

    @abstractmethod
    def is_base_like(self, word: str) -> bool:
        """Whether the base word is `word`, looking through optional and list."""

    @abstractmethod
    def is_nullable(self) -> bool:
        """Whether `None` can occur: an optional, or a list of optionals."""

    @abstractmethod
    def is_list_like(self) -> ListType | None:
        """The list type, looking through optional, or None where it is no list."""

    def is_tensor_like(self) -> bool:
        """Whether it is a tensor, an optional tensor, or a list of these.

        >>> [text for text in ("Tensor", "Tensor?[]", "Scalar") if Type.parse(text).is_tensor_like()]
        ['Tensor', 'Tensor?[]']
        """
        return self.is_base_like("Tensor")

    def __repr__(self) -> str:
        return f"Type.parse({str(self)!r})"


@dataclass(frozen=True, slots=True, repr=False)
class BaseType(Type):
    """A type that is one word, such as `Tensor`; `BASE_WORDS` lists them."""

    name: str

    def __post_init__(self) -> None:
        if self.name not in BASE_WORDS:
            suggestion = _suggestion(self.name)
            words = "a type such as Tensor" if suggestion else "one of " + ", ".join(sorted(BASE_WORDS))
            raise SchemaError(
                f"unknown type {self.name!r}.{suggestion}",
                text=self.name,
                position=0,
                expected=f"{words}, with suffixes ?, [] or [2]",
            )

    def __str__(self) -> str:
        return self.name

    def is_base_like(self, word: str) -> bool:
        return self.name == word

    def is_nullable(self) -> bool:
        return False

    def is_list_like(self) -> ListType | None:
        return None


@dataclass(frozen=True, slots=True, repr=False)
class OptionalType(Type):
    """A type that admits `None`, such as `int?`."""

    elem: Type

    def __post_init__(self) -> None:
        _check_depth(str(self))

    def __str__(self) -> str:
        return f"{self.elem}?"

    def is_base_like(self, word: str) -> bool:
        return self.elem.is_base_like(word)

    def is_nullable(self) -> bool:
        return True

    def is_list_like(self) -> ListType | None:
        return self.elem.is_list_like()


@dataclass(frozen=True, slots=True, repr=False)
class ListType(Type):
    """A sequence of one type, such as `Tensor[]`; with a `size`, one element may stand for the sequence: `int[2]`."""

    elem: Type
    size: int | None = None

    def __post_init__(self) -> None:
        if self.size is not None and not 1 <= self.size < 10**_MOST_DIGITS:
            raise SchemaError(
                f"a list of {self.elem} has size {self.size}",
                text=str(self),
                position=len(f"{self.elem}["),
                expected=f"{_SIZE_FORM}, or None",
            )
        _check_depth(str(self))

    def __str__(self) -> str:
        return f"{self.elem}[{'' if self.size is None else self.size}]"

    def is_base_like(self, word: str) -> bool:
        return self.elem.is_base_like(word)

    def is_nullable(self) -> bool:
        return self.elem.is_nullable()

    def is_list_like(self) -> ListType | None:
        return self


@dataclass(frozen=True, slots=True, repr=False)
class CustomClass(Type):
    """A class of torch's class registry, such as `__torch__.torch.classes.foo.Bar`."""

    class_name: str

    def __post_init__(self) -> None:
        characters = self.class_name.replace("_", "a").replace(".", "a")
        if not (characters.isascii() and characters.isalnum()):
            raise SchemaError(
                f"the custom class name {self.class_name!r} is no name",
                text=str(self),
                position=len(_CUSTOM_CLASS_PREFIX),
                expected="letters, digits, underscores and dots",
            )

    def __str__(self) -> str:
        return _CUSTOM_CLASS_PREFIX + self.class_name

    def is_base_like(self, word: str) -> bool:
        return False

    def is_nullable(self) -> bool:
        return False

    def is_list_like(self) -> ListType | None:
        return None


@dataclass(frozen=True, slots=True, repr=False)
class Annotation:
    """What a tensor shares memory with, and whether it is written.

    `alias_set` holds one letter or two, each standing for a piece of memory; `is_write` says that it is written to;
    `alias_set_after` says where the tensor may belong after the call, `*` meaning anywhere.

    >>> Annotation.parse("a!")
    Annotation.parse('a!')
    >>> Annotation(("a",), is_write=True) == Annotation.parse("a!")
    True
    """

    alias_set: tuple[str, ...]
    is_write: bool = False
    alias_set_after: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        letters = all(_is_letter(letter) for letter in self.alias_set)
        letters_after = self.alias_set_after == ("*",) or all(_is_letter(letter) for letter in self.alias_set_after)
        if not (letters and letters_after and 1 <= len(self.alias_set) <= 2):
            raise self._broken("is not understood", "a letter from a to z or two joined by |, then ! if written to")
        if self.is_write and len(self.alias_set) > 1:
            raise self._broken("writes to a choice of two", "a single letter before !")
        if len(self.alias_set) > 1 and len(self.alias_set_after) > 1:
            raise self._broken("has several letters before and after the arrow", "one letter on one of the sides")

    def _broken(self, what: str, expected: str) -> SchemaError:
        return SchemaError(f"the annotation {str(self)!r} {what}", text=str(self), position=0, expected=expected)

    @staticmethod
    def parse(text: str) -> Annotation:
        """The annotation that prints as `text`, which stands without its brackets; raises `SchemaError` on others."""
        before, arrow, after = text.partition(" -> ")
        letters = before.removesuffix("!")
        return Annotation(tuple(letters.split("|")), letters != before, tuple(after.split("|")) if arrow else ())

    def __str__(self) -> str:
        text = "|".join(self.alias_set) + ("!" if self.is_write else "")
        return f"{text} -> {'|'.join(self.alias_set_after)}" if self.alias_set_after else text

    def __repr__(self) -> str:
        return f"Annotation.parse({str(self)!r})"


_TENSOR = BaseType("Tensor")
_ANNOTATABLE = frozenset({_TENSOR, OptionalType(_TENSOR), ListType(_TENSOR)})


# A table of 200 operators writes some ten different types, so nearly every look-up is a hit.
@lru_cache(maxsize=256)
def _parse_type(text: str) -> Type:
    _check_depth(text)
    if text.endswith("?"):
        return OptionalType(_parse_type(text[:-1]))
    opening = text.rfind("[")
    if opening >= 0 and text.endswith("]"):
        return ListType(_parse_type(text[:opening]), _parse_size(text, opening + 1))
    if text.startswith(_CUSTOM_CLASS_PREFIX):
        return CustomClass(text.removeprefix(_CUSTOM_CLASS_PREFIX))
    return BaseType(text)


def _parse_size(text: str, start: int) -> int | None:
    digits = text[start:-1]
    if digits and not (digits.isascii() and digits.isdigit() and digits[0] != "0" and len(digits) <= _MOST_DIGITS):
        raise SchemaError(
            f"the list size {digits!r} of type {text!r} is no size",
            text=text,
            position=start,
            expected=f"{_SIZE_FORM}, without leading zero, or nothing",
        )
    return int(digits) if digits else None


def _suggestion(word: str) -> str:
    written = _WORDS_ELSEWHERE.get("optional" if "|" in word else word.lower())
    return f" A schema writes {written}." if written else close_matches(word, BASE_WORDS)


def _is_letter(text: str) -> bool:
    return len(text) == 1 and "a" <= text <= "z"


def check_annotated(type_: Type, annotation: Annotation | None, text: str) -> None:
    """Raise `SchemaError` when the item that prints as `text` is annotated, and its type admits no annotation."""
    if annotation is not None and type_ not in _ANNOTATABLE:
        raise SchemaError(
            f"the annotation ({annotation}) stands on the type {type_}",
            text=text,
            position=0,
            expected="annotations on Tensor, Tensor? and Tensor[] only",
        )


def annotated_text(type_: Type, annotation: Annotation | None) -> str:
    """How a type and its annotation are printed.

    >>> annotated_text(Type.parse("Tensor[]"), Annotation.parse("a!"))
    'Tensor(a!)[]'
    """
    return str(type_) if annotation is None else f"Tensor({annotation}){str(type_).removeprefix('Tensor')}"


def parse_annotated(typed: str, text: str) -> tuple[Type, Annotation | None]:
    """Type and annotation that print as `typed`, which opens the item `text`; raises `SchemaError` told of `text`."""
    closing = typed.find(")") if typed.startswith("Tensor(") else -1
    bare = typed if closing < 0 else "Tensor" + typed[closing + 1 :]
    try:
        type_ = Type.parse(bare)
    except SchemaError as error:
        raise _misread_type(bare, text, len(typed) - len(bare), error) from None
    if closing < 0:
        return type_, None
    opening = len("Tensor(")
    try:
        return type_, Annotation.parse(typed[opening:closing])
    except SchemaError as error:
        raise relocated(error, text, opening) from None


def _misread_type(bare: str, text: str, shift: int, error: SchemaError) -> SchemaError:
    """What is wrong with the item `text` of the unknown type `bare`, from which an annotation of length `shift` was taken."""
    if "," in bare:
        position, what, expected = (
            bare.index(",") + shift,
            f"no space follows the comma in {text!r}",
            "comma and space between items",
        )
    elif bare.startswith("*"):
        position, what, expected = (
            0,
            f"the * in {text!r} does not stand alone",
            STAR_FORM,
        )
    elif error.position:
        return relocated(error, text, shift)
    elif " " in bare:
        # Of two spaces, the first may be the one between type and name.
        first = bare.index(" ") + shift
        position, what, expected = text.index(" ", first + 1) if first else 0, f"{text!r} has a space too many", ITEM_FORM
    elif "(" in bare or ")" in bare:
        position = min(bare.index(bracket) for bracket in "()" if bracket in bare) + shift
        what = f"the brackets in {text!r} hold no annotation"
        expected = "Tensor(a!), Tensor(a!)? or Tensor(a!)[]: closed brackets right after the word Tensor"
    elif bare.endswith(":"):
        position, what, expected = 0, f"{text!r} names the argument before its type", ITEM_FORM
    else:
        return relocated(error, text, 0)
    return SchemaError(what, text=text, position=position, expected=expected)
