"""Strategies of hypothesis for schemas and their parts: what can be built, and whole schemas of each kind."""

from __future__ import annotations

from hypothesis import strategies as st

from registry.errors import SchemaError
from registry.schema import (
    BASE_WORDS,
    Annotation,
    Argument,
    Arguments,
    BaseOperatorName,
    BaseType,
    CustomClass,
    FunctionSchema,
    ListType,
    OperatorName,
    OptionalType,
    Return,
    SchemaKind,
)

RULES = ("first", "self")
TENSOR = BaseType("Tensor")
TENSORS = (TENSOR, OptionalType(TENSOR), ListType(TENSOR))
WORDS = (("dtype", "ScalarType"), ("layout", "Layout"), ("device", "Device"), ("pin_memory", "bool"))

# --------------------------------------------------------------------------------------------------------------- parts

words = st.from_regex(r"[a-z][a-z0-9]{0,3}(_[a-z0-9]{1,3})?", fullmatch=True).filter(lambda word: not word.endswith("_out"))
identifiers = words | st.sampled_from(["lambda", "_", "é"])
letters = st.sampled_from("abcxyz")
sizes = st.none() | st.integers(1, 99) | st.just(10**18 - 1)
types = st.recursive(
    st.sampled_from(sorted(BASE_WORDS)).map(BaseType) | st.builds(CustomClass, words | st.just("a.B_1")),
    lambda inner: inner.map(OptionalType) | st.builds(ListType, inner, sizes),
    max_leaves=4,
)
annotations = (
    st.builds(Annotation, st.tuples(letters), st.booleans(), st.just(("*",)) | st.lists(letters, max_size=3).map(tuple))
    | st.builds(Annotation, st.tuples(letters, letters), st.just(False), st.sampled_from([(), ("*",), ("a",)]))
)  # fmt: skip
views = st.builds(Annotation, st.tuples(letters) | st.tuples(letters, letters))

# Defaults as values; a schema cannot spell a text with an equals sign or with comma and space.
scalars = st.none() | st.booleans() | st.integers() | st.floats() | st.complex_numbers() | st.sampled_from(["mean", "a.b", "é"])
quoted = st.text(max_size=8).filter(lambda text: "=" not in text and ", " not in text).map(repr)


def spelled(value):
    return f"[{','.join(map(spelled, value))}]" if isinstance(value, tuple) else str(value)


evaluable = (
    st.one_of(scalars, st.lists(scalars, max_size=3).map(tuple), st.tuples(st.tuples(st.integers()))).map(spelled) | quoted
)
any_default = st.text(min_size=1, max_size=8).filter(lambda text: not any(part in text for part in ("=", "\n", ", ")))
any_name = st.text(max_size=5).filter(lambda text: text != "self" and not any(mark in text for mark in " =\n"))
arguments = st.builds(Argument, any_name, types, st.none() | any_default) | st.builds(
    Argument, any_name, st.sampled_from(TENSORS), st.none() | any_default, annotations
)


# ------------------------------------------------------------------------------------------------------- whole schemas


LETTERS = "abcdefghijklm"
NAMES = [
    "x",
    "y",
    "a",
    "axis",
    "lambda",
    "_",
    "é",
    "X1",
    "out",
    "x" * 40,
    "dtype_",
    "Tensor",
    "int",
    "keepdims",
    "p",
    "q",
    "None",
]


def _rotated(names, start):
    return [*names[start:], *names[:start]]


class Drawer:
    """Draws the arguments and returns of one schema under a receiver rule, so that what is drawn fits together."""

    def __init__(self, draw, rule):
        self.draw = draw
        self.rule = rule
        self.letters = iter(_rotated(LETTERS, draw(st.integers(0, len(LETTERS) - 1))))
        self.names = iter(_rotated(NAMES, draw(st.integers(0, len(NAMES) - 1))))

    def name(self):
        """Our own rule wants distinct identifiers; torchgen takes nearly any name, even twice."""
        return next(self.names) if self.rule == "first" else self.draw(identifiers | any_name)

    def default(self, *, required=False):
        texts = evaluable if self.rule == "first" else any_default
        return None if required else self.draw(st.none() | texts)

    def plain(self, *, required=False):
        """An argument that is not written, perhaps a view."""
        if self.draw(st.booleans()):
            return Argument(self.name(), self.draw(types), self.default(required=required))
        view = self.draw(annotations.filter(lambda annotation: not annotation.is_write))
        return Argument(self.name(), self.draw(st.sampled_from(TENSORS)), self.default(required=required), view)

    def written(self, type_=None, name=None):
        """A written argument with a letter of its own."""
        after = self.draw(st.sampled_from([(), ("*",), ("x", "y")]))
        annotation = Annotation((next(self.letters),), True, after if type_ is None else ())
        return Argument(name or self.name(), type_ or self.draw(st.sampled_from(TENSORS)), None, annotation)

    def many(self, one, least=0):
        return tuple(one() for _ in range(self.draw(st.integers(least, 2))))

    def operands(self, least=0):
        """Written and other arguments mixed, at least so many of them written; without defaults."""
        mixed = self.many(self.written, least) + self.many(lambda: self.plain(required=True))
        return tuple(self.draw(st.permutations(mixed)))

    def defaulted(self):
        """Arguments that may follow: under our rule all with a default, else as they come."""
        texts = evaluable if self.rule == "first" else st.none() | any_default
        return self.many(lambda: Argument(self.name(), self.draw(types), self.draw(texts)))

    def receiver(self, type_):
        return self.written(type_, "self" if self.rule == "self" else None)

    def before_receiver(self):
        """torchgen allows unwritten arguments before the one called self."""
        return self.many(lambda: self.plain(required=True)) if self.rule == "self" else ()

    def kwarg_only(self, *, options=False):
        before, after = self.many(self.plain), self.many(self.plain)
        bundle = []
        for name, word in WORDS if options and self.draw(st.booleans()) else ():
            type_ = self.draw(st.sampled_from([BaseType(word), OptionalType(BaseType(word))]))
            bundle.append(Argument(name, type_, self.draw(st.sampled_from([None, "None"]))))
        return before + tuple(bundle) + after

    def return_name(self):
        return self.draw(st.none() | (identifiers if self.rule == "first" else any_name))

    def new_values(self):
        one = st.tuples(types, st.none()) | st.tuples(st.sampled_from(TENSORS), views)
        drawn = self.draw(st.lists(one, max_size=3))
        return tuple(Return(type_, self.return_name(), annotation) for type_, annotation in drawn)

    def same_as(self, arguments):
        return tuple(Return(each.type, self.return_name(), each.annotation) for each in arguments)


