"""A plugin for pytest: a fixture and a marker that check gradients, and fail with the report.

pytest loads it in every run of everybody who has gradtape installed. So it is installed as a package of its own, above which
there is nothing to import: NumPy and autograd are loaded by the first check.

The fixture ``check_gradient`` is ``autograd.check.check_gradient``; a verdict that is not right, nor allowed, fails the test::

    def test_cube(check_gradient):
        check_gradient(lambda x: np.sum(x**3), np.ones(3), order=2)

The marker makes of a test function the function that is checked, at the point ``at``::

    @pytest.mark.check_gradient(at=[np.ones(3)], order=2)
    def test_cube(x):
        return np.sum(x**3)

``at`` has a value for each argument that is neither a fixture nor parametrized, in their order, or is a mapping of names to
values. Those are checked; fixtures and parametrized arguments are constants. Without ``at`` every argument is checked, as
parametrized. A function whose arguments are all fixtures or parametrized returns the function to check::

    @pytest.mark.check_gradient(at=[np.ones(3)])
    @pytest.mark.parametrize("power", [2, 3])
    def test_power(power):
        return lambda x: np.sum(x**power)

Several markers on one function are several tests. All other options are those of ``check_gradient``; the seed is that of the
command line, ``--gradient-seed``, unless one is given.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import pytest

if TYPE_CHECKING:
    from autograd.check import GradientReport

MARKER, POINT = "check_gradient", "gradtape_point"
"""The marker, and the argument by which a test knows which of its markers it is of."""

DESCRIPTION = (
    "check_gradient(at=None, **options): the test function is the function whose gradient is checked, at the arguments `at`;"
    " options are those of autograd.check.check_gradient"
)


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("gradtape", "gradients (gradtape)")
    group.addoption(
        "--gradient-seed", type=int, default=0, metavar="N", help="seed of the directions in which gradients are checked"
    )


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", DESCRIPTION)


@pytest.fixture
def check_gradient(request: pytest.FixtureRequest) -> Callable[..., GradientReport]:
    """``autograd.check.check_gradient``, whose report is the text of the failure."""
    seed = request.config.getoption("--gradient-seed")

    def check_gradient(f: Callable[..., Any], *args: Any, **options: Any) -> GradientReport:
        __tracebackhide__ = True
        frame = sys._getframe(1)
        where = f"{Path(frame.f_code.co_filename).name}:{frame.f_lineno}"
        return _check(f, args, {"seed": seed, **options}, where)

    return check_gradient


def _check(f: Callable[..., Any], args: Sequence[Any], options: dict[str, Any], where: str) -> GradientReport:
    """The report, if it is one that lets the test pass."""
    __tracebackhide__ = True
    from autograd.check import check_gradient

    raise_error = options.pop("raise_error", True)
    report = check_gradient(f, *args, raise_error=False, **options)
    if raise_error and not report.ok and report.verdict not in options.get("allow", ()):
        pytest.fail(f"check_gradient: {report}\n  checked at {where}, with seed {options['seed']}", pytrace=False)
    return report


# -------------------------------------------------------------------------------------------------- the marker


@dataclass(frozen=True)
class Point:
    """One marker of a test: the arguments that are checked, or the values for the function that the test returns."""

    options: Mapping[str, Any]
    checked: Sequence[str]
    filled: Mapping[str, Any]
    values: Sequence[Any] | None = None


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Fill the arguments that nothing else fills with the values of each marker."""
    definition = metafunc.definition
    markers = [each for each in definition.own_markers if each.name == MARKER]
    nearest = definition.get_closest_marker(MARKER)
    if nearest is None:
        return
    points = [_point(definition, marker) for marker in markers or [nearest]]
    names = list(points[0].filled)
    if any(set(each.filled) != set(names) for each in points):
        _refuse(definition, f"its markers fill different arguments: {[list(each.filled) for each in points]}")
    metafunc.fixturenames.append(POINT)
    rows = [(point, *(point.filled[name] for name in names)) for point in points]
    ids = [getattr(pytest, "HIDDEN_PARAM", "at")] if len(rows) == 1 else [f"at{number}" for number in range(len(rows))]
    metafunc.parametrize([POINT, *names], rows, ids=ids)


