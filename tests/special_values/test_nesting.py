"""Special values of programs of programs: lists for arrays, plain NumPy, containers, nested gradients, deep and wide ones.

A row is one way to write a program whose derivative is known by hand. What is no function of one argument has a test of its own.
"""

from __future__ import annotations

import copy
import functools
import pickle
from collections import namedtuple
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

import numpy
import pytest

import autograd.numpy as np
from autograd import elementwise_grad, grad, hessian, hessian_vector_product, jacobian, make_jvp, value_and_grad
from autograd.differential_operators import multigrad_dict, tensor_jacobian_product
from autograd.errors import GradientError
from autograd.extend import defvjp, primitive
from autograd.test_util import check_grads, combo_check
from tests.special_values.table import Row, each_row

if HAS_SCIPY := bool(find_spec("scipy")):
    import scipy.optimize

LOG2 = numpy.log(2.0)
TWO = numpy.array([2.0, 3.0])
SQUARE = numpy.array([[2.0, 1.0], [1.0, 3.0]])
Pair = namedtuple("Pair", "a b")


@dataclass(frozen=True)
class Both:
    a: Any
    b: Any


# ------------------------------------------------------------------------------------------------ plain NumPy and lists

AXES = numpy.array([[1.0, 2.0], [0.0, 3.0]])
AT = numpy.array([3.0, 4.0])

PLAIN = [
    Row("plain NumPy", "norm", numpy.linalg.norm, AT, first=[0.6, 0.8], second=[0.2 - 21 / 125, 0.2 - 28 / 125]),
    Row(
        "plain NumPy", "a quadratic form", lambda x: numpy.einsum("i,ij,j", x, AXES, x), AT,
        first=[14.0, 30.0], second=[4.0, 8.0],
    ),
    Row(
        "plain NumPy", "power of a spectrum", lambda x: numpy.abs(numpy.fft.fft(x)) ** 2, AT,
        first=[12.0, 16.0], second=[4.0, 4.0],
    ),
    Row("plain NumPy", "det", numpy.linalg.det, SQUARE, first=[[3.0, -1.0], [-1.0, 2.0]], second=[[1.0, -1.0], [-1.0, 1.0]]),
    Row("plain NumPy", "where", lambda x: numpy.where(x > 3, x**2, x), AT, first=[1.0, 8.0], second=[0.0, 2.0]),
    Row("plain NumPy", "interp", lambda x: numpy.interp(x, [0.0, 2, 5], [0.0, 4, 1]), AT, first=[-1.0, -1.0], second=[0.0, 0.0]),
    Row("plain NumPy", "add.reduce", lambda x: numpy.add.reduce(x * x), AT, first=[6.0, 8.0], second=[2.0, 2.0]),
    Row("plain NumPy", "subtract.outer", lambda x: numpy.subtract.outer(x, x) ** 2, AT, first=[-4.0, 4.0], second=[0.0, 0.0]),
    Row("plain NumPy", "polyval", lambda x: numpy.polyval([1.0, 0.0, 2.0], x), AT, first=[6.0, 8.0], second=[2.0, 2.0]),
    Row("plain NumPy", "matrix @ tensor", lambda x: (AXES @ x) ** 2, AT, first=[22.0, 4 * 11 + 6 * 12.0], second=[6.0, 30.0]),
]  # fmt: skip

