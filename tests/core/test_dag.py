"""Order and plan: what the walk visits, in which order, and which tapes may share a plan."""

from __future__ import annotations

import subprocess
import sys

import networkx
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from autograd import GradientError, Tape, dag
from autograd import operators as op


@pytest.fixture(autouse=True)
def _cold_cache():
    dag.clear_plan_cache()
    yield
    dag.clear_plan_cache()


def plan_of(tape, target, *sources):
    return dag.make_plan(tape, target.id, tuple(each.id for each in sources))


# ------------------------------------------------------------------------------------------------ order


def test_networkx_orders_the_graph(monkeypatch):
    calls = []
    original = networkx.topological_sort

    def counted(graph):
        calls.append(graph)
        assert isinstance(graph, networkx.DiGraph)
        return original(graph)

    monkeypatch.setattr(networkx, "topological_sort", counted)
    with Tape() as tape:
        x = tape.watch(2.0)
        y = op.sin(x) * x
    tape.gradient(y, x)
    assert len(calls) == 1
    assert calls[0].number_of_nodes() == 2
    assert calls[0].number_of_edges() == 1


@pytest.mark.parametrize("condense_from", [2048, 2], ids=["node by node", "condensed"])
def test_every_step_comes_after_all_that_use_its_result(monkeypatch, condense_from):
    monkeypatch.setattr(dag, "CONDENSE_FROM", condense_from)
    with Tape() as tape:
        x = tape.watch(1.0)
        values = [x]
        for position in range(40):
            values.append(op.sin(values[position // 2] * values[-1]) + values[position // 3])
    plan = plan_of(tape, values[-1], x)
    place = {number: position for position, number in enumerate(plan.numbers)}
    for number, first, second in zip(plan.numbers, plan.first, plan.second, strict=True):
        for each in (first, second):
            if each in place:
                assert place[each] > place[number]
    tape.gradient(values[-1], x)


@pytest.mark.parametrize("condense_from", [2048, 2], ids=["node by node", "condensed"])
def test_any_order_that_the_graph_allows_gives_the_gradient(fake, monkeypatch, condense_from):
    """The graph must hold every dependence, through further outputs and members of lists too."""
    two = fake(
        "fake_two(Tensor x) -> (Tensor a, Tensor b)",
        lambda x: (x * 2, np.sin(x)),
        lambda dy, s, a: {"x": lambda: 2 * dy[0] + dy[1] * np.cos(s[0])},
        inputs_to_save=("x",),
    )

    def ask():
        dag.clear_plan_cache()
        with Tape() as tape:
            x = y = tape.watch(0.4)
            for position in range(8):
                _, b = two(y)
                y = op.sum(op.stack([b, x, b * x])) if position % 2 else op.cos(b)
        return tape.gradient(y, x)

    expected = ask()
    monkeypatch.setattr(dag, "CONDENSE_FROM", condense_from)
    for sign in (1, -1):
        order = lambda graph, sign=sign: networkx.lexicographical_topological_sort(graph, key=lambda v: sign * v)  # noqa: E731
        monkeypatch.setattr(networkx, "topological_sort", order)
        assert ask() == pytest.approx(expected, rel=1e-12)


def test_networkx_is_imported_on_first_use_only():
    code = """
import sys
import autograd
from autograd import Tape
assert "networkx" not in sys.modules, "import autograd"
with Tape() as tape:
    x = tape.watch(2.0)
    y = x * x
    tape.nodes
assert "networkx" not in sys.modules, "recording"
assert tape.gradient(y, x) == 4.0
assert "networkx" in sys.modules, "the first gradient"
"""
    subprocess.run([sys.executable, "-c", code], check=True, timeout=120)


# ------------------------------------------------------------------------------------------------ pruning


def test_only_the_paths_from_the_sources_to_the_target_are_in_the_plan():
    with Tape() as tape:
        x, other = tape.watch(2.0), tape.watch(3.0)
        constant_for_x = op.sin(other)
        on_path = op.cos(x)
        beside = op.sin(x)
        y = on_path * constant_for_x
        beyond = y * y
    plan = plan_of(tape, y, x)
    assert sorted(plan.numbers) == [on_path.id, y.id]
    assert beside.id not in plan.numbers
    assert beyond.id not in plan.numbers
    assert list(plan.first)[list(plan.numbers).index(y.id)] == on_path.id
    assert list(plan.second)[list(plan.numbers).index(y.id)] == dag.NONE


def test_only_the_thunks_of_needed_inputs_are_called(fake):
    called = []

    def rule(dy, saved, attrs):
        return {"a": lambda: called.append("a") or dy, "b": lambda: called.append("b") or dy}

    both = fake("fake_both(Tensor a, Tensor b) -> Tensor", np.add, rule)
    for _ in range(2):
        with Tape() as tape:
            a, b = tape.watch(1.0), tape.watch(2.0)
            y = both(a, b)
        assert tape.gradient(y, b) == 1.0
    assert called == ["b", "b"]


def test_a_record_off_every_needed_path_may_lack_a_gradient(fake):
    no_rule = fake("fake_no_rule(Tensor x) -> Tensor", lambda x: x + 1)
    with Tape() as tape:
        x, other = tape.watch(2.0), tape.watch(3.0)
        beside = no_rule(x)
        y = x * no_rule(other)
        beside * y
    assert tape.gradient(y, x) == 4.0


def test_a_missing_gradient_on_a_needed_path_raises_names_it_and_loses_nothing(fake):
    no_rule = fake("fake_no_rule(Tensor x) -> Tensor", lambda x: x + 1)
    with Tape() as tape:
        x = tape.watch(2.0)
        y = x * x
        z = no_rule(y)
    with pytest.raises(GradientError, match=r"'fake_no_rule'.*no gradient.*register_gradient"):
        tape.gradient(z, x)
    assert tape.gradient(y, x) == 4.0, "another target can still be asked for"


# ------------------------------------------------------------------------------------------------ the cache


def run_program(program, xs):
    """A small random program: each step is (operator, position, position)."""
    values = list(xs)
    for kind, first, second in program:
        a, b = values[first % len(values)], values[second % len(values)]
        if kind == "add":
            values.append(op.add(a, b))
        elif kind == "multiply":
            values.append(op.multiply(a, b))
        elif kind == "constant":
            values.append(op.multiply(a, 0.5))
        elif kind == "left constant":
            values.append(op.subtract(0.5, a))
        elif kind == "stack":
            values.append(op.sum(op.sin(op.stack([a, b, a]))))
        else:
            values.append(op.sin(a))
    return values


KINDS = ["add", "multiply", "constant", "left constant", "stack", "sin"]
PROGRAMS = st.lists(st.tuples(st.sampled_from(KINDS), st.integers(0, 20), st.integers(0, 20)), min_size=1, max_size=8)


def gradients_of(program, n_sources, target, chosen):
    with Tape() as tape:
        xs = [tape.watch(0.3 + 0.2 * position) for position in range(n_sources)]
        values = run_program(program, xs)
        y = values[-1 - target % len(values)]
    return tape.gradient(y, [xs[each % n_sources] for each in chosen]), tape


@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    programs=st.lists(PROGRAMS, min_size=1, max_size=3),
    n_sources=st.integers(1, 3),
    target=st.integers(0, 3),
    chosen=st.lists(st.integers(0, 2), min_size=1, max_size=3),
)
def test_cached_plans_give_the_gradients_of_fresh_ones(programs, n_sources, target, chosen):
    """All programs share one cache here; each is then compared with a cold cache and with central differences."""
    dag.clear_plan_cache()
    warm = [gradients_of(program, n_sources, target, chosen)[0] for program in programs * 2]
    for position, program in enumerate(programs * 2):
        dag.clear_plan_cache()
        cold, _ = gradients_of(program, n_sources, target, chosen)
        assert warm[position] == cold
    program, step = programs[0], 1e-6
    at = [0.3 + 0.2 * position for position in range(n_sources)]
    for which, got in zip(chosen, warm[0], strict=True):
        ends = []
        for sign in (1, -1):
            moved = list(at)
            moved[which % n_sources] += sign * step
            values = run_program(program, moved)
            ends.append(values[-1 - target % len(values)])
        scale = 1 + abs(ends[0]) + abs(got)
        assert got == pytest.approx((ends[0] - ends[1]) / (2 * step), abs=1e-5 * scale)


@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(one=PROGRAMS, other=PROGRAMS)
def test_tapes_share_a_plan_exactly_if_their_structure_is_equal(one, other):
    def structure(program):
        _, tape = gradients_of(program, 2, 0, [0])
        return [(node.kernel_name, node.inputs) for node in tape.nodes]

    dag.clear_plan_cache()
    first = structure(one)
    assert len(dag._cache) == 1
    second = structure(other)
    assert len(dag._cache) == (1 if first == second else 2)


def test_equal_structure_shares_and_target_sources_lists_and_rules_separate(fake):
    def ask(build, target=-1, sources=(0,)):
        with Tape() as tape:
            xs = [tape.watch(1.0), tape.watch(2.0)]
            values = build(*xs)
        tape.gradient(values[target], [xs[each] for each in sources])
        return len(dag._cache)

    def chain(x, y):
        a = x * y
        return [a, a + x]

    assert ask(chain) == 1
    assert ask(chain) == 1
    assert ask(chain, target=0) == 2
    assert ask(chain, sources=(1,)) == 3
    assert ask(chain, sources=(0, 1)) == 4
    assert ask(lambda x, y: [op.sum(op.stack([x, y])), op.sum(op.stack([x]))], target=0) == 5
    assert ask(lambda x, y: [op.sum(op.stack([x, y, x])), op.sum(op.stack([x]))], target=0) == 6
    rule = {"x": lambda dy, saved, attrs: dy}
    fake("fake_rule(Tensor x) -> Tensor", lambda x: x * 1, by_input=rule)
    assert ask(lambda x, y: [op.operator_function("fake_rule")(x)]) == 7
    from registry import GradConfig, register_gradient

    with pytest.warns(UserWarning, match="replaced"):
        register_gradient(GradConfig("fake_rule", by_input={"x": lambda dy, s, a: 3 * dy}), override=True)
    assert ask(lambda x, y: [op.operator_function("fake_rule")(x)]) == 8, "a new rule is another plan"


def test_a_record_keeps_the_rule_it_was_recorded_with(fake):
    from registry import GradConfig, register_gradient

    f = fake("fake_rule(Tensor x) -> Tensor", lambda x: x * 1, by_input={"x": lambda dy, s, a: 2 * dy})
    with Tape(persistent=True) as tape:
        x = tape.watch(1.0)
        y = f(x)
        with pytest.warns(UserWarning, match="replaced"):
            register_gradient(GradConfig("fake_rule", by_input={"x": lambda dy, s, a: 3 * dy}), override=True)
        z = f(x)
    assert tape.gradient(y, x) == 2.0
    assert tape.gradient(z, x) == 3.0


def test_plans_are_not_shared_between_backends():
    from registry import copy_registered_kernels, register_backend, remove_backend, unregister_kernel, use_backend
    from registry.kernels import get_kernels_for_backend

    register_backend("fake", object, priority=-1)
    copy_registered_kernels("numpy", "fake")
    try:
        for context in ("numpy", "fake", "numpy"):
            with use_backend(context), Tape() as tape:
                x = tape.watch(2.0)
                y = x * x
            assert tape.gradient(y, x) == 4.0
        assert len(dag._cache) == 2
    finally:
        for config in get_kernels_for_backend("fake"):
            unregister_kernel(config.kernel_name, "fake")
        remove_backend("fake")


def test_the_cache_is_bounded(monkeypatch):
    monkeypatch.setattr(dag, "CACHE_BYTES", 400_000)
    for length in range(1, 100):
        with Tape() as tape:
            x = y = tape.watch(1.0)
            for _ in range(length):
                y = y * x
        assert tape.gradient(y, x) == pytest.approx(length + 1)
        assert dag._cache_bytes <= 400_000
        assert dag._cache_bytes == sum(dag._key_bytes(key) + plan.nbytes() for key, plan in dag._cache.items())
    assert 1 <= len(dag._cache) < 99


def test_a_very_long_tape_is_not_cached(monkeypatch):
    monkeypatch.setattr(dag, "LONGEST_CACHED", 50)
    with Tape() as tape:
        x = y = tape.watch(1.0)
        for _ in range(60):
            y = y * x
    assert tape.gradient(y, x) == 61.0
    assert len(dag._cache) == 0


def test_the_cache_keeps_no_closure_of_custom_gradient_or_checkpoint_alive():
    import gc
    import weakref

    from autograd import checkpoint, custom_gradient, grad

    array = np.ones(3)
    reference = weakref.ref(array)
    functions = [
        custom_gradient(lambda x, array=array: (op.sum(x * array), lambda dy: dy * array)),
        checkpoint(lambda x, array=array: op.sum(x * array)),
    ]
    grad(lambda x: functions[0](x) + functions[1](x))(np.ones(3))
    functions.clear()
    del array
    gc.collect()
    assert reference() is None


# ------------------------------------------------------------------------------------------------ long tapes


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(program=st.lists(st.tuples(st.sampled_from(KINDS), st.integers(0, 60), st.integers(0, 60)), min_size=5, max_size=60))
def test_a_condensed_graph_gives_the_same_gradient(program):
    usual = dag.CONDENSE_FROM
    try:
        results = []
        for dag.CONDENSE_FROM in (10**9, 1, 4):
            dag.clear_plan_cache()
            results.append(gradients_of(program, 2, 0, [0, 1])[0])
    finally:
        dag.CONDENSE_FROM = usual
    for other in results[1:]:
        assert other == pytest.approx(results[0], rel=1e-12, abs=1e-300)


def test_a_condensed_graph_with_several_outputs(fake, monkeypatch):
    split = fake(
        "fake_split(Tensor x) -> (Tensor a, Tensor b)",
        lambda x: (x * 2, x * 3),
        lambda dy, s, a: {"x": lambda: 2 * dy[0] + 3 * dy[1]},
    )
    monkeypatch.setattr(dag, "CONDENSE_FROM", 2)
    with Tape() as tape:
        x = y = tape.watch(1.0)
        for _ in range(7):
            a, b = split(y)
            y = op.sin(a) * b + y
    got = tape.gradient(y, x)
    dag.clear_plan_cache()
    monkeypatch.setattr(dag, "CONDENSE_FROM", 10**9)
    with Tape() as tape:
        x = y = tape.watch(1.0)
        for _ in range(7):
            a, b = split(y)
            y = op.sin(a) * b + y
    assert got == pytest.approx(tape.gradient(y, x), rel=1e-12)


def long_chain(length):
    with Tape() as tape:
        x = y = tape.watch(1.0)
        for _ in range(length // 2):
            y = y * 1.0000001
            y = y + x
    return tape, y, x


def check_long_chain(length):
    tape, y, x = long_chain(length)
    assert len(tape) == length
    n, q = length // 2, 1.0000001
    # y -> q y + x, n times from y = x: derivative q^n + (q^n - 1) / (q - 1)
    expected = q**n + np.expm1(n * np.log1p(1e-7)) / 1e-7
    assert tape.gradient(y, x) == pytest.approx(expected, rel=1e-9)


def test_fifty_thousand_records_without_recursion():
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(400)
    try:
        check_long_chain(400_000)
    finally:
        sys.setrecursionlimit(limit)


@pytest.mark.full
def test_a_million_records_without_recursion():
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(400)
    try:
        check_long_chain(1_000_000)
    finally:
        sys.setrecursionlimit(limit)
