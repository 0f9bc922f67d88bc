"""Sets, unique values and partial orders: what is taken is constant, what is taken from has gradients, equal values share."""

import numpy
import pytest

import autograd.numpy as np
from autograd import NotTrackedError, Tape, grad, jacobian
from tests.gradients.harness import Case, each_case

nan = numpy.nan
PARTS = (-1.0, 1.0)


def row(name, label, function, **fields):
    return Case(name, call=function, label=label, **fields)


CASES = [
    *[row("partition", f"axis={axis}", lambda np, a, axis=axis: np.partition(a, 1, axis=axis), shapes=[((2, 4),)])
      for axis in (-1, 0, None)],
    row("partition", "several", lambda np, a: np.partition(a, (0, 3)), shapes=[((2, 5),)]),
    row("sort_complex", "usual", lambda np, a: np.sort_complex(a), shapes=[((4,),), ((2, 3),)], complex_domain=PARTS),
    row("unique", "values", lambda np, a: np.unique(a), shapes=[((4,),), ((2, 3),), ((),)], complex_domain=PARTS),
    row("unique", "axis", lambda np, a: np.unique(a, axis=1), shapes=[((2, 3),)], complex_domain=PARTS),
    *[row(name, "usual", lambda np, a, name=name: getattr(np, name)(a).values, shapes=[((2, 3),)])
      for name in ("unique_all", "unique_counts", "unique_inverse")],
    row("unique_values", "usual", lambda np, a: np.unique_values(a), shapes=[((4,),)]),
    *[row(name, "usual", lambda np, a, b, name=name: getattr(np, name)(a, b), shapes=[((3,), (2, 2))])
      for name in ("union1d", "setxor1d")],
    row("intersect1d", "usual", lambda np, a: np.intersect1d(a, a[:2]), shapes=[((4,),)]),
    row("setdiff1d", "usual", lambda np, a: np.setdiff1d(a, a[:2]), shapes=[((4,),)]),
    *[Case(name, shapes=[((2, 3),)], orders=0, attrs={"kth": 1}) for name in ("argpartition",)],
    row("lexsort", "usual", lambda np, a, b: np.lexsort((a, b)), shapes=[((4,), (4,))], orders=0),
    row("digitize", "usual", lambda np, a: np.digitize(a, [-1.0, 0.0, 1.0]), shapes=[((4,),), ((2, 3),)], orders=0),
    row("isin", "usual", lambda np, a, b: np.isin(a, b), shapes=[((2, 3), (4,))], orders=0),
]  # fmt: skip


@each_case(CASES)
def test_rule(case, check):
    check(case)


# ---------------------------------------------------------------------------------------------------- values by hand


def test_equal_elements_share_what_stands_for_them():
    a = numpy.array([3.0, 1.0, 3.0, 2.0])
    assert jacobian(np.unique)(a).tolist() == [[0, 1, 0, 0], [0, 0, 0, 1], [0.5, 0, 0.5, 0]]
    assert grad(lambda a: np.union1d(a, [3.0])[2])(a).tolist() == pytest.approx([1 / 3, 0, 1 / 3, 0])
    both = grad(lambda a, b: np.intersect1d(a, b)[0], (0, 1))(numpy.array([1.0, 2.0]), numpy.array([2.0, 5.0]))
    assert [each.tolist() for each in both] == [[0, 0.5], [0.5, 0]]


def test_equal_rows_share():
    a = numpy.array([[2.0, 1.0], [0.0, 5.0], [2.0, 1.0]])
    jac = jacobian(lambda a: np.unique(a, axis=0))(a)
    assert jac[0, 1].tolist() == [[0, 0], [0, 1], [0, 0]]
    assert jac[1, 0].tolist() == [[0.5, 0], [0, 0], [0.5, 0]]
    assert jacobian(lambda a: np.unique(a, axis=1))(a.T)[0, 1].tolist() == [[0.5, 0, 0.5], [0, 0, 0]]


def test_nan_is_one_value_or_several():
    a = numpy.array([nan, 1.0, nan, 1.0])
    jac = jacobian(np.unique)(a)
    assert jac[0].tolist() == [0, 0.5, 0, 0.5]
    assert jac.shape == (2, 4)
    assert jacobian(lambda a: np.unique(a, equal_nan=False))(a).shape == (3, 4)


def test_positions_and_counts_are_plain():
    a = numpy.array([3.0, 1.0, 3.0])
    with Tape() as tape:
        values, index, inverse, counts = np.unique(tape.watch(a), True, True, True)
        everything = np.unique_all(tape.watch(a))
        common = np.intersect1d(tape.watch(a), [3.0, 4.0], return_indices=True)
    for got, want in zip((index, inverse, counts), numpy.unique(a, True, True, True)[1:], strict=True):
        numpy.testing.assert_array_equal(got, want)
    assert type(everything) is type(numpy.unique_all(a))
    assert everything.counts.tolist() == [1, 2]
    assert values.value.tolist() == everything.values.value.tolist() == [1, 3]
    assert [each.tolist() for each in common[1:]] == [[0], [0]]


def test_sets_without_elements():
    with Tape() as tape:
        x = tape.watch(numpy.ones(2))
        assert np.setdiff1d(x, [1.0]).shape == (0,)
        assert np.setxor1d(x[:0], x[:0]).shape == (0,)
        assert np.intersect1d(x, [2.0]).shape == (0,)


def test_partition_gives_each_its_own_gradient():
    assert grad(lambda a: np.partition(a, 1)[1] ** 2)(numpy.array([5.0, 1.0, 3.0])).tolist() == [0, 0, 6]


def test_plain_numpy_arrives_here():
    a = numpy.array([3.0, 1.0, 3.0, 2.0])
    for name, *args in [("unique",), ("partition", 2), ("union1d", [7.0]), ("setdiff1d", [2.0]), ("sort_complex",)]:
        f = lambda module: grad(lambda a: np.sum(np.abs(getattr(module, name)(a, *args)) ** 2))(a)  # noqa: B023, E731
        numpy.testing.assert_array_equal(f(numpy), f(np))


def test_errors():
    with Tape() as tape:
        x = tape.watch(numpy.ones(3))
        with pytest.raises(NotTrackedError, match="partition: kth is a tensor"):
            np.partition(numpy.ones(3), x[0])
        with pytest.raises(ValueError, match="kth"):
            np.partition(x, 5)
