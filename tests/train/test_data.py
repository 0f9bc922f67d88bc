"""Batches: of arrays by seed and epoch, of memory-mapped arrays without reading them, and from elsewhere."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from autograd.train import batches
from autograd.train.data import rows_of, source_of


@given(n=st.integers(1, 40), size=st.integers(1, 50), shuffle=st.booleans(), seed=st.integers(0, 9), epoch=st.integers(0, 9))
def test_every_row_comes_once_and_parts_stay_together(n, size, shuffle, seed, epoch):
    data = {"x": np.arange(n), "y": (np.arange(n) * 10, np.arange(2 * n).reshape(n, 2))}
    found = list(batches(data, size, shuffle=shuffle, seed=seed, epoch=epoch))
    assert [len(each["x"]) for each in found] == [size] * (n // size) + ([n % size] if n % size else [])
    x = np.concatenate([each["x"] for each in found])
    np.testing.assert_array_equal(np.sort(x), np.arange(n))
    np.testing.assert_array_equal(np.concatenate([each["y"][0] for each in found]), 10 * x)
    np.testing.assert_array_equal(np.concatenate([each["y"][1] for each in found])[:, 1], 2 * x + 1)
    if not shuffle:
        np.testing.assert_array_equal(x, np.arange(n))


def order_of(size, **how):
    return np.concatenate(list(batches(np.arange(100), size, shuffle=True, **how)))


def test_the_order_follows_from_seed_and_epoch_alone():
    np.testing.assert_array_equal(order_of(7, seed=3, epoch=5), order_of(100, seed=3, epoch=5))
    others = [order_of(7, seed=seed, epoch=epoch).tolist() for seed in range(3) for epoch in range(3)]
    assert len({tuple(each) for each in others}) == 9


@pytest.mark.parametrize(("n", "size", "lengths"), [(5, 2, [2, 2]), (6, 2, [2, 2, 2]), (5, 5, [5])])
def test_drop_last(n, size, lengths):
    assert [len(each) for each in batches(np.arange(n), size, drop_last=True)] == lengths


def test_an_epoch_can_be_begun_in_its_middle():
    source = source_of((np.arange(10), np.arange(10)), 3, shuffle=True)
    whole = [x.tolist() for x, _ in source.epoch(2, 0)]
    assert [x.tolist() for x, _ in source.epoch(2, 2)] == whole[2:]
    assert source.n_batches == 4
    assert source.n_rows == 10
    assert list(source.epoch(2, 4)) == []


class Spy(np.memmap):
    """A memory-mapped array that notes how many rows of it are read at once."""

    read: list[int]

    def __getitem__(self, key):
        found = super().__getitem__(key)
        self.read.append(len(found))
        return found

    def __array__(self, *args, **kwargs):
        raise AssertionError("the whole array was read")


@pytest.mark.parametrize("shuffle", [False, True])
def test_memory_mapped_arrays_are_read_batch_by_batch(tmp_path, shuffle):
    np.arange(20.0).reshape(10, 2).tofile(tmp_path / "x.bin")
    x = Spy(tmp_path / "x.bin", dtype=float, shape=(10, 2), mode="r")
    x.read = []
    source = source_of((x,), 4, shuffle=shuffle)
    assert x.read == []
    found = [each for (each,) in source.epoch(0, 0)]
    assert x.read == [4, 4, 2]
    assert {type(each) for each in found} == {np.ndarray}
    np.testing.assert_array_equal(np.sort(np.concatenate(found)[:, 0]), 2.0 * np.arange(10))


def test_lists_of_batches_and_functions_of_the_epoch():
    made = [(np.zeros(2), 0), (np.ones(3), 1)]
    source = source_of(made)
    for epoch in range(2):
        assert [label for _, label in source.epoch(epoch, 0)] == [0, 1]
    assert [label for _, label in source.epoch(0, 1)] == [1]
    assert source.n_batches == 2

    source = source_of(lambda epoch: (epoch * 10 + each for each in range(3)))
    assert list(source.epoch(4, 1)) == [41, 42]
    assert source.n_batches is None
    assert list(source_of(lambda epoch: [epoch] * 5, steps=2).epoch(1, 1)) == [1]
    assert source_of(made, steps=5).n_batches == 2


def test_an_iterator_serves_all_epochs_of_so_many_steps():
    source = source_of(iter(range(7)), steps=3)
    assert [list(source.epoch(epoch, 0)) for epoch in range(2)] == [[0, 1, 2], [3, 4, 5]]
    with pytest.raises(ValueError, match="ended after 7 batches, in epoch 3, expected 3 for each epoch"):
        list(source.epoch(2, 0))


def test_a_resumed_iterator_passes_over_what_was_used():
    assert list(source_of(iter(range(9)), steps=3).epoch(1, 1)) == [4, 5]


def test_an_iterator_cannot_be_begun_again():
    source = source_of(iter([1, 2]))
    assert list(source.epoch(0, 0)) == [1, 2]
    with pytest.raises(ValueError, match="followed to its end in the first epoch and cannot be begun again"):
        list(source.epoch(1, 0))


@pytest.mark.parametrize(
    ("batch", "rows"),
    [
        (np.zeros((4, 2)), 4),
        ((np.zeros(3), 1), 3),
        ({"n": 5, "x": np.zeros((2, 2))}, 2),
        (((np.zeros(6),), np.zeros(6)), 6),
        ("text", 1),
        ((), 1),
        (np.array(1.0), 1),
    ],
)
def test_rows_of_a_batch(batch, rows):
    assert rows_of(batch) == rows


class Table:
    iloc = None

    def __iter__(self):
        return iter(["a column"])


REFUSED = [
    ((np.zeros(3), np.zeros(4)), ValueError, r"data\[1\] has 4 rows and data\[0\] has 3"),
    ({"x": np.zeros(3), "y": [1, 2, 3]}, TypeError, r"data\['y'\]\[0\] is int, expected an array"),
    ((np.zeros(3), np.array(1.0)), ValueError, r"data\[1\] has no axes"),
    (np.zeros((0, 2)), ValueError, "0 rows, expected at least one batch"),
    ((), ValueError, "empty tuple"),
    ([], ValueError, "empty list"),
    ([np.zeros(3), np.zeros(3)], TypeError, r"list of arrays.*write a tuple for columns"),
    ([1.0, 2.0], TypeError, "list of numbers"),
    ("text", TypeError, "data is str 'text', expected an array"),
    (5, TypeError, "data is int 5"),
    (Table(), TypeError, r"data is a Table.*numpy\.asarray"),
]


@pytest.mark.parametrize(("data", "error", "message"), REFUSED, ids=[row[2] for row in REFUSED])
def test_what_is_refused(data, error, message):
    with pytest.raises(error, match=message):
        batches(data)


def test_drop_last_that_leaves_nothing():
    with pytest.raises(ValueError, match="has 3 rows, expected at least one batch of 4; set drop_last=False"):
        batches(np.zeros(3), 4, drop_last=True)


@pytest.mark.parametrize("size", [0, -1, 2.0, True, "3"])
def test_batch_size_is_a_count(size):
    with pytest.raises(ValueError, match="batch_size is"):
        batches(np.zeros(3), size)


def test_a_function_that_gives_no_batches():
    with pytest.raises(TypeError, match=r"data\(0\) returned int, expected an iterable"):
        list(batches(lambda epoch: 3))
