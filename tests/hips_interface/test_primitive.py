"""``primitive`` with ``defvjp`` and ``defjvp``: one record a call, derivatives of any order, containers, and clear errors."""

from __future__ import annotations

from collections import namedtuple

import numpy as onp
import pytest

import autograd.numpy as np
from autograd import GradientError, NotTrackedError, Tape, Tensor, grad, hessian, jacobian, make_jvp, make_vjp
from autograd.core import primitive as older_primitive
from autograd.core import primitive_jvps, primitive_vjps
from autograd.dag import plan_for
from autograd.extend import (
    SparseObject,
    VJPNode,
    def_linear,
    defjvp,
    defjvp_argnum,
    defjvp_argnums,
    defvjp,
    defvjp_argnum,
    defvjp_argnums,
    isbox,
    notrace_primitive,
    primitive,
    register_notrace,
    vspace,
)
from autograd.forward import push_forward
from autograd.numpy.numpy_vjps import unbroadcast_f

X = onp.array([0.3, 1.2, -0.7])


def close(got, want):
    onp.testing.assert_allclose(got, want, rtol=1e-12, atol=1e-14)


@primitive
def scaled_sine(x, y, k=2.0):
    """``k x sin(y)``, with broadcasting."""
    assert not isbox(x)
    assert not isbox(y)
    return k * x * onp.sin(y)


defvjp(
    scaled_sine,
    lambda ans, x, y, k=2.0: unbroadcast_f(x, lambda g: g * k * np.sin(y)),
    lambda ans, x, y, k=2.0: unbroadcast_f(y, lambda g: g * k * x * np.cos(y)),
)


@primitive
def integer_power(n, x):
    """``x**n``; the derivative is the function itself, at another ``n``."""
    return x**n


defvjp(integer_power, lambda ans, n, x: lambda g: g * n * integer_power(n - 1, x), argnums=[1])
defjvp(integer_power, lambda g, ans, n, x: g * n * integer_power(n - 1, x), argnums=[1])


@primitive
def weighted(*xs):
    """``x0 + 2 x1 + 3 x2 ...``, with one rule for every argument."""
    return sum(x * (i + 1) for i, x in enumerate(xs))


defvjp_argnum(weighted, lambda argnum, ans, args, kwargs: lambda g: g * (argnum + 1))
defjvp_argnum(weighted, lambda argnum, g, ans, args, kwargs: g * (argnum + 1))


@primitive
def both_trig(x):
    """Sine and cosine, in a dictionary."""
    return {"s": onp.sin(x), "c": onp.cos(x)}


defvjp(both_trig, lambda ans, x: lambda g: g["s"] * np.cos(x) - g["c"] * np.sin(x))


@primitive
def pair_product(pair):
    """The product of two numbers in a tuple, list or dictionary with the keys 0 and 1."""
    return pair[0] * pair[1]


defvjp(pair_product, lambda ans, pair: lambda g: (g * pair[1], g * pair[0]))

