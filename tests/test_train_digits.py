"""The job ``train digits``: its data, its step against one worked out by hand, its outputs, and how well it reads."""

import re
import statistics
import subprocess
import sys
import time

import numpy
import pytest

from autograd.__main__ import main
from autograd.check import GradientReport
from autograd.train import digits, jobs


@pytest.fixture(scope="module")
def data():
    return digits.load()


# -------------------------------------------------------------------------------------------------- data


def test_the_data_are_the_published_ones(data):
    assert data.images.shape == (1797, 64)
    assert data.images.dtype == numpy.float32
    assert (data.images.min(), data.images.max()) == (0.0, 1.0)
    # class counts as published with the set, test part
    assert numpy.bincount(data.labels).tolist() == [178, 182, 177, 183, 181, 182, 181, 179, 174, 180]


def test_the_file_names_its_source_and_licence():
    with numpy.load(digits.__file__.replace("digits.py", "digits.npz"), allow_pickle=False) as arrays:
        source = " ".join(arrays["source"])
    assert "10.24432/C50P49" in source
    assert "CC BY 4.0" in source


@pytest.mark.parametrize("seed", range(5))
def test_a_fifth_of_each_class_is_held_out_and_nothing_is_in_both_parts(data, seed):
    numbered = digits.Digits(numpy.arange(len(data))[:, None], data.labels)
    training, test = digits.split(numbered, seed)
    assert sorted([*training.images[:, 0], *test.images[:, 0]]) == list(range(len(data)))
    for label in range(10):
        share = numpy.sum(test.labels == label) / numpy.sum(data.labels == label)
        assert abs(share - 0.2) < 0.003


def test_the_split_follows_the_seed(data):
    first, again, other = (digits.split(data, seed)[1] for seed in (3, 3, 4))
    assert numpy.array_equal(first.images, again.images)
    assert not numpy.array_equal(first.images, other.images)


# -------------------------------------------------------------------------------------------------- one step


def by_hand(params, batch):
    """Loss and gradients of the network, from the textbook formulas."""
    x, rows = batch.images, numpy.arange(len(batch))
    w1, b1, w2, b2 = (params[layer][name].astype(float) for layer in ("hidden", "output") for name in ("weight", "bias"))
    before = x @ w1 + b1
    hidden = numpy.maximum(before, 0)
    logits = hidden @ w2 + b2
    chances = numpy.exp(logits) / numpy.exp(logits).sum(axis=1, keepdims=True)
    loss = -numpy.log(chances[rows, batch.labels]).mean()
    error = chances.copy()
    error[rows, batch.labels] -= 1
    error /= len(batch)
    back = (error @ w2.T) * (before > 0)
    output = {"weight": hidden.T @ error, "bias": error.sum(axis=0)}
    return loss, {"hidden": {"weight": x.T @ back, "bias": back.sum(axis=0)}, "output": output}


def test_the_step_has_the_loss_and_gradient_of_the_textbook(data):
    params = digits.initial_params(numpy.random.default_rng(0))
    batch = data.take(numpy.arange(50))
    tape, watched, loss = digits.record_step(params, batch)
    value, gradients = tape.value_and_gradient(loss, watched)
    expected_loss, expected = by_hand(params, batch)
    assert value == pytest.approx(expected_loss, rel=1e-5)
    assert digits.loss_of(params, batch) == pytest.approx(expected_loss, rel=1e-5)
    for layer, arrays in expected.items():
        for name, g in arrays.items():
            assert gradients[layer][name].dtype == numpy.float32
            numpy.testing.assert_allclose(gradients[layer][name], g, rtol=1e-4, atol=1e-6)


def test_adam_takes_the_steps_of_its_paper():
    """Two steps in one parameter, worked out by hand from Algorithm 1 of Kingma and Ba with rate 0.1."""
    params = {"layer": {"w": numpy.array([1.0])}}
    adam = digits.Adam(params)
    params = adam.step(params, {"layer": {"w": numpy.array([2.0])}}, 0.1)
    assert params["layer"]["w"][0] == pytest.approx(0.9, abs=1e-7)  # the first step is the rate, against the gradient's sign
    params = adam.step(params, {"layer": {"w": numpy.array([-1.0])}}, 0.1)
    mean, square = (0.9 * 0.1 * 2 - 0.1 * 1) / (1 - 0.9**2), (0.999 * 0.001 * 4 + 0.001) / (1 - 0.999**2)
    assert params["layer"]["w"][0] == pytest.approx(0.9 - 0.1 * mean / square**0.5, abs=1e-7)


def test_a_batch_is_every_image_once_with_noise(data):
    some = data.take(numpy.arange(150))
    batches = list(digits.batches(some, numpy.random.default_rng(0)))
    assert [len(batch) for batch in batches] == [64, 64, 22]
    labels = numpy.concatenate([batch.labels for batch in batches])
    assert numpy.bincount(labels).tolist() == numpy.bincount(some.labels).tolist()
    assert all(batch.images.dtype == numpy.float32 for batch in batches)


