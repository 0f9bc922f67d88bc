"""The tape as a person uses it: what it records, what it gives back, when it frees."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import networkx
import numpy as np
import pytest

from autograd import GradientError, Tape, TapeError, TapeNode, Tensor
from autograd import operators as op

X = np.array([1.0, 2.0, 3.0])


# ------------------------------------------------------------------------------------------------ records


def test_a_record_has_every_field_by_name():
    c = np.array([4.0, 5.0, 6.0])
    with Tape() as tape:
        x = tape.watch(X, name="x")
        y = x * c
        s = op.sum(y, axis=0)
    first, second = tape.nodes
    assert isinstance(first, TapeNode)
    assert first.kernel_name == "multiply"
    assert first.backend_name == "numpy"
    assert first.inputs == {"x1": x.id, "x2": None}
    assert first.outputs == [y.id] == [first.id]
    assert first.shape == (3,)
    assert first.dtype == np.float64
    assert first.inputs_to_save == ("x1", "x2")
    assert first.saved["x1"] is None, "x1 is only needed for the gradient of x2, which is a constant"
    assert first.saved["x2"] is c
    assert first.gradient is not None
    assert second.kernel_name == "sum"
    assert second.attrs["axis"] == 0
    assert second.attrs["keepdims"] is False
    assert second.inputs == {"a": y.id}
    assert second.outputs == [s.id]
    assert second.saved.get("a") is None, "sum needs the shape of its input, not its value"


def test_only_kernels_that_touch_a_watched_value_are_recorded():
    with Tape() as tape:
        x = tape.watch(X)
        op.sin(X)
        np.add(X, X)
        op.multiply(X, X)
        op.cos(x)
    assert [node.kernel_name for node in tape.nodes] == ["cos"]
    assert len(tape) == 1


def test_list_inputs_and_several_outputs_are_recorded_by_name(fake):
    halves = fake(
        "fake_halves(Tensor x) -> (Tensor low, Tensor high)",
        lambda x: (x[:1], x[1:]),
        lambda dy, saved, attrs: {"x": lambda: np.concatenate(dy)},
        outputs_to_save=(False, True),
    )
    with Tape() as tape:
        x = tape.watch(X)
        low, high = halves(x)
        stacked = op.stack([low, np.ones(1)])
    first, second = tape.nodes
    assert first.outputs == [low.id, high.id]
    assert first.outputs_to_save == (False, True)
    (saved,) = first.saved.values()
    np.testing.assert_array_equal(saved, [2.0, 3.0])
    assert second.inputs == {"arrays": [low.id, None]}
    assert second.outputs == [stacked.id]


def test_a_float_that_no_operation_has_touched_is_its_own_gradient():
    with Tape() as tape:
        x = tape.watch(2.0)
    assert tape.gradient(x, x) == 1.0


def test_keep_all_holds_values_and_source_lines():
    with Tape(keep="all", sources=True) as tape:
        x = tape.watch(X)
        y = op.sin(x)  # the line that the record names
    (node,) = tape.nodes
    assert node.values[0] is X
    assert node.values[1] is y._value
    assert "the line that the record names" in node.source_line
    assert __file__ in node.source_line


def test_without_keep_all_neither_values_nor_lines_are_kept():
    with Tape() as tape:
        op.sin(tape.watch(X))
    (node,) = tape.nodes
    assert node.values is None
    assert node.source_line is None


# ------------------------------------------------------------------------------------------------ graph


def test_graph_is_a_networkx_digraph_with_the_fields_as_attributes():
    with Tape() as tape:
        x = tape.watch(X, name="x")
        b = tape.watch(1.0, name="b")
        y = x * x + b
    graph = tape.graph()
    assert isinstance(graph, networkx.DiGraph)
    assert networkx.is_directed_acyclic_graph(graph)
    assert set(graph) == {x.id, b.id, *(node.id for node in tape.nodes)}
    for node in tape.nodes:
        for field in TapeNode.__slots__:
            assert field in graph.nodes[node.id]
        assert graph.nodes[node.id]["kernel_name"] == node.kernel_name
        assert graph.nodes[node.id]["inputs"] == node.inputs
    assert graph.nodes[x.id]["kernel_name"] == "source"
    assert graph.nodes[x.id]["name"] == "x"
    square = tape.nodes[0].id
    assert graph.edges[x.id, square]["inputs"] == ("x1", "x2"), "both uses of x are on the one edge"
    assert set(graph.edges) == {(x.id, square), (square, y.id), (b.id, y.id)}


def test_graph_links_further_outputs_to_their_record(fake):
    halves = fake("fake_halves(Tensor x) -> (Tensor low, Tensor high)", lambda x: (x[:1], x[1:]))
    with Tape() as tape:
        _, high = halves(tape.watch(X))
        y = op.sin(high)
    assert (tape.nodes[0].id, y.id) in tape.graph().edges


# ------------------------------------------------------------------------------------------------ sources and structure


@dataclass
class Layer:
    weight: object
    bias: object


class Pair(NamedTuple):
    first: object
    second: object


@pytest.mark.parametrize(
    ("container", "expected"),
    [
        (X, 2 * X),
        (2.0, 4.0),
        ([X, 2.0], [2 * X, 4.0]),
        ((2.0, [3.0]), (4.0, [6.0])),
        ({"w": X, "b": {"inner": 2.0}}, {"w": 2 * X, "b": {"inner": 4.0}}),
        (Pair(1.0, X), Pair(2.0, 2 * X)),
        (Layer(X, 1.0), Layer(2 * X, 2.0)),
        ([], []),
    ],
    ids=["array", "float", "list", "tuple", "dict", "namedtuple", "dataclass", "empty list"],
)
def test_containers_in_and_the_same_containers_out(container, expected):
    from autograd.containers import flatten

    with Tape() as tape:
        extra = tape.watch(0.0)
        watched = tape.watch(container)
        leaves, _ = flatten(watched)
        y = extra * 1.0
        for leaf in leaves:
            y = y + op.sum(leaf * leaf)
    gradients = tape.gradient(y, watched)
    got, structure = flatten(gradients)
    want, wanted_structure = flatten(expected)
    assert type(gradients) is type(expected)
    assert structure.paths("g") == wanted_structure.paths("g")
    for each, other in zip(got, want, strict=True):
        assert type(each) is type(other)
        np.testing.assert_array_equal(each, other)


def test_value_and_gradient():
    with Tape() as tape:
        x = tape.watch(X)
        y = op.sum(x * x)
    value, gradient = tape.value_and_gradient(y, {"x": x})
    assert value == 14.0
    np.testing.assert_array_equal(gradient["x"], 2 * X)


def test_dy_is_the_cotangent_of_the_target():
    dy = np.array([1.0, 10.0, 100.0])
    with Tape() as tape:
        x = tape.watch(X)
        y = x * x
    np.testing.assert_array_equal(tape.gradient(y, x, dy=dy), 2 * X * dy)


def test_a_source_that_the_target_does_not_depend_on_gets_zeros_in_its_own_dtype():
    with Tape() as tape:
        x, unused, scalar = tape.watch(X), tape.watch(np.ones((2, 2), np.float32)), tape.watch(1.0)
        y = op.sum(x)
    _, g, s = tape.gradient(y, [x, unused, scalar])
    np.testing.assert_array_equal(g, np.zeros((2, 2)))
    assert g.dtype == np.float32
    assert type(s) is float
    assert s == 0.0


def test_gradient_in_an_intermediate_value_and_what_made_it():
    with Tape() as tape:
        x = tape.watch(2.0)
        y = x * x
        z = y * y
    assert tape.gradient(z, [x, y, z]) == [32.0, 8.0, 1.0]


def test_a_source_given_twice_gets_its_whole_gradient_twice():
    with Tape() as tape:
        x = tape.watch(X)
        y = op.sum(x * x)
    first, second = tape.gradient(y, [x, x])
    np.testing.assert_array_equal(first, 2 * X)
    np.testing.assert_array_equal(second, 2 * X)
    assert not np.shares_memory(first, second)


def test_the_same_array_watched_twice_is_two_sources():
    with Tape() as tape:
        first, second = tape.watch(X), tape.watch(X)
        y = op.sum(first * first + second)
    for got, want in zip(tape.gradient(y, [first, second]), [2 * X, np.ones(3)], strict=True):
        np.testing.assert_array_equal(got, want)


def test_jacobian_of_arrays_containers_and_scalars():
    matrix = np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
    with Tape(persistent=True) as tape:
        x, s = tape.watch(X), tape.watch(2.0)
        y = op.matmul(matrix, x) * s
        z = s * s
    jacobians = tape.jacobian(y, {"x": x, "s": s})
    np.testing.assert_array_equal(jacobians["x"], 2 * matrix)
    np.testing.assert_array_equal(jacobians["s"], matrix @ X)
    scalar = tape.jacobian(z, s)
    assert type(scalar) is float
    assert scalar == 4.0
    independent = tape.jacobian(z, x)
    np.testing.assert_array_equal(independent, np.zeros(3))


# ------------------------------------------------------------------------------------------------ recording on and off


def test_stop_recording_gives_bare_values_and_ends():
    with Tape() as tape:
        x = tape.watch(X)
        with tape.stop_recording():
            c = op.sin(x)
        assert type(c) is np.ndarray
        assert len(tape) == 0
        y = op.sum(x * c)
    np.testing.assert_array_equal(tape.gradient(y, x), np.sin(X))


def test_stop_recording_resumes_after_an_exception():
    with Tape() as tape:
        x = tape.watch(2.0)
        with pytest.raises(ZeroDivisionError), tape.stop_recording():
            1 / 0  # noqa: B018
        y = x * x
    assert tape.gradient(y, x) == 4.0


def test_a_tape_that_was_freed_inside_stop_recording_does_not_record_again():
    c = np.ones(3)
    with Tape() as tape:
        x = tape.watch(X)
        y = op.sum(x * x)
        with tape.stop_recording():
            tape.gradient(y, x)
        z = x * c
    assert type(z) is np.ndarray
    assert c.flags.writeable


def test_operations_after_the_tape_was_closed_are_not_recorded():
    with Tape() as tape:
        x = tape.watch(X)
        y = op.sum(x * x)
    assert type(y * 2.0) is np.float64
    assert len(tape) == 2
    np.testing.assert_array_equal(tape.gradient(y, x), 2 * X)


def test_a_tensor_of_a_closed_tape_is_a_constant_of_the_next_one():
    with Tape() as first:
        old = first.watch(3.0)
    with Tape(persistent=True) as second:
        x = second.watch(2.0)
        y = x * old
    assert second.gradient(y, x) == 3.0
    with pytest.raises(GradientError, match="another tape"):
        second.gradient(y, old)


def test_gradient_inside_its_own_block():
    with Tape(persistent=True) as tape:
        x = tape.watch(3.0)
        y = x * x
        before = len(tape)
        assert tape.gradient(y, x) == 6.0
        assert len(tape) == before, "the walk is not recorded on its own tape"
        z = y * x
        assert type(z) is Tensor, "a persistent tape goes on recording"
    assert tape.gradient(z, x) == 27.0


# ------------------------------------------------------------------------------------------------ freeing


def test_a_second_gradient_raises_and_says_persistent():
    with Tape() as tape:
        x = tape.watch(2.0)
        y = x * x
    assert tape.gradient(y, x) == 4.0
    assert tape.saved_bytes() == 0
    assert all(node.saved == {} for node in tape.nodes)
    for ask in (tape.gradient, tape.jacobian, tape.value_and_gradient):
        with pytest.raises(TapeError, match="persistent=True"):
            ask(y, x)
    assert [node.kernel_name for node in tape.nodes] == ["multiply"], "the structure can still be looked at"
    assert len(tape.graph()) == 2


def test_a_persistent_tape_gives_several_gradients():
    with Tape(persistent=True) as tape:
        x = tape.watch(X)
        y = x * x
        z = op.sum(y * y)
    np.testing.assert_array_equal(tape.gradient(z, x), 4 * X**3)
    np.testing.assert_array_equal(tape.gradient(z, x), 4 * X**3)
    np.testing.assert_array_equal(tape.gradient(z, y), 2 * X**2)
    assert tape.saved_bytes() > 0


# ------------------------------------------------------------------------------------------------ bytes and scopes


def test_saved_bytes_in_total_and_by_kernel_with_each_buffer_once():
    base = np.arange(10.0)
    with Tape() as tape:
        x = tape.watch(base[:4])
        y = op.sin(x)  # saves x, a view of 80 bytes
        z = op.cos(x)  # saves x again: no further byte
        op.multiply(y, z)  # saves y and z, 32 bytes each
    assert tape.saved_bytes() == 80 + 64
    assert tape.saved_bytes(by_kernel=True) == {"sin": 80, "multiply": 64}


def test_saved_bytes_counts_no_value_that_no_rule_declared():
    with Tape() as tape:
        x = tape.watch(np.ones(1000))
        op.sum(x + 1.0 + x)
    assert tape.saved_bytes() == 0


def test_scopes_nest_and_name_their_records():
    with Tape() as tape:
        x = tape.watch(2.0)
        with tape.scope("outer"):
            y = x * x
            with tape.scope("inner"):
                y = y + x
            y = y * x
        y = op.sin(y)
    assert [node.scope for node in tape.nodes] == ["outer", "outer/inner", "outer", ""]
    assert tape.graph().nodes[tape.nodes[1].id]["scope"] == "outer/inner"


def test_a_scope_ends_with_an_exception():
    with Tape() as tape:
        x = tape.watch(2.0)
        with pytest.raises(ZeroDivisionError), tape.scope("broken"):
            1 / 0  # noqa: B018
        y = x * x
    assert tape.nodes[0].scope == ""
    assert tape.gradient(y, x) == 4.0


# ------------------------------------------------------------------------------------------------ nesting


def nested_derivative(f, x: float, order: int) -> float:
    """The derivative of any order by tapes opened inside one another, without ``grad``."""
    if order == 0:
        return f(x)
    with Tape() as tape:
        inside = tape.watch(x)
        y = nested_derivative(f, inside, order - 1)
    return tape.gradient(y, inside)


@pytest.mark.parametrize("order", range(6))
def test_polynomial_to_order_five(order):
    def f(x):
        return 2.0 * x * x * x * x * x * x - 3.0 * x * x + x

    at = 1.5
    coefficients = np.polynomial.Polynomial([0, 1, -3, 0, 0, 0, 2])
    expected = coefficients.deriv(order)(at) if order else coefficients(at)
    assert nested_derivative(f, at, order) == pytest.approx(expected, rel=1e-13)


@pytest.mark.parametrize("order", range(6))
def test_derivatives_of_a_low_polynomial_end_in_zero(order):
    expected = [27.0, 27.0, 18.0, 6.0, 0.0, 0.0][order]
    got = nested_derivative(lambda x: x * x * x, 3.0, order)
    assert type(got) is float
    assert got == expected


@pytest.mark.parametrize("order", range(6))
def test_sine_to_order_five(order):
    at = 0.7
    assert nested_derivative(op.sin, at, order) == pytest.approx(math.sin(at + order * math.pi / 2), rel=1e-13)


def test_an_inner_tape_that_watches_another_value_does_not_disturb_the_outer_one():
    with Tape() as outer:
        x = outer.watch(5.0)
        with Tape() as inner:
            y = inner.watch(2.0)
            z = x * y * y
        g = inner.gradient(z, y)  # 2xy
        result = x * g  # 2x^2 y
    assert outer.gradient(result, x) == 40.0


def test_an_outer_tape_goes_on_after_an_inner_one_raised():
    with Tape() as outer:
        x = outer.watch(3.0)
        with pytest.raises(ZeroDivisionError), Tape() as inner:  # noqa: PT012
            inner.watch(x) * 2.0
            1 / 0  # noqa: B018
        y = x * x
    assert outer.gradient(y, x) == 6.0


# ------------------------------------------------------------------------------------------------ life cycle


def test_an_exception_closes_the_tape_and_frees_it():
    array = X.copy()
    with pytest.raises(ZeroDivisionError), Tape() as tape:  # noqa: PT012
        x = tape.watch(array)
        op.sum(x * x)
        1 / 0  # noqa: B018
    assert array.flags.writeable
    assert tape.saved_bytes() == 0
    assert type(x * 2.0) is np.ndarray
    with pytest.raises(TapeError, match="block raised"):
        tape.gradient(x, x)


def test_an_exception_in_a_rule_frees_the_tape(fake):
    def rule(dy, saved, attrs):
        raise ZeroDivisionError("in the rule")

    broken = fake("fake_broken(Tensor x) -> Tensor", lambda x: x * 1.0, rule)
    array = X.copy()
    with Tape(persistent=True) as outer:
        a = outer.watch(array)
        with Tape() as tape:
            x = tape.watch(a)
            y = op.sum(broken(x * x))
        with pytest.raises(ZeroDivisionError, match="in the rule") as caught:
            tape.gradient(y, x)
        z = op.sum(a * a)
    assert tape.saved_bytes() == 0
    np.testing.assert_array_equal(outer.gradient(z, a), 2 * X)
    assert not array.flags.writeable, "the outer tape is persistent and still needs it"
    del outer, a, x, y, z, tape, caught
    assert array.flags.writeable


def test_an_exception_in_a_kernel_leaves_the_tape_in_step(fake):
    def kernel(x):
        if x[0] > 0:
            raise ZeroDivisionError("in the kernel")
        return x

    broken = fake("fake_kernel(Tensor x) -> Tensor", kernel, lambda dy, s, a: {"x": lambda: dy}, inputs_to_save=("x",))
    with Tape() as tape:
        x = tape.watch(X)
        with pytest.raises(ZeroDivisionError) as caught:
            broken(x)
        y = op.sum(x * x)
    assert any("fake_kernel" in note and "[3]" in note for note in caught.value.__notes__)
    np.testing.assert_array_equal(tape.gradient(y, x), 2 * X)


def test_a_tape_records_one_run():
    tape = Tape()
    with tape:
        pass
    with pytest.raises(TapeError, match="opened before"), tape:
        pass


@pytest.mark.parametrize("options", [{"keep": "everything"}, {"sources": True}])
def test_wrong_options_raise_and_leave_nothing_behind(options):
    with pytest.raises(TapeError, match="keep"):
        Tape(**options)  # pytest turns an exception in __del__ into a failure


def test_repr_says_what_state_the_tape_is_in():
    tape = Tape()
    assert "not opened" in repr(tape)
    with tape:
        x = tape.watch(1.0)
        assert "recording" in repr(tape)
        y = x * x
    assert "closed" in repr(tape)
    assert "1 record" in repr(tape)
    tape.gradient(y, x)
    assert "freed" in repr(tape)
