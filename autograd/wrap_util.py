"""From operators on functions of one argument to operators with ``argnum``, as HIPS autograd's interface has them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from autograd.errors import GradientError
from autograd.util import subvals

__all__ = ["get_doc", "get_name", "subvals", "unary_to_nary", "wrap_nary_f", "wraps"]

AnyFunction = Callable[..., Any]


def unary_to_nary(unary_operator: AnyFunction) -> AnyFunction:
    """From ``operator(f, x)``, for a function of one argument, make ``operator(f, argnum=0)``, for one of any number.

    What that returns is called with the arguments of ``f``. A tuple or list for ``argnum`` makes ``x`` a tuple of those
    arguments. Further arguments of the operator come behind ``argnum`` or by name.

    >>> value_at_twice = unary_to_nary(lambda f, x: f(2 * x))
    >>> value_at_twice(lambda a, b: (a, b), 1)("a", "b")
    ('a', 'bb')
    """

    @wraps(unary_operator)
    def nary_operator(fun: AnyFunction, argnum: Any = 0, *operator_args: Any, **operator_kwargs: Any) -> AnyFunction:
        if type(argnum) not in (int, tuple, list):
            raise GradientError(
                f"{get_name(unary_operator)}: got argnum={argnum!r}, expected an integer, or a tuple or list of those"
            )

        @wrap_nary_f(fun, unary_operator, argnum)
        def nary_function(*args: Any, **kwargs: Any) -> Any:
            numbers = [argnum] if type(argnum) is int else list(argnum)
            for number in numbers:
                if not -len(args) <= number < len(args):
                    raise GradientError(
                        f"{get_name(unary_operator)}: argnum is {number}, but the function was called with {len(args)} positional"
                        " arguments"
                    )

            @wraps(fun)
            def unary_function(x: Any) -> Any:
                return fun(*subvals(args, [(argnum, x)] if type(argnum) is int else zip(numbers, x, strict=True)), **kwargs)

            x = args[argnum] if type(argnum) is int else tuple([args[number] for number in numbers])
            return unary_operator(unary_function, x, *operator_args, **operator_kwargs)

        return nary_function  # type: ignore[no-any-return]  # a decorator gives it a name, and nothing else

    return nary_operator  # type: ignore[no-any-return]


def wraps(fun: Any, namestr: str = "{fun}", docstr: str = "{doc}", **kwargs: Any) -> Callable[[Any], Any]:
    """A decorator that gives a function a name and docstring made from those of ``fun``.

    >>> @wraps(len, namestr="my_{fun}", docstr="See {fun}.")
    ... def f(x): ...
    >>> f.__name__, f.__doc__
    ('my_len', 'See len.')
    """

    def decorate(function: Any) -> Any:
        function.__name__ = namestr.format(fun=get_name(fun), **kwargs)
        function.__doc__ = docstr.format(fun=get_name(fun), doc=get_doc(fun), **kwargs)
        return function

    return decorate


def wrap_nary_f(fun: AnyFunction, op: AnyFunction, argnum: Any) -> Callable[[Any], Any]:
    """A decorator that names a function for the operator, the function and the arguments that it stands for.

    >>> wrap_nary_f(len, max, 0)(lambda x: x).__name__
    'max_of_len_wrt_argnum_0'
    """
    name, operator_name = get_name(fun), get_name(op)
    doc = f"{operator_name} of function {name} in argument {argnum}; it takes the arguments of {name}."
    return wraps(fun, f"{_plain(operator_name)}_of_{_plain(name)}_wrt_argnum_{argnum}", _plain(doc))


def _plain(text: str) -> str:
    return text.replace("{", "{{").replace("}", "}}")


def get_name(f: Any) -> str:
    """The name of a function, or a text that says that it has none.

    >>> get_name(len), get_name(3)
    ('len', '[unknown name]')
    """
    return str(getattr(f, "__name__", "[unknown name]"))


def get_doc(f: Any) -> str:
    """The docstring of a function; empty if it has none."""
    return getattr(f, "__doc__", "") or ""