DERIVATIVES = [
    ("of a scalar", lambda: grad(integer_power, 1)(3, 2.0), 12.0),
    ("second", lambda: grad(grad(integer_power, 1), 1)(3, 2.0), 12.0),
    ("third", lambda: grad(grad(grad(integer_power, 1), 1), 1)(3, 2.0), 6.0),
    ("fourth", lambda: grad(grad(grad(grad(integer_power, 1), 1), 1), 1)(3, 2.0), 0.0),
    ("forward over forward", lambda: make_jvp(lambda x: make_jvp(integer_power, 1)(3, x)(1.0)[1])(2.0)(1.0)[1], 12.0),
    ("forward over reverse", lambda: make_jvp(grad(integer_power, 1), 1)(3, 2.0)(1.0)[1], 12.0),
    ("reverse over forward", lambda: grad(lambda x: make_jvp(integer_power, 1)(3, x)(1.0)[1])(2.0), 12.0),
    ("broadcast", lambda: grad(lambda x: np.sum(scaled_sine(x, X, k=3.0)))(2.0), 3 * onp.sin(X).sum()),
    ("by position", lambda: grad(lambda y: np.sum(scaled_sine(2.0, y, 3.0)))(X), 6 * onp.cos(X)),
    ("of both", lambda: grad(lambda t: np.sum(scaled_sine(t, t)))(0.5), 2 * (onp.sin(0.5) + 0.5 * onp.cos(0.5))),
    ("jacobian", lambda: jacobian(scaled_sine, 1)(2.0, X), onp.diag(4 * onp.cos(X))),
    ("hessian", lambda: hessian(lambda y: np.sum(scaled_sine(2.0, y)))(X), onp.diag(-4 * onp.sin(X))),
    ("mixed", lambda: jacobian(grad(lambda x, y: np.sum(scaled_sine(x, y))), 1)(2.0, X), 2 * onp.cos(X)),
    ("forward by transposing", lambda: make_jvp(scaled_sine, (0, 1))(2.0, X)((1.0, X))[1], 2 * onp.sin(X) + 4 * X * onp.cos(X)),
    ("mixed, the inner one second", lambda: grad(lambda y: grad(lambda x: scaled_sine(y, x))(0.5))(2.0), 2 * onp.cos(0.5)),
    ("one rule for all", lambda: grad(weighted, (0, 1, 2))(1.0, 2.0, 3.0), (1.0, 2.0, 3.0)),
    ("forward, some arguments", lambda: make_jvp(weighted, (0, 2))(1.0, 2.0, 3.0)((1.0, 10.0)), (14.0, 31.0)),
    ("of a dictionary", lambda: grad(lambda x: 3 * both_trig(x)["s"] * both_trig(x)["c"])(0.3), 3 * onp.cos(0.6)),
    ("second of a dictionary", lambda: grad(grad(lambda x: both_trig(x)["s"]))(0.3), -onp.sin(0.3)),
    ("in a tuple", lambda: grad(lambda x: pair_product((x, 3.0 * x)))(2.0), 12.0),
    ("in a list with a constant", lambda: grad(lambda x: pair_product([x, 5.0]))(2.0), 5.0),
    ("of a tuple", lambda: grad(pair_product)((2.0, 5.0)), (5.0, 2.0)),
    ("second in a tuple", lambda: grad(grad(lambda x: pair_product((x, x))))(2.0), 2.0),
    ("forward in a tuple", lambda: make_jvp(lambda x: pair_product((x, 3.0 * x)))(2.0)(1.0)[1], 12.0),
]


@pytest.mark.parametrize(("derivative", "expected"), [row[1:] for row in DERIVATIVES], ids=[row[0] for row in DERIVATIVES])
def test_derivatives(derivative, expected):
    for _ in ("careful", "fast"):
        close(derivative(), expected)


def test_a_call_on_plain_values_is_the_function():
    assert integer_power(3, 2) == 8
    assert integer_power.__name__ == "integer_power"
    assert integer_power.fun(3, 2) == 8
    assert "x**n" in integer_power.__doc__


def test_a_call_is_one_record():
    with Tape() as tape:
        y = scaled_sine(tape.watch(2.0), tape.watch(X))
    assert len(tape) == 1
    assert isinstance(y, Tensor)


def test_a_derivative_is_asked_only_where_it_is_needed():
    product = primitive(lambda x, y: x * y)
    defvjp(product, lambda ans, x, y: lambda g: g * y)
    with Tape() as tape:
        x, y = tape.watch(2.0), tape.watch(3.0)
        z = product(x, y)
    assert tape.gradient(z, x) == 3.0


def test_a_rule_of_all_arguments_is_called_once():
    calls = []
    product = primitive(lambda x, y: x * y)

    def rule(argnums, ans, args, kwargs):
        calls.append(argnums)
        return lambda g: [g * args[1 - argnum] for argnum in argnums]

    defvjp_argnums(product, rule)
    defjvp_argnums(product, lambda argnums, gs, ans, args, kwargs: sum(g * args[1 - n] for n, g in zip(argnums, gs, strict=True)))
    assert grad(product, (0, 1))(2.0, 3.0) == (3.0, 2.0)
    assert calls == [(0, 1)]
    assert make_jvp(product, (0, 1))(2.0, 3.0)((1.0, 10.0)) == (6.0, 23.0)


