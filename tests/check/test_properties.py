"""What holds for every call, and the test that is printed for one that fails."""

from __future__ import annotations

import re

import numpy as np

import autograd.scipy.special  # noqa: F401  # registers erf
from autograd.check.calls import Call, paste_test
from autograd.check.local import check_call
from autograd.check.properties import call_faults, largest_gap, value_and_gradients
from registry.operators import declare, undeclare


def test_layouts_are_the_same_for_our_operators():
    x = np.arange(6.0).reshape(2, 3)
    for layout in (np.asfortranarray(x), x[::-1], np.repeat(x, 2, axis=1)[:, ::2], np.broadcast_to(x, x.shape)):
        assert call_faults("exp", [layout]) == []
        assert call_faults("sum", [layout], {"axis": 0}) == []


def test_a_gradient_of_another_form_is_a_fault(monkeypatch):
    x = np.ones((2, 3), "float32")
    assert call_faults("exp", [x]) == []
    real = value_and_gradients
    for wrong, words in (
        (lambda g: g[0], r"the gradient in x has shape \(3,\), expected \(2, 3\)"),
        (lambda g: g.astype(float), "the gradient in x has dtype float64, expected float32"),
    ):
        monkeypatch.setattr(
            "autograd.check.properties.value_and_gradients", lambda call, wrong=wrong: (real(call)[0], [wrong(real(call)[1][0])])
        )
        (fault,) = call_faults("exp", [x])
        assert re.search(words, fault)


def test_gaps_are_relative_to_the_tolerance_of_the_dtype():
    one = np.array([1.0, 100.0])
    assert largest_gap(one, one) == 0
    assert largest_gap(one + 1e-12, one) < 1 < largest_gap(one + 1e-6, one)
    assert largest_gap((one + 1e-4).astype("float32"), one.astype("float32")) < 1
    assert largest_gap(np.array([np.nan, np.inf]), np.array([np.nan, np.inf])) == 0
    assert largest_gap(np.array([1.0]), np.array([np.nan])) == np.inf
    assert largest_gap(np.array([np.inf]), np.array([-np.inf])) == np.inf
    assert largest_gap(np.array([1]), np.array([2])) == np.inf
    assert largest_gap(np.array([1.0]), np.array([1.1]), rtol=0.2) < 1


# ---------------------------------------------------------------------------------------------------- the printed test


def test_the_printed_test_of_a_right_call_passes():
    call = Call("sum", (np.asfortranarray(np.array([[1.0, -0.0], [3.0, 4.0]], "float32")),), {"axis": (0, -1), "keepdims": True})
    scope = {}
    exec(paste_test(call, "local", "check_call", "result.ok, str(result)"), scope)
    scope["test_sum"]()
    exec(paste_test(call, "properties", "call_faults", "result == []"), scope)
    scope["test_sum"]()
    assert check_call("sum", list(call.inputs), call.attrs).ok


def test_the_printed_test_imports_what_registers_the_operator():
    text = paste_test(Call("erf", (1.0,)), "local", "check_call", "result.ok, str(result)")
    assert "import autograd.gradients.scipy.special  # registers erf\n" in text
    scope = {}
    exec(text, scope)
    scope["test_erf"]()


def test_names_that_python_keeps_are_changed():
    text = paste_test(Call("clip", (1.0, None, 2.0)), "local", "check_call", "result.ok")
    assert "a_min = None" in text
    declare("odd(Tensor np, Tensor result) -> Tensor")
    try:
        text = paste_test(Call("odd", (1.0, 2.0)), "local", "check_call", "result.ok")
        assert "np_ = 1.0" in text
        assert 'check_call("odd", [np_, result_])' in text
    finally:
        undeclare("odd")
