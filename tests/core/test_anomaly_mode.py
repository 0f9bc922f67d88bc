"""The block of anomaly mode: which tapes are watched, and that nothing stays behind."""

from __future__ import annotations

import pickle
import threading

import numpy as np
import pytest

import autograd.numpy as anp
from autograd import AnomalyError, InPlaceError, Tape, checkpoint, detect_anomaly, grad, jvp
from autograd import operators as op
from autograd.tape import anomaly_mode


def a(*values):
    return np.array(values, float)


def is_watched():
    with Tape() as tape:
        tape.watch(1.0)
    return tape._watch is not None, tape._keep_all


def test_outside_a_block_tapes_are_as_ever():
    assert is_watched() == (False, False)
    with detect_anomaly():
        assert is_watched() == (True, True)
    assert is_watched() == (False, False)


def test_the_block_ends_with_an_error_too():
    with pytest.raises(ZeroDivisionError), detect_anomaly():
        raise ZeroDivisionError
    assert anomaly_mode.get() is None
    with np.errstate(all="ignore"):
        with detect_anomaly(), pytest.raises(AnomalyError):
            grad(anp.log)(0.0)
        assert anomaly_mode.get() is None
        assert grad(anp.sqrt)(0.0) == np.inf


def test_blocks_nest_and_the_inner_one_counts():
    with np.errstate(all="ignore"), detect_anomaly():
        with detect_anomaly(forward=False, backward=False):
            assert is_watched() == (False, False)
            assert grad(anp.log)(0.0) == np.inf
        with detect_anomaly(backward=False):
            assert grad(anp.sqrt)(0.0) == np.inf
            assert jvp(anp.sqrt, (0.0,), (1.0,))[1] == np.inf
            with pytest.raises(AnomalyError):
                grad(anp.log)(0.0)
        with pytest.raises(AnomalyError):
            grad(anp.sqrt)(0.0)


def test_a_function_may_be_decorated():
    @detect_anomaly()
    def slope(x):
        return grad(anp.sqrt)(x)

    assert slope(1.0) == 0.5
    for _ in range(2):
        with pytest.raises(AnomalyError):
            slope(0.0)


def test_a_tape_that_is_open_already_is_watched_in_the_block_alone():
    with np.errstate(all="ignore"), Tape() as tape:
        x = tape.watch(a(0, 1))
        y = op.sqrt(x)
        with detect_anomaly():
            with pytest.raises(AnomalyError, match=r"(?s)forward: kernel 'log'.*recorded at"):
                op.log(x)
            with tape.stop_recording():
                pass
            with pytest.raises(AnomalyError):
                op.log(x)
        recorder = tape._recorder
        z = op.log(x)
        with detect_anomaly(), pytest.raises(AnomalyError, match=r"(?s)'sqrt'.*output\[0\] = 0.0.*recorded before the block"):
            tape.gradient(op.sum(z * 0.0 + y), x)
    assert recorder == threading.get_ident()
    assert not tape._keep_all


def test_only_this_thread_is_watched():
    results = []
    with np.errstate(all="ignore"), detect_anomaly():
        thread = threading.Thread(target=lambda: results.append((is_watched(), grad(anp.exp)(1.0))))
        thread.start()
        thread.join()
        assert is_watched() == (True, True)
    assert results == [((False, False), np.exp(1.0))]


def test_the_tape_goes_on_after_the_error():
    with np.errstate(all="ignore"), detect_anomaly(), Tape() as tape:
        x = tape.watch(a(0, 1))
        with tape.scope("outer"), tape.scope("inner"), pytest.raises(AnomalyError) as caught:
            op.log(x)
        y = op.sum(x * x)
        assert caught.value.anomaly.scope == "outer/inner"
        assert "in scope outer/inner" in str(caught.value)
        assert tape.nodes[caught.value.anomaly.node_id - 1].kernel_name == "log"
        np.testing.assert_array_equal(tape.gradient(y, x), [0, 2])


def squared_in_place(t):
    t **= 2
    t **= -1


WAYS = {
    "plain NumPy": np.log,
    "autograd.numpy": anp.log,
    "operators": op.log,
    "power": lambda t: t**-1,
    "division": lambda t: 1 / t,
    "np.divide": lambda t: np.divide(1, t),
    "__rtruediv__": lambda t: t.__rtruediv__(1),
    "in place": squared_in_place,
}


@pytest.mark.parametrize("f", WAYS.values(), ids=WAYS)
def test_every_way_to_call_an_operator(f):
    with np.errstate(all="ignore"), detect_anomaly(), pytest.raises(AnomalyError), Tape() as tape:
        f(tape.watch(a(0.0)))


def test_a_checkpoint_is_looked_into():
    def inside(x):
        return anp.exp(anp.log(x))

    with np.errstate(all="ignore"), detect_anomaly(), pytest.raises(AnomalyError, match="forward: kernel 'log'") as caught:
        grad(checkpoint(inside))(0.0)
    assert "return anp.exp(anp.log(x))" in caught.value.anomaly.source_line


def test_changes_in_place_are_still_found_where_they_were_asked_for():
    base = a(1, 2)
    alias = base[:]
    with detect_anomaly(), Tape(keep="all") as tape:
        x = tape.watch(a(3, 4))
        y = op.sum(x * base)
        alias[0] = 7.0
        with pytest.raises(InPlaceError, match="'multiply'"):
            tape.gradient(y, x)


def test_an_error_can_be_sent_to_another_process():
    with np.errstate(all="ignore"), detect_anomaly(), pytest.raises(AnomalyError) as caught:
        grad(anp.log)(0.0)
    again = pickle.loads(pickle.dumps(caught.value))
    assert isinstance(again, ArithmeticError)
    assert (str(again), again.anomaly) == (str(caught.value), caught.value.anomaly)
