"""Checkpoints of a training, and models as files: which array stands under which name, and that it fits where it is put."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from autograd.containers import flatten
from autograd.errors import CheckpointError
from autograd.nn.names import named_buffers, named_parameters, parameter_names, with_buffers
from autograd.train.history import History
from autograd.train.run import NUMBERS, Run
from autograd.train.storage import read_file, write_file

ndarray = np.ndarray
Arrays = dict[str, ndarray[Any, Any]]

SHOWN = 5
"""How many names of arrays a message shows of each sort."""


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """Where ``fit`` writes its checkpoint: after each epoch, and after every ``every_steps`` steps of the optimiser.

    There is one file, which each writing replaces at once; give each training a path of its own.
    """

    path: str | os.PathLike[str]
    every_steps: int | None = None

    def __post_init__(self) -> None:
        every = self.every_steps
        if every is not None and (isinstance(every, bool) or not isinstance(every, int) or every < 1):
            raise ValueError(f"Checkpoint: every_steps is {every!r}, expected a whole number from 1 on, or None")


# -------------------------------------------------------------------------------------------------- models


def save_model(path: str | os.PathLike[str], model: Any, about: Mapping[str, Any] | None = None) -> None:
    """Write the parameters and buffers of a model into a file, which is there whole or not at all.

    The arrays have readable names, ``model.layers.0.weight``, in the format of safetensors. ``about`` is what else is to be known
    (as JSON has it). Layers and functions are not in the file: ``load_model`` is given a model of the same structure.
    Raises CheckpointError for dtypes that cannot be stored, ImportError without safetensors (extra ``[train]``).

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save_model(f"{folder}/line.safetensors", {"w": np.array([2.0, 3.0]), "b": 1.0})
    ...     load_model(f"{folder}/line.safetensors", like={"w": np.zeros(2), "b": 0.0})
    {'w': array([2., 3.]), 'b': 1.0}
    """
    write_file(path, _model_arrays("model", model), {"kind": "model", "about": dict(about or {})})


def load_model(path: str | os.PathLike[str], *, like: Any) -> Any:
    """A model of the structure of ``like``, with the parameters and buffers from a file; ``like`` stays as it is.

    Also reads a checkpoint of ``fit``: the best model in it, or the last one where none was kept. Raises CheckpointError for a
    file that is damaged, or something else, or whose arrays have other names, shapes or dtypes than those of ``like``.
    """
    arrays, about = read_file(path)
    prefix = "best" if about.get("best_epoch") is not None else "model"
    mine = {name: each for name, each in arrays.items() if _belongs(name, prefix)}
    _check_fit(path, mine, _model_arrays(prefix, like), "Give like= a model of the structure that was saved")
    return _model_from(mine, prefix, like)


def _model_arrays(prefix: str, model: Any) -> Arrays:
    named = named_parameters(model) | named_buffers(model)
    return {_joined(prefix, name): np.asarray(each) for name, each in named.items()}


def _model_from(arrays: Arrays, prefix: str, like: Any) -> Any:
    leaves, structure = flatten(like)
    new = [_as(arrays[_joined(prefix, name)], old) for name, old in zip(parameter_names(like), leaves, strict=True)]
    buffers = {name: _as(arrays[_joined(prefix, name)], old) for name, old in named_buffers(like).items()}
    return with_buffers(structure.rebuild(new), buffers)


def _as(array: ndarray[Any, Any], old: Any) -> Any:
    """An array, or the number that it holds where there was a number before."""
    if isinstance(old, ndarray):
        return array
    return array[()] if isinstance(old, np.generic) else array.item()


def _joined(prefix: str, name: str) -> str:
    return f"{prefix}.{name}" if name else prefix


def _belongs(name: str, prefix: str) -> bool:
    return name == prefix or name.startswith(prefix + ".")


# -------------------------------------------------------------------------------------------------- trainings


def save_run(path: str | os.PathLike[str], run: Run, settings: Mapping[str, Any]) -> None:
    """Write everything that a training consists of; ``settings`` are those that it cannot be resumed without."""
    arrays = _model_arrays("model", run.model)
    if run.best_epoch is not None:
        arrays |= _model_arrays("best", run.best)
    state = {_joined("optimiser", name): each for name, each in named_parameters(run.state).items()}
    arrays |= {name: np.asarray(each) for name, each in state.items() if _is_array(each)}
    about = {
        "kind": "run",
        "settings": dict(settings),
        "optimiser": {name: each for name, each in state.items() if not _is_array(each)},
        "random": run.rng.bit_generator.state,
        "history": run.history.rows,
        **{name: getattr(run, name) for name in NUMBERS},
    }
    write_file(path, arrays, about)


def load_run(path: str | os.PathLike[str], run: Run, settings: Mapping[str, Any]) -> None:
    """Put a new run where the one in the file was. Raises CheckpointError, and changes nothing, where it does not fit."""
    arrays, about = read_file(path)
    if about.get("kind") != "run":
        raise CheckpointError(
            f"{path}: got the file of a model, expected a checkpoint of a training; load_model(path, like=model) reads it. Give"
            " checkpoint= another path"
        )
    expected = _model_arrays("model", run.model)
    if about["best_epoch"] is not None:
        expected |= _model_arrays("best", run.model)
    leaves, structure = flatten(run.state)
    names = [_joined("optimiser", name) for name in parameter_names(run.state)]
    state = dict(zip(names, leaves, strict=True))
    expected |= {name: np.asarray(each) for name, each in state.items() if _is_array(each)}
    _check_fit(path, arrays, expected, _OTHER)
    numbers = {name: type(each) for name, each in state.items() if not _is_array(each)}
    got = {name: type(each) for name, each in about["optimiser"].items()}
    if numbers != got:
        raise CheckpointError(
            f"{path}: the optimiser has the numbers {_spelled_types(numbers)}, the file {_spelled_types(got)}; it is of another"
            f" optimiser. {_OTHER}"
        )
    _check_settings(path, about["settings"], settings)

    run.model = _model_from(arrays, "model", run.model)
    for name, each in state.items():
        if isinstance(each, ndarray):
            each[...] = arrays[name]  # in its place: an optimiser may hold views of it
    run.state = structure.rebuild(
        [
            each if isinstance(each, ndarray) else _as(arrays[name], each) if _is_array(each) else about["optimiser"][name]
            for name, each in state.items()
        ]
    )
    run.rng.bit_generator.state = about["random"]
    run.history = History(about["history"])
    for name in NUMBERS:
        setattr(run, name, about[name])
    if run.best_epoch is not None:
        run.best = _model_from(arrays, "best", run.model)


def _is_array(value: Any) -> bool:
    return isinstance(value, ndarray | np.generic)


def _spelled_types(types: Mapping[str, type]) -> str:
    return "{" + ", ".join(f"{name}: {kind.__name__}" for name, kind in types.items()) + "}"


# -------------------------------------------------------------------------------------------------- what does not fit

_OTHER = "Resume with the model and the optimiser that it was written with, or pass resume=False to begin anew and replace it"


def _check_fit(path: Any, got: Arrays, expected: Arrays, advice: str) -> None:
    """Raise CheckpointError unless both have the same names, with the same shapes and dtypes; says which have not."""
    missing = [f"{name}, {_shape(each)}, is not in the file" for name, each in expected.items() if name not in got]
    surplus = [f"{name}, {_shape(each)}, is only in the file" for name, each in got.items() if name not in expected]
    other = [
        f"{name}: got {_shape(got[name])}, expected {_shape(each)}"
        for name, each in expected.items()
        if name in got and _shape(got[name]) != _shape(each)
    ]
    differences = [line for lines in (missing, surplus, other) for line in _shortened(lines)]
    if differences:
        raise CheckpointError(
            f"{path}: what is in the file does not fit, and nothing was loaded:\n  " + "\n  ".join(differences) + f"\n{advice}"
        )


def _check_settings(path: Any, got: Mapping[str, Any], expected: Mapping[str, Any]) -> None:
    other = [
        f"{name}={got.get(name)!r} (now {expected.get(name)!r})"
        for name in dict.fromkeys([*got, *expected])
        if got.get(name) != expected.get(name)
    ]
    if other:
        raise CheckpointError(
            f"{path}: the training in the file was begun with {', '.join(other)}; it would not go on as it began. Resume it with"
            " these, or pass resume=False to begin anew and replace it"
        )


def _shape(array: ndarray[Any, Any]) -> str:
    return f"{array.dtype}{list(array.shape)}"


def _shortened(lines: list[str]) -> list[str]:
    return lines if len(lines) <= SHOWN else [*lines[:SHOWN], f"... and {len(lines) - SHOWN} more"]
