"""What an issue's state now says about a run whose webhook was lost: as the event would have, it stops the run."""

from __future__ import annotations

from bot.config import Policy
from bot.model import Issue
from bot.model.said import Said
from bot.rules.sayings import write


def withdrawn(before: Issue, now: Issue, policy: Policy) -> Said | None:
    """Why a run is not for this issue any more (spec G.5), given the issue as the run began with it; None if it is. A
    label that was not there then was not taken off."""
    number = before.number
    if now.number != number:  # GitHub leads on to where it is now
        return write("stop.missed_transferred", number=number)
    if now.state != "open":
        return write("stop.missed_closed", number=number)
    if _carries(now, policy.skip_label) and not _carries(before, policy.skip_label):
        return write("stop.missed_skipped", number=number, label=policy.skip_label)
    if _carries(before, policy.trigger_label) and not _carries(now, policy.trigger_label):
        return write("stop.missed_unlabelled", number=number, label=policy.trigger_label)
    return None


def _carries(issue: Issue, label: str) -> bool:
    return any(own.casefold() == label.casefold() for own in issue.labels)
