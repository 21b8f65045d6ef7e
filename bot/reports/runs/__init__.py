"""Texts about a run: its comment, check runs, pull request and terminal lines."""
