"""Which issues are fixed together, why, and on which branch."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from bot.model import Group, Issue
from bot.reports.locale.reasons import english
from bot.rules.grouping.groups import list_groups

__all__ = ["group_issues"]


def group_issues(
    issues: Sequence[Issue] | Sequence[Mapping[str, Any]],
    group_by: str,
    max_group_size: int = 5,
    *,
    ignore_labels: Collection[str] = (),
    taken_branches: Collection[str] = (),
) -> tuple[Group, ...]:
    """As `rules.grouping.groups.list_groups`, with the reasons in English."""
    found = list_groups(issues, group_by, max_group_size, ignore_labels=ignore_labels, taken_branches=taken_branches)
    return tuple(
        Group(
            key=one.key,
            issues=one.issues,
            suggested_branch=one.suggested_branch,
            reasons=tuple(map(english, one.reasons)),
        )
        for one in found
    )
