"""Keeps GitHub up to date with runs and checks."""
