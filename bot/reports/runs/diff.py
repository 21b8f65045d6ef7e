"""A diff in a comment, folded: only its first files if it is too long, or the first lines of a single long file."""

from __future__ import annotations

import re

from bot.model import Language, RunView
from bot.reports.format.markdown import details, within
from bot.reports.format.truncate import fence, strip_control
from bot.reports.locale.catalog import t

_DIFF_CHARS = 40_000
"""It leaves space in the comment for the text around the diff."""

_FILE = re.compile(r"^(?=diff --git )", re.MULTILINE)


def diff_shown(patch: str, language: Language, *, title: str) -> list[str]:
    """Returns notes on how the shown diff differs from `patch`, and the diff; `patch` must be redacted already."""
    text = strip_control(patch)
    notes = [t(language, "pull_check.fix.altered")] if text != patch else []
    files = [part for part in _FILE.split(text) if part.strip()]
    shown_files = within(files, _DIFF_CHARS)
    shown = "".join(shown_files)
    if len(shown) > _DIFF_CHARS:
        shown = shown[:_DIFF_CHARS].rpartition("\n")[0] or shown[:_DIFF_CHARS]
        notes.append(t(language, "pull_check.fix.cut", count=len(shown)))
    elif len(shown_files) < len(files):
        notes.append(t(language, "pull_check.fix.cut.files", shown=len(shown_files), all=len(files)))
    return [" ".join(notes), details(t(language, f"pull_check.{title}"), fence(shown, "diff"))]


def unfinished(run: RunView, language: Language) -> list[str]:
    """Returns the unfinished change of a run as a diff; empty if there is none."""
    return diff_shown(run.unfinished, language, title="unfinished.diff") if run.unfinished.strip() else []
