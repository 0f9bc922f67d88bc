"""Numerical checks of gradients, that say which kernel is wrong, in which input, by how much, and how.

``check_gradient``   any function: the gradient, both modes and any order, against differences; names the kernel to blame
``check_derivative`` a derivative written by hand, of any function on arrays
``check_call``       one operator at given inputs
``check_kernel``     one operator on calls that hypothesis draws by its schema, as a ``KernelReport``; ``check_all`` all
``check_backend``    the kernels and gradients of one backend against those of another, as a ``BackendReport``
``detect_anomaly``   stops at the kernel that makes NaN or inf out of finite numbers
``strategies``       hypothesis strategies: arrays, shapes, attributes, calls and whole programs (import the module by name)
``GradientReport``   what the checks return, with a ``Probe`` for each answer that was compared, and the ``Culprit``
``VERDICTS``         what a report may say
``slopes``           the derivative of a function of one number by differences, as ``Slopes`` with their uncertainty
"""

from autograd.anomaly import detect_anomaly
from autograd.check.backend import BackendReport, check_backend
from autograd.check.derivative import check_derivative
from autograd.check.differences import Slopes, slopes
from autograd.check.gradient import check_gradient
from autograd.check.kernel import KernelReport, check_all, check_kernel
from autograd.check.local import check_call
from autograd.check.report import VERDICTS, Culprit, GradientReport, JacobianPair, Probe

__all__ = [
    "VERDICTS",
    "BackendReport",
    "Culprit",
    "GradientReport",
    "JacobianPair",
    "KernelReport",
    "Probe",
    "Slopes",
    "check_all",
    "check_backend",
    "check_call",
    "check_derivative",
    "check_gradient",
    "check_kernel",
    "detect_anomaly",
    "slopes",
]
