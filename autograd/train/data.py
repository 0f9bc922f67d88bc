"""Mini-batches of arrays, and of whatever else gives batches.

The rows of an epoch are in an order that depends on the seed and the number of the epoch alone: not on the batch size, nor on
what was drawn before. So an epoch can be begun in its middle, and a resumed training sees the batches it would have seen.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sized
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice
from typing import Any

import numpy as np

from autograd.containers import flatten

ndarray = np.ndarray


@dataclass(frozen=True, slots=True)
class Source:
    """Where batches come from.

    epoch       ``(number of the epoch from 0, how many of its batches to leave out at its beginning) -> batches``
    n_batches   how many an epoch has; None where that is not known before
    n_rows      how many rows there are; None where that is not known
    again       whether an epoch can be asked for more than once
    """

    epoch: Callable[[int, int], Iterator[Any]]
    n_batches: int | None = None
    n_rows: int | None = None
    again: bool = True


def batches(
    data: Any, batch_size: int = 32, *, shuffle: bool = False, seed: int = 0, epoch: int = 0, drop_last: bool = False
) -> Iterator[Any]:
    """The batches of one epoch.

    data         an array, or a tuple, dict or nested container of arrays with the same number of rows (their first axis): a
                 batch has the same form, and rows of each. Memory-mapped arrays are read batch by batch. Or batches made
                 elsewhere: a list or other iterable of them, or a function from the number of the epoch to an iterable.
    batch_size   rows in a batch; the last one has those that are left. Batches made elsewhere stay as they are.
    shuffle      rows in an order that depends on ``seed`` and ``epoch`` alone
    drop_last    leave out a last batch that is not full

    Raises TypeError for what is none of these, ValueError for arrays that do not fit together, or have no batch in them.

    >>> x, y = np.arange(5), np.array([0, 1, 0, 1, 0])
    >>> [rows.tolist() for rows, labels in batches((x, y), 2)]
    [[0, 1], [2, 3], [4]]
    >>> [rows.tolist() for rows, labels in batches((x, y), 3, shuffle=True)]
    [[2, 4, 3], [0, 1]]
    """
    return source_of(data, batch_size, shuffle=shuffle, seed=seed, drop_last=drop_last).epoch(epoch, 0)


def source_of(
    data: Any,
    batch_size: int = 32,
    *,
    shuffle: bool = False,
    seed: int = 0,
    drop_last: bool = False,
    steps: int | None = None,
    who: str = "data",
) -> Source:
    """What ``batches`` takes, for any number of epochs; ``steps`` is how many batches are an epoch, where not all are.

    >>> source_of(np.zeros((10, 3)), 4).n_batches
    3
    """
    if not _is_count(batch_size):
        raise ValueError(f"{who}: batch_size is {batch_size!r}, expected a whole number from 1 on")
    if steps is not None and not _is_count(steps):
        raise ValueError(f"{who}: steps_per_epoch is {steps!r}, expected a whole number from 1 on")
    if isinstance(data, ndarray | tuple | dict):
        source = _of_arrays(data, batch_size, shuffle, seed, drop_last, who)
    elif callable(data):
        source = Source(partial(_called, data, who))
    elif isinstance(data, Iterator):
        return Source(partial(_taken_on, data, _Taken(), steps, who), steps, again=False)
    elif isinstance(data, Iterable) and not isinstance(data, str | bytes):
        _refuse_tables(data, who)
        n_batches = len(data) if isinstance(data, Sized) else None
        if n_batches == 0:
            raise ValueError(f"{who} is an empty {type(data).__name__}, expected batches")
        source = Source(partial(_iterated, data), n_batches)
    else:
        raise TypeError(f"{who} is {type(data).__name__} {data!r:.60}, expected {_EXPECTED}")
    if steps is None:
        return source
    n_batches = steps if source.n_batches is None else min(steps, source.n_batches)
    return replace(source, epoch=partial(_cut_off, source.epoch, steps), n_batches=n_batches)


def rows_of(batch: Any) -> int:
    """How many rows a batch has: the length of its first array; 1 where it has none.

    >>> rows_of((np.zeros((4, 2)), np.zeros(4)))
    4
    """
    first = batch[0] if type(batch) is tuple and batch else batch
    if type(first) is not ndarray:
        first = next((each for each in flatten(batch)[0] if isinstance(each, ndarray) and each.ndim), None)
    return first.shape[0] if first is not None and first.ndim else 1


_EXPECTED = (
    "an array, a tuple or dict of arrays, an iterable of batches, or a function from the number of the epoch to such an iterable"
)


def _is_count(value: Any) -> bool:
    return isinstance(value, int | np.integer) and not isinstance(value, bool) and bool(value >= 1)


def _refuse_tables(data: Any, who: str) -> None:
    """What is easily meant as one array, and would be taken apart into batches."""
    if hasattr(data, "__array__") or hasattr(data, "iloc"):
        raise TypeError(f"{who} is a {type(data).__name__}, expected {_EXPECTED}; write numpy.asarray(...) around it")
    if isinstance(data, list):
        if any(isinstance(each, int | float | complex | str) for each in data):
            raise TypeError(f"{who} is a list of numbers or texts, expected {_EXPECTED}; write numpy.asarray(...) around it")
        if all(isinstance(each, ndarray) for each in data) and data:
            raise TypeError(
                f"{who} is a list of arrays, which may be meant as one batch after another or as columns: write a tuple for"
                " columns, (x, y), and lambda epoch: [...] for batches"
            )


# -------------------------------------------------------------------------------------------------- arrays


def _of_arrays(data: Any, batch_size: int, shuffle: bool, seed: int, drop_last: bool, who: str) -> Source:
    arrays, structure = flatten(data)
    paths = structure.paths(who)
    if not arrays:
        raise ValueError(f"{who} is an empty {type(data).__name__}, expected arrays")
    for path, each in zip(paths, arrays, strict=True):
        if not isinstance(each, ndarray):
            kind = type(each).__name__
            raise TypeError(f"{path} is {kind}, expected an array; write numpy.asarray(...) around it")
        if not each.ndim:
            raise ValueError(f"{path} has no axes, expected one row for each example")
    n_rows = len(arrays[0])
    for path, each in zip(paths, arrays, strict=True):
        if len(each) != n_rows:
            raise ValueError(
                f"{path} has {len(each)} rows and {paths[0]} has {n_rows}, expected as many: row i of each belongs together"
            )
    n_batches = n_rows // batch_size if drop_last else -(-n_rows // batch_size)
    if not n_batches:
        raise ValueError(
            f"{who} has {n_rows} rows, expected at least one batch"
            + (f" of {batch_size}; set drop_last=False, or a smaller batch_size" if n_rows else "")
        )
    order = partial(_order, n_rows, seed) if shuffle else None
    build = tuple if type(data) is tuple and len(arrays) == len(data) else structure.rebuild
    return Source(partial(_slices, arrays, build, order, int(batch_size), n_batches), n_batches, n_rows)


def _order(n_rows: int, seed: int, epoch: int) -> ndarray[Any, Any]:
    return np.random.default_rng([seed, epoch]).permutation(n_rows)


def _slices(
    arrays: list[Any], build: Callable[[list[Any]], Any], order: Any, batch_size: int, n_batches: int, epoch: int, skip: int
) -> Iterator[Any]:
    places = None if order is None else order(epoch)
    for number in range(skip, n_batches):
        rows: Any = slice(number * batch_size, (number + 1) * batch_size)
        if places is not None:
            rows = places[rows]
        yield build([each[rows] if type(each) is ndarray else np.asarray(each[rows]) for each in arrays])


# -------------------------------------------------------------------------------------------------- batches from elsewhere


def _iterated(data: Iterable[Any], epoch: int, skip: int) -> Iterator[Any]:
    return islice(iter(data), skip, None)


def _called(data: Callable[[int], Iterable[Any]], who: str, epoch: int, skip: int) -> Iterator[Any]:
    made = data(epoch)
    if not isinstance(made, Iterable):
        kind = type(made).__name__
        raise TypeError(f"{who}({epoch}) returned {kind}, expected an iterable of batches: yield them, or return a list")
    return islice(iter(made), skip, None)


def _cut_off(whole: Callable[[int, int], Iterator[Any]], steps: int, epoch: int, skip: int) -> Iterator[Any]:
    return islice(whole(epoch, skip), max(0, steps - skip))


@dataclass(slots=True)
class _Taken:
    """How far an iterator that cannot be begun again has been followed."""

    batches: int = 0


def _taken_on(data: Iterator[Any], taken: _Taken, steps: int | None, who: str, epoch: int, skip: int) -> Iterator[Any]:
    """The next ``steps`` batches of an iterator; in a resumed training, those that were used before are passed over first."""
    if steps is None and epoch:
        raise ValueError(
            f"{who} is an iterator, which was followed to its end in the first epoch and cannot be begun again: pass a list of"
            " its batches, or a function from the number of the epoch to an iterable; or say with steps_per_epoch how many"
            " batches are an epoch, so that one iterator serves all of them"
        )
    begin = epoch * (steps or 0) + skip
    for _ in islice(data, max(0, begin - taken.batches)):
        taken.batches += 1
    for batch in data if steps is None else islice(data, steps - skip):
        taken.batches += 1
        yield batch
    if steps is not None and taken.batches < (epoch + 1) * steps:
        raise ValueError(
            f"{who} is an iterator that ended after {taken.batches} batches, in epoch {epoch + 1}, expected {steps} for each"
            " epoch: pass one that goes on, or a function from the number of the epoch to an iterable"
        )
