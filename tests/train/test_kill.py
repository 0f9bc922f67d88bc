"""A training that is killed by SIGKILL at random moments, again and again, comes to the same as one that is left alone."""

from __future__ import annotations

import random
import signal
import subprocess
import sys
import time

import pytest

from autograd.train.storage import read_file
from tests.train.job import EPOCHS, STEPS, as_text, train

pytest.importorskip("safetensors")


@pytest.fixture(scope="module")
def undisturbed():
    return as_text(train(None))


@pytest.mark.parametrize("n_kills", [3, pytest.param(20, marks=pytest.mark.full)])
def test_kill_and_resume(tmp_path, undisturbed, n_kills):
    """It is killed some part of a step after one of its steps: in the writing of the checkpoint, or in the step that follows."""
    checkpoint, result = tmp_path / "run.safetensors", tmp_path / "result.json"
    command = [sys.executable, "-m", "tests.train.job", str(checkpoint), str(result)]
    moments = random.Random(n_kills)
    most = (EPOCHS * STEPS - 1) // n_kills  # new steps before a kill, so that there are enough for all kills
    reached = 0
    for _ in range(n_kills):
        wanted = reached + moments.randint(1, most)
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1) as job:
            asked, took = time.perf_counter(), 0.0
            for line in job.stdout:
                asked, took = time.perf_counter(), time.perf_counter() - asked
                job.stdin.write("go on\n")
                if int(line) == wanted:
                    break
            time.sleep(moments.random() * min(took, 0.05))
            job.kill()
        assert job.returncode == -signal.SIGKILL, "it was not killed, but ended by itself"
        assert not result.exists()
        if checkpoint.exists():
            reached = read_file(checkpoint)[1]["n_steps"]
        assert reached in (wanted - 1, wanted), "more than the last step was lost"
    subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, check=True)
    assert result.read_text() == undisturbed


def test_the_job_is_about_everything(undisturbed):
    """What the checkpoint has to hold makes a difference in it, or the test above would not see it lost."""
    fitted = train(None)
    assert as_text(fitted) == undisturbed
    assert fitted.best_epoch not in (None, EPOCHS)
    losses = fitted.history["validation_loss"]
    assert any(later >= min(losses[:place]) for place, later in enumerate(losses[1:], 1)), "the learning rate was never lowered"
