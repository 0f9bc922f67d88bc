"""What a tape records and how it shows it: records by name, the graph, scopes, the bytes that it holds."""

from __future__ import annotations

import networkx
import numpy as np
import pytest

from autograd import Tape, TapeNode
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
