"""The rows of all tables: those of the families' tests, and here those of functions that have none there.

A family's row counts with the checks that its test is run with, so what the table of coverage says of a function was checked.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy
import pytest

from tests.coverage.namespaces import HAS_SCIPY
from tests.gradients.harness import CHECKS, Case, checks_of

ROOT = Path(__file__).resolve().parents[2]
UNIT = (-1.0, 1.0)
_NAMES_OF_CHECKS = {check: name for name, check in CHECKS.items()}


@dataclass(frozen=True)
class Row:
    """A row of some table, where it stands, and the names of the checks that are run of it."""

    case: Case
    place: str
    checks: frozenset[str]


def _copied(np: Any, a: Any, write: Any) -> Any:
    """A copy of ``a`` after something was written into it."""
    target = np.array(a)
    write(target)
    return target


def _of_simplex(method: str) -> Case:
    """A row of the Dirichlet distribution: its variable is made of numbers whose sum is 1, as are those of differences."""

    def call(stats: Any, x: Any, alpha: Any) -> Any:
        return getattr(stats.dirichlet, method)(x / x.sum(), alpha)

    return Case(
        method,
        call=lambda _, x, alpha: call(import_module("autograd.scipy.stats"), x, alpha),
        reference=lambda x, alpha: call(import_module("scipy.stats"), x, alpha),
        shapes=[((3,), (3,))],
        domain=[(0.5, 2.0), (1.2, 3.0)],
        dtypes=("float64",),
        tolerance=1e-6,
    )


def _decay(y: Any, t: Any, k: Any, w: Any) -> Any:
    return -k * y + w


def _of_odeint() -> Case:
    def call(module: str, y: Any, t: Any, k: Any, w: Any) -> Any:
        return import_module(module).odeint(_decay, y, t, (k, w), rtol=1e-12, atol=1e-12)

    return Case(
        "odeint",
        call=lambda _, *inputs: call("autograd.scipy.integrate", *inputs),
        reference=lambda *inputs: call("scipy.integrate", *inputs),
        inputs=[numpy.array([1.0, 2.0]), numpy.array([0.0, 0.3, 1.0]), numpy.array([0.5, 0.8]), numpy.array([0.1, -0.3])],
        dtypes=("float64",),
        tolerance=1e-5,
    )


SPOILED = numpy.array([0.0, numpy.nan, numpy.inf, -numpy.inf, 0.0])
HOLE = numpy.array([[False, True, False], [False, False, True]])
POINTS = numpy.array([0.1, 0.4, 0.45, 0.9])
EDGES = numpy.array([0.0, 0.42, 0.7, 1.0])

CASES = [
    # copies and dtypes
    Case("asanyarray", shapes=[((2, 3),), ((),)], complex_domain=UNIT),
    Case("asarray_chkfinite", shapes=[((2, 3),), ((),)], complex_domain=UNIT),
    Case("ascontiguousarray", shapes=[((2, 3),)], complex_domain=UNIT),
    Case("asfortranarray", shapes=[((2, 3),)], complex_domain=UNIT),
    Case("require", shapes=[((2, 3),)], complex_domain=UNIT),
    Case("astype", call=lambda np, x: np.astype(x, np.float64), shapes=[((2, 3),)]),
    Case("astype", call=lambda np, x: np.astype(x, np.complex128), shapes=[((3,),)], complex_domain=UNIT, label="complex"),
    Case("nan_to_num", call=lambda np, x, nan, posinf, neginf: np.nan_to_num(
        np.where(numpy.isfinite(SPOILED), x, SPOILED), nan=nan, posinf=posinf, neginf=neginf),
         shapes=[((5,), (), (), ())], dtypes=("float64",), label="replacements"),
    Case("piecewise", call=lambda np, x, v: np.piecewise(x, [x < 0, x > 1], [v, lambda x: x * x, 2.0]), shapes=[((5,), ())],
         dtypes=("float64",), label="values"),
    # reductions about what is given
    *[
        Case(name, call=lambda np, a, initial, name=name: getattr(np, name)(a, axis=0, initial=initial), shapes=[((3, 4), ())],
             domain=(0.5, 2), label="initial")
        for name in ("sum", "prod", "max", "min", "nansum", "nanprod", "nanmax", "nanmin")
    ],
    *[
        Case(name, call=lambda np, a, mean, name=name: getattr(np, name)(np.where(HOLE, numpy.nan, a), axis=1, mean=mean),
             shapes=[((2, 3), (2, 1))], label="mean")
        for name in ("nanvar", "nanstd")
    ],
    Case("nanquantile", call=lambda np, a, q: np.nanquantile(a, q), shapes=[((5,), ()), ((2, 3), (2,))],
         domain=[(-2, 2), (0.3, 0.7)], dtypes=("float64",), label="q"),
    Case("histogram_bin_edges", call=lambda np, bins: np.histogram_bin_edges(POINTS, bins), inputs=[EDGES], label="bins"),
    Case("histogram_bin_edges", call=lambda np, low, high: np.histogram_bin_edges(POINTS, 3, (low, high)), shapes=[((), ())],
         domain=[(-1, 0), (1, 2)], label="range"),
    Case("histogram", call=lambda np, bins: np.histogram(POINTS, bins, density=True)[0], inputs=[EDGES], label="bins, density"),
    Case("histogram2d", call=lambda np, bins: np.histogram2d(POINTS, POINTS, [bins, bins], density=True)[0], inputs=[EDGES],
         label="bins, density"),
    Case("clip", call=lambda np, x, low, high: np.clip(x, min=low, max=high),
         reference=lambda x, low, high: numpy.clip(x, low, high),
         shapes=[((2, 3), (), (3,))], domain=[(-2, 2), (-1, -0.5), (0.5, 1)], label="min and max"),
    # points
    Case("logspace", call=lambda np, start, stop, base: np.logspace(start, stop, 4, base=base), shapes=[(float, float, float)],
         domain=(1, 2), dtypes=("float64",), label="base"),
    Case("fromfunction", call=lambda np, x: np.fromfunction(lambda i, x: x * i + x**2, (3,), x=x), shapes=[((),)],
         dtypes=("float64",)),
    *[
        Case(name, call=lambda np, start, stop, name=name: getattr(np, name)[start:stop:3j],
             reference=lambda start, stop, name=name: getattr(numpy, name)[start:stop:3j], shapes=[((), ())], dtypes=("float64",))
        for name in ("mgrid", "ogrid")
    ],
    *[
        Case(f"fft.{name}", call=lambda np, d, name=name: getattr(np.fft, name)(5, d), shapes=[((),), (float,)], domain=(0.5, 2),
             dtypes=("float64",))
        for name in ("fftfreq", "rfftfreq")
    ],
    # writing
    Case("copyto", call=lambda np, a, v: _copied(np, a, lambda b: np.copyto(b, v, where=[True, False, True])),
         shapes=[((2, 3), (3,)), ((3,), ())], complex_domain=UNIT),
    Case("fill_diagonal", call=lambda np, a, v: _copied(np, a, lambda b: np.fill_diagonal(b, v)),
         shapes=[((3, 2), ()), ((2, 2), (2,))]),
    Case("place", call=lambda np, a, v: _copied(np, a, lambda b: np.place(b, [True, False, True, True], v)),
         shapes=[((4,), (2,))]),
    Case("put", call=lambda np, a, v: _copied(np, a, lambda b: np.put(b, [3, 0], v)), shapes=[((2, 3), (2,)), ((4,), ())]),
    Case("put_along_axis", call=lambda np, a, v: _copied(np, a, lambda b: np.put_along_axis(b, numpy.array([[1], [0]]), v, 1)),
         shapes=[((2, 3), (2, 1)), ((2, 3), ())]),
    Case("putmask", call=lambda np, a, v: _copied(np, a, lambda b: np.putmask(b, [True, False, True, True], v)),
         shapes=[((4,), (3,))]),
    Case("add", call=lambda np, a, v: _copied(np, a, lambda b: np.add.at(b, [2, 0, 2], v)), shapes=[((3,), (3,)), ((3, 2), (2,))],
         label="at", complex_domain=UNIT),
    Case("multiply", call=lambda np, a, v: _copied(np, a, lambda b: np.multiply.at(b, [2, 0], v)), shapes=[((3,), (2,))],
         label="at", complex_domain=UNIT),
    # what NumPy has not
    *[
        Case("logsumexp", attrs={"axis": axis}, reference=lambda a, axis: numpy.log(numpy.sum(numpy.exp(a), axis=axis)),
             shapes=[((2, 3),)], label=f"{axis}")
        for axis in (None, 0, -1)
    ],
    # polynomials as objects
    Case("poly1d", call=lambda np, c, x: np.poly1d(c)(x), shapes=[((3,), (2,)), ((3,), ())]),
]  # fmt: skip
"""Rows of functions of NumPy; the name is that in the main namespace."""

if HAS_SCIPY:
    CASES += [_of_simplex("pdf"), _of_simplex("logpdf"), _of_odeint()]

WITHOUT_WATCHING = {
    "c_": ("numpy.c_", ("arrays",)),
    "fromfunction": ("numpy.fromfunction", ("kwargs",)),
    "mgrid": ("numpy.mgrid", ("start", "stop")),
    "ogrid": ("numpy.ogrid", ("start", "stop")),
    "poly1d": ("numpy.poly1d", ("c_or_r",)),
    "r_": ("numpy.r_", ("arrays",)),
}
"""Rows of what is no Python function of ours: its name, and what the row differentiates in."""


def _marked(module: Any) -> Iterator[tuple[Case, str]]:
    """Each row that a test of a module is run with, and the name of the check."""
    for name, test in vars(module).items():
        if not name.startswith("test_") or getattr(test, "__module__", None) != module.__name__:
            continue
        for mark in getattr(test, "pytestmark", ()):
            if mark.name == "parametrize" and tuple(mark.args[0]) == ("case", "check"):
                for each in mark.args[1]:
                    case, check = each.values
                    if isinstance(case, Case) and check in _NAMES_OF_CHECKS:
                        yield case, _NAMES_OF_CHECKS[check]


def all_rows() -> list[Row]:
    """Every row of every table, in the order of the files."""
    rows = []
    for path in sorted((ROOT / "tests" / "gradients").rglob("test_*.py")):
        name = ".".join(path.relative_to(ROOT).with_suffix("").parts)
        try:
            module = import_module(name)
        except pytest.skip.Exception:  # it needs a library that is not installed
            continue
        checks: dict[int, tuple[Case, set[str]]] = {}
        for case, check in _marked(module):
            checks.setdefault(id(case), (case, set()))[1].add(check)
        rows += [Row(case, path.relative_to(ROOT).as_posix(), frozenset(names)) for case, names in checks.values()]
    here = Path(__file__).relative_to(ROOT).as_posix()
    return rows + [Row(case, here, frozenset(checks_of(case))) for case in CASES]
