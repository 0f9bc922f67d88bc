"""check_gradient on random programs: no false alarm where all rules are right, and the culprit named where one is not."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from autograd.check import check_gradient
from autograd.check.programs import Step, random_program
from registry import GradConfig, operator, register_gradient, undeclare, unregister_gradient, unregister_kernel

BLOCK = 200


MOST_UNDECIDED = 0.02
"""Of how many programs a check may say that it cannot tell: some have an output that is rounding and nothing else."""


def check_no_false_alarm(seeds):
    undecided = 0
    for seed in seeds:
        program, inputs = random_program(seed)
        report = check_gradient(program, *inputs, raise_error=False)
        assert report.verdict in ("right", "too noisy to tell"), f"seed {seed}:\n{report}"
        undecided += report.verdict != "right"
    assert undecided <= max(MOST_UNDECIDED * len(seeds), 1)


@pytest.mark.parametrize("start", range(0, 150, 50))
def test_no_false_alarm(start):
    check_no_false_alarm(range(start, start + 50))


@pytest.mark.full
@pytest.mark.parametrize("start", range(0, 10_000, BLOCK))
def test_no_false_alarm_in_10_000_programs(start):
    check_no_false_alarm(range(start, start + BLOCK))


FAULTS = {
    "half as much again": lambda dy: 1.5 * dy,
    "a thousandth": lambda dy: 1.001 * dy,
    "sign": lambda dy: -dy,
    "zero": lambda dy: 0 * dy,
}


@pytest.fixture
def faulty():
    """An operator that changes nothing and whose rule is wrong; the kind of fault is its attribute."""
    operator("test_faulty(Tensor x, *, str fault) -> Tensor", lambda x, fault: np.array(x)[()])
    register_gradient(GradConfig("test_faulty", lambda dy, saved, attrs: {"x": lambda: FAULTS[attrs["fault"]](dy)}))
    yield "test_faulty"
    unregister_gradient("test_faulty")
    unregister_kernel("test_faulty", "numpy")
    undeclare("test_faulty")


def values_of(program, inputs):
    """Every value of a run, by name."""
    values = {each.name: given for each, given in zip(program.sources, inputs, strict=True)}
    values |= {each.name: each.value for each in program.constants}
    for step in program.steps:
        values |= zip(step.outputs, step.run(values), strict=True)
    return values


def with_fault(program, at, fault):
    """The program in which all that is made of one value is made of its copy by the operator whose rule is wrong."""

    def renamed(name):
        return "w" if name == at else name

    steps = []
    for step in program.steps:
        inputs = tuple(renamed(each) if isinstance(each, str) else tuple(map(renamed, each)) for each in step.inputs)
        steps.append(replace(step, inputs=inputs))
        if at in step.outputs:
            steps.append(Step(("w",), "test_faulty", (at,), (("fault", fault),)))
    return replace(program, steps=tuple(steps), results=tuple(map(renamed, program.results)))


def influence(program, inputs, name):
    """How much of the change of the results passes through one value: with it alone moved, over with all moved."""
    rng = np.random.default_rng(2)
    doubled = [np.asarray(x, complex if x.dtype.kind == "c" else float) for x in inputs]
    here = values_of(program, doubled)
    there = values_of(program, [x + 1e-6 * rng.normal(size=x.shape) for x in doubled])
    through = dict(here)
    for step in program.steps:
        outputs = zip(step.outputs, step.run(through), strict=True)
        through |= {each: there[each] if each == name else y for each, y in outputs}

    def change(values):
        return sum(float(np.sum(np.abs(values[each] - here[each]))) for each in program.results)

    whole = change(there)
    return change(through) / whole if whole else 0.0  # all results may be empty or constant


def planted(seed):
    """A program, its inputs and a value of it, drawn from those through which a fair part of the results passes."""
    program, inputs = random_program(seed)
    names = [step.outputs[0] for step in program.steps if step.operator not in ("qr", "slogdet", "eigh", "svd")]
    names = [name for name in names if influence(program, inputs, name) > 0.02]
    if not names:
        return None
    return program, inputs, names[np.random.default_rng(seed).integers(len(names))]


def not_found(seeds):
    found = {}
    for seed in seeds:
        chosen = planted(seed)
        if chosen is None:
            continue
        program, inputs, name = chosen
        fault = [*FAULTS][seed % len(FAULTS)]
        report = check_gradient(with_fault(program, name, fault), *inputs, raise_error=False)
        if report.verdict != "wrong" or report.culprit is None or report.culprit.kernel_name != "test_faulty":
            found[seed, name, fault] = str(report)
    return found


def test_faults_are_planted_in_most_programs_and_at_many_places():
    chosen = [planted(seed) for seed in range(100)]
    assert sum(each is None for each in chosen) < 10
    places = [int(each[2][1:]) for each in chosen if each]
    assert len(set(places)) > 10


@pytest.mark.parametrize("start", range(0, 100, 25))
def test_a_planted_fault_is_found_and_named(faulty, start):
    assert not_found(range(start, start + 25)) == {}


@pytest.mark.full
@pytest.mark.parametrize("start", range(0, 2000, BLOCK))
def test_2000_planted_faults_are_found_and_named(faulty, start):
    assert not_found(range(start, start + BLOCK)) == {}
