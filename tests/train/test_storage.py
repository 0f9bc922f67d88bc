"""The file under checkpoints: what is read is what was written, to the last bit, or there is an error."""

from __future__ import annotations

import json
import pickle
import re
import subprocess
import sys
from math import inf

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from autograd.train import CheckpointError
from autograd.train.storage import check_place, read_file, write_file

safetensors = pytest.importorskip("safetensors.numpy")

DTYPES = ["bool", "int8", "int16", "int32", "int64", "uint8", "uint64", "float16", "float32", "float64", "complex64"]
DTYPES.append("complex128")


@given(
    arrays=st.dictionaries(
        st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=8),
        st.sampled_from(DTYPES).flatmap(lambda dtype: hnp.arrays(dtype, hnp.array_shapes(min_dims=0, min_side=0, max_side=3))),
        max_size=4,
    ),
    about=st.dictionaries(st.text(max_size=5), st.none() | st.integers() | st.floats(allow_nan=False) | st.text(), max_size=3),
)
def test_what_is_read_is_what_was_written(tmp_path_factory, arrays, about):
    path = tmp_path_factory.mktemp("storage") / "file.safetensors"
    write_file(path, arrays, about)
    found, rest = read_file(path)
    assert rest == about
    assert set(found) == set(arrays)
    for name, each in arrays.items():
        assert (found[name].dtype, found[name].shape) == (each.dtype, each.shape)
        assert found[name].tobytes() == each.tobytes()
        assert found[name].flags.writeable
    assert [each.name for each in path.parent.iterdir()] == ["file.safetensors"]


@pytest.mark.parametrize(
    "array",
    [
        np.arange(12.0).reshape(3, 4).T,
        np.arange(12.0)[::-2],
        np.broadcast_to(np.array([1j, 2.0]), (3, 2)),
        np.arange(3, dtype=">f4"),
        np.arange(3, dtype=">c16"),
    ],
    ids=["transposed", "strided", "broadcast", "other byte order", "complex of other byte order"],
)
def test_any_layout(tmp_path, array):
    write_file(tmp_path / "file", {"a": array}, {})
    np.testing.assert_array_equal(read_file(tmp_path / "file")[0]["a"], array)


def test_other_readers_find_the_arrays_under_their_names(tmp_path):
    arrays = {"model.layers.0.weight": np.arange(6.0).reshape(2, 3)}
    write_file(tmp_path / "file", arrays, {"note": "a"})
    np.testing.assert_array_equal(safetensors.load_file(tmp_path / "file")["model.layers.0.weight"], np.arange(6.0).reshape(2, 3))


def test_numbers_in_json_keep_their_last_bit(tmp_path):
    numbers = [0.1, 1e-320, inf, -0.0, 2**127 + 1, 1 / 3]
    write_file(tmp_path / "file", {}, {"numbers": numbers})
    assert [repr(each) for each in read_file(tmp_path / "file")[1]["numbers"]] == [repr(each) for each in numbers]


@pytest.mark.parametrize("array", [np.zeros(2, np.longdouble), np.array(["a"]), np.array([None]), np.zeros(1, "M8[s]")])
def test_dtypes_that_cannot_be_stored(tmp_path, array):
    with pytest.raises(CheckpointError, match=re.escape(f"model.w has dtype {array.dtype}, expected bool, integers")):
        write_file(tmp_path / "file", {"model.w": array}, {})
    assert list(tmp_path.iterdir()) == []


# -------------------------------------------------------------------------------------------------- damage

ARRAYS = {"model.weight": np.arange(40.0).reshape(8, 5), "model.bias": np.zeros(3, np.float32), "optimiser.step": np.array(7)}
ABOUT = {"kind": "run", "epoch": 3, "random": {"state": 2**100}}


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    path = tmp_path_factory.mktemp("whole") / "file"
    write_file(path, ARRAYS, ABOUT)
    return path.read_bytes()


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    return tmp_path_factory.mktemp("damaged") / "file"


