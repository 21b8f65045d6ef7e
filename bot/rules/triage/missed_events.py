"""Finds runs whose webhook was lost: the present state of an issue stops its run as the event would have."""

from __future__ import annotations

from bot.config import Policy
from bot.model import Issue
from bot.model.reasons import Reason
from bot.rules.reasons import make_reason
from bot.rules.triage.decisions import carries


def withdrawal_reason(before: Issue, now: Issue, policy: Policy) -> Reason | None:
    """Why the run must stop for this issue (spec G.5), from the issue at the start of the run and the issue now;
    None if it may go on. A label that was missing at the start does not count as removed."""
    number = before.number
    if now.number != number:  # GitHub leads on to where it is now
        return make_reason("stop.missed_transferred", number=number)
    if now.state != "open":
        return make_reason("stop.missed_closed", number=number)
    if carries(now.labels, policy.skip_label) and not carries(before.labels, policy.skip_label):
        return make_reason("stop.missed_skipped", number=number, label=policy.skip_label)
    if carries(before.labels, policy.trigger_label) and not carries(now.labels, policy.trigger_label):
        return make_reason("stop.missed_unlabelled", number=number, label=policy.trigger_label)
    return None
