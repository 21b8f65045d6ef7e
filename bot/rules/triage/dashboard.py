"""Decides about an edit of the dashboard issue: the boxes that it ticks are commands of the person who edited it."""

from __future__ import annotations

import re

from bot.model.dashboard import BoxCommand
from bot.model.reasons import Reason
from bot.rules.events.types import IssueEdited
from bot.rules.reasons import make_reason
from bot.rules.triage.decisions import (
    WRITE_ACCESS,
    Decision,
    Facts,
    Ignore,
    Needs,
    RunBoxes,
    no_write_access,
)

KEY = "dashboard"
MARK = f"<!-- mendbot:{KEY} -->"
"""What the body of the dashboard begins with; `bot.github.threads.marker` makes it of the key."""

_TICKED = re.compile(r"- \[[xX]\] <!-- do (cancel|resume|retry) (issue|pull) ([1-9][0-9]{0,8}) -->")


def edit_needs(event: IssueEdited, app_login: str) -> Needs:
    """The permission of the person who ticked a box; nothing for any other edit."""
    return Needs(permission=_ignored(event, app_login) is None)


def on_edit(event: IssueEdited, facts: Facts) -> Decision:
    """The decision about an edit. Boxes that were ticked before the edit, by whomever, run nothing."""
    ignored = _ignored(event, facts.app_login)
    if ignored is not None:
        return Ignore(ignored)
    if facts.sender_permission not in WRITE_ACCESS:
        return Ignore(no_write_access(event.sender, facts, event.repo))
    boxes = _newly_ticked(event)
    listed = ", ".join(f"{box.verb} #{box.number}" for box in boxes)
    because = make_reason("dashboard.commands", by=event.sender, commands=listed[:200])
    return RunBoxes(event.repo, event.issue.number, event.sender, boxes, event.at, because)


def _ignored(event: IssueEdited, app_login: str) -> Reason | None:
    if event.previous is None or not event.issue.body.lstrip().startswith(MARK):
        return make_reason("dashboard.edited")
    if event.sender_is_bot or event.sender.endswith("[bot]") or event.sender.casefold() == app_login.casefold():
        return make_reason("event.by_bot")
    # somebody else's issue may show a text that is not that of its command
    if not app_login or event.issue.author.casefold() != app_login.casefold():
        return make_reason("dashboard.other", number=event.issue.number)
    if event.repo.installation_id == 0:
        return make_reason("event.no_installation")
    return None if _newly_ticked(event) else make_reason("dashboard.no_box")


def _newly_ticked(event: IssueEdited) -> tuple[BoxCommand, ...]:
    before = set(_ticked(event.previous or ""))
    return tuple(box for box in dict.fromkeys(_ticked(event.issue.body)) if box not in before)


def _ticked(body: str) -> list[BoxCommand]:
    found = (_TICKED.match(line) for line in body.splitlines())
    return [BoxCommand.model_validate({"verb": box[1], "where": box[2], "number": int(box[3])}) for box in found if box]
