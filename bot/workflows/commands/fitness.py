"""Whether an issue, as it is on GitHub now, is for Mendbot; where it is not, the answer that says why."""

from __future__ import annotations

from bot.model import Issue
from bot.workflows.commands.orders import Ask, Said, refused
from bot.workflows.context import Context


def carries(issue: Issue, label: str) -> bool:
    """GitHub's labels ignore case."""
    return any(own.casefold() == label.casefold() for own in issue.labels)


async def misfit(context: Context, ask: Ask, number: int) -> Said | None:
    """The refusal to work on an issue; None where nothing is against it (spec G.1)."""
    issue = await context.github.repository(ask.repo).issue(number)
    if issue.state != "open":
        return refused(ask, "issue_closed", number=number)
    if carries(issue, ask.policy.skip_label):
        return refused(ask, "issue_skipped", number=number, label=ask.policy.skip_label)
    return None
