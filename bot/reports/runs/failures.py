"""Failures as people and agents read them: a headline for each, the first one in full, the others by name."""

from __future__ import annotations

from collections.abc import Sequence

from bot.model import Language, ShownFailure
from bot.reports.format.truncate import inline_code, one_line
from bot.reports.locale.catalog import bullets, t

_HEADLINE_CHARS = 300
_VALUE_CHARS = 80
_MAX_OTHERS = 19
_MAX_LISTED = 5


def headline(failure: ShownFailure, language: Language = "en") -> str:
    """Returns `tests/test_x.py::test_y — assert 3 == 4 (tests/test_x.py:12)`, without the parts that are unknown."""
    place = f"{failure.path}:{failure.line}" if failure.path and failure.line else failure.path
    message = one_line(failure.message, _HEADLINE_CHARS)
    expected, received = one_line(failure.expected, _VALUE_CHARS), one_line(failure.received, _VALUE_CHARS)
    if expected and received and not (expected in message and received in message):
        values = t(language, "failure.values", expected=expected, received=received)
        message = f"{message}: {values}" if message else values
    words = " — ".join(part for part in (one_line(failure.name, _HEADLINE_CHARS), message) if part)
    return f"{words} ({place})" if place and words and place not in words else words or place


def describe_failures(failures: Sequence[ShownFailure], count: int, language: Language = "en") -> str:
    """Returns the first failure in full, then the headlines of at most 19 others; empty if no failure is known.

    `count` is the number of all failures."""
    if not failures:
        return ""
    first, *others = failures
    head = headline(first, language)
    lines = [f"- {headline(failure, language)}" for failure in others[:_MAX_OTHERS]]
    listed = f"{t(language, 'failure.also')}:\n{bullets(lines, max(count - 1, len(lines)), language)}" if lines else ""
    block = "" if first.block.strip() == head else first.block
    return "\n\n".join(part for part in (head, block, listed) if part)


def others_listed(failures: Sequence[ShownFailure], count: int, language: Language) -> str:
    """Returns a Markdown list of at most five failures after the first, and counts the rest; empty if there is no
    other."""
    others = failures[1 : 1 + _MAX_LISTED]
    items = [f"- {inline_code(headline(failure, language), _HEADLINE_CHARS)}" for failure in others]
    if not items:
        return ""
    return f"{t(language, 'failure.also')}:\n\n{bullets(items, max(count - 1, len(items)), language)}"
