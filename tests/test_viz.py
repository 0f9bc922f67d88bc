"""Pictures: nothing overlaps, everything is said, and no global state is touched."""

import subprocess
import sys
from itertools import combinations

import networkx
import numpy
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import autograd.numpy as np
from autograd import Tape

pytest.importorskip("matplotlib")
from autograd.viz import draw_curves, draw_tape
from autograd.viz.layout import layered

# -------------------------------------------------------------------------------------------------- tapes to draw


def training_step():
    rng = numpy.random.default_rng(0)
    params = {"hidden": {"w": rng.normal(size=(64, 128)), "b": numpy.zeros(128)}, "output": {"w": rng.normal(size=(128, 10))}}
    with Tape() as tape:
        p = tape.watch(params, name="params")
        with tape.scope("hidden"):
            hidden = np.relu(numpy.ones((32, 64)) @ p["hidden"]["w"] + p["hidden"]["b"])
        with tape.scope("output"):
            logits = hidden @ p["output"]["w"]
        with tape.scope("loss"):
            np.softmax_cross_entropy(logits, labels=numpy.zeros(32, int))
    return tape


def nested_scopes():
    with Tape() as tape:
        x = tape.watch(numpy.arange(3.0), name="x")
        y = tape.watch(2.0)
        with tape.scope("outer"):
            a = np.sin(x)
            with tape.scope("inner"):
                b = a * y * x
        np.sum((b + np.cos(x) * y) * b)
    return tape


def lists_and_long_arrows():
    with Tape() as tape:
        x = tape.watch(numpy.arange(4.0), name="x")
        y = x
        for _ in range(3):
            y = np.tanh(y)
        np.concatenate([x, y, x, numpy.ones(2)])
    return tape


def several_unconnected():
    with Tape() as tape:
        for name in "abc":
            tape.watch(1.0, name=name)
        x = tape.watch(numpy.ones((2, 3), numpy.float32), name="a name with $signs_ and a very long end of it")
        np.sum(x, axis=1, keepdims=True)
        np.transpose(x)
    return tape


TAPES = [training_step, nested_scopes, lists_and_long_arrows, several_unconnected]


def texts_of(figure):
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.text import Text

    renderer = FigureCanvasAgg(figure).get_renderer()
    texts = [text for text in figure.findobj(Text) if text.get_text() and text.get_visible()]
    return [(text.get_text(), text.get_window_extent(renderer)) for text in texts]


def boxes_of(figure):
    from matplotlib.patches import FancyBboxPatch

    return [
        patch.get_window_extent()
        for patch in figure.axes[0].patches
        if isinstance(patch, FancyBboxPatch) and patch.get_zorder() == 3
    ]


@pytest.mark.parametrize("make", TAPES)
def test_no_text_overlaps_another_or_leaves_the_picture(make):
    figure = draw_tape(make(), title="A tape")
    for (first, at), (second, beside) in combinations(texts_of(figure), 2):
        assert not at.overlaps(beside), f"{first!r} overlaps {second!r}"
    width, height = figure.get_size_inches() * figure.dpi
    for text, at in texts_of(figure):
        assert 0 <= at.x0 < at.x1 <= width, f"{text!r} leaves the picture"
        assert 0 <= at.y0 < at.y1 <= height, f"{text!r} leaves the picture"


@pytest.mark.parametrize("make", TAPES)
def test_boxes_stand_apart_and_hold_their_text(make):
    tape = make()
    figure = draw_tape(tape)
    boxes = boxes_of(figure)
    assert len(boxes) == len(tape.graph())
    for first, second in combinations(boxes, 2):
        assert not first.overlaps(second)
    for text, at in texts_of(figure):
        touched = [box for box in boxes if box.overlaps(at)]
        assert len(touched) <= 1, text
        for box in touched:
            assert box.x0 < at.x0 < at.x1 < box.x1, f"{text!r} leaves its box"
            assert box.y0 < at.y0 < at.y1 < box.y1, f"{text!r} leaves its box"


def test_a_box_says_what_the_tape_records():
    texts = [text for text, _ in texts_of(draw_tape(training_step(), title="One step"))]
    assert {"One step", "params.hidden.w", "matmul", "relu", "softmax_cross_entropy", "x1 constant", "labels: int64  32"} <= {
        *texts
    }
    assert {"hidden", "output", "loss", "saves nothing", "saves x1 (16.4 kB)"} <= {*texts}
    assert any("5 records, 3 watched sources, " in text for text in texts)
    assert "float64  64 × 128" in texts  # noqa: RUF001  # the sign between lengths


