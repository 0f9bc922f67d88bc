"""Gradients of the family special."""
