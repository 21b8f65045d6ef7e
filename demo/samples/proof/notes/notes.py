"""Sorts notes for display."""

from __future__ import annotations

from collections.abc import Sequence


def newest(notes: Sequence[tuple[int, str]], count: int) -> list[str]:
    """The texts of the newest notes, each given with its time, the newest first."""
    return [text for _, text in sorted(notes, reverse=True)][:count]


def title(text: str) -> str:
    """The first line of a note."""
    return text.strip().split("\n")[0]
