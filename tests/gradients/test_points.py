"""Rows of numbers between two ends, and ``r_`` and ``c_``, which join arrays, numbers and such rows."""

import numpy
import pytest

import autograd.numpy as np
from autograd import NotTrackedError, Tape, grad, jacobian
from tests.gradients.harness import Case, each_case

POSITIVE = (0.5, 3.0)
COMPLEX = {"complex_domain": (-1, 1)}
WIDE = {"domain": POSITIVE, "dtypes": ("float64",)}  # NumPy's geomspace gives float64 for float32


def call(label, function, shapes, **fields):
    return Case(label.split()[0], call=function, label=label, shapes=shapes, **fields)


CASES = [
    call("linspace", lambda np, x, y: np.linspace(x, y, 5), [((), ()), ((2, 3), (3,)), ((2,), float), (float, float)], **COMPLEX),
    call("linspace open", lambda np, x, y: np.linspace(x, y, 4, endpoint=False, axis=-1), [((2, 3), (2, 1))], **COMPLEX),
    call("linspace axis", lambda np, x: np.linspace(x, 3.0, 4, axis=1), [((2, 3),)]),
    call("linspace step", lambda np, x, y: np.linspace(x, y, 4, retstep=True)[1], [((2,), (2,)), ((), ())]),
    *[call(f"linspace {n}", lambda np, x, n=n: np.linspace(x, 3.0, n), [((2,),), (float,)]) for n in (0, 1, 2)],
    call("linspace one, open", lambda np, x, y: np.linspace(x, y, 1, endpoint=False), [((2,), (2,))]),
    call("linspace numpy", lambda np, x: numpy.linspace(x, 3.0, 4), [((2,),)], reference=lambda x: numpy.linspace(x, 3.0, 4)),
    call("logspace", lambda np, x, y: np.logspace(x, y, 4), [((), ()), ((2, 3), (3,))], domain=(-1, 1)),
    call("logspace base", lambda np, x, b: np.logspace(x, 1.0, 3, base=b), [((2,), ()), ((), ())], domain=POSITIVE),
    call("logspace bases", lambda np, x, b: np.logspace(x, 1.0, 3, base=b, axis=-1), [((3, 1), (2,))], domain=POSITIVE),
    call("geomspace", lambda np, x, y: np.geomspace(x, y, 4), [((), ()), ((2, 3), (3,)), (float, float)], **WIDE),
    call("geomspace open", lambda np, x: np.geomspace(x, 5.0, 3, endpoint=False, axis=-1), [((2,),)], **WIDE),
    call("geomspace negative", lambda np, x, y: np.geomspace(x, y, 3), [((2,), (2,))], domain=(-3, -1), dtypes=("float64",)),
    *[call(f"geomspace {n}", lambda np, x, n=n: np.geomspace(x, 5.0, n), [((),)], **WIDE) for n in (1, 2)],
    call("r_", lambda np, x, y: np.r_[x, y], [((3,), (2,)), ((2, 3), (1, 3))], complex_domain=(-1, 1)),
    call("r_ mixed", lambda np, x: np.r_[x, 1.0, 0:3, x[0]], [((3,),)]),
    call("r_ axis", lambda np, x, y: np.r_["-1", x, y], [((2, 3), (2, 1))]),
    call("r_ new axis", lambda np, x, y: np.r_["0,2", x, y], [((3,), (3,))]),
    call("r_ columns", lambda np, x, y: np.r_["1,2,0", x, y], [((3,), (3,))]),
    call("r_ points", lambda np, x: np.r_[x:2:4j, x], [((),)], dtypes=("float64",)),
    call("c_", lambda np, x, y: np.c_[x, y], [((3,), (3,)), ((2, 3), (2, 1)), ((2,), (2, 3))], complex_domain=(-1, 1)),
    call("c_ number", lambda np, x: np.c_[x, [1.0, 2.0, 3.0]], [((3,),)], dtypes=("float64",)),
]  # fmt: skip


