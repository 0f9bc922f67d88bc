"""The vector spaces of arrays under the names that HIPS autograd's users import them by."""

from autograd.vspaces import ArrayVSpace, ComplexArrayVSpace, ContainerVSpace, VSpace

__all__ = [
    "ArrayVSpace", "ComplexArrayVSpace", "EigResultVSpace", "EighResultVSpace", "NamedTupleVSpace", "QRResultVSpace",
    "SVDResultVSpace", "SlogdetResultVSpace", "VSpace",
]  # fmt: skip

NamedTupleVSpace = ContainerVSpace
EigResultVSpace = EighResultVSpace = QRResultVSpace = SVDResultVSpace = SlogdetResultVSpace = ContainerVSpace
