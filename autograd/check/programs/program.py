"""A program: operators applied one after another, as a value that runs and prints as Python source."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from autograd import operators


@dataclass(frozen=True, slots=True)
class Source:
    """An input of a program: the name that its steps use, the shape and the dtype of the array it was drawn with."""

    name: str
    shape: tuple[int, ...]
    dtype: str


@dataclass(frozen=True, slots=True)
class Constant:
    """A number or an array that is the same for all inputs of a program, under the name that its steps use."""

    name: str
    value: Any

    def __str__(self) -> str:
        if not isinstance(self.value, np.ndarray):
            return repr(self.value)
        if not self.value.size:
            return f"numpy.zeros({self.value.shape}, {self.value.dtype.name!r})"
        return f"numpy.array({self.value.tolist()!r}, {self.value.dtype.name!r})"


@dataclass(frozen=True, slots=True)
class Step:
    """One operator, run on earlier values: each input is a name, or for a list of tensors a tuple of names.

    named   inputs that the operator takes by keyword alone, as ``sum`` takes ``where``
    """

    outputs: tuple[str, ...]
    operator: str
    inputs: tuple[str | tuple[str, ...], ...]
    attrs: tuple[tuple[str, Any], ...] = ()
    named: tuple[tuple[str, str], ...] = ()

    def names_read(self) -> Iterator[str]:
        """The names of all values that the step uses."""
        for each in self.inputs:
            if isinstance(each, str):
                yield each
            else:
                yield from each
        for _, name in self.named:
            yield name

    def run(self, values: Mapping[str, Any]) -> tuple[Any, ...]:
        """The outputs of the operator on the inputs found in ``values``."""
        inputs = [values[each] if isinstance(each, str) else [values[name] for name in each] for each in self.inputs]
        options = dict(self.attrs)
        for keyword, name in self.named:
            options[keyword] = values[name]
        y = getattr(operators, self.operator)(*inputs, **options)
        return y if isinstance(y, tuple) else (y,)

    def __str__(self) -> str:
        arguments = [each if isinstance(each, str) else f"[{', '.join(each)}]" for each in self.inputs]
        arguments += [f"{name}={value!r}" for name, value in self.attrs]
        arguments += [f"{keyword}={name}" for keyword, name in self.named]
        return f"{', '.join(self.outputs)} = operators.{self.operator}({', '.join(arguments)})"


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Program:
    """A composition of operators: ``program(*inputs)`` runs it, on arrays or on tensors of a tape.

    It returns the value named in ``results``, or a tuple of them if they are several. ``str(program)`` is the source of a
    Python function that does the same; programs of the same text are equal. Raises ValueError if a step uses a name that
    nothing before it defines, or defines one again.

    >>> program = Program((Source("x", (), "float64"),), (), (Step(("y",), "multiply", ("x", "x")),), ("y",))
    >>> program(3.0)
    9.0
    >>> print(program)
    import numpy
    from autograd import operators
    <BLANKLINE>
    def program(x):
        y = operators.multiply(x, x)
        return y
    """

    sources: tuple[Source, ...]
    constants: tuple[Constant, ...]
    steps: tuple[Step, ...]
    results: tuple[str, ...]

    def __post_init__(self) -> None:
        known: set[str] = set()
        for name in [each.name for each in self.sources] + [each.name for each in self.constants]:
            self._define(known, name)
        for number, step in enumerate(self.steps):
            for name in step.names_read():
                if name not in known:
                    raise ValueError(f"step {number} of the program, {step}, uses {name!r}, which nothing before it defines")
            for name in step.outputs:
                self._define(known, name)
        if not self.results or not known.issuperset(self.results):
            raise ValueError(f"a program returns {self.results}; expected names among {sorted(known)}")

    @staticmethod
    def _define(known: set[str], name: str) -> None:
        if name in known:
            raise ValueError(f"a program defines {name!r} twice; give each value a name of its own")
        known.add(name)

    def __call__(self, *inputs: Any) -> Any:
        if len(inputs) != len(self.sources):
            names = ", ".join(each.name for each in self.sources)
            raise TypeError(f"the program got {len(inputs)} inputs, expected {len(self.sources)}: {names}")
        values = {each.name: given for each, given in zip(self.sources, inputs, strict=True)}
        values |= {each.name: each.value for each in self.constants}
        for step in self.steps:
            values.update(zip(step.outputs, step.run(values), strict=True))
        results = tuple(values[name] for name in self.results)
        return results if len(results) > 1 else results[0]

    def __str__(self) -> str:
        lines = [f"{each.name} = {each}" for each in self.constants]
        lines += [str(each) for each in self.steps]
        lines.append(f"return {', '.join(self.results)}")
        head = f"import numpy\nfrom autograd import operators\n\ndef program({', '.join(each.name for each in self.sources)}):"
        return "\n    ".join([head, *lines])

    def __repr__(self) -> str:
        return f"<Program of {len(self.steps)} operators, {len(self.sources)} inputs, {len(self.results)} results>"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Program):
            return NotImplemented
        return (str(self), self.sources) == (str(other), other.sources)

    def __hash__(self) -> int:
        return hash(str(self))
