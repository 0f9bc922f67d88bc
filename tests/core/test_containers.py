"""Containers: what is taken apart, in which order, under which paths, and what comes back around other leaves."""

from __future__ import annotations

import collections
import dataclasses
import gc
import weakref
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import autograd
from autograd import Tape, containers, grad
from autograd.containers import flatten, is_container, register_container, unregister_container


class Point(NamedTuple):
    x: Any
    y: Any = 0.0


OldPoint = collections.namedtuple("OldPoint", "x y")


class NamedPoint(Point):
    """A namedtuple with a method, and a constructor of its own."""

    def __new__(cls, both):
        return super().__new__(cls, both, both)

    def swapped(self):
        return self.y, self.x


@dataclasses.dataclass
class Layer:
    weight: Any
    bias: Any = 0.0


@dataclasses.dataclass(frozen=True)
class Frozen:
    weight: Any
    inner: Any


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Slotted:
    weight: Any
    bias: Any


@dataclasses.dataclass
class WithCount:
    weight: Any
    total: Any = dataclasses.field(init=False, default=7)


@dataclasses.dataclass(frozen=True)
class WithDerived:
    weight: Any
    doubled: Any = dataclasses.field(init=False)

    def __post_init__(self):
        object.__setattr__(self, "doubled", [self.weight, self.weight])


class Stack(list):
    """A list with something more."""


class Triple(tuple):
    """A tuple with something more, and without field names."""

    __slots__ = ()


def paths_of(container, start=""):
    return flatten(container)[1].paths(start)


# container, its leaves, and their paths
TABLE = [
    ([1, 2], [1, 2], ["[0]", "[1]"]),
    ((1, 2), [1, 2], ["[0]", "[1]"]),
    ({"b": 1, "a": 2}, [1, 2], ["['b']", "['a']"]),
    ({1: 1, (0, "k"): 2}, [1, 2], ["[1]", "[(0, 'k')]"]),
    (Point(1, 2), [1, 2], [".x", ".y"]),
    (OldPoint(1, 2), [1, 2], [".x", ".y"]),
    (Layer(1, 2), [1, 2], [".weight", ".bias"]),
    (Frozen(1, (2, 3)), [1, 2, 3], [".weight", ".inner[0]", ".inner[1]"]),
    (Slotted(weight=1, bias=2), [1, 2], [".weight", ".bias"]),
    (WithCount(1), [1], [".weight"]),
    (WithDerived(1), [1], [".weight"]),
    (collections.OrderedDict(b=1, a=2), [1, 2], ["['b']", "['a']"]),
    (collections.defaultdict(list, b=1, a=2), [1, 2], ["['b']", "['a']"]),
    (Stack([1, 2]), [1, 2], ["[0]", "[1]"]),
    ([], [], []),
    ((), [], []),
    ({}, [], []),
    ([[], ({},), 1], [1], ["[2]"]),
    (
        {"layers": [Layer(1, 2), Frozen(3, Point(4, [5]))], "scale": 6},
        [1, 2, 3, 4, 5, 6],
        [
            "['layers'][0].weight", "['layers'][0].bias", "['layers'][1].weight", "['layers'][1].inner.x",
            "['layers'][1].inner.y[0]", "['scale']",
        ],
    ),
]  # fmt: skip


@pytest.mark.parametrize(("container", "leaves", "paths"), TABLE, ids=[repr(each[0]) for each in TABLE])
def test_taken_apart_and_built_again(container, leaves, paths):
    found, structure = flatten(container)
    assert found == leaves
    assert paths_of(container) == paths
    assert paths_of(container, "params") == ["params" + path for path in paths]
    assert is_container(container)
    assert not structure.is_leaf
    assert structure.n_leaves == len(leaves)
    same = structure.rebuild(leaves)
    assert same == container
    assert type(same) is type(container)
    assert same is not container or container == ()
    negated = structure.rebuild([-each for each in leaves])
    assert type(negated) is type(container)
    assert flatten(negated)[0] == [-each for each in leaves]
    assert paths_of(negated) == paths
    assert flatten(container)[0] == leaves, "building another one changed the original"


@pytest.mark.parametrize("leaf", [1.0, None, "text", np.ones(2), {1}, frozenset(), Layer, Point, SimpleNamespace(x=1), range(3)])
def test_a_leaf_is_itself(leaf):
    leaves, structure = flatten(leaf)
    assert len(leaves) == 1
    assert leaves[0] is leaf
    assert structure.is_leaf
    assert structure.n_leaves == 1
    assert structure.rebuild(["other"]) == "other"
    assert paths_of(leaf, "x") == ["x"]
    assert not is_container(leaf)


