"""Runs the checks of a tree and reads what they print and write."""

from bot.workspace.checks.run_checks import run_checks

__all__ = ["run_checks"]
