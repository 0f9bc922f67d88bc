"""``History``: what a training has come to, one row an epoch."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator, Mapping
from html import escape
from os import PathLike
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Row = dict[str, float]

SHOWN = 12
"""Rows beyond which ``repr`` leaves out those in the middle."""

VALIDATION = "validation_"
"""What the names of quantities begin with that are of the validation data."""


class History:
    """The rows of the epochs, in order: ``{"epoch": 1, "loss": 0.7, "validation_loss": 0.6, ...}``.

    ``history["loss"]`` is a column, ``history[-1]`` a row, and iteration goes over the rows. A quantity that an epoch does not
    have is left out of its row, and NaN in a column.

    >>> history = History([{"epoch": 1, "loss": 0.5}, {"epoch": 2, "loss": 0.25}])
    >>> history["loss"], history[-1]["epoch"], len(history)
    ([0.5, 0.25], 2, 2)
    >>> history
    epoch  loss
        1   0.5
        2  0.25
    """

    def __init__(self, rows: Iterable[Mapping[str, float]] = ()) -> None:
        self.rows: list[Row] = [dict(each) for each in rows]

    @property
    def names(self) -> list[str]:
        """The quantities, in the order in which they first appear."""
        return list(dict.fromkeys(name for row in self.rows for name in row))

    def to_dict(self) -> dict[str, list[float]]:
        """The columns by name, each with one number an epoch.

        >>> History([{"epoch": 1, "loss": 0.5}]).to_dict()
        {'epoch': [1], 'loss': [0.5]}
        """
        return {name: self._column(name) for name in self.names}

    def to_csv(self, path: str | PathLike[str]) -> None:
        """Write a table with a line of names and one line an epoch. The numbers read back are the same to the last bit."""
        with open(path, "w", newline="", encoding="utf-8") as file:
            table = csv.DictWriter(file, self.names)
            table.writeheader()
            table.writerows(self.rows)

    def plot(self, path: str | PathLike[str] | None = None, *, title: str = "") -> Figure:
        """One panel for each quantity, with training and validation in it; written to ``path`` if that is given.

        Raises ImportError without matplotlib (extra ``[train]``), ValueError where there is no epoch yet.

        >>> history = History([{"epoch": 1, "loss": 0.5, "validation_loss": 0.6}])
        >>> [line.get_label() for line in history.plot().axes[0].lines]
        ['training', 'validation']
        """
        from autograd.viz.curves import draw_curves

        if not self.rows:
            raise ValueError("History.plot: there is no epoch in it yet; train for one at least")
        panels: dict[str, dict[str, list[float]]] = {}
        for name in self.names:
            if name != "epoch":
                quantity = name.removeprefix(VALIDATION)
                panels.setdefault(quantity, {})["validation" if name != quantity else "training"] = self._column(name)
        return draw_curves(panels, path, title=title)

    def __getitem__(self, key: str | int) -> list[float] | Row:
        if isinstance(key, str):
            if key not in self.names:
                raise KeyError(f"History has no {key!r}; it has {self.names}")
            return self._column(key)
        return self.rows[key]

    def __iter__(self) -> Iterator[Row]:
        return iter(self.rows)

    def __len__(self) -> int:
        return len(self.rows)

    def __eq__(self, other: object) -> bool:
        return self.rows == other.rows if isinstance(other, History) else NotImplemented

    __hash__ = None  # type: ignore[assignment]  # it grows

    def __repr__(self) -> str:
        if not self.rows:
            return "History()"
        lines = [self.names, *self._cells()]
        widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
        return "\n".join("  ".join(cell.rjust(width) for cell, width in zip(line, widths, strict=True)) for line in lines)

    def _repr_html_(self) -> str:
        """The table as notebooks show it."""
        head = "".join(f"<th>{escape(name)}</th>" for name in self.names)
        body = "".join("<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in line) + "</tr>" for line in self._cells())
        return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"

    def _column(self, name: str) -> list[float]:
        return [row.get(name, float("nan")) for row in self.rows]

    def _cells(self) -> list[list[str]]:
        names = self.names
        rows = [[f"{row[name]:.4g}" if name in row else "" for name in names] for row in self.rows]
        if len(rows) > SHOWN:
            rows[SHOWN // 2 : -SHOWN // 2] = [["..."] * len(names)]
        return rows
