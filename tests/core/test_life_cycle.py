"""The life of a tape: opened once, recording or not, closed, freed; also when something raises on the way."""

from __future__ import annotations

import numpy as np
import pytest

from autograd import GradientError, Tape, TapeError, Tensor
from autograd import operators as op

X = np.array([1.0, 2.0, 3.0])


# ------------------------------------------------------------------------------------------------ recording on and off


def test_stop_recording_gives_bare_values_and_ends():
    with Tape() as tape:
        x = tape.watch(X)
        with tape.stop_recording():
            c = op.sin(x)
        assert type(c) is np.ndarray
        assert len(tape) == 0
        y = op.sum(x * c)
    np.testing.assert_array_equal(tape.gradient(y, x), np.sin(X))


def test_stop_recording_resumes_after_an_exception():
    with Tape() as tape:
        x = tape.watch(2.0)
        with pytest.raises(ZeroDivisionError), tape.stop_recording():
            1 / 0  # noqa: B018
        y = x * x
    assert tape.gradient(y, x) == 4.0


def test_a_tape_that_was_freed_inside_stop_recording_does_not_record_again():
    c = np.ones(3)
    with Tape() as tape:
        x = tape.watch(X)
        y = op.sum(x * x)
        with tape.stop_recording():
            tape.gradient(y, x)
        z = x * c
    assert type(z) is np.ndarray
    assert c.flags.writeable


def test_operations_after_the_tape_was_closed_are_not_recorded():
    with Tape() as tape:
        x = tape.watch(X)
        y = op.sum(x * x)
    assert type(y * 2.0) is np.float64
    assert len(tape) == 2
    np.testing.assert_array_equal(tape.gradient(y, x), 2 * X)


def test_a_tensor_of_a_closed_tape_is_a_constant_of_the_next_one():
    with Tape() as first:
        old = first.watch(3.0)
    with Tape(persistent=True) as second:
        x = second.watch(2.0)
        y = x * old
    assert second.gradient(y, x) == 3.0
    with pytest.raises(GradientError, match="another tape"):
        second.gradient(y, old)


def test_gradient_inside_its_own_block():
    with Tape(persistent=True) as tape:
        x = tape.watch(3.0)
        y = x * x
        before = len(tape)
        assert tape.gradient(y, x) == 6.0
        assert len(tape) == before, "the walk is not recorded on its own tape"
        z = y * x
        assert type(z) is Tensor, "a persistent tape goes on recording"
    assert tape.gradient(z, x) == 27.0


# ------------------------------------------------------------------------------------------------ freeing


def test_a_second_gradient_raises_and_says_persistent():
    with Tape() as tape:
        x = tape.watch(2.0)
        y = x * x
    assert tape.gradient(y, x) == 4.0
    assert tape.saved_bytes() == 0
    assert all(node.saved == {} for node in tape.nodes)
    for ask in (tape.gradient, tape.jacobian, tape.value_and_gradient):
        with pytest.raises(TapeError, match="persistent=True"):
            ask(y, x)
    assert [node.kernel_name for node in tape.nodes] == ["multiply"], "the structure can still be looked at"
    assert len(tape.graph()) == 2


def test_a_persistent_tape_gives_several_gradients():
    with Tape(persistent=True) as tape:
        x = tape.watch(X)
        y = x * x
        z = op.sum(y * y)
    np.testing.assert_array_equal(tape.gradient(z, x), 4 * X**3)
    np.testing.assert_array_equal(tape.gradient(z, x), 4 * X**3)
    np.testing.assert_array_equal(tape.gradient(z, y), 2 * X**2)
    assert tape.saved_bytes() > 0


# ------------------------------------------------------------------------------------------------ exceptions and options


def test_an_exception_closes_the_tape_and_frees_it():
    array = X.copy()
    with pytest.raises(ZeroDivisionError), Tape() as tape:  # noqa: PT012
        x = tape.watch(array)
        op.sum(x * x)
        1 / 0  # noqa: B018
    assert array.flags.writeable
    assert tape.saved_bytes() == 0
    assert type(x * 2.0) is np.ndarray
    with pytest.raises(TapeError, match="block raised"):
        tape.gradient(x, x)


def test_an_exception_in_a_rule_frees_the_tape(fake):
    def rule(dy, saved, attrs):
        raise ZeroDivisionError("in the rule")

    broken = fake("fake_broken(Tensor x) -> Tensor", lambda x: x * 1.0, rule)
    array = X.copy()
    with Tape(persistent=True) as outer:
        a = outer.watch(array)
        with Tape() as tape:
            x = tape.watch(a)
            y = op.sum(broken(x * x))
        with pytest.raises(ZeroDivisionError, match="in the rule") as caught:
            tape.gradient(y, x)
        z = op.sum(a * a)
    assert tape.saved_bytes() == 0
    np.testing.assert_array_equal(outer.gradient(z, a), 2 * X)
    assert not array.flags.writeable, "the outer tape is persistent and still needs it"
    del outer, a, x, y, z, tape, caught
    assert array.flags.writeable


def test_an_exception_in_a_kernel_leaves_the_tape_in_step(fake):
    def kernel(x):
        if x[0] > 0:
            raise ZeroDivisionError("in the kernel")
        return x

    broken = fake("fake_kernel(Tensor x) -> Tensor", kernel, lambda dy, s, a: {"x": lambda: dy}, inputs_to_save=("x",))
    with Tape() as tape:
        x = tape.watch(X)
        with pytest.raises(ZeroDivisionError) as caught:
            broken(x)
        y = op.sum(x * x)
    assert any("fake_kernel" in note and "[3]" in note for note in caught.value.__notes__)
    np.testing.assert_array_equal(tape.gradient(y, x), 2 * X)


def test_a_tape_records_one_run():
    tape = Tape()
    with tape:
        pass
    with pytest.raises(TapeError, match="opened before"), tape:
        pass


@pytest.mark.parametrize("options", [{"keep": "everything"}, {"sources": True}])
def test_wrong_options_raise_and_leave_nothing_behind(options):
    with pytest.raises(TapeError, match="keep"):
        Tape(**options)  # pytest turns an exception in __del__ into a failure


def test_repr_says_what_state_the_tape_is_in():
    tape = Tape()
    assert "not opened" in repr(tape)
    with tape:
        x = tape.watch(1.0)
        assert "recording" in repr(tape)
        y = x * x
    assert "closed" in repr(tape)
    assert "1 record" in repr(tape)
    tape.gradient(y, x)
    assert "freed" in repr(tape)
