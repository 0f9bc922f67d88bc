"""``ArrayBox`` under the name that HIPS autograd's users import it by: ``isinstance(x, ArrayBox)`` holds for tensors."""

from autograd.tracer import ArrayBox, Box, SequenceBox

__all__ = ["ArrayBox", "Box", "SequenceBox"]
