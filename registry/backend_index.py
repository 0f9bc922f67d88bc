"""Backend indices: what one backend implements, operator name by operator name.

A dispatch key names a set of kernels. The keys are an open set: each registered backend has one of its own name and one for
kernels that bring their own gradient (``numpy``, ``AutogradNumpy``), and two more stand for kernels made of other operators.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from registry.errors import RegistrationError, close_matches
from registry.names import OperatorName
from registry.variant import Variant

if TYPE_CHECKING:
    from registry.grouping import VariantGroup
    from registry.schema import FunctionSchema

# The tables of backends, kernels and operators are imported where they are asked: they stand above these records, which the
# table of operators uses to describe the variants that it generates.

EMBEDDED = "numpy"
"""The backend that comes with the registry; every other one is external."""

_AUTOGRAD = "Autograd"
_COMPOSITE = "Composite"


@dataclass(frozen=True, slots=True)
class DispatchKey:
    """The name under which kernels are found: one a backend, its autograd key, and the generic ones.

    Any name makes a key; ``parse`` takes those that exist. Raises RegistrationError for what is no name.

    >>> str(DispatchKey("numpy")), str(DispatchKey("numpy").autograd_key())
    ('numpy', 'AutogradNumpy')
    """

    name: str

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not self.name:
            raise RegistrationError(f"DispatchKey: got {self.name!r}, expected the name of a backend (a non-empty string)")

    @staticmethod
    def parse(text: str, known: Collection[str] | None = None) -> DispatchKey:
        """The key of exactly that name, if it is one of ``known``: by default, of those of the registered backends.

        Raises RegistrationError for any other name.

        >>> DispatchKey.parse("AutogradNumpy")
        DispatchKey(name='AutogradNumpy')
        >>> DispatchKey.parse("cpu", known=["CPU", "CUDA"])
        Traceback (most recent call last):
        ...
        registry.errors.RegistrationError: dispatch key 'cpu' is unknown; expected one of CPU, CUDA, spelled exactly so.
        """
        names = _registered_keys() if known is None else known
        if isinstance(text, str) and text in names:
            return DispatchKey(text)
        expected = ", ".join(names) if len(names) <= 12 else f"the {len(names)} known ones"
        raise RegistrationError(
            f"dispatch key {text!r} is unknown; expected one of {expected}, spelled exactly so." + close_matches(str(text), names)
        )

    def __str__(self) -> str:
        return self.name

    @property
    def is_generic(self) -> bool:
        """Whether its kernels are made of other operators, and so serve every backend."""
        return self.name.startswith(_COMPOSITE)

    @property
    def is_autograd(self) -> bool:
        """Whether its kernels bring their own gradient."""
        return self.name.startswith(_AUTOGRAD)

    def autograd_key(self) -> DispatchKey:
        """The key of the same backend's kernels that bring their own gradient.

        Raises RegistrationError for a generic key, and for one that is an autograd key already.
        """
        if self.is_generic or self.is_autograd:
            raise RegistrationError(f"dispatch key {self.name!r} has no {_AUTOGRAD} key; expected the key of a backend")
        return DispatchKey(f"{_AUTOGRAD}{self.name[:1].upper()}{self.name[1:]}")


COMPOSITE_EXPLICIT = DispatchKey("CompositeExplicitAutograd")
"""Kernels made of other operators that serve every backend, with a gradient rule of their own."""

COMPOSITE_IMPLICIT = DispatchKey("CompositeImplicitAutograd")
"""Kernels made of differentiable operators that serve every backend, and whose gradient follows from theirs."""


@dataclass(frozen=True, slots=True)
class BackendMetadata:
    """One entry of a backend index: the name of the kernel function, and where it stands."""

    kernel: str
    structured: bool = False
    namespace: str = ""

    @property
    def supports_symint(self) -> bool:
        """Whether the kernel takes symbolic integers, which its name tells.

        >>> BackendMetadata("sum_symint").supports_symint
        True
        """
        return "_symint" in self.kernel


@dataclass(frozen=True, slots=True)
class BackendIndex:
    """What one dispatch key has kernels for.

    dispatch_key        whose kernels they are
    use_out_as_primary  of the variants of an operator, the out variant is the one that is implemented; else the functional one
    device_guard        callers of its kernels switch to the device of their inputs first
    external            it comes from another package
    index               the kernels by operator name; read-only

    Raises RegistrationError if the index holds anything but metadata by operator name.

    >>> add = OperatorName.parse("add")
    >>> index = BackendIndex(DispatchKey("numpy"), False, False, False, {add: BackendMetadata("add")})
    >>> index.grow({OperatorName.parse("add_"): BackendMetadata("add_")}).kernel_names()
    {'add': 'add', 'add_': 'add_'}
    """

    dispatch_key: DispatchKey
    use_out_as_primary: bool
    device_guard: bool
    external: bool
    index: Mapping[OperatorName, BackendMetadata] = field(default_factory=dict, hash=False)

    def __post_init__(self) -> None:
        for name, metadata in self.index.items():
            if not isinstance(name, OperatorName) or not isinstance(metadata, BackendMetadata):
                raise RegistrationError(
                    f"BackendIndex of {self.dispatch_key}: got {metadata!r} for {name!r}, expected BackendMetadata by name"
                )
        object.__setattr__(self, "index", MappingProxyType(dict(self.index)))

    def primary(self, group: VariantGroup) -> Variant:
        """The variant of an operator that stands for all of them in this index."""
        return group.out if self.use_out_as_primary else group.functional

    def get_kernel(self, operator: Variant | VariantGroup) -> BackendMetadata | None:
        """The kernel of a variant, or of the primary variant of a group; None if there is none."""
        variant = operator if isinstance(operator, Variant) else self.primary(operator)
        return self.index.get(variant.name)

    def has_kernel(self, operator: Variant | VariantGroup) -> bool:
        """Whether there is a kernel of a variant, or of the primary variant of a group."""
        return self.get_kernel(operator) is not None

    def grow(self, more: Mapping[OperatorName, BackendMetadata]) -> BackendIndex:
        """This index with more kernels; raises RegistrationError if it has one of them already."""
        for name in more:
            if name in self.index:
                raise RegistrationError(
                    f"operator {str(name)!r} has a kernel for dispatch key {self.dispatch_key} already,"
                    f" {self.index[name].kernel!r}, and cannot also have {more[name].kernel!r}; leave out one of the two"
                )
        return replace(self, index={**self.index, **more})

    def kernel_names(self) -> dict[str, str]:
        """The names of the kernels by the text of their operator's name."""
        return {str(name): metadata.kernel for name, metadata in self.index.items()}

    def class_name(self) -> str | None:
        """The customary name of a class that holds the kernels of an external index; None for another one.

        >>> BackendIndex(DispatchKey("XLA"), False, False, external=True).class_name()
        'XLANativeFunctions'
        """
        return f"{self.dispatch_key}NativeFunctions" if self.external else None


