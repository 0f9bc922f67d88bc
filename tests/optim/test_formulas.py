"""Each optimiser's steps: by hand, by its formula for one number, by its formula for arrays of any layout, and as torch's."""

from __future__ import annotations

from math import inf, sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from autograd import grad, optim
from tests.optim import steps


def path(optimiser, gradients, start=1.0):
    """Where a parameter of one number goes."""
    model, found = [np.array([start])], []
    state = optimiser.init(model)
    for each in gradients:
        model, state = optimiser.update(model, [np.array([each])], state)
        found.append(float(model[0][0]))
    return found


BY_HAND = [
    # optimiser, gradients, parameter after each of them, from 1
    (optim.SGD(0.1), [1, 2], [0.9, 0.7]),
    (optim.SGD(0.1, momentum=0.5), [1, 2, -1], [0.9, 0.65, 0.625]),  # buffer 1, 0.5 + 2, 1.25 - 1
    (optim.SGD(0.1, momentum=0.5, nesterov=True), [1, 2], [0.85, 0.525]),  # 1 + 0.5, 2 + 1.25
    (optim.SGD(0.1, momentum=0.5, dampening=0.5), [1, 2], [0.9, 0.75]),  # the first gradient is not dampened: 1, 0.5 + 1
    (optim.SGD(0.1, weight_decay=0.5), [1, 2], [0.85, 0.6075]),  # 1 + 0.5, 2 + 0.425
    (optim.SGD(lambda step: 0.1 / (step + 1), momentum=1.0), [1, 1], [0.9, 0.8]),  # the rate is outside the buffer: 1, 2
    (optim.Adagrad(0.5, eps=0.0), [3, 4], [0.5, 0.1]),  # 3 / 3, 4 / 5
    (optim.Adagrad(0.5, eps=0.0, rate_decay=1.0), [3, 4], [0.5, 0.3]),
    (optim.Adagrad(1.0, eps=1.0), [1], [0.5]),  # eps outside of the root
    (optim.Adagrad(0.5, eps=0.0, initial_accumulator=16.0), [3], [0.7]),  # 3 / 5
    (optim.Adadelta(rho=0.75, eps=1.0), [2], [1 - sqrt(2)]),  # eps inside of both roots: 2 * sqrt(1) / sqrt(2)
    (optim.Adadelta(0.5, rho=0.75, eps=1.0), [2, 0], [1 - sqrt(2) / 2, 1 - sqrt(2) / 2]),
    (optim.RMSProp(0.25, alpha=0.75, eps=0.0), [3, 0], [0.5, 0.5]),  # 3 / 1.5
    (optim.RMSProp(0.25, alpha=0.75, eps=0.0, momentum=0.5), [3, 0], [0.5, 0.25]),  # buffer 2, 1
    (optim.RMSProp(0.25, alpha=0.75, eps=1.0), [2], [0.75]),  # eps outside of the root: 2 / (1 + 1)
    (optim.RMSProp(0.25, alpha=0.5, eps=0.0, centered=True), [2], [0.5]),  # 2 / sqrt(2 - 1)
    (optim.Adam(0.1, betas=(0.5, 0.75), eps=0.0), [1, -1], [0.9, 0.9 + 0.1 / 3]),  # the mean is (0.25 - 0.5) / 0.75
    (optim.Adam(1.0, eps=1.0), [1], [0.5]),  # eps outside of the root and after the correction: 1 / (1 + 1)
    (optim.Adam(0.1, eps=0.0, weight_decay=0.5), [1], [0.9]),  # the decay goes through the root
    (optim.AdamW(0.1, eps=0.0, weight_decay=0.5), [1], [0.85]),  # and here it does not: 0.1 * 0.5 more
    (optim.AdamW(0.1, betas=(0.0, 0.0), eps=0.0, weight_decay=0.5), [1, 1], [0.85, 0.7075]),
    (optim.Adamax(0.25, betas=(0.5, 0.5), eps=0.0), [-8, 2], [1.25, 1.25 + 1 / 12]),  # mean -1 / 0.75, largest 4
    (optim.NAdam(0.1, betas=(0.5, 0.75), eps=0.0, momentum_decay=0.0), [1], [1 - 0.1 * 17 / 15]),  # 1 + 0.25 * 0.5 / 0.9375
    (optim.Lion(0.25, betas=(0.5, 0.75)), [1, -1], [0.75, 1.0]),  # the sign of 0.5, then of 0.125 - 0.5
    (optim.Lion(0.25, betas=(0.5, 0.5)), [1, -0.25], [0.75, 0.5]),  # of 0.25 - 0.125
    (optim.Lion(0.25, weight_decay=0.5), [0], [0.875]),  # the sign of 0 is 0
]


