"""Which function a row of a table calls, and in which arguments it differentiates: found out by watching the call.

A row holds a Python function, ``lambda np, x: np.clip(x, -1, 1)``; that it is a row of ``numpy.clip`` and its argument ``a`` is
seen when it runs on tensors. Only the outermost call counts, as functions call each other.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from inspect import CO_VARARGS, CO_VARKEYWORDS, Parameter
from types import CodeType, FrameType
from typing import Any

import numpy

from autograd import Tape, Tensor
from autograd.tensor import innermost_value
from tests.coverage.namespaces import METHODS, all_names, ours, parameters
from tests.gradients.harness import Case


@dataclass(frozen=True)
class Call:
    """One call of a public function by a row: its arguments by name, plain, and which of them were tensors."""

    name: str
    arguments: dict[str, Any]
    tensors: tuple[str, ...]


class Watch:
    """Finds the functions of the namespaces among the frames that run."""

    def __init__(self) -> None:
        self._functions: dict[CodeType, list[tuple[Callable[..., Any], list[str]]]] = {}
        names: dict[int, list[str]] = {}
        for name in all_names():
            function = ours(name)
            code = getattr(function, "__code__", None)
            if code is None:
                continue
            if id(function) not in names:
                names[id(function)] = []
                self._functions.setdefault(code, []).append((function, names[id(function)]))
            names[id(function)].append(name)

    def calls(self, case: Case) -> list[Call]:
        """What a row calls with tensors: the function that it is named after, once for each of its names, or a method of it."""
        inputs = next(iter(case.variants(case.dtypes[0])))
        outermost: list[FrameType] = []
        found: list[Call] = []

        def event(frame: FrameType, what: str, _: Any) -> None:
            if what == "call" and not outermost:
                names = self._names(frame)
                if names:
                    outermost.append(frame)
                    if any(_last(name) == _last(case.name) or name.startswith(METHODS) for name in names):
                        found.extend(_call(name, frame) for name in names)
            elif what == "return" and outermost and frame is outermost[0]:
                outermost.clear()

        with Tape() as tape:
            watched = [tape.watch(each) if _is_float(each) else each for each in inputs]
            before = sys.getprofile()
            sys.setprofile(event)
            try:
                case.ours(*watched)
            finally:
                sys.setprofile(before)
        return [each for each in found if each.tensors]

    def _names(self, frame: FrameType) -> list[str]:
        candidates = self._functions.get(frame.f_code, ())
        for function, names in candidates:
            if _runs(function, frame):
                return names
        return []


def _last(name: str) -> str:
    return name.rpartition(".")[2]


def _runs(function: Callable[..., Any], frame: FrameType) -> bool:
    """Whether a frame of the code of a function is a call of it, not of another closure over the same code."""
    inside = frame.f_locals
    cells = zip(function.__code__.co_freevars, function.__closure__ or ())
    return all(inside.get(name) is cell.cell_contents for name, cell in cells)


def _call(name: str, frame: FrameType) -> Call:
    code, inside = frame.f_code, frame.f_locals
    count = code.co_argcount
    given = {each: inside[each] for each in code.co_varnames[: count + code.co_kwonlyargcount]}
    at = count + code.co_kwonlyargcount
    if code.co_flags & CO_VARARGS:
        extra: Sequence[Any] = inside[code.co_varnames[at]]
        at += 1
        known = parameters(name)
        rest = [key for key, each in known.items() if each.kind is Parameter.VAR_POSITIONAL]
        if rest:
            given[rest[0]] = tuple(extra)
        else:
            positional = [key for key, each in known.items() if each.kind is not Parameter.KEYWORD_ONLY]
            first = [given.pop(each) for each in code.co_varnames[:count]]
            given |= dict(zip(positional, [*first, *extra]))
    if code.co_flags & CO_VARKEYWORDS:
        given |= inside[code.co_varnames[at]]
    tensors = tuple(each for each, value in given.items() if _holds_tensor(value))
    return Call(name, {each: _plain(value) for each, value in given.items()}, tensors)


def _holds_tensor(value: Any) -> bool:
    if isinstance(value, dict):
        value = tuple(value.values())
    return isinstance(value, Tensor) or (isinstance(value, list | tuple) and any(map(_holds_tensor, value)))


def _plain(value: Any) -> Any:
    if isinstance(value, list | tuple):
        plain = [_plain(each) for each in value]
        return type(value)(*plain) if hasattr(value, "_fields") else type(value)(plain)
    return innermost_value(value) if isinstance(value, Tensor) else value


def _is_float(value: Any) -> bool:
    return not isinstance(value, str | tuple | list) and numpy.asarray(value).dtype.kind in "fc"
