"""The message catalog: every sentence that a person reads, by key and language, and the few ways of writing figures.

The sentences are data, in `en/*.toml` and `ko/*.toml`; a language is read when its first sentence is asked for."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from types import MappingProxyType

from bot.config import POLICY_PATH
from bot.model import Language

__all__ = ["bullets", "duration", "gigabytes", "has_message", "joined", "messages", "t"]

_HERE = Path(__file__).parent


@cache
def messages(language: Language) -> Mapping[str, str]:
    """All messages of the language by key."""
    found: dict[str, str] = {}
    for path in sorted((_HERE / language).glob("*.toml")):
        found |= tomllib.loads(path.read_text(encoding="utf-8"))
    return MappingProxyType(found)


def t(language: Language, key: str, /, **values: object) -> str:
    """The message of that key with its values put in: Markdown or plain text, as its values are.

    `KEY.one` is used where `count` is 1 and the language has such a form. KeyError for an unknown key and for a field
    without a value: either is a bug of ours."""
    found = messages(language)
    text = found.get(f"{key}.one") if values.get("count") == 1 else None
    return (found[key] if text is None else text).format_map({"file": f"`{POLICY_PATH}`", **values})


def has_message(key: str) -> bool:
    """Whether there is such a message; every language has the same keys."""
    return key in messages("en")


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