def assert_refused_or_the_same(path, data):
    path.write_bytes(data)
    try:
        arrays, about = read_file(path)
    except CheckpointError:
        return True
    assert about == ABOUT
    assert {name: (each.dtype, each.shape, each.tobytes()) for name, each in arrays.items()} == {
        name: (each.dtype, each.shape, each.tobytes()) for name, each in ARRAYS.items()
    }
    return False


@given(data=st.data())
def test_flipped_bits(whole, place, data):
    damaged = bytearray(whole)
    for _ in range(data.draw(st.integers(1, 3))):
        damaged[data.draw(st.integers(0, len(whole) - 1))] ^= data.draw(st.integers(1, 255))
    assert_refused_or_the_same(place, bytes(damaged))


def test_every_byte_of_the_arrays_counts(whole, place):
    begin = 8 + int.from_bytes(whole[:8], "little")
    for position in range(begin, len(whole)):
        assert assert_refused_or_the_same(place, whole[:position] + bytes([whole[position] ^ 1]) + whole[position + 1 :])


def test_every_byte_of_the_head_counts_unless_it_is_a_blank(whole, place):
    begin = 8 + int.from_bytes(whole[:8], "little")
    for position in range(begin):
        for flip in (1, 0x20, 0x80):
            refused = assert_refused_or_the_same(
                place, whole[:position] + bytes([whole[position] ^ flip]) + whole[position + 1 :]
            )
            assert refused or whole[position : position + 1] == b" "


@pytest.mark.parametrize("keep", [0, 1, 7, 8, 9, 100, -1, -8, -100])
def test_files_that_are_cut_off(whole, place, keep):
    place.write_bytes(whole[:keep] if keep else b"")
    with pytest.raises(CheckpointError, match=r"empty|damaged or cut off|begins with"):
        read_file(place)


@given(cut=st.integers(0, 10_000), more=st.binary(max_size=20))
def test_cut_off_and_followed_by_something_else(whole, place, cut, more):
    assert assert_refused_or_the_same(place, whole[: cut % len(whole)] + more) or more


@given(data=st.binary(max_size=60))
def test_any_bytes_at_all(place, data):
    assert_refused_or_the_same(place, data)


def with_head(whole, change):
    """The file with other texts in its metadata."""
    size = int.from_bytes(whole[:8], "little")
    head = json.loads(whole[8 : 8 + size])
    change(head["__metadata__"])
    text = json.dumps(head).encode()
    text += b" " * (-len(text) % 8)
    return len(text).to_bytes(8, "little") + text + whole[8 + size :]


def changed(metadata, **entries):
    metadata["gradtape"] = json.dumps(json.loads(metadata["gradtape"]) | entries)


def test_another_version_is_named(whole, place):
    place.write_bytes(with_head(whole, lambda metadata: changed(metadata, version=2)))
    with pytest.raises(CheckpointError, match="got a file of version 2, expected version 1"):
        read_file(place)


def test_a_change_of_the_text_is_found(whole, place):
    place.write_bytes(with_head(whole, lambda metadata: changed(metadata, about={**ABOUT, "epoch": 4})))
    with pytest.raises(CheckpointError, match="another checksum than was written"):
        read_file(place)
    place.write_bytes(with_head(whole, lambda metadata: None))
    assert read_file(place)[1] == ABOUT


def saved(save, path, *arrays, **named):
    with path.open("wb") as file:
        save(file, *arrays, **named)


FOREIGN = {
    "pickle": (lambda path: path.write_bytes(pickle.dumps({"a": 1})), "this is a pickle"),
    "npz": (lambda path: saved(np.savez, path, a=np.zeros(2)), "this is a zip archive, as numpy.savez and torch.save write"),
    "npy": (lambda path: saved(np.save, path, np.zeros(2)), "an array of numpy.save"),
    "text": (lambda path: path.write_text("epoch,loss\n1,0.5\n"), "begins with b'epoch,lo'"),
    "safetensors": (lambda path: safetensors.save_file({"a": np.zeros(2)}, path), "something else wrote.*with_parameters"),
    "with metadata": (
        lambda path: safetensors.save_file({"a": np.zeros(2)}, path, metadata={"format": "pt"}),
        "something else wrote",
    ),
}


