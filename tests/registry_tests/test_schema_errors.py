"""What a schema's author is told about a mistake: the text, the place in it, what is wrong and what was expected."""

from __future__ import annotations

import pytest

from registry.errors import SchemaError
from registry.schema import BASE_WORDS, FunctionSchema

# text of the schema, what the caret points at, words of the message, words of what was expected
MISTAKES = [
    # the frame
    ("add Tensor x -> Tensor", " Tensor x -> Tensor", "no brackets around its arguments", r"name\(arguments\) -> returns"),
    ("add", "", "no brackets around its arguments", r"name\(arguments\) -> returns"),
    ("add(Tensor x, Tensor y -> Tensor", " -> Tensor", "a bracket that is not closed", r"name\(arguments\) -> returns"),
    ("add(Tensor x", "(Tensor x", "a bracket that is not closed", r"name\(arguments\) -> returns"),
    ("add(Tensor x)", "", "no arrow between arguments and returns", "one space on either side of the arrow"),
    ("add(Tensor x): Tensor", ": Tensor", "no arrow", "one space on either side"),
    ("add(Tensor x) => Tensor", " => Tensor", "no arrow", "one space on either side"),
    ("add(Tensor x)-> Tensor", "-> Tensor", "no arrow", "one space on either side"),
    ("add(Tensor x) ->Tensor", " ->Tensor", "no arrow", "one space on either side"),
    ("add(Tensor x,\n    Tensor y) -> Tensor", "\n    Tensor y) -> Tensor", "goes over several lines", "in one line"),
    ("add(Tensor x) -> Tensor\n", "\n", "goes over several lines", "in one line"),
    # the name
    ("(Tensor x) -> Tensor", "(Tensor x) -> Tensor", "name is empty", "a name such as add"),
    ("add (Tensor x) -> Tensor", " (Tensor x) -> Tensor", "name 'add ' holds white space", "right before the bracket"),
    ("def add(Tensor x) -> Tensor", " add(Tensor x) -> Tensor", "name 'def add' holds white space", "one word"),
    ("add.(Tensor x) -> Tensor", "(Tensor x) -> Tensor", "'add.' ends in a dot", "an overload name after the dot, or no dot"),
    ("add_out(Tensor x) -> Tensor", "_out(Tensor x) -> Tensor", "reserved suffix _out", r"an out overload: add\.out"),
    ("__imatmul__(Tensor(a!) x) -> Tensor(a!)", "imatmul__(Tensor(a!) x) -> Tensor(a!)", "no in-place", "i before one of add"),
    # items
    ("add(Tensor x,Tensor y) -> Tensor", ",Tensor y) -> Tensor", "no space follows the comma", "comma and space"),
    ("add(Tensor(a) x,Tensor y) -> Tensor", ",Tensor y) -> Tensor", "no space follows the comma", "comma and space"),
    ("add(Tensor x,) -> Tensor", "x,) -> Tensor", "name 'x,' is no identifier", "a Python name"),
    ("add(Tensor x, ) -> Tensor", ") -> Tensor", "an argument is missing", "a type, one space and a name"),
    ("add(x, y) -> Tensor", "x, y) -> Tensor", "argument 'x' has no type", "a type, one space and a name"),
    ("add(Tensor x, axis=0) -> Tensor", "axis=0) -> Tensor", "'axis=0' has no type", "a type, one space and a name"),
    ("add(Tensor) -> Tensor", "Tensor) -> Tensor", "argument 'Tensor' has no name", "a type, one space and a name"),
    ("add(Tensor(a!)x) -> Tensor", "Tensor(a!)x) -> Tensor", "no space between type and name", "one space"),
    ("add(x: Tensor) -> Tensor", "x: Tensor) -> Tensor", "names the argument before its type", "a type, one space and a name"),
    ("add(Tensor  x) -> Tensor", " x) -> Tensor", "a space too many", "one space"),
    ("add( Tensor x) -> Tensor", " Tensor x) -> Tensor", "a space too many", "one space"),
    ("add(Tensor x ) -> Tensor", " ) -> Tensor", "a space too many", "one space"),
    ("add(Tensor(a -> *)  x) -> Tensor", " x) -> Tensor", "a space too many", "one space"),
    ("add(Tensor x, int axis = 0) -> Tensor", " = 0) -> Tensor", "a space too many", "one space"),
    ("add(Tensor x-1) -> Tensor", "x-1) -> Tensor", "name 'x-1' is no identifier", "a Python name"),
    ("add(Tensor xs[]) -> Tensor", "xs[]) -> Tensor", "name 'xs.*' is no identifier", "at the end of the type"),
    ("add(Tensor x, Tensor x) -> Tensor", "Tensor x) -> Tensor", "two arguments are called 'x'", "a name for each"),
    # the star
    ("add(Tensor x, *) -> Tensor", "*) -> Tensor", "no argument after it", "keyword-only arguments"),
    ("add(*, int x, *, int y) -> Tensor", "*, int y) -> Tensor", "a second", "keyword-only arguments"),
    ("add(Tensor x, *args) -> Tensor", "*args) -> Tensor", "does not stand alone", "then comma, space"),
    ("add(Tensor x, * int y) -> Tensor", "* int y) -> Tensor", "does not stand alone", "then comma, space"),
    ("add(Tensor x, /, Tensor y) -> Tensor", "/, Tensor y) -> Tensor", "a / stands where an argument belongs", "a type"),
    # defaults
    ("add(int x1=2, int x) -> Tensor", "int x) -> Tensor", "'x' follows one with a default", "required arguments first"),
    ("add(int x=) -> Tensor", ") -> Tensor", "default '' of argument 'x'", "not empty"),
    ("add(int x=1x) -> Tensor", "1x) -> Tensor", "default '1x' is no value", "a number, a word"),
    ("add(int x=0, int y=(1,2)) -> Tensor", "(1,2)) -> Tensor", "default .* is no value", r"such as \[0,1\]"),
    ("add(int[2] y=[1, 2]) -> Tensor", ", 2]) -> Tensor", "'.1' of argument 'y' ends at a comma", r"a list is written \[0,1\]"),
    ('add(str s="a, b") -> Tensor', ', b") -> Tensor', "of argument 's' ends at a comma", "without comma and space"),
    ('add(str s="a=b") -> Tensor', '"a=b") -> Tensor', "cannot be written in a schema", "without = "),
    ("add(str s='a) -> Tensor", "'a) -> Tensor", "is no value", "a text in quotes"),
    # types
    ("add(tensor x) -> Tensor", "tensor x) -> Tensor", "unknown type 'tensor'. Did you mean 'Tensor'", "a type such as Tensor"),
    ("add(Tensor x, Foo y) -> Tensor", "Foo y) -> Tensor", "unknown type 'Foo'", "one of Any, Callable"),
    ("add(ndarray x) -> Tensor", "ndarray x) -> Tensor", "A schema writes Tensor", "with suffixes"),
    ("add(list[int] x) -> Tensor", "list[int] x) -> Tensor", r"A schema writes int\[\] for a list", "with suffixes"),
    ("add(Optional[int] x) -> Tensor", "Optional[int] x) -> Tensor", r"writes int\? for an int or None", "with suffixes"),
    ("add(int|None x) -> Tensor", "int|None x) -> Tensor", r"A schema writes int\? for an int or None", "with suffixes"),
    ("add(int[ ] x) -> Tensor", " ] x) -> Tensor", "list size ' ' of type", "a whole number"),
    ("add(int[0] x) -> Tensor", "0] x) -> Tensor", "list size '0' of type", "a whole number from 1 on"),
    ("add(int[n] x) -> Tensor", "n] x) -> Tensor", "list size 'n' of type", "a whole number"),
    # annotations
    ("add(Tensor(A!) x) -> Tensor", "A!) x) -> Tensor", "annotation 'A!' is not understood", "a letter from a to z"),
    ("add(Tensor(a->*) x) -> Tensor", "a->*) x) -> Tensor", "is not understood", "a letter from a to z"),
    ("add(Tensor(a! x) -> Tensor", "(a! x) -> Tensor", "hold no annotation", "closed brackets right after the word Tensor"),
    ("add(Tensor?(a!) x) -> Tensor", "(a!) x) -> Tensor", "hold no annotation", "right after the word Tensor"),
    ("add(int(a!) x) -> Tensor", "(a!) x) -> Tensor", "hold no annotation", "right after the word Tensor"),
    ("add(Tensor(a!)[2] x) -> Tensor", "Tensor(a!)[2] x) -> Tensor", "stands on the type", "Tensor, Tensor. and Tensor.. only"),
    # returns
    ("add(Tensor x) -> ", "", "no value is returned", r"\(\) for none"),
    ("add(Tensor x) -> None", "None", r"A schema writes \(\) where nothing is returned", "a type"),
    ("add(Tensor x) -> Tensor ", " ", "return name '' is no identifier", "nothing at all after the type"),
    ("add(Tensor x) -> (Tensor, Tensor a-b)", " a-b)", "return name 'a-b' is no identifier", "a Python name"),
    ("add(Tensor x) -> (Tensor)", "(Tensor)", "one value is returned", "a bare item for one"),
    ("add(Tensor x) -> Tensor, Tensor", "Tensor, Tensor", "several values are returned", "brackets around several"),
    ("add(Tensor x) -> (Tensor, Tensor", "(Tensor, Tensor", "brackets of the returns do not pair", "brackets around several"),
    ("add(Tensor x) -> (Tensor,Tensor)", ",Tensor)", "no space follows the comma", "comma and space"),
    ("add(Tensor x) -> (Tensor, Foo)", "Foo)", "unknown type 'Foo'", "one of Any"),
    ("add(Tensor x) -> Tensor a b", " b", "a space too many", "one space"),
    # the whole
    ("add(Tensor x) -> Tensor(a!)", "Tensor(a!)", "no argument that is written", "the annotation of an out argument"),
    ("add(Tensor(a!) x) -> Tensor(a!)", "Tensor(a!) x) -> Tensor(a!)", "'x' is written and returned", "a name that ends in _"),
    ("add.out(Tensor x, Tensor(a!) out) -> Tensor(a!)", "Tensor(a!) out) -> Tensor(a!)", "written and returned", r"a \* before"),
    ("add(Tensor x, Tensor(a!) y) -> (Tensor, Tensor(b!))", "Tensor(b!))", "others are new values", "either written arguments"),
    ("add_(Tensor x) -> Tensor", "Tensor x) -> Tensor", "add_ does not write its first argument", r"such as Tensor\(a!\) x"),
    ("add_() -> (Tensor, Tensor)", "() -> (Tensor, Tensor)", "does not write its first argument", r"such as Tensor\(a!\) x"),
    ("add_(Tensor(a!) x) -> ()", ") -> ()", "add_ does not return its argument 'x'", r"-> Tensor\(a!\)"),
    ("add_(Tensor(a!)[] x) -> Tensor", ") -> Tensor", r"on Tensor.* returns something", r"-> \(\)"),
    ("add.out(Tensor x, *, Tensor(a!) out) -> Tensor", "Tensor", "is not the out argument 'out'", r"Tensor\(a!\)"),
    ("add.out(Tensor x, *, Tensor(a!) out) -> ()", ") -> ()", "returns is 0, and that of out arguments 1", r"-> Tensor\(a!\)"),
    ("add.out(*, Tensor(a!) p, int n) -> Tensor(a!)", "int n) -> Tensor(a!)", "follows the out arguments", "before written ones"),
    ("add.out(*, Tensor(a!)[] p) -> Tensor(a!)[]", "Tensor(a!)[] p) -> Tensor(a!)[]", "and something is returned", "no returns"),
    ("add_(Tensor(a!) x, *, Tensor(b!) out) -> Tensor(b!)", "Tensor(b!) out) -> Tensor(b!)", "has out arguments", "either an"),
    ("add.functional(Tensor x, Tensor(a!) y) -> ()", ".functional(Tensor x, Tensor(a!) y) -> ()", "says functional", "without"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "rest", "message", "expected"), MISTAKES)
