"""Which issues are fixed together, why, and on which branch."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from bot.errors import UserError
from bot.model import Group, Issue
from bot.reports.locale.reasons import english, user_error
from bot.rules.grouping.groups import list_groups
from bot.rules.grouping.template_files import NO_TEMPLATES, Templates
from bot.rules.reasons import error_reason

__all__ = ["group_issues"]


def group_issues(
    issues: Sequence[Issue] | Sequence[Mapping[str, Any]],
    group_by: str,
    max_group_size: int = 5,
    *,
    ignore_labels: Collection[str] = (),
    taken_branches: Collection[str] = (),
    templates: Templates = NO_TEMPLATES,
) -> tuple[Group, ...]:
    """As `rules.grouping.groups.list_groups`, with the reasons and the message of its UserError in English."""
    try:
        groups = list_groups(
            issues,
            group_by,
            max_group_size,
            ignore_labels=ignore_labels,
            taken_branches=taken_branches,
            templates=templates,
        )
    except UserError as error:
        raise user_error(error_reason(error)) from None
    return tuple(
        Group(
            key=group.key,
            issues=group.issues,
            suggested_branch=group.suggested_branch,
            reasons=tuple(map(english, group.reasons)),
        )
        for group in groups
    )
