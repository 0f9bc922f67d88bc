"""Random programs: what they are made of, and that they are as smooth as they claim."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from hypothesis import find, given, settings

from autograd import Tape
from autograd.check import check_gradient
from autograd.check.programs import LEFT_OUT, MOVES, Constant, Program, Source, Step, programs, random_program

X, Y = Source("x", (2,), "float64"), Source("y", (), "float64")
SQUARE = Step(("v",), "multiply", ("x", "x"))


@cache
def drawn(seed, smooth=True):
    return random_program(seed, smooth=smooth)


def parts(y):
    return y if isinstance(y, tuple) else (y,)


def values_of(program, inputs):
    """Every value of a run, by name."""
    values = {each.name: given for each, given in zip(program.sources, inputs, strict=True)}
    values |= {each.name: each.value for each in program.constants}
    for step in program.steps:
        values |= zip(step.outputs, step.run(values), strict=True)
    return values


# ----------------------------------------------------------------------------------------------------------- the record

MASKED = Program(
    (X, Y),
    (
        Constant("c0", np.array([True, False])),
        Constant("c1", 2.5),
        Constant("c2", np.array([[1.5 - 2j]])),
        Constant("c3", np.zeros((0, 2), np.float32)),
    ),
    (
        Step(("v0",), "concatenate", (("x", "x"),), (("axis", -1),)),
        Step(("v1",), "sum", ("x",), (("keepdims", True),), (("where", "c0"),)),
        Step(("v2", "v3"), "slogdet", ("c2",)),
        Step(("v4",), "getitem", ("v0",), (("index", (slice(1, None), None, Ellipsis, [0, 0])[:1]),)),
        Step(("v5",), "multiply", ("v1", "c1")),
    ),
    ("v5", "v4", "y"),
)

MASKED_TEXT = """\
import numpy
from autograd import operators

