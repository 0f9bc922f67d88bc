"""Numerical checks of gradients, that say which kernel is wrong, in which input, by how much, and how.

``check_gradient``   any function: the gradient, both modes and any order, against differences; names the kernel to blame
``check_call``       one operator at given inputs
``GradientReport``   what they return, with a ``Probe`` for each answer that was compared, and the ``Culprit``
``VERDICTS``         what a report may say
``slopes``           the derivative of a function of one number by differences, as ``Slopes`` with their uncertainty
"""

from autograd.check.differences import Slopes, slopes
from autograd.check.gradient import check_gradient
from autograd.check.local import check_call
from autograd.check.report import VERDICTS, Culprit, GradientReport, JacobianPair, Probe

__all__ = ["VERDICTS", "Culprit", "GradientReport", "JacobianPair", "Probe", "Slopes", "check_call", "check_gradient", "slopes"]
