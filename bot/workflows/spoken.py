"""Texts that were kept as they were said, in the reader's language where they are sentences of ours."""

from __future__ import annotations

from bot.model import Language
from bot.reports.reasons import in_words
from bot.rules.sayings import read


def spoken(text: str, language: Language) -> str:
    """The sentence in that language; anybody else's words as they are."""
    found = read(text)
    return in_words(found, language) if found is not None else text
