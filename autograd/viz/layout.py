"""Where the boxes of a graph stand: columns from left to right, rows so that arrows are short and rarely cross."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import networkx

SWEEPS = 8
"""How often the rows of all columns are put in order, there and back."""

SOURCE_WEIGHT = 1e-3
"""How much a source pulls at its neighbours in a column: little, so that a chain of operations stays straight."""

Vertex = Hashable


@dataclass(frozen=True, slots=True)
class Layout:
    """``columns`` and ``rows`` of the boxes, and for each long arrow the (column, row) places that it passes."""

    columns: Mapping[Vertex, int]
    rows: Mapping[Vertex, float]
    bends: Mapping[tuple[Vertex, Vertex], Sequence[tuple[int, float]]]


def layered(graph: networkx.DiGraph) -> Layout:
    """Columns by networkx's topological generations, each source just before its first use; rows by barycentres.

    An arrow over several columns passes an empty place in each of them, so that it does not run through a box (Sugiyama,
    Tagawa and Toda, "Methods for visual understanding of hierarchical system structures", 1981).

    >>> import networkx
    >>> graph = networkx.DiGraph()
    >>> graph.add_edges_from([("x", "sin"), ("sin", "add"), ("x", "add")])
    >>> places = layered(graph)
    >>> [places.columns[each] for each in ("x", "sin", "add")]
    [0, 1, 2]
    """
    columns = _columns(graph)
    order: list[list[Vertex]] = [[] for _ in range(max(columns.values(), default=-1) + 1)]
    before: dict[Vertex, list[Vertex]] = {each: [] for each in graph}
    after: dict[Vertex, list[Vertex]] = {each: [] for each in graph}
    for each in sorted(graph, key=lambda each: graph.in_degree(each) == 0):
        order[columns[each]].append(each)
    passed: dict[tuple[Vertex, Vertex], list[Vertex]] = {}
    for start, end in graph.edges:
        chain = [(start, end, column) for column in range(columns[start] + 1, columns[end])]
        passed[start, end] = list(chain)
        for place in chain:
            order[place[2]].append(place)
            before[place], after[place] = [], []
        for left, right in zip([start, *chain], [*chain, end], strict=True):
            after[left].append(right)
            before[right].append(left)
    weights = {each: SOURCE_WEIGHT if not before[each] and after[each] else 1.0 for each in before}
    rows = _rows(order, before, after, weights)
    bends = {edge: [(place[2], rows[place]) for place in places] for edge, places in passed.items()}  # type: ignore[index]
    return Layout(columns, {each: rows[each] for each in graph}, bends)


def _columns(graph: networkx.DiGraph) -> dict[Vertex, int]:
    from networkx import topological_generations

    columns = {each: column for column, generation in enumerate(topological_generations(graph)) for each in generation}
    for each in graph:
        if graph.in_degree(each) == 0 and graph.out_degree(each):
            columns[each] = min(columns[user] for user in graph.successors(each)) - 1
    return columns


def _rows(
    order: list[list[Vertex]],
    before: Mapping[Vertex, list[Vertex]],
    after: Mapping[Vertex, list[Vertex]],
    weights: Mapping[Vertex, float],
) -> dict[Vertex, float]:
    """Each column sorted by the mean row of its neighbours, there and back, and spread with one row between boxes."""
    rows: dict[Vertex, float] = {each: float(row) for column in order for row, each in enumerate(column)}
    for sweep in range(SWEEPS):
        forwards = sweep % 2 == 0
        for column in order if forwards else reversed(order):
            wishes = {}
            for each in column:
                near = (before[each] if forwards else after[each]) or after[each] or before[each]
                wishes[each] = sum(rows[neighbour] for neighbour in near) / len(near) if near else rows[each]
            column.sort(key=lambda each: (wishes[each], rows[each]))
            rows.update(_spread(column, wishes, weights))
    least = min(rows.values(), default=0.0)
    return {each: round(row - least, 2) for each, row in rows.items()}


def _spread(column: list[Vertex], wishes: Mapping[Vertex, float], weights: Mapping[Vertex, float]) -> dict[Vertex, float]:
    """Rows at least one apart, as near to the wishes as their order allows (pool adjacent violators)."""
    blocks: list[tuple[float, float, int]] = []  # (weighted sum of wish - position, weight, number of boxes)
    for position, each in enumerate(column):
        block = ((wishes[each] - position) * weights[each], weights[each], 1)
        while blocks and blocks[-1][0] / blocks[-1][1] >= block[0] / block[1]:
            total, weight, count = blocks.pop()
            block = (total + block[0], weight + block[1], count + block[2])
        blocks.append(block)
    offsets = [total / weight for total, weight, count in blocks for _ in range(count)]
    return {each: offset + position for position, (each, offset) in enumerate(zip(column, offsets, strict=True))}
