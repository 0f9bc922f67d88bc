"""Calls as people write them, on plain arrays and on tensors, by our functions and by NumPy's own.

On plain arrays a call does what NumPy does: the same value, type, dtype, and an error where it has one. On tensors it has NumPy's
value, and a gradient that agrees with differences of NumPy's function along a random direction.
"""

from __future__ import annotations

from typing import Any

import numpy
import pytest

import autograd.numpy as anp
from autograd import GradtapeError, Tape, Tensor
from autograd.tensor import AssignableArray

RNG = numpy.random.default_rng(3)


def apart(*shape: int) -> Any:
    """Values that keep apart from each other and from whole and half numbers, so that no step crosses a kink."""
    return RNG.permutation(int(numpy.prod(shape))).reshape(shape) * 0.37 - 1.1 + RNG.uniform(-0.01, 0.01, shape)


NAMES: dict[str, Any] = {
    "x1": apart(4), "x2": apart(2, 3), "x3": apart(2, 3, 4), "y1": apart(4) + 0.05, "y2": apart(2, 3) + 0.05,
    "s": numpy.float64(0.7), "p": 0.6, "sq": apart(3, 3), "m43": apart(4, 3), "e2": numpy.zeros((0, 3)),
}  # fmt: skip
"""Arrays of one, two and three axes, a NumPy scalar, a Python one, and an empty array."""

