"""Gradients of functions: ``grad(f)`` and its relatives, each a few lines over the tape.

What they return are small objects that can be pickled if ``f`` can: partial applications of the functions below.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial, update_wrapper
from typing import Any

import numpy as np

from autograd import operators as op
from autograd.containers import flatten, is_container
from autograd.dag import plan_for
from autograd.engine import resolve
from autograd.errors import GradientError
from autograd.forward import push_forward
from autograd.records import PYTHON_SCALARS
from autograd.tape import Tape
from autograd.tape_gradient import gradient, on_outer_tapes
from autograd.tape_gradient import jacobian as tape_jacobian
from autograd.tensor import AssignableArray, Tensor, innermost_value, source_id

Argnum = int | Sequence[int]


def grad(f: Callable[..., Any], argnum: Argnum = 0) -> Callable[..., Any]:
    """A function that returns the gradient of a scalar function in argument ``argnum``, in that argument's structure.

    A sequence of argument numbers gives a tuple of gradients. Gradients have the shape and dtype of the argument. For complex
    arguments of a real function it is ``df/dx - i df/dy``. Nests to any order.

    Raises GradientError if ``f`` returns something other than a scalar that depends on the argument.

    >>> grad(lambda x: x**3)(2.0)
    12.0
    >>> grad(lambda z: abs(z) ** 2)(1.0 + 2.0j)
    (2-4j)
    """
    return _named(partial(_grad, f, argnum), "gradient", f)


def value_and_grad(f: Callable[..., Any], argnum: Argnum = 0) -> Callable[..., Any]:
    """A function that returns ``(f(x), grad(f)(x))`` from one run.

    >>> value_and_grad(lambda x: x * x)(3.0)
    (9.0, 6.0)
    """
    return _named(partial(_value_and_grad, f, argnum), "value and gradient", f)


def grad_and_aux(f: Callable[..., Any], argnum: Argnum = 0) -> Callable[..., Any]:
    """For ``f`` that returns ``(value, aux)``: a function that returns ``(gradient of value, aux)``.

    >>> grad_and_aux(lambda x: (x * x, "note"))(3.0)
    (6.0, 'note')
    """
    return _named(partial(_grad_and_aux, f, argnum), "gradient and aux", f)


def elementwise_grad(f: Callable[..., Any], argnum: Argnum = 0) -> Callable[..., Any]:
    """The gradient of the sum of the outputs: for a function of each element alone, its derivative at each.

    >>> elementwise_grad(lambda x: x**2)(np.array([1.0, 2.0]))
    array([2., 4.])
    """
    return _named(partial(_elementwise_grad, f, argnum), "elementwise gradient", f)


def holomorphic_grad(f: Callable[..., Any], argnum: int = 0) -> Callable[..., Any]:
    """The complex derivative ``f'(z)`` of a holomorphic scalar function.

    >>> holomorphic_grad(lambda z: z * z)(1.0 + 2.0j)
    (2+4j)
    """
    return _named(partial(_holomorphic_grad, f, argnum), "holomorphic gradient", f)


def jacobian(f: Callable[..., Any], argnum: Argnum = 0) -> Callable[..., Any]:
    """A function that returns the Jacobian, of shape ``f(x).shape + x.shape``, by one backward walk with a batch of cotangents.

    >>> jacobian(lambda x: x * x)(np.array([1.0, 2.0]))
    array([[2., 0.],
           [0., 4.]])
    """
    return _named(partial(_jacobian, f, argnum), "Jacobian", f)


jacrev = jacobian


def jacfwd(f: Callable[..., Any], argnum: int = 0) -> Callable[..., Any]:
    """The same Jacobian by forward mode, one column a walk: the cheaper way for few inputs and many outputs.

    >>> jacfwd(lambda x: x * x)(np.array([1.0, 2.0]))
    array([[2., 0.],
           [0., 4.]])
    """
    return _named(partial(_jacfwd, f, argnum), "forward Jacobian", f)


def hessian(f: Callable[..., Any], argnum: int = 0) -> Callable[..., Any]:
    """A function that returns the matrix of second derivatives of a scalar function, of shape ``x.shape + x.shape``.

    >>> hessian(lambda x: x[0] * x[0] * x[1])(np.array([1.0, 3.0]))
    array([[6., 2.],
           [2., 0.]])
    """
    return _named(partial(_hessian, f, argnum), "Hessian", f)


def hessian_vector_product(f: Callable[..., Any], argnum: int = 0) -> Callable[..., Any]:
    """A function of ``(*args, vector)`` that returns the Hessian times the vector, without the Hessian.

    >>> hessian_vector_product(lambda x: x[0] ** 3 + x[1])(np.array([2.0, 1.0]), np.array([1.0, 0.0]))
    array([12.,  0.])
    """
    return _named(partial(_hessian_vector_product, f, argnum), "Hessian-vector product", f)


def make_hvp(f: Callable[..., Any], argnum: int = 0) -> Callable[..., Any]:
    """A function of ``f``'s arguments that returns ``(vector -> Hessian times vector, gradient)`` there.

    >>> product, gradient_there = make_hvp(lambda x: x**3)(2.0)
    >>> product(1.0), gradient_there
    (12.0, 12.0)
    """
    return _named(partial(_make_hvp, f, argnum), "Hessian-vector product", f)


def make_vjp(f: Callable[..., Any], argnum: Argnum = 0) -> Callable[..., Any]:
    """A function of ``f``'s arguments that returns ``(pull_back, f(x))``; ``pull_back(dy)`` is the gradient for a cotangent.

    ``pull_back`` may be called any number of times.

    >>> pull_back, y = make_vjp(lambda x: x * x)(np.array([1.0, 2.0]))
    >>> pull_back(np.array([1.0, 10.0])), y
    (array([ 2., 40.]), array([1., 4.]))
    """
    return _named(partial(_make_vjp, f, argnum), "vector-Jacobian product", f)


def vjp(f: Callable[..., Any], *args: Any) -> tuple[Any, Callable[[Any], Any]]:
    """``(f(*args), pull_back)``; ``pull_back(dy)`` gives a tuple with the gradient of every argument.

    >>> y, pull_back = vjp(lambda a, b: a * b, 2.0, 3.0)
    >>> y, pull_back(1.0)
    (6.0, (3.0, 2.0))
    """
    pull_back, y = _make_vjp(f, tuple(range(len(args))), *args)
    return y, pull_back


def make_jvp(f: Callable[..., Any], argnum: Argnum = 0) -> Callable[..., Any]:
    """A function of ``f``'s arguments that returns ``push``; ``push(v)`` is ``(f(x), its directional derivative along v)``.

    >>> make_jvp(lambda x: x * x)(3.0)(10.0)
    (9.0, 60.0)
    """
    return _named(partial(_make_jvp, f, argnum), "Jacobian-vector product", f)


def jvp(f: Callable[..., Any], primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]:
    """``(f(*primals), the directional derivative along tangents)`` by forward mode.

    >>> jvp(lambda a, b: a * b, (2.0, 3.0), (1.0, 10.0))
    (6.0, 23.0)
    """
    y, dy = _make_jvp(f, tuple(range(len(primals))), *primals)(tuple(tangents))
    return y, dy


def stop_gradient(x: Any) -> Any:
    """The bare value of a tensor (read-only for an array): a constant for every tape. Containers are taken apart.

    >>> grad(lambda x: x * stop_gradient(x))(3.0)
    3.0
    """
    leaves, structure = flatten(x)
    values = []
    for value in leaves:
        while type(value) is Tensor:
            value = value.value  # from methods
        values.append(value)
    return structure.rebuild(values)


# -------------------------------------------------------------------------------------------------- the work


def _named(function: partial[Any], what: str, f: Callable[..., Any]) -> Callable[..., Any]:
    update_wrapper(function, f, assigned=("__name__", "__module__"), updated=())
    function.__doc__ = f"The {what} of {getattr(f, '__name__', 'the function')}."
    return function


def _watch_arguments(tape: Tape, args: tuple[Any, ...], argnum: Argnum) -> tuple[list[Any], Any]:
    """The arguments with those of ``argnum`` watched, and these alone (a tuple if ``argnum`` is a sequence)."""
    numbers = list(argnum) if isinstance(argnum, Iterable) else [argnum]
    if not all(isinstance(each, int | np.integer) for each in numbers):
        raise GradientError(f"argnum is {argnum!r}, expected the position of an argument or positions; grad_named takes a name")
    watched = list(args)
    for number in numbers:
        if not -len(args) <= number < len(args):
            raise GradientError(f"argnum is {number}, but the function was called with {len(args)} positional arguments")
        watched[number] = tape.watch(args[number], name=f"argument {number}")
    chosen = [watched[number] for number in numbers]
    return watched, chosen[0] if isinstance(argnum, int | np.integer) else tuple(chosen)


def _called(f: Callable[..., Any], args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
    """The function's value, with tensors for the arrays into which tensors were assigned."""
    y = f(*args, **kwargs)
    if type(y) is Tensor or not is_container(y):
        return resolve(y)
    leaves, structure = flatten(y)
    return structure.rebuild([resolve(each) for each in leaves]) if any(type(e) is AssignableArray for e in leaves) else y


