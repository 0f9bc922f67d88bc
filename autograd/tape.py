"""The gradient tape: a record of each kernel execution, kept in columns.

A record is one entry in ``_bindings`` (kernel, schema and rule), its input ids in ``_ids``, what its rule declared in
``_saved``, and the shape and dtype of its output. An id is the position of a value's record: a watched source and each
further output of a kernel take a position of their own, so ids need no column. ``TapeNode`` is the view of a record that
people see. Columns cost a third of one object a node, and the exact structure of a tape is then two of them.
"""

from __future__ import annotations

import itertools
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from threading import get_ident
from typing import TYPE_CHECKING, Any

import numpy as np

from autograd import locks, records
from autograd.containers import flatten, is_container
from autograd.errors import GradientError, InPlaceError, TapeError
from autograd.records import FURTHER_OUTPUT, PYTHON_SCALARS, SOURCE, TapeNode
from autograd.tensor import Tensor, innermost_value, wrap
from registry.bindings import Binding

if TYPE_CHECKING:
    import networkx

    from autograd.anomaly import Mode

_serials = itertools.count(1)


open_tapes: set[int] = set()
"""Serial numbers of the tapes that are open, of all threads; only the making of arrays asks whether there is one."""

anomaly_mode: ContextVar[Mode | None] = ContextVar("anomaly_mode", default=None)
"""What ``autograd.detect_anomaly`` asks of the tapes that are opened in its block; None outside of one."""


