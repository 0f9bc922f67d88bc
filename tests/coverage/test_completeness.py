"""Every public function of the namespaces is accounted for, once: it has rows, or is constant, or takes no arrays, or refuses."""

from __future__ import annotations

import warnings
from collections import Counter
from importlib import import_module

import numpy
import pytest

from autograd import NotTrackedError, Tape
from tests.coverage.accounts import LISTS, NOT_CALLED, PLATFORM, REFUSED
from tests.coverage.namespaces import (
    GONE,
    HAS_SCIPY,
    NAMESPACES,
    SCIPY,
    SINCE,
    all_names,
    is_here,
    names_of,
    our_module,
    ours,
    theirs,
)
from tests.coverage.rows import WITHOUT_WATCHING
from tests.coverage.table import differentiable

HERE = set(all_names())
differentiable()  # before any test, as it imports SciPy's operators, which no test may leave behind


@pytest.mark.parametrize("namespace", [each for each in NAMESPACES if HAS_SCIPY or not each.startswith("scipy.")])
def test_every_function_is_accounted_for_once(namespace):
    places = {"has rows": differentiable(), **LISTS}
    missing, twice = [], []
    for name in names_of(namespace):
        found = [place for place, names in places.items() if name in names]
        missing += [name] if not found else []
        twice += [(name, found)] if len(found) > 1 else []
    assert not missing, (
        f"{missing} have no row, and are in no list of accounts.py: add a row to rows.py, or say why there is none"
    )
    assert not twice, f"accounted for twice: {twice}"


def test_the_lists_name_what_there_is():
    listed = {name for names in LISTS.values() for name in names if HAS_SCIPY or not name.startswith("scipy.")}
    gone = sorted(listed - HERE - SINCE.keys() - PLATFORM)
    assert not gone, f"{gone} are in a list of accounts.py and in no namespace"
    assert NOT_CALLED.keys() <= HERE
    assert not differentiable().keys() - HERE, "rows of functions that are in no namespace"
    assert {name for name, _ in WITHOUT_WATCHING.values()} <= differentiable().keys()


def test_no_name_is_in_two_lists():
    counts = Counter(name for names in LISTS.values() for name in names)
    assert [name for name, count in counts.items() if count > 1] == []


@pytest.mark.parametrize("name", sorted(SINCE))
def test_functions_of_newer_versions_are_marked_with_the_first_that_has_them(name):
    version = tuple(int(each) for each in numpy.__version__.split(".")[:2])
    assert is_here(name) == (version >= tuple(int(each) for each in SINCE[name].split(".")))


@pytest.mark.parametrize("name", sorted(GONE))
def test_old_names_do_what_those_do_that_stay_or_refuse(name):
    if not is_here(name):
        pytest.skip("this NumPy has it no longer")
    results = []
    for each in (name, GONE[name]):
        with Tape() as tape, warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)
            x = tape.watch(numpy.array([1.0, 2.0, 4.0]))
            try:
                y = ours(each)(*{"numpy.in1d": (x, x), "numpy.row_stack": ([x, x],), "numpy.trapz": (x,)}[name])
            except NotTrackedError:
                continue
            results.append((type(y), numpy.asarray(getattr(y, "value", y)).tolist()))
    assert results[0] == results[-1]


def refused_arguments(name, tensor):
    """Arguments of a function that refuses tensors."""
    if name == "numpy.ravel_multi_index":
        return (tensor,), (3,)
    return (tensor,) * getattr(theirs(name), "nin", 2 if name == "numpy.unravel_index" else 1)


@pytest.mark.parametrize("name", sorted(name for name in REFUSED if name in HERE))
@pytest.mark.parametrize("shape", [(2, 2), (2,), ()], ids=str)
def test_what_refuses_a_tensor_says_its_name(name, shape):
    function = ours(name)(numpy.sin) if name == "numpy.vectorize" else ours(name)
    spelled = getattr(theirs(name), "__name__", name.rpartition(".")[2])  # bitwise_not is invert
    with Tape() as tape, pytest.raises(NotTrackedError, match=rf"\b{spelled}\b"):
        function(*refused_arguments(name, tape.watch(numpy.ones(shape)[()])))


@pytest.mark.skipif(not HAS_SCIPY, reason="SciPy is not installed")
@pytest.mark.parametrize("namespace", SCIPY)
def test_what_is_not_listed_of_scipy_refuses_a_tensor(namespace):
    module, original = our_module(namespace), import_module(namespace)
    names = [each for each in dir(original) if not each.startswith("_") and callable(getattr(original, each))]
    functions = [each for each in names if each not in module.__all__ and not isinstance(getattr(original, each), type)]
    assert functions
    for name in functions:
        with Tape() as tape, pytest.raises(NotTrackedError, match=rf"{namespace}\.{name} has no gradient rule"):
            getattr(module, name)(tape.watch(1.5))
