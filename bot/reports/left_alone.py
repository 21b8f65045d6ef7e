"""What failed before any change and was left alone, because the task does not name it."""

from __future__ import annotations

from bot.model import Language, RunView
from bot.reports.limits import inline_code
from bot.reports.prose import details
from bot.reports.text import bullets, say

_ERROR_CHARS = 160
_MOST = 10


def left_alone(view: RunView, language: Language) -> str:
    """The errors of the base that stay, folded, and the checks that were left out; empty where there are none."""
    parts = [say(language, "left.not_run", stage=inline_code(stage, 40)) for stage in view.left_out]
    if view.left_count:
        lines = [f"- {inline_code(error, _ERROR_CHARS)}" for error in view.left[:_MOST]]
        told = bullets(lines, view.left_count, language) if lines else ""
        title = f"{say(language, 'left')} ({view.left_count})"
        parts.append(details(title, told) if told else f"{title}.")
    return "\n\n".join(parts)
