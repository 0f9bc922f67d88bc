"""Gradients of the family explog."""