def test_attributes_are_shown_where_they_are_not_the_default():
    texts = [text for text, _ in texts_of(draw_tape(several_unconnected()))]
    assert {"axis=1", "keepdims=True"} <= {*texts}
    assert not any("None" in text for text in texts)


def test_a_tape_that_has_freed_its_values_still_names_them():
    with Tape() as tape:
        x = tape.watch(3.0, name="x")
        y = x * x
    tape.gradient(y, x)
    assert "saved x1, x2" in [text for text, _ in texts_of(draw_tape(tape))]


@pytest.mark.parametrize("ending", ["png", "svg", "pdf"])
def test_pictures_are_written(tmp_path, ending):
    path = tmp_path / f"tape.{ending}"
    draw_tape(nested_scopes(), path)
    draw_curves({"loss": {"training": [1.0]}}, tmp_path / f"curves.{ending}")
    assert path.stat().st_size > 1000
    assert (tmp_path / f"curves.{ending}").stat().st_size > 1000


def test_a_tape_too_long_to_read_and_an_empty_one_are_refused():
    with Tape() as tape:
        x = tape.watch(1.0)
        for _ in range(200):
            x = x + 1.0
    with pytest.raises(ValueError, match=r"201 records and sources, expected 1 to 150"):
        draw_tape(tape)
    with Tape() as tape:
        pass
    with pytest.raises(ValueError, match="0 records"):
        draw_tape(tape)


def test_curves_have_labelled_axes_and_one_line_for_each_series():
    figure = draw_curves({"loss": {"training": [3, 2, 1], "test": [3, 2, 2]}, "accuracy": {"test": [0.1, 0.5, 0.6]}})
    assert [(axes.get_xlabel(), axes.get_ylabel()) for axes in figure.axes] == [("epoch", "loss"), ("epoch", "accuracy")]
    lines = figure.axes[0].get_lines()
    assert [line.get_label() for line in lines] == ["training", "test"]
    assert list(lines[0].get_xdata()) == [1, 2, 3]


def test_without_matplotlib_one_line_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(ImportError, match=r'matplotlib, which is missing: pip install "gradtape\[train\]"'):
        draw_tape(nested_scopes())
    with pytest.raises(ImportError, match=r"gradtape\[train\]"):
        draw_curves({"loss": {"training": [1.0]}})


def test_importing_needs_no_matplotlib_and_drawing_no_pyplot():
    code = """
import sys
import autograd.viz
assert not any(name.startswith("matplotlib") for name in sys.modules)
from autograd import Tape
with Tape() as tape:
    x = tape.watch(2.0)
    y = x * x
autograd.viz.draw_tape(tape)
autograd.viz.draw_curves({"loss": {"training": [2.0, 1.0]}})
assert "matplotlib.pyplot" not in sys.modules
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


# -------------------------------------------------------------------------------------------------- layout


@st.composite
def graphs(draw):
    n = draw(st.integers(1, 14))
    edges = [(a, b) for b in range(n) for a in range(b) if draw(st.integers(0, 3)) == 0]
    graph = networkx.DiGraph()
    graph.add_nodes_from(range(n))
    graph.add_edges_from(edges)
    return graph


@settings(deadline=None, max_examples=100)
@given(graphs())
def test_arrows_run_from_left_to_right_and_nothing_stands_in_the_same_place(graph):
    layout = layered(graph)
    assert set(layout.columns) == set(layout.rows) == set(graph)
    for start, end in graph.edges:
        assert layout.columns[start] < layout.columns[end]
        passed = range(layout.columns[start] + 1, layout.columns[end])
        assert [column for column, _ in layout.bends[start, end]] == list(passed)
    places = [(layout.columns[each], layout.rows[each]) for each in graph]
    places += [place for bends in layout.bends.values() for place in bends]
    for (column, row), (other_column, other_row) in combinations(places, 2):
        assert column != other_column or abs(row - other_row) > 0.98
    assert min(row for _, row in places) == 0.0


def test_sources_stand_just_before_their_first_use_and_a_chain_is_straight():
    graph = networkx.DiGraph()
    graph.add_edges_from([("w", "a"), ("a", "b"), ("b", "c"), ("v", "c"), ("c", "d")])
    layout = layered(graph)
    assert layout.columns["v"] == layout.columns["c"] - 1
    assert {round(layout.rows[each], 1) for each in "abcd"} == {round(layout.rows["a"], 1)}
