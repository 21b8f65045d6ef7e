"""Boxes of the dashboard are commands of the person who ticks them, where that person has write access."""

from __future__ import annotations

from typing import Any

import pytest

from bot.model import Issue, Repo
from bot.model.dashboard import BoxCommand
from bot.rules.events.types import IssueEdited
from bot.rules.triage.dashboard import MARK, edit_needs, on_edit
from bot.rules.triage.decisions import Facts, Ignore, RunBoxes

REPO = Repo(owner="o", name="r", installation_id=3)
APP = "mendbot[bot]"
RETRY, RESUME = "- [{}] <!-- do retry issue 7 --> **Retry** #7", "- [{}] <!-- do resume pull 9 --> **Resume** #9"
EMPTY = f"{MARK}\n{RETRY}\n{RESUME}\n".replace("{}", " ")


def edit(body: str, previous: str | None = EMPTY, **more: Any) -> IssueEdited:
    values = {"sender": "ada", "sender_is_bot": False, "repo": REPO, "author": APP, **more}
    issue = Issue(number=4, title="Dashboard", body=body, author=values["author"])
    return IssueEdited(values["repo"], values["sender"], values["sender_is_bot"], issue, None, previous)


def ticked(line: str) -> str:
    return EMPTY.replace(line.format(" "), line.format("x"))


def facts(permission: str | None = "write") -> Facts:
    return Facts(app_login=APP, sender_permission=permission)


def test_a_newly_ticked_box_runs_its_command() -> None:
    """K-2."""

    decision = on_edit(edit(ticked(RETRY)), facts())
    assert isinstance(decision, RunBoxes)
    assert (decision.by, decision.boxes) == ("ada", (BoxCommand(verb="retry", where="issue", number=7),))
    assert edit_needs(edit(ticked(RETRY)), APP).permission


def test_a_box_that_was_ticked_before_runs_nothing_again() -> None:
    both = ticked(RETRY).replace(RESUME.format(" "), RESUME.format("X"))
    decision = on_edit(edit(both, ticked(RETRY)), facts())
    assert isinstance(decision, RunBoxes)
    assert [box.verb for box in decision.boxes] == ["resume"]


@pytest.mark.parametrize("permission", ["triage", "read", "none", None])
def test_a_person_without_write_access_runs_nothing(permission: str | None) -> None:
    """K-2."""

    assert isinstance(on_edit(edit(ticked(RETRY)), facts(permission)), Ignore)


@pytest.mark.parametrize(
    "event",
    [
        edit(ticked(RETRY), sender="renovate[bot]"),
        edit(ticked(RETRY), sender_is_bot=True),
        edit(ticked(RETRY), sender=APP),
        edit(ticked(RETRY), author="eve"),
        edit(ticked(RETRY).removeprefix(MARK)),
        edit(ticked(RETRY), None),
        edit(ticked(RETRY), ticked(RETRY)),
        edit(EMPTY, ticked(RETRY)),
        edit(EMPTY.replace("- [ ] <!-- do retry", "- [x] <!-- do apply")),
        edit(EMPTY.replace("- [ ] <!-- do retry", "> - [x] <!-- do retry")),
        edit(ticked(RETRY), repo=REPO.model_copy(update={"installation_id": 0})),
    ],
)
def test_any_other_edit_is_ignored_and_costs_no_request(event: IssueEdited) -> None:
    """K-2."""

    assert isinstance(on_edit(event, facts()), Ignore)
    assert not edit_needs(event, APP).permission
