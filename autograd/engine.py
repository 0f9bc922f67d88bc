"""Run kernels, and record them: the one module that sees both the registry and the tape.

An operator on plain values goes straight to the active backend's kernel. On tensors it runs at the innermost tape of its
inputs: unwrap one level, run the operation on the inner values (which records on the tape outside, if there is one), wrap
the result and record. ``run`` does this for every operator; ``autograd.calls`` does the same for the common case in which nothing
is unusual, and hands everything else to ``run``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from threading import get_ident
from typing import Any

import numpy as np

from autograd.anomaly import check_record
from autograd.errors import KernelError, NotTrackedError, TapeError
from autograd.records import FURTHER_OUTPUT, PYTHON_SCALARS
from autograd.tape import Tape
from autograd.tensor import AssignableArray, Tensor, innermost_value, link_view, note_view, wrap
from registry import backends, bindings, operators
from registry.attributes import check_attributes
from registry.bindings import Binding
from registry.gradients import get_gradient
from registry.kernels import TensorInfo
from registry.variant_kernels import find_kernel

ndarray = np.ndarray
active = backends.chosen_backend.get
"""The backend of the innermost ``use_backend`` block; None stands for the default one, also as a key of bindings."""

PLAIN_TYPES = PYTHON_SCALARS | {np.float64, np.float32, np.complex128, np.int64, np.bool_}
"""Operands that a kernel takes as they are and nobody can change in place; others go the long way once."""


def run(name: str, inputs: Sequence[Any], attrs: dict[str, Any]) -> Any:
    """Run an operator on inputs in schema order (a list input as one list), with all attributes given."""
    if any(type(each) is AssignableArray or type(each) is list or type(each) is tuple for each in inputs):
        inputs = [resolve(each) for each in inputs]
        if innermost_tape(inputs) is not None:
            inputs = [_own(each) for each in inputs]
    tape = innermost_tape(inputs)
    if tape is None:
        return _run_plain(name, inputs, attrs)
    values = [unwrap(each, tape) for each in inputs]
    if not tape._recording:
        _shield(tape, values)  # the result may be a view of a value that the tape has saved
        return run(name, values, attrs)
    if tape._thread != get_ident():
        raise TapeError(
            f"operator {name!r}: its input is on a tape that was opened in another thread; open a tape in each thread"
        )
    binding = binding_of(name)
    if any(type(each) is list or type(each) is tuple for each in inputs):
        stacked = [_stacked(name, each, is_list) for each, is_list in zip(inputs, binding.list_inputs, strict=True)]
        if any(new is not old for new, old in zip(stacked, inputs, strict=True)):
            return run(name, stacked, attrs)
    if innermost_tape(values) is not None:
        values = [without_closed(each) for each in values]
    if innermost_tape(values) is None:
        values = [as_operand(name, each, is_list) for each, is_list in zip(values, binding.list_inputs, strict=False)]
        y = call_kernel(binding, values, attrs)
    else:
        note_outer(tape, values)
        y = run(name, values, attrs)
    return record(tape, binding, inputs, values, y, attrs)


def _shield(tape: Tape, values: Sequence[Any]) -> None:
    for each in values:
        if type(each) is list:
            _shield(tape, each)
        else:
            tape.shield(each)


def without_closed(value: Any) -> Any:
    """The value inside a tensor of a tape that does not record: what an operation on it uses and a rule saves."""
    while type(value) is Tensor and not value._tape._recording:
        value._tape.shield(value._value)
        value = value._value
    return [without_closed(each) for each in value] if type(value) is list else value


def innermost_tape(inputs: Sequence[Any]) -> Tape | None:
    """The tape opened last among those of the inputs; None if all are plain."""
    innermost: Tape | None = None
    for each in inputs:
        if type(each) is Tensor:
            if innermost is None or each._tape._serial > innermost._serial:
                innermost = each._tape
        elif type(each) is list or type(each) is tuple:
            inside = innermost_tape(each)
            if inside is not None and (innermost is None or inside._serial > innermost._serial):
                innermost = inside
        elif type(each) is AssignableArray and root_of(each)._tensor is not None:
            return innermost_tape([resolve(other) for other in inputs])
    return innermost


def resolve(value: Any) -> Any:
    """What an array that tensors may have been assigned into stands for: a tensor or a plain array; also those in a list."""
    if type(value) is AssignableArray:
        root = root_of(value)
        tensor = root._tensor
        if tensor is not None and not tensor._tape._recording:
            tensor = _after_its_tape(root, tensor)
        if tensor is None:
            return value.view(ndarray)
        if value is root:
            return tensor
        flat = run("reshape", (tensor,), {"shape": (-1,), "order": "C"})
        shown = run("getitem", (flat,), {"index": places_in(root, value)})
        link_view(tensor, flat)
        link_view(flat, shown)
        return shown
    if type(value) is list or type(value) is tuple:
        for each in value:
            if type(each) is AssignableArray or type(each) is list or type(each) is tuple:
                return type(value)([resolve(each) for each in value])
    return value


def _own(value: Any) -> Any:
    """A copy of the numbers of an array that may be assigned into: a tape saves them, and a later write changes them."""
    if type(value) is ndarray and type(value.base) is AssignableArray:
        return value.copy()
    return [_own(each) for each in value] if type(value) is list or type(value) is tuple else value


def root_of(array: AssignableArray) -> AssignableArray:
    """The array that owns the memory of this one."""
    while type(array.base) is AssignableArray:
        array = array.base
    return array


def places_in(root: AssignableArray, view: AssignableArray) -> np.ndarray[Any, Any]:
    """Which elements of an array, counted through, a view of it shows.

    Raises NotTrackedError for a view that takes the memory for numbers of another type.
    """
    if view.dtype != root.dtype:
        raise NotTrackedError(
            f"a view of dtype {view.dtype} on an array of dtype {root.dtype} cannot be followed; use the array itself"
        )
    offset = (view.ctypes.data - root.ctypes.data) // root.itemsize
    numbers = np.arange(root.size)
    steps = [each // root.itemsize * numbers.itemsize for each in view.strides]
    return np.lib.stride_tricks.as_strided(numbers[offset:], view.shape, steps, writeable=False)


def _after_its_tape(root: AssignableArray, tensor: Tensor) -> Tensor | None:
    """What an array stands for after the tape of its tensor has closed: a tensor of an outer tape, or numbers again."""
    value = without_closed(tensor)
    if type(value) is Tensor:
        root._tensor = wrap(value._value, value._tape, value._id)
    else:
        root._tensor = None
        root.view(ndarray)[...] = value
    return root._tensor


def binding_of(name: str) -> Binding:
    """The active backend's binding of an operator; made on first use."""
    table = bindings.table(name)
    chosen = active()
    binding = table.get(chosen)
    if binding is None:
        changes = bindings.changes
        backend_name = backends.get_backend()
        config = find_kernel(name, backend_name)
        backends.backend()
        schema = operators.declare_from_function(name, config.kernel_func)
        binding = Binding(config, schema, get_gradient(name), constant=operators.is_constant(name))
        if bindings.changes == changes:
            table[chosen] = binding
    return binding