def test_a_mistake_is_pointed_at_and_explained(text, rest, message, expected):
    with pytest.raises(SchemaError, match=f"(?s)^[^\n]*{message}.*\nexpected: [^\n]*{expected}") as caught:
        FunctionSchema.parse(text)
    error = caught.value
    assert error.text == text
    assert text[error.position :] == rest
    assert str(error).endswith(f"\n  {' ' * error.position}^")
    assert "\n  " + text.partition("\n")[0] in str(error)


def test_an_unknown_type_lists_the_known_ones():
    with pytest.raises(SchemaError) as caught:
        FunctionSchema.parse("add(Foo x) -> Tensor")
    assert all(word in caught.value.expected for word in BASE_WORDS)


def test_the_name_of_another_kind_is_no_place_to_point_at():
    """The caret stands at the name or the arrow itself, not at a text like it elsewhere."""
    with pytest.raises(SchemaError) as caught:
        FunctionSchema.parse("f.functional(Tensor(a!) x, str s='.functional') -> ()")
    assert caught.value.position == len("f")
    with pytest.raises(SchemaError) as caught:
        FunctionSchema.parse("f_(Tensor(a!) x, str s=') -> ()') -> ()")
    assert caught.value.position == len("f_(Tensor(a!) x, str s=') -> ()'")
