"""Training: ``fit`` a model on data, see how it goes, and write down where it is. Also ``python -m autograd train NAME``.

the loop       ``fit``, ``Fitted``, ``supervised``, ``evaluate``
data           ``batches``
how it goes    ``History``; ``EarlyStopping``, ``on_plateau``, ``log_rows``, ``EachStep`` and the ``Event`` of a callback
files          ``Checkpoint``, ``save_model``, ``load_model``, ``CheckpointError``
digits         ``JOBS``, the table of what the command line trains; ``digits``, the data, the network and its training

>>> import numpy as np
>>> from autograd import nn, optim
>>> rng = np.random.default_rng(0)
>>> x = rng.normal(size=(200, 2))
>>> labels = (x[:, 0] * x[:, 1] > 0).astype(int)
>>> model = nn.Sequential(nn.Linear(2, 16, seed=rng), nn.tanh, nn.Linear(16, 2, seed=rng))
>>> fitted = fit(model, supervised(nn.cross_entropy), (x, labels), optimiser=optim.Adam(0.03), epochs=20)
>>> bool((fitted.model(x).argmax(axis=1) == labels).mean() > 0.9)
True
"""

from autograd.errors import CheckpointError
from autograd.train import digits
from autograd.train.callbacks import EachStep, EarlyStopping, Event, log_rows, on_plateau
from autograd.train.checkpoint import Checkpoint, load_model, save_model
from autograd.train.data import batches
from autograd.train.evaluation import evaluate
from autograd.train.fit import Fitted, fit
from autograd.train.history import History
from autograd.train.jobs import JOBS, Job
from autograd.train.step import supervised

__all__ = [
    "JOBS",
    "Checkpoint",
    "CheckpointError",
    "EachStep",
    "EarlyStopping",
    "Event",
    "Fitted",
    "History",
    "Job",
    "batches",
    "digits",
    "evaluate",
    "fit",
    "load_model",
    "log_rows",
    "on_plateau",
    "save_model",
    "supervised",
]