class Tape:
    """Records what happens to watched values, so that gradients can be taken.

    persistent   keep what was saved after the first gradient, so that more can be taken
    keep         "saved": exactly what the rules declare; "all": also every value, and a digest of each saved array, so
                 that a change in place by any way is found
    sources      note the line of the caller's code for every record (needs ``keep="all"``)

    >>> with Tape() as tape:
    ...     x = tape.watch(3.0)
    ...     y = x * x + x
    >>> tape.gradient(y, x)
    7.0
    """

    __slots__ = (
        "__weakref__",
        "_attrs",
        "_bindings",
        "_details",
        "_digest_all",
        "_digests",
        "_dtypes",
        "_freed",
        "_ids",
        "_keep_all",
        "_locks",
        "_names",
        "_outer",
        "_persistent",
        "_rebound",
        "_recorder",
        "_recording",
        "_saved",
        "_scopes",
        "_serial",
        "_shapes",
        "_sources",
        "_thread",
        "_watch",
    )

    def __init__(self, *, persistent: bool = False, keep: str = "saved", sources: bool = False) -> None:
        self._locks: dict[int, np.ndarray[Any, Any]] = {}  # first, because __del__ asks for it even if a check here raises
        self._digests: dict[int, tuple[np.ndarray[Any, Any], Any]] = {}
        if keep not in ("saved", "all"):
            raise TapeError(f"Tape(keep={keep!r}): expected 'saved' or 'all'")
        if sources and keep != "all":
            raise TapeError("Tape(sources=True) needs keep='all', which keeps a note for every record")
        self._persistent = persistent
        self._keep_all = self._digest_all = keep == "all"
        self._sources = sources
        self._bindings: list[Binding] = []
        self._ids: list[int] = []  # a list, not an array: its integers are those of the tensors, and appending is cheaper
        self._saved: list[Any] = []
        self._shapes: list[tuple[int, ...]] = []
        self._dtypes: list[Any] = []
        self._attrs: dict[int, dict[str, Any]] = {}
        self._names: dict[int, str | None] = {}
        self._scopes: list[list[Any]] = []
        self._details: dict[int, tuple[Any, ...]] = {}
        self._rebound = False  # whether a tensor stands for another id than the one that was watched
        self._outer: dict[int, Tape] = {}
        self._serial = 0
        self._thread = 0
        self._recorder = 0  # the thread that may record on the fast path; the hot path compares this alone
        self._recording = False
        self._freed = False
        self._watch: Mode | None = None

    # ------------------------------------------------------------------------------------------------ life cycle

    def __enter__(self) -> Tape:
        if self._serial:
            raise TapeError("this tape was opened before; a tape records one run: make a new one with Tape()")
        self._serial = next(_serials)
        open_tapes.add(self._serial)
        self._thread = get_ident()
        mode = anomaly_mode.get()
        if mode is not None:
            self._set_watch(mode)
        self._resume()
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        open_tapes.discard(self._serial)
        self._pause()
        if kind is not None:
            self._free()

    def __del__(self) -> None:
        if self._locks:
            locks.unlock_from_finalizer(self._locks.values())

    def _resume(self) -> None:
        self._recording = True
        if not self._keep_all:
            self._recorder = self._thread

    def _pause(self) -> None:
        self._recording = False
        self._recorder = 0

    def _set_watch(self, mode: Mode | None) -> None:
        """Look for anomalies from here on, which needs every value (no digests) and the caller's lines; or no longer (None)."""
        self._watch = mode
        if mode is not None:
            self._keep_all = self._sources = True
            self._recorder = 0

    def _note_outer(self, tape: Tape) -> None:
        """A value of this tape is a tensor of another one: a walk over this tape may record there."""
        self._outer[tape._serial] = tape

    def _free(self) -> None:
        """Let go of everything that was saved; structure, shapes and names stay for ``nodes`` and ``graph``."""
        self._saved = []
        self._details = {}
        self._digests = {}
        self._outer = {}
        self._release_locks()
        self._freed = True
        self._pause()

    def _release_locks(self) -> None:
        if self._locks:
            locks.unlock(self._locks.values())
            self._locks = {}

    @contextmanager
    def stop_recording(self) -> Iterator[None]:
        """Operations inside the block are not recorded on this tape: its tensors stand for their bare values.

        >>> with Tape() as tape:
        ...     x = tape.watch(3.0)
        ...     with tape.stop_recording():
        ...         c = x * 2.0
        >>> c
        6.0
        """
        was = self._recording
        self._pause()
        try:
            yield
        finally:
            if was and not self._freed:
                self._resume()

    @contextmanager
    def scope(self, name: str) -> Iterator[None]:
        """Name a stretch of records, for drawings and reports. Scopes nest: ``outer/inner``."""
        entry = [len(self._bindings), None, name]
        self._scopes.append(entry)
        try:
            yield
        finally:
            entry[1] = len(self._bindings)

    def __reduce__(self) -> Any:
        raise TapeError("a tape cannot be pickled or copied: it belongs to one run in one thread")

    # ------------------------------------------------------------------------------------------------ sources

    def watch(self, value: Any, *, name: str | None = None) -> Any:
        """Tensors on this tape for an array, a scalar, or each of those in a nested container (same structure).

        Arrays are locked against changes in place until the gradient has been taken (see ``autograd.locks``).
        Raises GradientError for integers and everything else that has no derivative.
        """
        if not self._recording:
            raise TapeError("watch: the tape is not recording; call it inside `with Tape() as tape:`")
        if self._thread != get_ident():
            raise TapeError("watch: this tape was opened in another thread; open one in each thread")
        if not is_container(value):
            return self._watch_leaf(value, name)
        leaves, structure = flatten(value)
        paths = structure.paths(name or "")
        if self._lock_all(leaves):
            return structure.rebuild(self._watch_arrays(leaves, paths))
        return structure.rebuild([self._watch_leaf(each, path) for each, path in zip(leaves, paths, strict=True)])

    def _watch_arrays(self, arrays: list[np.ndarray[Any, Any]], paths: list[str]) -> list[Tensor]:
        """Tensors for arrays that are locked already: the parameters of every training step come this way."""
        first = len(self._bindings)
        self._bindings += [SOURCE] * len(arrays)
        self._shapes += [each.shape for each in arrays]
        self._dtypes += [each.dtype for each in arrays]
        numbers = range(first, first + len(arrays))
        self._names.update(zip(numbers, paths, strict=True))
        tensors = []
        for number, value in zip(numbers, arrays, strict=True):
            tensor = Tensor()
            tensor._value = value
            tensor._tape = self
            tensor._id = number
            tensors.append(tensor)
        return tensors

    def _watch_leaf(self, value: Any, name: str | None) -> Tensor:
        if type(value) is np.ndarray and value.dtype.kind in "fc":
            if id(value) not in self._locks:
                self._lock(value)
        elif type(value) is Tensor:
            tape = value._tape
            if tape is self:
                return value
            if not tape._recording:
                return self._watch_leaf(value._value, name)
            if tape._serial > self._serial:
                raise TapeError("watch: got a tensor of a tape that was opened inside this one; watch it there, or pass a value")
            self._note_outer(tape)
        else:
            value = _differentiable(value, name)
            if type(value) is np.ndarray:
                self._lock(value)
        number = self._add_output(SOURCE, value)
        self._names[number] = name
        return wrap(value, self, number)

    def _lock_all(self, leaves: list[Any]) -> bool:
        """Lock the arrays among these values together, which costs half of one by one; whether that was all of them."""
        arrays = []
        held = self._locks
        all_locked = True
        for each in leaves:
            if type(each) is not np.ndarray or each.dtype.kind not in "fc":
                all_locked = False
            elif id(each) not in held:
                if not each.flags.owndata and not locks.can_be_unlocked(each):
                    self._digests.setdefault(id(each), (each, locks.digest(each)))
                else:
                    held[id(each)] = each
                    arrays.append(each)
        if arrays:
            locks.lock(arrays)
        return all_locked

    def shield(self, value: Any) -> None:
        """Lock a value of this tape of which a plain view is about to leave the engine, as long as the tape may need it."""
        if type(value) is np.ndarray and not self._freed:
            self._lock(value)

    def _lock(self, value: np.ndarray[Any, Any]) -> None:
        """Lock an array from outside, once for this tape; take its digest where NumPy could not unlock it."""
        if id(value) in self._locks or id(value) in self._digests:
            return
        if not value.flags.owndata and not locks.can_be_unlocked(value):
            self._digests[id(value)] = (value, locks.digest(value))
        else:
            locks.lock((value,))
            self._locks[id(value)] = value

    # ------------------------------------------------------------------------------------------------ records

    def _add_output(self, binding: Binding, value: Any) -> int:
        """Give ``value`` an id, with its shape and dtype (``float`` or ``complex`` itself for a Python scalar: weak)."""
        number = len(self._bindings)
        self._bindings.append(binding)
        plain = value if type(value) is np.ndarray else innermost_value(value)
        if type(plain) in PYTHON_SCALARS:
            self._shapes.append(())
            self._dtypes.append(type(plain))
        else:
            self._shapes.append(plain.shape)
            self._dtypes.append(plain.dtype)
        return number

    def _keep_details(
        self, number: int, binding: Binding, values: tuple[Any, ...], outputs: tuple[Any, ...], attrs: dict[str, Any]
    ) -> None:
        """Keep every value of a record, the caller's line, and digests of what was saved, as far as this tape wants them."""
        digests = []
        if self._digest_all:
            saved = [(n, v) for n, save, v in zip(binding.input_names, binding.save_inputs, values, strict=True) if save]
            saved += [("output", v) for save, v in zip(binding.save_outputs, outputs, strict=False) if save]
            saved += [(f"attribute {name}", v) for name, v in attrs.items()]
            digests = [(name, value, locks.digest(value)) for name, value in saved]
        self._details[number] = (values + outputs, caller_line() if self._sources else None, digests)

    def _mark(self) -> tuple[int, int, int]:
        """Where the columns end now, for ``_cut_back``."""
        return len(self._bindings), len(self._ids), len(self._saved)

    def _cut_back(self, mark: tuple[int, int, int]) -> None:
        """Drop every record made since ``_mark``; no tensor of those records may be in use."""
        n_bindings, n_ids, n_saved = mark
        for number in range(n_bindings, len(self._bindings)):
            self._attrs.pop(number, None)
            self._details.pop(number, None)
        del self._bindings[n_bindings:], self._shapes[n_bindings:], self._dtypes[n_bindings:]
        del self._ids[n_ids:]
        del self._saved[n_saved:]

    def _check_usable(self, what: str) -> None:
        if self._thread != get_ident():
            if self._serial == 0:
                raise TapeError(f"{what}: the tape was never opened; record inside `with Tape() as tape:`")
            raise TapeError(f"{what}: this tape was opened in another thread; take its gradient there")
        if self._freed:
            raise TapeError(
                f"{what}: this tape has freed what it saved, because its gradient has been taken or its block raised;"
                " make it Tape(persistent=True) to take several gradients"
            )

    def _check_locks(self) -> None:
        """Raise InPlaceError if an array was made writable again while this tape needed it."""
        for value in self._locks.values():
            if (value.flags.writeable or value.base is not None) and locks.broken(value):
                raise InPlaceError(self._describe_use(value, "was made writable again and may have been changed"))
        for value, before in self._digests.values():
            if locks.digest(value) != before:
                raise InPlaceError(self._describe_use(value, "was changed in place after it was saved"))

    def _describe_use(self, value: Any, fault: str) -> str:
        next_step = "change a copy instead, or change it after the gradient has been taken"
        for node in self.nodes:
            for name, saved in node.saved.items():
                if saved is value:
                    return f"kernel {node.kernel_name!r}: its saved {name} of shape {np.shape(value)} {fault}; {next_step}"
        return f"a watched array of shape {np.shape(value)} {fault}; {next_step}"

    # ------------------------------------------------------------------------------------------------ views

    def __len__(self) -> int:
        """Number of recorded kernel executions."""
        return sum(1 for binding in self._bindings if binding is not SOURCE and binding is not FURTHER_OUTPUT)

    def __bool__(self) -> bool:
        return True

    def __repr__(self) -> str:
        state = "recording" if self._recording else "freed" if self._freed else "closed" if self._serial else "not opened"
        return f"<Tape, {state}, {len(self)} records>"

    @property
    def nodes(self) -> list[TapeNode]:
        """Every recorded kernel execution, in order, as a ``TapeNode``."""
        return [records.node(self, *place) for place in records.places(self)]

    def graph(self) -> networkx.DiGraph:
        """The tape as a ``networkx.DiGraph``: a node for each record and source, an edge for each use of a value.

        Node attributes are the fields of ``TapeNode``; a source has ``kernel_name`` "source". An edge holds the names of the
        inputs it feeds as ``inputs``.
        """
        return records.graph(self)

    def saved_bytes(self, *, by_kernel: bool = False) -> int | dict[str, int]:
        """Bytes of the arrays that the tape holds for its gradients, each base buffer counted once.

        ``by_kernel=True`` gives a dictionary by kernel name; a buffer counts for the kernel that saved it first.
        """
        return records.saved_bytes(self, by_kernel=by_kernel)


