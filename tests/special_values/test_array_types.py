"""Types of arrays: values have NumPy's, also where a number stands beside arrays, and gradients that of the argument."""

from __future__ import annotations

import numpy
import pytest

import autograd.numpy as np
from autograd import grad, make_jvp
from autograd.errors import NotTrackedError

A = numpy.array

TYPES = {
    "append a number": lambda np, x: np.append(x, 3.0),
    "array of elements and a number": lambda np, x: np.array([*x, 3]),
    "choose a number": lambda np, x: np.choose([0, 1], [x, 2.5]),
    "cov in a type": lambda np, x: np.cov(x, dtype=np.float32),
    "cov": lambda np, x: np.cov(x),
    "insert a number": lambda np, x: np.insert(x, [0, 2], 3.0),
    "interp": lambda np, x: np.interp(x, [0.0, 1.0], [1.0, 2.0]),
    "nanvar about a mean": lambda np, x: np.nanvar(x, mean=numpy.ones(1)),
    "nanmean": lambda np, x: np.nanmean(x),
    "pad a number": lambda np, x: np.pad(x, 1, constant_values=2.5),
    "partition": lambda np, x: np.partition(x, 1),
    "quantile": lambda np, x: np.quantile(x, [0.3, 0.4]),
    "select a number": lambda np, x: np.select([x > 1], [x], 2.5),
    "std": lambda np, x: np.std(x, ddof=1),
    "tile": lambda np, x: np.tile(x, 2),
    "where a number": lambda np, x: np.where(x > 1, x, 2.5),
}  # fmt: skip


@pytest.mark.parametrize("dtype", [numpy.float16, numpy.float32])
@pytest.mark.parametrize("name", TYPES)
def test_values_have_numpys_type_and_gradients_that_of_the_argument(name, dtype):
    x = A([2.0, 1.0], dtype)
    seen = []

    def f(x):
        y = TYPES[name](np, x)
        seen.append(y.dtype)
        return np.sum(y)

    assert grad(f)(x).dtype == dtype
    expected = TYPES[name](numpy, x).dtype
    assert seen == [expected]
    assert make_jvp(f)(x)(x)[1].dtype == expected


@pytest.mark.parametrize("dtype", [numpy.float16, numpy.float32, numpy.complex64])
@pytest.mark.parametrize("make", [np.array, np.asarray, np.astype, np.asfortranarray, lambda x, dtype: np.full(2, x, dtype),
                                  lambda x, dtype: np.full_like(numpy.zeros(2, dtype), x)])  # fmt: skip
def test_a_python_number_takes_the_type_that_is_asked_for(make, dtype):
    seen = []

    def f(x):
        seen.append(make(x, dtype).dtype)
        return np.sum(np.real(make(x * x, dtype))) / np.size(make(x, dtype))

    assert grad(f)(3.0) == 6.0
    assert seen == [dtype]


def test_an_iterator_of_too_few_tensors():
    with pytest.raises(ValueError, match=r"fromiter: got an iterator of 1 elements, expected 3"):
        grad(lambda x: np.sum(np.fromiter([x], float, count=3)))(2.0)


@pytest.mark.parametrize("reduce", [np.sum, np.prod, np.max, np.min, np.nansum])
def test_no_followed_start_among_whole_numbers(reduce):
    with pytest.raises(NotTrackedError, match=r"initial is a tensor.*a\.astype\(float\)"):
        grad(lambda x: reduce(numpy.ones(2, int), initial=x))(2.0)
