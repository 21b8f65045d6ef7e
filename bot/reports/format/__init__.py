"""Markdown, size limits and the masking of secrets."""
