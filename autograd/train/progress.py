"""A bar that moves with the batches, on a terminal; nothing at all in a pipe or a log."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from autograd.train.callbacks import row_text
from autograd.train.history import Row

Moved = Callable[[int], Any]
"""``moved(n)``: so many batches more are done."""

Ended = Callable[[Row], Any]
"""``ended(row)``: an epoch is complete."""


@contextmanager
def progress_of(show: bool | None, n_batches: int | None, done: int, epochs: int) -> Iterator[tuple[Moved | None, Ended | None]]:
    """What to call after each step and each epoch, or None where nothing is shown.

    show        None for only if stderr is a terminal
    n_batches   in all epochs; None where that is not known
    done        how many of them a resumed training has done before

    Without tqdm there is a line for each tenth of the epochs in its stead.

    >>> with progress_of(False, 10, 0, 1) as (moved, ended):
    ...     print(moved, ended)
    None None
    """
    if not (sys.stderr.isatty() if show is None else show):
        yield None, None
        return
    try:
        from tqdm import tqdm
    except ImportError:
        every = max(1, epochs // 10)

        def print_line(row: Row) -> None:
            if row["epoch"] % every == 0 or row["epoch"] == epochs:
                print(row_text(row), file=sys.stderr, flush=True)

        yield None, print_line
        return
    with tqdm(total=n_batches, initial=done, desc="training", unit="batch", file=sys.stderr) as bar:
        yield bar.update, lambda row: bar.set_postfix_str(row_text(row))