def _check_scalar(y: Any, tape: Tape) -> None:
    if type(y) is not Tensor:
        kind = "None" if y is None else f"a {type(y).__name__}"
        advice = {
            "None": "return the loss",
            "a list": "return one number, or take the jacobian",
            "a tuple": "return one number; grad_and_aux takes (value, aux)",
        }.get(kind, "it does not depend on the argument, or left the tape on the way (item(), value, a comparison)")
        raise GradientError(f"the function returned {kind}, expected a scalar that depends on its argument: {advice}")
    if y._tape is not tape:
        raise GradientError(
            "the function returned a value that does not depend on its argument, but on that of a gradient outside"
        )


def _grad(f: Callable[..., Any], argnum: Argnum, /, *args: Any, **kwargs: Any) -> Any:
    return _value_and_grad(f, argnum, *args, **kwargs)[1]


def _value_and_grad(f: Callable[..., Any], argnum: Argnum, /, *args: Any, **kwargs: Any) -> tuple[Any, Any]:
    with Tape() as tape:
        watched, sources = _watch_arguments(tape, args, argnum)
        y = _called(f, watched, kwargs)
        _check_scalar(y, tape)
        result = gradient(tape, y, sources)
    return y._value, result


def _grad_and_aux(f: Callable[..., Any], argnum: Argnum, /, *args: Any, **kwargs: Any) -> tuple[Any, Any]:
    with Tape() as tape:
        watched, sources = _watch_arguments(tape, args, argnum)
        result = _called(f, watched, kwargs)
        if not isinstance(result, tuple) or len(result) != 2:
            raise GradientError(f"grad_and_aux: the function returned {type(result).__name__}, expected (value, aux)")
        y, aux = result
        _check_scalar(y, tape)
        return gradient(tape, y, sources), _take_off(aux, tape)


