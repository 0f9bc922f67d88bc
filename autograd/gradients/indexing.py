"""Gradients of indexing."""

from autograd.indexed import IndexedGradient
from registry.gradients import gradient


@gradient("getitem", infos_to_save=("a",), linear=("a",))
def getitem(dy, saved, attrs):
    (a,) = saved
    return {"a": lambda: IndexedGradient(dy, attrs["index"], a.shape, a.dtype)}
