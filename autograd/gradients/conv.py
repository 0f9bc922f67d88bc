"""Gradients of the family conv."""
