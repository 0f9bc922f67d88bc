"""Rules of primitives, the user's own functions on the tape: how they are given, and how a recorded call uses them.

``defvjp`` and its relatives fill two tables; a ``Call`` is what the record of a primitive keeps, and runs the rules when a
gradient or a tangent is asked for. What records calls stands in ``autograd.primitives``.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from itertools import count
from typing import Any, NoReturn
from weakref import ref

import numpy as np

from autograd import operators as op
from autograd.containers import flatten
from autograd.errors import GradientError
from autograd.tape import Tape
from autograd.tensor import Tensor, innermost_value

Function = Callable[..., Any]

Path = tuple[Any, ...]
"""Where a tensor stands in an argument: the keys and positions on the way, none if it is the argument."""

primitive_vjps: dict[Function, Function] = {}
"""Primitive -> ``(argnums, ans, args, kwargs) -> (g -> gradients, one for each of argnums)``."""

primitive_jvps: dict[Function, Function] = {}
"""Primitive -> ``(argnums, tangents, ans, args, kwargs) -> tangent of ans``."""


class MissingRuleError(GradientError, NotImplementedError):
    """A derivative was asked of a primitive that has no rule for it."""


class SparseObject:
    """A gradient that is given by how it adds itself to an array: ``mut_add(array)`` returns the sum."""

    __slots__ = ("mut_add", "vs")

    def __init__(self, vs: Any, mut_add: Callable[[Any], Any]) -> None:
        self.vs = vs
        self.mut_add = mut_add


def defvjp(fun: Function, *vjpmakers: Function | None, argnums: Sequence[int] | None = None) -> None:
    """Give a primitive the gradient of each argument: ``vjpmaker(ans, *args, **kwargs)`` returns ``g -> gradient``.

    ``argnums`` says which arguments these are, the first ones if it is left out. None stands for a gradient of zero. Write the
    functions with ``autograd.numpy``, and derivatives of any order follow. A gradient has the shape of its argument;
    ``unbroadcast_f`` brings it there. For an argument that is a container it is one of the same structure.

    Raises GradientError for a function that is not a primitive or a maker that is not callable.
    """
    for maker in vjpmakers:
        if maker is not None and not callable(maker):
            raise GradientError(
                f"defvjp: got {maker!r} for {name_of(fun)}, expected a function (ans, *args) -> (g -> gradient), or None"
            )
    numbers = count() if argnums is None else argnums
    defvjp_argnums(fun, ByArgument(fun, dict(zip(numbers, vjpmakers, strict=False))))


def defvjp_argnum(fun: Function, vjpmaker: Function) -> None:
    """Give a primitive one rule for every argument: ``vjpmaker(argnum, ans, args, kwargs)`` returns ``g -> gradient``."""
    defvjp_argnums(fun, ByArgument(fun, partial(_open_argnum, vjpmaker)))


def _open_argnum(vjpmaker: Function, argnum: int) -> Function:
    return lambda ans, *args, **kwargs: vjpmaker(argnum, ans, args, kwargs)


def defvjp_argnums(fun: Function, vjpmaker: Function) -> None:
    """Give a primitive one rule for all arguments: ``vjpmaker(argnums, ans, args, kwargs)`` returns ``g -> gradients``."""
    if not _keeps_its_own("defvjp", fun):
        primitive_vjps[fun] = vjpmaker


def defjvp(fun: Function, *jvpfuns: Function | str | None, argnums: Sequence[int] | None = None) -> None:
    """Give a primitive forward rules: ``jvpfun(g, ans, *args, **kwargs)`` returns the tangent of ``ans`` for one of an argument.

    ``"same"`` stands for a function that is linear in the argument, None for one that does not depend on it. Without forward
    rules, forward mode transposes what ``defvjp`` was given.

    >>> from autograd import make_jvp
    >>> from autograd.extend import primitive
    >>> double = primitive(lambda x: 2 * x)
    >>> defjvp(double, "same")
    >>> make_jvp(double)(3.0)(1.0)
    (6.0, 2.0)
    """
    rules = dict(zip(count() if argnums is None else argnums, jvpfuns, strict=False))
    for each in jvpfuns:
        if each is not None and each != "same" and not callable(each):
            raise GradientError(
                f"defjvp: got {each!r} for {name_of(fun)}, expected a function (g, ans, *args) -> tangent, 'same' or None"
            )

    def one(argnum: int, g: Any, ans: Any, args: Any, kwargs: Any) -> Any:
        if argnum not in rules:
            _missing("JVP", fun, argnum, "defjvp")
        rule = rules[argnum]
        if rule is None:
            return None
        if rule == "same":
            return fun(*args[:argnum], g, *args[argnum + 1 :], **kwargs)
        return rule(g, ans, *args, **kwargs)  # type: ignore[operator]  # a string was handled above

    defjvp_argnum(fun, one)


def defjvp_argnum(fun: Function, jvpmaker: Function) -> None:
    """Give a primitive one forward rule for every argument: ``jvpmaker(argnum, g, ans, args, kwargs)`` returns a tangent."""

    def together(argnums: Sequence[int], gs: Sequence[Any], ans: Any, args: Any, kwargs: Any) -> Any:
        parts = [jvpmaker(argnum, g, ans, args, kwargs) for argnum, g in zip(argnums, gs, strict=True)]
        return _sum([each for each in parts if each is not None], ans)

    defjvp_argnums(fun, together)


def defjvp_argnums(fun: Function, jvpmaker: Function) -> None:
    """Give a primitive one forward rule for all arguments: ``jvpmaker(argnums, gs, ans, args, kwargs)`` returns the tangent."""
    if not _keeps_its_own("defjvp", fun):
        primitive_jvps[fun] = jvpmaker


def def_linear(fun: Function) -> None:
    """Say that a primitive is linear in each of its arguments: its forward rule then is the function itself."""
    defjvp_argnum(fun, lambda argnum, g, ans, args, kwargs: fun(*args[:argnum], g, *args[argnum + 1 :], **kwargs))


class ByArgument:
    """Rules that an argument shares with no other, so that only those are called which a gradient needs."""

    __slots__ = ("function", "makers")

    def __init__(self, function: Function, makers: dict[int, Function | None] | Callable[[int], Function]) -> None:
        self.function = function
        self.makers = makers

    def one(self, argnum: int, call: Call) -> Callable[[Any], Any] | None:
        """What makes the gradient of one argument; None if that is zero."""
        if not isinstance(self.makers, dict):
            maker: Function | None = self.makers(argnum)
        elif argnum in self.makers:
            maker = self.makers[argnum]
        else:
            _missing("VJP", self.function, argnum, "defvjp")
        return None if maker is None else maker(call.ans, *call.args, **call.kwargs)

    def __call__(self, argnums: Sequence[int], ans: Any, args: Any, kwargs: Any) -> Callable[[Any], tuple[Any, ...]]:
        call = Call(self.function, args, kwargs, ans, [], None)
        pull_backs = [self.one(argnum, call) for argnum in argnums]
        return lambda g: tuple(
            [_zeros_like(args[n]) if each is None else each(g) for n, each in zip(argnums, pull_backs, strict=True)]
        )


def _keeps_its_own(what: str, fun: Any) -> bool:
    """Whether a function is one of the library's, which has its rules already: packages give it better ones than it once had.

    Warns then; raises GradientError for any other function that is not a primitive.
    """
    if not hasattr(fun, "_is_autograd_primitive") and getattr(fun, "__module__", "").partition(".")[0] == "autograd":
        name = name_of(fun)
        warnings.warn(
            f"{what}: {name} is a function of this library and keeps the rule that it has; to give it another one, wrap it:"
            f" my_{name} = primitive({name})",
            stacklevel=4,
        )
        return True
    check_primitive(what, fun)
    return False


def check_primitive(what: str, fun: Any) -> None:
    """Raise GradientError for a function that is not a primitive."""
    if not hasattr(fun, "_is_autograd_primitive"):
        name = name_of(fun)
        raise GradientError(f"{what}: {name} is not a primitive; wrap it, my_{name} = primitive({name}), and give rules to that")


def _missing(kind: str, fun: Function, argnum: int, definer: str) -> NoReturn:
    raise MissingRuleError(
        f"{kind} of {name_of(fun)} in argument {argnum} is not defined; give it one with {definer}({name_of(fun)}, ...,"
        f" argnums=[..., {argnum}])"
    )


def name_of(fun: Any) -> str:
    """How messages call a function."""
    raw = getattr(fun, "fun", fun)
    return str(getattr(raw, "__name__", raw))


def _sum(parts: list[Any], like: Any) -> Any:
    """The sum of tangents in the structure of ``like``; zeros if there are none."""
    expected, structure = flatten(like)
    total: list[Any] = []
    for each in parts:
        leaves = [_dense(leaf) for leaf in flatten(each)[0]]
        if len(leaves) != len(expected):
            raise GradientError(f"a forward rule returned {len(leaves)} leaves, expected {len(expected)}, as the value has")
        total = [op.add(*pair) for pair in zip(total, leaves, strict=True)] if total else leaves
    return structure.rebuild(total or [_zeros_like(each) for each in expected])


class Call:
    """One call of a primitive as its record keeps it: the values one level in, the result, and where the tensors stood."""

    __slots__ = ("ans", "args", "function", "kwargs", "places", "tape")

    def __init__(
        self, function: Function, args: tuple[Any, ...], kwargs: Any, ans: Any, places: list[tuple[int, Path]], tape: Tape | None
    ) -> None:
        self.function = function
        self.args = args
        self.kwargs = kwargs
        self.ans = ans
        self.places = places
        self.tape = None if tape is None else ref(tape)  # the tape has the record, which has the call

    def gradients(self, g: Any) -> _Gradients:
        """The gradients for one cotangent, each computed when it is asked for."""
        return _Gradients(self, g)

    @contextmanager
    def as_it_was(self) -> Iterator[None]:
        """Let tensors that hide in the arguments be tensors of the tape still, as code that takes one level off expects."""
        tape = self.tape() if self.tape is not None else None
        if tape is None or tape._recording or tape._freed:
            yield
            return
        tape._resume()
        try:
            yield
        finally:
            tape._pause()

    def tangent(self, tangents: Sequence[Any]) -> Any:
        """The tangent of the result for one of each tensor, None where there is none."""
        by_argument: dict[int, dict[Path, Any]] = {}
        moving: list[int] = []
        for (argnum, path), each in zip(self.places, tangents, strict=True):
            value = at(self.args[argnum], path)
            by_argument.setdefault(argnum, {})[path] = _zeros_like(value) if each is None else each
            if each is not None and argnum not in moving:
                moving.append(argnum)
        gs = [_tangent_of(self.args[argnum], by_argument[argnum], ()) for argnum in moving]
        return primitive_jvps[self.function](tuple(moving), tuple(gs), self.ans, self.args, self.kwargs)


class _Gradients:
    """What the rules of a primitive give for one cotangent."""

    __slots__ = ("call", "done", "g")

    def __init__(self, call: Call, g: Any) -> None:
        self.call = call
        self.g = g
        self.done: dict[int, Any] = {}

    def of(self, argnum: int, path: Path) -> Any:
        """The gradient of the tensor at one place of one argument."""
        value = at(self.call.args[argnum], path)
        if argnum not in self.done:
            self._compute(argnum)
        result = self.done[argnum]
        if result is None:
            return _zeros_like(value)
        try:
            part = at(result, path)
        except (TypeError, IndexError, KeyError):
            part = None
        if part is None:
            self._refuse(argnum, f"{type(result).__name__} with nothing at {list(path)}", "the structure of the argument")
        return self._fit(part, value, argnum)

    def _compute(self, argnum: int) -> None:
        rule = primitive_vjps.get(self.call.function)
        if rule is None:
            _missing("VJP", self.call.function, argnum, "defvjp")
        try:
            with self.call.as_it_was():
                if type(rule) is ByArgument:
                    pull_back = rule.one(argnum, self.call)
                    self.done[argnum] = None if pull_back is None else pull_back(self.g)
                else:
                    self._compute_all(rule)
        except Exception as error:
            error.add_note(
                f"in the VJP of {name_of(self.call.function)} in argument {argnum}; in forward mode it runs on tensors, unless"
                " defjvp gave the function a rule"
            )
            raise

    def _compute_all(self, rule: Function) -> None:
        call = self.call
        argnums = tuple(dict.fromkeys(argnum for argnum, _ in call.places))
        results = list(rule(argnums, call.ans, call.args, call.kwargs)(self.g))
        if len(results) != len(argnums):
            raise GradientError(
                f"the rule that defvjp_argnums gave {name_of(call.function)} returned {len(results)} gradients, expected"
                f" {len(argnums)}, for the arguments {argnums}"
            )
        self.done = dict(zip(argnums, results, strict=True))

    def _fit(self, g: Any, value: Any, argnum: int) -> Any:
        """A gradient as the walk takes it: dense, a float, an array of its own, and of the shape of its argument."""
        g = _dense(g)
        if type(g) is Tensor and self.call.tape is not None and g._tape is self.call.tape():
            g = g._value  # it was made of a tensor that hides in the arguments
        expected = np.shape(innermost_value(value))
        if type(g) is Tensor:
            shape = g.shape
        elif isinstance(g, np.ndarray):
            kept = isinstance(value, np.ndarray) or g.ndim > 0
            g = np.array(g, None if g.dtype.kind in "fc" else float)  # a copy: the function may keep the one that it gave
            shape = g.shape
            g = g if kept else g[()]
        elif isinstance(g, np.generic | float | int | complex):
            if g == 0:
                return _zeros_like(value)
            g = g if isinstance(g, float | complex | np.inexact) else np.asarray(g, float)[()]
            shape = ()
        else:
            self._refuse(argnum, f"{type(g).__name__}", "an array")
        if shape != expected:
            self._refuse(argnum, f"an array of shape {shape}", f"{expected}; unbroadcast_f brings it there")
        return g

    def _refuse(self, argnum: int, got: str, expected: str) -> NoReturn:
        raise GradientError(f"the VJP of {name_of(self.call.function)} in argument {argnum} returned {got}, expected {expected}")


# -------------------------------------------------------------------------------------------------- places


def rule_covers(function: Function, argnum: int) -> bool:
    """Whether a primitive has, or may still get, a rule for an argument: not if it has rules, and none for this one."""
    rule = primitive_vjps.get(function)
    return type(rule) is not ByArgument or not isinstance(rule.makers, dict) or argnum in rule.makers


def tensors_in(value: Any, path: Path = ()) -> Iterator[tuple[Path, Tensor]]:
    """Each tensor of an argument with its path; lists, tuples and dictionaries are taken apart."""
    if type(value) is Tensor:
        yield path, value
    elif isinstance(value, list | tuple):
        for position, each in enumerate(value):
            yield from tensors_in(each, (*path, position))
    elif isinstance(value, dict):
        for key, each in value.items():
            yield from tensors_in(each, (*path, key))


def at(value: Any, path: Path) -> Any:
    """What stands at a place of an argument."""
    for step in path:
        value = value[step]
    return value


def _tangent_of(argument: Any, tangents: dict[Path, Any], path: Path) -> Any:
    """The tangent of an argument in its structure; what holds no tensor of the tape gets zeros."""
    if path in tangents:
        return tangents[path]
    if isinstance(argument, list | tuple):
        parts = [_tangent_of(each, tangents, (*path, position)) for position, each in enumerate(argument)]
        return type(argument)(parts) if not hasattr(argument, "_fields") else type(argument)(*parts)
    if isinstance(argument, dict):
        return {key: _tangent_of(each, tangents, (*path, key)) for key, each in argument.items()}
    return _zeros_like(argument)


def _zeros_like(value: Any) -> Any:
    plain = innermost_value(value)
    array = np.asarray(plain)
    dtype = array.dtype if array.dtype.kind in "fc" else np.dtype(float)
    return op.zeros(shape=array.shape, dtype=dtype) if array.shape or isinstance(plain, np.ndarray) else dtype.type(0)


def _dense(g: Any) -> Any:
    return g.mut_add(g.vs.zeros()) if type(g) is SparseObject else g
