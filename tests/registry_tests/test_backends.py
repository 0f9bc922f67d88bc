"""Backends: started once and late, chosen by priority, by name or by block, and disposed."""

from __future__ import annotations

import subprocess
import sys
import threading
import warnings
from concurrent.futures import ThreadPoolExecutor

import pytest

from autograd import run_kernel
from registry import (
    BackendError,
    KernelConfig,
    RegistrationError,
    backend,
    backends,
    find_backend,
    get_backend,
    register_backend,
    register_kernel,
    registered_backends,
    remove_backend,
    set_backend,
    unregister_kernel,
    use_backend,
)


class Fake:
    """A backend that notes what happens to it, in one list."""

    def __init__(self, log):
        self.log = log
        log.append("made")

    def dispose(self):
        self.log.append("disposed")


def identity(x):
    return x


@pytest.fixture
def log():
    return []


@pytest.fixture
def fake(log):
    """A backend called fake, registered and not started, that notes its life in ``log``."""
    register_backend("fake", lambda: Fake(log))
    return "fake"


@pytest.fixture
def undecided():
    """No default backend has been chosen yet, as in a new process."""
    backends._default = None


def fails():
    raise OSError("no such device")


# ------------------------------------------------------------------------------------------------------------- starting


def test_numpy_is_the_embedded_default():
    code = (
        "from registry import *; assert get_backend() == 'numpy', get_backend();"
        "assert backend() is find_backend('numpy') is not None;"
        "assert 'add' in [config.kernel_name for config in get_kernels_for_backend('numpy')]"
    )
    subprocess.run([sys.executable, "-W", "error", "-c", code], check=True)


def test_a_factory_runs_when_it_is_first_needed_and_once(fake, log):
    assert "fake" in registered_backends()
    assert log == []
    instance = find_backend(fake)
    assert isinstance(instance, Fake)
    assert find_backend(fake) is instance
    with use_backend(fake) as running:
        assert running is instance
        assert backend() is instance
    set_backend(fake)
    assert backend() is instance
    assert log == ["made"]


def test_running_a_kernel_starts_the_default_backend(undecided, log):
    register_backend("eager", lambda: Fake(log), priority=5)
    register_kernel(KernelConfig("same", "eager", identity, setup_func=lambda running: running.log.append("set up")))
    assert run_kernel("same", {"x": 1.0}) == 1.0
    assert log == ["made", "set up"]


def test_many_threads_start_one_backend_once(log):
    gate = threading.Barrier(16)
    slow = threading.Event()

    def factory():
        slow.wait(0.05)
        return Fake(log)

    def start(_):
        gate.wait()
        return find_backend("slow")

    register_backend("slow", factory)
    register_kernel(KernelConfig("same", "slow", identity, setup_func=lambda running: running.log.append("set up")))
    with ThreadPoolExecutor(16) as pool:
        instances = list(pool.map(start, range(16)))
    assert log == ["made", "set up"]
    assert len({id(each) for each in instances}) == 1


def test_a_kernel_that_another_thread_registers_during_the_start_is_set_up_once(log):
    inside, go_on = threading.Event(), threading.Event()

    def slow_set_up(running):
        running.log.append("first")
        inside.set()
        go_on.wait(5)

    register_backend("slow", lambda: Fake(log))
    register_kernel(KernelConfig("same", "slow", identity, setup_func=slow_set_up))
    late = KernelConfig("late", "slow", identity, setup_func=lambda running: running.log.append("late"))
    starting = threading.Thread(target=find_backend, args=("slow",))
    joining = threading.Thread(target=register_kernel, args=(late,))
    starting.start()
    assert inside.wait(5)
    joining.start()
    joining.join(0.05)
    go_on.set()
    starting.join()
    joining.join()
    assert log == ["made", "first", "late"]


def test_a_kernel_that_a_set_up_registers_is_set_up_too(fake, log):
    def register_another(running):
        register_kernel(KernelConfig("late", fake, identity, setup_func=lambda running: running.log.append("late")))

    register_kernel(KernelConfig("same", fake, identity, setup_func=register_another))
    find_backend(fake)
    assert log == ["made", "late"]


