"""Bindings: a kernel joined with its schema and its gradient - all that is fixed about a record of a tape.

A tape stores one reference to a binding for each execution, and the walk reads names, flags and the rule from it. A
binding is made when a kernel first runs on a backend and forgotten when a registration changes, so that a record keeps
the rule it was recorded for, and two tapes have equal structure only if their kernels and rules are the same objects.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from registry.errors import RegistrationError, close_matches
from registry.names import stem_of

if TYPE_CHECKING:
    from registry.gradients import GradConfig, GradFunc, InputGradFunc, JvpFunc
    from registry.kernels import KernelConfig
    from registry.schema import FunctionSchema

_tables: dict[str, dict[str | None, Binding]] = {}

changes = 0
"""How often bindings were forgotten: one that was made from what a registration has changed meanwhile is not kept."""


class Binding:
    """One kernel, its operator's schema and its gradient, with what the hot path asks of them worked out once.

    input_names     names of the tensor inputs, in schema order
    list_inputs     for each of them, whether it is a list of tensors
    n_outputs       number of outputs; None where the schema returns a list
    several         the schema has several returns or a list: the kernel returns a sequence, and ``dy`` is a tuple
    save_inputs     for each input, whether the rule declared it (``save_all_inputs``: True for the list)
    save_outputs    for each output of the schema, whether the rule declared it
    info_positions  positions of the inputs of which only shape and dtype are kept
    n_saved         how many saved values a record holds; None where that depends on the length of a list
    keep            for one or two single-tensor inputs: by bit mask of the tracked inputs, one entry an input (True keep,
                    False declared but not needed now, None not declared)
    by_input        the rule's functions by input position, where it is given that way
    keeps_inputs    whether any input is kept
    keep_output     whether the rule declared the single output
    keep_output_if  by bit mask of the tracked inputs: whether it is kept; None takes its place otherwise
    takes_indexed   the rule takes a gradient of indexing for ``dy`` as the walk keeps it
    views           some output may share memory with an input, by the schema
    checked         the walk has seen the rule return exactly a function for each input
    attr_names      names of the attributes, in schema order
    attr_defaults   the values of those that have one
    """

    __slots__ = (
        "attr_defaults",
        "attr_names",
        "batched",
        "by_input",
        "checked",
        "constant",
        "elementwise",
        "fresh",
        "grad_func",
        "gradient",
        "has_list",
        "info_positions",
        "input_names",
        "jvp_func",
        "keep",
        "keep_output",
        "keep_output_if",
        "keeps_inputs",
        "kept_for",
        "kernel",
        "kernel_func",
        "list_inputs",
        "n_outputs",
        "n_saved",
        "name",
        "save_inputs",
        "save_outputs",
        "schema",
        "several",
        "takes_indexed",
        "views",
    )

    def __init__(
        self, kernel: KernelConfig, schema: FunctionSchema, gradient: GradConfig | None, *, constant: bool = False
    ) -> None:
        if gradient is not None:
            check_gradient_fits(gradient, schema)
        self.kernel = kernel
        self.schema = schema
        self.gradient = gradient
        self.constant = constant
        self.name = kernel.kernel_name
        self.kernel_func = kernel.kernel_func
        self.input_names = tuple(argument.name for argument in schema.inputs)
        self.list_inputs = tuple(argument.type.is_list_like() is not None for argument in schema.inputs)
        self.has_list = any(self.list_inputs)
        returns = schema.returns
        returns_list = len(returns) == 1 and returns[0].type.is_list_like() is not None
        self.several = returns_list or len(returns) != 1
        self.n_outputs = None if returns_list else len(returns)
        self.views = any(each.annotation is not None and not each.annotation.is_write for each in returns)
        self.attr_names = tuple(argument.name for argument in schema.attributes)
        self.attr_defaults = {each.name: each.default_value for each in schema.attributes if each.default is not None}
        self.elementwise = gradient is not None and gradient.elementwise
        self.fresh = gradient is not None and gradient.fresh
        self.batched = gradient is None or gradient.batched
        self.checked = False
        self.takes_indexed = gradient is not None and gradient.takes_indexed
        self._set_saves(gradient)

    def _set_saves(self, gradient: GradConfig | None) -> None:
        names = self.input_names
        self.grad_func: GradFunc | None = None
        self.by_input: tuple[InputGradFunc | None, ...] | None = None
        self.jvp_func: JvpFunc | None = None
        self.save_inputs = (False,) * len(names)
        self.save_outputs: tuple[bool, ...] = ()
        self.info_positions: tuple[int, ...] = ()
        if gradient is not None:
            declared = gradient.inputs_to_save
            self.save_inputs = tuple(gradient.save_all_inputs or name in declared for name in names)
            self.save_outputs = gradient.outputs_to_save  # type: ignore[assignment]  # __post_init__ made it a tuple
            self.info_positions = tuple(names.index(name) for name in gradient.infos_to_save)
            in_schema_order = tuple(name for name in names if name in declared)
            order = tuple(in_schema_order.index(name) for name in declared)
            if gradient.by_input and order == tuple(range(len(order))):
                self.by_input = tuple(gradient.by_input.get(name) for name in names)
            self.grad_func = _with_declared_order(gradient.grad_func, order)  # type: ignore[arg-type]  # __post_init__ made it a function
            self.jvp_func = gradient.jvp_func and _with_declared_order(gradient.jvp_func, order)
        self.keep_output = any(self.save_outputs)
        self.keeps_inputs = any(self.save_inputs)
        variable = gradient is not None and gradient.save_all_inputs
        count = sum(self.save_inputs) + sum(self.save_outputs) + len(self.info_positions)
        self.n_saved = None if variable else count
        masks = [(bool(mask & 1), bool(mask & 2))[: len(names)] for mask in range(4)] if len(names) <= 2 else []
        self.keep_output_if = [self.keep_output and self.keeps_output_for(each) for each in masks]
        self.kept_for: dict[tuple[bool, ...], tuple[bool | None, ...]] = {}
        self.keep = [self.keep_for(each) for each in masks]

    def keep_for(self, tracked: tuple[bool, ...]) -> tuple[bool | None, ...]:
        """Which inputs a record keeps when only ``tracked`` ones can have a gradient (``GradConfig.needs``).

        True keep the value, False put None in its place, None the rule did not declare it.
        """
        kept = self.kept_for.get(tracked)
        if kept is None:
            kept = self.kept_for[tracked] = self._find_kept(tracked)
        return kept

    def keeps_output_for(self, tracked: tuple[bool, ...]) -> bool:
        """Whether a record keeps its saved output when only ``tracked`` inputs can have a gradient."""
        needs = self.gradient.needs if self.gradient is not None else None
        if needs is None:
            return True
        names = self.input_names
        return any("output" in needs.get(name, ("output",)) for name, follows in zip(names, tracked, strict=True) if follows)

    def _find_kept(self, tracked: tuple[bool, ...]) -> tuple[bool | None, ...]:
        needs = self.gradient.needs if self.gradient is not None else None
        if needs is None:
            return tuple(True if save else None for save in self.save_inputs)
        names = self.input_names
        needed = {each for name, follows in zip(names, tracked, strict=True) if follows for each in needs.get(name, names)}
        return tuple((name in needed) if save else None for name, save in zip(names, self.save_inputs, strict=True))

    def __repr__(self) -> str:
        rule = "no gradient" if self.gradient is None else "gradient"
        return f"Binding({self.name!r} on {self.kernel.backend_name!r}, {rule})"


def table(name: str) -> dict[str | None, Binding]:
    """The bindings of one operator by backend name; None stands for the default backend.

    The dictionary is the same object for as long as the process lives: operator functions hold on to it.
    """
    return _tables.setdefault(name, {})


def forget(name: str | None = None) -> None:
    """Drop the bindings of one operator with its variants, or of all (``None``), after a registration has changed."""
    global changes
    changes += 1
    stem = None if name is None else stem_of(name)
    for each, bindings in list(_tables.items()):
        if bindings and (stem is None or stem_of(each) == stem):
            bindings.clear()


def check_gradient_fits(gradient: GradConfig, schema: FunctionSchema) -> None:
    """Raise RegistrationError unless what ``gradient`` saves and names exists in ``schema``."""
    who = f"gradient {gradient.kernel_name!r}"
    names = [argument.name for argument in schema.inputs]
    lists = [argument.name for argument in schema.inputs if argument.type.is_list_like() is not None]
    if gradient.save_all_inputs and lists != names:
        raise RegistrationError(
            f"{who}: save_all_inputs=True is for operators whose input is a list of tensors, but this one has named inputs"
            f" ({schema}); use inputs_to_save={tuple(names)!r}"
        )
    for field in ("inputs_to_save", "infos_to_save", "linear"):
        for name in getattr(gradient, field):
            if name not in names:
                raise RegistrationError(
                    f"{who}: {field} names {name!r}, which is not a tensor input of\n  {schema}\nexpected one of {names}."
                    + close_matches(name, names)
                )
            if field == "inputs_to_save" and name in lists:
                raise RegistrationError(f"{who}: {name!r} is a list of tensors; use save_all_inputs=True")
    for field in ("needs", "by_input"):
        for name in getattr(gradient, field) or ():
            if name not in names:
                raise RegistrationError(f"{who}: {field} names {name!r}, expected one of {names}." + close_matches(name, names))
    returns = schema.returns
    saves: Sequence[bool] = gradient.outputs_to_save  # type: ignore[assignment]  # __post_init__ made it a tuple
    if saves and len(saves) != len(returns):
        raise RegistrationError(
            f"{who}: outputs_to_save has {len(saves)} entries, expected one for each of the {len(returns)} outputs of\n  {schema}"
        )
    if any(saves) and len(returns) == 1 and returns[0].type.is_list_like() is not None:
        raise RegistrationError(f"{who}: outputs_to_save cannot keep a list of outputs; save the inputs and recompute")


def _with_declared_order(rule: Callable[..., Any], order: tuple[int, ...]) -> Callable[..., Any]:
    """``rule`` as it is, or behind a step that brings inputs saved in schema order into the order it declared."""
    if order == tuple(range(len(order))):
        return rule

    def reordered(dy: Any, saved: Sequence[Any], attrs: Any) -> Any:
        return rule(dy, [*(saved[position] for position in order), *saved[len(order) :]], attrs)

    return reordered
