"""Failures as people and agents read them: a headline for each, the first with its lines, the others by name."""

from __future__ import annotations

from collections.abc import Sequence

from bot.model import Language, ShownFailure
from bot.reports.format.truncate import inline_code, one_line
from bot.reports.locale.catalog import bullets, t

_HEADLINE = 300
_VALUE = 80
_OTHERS = 19
_LISTED = 5


def headline(failure: ShownFailure, language: Language = "en") -> str:
    """`tests/test_x.py::test_y — assert 3 == 4 (tests/test_x.py:12)`, without the parts that are not known."""
    place = f"{failure.path}:{failure.line}" if failure.path and failure.line else failure.path
    said = one_line(failure.message, _HEADLINE)
    expected, received = one_line(failure.expected, _VALUE), one_line(failure.received, _VALUE)
    if expected and received and not (expected in said and received in said):
        values = t(language, "failure.values", expected=expected, received=received)
        said = f"{said}: {values}" if said else values
    words = " — ".join(part for part in (one_line(failure.name, _HEADLINE), said) if part)
    return f"{words} ({place})" if place and words and place not in words else words or place


def failures_told(failures: Sequence[ShownFailure], count: int, language: Language = "en") -> str:
    """The first failure in full, then the headlines of at most 19 others; `count` is how many there are in all. Empty
    where nothing is known."""
    if not failures:
        return ""
    first, *others = failures
    head = headline(first, language)
    also = [f"- {headline(one, language)}" for one in others[:_OTHERS]]
    listed = f"{t(language, 'failure.also')}:\n{bullets(also, max(count - 1, len(also)), language)}" if also else ""
    block = "" if first.block.strip() == head else first.block
    return "\n\n".join(part for part in (head, block, listed) if part)


def others_listed(failures: Sequence[ShownFailure], count: int, language: Language) -> str:
    """A Markdown list of at most five failures after the first, the rest counted; empty where there is no other."""
    items = [f"- {inline_code(headline(one, language), _HEADLINE)}" for one in failures[1 : 1 + _LISTED]]
    if not items:
        return ""
    return f"{t(language, 'failure.also')}:\n\n{bullets(items, max(count - 1, len(items)), language)}"
