"""The picture of a tape: a box for each record and source, an arrow for each use of a value."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from os import PathLike
from typing import TYPE_CHECKING, Any

from autograd.tape import Tape
from autograd.viz.boxes import (
    INK,
    LINE_HEIGHT,
    LINE_SIZE,
    NAME_SIZE,
    PADDING,
    PORT_SIZE,
    QUIET,
    SAVED,
    Box,
    box_of,
    port_of,
    spell_bytes,
)
from autograd.viz.layout import Layout, layered
from autograd.viz.matplotlib_parts import new_figure, save, text_width

if TYPE_CHECKING:
    import networkx
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MOST_BOXES = 150
"""Above this many boxes nothing in a picture can be read."""

COLORS = {"source": ("#e6f4ea", "#2f855a"), "record": ("#ebf4ff", "#2b6cb0"), "result": ("#fff4e0", "#c05621")}
MEANING = {"source": "watched source", "record": "recorded operation", "result": "result"}
TITLE_SIZE = 12.0
COLUMN_GAP, ROW_GAP, MARGIN = 0.6, 0.5, 0.3
FRAME = 0.16
"""How far the frame of a scope stands off its boxes, in inches, as all lengths are; a nested scope stands off half as far."""

TITLE_HEIGHT, LEGEND_HEIGHT = 0.5, 0.35


@dataclass(frozen=True, slots=True)
class Sheet:
    """Where columns and rows lie, in inches from the lower left of the picture."""

    lefts: tuple[float, ...]
    widths: tuple[float, ...]
    top: float
    pitch: float
    width: float
    height: float

    def y(self, row: float) -> float:
        """The middle of a row."""
        return self.top - row * self.pitch


@dataclass(frozen=True, slots=True)
class Placed:
    """A box at its place: the corners of its rectangle."""

    box: Box
    left: float
    bottom: float
    right: float
    top: float

    @property
    def y(self) -> float:
        """The middle of its height."""
        return (self.bottom + self.top) / 2


def draw_tape(tape: Tape, path: str | PathLike[str] | None = None, *, title: str = "Tape") -> Figure:
    """Draw what a tape recorded, from the watched sources on the left to the results on the right.

    Each box says the operator, the dtype and shape of its result, and what the tape saves for its gradient; arrows
    carry the names of the inputs they feed. Scopes (``with tape.scope("hidden"):``) become frames. Draw before the
    gradient is taken, or on a persistent tape: one that has freed what it saved can say its names only.

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
            " such as one step"
        )
    new_figure(1, 1)  # without matplotlib, say so before the widths of texts are measured
    layout = layered(graph)
    boxes = {number: box_of(graph, number) for number in graph}
    summary = _summary(tape, graph)
    least = max(text_width(title, TITLE_SIZE, bold=True), text_width(summary, LINE_SIZE)) + 2 * MARGIN
    sheet = _sheet(boxes, layout, max(least, 5.5))
    placed = {number: _place(box, number, layout, sheet) for number, box in boxes.items()}
    figure = new_figure(sheet.width, sheet.height)
    axes = figure.add_axes((0, 0, 1, 1))
    axes.set(xlim=(0, sheet.width), ylim=(0, sheet.height))
    axes.set_axis_off()
    _draw_scopes(axes, placed)
    _draw_arrows(axes, graph, placed, layout, sheet)
    for each in placed.values():
        _draw_box(axes, each)
    _draw_heading(axes, sheet, title, summary)
    return save(figure, path)


def _summary(tape: Tape, graph: networkx.DiGraph) -> str:
    n_sources = sum(node["kernel_name"] == "source" for node in graph.nodes.values())
    saved = tape.saved_bytes()
    counts = f"{_count(len(graph) - n_sources, 'record')}, {_count(n_sources, 'watched source')}"
    return f"{counts}, {spell_bytes(saved)} saved for the gradient" if saved else counts  # type: ignore[arg-type]


