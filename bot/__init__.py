"""Mendbot: a self-hosted GitHub App that mends labelled issues."""
