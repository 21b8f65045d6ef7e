"""Failures from before any change, which a run leaves alone because its task does not name them."""

from __future__ import annotations

from bot.model import Language, RunView
from bot.reports.format.markdown import details
from bot.reports.format.truncate import inline_code
from bot.reports.locale.catalog import bullets, t

_ERROR_CHARS = 160
_MAX_SHOWN = 10


def existing_failures(view: RunView, language: Language) -> str:
    """Returns the remaining errors of the base, folded, and the checks that were left out; empty if there are none."""
    parts = [t(language, "left.not_run", stage=inline_code(stage, 40)) for stage in view.left_out]
    if view.left_count:
        lines = [f"- {inline_code(error, _ERROR_CHARS)}" for error in view.left[:_MAX_SHOWN]]
        listed = bullets(lines, view.left_count, language) if lines else ""
        title = f"{t(language, 'left')} ({view.left_count})"
        parts.append(details(title, listed) if listed else f"{title}.")
    return "\n\n".join(parts)
