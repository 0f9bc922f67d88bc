"""Threads: each opens its own tapes, and all give what they would give one after the other."""

from __future__ import annotations

import contextvars
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from autograd import Tape, TapeError, checkpoint, dag, grad, hessian, jvp, locks
from autograd import operators as op


@pytest.fixture(autouse=True)
def _switch_often():
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


def train(seed: int, data: np.ndarray) -> np.ndarray:
    """A few steps of a small model; ``data`` is shared by all threads."""
    rng = np.random.default_rng(seed)
    W = rng.normal(size=(4, 3)) / 3
    for step in range(12):
        with Tape() as tape:
            w = tape.watch(W)
            hidden = op.sin(op.matmul(data, w))
            for _ in range(seed % 4):
                hidden = hidden * op.cos(hidden)
            loss = op.sum(hidden * hidden) + op.sum(w[step % 4] * w[0])
        W -= 0.01 * tape.gradient(loss, w)
    return W


def second_order(seed: int, data: np.ndarray) -> np.ndarray:
    f = lambda x: op.sum(op.sin(op.matmul(data, x)) * (1.0 + seed % 3))  # noqa: E731
    x = data[seed % len(data)]
    return hessian(f)(x) + np.outer(*[jvp(grad(f), (x,), (x,))[1]] * 2)


def checkpointed(seed: int, data: np.ndarray) -> np.ndarray:
    return grad(lambda x: op.sum(checkpoint(lambda x: op.sin(x * x) * data)(x)))(data * (seed + 1))


@pytest.mark.parametrize("work", [train, second_order, checkpointed], ids=lambda w: w.__name__)
def test_many_threads_give_the_results_of_one(work):
    data = np.random.default_rng(0).normal(size=(5, 4))
    one_by_one = [work(seed, data) for seed in range(48)]
    dag.clear_plan_cache()
    barrier = threading.Barrier(16)

    def run(seed):
        if seed < 16:
            barrier.wait(timeout=60)
        return work(seed, data)

    with ThreadPoolExecutor(16) as pool:
        at_once = list(pool.map(run, range(48)))
    for got, want in zip(at_once, one_by_one, strict=True):
        np.testing.assert_array_equal(got, want)
    assert data.flags.writeable
    assert locks.locked_arrays() == 0


def test_threads_that_share_views_of_one_array():
    base = np.arange(400.0)
    views = [base[start : start + 50] for start in range(0, 350, 7)]  # overlapping, taken before any lock

    def run(position):
        for _ in range(20):
            view = views[position % len(views)]
            np.testing.assert_array_equal(grad(lambda x: op.sum(x * x))(view), 2 * view)
        return True

    with ThreadPoolExecutor(12) as pool:
        assert all(pool.map(run, range(len(views))))
    assert base.flags.writeable
    assert all(view.flags.writeable for view in views)


def in_thread(work):
    result = []

    def run():
        try:
            result.append(work())
        except Exception as error:
            result.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    thread.join(60)
    return result[0]


def test_a_tape_of_another_thread_cannot_be_used():
    with Tape(persistent=True) as tape:
        x = tape.watch(np.ones(3))
        y = op.sum(x * x)
        for use in (
            lambda: tape.gradient(y, x),
            lambda: tape.jacobian(y, x),
            lambda: tape.watch(np.ones(2)),
            lambda: op.sin(x),
            lambda: x * x,
            lambda: op.sum(x),
            lambda: x * 2.0,
            lambda: op.stack([x, x]),
            lambda: x[0],
        ):
            error = in_thread(use)
            assert isinstance(error, TapeError), error
            assert "thread" in str(error)
    assert isinstance(in_thread(lambda: tape.gradient(y, x)), TapeError)
    assert len(tape) == 2
    np.testing.assert_array_equal(tape.gradient(y, x), np.full(3, 2.0))
    tape._free()  # the errors above hold frames, and those the tape


def test_a_result_may_be_read_in_another_thread():
    with Tape() as tape:
        x = tape.watch(np.ones(3))
        y = op.sum(x * x)
    assert in_thread(lambda: float(y.value)) == 3.0
    assert tape.gradient(y, x) is not None


def test_the_backend_of_one_thread_is_not_that_of_another():
    from registry import get_backend, register_backend, remove_backend, use_backend

    register_backend("fake", object, priority=-1)
    try:
        with use_backend("fake"):
            assert get_backend() == "fake"
            assert in_thread(get_backend) == "numpy"
    finally:
        remove_backend("fake")


def test_recording_from_two_threads_on_two_tapes_at_the_same_time_step_by_step():
    """Two threads hand over to one another after every operation."""
    turn = [threading.Semaphore(1), threading.Semaphore(0)]
    results = {}

    def run(me):
        scale = 2.0 + me
        assert turn[me].acquire(timeout=30)
        with Tape() as tape:
            x = tape.watch(scale)
            y = x
            for _ in range(10):
                y = y * x
                turn[1 - me].release()
                assert turn[me].acquire(timeout=30)
        results[me] = tape.gradient(y, x)
        turn[1 - me].release()

    threads = [threading.Thread(target=run, args=(me,)) for me in (0, 1)]
    for each in threads:
        each.start()
    for each in threads:
        each.join(60)
    assert results == {0: 11 * 2.0**10, 1: 11 * 3.0**10}


def test_a_thread_with_a_copied_context_is_another_thread_all_the_same():
    """``asyncio.to_thread`` runs its function so."""
    failures = []

    def use(context):
        try:
            context.run(op.sin, x)
        except TapeError as error:
            failures.append(str(error))

    with Tape() as tape:
        x = tape.watch(np.array([1.0, 2.0]))
        op.sin(x)
        thread = threading.Thread(target=use, args=(contextvars.copy_context(),))
        thread.start()
        thread.join()
    assert len(failures) == 1
    assert "another thread" in failures[0]
