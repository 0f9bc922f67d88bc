"""Arrays that a tape needs are locked: who holds a lock, and what is found where a lock was undone or could not be set."""

from __future__ import annotations

import pickle
import subprocess
import sys

import numpy as np
import pytest

from autograd import InPlaceError, Tape, grad, locks, make_jvp
from autograd import operators as op


def fresh() -> np.ndarray:
    return np.array([1.0, 2.0, 3.0])


# ------------------------------------------------------------------------------------------------ who holds the lock


def test_two_tapes_share_an_array():
    array = fresh()
    with Tape() as first:
        a = first.watch(array)
        y = op.sum(a * a)
    with Tape() as second:
        b = second.watch(array)
        z = op.sum(op.sin(b))
    first.gradient(y, a)
    assert not array.flags.writeable, "the second tape still needs it"
    second.gradient(z, b)
    assert array.flags.writeable


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 1, 0), (1, 0, 2), (1, 2, 0)])
def test_tapes_share_an_array_and_views_of_it_and_are_freed_in_any_order(order):
    base = np.arange(6.0)
    front, back = base[:4], base[2:]  # taken before any lock
    arrays = [base, front, back]
    tapes = []
    for array in arrays:
        with Tape() as tape:
            x = tape.watch(array)
            y = op.sum(x * x)
        tapes.append((tape, y, x))
    for position in order:
        tape, y, x = tapes[position]
        np.testing.assert_array_equal(tape.gradient(y, x), 2 * arrays[position])
        if position != order[-1]:
            assert not base.flags.writeable, "another tape still needs it"
    assert [each.flags.writeable for each in arrays] == [True] * 3


def test_a_writable_view_of_an_array_that_the_user_froze():
    base = fresh()
    view = base[:]
    base.flags.writeable = False
    assert grad(lambda x: op.sum(x * x))(view)[0] == 2.0
    assert view.flags.writeable
    assert not base.flags.writeable


def test_an_array_that_was_read_only_stays_so():
    array = fresh()
    array.flags.writeable = False
    for _ in range(2):
        grad(lambda x: op.sum(x * x))(array)
        assert not array.flags.writeable


def test_all_is_writable_after_a_gradient_a_failure_or_the_end_of_the_tape():
    source, constant = fresh(), fresh()
    with Tape() as tape:
        x = tape.watch(source)
        y = op.sum(x * constant)
    tape.gradient(y, x)
    assert source.flags.writeable
    assert constant.flags.writeable
    with pytest.raises(ZeroDivisionError), Tape() as tape:  # noqa: PT012
        tape.watch(source) * constant
        1 / 0  # noqa: B018
    assert source.flags.writeable
    assert constant.flags.writeable
    with Tape() as tape:
        tape.watch(source) * constant
    del tape
    assert source.flags.writeable
    assert constant.flags.writeable


def test_a_tape_that_the_collector_frees_while_arrays_are_being_locked():
    """``__del__`` may run inside ``lock`` in the same thread: any allocation can start the collector. It must not wait there."""
    code = """
import gc
import numpy as np
from autograd import Tape, locks

gc.disable()
mine, other = np.ones(3), np.ones(3)
with Tape() as tape:
    tape.watch(mine)
loop = [tape]
loop.append(loop)
del tape, loop

def arrays():
    yield other
    gc.collect()
    yield other

locks.lock(arrays())
assert mine.flags.writeable, "what the finalizer could not unlock at once is unlocked right afterwards"
assert not other.flags.writeable
locks.unlock([other, other])
assert other.flags.writeable
assert locks.locked_arrays() == 0
"""
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)


# ------------------------------------------------------------------------------------------------ what the flag cannot see


def test_an_older_alias_is_found_with_keep_all():
    array = fresh()
    alias = array[:]
    with Tape(keep="all", sources=True) as tape:
        x = tape.watch(array)
        y = op.sum(op.sin(x))  # this line is named
    alias[0] = 9.0
    with pytest.raises(InPlaceError) as caught:
        tape.gradient(y, x)
    message = str(caught.value)
    for part in ("'sin'", "saved x ", "(3,)", "this line is named", "copy"):
        assert part in message
    assert array.flags.writeable, "an error of the walk frees the tape too"


def test_a_permutation_through_an_older_alias_is_found_with_keep_all():
    array = fresh()
    alias = array[:]
    with Tape(keep="all") as tape:
        x = tape.watch(array)
        y = op.sum(op.sin(x))
    alias[:] = alias[::-1].copy()
    with pytest.raises(InPlaceError):
        tape.gradient(y, x)


