"""One call of an operator: its name, plain inputs and attributes, and the test that repeats it."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from keyword import iskeyword
from typing import Any

import numpy as np

from autograd.check.layouts import source
from registry.gradients import get_gradient
from registry.operators import get_schema

_KNOWN = ("autograd.gradients.", "registry.numpy_backend.")
"""Modules whose operators are there as soon as autograd is; SciPy's are not."""


@dataclass(frozen=True, slots=True, eq=False)
class Call:
    """One operator with inputs in schema order (a list input as one list) and the attributes that are not left out.

    >>> print(Call("sum", (np.array([1.0, 2.0]),), {"axis": 0}))
    sum(a=np.array([1.0, 2.0], 'float64'), axis=0)
    """

    name: str
    inputs: tuple[Any, ...]
    attrs: Mapping[str, Any] = field(default_factory=dict)

    def __str__(self) -> str:
        names = self.input_names()
        parts = [f"{name}={source(value)}" for name, value in zip(names, self.inputs, strict=True) if value is not None]
        return f"{self.name}({', '.join(parts + [f'{name}={source(value)}' for name, value in self.attrs.items()])})"

    __repr__ = __str__

    def input_names(self) -> list[str]:
        """The names of the inputs, by the operator's schema."""
        schema = get_schema(self.name)
        return [each.name for each in schema.inputs] if schema else [f"x{n}" for n, _ in enumerate(self.inputs, start=1)]

    def all_attrs(self) -> dict[str, Any]:
        """The attributes with the schema's defaults for those that are left out, as kernels take them."""
        schema = get_schema(self.name)
        given = dict(self.attrs)
        if schema is None:
            return given
        defaults = {each.name: each.default_value for each in schema.attributes if each.default is not None}
        return {**defaults, **given}

    def map(self, function: Callable[[Any], Any]) -> Call:
        """The call with each array among its inputs, also those in lists, replaced by what the function makes of it."""

        def replaced(value: Any) -> Any:
            if isinstance(value, list):
                return [replaced(each) for each in value]
            return function(value) if isinstance(value, np.ndarray) else value

        return Call(self.name, tuple(replaced(each) for each in self.inputs), self.attrs)

    def leaves(self) -> list[Any]:
        """The inputs one by one, those in lists too, without the ones left out."""
        flat: list[Any] = []
        for each in self.inputs:
            flat += each if isinstance(each, list) else [each]
        return [each for each in flat if each is not None]


def paste_test(call: Call, module: str, function: str, expected: str, backend_name: str | None = None) -> str:
    """A whole test module that fails as the call did: it runs a ``function`` of ``autograd.check`` and asserts ``expected``.

    >>> print(paste_test(Call("exp", (1.0,)), "local", "check_call", "result.ok, str(result)"))
    import numpy as np
    <BLANKLINE>
    from autograd.check.local import check_call
    <BLANKLINE>
    <BLANKLINE>
    def test_exp():
        x = 1.0
        result = check_call("exp", [x])
        assert result.ok, str(result)
    """
    taken = ("np", "result", "attrs", function)
    names = [f"{name}_" if name in taken or iskeyword(name) else name for name in call.input_names()]
    lines = [f"{name} = {source(value)}" for name, value in zip(names, call.inputs, strict=True)]
    arguments = f"{call.name!r}, [{', '.join(names)}]".replace("'", '"')
    if call.attrs:
        lines.append(f"attrs = {source(call.attrs)}")
        arguments += ", attrs"
    run = [f"result = {function}({arguments})", f"assert {expected}"]
    imports = ["import numpy as np", *_module_of(call.name)]
    ours = [f"from autograd.check.{module} import {function}"]
    if backend_name is not None:
        ours.append("from registry import use_backend")
        run = [f"with use_backend({backend_name!r}):".replace("'", '"'), f"    {run[0]}", run[1]]
    body = textwrap.indent("\n".join(lines + run), "    ")
    head = "\n".join([imports[0], "", *sorted(imports[1:] + ours, key=lambda line: line.startswith("from"))])
    return f"{head}\n\n\ndef test_{call.name}():\n{body}"


def _module_of(name: str) -> list[str]:
    """The import after which the operator exists, where ``import autograd`` alone is not enough."""
    config = get_gradient(name)
    function: Any = config.grad_func if config is not None else None
    if isinstance(function, partial) and config is not None and config.by_input:
        function = next(iter(config.by_input.values()))
    module = getattr(function, "__module__", None) or "__main__"
    if module.startswith(_KNOWN) and ".scipy" not in module:
        return []
    if module == "__main__":
        return [f"# import here the module that registers {name!r}"]
    return [f"import {module}  # registers {name}"]
