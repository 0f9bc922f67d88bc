"""Functions of the user's own as single operations on the tape: ``primitive``, as HIPS autograd's interface has it.

A call of a primitive runs the function on bare values and enters the tape as one record. All primitives share two operators, one
for functions that have a forward rule and one for the rest: the call itself travels among the attributes of the record, so that
plans, which are kept by the structure of a tape, do not keep closures alive. The rules run when the gradient is taken.
"""

from __future__ import annotations

from collections import defaultdict
from functools import partial, update_wrapper
from threading import get_ident
from typing import Any

import numpy as np

from autograd.containers import flatten
from autograd.dag import inputs_from
from autograd.engine import binding_of, innermost_tape, note_outer, record, without_closed
from autograd.errors import GradientError, NotTrackedError, TapeError
from autograd.primitive_rules import (
    Call,
    Function,
    at,
    check_primitive,
    name_of,
    primitive_jvps,
    rule_covers,
    tensors_in,
)
from autograd.tape import Tape
from autograd.tensor import Tensor
from registry.declare import operator
from registry.errors import KernelError
from registry.gradients import gradient

notrace_primitives: defaultdict[Any, set[Function]] = defaultdict(set)
"""Primitives whose results are constants, under the kinds of node for which they were registered."""


def primitive(f_raw: Function) -> Function:
    """``f_raw``, run on bare values and recorded as one operation; its derivatives are given with ``defvjp`` and ``defjvp``.

    Tensors are looked for in the positional arguments, and there in lists, tuples and dictionaries too. What ``f_raw`` returns
    is an array, a float or a container of those. Raises GradientError if ``f_raw`` uses a tensor that is not among its
    arguments, or gets one by keyword: its gradient would be lost.

    >>> from autograd import grad
    >>> square = primitive(lambda x: x * x)
    >>> from autograd.extend import defvjp
    >>> defvjp(square, lambda ans, x: lambda g: g * 2 * x)
    >>> grad(square)(3.0), grad(grad(square))(3.0)
    (6.0, 2.0)
    """

    def call(*args: Any, **kwargs: Any) -> Any:
        return _run(call, args, kwargs)

    function: Any = update_wrapper(call, f_raw)
    function.fun = f_raw
    function._is_autograd_primitive = True
    return function  # type: ignore[no-any-return]


def notrace_primitive(f_raw: Function) -> Function:
    """``f_raw`` on the bare values of its positional arguments: what it returns is a constant for every tape.

    >>> from autograd import grad
    >>> grad(lambda x: x * notrace_primitive(abs)(x))(-3.0)
    3.0
    """

    def call(*args: Any, **kwargs: Any) -> Any:
        return f_raw(*[bare(each) for each in args], **kwargs)

    function: Any = update_wrapper(call, f_raw)
    function._is_primitive = True
    return function  # type: ignore[no-any-return]


def register_notrace(trace_type: Any, primitive_fun: Function) -> None:
    """Say that the result of a primitive is a constant; ``trace_type`` is ``VJPNode`` or ``JVPNode``, here without a difference.

    Raises GradientError for a function that is not a primitive.
    """
    check_primitive("register_notrace", primitive_fun)
    notrace_primitives[trace_type].add(primitive_fun)


def bare(x: Any) -> Any:
    """The plain value under any number of tapes, read-only for an array; a container that holds tensors is taken apart.

    >>> from autograd import grad
    >>> grad(lambda x: x * bare([x])[0])(3.0)
    3.0
    >>> bare([1.0, "text"])
    [1.0, 'text']
    """
    if type(x) is Tensor:
        while type(x) is Tensor:
            x = x.value
        return x
    if isinstance(x, list | tuple | dict) and next(tensors_in(x), None) is not None:
        leaves, structure = flatten(x)
        return structure.rebuild([bare(each) for each in leaves])
    return x


# -------------------------------------------------------------------------------------------------- calls


def _run(function: Any, args: tuple[Any, ...], kwargs: dict[str, Any], covered: _Covered | None = None) -> Any:
    found = [
        (argnum, path, each)
        for argnum, argument in enumerate(args)
        if type(argument) is Tensor or isinstance(argument, list | tuple | dict)
        for path, each in tensors_in(argument)
    ]
    if not any(type(args[argnum]) is Tensor or rule_covers(function, argnum) for argnum, _, _ in found):
        # On plain values; or tensors stand in containers alone, and are followed inside.
        ans = function.fun(*args, **kwargs)
        return ans if covered is None else covered.without(function, args, ans)
    covered = covered or _Covered()
    covered.add([each for _, _, each in found])
    tape = innermost_tape([each for _, _, each in found])
    assert tape is not None  # every one of them is a tensor
    for name, value in kwargs.items():
        if any(each._tape._serial >= tape._serial for _, each in tensors_in(value)):
            raise GradientError(
                f"{name_of(function)}: got a tensor by keyword, {name}, whose gradient would be lost; pass it by position"
            )
    mine = [(argnum, path) for argnum, path, each in found if each._tape is tape]
    tensors = [each for _, _, each in found if each._tape is tape]
    inner = tuple([_unwrapped(each, tape) for each in args])
    _shield(tape, (*inner, *kwargs.values()))
    if not tape._recording or any(function in each for each in notrace_primitives.values()):
        return _run(function, inner, kwargs, covered)
    if tape._thread != get_ident():
        raise TapeError(
            f"{name_of(function)}: its argument is on a tape that was opened in another thread; open a tape in each thread"
        )
    values = [at(inner[argnum], path) for argnum, path in mine]
    note_outer(tape, values)
    ans = _run(function, inner, kwargs, covered)
    outputs, structure = flatten(ans)
    outputs = [_output(function, tape, each) for each in outputs]
    ans = structure.rebuild(outputs)
    call = Call(function, inner, kwargs, ans, mine, tape)
    name = "primitive_with_jvp" if function in primitive_jvps else "primitive"
    results = record(tape, binding_of(name), [tensors], [values], outputs, {"call": call})
    return structure.rebuild(results)


