"""NumPy's functions that write to their first argument: on tensors and on arrays made by ``autograd.numpy`` they are recorded.

All come down to ``a[index] = v``. On plain arrays, with nothing that is on a tape, they are NumPy's own.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from autograd import operators as op
from autograd.assignable import assignable, resolve_all, writers
from autograd.engine import innermost_tape
from autograd.errors import NotTrackedError
from autograd.gradients.indexing import along_axis
from autograd.methods import numpy_functions
from autograd.tensor import AssignableArray, Tensor, innermost_value

__all__ = [
    "arange", "copyto", "empty", "eye", "fill_diagonal", "identity", "ones", "place", "put", "put_along_axis", "putmask", "tri",
    "zeros",
]  # fmt: skip
METHODS: tuple[str, ...] = ()


def _writer(theirs: Callable[..., Any]) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Ours where a tensor takes part, NumPy's own otherwise."""

    def decorate(ours: Callable[..., None]) -> Callable[..., None]:
        def write(a: Any, *args: Any, **kwargs: Any) -> None:
            args, kwargs = resolve_all(args), resolve_all(kwargs)
            followed = innermost_tape([a, *args, *kwargs.values()]) is not None
            if not followed:
                theirs(a.view(np.ndarray) if type(a) is AssignableArray else a, *args, **kwargs)
            elif type(a) is Tensor or type(a) is AssignableArray:
                ours(a, *args, **kwargs)
            else:
                also = ", or call autograd.numpy.full_like if it was full_like that called copyto" if theirs is np.copyto else ""
                raise NotTrackedError(
                    f"{theirs.__name__}: got a plain array to write to, in which no tape can follow what is written; make it with"
                    f" autograd.numpy (zeros, array, ...) inside the function that is differentiated{also}"
                )

        write.__name__ = write.__qualname__ = theirs.__name__
        write.__module__ = "autograd.numpy"
        write.__doc__ = ours.__doc__
        writers[theirs] = write
        return write

    return decorate


def _numbers(a: Any) -> Any:
    """The position of each element, in the shape of the array."""
    return np.arange(int(np.prod(np.shape(innermost_value(a))))).reshape(np.shape(innermost_value(a)))


def _assign_flat(a: Any, places: Any, v: Any) -> None:
    a[np.unravel_index(places, np.shape(innermost_value(a)))] = v


@_writer(np.put)
def put(a: Any, ind: Any, v: Any, mode: str = "raise") -> None:
    """``a.flat[ind] = v``, with ``v`` repeated as often as needed."""
    numbers = _numbers(a).ravel()
    places = np.take(numbers, np.ravel(ind), mode=mode)  # type: ignore[call-overload]
    _assign_flat(a, places, _repeated(v, places.size))


def _repeated(v: Any, length: int) -> Any:
    flat = op.reshape(op.copy(v), shape=(-1,))
    return op.getitem(flat, index=np.arange(length) % max(np.size(innermost_value(flat)), 1))


@_writer(np.place)
def place(arr: Any, mask: Any, vals: Any) -> None:
    """The elements where the mask is true become the values, one after the other, repeated as often as needed."""
    chosen = np.flatnonzero(np.asarray(innermost_value(mask)))
    _assign_flat(arr, chosen, _repeated(vals, chosen.size))


@_writer(np.putmask)
def putmask(a: Any, mask: Any, values: Any) -> None:
    """``a.flat[n] = values[n]`` for each n where the mask is true, with the values repeated to the length of the array."""
    chosen = np.flatnonzero(np.asarray(innermost_value(mask)))
    every = _repeated(values, int(np.prod(np.shape(innermost_value(a)))))
    _assign_flat(a, chosen, op.getitem(every, index=chosen))


