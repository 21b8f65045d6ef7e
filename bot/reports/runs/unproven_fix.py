"""What is said first of a green run that has not shown a fix."""

from __future__ import annotations

from bot.model import Language, Proof, RunView
from bot.reports.locale.catalog import t

__all__ = ["unshown", "unshown_because"]


def unshown(view: RunView, language: Language) -> str:
    """Why nothing shows that the change is a fix, as a sentence; empty where a check has shown it."""
    return unshown_because(view.proof, language)


def unshown_because(proof: Proof, language: Language) -> str:
    """The same of a proof alone."""
    return "" if proof == "shown" else t(language, f"unshown.{proof}")
