"""The culprit: a wrong rule in the middle of a program is named, with its input, its line, and the kind of its fault."""

import warnings

import numpy
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import autograd.numpy as np
from autograd import GradientError, Tape, checkpoint, custom_gradient
from autograd import operators as op
from autograd.check import check_call, check_gradient
from autograd.extend import defvjp, primitive
from registry import (
    KernelConfig,
    copy_registered_kernels,
    get_kernels_for_backend,
    register_backend,
    register_kernel,
    remove_backend,
    unregister_kernel,
    use_backend,
)
from tests.check.faults import each_thunk, one_thunk, planted

rng = numpy.random.default_rng(3)
X = rng.normal(size=4)
W = rng.normal(size=(3, 4))
SQUARE = rng.normal(size=(3, 3))


def program(x, w):
    h = np.tanh(np.dot(w, x))
    z = h * np.sin(h) + np.exp(-h)
    return np.sum(np.log(1.0 + z * z))


PLANTED = [
    ("sin", each_thunk(lambda g: -g), "x", "wrong sign", "h * np.sin(h)"),
    ("tanh", each_thunk(lambda g: 2.0 * g), "x", "factor 2", "h = np.tanh"),
    ("exp", each_thunk(lambda g: 0.5 * g), "x", "half", "np.exp(-h)"),
    ("tanh", each_thunk(lambda g: 1.001 * g), "x", "a factor of 1.001", "h = np.tanh"),
    ("log", each_thunk(lambda g: 0.0 * g), "x", "zero where it should not be", "np.log(1.0"),
    ("exp", lambda gradients, dy, saved: {"x": lambda: saved[0] + 0.0}, "x", "not scaled by dy", "np.exp(-h)"),
    ("exp", lambda gradients, dy, saved: {"x": lambda: dy * dy * saved[0]}, "x", "not linear in dy", "np.exp(-h)"),
    ("dot", one_thunk("b", lambda g: g[..., ::-1]), "b", "reversed", "np.dot(w, x)"),
    ("dot", one_thunk("a", lambda g: np.reshape(np.swapaxes(g, -1, -2), g.shape)), "a", "transposed", "np.dot(w, x)"),
    (
        "multiply",
        lambda gradients, dy, saved: {"x1": gradients["x2"], "x2": gradients["x1"]},
        "x",
        "swapped inputs: it is the gradient for x",
        "h * np.sin(h)",
    ),
    (
        "sin",
        each_thunk(lambda g: np.where(numpy.arange(3) == 1, 0.0, g)),
        "x[1]",
        "zero where it should not be, in 1 of 3",
        "np.sin(h)",
    ),
    (
        "sin",
        each_thunk(lambda g: np.where(numpy.arange(3) == 2, -g, g)),
        "x[2]",
        "in 1 of 3 elements, by the wrong sign",
        "np.sin(h)",
    ),
    ("negative", each_thunk(lambda g: g * numpy.nan), "x", "", "np.exp(-h)"),
    ("sin", lambda gradients, dy, saved: {}, "x", "returned none for input 'x'", "np.sin(h)"),
    ("sin", lambda gradients, dy, saved: {"x": lambda: np.ones((7,))}, "x", "wrong shape: its rule raises", "np.sin(h)"),
    ("sin", lambda gradients, dy, saved: {"x": lambda: numpy.ones(3, int)}, "x", "wrong dtype: its rule raises", "np.sin(h)"),
]


@pytest.mark.parametrize(
    ("kernel", "change", "where", "says", "line"), PLANTED, ids=[f"{row[0]}: {row[3] or 'NaN'}" for row in PLANTED]
)
def test_a_planted_fault_is_named(kernel, change, where, says, line):
    with planted(kernel, change):
        report = check_gradient(program, X, W, raise_error=False)
    if not says:
        assert report.verdict == "not finite"
        assert f"rule of kernel '{kernel}'" in str(report)
        assert line in str(report)
        return
    culprit = report.culprit
    assert report.verdict == "wrong"
    assert (culprit.kernel_name, culprit.backend_name) == (kernel, "numpy")
    assert f"{culprit.input_name}{culprit.element}".startswith(where)
    assert says in culprit.diagnosis
    assert line in culprit.source_line
    assert "test_culprit.py" in culprit.source_line
    for part in (kernel, culprit.input_name, says, line):
        assert part in str(report)