# Rows are separated by semicolons; N is NumPy itself, also where np is ours.
CALLS = {
    "moving": """
        np.roll(x2, 1) ; np.roll(x2, (1,2), (0,1)) ; np.roll(x2, (1,2)) ; np.roll(x2, 1, axis=(0,1)) ; np.roll(x2, -4, axis=-1)
        np.roll(e2, 1) ; np.roll(s, 1) ; np.rot90(x2) ; np.rot90(x2, 2) ; np.rot90(x3, 3, (0,2)) ; np.rot90(x3, -1, (1,0))
        np.rot90(x1) ; np.flip(x2) ; np.flip(x3,(0,-1)) ; np.flipud(x2) ; np.fliplr(x2) ; np.fliplr(x1) ; np.flipud(s)
        np.moveaxis(x3,0,-1) ; np.moveaxis(x3,(0,1),(-1,0)) ; np.moveaxis(x3,[0],[5]) ; np.rollaxis(x3,2) ; np.rollaxis(x3,1,3)
        np.rollaxis(x3,-1,1) ; np.rollaxis(x3,1,4) ; np.swapaxes(x3,0,-1) ; np.transpose(x3) ; np.transpose(x3,(1,-1,0))
        np.transpose(x3,[1,2,0]) ; np.transpose(x3,(0,1)) ; np.transpose(x3,(0,0,1)) ; np.permute_dims(x3,(2,1,0))
        np.permute_dims(x3) ; np.matrix_transpose(x3) ; np.matrix_transpose(x1) ; np.expand_dims(x2,(0,2))
        np.expand_dims(x2,-1) ; np.expand_dims(x2,5) ; np.expand_dims(x2,(0,0)) ; np.squeeze(x2[None,:,None],0)
        np.squeeze(x2[None,:,None]) ; np.squeeze(x2[None,:,None],(0,-2)) ; np.squeeze(x2,0) ; x1[None].squeeze(0)
        np.broadcast_to(x1,(3,4)) ; np.broadcast_to(s,(2,)) ; np.broadcast_to(s,()) ; np.broadcast_to(x1,4)
        np.broadcast_to(x1,(3,)) ; np.broadcast_arrays(x1,s) ; np.broadcast_arrays(x2,y2[:,:1],1.0)
        np.broadcast_arrays(x2,x1) ; np.ravel(x2) ; np.ravel(x2,'F') ; np.ravel(x2.T,'K') ; np.ravel(x2.T,order='A')
        np.ravel(x3[::2,::-1],'K') ; np.ravel(N.transpose(x3,(1,0,2)),'K') ; x3.transpose(1,0,2).ravel('K')
        np.reshape(x2,(3,-1)) ; np.reshape(x2,(3,2),order='F') ; np.reshape(x2,(3,2),copy=True) ; np.reshape(x2,6)
        np.reshape(x2,(4,-1)) ; np.reshape(x2,(-1,-1)) ; np.reshape(x2.T,(2,3),order='A') ; np.reshape(x2,(3,2),'F')
        x2.reshape(3,2) ; x2.reshape((3,2),order='F') ; x2.reshape(-1) ; x2.reshape(3,2,copy=True) ; x2.flatten()
        x2.flatten('F') ; x2.ravel(order='F') ; x2.ravel('F') ; x2.T.flatten('A') ; x3.transpose((1,0,2)).flatten('K')
    """,
    "joining": """
        np.block([[x2,y2],[y2,x2]]) ; np.block([x1,y1]) ; np.block([[x1],[y1]]) ; np.block([[x1,s],[y1,2.0]]) ; np.block(s)
        np.block([[sq,sq],[x2]]) ; np.block([[[x3]],[[x3]]]) ; np.block([]) ; np.hstack([x1,y1]) ; np.hstack((x2,y2))
        np.hstack((s,x1)) ; np.vstack((x2,y2)) ; np.vstack((x1,y1)) ; np.vstack((x1,x2)) ; np.vstack((x2,y2),dtype='f4')
        np.dstack((x2,y2)) ; np.dstack((x1,y1)) ; np.column_stack((x1,y1)) ; np.column_stack((x2,y2))
        np.column_stack((x2,x2[:,0])) ; np.concatenate((x2,y2),1) ; np.concatenate((x2,y2),None)
        np.concatenate((x2,y2),axis=-1) ; np.concatenate((x2,x1)) ; np.concatenate([]) ; np.concatenate((s,x1))
        np.concatenate((x1,y1),dtype='f4') ; np.concatenate((x1,y1),dtype='f4',casting='safe')
        np.concatenate((x1,y1),out=N.zeros(8)) ; np.concatenate([x2,e2]) ; np.concat([x1,[1,2]]) ; np.stack([x2,y2],-1)
        np.stack([x2,y2],axis=1) ; np.stack([x1,y1],out=N.zeros((2,4))) ; np.stack([x1,x2]) ; np.stack([])
        np.stack([x1,y1],dtype='f4',casting='unsafe') ; np.stack([x1,y1],axis=3) ; np.append(x1,y1) ; np.append(x2,y2,axis=0)
        np.append(x2,s) ; np.append(x2,x1,axis=0) ; np.append(x2,[[1,2,3]],axis=0) ; np.split(x1,2) ; np.split(x1,[1,3])
        np.split(x2,3,axis=1) ; np.split(x1,3) ; np.split(x2,[1],-1) ; np.array_split(x1,3) ; np.array_split(x2,2,axis=-1)
        np.array_split(x1,[1,6]) ; np.hsplit(x1,2) ; np.hsplit(x2,3) ; np.vsplit(x2,2) ; np.dsplit(x3,2) ; np.dsplit(x2,2)
        np.unstack(x3) ; np.unstack(x3,axis=1) ; np.unstack(x2,axis=-1) ; np.unstack(s) ; np.atleast_1d(s)
        np.atleast_1d(s,x1) ; np.atleast_2d(x1) ; np.atleast_2d(x1,s,x3) ; np.atleast_3d(x1) ; np.atleast_3d(x2)
        np.atleast_3d(s) ; np.atleast_1d()
    """,
    "diagonals": """
        np.diag(x1) ; np.diag(x1,2) ; np.diag(x2) ; np.diag(x2,-1) ; np.diag(x2,5) ; np.diag(x3) ; np.diagflat(x2)
        np.diagflat(x2,-1) ; np.diagflat(s) ; np.diagonal(x3) ; np.diagonal(x3,1,0,2) ; np.diagonal(x3,-1,1,2)
        np.diagonal(x1) ; np.diagonal(x3,0,1,1) ; np.tril(x2) ; np.tril(x3,1) ; np.triu(x2,-1) ; np.triu(x1) ; np.triu(sq,1)
        np.tril(s) ; np.trace(x3) ; np.trace(x3,1,1,2) ; np.trace(x2,offset=-1) ; np.trace(x2,dtype='f4')
        np.trace(x2,out=N.zeros(())) ; np.trace(x3,out=N.zeros(4)) ; np.trace(x1) ; x2.trace() ; x3.trace(1,1,2)
        x2.diagonal(1) ; np.triu_indices_from(sq) ; np.tril_indices_from(sq,k=1) ; np.diag_indices_from(sq)
    """,
    "choosing": """
        np.where(x2>0,x2,y2) ; np.where(x2>0) ; np.where(x2>0,x2,0) ; np.where([True,False,True],x2,s) ; np.where(x2>0,x2)
        np.where(x2,x2,y2) ; np.compress([True,False],x2,axis=0) ; np.compress([True,False,True,True,False],x2)
        x2.compress([True,False,True],1) ; np.compress([True,False],x2,axis=0,out=N.zeros((1,3))) ; np.extract(x2>0,x2)
        np.take(x2,[0,5,-1]) ; np.take(x2,[[0,1],[1,0]],axis=1) ; np.take(x2,7) ; np.take(x2,[7,-9],mode='wrap')
        np.take(x2,[7,-9],mode='clip') ; np.take(x2,1,axis=0) ; np.take(x2,[0,1],axis=1,out=N.zeros((2,2))) ; x2.take([0,1],1)
        x2.take(3) ; np.take_along_axis(x2,N.array([[0,2],[1,1]]),1) ; np.take_along_axis(x2,N.array([0,5,1]),None)
        np.take_along_axis(x2,N.array([[0]]),0) ; np.take_along_axis(x2,N.array([0]),0) ; np.nonzero(x2>0) ; np.flatnonzero(x2)
        np.argwhere(x2>0) ; np.searchsorted(x1,y1) ; np.sort(x2) ; np.sort(x2,axis=None) ; np.sort(x2,0)
        np.sort(x2,kind='stable') ; np.sort(x2,stable=True) ; np.argsort(x2) ; np.argsort(x2,axis=0,kind='stable')
        np.argmax(x2) ; np.argmax(x2,axis=0) ; np.argmin(x2,axis=1,keepdims=True) ; x2.argsort(0) ; x2.argmax(1)
        np.choose([0,1,1,0],[x1,y1]) ; np.select([x1>0,x1<-.5],[x1,y1],default=s)
    """,
    "elementwise with options": """
        np.nan_to_num(x2) ; np.nan_to_num(N.array([1,N.nan,N.inf]),nan=1.,posinf=2.) ; np.nan_to_num(x2*N.nan,nan=s)
        np.clip(x2,-.5,.5) ; np.clip(x2,None,.5) ; np.clip(x2,y2,None) ; np.clip(x2,y2,y2+.3) ; np.clip(x2,s,2.)
        np.clip(x2,a_min=0,a_max=1) ; np.clip(x2,min=0) ; np.clip(x2,0,1,out=N.zeros((2,3)))
        np.clip(x2,0,1,dtype='f4') ; np.clip(x2,0,1,out=N.zeros((2,3)),where=[True,False,True]) ; x2.clip(0,1) ; x2.clip(min=0)
        x2.clip(max=y2) ; np.round(x2) ; np.round(x2,1) ; np.around(x2,decimals=1) ; np.trunc(x2) ; np.rint(x2) ; np.floor(x2)
        x2.round(1) ; np.round(x2,out=N.zeros((2,3))) ; np.real_if_close(x2) ; np.i0(x2) ; np.sinc(x2) ; np.sinc(p)
        np.heaviside(x2,s) ; np.heaviside(x2,.5) ; np.spacing(x2) ; np.nextafter(x2,9.) ; np.nextafter(1.,x2) ; np.ldexp(x2,2)
        np.ldexp(x2,[1,2,3]) ; np.frexp(x2) ; np.modf(x2) ; np.divmod(x2,s) ; np.fmod(x2,s) ; np.remainder(x2,s)
        np.float_power(N.abs(x2),s) ; np.positive(x2) ; np.conj(x2) ; np.sign(x2) ; np.signbit(x2) ; np.copysign(x2,y2)
        np.real(x2) ; np.imag(x2) ; np.angle(x2) ; np.angle(x2+1j*y2,deg=True) ; x2.conj() ; x2.conjugate() ; x2.real ; x2.imag
        divmod(x2,s) ; x2%s ; x2//s ; np.astype(x2,'f4') ; x2.astype('f4') ; x2.astype(N.float32,copy=False) ; x2.astype(int)
        np.copy(x2) ; np.copy(x2,order='F') ; x2.copy() ; x2.copy('F') ; np.asarray(x2) ; np.asarray(x2,dtype='f4')
        np.asarray(x2,copy=True) ; np.array(x2,ndmin=3) ; np.array([x1,y1]) ; np.array([[s,1.0],[2.0,s]])
        np.array(x2,copy=None) ; np.asanyarray(x2) ; np.ascontiguousarray(s) ; np.asfortranarray(x2) ; np.asarray_chkfinite(x2)
        np.require(x2,requirements='C') ; np.require(x2,'f4') ; np.may_share_memory(x2,x2) ; np.shares_memory(x2,x2)
        np.result_type(x2,y2) ; np.can_cast(x2.dtype,'f4') ; np.min_scalar_type(s) ; np.common_type(x2) ; np.isscalar(x2)
        np.shape(x2) ; np.ndim(x2) ; np.size(x2,1) ; np.iscomplexobj(x2)
    """,
    "reductions": """
        np.sum(x3) ; np.sum(x3,0) ; np.sum(x3,(0,-1)) ; np.sum(x3,axis=-1,keepdims=True) ; np.sum(x3,())
        np.sum(x2,where=x2>0) ; np.sum(x2,where=[True,False,True],axis=0,initial=s) ; np.sum(x2,initial=2.)
        np.sum(x2,dtype='f4') ; np.sum(x2,axis=0,out=N.zeros(3)) ; np.sum(x2,5) ; np.sum(x2,(0,0)) ; np.sum(e2,0) ; np.sum(e2)
        np.sum(s) ; np.sum([x1,y1]) ; np.sum([1,2,3]) ; x2.sum() ; x2.sum(0,'f4') ; x2.sum(axis=1,keepdims=True,initial=1.)
        x2.sum(where=x2>0) ; np.prod(x3,axis=(0,1)) ; np.prod(x2,keepdims=True) ; np.prod(x2,where=x2>0,initial=s)
        np.prod(x2,dtype='f4') ; np.prod(e2,0) ; np.prod(x2,axis=1,out=N.zeros(2)) ; x2.prod(0) ; np.mean(x3,axis=(0,2))
        np.mean(x2,where=[True,False,True]) ; np.mean(x2,axis=0,keepdims=True,dtype='f4') ; np.mean(x2,axis=1,out=N.zeros(2))
        np.mean(s) ; np.mean([x1,y1],axis=0) ; np.mean([1,2,3]) ; np.var(x3,axis=(0,2)) ; np.var(x2,ddof=1)
        np.var(x2,correction=1) ; np.var(x2,ddof=1,correction=1) ; np.var(x2,axis=1,mean=N.mean(x2,axis=1,keepdims=True))
        np.var(x2,axis=1,mean=np.mean(x2,axis=1,keepdims=True)) ; np.var(x2,axis=1,mean=s) ; np.var(x2,where=x2>-.9,axis=0)
        np.var(x2,axis=0,out=N.zeros(3)) ; np.var(x2,dtype='f4') ; np.std(x3,axis=-1,keepdims=True)
        np.std(x2,axis=0,correction=1) ; np.std(x2,axis=1,mean=np.mean(x2,axis=1,keepdims=True),ddof=1)
        np.std(x2,where=[True,False,True]) ; np.std(x2,axis=0,out=N.zeros(3)) ; x2.var(0,ddof=1) ; x2.std(axis=1,keepdims=True)
        x2.mean((0,1)) ; x2.mean(where=x2>0) ; np.max(x3,axis=(0,1)) ; np.max(x2,initial=0.3)
        np.max(x2,axis=0,where=x2>0,initial=s) ; np.max(x2,where=x2>0) ; np.max(e2) ; np.max(e2,axis=1)
        np.min(x2,keepdims=True) ; np.min(x2,axis=-1,initial=s) ; np.amax(x2,1) ; np.amin(x2,0)
        np.max(x2,axis=1,out=N.zeros(2)) ; x2.max(0) ; x2.min(axis=1,keepdims=True) ; x2.max(initial=0.) ; np.all(x2)
        np.any(x2>0,axis=1) ; np.all(x2>0,axis=0,where=[True,False,True]) ; np.any(x2,keepdims=True) ; x2.all() ; x2.any(1)
        np.count_nonzero(x2) ; np.count_nonzero(x2>0,axis=0) ; np.cumsum(x2) ; np.cumsum(x2,1)
        np.cumsum(x2,axis=0,dtype='f4') ; np.cumsum(x1,out=N.zeros(4)) ; np.cumsum(s) ; np.cumprod(x2,0) ; np.cumprod(x2)
        np.cumprod(x1,out=N.zeros(4)) ; x2.cumsum(0) ; x2.cumprod() ; np.cumulative_sum(x1) ; np.cumulative_sum(x2,axis=1)
        np.cumulative_sum(x2,axis=0,include_initial=True) ; np.cumulative_sum(x2) ; np.cumulative_sum(x1,dtype='f4')
        np.cumulative_sum(x1,out=N.zeros(4)) ; np.cumulative_sum(s) ; np.cumulative_prod(x1,include_initial=True)
        np.cumulative_prod(x2,axis=-1) ; np.ptp(x2,axis=0) ; np.logaddexp(x2,y2)
    """,
    "products": """
        np.dot(x2,x2.T) ; np.dot(x1,y1) ; np.dot(x1,s) ; np.dot(x3,y1) ; np.dot(x3,m43) ; np.dot(x1,y1,out=N.zeros(()))
        np.dot(x2,y2.T,out=N.zeros((2,2))) ; x2.dot(y2.T) ; np.inner(x1,y1) ; np.inner(x3,x1) ; np.inner(x2,y2)
        np.inner(s,x2) ; np.inner(x1,x2) ; np.outer(x1,x2) ; np.outer(s,x1) ; np.outer(x1,y1,out=N.zeros((4,4)))
        np.kron(x2,y2) ; np.kron(x1,x3) ; np.kron(s,x2) ; np.kron(s,s) ; np.vdot(x2,y2) ; np.vdot(x1+1j*y1,y1) ; np.vdot(x1,x2)
        np.tensordot(x3,y2,axes=([0,1],[0,1])) ; np.tensordot(x3,y1,axes=1) ; np.tensordot(x1,y1,axes=0)
        np.tensordot(x2,y2,axes=2) ; np.tensordot(x2,y2,axes=(0,0)) ; np.tensordot(x2,y2,axes=((-1,),(1,)))
        np.tensordot(x2,y2,axes=1) ; np.matmul(x2,x3) ; np.matmul(x2,s) ; x2@x3 ; np.einsum('ij,ij->i',x2,y2)
        np.einsum('ii',sq) ; np.einsum('ii->i',sq) ; np.einsum('ij->ji',x2) ; np.einsum('...ij,jk',x3,m43)
        np.einsum('i,j',x1,y1) ; np.einsum(x2,[0,1],y2,[0,1],[1]) ; np.einsum(x2,[0,1],[1,0]) ; np.einsum(x2,[0,1],y2,[0,1])
        np.einsum('ij,ij->i',x2,y2,optimize=True) ; np.einsum('ij,jk,kl->il',x2,sq,sq,optimize='greedy')
        np.einsum('ij,ij->i',x2,y2,dtype='f4') ; np.einsum('ij,ij->i',x2,y2,dtype='f4',casting='unsafe')
        np.einsum('ij,ij->i',x2,y2,out=N.zeros(2)) ; np.einsum('ij,ij->i',x2,y2,order='F') ; np.einsum('ij,kj->i',x2,y2[:1])
        np.einsum('ij,ij->ij',x2,y2[:1]) ; np.einsum('ij,ij->i',x2,y2[:1]) ; np.einsum('...,...->...',x2,s)
        np.einsum('ij,jk->ik',x2,x2) ; np.einsum('iij->j',N.ones((2,2,1))*x1) ; np.vecdot(x2,y2)
    """,
    "index tricks": """
        x2[np.s_[:,1]] ; np.meshgrid(x1,y1) ; np.meshgrid(x1,y1,indexing='ij',sparse=True) ; np.meshgrid(x2,s)
    """,
}