def _take_off(container: Any, tape: Tape) -> Any:
    leaves, structure = flatten(container)
    return structure.rebuild([e._value if type(e) is Tensor and e._tape is tape else e for e in leaves])


def _elementwise_grad(f: Callable[..., Any], argnum: Argnum, /, *args: Any, **kwargs: Any) -> Any:
    with Tape() as tape:
        watched, sources = _watch_arguments(tape, args, argnum)
        y = _called(f, watched, kwargs)
        if type(y) is not Tensor or y._tape is not tape:
            _check_scalar(y, tape)
        if y.dtype.kind == "c" and any(each.dtype.kind != "c" for each in flatten(sources)[0]):
            raise GradientError("elementwise_grad: got complex results of real numbers; take np.real or np.imag of them")
        return gradient(tape, y, sources, dy=op.zeros(shape=y.shape, dtype=y.dtype) + y.dtype.type(1))


def _holomorphic_grad(f: Callable[..., Any], argnum: int, /, *args: Any, **kwargs: Any) -> Any:
    with Tape() as tape:
        watched, sources = _watch_arguments(tape, args, argnum)
        y = _called(f, watched, kwargs)
        _check_scalar(y, tape)
        if np.dtype(sources.dtype).kind != "c":
            raise GradientError(f"holomorphic_grad: the argument has dtype {sources.dtype}, expected a complex one; use grad")
        return gradient(tape, y, sources, dy=np.ones((), y.dtype))


