"""How a training ends before its time: by Ctrl-C, by NaN or inf; and what is left of it then."""

from __future__ import annotations

import os
import signal
import threading

import numpy as np
import pytest

import autograd.numpy as anp
from autograd import nn
from autograd.train import Checkpoint, EachStep, fit, load_model, supervised
from autograd.train.storage import read_file
from tests.train.small import Descent, line, points, squares

# -------------------------------------------------------------------------------------------------- Ctrl-C


def interrupt_at(step, how):
    def callback(event):
        if event.step == step:
            how()

    return callback


def raise_it():
    raise KeyboardInterrupt


def send_it():
    os.kill(os.getpid(), signal.SIGINT)


@pytest.fixture(autouse=True)
def _python_hears_ctrl_c():
    """Where tests run in the background of a shell, it is ignored."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


HOW = {"batch_size": 4, "validation": points(seed=1)}


def the_same(first, second):
    return all(first[name].tobytes() == second[name].tobytes() for name in first)


@pytest.mark.parametrize("how", [raise_it, send_it])
@pytest.mark.parametrize(("step", "epochs", "batch"), [(2, 0, 2), (5, 1, 2), (6, 1, 3)])
def test_ctrl_c_in_a_step(how, step, epochs, batch, capsys, tmp_path):
    path = tmp_path / "run.safetensors"
    handler = signal.getsignal(signal.SIGINT)
    callbacks = [EachStep(interrupt_at(step, how))]
    fitted = fit(line(), squares, points(), optimiser=Descent(), epochs=4, callbacks=callbacks, checkpoint=path, **HOW)
    assert fitted.stopped_because == f"it was interrupted in epoch {epochs + 1}, after batch {batch}"
    assert capsys.readouterr().err == f"fit: {fitted.stopped_because}; the history and the model are returned\n"
    assert signal.getsignal(signal.SIGINT) is handler
    assert fitted.state["n_steps"] == step
    assert len(fitted.history) == epochs
    assert (fitted.best_epoch is not None) == (epochs > 0)

    whole = fit(line(), squares, points(), optimiser=Descent(), epochs=4, **HOW)
    assert fitted.history.rows == whole.history.rows[:epochs]
    resumed = fit(line(), squares, points(), optimiser=Descent(), epochs=4, checkpoint=path, **HOW)
    assert resumed.history == whole.history
    assert the_same(resumed.last, whole.last)


@pytest.mark.parametrize("how", [raise_it, send_it])
def test_ctrl_c_between_epochs(how, tmp_path):
    path = tmp_path / "run.safetensors"
    callbacks = [interrupt_at(6, how)]
    fitted = fit(line(), squares, points(), optimiser=Descent(), epochs=4, callbacks=callbacks, checkpoint=path, **HOW)
    assert fitted.stopped_because == "it was interrupted in epoch 3, after batch 0"
    assert len(fitted.history) == 2
    assert fitted.best_epoch == 2
    assert the_same(load_model(path, like=line()), fitted.model)


def test_ctrl_c_in_the_validation(tmp_path):
    path = tmp_path / "run.safetensors"
    how = {"optimiser": Descent(), "epochs": 2, "checkpoint": path, **HOW}
    whole = fit(line(), squares, points(), **{**how, "checkpoint": None}, metrics={"slope": lambda model, x, y: 1.0})
    fitted = fit(line(), squares, points(), **how, metrics={"slope": lambda model, x, y: send_it() or 1.0})
    assert fitted.stopped_because == "it was interrupted in epoch 1, after batch 3"
    assert len(fitted.history) == 0
    resumed = fit(line(), squares, points(), **how, metrics={"slope": lambda model, x, y: 1.0})
    assert resumed.history == whole.history


def test_ctrl_c_in_the_loss_leaves_the_random_state_as_before_the_step(tmp_path):
    path = tmp_path / "run.safetensors"
    calls = []

    def loss(model, x, y, rng):
        noise = 0.1 * rng.normal(size=len(x))
        calls.append(1)
        if len(calls) == broken_at:
            raise KeyboardInterrupt
        return squares(model, x + noise, y)

    how = {"optimiser": Descent(), "epochs": 3, "batch_size": 4}
    broken_at = None
    whole = fit(line(), loss, points(), **how)
    broken_at = len(calls) + 5
    fitted = fit(line(), loss, points(), **how, checkpoint=path)
    assert fitted.stopped_because == "it was interrupted in epoch 2, after batch 1"
    resumed = fit(line(), loss, points(), **how, checkpoint=path)
    assert the_same(resumed.model, whole.model)
    assert resumed.history == whole.history


def test_a_half_made_update_is_not_returned(tmp_path):
    class Broken(Descent):
        def update(self, model, gradient, state):
            if state["n_steps"] == 4:
                model["slope"] -= 1.0
                raise KeyboardInterrupt
            return super().update(model, gradient, state)

    path = tmp_path / "run.safetensors"
    with pytest.raises(KeyboardInterrupt):
        fit(line(), squares, points(), optimiser=Broken(), epochs=4, checkpoint=Checkpoint(path, every_steps=1), **HOW)
    whole = fit(line(), squares, points(), optimiser=Descent(), epochs=4, **HOW)
    resumed = fit(line(), squares, points(), optimiser=Descent(), epochs=4, checkpoint=path, **HOW)
    assert resumed.history == whole.history
    assert the_same(resumed.last, whole.last)


def test_ctrl_c_while_an_epoch_is_put_down_does_not_put_it_down_twice(tmp_path, monkeypatch):
    """It may come there from a second Ctrl-C, or where somebody else has the signal."""
    path = tmp_path / "run.safetensors"
    monkeypatch.setattr("autograd.train.loop.copied", lambda model: raise_it())
    with pytest.raises(KeyboardInterrupt):
        fit(line(), squares, points(), optimiser=Descent(), epochs=2, checkpoint=Checkpoint(path, every_steps=1), **HOW)
    monkeypatch.undo()
    whole = fit(line(), squares, points(), optimiser=Descent(), epochs=2, **HOW)
    resumed = fit(line(), squares, points(), optimiser=Descent(), epochs=2, checkpoint=path, **HOW)
    assert resumed.history == whole.history
    assert resumed.best_epoch == whole.best_epoch


def test_a_second_ctrl_c_is_heard_at_once(capsys):
    def loss(model, x, y):
        send_it()
        send_it()
        raise AssertionError("not reached")

    fitted = fit(line(), loss, points(), optimiser=Descent())
    assert fitted.stopped_because == "it was interrupted in epoch 1, after batch 0"
    assert the_same(fitted.model, line())


def test_a_handler_of_somebody_else_stays():
    seen = []
    before = signal.signal(signal.SIGINT, lambda *_: seen.append(1))
    try:
        fitted = fit(line(), squares, points(), optimiser=Descent(), epochs=2, callbacks=[interrupt_at(1, send_it)])
    finally:
        signal.signal(signal.SIGINT, before)
    assert seen == [1]
    assert fitted.stopped_because == "all 2 epochs are done"


def test_in_another_thread():
    found = []
    thread = threading.Thread(target=lambda: found.append(fit(line(), squares, points(), optimiser=Descent(), epochs=2)))
    thread.start()
    thread.join()
    assert found[0].stopped_because == "all 2 epochs are done"


# -------------------------------------------------------------------------------------------------- NaN and inf


def fitted_with_warning(*args, match="", **kwargs):
    with np.errstate(all="ignore"), pytest.warns(RuntimeWarning, match=match) as caught:
        fitted = fit(*args, **kwargs)
    assert [each.filename for each in caught] == [__file__]
    assert str(caught[0].message) == "fit: " + fitted.stopped_because
    return fitted


def logarithms(model, x):
    return anp.log(model["a"] + x).mean()


def test_nan_in_the_loss_is_named_and_the_step_is_not_made():
    x = np.array([1.0, 2.0, 3.0, 4.0, -5.0, 6.0])
    seen = []
    note = EachStep(lambda event: seen.append(float(event.model["a"])))
    fitted = fitted_with_warning(
        {"a": np.array(0.0)}, logarithms, x, optimiser=Descent(), epochs=3, batch_size=2, shuffle=False, callbacks=[note],
        match="the loss is nan in epoch 1, batch 3",
    )  # fmt: skip
    assert fitted.stopped_because.startswith("the loss is nan in epoch 1, batch 3; the model is as before this step\n")
    assert "kernel 'log'" in fitted.stopped_because
    assert "return anp.log(model" in fitted.stopped_because
    assert "x[0] = -5." in fitted.stopped_because
    assert len(seen) == 2
    assert float(fitted.model["a"]) == seen[-1]
    assert fitted.state["n_steps"] == 2
    assert len(fitted.history) == 0
    assert repr(fitted).startswith("Fitted(0 epochs; stopped because the loss is nan in epoch 1, batch 3; the model")


def test_a_gradient_that_is_not_finite():
    fitted = fitted_with_warning(
        {"a": np.array([0.0, 1.0])}, lambda model, x: anp.sqrt(model["a"]).sum() * x.mean(), np.ones(3),
        optimiser=Descent(), match="the gradient has NaN or inf in it in epoch 1, batch 1",
    )  # fmt: skip
    assert "backward: the rule of kernel 'sqrt'" in fitted.stopped_because
    np.testing.assert_array_equal(fitted.model["a"], [0.0, 1.0])


def test_a_large_gradient_is_no_infinite_one():
    model = {"a": np.array([1.0, 1.0], np.float32)}
    factor = np.float32(1e30)  # its square is beyond float32
    fitted = fit(
        model, lambda model, x: (model["a"] * factor * x).mean(), np.ones(2, np.float32), optimiser=Descent(1e-30), epochs=1
    )
    assert fitted.stopped_because == "all 1 epochs are done"
    np.testing.assert_allclose(fitted.model["a"], 0.5)


def test_complex_parameters_are_looked_at_too():
    def loss(model, x):
        return abs(model["z"] * x).sum() + anp.sqrt(abs(model["z"]) - 1.0).sum()

    fitted = fitted_with_warning({"z": np.array([1j])}, loss, np.ones(1), optimiser=Descent(), match="gradient has NaN or inf")
    assert "'sqrt'" in fitted.stopped_because


def test_nan_in_the_data_is_named():
    x = np.array([1.0, 2.0, np.nan, 4.0])
    fitted = fitted_with_warning(
        {"a": np.array(1.0)}, lambda model, x, y: (model["a"] * y + x).mean(), (x, x), optimiser=Descent(), batch_size=2,
        shuffle=False, match="loss is nan in epoch 1, batch 2",
    )  # fmt: skip
    assert "the batch at [0] holds NaN or inf before the step already" in fitted.stopped_because
    assert "the batch at [1] holds NaN or inf" in fitted.stopped_because


def test_all_that_holds_nan_is_named():
    x = np.array([1.0, np.nan])
    fitted = fitted_with_warning(
        {"a": np.array([1.0, np.inf]), "b": np.array(1.0)}, lambda model, x: (model["a"] * x * model["b"]).mean(), x,
        optimiser=Descent(), match="loss is nan",
    )  # fmt: skip
    assert "the model at a holds NaN or inf before the step already\nthe batch holds NaN or inf before" in fitted.stopped_because
    assert "at b" not in fitted.stopped_because


def test_nan_that_an_update_made_is_named():
    fitted = fitted_with_warning(
        line(), squares, points(), optimiser=Descent(np.inf), epochs=9, batch_size=4, match="batch 2; the model is as before"
    )
    assert "the model at slope holds NaN or inf before the step already" in fitted.stopped_because


def test_the_random_numbers_of_the_bad_step_are_drawn_again():
    def loss(model, x, rng):
        drawn.append(rng.normal())
        return anp.log(model["a"] * drawn[-1]) + x.mean() * 0.0

    drawn = []
    fitted = fitted_with_warning(
        {"a": np.array(1.0)}, loss, np.ones(64), optimiser=Descent(0.0), batch_size=1, match="the loss is nan"
    )
    assert drawn[-1] == drawn[-2] < 0 < min(drawn[:-2], default=1.0)
    assert f"batch {len(drawn) - 1}" in fitted.stopped_because


def test_the_part_of_an_accumulated_batch_is_named():
    x = np.array([1.0, 2.0, 3.0, -4.0])
    fitted = fitted_with_warning(
        {"a": np.array(0.0)}, logarithms, x, optimiser=Descent(), batch_size=1, accumulate=4, shuffle=False,
        match="batches 1 to 4",
    )  # fmt: skip
    assert "x = -4." in fitted.stopped_because or "x[0] = -4." in fitted.stopped_because


def test_the_running_state_is_as_before_the_step_too():
    x = np.random.default_rng(0).normal(size=(8, 2))
    x[5] = np.inf
    model = nn.BatchNorm(2)
    fitted = fitted_with_warning(
        model, supervised(nn.mse), (x, x), optimiser=Descent(), epochs=1, batch_size=4, shuffle=False, match="batch 2"
    )
    assert np.isfinite(fitted.model.running_mean).all()
    expected = model.train(x[:4])[1]
    np.testing.assert_allclose(fitted.model.running_mean, expected.running_mean)


def test_the_best_model_and_the_checkpoint_outlive_nan(tmp_path):
    path = tmp_path / "run.safetensors"
    x, y = points(8)

    def data(epoch):
        return [(x, y)] if epoch < 2 else [(x * np.nan, y)]

    fitted = fitted_with_warning(
        line(), squares, data, optimiser=Descent(), epochs=5, validation=(x, y), checkpoint=path, match="epoch 3, batch 1"
    )
    assert fitted.best_epoch == 2
    assert len(fitted.history) == 2
    assert read_file(path)[1]["epoch"] == 2
    assert the_same(load_model(path, like=line()), fitted.model)