ROWS = [
    pytest.param(row.strip(), id=f"{group}: {row.strip()}")
    for group, text in CALLS.items()
    for line in text.splitlines()
    for row in line.split(" ; ")
    if row.strip()
]

BARE = (
    "np.asarray(", "np.array(", "np.asanyarray(", "np.ascontiguousarray(", "np.asfortranarray(", "np.asarray_chkfinite(",
    "np.require(", "np.sum([", "np.mean([",
)  # fmt: skip
"""Calls through which plain NumPy would get bare values; it gets an error."""


def evaluate(row: str, np: Any, **values: Any) -> Any:
    return eval(row, {"np": np, "N": numpy, **values})


def fresh(names: list[str]) -> dict[str, Any]:
    return {name: NAMES[name].copy() if isinstance(NAMES[name], numpy.ndarray) else NAMES[name] for name in names}


def leaves(value: Any) -> list[Any]:
    return [leaf for each in value for leaf in leaves(each)] if isinstance(value, tuple | list) else [value]


def is_float(value: Any) -> bool:
    return not isinstance(value, type) and numpy.asarray(value).dtype.kind in "fc"


def assert_same(got: Any, want: Any, *, exactly: bool) -> None:
    if isinstance(want, type | numpy.dtype | str | None):
        assert got == want
        return
    assert numpy.shape(got) == numpy.shape(want)
    assert numpy.asarray(got).dtype == numpy.asarray(want).dtype
    if exactly:
        numpy.testing.assert_allclose(got, want, rtol=1e-15, atol=1e-16)
    else:
        single = numpy.asarray(want).dtype in (numpy.float32, numpy.complex64)
        numpy.testing.assert_allclose(got, want, rtol=1e-6 if single else 1e-12, atol=1e-6 if single else 1e-13)