def _jacobian(f: Callable[..., Any], argnum: Argnum, /, *args: Any, **kwargs: Any) -> Any:
    with Tape(persistent=True) as tape:
        watched, sources = _watch_arguments(tape, args, argnum)
        y = _called(f, watched, kwargs)
        if is_container(y) and not (isinstance(y, list | tuple) and not flatten(y)[0]):
            leaves, structure = flatten(y)
            return structure.rebuild([_jacobian_of(tape, each, sources) for each in leaves])
        try:
            return _jacobian_of(tape, y, sources)
        finally:
            tape._free()


def _jacobian_of(tape: Tape, y: Any, sources: Any) -> Any:
    if type(y) is not Tensor or y._tape is not tape:
        _check_scalar(y, tape)
    return tape_jacobian(tape, y, sources)


def _jacfwd(f: Callable[..., Any], argnum: int, /, *args: Any, **kwargs: Any) -> Any:
    x = args[argnum]
    if is_container(x):
        raise GradientError("jacfwd: the argument is a container; use jacobian, or flatten it first")
    push = _make_jvp(f, argnum, *args, **kwargs)
    shape, dtype = np.shape(innermost_value(x)), np.dtype(getattr(x, "dtype", type(x)))
    size = int(np.prod(shape))
    columns = [push(row)[1] for row in np.eye(size, dtype=dtype).reshape((size, *shape))]
    if not columns:
        y = push(np.zeros(shape, dtype))[0]
        return np.zeros(np.shape(innermost_value(y)) + shape, dtype)
    columns_shape = np.shape(innermost_value(columns[0]))
    stacked = op.reshape(op.stack(columns, axis=-1), shape=columns_shape + shape)
    if type(stacked) is Tensor or stacked.ndim:
        return stacked
    return stacked.item() if type(x) in PYTHON_SCALARS else stacked[()]


def _hessian(f: Callable[..., Any], argnum: int, /, *args: Any, **kwargs: Any) -> Any:
    with Tape() as tape:
        watched, sources = _watch_arguments(tape, args, argnum)
        if type(sources) is not Tensor:
            raise GradientError("hessian: the argument is a container; use hessian_vector_product, or flatten it first")
        g = _grad(f, argnum, *watched, **kwargs)
        return tape_jacobian(tape, g, sources)


def _hessian_vector_product(f: Callable[..., Any], argnum: int, /, *args: Any, **kwargs: Any) -> Any:
    *arguments, vector = args
    return _make_hvp(f, argnum, *arguments, **kwargs)[0](vector)


def _make_hvp(f: Callable[..., Any], argnum: int, /, *args: Any, **kwargs: Any) -> tuple[Callable[[Any], Any], Any]:
    with Tape(persistent=True) as tape:
        watched, sources = _watch_arguments(tape, args, argnum)
        g = _grad(f, argnum, *watched, **kwargs)
    leaves, structure = flatten(g)

    def product(vector: Any) -> Any:
        """The Hessian at this point times ``vector``, which has the structure of the argument."""
        parts, _ = flatten(vector)
        if len(parts) != len(leaves):
            raise GradientError(f"the vector has {len(parts)} leaves, expected {len(leaves)}, as the argument has")
        total: Any = None
        for each, part in zip(leaves, parts, strict=True):
            if type(each) is Tensor and each._tape is tape:
                result = gradient(tape, each, sources, dy=part)
                total = result if total is None else _add_containers(total, result)
        return gradient_of_nothing(sources) if total is None else total

    values = [_detached(each) if type(each) is Tensor and each._tape is tape else each for each in leaves]
    weak = [each._tape._dtypes[each._id] in PYTHON_SCALARS for each in flatten(sources)[0]]
    values = [v.item() if w and isinstance(v, np.generic) else v for v, w in zip(values, weak, strict=True)]
    return product, structure.rebuild(values)


