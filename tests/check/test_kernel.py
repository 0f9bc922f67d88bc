"""``check_kernel``: our operators are right, planted faults are found and shrunk, and their printed test fails as it stands."""

from __future__ import annotations

import re

import numpy as np
import pytest

import autograd.scipy.integrate
import autograd.scipy.linalg
import autograd.scipy.signal
import autograd.scipy.special
import autograd.scipy.stats  # noqa: F401  # these five register the operators that SciPy computes
from autograd import operators as op
from autograd.check import check_call, strategies
from autograd.check.calls import Call
from autograd.check.domains import WITHOUT_ROW, domains
from autograd.check.kernel import check_all, check_kernel, checkable
from autograd.check.layouts import layout_of
from autograd.errors import GradientError
from registry.backends import register_backend, remove_backend
from registry.errors import BackendError
from registry.gradients import GradConfig, get_gradient, register_gradient, unregister_gradient
from registry.kernels import KernelConfig, register_kernel, unregister_kernel
from registry.operators import declare, undeclare

FAULTY: dict[str, str] = {}
"""Operators whose rules are known to be wrong somewhere, each with what is wrong."""


@pytest.fixture
def plant():
    """Register an operator of this test's, with a rule; all is gone afterwards."""
    planted = []

    def register(schema, kernel, rule, **fields):
        name = str(declare(schema).name)
        planted.append((name, rule is not None))
        register_kernel(KernelConfig(name, "numpy", kernel))
        if rule is not None:
            register_gradient(GradConfig(name, rule, **fields))
        return name

    yield register
    for name, has_rule in planted:
        if has_rule:
            unregister_gradient(name)
        unregister_kernel(name, "numpy")
        undeclare(name)


def pasted(report):
    """The test that a report ends with, as a function."""
    source = report.text.partition("ready to paste:\n\n")[2]
    scope = {}
    exec(compile(source, "pasted", "exec"), scope)
    return next(value for name, value in scope.items() if name.startswith("test_"))


def size_of(call):
    return sum(np.size(x) for x in call.leaves())


# ---------------------------------------------------------------------------------------------------- our own


@pytest.mark.parametrize("name", sorted(domains()))
def test_our_gradients_are_right(name):
    if name in FAULTY:
        pytest.xfail(FAULTY[name])
    report = check_kernel(name, max_examples=4)
    assert report.verdict == "right"
    assert report.n_examples >= 1
    assert report.text.startswith(f"kernel {name!r} on backend 'numpy': right in {report.n_examples} calls")


@pytest.mark.full
@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("name", sorted(domains()))
def test_our_gradients_are_right_for_every_seed(name, seed):
    if name in FAULTY:
        pytest.xfail(FAULTY[name])
    assert check_kernel(name, max_examples=10, seed=seed).verdict == "right"


@pytest.mark.full
@pytest.mark.parametrize("name", sorted(domains()))
def test_special_values_break_no_shape_dtype_or_input(name):
    if name in FAULTY:
        pytest.xfail(FAULTY[name])
    assert check_kernel(name, max_examples=20, special=True).verdict == "right"


@pytest.mark.parametrize("name", ["exp", "multiply", "sum", "matmul", "sort", "log"])
def test_special_values_of_some(name):
    assert check_kernel(name, max_examples=20, special=True).verdict == "right"


def test_all_of_a_backend_are_reported_in_turn():
    seen = []
    reports = check_all(names=["exp", "matmul"], max_examples=2, progress=seen.append)
    assert seen == reports
    assert [report.name for report in reports] == ["exp", "matmul"]
    assert all(report.ok for report in reports)


def test_those_that_take_functions_are_left_out():
    names = checkable("numpy")
    assert set(names) == set(domains()) - {name for name in domains() if name not in names}
    assert set(names) >= set(domains())
    assert not set(names) & set(WITHOUT_ROW)
    assert checkable("no such backend") == []


def test_the_second_derivative_too():
    assert check_kernel("sin", max_examples=3, order=2).verdict == "right"


# ---------------------------------------------------------------------------------------------------- planted faults


def times(factor):
    return lambda dy, saved, attrs: {"x": lambda: dy * factor}


