"""Arrays that a tensor can be assigned into: what ``zeros(3)`` of ``autograd.numpy`` returns while a tape is open.

Such an array is a NumPy array in every respect until something that is on a tape is written to it or to a view of it. From then
on it stands for a tensor: reading it gives tensors, further writes are recorded, and its own memory is filled with NaN, so that
code which reads that memory behind our back cannot take it for a value. When the tape is closed, it is a plain array again.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from autograd import operators as op
from autograd.engine import innermost_tape, places_in, resolve, root_of
from autograd.errors import NotTrackedError, OutArrayError
from autograd.methods import numpy_functions
from autograd.tape import open_tapes
from autograd.tensor import AssignableArray, Tensor, innermost_value, link_view
from autograd.views import assign, with_part

writers: dict[Callable[..., Any], Callable[..., Any]] = {}
"""NumPy's functions that write to their first argument -> ours. ``autograd.numpy`` fills it."""


def assignable(a: Any) -> Any:
    """A copy of a float or complex array into which tensors can be assigned, if a tape is open; everything else as it is.

    >>> from autograd import grad
    >>> def f(x):
    ...     c = assignable(np.zeros(2))
    ...     c[0] = x * x
    ...     c[1] = 3.0
    ...     return c[0] * c[1]
    >>> grad(f)(2.0)
    12.0
    """
    if type(a) is not np.ndarray or a.dtype.kind not in "fc" or not open_tapes:
        return a
    made = np.ndarray.__new__(AssignableArray, a.shape, a.dtype)  # it owns its memory, so that it is the base of its views
    np.copyto(made.view(np.ndarray), a)
    return made


def _tensor(self: AssignableArray) -> Tensor | None:
    """The tensor that it stands for, or None for an array of numbers; a write to that of a view reaches the whole array."""
    root = root_of(self)
    if root._tensor is None:
        return None
    whole = resolve(root)
    if type(whole) is not Tensor:
        return None
    if self is root:
        return whole
    places, part = _places(root, self)
    flat = op.reshape(whole, shape=(-1,), order="C")
    shown = op.getitem(flat, index=places)
    link_view(whole, flat)
    link_view(flat, shown)
    of_part: Tensor = shown if part is None else op.real(shown) if part == "real" else op.imag(shown)
    return of_part


