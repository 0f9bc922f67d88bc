"""``fit``: the steps it makes, what it evaluates, what it keeps, and what it says about arguments that do not fit."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import autograd.numpy as anp
from autograd import GradientError, nn, optim
from autograd.containers import flatten
from autograd.train import EachStep, EarlyStopping, batches, evaluate, fit, supervised
from tests.train.small import Descent, line, points, slope_and_offset, squares


@pytest.mark.parametrize("size", [1, 5, 12, 100])
def test_the_steps_are_those_of_the_formula(size):
    x, y = points(12)
    fitted = fit(line(), squares, (x, y), optimiser=Descent(0.05), epochs=3, batch_size=size, seed=4)
    expected = line()
    losses = []
    for epoch in range(3):
        losses.append([])
        for part_x, part_y in batches((x, y), size, shuffle=True, seed=4, epoch=epoch):
            losses[-1] += len(part_x) * [np.mean((expected["slope"] * part_x + expected["offset"] - part_y) ** 2)]
            expected = slope_and_offset(expected, part_x, part_y, 0.05)
    for name, each in expected.items():
        np.testing.assert_allclose(fitted.model[name], each, rtol=1e-12)
    np.testing.assert_allclose(fitted.history["loss"], np.mean(losses, axis=1), rtol=1e-12)
    assert fitted.history["epoch"] == [1, 2, 3]
    assert fitted.stopped_because == "all 3 epochs are done"
    assert fitted.last is fitted.model
    assert fitted.best_epoch is None
    assert repr(fitted).startswith("Fitted(3 epochs; stopped because all 3 epochs are done)\nepoch ")


def test_the_model_that_is_given_stays_as_it_is():
    model = line()
    before = {name: each.copy() for name, each in model.items()}
    fitted = fit(model, squares, points(), optimiser=Descent(), epochs=1)
    for name, each in model.items():
        assert each.tobytes() == before[name].tobytes()
        assert not np.shares_memory(each, fitted.model[name])
        assert fitted.model[name].flags.writeable


@dataclass
class Line:
    slope: np.ndarray
    offset: float


MODELS = {
    "list": [np.array(0.5), np.array([0.25])],
    "dataclass of floats": Line(np.array(0.5), 0.25),
    "float32": {"slope": np.float32(0.5) * np.ones((), np.float32), "offset": np.zeros(1, np.float32)},
}


@pytest.mark.parametrize("model", MODELS.values(), ids=MODELS)
def test_any_container_is_a_model(model):
    def loss(model, x, y):
        slope, offset = flatten(model)[0]
        return anp.mean((slope * x + offset - y) ** 2)

    x, y = points()
    dtype = np.asarray(flatten(model)[0][0]).dtype
    fitted = fit(model, loss, (x.astype(dtype), y.astype(dtype)), optimiser=optim.SGD(0.1), epochs=50)
    assert type(fitted.model) is type(model)
    slope, offset = flatten(fitted.model)[0]
    np.testing.assert_allclose(slope, 2, atol=0.2)
    np.testing.assert_allclose(offset, -1, atol=0.2)
    assert [type(each) for each in flatten(fitted.model)[0]] == [type(each) for each in flatten(model)[0]]
    assert np.asarray(slope).dtype == dtype


# -------------------------------------------------------------------------------------------------- accumulation


@given(n=st.integers(1, 23), size=st.integers(1, 8), parts=st.integers(1, 5))
def test_an_accumulated_gradient_is_that_of_the_whole_batch(n, size, parts):
    """Uneven last parts included: 23 rows in parts of 8 are weighted 8, 8, 7, and then all of them is the mean."""
    x, y = points(n)
    how = {"optimiser": Descent(0.05), "epochs": 1, "shuffle": False}
    gradients, whole = [], []
    first = fit(line(), squares, (x, y), **how, batch_size=size, accumulate=parts, callbacks=[EachStep(noting(gradients))])
    second = fit(line(), squares, (x, y), **how, batch_size=size * parts, callbacks=[EachStep(noting(whole))])
    np.testing.assert_allclose(first.history["loss"], second.history["loss"], rtol=1e-11)
    assert len(gradients) == len(whole) == -(-n // (size * parts))
    np.testing.assert_allclose(gradients, whole, rtol=1e-11, atol=1e-12)


def noting(notes):
    return lambda event: notes.append([float(np.ravel(each)[0]) for each in event.state["last"]])


def test_accumulation_in_float32_and_with_a_running_state():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(10, 3)).astype(np.float32)
    y = rng.integers(2, size=10)
    model = nn.Sequential(nn.Linear(3, 4, dtype=np.float32), nn.BatchNorm(4, dtype=np.float32), nn.Linear(4, 2, dtype=np.float32))
    fitted = fit(model, supervised(nn.cross_entropy), (x, y), optimiser=Descent(), epochs=1, batch_size=4, accumulate=2)
    assert {each.dtype for each in nn.named_parameters(fitted.model).values()} == {np.dtype(np.float32)}
    assert fitted.state["n_steps"] == 2

    expected = model
    for part, _ in list(batches((x, y), 4, shuffle=True))[:2]:  # the running state follows each part
        expected = expected.train(part)[1]
    notes = []
    fit(
        model, supervised(nn.cross_entropy), (x, y), optimiser=Descent(), epochs=1, batch_size=4, accumulate=2,
        callbacks=[EachStep(lambda event: notes.append(event.model.layers[1].running_mean))],
    )  # fmt: skip
    np.testing.assert_allclose(notes[0], expected.layers[1].running_mean, rtol=1e-5)


# -------------------------------------------------------------------------------------------------- running state, randomness


def test_running_state_and_dropout_through_supervised():
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(20, 3)), rng.integers(2, size=20)
    model = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm(4), nn.Dropout(0.5), nn.Linear(4, 2))
    how = {"optimiser": optim.SGD(0.1), "epochs": 3, "batch_size": 8, "validation": (x, y)}
    first = fit(model, supervised(nn.cross_entropy), (x, y), **how)
    second = fit(model, supervised(nn.cross_entropy), (x, y), **how)
    other = fit(model, supervised(nn.cross_entropy), (x, y), **how, seed=1)
    assert first.history == second.history
    assert first.history != other.history
    assert not np.array_equal(first.last.layers[1].running_mean, model.layers[1].running_mean)
    np.testing.assert_allclose(
        first.history["validation_loss"][-1], nn.cross_entropy(first.last(x), y), rtol=1e-12
    )  # without dropout, by the running statistics


def test_rng_is_a_generator_in_training_and_none_in_validation():
    seen = []

    def loss(model, x, y, *, rng):
        seen.append(rng)
        return squares(model, x, y)

    fit(line(), loss, points(), optimiser=Descent(), epochs=1, batch_size=12, validation=points())
    assert isinstance(seen[0], np.random.Generator)
    assert seen[1:] == [None]


def test_what_the_loss_draws_follows_from_the_seed():
    def drawn(seed):
        found = []

        def loss(model, x, y, rng):
            found.append(rng.random())
            return squares(model, x, y)

        fit(line(), loss, points(), optimiser=Descent(), epochs=2, batch_size=6, shuffle=False, seed=seed)
        return found

    assert drawn(0) == drawn(0)
    assert len(set(drawn(0) + drawn(1))) == 8


def test_a_loss_that_trains_in_validation_is_refused():
    def loss(model, x, y):
        output, trained = model.train(x)
        return nn.mse(output, y), trained

    x = np.random.default_rng(0).normal(size=(6, 2))
    with pytest.raises(ValueError, match=r"(?s)'loss' returned a model with another running state in validation.*argument rng"):
        fit(nn.BatchNorm(2), loss, (x, x), optimiser=Descent(), epochs=1, validation=(x, x))


def test_a_loss_that_returns_something_else_than_the_model():
    with pytest.raises(TypeError, match=r"returned \(mean loss, float\), expected \(mean loss, model\)"):
        fit(line(), lambda model, x, y: (squares(model, x, y), 1.0), points(), optimiser=Descent())
    with pytest.raises(TypeError, match="returned a tuple of 3"):
        fit(line(), lambda model, x, y: (squares(model, x, y), model, 1.0), points(), optimiser=Descent())


# -------------------------------------------------------------------------------------------------- evaluation


def test_validation_and_metrics_are_means_over_all_rows():
    x, y = points(12)
    test_x, test_y = points(7, seed=1)

    def farthest(model, x, y):
        return abs(model["slope"] * x + model["offset"][0] - y).max()

    metrics = {"first": lambda model, x, y: x.mean(), "farthest": farthest}
    fitted = fit(
        line(), squares, (x, y), optimiser=Descent(), epochs=2, batch_size=7, validation=(test_x, test_y), metrics=metrics
    )
    assert fitted.history.names == ["epoch", "loss", "validation_loss", "validation_first", "validation_farthest"]
    row = fitted.history[-1]
    np.testing.assert_allclose(row["validation_loss"], squares(fitted.last, test_x, test_y))
    np.testing.assert_allclose(row["validation_farthest"], farthest(fitted.last, test_x, test_y))
    found = evaluate(fitted.last, {"loss": squares, "first": metrics["first"]}, (test_x, test_y), batch_size=3)
    np.testing.assert_allclose(found["loss"], row["validation_loss"])
    np.testing.assert_allclose(found["first"], test_x.mean())


def test_metrics_are_of_the_training_data_where_there_is_no_validation():
    x, y = points()
    fitted = fit(line(), squares, (x, y), optimiser=Descent(), epochs=1, metrics={"squares": squares})
    np.testing.assert_allclose(fitted.history[0]["squares"], squares(fitted.model, x, y))


@pytest.mark.parametrize("result", [None, "much", np.zeros(2), 1j, (1.0, 2.0, 3.0)])
def test_a_metric_is_one_real_number(result):
    with pytest.raises(ValueError, match=r"'odd' returned .* expected one real number"):
        fit(line(), squares, points(), optimiser=Descent(), metrics={"odd": lambda model, x, y: result})


def test_the_best_model_is_a_copy():
    """The steps are so long that the first epoch is the best; it must stay as it was."""
    seen = []
    fitted = fit(
        line(), squares, points(), optimiser=Descent(1.2), epochs=4, validation=points(seed=1),
        callbacks=[lambda event: seen.append({name: each.copy() for name, each in event.model.items()})],
    )  # fmt: skip
    losses = fitted.history["validation_loss"]
    best = losses.index(min(losses))
    assert best < 3
    assert fitted.best_epoch == best + 1
    for name, each in fitted.model.items():
        assert each.tobytes() == seen[best][name].tobytes()
        assert not np.shares_memory(each, fitted.last[name])
        assert fitted.last[name].tobytes() == seen[-1][name].tobytes()
    last = fit(line(), squares, points(), optimiser=Descent(1.2), epochs=4, validation=points(seed=1), keep_best=False)
    assert last.best_epoch is None
    assert last.model is last.last
    assert last.model["slope"].tobytes() == seen[-1]["slope"].tobytes()


def test_early_stopping():
    how = {"optimiser": Descent(1.2), "epochs": 20, "validation": points(seed=1)}
    fitted = fit(line(), squares, points(), **how, early_stopping=3)
    losses = fitted.history["validation_loss"]
    assert losses.index(min(losses)) == len(losses) - 4
    assert fitted.stopped_because == "validation_loss has not become better for 3 epochs"
    whole = fit(line(), squares, points(), **how)
    assert whole.history.rows[: len(losses)] == fitted.history.rows

    stopping = EarlyStopping(2, monitor="validation_slope", mode="max")
    metrics = {"slope": lambda model, x, y: -abs(float(model["slope"]))}
    fitted = fit(line(), squares, points(), **how, early_stopping=stopping, metrics=metrics)
    slopes = fitted.history["validation_slope"]
    assert fitted.best_epoch == slopes.index(max(slopes)) + 1 == len(slopes) - 2
    assert float(fitted.model["slope"]) in (-max(slopes), max(slopes))


# -------------------------------------------------------------------------------------------------- data and clipping


def test_batches_from_elsewhere():
    x, y = points(12)
    made = [(x[:5], y[:5]), (x[5:], y[5:])]
    how = {"optimiser": Descent(), "epochs": 2}
    expected = fit(line(), squares, made, **how)
    for data, more in [(lambda epoch: iter(made), {}), (iter(made * 2), {"steps_per_epoch": 2})]:
        fitted = fit(line(), squares, data, **how, **more)
        assert fitted.history == expected.history
        assert fitted.model["slope"].tobytes() == expected.model["slope"].tobytes()
    weighted = fit(line(), squares, made, optimiser=Descent(0.0), epochs=1).history["loss"][0]
    np.testing.assert_allclose(weighted, squares(line(), x, y))  # a batch of 5 and one of 7


@pytest.mark.parametrize("make", [lambda x: x, lambda x: {"x": x}], ids=["array", "dict"])
def test_a_batch_that_is_no_tuple_is_one_argument(make):
    x = points(12)[0]
    seen = []

    def loss(model, batch):
        seen.append(type(batch))
        value = batch["x"] if isinstance(batch, dict) else batch
        return (model["slope"] * value).mean() + model["offset"].sum()

    fit(line(), loss, make(x), optimiser=Descent(), epochs=1)
    assert seen == [type(make(x))]


def test_clipping():
    x, y = points()
    notes, by_value = [], []
    fit(line(), squares, (x, y), optimiser=Descent(), epochs=2, clip=0.125, callbacks=[EachStep(noting(notes))])
    np.testing.assert_allclose(np.linalg.norm(notes, axis=1), 0.125, rtol=1e-6)
    fit(
        line(), squares, (x, y), optimiser=Descent(), epochs=1, callbacks=[EachStep(noting(by_value))],
        clip=lambda gradient: {name: np.clip(each, -0.1, 0.1) for name, each in gradient.items()},
    )  # fmt: skip
    np.testing.assert_allclose(np.abs(by_value), 0.1)


# -------------------------------------------------------------------------------------------------- what does not fit

REFUSED = [
    ({"epochs": 0}, ValueError, "epochs is 0"),
    ({"epochs": 1.5}, ValueError, "epochs is 1.5"),
    ({"accumulate": 0}, ValueError, "accumulate is 0"),
    ({"batch_size": 0}, ValueError, "batch_size is 0"),
    ({"seed": -1}, ValueError, "seed is -1"),
    ({"seed": None}, ValueError, "seed is None"),
    ({"clip": 0}, ValueError, "clip is 0"),
    ({"clip": "1"}, ValueError, "clip is '1'"),
    ({"early_stopping": 0}, ValueError, "patience is 0"),
    ({"early_stopping": EarlyStopping(monitor="f1")}, ValueError, "monitor is 'f1'"),
    ({"data": iter([points()])}, ValueError, "data is an iterator, which one epoch exhausts, and epochs is 10"),
    ({"data": iter([points()] * 15), "steps_per_epoch": 2}, ValueError, "ended after 15 batches, in epoch 8"),
    ({"data": lambda epoch: []}, ValueError, "data gave no batch in epoch 1"),
    ({"data": lambda epoch: [points()][epoch:]}, ValueError, "data gave no batch in epoch 2"),
    ({"validation": iter([points()])}, ValueError, "validation is an iterator"),
    ({"validation": lambda epoch: []}, ValueError, "no row to evaluate"),
    ({"data": iter([points()]), "epochs": 1, "metrics": {"a": squares}}, ValueError, "metrics need validation="),
    ({"metrics": {"loss": squares}}, ValueError, "a metric is called 'loss'"),
    ({"checkpoint": "no/such/folder/run"}, FileNotFoundError, "no folder no/such/folder to write run into"),
    ({"checkpoint": "."}, IsADirectoryError, "is a folder, expected the path of a file"),
    ({"loss": nn.mse}, TypeError, r"loss is nn.mse, .* write supervised\(nn.mse\)"),
    ({"loss": 3}, TypeError, "loss is int 3, expected a function"),
    ({"loss": lambda model, x: x}, TypeError, r"cannot be called as <lambda>\(model, part 1, part 2\)"),
    ({"loss": lambda model, x, y, z: x}, TypeError, "missing a required argument: 'z'"),
    ({"loss": lambda model, x, y: 1.0}, GradientError, "the target is float 1.0"),
    ({"loss": lambda model, x, y: model["slope"] * x}, GradientError, r"has shape \(12,\), expected a scalar"),
    ({"metrics": {"a": lambda model: 1.0}}, TypeError, "metric 'a' is <lambda>"),
    ({"model": {"slope": 1, "offset": np.zeros(1)}}, GradientError, r"model\['slope'\]"),
]


@pytest.mark.parametrize(("arguments", "error", "message"), REFUSED, ids=[row[2] for row in REFUSED])
def test_what_is_refused(arguments, error, message):
    arguments = {"model": line(), "loss": squares, "data": points(), "optimiser": Descent(), **arguments}
    with pytest.raises(error, match=message):
        fit(**arguments)


def test_a_learning_rate_that_cannot_be_scaled():
    class Fixed:
        def init(self, model):
            return {}

        def update(self, model, gradient, state):
            return model, state

    callbacks = [lambda event: event.scale_learning_rate(0.5)]
    with pytest.raises(TypeError, match="learning rate of Fixed cannot be scaled"):
        fit(line(), squares, points(), optimiser=Fixed(), callbacks=callbacks, epochs=2)


# -------------------------------------------------------------------------------------------------- progress

SHOWN = """
import numpy as np
from autograd.train import fit
from tests.train.small import Descent, line, points, squares
fit(line(), squares, points(), optimiser=Descent(), epochs=3, batch_size=4{more})
print("done")
"""


@pytest.mark.parametrize(("more", "shows"), [("", False), (", progress=True", True), (", progress=False", False)])
def test_progress_is_quiet_in_pipes_unless_asked_for(more, shows):
    pytest.importorskip("tqdm")
    done = subprocess.run([sys.executable, "-c", SHOWN.format(more=more)], capture_output=True, text=True, check=True)
    assert done.stdout == "done\n"
    assert ("9/9" in done.stderr and "epoch 3: loss" in done.stderr) if shows else done.stderr == ""


def test_progress_without_tqdm(monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "tqdm", None)
    fitted = fit(line(), squares, points(), optimiser=Descent(), epochs=30, progress=True)
    lines = capsys.readouterr().err.splitlines()
    assert [line.split(":")[0] for line in lines] == [f"epoch {number}" for number in range(3, 31, 3)]
    assert lines[-1] == f"epoch 30: loss {fitted.history['loss'][-1]:.4g}"


def test_progress_on_a_terminal(monkeypatch, capsys):
    pytest.importorskip("tqdm")
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    fit(line(), squares, points(), optimiser=Descent(), epochs=2, batch_size=4)
    assert "6/6" in capsys.readouterr().err