def sums(transposed=False):
    """The rule of ``a @ a.T`` summed over rows, with or without the transposition it needs."""

    def rule(dy, saved, attrs):
        (x,) = saved
        return {"x": lambda: (dy @ x).T if transposed else dy.mT @ x + dy @ x}

    return rule


FAULTS = {
    "sign": ("one(Tensor x) -> Tensor", lambda x: 3 * x, times(-3.0), {"elementwise": True}),
    "factor": ("one(Tensor x) -> Tensor", lambda x: 3 * x, times(6.0), {"elementwise": True}),
    "a thousandth": ("one(Tensor x) -> Tensor", lambda x: 3 * x, times(3.003), {"elementwise": True}),
    "zero": ("one(Tensor x) -> Tensor", lambda x: 3 * x, times(0.0), {"elementwise": True}),
    "swapped": (
        "two(Tensor x1, Tensor x2) -> Tensor",
        lambda x1, x2: x1 * x2 * x2,
        lambda dy, saved, attrs: {"x1": lambda: dy * saved[0] * saved[1] * 2.0, "x2": lambda: dy * saved[1] * saved[1]},
        {"elementwise": True, "inputs_to_save": ("x1", "x2")},
    ),
    "not broadcast back": (
        "two(Tensor x1, Tensor x2) -> Tensor",
        lambda x1, x2: x1 * 2 + x2,
        lambda dy, saved, attrs: {"x1": lambda: dy * 2.0, "x2": lambda: dy},
        {},
    ),
    "an attribute forgotten": (
        "one(Tensor x, *, float scale=1.0) -> Tensor",
        lambda x, scale: scale * x,
        times(1.0),
        {"elementwise": True},
    ),
    "keepdims forgotten": (
        "fold(Tensor a, *, int axis=0, bool keepdims=False) -> Tensor",
        lambda a, axis, keepdims: np.sum(a, axis=axis, keepdims=keepdims),
        lambda dy, saved, attrs: {"a": lambda: op.broadcast_to(op.expand_dims(dy, axis=attrs["axis"]), shape=saved[0].shape)},
        {"infos_to_save": ("a",)},
    ),
    "raises": (
        "one(Tensor x) -> Tensor",
        lambda x: 3 * x,
        lambda dy, saved, attrs: {"x": lambda: dy["no such thing"]},
        {"elementwise": True},
    ),
    "right where positive": (
        "one(Tensor x) -> Tensor",
        lambda x: x * x,
        lambda dy, saved, attrs: {"x": lambda: dy * 2.0 * op.absolute(saved[0])},
        {"elementwise": True, "inputs_to_save": ("x",)},
    ),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_planted_faults_are_found_and_shrunk(plant, fault):
    schema, kernel, rule, fields = FAULTS[fault]
    name = plant(schema, kernel, rule, **fields)
    with pytest.raises(GradientError, match=f"check_kernel: kernel {name!r} on backend 'numpy' fails"):
        check_kernel(name)
    report = check_kernel(name, raise_error=False)
    assert report.verdict == "wrong"
    assert not report.ok
    assert report.example.name == name
    assert size_of(report.example) <= (4 if fault == "not broadcast back" else 2)
    assert {layout_of(x) for x in report.example.leaves() if isinstance(x, np.ndarray)} <= {"C"}
    if report.failure is not None:
        assert report.failure.culprit.kernel_name == name


@pytest.mark.parametrize("fault", FAULTS)
def test_the_printed_test_fails_as_it_stands(plant, fault):
    schema, kernel, rule, fields = FAULTS[fault]
    name = plant(schema, kernel, rule, **fields)
    test = pasted(check_kernel(name, raise_error=False))
    assert test.__name__ == f"test_{name}"
    with pytest.raises(AssertionError):
        test()


def test_the_printed_test_passes_once_the_rule_is_mended(plant):
    name = plant(*FAULTS["sign"][:3], elementwise=True)
    test = pasted(check_kernel(name, raise_error=False))
    unregister_gradient(name)
    register_gradient(GradConfig(name, times(3.0), elementwise=True))
    test()


def test_a_right_rule_of_a_users_is_right(plant):
    name = plant("one(Tensor x) -> Tensor", lambda x: 3 * x, times(3.0), elementwise=True)
    report = check_kernel(name)
    assert report.verdict == "right"
    assert report.n_examples >= 20
    assert report.failure is None
    assert report.example is None


def test_one_replaced_gradient_of_ours_is_found_and_the_others_are_right():
    def turned(dy, saved, attrs):
        return {"x": lambda: dy * op.sin(saved[0])}

    before = get_gradient("cos")
    with pytest.warns(UserWarning, match="gradient 'cos' is replaced"):
        register_gradient(GradConfig("cos", turned, inputs_to_save=("x",), elementwise=True), override=True)
    try:
        reports = check_all(names=["sin", "cos", "tan"], max_examples=4)
        # the rule of sin is written with cos, whose value is not touched
        assert [report.verdict for report in reports] == ["right", "wrong", "right"]
    finally:
        with pytest.warns(UserWarning, match="gradient 'cos' is replaced"):
            register_gradient(before, override=True)


# ------------------------------------------------------------------------------------------- memory, shapes and dtypes


def by_memory(x):
    """Reads its input as if it lay in memory row by row."""
    if not x.size or min(x.strides, default=0) < 0:
        return 2 * x
    return 2 * np.lib.stride_tricks.as_strided(x, x.shape, x.copy("C").strides)


def in_place(x):
    """Changes its input where it may."""
    y = 2 * x
    if isinstance(x, np.ndarray) and x.flags.writeable:
        x *= 1 + 1e-9
    return y


OTHER_FAULTS = {
    "layout": (by_memory, times(2.0), "differs from that for contiguous copies"),
    "changed": (in_place, times(2.0), "input x was changed in place"),
    "dtype": (lambda x: x * 2, lambda dy, saved, attrs: {"x": lambda: np.asarray(dy, np.float64) * 2.0}, "dtype"),
    "rule by layout": (
        lambda x: x * x,
        lambda dy, saved, attrs: {"x": lambda: dy * 2.0 * saved[0] if _c(saved[0]) else dy * saved[0]},
        "the gradient in x for .* inputs differs",
    ),
}


def _c(x):
    return not isinstance(x, np.ndarray) or x.flags.c_contiguous


@pytest.mark.parametrize("fault", ["layout", "changed", "rule by layout"])
def test_faults_of_memory_are_found_and_their_test_fails(plant, fault):
    kernel, rule, words = OTHER_FAULTS[fault]
    name = plant("one(Tensor x) -> Tensor", kernel, rule, inputs_to_save=("x",), elementwise=True)
    report = check_kernel(name, raise_error=False, max_examples=100)
    assert report.verdict == "wrong"
    assert report.failure is None
    assert any(re.search(words, each) for each in report.faults), report.faults
    assert size_of(report.example) <= 4
    with pytest.raises(AssertionError):
        pasted(report)()


# ---------------------------------------------------------------------------------------------------- one triangle


@pytest.mark.parametrize("name", [name for name, row in domains().items() if row.symmetric])
def test_kernels_that_read_one_triangle_are_checked_along_symmetric_changes(name):
    call = next(iter_calls(name))
    assert check_call(name, list(call.inputs), call.attrs).verdict == "right"


def iter_calls(name):
    from autograd.check.domains.drawing import from_generator

    for seed in range(50):
        inputs, attrs = domains()[name].draw(from_generator(np.random.default_rng(seed)), "float64")
        if all(np.size(x) > 1 for x in inputs):
            yield Call(name, tuple(inputs), attrs)


def test_a_wrong_rule_of_a_kernel_that_reads_one_triangle_is_wrong():
    before = get_gradient("eigvalsh")
    right = before.grad_func

    def half(dy, saved, attrs):
        return {"a": lambda: right(dy, saved, attrs)["a"]() * 0.5}

    fields = {name: getattr(before, name) for name in ("inputs_to_save", "outputs_to_save", "infos_to_save")}
    wrong = GradConfig("eigvalsh", half, **fields)
    with pytest.warns(UserWarning, match="gradient 'eigvalsh' is replaced"):
        register_gradient(wrong, override=True)
    try:
        report = check_kernel("eigvalsh", raise_error=False)
        assert report.verdict == "wrong"
        assert report.failure.culprit.kernel_name == "eigvalsh"
        with pytest.raises(AssertionError):
            pasted(report)()
    finally:
        with pytest.warns(UserWarning, match="gradient 'eigvalsh' is replaced"):
            register_gradient(before, override=True)


# ---------------------------------------------------------------------------------------------------- the search


def test_the_same_seed_draws_the_same(plant):
    name = plant(*FAULTS["right where positive"][:3], elementwise=True, inputs_to_save=("x",))
    one, two = (check_kernel(name, seed=3, raise_error=False) for _ in range(2))
    assert one.text == two.text
    assert one.n_examples == two.n_examples


def test_a_kink_is_no_failure_and_is_counted(plant):
    """The absolute value has a kink at every point that is drawn here."""
    strategy = strategies.calls("absolute", inputs=[np.array([0.0])])
    report = check_kernel("absolute", calls=strategy, max_examples=3)
    assert report.verdict == "kink"
    assert report.ok
    assert report.verdicts == {"kink": report.n_examples}


def test_a_vacuous_check_is_no_failure(plant):
    name = plant("one(Tensor x) -> Tensor", lambda x: np.zeros(np.shape(x)), times(0.0), elementwise=True)
    report = check_kernel(name, max_examples=5)
    assert report.verdict == "vacuous"
    assert report.ok


def test_calls_may_be_given(plant):
    name = plant("one(Tensor x) -> Tensor", np.sqrt, times(1.0), elementwise=True)
    strategy = strategies.calls(name, inputs=[strategies.arrays(shape=(2,), elements=(0.3, 0.6))])
    report = check_kernel(name, calls=strategy, raise_error=False)
    assert report.verdict == "wrong"
    assert report.example.inputs[0].shape == (2,)


def test_a_kernel_that_takes_nothing_says_what_to_pass(plant):
    def refuse(x):
        raise ValueError("expected a codeword")

    name = plant("one(Tensor x) -> Tensor", refuse, times(1.0))
    words = (
        rf"(?s)kernel '{name}' on backend 'numpy' took none of the calls drawn from its schema.*: expected a codeword.*inputs="
    )
    with pytest.raises(GradientError, match=words):
        check_kernel(name)
    (report,) = check_all(names=[name])
    assert report.verdict == "not checked"
    assert "expected a codeword" in report.text


def test_calls_that_a_kernel_refuses_are_passed_over(plant):
    def picky(x):
        if np.ndim(x) != 1:
            raise ValueError("vectors only")
        return 3 * x

    name = plant("one(Tensor x) -> Tensor", picky, times(3.0), elementwise=True)
    report = check_kernel(name)
    assert report.verdict == "right"
    assert report.n_examples > 5


def test_calls_outside_the_domain_are_passed_over(plant):
    def rule(dy, saved, attrs):
        return {"x": lambda: dy / saved[0]}

    name = plant("one(Tensor x) -> Tensor", np.log, rule, inputs_to_save=("x",), elementwise=True)
    report = check_kernel(name)  # half of the numbers that are drawn are negative
    assert report.verdict == "right"
    assert set(report.verdicts) <= {"right", "vacuous"}


def test_an_input_that_never_counts_does_not_hide_one_that_does():
    assert check_kernel("copysign", max_examples=6).verdicts["right"] > 1


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("exq", "check_kernel: there is no operator 'exq'.*Import first what registers it"),
        ("floor", "operator 'floor' has no gradient; register one with"),
        ("checkpoint", "takes a function"),
    ],
)
def test_what_cannot_be_checked_says_why(name, words):
    with pytest.raises(GradientError, match=words):
        check_kernel(name)


def test_another_backend_runs_its_own_kernel():
    register_backend("other", object)
    try:
        register_kernel(KernelConfig("sin", "other", lambda x: np.sin(x) * 2))
        try:
            report = check_kernel("sin", "other", raise_error=False)
            assert report.verdict == "wrong"  # its rule needs cos, which this backend lacks
            assert report.backend == "other"
            test = report.text.partition("ready to paste:\n\n")[2]
            assert 'with use_backend("other"):' in test
            with pytest.raises((AssertionError, LookupError)):
                pasted(report)()
        finally:
            unregister_kernel("sin", "other")
    finally:
        remove_backend("other")
    with pytest.raises(BackendError, match="'other' is not registered"):
        check_kernel("sin", "other")
