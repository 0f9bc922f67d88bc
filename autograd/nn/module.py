"""``Module``: a model as a plain value, which every function over containers takes apart and builds again.

A module is closed when its ``__init__`` is done: lists of parts have become tuples, and no attribute can be set any more. So
what its leaves are is found once, and ``flatten`` hands out a list that is there already (a training step asks three times).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, ClassVar, NoReturn

import numpy as np

from autograd.containers import flatten, is_container, register_container
from autograd.tensor import Tensor, innermost_value

_LEAF: Any = "leaf"
_MODULE: Any = "module"
"""What stands at a place of a module: one of these, a tuple or dict of them for a container, None for what is no parameter."""


class _Layout:
    """Where the parameters of a module stand, in order; shared by all modules that are built from one another."""

    __slots__ = ("cacheable", "names", "parts", "steps")

    def __init__(self, parts: tuple[tuple[str, Any], ...], steps: list[str], names: list[str], cacheable: bool) -> None:
        self.parts = parts
        self.steps = steps
        self.names = names
        self.cacheable = cacheable


class _Closing(type):
    """Closes an instance when all of its ``__init__`` methods are done."""

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        module = super().__call__(*args, **kwargs)
        _close(module)
        return module


class Module(metaclass=_Closing):
    """Base of all layers and models: a container of its parameters.

    Its parameters are, in order of assignment, the attributes that are arrays of floats or complex numbers (NumPy's scalars of
    these included), modules, and lists, tuples or dicts that hold such. Everything else belongs to the structure and is never
    differentiated: Python numbers, strings, functions, arrays of integers, and what the class attribute ``buffers`` names.
    ``grad`` of a loss in a module is a module of the same structure.

    ``module(x)`` evaluates. ``module.train(x, rng)`` runs it as in training and returns ``(y, module)`` with the module that has
    the new running state, or this one where there is none. A subclass defines ``__call__``, and ``train`` if it has parts whose
    ``train`` is to be called, or draws random numbers, or keeps a state.

    A module cannot be changed once it is made; its arrays can, which is what optimisers do. ``replace`` makes a changed copy,
    ``copy.deepcopy`` one with arrays of its own. Raises ValueError where one array stands at two places: hold it once, and use it
    twice in ``__call__``.

    >>> from autograd import grad
    >>> class Scale(Module):
    ...     def __init__(self, size):
    ...         self.size = size
    ...         self.factor = np.full(size, 2.0)
    ...     def __call__(self, x):
    ...         return x * self.factor
    >>> model = Scale(2)
    >>> model
    Scale(size=2, factor=float64[2])
    >>> grad(lambda model: model(np.array([3.0, 4.0])).sum())(model).factor
    array([3., 4.])
    """

    __slots__ = ("__dict__", "__weakref__", "_layout", "_leaves")

    buffers: ClassVar[tuple[str, ...]] = ()
    """Names of attributes that are arrays, but no parameters, such as running statistics."""

    _layout: _Layout
    _leaves: list[Any]

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        register_container(cls, _flatten_module, _rebuild_module)

    def __call__(self, x: Any) -> Any:
        """The output for an input, as in use, not in training."""
        raise NotImplementedError(f"{type(self).__name__} has no __call__; define `def __call__(self, x)` in the class")

    def train(self, x: Any, rng: np.random.Generator | None = None) -> tuple[Any, Any]:
        """``(output, module)`` as in training: random numbers are from ``rng``, the module returned has the new running state."""
        return self(x), self

    def __setattr__(self, name: str, value: Any) -> None:
        if hasattr(self, "_layout"):
            _refuse_change(self, name)
        super().__setattr__(name, value)

    def __delattr__(self, name: str) -> None:
        if hasattr(self, "_layout"):
            _refuse_change(self, name)
        super().__delattr__(name)

    def __getstate__(self) -> dict[str, Any]:
        return dict(self.__dict__)

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        _close(self)

    def __replace__(self, **attributes: Any) -> Any:
        return replace(self, **attributes)

    def __repr__(self) -> str:
        return "\n".join(_lines(self))


_new: Any = object.__new__
_set_layout: Any = Module.__dict__["_layout"].__set__
_set_leaves: Any = Module.__dict__["_leaves"].__set__
_get_leaves: Any = Module.__dict__["_leaves"].__get__
"""Past ``__setattr__``, which refuses."""


def replace(module: Any, **attributes: Any) -> Any:
    """A copy of a module with other values for some attributes; it shares all else. Raises TypeError for unknown names.

    >>> from autograd.nn import Linear
    >>> layer = Linear(2, 3)
    >>> replace(layer, bias=np.ones(3))(np.zeros(2))
    array([1., 1., 1.])
    """
    unknown = [name for name in attributes if name not in module.__dict__]
    if unknown:
        raise TypeError(f"replace: {type(module).__name__} has no {unknown[0]!r}; its attributes are {list(module.__dict__)}")
    changed = object.__new__(type(module))
    changed.__dict__.update(module.__dict__)
    changed.__dict__.update(attributes)
    _close(changed)
    return changed


def _refuse_change(module: Module, name: str) -> NoReturn:
    kind = type(module).__name__
    raise AttributeError(
        f"{kind}.{name}: a module cannot be changed once it is made, or a gradient and its model would disagree about what it"
        f" holds. Write autograd.nn.replace(module, {name}=...), which gives a changed copy; what a call is to remember it"
        " returns, as train does"
    )


# -------------------------------------------------------------------------------------------------- what a module holds


def _close(module: Module) -> None:
    """Find the parameters, turn lists of them into tuples, and forbid changes from here on."""
    parts: list[tuple[str, Any]] = []
    paths: list[tuple[str, str]] = []
    where = type(module).__name__
    for name, value in module.__dict__.items():
        if name in module.buffers:
            continue
        kind = _kind_of(value, f"{where}.{name}")
        if kind is not None:
            module.__dict__[name] = _without_lists(value, kind)
            parts.append((name, kind))
            paths += _paths(value, kind, f".{name}", name)
    names = [each for _, each in paths]
    cacheable = not any(_holds_dict(module.__dict__[name], kind) for name, kind in parts)
    layout = _Layout(tuple(parts), [each for each, _ in paths], names, cacheable)
    if len(set(names)) < len(names):
        twice = next(each for each in names if names.count(each) > 1)
        raise ValueError(f"{where}: two parameters have the name {twice!r}; give the keys of its dicts other names")
    leaves = _collected(module, layout)
    _check_distinct(where, leaves, names)
    _set_layout(module, layout)
    if layout.cacheable:
        _set_leaves(module, leaves)


def _kind_of(value: Any, where: str) -> Any:
    """What stands here; see ``_LEAF``."""
    if isinstance(value, np.ndarray | np.generic | Tensor):
        return _LEAF if value.dtype.kind in "fc" else None
    if isinstance(value, Module):
        if not hasattr(value, "_layout"):
            raise ValueError(f"{where} is a module that is not made yet; a module cannot hold itself")
        return _MODULE
    if type(value) in (list, tuple):
        kinds = tuple([_kind_of(each, f"{where}[{number}]") for number, each in enumerate(value)])
        return kinds if any(each is not None for each in kinds) else None
    if type(value) is dict:
        by_key = {key: _kind_of(each, f"{where}[{key!r}]") for key, each in value.items()}
        return by_key if any(each is not None for each in by_key.values()) else None
    if is_container(value) and any(_kind_of(each, where) is not None for each in flatten(value)[0]):
        raise TypeError(
            f"{where} is a {type(value).__name__} that holds parameters; expected them in a list, tuple, dict or Module, so that"
            " each has a name"
        )
    return None


def _without_lists(value: Any, kind: Any) -> Any:
    if type(kind) is tuple:
        return tuple([_without_lists(each, inner) for each, inner in zip(value, kind, strict=True)])
    if type(kind) is dict:
        return {key: _without_lists(value[key], inner) for key, inner in kind.items()}
    return value


def _holds_dict(value: Any, kind: Any) -> bool:
    """Whether there is a dict here, which may change after the module is made."""
    if kind is _MODULE:
        return not value._layout.cacheable
    if type(kind) is tuple:
        return any(_holds_dict(each, inner) for each, inner in zip(value, kind, strict=True))
    return type(kind) is dict


def _paths(value: Any, kind: Any, step: str, name: str) -> Iterator[tuple[str, str]]:
    """Of each parameter here the path step, as containers have it, and the name."""
    if kind is _LEAF:
        yield step, name
    elif kind is _MODULE:
        layout = value._layout
        yield from ((step + each, f"{name}.{inner}") for each, inner in zip(layout.steps, layout.names, strict=True))
    elif kind is not None:
        for key in range(len(kind)) if type(kind) is tuple else kind:
            yield from _paths(value[key], kind[key], f"{step}[{key!r}]", f"{name}.{key}")


def _check_distinct(where: str, leaves: list[Any], names: list[str]) -> None:
    first: dict[int, str] = {}
    for name, each in zip(names, leaves, strict=True):
        other = first.setdefault(id(each), name)
        if other != name:
            raise ValueError(
                f"{where}: {other} and {name} are one array, which would be two parameters to an optimiser. Hold it once, and"
                " use it at both places in __call__; or copy it, if they are to differ"
            )


# -------------------------------------------------------------------------------------------------- as a container


def _flatten_module(module: Module) -> tuple[list[Any], list[str]]:
    layout = module._layout
    try:
        return _get_leaves(module), layout.steps
    except AttributeError:
        leaves = _collected(module, layout)
        if layout.cacheable:
            _set_leaves(module, leaves)
        return leaves, layout.steps


def _collected(module: Module, layout: _Layout) -> list[Any]:
    values = module.__dict__
    leaves: list[Any] = []
    for name, kind in layout.parts:
        if kind is _LEAF:
            leaves.append(values[name])
        elif kind is _MODULE:
            leaves += _flatten_module(values[name])[0]
        else:
            _collect(values[name], kind, leaves, f"{type(module).__name__}.{name}")
    return leaves


def _collect(value: Any, kind: Any, leaves: list[Any], where: str) -> None:
    if kind is _LEAF:
        leaves.append(value)
    elif kind is _MODULE:
        leaves += _flatten_module(value)[0]
    elif type(kind) is tuple:
        for number, (each, inner) in enumerate(zip(value, kind, strict=True)):
            if inner is not None:
                _collect(each, inner, leaves, f"{where}[{number}]")
    elif kind is not None:
        for key, inner in kind.items():
            if key not in value or (inner is None and _kind_of(value[key], where) is not None):
                break
            _collect(value[key], inner, leaves, f"{where}[{key!r}]")
        else:
            if len(value) == len(kind):
                return
        raise ValueError(
            f"{where} changed after the module was made: its keys are {list(value)} and were {list(kind)}, or what was no"
            " parameter is one now; write autograd.nn.replace(module, ...) to get a module that holds something else"
        )


def _rebuild_module(module: Module, leaves: list[Any]) -> Module:
    rebuilt = _rebuilt(module, iter(leaves))
    if rebuilt._layout.cacheable:
        _set_leaves(rebuilt, leaves)
    return rebuilt


def _rebuilt(module: Module, leaves: Iterator[Any]) -> Module:
    layout = module._layout
    new: Module = _new(module.__class__)
    values = new.__dict__
    values.update(module.__dict__)
    for name, kind in layout.parts:
        if kind is _LEAF:
            values[name] = next(leaves)
        elif kind is _MODULE:
            values[name] = _rebuilt(values[name], leaves)
        else:
            values[name] = _placed(values[name], kind, leaves)
    _set_layout(new, layout)
    return new


def _placed(value: Any, kind: Any, leaves: Iterator[Any]) -> Any:
    if type(kind) is tuple:
        placed = []
        for each, inner in zip(value, kind):
            if inner is _MODULE:
                each = _rebuilt(each, leaves)
            elif inner is not None:
                each = _placed(each, inner, leaves)
            placed.append(each)
        return tuple(placed)
    if kind is _LEAF:
        return next(leaves)
    if kind is _MODULE:
        return _rebuilt(value, leaves)
    return {key: value[key] if inner is None else _placed(value[key], inner, leaves) for key, inner in kind.items()}


# -------------------------------------------------------------------------------------------------- as text


def _lines(module: Module) -> list[str]:
    texts: list[list[str]] = []
    for name, value in module.__dict__.items():
        texts += _described(name, value)
    head = type(module).__name__
    if all(len(each) == 1 for each in texts) and not _holds_module(tuple(module.__dict__.values())):
        return [f"{head}({', '.join(each[0] for each in texts)})"]
    return [f"{head}(", *(f"  {line}" for each in texts for line in each), ")"]


def _described(name: str, value: Any) -> list[list[str]]:
    """For each line group of an attribute its lines, the first of which has the name."""
    if isinstance(value, Module):
        first, *rest = _lines(value)
        return [[f"{name}={first}", *rest]]
    if isinstance(value, tuple | dict) and _holds_module(value):
        items: Sequence[tuple[Any, Any]] = list(value.items() if isinstance(value, dict) else enumerate(value))
        return [group for key, each in items for group in _described(f"{name}.{key}", each)]
    return [[f"{name}={_spelled(value)}"]]


def _holds_module(value: Any) -> bool:
    if isinstance(value, tuple | list | dict):
        return any(_holds_module(each) for each in (value.values() if isinstance(value, dict) else value))
    return isinstance(value, Module)


def _spelled(value: Any) -> str:
    plain = innermost_value(value)
    if isinstance(plain, np.ndarray | np.generic):
        return f"{plain.dtype}{list(plain.shape)}"
    if isinstance(value, tuple | list):
        texts = ", ".join(_spelled(each) for each in value)
        return f"({texts})" if len(value) != 1 else f"({texts},)"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key!r}: {_spelled(each)}" for key, each in value.items()) + "}"
    return getattr(value, "__name__", None) or repr(value)


register_container(Module, _flatten_module, _rebuild_module)
