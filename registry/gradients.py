"""Gradients: the backward rule of an operator, and the table that holds them."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, TypeVar

from registry import bindings, operators
from registry.errors import RegistrationError, close_matches
from registry.schema import SchemaKind

NamedGradientMap = Mapping[str, Callable[[], Any] | Sequence[Callable[[], Any]]]
"""``{input_name: thunk}``; a thunk returns the gradient for that input; a list input has a list of thunks."""

GradFunc = Callable[[Any, Sequence[Any], Mapping[str, Any]], NamedGradientMap]
"""``grad_func(dy, saved, attrs)``: ``saved`` holds the declared inputs, then outputs, then infos, each in declared order.

``dy`` is a tuple exactly when the schema has several returns. It may carry extra leading axes (a batch of cotangents).
"""

InputGradFunc = Callable[[Any, Sequence[Any], Mapping[str, Any]], Any]
"""``(dy, saved, attrs) -> gradient`` of one input: a thunk of the map with its arguments still open."""

JvpFunc = Callable[[Mapping[str, Any], Sequence[Any], Mapping[str, Any]], Any]
"""``jvp_func(tangents, saved, attrs)``: tangents by input name, None where an input has none; returns the output's."""

AnyFunc = TypeVar("AnyFunc", bound=Callable[..., Any])


@dataclass(frozen=True, slots=True, eq=False)
class GradConfig:
    """The backward rule of one operator and what it declares.

    kernel_name       the operator
    grad_func         the rule, see ``GradFunc``; None if ``by_input`` gives it
    by_input          the rule as one function an input, where inputs share no work: ``grad_func`` then follows from it, and the
                      walk may call the functions without building the map (worth a third of a backward step on small arrays)
    inputs_to_save    names of the inputs whose values the rule needs
    save_all_inputs   for an operator whose input is a list of tensors: save each of them
    outputs_to_save   one boolean an output; ``True`` alone means the single output
    infos_to_save     names of inputs of which the rule needs only the ``TensorInfo`` (shape, dtype)
    elementwise       the Jacobian is diagonal: the walk un-broadcasts, zeros stay zeros, and the rule serves forward mode; the
                      walk may call it for a part of the rows alone, with that part of ``dy`` and ``saved``
    holomorphic       for an elementwise rule: it also holds for complex inputs in forward mode (not so for ``abs``, ``real``)
    linear            inputs in which the operator is linear while the others stay fixed; a list counts as one input
    affine            attributes to replace in the linear map, such as ``{"initial": None}`` for ``sum``
    jvp_func          a forward rule, where one is faster than what the flags give
    accepts_none      a rule of several outputs that takes None for a cotangent that did not arrive, rather than zeros
    needs             ``{input: names it needs}``: which saved inputs the gradient of an input uses, where not all; "output"
                      means the single saved output
    fresh             its gradients are always new arrays that nothing else holds, not even the thunk of another input, so that
                      the walk may add to them in place
    keeps_zeros       for an elementwise rule: a cotangent of exactly zero gives exactly zero whatever the saved values are,
                      inf and NaN included, so that the walk need not look for their traces on its account
    takes_indexed     ``dy`` may be a gradient of indexing, which is then not made an array first (``autograd.indexed``)
    batched           the rule follows extra leading axes of ``dy``; False makes the walk call it once a cotangent
    """

    kernel_name: str
    grad_func: GradFunc | None = None
    inputs_to_save: tuple[str, ...] = ()
    save_all_inputs: bool = False
    outputs_to_save: tuple[bool, ...] | bool = ()
    infos_to_save: tuple[str, ...] = ()
    elementwise: bool = False
    holomorphic: bool = True
    linear: tuple[str, ...] = ()
    affine: Mapping[str, Any] = field(default_factory=dict)
    jvp_func: JvpFunc | None = None
    accepts_none: bool = False
    needs: Mapping[str, tuple[str, ...]] | None = None
    fresh: bool = False
    keeps_zeros: bool = False
    takes_indexed: bool = False
    batched: bool = True
    by_input: Mapping[str, InputGradFunc] | None = None

    def __post_init__(self) -> None:
        who = f"GradConfig({self.kernel_name!r})"
        if not isinstance(self.kernel_name, str) or not self.kernel_name:
            raise RegistrationError(f"GradConfig.kernel_name: got {self.kernel_name!r}, expected a non-empty string")
        if self.by_input is not None:
            if self.grad_func is not None:
                raise RegistrationError(f"{who}: got grad_func and by_input, expected one of the two")
            object.__setattr__(self, "grad_func", partial(_thunks, dict(self.by_input)))
        for name in ("grad_func", "jvp_func"):
            value = getattr(self, name)
            if not callable(value) and (value is not None or name == "grad_func"):
                raise RegistrationError(f"{who}.{name}: got {value!r}, expected a function")
        for name in ("inputs_to_save", "infos_to_save", "linear"):
            value = getattr(self, name)
            listed = isinstance(value, Sequence) and not isinstance(value, str)
            if not listed or not all(isinstance(each, str) for each in value):
                raise RegistrationError(f"{who}.{name}: got {value!r}, expected a sequence of input names, like ('x',)")
            if len(set(value)) != len(value):
                raise RegistrationError(f"{who}.{name}: got {value!r}, which names an input twice; expected each name once")
            object.__setattr__(self, name, tuple(value))
        outputs = self.outputs_to_save
        flags = (outputs,) if isinstance(outputs, bool) else outputs
        if not isinstance(flags, Sequence) or not all(isinstance(each, bool) for each in flags):
            raise RegistrationError(f"{who}.outputs_to_save: got {outputs!r}, expected booleans, one for each output")
        outputs = tuple(flags)
        object.__setattr__(self, "outputs_to_save", outputs)
        if self.save_all_inputs and self.inputs_to_save:
            raise RegistrationError(f"{who}: save_all_inputs=True already saves {self.inputs_to_save}; give one of the two")
        if self.needs is not None:
            saved = set(self.inputs_to_save) | ({"output"} if outputs == (True,) else set())
            unsaved = {each for names in self.needs.values() for each in names} - saved
            if unsaved:
                raise RegistrationError(f"{who}.needs names {sorted(unsaved)}, which is not saved; expected of {sorted(saved)}")


