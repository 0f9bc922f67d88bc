"""Memory layouts, and source that makes an array again to the last bit."""

from __future__ import annotations

import numpy as np
import pytest

from autograd.check.layouts import LAYOUTS, laid_out, layout_of, source


@pytest.mark.parametrize("layout", LAYOUTS)
def test_layouts_differ_and_hold_the_same(layout):
    a = np.arange(6.0).reshape(2, 3)
    x = laid_out(a, layout)
    np.testing.assert_array_equal(x, a)
    flags = {
        "C": x.flags.c_contiguous and x.flags.writeable,
        "F": x.flags.f_contiguous and x.strides == (8, 16),
        "strided": x.strides == (48, 16) and not x.flags.c_contiguous,
        "negative": x.strides == (-24, -8),
        "readonly": not x.flags.writeable and x.flags.c_contiguous,
    }
    assert flags[layout]
    assert layout_of(x) == layout
    assert not np.shares_memory(x, a)


def test_a_layout_that_is_none_is_refused():
    with pytest.raises(ValueError, match=r"got layout 'D', expected one of C, F, strided"):
        laid_out(np.ones(2), "D")


@pytest.mark.parametrize("dtype", ["float64", "float32", "complex128", "int64", "bool"])
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("shape", [(2, 3), (3,), (), (1, 1), (0, 2), (2, 1, 2)])
def test_the_source_of_an_array_makes_it_again(shape, layout, dtype):
    rng = np.random.default_rng(0)
    a = rng.standard_normal(shape)
    a = a + 1j * rng.standard_normal(shape) if dtype == "complex128" else a
    x = laid_out(np.asarray(a).astype(dtype), layout)
    again = eval(source(x), {"np": np})
    assert (again.dtype, again.shape, again.tobytes()) == (x.dtype, x.shape, x.tobytes())
    assert again.flags.writeable == x.flags.writeable
    if x.size > 1:
        assert again.strides == x.strides


SPECIAL = [0.0, -0.0, np.inf, -np.inf, np.nan, 1e-310, 0.1, 1e300]


@pytest.mark.parametrize(
    "value",
    [
        np.array(SPECIAL),
        np.array(SPECIAL[:6], "float32"),
        np.array([complex(-0.0, 1.0), complex(np.nan, -np.inf), complex(1.0, -0.0)]),
        np.array(SPECIAL, ">f8"),
        [np.float32(0.1), -0.0, complex(-0.0, -0.0), True, None, "full", (1,), ()],
        {"axis": (0, -1), "dtype": np.dtype("float32"), "index": (slice(None, 2), Ellipsis, None, np.array([1]))},
    ],
    ids=["float64", "float32", "complex128", "other byte order", "list", "attributes"],
)
def test_the_source_of_a_value_keeps_every_bit(value):
    assert repr(eval(source(value), {"np": np})) == repr(value)
    if isinstance(value, np.ndarray):
        assert eval(source(value), {"np": np}).tobytes() == value.tobytes()


def test_types_have_a_source():
    assert eval(source(np.float32), {"np": np}) is np.float32
