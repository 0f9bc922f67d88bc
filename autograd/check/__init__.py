"""Numerical checks of gradients.

``check_gradient``      compare the gradient of a function, both modes, with central differences
``GradientReport``      what it returns, with a ``Probe`` for each answer that was compared
``central_difference``  a derivative by extrapolated central differences, as a ``Difference`` with its uncertainty
"""

from autograd.check.differences import Difference, central_difference
from autograd.check.gradient import check_gradient
from autograd.check.report import GradientReport, Probe

__all__ = ["Difference", "GradientReport", "Probe", "central_difference", "check_gradient"]