def _places(root: AssignableArray, view: AssignableArray) -> tuple[np.ndarray[Any, Any], str | None]:
    """Which elements of an array, counted through, a view of it shows, and whether only their ``"real"`` or ``"imag"`` part."""
    if root.dtype.kind != "c" or view.dtype != root.real.dtype:
        return places_in(root, view), None
    offset = view.ctypes.data - root.ctypes.data
    part = "imag" if offset % root.itemsize else "real"
    if any(each % root.itemsize for each, length in zip(view.strides, view.shape, strict=True) if length > 1):
        raise NotTrackedError(
            f"a view of dtype {view.dtype} on an array of dtype {root.dtype} cannot be followed; use the array itself"
        )
    start = offset // root.itemsize
    numbers = np.arange(root.size)
    steps = [each // root.itemsize * numbers.itemsize for each in view.strides]
    return np.lib.stride_tricks.as_strided(numbers[start:], view.shape, steps, writeable=False), part


def _setitem(self: AssignableArray, index: Any, value: Any) -> None:
    value = resolve(value)
    target = _tensor(self)
    tape = innermost_tape((value,))
    if target is None and tape is None:
        plain: Any = np.ndarray.view(self, np.ndarray)
        plain[resolve(index)] = value
        return
    root = root_of(self)
    if root._tensor is None:
        assert tape is not None  # one of the two is followed
        root._tensor = tape.watch(np.array(root))
        root.view(np.ndarray).fill(np.nan)
    if self is not root:
        places, part = _places(root, self)
        index = np.unravel_index(places[resolve(index)], root.shape)
        if part is not None:
            value = with_part(op.getitem(root._tensor, index=index), part, value)
    assign(root._tensor, index, value, who="assignment: the array")


def _getitem(self: AssignableArray, index: Any) -> Any:
    tensor = _tensor(self)
    return np.ndarray.__getitem__(self, index) if tensor is None else op.getitem(tensor, index=index)


def _iter(self: AssignableArray) -> Any:
    if not self.ndim:
        raise TypeError("iteration over a 0-d array")
    return (self[position] for position in range(len(self)))


def _array_ufunc(self: AssignableArray, ufunc: Any, method: str, *inputs: Any, out: Any = None, **options: Any) -> Any:
    if method == "at":
        return writers[np.ufunc.at](ufunc, inputs[0], *[resolve(each) for each in inputs[1:]])
    followed = innermost_tape([*inputs, *options.values()]) is not None
    operands = (_own if followed else resolve_all)(inputs)
    options = {name: resolve(each) for name, each in options.items()}
    run = getattr(ufunc, method)
    if out is None:
        return _assignable_results(run(*operands, **options))
    if options.get("where", True) is not True:  # elements that it leaves out keep their old values
        options["out"] = tuple(None if each is None else op.copy(resolve(each)) for each in out)
    results = run(*operands, **options)
    targets, parts = out, results if isinstance(results, tuple) else (results,)
    for target, part in zip(targets, parts, strict=True):
        if target is not None:
            _check_cast(ufunc.__name__, target, part)
            target[...] = part
    return out[0] if len(out) == 1 else out


def _check_cast(name: str, target: Any, part: Any) -> None:
    """Raise as NumPy does where a result does not go into its out array."""
    got, dtype = np.shape(innermost_value(part)), np.result_type(innermost_value(part))
    if got != target.shape:
        raise OutArrayError(f"{name}: out has shape {target.shape}, expected {got}, that of the result")
    if not np.can_cast(dtype, target.dtype, "same_kind"):
        raise OutArrayError(
            f"{name}: out has dtype {target.dtype}, to which the result, {dtype}, cannot be cast; write y = f(...)"
        )


def _assignable_results(results: Any) -> Any:
    return tuple(map(assignable, results)) if isinstance(results, tuple) else assignable(results)


def _array_function(self: AssignableArray, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
    writer = writers.get(function)
    if writer is not None:
        return writer(*args, **kwargs)
    stands_for = _own if innermost_tape([*args, *kwargs.values()]) is not None else resolve_all
    results = numpy_functions.get(function, function)(*stands_for(args), **stands_for(kwargs))
    if isinstance(results, list | tuple):
        return type(results)([_same_memory(self, each) for each in results]) if type(results) in (list, tuple) else results
    return _same_memory(self, results)


def _same_memory(array: AssignableArray, result: Any) -> Any:
    """A result into which tensors can be assigned: a view of the array where it is one, so that it is written through."""
    root = root_of(array)
    if type(result) is not np.ndarray or not np.may_share_memory(result, root):
        return assignable(result)
    offset = result.ctypes.data - root.ctypes.data
    view = np.ndarray.__new__(AssignableArray, result.shape, result.dtype, root, offset, result.strides)
    view.flags.writeable = result.flags.writeable
    return view


def resolve_all(value: Any) -> Any:
    """What arrays stand for, in nested lists, tuples and dictionaries; a write to a view reaches the whole array."""
    return _each(value, lambda array: np.ndarray.view(array, np.ndarray))


def _own(value: Any) -> Any:
    """The same, with copies of the arrays of numbers: a tape may save them, and a later write must not change them."""
    return _each(value, np.array)


def _each(value: Any, plain: Callable[[Any], Any]) -> Any:
    if isinstance(value, list):
        return [_each(each, plain) for each in value]
    if type(value) is tuple:
        return tuple(_each(each, plain) for each in value)
    if isinstance(value, dict):
        return {key: _each(each, plain) for key, each in value.items()}
    if type(value) is not AssignableArray:
        return value
    tensor = _tensor(value)
    return plain(value) if tensor is None else tensor


def _either(name: str) -> Callable[..., Any]:
    """A method: that of the tensor it stands for, or that of an array."""
    of_array = getattr(np.ndarray, name)

    def method(self: AssignableArray, *args: Any, **kwargs: Any) -> Any:
        tensor = _tensor(self)
        if tensor is None:
            return of_array(self, *resolve_all(args), **resolve_all(kwargs))
        return getattr(tensor, name)(*args, **kwargs)

    return method


def _either_attribute(name: str) -> property:
    of_array = getattr(np.ndarray, name)

    def get(self: AssignableArray) -> Any:
        tensor = _tensor(self)
        return of_array.__get__(self) if tensor is None else getattr(tensor, name)

    def put(self: AssignableArray, value: Any) -> None:
        if name == "flat":
            writers[np.put](self, np.arange(self.size), value)
        else:
            of_array.__get__(self)[...] = value

    return property(get, put if name in ("real", "imag", "flat") else None)


def _fill(self: AssignableArray, value: Any) -> None:
    self[...] = value


def _sort(self: AssignableArray, axis: int = -1, **options: Any) -> None:
    self[...] = op.sort(self, axis=axis) if _tensor(self) is not None else np.sort(self.view(np.ndarray), axis, **options)


def _partition(self: AssignableArray, kth: Any, axis: int = -1, **options: Any) -> None:
    self[...] = numpy_functions[np.partition](resolve(self), kth, axis, **options)


def _put(self: AssignableArray, indices: Any, values: Any, mode: str = "raise") -> None:
    writers[np.put](self, indices, values, mode)


def _reduce(self: AssignableArray, *_: Any) -> Any:
    value = resolve(self)
    return value.__reduce__()


_ARRAY_ONLY = frozenset({"fill", "partition", "put", "setflags", "sort", "view"})


def fill_assignable_array() -> None:
    """Give the class its behaviour, as ``autograd.methods`` does for Tensor."""
    entries: dict[str, Any] = {
        "__setitem__": _setitem,
        "__getitem__": _getitem,
        "__iter__": _iter,
        "__array_ufunc__": _array_ufunc,
        "__array_function__": _array_function,
        "__reduce__": _reduce,
        "__reduce_ex__": _reduce,
        "fill": _fill,
        "partition": _partition,
        "put": _put,
        "sort": _sort,
    }
    for name in ("T", "mT", "real", "imag", "flat"):
        entries[name] = _either_attribute(name)
    for name in ("__bool__", "__float__", "__int__", "__complex__", "__format__", "__copy__", "__deepcopy__"):
        entries[name] = _either(name)
    entries["__repr__"] = lambda self: repr(resolve(self))
    entries["__str__"] = lambda self: str(resolve(self))
    for name in dir(Tensor):
        if not name.startswith("_") and callable(getattr(np.ndarray, name, None)) and name not in _ARRAY_ONLY:
            entries[name] = _either(name)
    for name, entry in entries.items():
        setattr(AssignableArray, name, entry)