def total(result: Any, weights: list[Any]) -> Any:
    """The sum of all floats of a result, with weights."""
    parts = [anp.real(anp.sum(each * w)) for each, w in zip(leaves(result), weights, strict=True) if w is not None]
    return sum(parts[1:], parts[0]) if parts else 0.0


@pytest.mark.parametrize("row", ROWS)
def test_a_call(row):
    names = sorted(name for name in NAMES if name in compile(row, "row", "eval").co_names)
    try:
        want = evaluate(row, numpy, **fresh(names))
    except Exception as error:
        check_error(row, names, error)
        return
    got = evaluate(row, anp, **fresh(names))
    python = type(want) is numpy.float64 and type(got) is float
    assert type(got) in (type(want), AssignableArray) or python
    for ours, theirs in zip(leaves(got), leaves(want), strict=True):
        assert_same(ours, theirs, exactly=True)
    rng = numpy.random.default_rng(5)
    weights = [rng.normal(size=numpy.shape(each)) if is_float(each) else None for each in leaves(want)]
    directions = {name: rng.normal(size=numpy.shape(NAMES[name])) for name in names}
    step = 1e-6

    def moved(sign: int) -> float:
        values = {name: NAMES[name] + sign * step * directions[name] for name in names}
        return float(total(evaluate(row, numpy, **values), weights))

    slope = (moved(1) - moved(-1)) / (2 * step)
    for np in (anp, numpy):
        with Tape() as tape:
            tensors = {name: tape.watch(value) for name, value in fresh(names).items()}
            if np is numpy and names and row.startswith(BARE):
                with pytest.raises(GradtapeError, match="bare array"):
                    evaluate(row, np, **tensors)
                return
            result = evaluate(row, np, **dict(tensors))
            values = [each.value if isinstance(each, Tensor) else each for each in leaves(result)]
            for ours, theirs in zip(values, leaves(want), strict=True):
                assert_same(ours, theirs, exactly=False)
            y = total(result, weights)
        if type(y) is not Tensor:
            assert abs(slope) < 1e-9, "a constant where NumPy's function is none"
            continue
        gradients = tape.gradient(y, list(tensors.values()))
        along = sum(float(numpy.sum(g * d)) for g, d in zip(gradients, directions.values(), strict=True) if g is not None)
        single = "'f4'" in row or "float32" in row
        assert along == pytest.approx(slope, rel=0.2 if single else 1e-6, abs=0.2 if single else 1e-6)


