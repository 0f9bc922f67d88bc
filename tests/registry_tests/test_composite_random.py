"""Generated variants of random operators compute the same as the operator they were generated from."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from registry.composite import composite_facts, composite_kernel
from registry.schema import FunctionSchema, SchemaKind
from registry.variant import Variant
from registry.variants import generate_function

ITEMS = {"Tensor": 1, "Tensor?": 1, "Tensor[]": 2}


@st.composite
def sources(draw):
    """The text of a random functional, in-place or mutable schema with one attribute."""
    kind = draw(st.sampled_from(["functional", "inplace", "mutable"]))
    types = draw(st.lists(st.sampled_from(list(ITEMS)), min_size=2, max_size=4))
    writes = [kind != "functional" and draw(st.booleans()) for _ in types]
    if kind == "inplace":
        writes[0] = True
    if kind == "mutable":
        writes[1] = True
    letters = iter("abcd")
    arguments = [
        f"{of_type.replace('Tensor', f'Tensor({next(letters)}!)') if written else of_type} x{index}"
        for index, (of_type, written) in enumerate(zip(types, writes, strict=True))
    ]
    results = draw(st.lists(st.sampled_from(["Tensor", "Tensor[]"]), min_size=1, max_size=2))
    if kind == "inplace":
        results = ["Tensor(a!)"] if types[0] == "Tensor" else []
    returns = results[0] if len(results) == 1 else f"({', '.join(results)})"
    return f"f{'_' if kind == 'inplace' else ''}({', '.join(arguments)}, *, int n) -> {returns}"


def value_of(of_type, place, inputs, n):
    """What stands at one place of the results: anything that depends on all inputs, the attribute and the place."""
    total = sum(float(np.sum(each)) for value in inputs for each in (value if isinstance(value, list) else [value]))
    arrays = [np.array([total + n, 10.0 * place + index]) for index in range(ITEMS[of_type])]
    return arrays if of_type == "Tensor[]" else arrays[0]


def as_lists(value):
    if value is None:
        return None
    return [as_lists(each) for each in value] if isinstance(value, list | tuple) else value.tolist()


@given(sources(), st.integers(-3, 3))
def test_generated_variants_compute_what_their_source_does(text, n):
    source = Variant(FunctionSchema.parse(text))
    schema = source.schema
    fresh = [str(item.type) for item in schema.returns if item.annotation is None]
    written = [argument for argument in schema.inputs if argument.is_write]

    def inputs():
        made = [
            [np.ones(2) * (1 + index + item) for item in range(ITEMS[str(each.type)])] for index, each in enumerate(schema.inputs)
        ]
        return [value if str(each.type) == "Tensor[]" else value[0] for value, each in zip(made, schema.inputs, strict=True)]

    places = [*fresh, *(str(argument.type) for argument in written)]
    expected = [value_of(of_type, place, inputs(), n) for place, of_type in enumerate(places)]

    def run_source(*operands, n):
        values = [value_of(of_type, place, operands, n) for place, of_type in enumerate(places)]
        for argument, value in zip(written, values[len(fresh) :], strict=True):
            target = operands[[each.name for each in schema.inputs].index(argument.name)]
            for array, result in zip(target, value, strict=True) if isinstance(target, list) else [(target, value)]:
                array[...] = result
        returned = values[: len(fresh)] or [operands[0]] * len(schema.returns)
        return returned[0] if len(returned) == 1 else tuple(returned) or None

    def run_of(variant, target, call_target):
        facts = composite_facts(variant.schema, target.schema)
        return composite_kernel(facts, call_target, clone=np.array, copy_into=np.copyto)

    functional, run_functional = source, run_source
    if source.kind is not SchemaKind.functional:
        functional, _ = generate_function(source, SchemaKind.functional)
        run_functional = run_of(functional, source, run_source)
        operands = inputs()
        results = run_functional(*operands, n=n)
        assert as_lists(results if len(expected) > 1 else [results]) == as_lists(expected)
        assert as_lists(operands) == as_lists(inputs()), "a functional variant writes nothing"

    writers = [generate_function(source, SchemaKind.out)[0]] if fresh or source.kind is SchemaKind.inplace else []
    if source.kind is SchemaKind.functional and fresh == ["Tensor"] and str(schema.inputs[0].type) == "Tensor":
        writers.append(generate_function(source, SchemaKind.inplace)[0])
    if source.kind is not SchemaKind.functional:
        writers.append(source)
    for writer in writers:
        operands = inputs()
        outs = {
            argument.name: [np.empty(2), np.empty(2)] if str(argument.type) == "Tensor[]" else np.empty(2)
            for argument in writer.schema.arguments.out
        }
        results = run_of(writer, functional, run_functional)(*operands, n=n, **outs)
        arrays = outs | {each.name: value for each, value in zip(writer.schema.inputs, operands, strict=True)}
        into = [argument.name for argument in (*writer.schema.arguments.out, *writer.schema.inputs) if argument.is_write]
        kept = expected[: len(expected) - len(into)]
        assert as_lists([arrays[name] for name in into]) == as_lists(expected[len(kept) :])
        returned = results if isinstance(results, tuple) else [] if results is None else [results]
        names = writer.schema.aliased_return_names()
        assert as_lists(returned) == as_lists([arrays[name] if name else kept[place] for place, name in enumerate(names)])
