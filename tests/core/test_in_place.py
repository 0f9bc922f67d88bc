"""Changes in place between the forward and the backward pass: an error or the right gradient, never a wrong one."""

from __future__ import annotations

import numpy as np
import pytest

from autograd import (
    InPlaceError,
    NotTrackedError,
    Tape,
    checkpoint,
    custom_gradient,
    grad,
    make_hvp,
    make_jvp,
    make_vjp,
    stop_gradient,
)
from autograd import operators as op
from autograd.errors import GradtapeError


def fresh() -> np.ndarray:
    return np.array([1.0, 2.0, 3.0])


# ------------------------------------------------------------------------------------------------ the writing line


@pytest.mark.parametrize(
    "write",
    [
        lambda a: a.__setitem__(0, 9.0),
        lambda a: a.__iadd__(1.0),
        lambda a: a[1:].__setitem__(0, 9.0),
        lambda a: a.reshape(3, 1).__setitem__(0, 9.0),
        lambda a: a.view().fill(0.0),
        lambda a: np.add(a, 1.0, out=a),
        lambda a: a.sort(),
        lambda a: np.copyto(a, 0.0),
    ],
    ids=["item", "augmented", "slice", "reshape", "view", "out", "method", "copyto"],
)
@pytest.mark.parametrize("role", ["source", "constant"])
def test_a_write_through_the_array_or_a_later_view_fails_at_once(write, role):
    source, constant = fresh(), fresh()
    with Tape() as tape:
        x = tape.watch(source)
        y = op.sum(x * x * constant)
    with pytest.raises(ValueError, match="read-only"):
        write(source if role == "source" else constant)
    np.testing.assert_array_equal(tape.gradient(y, x), 2 * fresh() ** 2)
    write(source if role == "source" else constant)  # all is writable again


def test_watching_a_view_locks_what_it_is_a_view_of():
    base = np.arange(6.0)
    with Tape() as tape:
        x = tape.watch(base[:3])
        y = op.sum(x * x)
    with pytest.raises(ValueError, match="read-only"):
        base[0] = 9.0
    tape.gradient(y, x)
    base[0] = 9.0


def test_an_index_array_is_locked_and_a_list_is_copied():
    index, listed = np.array([0, 1]), [0, 1]
    with Tape() as tape:
        x = tape.watch(fresh())
        y = op.sum(x[index] * np.array([1.0, 10.0])) + op.sum(x[listed] * np.array([1.0, 10.0]))
    with pytest.raises(ValueError, match="read-only"):
        index[0] = 2
    listed[0] = 2
    np.testing.assert_array_equal(tape.gradient(y, x), [2.0, 20.0, 0.0])
    index[0] = 2


def test_arrays_inside_a_tuple_index_are_locked():
    rows = np.array([0, 1])
    with Tape() as tape:
        x = tape.watch(np.ones((2, 2)))
        y = op.sum(x[rows, rows])
    with pytest.raises(ValueError, match="read-only"):
        rows[0] = 1
    tape.gradient(y, x)
    rows[0] = 1


def test_a_list_attribute_changed_later_does_not_reach_the_gradient():
    axes = [1, 0, 2]
    with Tape() as tape:
        x = tape.watch(np.arange(24.0).reshape(2, 3, 4))
        y = op.transpose(x, axes=axes)
    axes[:] = [0, 1, 2]
    dy = np.arange(24.0).reshape(3, 2, 4)
    np.testing.assert_array_equal(tape.gradient(y, x, dy=dy), dy.transpose(1, 0, 2))


# ------------------------------------------------------------------------------------------------ values of kernels


def escape_value(tape, y):
    return y.value


def escape_paused(tape, y):
    with tape.stop_recording():
        return y.reshape(-1)


def escape_closed(tape, y):
    tape.__exit__(None, None, None)
    return y[:1]


def escape_stop_gradient(tape, y):
    return stop_gradient(y)


@pytest.mark.parametrize(
    "escape", [escape_value, escape_paused, escape_closed, escape_stop_gradient], ids=lambda each: each.__name__[7:]
)
@pytest.mark.parametrize("force", [False, True], ids=["write", "flag set back, then write"])
def test_a_saved_value_of_a_kernel_cannot_be_changed_from_outside(escape, force):
    with Tape() as tape:
        x = tape.watch(fresh())
        y = x * 2.0
        z = op.sum(y * y)
        leaked = escape(tape, y)
        if force:
            with pytest.raises(ValueError, match="WRITEABLE"):
                leaked.flags.writeable = True
        with pytest.raises(ValueError, match="read-only"):
            leaked[0] = 100.0
    np.testing.assert_array_equal(tape.gradient(z, x), 8 * fresh())


def test_a_saved_value_made_writable_through_its_base_is_found():
    with Tape() as tape:
        x = tape.watch(fresh())
        y = x * 2.0
        z = op.sum(y * y)
    base = y.value.base
    base.flags.writeable = True
    base[0] = 100.0
    with pytest.raises(InPlaceError, match="multiply"):
        tape.gradient(z, x)


def test_a_value_of_a_closed_tape_is_locked_by_the_tape_that_saves_it():
    array = fresh()
    with Tape() as first:
        old = first.watch(array)
        y = op.sum(old * old)
    first.gradient(y, old)
    with Tape() as second:
        x = second.watch(fresh())
        z = op.sum(x * old)
    with pytest.raises(ValueError, match="read-only"):
        array[0] = 100.0
    np.testing.assert_array_equal(second.gradient(z, x), fresh())
    array[0] = 100.0


