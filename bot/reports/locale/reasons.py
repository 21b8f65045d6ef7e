"""Why things are as they are (a group, an end, a wait), in the reader's language."""

from __future__ import annotations

from bot.model import Language
from bot.model.reasons import Reason
from bot.reports.format.markdown import escape
from bot.reports.locale.catalog import CATALOGUE, t

__all__ = ["named_reason", "reason_text"]


def reason_text(said: Reason, language: Language) -> str:
    """The sentence in that language; as it was written in English (`rules.reasons`), where there is no other.

    It is text, not Markdown: its values come from issues, logs and people, so it is escaped as a whole."""
    key = f"reason.{said.kind}"
    return t(language, key, **said.values) if key in CATALOGUE[language] else said.text


def named_reason(because: str, language: Language) -> str:
    """A reason as Markdown: one that has a name (`paths`, `setup`, …) in the language's words, any other escaped."""
    key = f"pull_check.because.{because}"
    return t(language, key) if key in CATALOGUE[language] else escape(because)