def check_error(row, names, error):
    """Where NumPy raises, ours does, on plain arrays and on tensors; but not where NumPy is only older."""
    if isinstance(error, AttributeError) or any(each in str(error) for each in ("keyword argument", "missing 2 required")):
        return
    with pytest.raises((type(error), GradtapeError)):
        evaluate(row, anp, **fresh(names))
    with Tape() as tape, pytest.raises((TypeError, ValueError, IndexError, GradtapeError)):
        evaluate(row, anp, **{name: tape.watch(value) for name, value in fresh(names).items()})


def test_answers_about_tensors_are_plain():
    with Tape() as tape:
        t, s = tape.watch(numpy.ones((2, 3), order="F")), tape.watch(2.0)
        for np in (anp, numpy):
            assert np.result_type(t, numpy.float32) == "float64"
            assert np.may_share_memory(t, t)
            assert np.common_type(t) is numpy.float64
            assert np.isfortran(t)
            assert np.einsum_path("ij,kj->ik", t, t)[0][0] == "einsum_path"
            assert "1." in np.array_str(t)
        assert anp.isscalar(s)
        assert anp.min_scalar_type(s) == numpy.min_scalar_type(2.0)


def test_replacements_have_gradients():
    x = numpy.array([numpy.nan, 1.0, numpy.inf, -numpy.inf])

    def f(x, a, b, c):
        return anp.sum(anp.nan_to_num(x, nan=a, posinf=b, neginf=c) * numpy.array([1.0, 2.0, 3.0, 4.0]))

    from autograd import grad

    g = grad(f, (0, 1, 2, 3))(x, 5.0, 6.0, 7.0)
    assert g[0].tolist() == [0, 2, 0, 0]
    assert g[1:] == (1.0, 3.0, 4.0)


def test_nothing_of_numpy_takes_a_tensor_for_a_constant():
    """NumPy's functions that are not ours raise, or say nothing about values."""
    about_types = {"dtype", "finfo", "issubdtype", "iterable", "poly1d", "printoptions", "promote_types", "str_"}
    files = {"fromfile", "fromregex", "genfromtxt", "load", "loadtxt", "save", "savetxt", "savez", "savez_compressed", "test"}
    silent = []
    for name in sorted(set(dir(numpy)) - about_types - files):
        theirs = getattr(numpy, name)
        if name.startswith("_") or getattr(anp, name, None) is not theirs or not callable(theirs):
            continue
        if isinstance(theirs, type) and issubclass(theirs, BaseException):
            continue
        for count in (1, 2):
            with Tape() as tape:
                try:
                    result = theirs(*[tape.watch(numpy.array([1.0, 2.0])) for _ in range(count)])
                except Exception:
                    continue
            if type(result) is not Tensor and result is not None:
                silent.append(name)
    assert not silent