def test_the_right_program_has_no_culprit():
    report = check_gradient(program, X, W)
    assert report.ok
    assert report.culprit is None


def test_what_the_rule_gives_and_what_is_expected_are_of_the_kernel_alone():
    """The values are those of the kernel at its own inputs, for the cotangent that arrived, up to its size."""
    with planted("sin", each_thunk(lambda g: 3.0 * g)):
        culprit = check_gradient(lambda x: np.sum(np.sin(np.exp(x))), X, raise_error=False).culprit
    at = int(culprit.element[1:-1])
    assert culprit.expected == pytest.approx(numpy.cos(numpy.exp(X[at])))
    assert culprit.found == pytest.approx(3 * numpy.cos(numpy.exp(X[at])))
    assert culprit.n_wrong == (4, 4)


def test_an_unbroadcast_mean_in_place_of_a_sum():
    def averaged(gradients, dy, saved):
        return {**gradients, "x2": lambda: np.mean(gradients["x2"](), axis=-2, keepdims=True)}

    with planted("multiply", averaged):
        culprit = check_gradient(lambda a, b: np.sum(np.sin(a * b)), W, X[None, :], raise_error=False).culprit
    assert (culprit.kernel_name, culprit.input_name) == ("multiply", "x2")
    assert "missing un-broadcast" in culprit.diagnosis


@pytest.mark.parametrize(("index", "word"), [(0, "first"), (-1, "last")])
def test_an_unbroadcast_that_keeps_one_repetition(index, word):
    def kept(gradients, dy, saved):
        return {**gradients, "x2": lambda: gradients["x2"]()[..., index : index + 1 or None, :]}

    with planted("multiply", kept):
        culprit = check_gradient(lambda a, b: np.sum(np.sin(a * b)), W, X[None, :], raise_error=False).culprit
    assert f"missing un-broadcast: the gradient of the {word} repetition" in culprit.diagnosis


def test_a_missing_conjugate():
    z = X + 1j * X[::-1]
    with planted("multiply", each_thunk(op.conjugate)):
        culprit = check_gradient(lambda z: np.sum(np.real(z * (1 + 2j) * z[0])), z, raise_error=False).culprit
    assert culprit.kernel_name == "multiply"
    assert "missing conjugate" in culprit.diagnosis


def test_a_transposed_square():
    with planted("inv", each_thunk(lambda g: np.swapaxes(g, -1, -2))):
        culprit = check_gradient(
            lambda a: np.sum(np.linalg.inv(a) * SQUARE), SQUARE + 5 * numpy.eye(3), raise_error=False
        ).culprit
    assert (culprit.kernel_name, culprit.diagnosis) == ("inv", "transposed")


def test_a_fault_in_single_precision_alone():
    def worse(gradients, dy, saved):
        return {"x": lambda: gradients["x"]() * (1.5 if gradients["x"]().dtype == numpy.float32 else 1.0)}

    with planted("sin", worse):
        assert check_gradient(lambda x: np.sum(np.sin(x * x)), X).ok
        report = check_gradient(lambda x: np.sum(np.sin(x * x)), X.astype(numpy.float32), raise_error=False)
    assert report.verdict == "wrong"
    assert report.culprit.kernel_name == "sin"
    assert "wrong in float32 alone" in report.culprit.diagnosis


def test_a_saved_value_that_was_changed_is_named():
    """Through a view taken before the tape locked the array, which only a digest can see."""
    buffer = numpy.zeros(3)
    view = buffer[:]

    def f(x):
        view[:] = [1.0, 2.0, 3.0]
        first = x * buffer
        view[:] = [4.0, 5.0, 6.0]
        return np.sum(first + np.sin(x) * buffer)

    report = check_gradient(f, X[:3], raise_error=False)
    culprit = report.culprit
    assert report.verdict == "wrong"
    assert (culprit.kernel_name, culprit.input_name, culprit.mode) == ("multiply", "x2", "saved value")
    assert "saved value changed" in culprit.diagnosis
    assert "first = x * buffer" in culprit.source_line


