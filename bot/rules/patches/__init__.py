"""Unified diffs: parsing, fuzzy application, and what a change may touch."""
