"""The one table, imported last of the core, that gives Tensor its operators, methods and NumPy protocols.

Every entry is an operator of ``autograd.operators``; nothing is computed here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from autograd import operators as op
from autograd.errors import NotTrackedError, TapeError
from autograd.tape import Tape
from autograd.tape_gradient import gradient, jacobian, value_and_gradient
from autograd.tensor import Tensor, innermost_value
from autograd.variant_calls import numpy_into
from autograd.views import assign, with_part
from registry.errors import close_matches

numpy_functions: dict[Callable[..., Any], Callable[..., Any]] = {}
"""NumPy's function -> ours. ``autograd.numpy`` fills it; ``__array_function__`` reads it."""

_ufunc_functions: dict[Any, Callable[..., Any]] = {}
"""NumPy's ufunc -> the function of our operator, filled as they are met."""

# -------------------------------------------------------------------------------------------------- attributes


def _value(self: Tensor) -> Any:
    """The value: a read-only view of an array, a scalar, or a tensor of the tape outside."""
    value = self._value
    if type(value) is np.ndarray:
        self._tape.shield(value)  # so that nobody can make the view writable again
        value = value.view()
        value.flags.writeable = False
    return value


def _of_value(attribute: str, python_scalar: Any, doc: str) -> property:
    def get(self: Tensor) -> Any:
        plain = innermost_value(self)
        return getattr(plain, attribute) if hasattr(plain, "dtype") else python_scalar(plain)

    def refuse(self: Tensor, value: Any) -> None:
        raise AttributeError(
            f"t.{attribute} of a tensor cannot be set; write t = t.reshape(shape), or t = t.astype(dtype), which give a new one"
        )

    return property(get, refuse, doc=doc)


def _set_real(self: Tensor, value: Any) -> None:
    assign(self, ..., with_part(self, "real", value) if np.iscomplexobj(innermost_value(self)) else value)


def _set_imag(self: Tensor, value: Any) -> None:
    if not np.iscomplexobj(innermost_value(self)):
        raise TypeError("imag: the tensor is real and has no imaginary part to set; write t = t + 1j * value")
    assign(self, ..., with_part(self, "imag", value))


def _transpose(self: Tensor, *axes: Any) -> Any:
    """Permute the axes: ``t.transpose(1, 0)``, ``t.transpose((1, 0))``, or all reversed."""
    order: Any = axes
    if len(axes) == 1 and (axes[0] is None or isinstance(axes[0], list | tuple)):
        order = axes[0]
    return op.transpose(self, axes=tuple(order) if order else None)


def _reshape(self: Tensor, *shape: Any, order: str = "C", copy: bool | None = None) -> Any:
    """The same values in another shape: ``t.reshape(2, 3)`` or ``t.reshape((2, 3))``."""
    if len(shape) == 1:
        shape = shape[0]
    if order == "C" and copy is None:
        return op.reshape(self, shape=shape, order=order)
    return numpy_functions[np.reshape](self, shape, order, copy=copy)


def _matrix_transpose(self: Tensor) -> Any:
    """The last two axes swapped."""
    return op.swapaxes(self, axis1=-1, axis2=-2)


# -------------------------------------------------------------------------------------------------- Python protocols


def _repr(self: Tensor) -> str:
    made_by = self._tape._bindings[self._id].name if self._id < len(self._tape._bindings) else "?"
    return f"Tensor({self._value!r}, id={self._id} on tape, {made_by!r})".replace(" on tape, ", f" on tape {''}", 1)


def _format(self: Tensor, spec: str) -> str:
    plain = innermost_value(self)
    if spec and isinstance(plain, np.ndarray) and plain.ndim == 0:
        plain = plain.item()
    return format(plain, spec) if spec else repr(self)


def _bool(self: Tensor) -> bool:
    return bool(innermost_value(self))


def _len(self: Tensor) -> int:
    plain = innermost_value(self)
    if not np.shape(plain):
        raise TypeError("len() of a tensor without axes")
    return len(plain)


