"""Deletes old rows, a few at a time."""
