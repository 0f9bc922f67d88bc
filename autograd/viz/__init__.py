"""Pictures. They need matplotlib, which comes with ``pip install "gradtape[train]"``; it is imported when one is drawn.

``draw_tape``     the records of a tape as boxes and arrows
``draw_curves``   quantities over epochs, such as loss and accuracy

Each returns a ``matplotlib.figure.Figure`` and touches no global state: no pyplot, no choice of backend.
"""

from autograd.viz.curves import draw_curves
from autograd.viz.tape_picture import draw_tape

__all__ = ["draw_curves", "draw_tape"]
