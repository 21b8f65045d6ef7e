"""Texts that were kept as they were said, in the reader's language where they are sentences of ours."""

from __future__ import annotations

from bot.model import Language
from bot.reports.locale.reasons import reason_text
from bot.rules.reasons import parse_reason


def spoken(text: str, language: Language) -> str:
    """The sentence in that language; anybody else's words as they are."""
    found = parse_reason(text)
    return reason_text(found, language) if found is not None else text