def test_a_namedtuple_keeps_its_type():
    pair_type = namedtuple("pair_type", "a b")
    product = primitive(lambda p: p.a * p.b)
    defvjp(product, lambda ans, p: lambda g: pair_type(g * p.b, g * p.a))
    defjvp(product, lambda g, ans, p: g.a * p.b + p.a * g.b)
    assert grad(product)(pair_type(2.0, 3.0)) == pair_type(3.0, 2.0)
    assert make_jvp(product)(pair_type(2.0, 3.0))(pair_type(1.0, 10.0))[1] == 23.0


def test_a_gradient_may_be_taken_apart_like_its_argument():
    """A rule may return one array for a list of numbers, and an array of arrays for a nested one."""
    stack = primitive(lambda rows: onp.array(rows))
    defvjp(stack, lambda ans, rows: lambda g: g)
    close(grad(lambda x: np.sum(stack([[x, x * x], [1.0, x]]) * onp.array([[1.0, 10.0], [100.0, 1000.0]])))(2.0), 1 + 40 + 1000)


def test_a_list_without_a_rule_is_followed_inside():
    scaled_stack = primitive(lambda xs, k: k * np.stack(xs))
    defvjp(scaled_stack, lambda ans, xs, k: lambda g: np.sum(g), argnums=[1])
    assert grad(lambda x: np.sum(scaled_stack([x, 2.0 * x], 3.0)))(2.0) == 9.0
    with pytest.raises(NotImplementedError, match="argument 0"):
        grad(lambda x: np.sum(scaled_stack([x, 2.0 * x], x)))(2.0)


def test_a_member_without_a_tangent_counts_as_zero():
    product = primitive(lambda pair, k: pair[0] * pair[1] * k)
    asked = []

    def forward(argnum, g, ans, args, kwargs):
        asked.append((argnum, g))
        return g[0] * args[0][1] + args[0][0] * g[1]

    defjvp_argnum(product, forward)
    defvjp(product, lambda ans, pair, k: lambda g: (g * pair[1] * k, g * pair[0] * k), lambda ans, pair, k: lambda g: g * ans / k)
    with Tape() as tape:
        x, y, k = tape.watch(2.0), tape.watch(3.0), tape.watch(1.0)
        z = product([x, y], k)
    assert push_forward(tape, plan_for(tape, z.id, (x.id,)), {x.id: 10.0}, z.id) == 30.0
    assert asked == [(0, [10.0, 0.0])]


def test_a_subclass_of_array_is_taken_as_an_array():
    class Tagged(onp.ndarray): ...

    seen = []
    tag = primitive(lambda x: (2.0 * x).view(Tagged))

    def rule(ans, x):
        seen.append(type(ans))
        return lambda g: (2.0 * g).view(Tagged)

    defvjp(tag, rule)
    assert type(grad(lambda x: np.sum(tag(x)))(X)) is onp.ndarray
    assert seen == [onp.ndarray]


def test_none_is_a_gradient_of_zero():
    product = primitive(lambda x, y: x * y)
    defvjp(product, None, lambda ans, x, y: lambda g: g * x)
    defjvp(product, None, "same")
    assert grad(product, (0, 1))(2.0, 3.0) == (0.0, 2.0)
    assert make_jvp(product, (0, 1))(2.0, 3.0)((1.0, 10.0)) == (6.0, 20.0)
    assert make_jvp(product)(2.0, 3.0)(1.0) == (6.0, 0.0)


def test_the_tables_of_rules_can_be_read():
    product = primitive(lambda x, y, z: x * y)
    defvjp(product, lambda ans, x, y, z: lambda g: g * y, lambda ans, x, y, z: lambda g: g * x, None)
    assert primitive_vjps[product]((0, 1, 2), 6.0, (2.0, 3.0, 1.0), {})(10.0) == (30.0, 20.0, 0.0)
    defjvp(product, lambda g, ans, x, y, z: g * y, "same", None)
    assert primitive_jvps[product]((0, 1, 2), (1.0, 10.0, 5.0), 6.0, (2.0, 3.0, 1.0), {}) == 23.0


def test_linear_functions():
    product = primitive(lambda x, y: x * y)
    def_linear(product)
    assert make_jvp(product, (0, 1))(2.0, 3.0)((1.0, 10.0)) == (6.0, 23.0)
    affine = primitive(lambda x: 2.0 * x)
    defjvp(affine, "same")
    assert make_jvp(affine)(3.0)(5.0) == (6.0, 10.0)