def _iter(self: Tensor) -> Iterator[Any]:
    if not np.shape(innermost_value(self)):
        raise TypeError("iteration over a tensor without axes")
    return (self[position] for position in range(len(self)))


def _refuse(what: str) -> Callable[[Tensor], Any]:
    def convert(self: Tensor, *_: Any, **__: Any) -> Any:
        raise NotTrackedError(
            f"{what}(tensor) would take the value off the tape without a word. Write t.item() to detach a scalar on purpose,"
            " t.value for the array; to keep following it use autograd.numpy functions, and to assign it into an array, make that"
            " with autograd.numpy (zeros, array, ...) where it is differentiated"
        )

    return convert


def _item(self: Tensor, *args: Any) -> Any:
    """The Python scalar of a one-element tensor, detached from the tape on purpose."""
    plain = innermost_value(self)
    return plain.item(*args) if hasattr(plain, "item") else plain


def _tolist(self: Tensor) -> Any:
    """The values as nested Python lists, detached from the tape on purpose."""
    plain = innermost_value(self)
    return plain.tolist() if hasattr(plain, "tolist") else plain


def _reduce(self: Tensor, protocol: Any = None) -> Any:
    raise TapeError("a tensor cannot be pickled: it belongs to a tape of this process; pickle t.value instead")


def _deepcopy(self: Tensor, memo: Any) -> Any:
    return op.copy(self)


def _array(self: Tensor, *args: Any, **kwargs: Any) -> Any:
    raise NotTrackedError(
        "NumPy asked a tensor for a bare array (np.asarray(t), np.array([t, t]), or a function without a gradient rule);"
        " that would drop its gradient without a word. Use autograd.numpy.array or stack; t.value is the bare array. To"
        " assign it into an array, make that with autograd.numpy (zeros, array, ...) where it is differentiated"
    )


# -------------------------------------------------------------------------------------------------- NumPy protocols


def _array_ufunc(self: Tensor, ufunc: Any, method: str, *inputs: Any, out: Any = None, **options: Any) -> Any:
    if method == "__call__" and out is None and not options:
        function = _ufunc_functions.get(ufunc)  # the common case: a plain array on the left of an operator
        if function is None:
            function = function_of_ufunc(ufunc)
            if function is not None:
                _ufunc_functions[ufunc] = function
        if function is not None:
            return function(*inputs)
    if method == "at":
        return numpy_functions[np.ufunc.at](ufunc, *inputs)
    return numpy_functions[getattr(np.ufunc, method)](ufunc, *inputs, out=out, **options)


def function_of_ufunc(ufunc: Any) -> Callable[..., Any] | None:
    """Our function of a ufunc, without its options: the operator of its name, or what ``autograd.numpy`` has; None if neither."""
    ours = numpy_functions.get(ufunc)
    if ours is not None:
        return getattr(ours, "without_options", ours)
    try:
        return op.operator_function(ufunc.__name__) if ufunc.__name__ not in vars(op) else vars(op)[ufunc.__name__]
    except AttributeError:
        return function_of_ufunc(ufunc) if any(declare(ufunc) for declare in ufunc_sources) else None


ufunc_sources: list[Callable[[Any], bool]] = []
"""Each is asked about a ufunc that no operator is named after, and says whether it has declared one now."""