def test_a_rule_that_does_not_follow_a_batch_is_said_to():
    """It counts the axes of ``dy`` from the front: right for one cotangent, wrong for the batch of a Jacobian."""
    with planted("cumsum", lambda gradients, dy, saved: {"a": lambda: np.flip(np.cumsum(np.flip(dy, 0), axis=0), 0)}):
        report = check_gradient(lambda x: np.cumsum(x), numpy.arange(1.0, 7.0), modes=["reverse"], raise_error=False)
    assert report.verdict == "right"
    assert "not for a batch of them, which jacobian and hessian use" in " ".join(str(report).split())


def test_several_wrong_kernels_are_named_the_last_one_first():
    with planted("sin", each_thunk(lambda g: -g)), planted("tanh", each_thunk(lambda g: -g)):
        report = check_gradient(program, X, W, raise_error=False)
    assert report.culprit.kernel_name == "sin"
    assert "'tanh'" in report.culprit.others[0]


def test_a_custom_gradient_is_named_and_one_inside_a_checkpoint():
    @custom_gradient
    def square(x):
        return x * x, lambda dy: dy * 3.0 * x

    for f in (lambda x: np.sum(square(np.sin(x))), lambda x: np.sum(checkpoint(lambda y: square(y) * 2.0)(np.sin(x)))):
        culprit = check_gradient(f, X, raise_error=False).culprit
        assert culprit.kernel_name == "custom_gradient"
        assert "factor of 1.5" in culprit.diagnosis


def test_a_primitive_is_named_by_its_function():
    @primitive
    def weighted(a, x):
        return a * x * x

    defvjp(weighted, lambda ans, a, x: lambda g: g * x * x, lambda ans, a, x: lambda g: g * a * x)
    culprit = check_gradient(lambda a, x: np.sum(weighted(a, np.sin(x))), X, X[::-1].copy(), raise_error=False).culprit
    assert (culprit.function, culprit.input_name) == ("weighted", "inputs[1]")
    assert "half" in culprit.diagnosis


def test_scopes_are_named():
    def f(x):
        with x._tape.scope("layer 1") if hasattr(x, "_tape") else numpy.errstate():
            return np.sum(np.sin(x))

    with planted("sin", each_thunk(lambda g: -g)):
        report = check_gradient(f, X, raise_error=False)
    assert report.culprit.scope == "layer 1"
    assert "in layer 1" in str(report)


def test_where_no_kernel_is_wrong_the_report_says_that_a_value_left_the_tape():
    report = check_gradient(lambda x: np.sum(x * (x.value if hasattr(x, "value") else x)), X, raise_error=False)
    assert report.culprit is None
    assert "a value has left the tape on the way" in str(report)


def test_an_error_of_the_users_own_code_is_not_taken_for_a_rule():
    def f(x):
        if hasattr(x, "value"):
            raise KeyError("mine")
        return np.sum(x)

    with pytest.raises(KeyError, match="mine"):
        check_gradient(f, X)


@pytest.mark.parametrize("where", [0, 999, 1999])
@pytest.mark.parametrize("factor", [2.0, 0.0, -1.0])
def test_a_single_wrong_entry_of_2000_is_found(where, factor):
    mask = numpy.where(numpy.arange(2000) == where, factor, 1.0)
    with planted("sin", each_thunk(lambda g: g * mask)):
        report = check_gradient(lambda x: np.sum(np.sin(x) ** 2), numpy.linspace(0.1, 1.4, 2000), raise_error=False)
    assert report.verdict == "wrong"
    assert report.where == f"argument 0[{where}]"
    assert (report.culprit.kernel_name, report.culprit.element) == ("sin", f"[{where}]")