def functional_parts(drawer):
    positional, returns = drawer.many(lambda: drawer.plain(required=True)), drawer.new_values()
    if drawer.rule == "self" and drawer.draw(st.booleans()):
        # Without in-place mark, torchgen lets the argument called self be written, and even be returned.
        receiver = drawer.receiver(TENSOR)
        positional = (*drawer.before_receiver(), receiver, *positional)
        returns = drawer.draw(st.sampled_from([returns, drawer.same_as([receiver])]))
    return positional + drawer.defaulted(), drawer.kwarg_only(options=True), (), returns


def inplace_parts(drawer):
    receiver = drawer.receiver(drawer.draw(st.sampled_from(TENSORS)))
    positional = (*drawer.before_receiver(), receiver, *drawer.operands(), *drawer.defaulted())
    returns = drawer.same_as([receiver]) if receiver.type == TENSOR else ()
    return positional, drawer.kwarg_only(), (), returns


def mutable_parts(drawer):
    positional = drawer.operands(least=1)
    if drawer.rule == "self" and drawer.draw(st.booleans()):
        positional = (*drawer.before_receiver(), Argument("self", drawer.draw(types)), *positional)
    return positional + drawer.defaulted(), drawer.kwarg_only(), (), drawer.new_values()


def out_parts(drawer):
    out = drawer.many(lambda: drawer.written(TENSOR), 1)
    returns = drawer.same_as(out)
    if drawer.draw(st.booleans()):
        lists = drawer.many(lambda: drawer.written(ListType(TENSOR)), 1)
        out, returns = tuple(drawer.draw(st.permutations(out + lists))), ()
    return drawer.operands() + drawer.defaulted(), drawer.kwarg_only(), out, returns


def scratch_parts(drawer):
    positional, kwarg_only, out, returns = out_parts(drawer)
    room = drawer.many(lambda: drawer.written(TENSOR, f"_scratch_{drawer.name()}"), 1)
    return positional, kwarg_only, out + room, returns


PARTS = {
    SchemaKind.functional: functional_parts,
    SchemaKind.inplace: inplace_parts,
    SchemaKind.mutable: mutable_parts,
    SchemaKind.out: out_parts,
    SchemaKind.scratch: scratch_parts,
}
DUNDERS = {SchemaKind.functional: ("and", "getitem"), SchemaKind.inplace: ("and", "lshift")}


@st.composite
def schemas(draw, kind, rule):
    """A valid schema of the kind."""
    overloads = st.sampled_from(["", "out", "Tensor_out", "x.y"])
    functional = kind is SchemaKind.functional
    if draw(st.booleans()) and kind in DUNDERS:
        name = BaseOperatorName(draw(st.sampled_from(DUNDERS[kind])), kind is SchemaKind.inplace, dunder_method=True)
    else:
        namespace = draw(st.none() | st.sampled_from(["own", "a::b"]))
        marked = kind is not SchemaKind.inplace and draw(st.booleans())
        name = BaseOperatorName(draw(words), kind is SchemaKind.inplace, False, marked, namespace)
    full_name = OperatorName(name, draw(overloads | st.just("x_functional") if functional else overloads))
    positional, kwarg_only, out, returns = PARTS[kind](Drawer(draw, rule))
    return FunctionSchema(full_name, Arguments(positional, kwarg_only, out, rule), returns)


any_schema = st.tuples(st.sampled_from(list(SchemaKind)), st.sampled_from(RULES)).flatmap(lambda both: schemas(*both))


def value_or_error(parse, *arguments):
    """What a parser answers, and the schema error that it raised instead; one of the two is None."""
    try:
        return parse(*arguments), None
    except SchemaError as error:
        return None, error
