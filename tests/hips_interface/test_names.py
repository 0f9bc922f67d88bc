"""Every name of HIPS autograd 1.9 that code may import: served, or there to say what to use in its place."""

from __future__ import annotations

import subprocess
import sys
from importlib import import_module

import pytest

import autograd

SERVED = {
    "": """builtins checkpoint core deriv dict differential_operators elementwise_grad extend grad grad_and_aux
        grad_named hessian hessian_tensor_product hessian_vector_product holomorphic_grad isinstance jacobian list
        make_ggnvp make_hvp make_jvp make_vjp misc multigrad_dict numpy primitive tensor_jacobian_product test_util
        tracer tuple type util value_and_grad vector_jacobian_product wrap_util""",
    "builtins": """Box ContainerVSpace DictBox DictVSpace ListVSpace NamedTupleVSpace SequenceBox SequenceVSpace
        SparseObject TupleVSpace VSpace container_take defjvp defjvp_argnum defvjp defvjp_argnum dict dict_ isinstance
        isinstance_ list list_ make_sequence notrace_primitive primitive sequence_extend_left sequence_extend_right
        subvals tuple tuple_ type type_ vspace""",
    "core": """Box JVPNode Node SparseBox SparseObject VJPNode VSpace add_outgrads backward_pass def_linear defjvp
        defjvp_argnum defjvp_argnums defvjp defvjp_argnum defvjp_argnums deprecated_defgrad deprecated_defvjp
        deprecated_defvjp_is_zero func getval identity_jvp identity_vjp isbox make_jvp make_vjp primitive primitive_
        primitive_jvps primitive_vjps primitive_with_deprecation_warnings sparse_add sparse_object_types subval
        sum_outgrads toposort trace vspace""",
    "differential_operators": """_make_jvp _make_vjp checkpoint deriv elementwise_grad grad grad_and_aux grad_named
        hessian hessian_tensor_product hessian_vector_product holomorphic_grad jacobian make_ggnvp make_hvp make_jvp
        make_jvp_reversemode make_vjp multigrad_dict np tensor_jacobian_product unary_to_nary value_and_grad
        vector_jacobian_product vspace""",
    "extend": """Box JVPNode SparseObject VJPNode VSpace def_linear defjvp defjvp_argnum defjvp_argnums defvjp
        defvjp_argnum defvjp_argnums notrace_primitive primitive register_notrace vspace""",
    "misc": "const_graph flatten tracers",
    "misc.fixed_points": "defvjp fixed_point make_vjp primitive vspace",
    "misc.flatten": "flatten flatten_func",
    "misc.optimizers": "adam flatten rmsprop sgd unflatten_optimizer",
    "misc.tracers": "ConstGraphNode FullGraphNode Node const_graph const_graph_unary full_graph",
    "numpy.numpy_boxes": "ArrayBox Box SequenceBox",
    "numpy.numpy_jvps": """JVPNode balanced_eq broadcast def_linear defjvp defjvp_argnum match_complex
        register_notrace replace_zero vspace""",
    "numpy.numpy_vjps": """ArrayBox SparseObject VJPNode balanced_eq defvjp defvjp_argnum match_complex primitive
        register_notrace replace_zero unbroadcast unbroadcast_f vspace""",
    "numpy.numpy_vspaces": """ArrayVSpace ComplexArrayVSpace EigResultVSpace EighResultVSpace NamedTupleVSpace
        QRResultVSpace SVDResultVSpace SlogdetResultVSpace VSpace""",
    "numpy.numpy_wrapper": """append array array_equal column_stack concatenate dot exp hstack linspace
        notrace_primitive pi primitive select stack vstack where wrap_namespace zeros""",
    "numpy.random": "default_rng randn RandomState Generator seed",
    "test_util": """EPS RTOL TOL check_equivalent check_grads check_jvp check_vjp combo_check get_name make_jvp
        make_numerical_jvp make_vjp scalar_close unary_to_nary vspace""",
    "tracer": """Box Node TraceStack box_type_mappings box_types getval isbox new_box notrace_primitive
        notrace_primitives primitive register_notrace subvals toposort trace trace_stack""",
    "util": "func quick_grad_check subval subvals toposort",
    "wrap_util": "get_doc get_name subvals unary_to_nary wrap_nary_f wraps",
}

