"""Curves over epochs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from os import PathLike
from typing import TYPE_CHECKING

from autograd.viz.matplotlib_parts import new_figure, save

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def draw_curves(
    panels: Mapping[str, Mapping[str, Sequence[float]]],
    path: str | PathLike[str] | None = None,
    *,
    title: str = "",
    x_label: str = "epoch",
) -> Figure:
    """One panel for each quantity, one labelled curve in it for each series; its first value belongs to epoch 1.

    Writes the picture to ``path`` if one is given, in the format of its ending. Raises ImportError without matplotlib.

    >>> figure = draw_curves({"loss": {"training": [2.3, 0.4, 0.1], "test": [2.2, 0.5, 0.3]}})
    >>> [axes.get_ylabel() for axes in figure.axes]
    ['loss']
    """
    figure = new_figure(4.6 * len(panels), 3.6)
    from matplotlib.ticker import MaxNLocator

    for position, (quantity, series) in enumerate(panels.items(), start=1):
        axes = figure.add_subplot(1, len(panels), position)
        for (name, values), color in zip(series.items(), ("#2b6cb0", "#dd6b20", "#2f855a", "#805ad5") * len(series)):
            epochs = range(1, len(values) + 1)
            axes.plot(epochs, values, color=color, label=name, linewidth=1.8, marker="o" if len(values) == 1 else None)
        axes.set_xlabel(x_label)
        axes.set_ylabel(quantity)
        axes.grid(alpha=0.25)
        axes.xaxis.set_major_locator(MaxNLocator(integer=True))
        axes.spines[["top", "right"]].set_visible(False)
        axes.legend(frameon=False)
    figure.suptitle(title, fontsize=11)
    figure.set_layout_engine("constrained", w_pad=0.12, h_pad=0.12, wspace=0.06)
    return save(figure, path)
