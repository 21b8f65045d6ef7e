"""What the error history knows of a run's errors, as a folded part of its comment (REQ-RA-312). It is told as words and
places; a patch is never told, as it may hold code of another day that nobody asked to see again."""

from __future__ import annotations

from bot.model import KnownError, Language, RunView
from bot.reports.history import error_guidance, file_guidance, places
from bot.reports.prose import details, escape, within
from bot.reports.text import say

_MOST = 5
_LINE_CHARS = 400
_ROOM = 12_000
"""Characters of the whole part, Markdown included: signs that must be escaped take up to nine each."""


def known_errors(view: RunView, language: Language) -> str:
    """The guidance of the latest attempt, but for errors that are fixed by now; empty where there is none."""
    gone = set(view.movement.fixed) if view.movement else set()
    told = [_item(known, view, language) for known in view.guidance[:_MOST] if known.error not in gone]
    return details(say(language, "known"), "\n".join(within(told, _ROOM))) if told else ""


def _item(known: KnownError, view: RunView, language: Language) -> str:
    """The history's lines as a list item, the error in front and how it was resolved below it."""
    open_errors = (*view.movement.remaining, *view.movement.introduced) if view.movement else ()
    tell = error_guidance if not known.exact or known.error in open_errors else file_guidance
    first, *more = (escape(line, _LINE_CHARS) for line in tell(known, language).split("\n"))
    if where := places(known, view.repo):
        more.append(say(language, "known.where", places=", ".join(where)))
    return "\n".join([f"- {first}", *(f"  - {line}" for line in more)])
