"""Bare clones and what they exchange with the other side."""
