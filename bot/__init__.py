"""Mendbot: a self-hosted GitHub App that fixes labelled issues."""

VERSION = "0.1.0"
