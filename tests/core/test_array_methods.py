"""Every method and attribute of an ndarray on a tensor, and on an array that a tensor was assigned into."""

import numpy
import pytest

import autograd.numpy as np
from autograd import NotTrackedError, Tape, Tensor, grad, jacobian
from autograd.tensor import AssignableArray

A = numpy.array([[0.3, 1.9, 0.7], [1.2, 0.1, 1.6], [0.9, 0.5, 1.4]])
UNKNOWN = {"base", "ctypes", "data"}
"""Attributes that a tensor does not have: its memory is the tape's."""

REMOVED = {"itemset", "newbyteorder", "ptp", "tostring"}
"""Names that NumPy 2.0 still lists, each of which raises or warns that it is gone."""

FOLLOWED = {
    "sum": (), "mean": (0,), "std": (), "var": (0,), "prod": (), "cumsum": (), "cumprod": (0,), "max": (), "min": (1,),
    "clip": (0.2, 0.9), "compress": ([True, False, True], 1), "diagonal": (), "trace": (), "take": ([0, 1, 1],),
    "repeat": (2,), "dot": (A,), "ravel": (), "flatten": ("F",), "reshape": (9,), "conj": (), "conjugate": (), "swapaxes": (0, 1),
    "squeeze": (), "transpose": (), "astype": ("float64",), "copy": (), "view": (), "to_device": ("cpu",), "__matmul__": (A,),
}  # fmt: skip
CONSTANT = {
    "all": (), "any": (0,), "argmax": (1,), "argmin": (), "argsort": (), "argpartition": (1,), "nonzero": (), "round": (),
    "tolist": (), "item": (4,),
}  # fmt: skip
WRITERS = {"fill": (2.5,), "sort": (0,), "partition": (1,), "put": ([0, 4], [1.0, 2.0])}
REFUSED = {
    "byteswap": (), "choose": ([1, 2],), "dump": ("file",), "dumps": (), "getfield": ("f8",), "resize": ((9,),),
    "setfield": (1.0, "f8"), "setflags": (), "tobytes": (), "tofile": ("file",),
}  # fmt: skip
ATTRIBUTES = {
    "T", "device", "dtype", "flags", "flat", "imag", "itemsize", "mT", "nbytes", "ndim", "real", "shape", "size", "strides",
}  # fmt: skip


def test_every_one_is_accounted_for():
    public = {name for name in dir(numpy.ndarray) if not name.startswith("_")} - REMOVED
    listed = FOLLOWED.keys() | CONSTANT.keys() | WRITERS.keys() | REFUSED.keys() | ATTRIBUTES | {"searchsorted"}
    assert public - listed == UNKNOWN & public
    for name in public - UNKNOWN:
        assert hasattr(Tensor, name), name
    for name in UNKNOWN:
        assert not hasattr(Tensor, name), name


def made(x):
    """An array of which one element is the tensor."""
    c = np.zeros((3, 3))
    c[...] = A
    c[1, 2] = x
    return c


MAKERS = {
    "tensor": lambda x: np.array([[x if at == (1, 2) else A[at] for at in [(i, j) for j in range(3)]] for i in range(3)]),
    "array": made,
}


def filled(x):
    a = A.copy()
    a[1, 2] = x
    return a


@pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)
@pytest.mark.parametrize("name", FOLLOWED)
def test_methods_with_gradients(make, name):
    arguments = FOLLOWED[name]
    got = jacobian(lambda x: np.ravel(getattr(make(x), name)(*arguments) * 1.0))(1.6)
    at = [numpy.ravel(getattr(filled(1.6 + step), name)(*arguments)) for step in (1e-6, -1e-6)]
    numpy.testing.assert_allclose(numpy.ravel(got), (at[0] - at[1]) / 2e-6, atol=1e-7)


@pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)
@pytest.mark.parametrize("name", CONSTANT)
def test_methods_whose_results_are_constants(make, name):
    with Tape() as tape:
        got = getattr(make(tape.watch(1.6)), name)(*CONSTANT[name])
    numpy.testing.assert_array_equal(got, getattr(filled(1.6), name)(*CONSTANT[name]))
    assert type(got) is not Tensor


@pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)
@pytest.mark.parametrize("name", WRITERS)
def test_methods_that_write(make, name):
    def after(x):
        c = make(x)
        assert getattr(c, name)(*WRITERS[name]) is None
        return np.ravel(c * numpy.arange(1.0, 10.0).reshape(3, 3))

    def expected(x):
        a = filled(x)
        getattr(a, name)(*WRITERS[name])
        return numpy.ravel(a * numpy.arange(1.0, 10.0).reshape(3, 3))

    with Tape() as tape:
        numpy.testing.assert_array_equal((after(tape.watch(1.65)) * 1.0).value, expected(1.65))
    difference = (expected(1.65 + 1e-6) - expected(1.65 - 1e-6)) / 2e-6
    numpy.testing.assert_allclose(jacobian(after)(1.65) if name != "fill" else difference, difference, atol=1e-7)


def test_writing_through_a_view_of_an_array():
    def f(x):
        c = made(x)
        c[1].sort()
        c[0].put([1], x)
        return np.sum(c * numpy.arange(9.0).reshape(3, 3))

    assert grad(f)(1.6) == 5.0 + 1.0  # the largest of its row stays last


@pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)
@pytest.mark.parametrize("name", REFUSED)
def test_methods_that_no_tape_can_follow(make, name):
    with Tape() as tape:
        c = make(tape.watch(1.6))
        if name == "setflags" and type(c) is AssignableArray:
            return
        with pytest.raises(NotTrackedError, match=rf"t\.{name}\(\)"):
            getattr(c, name)(*REFUSED[name])


def test_attributes():
    with Tape() as tape:
        t = tape.watch(A.T)
        assert t.strides == A.T.strides
        assert t.flags.f_contiguous
        assert not t.flags.writeable
        assert t.device == "cpu"
        assert t.to_device("cpu") is t
        with pytest.raises(ValueError, match="Unsupported device"):
            t.to_device("gpu")
        assert 0.7 in t
        assert 7.0 not in t
        assert tape.watch(numpy.array([1.0, 2.0])).searchsorted(1.5) == 1
        with pytest.raises(NotTrackedError, match="astype"):
            t.view("int64")
    assert tape.gradient(t, t, dy=numpy.ones((3, 3))).shape == (3, 3)


def test_a_view_is_written_through():
    with Tape() as tape:
        t = tape.watch(numpy.zeros(3)) * 1.0
        view = t.view()
        view[1] = 5.0
        assert t.value.tolist() == [0, 5, 0]


def test_arrays_without_tensors_are_plain_in_every_method():
    with Tape():
        c = np.zeros((3, 3))
        c[...] = A
        for name, arguments in {**FOLLOWED, **CONSTANT}.items():
            numpy.testing.assert_array_equal(getattr(c, name)(*arguments), getattr(A, name)(*arguments))
        assert c.tobytes() == A.tobytes()
        c.resize((9,), refcheck=False)
        assert c.shape == (9,)
