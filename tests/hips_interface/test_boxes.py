"""Boxes, traces and the wrapped builtins: what code sees of a value while it is differentiated."""

from __future__ import annotations

import warnings
from collections import OrderedDict
from functools import singledispatch

import numpy as onp
import pytest

import autograd
import autograd.numpy as np
from autograd import GradientError, NotTrackedError, Tape, Tensor, grad
from autograd import builtins as traced
from autograd.core import JVPNode, VJPNode, backward_pass, make_jvp, make_vjp
from autograd.numpy.numpy_boxes import ArrayBox
from autograd.tracer import Box, Node, getval, isbox, new_box, trace, trace_stack
from autograd.util import subval, subvals, toposort

X = onp.array([0.3, 1.2, -0.7])


def seen_inside(look, x):
    """What ``look`` says of an argument while it is differentiated."""
    seen = []

    def f(x):
        seen.append(look(x))
        return np.sum(x["w"] if isinstance(x, dict) else x[0] if isinstance(x, list | tuple) else x)

    grad(f)(x)
    return seen[0]


LOOKS = [
    # what, of, says
    (isbox, 2.0, True),
    (isbox, X, True),
    (isbox, [X, 1.0], True),
    (isbox, {"w": X}, True),
    (lambda x: isinstance(x, ArrayBox), X, True),
    (lambda x: isinstance(x, ArrayBox), [X], False),
    (lambda x: isinstance(x, Box), X, True),
    (lambda x: isinstance(x, traced.SequenceBox), (X,), True),
    (lambda x: isinstance(x, traced.SequenceBox), {"w": X}, False),
    (lambda x: isinstance(x, traced.DictBox), {"w": X}, True),
    (lambda x: isinstance(x, traced.DictBox), [X], False),
    (lambda x: traced.isinstance(x, float), 2.0, True),
    (lambda x: traced.isinstance(x, onp.ndarray), X, True),
    (lambda x: traced.isinstance(x, ArrayBox), X, False),
    (lambda x: traced.isinstance(x, list), [X], True),
    (lambda x: traced.isinstance(x, traced.tuple), (X,), True),
    (lambda x: traced.isinstance(x, (dict, float)), {"w": X}, True),
    (lambda x: traced.type(x) is float, 2.0, True),
    (lambda x: traced.type(x) is onp.ndarray, X, True),
    (lambda x: getval(x).tolist(), X, X.tolist()),
    (lambda x: type(getval(x)), 2.0, float),
    (lambda x: getval(x)[0].tolist(), [X], X.tolist()),
    (lambda x: x._value is X, X, True),
    (lambda x: x._trace is x.tape, X, True),
    (lambda x: (x._node, (2 * x)._node.kernel_name), 2.0, (None, "multiply")),
]


@pytest.mark.parametrize(("look", "x", "says"), LOOKS)
def test_what_is_seen_inside(look, x, says):
    assert seen_inside(look, x) == says


@pytest.mark.parametrize("x", [2.0, X, [X], (1.0,), {"a": 1.0}, "text", None])
def test_plain_values_are_no_boxes(x):
    assert not isbox(x)
    assert not isinstance(x, Box | ArrayBox | traced.SequenceBox | traced.DictBox)
    assert getval(x) is x


def test_a_tensor_is_a_subclass_too():
    """So that functions that choose by type find it."""
    assert issubclass(Tensor, ArrayBox)
    assert issubclass(Tensor, Box)
    assert issubclass(ArrayBox, Box)
    assert not issubclass(Tensor, traced.SequenceBox)
    assert not issubclass(float, ArrayBox)
    describe = singledispatch(lambda x: "plain")
    describe.register(ArrayBox, lambda x: "traced")
    assert (describe(X), seen_inside(describe, X)) == ("plain", "traced")


def test_getval_looks_through_every_level():
    seen = []

    def f(x):
        seen.append((getval(x), isbox(x._value)))
        return x * x

    assert grad(grad(f))(3.0) == 2.0
    assert seen == [(3.0, True)]


def test_getval_cannot_be_used_to_change_a_value():
    def f(x):
        getval(x)[0] = 7.0
        return np.sum(x)

    with pytest.raises(ValueError, match="read-only"):
        grad(f)(X)


# -------------------------------------------------------------------------------------------------- containers


def test_the_containers_are_pythons():
    for ours, theirs, empty in ((traced.list, list, []), (traced.tuple, tuple, ()), (traced.dict, dict, {})):
        assert type(ours()) is theirs
        assert isinstance(empty, ours)
        assert issubclass(ours, theirs)
        assert ours is not theirs
    assert not isinstance((), traced.list)
    assert traced.dict(a=1.0) == {"a": 1.0}
    assert isinstance(OrderedDict(), traced.dict)


@pytest.mark.parametrize(
    ("f", "expected"),
    [
        (lambda x: (traced.list([x]) + traced.list([2.0 * x, 3.0]))[1], 2.0),
        (lambda x: traced.container_take(traced.tuple([x, x * x]), 1), 6.0),
        (lambda x: traced.sequence_extend_right((x,), x * x)[1], 6.0),
        (lambda x: traced.sequence_extend_left((x,), x * x)[0], 6.0),
        (lambda x: traced.make_sequence(list, x, x * x)[1], 6.0),
        (lambda x: sum(v for _, v in traced.dict(a=x, b=x * x).items()), 7.0),
        (lambda x: sum(autograd.dict(a=x, b=x * x).values()) * autograd.isinstance(x, float), 7.0),
    ],
)
def test_containers_can_be_differentiated_through(f, expected):
    assert grad(f)(3.0) == expected