def test_a_method_can_be_a_primitive():
    class Line:
        def __init__(self, slope):
            self.slope = slope

        @primitive
        def at(self, x):
            return self.slope * x

    defvjp(Line.at, lambda ans, self, x: lambda g: g * self.slope, argnums=[1])
    assert grad(Line(5.0).at)(2.0) == 5.0


def test_complex_arguments_follow_the_convention():
    square = primitive(lambda z: z * z)
    defvjp(square, lambda ans, z: lambda g: g * 2 * z)
    assert grad(lambda z: np.real(square(z)))(1 + 2j) == 2 + 4j  # d/dx - i d/dy of x^2 - y^2


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64"])
def test_gradients_have_the_dtype_of_their_argument(dtype):
    x = onp.ones(2, dtype)
    total = lambda x: np.sum(np.real(integer_power(2, x)))  # noqa: E731
    assert grad(total)(x).dtype == dtype
    assert make_jvp(lambda x: integer_power(2, x))(x)(x)[1].dtype == dtype


def test_a_sparse_gradient_is_put_together():
    def rule(ans, x, i):
        def pull_back(g):
            def add_to(array):
                array[i] += g
                return array

            return SparseObject(vspace(x), add_to)

        return pull_back

    element = primitive(lambda x, i: x[i])
    defvjp(element, rule)
    close(grad(lambda x: 2 * element(x, 1) + element(x, 1) * element(x, 2))(X), [0.0, 2 + X[2], X[1]])


def test_a_rule_may_return_an_array_that_it_keeps():
    kept = onp.ones(3)
    total = primitive(lambda x: onp.sum(x))
    defvjp(total, lambda ans, x: lambda g: kept)
    gradient = grad(total)(X)
    gradient += 1.0
    close(kept, onp.ones(3))


def test_what_the_function_keeps_is_safe_until_the_gradient_is_taken():
    buffer = onp.zeros(3)

    def raw(x):
        buffer[:] = x * x
        return buffer

    square = primitive(raw)
    defvjp(square, lambda ans, x: lambda g: g * 2 * x)
    close(grad(lambda x: np.sum(square(x)))(X), 2 * X)
    with pytest.raises(ValueError, match="read-only"):
        grad(lambda x: np.sum(square(x) + square(2.0 * x)))(X)


def test_a_constant_argument_is_safe_until_the_gradient_is_taken():
    y = onp.ones(3)
    product = primitive(lambda x, *, y: x * y)
    defvjp(product, lambda ans, x, y: lambda g: g * y)
    pull_back, _ = make_vjp(lambda x: product(x, y=y))(X)
    with pytest.raises(ValueError, match="read-only"):
        y[0] = 7.0
    close(pull_back(onp.ones(3)), onp.ones(3))


# -------------------------------------------------------------------------------------------------- constants


def test_a_tensor_of_an_outer_gradient_may_come_by_keyword():
    inner = lambda y: grad(lambda x: scaled_sine(x, 0.5, k=y))(2.0)  # noqa: E731
    close(inner(3.0), 3.0 * onp.sin(0.5))
    close(grad(inner)(3.0), onp.sin(0.5))


def test_functions_that_are_not_traced():
    double = notrace_primitive(lambda x: 2.0 * x)
    assert grad(lambda x: x * double(x))(3.0) == 6.0
    registered = primitive(lambda x: 2.0 * x)
    register_notrace(VJPNode, registered)
    assert grad(lambda x: x * registered(x))(3.0) == 6.0
    assert grad(grad(lambda x: x * registered(x) * x))(3.0) == 12.0


def test_integers_are_constants():
    count = primitive(lambda x: onp.count_nonzero(x))
    assert grad(lambda x: np.sum(x) * count(x))(X)[0] == 3.0


# -------------------------------------------------------------------------------------------------- errors

no_rule = primitive(lambda x: x)
wrong_shape = primitive(lambda x, y: x * y)
defvjp(wrong_shape, lambda ans, x, y: lambda g: g * y)
wrong_structure = primitive(lambda pair: pair[0] * pair[1])
defvjp(wrong_structure, lambda ans, pair: lambda g: g)
no_array = primitive(lambda x: x)
defvjp(no_array, lambda ans, x: lambda g: "g")
too_few = primitive(lambda x, y: x * y)
defvjp_argnums(too_few, lambda argnums, ans, args, kwargs: lambda g: [g])
raw_rule = primitive(lambda x: x * x)
defvjp(raw_rule, lambda ans, x: lambda g: onp.asarray(g) * 2 * x)


