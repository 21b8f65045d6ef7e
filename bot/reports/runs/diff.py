"""A diff in a comment: folded, whole files of it where it is too long, or its first lines where one file is."""

from __future__ import annotations

import re

from bot.model import Language, RunView
from bot.reports.format.markdown import details, within
from bot.reports.format.truncate import fence, strip_control
from bot.reports.locale.catalog import t

_DIFF_CHARS = 40_000
"""So that what stands around the diff still fits the comment."""

_FILE = re.compile(r"^(?=diff --git )", re.MULTILINE)


def diff_shown(patch: str, language: Language, *, title: str) -> list[str]:
    """What is to be known of the diff as it is shown, and the diff itself; `patch` must be masked already."""
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
    """The change that a run left unfinished, as a diff; empty where there is none."""
    return diff_shown(run.unfinished, language, title="unfinished.diff") if run.unfinished.strip() else []