def _count(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"


# -------------------------------------------------------------------------------------------------- places


def _sheet(boxes: Mapping[int, Box], layout: Layout, least_width: float) -> Sheet:
    widths = [0.0] * (max(layout.columns.values()) + 1)
    for number, box in boxes.items():
        widths[layout.columns[number]] = max(widths[layout.columns[number]], box.width)
    lefts = []
    left = MARGIN + FRAME
    for each in widths:
        lefts.append(left)
        left += each + COLUMN_GAP
    tallest = max(box.height for box in boxes.values())
    rows = [*layout.rows.values(), *(row for bends in layout.bends.values() for _, row in bends)]
    bottom = LEGEND_HEIGHT + MARGIN + FRAME + tallest / 2
    pitch = tallest + ROW_GAP
    top = bottom + max(rows) * pitch
    height = top + tallest / 2 + 2 * FRAME + MARGIN + TITLE_HEIGHT
    width = left - COLUMN_GAP + MARGIN + FRAME
    spare = max(0.0, least_width - width) / 2
    return Sheet(tuple(each + spare for each in lefts), tuple(widths), top, pitch, width + 2 * spare, height)


def _place(box: Box, number: int, layout: Layout, sheet: Sheet) -> Placed:
    column, y = layout.columns[number], sheet.y(layout.rows[number])
    left, width = sheet.lefts[column], sheet.widths[column]
    return Placed(box, left, y - box.height / 2, left + width, y + box.height / 2)


# -------------------------------------------------------------------------------------------------- strokes


def _draw_box(axes: Axes, placed: Placed) -> None:
    fill, edge = COLORS[placed.box.kind]
    _rounded(axes, placed, 0.0, facecolor=fill, edgecolor=edge, linewidth=1.3, zorder=3)
    x = (placed.left + placed.right) / 2
    y = placed.top - PADDING - LINE_HEIGHT * 0.6
    _text(axes, x, y, placed.box.name, size=NAME_SIZE, weight="bold", color=INK, ha="center", va="center", zorder=4)
    for line, (text, color) in enumerate(placed.box.lines):
        below = y - LINE_HEIGHT * (line + 1.15)
        _text(axes, x, below, text, size=LINE_SIZE, color=color, ha="center", va="center", zorder=4)


def _rounded(axes: Axes, around: Placed, distance: float, **style: Any) -> None:
    from matplotlib.patches import FancyBboxPatch

    corner = (around.left - distance, around.bottom - distance)
    width, height = around.right - around.left + 2 * distance, around.top - around.bottom + 2 * distance
    axes.add_patch(FancyBboxPatch(corner, width, height, boxstyle="round,pad=0,rounding_size=0.08", **style))


def _text(axes: Axes, x: float, y: float, text: str, **style: Any) -> None:
    axes.text(x, y, text, parse_math=False, **style)


def _draw_arrows(axes: Axes, graph: networkx.DiGraph, placed: Mapping[int, Placed], layout: Layout, sheet: Sheet) -> None:
    """Curves that leave and arrive level; where several arrive at one box, their ends keep the order of their starts."""
    for number in graph:
        edges = [(start, number) for start in graph.predecessors(number)]
        edges.sort(key=lambda edge: -_points(edge, layout, sheet, placed)[-1][1])
        end = placed[number]
        for position, edge in enumerate(edges):
            step = (end.top - end.bottom) / (len(edges) + 1)
            points = [*_points(edge, layout, sheet, placed), (end.left, end.top - step * (position + 1))]
            _draw_arrow(axes, points, port_of(graph.edges[edge]["inputs"]))


def _points(edge: tuple[int, int], layout: Layout, sheet: Sheet, placed: Mapping[int, Placed]) -> list[tuple[float, float]]:
    """Where an arrow starts, enters and leaves each column that it passes."""
    points = [(placed[edge[0]].right, placed[edge[0]].y)]
    for column, row in layout.bends[edge]:
        left = sheet.lefts[column]
        points += [(left, sheet.y(row)), (left + sheet.widths[column], sheet.y(row))]
    return points


def _draw_arrow(axes: Axes, points: Sequence[tuple[float, float]], label: str) -> None:
    from matplotlib.patches import FancyArrowPatch
    from matplotlib.path import Path

    vertices, codes = [points[0]], [Path.MOVETO]
    for (x, y), (next_x, next_y) in pairwise(points):
        middle = (x + next_x) / 2
        vertices += [(middle, y), (middle, next_y), (next_x, next_y)]
        codes += [Path.CURVE4] * 3
    style = "-|>,head_length=5,head_width=2.5"
    axes.add_patch(FancyArrowPatch(path=Path(vertices, codes), arrowstyle=style, color=QUIET, linewidth=1.1, zorder=2))
    x, y = points[-1]
    _text(axes, x + 0.05, y, label, size=PORT_SIZE, color=QUIET, va="center", zorder=4)


def _draw_scopes(axes: Axes, placed: Mapping[int, Placed]) -> None:
    """A frame around all boxes of a scope, or around each of them where a box of another would stand within it."""
    names = {each.box.scope for each in placed.values() if each.box.scope}
    names |= {name.rsplit("/", depth)[0] for name in names for depth in range(1, name.count("/") + 1)}
    for name in sorted(names):
        inside = [each for each in placed.values() if f"{each.box.scope}/".startswith(f"{name}/")]
        frame = Placed(
            inside[0].box,
            min(each.left for each in inside),
            min(each.bottom for each in inside),
            max(each.right for each in inside),
            max(each.top for each in inside),
        )
        if not any(_overlap(frame, each) for each in placed.values() if each not in inside):
            _draw_frame(axes, frame, name.rpartition("/")[2], FRAME / 2 ** name.count("/"))
            continue
        for each in inside:
            if each.box.scope == name:
                _draw_frame(axes, each, name, FRAME / 2)


def _overlap(frame: Placed, other: Placed) -> bool:
    return (
        frame.left - FRAME < other.right
        and other.left < frame.right + FRAME
        and frame.bottom - FRAME < other.top
        and other.bottom < frame.top + FRAME + LINE_HEIGHT
    )


def _draw_frame(axes: Axes, around: Placed, name: str, distance: float) -> None:
    _rounded(axes, around, distance, facecolor="#f7fafc", edgecolor="#a0aec0", linestyle=(0, (4, 3)), zorder=1)
    at = (around.left - distance + 0.02, around.top + distance + 0.03)
    _text(axes, *at, name, size=LINE_SIZE, style="italic", color=QUIET, va="bottom", zorder=4)


def _draw_heading(axes: Axes, sheet: Sheet, title: str, summary: str) -> None:
    from matplotlib.patches import Rectangle

    top = sheet.height - MARGIN
    _text(axes, MARGIN, top, title, size=TITLE_SIZE, weight="bold", color=INK, va="center")
    _text(axes, MARGIN, top - 0.24, summary, size=LINE_SIZE, color=QUIET, va="center")
    x = MARGIN
    for kind, (fill, edge) in COLORS.items():
        axes.add_patch(Rectangle((x, MARGIN - 0.07), 0.2, 0.14, facecolor=fill, edgecolor=edge))
        _text(axes, x + 0.28, MARGIN, MEANING[kind], size=LINE_SIZE, color=INK, va="center")
        x += 0.28 + text_width(MEANING[kind], LINE_SIZE) + 0.35
    _text(axes, x, MARGIN, "saves: kept for the gradient", size=LINE_SIZE, color=SAVED, va="center")
