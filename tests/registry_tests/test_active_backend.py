"""Which backend is active where, and that operator functions and rules follow it at once."""

from __future__ import annotations

import threading
import warnings
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context

import numpy as np
import pytest

from autograd import Tape, run_kernel
from autograd import operators as op
from registry import (
    GradConfig,
    KernelConfig,
    copy_registered_kernels,
    get_backend,
    register_backend,
    register_gradient,
    register_kernel,
    set_backend,
    use_backend,
)


@pytest.fixture
def fake():
    """A backend called fake, registered and not started."""
    register_backend("fake", object)
    return "fake"


def test_blocks_nest_and_restore(fake):
    register_backend("other", object)
    outside = get_backend()
    with use_backend(fake):
        assert get_backend() == fake
        with use_backend("other"):
            assert get_backend() == "other"
            with use_backend(fake):
                assert get_backend() == fake
            assert get_backend() == "other"
        assert get_backend() == fake
    assert get_backend() == outside


def test_an_exception_restores_too(fake):
    outside = get_backend()
    with pytest.raises(ZeroDivisionError), use_backend(fake):
        _ = 1 / 0
    assert get_backend() == outside


def test_a_block_goes_before_set_backend(fake):
    register_backend("other", object)
    with use_backend(fake):
        set_backend("other")
        assert get_backend() == fake
    assert get_backend() == "other"


def test_a_block_in_one_thread_is_not_seen_by_another(fake):
    seen = {}
    inside, done = threading.Event(), threading.Event()

    def with_block():
        with use_backend(fake):
            inside.set()
            done.wait(5)
            seen["with block"] = get_backend()

    def without():
        inside.wait(5)
        seen["without"] = get_backend()
        done.set()

    threads = [threading.Thread(target=each) for each in (with_block, without)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert seen == {"with block": fake, "without": "numpy"}
    assert get_backend() == "numpy"


def test_a_copied_context_carries_the_block(fake):
    with use_backend(fake):
        context = copy_context()
    assert get_backend() == "numpy"
    assert context.run(get_backend) == fake


def test_set_backend_holds_for_every_thread(fake):
    set_backend(fake)
    with ThreadPoolExecutor(1) as pool:
        assert pool.submit(get_backend).result() == fake


# ------------------------------------------------------------------- operator functions follow the active backend at once


@pytest.fixture
def shifted():
    """A backend with NumPy's kernels, but for some whose results are off by 1000, so that one sees which ran."""
    register_backend("shifted", object)
    copy_registered_kernels("numpy", "shifted")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name in ("negative", "multiply"):
            was = getattr(np, name)
            register_kernel(KernelConfig(name, "shifted", lambda *x, was=was: was(*x) + 1000.0), override=True)
        register_kernel(KernelConfig("sum", "shifted", lambda a, **attrs: np.sum(a) + 1000.0), override=True)
    return "shifted"


CALLS = [
    ("unary", lambda x: op.negative(x), -2.0),
    ("binary", lambda x: op.multiply(x, x), 4.0),
    ("binary with a constant", lambda x: op.multiply(x, 3.0), 6.0),
    ("general", lambda x: op.sum(x), 2.0),
    ("by name", lambda x: run_kernel("negative", {"x": x}), -2.0),
]
VALUES = {"array": np.array([2.0]), "float": 2.0, "NumPy scalar": np.float64(2.0), "list": [2.0]}


def number(result):
    """The one number in a result of any kind."""
    return float(np.sum(getattr(result, "value", result)))


@pytest.mark.parametrize(("call", "expected"), [each[1:] for each in CALLS], ids=[each[0] for each in CALLS])
@pytest.mark.parametrize("value", VALUES.values(), ids=VALUES)
def test_functions_follow_use_backend_on_plain_values(shifted, call, expected, value):
    assert number(call(value)) == expected
    with use_backend(shifted):
        assert number(call(value)) == expected + 1000
        with use_backend("numpy"):
            assert number(call(value)) == expected
    assert number(call(value)) == expected
    set_backend(shifted)
    assert number(call(value)) == expected + 1000


@pytest.mark.parametrize(("call", "expected"), [each[1:] for each in CALLS], ids=[each[0] for each in CALLS])
def test_functions_follow_use_backend_on_tensors(shifted, call, expected):
    with Tape() as tape:
        x = tape.watch(np.array([2.0]))
        assert number(call(x)) == expected
        with use_backend(shifted):
            assert number(call(x)) == expected + 1000
        assert number(call(x)) == expected
        set_backend(shifted)
        assert number(call(x)) == expected + 1000
    assert [node.backend_name for node in tape.nodes if node.kernel_name != "source"] == [
        "numpy", "shifted", "numpy", "shifted",
    ]  # fmt: skip


@pytest.mark.parametrize("several", [False, True])
def test_the_rule_runs_on_the_backend_of_the_record(shifted, several):
    seen = []

    def rule(dy, saved, attrs):
        seen.append(get_backend())
        return {"x": lambda: seen.append(get_backend()) or dy}

    for name in ("numpy", shifted):
        register_kernel(KernelConfig("same", name, lambda x: x))
    register_gradient(GradConfig("same", rule))
    for _ in range(2):
        with Tape() as tape:
            x = y = tape.watch(np.array(2.0))
            with use_backend(shifted):
                y = run_kernel("same", {"x": y})
            if several:
                y = run_kernel("same", {"x": y})
        assert tape.gradient(y, x) == 1.0
        assert get_backend() == "numpy"
        assert seen == ["numpy"] * 2 * several + [shifted] * 2
        seen.clear()
