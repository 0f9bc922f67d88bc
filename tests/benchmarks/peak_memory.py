"""Peak memory of a W4 step: live bytes above the parameters, at most PyTorch's.

NumPy reports its buffers to ``tracemalloc``; PyTorch's come from its own profiler. The update needs no array of its own on
any side, so that the peak is that of forward and backward.
"""

from __future__ import annotations

import gc
import tracemalloc
from contextlib import suppress
from itertools import accumulate

from . import mlp
from .workload import Step


def peak_bytes(*, peers: bool) -> dict[str, int]:
    """Peak bytes above the parameters during one step, by side."""
    problem = mlp.Problem((784, 512, 512, 10), 256, "relu", "sgd in place")
    peaks = {"floor": _peak_of_numpy(mlp.floor(problem)), "ours": _peak_of_numpy(mlp.ours(problem))}
    if peers:
        with suppress(ImportError):
            peaks["torch"] = _peak_of_torch(mlp.torch_side(problem))
    return peaks


def _peak_of_numpy(step: Step) -> int:
    step()
    gc.collect()
    tracemalloc.start()
    try:
        before, _ = tracemalloc.get_traced_memory()
        step()
        return tracemalloc.get_traced_memory()[1] - before
    finally:
        tracemalloc.stop()


def _peak_of_torch(step: Step) -> int:
    """The highest sum of allocations and releases; a step begins by releasing the gradients of the one before."""
    from torch.profiler import ProfilerActivity, profile

    step()
    with profile(activities=[ProfilerActivity.CPU], profile_memory=True) as record:
        step()
    events = record.profiler.kineto_results.events()
    changes = [each.nbytes() for each in sorted(events, key=lambda each: each.start_ns()) if each.name() == "[memory]"]
    return max(accumulate(changes, initial=0))
