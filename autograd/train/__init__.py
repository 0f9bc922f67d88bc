"""Small models, trained from end to end: ``python -m autograd train NAME``.

``JOBS``             the table of what can be trained, by name
``digits``           the data, the network and the training of the handwritten digits
"""

from autograd.train import digits
from autograd.train.jobs import JOBS, Job

__all__ = ["JOBS", "Job", "digits"]