def gradient_of_nothing(sources: Any) -> Any:
    """Zeros in the structure of the sources: the derivative of something that does not depend on them."""
    leaves, structure = flatten(sources)
    zeros = [np.zeros(each.shape, each.dtype) if each.shape else each.dtype.type(0) for each in leaves]
    return structure.rebuild(zeros)


def _add_containers(first: Any, second: Any) -> Any:
    leaves, structure = flatten(first)
    return structure.rebuild([op.add(*pair) for pair in zip(leaves, flatten(second)[0], strict=True)])


def _make_vjp(f: Callable[..., Any], argnum: Argnum, /, *args: Any, **kwargs: Any) -> tuple[Callable[[Any], Any], Any]:
    with Tape(persistent=True) as tape:
        watched, sources = _watch_arguments(tape, args, argnum)
        y = _called(f, watched, kwargs)
    leaves, structure = flatten(y)
    if not any(type(each) is Tensor and each._tape is tape for each in leaves):
        _check_scalar(y, tape)

    def pull_back(dy: Any) -> Any:
        """The gradient of the chosen arguments for the cotangent ``dy``, which has the structure of the function's value."""
        parts = flatten(dy)[0] if not structure.is_leaf else [dy]
        if len(parts) != len(leaves):
            raise GradientError(f"dy has {len(parts)} leaves, expected {len(leaves)}, as the function's value has")
        total: Any = None
        for each, part in zip(leaves, parts, strict=True):
            if type(each) is Tensor and each._tape is tape:
                result = gradient(tape, each, sources, dy=part)
                total = result if total is None else _add_containers(total, result)
        return total

    values = [_detached(each) if type(each) is Tensor and each._tape is tape else each for each in leaves]
    return pull_back, structure.rebuild(values)


def _detached(each: Tensor) -> Any:
    value = each._value
    return value.copy() if type(value) is np.ndarray else value


def _make_jvp(f: Callable[..., Any], argnum: Argnum, /, *args: Any, **kwargs: Any) -> Callable[[Any], tuple[Any, Any]]:
    with Tape(persistent=True) as tape:
        watched, sources = _watch_arguments(tape, args, argnum)
        y = _called(f, watched, kwargs)
    leaves, structure = flatten(y)
    if not any(type(each) is Tensor and each._tape is tape for each in leaves):
        _check_scalar(y, tape)
    source_leaves, _ = flatten(sources)
    ids = tuple(source_id(each) for each in source_leaves)
    nested = next((each for each in source_leaves if type(each._value) is Tensor), None)

    def push(v: Any) -> tuple[Any, Any]:
        """``(f(x), the derivative of f along v)``; ``v`` has the structure of the chosen argument."""
        tape._check_locks()
        parts = flatten(v)[0] if is_container(sources) else [v]
        if len(parts) != len(ids):
            raise GradientError(f"the tangent has {len(parts)} leaves, expected {len(ids)}, as the argument has")
        tangents = {n: _tangent(part, each) for n, part, each in zip(ids, parts, source_leaves, strict=True)}
        values, derivatives = [], []
        for each in leaves:
            if type(each) is not Tensor or each._tape is not tape:
                values.append(each)
                derivatives.append(op.multiply(0.0, each))
                continue
            values.append(_detached(each))
            tangent = push_forward(tape, plan_for(tape, each._id, ids), tangents, each._id)
            if tangent is None:
                tangent = gradient_of_nothing(each)
            weak = tape._dtypes[each._id] is float and type(tangent) is not Tensor
            derivatives.append(float(tangent) if weak else tangent)
        if nested is not None:
            derivatives = on_outer_tapes(derivatives, [nested] * len(derivatives))
        return structure.rebuild(values), structure.rebuild(derivatives)

    return push


def _tangent(v: Any, source: Tensor) -> Any:
    shape, dtype = source.shape, source.dtype
    if not isinstance(v, Tensor | np.ndarray):
        v = np.asarray(v, dtype)[()]
    if np.shape(innermost_value(v)) != shape:
        raise GradientError(f"the tangent has shape {np.shape(innermost_value(v))}, expected {shape}, that of the argument")
    return v if v.dtype == dtype else op.astype(v, dtype=dtype)
