"""Gradients of the family linalg."""