def create_backend_index(
    backend_ops: Iterable[str],
    dispatch_key: DispatchKey,
    *,
    known: Mapping[str, FunctionSchema] | None = None,
    use_out_as_primary: bool = False,
    use_device_guard: bool = False,
    namespace: str = "",
    symint: Collection[str] = (),
) -> BackendIndex:
    """The index of an external backend that implements the operators of these names, each under its customary kernel name.

    A name stands for one variant: ``add.out`` is not implied by ``add``. It may be listed twice. ``known`` are the schemas of
    the operators that exist, by name: by default the declared ones and the variants generated from them. Kernels of operators
    listed in ``symint`` as well are called ``..._symint``.

    Raises SchemaError for a text that is no operator name, RegistrationError for an operator that does not exist.

    >>> from registry.operators import get_schema
    >>> add_schema = get_schema("add")
    >>> index = create_backend_index(["add", "add.out"], DispatchKey("mine"), namespace="my_package")
    >>> index.kernel_names()
    {'add': 'add', 'add.out': 'add_out'}
    >>> create_backend_index(["ad"], DispatchKey("mine"), known={"add": add_schema})
    Traceback (most recent call last):
    ...
    registry.errors.RegistrationError: operator 'ad', listed for dispatch key mine, does not exist. Did you mean 'add'?
    """
    if isinstance(backend_ops, str):
        raise RegistrationError(
            f"operators of dispatch key {dispatch_key}: got the text {backend_ops!r}, expected a list of names"
        )
    index: dict[OperatorName, BackendMetadata] = {}
    for text in backend_ops:
        if not isinstance(text, str):
            raise RegistrationError(
                f"operators of dispatch key {dispatch_key}: got {text!r}, a {type(text).__name__}; expected the name of an"
                " operator, such as add.out"
            )
        name = OperatorName.parse(text)
        schema = _find_schema(text, known)
        if schema is None:
            candidates = known_operators() if known is None else known
            raise RegistrationError(
                f"operator {text!r}, listed for dispatch key {dispatch_key}, does not exist." + close_matches(text, candidates)
            )
        kernel = schema.kernel_name() + ("_symint" if text in symint else "")
        index[name] = BackendMetadata(kernel, namespace=namespace)
    return BackendIndex(dispatch_key, use_out_as_primary, use_device_guard, external=True, index=index)


