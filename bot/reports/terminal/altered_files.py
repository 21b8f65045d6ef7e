"""What a check altered in somebody's own tree, as lines for a terminal."""

from __future__ import annotations

from collections.abc import Sequence

from bot.model import CheckResult, Language
from bot.reports.format.truncate import one_line
from bot.reports.locale.catalog import joined, t

_SHOWN = 5


def altered_lines(result: CheckResult, language: Language) -> tuple[str, ...]:
    """A line for the files that were restored after the check, one for where what it wrote is kept, and one for the
    files that could not be restored."""
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
    left = max(0, count - _SHOWN)
    return joined(language, [*shown, t(language, "more.files", count=left)] if left else shown)
