"""L-BFGS: its direction against the matrix that it stands for, its minima against known ones, and its state."""

from __future__ import annotations

import copy

import numpy as np
import pytest

from autograd import Tape, stop_gradient
from autograd import numpy as anp
from autograd.containers import flatten
from autograd.errors import InPlaceError, OptimiserError
from autograd.optim.lbfgs import LBFGS

CURVATURES = np.array([1.0, 1.2, 1.5])


def rosenbrock(p):
    """Its minimum is 0 at (1, 1)."""
    return (1 - p["x"]) ** 2 + 100 * (p["y"] - p["x"] ** 2) ** 2


def chained(x):
    """Rosenbrock's function of many numbers."""
    return ((1 - x[:-1]) ** 2 + 100 * (x[1:] - x[:-1] ** 2) ** 2).sum()


def bfgs_by_hand(loss, gradient, x, moves):
    """BFGS with the full matrix, of the last pair's scale at the beginning, where the first try of each line search will do."""
    pairs, path = [], [x]
    for move in range(moves):
        g = gradient(x)
        h = np.eye(len(x))
        if pairs:
            s, y = pairs[-1]
            h *= (s @ y) / (y @ y)
        for s, y in pairs:
            rho = 1 / (s @ y)
            left = np.eye(len(x)) - rho * np.outer(s, y)
            h = left @ h @ left.T + rho * np.outer(s, s)
        step = -h @ g * (min(1.0, 1 / np.abs(g).sum()) if move == 0 else 1.0)
        new = x + step
        assert loss(new) <= loss(x) + 1e-4 * g @ step, "the first try does not lower the value enough: choose another function"
        assert abs(gradient(new) @ step) <= 0.9 * abs(g @ step), "the first try is still too steep: choose another function"
        pairs.append((step, gradient(new) - g))
        x = new
        path.append(x)
    return path


def test_moves_are_those_of_bfgs_with_the_matrix_written_out():
    start = np.array([0.9, -0.5, 0.3])

    def loss(x):
        return float(np.sum(np.cosh(x) * CURVATURES))

    path = bfgs_by_hand(loss, lambda x: np.sinh(x) * CURVATURES, start, 6)
    model, optimiser = start.copy(), LBFGS(change_tolerance=0.0, gradient_tolerance=0.0)
    state = optimiser.init(model)
    for expected in path[1:]:
        model, state, value = optimiser.step(lambda x: (anp.cosh(x) * CURVATURES).sum(), model, state)
        np.testing.assert_allclose(model, expected, rtol=1e-9, atol=1e-12)
        assert value == pytest.approx(loss(expected), rel=1e-12)
    assert state["steps"] == state["pairs"] == 6


def test_first_move_by_hand():
    """f = x^2 + 2 y^2 at (1, 1): g = (2, 4), length 1 / 6, so to (1 - 2/6, 1 - 4/6)."""
    model, optimiser = [np.array([1.0, 1.0])], LBFGS()
    model, _, value = optimiser.step(lambda m: (m[0] ** 2 * np.array([1.0, 2.0])).sum(), model, optimiser.init(model))
    np.testing.assert_allclose(model[0], [2 / 3, 1 / 3], rtol=1e-15)
    assert value == pytest.approx(4 / 9 + 2 / 9)


def test_only_the_last_pairs_count():
    """With room for two pairs, the third move is that of two pairs, and the oldest row is written again."""
    start = np.array([0.9, -0.5, 0.3])
    loss = lambda x: (anp.cosh(x) * CURVATURES).sum()  # noqa: E731
    long, short = LBFGS(history=10), LBFGS(history=2)
    results = {}
    for optimiser in (long, short):
        model, state = start.copy(), optimiser.init(start)
        positions = [start.copy()]
        for _ in range(4):
            model, state, _ = optimiser.step(loss, model, state)
            positions.append(model.copy())
        results[optimiser.history] = positions, state
    np.testing.assert_array_equal(results[2][0][3], results[10][0][3])  # two pairs are known to both
    assert np.abs(results[2][0][4] - results[10][0][4]).max() > 1e-6  # three, or the last two of them
    positions, state = results[2]
    assert state["moves"].shape == (2, 3)
    assert state["pairs"] == 4
    np.testing.assert_array_equal(state["moves"][1], positions[4] - positions[3])
    np.testing.assert_array_equal(state["moves"][0], positions[3] - positions[2])


