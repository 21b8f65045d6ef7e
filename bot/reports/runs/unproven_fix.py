"""The first sentence about a run that passed its checks but has not proven a fix."""

from __future__ import annotations

from bot.model import Language, Proof
from bot.reports.locale.catalog import t

__all__ = ["unproven_reason"]


def unproven_reason(proof: Proof, language: Language) -> str:
    """Returns why no check proves that the change is a fix, as a sentence; empty if a check has proven it."""
    return "" if proof == "shown" else t(language, f"unshown.{proof}")
