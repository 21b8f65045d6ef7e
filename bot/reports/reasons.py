"""Why things are as they are (a group, an end, a wait), told from values in the reader's language.

What is told is text, not Markdown: its values come from issues, logs and people, so it is escaped as a whole."""

from __future__ import annotations

from collections.abc import Mapping

from bot.model import Language
from bot.model.said import Said
from bot.reports.reasons_korean import REASONS_KOREAN

__all__ = ["REASONS", "in_words"]

REASONS: Mapping[Language, Mapping[str, str]] = {"en": {}, "ko": REASONS_KOREAN}
"""English is what the sentence's own text is (`rules.sayings`)."""


def in_words(said: Said, language: Language) -> str:
    """The sentence in that language; as it was written, where the table has no other."""
    sentence = REASONS[language].get(said.kind)
    return said.text if sentence is None else sentence.format(**said.values)