def test_a_dict_keeps_its_order():
    container = {"z": 1, "a": 2, "m": 3}
    leaves, structure = flatten(container)
    assert leaves == [1, 2, 3]
    assert list(structure.rebuild(leaves)) == ["z", "a", "m"]
    ordered = collections.OrderedDict([("z", 1), ("a", 2)])
    ordered.move_to_end("z")
    assert list(flatten(ordered)[1].rebuild([10, 20]).items()) == [("a", 10), ("z", 20)]


def test_a_defaultdict_keeps_its_default():
    rebuilt = flatten(collections.defaultdict(list, a=1))[1].rebuild([2])
    assert rebuilt["new"] == []
    assert rebuilt.default_factory is list


def test_fields_that_init_does_not_take_are_no_leaves_but_are_there():
    assert flatten(WithCount(1))[1].rebuild([5]) == WithCount(5)
    rebuilt = flatten(WithDerived(1))[1].rebuild([5])
    assert rebuilt.weight == 5
    assert rebuilt.doubled == [5, 5]


def test_a_structure_takes_as_many_leaves_as_it_has():
    _, structure = flatten([1, (2, 3)])
    for leaves in ([], [1, 2], [1, 2, 3, 4]):
        with pytest.raises(ValueError, match=f"{len(leaves)} leaves, expected 3"):
            structure.rebuild(leaves)


def test_a_structure_serves_many_times():
    _, structure = flatten({"a": [1, 2]})
    first, second = structure.rebuild([3, 4]), structure.rebuild([5, 6])
    assert (first, second) == ({"a": [3, 4]}, {"a": [5, 6]})
    first["a"].append(7)
    assert second == {"a": [5, 6]}


@pytest.mark.parametrize(("container", "leaves", "paths"), TABLE, ids=[repr(each[0]) for each in TABLE])
def test_without_leaves_it_builds_the_same(container, leaves, paths):
    structure = flatten(container)[1].without_leaves()
    assert structure.n_leaves == len(leaves)
    assert structure.paths() == paths
    same = structure.rebuild(leaves)
    assert same == container
    assert type(same) is type(container)


class Heavy:
    """A leaf of which one sees when it is freed."""


LIGHT = [
    lambda leaf: [leaf], lambda leaf: (leaf,), lambda leaf: {"a": leaf}, Point, Layer, lambda leaf: Frozen([leaf], (leaf,)),
    lambda leaf: Slotted(weight=leaf, bias={"a": Layer(leaf)}), lambda leaf: leaf,
]  # fmt: skip


@pytest.mark.parametrize("make", LIGHT)
def test_without_leaves_it_holds_none(make):
    leaf = Heavy()
    freed = weakref.ref(leaf)
    structure = flatten(make(leaf))[1].without_leaves()
    del leaf
    gc.collect()
    assert freed() is None
    assert structure.n_leaves >= 1


def test_a_dict_subclass_with_an_update_of_its_own():
    counter = collections.Counter(a=1, b=2)
    assert flatten(counter)[1].rebuild([10, 20]) == collections.Counter(a=10, b=20)


def test_a_tuple_subclass():
    leaves, structure = flatten(Triple((1, 2, 3)))
    assert leaves == [1, 2, 3]
    assert type(structure.rebuild(leaves)) is Triple


def test_a_namedtuple_subclass_with_a_constructor_of_its_own():
    rebuilt = flatten(NamedPoint(1))[1].rebuild([3, 4])
    assert rebuilt.swapped() == (4, 3)


@pytest.mark.parametrize("make", [lambda leaf: collections.OrderedDict(a=leaf), lambda leaf: Stack([leaf])])
def test_without_leaves_a_subclass_holds_none_either(make):
    test_without_leaves_it_holds_none(make)


# ------------------------------------------------------------------------------------------------------------- registered


class Pair:
    """A type of the user's own."""

    def __init__(self, scale, shift):
        self.scale, self.shift = scale, shift


class PairChild(Pair):
    pass


@pytest.fixture
def pair():
    register_container(Pair, lambda p: ([p.scale, p.shift], [".scale", ".shift"]), lambda p, children: Pair(*children))
    yield
    unregister_container(Pair)


def test_a_registered_type_is_a_container(pair):
    container = {"pair": Pair(1, [2, 3])}
    leaves, structure = flatten(container)
    assert leaves == [1, 2, 3]
    assert paths_of(container) == ["['pair'].scale", "['pair'].shift[0]", "['pair'].shift[1]"]
    rebuilt = structure.rebuild([4, 5, 6])["pair"]
    assert (rebuilt.scale, rebuilt.shift) == (4, [5, 6])


