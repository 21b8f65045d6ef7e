"""What a comment says about a group: its issues, why they are grouped, how to change that, its conflicts (spec F,
G.2)."""

from __future__ import annotations

from bot.model import Language, RunView
from bot.model.report_views import Conflict
from bot.reports.format.markdown import details, escape, within
from bot.reports.format.truncate import inline_code
from bot.reports.locale.catalog import bullets, joined, t
from bot.reports.locale.reasons import reason_text

_INLINE_ISSUES = 10
"""A larger group is folded."""

_TITLE_CHARS = 150
_MAX_REASONS = 12
_MAX_CHARS = 16_000
_MAX_CONFLICTS = 5
_MAX_PATHS = 3


def group_section(view: RunView, language: Language) -> str:
    """Returns the issues of the run and why they are grouped; for a single issue only the branch.

    It is folded once the run is over, as its result matters more then."""
    if len(view.issues) < 2:
        return t(language, "alone", branch=inline_code(view.branch)) if view.branch and not view.status.final else ""
    over = view.status.final
    if over or len(view.issues) > _INLINE_ISSUES:
        return details(f"{t(language, 'group')} ({len(view.issues)})", group_account(view, language))
    return f"**{t(language, 'group')}**\n\n{group_account(view, language)}"


def group_account(view: RunView, language: Language) -> str:
    """Returns a group's issues, reasons and branch, and how to change it."""
    lines = [f"- #{issue.number}: {escape(issue.title, _TITLE_CHARS)}" for issue in view.issues]
    parts = [bullets(within(lines, _MAX_CHARS), len(lines), language)]
    if view.reasons:
        parts.append(f"{t(language, 'because')}\n\n{reasons(view, language)}")
    if view.branch:
        parts.append(t(language, "alone", branch=inline_code(view.branch)))
    parts.append(how_to_change(view, language))
    return "\n\n".join(parts)


def reasons(view: RunView, language: Language) -> str:
    """Returns why exactly these issues are grouped: the first twelve reasons, and the number of the others."""
    lines = within((f"- {escape(reason_text(reason, language))}" for reason in view.reasons[:_MAX_REASONS]), _MAX_CHARS)
    return bullets(lines, len(view.reasons), language)


def how_to_change(view: RunView, language: Language) -> str:
    """Returns the commands that change a group of at least two issues."""
    key = "group.change.over" if view.status.final else "group.change"
    return t(language, key, number=view.issues[-1].number)


def conflicts(view: RunView, language: Language) -> str:
    """Returns a line for each group whose change cannot be merged with this one's; the first five."""
    lines = [_conflict(conflict, language) for conflict in view.conflicts[:_MAX_CONFLICTS]]
    more_count = len(view.conflicts) - len(lines)
    lines += [t(language, "more", count=more_count)] if more_count else []
    return "\n".join(f"- ⚠️ {line}" for line in lines) if len(lines) > 1 else f"⚠️ {lines[0]}" if lines else ""


def _conflict(conflict: Conflict, language: Language) -> str:
    other = joined(language, [f"#{number}" for number in conflict.issues])
    if conflict.pull is not None:
        other = t(language, "conflict.pull", issues=other, pull=t(language, "pull", number=conflict.pull))
    paths = [inline_code(path) for path in conflict.paths[:_MAX_PATHS]]
    if not paths:
        return t(language, "conflict.plain", other=other)
    more_count = len(conflict.paths) - len(paths)
    more = f" {t(language, 'more', count=more_count)}" if more_count else ""
    return t(language, "conflict", other=other, paths=", ".join(paths) + more)