# -------------------------------------------------------------------------------------------------- plain values


def _run_plain(name: str, inputs: Sequence[Any], attrs: dict[str, Any]) -> Any:
    binding = binding_of(name)
    operands = [as_operand(name, each, is_list) for each, is_list in zip(inputs, binding.list_inputs, strict=False)]
    if innermost_tape(operands) is not None:
        return run(name, operands, attrs)  # a nested list held tensors, and is now one tensor
    return call_kernel(binding, operands, attrs)


def call_kernel(binding: Binding, operands: Sequence[Any], attrs: dict[str, Any]) -> Any:
    """The kernel's result on plain operands: Python scalars if all operands are, errors with the operator's name."""
    try:
        y = binding.kernel_func(*operands, **attrs)
    except Exception as error:
        check_attributes(binding.schema, attrs)
        add_note(error, binding, operands)
        raise
    return weak(y, operands)


def weak(y: Any, operands: Sequence[Any]) -> Any:
    """A result of Python scalars alone as a Python scalar: ``.5 * 2`` must not turn a float32 array into float64 later."""
    if isinstance(y, np.generic) and all(type(each) in PYTHON_SCALARS for each in operands):
        return y.item()
    return y


def add_note(error: BaseException, binding: Binding, operands: Sequence[Any]) -> None:
    shapes = ", ".join(f"{n} {_describe(v)}" for n, v in zip(binding.input_names, operands, strict=False))
    error.add_note(f"in operator {binding.name!r} ({shapes}), {binding.schema}")