def _shield(tape: Tape, values: tuple[Any, ...]) -> None:
    """Lock arrays that a rule uses again."""
    for each in values:
        for leaf in (each,) if type(each) is np.ndarray else flatten(each)[0]:
            tape.shield(leaf)


def _unwrapped(argument: Any, tape: Tape) -> Any:
    """An argument with the values inside ``tape`` in place of its tensors."""
    if type(argument) is Tensor:
        return without_closed(argument._value if argument._tape is tape else argument)
    if not isinstance(argument, list | tuple | dict) or next(tensors_in(argument), None) is None:
        return argument
    leaves, structure = flatten(argument)
    return structure.rebuild([_unwrapped(each, tape) for each in leaves])


_PLAIN = (np.ndarray, np.generic, int, float, complex, str, bytes, type(None), Tensor)
"""What hides no tensor; any other argument may be an object that has some."""


class _Covered:
    """The tensors among the arguments of a call, on all of their tapes, and how long each tape was when the call began.

    A primitive may come upon its arguments by another way too, hidden in an object that it also gets. What it computes from them
    is recorded; its own rule covers that, so the records lead nowhere and the bare value counts.
    """

    __slots__ = ("ids", "starts")

    def __init__(self) -> None:
        self.ids: dict[Tape, set[int]] = {}
        self.starts: dict[Tape, tuple[int, int]] = {}

    def add(self, tensors: list[Tensor]) -> None:
        """Note tensors, and what stands inside them."""
        for each in tensors:
            while type(each) is Tensor:
                tape = each._tape
                self.starts.setdefault(tape, (len(tape._bindings), len(tape._ids)))
                self.ids.setdefault(tape, set()).add(each._id)
                each = each._value

    def without(self, function: Function, args: tuple[Any, ...], ans: Any) -> Any:
        """What the function returned, its tensors as bare values; raises for one that depends on others than its arguments.

        Where no argument can hide a tensor, one that came another way is left for the caller to refuse.
        """
        leaves, structure = flatten(ans)
        if not any(type(each) is Tensor for each in leaves) or all(isinstance(each, _PLAIN) for each in flatten(args)[0]):
            return ans
        return structure.rebuild([self._bare(function, each) for each in leaves])

    def _bare(self, function: Function, value: Any) -> Any:
        while type(value) is Tensor and value._tape in self.ids:
            first, at = self.starts[value._tape]
            used = inputs_from(value._tape, first, at) if value._id >= first else {value._id}
            if {each for each in used if 0 <= each < first} - self.ids[value._tape]:
                raise GradientError(
                    f"{name_of(function)}: the primitive uses a tensor that is not among its positional arguments (of a closure"
                    " or a global), whose gradient would be lost; pass it as an argument"
                )
            value = value._value
        return value


def _output(function: Function, tape: Tape, value: Any) -> Any:
    """One leaf of what a primitive returned, as the tape takes it; raises for what no tape can follow."""
    if type(value) is Tensor:
        if value._tape._serial >= tape._serial:
            raise GradientError(
                f"{name_of(function)}: the primitive uses a tensor that is not among its positional arguments (of a closure or a"
                " global), whose gradient would be lost; pass it as an argument"
            )
        return value
    if isinstance(value, np.ndarray):
        value = np.asarray(value)
        tape.shield(value)  # the function may keep it, and write to it before the gradient is taken
    elif not isinstance(value, np.generic | float | complex | int):
        raise NotTrackedError(
            f"{name_of(function)}: the primitive returned {value!r} of type {type(value).__name__}, expected an array, a float"
            " or a container of those"
        )
    return value


# -------------------------------------------------------------------------------------------------- operators


def _not_run_directly(inputs: Any, **attrs: Any) -> Any:
    raise KernelError("this operator stands for a function of yours on the tape; call that function")


operator("primitive(Tensor[] inputs, *, Any call) -> Tensor[]", _not_run_directly)
operator("primitive_with_jvp(Tensor[] inputs, *, Any call) -> Tensor[]", _not_run_directly)


def _rule(dy: Any, saved: Any, attrs: Any) -> Any:
    call: Call = attrs["call"]
    gradients = call.gradients(flatten(call.ans)[1].rebuild(dy))
    return {"inputs": [partial(gradients.of, argnum, path) for argnum, path in call.places]}


def _forward_rule(tangents: Any, saved: Any, attrs: Any) -> list[Any]:
    call: Call = attrs["call"]
    leaves: list[Any] = flatten(call.tangent(tangents["inputs"]))[0]
    return leaves


gradient("primitive", batched=False)(_rule)
gradient("primitive_with_jvp", batched=False, jvp_func=_forward_rule)(_rule)
