"""Gradients of the family shape."""
