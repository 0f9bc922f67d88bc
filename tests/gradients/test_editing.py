"""Elements put in, left out and repeated: rows over the ways to say where."""

import warnings

import numpy
import pytest
from hypothesis import given
from hypothesis import strategies as st

import autograd.numpy as np
from autograd import NotTrackedError, Tape, grad, jacobian, vjp
from tests.gradients.harness import Case, each_case

PARTS = (-1.0, 1.0)
MASK = numpy.array([True, False, True])

with warnings.catch_warnings():
    warnings.simplefilter("ignore", FutureWarning)
    TAKES_MASKS = len(numpy.insert(numpy.ones(3), MASK, 0.0)) == 5
    """Whether this NumPy's ``insert`` takes a mask for one, as it does since it no longer warns that it will."""


def row(name, label, function, **fields):
    return Case(name, call=function, label=label, **fields)


def delete(label, obj, axis):
    return row("delete", label, lambda np, a: np.delete(a, obj, axis), shapes=[((3, 4),)])


def insert(label, obj, axis, values_shape, **fields):
    return row("insert", label, lambda np, a, v: np.insert(a, obj, v, axis), shapes=[((3, 4), values_shape)], **fields)


CASES = [
    delete("number", 1, 0),
    delete("from the end", -1, 1),
    delete("flat", 5, None),
    delete("several", [0, 2, -1], 1),
    delete("slice", slice(None, None, 2), 1),
    delete("mask", MASK, 0),
    delete("none", [], 0),
    insert("number", 1, 0, (4,), complex_domain=PARTS),
    insert("number, one value", 1, 1, ()),
    insert("number, column", 2, 1, (3,)),
    insert("number, rows", 1, 0, (2, 4)),
    insert("number, columns", 1, 1, (2, 3)),
    insert("flat", 3, None, (2,)),
    insert("one in a list", [1], 1, (3, 1)),
    insert("several", [1, 3], 1, (3, 2)),
    insert("out of order and twice", [2, 0, 2], 0, (3, 4)),
    insert("one row for all", [0, 3], 0, (4,)),
    insert("slice", slice(1, 3), 1, (2,)),
    *([insert("mask", MASK, 0, (2, 4))] if TAKES_MASKS else []),
    row("insert", "plain array", lambda np, v: np.insert([1.0, 2.0], 1, v), shapes=[((),), ((3,),)], dtypes=("float64",)),
    row("resize", "longer", lambda np, a: np.resize(a, (3, 3)), shapes=[((2, 2),), ((),)], complex_domain=PARTS),
    row("resize", "shorter", lambda np, a: np.resize(a, 3), shapes=[((2, 2),)]),
    row("trim_zeros", "both", lambda np, a: np.trim_zeros(np.pad(a, (2, 1))), shapes=[((3,),)]),
    row("trim_zeros", "front", lambda np, a: np.trim_zeros(np.pad(a, (2, 1)), "f"), shapes=[((3,),)]),
    row("trim_zeros", "back", lambda np, a: np.trim_zeros(np.pad(a, (2, 1)), "B"), shapes=[((3,),)]),
    row("real_if_close", "real", lambda np, a: np.real_if_close(a + 1e-20j), shapes=[((3,),)], dtypes=("float64",)),
    row("real_if_close", "as it is", lambda np, a: np.real_if_close(a), shapes=[((3,),)], complex_domain=PARTS),
    row("append", "usual", lambda np, a, v: np.append(a, v), shapes=[((2, 2), ()), ((2,), (3,))]),
    row("rot90", "once", lambda np, a: np.rot90(a, 3, axes=(1, 0)), shapes=[((2, 3),)]),
    *[row(name, "shape", lambda np, a, name=name: getattr(np, name)(a), shapes=[((3, 3),)], orders=0)
      for name in ("diag_indices_from", "tril_indices_from", "triu_indices_from")],
]  # fmt: skip


@each_case(CASES)
def test_rule(case, check):
    check(case)


# ---------------------------------------------------------------------------------------------------- values by hand