def test_an_index_array_changed_through_an_older_alias_is_found_with_keep_all():
    index = np.array([0, 1])
    alias = index[:]
    with Tape(keep="all") as tape:
        x = tape.watch(fresh())
        y = op.sum(x[index])
    alias[0] = 2
    with pytest.raises(InPlaceError, match=r"getitem.*index.*\(2,\)"):
        tape.gradient(y, x)


def test_a_saved_output_changed_through_its_base_is_found_with_keep_all(fake):
    root = fake("fake_root(Tensor x) -> Tensor", np.sqrt, lambda dy, s, a: {"x": lambda: dy / (2 * s[0])}, outputs_to_save=True)
    with Tape(keep="all") as tape:
        x = tape.watch(fresh())
        y = root(x)
        z = op.sum(y)
    y._value[0] = 9.0
    with pytest.raises(InPlaceError, match=r"fake_root.*output.*\(3,\)"):
        tape.gradient(z, x)


def test_keep_all_finds_nothing_where_nothing_was_changed():
    with Tape(keep="all", persistent=True) as tape:
        x = tape.watch(fresh())
        y = op.sum(op.sin(x)[[0, 1]] * x[np.array([1, 2])])
    expected = np.array([np.cos(1) * 2, np.sin(1) + np.cos(2) * 3, np.sin(2)])
    for _ in range(2):
        np.testing.assert_allclose(tape.gradient(y, x), expected)


@pytest.mark.parametrize("target", ["source", "constant", "base", "index"])
def test_a_flag_set_back_on_purpose_is_found(target):
    source, constant, base, index = fresh(), fresh(), np.arange(6.0), np.array([0, 1, 2])
    with Tape() as tape:
        x = tape.watch(source)
        y = op.sum(op.sin(x) * constant * base[3:] * x[index])
    array = {"source": source, "constant": constant, "base": base, "index": index}[target]
    array.flags.writeable = True
    array[0] = 1
    with pytest.raises(InPlaceError, match="made writable again"):
        tape.gradient(y, x)


def test_a_flag_set_back_names_kernel_input_and_shape():
    source = fresh()
    with Tape() as tape:
        x = tape.watch(source)
        y = op.sum(op.sin(x))
    source.flags.writeable = True
    with pytest.raises(InPlaceError, match=r"'sin'.*saved x.*\(3,\)"):
        tape.gradient(y, x)


def test_forward_mode_finds_a_flag_that_was_set_back():
    source = fresh()
    push = make_jvp(lambda x: op.sum(x * x))(source)
    source.flags.writeable = True
    source[0] = 100.0
    with pytest.raises(InPlaceError):
        push(np.ones(3))


# ------------------------------------------------------------------------------------------------ what cannot be locked


@pytest.mark.parametrize("protocol", range(6))
def test_an_array_that_was_pickled_is_as_good_as_another(protocol):
    """Some come back on memory of a ``bytes`` object, which NumPy would not make writable a second time."""
    x = pickle.loads(pickle.dumps(np.array([1.0, 2.0]), protocol=protocol))
    assert grad(lambda x: op.sum(op.multiply(x, x)))(x).tolist() == [2.0, 4.0]
    x[0] = 5.0
    with Tape() as tape:
        t = tape.watch(x)
        y = op.sum(op.multiply(t, t))

    def change_and_ask():
        x[0] = 7.0
        tape.gradient(y, t)

    with pytest.raises((ValueError, InPlaceError)):
        change_and_ask()


def test_what_cannot_be_unlocked_is_known_by_its_owner():
    assert locks.can_be_unlocked(np.ones(3))
    assert locks.can_be_unlocked(np.ones(3)[1:])
    assert locks.can_be_unlocked(np.frombuffer(bytearray(8), np.uint8))
    assert not locks.can_be_unlocked(np.frombuffer(bytes(8), np.uint8))


def test_a_digest_stands_in_for_a_lock(monkeypatch):
    monkeypatch.setattr(locks, "can_be_unlocked", lambda array: False)
    base = np.array([1.0, 2.0, 3.0])
    x = base[:2]
    with Tape() as tape:
        t = tape.watch(x)
        y = op.sum(op.multiply(t, t))
    x[0] = 7.0
    with pytest.raises(InPlaceError, match=r"'multiply'.*x1.*\(2,\)"):
        tape.gradient(y, t)
