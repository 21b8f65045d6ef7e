"""Why things are as they are (a group, an end, a wait), in the reader's language."""

from __future__ import annotations

from bot.model import Language
from bot.model.reasons import Reason
from bot.reports.format.markdown import escape
from bot.reports.locale.catalog import has_message, t

__all__ = ["named_reason", "reason_text"]


def reason_text(reason: Reason, language: Language) -> str:
    """The reason as a sentence in that language, without its period.

    It is text, not Markdown: its values come from issues, logs and people, so it is escaped as a whole."""
    kind = reason.kind.removesuffix(".one")
    values = reason.values if kind == reason.kind else {"count": 1, **reason.values}
    return t(language, f"reason.{kind}", **values)


def named_reason(because: str, language: Language) -> str:
    """A reason as Markdown: one that has a name (`paths`, `setup`, …) in the language's words, any other escaped."""
    key = f"pull_check.because.{because}"
    return t(language, key) if has_message(key) else escape(because)
