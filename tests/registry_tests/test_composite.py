"""Composite kernels: what is called, cloned, copied and returned."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from registry.composite import CompositeFacts, composite_facts, composite_kernel, composite_target
from registry.errors import KernelError, RegistrationError, SchemaError
from registry.schema import FunctionSchema
from registry.variant import GENERATED, Variant

OPTIONS = "ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None"


def facts_of(variant, target, receiver="first"):
    return composite_facts(FunctionSchema.parse(variant, receiver), FunctionSchema.parse(target, receiver))


def copied_into(array, result):
    if array.shape != np.shape(result):
        raise KernelError(f"got shape {np.shape(result)}, expected {array.shape}")
    array[...] = result


def kernel_of(variant, target, call_target):
    return composite_kernel(facts_of(variant, target), call_target, clone=np.array, copy_into=copied_into)


# ------------------------------------------------------------------------------------------------------------------ target


def variant(text, *, generated=False):
    return Variant(FunctionSchema.parse(text), tags=frozenset({GENERATED} if generated else ()), location="here")


EXP = "exp(Tensor x) -> Tensor"
EXP_ = "exp_(Tensor(a!) x) -> Tensor(a!)"
EXP_OUT = "exp.out(Tensor x, *, Tensor(a!) out) -> Tensor(a!)"
STEP = "step(Tensor x, Tensor(a!) m) -> Tensor"
STEP_ = "step_(Tensor(a!) x, Tensor(b!) m) -> Tensor(a!)"
STEP_FUNCTIONAL = "step_functional(Tensor x, Tensor m) -> (Tensor, Tensor)"
STEP_OUT = "step.out(Tensor x, Tensor(a!) m, *, Tensor(b!) out) -> Tensor(b!)"

# the one that is called first, then the other members of its operator
TARGETS = [
    (EXP_OUT, [variant(EXP), variant(EXP_)]),
    (EXP_OUT, [variant(EXP, generated=True), variant(EXP_)]),
    (EXP_, [variant(EXP), variant(EXP_OUT)]),
    (EXP, [variant(EXP_), variant(EXP_OUT, generated=True)]),
    (STEP_FUNCTIONAL, [variant(STEP_), variant(STEP)]),
    (STEP_FUNCTIONAL, [variant(STEP), variant(STEP_, generated=True)]),
    (STEP_OUT, [variant(STEP_FUNCTIONAL, generated=True), variant(STEP)]),
]


@pytest.mark.parametrize(("text", "members"), TARGETS)
def test_which_variant_is_called(text, members):
    made = variant(text, generated=True)
    assert composite_target(made, [made, *reversed(members)]) is members[0]


@pytest.mark.parametrize(
    ("text", "members", "message"),
    [
        (EXP, [variant(EXP_OUT)], "no in-place or mutable variant to call"),
        (EXP, [variant(EXP_, generated=True)], "no in-place or mutable variant to call"),
        (EXP_OUT, [variant(EXP_)], "no functional variant to call"),
    ],
)
def test_nothing_to_call(text, members, message):
    with pytest.raises(RegistrationError) as caught:
        composite_target(variant(text), members)
    assert message in str(caught.value)
    assert str(members[0].name) in str(caught.value)


# ------------------------------------------------------------------------------------------------------------------- facts

# variant, target, cloned, copied, options from, returned
FACTS = [
    (EXP, EXP_, ("x",), (), None, ("x",)),
    (EXP_, EXP, (), (("x", 0),), None, ("x",)),
    (EXP_OUT, EXP, (), (("out", 0),), None, ("out",)),
    (STEP_FUNCTIONAL, STEP, ("m",), (), None, (0, "m")),
    (STEP_FUNCTIONAL, STEP_, ("x", "m"), (), None, ("x", "m")),
    (STEP, STEP_FUNCTIONAL, (), (("m", 1),), None, (0,)),
    (STEP_, STEP_FUNCTIONAL, (), (("x", 0), ("m", 1)), None, ("x",)),
    (STEP_OUT, STEP_FUNCTIONAL, (), (("out", 0), ("m", 1)), None, ("out",)),
    (
        "part(Tensor a, Tensor b) -> (Tensor, Tensor[], Tensor, Tensor)",
        "part(Tensor(a!) a, Tensor(b!) b) -> (Tensor, Tensor[])",
        *(("a", "b"), (), None, (0, 1, "a", "b")),
    ),
    (
        "show(Tensor x, Tensor m) -> (Tensor, Tensor)",
        "show(Tensor(a) x, Tensor(b!) m) -> Tensor(a)",
        *(("m",), (), None, (0, "m")),
    ),
    (
        "qr.out(Tensor a, *, Tensor(a!) out0, Tensor(b!) out1) -> (Tensor(a!), Tensor(b!))",
        "qr(Tensor a) -> (Tensor, Tensor)",
        *((), (("out0", 0), ("out1", 1)), None, ("out0", "out1")),
    ),
    (
        "split.out(Tensor x, int n, *, Tensor(a!)[] out) -> ()",
        "split(Tensor x, int n) -> Tensor[]",
        *((), (("out", 0),), None, ()),
    ),
    (
        "reset.out(Tensor(a!) m, *, Tensor(b!)[] out) -> ()",
        "reset_functional(Tensor m) -> (Tensor[], Tensor)",
        *((), (("out", 0), ("m", 1)), None, ()),
    ),
    (
        "fill.out(int n, *, Tensor(a!) out) -> Tensor(a!)",
        f"fill(int n, *, {OPTIONS}) -> Tensor",
        *((), (("out", 0),), "out", ("out",)),
    ),
    ("like_(Tensor(a!) x) -> Tensor(a!)", f"like(Tensor x, *, {OPTIONS}) -> Tensor", (), (("x", 0),), "x", ("x",)),
]


@pytest.mark.parametrize(("text", "target", "cloned", "copied", "options_from", "returned"), FACTS)
def test_facts(text, target, cloned, copied, options_from, returned):
    facts = facts_of(text, target)
    assert facts == CompositeFacts(facts.variant, facts.target, cloned, copied, options_from, returned)
    assert (str(facts.variant), str(facts.target)) == (text, target)


@pytest.mark.parametrize(
    ("text", "target", "expected"),
    [
        (EXP, EXP, "one of them functional"),
        (EXP_, EXP_, "one of them functional"),
        (EXP, EXP_OUT, "an in-place or mutable operator to be called"),
        (EXP_, "log(Tensor y) -> Tensor", "the same inputs and attributes"),
        (EXP_, "exp(Tensor x, int n) -> Tensor", "the same inputs and attributes"),
        (EXP_, "exp(Tensor x) -> (Tensor, Tensor)", "1 results of the functional one"),
        ("exp(Tensor x) -> (Tensor, Tensor)", EXP_, "results for all returns"),
        ("fill.out(int n, *, Tensor(a!)[] out) -> ()", f"fill(int n, *, {OPTIONS}) -> Tensor[]", "a single array"),
    ],
)
def test_schemas_that_do_not_belong_together(text, target, expected):
    with pytest.raises(SchemaError) as caught:
        facts_of(text, target)
    assert expected in caught.value.expected
    assert caught.value.text == text


# ----------------------------------------------------------------------------------------------------------------- kernels


def exp_in_place(x):
    return np.exp(x, out=x)


def test_functional_from_in_place():
    x = np.zeros(2)
    y = kernel_of(EXP, EXP_, exp_in_place)(x)
    assert_array_equal(y, [1.0, 1.0])
    assert_array_equal(x, [0.0, 0.0])


def test_in_place_from_functional():
    x = np.zeros(2)
    assert kernel_of(EXP_, EXP, np.exp)(x) is x
    assert_array_equal(x, [1.0, 1.0])


def test_out_from_functional():
    x, out = np.zeros(2), np.empty(2)
    assert kernel_of(EXP_OUT, EXP, np.exp)(x, out=out) is out
    assert_array_equal(out, [1.0, 1.0])
    assert_array_equal(x, [0.0, 0.0])


def test_a_scalar_is_written_into_an_array():
    out = np.empty(())
    assert kernel_of(EXP_OUT, EXP, lambda x: 2.5)(np.ones(2), out=out) is out
    assert out == 2.5


def test_mutable_and_back():
    def step(x, m):
        before = m.copy()
        m += x
        return before

    functional = kernel_of(STEP_FUNCTIONAL, STEP, step)
    x, m = np.ones(2), np.array([1.0, 2.0])
    old, new = functional(x, m)
    assert_array_equal(old, [1.0, 2.0])
    assert_array_equal(new, [2.0, 3.0])
    assert_array_equal(m, [1.0, 2.0])
    again = kernel_of(STEP, STEP_FUNCTIONAL, functional)
    assert_array_equal(again(x, m), [1.0, 2.0])
    assert_array_equal(m, [2.0, 3.0])
    out = np.empty(2)
    assert kernel_of(STEP_OUT, STEP_FUNCTIONAL, functional)(x, m, out=out) is out
    assert_array_equal(out, [2.0, 3.0])
    assert_array_equal(m, [3.0, 4.0])


def test_attributes_pass_by_name():
    text = "scale.out(Tensor x, Scalar by, *, bool twice=False, Tensor(a!) out) -> Tensor(a!)"
    seen = []

    def scale(x, **attributes):
        seen.append(attributes)
        return x * attributes["by"]

    kernel = kernel_of(text, "scale(Tensor x, Scalar by, *, bool twice=False) -> Tensor", scale)
    assert_array_equal(kernel(np.ones(1), by=3.0, twice=True, out=np.empty(1)), [3.0])
    assert seen == [{"by": 3.0, "twice": True}]


def test_dtype_comes_from_the_array_to_be_written():
    seen = []

    def fill(n, **options):
        seen.append(options)
        return np.full(2, n, options["dtype"])

    kernel = composite_kernel(
        facts_of("fill.out(int n, *, Tensor(a!) out) -> Tensor(a!)", f"fill(int n, *, {OPTIONS}) -> Tensor"),
        lambda **attributes: fill(**attributes),
        clone=np.array,
        copy_into=copied_into,
    )
    out = np.empty(2, np.float32)
    assert kernel(n=3, out=out) is out
    assert_array_equal(out, [3.0, 3.0])
    assert seen == [{"dtype": np.dtype(np.float32), "layout": None, "device": out.device, "pin_memory": None}]


LISTS = "double_(Tensor(a!)[] xs, Tensor? w=None) -> ()"
LISTS_FUNCTIONAL = "double(Tensor[] xs, Tensor? w=None) -> Tensor[]"
LISTS_OUT = "double.out(Tensor[] xs, Tensor? w=None, *, Tensor(a!)[] out) -> ()"


def test_lists_are_cloned_and_copied_one_by_one():
    def double(xs, w):
        for x in xs:
            x *= 2.0

    functional = kernel_of(LISTS_FUNCTIONAL, LISTS, double)
    xs = [np.ones(1), np.ones(2)]
    ys = functional(xs, None)
    assert [y.tolist() for y in ys] == [[2.0], [2.0, 2.0]]
    assert [x.tolist() for x in xs] == [[1.0], [1.0, 1.0]]
    outs = (np.empty(1), np.empty(2))
    assert kernel_of(LISTS_OUT, LISTS_FUNCTIONAL, functional)(xs, None, out=outs) is None
    assert [out.tolist() for out in outs] == [[2.0], [2.0, 2.0]]
    assert kernel_of(LISTS, LISTS_FUNCTIONAL, functional)(xs, None) is None
    assert [x.tolist() for x in xs] == [[2.0], [2.0, 2.0]]


MAYBE_ = "keep_(Tensor(a!)? x) -> ()"
MAYBE = "keep(Tensor? x) -> Tensor?"


def test_what_is_none_stays_none():
    assert kernel_of(MAYBE, MAYBE_, lambda x: None)(None) is None
    assert kernel_of(MAYBE_, MAYBE, lambda x: None)(None) is None


def test_nothing_is_returned_where_the_schema_says_so():
    x = np.zeros(2)
    assert kernel_of(MAYBE_, MAYBE, np.exp)(x) is None
    assert_array_equal(x, [1.0, 1.0])


QR_OUT = "qr.out(Tensor a, *, Tensor(a!) out0, Tensor(b!) out1) -> (Tensor(a!), Tensor(b!))"
QR = "qr(Tensor a) -> (Tensor, Tensor)"


def test_results_are_told_apart():
    outs = {"out1": np.empty(()), "out0": np.empty(2)}
    returned = kernel_of(QR_OUT, QR, lambda a: (a * 2, a.sum()))(np.array([1.0, 2.0]), **outs)
    assert returned[0] is outs["out0"]
    assert returned[1] is outs["out1"]
    assert_array_equal(outs["out0"], [2.0, 4.0])
    assert_array_equal(outs["out1"], 3.0)


# A functional kernel may return its input, or a view of it: writing one result must not change another.


def test_results_that_are_views_of_what_is_written():
    a = np.array([1.0, 2.0])
    kernel_of(QR_OUT, QR, lambda a: (a[::-1], a))(a, out0=a, out1=(out1 := np.empty(2)))
    assert_array_equal(a, [2.0, 1.0])
    assert_array_equal(out1, [1.0, 2.0])


def test_a_returned_view_of_what_is_written():
    m = np.array([1.0, 2.0])
    old = kernel_of(STEP, STEP_FUNCTIONAL, lambda x, m: (m, m + x))(np.ones(2), m)
    assert_array_equal(old, [1.0, 2.0])
    assert_array_equal(m, [2.0, 3.0])


def test_views_in_a_list():
    x = np.array([1.0, 2.0])
    text = "halves.out(Tensor x, *, Tensor(a!)[] out) -> ()"
    kernel_of(text, "halves(Tensor x) -> Tensor[]", lambda x: [x[1:], x[:1]])(x, out=[x[:1], x[1:]])
    assert_array_equal(x, [2.0, 1.0])


def test_fresh_results_are_not_cloned():
    results = np.ones(2), np.zeros(2)
    cloned = []
    facts = facts_of(QR_OUT, QR)
    kernel = composite_kernel(facts, lambda a: results, clone=cloned.append, copy_into=copied_into)
    kernel(np.ones(2), out0=np.empty(2), out1=np.empty(2))
    assert cloned == []


BROKEN = [
    ("too few inputs", EXP_OUT, EXP, np.exp, (), {"out": np.empty(2)}, "'exp.out': got 0 inputs, expected 1"),
    ("too many inputs", EXP, EXP_, exp_in_place, (np.ones(2), np.ones(2)), {}, "'exp': got 2 inputs, expected 1"),
    ("no out", EXP_OUT, EXP, np.exp, (np.ones(2),), {}, "'exp.out': missing out argument 'out'"),
    ("one result", QR_OUT, QR, np.exp, (np.ones(2),), {"out0": np.empty(2), "out1": np.empty(2)}, "returned ndarray, expected 2"),
    (
        *("three results", QR_OUT, QR, lambda a: (a, a, a), (np.ones(2),), {"out0": np.empty(2), "out1": np.empty(2)}),
        "qr returned 3 results, expected 2",
    ),
    (
        *("too few arrays", LISTS_OUT, LISTS_FUNCTIONAL, lambda xs, w: [np.ones(1)] * 2, ([], None), {"out": [np.empty(1)]}),
        "out is a list of 1 arrays, but the result is 2 arrays",
    ),
    (
        *("no list", LISTS_OUT, LISTS_FUNCTIONAL, lambda xs, w: np.ones(1), ([], None), {"out": [np.empty(1)]}),
        "out is a list of 1 arrays, but the result is ndarray",
    ),
    (
        *("one array", LISTS_OUT, LISTS_FUNCTIONAL, lambda xs, w: [np.ones(1)], ([], None), {"out": np.empty(1)}),
        "out is of type ndarray, but the result of type list",
    ),
    ("nothing to write to", EXP_OUT, EXP, np.exp, (np.ones(2),), {"out": None}, "out is of type NoneType"),
    (
        "nothing to write",
        MAYBE_,
        MAYBE,
        lambda x: None,
        (np.ones(2),),
        {},
        "x is of type ndarray, but the result of type NoneType",
    ),
    ("another shape", EXP_OUT, EXP, np.exp, (np.ones(2),), {"out": np.empty(3)}, "got shape (2,), expected (3,)"),
]


@pytest.mark.parametrize(
    ("text", "target", "function", "inputs", "given", "message"),
    [pytest.param(*row, id=name) for name, *row in BROKEN],
)
def test_calls_that_fail(text, target, function, inputs, given, message):
    with pytest.raises(KernelError) as caught:
        kernel_of(text, target, function)(*inputs, **given)
    assert message in str(caught.value)
