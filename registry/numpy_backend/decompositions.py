"""Decompositions of matrices, which lie in the last two axes. Each is one routine of LAPACK."""

from __future__ import annotations

from typing import Any

import numpy as np

from registry.declare import operator


def _qr(a: Any, mode: Any) -> tuple[Any, Any]:
    q, r = np.linalg.qr(a, mode)
    return q, r


def _eigh(a: Any, UPLO: Any) -> tuple[Any, Any]:
    w, v = np.linalg.eigh(a, UPLO)
    return w, v


def _eig(a: Any) -> tuple[Any, Any]:
    w, v = np.linalg.eig(a)
    return w, v


def _eigvals(a: Any) -> Any:
    return np.linalg.eig(a)[0]  # in the order of eig, whose vectors the gradient needs; LAPACK alone may order them otherwise


def _svd(a: Any, full_matrices: bool) -> tuple[Any, Any, Any]:
    u, s, vh = np.linalg.svd(a, full_matrices)
    return u, s, vh


def _svdvals(x: Any) -> Any:
    return np.linalg.svd(x, compute_uv=False)


def _spectral(a: Any, values: Any, UPLO: Any) -> Any:
    _, v = np.linalg.eigh(a, UPLO)
    return (v * values[..., None, :]) @ v.conj().mT


def _basis(vectors: Any, function: Any, values: Any) -> Any:
    return np.array(vectors)


operator("cholesky(Tensor a) -> Tensor", np.linalg.cholesky)
operator("qr(Tensor a, *, str mode='reduced') -> (Tensor q, Tensor r)", _qr)
operator("eigh(Tensor a, *, str UPLO='L') -> (Tensor eigenvalues, Tensor eigenvectors)", _eigh)
operator("eigvalsh(Tensor a, *, str UPLO='L') -> Tensor", np.linalg.eigvalsh)
operator("eig(Tensor a) -> (Tensor eigenvalues, Tensor eigenvectors)", _eig)
operator("eigvals(Tensor a) -> Tensor", _eigvals)
operator("svd(Tensor a, *, bool full_matrices=True) -> (Tensor u, Tensor s, Tensor vh)", _svd)
operator("svdvals(Tensor x) -> Tensor", _svdvals)

# The Hermitian matrix with the eigenvectors of `a` and other eigenvalues, equal ones where those of `a` are. It is a function of
# `a` even where the eigenvectors are not, and is the gradient of functions of the eigenvalues.
operator("spectral(Tensor a, Tensor values, *, str UPLO='L') -> Tensor", _spectral)

# Vectors as they are, when `values` repeat: the record at which forward mode refuses those that are free to turn.
operator("basis(Tensor vectors, *, str function, Any values) -> Tensor", _basis)