@pytest.mark.parametrize("kind", FOREIGN)
def test_files_of_something_else(tmp_path, kind):
    write, message = FOREIGN[kind]
    write(tmp_path / "file")
    with pytest.raises(CheckpointError, match=message):
        read_file(tmp_path / "file")


def test_no_pickle_is_ever_loaded(tmp_path, monkeypatch):
    monkeypatch.setattr(pickle, "loads", None)
    monkeypatch.setattr(pickle, "load", None)
    write_file(tmp_path / "file", ARRAYS, ABOUT)
    assert read_file(tmp_path / "file")[1] == ABOUT


def test_without_safetensors(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "safetensors.numpy", None)
    for work in (lambda: write_file(tmp_path / "file", {}, {}), lambda: check_place(tmp_path / "file")):
        with pytest.raises(ImportError, match=r"gradtape\[train\]"):
            work()


# -------------------------------------------------------------------------------------------------- killed while writing

KILLED = """
import os, signal, sys
import numpy as np
from autograd.train import storage

def die(*args, **kwargs):
    os.kill(os.getpid(), signal.SIGKILL)

real = {{"replace": os.replace, "fsync": os.fsync, "save": storage._safetensors().save_file}}
path = sys.argv[1]
{how}
storage.write_file(path, {{"a": np.full(1000, 2.0)}}, {{"n": 2}})
"""

MOMENTS = {
    "before a byte is written": ("storage._safetensors().save_file = die", 1),
    "half of it written": (
        "def half(stored, part, metadata):\n"
        "    real['save'](stored, part, metadata=metadata)\n"
        "    os.truncate(part, os.path.getsize(part) // 2)\n"
        "    die()\n"
        "storage._safetensors().save_file = half",
        1,
    ),
    "before it is on the disk": ("os.fsync = die", 1),
    "before the renaming": ("os.replace = die", 1),
    "after the renaming": ("os.replace = lambda *names: (real['replace'](*names), die())", 2),
    "at its end": (
        "n_calls = []\n"
        "def second(handle):\n"
        "    n_calls.append(1)\n"
        "    real['fsync'](handle)\n"
        "    len(n_calls) == 2 and die()\n"
        "os.fsync = second",
        2,
    ),
}


@pytest.mark.parametrize("moment", MOMENTS)
def test_killed_while_writing_the_last_whole_file_stays(tmp_path, moment):
    how, survivor = MOMENTS[moment]
    path = tmp_path / "file"
    write_file(path, {"a": np.full(1000, 1.0)}, {"n": 1})
    done = subprocess.run([sys.executable, "-c", KILLED.format(how=how), str(path)], capture_output=True, text=True, check=False)
    assert done.returncode == -9, done.stderr
    arrays, about = read_file(path)
    assert about == {"n": survivor}
    np.testing.assert_array_equal(arrays["a"], np.full(1000, float(survivor)))
    write_file(path, {"a": np.full(1000, 3.0)}, {"n": 3})  # what is left of the half-written one is no obstacle
    assert read_file(path)[1] == {"n": 3}
    assert [each.name for each in tmp_path.iterdir()] == ["file"]


def test_an_error_while_writing_leaves_the_old_file_and_nothing_else(tmp_path, monkeypatch):
    path = tmp_path / "file"
    write_file(path, {}, {"n": 1})

    def full(*args, **kwargs):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(OSError, match="No space left"):
        write_file(path, {}, {"n": 2})
    assert read_file(path)[1] == {"n": 1}
    assert [each.name for each in tmp_path.iterdir()] == ["file"]
