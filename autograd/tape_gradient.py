"""What a person asks of a tape: ``gradient``, ``value_and_gradient``, ``jacobian``.

These become methods of ``Tape`` (``autograd.methods``); here are their checks and the shape of what they return.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from threading import get_ident
from typing import Any, NoReturn

import numpy as np

from autograd import operators as op
from autograd.backprop import pull_back
from autograd.containers import Structure, flatten
from autograd.dag import plan_for
from autograd.engine import resolve
from autograd.errors import GradientError
from autograd.tape import Tape
from autograd.tensor import Tensor, innermost_value, source_id


def gradient(self: Tape, target: Tensor, sources: Any, dy: Any = None) -> Any:
    """The gradient of ``target`` in each source, in the structure, shapes and dtypes of ``sources``.

    target     a tensor of this tape; a scalar, unless ``dy`` is given
    sources    a tensor of this tape, or a nested container of such
    dy         the cotangent of the target, of its shape; 1 for a scalar

    A source that the target does not depend on gets zeros. The tape then frees what it saved, unless it is persistent.
    Raises GradientError for a target or source that is not on this tape, a target that is not a scalar and has no ``dy``, or a
    gradient rule that is missing or returns what does not fit; TapeError for a tape that cannot be used (any more).

    >>> with Tape() as tape:
    ...     w = tape.watch({"a": 2.0, "b": 5.0})
    ...     y = w["a"] * w["a"] * w["b"]
    >>> tape.gradient(y, w)
    {'a': 20.0, 'b': 4.0}
    """
    if self._freed or self._thread != get_ident():
        self._check_usable("gradient")
    if type(target) is not Tensor or target._tape is not self:
        target = _resolved_target(self, target)
    ids, structure = _find_sources(self, sources)
    dy = _scalar_cotangent(target) if dy is None else _given_cotangent(target, dy)
    nested = self._outer
    gradients = _writable(self, ids, _pull(self, target, dy, ids, ()), dy)
    if nested:
        gradients = on_outer_tapes(gradients, flatten(sources)[0])
    return gradients[0] if structure is None else structure.rebuild(gradients)


def value_and_gradient(self: Tape, target: Tensor, sources: Any, dy: Any = None) -> tuple[Any, Any]:
    """The value of ``target``, and its gradient as ``gradient`` returns it.

    >>> with Tape() as tape:
    ...     x = tape.watch(3.0)
    ...     y = x * x
    >>> tape.value_and_gradient(y, x)
    (9.0, 6.0)
    """
    gradients = gradient(self, target, sources, dy)
    return (target._value if self._freed else target.value), gradients


def jacobian(self: Tape, target: Tensor, sources: Any) -> Any:
    """The Jacobian of ``target`` in each source: shape ``target.shape + source.shape``, in one walk with a batch of cotangents.

    Of a complex target in a real source it is complex: the derivatives of both parts. In a complex source it is
    ``df/dx - i df/dy`` of the real part, which for a holomorphic function is its derivative.

    >>> import numpy as np
    >>> with Tape() as tape:
    ...     x = tape.watch(np.array([1.0, 2.0]))
    ...     y = x * x
    >>> tape.jacobian(y, x)
    array([[2., 0.],
           [0., 4.]])
    """
    self._check_usable("jacobian")
    if type(target) is not Tensor or target._tape is not self:
        target = _resolved_target(self, target)
    ids, structure = _find_sources(self, sources)
    shape, dtype = self._shapes[target._id], np.dtype(self._dtypes[target._id])
    size = int(np.prod(shape))
    real = [np.dtype(self._dtypes[each]).kind != "c" for each in ids]
    both = dtype.kind == "c" and any(real)
    units = np.eye(size, dtype=dtype)
    if both:
        units = np.concatenate([units, -1j * units])  # -i asks for the imaginary part
    dy = units.reshape((len(units), *shape))
    nested = self._outer
    results = _pull(self, target, dy, ids, (len(dy),))
    if both:
        results = [_complex_rows(rows, size, each) for rows, each in zip(results, real, strict=True)]
    jacobians: list[Any] = []
    for number, rows in zip(ids, results, strict=True):
        full = shape + self._shapes[number]
        if rows is None:
            each = op.zeros(shape=full, dtype=np.dtype(self._dtypes[number]))
        else:
            each = op.reshape(rows, shape=full)
        jacobians.append(each[()] if type(each) is np.ndarray and not full else each)
    jacobians = _writable(self, ids, jacobians, dy)
    if nested:
        jacobians = on_outer_tapes(jacobians, flatten(sources)[0])
    return jacobians[0] if structure is None else structure.rebuild(jacobians)


def _complex_rows(rows: Any, size: int, real: bool) -> Any:
    """The rows of the real parts, and in a real source ``i`` times those of the imaginary parts behind them."""
    if rows is None:
        return None
    first = rows[:size]
    return op.add(first, op.multiply(1j, rows[size:])) if real else first


def _pull(tape: Tape, target: Tensor, dy: Any, ids: Sequence[int], batch: tuple[int, ...]) -> list[Any]:
    """Walk back with the tape's recording off; free what it saved, also if the walk fails."""
    was_recording = tape._recording
    tape._check_locks()
    plan = plan_for(tape, target._id, tuple(ids))
    tape._pause()
    try:
        results = pull_back(tape, plan, target._id, dy, ids, batch)
    except BaseException:
        tape._free()
        raise
    if not tape._persistent:
        tape._free()
    elif was_recording:
        tape._resume()
    return results