def _array_function(self: Tensor, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
    ours = numpy_functions.get(function)
    if ours is None:
        name = f"{getattr(function, '__module__', 'numpy')}.{function.__name__}"
        raise NotTrackedError(
            f"{name} has no gradient rule, and will not run on the bare value of a tensor."
            f"{close_matches(function.__name__, [each.__name__ for each in numpy_functions])}"
            " Write it with autograd.numpy functions that have one, or use t.value where no gradient is needed"
        )
    return ours(*args, **kwargs)


# -------------------------------------------------------------------------------------------------- the table


def _swapped(name: str) -> Callable[[Any, Any], Any]:
    function = getattr(op, name)
    return lambda self, other: function(other, self)


def _augmented(name: str) -> Callable[[Any, Any], Any]:
    """``t += x`` as NumPy has it: an array is written, so that all its names and views see the change; a scalar is replaced."""
    function = getattr(op, name)

    def augmented(self: Tensor, other: Any) -> Any:
        if type(innermost_value(self)) is not np.ndarray or not self._tape._recording:
            return function(self, other)
        return numpy_into(f"{name}: the tensor on the left of an augmented assignment", function, (self, other), self)

    return augmented


_BINARY = {
    "add": "add",
    "sub": "subtract",
    "mul": "multiply",
    "truediv": "divide",
    "floordiv": "floor_divide",
    "mod": "remainder",
    "pow": "power",
    "matmul": "matmul",
}
_COMPARISONS = {"lt": "less", "le": "less_equal", "gt": "greater", "ge": "greater_equal", "eq": "equal", "ne": "not_equal"}
_UNARY = {"neg": "negative", "pos": "positive", "abs": "absolute"}


def _divmod(self: Any, other: Any) -> tuple[Any, Any]:
    return op.floor_divide(self, other), op.remainder(self, other)


def fill_tensor() -> None:
    """Give Tensor and Tape everything that is built on operators."""
    for dunder, name in (_BINARY | _COMPARISONS | _UNARY).items():
        setattr(Tensor, f"__{dunder}__", getattr(op, name))
    for dunder, name in _BINARY.items():
        setattr(Tensor, f"__r{dunder}__", _swapped(name))
        setattr(Tensor, f"__i{dunder}__", _augmented(name))
    entries: dict[str, Any] = {
        "value": property(_value, doc=_value.__doc__),
        "shape": _of_value("shape", lambda plain: (), "The length of each axis."),
        "ndim": _of_value("ndim", lambda plain: 0, "The number of axes."),
        "size": _of_value("size", lambda plain: 1, "The number of elements."),
        "dtype": _of_value("dtype", lambda plain: np.dtype(type(plain)), "The dtype of the value."),
        "itemsize": _of_value("itemsize", lambda plain: np.dtype(type(plain)).itemsize, "Bytes of one element."),
        "nbytes": _of_value("nbytes", lambda plain: np.dtype(type(plain)).itemsize, "Bytes of all elements."),
        "T": property(_transpose, doc="The axes reversed."),
        "mT": property(_matrix_transpose, doc=_matrix_transpose.__doc__),
        "real": property(lambda self: op.real(self), _set_real, doc="The real part."),
        "imag": property(lambda self: op.imag(self), _set_imag, doc="The imaginary part."),
        "flat": property(lambda self: op.ravel(self), doc="All elements in one axis; a tensor, so that it stays followed."),
        "transpose": _transpose,
        "reshape": _reshape,
        "item": _item,
        "tolist": _tolist,
        "__getitem__": lambda self, index: op.getitem(self, index=index),
        "__setitem__": assign,
        "__divmod__": _divmod,
        "__rdivmod__": lambda self, other: _divmod(other, self),
        "__repr__": _repr,
        "__format__": _format,
        "__bool__": _bool,
        "__len__": _len,
        "__iter__": _iter,
        "__float__": _refuse("float"),
        "__int__": _refuse("int"),
        "__complex__": _refuse("complex"),
        "__index__": _refuse("index"),
        "__hash__": object.__hash__,
        "__copy__": lambda self: op.copy(self),
        "__deepcopy__": _deepcopy,
        "__reduce_ex__": _reduce,
        "__array__": _array,
        "__array_ufunc__": _array_ufunc,
        "__array_function__": _array_function,
    }
    for name, entry in entries.items():
        setattr(Tensor, name, entry)
    for name in ("gradient", "value_and_gradient", "jacobian"):
        setattr(Tape, name, {"gradient": gradient, "value_and_gradient": value_and_gradient, "jacobian": jacobian}[name])


def add_methods(functions: Mapping[str, Callable[..., Any] | property]) -> None:
    """Give Tensor the methods of an ndarray that take the array first (``t.sum(axis=0)``), and attributes, under these names."""
    for name, function in functions.items():
        setattr(Tensor, name, function)


fill_tensor()
