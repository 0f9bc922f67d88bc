"""Convolution and pooling against explicit loops."""

import numpy as np
import pytest

import autograd
import autograd.numpy as anp
from autograd import Tape, grad, jacobian
from autograd import operators as op
from registry.numpy_backend.conv import window_axes
from tests.gradients.harness import Case, each_case

SMALL = (-1.0, 1.0)


# ------------------------------------------------------------------------------------------------ the references


def pads_of(padding, size, kernel, stride, dilation):
    """Elements in front of and behind each of the two axes."""
    if padding == "valid":
        return [(0, 0), (0, 0)]
    if padding == "same":
        pads = []
        for length, k, s, d in zip(size, kernel, stride, dilation, strict=True):
            positions = int(np.ceil(length / s))
            missing = max((positions - 1) * s + d * (k - 1) + 1 - length, 0)
            pads.append((missing // 2, missing - missing // 2))
        return pads
    each = (padding, padding) if isinstance(padding, int) else padding
    return [(p, p) if isinstance(p, int) else p for p in each]


def both(value):
    return (value, value) if isinstance(value, int) else value


def positions(x, kernel, stride, padding, dilation):
    """For each position of the window: its place in the result, and for each element of the window where it is in x."""
    size = x.shape[-2:]
    kernel, stride, dilation = both(kernel), both(stride), both(dilation)
    (top, bottom), (left, right) = pads_of(padding, size, kernel, stride, dilation)
    n_rows = (size[0] + top + bottom - dilation[0] * (kernel[0] - 1) - 1) // stride[0] + 1
    n_columns = (size[1] + left + right - dilation[1] * (kernel[1] - 1) - 1) // stride[1] + 1
    table = {}
    for r, c in np.ndindex(n_rows, n_columns):
        inside = {}
        for i, j in np.ndindex(*kernel):
            at = (r * stride[0] + i * dilation[0] - top, c * stride[1] + j * dilation[1] - left)
            if 0 <= at[0] < size[0] and 0 <= at[1] < size[1]:
                inside[i, j] = at
        table[r, c] = inside
    return table, (n_rows, n_columns)


def loop_conv2d(x, w, bias=None, *, stride=1, padding=0, dilation=1, groups=1):
    if x.ndim == 3:
        return loop_conv2d(x[None], w, bias, stride=stride, padding=padding, dilation=dilation, groups=groups)[0]
    table, size = positions(x, w.shape[-2:], stride, padding, dilation)
    y = np.zeros((x.shape[0], w.shape[0], *size), np.result_type(x, w))
    of_each, depth = w.shape[0] // groups, x.shape[1] // groups
    for n, o, at in np.ndindex(x.shape[0], w.shape[0], len(table)):
        place, inside = list(table.items())[at]
        for channel in range(depth):
            for (i, j), (row, column) in inside.items():
                y[(n, o, *place)] += x[n, o // of_each * depth + channel, row, column] * w[o, channel, i, j]
    return y if bias is None else y + bias[:, None, None]


def loop_pool(x, kernel_size, stride, padding, dilation, function):
    table, size = positions(x, kernel_size, kernel_size if stride is None else stride, padding, dilation)
    y = np.zeros((*x.shape[:-2], *size), x.dtype)
    for place, inside in table.items():
        y[(..., *place)] = function(np.stack([x[(..., *at)] for at in inside.values()], -1))
    return y


def loop_max_pool(x, kernel_size, stride=None, padding=0, dilation=1):
    return loop_pool(x, kernel_size, stride, padding, dilation, lambda each: each.max(-1))


def loop_avg_pool(x, kernel_size, stride=None, padding=0, count_include_pad=True):
    area = np.prod(both(kernel_size))
    mean = (lambda each: each.sum(-1) / area) if count_include_pad else (lambda each: each.mean(-1))
    return loop_pool(x, kernel_size, stride, padding, 1, mean)


# ------------------------------------------------------------------------------------------------ the tables


def conv_case(label, x, w, bias=False, **attrs):
    return Case(
        "conv2d",
        reference=loop_conv2d,
        shapes=[(x, w, (w[0],))] if bias else [(x, w)],
        domain=SMALL,
        attrs=attrs,
        complex_domain=SMALL if label in ("plain", "everything") else None,
        label=label,
    )


CASES = [
    conv_case("plain", (2, 1, 3, 4), (2, 1, 2, 2)),
    conv_case("channels", (2, 2, 3, 3), (2, 2, 2, 2)),
    conv_case("bias", (1, 1, 3, 3), (2, 1, 2, 2), bias=True),
    conv_case("one image", (2, 3, 3), (2, 2, 2, 3), bias=True),
    conv_case("one by one", (2, 2, 2, 2), (1, 2, 1, 1)),
    conv_case("stride", (1, 1, 5, 4), (1, 1, 2, 2), stride=2),
    conv_case("strides", (1, 2, 5, 4), (1, 2, 3, 2), stride=(2, 1)),
    conv_case("stride leaves a rest", (1, 1, 4, 6), (1, 1, 2, 3), stride=(3, 2)),
    conv_case("padding", (1, 1, 3, 3), (1, 1, 3, 3), padding=1),
    conv_case("paddings", (1, 1, 2, 3), (1, 1, 3, 2), padding=(1, 0)),
    conv_case("one-sided padding", (1, 1, 2, 3), (1, 1, 2, 3), padding=((1, 0), (0, 2))),
    conv_case("same", (1, 1, 3, 4), (1, 1, 2, 3), padding="same"),
    conv_case("same with stride", (1, 1, 5, 4), (1, 1, 3, 3), padding="same", stride=2),
    conv_case("valid", (1, 1, 3, 3), (1, 1, 2, 2), padding="valid"),
    conv_case("dilation", (1, 1, 5, 4), (1, 1, 2, 2), dilation=2),
    conv_case("dilations", (1, 1, 4, 5), (1, 1, 2, 3), dilation=(3, 2), padding=(0, 1)),
    conv_case("groups", (1, 4, 2, 3), (2, 2, 2, 2), groups=2),
    conv_case("depthwise", (2, 2, 2, 3), (4, 1, 2, 2), groups=2),
    conv_case("everything", (2, 2, 4, 5), (2, 1, 2, 2), stride=(1, 2), padding=((1, 0), 1), dilation=(2, 1), groups=2),
    conv_case("no images", (0, 1, 3, 3), (1, 1, 2, 2)),
    *[
        Case(
            "max_pool2d",
            reference=loop_max_pool,
            shapes=[shape],
            attrs=attrs,
            label=f"{shape[0]} {attrs}",
        )
        for shape, attrs in [
            (((1, 2, 4, 4),), {"kernel_size": 2}),
            (((1, 1, 5, 7),), {"kernel_size": (2, 3)}),
            (((3, 4),), {"kernel_size": 1}),
            (((1, 1, 4, 4),), {"kernel_size": 3, "stride": 1}),
            (((1, 1, 3, 4),), {"kernel_size": (3, 2), "stride": (1, 2), "padding": 1}),
            (((1, 1, 5, 5),), {"kernel_size": 2, "stride": (2, 1), "dilation": 2}),
            (((1, 5, 4),), {"kernel_size": 2, "stride": 3}),
            (((3, 3),), {"kernel_size": 2, "padding": "same"}),
        ]
    ],
    *[
        Case(
            "avg_pool2d",
            reference=loop_avg_pool,
            shapes=[shape],
            attrs=attrs,
            complex_domain=SMALL,
            label=f"{shape[0]} {attrs}",
        )
        for shape, attrs in [
            (((1, 2, 4, 4),), {"kernel_size": 2}),
            (((1, 1, 5, 7),), {"kernel_size": (2, 3)}),
            (((1, 1, 4, 4),), {"kernel_size": 3, "stride": 1}),
            (((1, 4, 4),), {"kernel_size": 2, "stride": 3, "padding": 1}),
            (((3, 4),), {"kernel_size": (3, 2), "stride": 2, "padding": ((1, 1), (0, 1)), "count_include_pad": False}),
            (((3, 3),), {"kernel_size": 2, "stride": 1, "padding": "same", "count_include_pad": False}),
        ]
    ],
]


@each_case(CASES)
def test_rule(case, check):
    check(case)


GEOMETRIES = [
    {},
    {"stride": 2, "padding": 1},
    {"stride": (1, 2), "dilation": (2, 1), "padding": ((1, 0), (0, 1)), "groups": 2},
]


@pytest.mark.parametrize("attrs", GEOMETRIES, ids=str)
def test_the_three_operators_are_each_others_transposes(attrs):
    """<dy, conv(x, w)> = <x, input_gradient(dy, w)> = <w, weight_gradient(x, dy)>, by loops."""
    rng = np.random.default_rng(3)
    x, w = rng.standard_normal((2, 2, 5, 6)), rng.standard_normal((2, 2 // attrs.get("groups", 1), 3, 2))
    y = loop_conv2d(x, w, **attrs)
    dy = rng.standard_normal(y.shape)
    expected = np.sum(dy * y)
    assert np.sum(x * op.conv2d_input_gradient(dy, w, size=(5, 6), **attrs)) == pytest.approx(expected)
    assert np.sum(w * op.conv2d_weight_gradient(x, dy, size=(3, 2), **attrs)) == pytest.approx(expected)


def gradient_case(name, **attrs):
    """Rows for the two gradients as operators: their reference is one of them written by loops over unit weights."""
    size, kernel = (4, 3), (2, 2)
    groups = attrs.get("groups", 1)
    x_shape, w_shape = (1, 2, *size), (2, 2 // groups, *kernel)
    y_shape = loop_conv2d(np.zeros(x_shape), np.zeros(w_shape), **attrs).shape

    def units(shape):
        for at in np.ndindex(shape):
            unit = np.zeros(shape)
            unit[at] = 1
            yield unit

    def input_gradient(dy, w):
        g = [np.sum(dy * loop_conv2d(unit, w, **attrs)) for unit in units(x_shape)]
        return np.reshape(g, x_shape).astype(np.result_type(dy, w))

    def weight_gradient(x, dy):
        g = [np.sum(dy * loop_conv2d(x, unit, **attrs)) for unit in units(w_shape)]
        return np.reshape(g, w_shape).astype(np.result_type(dy, x))

    reference, size, shapes = {
        "conv2d_input_gradient": (input_gradient, size, (y_shape, w_shape)),
        "conv2d_weight_gradient": (weight_gradient, kernel, (x_shape, y_shape)),
    }[name]
    return Case(
        name,
        call=lambda np, *inputs: getattr(op, name)(*inputs, size=size, **attrs),
        reference=reference,
        shapes=[shapes],
        domain=SMALL,
        label=f"{attrs}",
    )


@each_case(
    [
        gradient_case(name, **attrs)
        for name in ("conv2d_input_gradient", "conv2d_weight_gradient")
        for attrs in [{}, {"stride": (2, 1), "padding": 1, "groups": 2}]
    ]
)
def test_gradient_operators(case, check):
    check(case)


# ------------------------------------------------------------------------------------------------ values by hand


def test_a_convolution_by_hand():
    x = np.array([[[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0], [7.0, 8.0, 9.0]]]])
    w = np.array([[[[1.0, 0.0], [0.0, -1.0]]]])
    np.testing.assert_array_equal(anp.conv2d(x, w), [[[[1 - 5, 2 - 6], [4 - 8, 5 - 9]]]])
    dx, dw = grad(lambda x, w: anp.sum(anp.conv2d(x, w)), (0, 1))(x, w)
    np.testing.assert_array_equal(dx, [[[[1, 1, 0], [1, 0, -1], [0, -1, -1]]]])
    np.testing.assert_array_equal(dw, [[[[1 + 2 + 4 + 5, 2 + 3 + 5 + 6], [4 + 5 + 7 + 8, 5 + 6 + 8 + 9]]]])


def test_many_images_go_in_blocks(monkeypatch):
    rng = np.random.default_rng(0)
    x, w = rng.standard_normal((7, 2, 5, 5)), rng.standard_normal((3, 2, 2, 2))
    f = lambda x, w: anp.sum(anp.conv2d(x, w) ** 2)  # noqa: E731  # one line is the clearest here
    whole = grad(f, (0, 1))(x, w)
    monkeypatch.setattr("registry.numpy_backend.conv._COLUMNS", 2 * 2 * 2 * 16 * 2)
    monkeypatch.setattr("registry.numpy_backend.conv._IMAGES", 3)
    for got, want in zip(grad(f, (0, 1))(x, w), whole, strict=True):
        np.testing.assert_allclose(got, want)


def test_ties_of_a_maximum_pool_share_equally():
    x = np.array([[1.0, 1.0, 0.0, 5.0], [0.0, 1.0, 2.0, 5.0]])
    g = grad(lambda x: anp.sum(anp.max_pool2d(x, 2) * np.array([[6.0, 4.0]])))(x)
    np.testing.assert_array_equal(g, [[2, 2, 0, 2], [0, 2, 0, 2]])
    _, tangent = autograd.jvp(lambda x: anp.max_pool2d(x, 2), (x,), (np.array([[3.0, 6.0, 9.0, 1.0], [9.0, 0.0, 9.0, 2.0]]),))
    np.testing.assert_array_equal(tangent, [[(3 + 6 + 0) / 3, (1 + 2) / 2]])


def test_overlapping_maximum_windows_add_up():
    g = grad(lambda x: anp.sum(anp.max_pool2d(x, (1, 2), stride=1)))(np.array([[0.0, 3.0, 1.0, 2.0]]))
    np.testing.assert_array_equal(g, [[0, 2, 0, 1]])


def test_padding_is_never_the_maximum_and_gets_no_gradient():
    x = np.array([[-3.0, -1.0], [-2.0, -4.0]])
    np.testing.assert_array_equal(anp.max_pool2d(x, 2, padding=1), [[-3, -1], [-2, -4]])
    np.testing.assert_array_equal(grad(lambda x: anp.sum(anp.max_pool2d(x, 2, padding=1)))(x), np.ones((2, 2)))
    np.testing.assert_array_equal(anp.max_pool2d(np.array([[-3, -1]]), (1, 2), padding=(0, 1)), [[-3, -1]])


def test_second_derivative_through_a_pool_and_a_convolution():
    # y = max(w a, w b)^2 with a > b > 0 and w > 0 is (w a)^2: the second derivative in w is 2 a^2
    x = np.array([[[[3.0, 2.0]]]])
    f = lambda w: anp.sum(anp.max_pool2d(anp.conv2d(x, w.reshape(1, 1, 1, 1)), (1, 2)) ** 2)  # noqa: E731
    assert grad(grad(f))(5.0) == pytest.approx(18.0)
    np.testing.assert_allclose(autograd.hessian(lambda w: f(w))(np.float64(5.0)), 18.0)


def test_jacobian_of_a_jacobian():
    """Walks with a batch of cotangents, nested: the operators broadcast axes in front."""
    rng = np.random.default_rng(1)
    x, w = rng.standard_normal((1, 1, 3, 2)), rng.standard_normal((1, 1, 2, 1))
    f = lambda w: anp.conv2d(x, w) ** 2  # noqa: E731
    second = jacobian(jacobian(f))(w)
    y_w = jacobian(lambda w: anp.conv2d(x, w))(w)
    np.testing.assert_allclose(second, 2 * np.einsum("abcdefgh,abcdijkl->abcdefghijkl", y_w, y_w))
    g = lambda x: anp.conv2d(x, w) ** 2  # noqa: E731
    y_x = jacobian(lambda x: anp.conv2d(x, w))(x)
    np.testing.assert_allclose(jacobian(jacobian(g))(x), 2 * np.einsum("abcdefgh,abcdijkl->abcdefghijkl", y_x, y_x))
    h = lambda x, w: anp.sum(anp.conv2d(anp.conv2d(x, w, padding=(1, 0)), w) ** 3)  # noqa: E731
    third = jacobian(jacobian(grad(h, 1), 1), 1)(x, w)
    step = 1e-4
    for at in np.ndindex(w.shape):
        moved = np.zeros(w.shape)
        moved[at] = step
        second = autograd.hessian(h, 1)
        slope = (second(x, w + moved) - second(x, w - moved)) / (2 * step)
        np.testing.assert_allclose(third[(..., *at)], slope, rtol=1e-5, atol=1e-5)


def test_stacks_of_weights_broadcast_as_in_matmul():
    rng = np.random.default_rng(2)
    x, w = rng.standard_normal((3, 1, 1, 2, 3, 3)), rng.standard_normal((2, 2, 2, 2, 2))
    y = op.conv2d(x, w)
    assert y.shape == (3, 2, 1, 2, 2, 2)
    for i, j in np.ndindex(3, 2):
        np.testing.assert_allclose(y[i, j], loop_conv2d(x[i, 0], w[j]))
    weights = rng.standard_normal(y.shape)
    dx, dw = grad(lambda x, w: anp.sum(op.conv2d(x, w) * weights), (0, 1))(x, w)
    parts = {
        (i, j): grad(lambda x, w: anp.sum(anp.conv2d(x, w) * weights[i, j]), (0, 1))(x[i, 0], w[j])  # noqa: B023
        for i, j in np.ndindex(3, 2)
    }
    np.testing.assert_allclose(dx, [[parts[i, 0][0] + parts[i, 1][0]] for i in range(3)])
    np.testing.assert_allclose(dw, [parts[0, j][1] + parts[1, j][1] + parts[2, j][1] for j in range(2)])


# ------------------------------------------------------------------------------------------------ what a tape keeps


def test_a_convolution_of_constant_images_keeps_the_images_alone():
    x, w = np.ones((2, 1, 6, 6)), np.ones((3, 1, 2, 2))
    with Tape() as tape:
        anp.conv2d(x, tape.watch(w))
    assert tape.saved_bytes() == x.nbytes
    with Tape() as tape:
        anp.conv2d(tape.watch(x), w)
    assert tape.saved_bytes() == w.nbytes
    with Tape() as tape:
        anp.avg_pool2d(tape.watch(x), 2)
    assert tape.saved_bytes() == 0


# ------------------------------------------------------------------------------------------------ geometry and errors


def test_tap_of_a_window():
    rows, columns = window_axes((7, 5), (3, 2), (2, 1), ((1, 0), "same"), (2, 1))
    assert (rows.padded, rows.steps, rows.tap(2)) == (8, 2, slice(4, 7, 2))
    assert (columns.low, columns.high, columns.steps) == (0, 1, 5)
    assert not rows.apart
    assert window_axes((4, 4), 2, 2, 0, 1)[0].apart


@pytest.mark.parametrize(
    ("attrs", "message"),
    [
        ({"stride": 0}, "stride got 0"),
        ({"stride": (1, 2, 3)}, "stride got"),
        ({"dilation": 0}, "dilation got 0"),
        ({"padding": -1}, "padding got -1"),
        ({"padding": "full"}, "padding got 'full'"),
        ({"padding": (1, 2, 3)}, "padding got"),
        ({"dilation": 4}, "window covers 5 elements of an axis of length 3"),
        ({"groups": 2}, "got 1 channels"),
    ],
)
def test_a_geometry_without_a_result(attrs, message):
    with pytest.raises(ValueError, match=message):
        anp.conv2d(np.ones((1, 1, 3, 3)), np.ones((2, 1, 2, 2)), **attrs)


def test_shapes_that_do_not_fit():
    with pytest.raises(ValueError, match="got 2 channels, weights for 1 outputs of 3 channels"):
        anp.conv2d(np.ones((1, 2, 3, 3)), np.ones((1, 3, 2, 2)))
    with pytest.raises(ValueError, match="expected \\(N, C, H, W\\)"):
        anp.conv2d(np.ones((3, 3)), np.ones((1, 1, 2, 2)))
    with pytest.raises(ValueError, match="nothing but padding"):
        anp.max_pool2d(np.ones((3, 3)), 1, padding=1)
    with pytest.raises(ValueError, match="nothing but padding"):
        anp.avg_pool2d(np.ones((3, 3)), 1, padding=1, count_include_pad=False)


# ------------------------------------------------------------------------------------------------ convolution of vectors

MODES = ("full", "same", "valid")
VECTORS = [((4,), (3,)), ((2,), (5,)), ((3,), (3,)), ((1,), (2,))]


def of_vectors(name, mode, **fields):
    return Case(name, call=lambda np, a, v: getattr(np, name)(a, v, mode), domain=(-1, 1), label=mode, **fields)


@each_case(
    [
        *[of_vectors("convolve", mode, shapes=[*VECTORS, ((4,), ())], complex_domain=(-1, 1)) for mode in MODES],
        *[of_vectors("correlate", mode, shapes=VECTORS) for mode in MODES],
        of_vectors("correlate", "full", shapes=VECTORS, complex_domain=[(-1, 1), None]),
    ]
)
def test_convolution_of_vectors(case, check):
    check(case)


@pytest.mark.parametrize("mode", MODES)
def test_correlation_conjugates_its_second_operand(mode):
    rng = np.random.default_rng(3)
    for lengths in [(4, 3), (2, 5), (3, 4), (4, 1)]:
        a, v = (rng.standard_normal(n) + 1j * rng.standard_normal(n) for n in lengths)
        with autograd.Tape() as tape:
            y = anp.correlate(tape.watch(a), tape.watch(v), mode)
        np.testing.assert_allclose(y.value, np.correlate(a, v, mode), atol=1e-14)
        # f = Re(sum c y): df/dx - i df/dy in v is sum c a, conjugated, for y holds conj(v)
        c = rng.standard_normal(len(y.value))
        g = autograd.grad(lambda v: anp.real(anp.sum(c * anp.correlate(a, v, mode))))(v)  # noqa: B023
        rows = [np.sum(c * np.correlate(a, unit, mode)) for unit in np.eye(len(v))]
        np.testing.assert_allclose(g, np.conj(rows), atol=1e-13)


def test_gradient_of_a_convolution_by_hand():
    # (a0 v0, a0 v1 + a1 v0, a1 v1) with the weights 1, 10, 100
    w = np.array([1.0, 10.0, 100.0])
    da, dv = autograd.grad(lambda a, v: anp.sum(w * anp.convolve(a, v)), (0, 1))(np.array([1.0, 2.0]), np.array([3.0, 4.0]))
    np.testing.assert_array_equal(da, [3 + 40, 30 + 400])
    np.testing.assert_array_equal(dv, [1 + 20, 10 + 200])
    g = autograd.grad(lambda a: np.sum(np.convolve(a, [1.0, 2.0], "valid")))(np.ones(3))  # plain NumPy
    np.testing.assert_array_equal(g, [2, 3, 1])


def test_a_long_signal_and_a_short_filter_cost_their_product():
    # through the "full" mode alone the gradient of the filter would take 10^10 steps
    a, v = np.ones(100_000), np.ones(5)
    np.testing.assert_allclose(autograd.grad(lambda v: anp.sum(anp.convolve(a, v)))(v), 100_000)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda a: anp.convolve(a, np.ones(0)), "got v of shape"),
        (lambda a: anp.convolve(anp.reshape(a, (1, 3)), np.ones(2)), "got a of shape"),
        (lambda a: anp.correlate(a, np.ones(2), "most"), "got mode='most'"),
    ],
)
def test_vectors_that_cannot_be_convolved(call, message):
    with autograd.Tape() as tape, pytest.raises(ValueError, match=message):
        call(tape.watch(np.ones(3)))