def test_gradients_have_the_structure_of_the_argument():
    tree = {"w": [X, 2.0], "b": (3.0, {"c": X})}
    gradient = grad(lambda t: np.sum(t["w"][0] * t["b"][1]["c"]) * t["w"][1] * t["b"][0])(tree)
    assert list(gradient) == ["w", "b"]
    onp.testing.assert_allclose(gradient["w"][0], 6 * X)
    onp.testing.assert_allclose(gradient["b"][0], 2 * X @ X)
    assert isinstance(gradient["b"], tuple)


# -------------------------------------------------------------------------------------------------- traces


def test_new_box_tells_dependence():
    """How packages find out whether a function depends on its arguments."""
    with trace_stack.new_trace() as t:
        start = new_box((2.0, X), t, VJPNode.new_root())
        depends = (lambda u, v: u * np.sum(v))(*start)
        constant = (lambda u, v: 3.0)(*start)
    assert isbox(depends)
    assert depends._trace == start._trace
    assert not isbox(constant)
    assert start._value[0] == 2.0
    assert not isbox(start._value[1])


@pytest.mark.parametrize("value", [[2.0, X], {"a": 2.0}])
def test_new_box_keeps_the_kind_of_container(value):
    with trace_stack.new_trace() as t:
        box = new_box(value, t, None)
        assert type(value) in type(box).__mro__
        assert box._trace is t


def test_new_box_needs_a_tape():
    with pytest.raises(GradientError, match=r"new_trace\(\)"):
        new_box(2.0, 0, None)


def test_a_box_without_a_trace_is_the_value():
    assert ArrayBox(X) is X
    with Tape() as tape:
        assert ArrayBox(2.0, tape, None).tape is tape


def test_a_package_may_refuse_values_of_its_type(monkeypatch):
    class Frozen(onp.ndarray): ...

    def refuse(value, *args):
        raise KeyError("frozen")

    monkeypatch.setitem(Box.type_mappings, Frozen, refuse)
    with pytest.raises(KeyError, match="frozen"):
        make_vjp(np.sum, X.view(Frozen))


def test_box_classes_of_ones_own_are_not_followed():
    class MyBox(Box): ...

    with pytest.raises(NotTrackedError, match="register_container"):
        MyBox.register(int)


def test_trace_and_backward_pass():
    value, end = trace(VJPNode.new_root(), lambda x: x * x, 3.0)
    assert (value, backward_pass(1.0, end)) == (9.0, 6.0)
    assert len(list(toposort(end))) == 2
    value, end = trace(JVPNode.new_root(10.0), lambda x: x * x, 3.0)
    assert (value, end.g) == (9.0, 60.0)
    with pytest.warns(UserWarning, match="independent"):
        assert trace(VJPNode.new_root(), lambda x: 4.0, 3.0) == (4.0, None)


def test_nodes_of_ones_own_are_not_made():
    class MyNode(Node):
        def initialize_root(self):
            pass

    with pytest.raises(NotTrackedError, match=r"tape\.nodes"):
        trace(MyNode.new_root(), lambda x: x, 3.0)
    with pytest.raises(NotTrackedError, match="VJPNode"):
        VJPNode(1.0, None, (), {}, (), ())


def test_a_value_that_does_not_depend_on_the_argument():
    with pytest.warns(UserWarning, match="Output seems independent of input"):
        pull_back, value = make_vjp(lambda x: 3.0, X)
    assert value == 3.0
    onp.testing.assert_array_equal(pull_back(1.0), onp.zeros(3))
    with pytest.warns(UserWarning, match="independent"):
        value, tangent = make_jvp(lambda x: onp.ones(2), 1.0)(1.0)
    onp.testing.assert_array_equal(tangent, onp.zeros(2))


def test_an_error_inside_the_function_is_no_independence():
    def fails(x):
        raise GradientError("mine")

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for act in (lambda: make_vjp(fails, 1.0), lambda: make_jvp(fails, 1.0)(1.0)):
            with pytest.raises(GradientError, match="mine"):
                act()


def test_make_vjp_of_a_tuple():
    pull_back, (square, total) = make_vjp(lambda x: traced.tuple((x * x, np.sum(x))), X)
    onp.testing.assert_allclose(square, X * X)
    assert total == X.sum()
    onp.testing.assert_allclose(pull_back((onp.ones(3), 2.0)), 2 * X + 2.0)


# -------------------------------------------------------------------------------------------------- small functions


def test_tuples_with_entries_replaced():
    assert subvals([1, 2, 3], [(0, "a"), (-1, "c")]) == ("a", 2, "c")
    assert subval((1, 2), 0, 5) == (5, 2)


def test_toposort_puts_every_node_behind_its_children():
    parents = {"end": ["a", "b"], "a": ["c"], "b": ["a", "c"], "c": []}
    order = list(toposort("end", parents.get))
    assert sorted(order) == ["a", "b", "c", "end"]
    for node, above in parents.items():
        assert all(order.index(node) < order.index(each) for each in above)


def test_toposort_of_a_long_chain():
    assert len(list(toposort(20000, lambda n: [n - 1] if n else []))) == 20001