@pytest.mark.parametrize(
    ("optimiser", "gradients", "expected"), BY_HAND, ids=[f"{type(row[0]).__name__}-{n}" for n, row in enumerate(BY_HAND)]
)
def test_first_steps_by_hand(optimiser, gradients, expected):
    assert path(optimiser, gradients) == pytest.approx(expected, rel=1e-14)


SETTINGS = [
    (optim.SGD, steps.sgd, {}),
    (optim.SGD, steps.sgd, {"weight_decay": 0.3}),
    (optim.SGD, steps.sgd, {"momentum": 0.8, "weight_decay": 0.3, "dampening": 0.2}),
    (optim.SGD, steps.sgd, {"momentum": 0.8, "nesterov": True, "weight_decay": 0.3}),
    (optim.Adagrad, steps.adagrad, {}),
    (optim.Adagrad, steps.adagrad, {"rate_decay": 0.1, "initial_accumulator": 0.5, "weight_decay": 0.3, "eps": 0.1}),
    (optim.Adadelta, steps.adadelta, {}),
    (optim.Adadelta, steps.adadelta, {"rho": 0.7, "eps": 0.1, "weight_decay": 0.3}),
    (optim.RMSProp, steps.rmsprop, {}),
    (optim.RMSProp, steps.rmsprop, {"alpha": 0.7, "eps": 0.1, "momentum": 0.6, "centered": True, "weight_decay": 0.3}),
    (optim.RMSProp, steps.rmsprop, {"centered": True, "alpha": 0.6}),
    (optim.Adam, steps.adam, {}),
    (optim.Adam, steps.adam, {"betas": (0.6, 0.7), "eps": 0.1, "weight_decay": 0.3}),
    (optim.AdamW, steps.adamw, {}),
    (optim.AdamW, steps.adamw, {"betas": (0.6, 0.7), "eps": 0.1, "weight_decay": 0.3}),
    (optim.Adamax, steps.adamax, {}),
    (optim.Adamax, steps.adamax, {"betas": (0.6, 0.7), "eps": 0.1, "weight_decay": 0.3}),
    (optim.NAdam, steps.nadam, {}),
    (optim.NAdam, steps.nadam, {"betas": (0.6, 0.7), "eps": 0.1, "weight_decay": 0.3, "momentum_decay": 0.1}),
    (optim.Lion, steps.lion, {}),
    (optim.Lion, steps.lion, {"betas": (0.6, 0.7), "weight_decay": 0.3}),
]
ROWS = pytest.mark.parametrize(("make", "formula", "settings"), SETTINGS, ids=lambda each: getattr(each, "__name__", str(each)))


@ROWS
def test_steps_by_formula(make, formula, settings):
    gradients = [3.0, -1.0, 0.5, 0.0, 2e-3, -40.0, 7.0]
    assert path(make(0.05, **settings), gradients, 0.7) == pytest.approx(formula(0.7, gradients, 0.05, **settings), rel=1e-12)


def test_defaults_are_those_of_the_formula():
    """What the papers and torch have; a row each, so that none moves unseen."""
    rates = {
        optim.SGD: 1e-3, optim.Adagrad: 1e-2, optim.Adadelta: 1.0, optim.RMSProp: 1e-2, optim.Adam: 1e-3, optim.AdamW: 1e-3,
        optim.Adamax: 2e-3, optim.NAdam: 2e-3, optim.Lion: 1e-4,
    }  # fmt: skip
    for make, rate in rates.items():
        assert make().learning_rate == rate, make.__name__
    assert [make().weight_decay for make in rates] == [0, 0, 0, 0, 0, 0.01, 0, 0, 0]


LAYOUTS = [
    [(3, 2), (4,)],
    [()],
    [(), (2, 3, 1), (0,), (5,), (1, 1)],
    [(70, 80), (3,), (91, 100), (2, 2)],  # in blocks, of which the second has a last part
    [(40, 100)] * 5,  # gathered, in two goes
    [],
]