@pytest.mark.parametrize("size", [2, 5, 30])
def test_minimum_of_rosenbrock(size):
    found = LBFGS().minimize(chained, np.full(size, -1.2))
    assert found.converged, found.message
    np.testing.assert_allclose(found.x, 1.0, atol=1e-5)
    assert found.evaluations < 40 * size**0.5 + 60


def test_container_of_everything():
    """Arrays, NumPy's and Python's numbers, a complex one; float32 stays float32."""
    x0 = {"a": np.zeros((2, 2)), "b": [np.float32(3.0), 1.0], "z": 0j, "w": np.ones(2, np.float32)}
    before = copy.deepcopy(x0)

    def function(p):
        numbers = (p["b"][0] - 1) ** 2 + (p["b"][1] + 3) ** 2 + abs(p["z"] - (1 + 2j)) ** 2
        return numbers + ((p["a"] - 2) ** 2).sum() + ((p["w"] - 0.5) ** 2).sum()

    found = LBFGS().minimize(function, x0)
    np.testing.assert_allclose(found.x["a"], 2.0, atol=1e-5)
    assert found.x["b"] == [pytest.approx(1.0, abs=1e-5), pytest.approx(-3.0, abs=1e-5)]
    assert found.x["z"] == pytest.approx(1 + 2j, abs=1e-5)
    assert [type(each) for each in (*found.x["b"], found.x["z"])] == [np.float32, float, complex]
    np.testing.assert_allclose(found.x["w"], 0.5, atol=1e-5)
    assert found.x["w"].dtype == np.float32
    for name in ("a", "w"):
        np.testing.assert_array_equal(x0[name], before[name])


def test_complex_moves_along_the_conjugate_of_the_gradient():
    """f = |z - i|^2 has df/dx = 2 x and df/dy = 2 (y - 1): (2, -2) at z = 1, of which the first move makes a quarter."""
    model, optimiser = np.array([1.0 + 0j]), LBFGS()
    model, _, _ = optimiser.step(lambda z: (abs(z - 1j) ** 2).sum(), model, optimiser.init(model))
    np.testing.assert_allclose(model, [1 - 0.25 * (2 - 2j)], rtol=1e-14)


def test_arrays_are_changed_in_place_and_numbers_replaced():
    array = np.array([3.0, -4.0])
    model, optimiser = {"w": array, "s": 2.0}, LBFGS()
    state = optimiser.init(model)
    arrays = {name: each for name, each in state.items() if isinstance(each, np.ndarray)}
    new, same, _ = optimiser.step(lambda m: (m["w"] ** 2).sum() + m["s"] ** 2, model, state, iterations=3)
    assert new["w"] is array
    assert same is state
    assert all(state[name] is each for name, each in arrays.items())
    assert model["s"] == 2.0
    assert abs(new["s"]) < 1


def test_a_saved_state_goes_on_bit_for_bit():
    optimiser = LBFGS(history=3)

    def run(model, state, moves):
        for _ in range(moves):
            model, state, _ = optimiser.step(chained, model, state)
        return model, state

    x0 = np.linspace(-1, 1, 6)
    whole, _ = run(x0.copy(), optimiser.init(x0), 9)
    half, state = run(x0.copy(), optimiser.init(x0), 4)
    leaves, structure = flatten(state)
    restored = structure.rebuild([each.copy() if isinstance(each, np.ndarray) else each for each in leaves])
    rest, _ = run(half.copy(), restored, 5)
    np.testing.assert_array_equal(rest, whole)
    again, _ = run(x0.copy(), optimiser.init(x0), 9)
    np.testing.assert_array_equal(again, whole)


