"""Gradients of the family compare."""
