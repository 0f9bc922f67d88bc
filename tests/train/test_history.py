"""The history: columns and rows, as text, as a table, as CSV, as a picture."""

from __future__ import annotations

import csv
from math import isnan, nan

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autograd.train import History

ROWS = [
    {"epoch": 1, "loss": 0.5, "validation_loss": 0.75},
    {"epoch": 2, "loss": 0.25, "validation_loss": 0.625, "validation_accuracy": 1.0},
]


def test_rows_and_columns():
    history = History(ROWS)
    assert history["loss"] == [0.5, 0.25]
    assert history[-1] == ROWS[1]
    assert list(history) == ROWS
    assert len(history) == 2
    first, second = history["validation_accuracy"]
    assert isnan(first)
    assert second == 1.0
    assert list(history.to_dict()) == ["epoch", "loss", "validation_loss", "validation_accuracy"]
    assert history == History(ROWS)
    assert history != History(ROWS[:1])


def test_a_name_that_is_not_there():
    with pytest.raises(KeyError, match=r"no 'lost'; it has \['epoch', 'loss'"):
        History(ROWS)["lost"]


def test_it_does_not_share_the_rows_it_is_given():
    rows = [dict(ROWS[0])]
    history = History(rows)
    rows[0]["loss"] = nan
    assert history["loss"] == [0.5]


@given(st.lists(st.floats(allow_nan=False), min_size=1, max_size=5))
def test_csv_has_the_numbers_to_the_last_bit(tmp_path_factory, losses):
    path = tmp_path_factory.mktemp("history") / "history.csv"
    History([{"epoch": number, "loss": loss} for number, loss in enumerate(losses, 1)]).to_csv(path)
    with path.open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert [float(row["loss"]) for row in rows] == losses
    assert [int(row["epoch"]) for row in rows] == list(range(1, len(losses) + 1))


def test_csv_leaves_out_what_a_row_does_not_have(tmp_path):
    History(ROWS).to_csv(tmp_path / "history.csv")
    assert (tmp_path / "history.csv").read_text().splitlines() == [
        "epoch,loss,validation_loss,validation_accuracy",
        "1,0.5,0.75,",
        "2,0.25,0.625,1.0",
    ]


def test_as_text():
    assert repr(History()) == "History()"
    assert repr(History(ROWS)).splitlines() == [
        "epoch  loss  validation_loss  validation_accuracy",
        "    1   0.5             0.75                     ",
        "    2  0.25            0.625                    1",
    ]


def test_a_long_history_is_shortened_in_the_middle():
    lines = repr(History([{"epoch": number, "loss": 1.0} for number in range(1, 101)])).splitlines()
    assert len(lines) == 1 + 12 + 1
    assert [line.split()[0] for line in lines[1:]] == ["1", "2", "3", "4", "5", "6", "...", "95", "96", "97", "98", "99", "100"]


def test_as_html():
    html = History([{"epoch": 1, "a<b": 0.5}])._repr_html_()
    assert html == (
        "<table><thead><tr><th>epoch</th><th>a&lt;b</th></tr></thead><tbody><tr><td>1</td><td>0.5</td></tr></tbody></table>"
    )


def test_as_a_picture(tmp_path):
    pytest.importorskip("matplotlib")
    figure = History(ROWS).plot(tmp_path / "history.png", title="so it went")
    assert (tmp_path / "history.png").read_bytes()[:4] == b"\x89PNG"
    loss, accuracy = figure.axes
    assert [axes.get_ylabel() for axes in (loss, accuracy)] == ["loss", "accuracy"]
    assert {line.get_label(): line.get_ydata().tolist() for line in loss.lines} == {
        "training": [0.5, 0.25],
        "validation": [0.75, 0.625],
    }
    with pytest.raises(ValueError, match="there is no epoch in it yet"):
        History().plot()
