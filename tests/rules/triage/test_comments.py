"""Whose comments are obeyed (REQ-CMD-001, REQ-CMD-002): by role, by kind of thread, and only what a comment adds."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from bot.config import Policy
from bot.model import Repo
from bot.model.pulls import PullRequest
from bot.reports.locale.reasons import english
from bot.rules.events.types import CommentCreated, CommentEdited
from bot.rules.triage.decide import decide, needs
from bot.rules.triage.decisions import Decision, Facts, Ignore, Needs, RunCommands

REPO = Repo(owner="o", name="r", installation_id=3)
NOW = datetime(2026, 5, 1, tzinfo=UTC)
BOT = "mendbot[bot]"
SAID: dict[str, Any] = {
    "repo": REPO, "sender": "ann", "sender_is_bot": False, "number": 7, "is_pull_request": True,
    "kind": "issue_comment", "comment_id": 5, "author": "ann", "opened_by": "eve", "body": "/mendbot fix", "at": NOW,
}  # fmt: skip
OWN = PullRequest(number=7, author="ann", head_sha="0" * 40, head_repo="O/R")


def comment(**changes: Any) -> CommentCreated:
    return CommentCreated(**{**SAID, **changes})


def edit(previous: str | None, **changes: Any) -> CommentEdited:
    return CommentEdited(**{**SAID, **changes}, previous=previous)


def judged(event: CommentCreated | CommentEdited, permission: str | None = "write", **known: Any) -> Decision:
    policy = known.pop("policy", Policy())
    (decision,) = decide(event, policy, Facts(app_login=BOT, sender_permission=permission, **known))
    return decision


@pytest.mark.parametrize("kind", ["issue_comment", "review_comment", "review"])
@pytest.mark.parametrize("is_pull", [True, False])
def test_who_has_write_access_is_obeyed_wherever_he_says_it(kind: Any, is_pull: bool) -> None:
    found = judged(comment(kind=kind, is_pull_request=is_pull))
    assert isinstance(found, RunCommands)
    assert (found.number, found.is_pull, found.kind, found.comment_id) == (7, is_pull, kind, 5)
    assert (found.by, found.at, found.trusted) == ("ann", NOW, True)
    assert [command.verb for command in found.commands] == ["fix"]
    assert english(found.because) == "ann commented: /mendbot fix"


@pytest.mark.parametrize("permission", ["admin", "maintain", "write", "triage", "read", "none", "owner", None])
def test_only_write_access_commands_and_unknown_counts_as_nothing(permission: str | None) -> None:
    found = judged(comment(), permission)
    assert isinstance(found, RunCommands) == (permission in ("admin", "maintain", "write"))
    if not isinstance(found, RunCommands):
        assert f"permission: {permission or '?'}" in english(found.because)


@pytest.mark.parametrize(
    ("event", "because"),
    [
        (comment(sender="renovate[bot]"), "bots"),
        (comment(sender="helper", sender_is_bot=True), "bots"),
        (comment(sender=BOT), "bots"),
        (comment(sender="Mendbot[bot]"), "bots"),
        (comment(repo=REPO.model_copy(update={"installation_id": 0})), "names no installation"),
        (comment(body="Could you fix it?"), "no command"),
        (comment(body="> /mendbot fix\n\nWhat did that do?"), "no command"),
        (comment(body="```\n/mendbot fix\n```"), "no command"),
        (comment(body="/fix"), "no command"),
        (edit(None), "no command"),
        (edit("/mendbot fix"), "no command"),
        (edit("/mendbot fix", body="/mendbot fix\n\nand thank you"), "no command"),
    ],
)
def test_what_is_no_command_of_a_person_is_not_even_looked_into(
    event: CommentCreated | CommentEdited, because: str
) -> None:
    found = judged(event)
    assert isinstance(found, Ignore)
    assert because in english(found.because)
    assert needs(event, Policy(), BOT) == Needs()


def test_an_edit_counts_by_who_edited_and_for_what_it_adds() -> None:
    event = edit("/mendbot status", body="/mendbot status\n/mendbot check", author="ann", sender="bea")
    found = judged(event)
    assert isinstance(found, RunCommands)
    assert (found.by, [command.verb for command in found.commands]) == ("bea", ["check"])
    assert isinstance(judged(event, "read"), Ignore)


def test_short_forms_are_heard_where_the_policy_allows_them() -> None:
    found = judged(comment(body="/fix"), policy=Policy(aliases=True))
    assert isinstance(found, RunCommands)
    assert [command.verb for command in found.commands] == ["fix"]


@pytest.mark.parametrize("verb", ["fix", "retest", "cancel"])
def test_the_author_of_a_branch_of_the_repository_may_have_it_worked_on(verb: str) -> None:
    event = comment(body=f"/mendbot {verb}", opened_by="Ann")
    assert needs(event, Policy(), BOT) == Needs(permission=True, pull=7)
    found = judged(event, "read", pull=OWN)
    assert isinstance(found, RunCommands)
    assert not found.trusted


@pytest.mark.parametrize(
    ("event", "pull"),
    [
        (comment(opened_by="ann"), None),
        (comment(opened_by="ann"), OWN.model_copy(update={"head_repo": "ann/r"})),
        (comment(opened_by="ann"), OWN.model_copy(update={"head_repo": None})),
        (comment(opened_by="ann"), OWN.model_copy(update={"author": "eve"})),
        (comment(opened_by="eve"), OWN),
        (comment(opened_by="ann", is_pull_request=False), OWN),
        (comment(opened_by="ann", body="/mendbot ok-to-test"), OWN),
        (comment(opened_by="ann", body="/mendbot retest\n/mendbot pause"), OWN),
        (comment(opened_by="ann", body="/mendbot fxi"), OWN),
    ],
)
def test_an_author_without_write_access_has_no_more_than_that(event: CommentCreated, pull: PullRequest | None) -> None:
    """Of a fork, of somebody else's pull request, of an issue, or with another verb: silence (REQ-CMD-002)."""
    assert isinstance(judged(event, "read", pull=pull), Ignore)
    assert isinstance(judged(event, "write", pull=pull), RunCommands)


def test_the_pull_request_is_asked_for_only_where_its_author_may_matter() -> None:
    for event in (
        comment(),
        comment(opened_by="ann", is_pull_request=False),
        comment(opened_by="ann", body="/mendbot pause"),
    ):
        assert needs(event, Policy(), BOT) == Needs(permission=True)


def test_a_long_list_of_commands_makes_a_short_reason() -> None:
    found = judged(comment(body="\n".join(f"/mendbot check {'test ' * n}" for n in range(1, 50))))
    assert isinstance(found, RunCommands)
    assert len(english(found.because)) < 250
