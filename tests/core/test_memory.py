"""What a tape keeps alive: what the rules declared, and nothing else; and that nothing needs the garbage collector."""

from __future__ import annotations

import contextlib
import gc
import weakref

import numpy as np
import pytest

from autograd import GradientError, Tape, checkpoint, custom_gradient, grad, hessian, jacobian, jvp, make_vjp
from autograd import operators as op


@pytest.fixture(autouse=True)
def _without_the_collector():
    gc.collect()
    gc.disable()
    yield
    gc.enable()


def alive(reference: weakref.ref) -> bool:
    return reference() is not None


def test_values_that_no_rule_declared_are_freed_at_once():
    with Tape() as tape:
        x = tape.watch(np.ones(10))
        y = x + 1.0
        z = y + 2.0  # add saves nothing
        reference, tensor = weakref.ref(y._value), weakref.ref(y)
        del y
        assert not alive(reference)
        assert not alive(tensor)
    np.testing.assert_array_equal(tape.gradient(z, x, dy=np.ones(10)), np.ones(10))


def test_declared_values_live_as_long_as_the_tape_needs_them_and_tensors_do_not():
    with Tape() as tape:
        x = tape.watch(np.ones(10))
        y = x * 3.0
        z = op.sum(op.sin(y))
        reference, tensor = weakref.ref(y._value), weakref.ref(y)
        del y
    assert alive(reference), "sin declared its input"
    assert not alive(tensor), "the tape keeps values, not tensors"
    tape.gradient(z, x)
    assert not alive(reference), "freed once the gradient has been taken"


def test_a_factor_of_a_constant_is_not_kept():
    with Tape() as tape:
        x = tape.watch(np.ones(10))
        y = x + 1.0
        z = y * 3.0  # the gradient in y needs 3.0 alone
        reference = weakref.ref(y._value)
        del y
        assert not alive(reference)
        assert tape.saved_bytes() == 0
    np.testing.assert_array_equal(tape.gradient(z, x, dy=np.ones(10)), np.full(10, 3.0))


def test_an_output_is_kept_only_where_the_rule_declared_outputs(fake):
    rule = {"x": lambda dy, saved, attrs: dy}
    plain = fake("fake_plain(Tensor x) -> Tensor", lambda x: x + 1, by_input=rule)
    saving = fake("fake_saving(Tensor x) -> Tensor", lambda x: x + 1, by_input=rule, outputs_to_save=True)
    with Tape() as tape:
        x = tape.watch(np.ones(10))
        first, second = plain(x), saving(x)
        references = [weakref.ref(first._value), weakref.ref(second._value)]
        del first, second
        assert [alive(each) for each in references] == [False, True]
        assert tape.saved_bytes(by_kernel=True) == {"fake_saving": 80}


def test_custom_gradient_keeps_neither_its_inputs_nor_its_outputs():
    pair = custom_gradient(lambda x: ((x + 1.0, {"b": x + 2.0}), lambda dy: dy[0] + dy[1]["b"]))
    with Tape() as tape:
        x = tape.watch(np.ones(10))
        y = x + 1.0
        a, rest = pair(y)
        references = [weakref.ref(each._value) for each in (y, a, rest["b"])]
        z = op.sum(a + rest["b"])
        del y, a, rest
        assert not any(alive(each) for each in references)
    np.testing.assert_array_equal(tape.gradient(z, x), np.full(10, 2.0))


def test_shapes_are_kept_without_the_array():
    with Tape() as tape:
        x = tape.watch(np.ones((4, 5)))
        y = x + 1.0
        z = op.sum(y, axis=1)  # needs the shape of y
        reference = weakref.ref(y._value)
        del y
        assert not alive(reference)
    np.testing.assert_array_equal(tape.gradient(z, x, dy=np.arange(4.0)), np.repeat(np.arange(4.0), 5).reshape(4, 5))


def test_a_constant_operand_is_released_with_the_tape():
    constant = np.ones(10)
    reference = weakref.ref(constant)
    with Tape() as tape:
        x = tape.watch(np.ones(10))
        z = op.sum(x * constant)
    del constant
    assert alive(reference)
    tape.gradient(z, x)
    assert not alive(reference)


def test_cotangents_are_freed_during_the_walk(fake):
    """When the rule of the first record runs, the cotangents of the later records are gone."""
    references, alive_at_the_end = [], []

    def first_rule(dy, saved, attrs):
        alive_at_the_end.append(sum(alive(each) for each in references))
        return {"x": lambda: dy}

    def later_rule(dy, saved, attrs):
        def thunk():
            g = dy * 2.0
            references.append(weakref.ref(g))
            return g

        return {"x": thunk}

    first = fake("fake_first(Tensor x) -> Tensor", lambda x: x + 0, first_rule)
    later = fake("fake_later(Tensor x) -> Tensor", lambda x: x + 0, later_rule)
    for _ in range(2):  # the careful walk and the fast one
        references.clear()
        with Tape() as tape:
            x = tape.watch(np.ones(10))
            y = op.sum(later(later(later(later(first(x))))))
        tape.gradient(y, x)
        assert len(references) == 4
    assert max(alive_at_the_end) <= 2, "the cotangent that has just arrived, and at most the one it came from"