@ROWS
@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.complex128, np.float16, ">f8"])
def test_every_layout_is_the_formula_of_each_number(make, formula, settings, dtype):
    rng = np.random.default_rng(3)

    def draw(shape):
        values = rng.normal(size=shape)
        return np.asarray(values + 1j * rng.normal(size=shape) if dtype is np.complex128 else values).astype(dtype)

    for shapes in LAYOUTS:
        model = [draw(shape) for shape in shapes]
        before = [each.copy() for each in model]
        gradients = [[draw(shape) for shape in shapes] for _ in range(3)]
        optimiser = make(0.05, **settings)
        state = optimiser.init(model)
        for each in gradients:
            optimiser.update(model, each, state)
        tolerance = {"f8": 1e-9, "c16": 1e-9, "f4": 2e-4, "f2": 2e-2}[np.dtype(dtype).str[1:]]
        for number, (was, now) in enumerate(zip(before, model, strict=True)):
            assert now.dtype == was.dtype
            places = [0, was.size // 2, was.size - 1] if was.size else []
            for place in places:
                got, start = now.reshape(-1)[place], was.reshape(-1)[place]
                slopes = [each[number].reshape(-1)[place] for each in gradients]
                parts = [(float(got.real), float(start.real), [float(g.real) for g in slopes])]
                if np.dtype(dtype).kind == "c":  # along the conjugate of df/dx - i df/dy
                    parts.append((float(got.imag), float(start.imag), [-float(g.imag) for g in slopes]))
                for value, begin, along in parts:
                    assert value == pytest.approx(formula(begin, along, 0.05, **settings)[-1], rel=tolerance, abs=tolerance)


@given(
    st.lists(st.lists(st.integers(0, 4), max_size=3).map(tuple), max_size=6),
    st.lists(st.sampled_from([np.float32, np.float64]), min_size=6, max_size=6),
    st.sampled_from(["C", "F", "strided"]),
)
def test_shapes_dtypes_and_orders_in_memory_do_not_matter(shapes, dtypes, order):
    rng = np.random.default_rng(0)

    def made(shape, dtype):
        values = rng.normal(size=shape).astype(dtype)
        if order == "strided" and shape:
            wide = np.zeros((*shape[:-1], 2 * shape[-1]), dtype)
            wide[..., ::2] = values
            return wide[..., ::2]
        return np.array(values, order="F" if order == "F" else "C")

    model = [made(shape, dtype) for shape, dtype in zip(shapes, dtypes, strict=False)]
    gradient = [made(each.shape, each.dtype) for each in model]
    expected = [each - 0.5 * slope for each, slope in zip(model, gradient, strict=True)]
    optimiser = optim.SGD(0.5)
    optimiser.update(model, gradient, optimiser.init(model))
    for got, wanted in zip(model, expected, strict=True):
        np.testing.assert_array_equal(got, wanted)


def test_large_parameters_in_any_order_in_memory():
    rng = np.random.default_rng(1)
    for make in (np.asarray, np.asfortranarray, lambda each: np.ascontiguousarray(each.T).T):
        for parameter_order in (np.asarray, np.asfortranarray):
            start, slope = rng.normal(size=(90, 101)), rng.normal(size=(90, 101))
            model = {"w": parameter_order(start.copy())}
            optimiser = optim.SGD(0.5, momentum=0.5)
            optimiser.update(model, {"w": make(slope)}, optimiser.init(model))
            np.testing.assert_array_equal(model["w"], start - 0.5 * slope)


TORCH = {
    "SGD": ("SGD", {}, {}),
    "SGD, everything": ("SGD", *[{"momentum": 0.8, "weight_decay": 0.3, "dampening": 0.2}] * 2),
    "SGD, Nesterov": ("SGD", *[{"momentum": 0.8, "nesterov": True, "weight_decay": 0.3}] * 2),
    "Adagrad": ("Adagrad", {}, {}),
    "Adagrad, everything": (
        "Adagrad", {"rate_decay": 0.1, "initial_accumulator": 0.5, "weight_decay": 0.3, "eps": 0.1},
        {"lr_decay": 0.1, "initial_accumulator_value": 0.5, "weight_decay": 0.3, "eps": 0.1},
    ),
    "Adadelta": ("Adadelta", {}, {}),
    "Adadelta, everything": ("Adadelta", *[{"rho": 0.7, "eps": 0.1, "weight_decay": 0.3}] * 2),
    "RMSProp": ("RMSprop", {}, {}),
    "RMSProp, everything": (
        "RMSprop", *[{"alpha": 0.7, "eps": 0.1, "momentum": 0.6, "centered": True, "weight_decay": 0.3}] * 2,
    ),
    "Adam": ("Adam", {}, {}),
    "Adam, everything": ("Adam", *[{"betas": (0.6, 0.7), "eps": 0.1, "weight_decay": 0.3}] * 2),
    "AdamW": ("AdamW", {}, {}),
    "AdamW, everything": ("AdamW", *[{"betas": (0.6, 0.7), "eps": 0.1, "weight_decay": 0.3}] * 2),
    "Adamax": ("Adamax", {}, {}),
    "Adamax, everything": ("Adamax", *[{"betas": (0.6, 0.7), "eps": 0.1, "weight_decay": 0.3}] * 2),
    "NAdam": ("NAdam", {}, {}),
    "NAdam, everything": ("NAdam", *[{"betas": (0.6, 0.7), "eps": 0.1, "weight_decay": 0.3, "momentum_decay": 0.1}] * 2),
}  # fmt: skip


@pytest.mark.parametrize("complex_numbers", [False, True], ids=["real", "complex"])
@pytest.mark.parametrize("row", TORCH)
def test_ten_steps_as_torch(row, complex_numbers):
    torch = pytest.importorskip("torch")
    name, ours, theirs = TORCH[row]
    rng = np.random.default_rng(5)
    dtype = complex if complex_numbers else float
    matrix, start = [(rng.normal(size=(6, 6)) + (1j * rng.normal(size=(6, 6)) if complex_numbers else 0)) for _ in range(2)]
    model = {"w": start.copy(), "b": np.array(start[0])}
    theirs_model = {key: torch.tensor(each.copy(), requires_grad=True) for key, each in model.items()}
    optimiser = getattr(optim, row.partition(",")[0])(0.003, **ours)
    peer = getattr(torch.optim, name)(theirs_model.values(), lr=0.003, **theirs)
    slope = grad(lambda m: (abs(matrix @ m["w"] + m["b"]) ** 2).sum() + (abs(m["b"]) ** 4).sum())
    state = optimiser.init(model)
    constant = torch.tensor(matrix)
    for _ in range(10):
        model, state = optimiser.update(model, slope(model), state)
        peer.zero_grad()
        loss = (abs(constant @ theirs_model["w"] + theirs_model["b"]) ** 2).sum() + (abs(theirs_model["b"]) ** 4).sum()
        loss.backward()
        peer.step()
    for key, each in model.items():
        assert each.dtype == dtype
        np.testing.assert_allclose(each, theirs_model[key].detach().numpy(), rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize(
    ("make", "settings", "word"),
    [
        (optim.SGD, {"learning_rate": -1.0}, "learning_rate"),
        (optim.SGD, {"learning_rate": "fast"}, "learning_rate"),
        (optim.SGD, {"nesterov": True}, "momentum"),
        (optim.SGD, {"nesterov": True, "momentum": 0.5, "dampening": 0.1}, "dampening"),
        (optim.SGD, {"weight_decay": -0.1}, "weight_decay"),
        (optim.Adam, {"betas": (1.0, 0.9)}, "beta1"),
        (optim.AdamW, {"betas": (0.9, 1.0)}, "beta2"),
        (optim.NAdam, {"eps": float("nan")}, "eps"),
        (optim.Adamax, {"eps": -1e-8}, "eps"),
        (optim.Adagrad, {"rate_decay": -1.0}, "rate_decay"),
        (optim.Adadelta, {"rho": 1.0}, "rho"),
        (optim.RMSProp, {"alpha": inf}, "alpha"),
        (optim.Lion, {"betas": (0.9, -0.1)}, "beta2"),
    ],
)
def test_settings_that_make_no_sense_are_refused_by_name(make, settings, word):
    with pytest.raises(ValueError, match=f"{make.__name__}: .*{word}"):
        make(**settings)