def _resolved_target(tape: Tape, target: Any) -> Tensor:
    """The tensor that an assigned array stands for; raises GradientError for every other target that is not on this tape."""
    target = resolve(target)
    if type(target) is not Tensor or target._tape is not tape:
        _refuse_target(target)
    return target


def _refuse_target(target: Any) -> NoReturn:
    if type(target) is not Tensor:
        raise GradientError(
            f"the target is {_spell(target)}, expected a tensor of this tape: nothing that is watched reached it, or it left"
            " the tape on the way (item(), value, a comparison)"
        )
    raise GradientError("the target is a tensor of another tape; take the gradient on the tape that recorded it")


def _find_sources(tape: Tape, sources: Any) -> tuple[list[int], Structure | None]:
    """The ids of the sources, and the structure to put their gradients in (None for a tensor alone)."""
    if type(sources) is Tensor and sources._tape is tape:
        return [source_id(sources)], None
    leaves, structure = flatten(sources)
    if tape._rebound:
        ids = [source_id(each) for each in leaves if type(each) is Tensor and each._tape is tape]
    else:
        ids = [each._id for each in leaves if type(each) is Tensor and each._tape is tape]
    if len(ids) == len(leaves):
        return ids, structure
    position, wrong = next((n, each) for n, each in enumerate(leaves) if type(each) is not Tensor or each._tape is not tape)
    got = "a tensor of another tape" if type(wrong) is Tensor else _spell(wrong)
    raise GradientError(
        f"{structure.paths('sources')[position]} is {got}, expected a tensor of this tape: pass what tape.watch(...) returned,"
        " not the bare value"
    )


def _spell(value: Any) -> str:
    if isinstance(value, np.ndarray):
        return f"an array of shape {value.shape}"
    return f"{type(value).__name__} {value!r}" if value is not None else "None"


def _scalar_cotangent(target: Tensor) -> Any:
    shape = target._tape._shapes[target._id]
    if shape != ():
        raise GradientError(
            f"the target has shape {shape}, expected a scalar: sum it, pass dy= of that shape, or take tape.jacobian"
        )
    return _one(target._tape._dtypes[target._id])


@lru_cache(maxsize=16)
def _one(dtype: Any) -> Any:
    dtype = np.dtype(dtype)
    if dtype.kind == "c":
        raise GradientError(
            "the target is complex, which has no single gradient: take a real part of it, pass dy=, or use holomorphic_grad"
        )
    return dtype.type(1)


def _given_cotangent(target: Tensor, dy: Any) -> Any:
    shape, dtype = target._tape._shapes[target._id], np.dtype(target._tape._dtypes[target._id])
    if type(dy) is not np.ndarray and not isinstance(dy, Tensor | np.ndarray | np.generic):
        dy = np.asarray(dy)
    got = np.shape(innermost_value(dy))
    if got != shape:
        raise GradientError(f"dy has shape {got}, expected that of the target, {shape}")
    kind = np.dtype(dy.dtype).kind
    if kind not in "fciub" or (kind == "c" and dtype.kind != "c"):
        raise GradientError(f"dy has dtype {dy.dtype}, expected {dtype}, that of the target")
    return dy if dy.dtype == dtype else op.astype(dy, dtype=dtype)


def _writable(tape: Tape, ids: Sequence[int], gradients: Sequence[Any], dy: Any) -> list[Any]:
    """Gradients as they are handed out: zeros where none arrived, a Python scalar for a Python scalar, and the caller's own.

    They are writable, and none is a view of another, of ``dy``, or of a saved value (those from outside are locked).
    """
    for each in gradients:
        if type(each) is not np.ndarray or each.base is not None or not each.flags.writeable:
            break
    else:  # the common case, without a look at each owner
        distinct = {id(each) for each in gradients}
        if len(distinct) == len(gradients) and id(_owner(dy)) not in distinct:
            return list(gradients)
    seen = {id(_owner(dy))}
    mine: list[Any] = []
    for number, g in zip(ids, gradients, strict=True):
        if type(g) is np.ndarray:
            owner = g if g.base is None else _owner(g)
            if not g.shape and type(tape._dtypes[number]) is type:
                g = tape._dtypes[number](g)
            elif id(owner) in seen or not g.flags.writeable:
                g = g.copy()
            else:
                seen.add(id(owner))
        elif type(g) is not Tensor:
            dtype = tape._dtypes[number]
            if g is None:
                shape = tape._shapes[number]
                g = op.zeros(shape=shape, dtype=np.dtype(dtype)) if shape else np.dtype(dtype).type(0)
            if type(dtype) is type:  # float or complex: a Python scalar was watched
                g = dtype(g)
        mine.append(g)
    return mine


def on_outer_tapes(results: list[Any], sources: Sequence[Tensor]) -> list[Any]:
    """Derivatives in sources that are tensors of an outer tape, as tensors of that tape too.

    Where one came out constant it has no record there; it enters as a value of its own, which depends on nothing, so that the
    second derivative of a linear function is 0 and no error.
    """
    followed = []
    for each, source in zip(results, sources, strict=True):
        inside = source._value
        if type(inside) is Tensor and inside._tape._recording:
            outer = inside._tape
            if type(each) is not Tensor or each._tape._serial < outer._serial:
                each = outer.watch(each)
        followed.append(each)
    return followed


def _owner(array: Any) -> Any:
    while isinstance(getattr(array, "base", None), np.ndarray):
        array = array.base
    return array
