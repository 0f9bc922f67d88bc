"""The one place that imports matplotlib: figures without pyplot, so that drawing leaves no global state behind."""

from __future__ import annotations

from os import PathLike
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.figure import Figure

DOTS_PER_INCH = 160


def new_figure(width: float, height: float) -> Figure:
    """An empty figure of this size in inches. Raises ImportError, with what to install, without matplotlib."""
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise ImportError('autograd.viz needs matplotlib, which is missing: pip install "gradtape[train]"') from error
    return Figure(figsize=(width, height), dpi=DOTS_PER_INCH, facecolor="white")


def save(figure: Figure, path: str | PathLike[str] | None) -> Figure:
    """The figure, written to ``path`` if that is given."""
    if path is not None:
        figure.savefig(path)
    return figure


def text_width(text: str, size: float, *, bold: bool = False) -> float:
    """The width in inches of one line of text at ``size`` points."""
    from matplotlib.font_manager import FontProperties
    from matplotlib.textpath import text_to_path

    font = FontProperties(weight="bold" if bold else "normal", size=size)
    return float(text_to_path.get_text_width_height_descent(text, font, ismath=False)[0]) / 72