def caller_line() -> str:
    """File, line and text of the innermost frame outside autograd and registry."""
    import linecache

    frame: Any = sys._getframe(1)
    while frame is not None and frame.f_globals.get("__name__", "").partition(".")[0] in ("autograd", "registry"):
        frame = frame.f_back
    if frame is None:
        return ""
    path, line = frame.f_code.co_filename, frame.f_lineno
    return f"{path}:{line}: {linecache.getline(path, line).strip()}"


def _differentiable(value: Any, name: str | None) -> Any:
    """The value as the tape keeps it; raises GradientError if it has no derivative."""
    if type(value) is float or type(value) is complex:
        return value
    which = f"watch: source {name}" if name else "watch: a source"
    if isinstance(value, np.ma.MaskedArray):
        raise GradientError(f"{which} is a masked array; expected a plain one: fill it first, and use where() for the mask")
    if isinstance(value, np.ndarray):
        value = np.asarray(value)
    elif not isinstance(value, np.generic | int):
        raise GradientError(
            f"{which} is {value!r} of type {type(value).__name__}; expected an array, a float, or a container of those"
        )
    if np.asarray(value).dtype.kind not in "fc":
        got = type(value).__name__ if not isinstance(value, np.ndarray) else f"an array of dtype {value.dtype}"
        raise GradientError(f"{which} is {got}, which has no derivative; expected floats: use {_float_form(value)}")
    return value


def _float_form(value: Any) -> str:
    return f"{float(value)}" if isinstance(value, int) else "x.astype(float)"