LISTS = [
    Row("a list for an array", "maximum", lambda x: np.maximum([x, x * x], [0.5, 1.5]), 2.0, first=5.0, second=2.0),
    Row("a list for an array", "hypot", lambda x: np.hypot([x], 4.0), 3.0, first=0.6, second=16 / 125),
    Row("a list for an array", "arctan2", lambda x: np.arctan2([x], (1.0,)), 1.0, first=0.5, second=-0.5),
    Row("a list for an array", "power", lambda x: np.power([x, 2.0], [2.0, x]), 2.0, first=4 + 4 * LOG2, second=2 + 4 * LOG2**2),
    Row("a list for an array", "add.reduce", lambda x: np.add.reduce([x, x * x]), 2.0, first=5.0, second=2.0),
    Row(
        "a list for an array", "reduce, axis 1", lambda x: np.multiply.reduce([[x, 2.0], [x, x]], axis=1), 2.0,
        first=6.0, second=2.0,
    ),
    Row("a list for an array", "multiply.outer", lambda x: np.multiply.outer([x, 1.0], [x, x]), 2.0, first=10.0, second=4.0),
    Row("a list for an array", "accumulate", lambda x: np.multiply.accumulate([x, x, 1.0]), 2.0, first=9.0, second=4.0),
    Row("a list for an array", "reduceat", lambda x: np.multiply.reduceat([x, x, x], [0, 2]), 2.0, first=5.0, second=2.0),
    Row("a list for an array", "initial=", lambda x: np.multiply.reduce([2.0, 3.0], initial=x * x), 2.0, first=24.0, second=12.0),
    Row("a list for an array", "nested", lambda x: np.exp([[x], [0.0]]), 0.0, first=1.0, second=1.0),
    Row("statistics of a list", "var", lambda x: np.var([x, -x]), 2.0, first=4.0, second=2.0),
    Row("statistics of a list", "std", lambda x: np.std([x, -x]), 2.0, first=1.0, second=0.0),
    Row("statistics of a list", "median", lambda x: np.median([x, 5.0, x * x]), 2.0, first=4.0, second=2.0),
    Row("statistics of a list", "prod of a tuple", lambda x: np.prod((x, x, 3.0)), 2.0, first=12.0, second=6.0),
    Row("statistics of a list", "max", lambda x: np.max([x, x * x]), 2.0, first=4.0, second=2.0),
    Row("statistics of a list", "norm", lambda x: np.linalg.norm([x, 2 * x]), 2.0, first=5**0.5, second=0.0),
    Row("statistics of a list", "dot", lambda x: np.dot([x, 1.0], [x, 2.0]), 2.0, first=4.0, second=2.0),
    Row("statistics of a list", "det", lambda x: np.linalg.det([[x, 1.0], [2.0, x]]), 2.0, first=4.0, second=2.0),
    Row("statistics of a list", "beside an array", lambda x: np.array([numpy.ones(2), [x, x * x]]), 2.0, first=5.0, second=2.0),
    Row(
        "statistics of a list", "sum of a 0-d", lambda x: np.sum([x * numpy.ones(()), np.array(2.0), 3]), 2.0,
        first=1.0, second=0.0,
    ),
]  # fmt: skip

# ------------------------------------------------------------------------------------------------ containers, nesting


def inner_gradients(make: Any, parts: Any) -> Any:
    """The gradient of ``a ** 3 b`` at ``(y, y ** 2)``, summed: ``3 y ** 4 + y ** 3``."""

    def cubic(p: Any) -> Any:
        a, b = parts(p)
        return a**3 * b

    return lambda y: np.sum(np.stack(list(parts(grad(cubic)(make(y, y * y))))))


def of_keys(p):
    return p["a"], p["b"]


def of_names(p):
    return p.a, p.b


def deep(p):
    return p["x"][0], p["x"][1][0]


CONTAINERS = {
    "list": (lambda a, b: [a, b], tuple),
    "tuple": (lambda a, b: (a, b), tuple),
    "dict": (lambda a, b: {"a": a, "b": b}, of_keys),
    "namedtuple": (Pair, of_names),
    "dataclass": (Both, of_names),
    "nested": (lambda a, b: {"x": [a, (b,)]}, deep),
}


def written_inside(x):
    """``2 x0 x1 + x1 ** 2``: the derivative of ``y ** 2 x0 + x1 ** 2 y`` at ``y = x1``."""

    def inner(y: Any) -> Any:
        d = x * y
        d[0] = y**2
        return np.sum(d * x)

    return grad(inner)(x[1])


