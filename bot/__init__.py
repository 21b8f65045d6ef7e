"""Mendbot: a self-hosted GitHub App that fixes labelled issues."""
