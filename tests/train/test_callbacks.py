"""Early stopping and plateaus as functions of the history, log lines, and what a callback is told."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from autograd import optim
from autograd.train import EachStep, EarlyStopping, History, fit, log_rows, on_plateau
from autograd.train.rates import scaled
from tests.train.small import Descent, line, points, squares


def history(*losses, name="loss"):
    return History([{"epoch": number, name: loss} for number, loss in enumerate(losses, 1)])


nan = math.nan

WAITED = [
    ([], {}, 0, None),
    ([3.0], {}, 0, 0),
    ([3.0, 2.0, 1.0], {}, 0, 2),
    ([3.0, 1.0, 2.0, 1.0], {}, 2, 1),  # as good is not better
    ([3.0, 2.9, 2.85], {"min_delta": 0.2}, 2, 0),
    ([3.0, 2.9, 2.75], {"min_delta": 0.2}, 0, 2),
    ([0.1, 0.9, 0.5], {"mode": "max"}, 1, 1),
    ([nan, 2.0, nan, 3.0], {}, 2, 1),
    ([nan, nan], {}, 2, None),
]


@pytest.mark.parametrize(("losses", "how", "waited", "best"), WAITED)
def test_how_long_the_best_epoch_is_ago(losses, how, waited, best):
    stopping = EarlyStopping(**how)
    assert stopping.waited(history(*losses)) == waited
    assert stopping.best(history(*losses)) == best


@given(st.lists(st.floats(-1e3, 1e3), min_size=1))
def test_the_best_epoch_is_the_first_of_the_lowest(losses):
    assert EarlyStopping().best(history(*losses)) == losses.index(min(losses))
    assert EarlyStopping(mode="max").best(history(*losses)) == losses.index(max(losses))


def test_validation_counts_where_there_is_one():
    rows = History([{"loss": 1.0, "validation_loss": 1.0}, {"loss": 0.5, "validation_loss": 2.0}])
    assert EarlyStopping().best(rows) == 0
    assert EarlyStopping(monitor="loss").best(rows) == 1
    with pytest.raises(ValueError, match=r"monitor is 'accuracy', which the history does not have; it has \['loss'"):
        EarlyStopping(monitor="accuracy").best(rows)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: EarlyStopping(0), "patience is 0"),
        (lambda: EarlyStopping(True), "patience is True"),
        (lambda: EarlyStopping(mode="least"), "mode is 'least'"),
        (lambda: EarlyStopping(min_delta=-1.0), "min_delta is -1.0"),
        (lambda: EarlyStopping(min_delta=nan), "min_delta is nan"),
    ],
)
def test_settings_that_make_no_sense(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def test_what_callbacks_are_told():
    epochs, steps = [], []
    x, y = points(10)
    fitted = fit(
        line(), squares, (x, y), optimiser=Descent(), epochs=2, batch_size=4,
        callbacks=[lambda event: epochs.append((event, event.row)), EachStep(steps.append)],
    )  # fmt: skip
    assert [(each.kind, each.epoch, each.step) for each in steps] == [("step", 1 + n // 3, n + 1) for n in range(6)]
    assert [(each.kind, each.epoch, each.step) for each, _ in epochs] == [("epoch", 1, 3), ("epoch", 2, 6)]
    assert [row for _, row in epochs] == fitted.history.rows
    first = sum(each.loss * rows for each, rows in zip(steps[:3], (4, 4, 2), strict=True)) / 10
    assert math.isclose(first, fitted.history["loss"][0], rel_tol=1e-14)
    assert epochs[0][0].loss == fitted.history["loss"][0]
    assert epochs[-1][0].model is fitted.last
    assert steps[0].state is fitted.state


@pytest.mark.parametrize("wrap", [lambda f: f, EachStep])
def test_a_callback_may_stop(wrap):
    fitted = fit(line(), squares, points(), optimiser=Descent(), callbacks=[wrap(lambda event: event.stop("it is good enough"))])
    assert fitted.stopped_because == "it is good enough"
    assert len(fitted.history) == (wrap is not EachStep)
    assert fitted.state["n_steps"] == 1


def test_the_learning_rate_is_scaled_from_the_next_step_on():
    x, y = points(8)

    def halve(event):
        event.scale_learning_rate(0.5)

    def slopes(**how):
        seen = []
        note = EachStep(lambda event: seen.append(event.model["slope"].copy()))
        fit(line(), squares, (x, y), optimiser=Descent(0.1), epochs=2, batch_size=4, shuffle=False, callbacks=[note], **how)
        return np.diff([line()["slope"], *seen])

    whole = slopes()
    for wrap, n_equal in ((EachStep, 1), (lambda f: f, 2)):
        seen = []
        note = EachStep(lambda event: seen.append(event.model["slope"].copy()))  # noqa: B023
        fit(line(), squares, (x, y), optimiser=Descent(0.1), epochs=2, batch_size=4, shuffle=False, callbacks=[note, wrap(halve)])
        halved = np.diff([line()["slope"], *seen])
        np.testing.assert_array_equal(halved[:n_equal], whole[:n_equal])
        np.testing.assert_allclose(halved[n_equal], whole[n_equal] / 2, rtol=1e-13)


def test_a_plateau_lowers_the_learning_rate():
    """Halved after the second epoch and after the fourth, which are no better than the best before."""
    losses = iter([1.0, 1.0, 0.5, 1.0, 0.25])
    seen = []
    fitted = fit(
        {"a": np.array(8.0)}, lambda model, x: (model["a"] * x).mean(), np.array([1.0]), optimiser=Descent(0.5), epochs=5,
        validation=np.array([1.0]), metrics={"judged": lambda model, x: next(losses)},
        callbacks=[
            on_plateau(optim.ReduceOnPlateau(0.25, patience=0, factor=0.5), monitor="validation_judged"),
            lambda event: seen.append(float(event.model["a"])),
        ],
    )  # fmt: skip
    assert seen == [7.5, 7.0, 6.75, 6.5, 6.375]
    assert fitted.history["loss"] == [8.0, 7.5, 7.0, 6.75, 6.5]


def test_every_learning_rate_of_an_optimiser_is_scaled():
    schedule = scaled(optim.SGD(lambda step: step + 1.0), 0.5).learning_rate
    assert [schedule(step) for step in range(3)] == [0.5, 1.0, 1.5]
    assert scaled(optim.clipped(optim.SGD(0.5), norm=1.0), 0.25) == optim.clipped(optim.SGD(0.125), norm=1.0)
    parts = optim.groups({"bias": optim.Adam(0.5), "*": optim.freeze(optim.SGD(0.25), "b")})
    assert scaled(parts, 0.5) == optim.groups({"bias": optim.Adam(0.25), "*": optim.freeze(optim.SGD(0.125), "b")})
    assert scaled(parts, 1.0) is parts


def test_log_lines(capsys):
    lines = []
    fitted = fit(
        line(), squares, points(), optimiser=Descent(), epochs=4, callbacks=[log_rows(lines.append, every=2), log_rows(every=4)]
    )
    losses = fitted.history["loss"]
    assert lines == [f"epoch 2: loss {losses[1]:.4g}", f"epoch 4: loss {losses[3]:.4g}"]
    assert capsys.readouterr().err == lines[1] + "\n"