def test_training_learns_and_repeats(data):
    training, test = digits.split(data, 0)
    seen = []
    trained = digits.train(training, test, seed=0, epochs=3, report=seen.append)
    again = digits.train(training, test, seed=0, epochs=3)
    other = digits.train(training, test, seed=1, epochs=3)
    assert tuple(seen) == trained.epochs == again.epochs != other.epochs
    assert trained.epochs[-1].test_accuracy > 0.9
    assert trained.epochs[-1].training_loss < trained.epochs[0].training_loss
    assert trained.params["hidden"]["weight"].dtype == numpy.float32


# -------------------------------------------------------------------------------------------------- the command


def run(tmp_path, capsys, *words):
    code = main(["train", "digits", "--epochs", "2", "--out", str(tmp_path), *words])
    return code, capsys.readouterr()


def without_time(text):
    return re.sub(r"took .* s", "took", text)


def test_the_command_trains_checks_and_writes(tmp_path, capsys):
    pytest.importorskip("matplotlib")
    code, captured = run(tmp_path / "new" / "folder", capsys)
    assert code == 0
    assert re.search(r"^training accuracy +\d\d\.\d\d%", captured.out, re.M)
    assert re.search(r"^test accuracy +\d\d\.\d\d%", captured.out, re.M)
    assert re.search(r"^gradient check +passed: right: \d+ derivatives of loss agree with differences", captured.out, re.M)
    assert "training:" in captured.err
    assert sorted(path.name for path in (tmp_path / "new" / "folder").iterdir()) == sorted(jobs.JOBS["digits"].files)


@pytest.mark.usefixtures("no_pictures")
def test_the_model_can_be_read_and_used_without_us(tmp_path, capsys, data):
    _, captured = run(tmp_path, capsys, "--seed", "2")
    with numpy.load(tmp_path / "model.npz", allow_pickle=False) as file:
        model = dict(file)
    assert set(model) == {
        "hidden.weight", "hidden.bias", "output.weight", "output.bias", "seed", "epochs", "training_accuracy", "test_accuracy",
    }  # fmt: skip
    assert (model["seed"], model["epochs"]) == (2, 2)
    _, test = digits.split(data, 2)
    hidden = numpy.maximum(test.images @ model["hidden.weight"] + model["hidden.bias"], 0)
    answers = (hidden @ model["output.weight"] + model["output.bias"]).argmax(axis=1)
    assert (answers == test.labels).mean() == model["test_accuracy"]
    assert f"{model['test_accuracy']:.2%}" in captured.out


@pytest.fixture
def no_pictures(monkeypatch):
    monkeypatch.setattr(jobs, "draw_pictures", lambda *args: None)


@pytest.mark.usefixtures("no_pictures")
def test_the_same_seed_prints_the_same_numbers_and_writes_the_same_model(tmp_path, capsys):
    runs = []
    for seed in ("1", "1", "2"):
        _, captured = run(tmp_path, capsys, "--seed", seed)
        runs.append((without_time(captured.out), {name: a.tolist() for name, a in numpy.load(tmp_path / "model.npz").items()}))
    assert runs[0] == runs[1]
    assert runs[0][0] != runs[2][0]
    assert runs[0][1]["hidden.weight"] != runs[2][1]["hidden.weight"]


@pytest.mark.usefixtures("no_pictures")
def test_a_wrong_gradient_is_said_aloud_and_is_exit_code_1(tmp_path, capsys, monkeypatch):
    wrong = GradientReport("loss_of", "wrong", "hidden", "reverse mode", 2.0, 1.0, 1.0, 1e-6)
    monkeypatch.setattr(jobs, "check_gradient", lambda *args, **options: wrong)
    code, captured = run(tmp_path, capsys)
    assert code == 1
    assert "gradient check     FAILED: wrong: the gradient of loss_of" in captured.out
    assert (tmp_path / "model.npz").exists()


def test_without_the_extra_it_trains_without_pictures_and_says_so(tmp_path, capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    monkeypatch.setitem(sys.modules, "tqdm", None)
    code, captured = run(tmp_path, capsys)
    assert code == 0
    assert 'pictures left out: autograd.viz needs matplotlib, which is missing: pip install "gradtape[train]"' in captured.out
    assert [path.name for path in tmp_path.iterdir()] == ["model.npz"]
    assert [line.partition(",")[0] for line in captured.err.splitlines()] == [
        "training: epoch 1 of 2",
        "training: epoch 2 of 2",
    ]


def test_a_disk_that_fails_while_writing_leaves_no_half_model(tmp_path, capsys, monkeypatch):
    def fails(file, **arrays):
        file.write(b"half")
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(numpy, "savez", fails)
    code, captured = run(tmp_path, capsys)
    assert code == 2
    assert captured.err.splitlines()[-1] == "gradtape: cannot read or write a file: No space left on device"
    assert list(tmp_path.iterdir()) == []


# -------------------------------------------------------------------------------------------------- the long form


@pytest.mark.full
def test_the_median_of_five_seeds_reads_97_percent(data):
    accuracies = []
    for seed in range(5):
        training, test = digits.split(data, seed)
        accuracies.append(digits.train(training, test, seed=seed).epochs[-1].test_accuracy)
    print(accuracies)
    assert statistics.median(accuracies) >= 0.97


@pytest.mark.full
def test_the_whole_command_takes_less_than_30_seconds(tmp_path):
    started = time.perf_counter()
    command = [sys.executable, "-m", "autograd", "train", "digits", "--out", str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0
    assert time.perf_counter() - started < 30