def program(x, y):
    c0 = numpy.array([True, False], 'bool')
    c1 = 2.5
    c2 = numpy.array([[(1.5-2j)]], 'complex128')
    c3 = numpy.zeros((0, 2), 'float32')
    v0 = operators.concatenate([x, x], axis=-1)
    v1 = operators.sum(x, keepdims=True, where=c0)
    v2, v3 = operators.slogdet(c2)
    v4 = operators.getitem(v0, index=(slice(1, None, None),))
    v5 = operators.multiply(v1, c1)
    return v5, v4, y"""


def test_a_program_is_printed_as_source():
    assert str(MASKED) == MASKED_TEXT
    assert repr(MASKED) == "<Program of 5 operators, 2 inputs, 3 results>"


def test_a_program_runs():
    first, second, third = MASKED(np.array([3.0, 4.0]), 7.0)
    np.testing.assert_array_equal(first, [7.5])
    np.testing.assert_array_equal(second, [4.0, 3.0, 4.0])
    assert third == 7.0


def test_a_program_records_on_a_tape():
    with Tape(persistent=True) as tape:
        x = tape.watch(np.array([3.0, 4.0]))
        first, second, _ = MASKED(x, 7.0)
    np.testing.assert_array_equal(tape.gradient(first, x, dy=np.array([1.0])), [2.5, 0.0])
    np.testing.assert_array_equal(tape.gradient(second, x, dy=np.array([1.0, 10.0, 100.0])), [10.0, 101.0])


def test_programs_of_the_same_text_are_equal():
    same = Program((X,), (), (Step(("v",), "multiply", ("x", "x")),), ("v",))
    program = Program((X,), (), (SQUARE,), ("v",))
    assert program == same
    assert hash(program) == hash(same)
    assert program != replace(program, results=("x",))
    assert program != replace(program, sources=(replace(X, shape=(3,)),))
    assert program != str(program)


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"steps": (Step(("v",), "exp", ("w",)),)}, "step 0 .* uses 'w', which nothing before it defines"),
        ({"steps": (Step(("v",), "exp", ("v",)),)}, "step 0 .* uses 'v'"),
        ({"steps": (SQUARE, Step(("w",), "stack", (("v", "u"),)))}, "step 1 .* uses 'u'"),
        ({"steps": (Step(("v",), "sum", ("x",), (), (("where", "m"),)),)}, "uses 'm'"),
        ({"steps": (SQUARE, SQUARE)}, "defines 'v' twice"),
        ({"constants": (Constant("x", 1.0),)}, "defines 'x' twice"),
        ({"results": ("w",)}, r"returns \('w',\); expected names among \['v', 'x'\]"),
        ({"results": ()}, "expected names among"),
    ],
)
def test_a_program_that_makes_no_sense_is_refused(fields, message):
    given = {"sources": (X,), "constants": (), "steps": (SQUARE,), "results": ("v",)} | fields
    with pytest.raises(ValueError, match=message):
        Program(**given)


def test_a_program_takes_as_many_inputs_as_it_has_sources():
    with pytest.raises(TypeError, match="got 1 inputs, expected 2: x, y"):
        MASKED(1.0)


# -------------------------------------------------------------------------------------------------------------- drawing


def test_the_same_seed_draws_the_same_program():
    for seed in range(20):
        (first, inputs), (second, others) = random_program(seed), random_program(seed)
        assert first == second
        for x, y in zip(inputs, others, strict=True):
            np.testing.assert_array_equal(x, y, strict=True)
    assert len({random_program(seed)[0] for seed in range(20)}) > 15


@pytest.mark.parametrize("smooth", [True, False])
def test_the_text_runs_and_says_the_same(smooth):
    for seed in range(100):
        program, inputs = drawn(seed, smooth)
        names: dict = {}
        exec(str(program), names)
        with np.errstate(all="ignore"):
            for found, expected in zip(parts(names["program"](*inputs)), parts(program(*inputs)), strict=True):
                np.testing.assert_array_equal(found, expected, strict=True)


@pytest.mark.parametrize("most", [1, 2, 5, 30])
def test_programs_are_as_long_as_asked(most):
    lengths = {len(random_program(seed, most)[0].steps) for seed in range(150)}
    assert 0.8 * most <= max(lengths) <= most
    assert min(lengths) == 1


def test_inputs_are_what_the_sources_say():
    for seed in range(100):
        program, inputs = drawn(seed)
        assert [(each.shape, each.dtype.name) for each in inputs] == [(each.shape, each.dtype) for each in program.sources]


@pytest.mark.parametrize("dtypes", [("float32",), ("complex128",), ("complex64", "float64")])
def test_inputs_are_of_the_dtypes_asked_for(dtypes):
    found = {x.dtype.name for seed in range(30) for x in random_program(seed, dtypes=dtypes)[1]}
    assert found == set(dtypes)


@pytest.mark.parametrize("wrong", [{"max_operators": 0}, {"dtypes": ()}, {"dtypes": ("int64",)}])
@pytest.mark.parametrize("function", [lambda **given: random_program(0, **given), programs])
def test_what_cannot_be_drawn_is_refused(function, wrong):
    with pytest.raises(ValueError, match="a random program: got max_operators"):
        function(**wrong)


DIFFERENTIABLE = """
import autograd
from registry import operators, gradients
print(*[name for name in operators.operator_names() if gradients.get_gradient(name)])
"""


def test_every_differentiable_operator_is_drawn_or_left_out_with_a_reason():
    """In a new interpreter, where nothing has registered the operators that need SciPy."""
    printed = subprocess.run([sys.executable, "-c", DIFFERENTIABLE], capture_output=True, text=True, check=True).stdout
    assert not set(MOVES) & set(LEFT_OUT)
    assert sorted(printed.split()) == sorted([*MOVES, *LEFT_OUT])


def test_every_operator_appears_within_500_programs():
    count = Counter(step.operator for seed in range(500) for step in drawn(seed)[0].steps)
    assert {name: count[name] for name in MOVES if count[name] < 3} == {}


def has_diamond(program):
    """Whether two different values made of one value meet again."""
    parents: dict[str, set[str]] = {}
    for step in program.steps:
        read = [name for name in step.names_read() if not name.startswith("c")]
        ancestors = [{name} | parents.get(name, set()) for name in dict.fromkeys(read)]
        if any(a & b for number, a in enumerate(ancestors) for b in ancestors[:number]):
            return True
        parents |= dict.fromkeys(step.outputs, set().union(*ancestors))
    return False


def reads(program):
    return Counter(name for step in program.steps for name in step.names_read())


def shapes(program, inputs):
    return {name: np.shape(value) for name, value in values_of(program, inputs).items()}


def broadcasts(program, inputs):
    found = shapes(program, inputs)
    of_two = [step for step in program.steps if step.operator in ("add", "subtract", "multiply", "divide")]
    return any(found[step.inputs[0]] != found[step.inputs[1]] for step in of_two)


def runs_in(dtype):
    return lambda program, inputs: any(np.asarray(y).dtype == dtype for y in parts(program(*inputs)))


def is_dead(program):
    needed = set(program.results)
    for step in reversed(program.steps):
        if not needed & set(step.outputs):
            return True
        needed.update(step.names_read())
    return False


KINDS = {
    "a value meets itself": (lambda p, x: any(len(set(s.inputs)) < len(s.inputs) for s in p.steps), 0.3),
    "a value is used by several steps": (lambda p, x: max(reads(p).values()) > 2, 0.3),
    "a diamond": (lambda p, x: has_diamond(p), 0.3),
    "operands broadcast": (broadcasts, 0.2),
    "a constant": (lambda p, x: bool(p.constants), 0.5),
    "several results": (lambda p, x: len(p.results) > 1, 0.3),
    "a single result": (lambda p, x: len(p.results) == 1, 0.1),
    "several inputs": (lambda p, x: len(x) > 1, 0.5),
    "a step of several outputs": (lambda p, x: any(len(s.outputs) > 1 for s in p.steps), 0.05),
    "a number": (lambda p, x: () in shapes(p, x).values(), 0.3),
    "one element": (lambda p, x: (1,) in shapes(p, x).values(), 0.1),
    "an empty value": (lambda p, x: any(0 in shape for shape in shapes(p, x).values()), 0.02),
    "four axes": (lambda p, x: any(len(shape) == 4 for shape in shapes(p, x).values()), 0.05),
    "single precision": (runs_in(np.float32), 0.02),
    "complex": (runs_in(np.complex128), 0.05),
    "a step that reaches no result": (lambda p, x: is_dead(p), 0.05),
    "more than 20 operators": (lambda p, x: len(p.steps) > 20, 0.1),
}


@pytest.mark.parametrize("kind", KINDS)
def test_programs_are_of_many_kinds(kind):
    holds, share = KINDS[kind]
    count = sum(holds(*drawn(seed)) for seed in range(500))
    assert count >= 500 * share, f"{count} of 500 programs"
    assert kind == "several results" or count < 500


def test_values_are_moderate():
    for seed in range(300):
        for value in values_of(*drawn(seed)).values():
            if value is not None:
                assert np.all(np.abs(value) <= 50)  # and so no NaN either


# ------------------------------------------------------------------------------------------------------------ smoothness


def largest_jump_of_slope(program, inputs, step=1e-6):
    """How much the slopes to the right and to the left of the inputs differ, along a random line; relative to them."""
    rng = np.random.default_rng(1)
    doubled = [np.asarray(x, complex if x.dtype.kind == "c" else float) for x in inputs]
    line = [rng.normal(size=x.shape) for x in doubled]
    with np.errstate(all="ignore"):
        here, right, left = (parts(program(*[x + t * v for x, v in zip(doubled, line, strict=True)])) for t in (0, step, -step))
    jumps = [0.0]
    for y, above, below in zip(here, right, left, strict=True):
        if np.size(y):
            jumps.append(np.max(np.abs((above - y) + (below - y))) / step / (1 + np.max(np.abs(above - below)) / step))
    return max(jumps)


def test_smooth_programs_have_no_kink_and_others_have():
    """A kink shows as a difference of the slopes on its two sides that does not shrink with the step."""
    assert max(largest_jump_of_slope(*drawn(seed)) for seed in range(300)) < 1e-2
    kinked = sum(largest_jump_of_slope(*drawn(seed, smooth=False)) > 0.1 for seed in range(300))
    assert kinked > 30


def test_no_value_is_constant():
    """But for empty ones, and for outputs that later steps may not use: signs, and vectors up to a sign."""
    rng = np.random.default_rng(5)
    for seed in range(200):
        program, inputs = drawn(seed)
        units = [1 + 1j if x.dtype.kind == "c" else 1.0 for x in inputs]
        here = values_of(program, [x * 1.0 for x in inputs])
        moved = [x + 1e-4 * unit * rng.normal(size=x.shape) for x, unit in zip(inputs, units, strict=True)]
        there = values_of(program, moved)
        for step in program.steps:
            name = step.outputs[step.operator in ("slogdet", "svd")]
            change = np.max(np.abs(there[name] - here[name]), initial=0)
            assert change > 1e-9 or not np.size(here[name]) or step.operator == "qr", f"seed {seed}, {step}"


def test_each_input_moves_a_result():
    for seed in range(300):
        program, inputs = drawn(seed)
        y = parts(program(*inputs))
        for number, x in enumerate(inputs):
            moved = [*inputs]
            moved[number] = (x + np.linspace(0.01, 0.02, x.size).reshape(x.shape)).astype(x.dtype)
            there = parts(program(*moved))
            assert not x.size or any(not np.array_equal(a, b) for a, b in zip(y, there, strict=True)), f"seed {seed}"


# --------------------------------------------------------------------------------------------------------- for hypothesis


@settings(max_examples=30, derandomize=True)
@given(programs(max_operators=12))
def test_the_strategy_draws_what_is_right(drawn):
    program, inputs = drawn
    assert 1 <= len(program.steps) <= 12
    assert check_gradient(program, *inputs).ok


def test_the_strategy_shrinks_to_the_step_that_matters():
    program, inputs = find(
        programs(),
        lambda drawn: any(step.operator == "exp" for step in drawn[0].steps),
        settings=settings(max_examples=1000, derandomize=True, database=None),
    )
    assert len(program.steps) <= 6  # of up to 30; how far it gets hangs on hypothesis' own choices
    assert len(inputs) <= 3


def test_without_hypothesis_the_error_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "hypothesis", None)
    with pytest.raises(ImportError, match=r"pip install 'gradtape\[check\]'"):
        programs()
