"""Gradients of reductions."""

from autograd import operators as op
from registry.gradients import gradient


@gradient("sum", infos_to_save=("a",), linear=("a",), affine={"initial": None})
def sum(dy, saved, attrs):
    (a,) = saved

    def da():
        batch = dy.shape[: dy.ndim - (len(a.shape) if attrs["keepdims"] else 0)] if False else ()
        return op.broadcast_to(dy, shape=a.shape)

    return {"a": da}
