"""What a check altered in somebody's own tree, as lines for a terminal."""

from __future__ import annotations

from collections.abc import Sequence

from bot.model import CheckResult
from bot.reports.limits import one_line

_SHOWN = 5


def altered_lines(result: CheckResult) -> tuple[str, ...]:
    """A line for the files that were restored after the check, and one for those that could not be."""
    lines = []
    if result.restored:
        where = f"; what it had written is kept in {result.found_in}" if result.found_in else ""
        paths = _names(result.restored, result.restored_count)
        lines.append(f"  {result.check} changed {paths}, which Mendbot restored{where}")
    if result.not_restored:
        paths = _names(result.not_restored, len(result.not_restored))
        lines.append(f"  {result.check} changed {paths}, too large to be restored: compare with your last commit")
    return tuple(lines)


def _names(paths: Sequence[str], count: int) -> str:
    shown = ", ".join(one_line(path) for path in paths[:_SHOWN])
    return shown if count <= _SHOWN else f"{shown} and {count - _SHOWN} more"