@settings(deadline=None, max_examples=25)
@given(seed=st.integers(0, 2**31), decades=st.integers(0, 6))
def test_a_single_wrong_entry_is_found_beside_others_of_any_size(seed, decades):
    """Entries are probed beside others of their own size, so that small ones are seen too."""
    generator = numpy.random.default_rng(seed)
    weights = 10.0 ** generator.uniform(-decades, 0, 500)
    where = int(generator.integers(500))
    mask = numpy.where(numpy.arange(500) == where, 2.0, 1.0)
    x = generator.uniform(0.5, 1.0, 500)
    with planted("square", each_thunk(lambda g: g * mask)):
        report = check_gradient(lambda x: np.sum(np.square(x) * weights), x, seed=seed, raise_error=False)
    assert report.where == f"argument 0[{where}]"


def test_a_long_tape_is_searched_too():
    def f(x):
        for _ in range(400):
            x = x + 1e-3 * np.sin(x)
        return np.sum(np.cos(x))

    with planted("cos", each_thunk(lambda g: -g)):
        report = check_gradient(f, X, raise_error=False, modes=["reverse"])
    assert report.culprit.kernel_name == "cos"


# -------------------------------------------------------------------------------------------------- one operator


def test_check_call_is_right_and_takes_attributes_and_lists():
    assert check_call("sum", [W], {"axis": 0, "keepdims": True}).ok
    assert check_call("concatenate", [[W, W[:1]]], {"axis": 0}).ok
    assert check_call("where", [W > 0, W, X], order=2).ok
    assert check_call("svd", [SQUARE]).ok or check_call("svd", [SQUARE]).verdict == "wrong"


def test_check_call_names_the_input():
    with planted("multiply", one_thunk("x2", lambda g: 2.0 * g)):
        culprit = check_call("multiply", [W, X]).culprit
    assert (culprit.kernel_name, culprit.input_name) == ("multiply", "x2")
    assert culprit.node_id is None


def test_the_rule_of_an_empty_result_has_to_run():
    with planted("getitem", one_thunk("a", lambda g: g[..., :1, :])):
        report = check_call("getitem", [numpy.ones((2, 3))], {"index": slice(2, 1)})
    assert report.verdict == "wrong"
    assert "has shape (1, 3), expected (2, 3)" in report.culprit.diagnosis
    assert check_call("getitem", [numpy.ones((2, 3))], {"index": slice(2, 1)}).verdict == "vacuous"


def test_check_call_of_what_cannot_be_checked():
    with pytest.raises(GradientError, match="operator 'floor' has no gradient"):
        check_call("floor", [X])
    with pytest.raises(GradientError, match="no float or array of floats"):
        check_call("multiply", [numpy.arange(3), 2])


def test_no_tape_is_left_open_by_a_rule_that_raises():
    with planted("sin", lambda gradients, dy, saved: {}), Tape() as tape:
        x = tape.watch(2.0)
        report = check_gradient(lambda x: np.sin(x), 1.0, raise_error=False)
        y = x * x
    assert report.verdict == "wrong"
    assert tape.gradient(y, x) == 4.0


def test_a_kernel_that_insists_on_single_precision_is_checked_in_it(fake_backend):
    x = numpy.array([0.3, -1.2], numpy.float32)
    with use_backend(fake_backend):
        report = check_call("exp", [x])
        with planted("exp", each_thunk(lambda g: 2.0 * g)):
            wrong = check_call("exp", [x])
    assert report.verdict == "right", str(report)
    assert wrong.verdict == "wrong"


@pytest.fixture
def fake_backend():
    def exp(x):
        if np.asarray(x).dtype != numpy.float32:
            raise ValueError("only float32 is known here")
        return numpy.exp(x)

    register_backend("single only", lambda: object())
    copy_registered_kernels("numpy", "single only")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        register_kernel(KernelConfig("exp", "single only", exp), override=True)
    yield "single only"
    for config in get_kernels_for_backend("single only"):
        unregister_kernel(config.kernel_name, "single only")
    remove_backend("single only")