ABOVE = [
    *[
        Row("gradients through containers", name, inner_gradients(*each), 2.0, first=108.0, second=156.0)
        for name, each in CONTAINERS.items()
    ],
    Row(
        "gradients through containers", "with arrays", lambda p: p["a"] ** 3 * p["b"], {"a": 2.0, "b": TWO},
        first={"a": 60.0, "b": [8.0, 8.0]},
    ),
    Row("gradients through containers", "one unused", lambda p: p[0] ** 2, [3.0, TWO], first=[6.0, [0.0, 0.0]]),
    Row("gradients through containers", "text inside", lambda p: p[0] ** 2, [3.0, "text"], error="of type str"),
    Row("nested gradients", "product", lambda x: x * grad(lambda y: x * y)(2.0), 5.0, first=10.0, second=2.0),
    Row(
        "nested gradients", "forward inside", lambda x: x * make_jvp(lambda y: x * y * y)(2.0)(1.0)[1], 2.0,
        first=16.0, second=8.0,
    ),
    Row("nested gradients", "one name twice", lambda x: grad(lambda x: x**3)(x) * x, 2.0, first=36.0, second=36.0),
    Row(  # 6 x ** 5
        "nested gradients", "three levels", lambda x: grad(lambda y: grad(lambda z: x**3 * y**2 * z**2)(y))(x), 2.0,
        first=480.0, second=960.0,
    ),
    Row("nested gradients", "jacobian", lambda x: jacobian(lambda y: y**3 * x)(x), TWO, first=9 * TWO**2, second=18 * TWO),
    Row(
        "nested gradients", "hessian", lambda x: hessian(lambda y: np.sum(y**3 * x))(x), TWO,
        first=12 * TWO, second=[12.0, 12.0],
    ),
    Row(
        "nested gradients", "product with a hessian", lambda x: hessian_vector_product(lambda y: np.sum(y**3))(x, x), TWO,
        first=12 * TWO, second=[12.0, 12.0],
    ),
    Row("nested gradients", "assignment inside", written_inside, TWO, first=[6.0, 10.0], second=[2.0, 4.0]),
    Row(
        "depth and width", "a chain", lambda x: functools.reduce(lambda y, _: y * 1.0, range(20_000), x), 3.0,
        first=1.0, second=0.0,
    ),
    Row(
        "depth and width", "doubled 60 times", lambda x: functools.reduce(lambda y, _: y + y, range(60), x), 1.0,
        first=2.0**60, second=0.0,
    ),
    Row("depth and width", "a wide sum", lambda x: sum(x**k for k in range(2, 6)), 1.0, first=14.0, second=40.0),
    Row(
        "depth and width", "reads of elements", lambda x: sum(x[i] * x[-1 - i] for i in range(2)), TWO,
        first=[6.0, 4.0], second=[2.0, 2.0],
    ),
    Row(
        "depth and width", "joined again and again",
        lambda x: functools.reduce(lambda y, _: np.concatenate([y, x]), range(99), x), TWO,
        first=[100.0, 100.0], second=[0.0, 0.0],
    ),
    Row("depth and width", "a deep list", lambda p: p[0][0][0][0] ** 2, [[[[3.0]]]], first=[[[[6.0]]]]),
]  # fmt: skip


@each_row(PLAIN + LISTS + ABOVE)
def test_special_value(row, check):
    check(row)


# ------------------------------------------------------------------------------------------------ what is no row


def test_an_object_stays_the_very_object():
    thing = object()
    for array in (np.array([thing]), np.array((thing,)), np.asarray([thing])):
        assert array.shape == (1,)
        assert array[0] is thing
    assert np.array([[thing]])[0, 0] is thing
    assert np.array(thing)[()] is thing
    assert grad(lambda x: x * (np.array([thing])[0] is thing))(2.0) == 1.0
    assert (np.array([None, 1]) == None).tolist() == [True, False]  # noqa: E711
    assert np.array(["a", "b"]).dtype.kind == "U"
    assert np.array("2020-01-03", dtype="M8[D]") - np.array("2020-01-01", dtype="M8[D]") == numpy.timedelta64(2, "D")
    with pytest.raises(GradientError, match="dtype object"):
        grad(lambda x: np.array([None, x])[1] * x)(2.0)


def test_a_dataclass_comes_back_as_one():
    found = grad(lambda p: p.a**3 * p.b)(Both(2.0, 5.0))
    assert found == Both(60.0, 8.0)
    assert hessian_vector_product(lambda p: p.a**3 * p.b)(Both(2.0, 5.0), Both(0.0, 1.0)) == Both(12.0, 0.0)
    assert make_jvp(lambda p: p.a**3 * p.b)(Both(2.0, 5.0))(Both(1.0, 2.0)) == (40.0, 76.0)


def test_which_argument():
    def f(a: Any, b: Any, *others: Any) -> Any:
        return a * b**2 * others[-1]

    at = (2.0, 3.0, 5.0, 7.0)
    cases = {-1: 18.0, numpy.int64(1): 84.0, (0, -1): (63.0, 18.0), (1, 1): (84.0, 84.0), range(1): (63.0,)}
    for argnum, expected in cases.items():
        assert grad(f, argnum)(*at) == expected
    assert grad(f, [0, -1])(*at) == (63.0, 18.0)
    for argnum in ("a", 1.0, ["a"], None):
        with pytest.raises(GradientError, match="expected the position of an argument"):
            grad(f, argnum)(*at)
    with pytest.raises(GradientError, match="argnum is 4, but the function was called with 4"):
        grad(f, 4)(*at)


