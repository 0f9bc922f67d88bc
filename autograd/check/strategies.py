"""Strategies of hypothesis for arrays, shapes, attributes and whole calls of operators.

``shapes``               shapes of small arrays: without axes, of length 0, of length 1
``broadcastable_shapes`` several shapes that broadcast to one
``arrays``               arrays of a dtype whose elements all differ, in any memory layout, with special values if asked for
``attributes``           attribute values by an operator's schema
``calls``                calls of an operator at which it is differentiable
``programs``             compositions of operators, with inputs

They need hypothesis, which is in the extra ``check``: ``pip install 'gradtape[check]'``.

>>> import numpy as np
>>> from hypothesis import given
>>> @given(arrays("float32", shape=(2, 3), elements=(0.5, 2.0)))
... def roots_square_back(x):
...     np.testing.assert_allclose(np.sqrt(x) ** 2, x, rtol=1e-6)
>>> roots_square_back()
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any

from autograd.check.calls import Call
from autograd.check.domains import REAL, WITHOUT_ROW, domains
from autograd.check.domains.drawing import SIDES, Array, Draw, Interval, special_values
from autograd.check.domains.from_schema import drawn_attributes, drawn_from_schema
from autograd.check.layouts import LAYOUTS, laid_out
from autograd.check.programs import programs
from autograd.errors import GradientError
from registry.errors import close_matches
from registry.operators import get_schema, operator_names
from registry.schema import FunctionSchema

try:
    from hypothesis import strategies as st
except ImportError as error:
    raise ImportError("autograd.check.strategies needs hypothesis; install it with: pip install 'gradtape[check]'") from error

__all__ = ["arrays", "attributes", "broadcastable_shapes", "calls", "programs", "shapes"]

Strategy = st.SearchStrategy

_USUAL = ("C", "C", "C", "F", "strided", "negative", "readonly")


@cache
def _below(n: int) -> Strategy[int]:
    return st.integers(0, n - 1)


@st.composite
def _made_by(draw: st.DrawFn, make: Callable[[Draw], Any]) -> Any:
    return make(Draw(lambda n: draw(_below(n))))


def shapes(min_dims: int = 0, max_dims: int = 3, sides: Sequence[int] = SIDES) -> Strategy[tuple[int, ...]]:
    """Shapes of at most 12 elements; ``sides`` says which lengths an axis may have, and by repeating one how often.

    >>> shapes(1, 2, sides=(1, 2)).filter(lambda shape: len(shape) in (1, 2) and set(shape) <= {1, 2}).is_empty
    False
    """
    return _made_by(lambda d: d.shape(min_dims, max_dims, sides))


def broadcastable_shapes(n: int, shape: tuple[int, ...] | None = None) -> Strategy[list[tuple[int, ...]]]:
    """``n`` shapes that broadcast to one: to ``shape``, where it is given."""
    return _made_by(lambda d: d.broadcastable(n, shape))


def arrays(
    dtype: str | Strategy[str] = "float64",
    shape: tuple[int, ...] | Strategy[tuple[int, ...]] | None = None,
    elements: Interval | Sequence[Interval] = ((-2.0, -0.3), (0.3, 2.0)),
    layouts: Sequence[str] = LAYOUTS,
    special: bool = False,
) -> Strategy[Array]:
    """Arrays whose elements are all different, so that no maximum is a tie.

    dtype     "float64", "float32", "complex128", ..., or a strategy of such names
    shape     a shape or a strategy of shapes; None for any small one
    elements  the interval that the elements lie in, or several; both parts of complex ones
    layouts   memory layouts, of ``autograd.check.layouts.LAYOUTS``
    special   whether some elements are 0, -0, 1, -1, tiny, huge, infinite, NaN, or equal to others
    """
    intervals: tuple[Any, ...] = tuple(elements) if isinstance(elements[0], Sequence) else (elements,)
    whole = shapes() if shape is None else shape if isinstance(shape, Strategy) else st.just(shape)
    names = dtype if isinstance(dtype, Strategy) else st.just(dtype)

    def build(chosen: tuple[tuple[int, ...], str]) -> Strategy[Array]:
        def make(d: Draw) -> Array:
            x = d.array(chosen[0], *intervals, dtype=chosen[1])
            return laid_out(special_values(d, x) if special else x, d.pick(layouts))

        return _made_by(make)

    return st.tuples(whole, names).flatmap(build)


def attributes(schema: str | FunctionSchema, *inputs: Any) -> Strategy[dict[str, Any]]:
    """Attributes by the types and names in a schema; those that have a default are left out half of the time.

    schema  an operator's name, or a schema, as text or parsed
    inputs  the inputs of the call, whose first says which axes and indices there are

    >>> import numpy as np
    >>> from hypothesis import find
    >>> find(attributes("sum", np.ones((2, 3))), lambda attrs: attrs.get("axis") == -1)
    {'axis': -1}
    """
    parsed = _schema_of(schema)
    return _made_by(lambda d: drawn_attributes(d, parsed, [each for each in inputs if each is not None]))


def calls(
    name: str,
    *,
    special: bool = False,
    dtypes: Sequence[str] | None = None,
    layouts: Sequence[str] = _USUAL,
    inputs: Sequence[Any] | None = None,
    attrs: Mapping[str, Any] | None = None,
) -> Strategy[Call]:
    """Calls of an operator that its kernel accepts, at points where it is differentiable, far from kinks, poles and ties.

    special  replace some elements by special values, and make ties: kinks and poles then occur
    dtypes   dtypes to draw, in place of those that the operator's row has
    layouts  memory layouts of the inputs
    inputs   strategies or values for the inputs, in schema order, in place of what the row says: for an operator whose domain
             cannot be guessed from its schema
    attrs    attributes to go with them: values, or strategies

    An operator without a row is drawn from its schema, and its kernel may then refuse a call.
    Raises GradientError for a name that is no operator, or whose calls cannot be drawn.

    >>> import numpy as np
    >>> from hypothesis import find
    >>> find(calls("log"), lambda call: np.size(call.inputs[0]) > 0).name
    'log'
    """
    if inputs is not None:
        given = [each if isinstance(each, Strategy) else st.just(each) for each in inputs]
        chosen = {key: each if isinstance(each, Strategy) else st.just(each) for key, each in (attrs or {}).items()}
        return st.builds(lambda x, a: Call(name, tuple(x), a), st.tuples(*given), st.fixed_dictionaries(chosen))
    if name in WITHOUT_ROW:
        raise GradientError(f"calls: operator {name!r} {WITHOUT_ROW[name]}, or pass inputs=")
    schema = _schema_of(name)
    row = domains().get(name)

    def make(d: Draw) -> Call:
        dtype = d.pick(tuple(dtypes) if dtypes else REAL if row is None else row.dtypes)
        drawn, given = row.draw(d, dtype) if row is not None else drawn_from_schema(d, schema, dtype)
        call = Call(name, tuple(drawn), given)
        if special:
            call = call.map(lambda x: special_values(d, x) if x.dtype.kind == "f" else x)
        if given.get("order") in ("A", "K"):  # these ask for the elements in the order of the memory
            return call
        return call.map(lambda x: laid_out(x, d.pick(layouts)))

    return _made_by(make)


def _schema_of(schema: str | FunctionSchema) -> FunctionSchema:
    if isinstance(schema, FunctionSchema):
        return schema
    found = FunctionSchema.parse(schema) if "(" in schema else get_schema(schema)
    if found is None:
        raise GradientError(
            f"there is no operator {schema!r}.{close_matches(schema, operator_names())} Import the module that registers it first"
        )
    return found
