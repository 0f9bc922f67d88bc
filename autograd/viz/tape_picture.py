"""The picture of a tape: a box for each record and source, an arrow for each use of a value."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np

from autograd.tape import Tape
from autograd.tensor import innermost_value
from autograd.viz.layout import Layout, layered
from autograd.viz.matplotlib_parts import new_figure, save, text_width
from registry.operators import get_schema

if TYPE_CHECKING:
    import networkx
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MOST_BOXES = 150
"""Above this many boxes nothing in a picture can be read."""

INK, QUIET, SAVED = "#1a202c", "#718096", "#9b2c2c"
FILL = {"source": ("#e6f4ea", "#2f855a"), "record": ("#ebf4ff", "#2b6cb0"), "result": ("#fff4e0", "#c05621")}
TITLE_SIZE, NAME_SIZE, LINE_SIZE, SMALL_SIZE = 12.0, 10.5, 8.5, 7.5
LINE_HEIGHT, PADDING = 0.165, 0.12
COLUMN_GAP, ROW_GAP, MARGIN = 0.62, 0.5, 0.35
GROUP_PADDING = 0.14


@dataclass(frozen=True, slots=True)
class Box:
    """One box, in inches from the lower left of the picture: its middle, its size and its lines of (text, colour)."""

    kind: str
    name: str
    lines: tuple[tuple[str, str], ...]
    scope: str
    x: float = 0.0
    y: float = 0.0
    width: float = 0.0
    height: float = 0.0


def draw_tape(
    tape: Tape,
    path: str | PathLike[str] | None = None,
    *,
    title: str = "",
) -> Figure:
    """Draw what a tape recorded, from the watched sources on the left to the results on the right.

    Each box says the operator, the dtype and shape of its result, and what the tape saves for its gradient; arrows
    carry the names of the inputs they feed. Scopes (``with tape.scope("hidden"):``) become frames. Draw before the
    gradient is taken, or on a persistent tape: a tape that has freed what it saved can only say what that was.

    Writes the picture to ``path`` if one is given, in the format of its ending. Raises ImportError without matplotlib,
    ValueError for a tape with nothing on it or with more than 150 records and sources.

    >>> with Tape() as tape:
    ...     x = tape.watch(3.0, name="x")
    ...     y = x * x
    >>> figure = draw_tape(tape)
    """
    graph = tape.graph()
    if not 0 < len(graph) <= MOST_BOXES:
        raise ValueError(
            f"draw_tape: the tape has {len(graph)} records and sources, expected 1 to {MOST_BOXES}; record a smaller run,"
            " such as one step on few examples"
        )
    new_figure(1, 1)  # says what to install before the widths of texts are asked for
    layout = layered(graph)
    boxes, width, height = _place({number: _box(graph, number) for number in graph}, layout)
    heading = title or "tape"
    width = max(width, text_width(heading, TITLE_SIZE, bold=True) + 2 * MARGIN, 6.0)
    figure = new_figure(width, height + 0.75)
    axes = figure.add_axes((0, 0, 1, 1))
    axes.set(xlim=(0, width), ylim=(-0.35, height + 0.4), aspect="equal")
    axes.set_axis_off()
    _draw_scopes(axes, boxes)
    for edge, bends in layout.bends.items():
        _draw_arrow(axes, graph, boxes, layout, edge, bends)
    for box in boxes.values():
        _draw_box(axes, box)
    axes.text(MARGIN, height + 0.08, heading, size=TITLE_SIZE, weight="bold", color=INK, parse_math=False)
    _draw_legend(axes, tape, graph)
    return save(figure, path)


# -------------------------------------------------------------------------------------------------- what a box says


def _box(graph: networkx.DiGraph, number: int) -> Box:
    node = graph.nodes[number]
    extent = (_extent(node["dtype"], node["shape"]), INK)
    if node["kernel_name"] == "source":
        return Box("source", _readable(node["name"]) or f"source {number}", (extent,), node["scope"])
    constants = [name for name, numbers in node["inputs"].items() if numbers is None or numbers == [None]]
    lines = [extent, *((each, QUIET) for each in _attributes(node))]
    if constants:
        lines.append((f"{', '.join(constants)} constant", QUIET))
    kept = [each for each in node["saved"] if not each.startswith("info of ") and node["saved"][each] is not None]
    if node["saved"] or not (node["inputs_to_save"] or any(node["outputs_to_save"])):
        total = sum(_nbytes(node["saved"][each]) for each in kept)
        lines.append((f"saves {', '.join(kept)} ({_bytes(total)})", SAVED) if kept else ("saves nothing", QUIET))
    else:
        declared = [*node["inputs_to_save"], *(["output"] if any(node["outputs_to_save"]) else [])]
        lines.append((f"saved {', '.join(declared)}", SAVED))
    kind = "record" if graph.out_degree(number) else "result"
    return Box(kind, node["kernel_name"], tuple(lines), node["scope"])


def _extent(dtype: Any, shape: tuple[int, ...]) -> str:
    name = dtype.__name__ if isinstance(dtype, type) else str(dtype)
    return f"{name}  {' × '.join(map(str, shape))}" if shape else name  # noqa: RUF001  # the sign between lengths


def _readable(path: str | None) -> str:
    """A path to a leaf as it is read aloud: ``params['hidden']['weight']`` is ``params.hidden.weight``."""
    return re.sub(r"\['([^']*)'\]", r".\1", path or "").lstrip(".")


def _attributes(node: Mapping[str, Any]) -> list[str]:
    schema = get_schema(node["kernel_name"])
    defaults = {each.name: each.default_value for each in schema.attributes if each.default is not None} if schema else {}
    lines = []
    for name, value in node["attrs"].items():
        if isinstance(value, np.ndarray):
            lines.append(f"{name}: {_extent(value.dtype, value.shape)}")
        elif name not in defaults or value != defaults[name]:
            text = f"{name}={value!r}"
            lines.append(text if len(text) <= 28 else text[:27] + "…")
    return lines


def _nbytes(value: Any) -> int:
    if isinstance(value, list):
        return sum(map(_nbytes, value))
    return int(getattr(innermost_value(value), "nbytes", 8))


def _bytes(count: int) -> str:
    for unit, size in (("MB", 1e6), ("kB", 1e3)):
        if count >= size:
            return f"{count / size:.1f} {unit}"
    return f"{count} B"


# -------------------------------------------------------------------------------------------------- where it stands


def _place(boxes: Mapping[int, Box], layout: Layout) -> tuple[dict[int, Box], float, float]:
    """The boxes at their places in inches, and the width and height that they take."""
    n_columns = max(layout.columns.values()) + 1
    widths = [0.0] * n_columns
    tallest = 0.0
    for number, box in boxes.items():
        lines = [text_width(box.name, NAME_SIZE, bold=True), *(text_width(text, LINE_SIZE) for text, _ in box.lines)]
        column = layout.columns[number]
        widths[column] = max(widths[column], max(lines) + 2 * PADDING)
        tallest = max(tallest, LINE_HEIGHT * (len(box.lines) + 1.2) + 2 * PADDING)
    middles = []
    edge = MARGIN + GROUP_PADDING
    for each in widths:
        middles.append(edge + each / 2)
        edge += each + COLUMN_GAP
    places = [*layout.rows.values(), *(row for bends in layout.bends.values() for _, row in bends)]
    height = MARGIN * 2 + GROUP_PADDING * 2 + tallest + max(places) * (tallest + ROW_GAP)
    top = height - MARGIN - GROUP_PADDING - tallest / 2
    placed = {}
    for number, box in boxes.items():
        column = layout.columns[number]
        own = LINE_HEIGHT * (len(box.lines) + 1.2) + 2 * PADDING
        y = top - layout.rows[number] * (tallest + ROW_GAP)
        placed[number] = Box(box.kind, box.name, box.lines, box.scope, middles[column], y, widths[column], own)
    return placed, edge - COLUMN_GAP + MARGIN + GROUP_PADDING, height


def _row_y(boxes: Mapping[int, Box], layout: Layout, row: float) -> float:
    """The height of a row, from the boxes that stand in rows."""
    first = min(layout.rows, key=layout.rows.__getitem__)
    last = max(layout.rows, key=layout.rows.__getitem__)
    if layout.rows[first] == layout.rows[last]:
        return boxes[first].y - (row - layout.rows[first]) * (boxes[first].height + ROW_GAP)
    slope = (boxes[last].y - boxes[first].y) / (layout.rows[last] - layout.rows[first])
    return boxes[first].y + (row - layout.rows[first]) * slope
