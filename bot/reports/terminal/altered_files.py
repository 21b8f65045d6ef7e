"""Terminal lines about files that a check changed in the user's working tree."""

from __future__ import annotations

from collections.abc import Sequence

from bot.model import CheckResult, Language
from bot.reports.format.truncate import one_line
from bot.reports.locale.catalog import joined, t

_SHOWN = 5


def altered_lines(result: CheckResult, language: Language) -> tuple[str, ...]:
    """Returns lines about the files that were restored after the check, and those that could not be restored.

    Another line names the directory where the check's versions are stored."""
    lines = []
    if result.restored:
        paths = _names(result.restored, result.restored_count, language)
        lines.append(t(language, "local.restored", check=result.check, paths=paths))
    if result.found_in:
        lines.append(t(language, "local.found_in", place=result.found_in))
    if result.not_restored:
        paths = _names(result.not_restored, len(result.not_restored), language)
        lines.append(t(language, "local.not_restored", check=result.check, paths=paths))
    return tuple(f"  {line}" for line in lines)


def _names(paths: Sequence[str], count: int, language: Language) -> str:
    shown = [one_line(path) for path in paths[:_SHOWN]]
    more_count = max(0, count - _SHOWN)
    return joined(language, [*shown, t(language, "more.files", count=more_count)] if more_count else shown)