REFUSED = {
    "numpy.numpy_vjps": """array_from_args_gradmaker array_from_scalar_or_array_gradmaker dot_adjoint_0 dot_adjoint_1
        dot_vjp_0 dot_vjp_1 grad_broadcast_to grad_chooser grad_concatenate_args grad_diff grad_einsum grad_gradient
        grad_inner grad_kron grad_np_cumsum grad_np_mean grad_np_prod grad_np_std grad_np_sum grad_np_var
        grad_partition grad_repeat grad_reshape_list grad_rollaxis grad_sort grad_tile grad_transpose matmul_adjoint_0
        matmul_adjoint_1 matmul_vjp_0 matmul_vjp_1 np_abs_vjp np_conj_vjp pad_vjp repeat_to_match_shape reverse_axis
        tensordot_adjoint_0 tensordot_adjoint_1 tensordot_vjp_0 tensordot_vjp_1 unbroadcast_einsum unpermuter untake
        wrapped_reshape""",
    "numpy.numpy_jvps": """atleast_jvpmaker dot_adjoint_0 dot_adjoint_1 forward_grad_np_std forward_grad_np_var
        fwd_grad_chooser fwd_grad_concatenate_args fwd_grad_partition fwd_grad_sort np_abs_jvp np_conj_jvp
        tensordot_adjoint_0 tensordot_adjoint_1 untake""",
    "util": "quick_grad_check",
}
"""Names whose functions raise when they are called. What is in neither table are parts of the old engine that no package uses:
metaclasses, translators of rules, lists of methods."""


def pairs(table: dict[str, str]) -> list[tuple[str, str]]:
    return [(module, name) for module, names in table.items() for name in names.split()]


@pytest.mark.parametrize(("module", "name"), pairs(SERVED))
def test_a_name_can_be_imported(module, name):
    path = f"autograd.{module}".rstrip(".")
    names: dict[str, object] = {}
    exec(f"from {path} import {name}", names)
    assert name in names
    assert hasattr(import_module(path), name)


@pytest.mark.parametrize(("module", "name"), pairs(REFUSED))
def test_a_name_that_has_no_meaning_here_says_what_to_use(module, name):
    function = getattr(import_module(f"autograd.{module}"), name)
    with pytest.raises(NotImplementedError, match="autograd"):
        function(1.0, 2.0)


@pytest.mark.parametrize("module", ["", "numpy.numpy_vjps", "numpy.numpy_jvps"])
def test_an_unknown_name_is_an_attribute_error(module):
    with pytest.raises(AttributeError, match="no_such_name"):
        _ = import_module(f"autograd.{module}".rstrip(".")).no_such_name


def test_what_is_listed_is_there():
    for module in SERVED:
        if module and module != "numpy.numpy_wrapper":
            loaded = import_module(f"autograd.{module}")
            assert all(hasattr(loaded, name) for name in getattr(loaded, "__all__", ()))


def test_importing_autograd_loads_none_of_it():
    code = "import autograd, autograd.numpy, sys; print(*sys.modules)"
    loaded = set(subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split())
    adapters = {f"autograd.{module}" for module in SERVED if module} | {"autograd.primitives", "autograd.vspaces"}
    assert not loaded & adapters


def test_names_of_the_interface_work_as_attributes():
    uses = "autograd.extend.primitive(abs)(-1.0), autograd.isinstance(1.0, float), autograd.misc.flatten(2.0)[0]"
    code = f"import autograd; print({uses})"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "1.0 True [2.]\n"
    assert autograd.tuple([1.0]) == (1.0,)
    on_demand = {name for names in autograd._ON_DEMAND.values() for name in names}
    assert set(SERVED[""].split()) <= on_demand | set(autograd.__all__), "an import elsewhere may hide that one is missing"


def test_wrap_namespace():
    target: dict[str, object] = {}
    import_module("autograd.numpy.numpy_wrapper").wrap_namespace(
        {"half": lambda x: x / 2, "tau": 6.28, "none": None, "kind": int, "text": "no", "__doc__": None}, target
    )
    assert sorted(target) == ["half", "kind", "none", "tau"]
    assert target["half"](3.0) == 1.5
