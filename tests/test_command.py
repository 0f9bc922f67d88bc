"""The command line: what it prints, its exit codes, and one line for every mistake."""

import os
import signal
import subprocess
import sys

import pytest

from autograd.__main__ import COMMANDS, main
from autograd.train import JOBS


def in_a_process(*words, **options):
    command = [sys.executable, "-m", "autograd", *words]
    return subprocess.run(command, capture_output=True, text=True, check=False, **options)


def one_line_of(error_text):
    (line,) = error_text.splitlines()
    assert line.startswith("gradtape: ")
    return line


# -------------------------------------------------------------------------------------------------- what it can do


def test_alone_it_lists_what_it_can_do_quickly():
    done = in_a_process()
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("gradtape ")
    for command in COMMANDS.values():
        assert f"  {command.usage}" in done.stdout
        assert command.summary in done.stdout


def test_alone_it_imports_neither_matplotlib_nor_tqdm_nor_networkx():
    code = """
import sys
from autograd.__main__ import main
assert main([]) == 0
assert not {"matplotlib", "tqdm", "networkx", "scipy"} & set(sys.modules)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("words", [["--help"], ["-h"], []])
def test_help_is_the_list(words, capsys):
    assert main(words) == 0
    out = capsys.readouterr().out
    assert "train NAME" in out
    assert max(map(len, out.splitlines())) <= 100


@pytest.mark.parametrize("words", [["train"], ["train", "--help"]])
def test_train_lists_the_models(words, capsys):
    assert main(words) == 0
    out = capsys.readouterr().out
    for job in JOBS.values():
        assert job.name in out
        assert job.summary in out


@pytest.mark.parametrize("name", sorted(JOBS))
def test_every_model_explains_its_options(name, capsys):
    assert main(["train", name, "--help"]) == 0
    captured = capsys.readouterr()
    assert captured.err == ""
    for option in ("--seed", "--epochs", "--out"):
        assert option in captured.out


def test_version(capsys):
    assert main(["--version"]) == 0
    assert capsys.readouterr().out.startswith("gradtape ")


# -------------------------------------------------------------------------------------------------- mistakes

MISTAKES = [
    (["trian"], "no command 'trian', expected one of train, check. Did you mean 'train'?"),
    (["--trian"], "no option '--trian'"),
    (["train", "digit"], "no model 'digit', expected one of digits. Did you mean 'digits'?"),
    (["train", "--seed", "3"], "no option '--seed'"),
    (["train", "digits", "--epoch", "3"], "unrecognized arguments: --epoch 3"),
    (["train", "digits", "more"], "unrecognized arguments: more"),
    (["train", "digits", "two\nlines"], "unrecognized arguments: two lines"),
    (["train", "digits", "--epochs", "0"], "--epochs: got '0', expected a whole number of at least 1"),
    (["train", "digits", "--epochs", "-3"], "--epochs: got '-3', expected a whole number of at least 1"),
    (["train", "digits", "--epochs", "many"], "--epochs: got 'many', expected a whole number of at least 1"),
    (["train", "digits", "--epochs", "1.5"], "--epochs: got '1.5', expected a whole number of at least 1"),
    (["train", "digits", "--epochs", ""], "--epochs: got '', expected a whole number of at least 1"),
    (["train", "digits", "--epochs", "9" * 5000], "expected a whole number of at least 1"),
    (["train", "digits", "--seed", "-1"], "--seed: got '-1', expected a whole number of at least 0"),
    (["train", "digits", "--seed", "one"], "--seed: got 'one', expected a whole number of at least 0"),
    (["train", "digits", "--seed"], "--seed: expected one argument"),
    (["train", "digits", "--out", ""], "--out: cannot write into the folder '': its name is empty"),
    (["train", "digits", "--out", "a\0b"], "--out: cannot write into the folder 'a\\x00b'"),
]


@pytest.mark.parametrize(("words", "expected"), MISTAKES, ids=[" ".join(row[0])[:40].replace("\0", "0") for row in MISTAKES])
def test_a_mistake_gives_one_line_and_exit_code_2(words, expected, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert main(words) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert expected in one_line_of(captured.err)
    assert list(tmp_path.iterdir()) == []


def unwritable_folders(tmp_path):
    (tmp_path / "file").write_text("in the way")
    (tmp_path / "taken" / "model.npz").mkdir(parents=True)
    cases = {"file": "File exists", "file/below": "Not a directory", "taken": "model.npz there is a folder"}
    if os.geteuid() != 0:  # nothing is forbidden to root
        (tmp_path / "read_only").mkdir(mode=0o500)
        cases |= {"read_only": "Permission denied", "read_only/below": "Permission denied"}
    return cases


def test_an_unwritable_folder_is_named_before_training_begins(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    for name, reason in unwritable_folders(tmp_path).items():
        assert main(["train", "digits", "--out", name]) == 2
        captured = capsys.readouterr()
        assert captured.out == "", "training must not have begun"
        assert f"--out: cannot write into the folder '{name}': {reason}; name another folder" in one_line_of(captured.err)


@pytest.mark.skipif(not os.path.isdir("/proc/self"), reason="no /proc, where nobody can write")
@pytest.mark.parametrize("folder", ["/proc", "/proc/digits"])
def test_a_file_system_that_cannot_be_written_to_is_named(folder, capsys):
    assert main(["train", "digits", "--out", folder]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert f"cannot write into the folder '{folder}'" in one_line_of(captured.err)


def test_exit_codes_reach_the_shell():
    done = in_a_process("train", "digits", "--epochs", "-1")
    assert (done.returncode, done.stdout) == (2, "")
    one_line_of(done.stderr)


# -------------------------------------------------------------------------------------------------- interruptions


def test_ctrl_c_gives_one_line_and_exit_code_130(tmp_path):
    command = [sys.executable, "-m", "autograd", "train", "digits", "--epochs", "1000000", "--out", str(tmp_path)]
    with subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # a job in the background is born deaf to Ctrl-C
    ) as process:
        assert process.stdout.readline().startswith("digits: ")
        seen = ""
        while "loss" not in seen:  # the bar has moved
            seen += process.stderr.read(1)
        process.send_signal(signal.SIGINT)
        _, error_text = process.communicate(timeout=60)
    assert process.returncode == 130
    assert error_text.splitlines()[-1] == "gradtape: interrupted; nothing more was written"
    assert "Traceback" not in error_text
    assert list(tmp_path.iterdir()) == []


def test_a_reader_that_leaves_early_is_no_accident():
    with subprocess.Popen([sys.executable, "-m", "autograd"], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        process.stdout.close()
        assert process.stderr.read() == b""
    assert process.returncode in (0, 1)