@_writer(np.copyto)
def copyto(dst: Any, src: Any, casting: str = "same_kind", where: Any = True) -> None:
    """``dst[where] = src[where]``, with both repeated to the shape of ``dst``."""
    shape = np.shape(innermost_value(dst))
    mask = np.broadcast_to(np.asarray(innermost_value(where)), shape)
    if mask.all():
        dst[...] = src
    else:
        source = src if np.shape(innermost_value(src)) == shape else op.broadcast_to(src, shape=shape)
        dst[mask] = op.getitem(source, index=mask)


@_writer(np.fill_diagonal)
def fill_diagonal(a: Any, val: Any, wrap: bool = False) -> None:
    """The main diagonal becomes ``val``, repeated as often as needed; ``wrap`` goes on below in tall matrices."""
    numbers = _numbers(a)
    marked = np.zeros(numbers.shape, bool)
    np.fill_diagonal(marked, True, wrap=wrap)
    places = numbers[marked]
    _assign_flat(a, places, _repeated(val, places.size))


@_writer(np.put_along_axis)
def put_along_axis(arr: Any, indices: Any, values: Any, axis: int | None = -1) -> None:
    """Along an axis, the elements at ``indices`` become the values; undoes ``take_along_axis``."""
    shape = np.shape(innermost_value(arr))
    indices = np.asarray(indices)
    arr[np.unravel_index(indices, shape) if axis is None else along_axis(indices, shape, axis)] = values


def at(ufunc: np.ufunc, a: Any, indices: Any, *operands: Any) -> None:
    """``np.add.at(a, indices, b)`` and the like: the ufunc applied where the indices point, repeated ones one after the other.

    With something that is on a tape, ``add`` and ``subtract`` take repeated indices; others raise NotTrackedError for these.
    """
    operands = resolve_all(operands)
    if innermost_tape([a, *operands]) is None:
        ufunc.at(a.view(np.ndarray) if type(a) is AssignableArray else a, indices, *operands)
        return
    if type(a) is not Tensor and type(a) is not AssignableArray:
        raise NotTrackedError(
            f"{ufunc.__name__}.at: got a plain array to write to, in which no tape can follow what is written; make it with"
            " autograd.numpy (zeros, array, ...) inside the function that is differentiated"
        )
    places = _numbers(a)[indices]
    if places.size == np.unique(places).size:
        a[indices] = ufunc(a[indices], *operands)
    elif ufunc in (np.add, np.subtract):
        b = (
            operands[0]
            if np.shape(innermost_value(operands[0])) == places.shape
            else op.broadcast_to(operands[0], shape=places.shape)
        )
        value = resolve_all(a)
        shape, dtype = np.shape(innermost_value(value)), np.result_type(innermost_value(value))
        change = op.scatter_add([b], indices=[indices], shape=shape, dtype=dtype)
        a[...] = ufunc(value, change)
    else:
        raise NotTrackedError(
            f"{ufunc.__name__}.at: the indices name an element more than once, which is recorded for add and subtract alone;"
            " write one step after the other"
        )


writers[np.ufunc.at] = numpy_functions[np.ufunc.at] = at


# ------------------------------------------------------------------------------------------------ making arrays


def _making(theirs: Callable[..., Any]) -> Callable[..., Any]:
    def make(*args: Any, **kwargs: Any) -> Any:
        if innermost_tape(args) is not None or innermost_tape(list(kwargs.values())) is not None:
            raise NotTrackedError(
                f"{theirs.__name__}: got a tensor, but how many elements there are has no derivative; expected plain numbers:"
                " t.item(), or for values that follow a tensor start + step * np.arange(n), linspace, full"
            )
        return assignable(theirs(*args, **kwargs))

    make.__name__ = make.__qualname__ = theirs.__name__
    make.__module__ = "autograd.numpy"
    make.__doc__ = f"NumPy's ``{theirs.__name__}``; while a tape is open, an array into which tensors can be assigned."
    return make


arange = _making(np.arange)
empty = _making(np.empty)
eye = _making(np.eye)
identity = _making(np.identity)
ones = _making(np.ones)
tri = _making(np.tri)
zeros = _making(np.zeros)