def test_several_iterations_are_as_many_steps():
    optimiser = LBFGS()
    x0 = np.linspace(-1, 1, 6)
    at_once, _, value = optimiser.step(chained, x0.copy(), optimiser.init(x0), iterations=7)
    one_by_one, state = x0.copy(), optimiser.init(x0)
    for _ in range(7):
        one_by_one, state, last = optimiser.step(chained, one_by_one, state)
    np.testing.assert_array_equal(at_once, one_by_one)
    assert value == last


def test_not_finite_further_on_is_too_far():
    """x log x is not defined below 0; its minimum is at 1 / e, and a step of length 3 from 0.1 jumps over 0."""
    with np.errstate(all="ignore"):
        found = LBFGS(learning_rate=30.0).minimize(lambda x: (x * anp.log(x)).sum(), np.array([3.0]))
    assert found.converged, found.message
    np.testing.assert_allclose(found.x, np.exp(-1), rtol=1e-6)


def test_a_pair_without_curvature_is_left_out():
    """On a straight slope the gradient never changes: there is no pair to learn from, and moves go on."""
    optimiser, model = LBFGS(), np.array([0.0, 0.0])
    state = optimiser.init(model)
    with np.errstate(all="raise"):
        model, state, _ = optimiser.step(lambda x: (x * np.array([1.0, 2.0])).sum(), model, state, iterations=3)
    assert state["pairs"] == 0
    assert state["steps"] >= 1
    np.testing.assert_allclose(model[1], 2 * model[0])


def test_it_goes_on_where_rounding_hides_the_descent():
    """Beside 1e8, whose last digit is 1.5e-8, values only rise here, and the gradient alone shows the way."""
    optimiser, calls = LBFGS(gradient_tolerance=1e-9, change_tolerance=0.0), []

    def loss(x):
        calls.append(1)
        return (anp.cosh(x - 1) * CURVATURES).sum() + (1e8 + 1.5e-8 * len(calls))

    found = optimiser.minimize(loss, np.array([1.0001, 0.9999, 1.0002]))
    assert "no part of the gradient is above 1e-09" in found.message
    np.testing.assert_allclose(found.x, 1.0, atol=1e-9)


@pytest.mark.parametrize(
    ("move", "change", "product"),
    [([1.0, 1.0], [1.0, 1.0], -2.0), ([1e30, 1e30], [1e-30, 1e-30], 2.0)],
    ids=["uphill", "far beyond all bounds"],
)
def test_pairs_that_mislead_are_dropped(move, change, product):
    """Those of another function, or spoilt ones: the move is then that of no pairs."""
    model, optimiser = np.array([1.0, 1.0]), LBFGS()
    state = optimiser.init(model)
    state["moves"][0], state["changes"][0], state["products"][0], state["pairs"] = move, change, product, 1
    with np.errstate(over="ignore", invalid="ignore"):
        model, state, _ = optimiser.step(lambda x: (x**2 * np.array([1.0, 2.0])).sum(), model, state)
    np.testing.assert_allclose(model, [2 / 3, 1 / 3], rtol=1e-15)
    assert state["pairs"] == 1


def test_a_wrong_gradient_is_said_and_not_called_convergence():
    """The value is x, the gradient -1: no point downhill is lower."""
    found = LBFGS().minimize(lambda x: 2 * stop_gradient(x) - x, 1.0)
    assert not found.converged
    assert "no lower point" in found.message
    assert found.x == 1.0


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_not_finite_at_the_beginning_is_refused(value):
    model, optimiser = np.array([1.0]), LBFGS()
    with pytest.raises(OptimiserError, match=r"LBFGS.step: the (loss|gradient)"), np.errstate(all="ignore"):
        optimiser.step(lambda x: (x * value).sum(), model, optimiser.init(model))
    np.testing.assert_array_equal(model, [1.0])


