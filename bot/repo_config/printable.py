"""Texts of anybody's, made fit for a sentence: one line, nothing invisible, and short."""

from __future__ import annotations

LONGEST = 60


def brief(text: str) -> str:
    """The text in at most 60 characters, what does not print as an escape, its end marked where it was cut."""
    escaped = repr(text[: LONGEST + 1])[1:-1]
    return escaped if len(escaped) <= LONGEST else escaped[: LONGEST - 1] + "…"


def shown(text: str) -> str:
    """The same in quotes, as a value is shown."""
    return f"'{brief(text)}'"