def test_a_set_up_may_run_kernels_of_its_backend(fake, log):
    def warm_up(running):
        with use_backend(fake) as inside:
            assert inside is running
            log.append(run_kernel("same", {"x": 3.0}))

    register_kernel(KernelConfig("same", fake, identity, setup_func=warm_up))
    assert find_backend(fake) is not None
    assert log == ["made", 3.0]


def test_a_factory_that_asks_for_its_own_backend_fails_with_a_reason():
    calls = []

    def factory():
        calls.append(1)
        with use_backend("circular"):
            return object()

    register_backend("circular", factory)
    with pytest.raises(BackendError, match=r"'circular'.*own factory"):
        set_backend("circular")
    assert calls == [1]


# ----------------------------------------------------------------------------------------------- the default by priority


def test_the_highest_priority_is_the_default(undecided, log):
    register_backend("low", fails, priority=0)
    register_backend("high", lambda: Fake(log), priority=7)
    register_backend("middle", fails, priority=3)
    assert registered_backends()[:2] == ["high", "middle"]
    assert registered_backends()[-1] == "low"
    assert get_backend() == "high"
    assert log == ["made"]


def test_priority_is_one_unless_given(undecided):
    register_backend("later", fails)
    assert registered_backends() == ["numpy", "later"]
    assert get_backend() == "numpy"


def test_when_a_factory_fails_the_next_is_tried_and_a_warning_says_why(undecided, log):
    register_backend("broken", fails, priority=9)
    register_backend("second", lambda: Fake(log), priority=8)
    with pytest.warns(UserWarning, match=r"'broken'.*no such device.*next") as caught:
        assert get_backend() == "second"
    assert len(caught) == 1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert get_backend() == "second"
        assert log == ["made"]
        remove_backend("second")
        assert get_backend() == "numpy"  # the broken one is passed over: its warning has been given


def test_a_failing_set_up_counts_as_a_failing_backend(undecided, log):
    register_backend("broken", lambda: Fake(log), priority=9)
    register_kernel(KernelConfig("same", "broken", identity, setup_func=lambda running: fails()))
    with pytest.warns(UserWarning, match=r"'broken'.*no such device"):
        assert get_backend() == "numpy"
    assert find_backend("broken") is None


def test_a_failing_factory_runs_once():
    calls = []

    def factory():
        calls.append(1)
        raise OSError("no such device")

    register_backend("broken", factory)
    assert find_backend("broken") is None
    for _ in range(2):
        with pytest.raises(BackendError, match=r"'broken'.*no such device") as caught:
            set_backend("broken")
        assert isinstance(caught.value.__cause__, OSError)
    assert calls == [1]


def test_a_backend_that_fails_leaves_the_active_one_alone():
    register_backend("broken", fails)
    before = get_backend()
    with pytest.raises(BackendError, match="no such device"):
        set_backend("broken")
    with pytest.raises(BackendError, match="no such device"), use_backend("broken"):
        pytest.fail("the block of a backend that did not start was entered")
    assert get_backend() == before


def test_no_backend_at_all(undecided):
    for name in registered_backends():
        remove_backend(name)
    with pytest.raises(BackendError, match=r"no backend.*register_backend"):
        get_backend()


# --------------------------------------------------------------------------------------------------- registering, finding


def test_registering_a_name_twice_raises_and_override_warns_and_disposes(fake, log):
    find_backend(fake)
    with pytest.raises(RegistrationError, match=r"'fake'.*override=True"):
        register_backend(fake, object)
    other = object()
    with pytest.warns(UserWarning, match="'fake'"):
        register_backend(fake, lambda: other, override=True)
    assert log == ["made", "disposed"]
    assert find_backend(fake) is other


def test_a_factory_must_be_a_function():
    with pytest.raises(RegistrationError, match=r"'fake'.*factory.*3"):
        register_backend("fake", 3)


def test_find_backend_of_an_unknown_name_is_none():
    assert find_backend("nowhere") is None


@pytest.mark.parametrize("ask", [set_backend, remove_backend, lambda name: use_backend(name).__enter__()])
def test_an_unknown_backend_is_named_with_what_is_near(fake, ask):
    before = get_backend()
    with pytest.raises(BackendError) as caught:
        ask("fakee")
    assert "'fakee'" in str(caught.value)
    assert "'fake'" in str(caught.value)
    assert "numpy" in str(caught.value)
    assert get_backend() == before


