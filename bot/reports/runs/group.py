"""How a group explains itself: its issues by title, why they are together, how to change it, what it would collide with
(spec F, G.2)."""

from __future__ import annotations

from bot.model import Language, RunView
from bot.model.report_views import Conflict
from bot.reports.format.markdown import details, escape, within
from bot.reports.format.truncate import inline_code
from bot.reports.locale.catalog import bullets, joined, t
from bot.reports.locale.reasons import reason_text

_INLINE_ISSUES = 10
"""A larger group is folded."""

_TITLE = 150
_REASONS = 12
_ROOM = 16_000
_CONFLICTS = 5
_PATHS = 3


def group_section(view: RunView, language: Language) -> str:
    """Who is in the run and why; the branch alone for a single issue. Folded once the run is over, as it matters less
    then than what came of it."""
    if len(view.issues) < 2:
        return t(language, "alone", branch=inline_code(view.branch)) if view.branch and not view.status.final else ""
    over = view.status.final
    if over or len(view.issues) > _INLINE_ISSUES:
        return details(f"{t(language, 'group')} ({len(view.issues)})", group_account(view, language))
    return f"**{t(language, 'group')}**\n\n{group_account(view, language)}"


def group_account(view: RunView, language: Language) -> str:
    """A group's issues, reasons and branch, and how to change it."""
    lines = [f"- #{issue.number}: {escape(issue.title, _TITLE)}" for issue in view.issues]
    parts = [bullets(within(lines, _ROOM), len(lines), language)]
    if view.reasons:
        parts.append(f"{t(language, 'because')}\n\n{reasons(view, language)}")
    if view.branch:
        parts.append(t(language, "alone", branch=inline_code(view.branch)))
    parts.append(how_to_change(view, language))
    return "\n\n".join(parts)


def reasons(view: RunView, language: Language) -> str:
    """Why these issues and no others, the first twelve reasons; the others are counted."""
    lines = within((f"- {escape(reason_text(reason, language))}" for reason in view.reasons[:_REASONS]), _ROOM)
    return bullets(lines, len(view.reasons), language)


def how_to_change(view: RunView, language: Language) -> str:
    """The commands that change a group of at least two."""
    key = "group.change.over" if view.status.final else "group.change"
    return t(language, key, number=view.issues[-1].number)


def conflicts(view: RunView, language: Language) -> str:
    """A line for each group whose change would not merge with this one's; the first five."""
    lines = [_conflict(one, language) for one in view.conflicts[:_CONFLICTS]]
    left = len(view.conflicts) - len(lines)
    lines += [t(language, "more", count=left)] if left else []
    return "\n".join(f"- ⚠️ {line}" for line in lines) if len(lines) > 1 else f"⚠️ {lines[0]}" if lines else ""


def _conflict(one: Conflict, language: Language) -> str:
    other = joined(language, [f"#{number}" for number in one.issues])
    if one.pull is not None:
        other = t(language, "conflict.pull", issues=other, pull=t(language, "pull", number=one.pull))
    paths = [inline_code(path) for path in one.paths[:_PATHS]]
    if not paths:
        return t(language, "conflict.plain", other=other)
    left = len(one.paths) - len(paths)
    more = f" {t(language, 'more', count=left)}" if left else ""
    return t(language, "conflict", other=other, paths=", ".join(paths) + more)