def _point(definition: Any, marker: pytest.Mark) -> Point:
    """What a marker asks of a test."""
    names = list(definition._fixtureinfo.argnames)
    options = {name: value for name, value in marker.kwargs.items() if name != "at"}
    at = marker.kwargs.get("at")
    if marker.args:
        _refuse(definition, f"it got {len(marker.args)} value(s) by position; pass them as at=[...]")
    if isinstance(at, Mapping):
        free = [each for each in names if each in at or not _is_filled(definition, each)]
        if set(free) != set(at):
            _refuse(definition, f"at has values for {list(at)}, expected some for {free}")
        return Point(options, free, {name: at[name] for name in free})
    free = [each for each in names if not _is_filled(definition, each)]
    if at is None:
        if free or not names:
            _refuse(
                definition,
                f"nothing fills {free}; pass values as at=[...]" if free else "there is nothing to check; pass at=[...]",
            )
        return Point(options, names, {})
    if not isinstance(at, list | tuple):
        _refuse(definition, f"got a {type(at).__name__} for at, expected a list of arguments, or a mapping of names to values")
    if not free:
        return Point(options, (), {}, list(at))
    if len(at) != len(free):
        _refuse(definition, f"at has {len(at)} value(s) for the argument(s) {free}")
    return Point(options, free, dict(zip(free, at, strict=True)))


def _is_filled(definition: Any, name: str) -> bool:
    """Whether there is a fixture or a parameter of that name."""
    if name in definition._fixtureinfo.name2fixturedefs:
        return True
    for mark in definition.iter_markers("parametrize"):
        names = mark.args[0] if mark.args else mark.kwargs.get("argnames", ())
        if name in ([each.strip() for each in names.split(",")] if isinstance(names, str) else names):
            return True
    return False


def _refuse(definition: Any, why: str) -> NoReturn:
    pytest.fail(f"{definition.name}: the marker check_gradient cannot be used like this: {why}", pytrace=False)


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    """Check a marked function, in place of calling it."""
    params: Mapping[str, Any] = pyfuncitem.callspec.params if hasattr(pyfuncitem, "callspec") else {}
    point: Point | None = params.get(POINT)
    if point is None:
        return None
    test: Callable[..., Any] = pyfuncitem.obj
    values = {name: pyfuncitem.funcargs[name] for name in pyfuncitem._fixtureinfo.argnames}
    code = pyfuncitem.function.__code__
    where = f"{Path(code.co_filename).name}:{code.co_firstlineno}"
    options = {"seed": pyfuncitem.config.getoption("--gradient-seed"), **point.options}
    if point.values is not None:
        returned = test(**values)
        if not callable(returned):
            why = f"it returned {type(returned).__name__}, expected the function to check: it has no argument for at to fill"
            _refuse(pyfuncitem, why)
        _check(returned, point.values, options, where)
        return True
    constants = {name: value for name, value in values.items() if name not in point.checked}
    generators = {name: constants.pop(name) for name in list(constants) if _is_generator(constants[name])}

    def f(*args: Any, **others: Any) -> Any:
        return test(**dict(zip(point.checked, args, strict=True)), **constants, **others)

    f.__name__ = getattr(test, "__name__", pyfuncitem.name)
    options["kwargs"] = {**generators, **options.get("kwargs", {})}
    _check(f, [values[name] for name in point.checked], options, where)
    return True


def _is_generator(value: Any) -> bool:
    """Whether the check must put it back for each run, and so must know of it."""
    import random

    from numpy.random import Generator, RandomState

    return isinstance(value, Generator | RandomState | random.Random)