def test_complex_values_have_no_elementwise_gradient_of_a_real_argument():
    with pytest.raises(GradientError, match=r"take np\.real or np\.imag"):
        elementwise_grad(lambda x: x * 1j)(TWO)
    numpy.testing.assert_array_equal(elementwise_grad(lambda x: np.imag(x * 2j))(TWO), [2.0, 2.0])
    numpy.testing.assert_array_equal(elementwise_grad(lambda z: z * 1j)(TWO + 0j), [1j, 1j])


@primitive
def slightly_wrong(x):
    return numpy.sin(x)


defvjp(slightly_wrong, lambda y, x: lambda dy: 1.01 * dy * numpy.cos(x))


@pytest.mark.parametrize("x", [numpy.float32(0.3), TWO.astype("float32") / 9, TWO.astype("float16") / 9, 0.3 + 0.5j])
def test_checks_in_every_precision(x):
    for modes in (["rev"], ["fwd"], ["fwd", "rev"]):
        check_grads(np.exp, modes=modes, order=3)(x)
        check_grads(lambda p: p["a"] * p["b"][0] ** 2, modes=modes)({"a": x, "b": (x,)})
    combo_check(np.multiply, (0, 1), order=2)([x, 2.0], [x])
    combo_check(np.sum, order=1)([numpy.outer(x, x)], axis=[None, 0], keepdims=[True, False])
    if not numpy.iscomplexobj(x):
        with pytest.raises(AssertionError, match="reverse mode says"):
            check_grads(slightly_wrong, modes=["rev"], order=1)(x)


def sine(x):
    return np.sin(x)


PICKLED = {
    "grad": (grad(sine), 1.0),
    "second": (grad(grad(sine)), 0.0),
    "jacobian": (jacobian(sine), 1.0),
    "hessian": (hessian(sine), 0.0),
    "value_and_grad": (value_and_grad(sine), (0.0, 1.0)),
    "of a partial": (grad(functools.partial(sine)), 1.0),
    "of a function of ours": (grad(np.sin), 1.0),
    "multigrad_dict": (multigrad_dict(sine), {"x": 1.0}),
}


@pytest.mark.parametrize(("function", "expected"), PICKLED.values(), ids=PICKLED)
def test_gradient_functions_are_copied_and_pickled(function, expected):
    for copied in (copy.deepcopy(function), pickle.loads(pickle.dumps(function))):
        assert copied(0.0) == expected
    assert pickle.loads(pickle.dumps(tensor_jacobian_product(sine)))(0.0, 2.0) == 2.0


def test_recursion_and_generators():
    def fibonacci(n: int, x: Any) -> Any:
        return x if n < 2 else fibonacci(n - 1, x) + fibonacci(n - 2, x)

    def powers(x: Any) -> Any:
        y = x
        while True:
            y = y * x
            yield y

    assert grad(lambda x: fibonacci(12, x))(1.0) == 233.0
    assert grad(lambda x: sum(y for y, _ in zip(powers(x), range(3), strict=False)))(1.0) == 2 + 3 + 4
    assert functools.reduce(lambda f, _: grad(f), range(6), lambda x: x**6)(1.0) == 720.0


@pytest.mark.skipif(not HAS_SCIPY, reason="SciPy is not installed")
def test_minimize():
    def banana(x: Any, scale: float) -> Any:
        return np.sum(scale * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2)

    options = {"args": (100.0,), "jac": True}
    for method, extra in [("BFGS", {}), ("SLSQP", {}), ("trust-exact", {"hess": hessian(banana)})]:
        found = scipy.optimize.minimize(value_and_grad(banana), [-1.2, 1.0, 0.5], method=method, **options, **extra)
        numpy.testing.assert_allclose(found.x, 1.0, atol=1e-3)


def test_the_jacobian_of_complex_values_in_real_arguments_is_complex():
    x = numpy.array([0.5, 1.0])
    numpy.testing.assert_allclose(jacobian(lambda x: np.exp(1j * x))(x), numpy.diag(1j * numpy.exp(1j * x)))
    real, mixed = jacobian(lambda x, z: x * z, (0, 1))(x, x + 2j)
    numpy.testing.assert_allclose(real, numpy.diag(x + 2j))
    numpy.testing.assert_allclose(mixed, numpy.diag(x))
    second = jacobian(jacobian(lambda x: np.exp(1j * x)))(numpy.array([0.5]))
    numpy.testing.assert_allclose(second, -numpy.exp(0.5j).reshape(1, 1, 1))
