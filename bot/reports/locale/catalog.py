"""The catalogue of all that people are told, once per language, and the few ways of writing figures.

Values put into a sentence are Markdown already (`prose.escape`, `limits.inline_code`) or numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from bot.config import POLICY_PATH
from bot.model import Language
from bot.reports.locale.en import ENGLISH
from bot.reports.locale.en_pulls import ENGLISH as PULL_CHECKS
from bot.reports.locale.en_replies import REPLIES_ENGLISH
from bot.reports.locale.ko import KOREAN
from bot.reports.locale.ko_pulls import KOREAN as PULL_CHECKS_KOREAN
from bot.reports.locale.ko_reasons import REASONS_KOREAN
from bot.reports.locale.ko_replies import REPLIES_KOREAN
from bot.reports.locale.refusals import REFUSALS

__all__ = ["CATALOGUE", "bullets", "count", "duration", "joined", "t"]

_TABLES: Mapping[str, Mapping[Language, Mapping[str, str]]] = {
    "": {"en": ENGLISH, "ko": KOREAN},
    "pull_check.": {"en": PULL_CHECKS, "ko": PULL_CHECKS_KOREAN},
    "reason.": {"en": {}, "ko": REASONS_KOREAN},
    "refused.": REFUSALS,
    "reply.": {"en": REPLIES_ENGLISH, "ko": REPLIES_KOREAN},
}
"""By what their keys begin with. The English of a reason is what it was written as (`reports.locale.reasons`)."""

_LANGUAGES: tuple[Language, ...] = ("en", "ko")

CATALOGUE: Mapping[Language, Mapping[str, str]] = {
    language: {begin + key: text for begin, table in _TABLES.items() for key, text in table[language].items()}
    for language in _LANGUAGES
}


def t(language: Language, key: str, /, **values: object) -> str:
    """The sentence of that key with its values put in: Markdown, or plain text where its values are.

    KeyError for an unknown key and for a field without a value: either is a bug of ours."""
    return CATALOGUE[language][key].format_map({"file": f"`{POLICY_PATH}`", **values})


def count(language: Language, key: str, number: int, /, **values: object) -> str:
    """`key`, or `key.one` where the number is one."""
    return t(language, f"{key}.one" if number == 1 else key, count=number, **values)


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


def gigabytes(megabytes: int) -> str:
    """`6 GB`, `1.5 GB`, `512 MB`: a limit of memory, alike in both languages."""
    return f"{round(megabytes / 1024, 1):g} GB" if megabytes >= 1024 else f"{megabytes} MB"


def bullets(shown: Sequence[str], of: int, language: Language) -> str:
    """The items that are shown, each with its dash already, and `- and N more` where there are more of them."""
    more = [f"- {t(language, 'more', count=of - len(shown))}"] if len(shown) < of else []
    return "\n".join([*shown, *more])


def joined(language: Language, items: Sequence[str]) -> str:
    """`a`, `a and b`, `a, b and c`."""
    if language == "ko" or len(items) < 2:
        return ", ".join(items)
    return f"{', '.join(items[:-1])} and {items[-1]}"