@each_case(CASES)
def test_rule(case, check):
    check(case)


def test_by_hand():
    assert jacobian(lambda x: np.linspace(x, 9.0, 3))(1.0).tolist() == [1, 0.5, 0]
    assert jacobian(lambda x: np.linspace(1.0, x, 3))(9.0).tolist() == [0, 0.5, 1]
    numpy.testing.assert_allclose(jacobian(lambda x: np.geomspace(x, 4.0, 3))(1.0), [1, 1, 0])  # sqrt(4 x) in the middle
    numpy.testing.assert_allclose(jacobian(lambda b: np.logspace(0, 2, 3, base=b))(3.0), [0, 1, 6])
    assert grad(lambda x: np.linspace(x, x, 3)[1])(2.0) == 1.0


def test_the_ends_are_exact():
    """Counting up to an end, start + n * step, would miss most of these by a digit."""
    for stop in numpy.random.default_rng(0).uniform(1, 2, 30):
        with Tape() as tape:
            x = tape.watch(stop)
            assert np.linspace(-0.7, x, 50)[-1].value == stop
            assert np.geomspace(0.1, x, 50)[-1].value == stop
            assert np.geomspace(x, 0.1, 50)[0].value == stop


def test_tensors_can_be_assigned_into_plain_rows():
    def f(x):
        c = np.linspace(0.0, 1.0, 3)
        c[1] = x
        return np.sum(c * c)

    assert grad(f)(3.0) == 6.0
    assert type(np.linspace(0.0, 1.0, 3)) is numpy.ndarray
    assert np.linspace(0, 10, 5, dtype=int).tolist() == [0, 2, 5, 7, 10]


def test_r_and_c_on_plain_arrays_are_numpys():
    a = numpy.array([1.0, 2.0])
    for ours, theirs in ((np.r_, numpy.r_), (np.c_, numpy.c_)):
        numpy.testing.assert_array_equal(ours[a, a], theirs[a, a])
        assert len(ours) == len(theirs)
    assert np.r_[1:4, 0].tolist() == [1, 2, 3, 0]
    numpy.testing.assert_array_equal(np.mgrid[0:2, 0:2], numpy.mgrid[0:2, 0:2])


def test_types():
    with Tape() as tape:
        x = tape.watch(numpy.float32(1.0))
        y = tape.watch(numpy.ones(2, "float32"))
        assert np.linspace(x, 2.0, 3).dtype == "float32"
        assert np.linspace(x, 2.0, 3, dtype="float64").dtype == "float64"
        assert np.geomspace(x, 2.0, 3).dtype == numpy.geomspace(numpy.float32(1), 2.0, 3).dtype
        assert np.r_[y, 1.0].dtype == "float32"
        assert np.r_[y, numpy.ones(2)].dtype == "float64"


@pytest.mark.parametrize(
    ("use", "error", "message"),
    [
        (lambda x: np.arange(x), NotTrackedError, "arange: got a tensor"),
        (lambda x: np.zeros(x), NotTrackedError, "zeros: got a tensor"),
        (lambda x: np.eye(N=x), NotTrackedError, "eye: got a tensor"),
        (lambda x: np.linspace(x, 1.0, 3, dtype=int), NotTrackedError, "linspace: got dtype int64"),
        (lambda x: np.linspace(x, 1.0, -3), ValueError, "num=-3"),
        (lambda x: np.geomspace(x, 0.0), ValueError, "an end is 0"),
        (lambda x: np.r_[x:5.0], NotTrackedError, "start:stop:5j"),
        (lambda x: np.r_["r", x, 1.0], NotTrackedError, "matrix"),
        (lambda x: numpy.r_[x, 1.0], NotTrackedError, "bare array"),
    ],
)
def test_what_cannot_be_followed_says_so(use, error, message):
    with Tape() as tape, pytest.raises(error, match=message):
        use(tape.watch(2.0))