@pytest.mark.parametrize("wrap", [checkpoint, lambda f: custom_gradient(lambda x, a: (f(x, a), lambda dy: (dy * a, None)))])
def test_plain_arguments_of_checkpoint_and_custom_gradient_are_locked(wrap):
    array = fresh()
    with Tape() as tape:
        x = tape.watch(fresh())
        y = op.sum(wrap(lambda x, a: x * a)(x, array))
    with pytest.raises(ValueError, match="read-only"):
        array[0] = 100.0
    np.testing.assert_array_equal(tape.gradient(y, x), fresh())
    array[0] = 100.0


# ------------------------------------------------------------------------------------------------ what is handed out


def test_gradients_are_writable_and_share_memory_with_nothing():
    source, other, dy = fresh(), fresh(), np.ones(3)
    with Tape(persistent=True) as tape:
        a, b = tape.watch(source), tape.watch(other)
        y = a + b
        z = op.broadcast_to(op.sum(a), shape=(3,)) + b
    for target in (y, z):
        gradients = [*tape.gradient(target, [a, b, a], dy=dy), tape.gradient(target, a, dy=dy)]
        for position, each in enumerate(gradients):
            assert each.flags.writeable
            for array in (dy, source, other, a._value, *gradients[:position]):
                assert not np.shares_memory(each, array)
    np.testing.assert_array_equal(dy, np.ones(3))


def test_the_gradient_of_the_target_in_itself_is_not_dy():
    dy = np.ones(3)
    with Tape() as tape:
        x = tape.watch(fresh())
        y = x * 1.0
    g = tape.gradient(y, y, dy=dy)
    assert not np.shares_memory(g, dy)


def test_an_array_that_a_custom_gradient_returns_is_not_handed_out():
    constant = fresh()
    dot = custom_gradient(lambda x: (op.sum(x * constant), lambda dy: constant))
    g = grad(dot)(np.ones(3))
    g[...] = 0.0
    np.testing.assert_array_equal(constant, fresh())


def test_the_gradient_that_make_hvp_returns_is_not_a_saved_value():
    f = custom_gradient(lambda x: (op.sum(op.sin(x)), lambda dy: op.exp(op.sin(x))))
    product, g = make_hvp(f)(fresh())
    before = product(np.ones(3))
    g[...] = 0.0
    np.testing.assert_array_equal(product(np.ones(3)), before)


def test_values_that_make_vjp_and_make_jvp_return_are_not_saved_values():
    pull_back, y = make_vjp(op.exp)(fresh())
    y[...] = 0.0
    np.testing.assert_array_equal(pull_back(np.ones(3)), np.exp(fresh()))
    push = make_jvp(op.exp)(fresh())
    push(np.ones(3))[0][...] = 0.0
    np.testing.assert_array_equal(push(np.ones(3))[1], np.exp(fresh()))


def test_a_learning_loop_in_place():
    W = np.array([5.0, -3.0])
    for _ in range(200):
        with Tape() as tape:
            w = tape.watch(W)
            loss = op.sum((w - np.array([1.0, 2.0])) * (w - np.array([1.0, 2.0])))
        g = tape.gradient(loss, w)
        W -= 0.1 * g
    np.testing.assert_allclose(W, [1.0, 2.0], atol=1e-12)


def test_a_learning_loop_on_views_of_one_buffer():
    buffer = np.zeros(3)
    w, b = buffer[:2], buffer[2:]
    for _ in range(300):
        with Tape() as tape:
            wt, bt = tape.watch((w, b))
            error = op.sum(wt * np.array([1.0, 2.0])) + bt - 3.0
            loss = op.sum(error * error)
        gw, gb = tape.gradient(loss, (wt, bt))
        w -= 0.05 * gw
        b -= 0.05 * gb
    assert w @ [1.0, 2.0] + b[0] == pytest.approx(3.0)


# ------------------------------------------------------------------------------------------------ a += t


def test_augmented_assignment_of_a_tensor_to_a_plain_array_rebinds_and_spoils_the_old_array():
    a = np.ones(3)
    alias = a

    def f(x):
        nonlocal a
        a = np.ones(3)
        old = a
        a += x
        assert np.isnan(old).all(), "a stale alias is loud"
        return op.sum(a * a)

    np.testing.assert_array_equal(grad(f)(fresh()), 2 * (1 + fresh()))
    assert alias is not a


def test_augmented_assignment_of_a_tensor_to_an_integer_array_raises():
    a = np.ones(3, int)
    with Tape() as tape:
        x = tape.watch(fresh())
        with pytest.raises(NotTrackedError, match="int64"):
            a += x
        with pytest.raises(GradtapeError, match="out is a plain array of dtype int64"):
            np.add(a, x, out=a)
    np.testing.assert_array_equal(a, 1)


def test_augmented_assignment_to_a_saved_array_raises_and_keeps_it():
    a = fresh()
    with Tape() as tape:
        x = tape.watch(fresh())
        y = op.sum(x * a)
        with pytest.raises((ValueError, InPlaceError)):
            a += x
    np.testing.assert_array_equal(tape.gradient(y, x), fresh())
    np.testing.assert_array_equal(a, fresh())