def test_a_gradient_that_is_not_finite_at_the_beginning_is_refused():
    with pytest.raises(OptimiserError, match="the gradient has NaN or inf"), np.errstate(all="ignore"):
        LBFGS().minimize(lambda x: anp.sqrt(x).sum(), np.array([0.0]))


def test_an_error_in_the_loss_leaves_the_model_as_it_was():
    model, optimiser, calls = np.array([3.0, -4.0]), LBFGS(), []

    def loss(x):
        calls.append(1)
        if len(calls) == 2:
            raise RuntimeError("mid-flight")
        return (x**4).sum()

    with pytest.raises(RuntimeError, match="mid-flight"):
        optimiser.step(loss, model, optimiser.init(model))
    np.testing.assert_array_equal(model, [3.0, -4.0])


def test_read_only_arrays_are_refused_before_anything_happens():
    optimiser, model = LBFGS(), [np.array([1.0]), np.array([2.0])]
    state = optimiser.init(model)
    model[1].flags.writeable = False
    with pytest.raises(InPlaceError, match=r"LBFGS.step: x\[1\] is read-only"):
        optimiser.step(lambda m: (m[0] ** 2).sum() + (m[1] ** 2).sum(), model, state)
    np.testing.assert_array_equal(model[0], [1.0])
    locked = np.array([1.0])
    with Tape() as tape:
        y = tape.watch(locked) ** 2
        with pytest.raises(InPlaceError, match="a tape may still need it"):
            optimiser.step(lambda x: (x**2).sum(), locked, optimiser.init(locked))
        tape.gradient(y, y, dy=np.ones(1))


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"history": 0}, "history is 0"),
        ({"history": 2.0}, "history is 2.0"),
        ({"learning_rate": 0.0}, "learning_rate is 0.0, expected a number above 0"),
        ({"gradient_tolerance": -1.0}, "gradient_tolerance is -1.0"),
        ({"decrease": 0.5, "curvature": 0.4}, "decrease is 0.5 and curvature 0.4"),
        ({"curvature": 1.0}, "curvature 1.0"),
    ],
)
def test_settings_out_of_range_are_refused(settings, message):
    with pytest.raises(OptimiserError, match=message):
        LBFGS(**settings)


def test_what_does_not_fit_is_refused():
    optimiser = LBFGS()
    with pytest.raises(OptimiserError, match="without any float"):
        optimiser.init({"n": 3})
    with pytest.raises(OptimiserError, match="another model"):
        optimiser.step(chained, np.zeros(3), optimiser.init(np.zeros(4)))
    with pytest.raises(OptimiserError, match="another model"):
        optimiser.step(chained, np.zeros(3), {})
    with pytest.raises(OptimiserError, match=r"step\(loss, model, state\)"):
        optimiser.update(np.zeros(3), np.zeros(3), optimiser.init(np.zeros(3)))
    with Tape() as tape, pytest.raises(OptimiserError, match="is a tensor of a tape"):
        optimiser.init([tape.watch(1.0)])


def test_against_torch():
    """Ten moves where the first try of each line search will do, so that the searches cannot differ."""
    torch = pytest.importorskip("torch")
    start = np.array([1.9, 0.5, 1.3])
    x = torch.tensor(start, requires_grad=True)
    theirs = torch.optim.LBFGS(
        [x], max_iter=1, history_size=5, line_search_fn="strong_wolfe", tolerance_grad=0.0, tolerance_change=0.0
    )

    def closure():
        theirs.zero_grad()
        loss = (torch.cosh(x - 1) * torch.tensor(CURVATURES)).sum()
        loss.backward()
        return loss

    model, optimiser = start.copy(), LBFGS(history=5, change_tolerance=0.0, gradient_tolerance=0.0)
    state = optimiser.init(model)
    for _ in range(10):
        theirs.step(closure)
        model, state, _ = optimiser.step(lambda m: (anp.cosh(m - 1) * CURVATURES).sum(), model, state)
        np.testing.assert_allclose(model, x.detach().numpy(), rtol=1e-6)
