"""One file of named arrays and a JSON text: written whole or not at all, and read whole or not at all.

The file is in the format of safetensors (https://github.com/huggingface/safetensors): any reader of that finds the arrays under
their names. What else there is stands in its metadata, under ``gradtape``, with a checksum of everything. There is no pickle in
it, so reading a file that somebody else made runs no code of theirs.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import numpy as np

from autograd.errors import CheckpointError

ndarray = np.ndarray

VERSION = 1
"""Of what stands in the metadata. A file of another version is refused."""

_LARGEST = {"b": 1, "i": 8, "u": 8, "f": 8, "c": 16}
"""Kinds of dtypes that can be stored, and the bytes of their largest. Complex numbers are stored as pairs of floats, in a last
axis: the format has no name for complex128."""


def write_file(path: str | os.PathLike[str], arrays: Mapping[str, ndarray[Any, Any]], about: Mapping[str, Any]) -> None:
    """Put arrays and what is to be known about them (JSON) into one file, in place of the one that is there.

    The file is written beside its place, under the name with ``.part`` at its end, forced to the disk, and then renamed, which
    the system does at once or not at all. Whenever the process is killed, ``path`` is the old file or the new one, whole.
    Raises CheckpointError for arrays that cannot be stored, ImportError without safetensors, OSError where the disk refuses.
    """
    path = Path(path)
    described = {name: _described(name, each) for name, each in arrays.items()}
    stored = {name: _stored(each) for name, each in arrays.items()}
    text = json.dumps({"format": "gradtape", "version": VERSION, "arrays": described, "about": about})
    metadata = {"gradtape": text, "checksum": _checksum(text, stored)}
    part = path.with_name(path.name + ".part")
    try:
        _safetensors().save_file(stored, part, metadata=metadata)
        _force_to_disk(part)
        os.replace(part, path)
    except BaseException:
        with suppress(OSError):
            part.unlink()
        raise
    _force_to_disk(path.parent)


def check_place(path: str | os.PathLike[str]) -> None:
    """Raise, before hours of work, what ``write_file`` would raise after them: there is no safetensors, or no such folder."""
    _safetensors()
    path = Path(path)
    if not path.parent.is_dir():
        raise FileNotFoundError(f"there is no folder {path.parent} to write {path.name} into; make it first")
    if path.is_dir():
        raise IsADirectoryError(f"{path} is a folder, expected the path of a file; write {path / 'run.safetensors'}")


def read_file(path: str | os.PathLike[str]) -> tuple[dict[str, ndarray[Any, Any]], dict[str, Any]]:
    """The arrays and the rest, as ``write_file`` was given them; the arrays are new and writable.

    Raises CheckpointError for a file that is no such file, is of another version, or is not what was written, to the last bit.
    """
    with open(path, "rb") as file:
        data = file.read()
    metadata = _metadata(path, data)
    if metadata is None or "gradtape" not in metadata or "checksum" not in metadata:
        raise CheckpointError(
            f"{path}: this is a file of safetensors that something else wrote; expected one that fit or save_model wrote. Its"
            " arrays are read by safetensors.numpy.load_file(path), and autograd.nn.with_parameters(model, arrays) takes them"
        )
    text = metadata["gradtape"]
    with _as_damage(path):
        content = json.loads(text)
        version = content["version"]
    if version != VERSION:
        raise CheckpointError(
            f"{path}: got a file of version {version!r}, expected version {VERSION}, which this gradtape writes and reads; read"
            " it with the gradtape that wrote it"
        )
    with _as_damage(path):
        arrays = _safetensors().load(data)
        if metadata["checksum"] != _checksum(text, arrays):
            raise ValueError("its content has another checksum than was written")
    return {name: _loaded(arrays[name], dtype) for name, (dtype, _) in content["arrays"].items()}, content["about"]


def _safetensors() -> Any:
    try:
        import safetensors.numpy
    except ImportError as error:
        raise ImportError('checkpoints need safetensors, which is missing: pip install "gradtape[train]"') from error
    return safetensors.numpy


def _described(name: str, array: ndarray[Any, Any]) -> tuple[str, list[int]]:
    dtype = array.dtype
    if dtype.itemsize > _LARGEST.get(dtype.kind, 0):
        raise CheckpointError(
            f"{name} has dtype {dtype}, expected bool, integers up to 64 bits, float16 to float64 or complex64 to complex128;"
            " convert it with astype, or leave it out of what is saved"
        )
    return dtype.name, list(array.shape)


def _stored(array: ndarray[Any, Any]) -> ndarray[Any, Any]:
    array = np.asarray(array, order="C", dtype=array.dtype.newbyteorder("<"))
    if array.dtype.kind == "c":
        array = array.reshape((*array.shape, 1)).view(array.real.dtype)
    return array


def _loaded(array: ndarray[Any, Any], dtype_name: str) -> ndarray[Any, Any]:
    dtype = np.dtype(dtype_name)
    array = array.astype(array.dtype.newbyteorder("="))
    if dtype.kind == "c":
        array = array.view(dtype).reshape(array.shape[:-1])
    return array


def _checksum(text: str, stored: Mapping[str, ndarray[Any, Any]]) -> str:
    digest = hashlib.sha256(text.encode())
    for name in sorted(stored):
        each = stored[name]
        digest.update(json.dumps([name, each.dtype.name, each.shape]).encode())
        digest.update(each.tobytes())
    return digest.hexdigest()


def _force_to_disk(path: Path) -> None:
    """A file, or the names in a folder. Systems that cannot open folders, such as Windows, do the latter by themselves."""
    if os.name == "nt" and path.is_dir():
        return
    handle = os.open(path, os.O_RDWR if path.is_file() else os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


# -------------------------------------------------------------------------------------------------- what is no such file

_FOREIGN = {
    b"PK": "a zip archive, as numpy.savez and torch.save write",
    b"\x80": "a pickle",
    b"\x93NUMPY": "an array of numpy.save",
    b"\x89HDF": "an HDF5 file",
    b"GGUF": "a GGUF file",
}


def _metadata(path: Any, data: bytes) -> dict[str, str] | None:
    """The texts in the head of a file of safetensors; None if it has none."""
    if not data:
        raise CheckpointError(f"{path}: the file is empty, expected one that fit or save_model wrote; {_NEXT}")
    size = int.from_bytes(data[:8], "little")
    if len(data) < 8 or data[8:9] != b"{":
        kind = next((kind for start, kind in _FOREIGN.items() if data.startswith(start)), "")
        kind = f"this is {kind}" if kind else f"this is no file of safetensors: it begins with {data[:8]!r}"
        raise CheckpointError(f"{path}: {kind}; expected one that fit or save_model wrote. Give another path, or move it away")
    if size + 8 > len(data):
        raise _damaged(path, f"its head is {size} bytes long, and {len(data) - 8} are there")
    with _as_damage(path):
        head = json.loads(data[8 : 8 + size])
        metadata = head.get("__metadata__")
        if metadata is not None and not all(isinstance(each, str) for each in metadata.values()):
            raise ValueError("its metadata are not texts")
        return metadata  # type: ignore[no-any-return]


@contextmanager
def _as_damage(path: Any) -> Iterator[None]:
    """Whatever fails at reading what is no longer what was written, as CheckpointError."""
    try:
        yield
    except (ImportError, MemoryError):
        raise
    except Exception as error:
        raise _damaged(path, str(error).strip() or type(error).__name__) from error


_NEXT = "delete it, or move it away, to begin anew"


def _damaged(path: Any, why: str) -> CheckpointError:
    return CheckpointError(f"{path}: the file is damaged or cut off ({why}); nothing was loaded. Use a copy of it, or {_NEXT}")
