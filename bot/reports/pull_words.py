"""The sentence table of pull requests' checks, and the words for what others give as a reason.

Values put into a sentence are Markdown already (`prose.escape`, `limits.inline_code`) or numbers."""

from __future__ import annotations

from collections.abc import Mapping

from bot.config import POLICY_PATH
from bot.model import Language
from bot.reports.prose import escape
from bot.reports.pull_words_en import ENGLISH
from bot.reports.pull_words_ko import KOREAN

__all__ = ["ENGLISH", "KOREAN", "WORDS", "reason", "tell", "tell_count"]

WORDS: Mapping[Language, Mapping[str, str]] = {"en": ENGLISH, "ko": KOREAN}


def tell(language: Language, key: str, **values: object) -> str:
    """The sentence of that key with its values put in; an unknown key is a KeyError, a bug of ours."""
    return WORDS[language][key].format(file=f"`{POLICY_PATH}`", **values)


def tell_count(language: Language, key: str, number: int, **values: object) -> str:
    """`key`, or `key.one` where the number is one."""
    return tell(language, f"{key}.one" if number == 1 else key, count=number, **values)


def reason(because: str, language: Language) -> str:
    """A reason as Markdown: one that has a name (`paths`, `setup`, …) in the language's words, any other escaped."""
    key = f"because.{because}"
    return tell(language, key) if key in WORDS[language] else escape(because)
