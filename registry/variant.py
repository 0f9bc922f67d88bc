"""One variant of an operator - functional, in-place, mutable or out - with what is known of it besides its schema.

torchgen calls this record a native function. Everything but the schema has the value that most operators have by default.
"""

from __future__ import annotations

from dataclasses import dataclass

from registry.names import OperatorName
from registry.schema import FunctionSchema, SchemaKind

GENERATED = "generated"
"""The tag of a variant that was derived from another one."""


INPLACE_VIEW = "inplace_view"
"""The tag of an in-place variant that changes which memory its receiver shows, as a transposition in place does."""


@dataclass(frozen=True, slots=True)
class Variant:
    """A schema and its metadata.

    schema                   what it is called, takes and returns
    tags                     free words; ``generated`` marks a variant that was derived from another one
    autogen                  names of the variants that its author expects to be generated
    call_forms               how it may be called: ``function``, ``method``
    namespace                the family of operators it belongs to, such as torchgen's ``aten``
    manual_binding           somebody writes its kernels' callers by hand, so that nothing is generated from it
    manual_registration      somebody registers its kernels by hand, so that it has no table of them
    structured               its kernel works in two steps, first shapes and then values (torchgen's structured kernels)
    structured_delegate      the out variant whose structured kernel serves this one too
    structured_inherits      what its structured kernel is built upon
    composite_implicit       it has a kernel made of differentiable operators (or no kernel of its own, which means the same)
    composite_explicit       it has a kernel made of other operators, with a gradient of its own
    device_guard             whether a caller switches to the device of its inputs
    device_check             ``ExactSame`` or ``NoCheck``: whether its inputs have to lie on one device
    python_module            the module that shows it, where that is not the main one
    location                 where it was declared, for messages

    >>> Variant(FunctionSchema.parse("negative_(Tensor(a!) x) -> Tensor(a!)")).kind
    <SchemaKind.inplace: 'inplace'>
    """

    schema: FunctionSchema
    tags: frozenset[str] = frozenset()
    autogen: tuple[OperatorName, ...] = ()
    call_forms: frozenset[str] = frozenset({"function"})
    namespace: str = ""
    manual_binding: bool = False
    manual_registration: bool = False
    structured: bool = False
    structured_delegate: OperatorName | None = None
    structured_inherits: str | None = None
    composite_implicit: bool = False
    composite_explicit: bool = False
    device_guard: bool = True
    device_check: str = "ExactSame"
    python_module: str | None = None
    location: str = ""

    @property
    def name(self) -> OperatorName:
        """The full name, overload included."""
        return self.schema.name

    @property
    def kind(self) -> SchemaKind:
        """Which variant of its operator it is."""
        return self.schema.kind()

    @property
    def generated(self) -> bool:
        """Whether it was derived from another variant."""
        return GENERATED in self.tags

    @property
    def place(self) -> str:
        """Where it was declared, as an addition to its name in a message: " (file:line)", or "" if that is not known."""
        return f" ({self.location})" if self.location else ""

    @property
    def is_structured(self) -> bool:
        """Whether a structured kernel serves it: its own, or that of the variant it delegates to."""
        return self.structured or self.structured_delegate is not None

    @property
    def is_view_op(self) -> bool:
        """Whether a result may share memory with an argument that it does not write, so that generating variants is no use.

        That is so where a return is annotated and not written (``-> Tensor(a)``), where an argument may belong to another
        tensor after the call (``Tensor(a -> *)``), and where the tag ``inplace_view`` says that the in-place operator changes
        what its receiver is a view of.

        >>> Variant(FunctionSchema.parse("reshape(Tensor(a) a, int[] shape) -> Tensor(a)")).is_view_op
        True
        """
        returned = (item.annotation for item in self.schema.returns)
        return (
            INPLACE_VIEW in self.tags
            or any(annotation is not None and not annotation.is_write for annotation in returned)
            or any(
                argument.annotation is not None and "*" in argument.annotation.alias_set_after
                for argument in self.schema.arguments.flat_all
            )
        )
