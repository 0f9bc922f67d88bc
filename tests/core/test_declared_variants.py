"""Variants that somebody declared or registered: only in place, mutable, or beside what is generated."""

from __future__ import annotations

import numpy as np
import pytest

from autograd import NotTrackedError, Tape, run_kernel
from autograd import operators as op
from registry import (
    GradConfig,
    KernelConfig,
    RegistrationError,
    copy_registered_kernels,
    declare,
    get_kernels_for_backend,
    register_backend,
    register_gradient,
    register_kernel,
    remove_backend,
    undeclare,
    unregister_gradient,
    unregister_kernel,
    use_backend,
)

X = np.array([1.0, 2.0, 4.0])


def fresh():
    return X.copy()


@pytest.fixture
def tape():
    with Tape(persistent=True) as opened:
        yield opened
    opened._free()


@pytest.fixture
def doubling_in_place():
    """An operator of which only the in-place variant was written: ``doubled_`` multiplies by two where it stands."""

    def doubled_(x):
        x *= 2
        return x

    declare("doubled_(Tensor(a!) x) -> Tensor(a!)")
    register_kernel(KernelConfig("doubled_", "numpy", doubled_))
    register_gradient(GradConfig("doubled", lambda dy, saved, attrs: {"x": lambda: 2 * dy}))
    yield
    unregister_gradient("doubled")
    unregister_kernel("doubled_", "numpy")
    undeclare("doubled_")


@pytest.mark.usefixtures("doubling_in_place")
def test_an_operator_that_was_written_in_place(tape):
    x = fresh()
    assert op.doubled(x).tolist() == [2.0, 4.0, 8.0]
    assert x.tolist() == X.tolist()
    out = np.empty(3)
    assert op.doubled(x, out=out) is out
    assert out.tolist() == [2.0, 4.0, 8.0]
    assert op.doubled_(x) is x
    assert x.tolist() == [2.0, 4.0, 8.0]
    w = tape.watch(fresh())
    u = w + 1.0
    op.doubled_(u)
    assert [node.kernel_name for node in tape.nodes] == ["add", "doubled"]
    np.testing.assert_array_equal(tape.gradient(op.sum(u * w), w), 4 * X + 2)  # of 2 (w + 1) w


@pytest.fixture
def running_mean():
    """A mutable operator: it returns ``x - state`` and moves the state half way to ``x``."""

    def centred(x, state):
        y = x - state
        state += y / 2
        return y

    declare("centred(Tensor x, Tensor(a!) state) -> Tensor")
    register_kernel(KernelConfig("centred", "numpy", centred))
    register_gradient(
        GradConfig(
            "centred_functional",
            lambda dy, saved, attrs: {"x": lambda: dy[0] + dy[1] / 2, "state": lambda: dy[1] / 2 - dy[0]},
        )
    )
    yield
    unregister_gradient("centred_functional")
    unregister_kernel("centred", "numpy")
    undeclare("centred")


@pytest.mark.usefixtures("running_mean")
def test_a_mutable_operator(tape):
    state = np.zeros(3)
    assert op.centred(fresh(), state).tolist() == X.tolist()
    assert state.tolist() == [0.5, 1.0, 2.0]
    y, moved = op.centred_functional(fresh(), state)
    assert y.tolist() == [0.5, 1.0, 2.0]
    assert moved.tolist() == [0.75, 1.5, 3.0]
    assert state.tolist() == [0.5, 1.0, 2.0]
    w, s = tape.watch(fresh()), tape.watch(np.zeros(3))
    first, second = op.centred(w, s), op.centred(w, s)
    np.testing.assert_array_equal(second.value, X / 2)
    np.testing.assert_array_equal(s.value, 0.75 * X)
    np.testing.assert_array_equal(tape.gradient(op.sum(first), w), np.ones(3))
    np.testing.assert_array_equal(tape.gradient(op.sum(second), w), np.full(3, 0.5))
    np.testing.assert_array_equal(tape.gradient(op.sum(second), s), np.full(3, -0.5))


def test_an_out_variant_alone_cannot_be_recorded(tape):
    declare("noted.out(Tensor x, *, Tensor(a!) out) -> Tensor(a!)")
    register_kernel(KernelConfig("noted.out", "numpy", lambda x, out: np.copyto(out, x) or out))
    try:
        assert run_kernel("noted.out", {"x": X, "out": np.empty(3)}).tolist() == X.tolist()
        with pytest.raises(NotTrackedError, match=r"'noted.out' has no functional form"):
            run_kernel("noted.out", {"x": tape.watch(fresh()), "out": np.empty(3)})
    finally:
        unregister_kernel("noted.out", "numpy")
        undeclare("noted.out")


def test_a_gradient_belongs_to_the_functional_form():
    def rule(dy, saved, attrs):
        return {"x1": lambda: dy}

    for name in ("add_", "add.out"):
        with pytest.raises(RegistrationError, match=f"'{name}': that is the .* variant .* register it for 'add'"):
            register_gradient(GradConfig(name, rule))


def test_a_kernel_that_is_replaced_is_replaced_in_all_variants():
    copy_registered_kernels("numpy", "tenfold")
    register_backend("tenfold", object)
    try:
        with use_backend("tenfold"):
            assert op.negative(1.0) == -1.0
            assert op.negative_(np.ones(2)).tolist() == [-1.0, -1.0]
            with pytest.warns(UserWarning, match="'negative'"):
                register_kernel(KernelConfig("negative", "tenfold", lambda x: x * -10.0), override=True)
            assert op.negative_(np.ones(2)).tolist() == [-10.0, -10.0]
            assert op.negative(np.ones(2), out=np.empty(2)).tolist() == [-10.0, -10.0]
            assert run_kernel("negative.out", {"x": 1.0, "out": np.empty(())}) == -10.0
        assert op.negative_(np.ones(2)).tolist() == [-1.0, -1.0]
    finally:
        remove_backend("tenfold")
        for config in get_kernels_for_backend("tenfold"):
            unregister_kernel(config.kernel_name, "tenfold")


def test_a_registered_variant_goes_before_a_generated_one():
    calls = []

    def counted(x, *, out):
        calls.append("out")
        np.negative(x, out=out)

    register_kernel(KernelConfig("negative.out", "numpy", counted))
    try:
        out = np.empty(3)
        assert op.negative(X, out=out) is out
        assert out.tolist() == (-X).tolist()
        assert calls == ["out"]
        op.negative_(out)
        assert out.tolist() == X.tolist()
        assert calls == ["out", "out"]
    finally:
        unregister_kernel("negative.out", "numpy")
    op.negative(X, out=out)
    assert calls == ["out", "out"]