def closes_over(x):
    inner = primitive(lambda y: x * y)
    return inner(x)


ERRORS = [
    ("no rule", lambda: grad(no_rule)(2.0), NotImplementedError, "VJP of <lambda> in argument 0"),
    ("no rule, as ours", lambda: grad(no_rule)(2.0), GradientError, r"defvjp\(<lambda>"),
    ("no rule for one", lambda: grad(wrong_shape, 1)(2.0, 3.0), NotImplementedError, "argument 1"),
    (
        "wrong shape",
        lambda: grad(lambda x: np.sum(wrong_shape(x, X)))(2.0),
        GradientError,
        r"shape \(3,\), expected \(\); unbroadcast_f",
    ),
    ("wrong structure", lambda: grad(lambda x: wrong_structure((x, x)))(2.0), GradientError, "structure of the argument"),
    ("no array", lambda: grad(no_array)(2.0), GradientError, "str, expected an array"),
    ("too few", lambda: grad(too_few, (0, 1))(2.0, 3.0), GradientError, "1 gradients, expected 2"),
    ("tensor by keyword", lambda: grad(lambda x: scaled_sine(x, x, k=x))(2.0), GradientError, "by keyword, k"),
    ("closure", lambda: grad(closes_over)(2.0), GradientError, "not among its positional arguments"),
    ("None", lambda: grad(primitive(lambda x: None))(2.0), NotTrackedError, "returned None"),
    ("text", lambda: grad(primitive(lambda x: "a"))(2.0), NotTrackedError, "expected an array"),
    ("no primitive", lambda: defvjp(lambda x: x, None), GradientError, "not a primitive"),
    ("notrace, no primitive", lambda: register_notrace(VJPNode, len), GradientError, "not a primitive"),
    ("no maker", lambda: defvjp(no_rule, 3), GradientError, "expected a function"),
    ("no forward rule", lambda: defjvp(no_rule, "sane"), GradientError, "'same' or None"),
    (
        "forward, missing",
        lambda: make_jvp(integer_power)(2.0, 3.0)(1.0),
        NotImplementedError,
        "JVP of integer_power in argument 0",
    ),
]


@pytest.mark.parametrize(("act", "error", "text"), [row[1:] for row in ERRORS], ids=[row[0] for row in ERRORS])
def test_errors_name_the_function_and_the_mistake(act, error, text):
    with pytest.raises(error, match=text):
        act()


def test_a_rule_in_plain_numpy_says_in_forward_mode_what_to_do():
    assert grad(raw_rule)(3.0) == 6.0
    with pytest.raises(NotTrackedError) as caught:
        make_jvp(raw_rule)(3.0)(1.0)
    assert any("defjvp" in note for note in caught.value.__notes__)


@pytest.mark.parametrize("define", [lambda: defvjp(np.where, None), lambda: defjvp(np.sin, "same")])
def test_functions_of_the_library_keep_their_rules(define):
    with pytest.warns(UserWarning, match="keeps the rule that it has"):
        define()
    assert not {np.where, np.sin} & (primitive_vjps.keys() | primitive_jvps.keys())
    assert grad(np.sin)(0.0) == 1.0
    close(grad(lambda x: np.sum(np.where(onp.array([True, False]), x, 0.0)))(2.0), 1.0)


# -------------------------------------------------------------------------------------------------- older forms


def test_older_forms_work_and_warn():
    square, cube, constant = (older_primitive(f) for f in (lambda x: x**2, lambda x: x**3, lambda x, y: x * y))
    with pytest.warns(DeprecationWarning, match="defvjp"):
        square.defvjp(lambda g, ans, vs, gvs, x: g * 2 * x)
    with pytest.warns(DeprecationWarning, match="defgrad"):
        cube.defgrad(lambda ans, x: lambda g: g * 3 * x**2)
    with pytest.warns(DeprecationWarning, match="is_zero"):
        constant.defvjp_is_zero(argnums=(1,))
    assert grad(square)(3.0) == 6.0
    assert grad(cube)(2.0) == 12.0
    assert grad(constant, 1)(2.0, 3.0) == 0.0
