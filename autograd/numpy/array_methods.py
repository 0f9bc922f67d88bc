"""The methods of an ndarray that are no function of a family: those that write in place, and those that no tape can follow."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from autograd import operators as op
from autograd.errors import NotTrackedError
from autograd.methods import numpy_functions
from autograd.numpy.assignment import put
from autograd.tensor import Tensor, innermost_value
from autograd.views import assign


def _fill(self: Tensor, value: Any) -> None:
    """Every element becomes the value, as in ``t[...] = value``."""
    assign(self, ..., value)


def _sort(self: Tensor, axis: int = -1, kind: Any = None, order: Any = None, *, stable: Any = None) -> None:
    """The tensor itself put in order along an axis; ``np.sort(t)`` gives a new one."""
    assign(self, ..., numpy_functions[np.sort](self, axis, kind, order, stable=stable))


def _partition(self: Tensor, kth: Any, axis: int = -1, kind: str = "introselect", order: Any = None) -> None:
    """The tensor itself partly put in order along an axis; ``np.partition(t, kth)`` gives a new one."""
    assign(self, ..., numpy_functions[np.partition](self, kth, axis, kind, order))


def _argpartition(self: Tensor, kth: Any, axis: int | None = -1, kind: str = "introselect", order: Any = None) -> Any:
    """The positions that ``partition`` takes; a constant."""
    return numpy_functions[np.argpartition](self, kth, axis, kind, order)


def _compress(self: Tensor, condition: Any, axis: int | None = None, out: Any = None) -> Any:
    """The parts along an axis for which a vector of conditions is true."""
    return numpy_functions[np.compress](condition, self, axis, out)


def _contains(self: Tensor, value: Any) -> bool:
    """Whether any element is equal to the value."""
    return bool(np.any(np.equal(innermost_value(self), innermost_value(value))))


def _view(self: Tensor, *dtype: Any) -> Any:
    """A tensor that shares its elements; without arguments alone, for bytes that are read as another type have no derivative."""
    if dtype:
        return _refused("view", "astype converts to another type")(self)
    return op.reshape(self, shape=np.shape(innermost_value(self)))


def _to_device(self: Tensor, device: str, /, *, stream: Any = None) -> Tensor:
    """The tensor itself: arrays lie on the device ``"cpu"``."""
    np.asarray(innermost_value(self)).to_device(device, stream=stream)  # type: ignore[arg-type]  # which raises for another one
    return self


def _flags(self: Tensor) -> Any:
    """How the array lies in memory; it is read-only."""
    view = np.asarray(innermost_value(self)).view()
    view.flags.writeable = False
    return view.flags


def _refused(name: str, instead: str) -> Callable[..., Any]:
    def method(self: Tensor, *args: Any, **options: Any) -> Any:
        raise NotTrackedError(f"t.{name}() of a tensor is not followed by a tape: {instead}; t.value is the bare array")

    method.__name__ = name
    method.__doc__ = f"Refused: {instead}."
    return method


METHODS: dict[str, Callable[..., Any]] = {
    "__contains__": _contains,
    "argpartition": _argpartition,
    "compress": _compress,
    "fill": _fill,
    "partition": _partition,
    "put": put,
    "sort": _sort,
    "to_device": _to_device,
    "view": _view,
    "byteswap": _refused("byteswap", "swapped bytes have no derivative"),
    "choose": _refused("choose", "it takes whole numbers, which have no derivative; write np.choose(t.astype(int), choices)"),
    "dump": _refused("dump", "a file holds bare values; write t.value.dump(file)"),
    "dumps": _refused("dumps", "bytes hold bare values; write t.value.dumps()"),
    "getfield": _refused("getfield", "bytes read as another type have no derivative"),
    "resize": _refused("resize", "its size cannot change in place; write t = np.resize(t, shape)"),
    "setfield": _refused("setfield", "bytes written as another type have no derivative; write t[...] = value"),
    "setflags": _refused("setflags", "its memory is the tape's; copy t.value"),
    "tobytes": _refused("tobytes", "bytes hold bare values; write t.value.tobytes()"),
    "tofile": _refused("tofile", "a file holds bare values; write t.value.tofile(file)"),
}
"""What ``Tensor`` gets under these names."""

ATTRIBUTES: dict[str, property] = {
    "device": property(lambda self: "cpu", doc="Where the array lies, as the array standard has it."),
    "flags": property(_flags, doc=_flags.__doc__),
    "flat": property(op.ravel, lambda self, value: put(self, np.arange(self.size), value), doc="All elements in one axis."),
    "strides": property(lambda self: np.asarray(innermost_value(self)).strides, doc="Bytes from one element to the next."),
}
"""What ``Tensor`` gets as attributes."""