def as_operand(name: str, value: Any, is_list: bool) -> Any:
    """A plain operand as kernels take it: lists of numbers become arrays, lists of tensors one stacked tensor."""
    if is_list:
        if not isinstance(value, list | tuple):
            value = list(value)
        return [as_operand(name, each, False) for each in value]
    kind = type(value)
    if kind is ndarray or kind in PLAIN_TYPES:
        if kind is ndarray and value.dtype.hasobject:
            _refuse_objects(name, value)
        return value
    if kind is Tensor:
        return value
    if kind is list or kind is tuple:
        return array_of(name, value)
    if isinstance(value, np.ma.MaskedArray):
        raise NotTrackedError(f"operator {name!r}: masked arrays have no gradient; use where(mask, ...) on plain arrays")
    if isinstance(value, ndarray):
        return np.asarray(value)
    if isinstance(value, np.generic):
        return value
    if hasattr(value, "__array__") or hasattr(value, "__array_interface__") or hasattr(value, "__len__"):
        return np.asarray(value)
    return value


def _stacked(name: str, value: Any, is_list: bool) -> Any:
    """What was given for one input with every nested list in it as an array or a tensor; the very same if there is none."""
    if type(value) not in (list, tuple):
        return value
    if not is_list:
        return array_of(name, value)
    if not any(type(each) in (list, tuple) for each in value):
        return value
    return [array_of(name, each) if type(each) in (list, tuple) else each for each in value]


def array_of(name: str, nested: Sequence[Any]) -> Any:
    """One array, or one tensor if there are tensors among the leaves, from nested lists; raises on ragged ones.

    >>> array_of("array", [[1.0, 2.0], [3.0, 4.0]]).shape
    (2, 2)
    """
    if innermost_tape(nested) is None:
        try:
            return np.asarray(nested)
        except ValueError as error:
            raise ValueError(f"operator {name!r}: a ragged nested list is not an array; all parts must have one shape") from error
    parts = [array_of(name, each) if isinstance(each, list | tuple) else each for each in nested]
    shapes = {np.shape(innermost_value(each)) for each in parts}
    if len(shapes) > 1:
        raise ValueError(
            f"operator {name!r}: a ragged nested list is not an array; its parts have shapes {sorted(shapes)}, expected one shape"
        )
    return run("stack", (parts,), {**binding_of("stack").attr_defaults})


def _refuse_objects(name: str, value: np.ndarray[Any, Any]) -> None:
    if any(type(each) is Tensor for each in value.flat):
        raise NotTrackedError(
            f"operator {name!r}: got an object array that holds tensors, which NumPy would take apart one by one;"
            " build it with autograd.numpy.array([...]) or stack([...])"
        )


def _describe(value: Any) -> str:
    if isinstance(value, list):
        return "[" + ", ".join(_describe(each) for each in value) + "]"
    if isinstance(value, ndarray):
        return f"{value.dtype}{list(value.shape)}"
    return type(value).__name__


# -------------------------------------------------------------------------------------------------- recording


def record(tape: Tape, binding: Binding, inputs: Sequence[Any], values: Sequence[Any], y: Any, attrs: dict[str, Any]) -> Any:
    """Append one execution to the tape; returns its result as tensors of the tape.

    A result that is constant by definition (bool, integer, an operator declared ``constant``) stays plain; its record is for
    display only.
    """
    if binding.constant and np.iscomplexobj(innermost_value(y)):
        raise NotTrackedError(
            f"operator {binding.name!r} is constant for real numbers, but not for the complex ones it got; use the function of"
            f" that name in autograd.numpy, which has a gradient for them"
        )
    outputs = _outputs(binding, y)  # raises before anything is appended: columns out of step would be a wrong gradient later
    tracked = _append_ids(tape, binding, inputs)
    saved = tape._saved
    keep = binding.keep_for(tracked)
    for value, given, kept, is_list in zip(values, inputs, keep, binding.list_inputs, strict=True):
        if kept is None:
            continue
        if is_list:
            for each, handle in zip(value, given, strict=True):
                _save(tape, each, handle)
        elif kept:
            _save(tape, value, given)
        else:
            saved.append(None)
    for each, kept in zip(outputs, binding.save_outputs, strict=False):
        if kept:
            saved.append(each if binding.keeps_output_for(tracked) else None)
    for position in binding.info_positions:
        value = values[position]
        saved.append([info_of(each) for each in value] if binding.list_inputs[position] else info_of(value))
    number = len(tape._bindings)
    if attrs:
        attrs = tape._attrs[number] = {name: keep_attribute(tape, attr) for name, attr in attrs.items()}
    results = []
    for position, each in enumerate(outputs):
        at = tape._add_output(FURTHER_OUTPUT if position else binding, each)
        kind = np.dtype(tape._dtypes[at]).kind
        constant = binding.constant or kind in "biu"
        results.append(each if constant else wrap(each, tape, at))
    if binding.views and type(inputs[0]) is Tensor:
        for each in results:
            if type(each) is Tensor:
                note_view(inputs[0], each)
    if tape._keep_all:
        tape._keep_details(number, binding, tuple(values), tuple(outputs), attrs)
        if tape._watch is not None:
            check_record(tape, number, binding, values, outputs, attrs)
    if not binding.several:
        return results[0]
    return results if binding.n_outputs is None else tuple(results)