def index_of_backend(name: str) -> BackendIndex:
    """What a registered backend implements by itself, from the table of kernels; what is composed for it is not counted.

    A kernel has the name of its function, or its customary one where the function cannot be found under a name of its own (a
    lambda, or a function made by another). An out variant is implemented by a kernel of its own or by the functional form's
    ``out_func``. Raises RegistrationError if no such backend is registered.

    >>> from registry import names
    >>> index_of_backend("numpy").index[names.OperatorName.parse("exp")].kernel
    'exp'
    """
    from registry.kernels import get_kernels_for_backend
    from registry.operators import family_of, get_schema
    from registry.schema import SchemaKind

    key = DispatchKey.parse(name)
    functions: dict[str, Callable[..., Any]] = {}
    for config in get_kernels_for_backend(name):
        functions[config.kernel_name] = config.kernel_func
        out = family_of(config.kernel_name).get(SchemaKind.out)
        if config.out_func is not None and out is not None:
            functions.setdefault(str(out.name), config.out_func)
    index = {}
    for operator, function in functions.items():
        schema = get_schema(operator)
        customary = operator if schema is None else schema.kernel_name()
        index[OperatorName.parse(operator)] = _describe(function, customary)
    return BackendIndex(key, use_out_as_primary=False, device_guard=False, external=name != EMBEDDED, index=index)


def known_operators() -> dict[str, FunctionSchema]:
    """The schemas of all declared operators and of the variants generated from them, by name.

    >>> {"add", "add_", "add.out"} <= known_operators().keys()
    True
    """
    from registry.operators import family_of, get_schema, operator_names

    names = operator_names()
    declared = {name: schema for name in names if (schema := get_schema(name)) is not None}
    variants = (variant for name in names for variant in family_of(name).values())
    return {**{str(variant.name): variant.schema for variant in variants}, **declared}


def _find_schema(name: str, known: Mapping[str, FunctionSchema] | None) -> FunctionSchema | None:
    from registry.operators import get_schema

    return get_schema(name) if known is None else known.get(name)


def _registered_keys() -> list[str]:
    from registry.backends import registered_backends

    backends = [DispatchKey(name) for name in registered_backends()]
    own = [str(key.autograd_key()) for key in backends if not key.is_autograd and not key.is_generic]
    return [*map(str, backends), *own, str(COMPOSITE_EXPLICIT), str(COMPOSITE_IMPLICIT)]


def _describe(function: Callable[..., Any], customary: str) -> BackendMetadata:
    qualified = getattr(function, "__qualname__", "<no name>")
    kernel = customary if "<" in qualified else qualified.rpartition(".")[2]
    return BackendMetadata(kernel, namespace=getattr(function, "__module__", None) or "")