# --------------------------------------------------------------------------------------------- kernels' setup and dispose


def noting(name, backend_name):
    """A kernel that notes its set-up and its disposal in the log of its backend."""
    return KernelConfig(
        name,
        backend_name,
        identity,
        setup_func=lambda running: running.log.append(f"set up {name}"),
        dispose_func=lambda running: running.log.append(f"dispose {name}"),
    )


def test_the_whole_life_of_a_backend(fake, log):
    register_kernel(noting("one", fake))
    register_kernel(noting("two", "other"))
    register_kernel(KernelConfig("plain", fake, identity))
    assert log == []
    with use_backend(fake):
        run_kernel("one", {"x": 1.0})
        run_kernel("one", {"x": 1.0})
    assert log == ["made", "set up one"]
    register_kernel(noting("three", fake))
    assert log == ["made", "set up one", "set up three"]
    find_backend(fake)
    set_backend(fake)
    remove_backend(fake)
    assert log == ["made", "set up one", "set up three", "dispose one", "dispose three", "disposed"]
    assert find_backend(fake) is None


def test_a_backend_that_never_started_is_not_disposed(fake, log):
    register_kernel(noting("one", fake))
    remove_backend(fake)
    assert log == []


def test_a_backend_needs_no_dispose_of_its_own():
    seen = []
    register_backend("bare", object)
    register_kernel(KernelConfig("one", "bare", identity, dispose_func=seen.append))
    instance = find_backend("bare")
    remove_backend("bare")
    assert seen == [instance]


def test_a_removed_backend_can_be_registered_and_started_again(fake, log):
    register_kernel(noting("one", fake))
    find_backend(fake)
    remove_backend(fake)
    register_backend(fake, lambda: Fake(log))
    find_backend(fake)
    assert log == ["made", "set up one", "dispose one", "disposed", "made", "set up one"]


def test_a_backend_that_failed_can_be_registered_again():
    register_backend("broken", fails)
    assert find_backend("broken") is None
    remove_backend("broken")
    register_backend("broken", object)
    assert find_backend("broken") is not None


def test_unregistering_a_kernel_of_a_running_backend_disposes_it_once(fake, log):
    register_kernel(noting("one", fake))
    find_backend(fake)
    unregister_kernel("one", fake)
    assert log == ["made", "set up one", "dispose one"]
    remove_backend(fake)
    assert log == ["made", "set up one", "dispose one", "disposed"]


def test_replacing_a_kernel_of_a_running_backend_disposes_the_old_and_sets_up_the_new(fake, log):
    register_kernel(noting("one", fake))
    find_backend(fake)
    new = KernelConfig("one", fake, identity, lambda running: log.append("set up new"), lambda running: log.append("dispose new"))
    with pytest.warns(UserWarning, match="'one'"):
        register_kernel(new, override=True)
    assert sorted(log[2:]) == ["dispose one", "set up new"]
    remove_backend(fake)
    assert log[4:] == ["dispose new", "disposed"]


def test_a_kernel_whose_set_up_fails_does_not_join_a_running_backend(fake, log):
    register_kernel(noting("one", fake))
    find_backend(fake)
    with pytest.raises(OSError, match="no such device"):
        register_kernel(KernelConfig("two", fake, identity, setup_func=lambda running: fails()))
    broken = KernelConfig("one", fake, identity, setup_func=lambda running: fails())
    with pytest.warns(UserWarning, match="'one'"), pytest.raises(OSError, match="no such device"):
        register_kernel(broken, override=True)
    remove_backend(fake)
    assert log == ["made", "set up one", "dispose one", "disposed"]


def test_a_dispose_that_fails_removes_the_backend_all_the_same(fake, log):
    register_kernel(KernelConfig("one", fake, identity, dispose_func=lambda running: fails()))
    find_backend(fake)
    with pytest.raises(OSError, match="no such device"):
        remove_backend(fake)
    assert fake not in registered_backends()
    assert find_backend(fake) is None


def test_removing_the_default_falls_back_to_the_next(undecided, log):
    register_backend("high", lambda: Fake(log), priority=7)
    assert get_backend() == "high"
    remove_backend("high")
    assert get_backend() == "numpy"
    assert run_kernel("add", {"x1": 1.0, "x2": 2.0}) == 3.0