def _outputs(binding: Binding, y: Any) -> list[Any]:
    """The kernel's outputs as a list; raises KernelError if their number is not that of the schema."""
    if not binding.several:
        if isinstance(y, tuple | list):
            raise KernelError(
                f"kernel {binding.name!r} on backend {binding.kernel.backend_name!r} returned {len(y)} outputs in a"
                f" {type(y).__name__}, expected one array, by its schema\n  {binding.schema}\n"
                "Return the array alone, or declare the outputs in the schema: -> (Tensor first, Tensor second)"
            )
        outputs = [y]
    else:
        if not isinstance(y, tuple | list) or (binding.n_outputs is not None and len(y) != binding.n_outputs):
            got = f"{len(y)} outputs" if isinstance(y, tuple | list) else f"one {type(y).__name__}"
            expected = "a list" if binding.n_outputs is None else f"a tuple of {binding.n_outputs}"
            raise KernelError(
                f"kernel {binding.name!r} on backend {binding.kernel.backend_name!r} returned {got}, expected {expected},"
                f" by its schema\n  {binding.schema}"
            )
        outputs = list(y)
    if not outputs:
        raise KernelError(f"kernel {binding.name!r} returned no output, which a tape cannot follow; return at least one array")
    for each in outputs:
        if type(each) is not ndarray and not hasattr(each, "dtype") and type(each) not in PYTHON_SCALARS:
            raise KernelError(
                f"kernel {binding.name!r} on backend {binding.kernel.backend_name!r} returned {each!r} of type"
                f" {type(each).__name__}, expected an array or a scalar"
            )
    return outputs


def _append_ids(tape: Tape, binding: Binding, inputs: Sequence[Any]) -> tuple[bool, ...]:
    """Append the ids of one record's inputs (a list behind its length); returns which inputs are on the tape."""
    ids = tape._ids
    if not binding.has_list:
        numbers = [each._id if type(each) is Tensor and each._tape is tape else -1 for each in inputs]
        ids += numbers
        return tuple([number >= 0 for number in numbers])
    tracked = []
    for each, is_list in zip(inputs, binding.list_inputs, strict=True):
        members = each if is_list else (each,)
        if is_list:
            ids.append(len(members))
        numbers = [member._id if type(member) is Tensor and member._tape is tape else -1 for member in members]
        ids += numbers
        tracked.append(any(number >= 0 for number in numbers))
    return tuple(tracked)


def _save(tape: Tape, value: Any, handle: Any) -> None:
    if type(value) is ndarray and (type(handle) is not Tensor or handle._tape is not tape):
        tape._lock(value)
    tape._saved.append(value)


def keep_attribute(tape: Tape, attr: Any) -> Any:
    """An attribute as the tape keeps it: arrays locked and lists copied, so that no change in place reaches the gradient."""
    kind = type(attr)
    if kind is ndarray:
        tape._lock(attr)
    elif kind is list:
        return [keep_attribute(tape, each) for each in attr]
    elif kind is tuple:
        for each in attr:  # most indices are integers and slices, which nobody can change
            if type(each) is ndarray or type(each) is list or type(each) is tuple:
                return tuple([keep_attribute(tape, each) for each in attr])
    return attr


def note_outer(tape: Tape, values: Sequence[Any]) -> None:
    """Remember which outer tapes a walk over this one may write to."""
    for each in values:
        if type(each) is Tensor:
            tape._note_outer(each._tape)
        elif type(each) is list or type(each) is tuple:
            note_outer(tape, each)


_new_info: Callable[[tuple[Any, ...]], TensorInfo] = partial(tuple.__new__, TensorInfo)  # half the cost of TensorInfo(...)


def info_of(value: Any) -> TensorInfo:
    """Shape and dtype of an operand; the dtype of a Python scalar is its type (``float``), which is weak."""
    plain = value if type(value) is ndarray else innermost_value(value)
    return _new_info((plain.shape, plain.dtype) if hasattr(plain, "dtype") else ((), type(plain)))


def unwrap(value: Any, tape: Tape) -> Any:
    """The value inside a tensor of ``tape``; everything else, and tensors of other tapes, as they are."""
    if type(value) is Tensor:
        return value._value if value._tape is tape else value
    if type(value) is list or type(value) is tuple:
        return [unwrap(each, tape) for each in value]
    return value
