"""Vector spaces: zeros, ones, bases and products in the structure of a value."""

from __future__ import annotations

import numpy as onp
import pytest
from hypothesis import given
from hypothesis import strategies as st

from autograd import containers, grad
from autograd.core import SparseObject, add_outgrads, sparse_add, sum_outgrads
from autograd.extend import VSpace, vspace
from autograd.numpy.numpy_vspaces import ArrayVSpace, ComplexArrayVSpace, NamedTupleVSpace
from autograd.vspaces import VSpaceError

X = onp.array([0.3, 1.2, -0.7])
Z = onp.array([1.0j, 2.0])

SPACES = [
    # value, size, complex
    (2.0, 1, False),
    (2.0j, 2, True),
    (onp.float32(2), 1, False),
    (X, 3, False),
    (Z, 4, True),
    (onp.ones((2, 0)), 0, False),
    ([X, 1.0], 4, False),
    ((Z, {"a": 1.0}), 5, False),
    ({"a": X, "b": [Z]}, 7, False),
    ([Z, 1.0j], 6, True),
    ([], 0, False),
]


@pytest.mark.parametrize(("value", "size", "is_complex"), SPACES)
def test_the_space_of_a_value(value, size, is_complex):
    space = vspace(value)
    assert (space.size, bool(space.iscomplex)) == (size, is_complex)
    leaves = containers.flatten(value)[0]
    for make in (space.zeros, space.ones, space.randn):
        made = containers.flatten(make())[0]
        assert [onp.shape(each) for each in made] == [onp.shape(each) for each in leaves]
        assert [onp.asarray(each).dtype for each in made] == [onp.asarray(each).dtype for each in leaves]
    assert space == vspace(space.zeros())


@pytest.mark.parametrize("value", [row[0] for row in SPACES])
def test_the_standard_basis_is_orthonormal(value):
    space = vspace(value)
    basis = list(space.standard_basis())
    products = [[float(space.inner_prod(one, other)) for other in basis] for one in basis]
    onp.testing.assert_array_equal(onp.reshape(products, (len(basis), len(basis))), onp.eye(space.size))


@pytest.mark.parametrize("value", [row[0] for row in SPACES])
def test_sums_and_multiples(value):
    space = vspace(value)
    x, y = space.randn(), space.randn()
    assert space.inner_prod(x, y) == pytest.approx(space.inner_prod(y, x))
    assert space.inner_prod(space.add(x, y), y) == pytest.approx(space.inner_prod(x, y) + space.inner_prod(y, y))
    assert space.inner_prod(space.scalar_mul(x, 3.0), y) == pytest.approx(3.0 * space.inner_prod(x, y))
    assert space.inner_prod(space.mut_add(None, x), y) == pytest.approx(space.inner_prod(x, y))


def test_the_covector_is_the_conjugate():
    onp.testing.assert_array_equal(vspace(Z).covector(Z), onp.conj(Z))
    assert vspace([1.0j]).covector([1.0j]) == [-1.0j]
    assert vspace(X).covector(X) is X
    assert vspace(Z).inner_prod(Z, onp.array([1.0 + 1.0j, 2.0j])) == 1.0  # Re(conj(i) (1 + i)) + Re(2 * 2i)


def test_mut_add_is_in_place_for_a_plain_array_and_only_there():
    space, total = vspace(X), onp.ones(3)
    assert space.mut_add(total, X) is total
    onp.testing.assert_allclose(total, 1 + X)
    assert space.add(total, X) is not total
    ones = onp.ones(3)
    assert grad(lambda t: space.inner_prod(space.mut_add(ones, t * X), X))(2.0) == pytest.approx(X @ X)
    onp.testing.assert_array_equal(ones, onp.ones(3))


def test_spaces_are_compared_by_what_they_are():
    assert vspace(X) == vspace(2 * X)
    assert vspace(X) != vspace(X.astype("float32"))
    assert vspace(X) != vspace(Z)
    assert vspace([1.0, X]) == vspace([2.0, X])
    assert vspace([1.0, X]) != vspace((1.0, X))
    assert "shape=(3,)" in repr(vspace(X))


def test_the_space_of_a_tensor_is_that_of_its_value():
    seen = []
    grad(lambda x: seen.append(vspace(x)) or x.sum())(X)
    assert seen == [vspace(X)]


@pytest.mark.parametrize("value", [1, True, "text", None, onp.int64(1), [1.0, "text"]])
def test_what_has_no_space_is_named(value):
    with pytest.raises(VSpaceError, match="expected a float"):
        vspace(value)
    with pytest.raises(TypeError):
        vspace(value)


def test_a_type_of_ones_own_can_be_given_a_space(monkeypatch):
    class Celsius(float): ...

    class CelsiusSpace(ArrayVSpace): ...

    monkeypatch.setattr(VSpace, "mappings", dict(VSpace.mappings))
    CelsiusSpace.register(Celsius)
    assert type(vspace(Celsius(3.0))) is CelsiusSpace
    VSpace.register(Celsius, lambda value: ComplexArrayVSpace(complex(value)))
    assert vspace(Celsius(3.0)).iscomplex


def test_a_space_without_its_methods_says_so():
    class Bare(VSpace): ...

    for name in ("zeros", "ones", "standard_basis", "randn"):
        with pytest.raises(NotImplementedError, match=f"Bare has no {name}"):
            getattr(Bare(1.0), name)()


def test_containers_of_another_shape_are_refused():
    with pytest.raises(VSpaceError, match="1 leaves, expected 2"):
        vspace([1.0, 2.0]).add([1.0], [1.0, 2.0])
    assert isinstance(vspace(()), NamedTupleVSpace)


@given(st.lists(st.floats(-1e3, 1e3), min_size=1))
def test_gradients_are_summed(values):
    assert sum_outgrads(values) == pytest.approx(sum(values), abs=1e-9)


def test_a_sum_may_hold_sparse_gradients():
    sparse = SparseObject(vspace(X), lambda array: array + onp.array([1.0, 0.0, 0.0]))
    for parts in ([sparse, X], [X, sparse]):
        onp.testing.assert_allclose(sum_outgrads(parts), X + onp.array([1.0, 0.0, 0.0]))

    def add_in_place(array):
        array[0] += 1.0
        return array

    before, sparse = onp.ones(3), SparseObject(vspace(X), add_in_place)
    onp.testing.assert_allclose(sparse_add(vspace(X), before, sparse), [2.0, 1.0, 1.0])
    onp.testing.assert_array_equal(before, onp.ones(3))
    assert add_outgrads(None, X) == (X, False)
