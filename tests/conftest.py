"""Fixtures for every test: a test that leaves a tape open, an array locked or a registration behind fails."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, settings

import autograd.nn  # its layers are registered as containers when it is first imported
import autograd.primitives  # noqa: F401  # declares operators when first imported: a test must not seem to leave them behind
import registry.backends
import registry.gradients
import registry.kernels
import registry.operators
from autograd import containers, locks
from autograd.tape import Tape

# Nothing here is about time: a slow machine must not fail a test.
settings.register_profile("gate", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("gate")

_open_tapes: set[int] = set()


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--full", action="store_true", help="run the long form of the proofs marked 'full'")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if config.getoption("--full"):
        return
    skip = pytest.mark.skip(reason="the long form of a proof; run with --full")
    for item in items:
        if "full" in item.keywords:
            item.add_marker(skip)


@pytest.fixture(scope="session", autouse=True)
def _count_open_tapes():
    enter, leave = Tape.__enter__, Tape.__exit__

    def counted_enter(self):
        tape = enter(self)
        _open_tapes.add(tape._serial)
        return tape

    def counted_exit(self, *error):
        _open_tapes.discard(self._serial)
        return leave(self, *error)

    Tape.__enter__, Tape.__exit__ = counted_enter, counted_exit
    yield
    Tape.__enter__, Tape.__exit__ = enter, leave


def _registrations() -> dict[str, object]:
    return {
        "kernels": {(name, backend): id(c) for name, table in registry.kernels._kernels.items() for backend, c in table.items()},
        "gradients": {name: id(config) for name, config in registry.gradients._gradients.items()},
        "operators": dict(registry.operators._schemas),
        "constants": set(registry.operators._constants),
        "backends": set(registry.backends._factories),
        "default backend": registry.backends._default or "numpy",
        "containers": set(containers._registered),
    }


@pytest.fixture(autouse=True)
def _nothing_left_behind():
    before = _registrations()
    locked = locks.locked_arrays()
    yield
    left_open = set(_open_tapes)
    _open_tapes.clear()
    assert not left_open, f"the test left {len(left_open)} tape(s) open"
    after = _registrations()
    for table, was in before.items():
        assert after[table] == was, f"the test left a change in the table of {table}"
    assert locks.locked_arrays() <= locked, "the test left arrays locked: a tape that is still referenced has not been freed"