def scenario_gradient():
    with Tape() as tape:
        x = tape.watch({"w": np.ones(3), "b": 2.0})
        y = op.sum(op.sin(x["w"]) * x["b"])
    tape.gradient(y, x)
    return tape


def scenario_persistent_closed_without_a_gradient():
    with Tape(persistent=True) as tape:
        x = tape.watch(np.ones(3))
        op.sum(op.sin(x * x))
    return tape


def scenario_nested():
    with Tape() as outer:
        x = outer.watch(np.ones(3))
        with Tape() as inner:
            xi = inner.watch(x)
            y = op.sum(op.sin(xi * xi))
        z = op.sum(inner.gradient(y, xi))
    outer.gradient(z, x)
    return outer


def scenario_failed_gradient():
    with Tape() as tape:
        x = tape.watch(np.ones(3))
        y = x * x
    with contextlib.suppress(GradientError):  # the target is no scalar
        tape.gradient(y, x)
    return tape


def scenario_checkpoint():
    with Tape() as tape:
        x = tape.watch(np.ones(3))
        y = op.sum(checkpoint(lambda v: op.sin(v * v))(x))
    tape.gradient(y, x)
    return tape


def scenario_custom_gradient():
    double = custom_gradient(lambda pair: ((pair[0] * 2.0, {"y": pair[1]}), lambda dy: ((dy[0] * 2.0, dy[1]["y"]),)))
    with Tape() as tape:
        x = tape.watch(np.ones(3))
        y, rest = double((x, x))
        z = op.sum(y * rest["y"])
    tape.gradient(z, x)
    return tape


@pytest.mark.parametrize(
    "scenario",
    [each for name, each in sorted(globals().items()) if name.startswith("scenario_")],
    ids=lambda each: each.__name__[9:],
)
def test_a_tape_goes_when_its_last_reference_goes(scenario):
    scenario()
    gc.collect()  # what a first run sets up once, and what pytest left
    tape = scenario()
    reference = weakref.ref(tape)
    del tape
    assert not alive(reference)
    assert gc.collect() == 0, "there were reference cycles"


@pytest.mark.parametrize(
    "work",
    [
        lambda x: grad(lambda v: op.sum(op.sin(v)))(x),
        lambda x: jacobian(op.sin)(x),
        lambda x: hessian(lambda v: op.sum(v * v * v))(x),
        lambda x: make_vjp(op.sin)(x)[0](x),
        lambda x: jvp(op.sin, (x,), (x,)),
        lambda x: jvp(lambda v: op.matmul(v, v), (x,), (x,)),
    ],
    ids=["grad", "jacobian", "hessian", "vjp", "jvp", "jvp of matmul"],
)
def test_functions_leave_no_cycles_and_no_locks(work):
    x = np.ones(3)
    work(x)
    gc.collect()  # what a first call sets up once
    work(x)
    assert x.flags.writeable
    assert gc.collect() == 0


def test_peak_of_a_long_chain_is_its_saved_values():
    """1000 sums of a 1 MB array: nothing is saved, so nothing may pile up."""
    import tracemalloc

    x0 = np.ones(125_000)
    tracemalloc.start()
    try:
        with Tape() as tape:
            x = tape.watch(x0)
            y = x
            for _ in range(1000):
                y = y + x
        assert tracemalloc.get_traced_memory()[1] < 5e6
        g = tape.gradient(y, x, dy=np.ones(125_000))
        assert tracemalloc.get_traced_memory()[1] < 8e6
    finally:
        tracemalloc.stop()
    assert g[0] == 1001.0


@pytest.mark.parametrize(("keeps_zeros", "persistent", "stays"), [(True, False, False), (False, False, True), (True, True, True)])
def test_what_a_step_has_used_goes_while_the_walk_goes_on(fake, keeps_zeros, persistent, stays):
    """Unless the values may be asked for again: by another gradient, or by strong zeros, which a rule may make necessary."""
    later: list[weakref.ref] = []
    alive: list[list[bool]] = []

    def rule(dy, saved, attrs):
        alive.append([ref() is not None for ref in later])
        return {"x": lambda: dy}

    first = fake("first(Tensor x) -> Tensor", lambda x: x + 0.0, rule, elementwise=True, keeps_zeros=keeps_zeros)
    with Tape(persistent=persistent) as tape:
        x = tape.watch(np.array([1.0, 2.0]))
        y = first(x)
        for _ in range(4):
            y = op.relu(y)
            later.append(weakref.ref(y._value))
        total = op.sum(y)
        del y
    tape.gradient(total, x)
    assert alive[0][1:] == [stays] * 3  # what the step just before used may live until the next one is through
    tape._free()
