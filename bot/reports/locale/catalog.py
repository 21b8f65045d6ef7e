"""The message catalog: every sentence that a person reads, by key and language, and the formats of figures and lists.

The messages are in `en/*.toml` and `ko/*.toml`; a language is loaded when its first message is requested."""

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
    """Returns all messages of the language by key."""
    by_key: dict[str, str] = {}
    for path in sorted((_HERE / language).glob("*.toml")):
        by_key |= tomllib.loads(path.read_text(encoding="utf-8"))
    return MappingProxyType(by_key)


def t(language: Language, key: str, /, **values: object) -> str:
    """Returns the message of that key with its values filled in: Markdown or plain text, as its values are.

    `KEY.one` is used if `count` is 1 and the language has such a form. Raises KeyError for an unknown key or a field
    without a value: either is a bug."""
    catalog = messages(language)
    text = catalog.get(f"{key}.one") if values.get("count") == 1 else None
    return (catalog[key] if text is None else text).format_map({"file": f"`{POLICY_PATH}`", **values})


def has_message(key: str) -> bool:
    """Returns whether there is such a message; every language has the same keys."""
    return key in messages("en")


def duration(language: Language, milliseconds: int) -> str:
    """Returns the duration in words: `0.3 s`, `42 s`, `2 min 5 s`, `5 min`."""
    second, minute = (" s", " min") if language == "en" else ("초", "분")
    seconds = max(0, milliseconds) / 1000
    if seconds < 10:
        return f"{seconds:.1f}{second}"
    whole = round(seconds)
    if whole < 60:
        return f"{whole}{second}"
    return f"{whole // 60}{minute}" + (f" {whole % 60}{second}" if whole % 60 else "")


def gigabytes(megabytes: int) -> str:
    """Returns a memory limit such as `6 GB`, `1.5 GB` or `512 MB`, the same in both languages."""
    return f"{round(megabytes / 1024, 1):g} GB" if megabytes >= 1024 else f"{megabytes} MB"


def bullets(shown: Sequence[str], of: int, language: Language) -> str:
    """Returns the shown items, each with its dash already, and `- and N more` if `of` exceeds their number."""
    more = [f"- {t(language, 'more', count=of - len(shown))}"] if len(shown) < of else []
    return "\n".join([*shown, *more])


def joined(language: Language, items: Sequence[str]) -> str:
    """Returns the items as a list in prose: `a`, `a and b`, `a, b and c`."""
    if language == "ko" or len(items) < 2:
        return ", ".join(items)
    return f"{', '.join(items[:-1])} and {items[-1]}"