def test_a_type_that_is_not_registered_is_a_leaf():
    assert not is_container(Pair(1, 2))
    assert len(flatten(Pair(1, 2))[0]) == 1


def test_the_rebuilder_gets_the_original(pair):
    seen = []

    def rebuild(original, children):
        seen.append(original)
        return PairChild(*children, original.shift)

    register_container(PairChild, lambda p: ([p.scale], [".scale"]), rebuild)
    try:
        original = PairChild(1, "kept")
        assert flatten(original)[1].rebuild([2]).shift == "kept"
        assert seen == [original]
    finally:
        unregister_container(PairChild)


@pytest.mark.parametrize("container_type", [list, tuple, dict])
def test_a_built_in_container_cannot_be_registered(container_type):
    with pytest.raises(ValueError, match=f"{container_type.__name__} is a container already"):
        register_container(container_type, None, None)


def test_registering_twice_raises(pair):
    with pytest.raises(ValueError, match="Pair is a container already"):
        register_container(Pair, None, None)


def test_unregistering_what_is_not_there_raises():
    with pytest.raises(ValueError, match="Pair is not registered"):
        unregister_container(Pair)


def test_a_registered_subclass_goes_before_what_it_inherits():
    register_container(Stack, lambda s: ([len(s)], [".length"]), lambda s, children: children)
    try:
        assert flatten(Stack([5, 5, 5]))[0] == [3]
    finally:
        unregister_container(Stack)
    assert flatten(Stack([5, 5, 5]))[0] == [5, 5, 5]


def test_register_container_is_offered_at_the_top():
    assert autograd.register_container is containers.register_container


# --------------------------------------------------------------------------------------------------------- any nesting

LEAVES = st.integers() | st.none() | st.text(max_size=2)
NESTED = st.recursive(
    LEAVES,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.lists(inner, max_size=3).map(tuple),
        st.dictionaries(st.text(max_size=2) | st.integers(), inner, max_size=3),
        st.builds(Point, inner, inner),
        st.builds(Frozen, inner, inner),
        st.lists(inner, max_size=3).map(Stack),
    ),
    max_leaves=12,
)


@given(NESTED)
def test_any_nesting_comes_back(container):
    leaves, structure = flatten(container)
    assert structure.n_leaves == len(leaves) == len(paths_of(container))
    assert structure.rebuild(leaves) == container
    assert not any(is_container(each) for each in leaves)


@given(NESTED)
def test_every_path_leads_to_its_leaf(container):
    leaves, _ = flatten(container)
    for path, leaf in zip(paths_of(container, "container"), leaves, strict=True):
        assert eval(path, {"container": container}) is leaf


# ------------------------------------------------------------------------------------------- through watch and gradient


@pytest.mark.parametrize(
    "container",
    [
        [2.0, 3.0], (2.0, 3.0), {"b": 2.0, "a": 3.0}, Point(2.0, 3.0), Layer(2.0, 3.0), Frozen(2.0, [3.0]),
        Slotted(weight=2.0, bias=3.0), collections.OrderedDict(b=2.0, a=3.0), Stack([2.0, 3.0]), [(2.0,), {"a": [3.0]}, []],
    ],
    ids=repr,
)  # fmt: skip
def test_gradients_have_the_structure_of_the_sources(container):
    """The gradient of x * y is (y, x)."""
    _, structure = flatten(container)
    expected = structure.rebuild([3.0, 2.0])
    with Tape() as tape:
        watched = tape.watch(container)
        assert type(watched) is type(container)
        x, y = flatten(watched)[0]
        product = x * y
    assert tape.gradient(product, watched) == expected
    found = grad(lambda c: flatten(c)[0][0] * flatten(c)[0][1])(container)
    assert found == expected
    assert type(found) is type(container)


def test_a_leaf_without_derivative_is_named_by_its_path():
    with Tape() as tape, pytest.raises(autograd.GradientError, match=r"params\['layers'\]\[1\]\.bias.*int"):
        tape.watch({"layers": [Layer(1.0, 2.0), Layer(1.0, 2)]}, name="params")


def test_an_empty_container_has_empty_gradients():
    with Tape() as tape:
        x, nothing = tape.watch([2.0, {"a": ()}])
        y = x * x
    assert tape.gradient(y, [x, nothing]) == [4.0, {"a": ()}]
