"""Texts about the error history."""
