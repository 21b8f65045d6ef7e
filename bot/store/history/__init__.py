"""The error history."""
