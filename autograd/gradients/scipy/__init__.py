"""Gradients of SciPy's functions. Each family is registered when the part of ``autograd.scipy`` that needs it is imported."""
