"""The sentence table: all that reports say of their own accord, once per language, and the few ways of writing figures.

Values put into a sentence are Markdown already (`prose.escape`, `limits.inline_code`) or numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from bot.config import POLICY_PATH
from bot.model import Language
from bot.reports.english import ENGLISH
from bot.reports.korean import KOREAN

__all__ = ["ENGLISH", "KOREAN", "SENTENCES", "bullets", "count", "duration", "joined", "say"]

SENTENCES: Mapping[Language, Mapping[str, str]] = {"en": ENGLISH, "ko": KOREAN}


def say(language: Language, key: str, **values: object) -> str:
    """The sentence of that key with its values put in; an unknown key is a KeyError, a bug of ours."""
    return SENTENCES[language][key].format(file=f"`{POLICY_PATH}`", **values)


def count(language: Language, key: str, number: int, **values: object) -> str:
    """`key`, or `key.one` where the number is one."""
    return say(language, f"{key}.one" if number == 1 else key, count=number, **values)


def duration(language: Language, milliseconds: int) -> str:
    """`0.3 s`, `42 s`, `2 min 5 s`, `5 min`."""
    second, minute = (" s", " min") if language == "en" else ("초", "분")
    seconds = max(0, milliseconds) / 1000
    if seconds < 10:
        return f"{seconds:.1f}{second}"
    whole = round(seconds)
    if whole < 60:
        return f"{whole}{second}"
    return f"{whole // 60}{minute}" + (f" {whole % 60}{second}" if whole % 60 else "")


def bullets(shown: Sequence[str], of: int, language: Language) -> str:
    """The items that are shown, each with its dash already, and `- and N more` where there are more of them."""
    more = [f"- {say(language, 'more', count=of - len(shown))}"] if len(shown) < of else []
    return "\n".join([*shown, *more])


def joined(language: Language, items: Sequence[str]) -> str:
    """`a`, `a and b`, `a, b and c`."""
    if language == "ko" or len(items) < 2:
        return ", ".join(items)
    return f"{', '.join(items[:-1])} and {items[-1]}"
