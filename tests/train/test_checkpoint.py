"""Checkpoints: a resumed training is the uninterrupted one, bit for bit, or there is an error and nothing was loaded."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from autograd import nn, optim
from autograd.train import Checkpoint, CheckpointError, EachStep, fit, load_model, on_plateau, save_model
from autograd.train.storage import read_file
from tests.train.job import EPOCHS, STEPS, as_text, train
from tests.train.small import Descent, line, points, squares

pytest.importorskip("safetensors")


@pytest.fixture(scope="module")
def undisturbed():
    return as_text(train(None))


class Cut(Exception):
    """Ends a training as a crash would."""


def cut_at(step):
    def tell(now):
        if now == step:
            raise Cut

    return tell


@settings(max_examples=15)
@given(steps=st.lists(st.integers(1, EPOCHS * STEPS), min_size=1, max_size=4), every=st.sampled_from([1, 3, 1000]))
def test_a_resumed_training_is_the_uninterrupted_one(undisturbed, tmp_path_factory, steps, every):
    path = tmp_path_factory.mktemp("cut") / "run.safetensors"
    for step in sorted(steps):
        try:
            train(path, cut_at(step), every_steps=every)
        except Cut:
            pass
        else:
            assert read_file(path)[1]["n_steps"] >= step
    assert as_text(train(path)) == undisturbed


def test_more_epochs_go_on_from_where_fewer_ended(undisturbed, tmp_path):
    path = tmp_path / "run.safetensors"
    train(path, epochs=3)
    assert as_text(train(path)) == undisturbed
    again = train(path, cut_at(EPOCHS * STEPS + 1))
    assert as_text(again) == undisturbed
    assert again.stopped_because == f"all {EPOCHS} epochs are done"


OPTIMISERS = {
    "momentum": optim.SGD(0.05, momentum=0.9, nesterov=True),
    "decayed": optim.AdamW(optim.CosineDecay(0.1, steps=20, warmup=4)),
    "adadelta": optim.Adadelta(),
    "nadam": optim.NAdam(0.02),
    "lion": optim.Lion(0.01),
    "clipped": optim.clipped(optim.RMSProp(0.02, momentum=0.5), norm=0.5),
    "groups": optim.groups({"offset": optim.Adam(0.1), "*": optim.SGD(0.01, momentum=0.5)}),
    "frozen": optim.freeze(optim.Adagrad(0.1), "offset"),
}


@pytest.mark.parametrize("optimiser", OPTIMISERS.values(), ids=OPTIMISERS)
def test_every_optimiser_is_resumed_to_the_last_bit(tmp_path, optimiser):
    plateau = on_plateau(optim.ReduceOnPlateau(1.0, factor=0.5, patience=0))
    model = {**line(), "more": (np.float64(0.5), 0.25)}  # numbers, which no array can be changed in place of

    def loss(model, x, y):
        return squares(model, x, y) + (model["more"][0] - model["more"][1] * x.mean() - 1.0) ** 2

    def fitted(callbacks=(), **how):
        return fit(model, loss, points(), optimiser=optimiser, epochs=5, batch_size=3, callbacks=[plateau, *callbacks], **how)

    whole = fitted()
    for stop in (3, 8, 13):
        tell = cut_at(stop)
        cut = EachStep(lambda event, tell=tell: tell(event.step))
        with pytest.raises(Cut):
            fitted([cut], checkpoint=Checkpoint(tmp_path / "run", every_steps=1))
    resumed = fitted(checkpoint=tmp_path / "run")
    assert as_text(resumed) == as_text(whole)
    assert whole.model["slope"] != model["slope"]


def test_what_is_resumed_stops_early_at_the_same_epoch(tmp_path):
    how = {"optimiser": Descent(1.2), "validation": points(seed=1), "early_stopping": 3}
    whole = fit(line(), squares, points(), epochs=30, **how)
    assert 4 <= len(whole.history) < 30
    path = tmp_path / "run"
    for epochs in (2, 3, 30, 30):
        fitted = fit(line(), squares, points(), epochs=epochs, checkpoint=path, **how)
    assert fitted.history == whole.history
    assert fitted.stopped_because == whole.stopped_because
    assert fitted.best_epoch == whole.best_epoch
    assert fitted.model["slope"].tobytes() == whole.model["slope"].tobytes()


def test_a_resumed_iterator_goes_on_where_it_was(tmp_path):
    x, y = points(12)

    def fresh():
        return iter([(x[place : place + 2], y[place : place + 2]) for place in range(0, 12, 2)])

    how = {"optimiser": Descent(), "steps_per_epoch": 2}
    whole = fit(line(), squares, fresh(), epochs=3, **how)
    path = tmp_path / "run"
    fit(line(), squares, fresh(), epochs=1, checkpoint=path, **how)
    resumed = fit(line(), squares, fresh(), epochs=3, checkpoint=path, **how)
    assert resumed.history == whole.history
    assert resumed.model["slope"].tobytes() == whole.model["slope"].tobytes()


def test_every_steps(tmp_path):
    path = tmp_path / "run"
    seen = []

    def look(event):
        seen.append(read_file(path)[1]["n_steps"] if path.exists() else 0)

    fit(
        line(), squares, points(10), optimiser=Descent(), epochs=2, batch_size=2, callbacks=[EachStep(look)],
        checkpoint=Checkpoint(path, every_steps=2),
    )  # fmt: skip
    assert seen == [0, 0, 2, 2, 4, 5, 6, 6, 8, 8]
    assert read_file(path)[1]["n_steps"] == 10


def test_resume_false_begins_anew(tmp_path):
    path = tmp_path / "run"
    how = {"optimiser": Descent(), "checkpoint": path}
    fit(line(), squares, points(), epochs=5, **how)
    fitted = fit(line(), squares, points(), epochs=2, resume=False, **how)
    assert len(fitted.history) == 2
    assert fitted.state["n_steps"] == 2
    assert read_file(path)[1]["epoch"] == 2


def test_what_is_in_the_file(tmp_path):
    path = tmp_path / "run"
    fitted = fit(line(), squares, points(), optimiser=Descent(), epochs=2, checkpoint=path, validation=points())
    arrays, about = read_file(path)
    assert sorted(arrays) == [
        "best.offset", "best.slope", "model.offset", "model.slope", "optimiser.last.0", "optimiser.last.1",
    ]  # fmt: skip
    assert arrays["model.offset"].tobytes() == fitted.last["offset"].tobytes()
    assert about["optimiser"] == {"optimiser.n_steps": 2}
    assert about["history"] == fitted.history.rows
    assert (about["epoch"], about["batch"], about["best_epoch"]) == (2, 0, fitted.best_epoch)
    assert about["random"]["bit_generator"] == "PCG64"


# -------------------------------------------------------------------------------------------------- what does not fit


def wider():
    return {"slope": np.zeros((2, 2)), "offset": np.zeros(1)}


@dataclass(frozen=True)
class Counted(Descent):
    """One whose state has a float where the other has an integer."""

    def init(self, model: Any) -> dict[str, Any]:
        return {**super().init(model), "n_steps": 0.0}


OTHER = [
    ({"model": wider()}, r"model\.slope: got float64\[\], expected float64\[2, 2\]"),
    ({"model": {**line(), "more": np.zeros(2)}}, r"model\.more, float64\[2\], is not in the file"),
    ({"model": {"slope": np.array(0.5)}}, r"model\.offset, float64\[1\], is only in the file"),
    ({"model": {name: each.astype(np.float32) for name, each in line().items()}}, r"got float64\[\], expected float32\[\]"),
    ({"optimiser": optim.Adam()}, r"(is not in the file|is only in the file)"),
    ({"optimiser": Counted()}, r"numbers {optimiser.n_steps: float}, the file {optimiser.n_steps: int}"),
    ({"batch_size": 4}, r"begun with batch_size=32 \(now 4\)"),
    ({"seed": 1, "accumulate": 2}, r"begun with seed=0 \(now 1\), accumulate=1 \(now 2\)"),
    ({"shuffle": False}, r"shuffle=True \(now False\)"),
    ({"data": points(13)}, r"rows=12 \(now 13\)"),
    ({"validation": points()}, r"best=None \(now \[None, 'min'\]\)"),
]


@pytest.mark.parametrize(("other", "message"), OTHER, ids=[row[1] for row in OTHER])
def test_a_training_of_something_else_is_refused(tmp_path, other, message):
    path = tmp_path / "run"
    how = {"model": line(), "loss": squares, "data": points(), "optimiser": Descent(), "epochs": 1, "checkpoint": path}
    fit(**how)
    before = path.read_bytes()
    with pytest.raises(CheckpointError, match=message) as caught:
        fit(**{**how, **other})
    assert str(path) in str(caught.value)
    assert "resume=False" in str(caught.value)
    assert path.read_bytes() == before


def test_long_lists_of_differences_are_shortened(tmp_path):
    save_model(tmp_path / "model", {"a": np.zeros(1)})
    with pytest.raises(CheckpointError, match=r"(?s)model\.0, .*\.\.\. and 3 more.*model\.a, float64\[1\], is only in the file"):
        load_model(tmp_path / "model", like=[np.zeros(1)] * 8)


@given(cut=st.integers(0, 10_000), flip=st.integers(0, 255))
def test_a_damaged_checkpoint_is_never_half_loaded(tmp_path_factory, cut, flip):
    path = tmp_path_factory.mktemp("damaged") / "run"
    how = {"optimiser": Descent(), "epochs": 2, "checkpoint": path}
    whole = fit(line(), squares, points(), **how)
    data = bytearray(path.read_bytes())
    if flip:
        data[cut % len(data)] ^= flip
    else:
        del data[cut % len(data) :]
    path.write_bytes(data)
    model = line()
    try:
        fitted = fit(model, squares, points(), **how)
    except CheckpointError:
        assert model["slope"].tobytes() == line()["slope"].tobytes()
        assert path.read_bytes() == data
    else:  # a blank of the head was changed
        assert fitted.history == whole.history
        assert fitted.model["slope"].tobytes() == whole.model["slope"].tobytes()


def test_the_file_of_a_model_is_no_training(tmp_path):
    save_model(tmp_path / "model", line())
    with pytest.raises(CheckpointError, match="got the file of a model, expected a checkpoint"):
        fit(line(), squares, points(), optimiser=Descent(), checkpoint=tmp_path / "model")


@pytest.mark.parametrize("every", [0, 1.5, True])
def test_every_steps_is_a_count(every):
    with pytest.raises(ValueError, match="every_steps is"):
        Checkpoint("run", every_steps=every)


# -------------------------------------------------------------------------------------------------- models


def some_model(seed, dtype=np.float64):
    rng = np.random.default_rng(seed)
    model = nn.Sequential(nn.Linear(3, 4, seed=rng, dtype=dtype), nn.BatchNorm(4, dtype=dtype), nn.relu)
    return model.train(rng.normal(size=(9, 3)).astype(dtype))[1]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_model_with_buffers(tmp_path, dtype):
    model, other = some_model(0, dtype), some_model(1, dtype)
    save_model(tmp_path / "model", model, {"accuracy": 0.5})
    assert sorted(read_file(tmp_path / "model")[0]) == [
        "model.layers.0.bias", "model.layers.0.weight", "model.layers.1.bias", "model.layers.1.running_mean",
        "model.layers.1.running_var", "model.layers.1.weight",
    ]  # fmt: skip
    assert read_file(tmp_path / "model")[1] == {"kind": "model", "about": {"accuracy": 0.5}}
    x = np.random.default_rng(2).normal(size=(5, 3)).astype(dtype)
    before = other(x)
    loaded = load_model(tmp_path / "model", like=other)
    assert loaded(x).tobytes() == model(x).tobytes()
    assert other(x).tobytes() == before.tobytes()
    with pytest.raises(CheckpointError, match="Give like= a model of the structure"):
        load_model(tmp_path / "model", like=some_model(0, np.float16))


CONTAINERS = {
    "array": np.arange(3.0),
    "nested": {"a": [np.float32(1.5), (2.5, np.zeros((2, 0)))], "b": np.array(1 + 2j)},
    "odd names": {"a b/ü": np.ones(2), "model.x": np.zeros(1)},
    "float16 and not contiguous": [np.ones((2, 3), np.float16).T],
}


@pytest.mark.parametrize("model", CONTAINERS.values(), ids=CONTAINERS)
def test_any_container_is_saved_and_loaded(tmp_path, model):
    save_model(tmp_path / "model", model)
    like = nn.with_parameters(model, {name: np.zeros_like(each) for name, each in nn.named_parameters(model).items()})
    loaded = load_model(tmp_path / "model", like=like)
    assert nn.parameter_names(loaded) == nn.parameter_names(model)
    for got, each in zip(nn.named_parameters(loaded).values(), nn.named_parameters(model).values(), strict=True):
        np.testing.assert_array_equal(got, each)
        assert np.asarray(got).dtype == np.asarray(each).dtype


@pytest.mark.parametrize("keep_best", [True, False])
def test_the_model_of_a_checkpoint(tmp_path, keep_best):
    how = {"optimiser": Descent(1.2), "epochs": 4, "validation": points(seed=1), "keep_best": keep_best}
    fitted = fit(line(), squares, points(), checkpoint=tmp_path / "run", **how)
    loaded = load_model(tmp_path / "run", like=line())
    assert loaded["slope"].tobytes() == fitted.model["slope"].tobytes()
    assert (loaded["slope"].tobytes() == fitted.last["slope"].tobytes()) == (not keep_best)


def test_a_file_that_is_not_there(tmp_path):
    with pytest.raises(FileNotFoundError):
        load_model(tmp_path / "none", like=line())