def _thunks(by_input: Mapping[str, InputGradFunc], dy: Any, saved: Sequence[Any], attrs: Mapping[str, Any]) -> NamedGradientMap:
    """The gradient map of a rule that is given as one function an input."""
    return {name: partial(function, dy, saved, attrs) for name, function in by_input.items()}


_gradients: dict[str, GradConfig] = {}


def register_gradient(config: GradConfig, *, override: bool = False) -> GradConfig:
    """Add ``config`` to the table; returns it.

    Raises RegistrationError if the operator already has a gradient, unless ``override=True``, which warns; for a variant that
    writes, which is recorded as its functional form; and if what it saves does not fit the operator's schema (checked when the
    first kernel runs if the operator is not yet declared).
    """
    name = config.kernel_name
    if name in _gradients:
        if not override:
            raise RegistrationError(f"gradient {name!r} is already registered; pass override=True to replace it")
        warnings.warn(f"gradient {name!r} is replaced", stacklevel=2)
    schema = operators.get_schema(name)
    if schema is not None:
        if schema.kind() is not SchemaKind.functional:
            functional = operators.functional_name(name)
            raise RegistrationError(
                f"gradient {name!r}: that is the {schema.kind().value} variant of an operator, and a tape records the functional"
                f" one; " + (f"register it for {functional!r}" if functional else f"declare that first: {schema.signature()}")
            )
        bindings.check_gradient_fits(config, schema)
    _gradients[name] = config
    bindings.forget(name)
    return config


def gradient(kernel_name: str, *, override: bool = False, **fields: Any) -> Callable[[AnyFunc], AnyFunc]:
    """Decorator form of ``register_gradient``; ``fields`` are those of ``GradConfig``; the function stays as it is.

    >>> @gradient("doctest_twice", linear=("x",))
    ... def twice(dy, saved, attrs):
    ...     return {"x": lambda: 2 * dy}
    >>> get_gradient("doctest_twice").grad_func(3.0, (), {})["x"]()
    6.0
    >>> unregister_gradient("doctest_twice")
    """

    def register(grad_func: AnyFunc) -> AnyFunc:
        register_gradient(GradConfig(kernel_name, grad_func, **fields), override=override)
        return grad_func

    return register


def get_gradient(kernel_name: str) -> GradConfig | None:
    """The gradient of an operator, or None.

    >>> get_gradient("no such operator") is None
    True
    """
    return _gradients.get(kernel_name)


def unregister_gradient(kernel_name: str) -> None:
    """Take a gradient out of the table; raises RegistrationError if there is none."""
    if kernel_name not in _gradients:
        raise RegistrationError(
            f"gradient {kernel_name!r} cannot be unregistered: it is not registered." + close_matches(kernel_name, _gradients)
        )
    del _gradients[kernel_name]
    bindings.forget(kernel_name)
