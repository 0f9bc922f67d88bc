"""Functions that enter the tape as one record: ``checkpoint`` and ``custom_gradient``.

Both share one operator each, whatever the function: the function travels among the attributes of the record, so that plans, which
are kept by the structure of a tape, do not keep closures alive. There it can also be run again at other values, which a check of
its gradient does.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial, update_wrapper
from typing import Any

import numpy as np

from autograd import operators as op
from autograd.containers import Structure, flatten
from autograd.engine import binding_of, innermost_tape, note_outer, record, resolve, unwrap, without_closed
from autograd.errors import GradientError
from autograd.tape import Tape
from autograd.tape_gradient import gradient as tape_gradient
from autograd.tensor import Tensor
from registry.declare import operator
from registry.errors import KernelError
from registry.gradients import gradient


def checkpoint(f: Callable[..., Any]) -> Callable[..., Any]:
    """``f``, run without recording its inside; the backward pass runs it again instead.

    Saves the memory of everything that happens in ``f``, for one more run of it. ``f`` must give the same result again.

    >>> from autograd import grad
    >>> grad(checkpoint(lambda x: x * x * x))(2.0)
    12.0
    """
    return _as_one_record(partial(_checkpoint, f), f)


def custom_gradient(f: Callable[..., Any]) -> Callable[..., Any]:
    """A function with a gradient of your own: ``f(*args)`` returns its value and a function from ``dy`` to the gradients.

    That function gets the cotangent of the value (in its structure) and returns the gradient for the argument, or a tuple
    with one for each of several arguments. Write it with operators that have gradients themselves, and second derivatives
    work too.

    Raises GradientError if ``f`` or the gradient function returns something else.

    >>> from autograd import grad
    >>> @custom_gradient
    ... def clipped_square(x):
    ...     return x * x, lambda dy: dy * (2 * x if abs(x) < 1 else 0 * x)
    >>> grad(clipped_square)(0.5), grad(clipped_square)(3.0)
    (1.0, 0.0)
    """
    return _as_one_record(partial(_custom_gradient, f), f)


def _as_one_record(function: partial[Any], f: Callable[..., Any]) -> Callable[..., Any]:
    return update_wrapper(function, f, assigned=("__name__", "__module__", "__doc__"), updated=())


def _not_run_directly(inputs: Any, **attrs: Any) -> Any:
    raise KernelError("this operator stands for a function of yours on the tape; call it through checkpoint or custom_gradient")


operator("checkpoint(Tensor[] inputs, *, Callable function) -> Tensor[]", _not_run_directly)
operator("custom_gradient(Tensor[] inputs, *, Callable pull_back, Callable function) -> Tensor[]", _not_run_directly)


class _Arguments:
    """The arguments of one call: which leaves are tensors, and the call again with other values in their places."""

    __slots__ = ("leaves", "places", "structure")

    def __init__(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        self.leaves, structure = flatten((args, kwargs))
        self.structure = structure.without_leaves()  # it goes on the tape, and a tensor there would be a cycle
        self.places = [place for place, each in enumerate(self.leaves) if type(each) is Tensor]

    @property
    def tensors(self) -> list[Any]:
        """The leaves that are tensors."""
        return [self.leaves[place] for place in self.places]

    def inner_values(self, tape: Tape) -> list[Any]:
        """What the tensors hold inside ``tape``; plain arrays among the arguments are locked: the gradient uses them again."""
        for each in self.leaves:
            if type(each) is np.ndarray:
                tape.shield(each)
        values: list[Any] = without_closed(unwrap(self.tensors, tape))
        note_outer(tape, values)
        return values

    def with_values(self, values: Sequence[Any]) -> Any:
        """``(args, kwargs)`` with these values in place of the tensors."""
        leaves = list(self.leaves)
        for place, value in zip(self.places, values, strict=True):
            leaves[place] = value
        return self.structure.rebuild(leaves)


def _record(name: str, tape: Tape, tensors: list[Any], values: list[Any], y: Any, attrs: dict[str, Any]) -> Any:
    """Record one call; its value with tensors of the tape for leaves."""
    outputs, structure = flatten(y)
    outputs = [resolve(each) for each in outputs]
    reached = innermost_tape(outputs)
    if reached is not None and reached._serial >= tape._serial:
        raise GradientError(
            f"{name}: the function uses a tensor that is not among its arguments (of a closure or a global), whose gradient would"
            " be lost; pass it as an argument"
        )
    results = record(tape, binding_of(name), [tensors], [values], outputs, attrs)
    return structure.rebuild(results)


def _checkpoint(f: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
    arguments = _Arguments(args, kwargs)
    tensors = arguments.tensors
    tape = innermost_tape(tensors)
    if tape is None:
        return f(*args, **kwargs)
    values = arguments.inner_values(tape)
    inner_args, inner_kwargs = arguments.with_values(values)
    y = _checkpoint(f, *inner_args, **inner_kwargs)
    if not tape._recording:
        return y

    def again(inputs: Sequence[Any]) -> list[Any]:
        args, kwargs = arguments.with_values(inputs)
        return [resolve(each) for each in flatten(f(*args, **kwargs))[0]]

    # the tensors themselves must not be kept alive by ``again``: only their places matter
    for place in arguments.places:
        arguments.leaves[place] = None
    return _record("checkpoint", tape, tensors, values, y, {"function": again})


@gradient("checkpoint", save_all_inputs=True, batched=False)
def checkpoint_gradient(dy: Any, saved: Any, attrs: Any) -> Any:
    """Run the function again on a tape of its own, and pull the cotangents back through that."""
    results: list[Any] = []

    def compute() -> list[Any]:
        if not results:
            with Tape() as inner:
                inputs = [inner.watch(each) for each in saved]
                outputs = attrs["function"](inputs)
                total = None
                for y, each in zip(outputs, dy, strict=True):
                    if type(y) is Tensor and y._tape is inner:
                        part = op.sum(op.real(op.multiply(y, each)))
                        total = part if total is None else op.add(total, part)
            if total is None:
                raise GradientError("checkpoint: run again, the function returned nothing that depends on its arguments")
            results.extend(tape_gradient(inner, total, inputs))
        return results

    return {"inputs": [partial(lambda place: compute()[place], place) for place in range(len(saved))]}


def _custom_gradient(f: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
    arguments = _Arguments(args, kwargs)
    tensors = arguments.tensors
    tape = innermost_tape(tensors)
    if tape is None:
        return _value_and_pull_back(f, args, kwargs)[0]
    n_leaves = len(flatten(args)[0])
    if arguments.places[-1] >= n_leaves:
        raise GradientError("custom_gradient: got a tensor by keyword, which has no place in the gradients; pass it by position")
    values = arguments.inner_values(tape)
    inner_args, inner_kwargs = arguments.with_values(values)
    y, pull_back = _value_and_pull_back(f, inner_args, inner_kwargs)
    if innermost_tape(values) is not None:  # the value's own derivative, on the tape outside, is the custom one too
        y = _custom_gradient(f, *inner_args, **inner_kwargs)
    if not tape._recording:
        return y
    structure = flatten(y)[1].without_leaves()
    rule = partial(_gradients_of, pull_back, structure, len(args), n_leaves, tuple(arguments.places))

    def again(inputs: Sequence[Any]) -> list[Any]:
        args, kwargs = arguments.with_values(inputs)
        return flatten(_custom_gradient(f, *args, **kwargs))[0]

    again.__name__ = getattr(f, "__name__", "function")  # by which reports know it
    for place in arguments.places:
        arguments.leaves[place] = None  # as in a checkpoint: only their places matter
    return _record("custom_gradient", tape, tensors, values, y, {"pull_back": rule, "function": again})


def _value_and_pull_back(f: Callable[..., Any], args: Any, kwargs: Any) -> tuple[Any, Callable[..., Any]]:
    result = f(*args, **kwargs)
    if not isinstance(result, tuple) or len(result) != 2 or not callable(result[1]):
        raise GradientError(
            f"custom_gradient: the function {getattr(f, '__name__', f)!r} returned {type(result).__name__}, expected"
            " (value, gradient function): return y, lambda dy: ..."
        )
    return result


def _gradients_of(
    pull_back: Callable[..., Any], structure: Structure, n_args: int, n_leaves: int, places: tuple[int, ...], dy: Any
) -> list[Any]:
    """What the user's gradient function gives for each tensor among the arguments."""
    gradients = pull_back(structure.rebuild(dy))
    leaves, _ = flatten(gradients if n_args != 1 else (gradients,))
    if len(leaves) != n_leaves:
        raise GradientError(
            f"custom_gradient: the gradient function returned {len(leaves)} gradients, expected {n_leaves}, one for each"
            " argument (None for one that has none)"
        )
    chosen = [leaves[place] for place in places]
    return [each.copy() if type(each) is np.ndarray else each for each in chosen]  # it may be an array that the user keeps


@gradient("custom_gradient", infos_to_save=("inputs",), batched=False)
def custom_gradient_gradient(dy: Any, saved: Any, attrs: Any) -> Any:
    """Call the user's gradient function once, when the first of its gradients is wanted."""
    (infos,) = saved
    results: list[Any] = []

    def compute() -> list[Any]:
        if not results:
            results.extend(attrs["pull_back"](dy))
        return results

    return {"inputs": [partial(lambda place: compute()[place], place) for place in range(len(infos))]}