def test_where_everything_comes_from():
    a = numpy.array([1.0, 2.0, 3.0])
    assert grad(lambda a: np.sum(np.delete(a, 1) * numpy.array([5.0, 7.0])))(a).tolist() == [5, 0, 7]
    weights = numpy.array([1.0, 10.0, 100.0, 1000.0])
    both = grad(lambda a, v: np.sum(np.insert(a, 1, v) * weights), (0, 1))(a, 9.0)
    assert both[0].tolist() == [1, 100, 1000]
    assert both[1] == 10.0
    assert grad(lambda a: np.sum(np.resize(a, 7)))(a).tolist() == [3, 2, 2]
    assert jacobian(np.trim_zeros)(numpy.array([0.0, 2.0, 0.0, 3.0, 0.0])).tolist() == numpy.eye(5)[1:4].tolist()


@given(
    shape=st.lists(st.integers(1, 4), min_size=1, max_size=3),
    objects=st.integers(-1, 0) | st.lists(st.integers(-1, 1), max_size=3) | st.just(slice(None, None, 2)),
    data=st.data(),
)
def test_insertion_and_deletion_are_numpys_for_all_shapes(shape, objects, data):
    axis = data.draw(st.none() | st.integers(-len(shape), len(shape) - 1))
    a = numpy.arange(1.0, 1.0 + numpy.prod(shape)).reshape(shape)
    if isinstance(objects, list):  # an index that is there
        length = a.size if axis is None else shape[axis]
        objects = [each for each in objects if -length <= each < length]
    for f in (lambda module, a: module.insert(a, objects, 7.0, axis), lambda module, a: module.delete(a, objects, axis)):
        y, pull_back = vjp(lambda a: f(np, a), a)  # noqa: B023
        numpy.testing.assert_array_equal(y, f(numpy, a))
        (g,) = pull_back(numpy.ones(y.shape))
        numpy.testing.assert_array_equal(g, numpy.isin(a, y))  # each element is there once, or was left out


def test_values_inserted_into_whole_numbers():
    assert np.insert([1, 2], 1, 5.7).tolist() == [1, 5, 2]
    with pytest.raises(NotTrackedError, match="insert: values is a tensor, but arr has dtype int64"):
        grad(lambda v: np.sum(np.insert([1, 2], 1, v)))(5.7)


def test_trimming_zeros_of_matrices_and_of_nothing_but_zeros():
    a = numpy.zeros((3, 4))
    a[1, 1:3] = 2.0
    with Tape() as tape:
        x = tape.watch(a)
        assert np.trim_zeros(x).shape == (1, 2)
        assert np.trim_zeros(x, axis=0).shape == (1, 4)
        assert np.trim_zeros(x * 0).shape == (0, 0)
    assert np.trim_zeros([0, 1, 0]) == [1]  # a list stays a list, as NumPy has it


def test_plain_numpy_arrives_here():
    a = numpy.array([3.0, 0.0, 3.0, 0.0])
    for name, *args in [("delete", 1), ("insert", 1, 2.0), ("resize", 6), ("trim_zeros",), ("real_if_close",)]:
        f = lambda module: grad(lambda a: np.sum(getattr(module, name)(a, *args) ** 2))(a)  # noqa: B023, E731
        numpy.testing.assert_array_equal(f(numpy), f(np))
    with Tape() as tape:
        x = tape.watch(numpy.eye(2))
        numpy.testing.assert_array_equal(numpy.tril_indices_from(x), [[0, 1, 1], [0, 0, 1]])
        assert np.sum(x[np.diag_indices_from(x)]).value == 2.0


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda x: np.delete(x, 7), IndexError, "index 7 is out of bounds"),
        (lambda x: np.insert(x, 7, 0.0), IndexError, "index 7 is out of bounds"),
        (lambda x: np.resize(x, -1), ValueError, "no negative length"),
        (lambda x: np.trim_zeros(x, "x"), ValueError, "got trim='x'"),
        (lambda x: np.delete(numpy.ones(3), x[0]), NotTrackedError, "delete: obj is a tensor"),
        (lambda x: np.insert(x, [0, 1], numpy.ones(3)), ValueError, "broadcast"),
    ],
)
def test_errors(call, error, message):
    with Tape() as tape, pytest.raises(error, match=message):
        call(tape.watch(numpy.ones(3)))
