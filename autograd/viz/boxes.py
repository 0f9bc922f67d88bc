"""What a box in the picture of a tape says, and how large it is."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from autograd.tensor import innermost_value
from autograd.viz.matplotlib_parts import text_width
from registry.operators import get_schema

if TYPE_CHECKING:
    import networkx

INK, QUIET, SAVED = "#1a202c", "#718096", "#9b2c2c"
NAME_SIZE, LINE_SIZE, PORT_SIZE = 10.5, 8.5, 7.5
LINE_HEIGHT, PADDING = 0.165, 0.12


@dataclass(frozen=True, slots=True)
class Box:
    """One box: its kind (source, record, result), its name, its lines of (text, colour), the names where arrows arrive."""

    kind: str
    name: str
    lines: tuple[tuple[str, str], ...]
    scope: str
    ports: tuple[str, ...] = ()

    @property
    def width(self) -> float:
        """Inches that the text needs, with its padding."""
        widths = [text_width(self.name, NAME_SIZE, bold=True), *(text_width(text, LINE_SIZE) for text, _ in self.lines)]
        at_the_edge = max((text_width(each, PORT_SIZE) for each in self.ports), default=0.0)
        return max(widths) + 2 * (PADDING + at_the_edge)

    @property
    def height(self) -> float:
        """Inches that the lines need, with their padding."""
        return LINE_HEIGHT * (len(self.lines) + 1.25) + 2 * PADDING


def box_of(graph: networkx.DiGraph, number: int) -> Box:
    """The box of one node of ``tape.graph()``."""
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
        lines.append((f"saves {', '.join(kept)} ({spell_bytes(total)})", SAVED) if kept else ("saves nothing", QUIET))
    else:
        declared = [*node["inputs_to_save"], *(["output"] if any(node["outputs_to_save"]) else [])]
        lines.append((f"saved {', '.join(declared)}", SAVED))
    kind = "record" if graph.out_degree(number) else "result"
    ports = tuple(port_of(names) for _, _, names in graph.in_edges(number, data="inputs"))
    return Box(kind, node["kernel_name"], tuple(lines), node["scope"], ports)


def port_of(input_names: tuple[str, ...]) -> str:
    """What stands where an arrow arrives: the names of the inputs that it feeds, each once.

    >>> port_of(("x1", "x2")), port_of(("arrays", "arrays"))
    ('x1, x2', 'arrays (2)')
    """
    counts = Counter(input_names)
    return ", ".join(name if count == 1 else f"{name} ({count})" for name, count in counts.items())


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


def spell_bytes(count: int) -> str:
    """A number of bytes as people write it.

    >>> spell_bytes(800), spell_bytes(32768)
    ('800 B', '32.8 kB')
    """
    for unit, size in (("MB", 1e6), ("kB", 1e3)):
        if count >= size:
            return f"{count / size:.1f} {unit}"
    return f"{count} B"
