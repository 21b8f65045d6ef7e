"""Whether a head is checked: who and what has the first word, and whose code may run (T9, T11)."""

from __future__ import annotations

import itertools
from dataclasses import replace
from typing import Any

import pytest

from bot.config import Policy
from bot.model.pulls import PullRequest
from bot.reports.locale.reasons import english
from bot.rules.pulls.eligibility import (
    Eligibility,
    EligibilityFacts,
    from_fork,
    from_fork_name,
    judge_eligibility,
    trust,
)
from bot.rules.reasons import make_reason

BOT = "mendbot[bot]"
SHA = "6dcb09b5b57875f334f61aebed695e2e4193db5e"
PULL = PullRequest(number=8, author="ann", head_sha=SHA, head_ref="x", head_repo="o/r", base_ref="main")
FORK = PULL.model_copy(update={"author": "eve", "head_repo": "eve/r"})
ANN = EligibilityFacts(app_login=BOT, repository="o/r", permission="write")
EVE = replace(ANN, permission="read")


def pull(base: PullRequest = PULL, **changes: Any) -> PullRequest:
    return base.model_copy(update=changes)


def policy(**pull_requests: Any) -> Policy:
    return Policy.model_validate({"pull_requests": pull_requests})


@pytest.mark.parametrize(
    ("asked", "wish", "known", "expected", "because"),
    [
        (PULL, Policy(), ANN, "wanted", "ann has write access"),
        (pull(state="closed"), Policy(), ANN, "closed", "it is closed"),
        (pull(state="closed", merged=True), Policy(), ANN, "closed", "merged"),
        (PULL, policy(enabled=False), ANN, "unwanted", "`pull_requests.enabled` is false"),
        (pull(labels=("Auto-Fix-Skip",)), Policy(), ANN, "unwanted", "`auto-fix-skip`"),
        (pull(labels=("skip-me",)), Policy(skip_label="Skip-Me"), ANN, "unwanted", "`Skip-Me`"),
        (pull(labels=("auto-fix",)), Policy(), ANN, "wanted", "ann"),
        (pull(draft=True), Policy(), ANN, "unwanted", "draft"),
        (pull(draft=True), policy(drafts=True), ANN, "wanted", "ann"),
        (PULL, Policy(), replace(ANN, own=True), "own", "Mendbot"),
        (PULL, Policy(), replace(ANN, paused_by="bea"), "paused", "`bea` paused"),
        (PULL, policy(paths=["src/**"]), replace(ANN, paths=("docs/a.md",)), "filtered", "pull_requests.paths"),
        (PULL, policy(paths=["src/**"]), replace(ANN, paths=()), "filtered", "pull_requests.paths"),
        (PULL, policy(paths=["src/**"]), replace(ANN, paths=("docs/a.md", "src/b.py")), "wanted", "ann"),
        (PULL, policy(paths=["src/**"]), ANN, "wanted", "ann"),
        (PULL, Policy(), replace(ANN, paths=("docs/a.md",)), "wanted", "ann"),
        (FORK, Policy(), EVE, "awaiting", "(read)"),
        (FORK, policy(paths=["src/**"]), replace(EVE, paths=("docs/a.md",)), "filtered", "pull_requests.paths"),
    ],
)
def test_where_a_head_stands(
    asked: PullRequest, wish: Policy, known: EligibilityFacts, expected: str, because: str
) -> None:
    found = judge_eligibility(asked, wish, known)
    assert found.standing == expected
    assert because in english(found.because)


def test_of_several_reasons_the_first_counts() -> None:
    """Each of these takes the word from all that come after it, and none is heard where an earlier one speaks."""
    order: list[tuple[str, dict[str, Any], dict[str, Any], dict[str, Any]]] = [
        ("closed", {"state": "closed"}, {}, {}),
        ("unwanted", {}, {"enabled": False}, {}),
        ("unwanted", {"draft": True}, {}, {}),
        ("own", {}, {}, {"own": True}),
        ("paused", {}, {}, {"paused_by": "bea"}),
        ("filtered", {}, {"paths": ["src/**"]}, {"paths": ("docs/a.md",)}),
        ("awaiting", {}, {}, {"permission": None}),
    ]
    for (first, *left), (_, *right) in itertools.combinations(order, 2):
        on_pull, wish, known = ({**one, **other} for one, other in zip(left, right, strict=True))
        assert judge_eligibility(pull(**on_pull), policy(**wish), replace(ANN, **known)).standing == first


@pytest.mark.parametrize("permission", ["admin", "maintain", "write", "triage", "read", "none", "owner", "", None])
@pytest.mark.parametrize("asked", [PULL, FORK])
def test_only_an_author_with_write_access_is_trusted_and_unknown_counts_as_nothing(
    asked: PullRequest, permission: str | None
) -> None:
    """A branch of the repository alone says nothing: whose access was taken away may still have one. H-3."""
    found = trust(asked, replace(ANN, permission=permission))
    assert (found.standing == "wanted") == (permission in ("admin", "maintain", "write"))
    if found.standing == "awaiting":
        assert "a maintainer must approve" in english(found.because)


def test_an_approval_of_this_commit_lets_a_strangers_code_run() -> None:
    """H-3."""
    found = trust(FORK, replace(EVE, approved_by="bea"))
    assert found == Eligibility("wanted", make_reason("pull.approved", by="bea", sha=SHA[:12]))


@pytest.mark.parametrize(
    ("asked", "known", "expected"),
    [
        (FORK, replace(EVE, approved_by="bea"), "awaiting"),
        (FORK, EVE, "awaiting"),
        (FORK, replace(EVE, permission="admin"), "wanted"),
        (pull(author=BOT), replace(EVE, permission=None), "wanted"),
    ],
)
def test_without_a_sandbox_no_approval_lets_a_strangers_code_run(
    asked: PullRequest, known: EligibilityFacts, expected: str
) -> None:
    found = trust(asked, replace(known, sandboxed=False))
    assert found.standing == expected
    if expected == "awaiting":
        assert "no sandbox works" in english(found.because)


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({}, "wanted"),
        ({"author": "Mendbot[bot]"}, "wanted"),
        ({"head_repo": "O/R"}, "wanted"),
        ({"head_repo": "eve/r"}, "awaiting"),
        ({"head_repo": None}, "awaiting"),
        ({"author": "mendbot"}, "awaiting"),
        ({"author": "eve-mendbot[bot]"}, "awaiting"),
    ],
)
def test_our_own_pull_request_is_trusted_where_its_branch_is_the_repositorys(
    changes: dict[str, Any], expected: str
) -> None:
    found = trust(pull(**{"author": BOT, **changes}), replace(ANN, permission=None))
    assert found.standing == expected


def test_an_unknown_own_name_makes_nobody_ours() -> None:
    found = trust(pull(author=""), replace(ANN, app_login="", permission=None))
    assert found.standing == "awaiting"
    assert "(?)" in english(found.because)


@pytest.mark.parametrize(
    ("head_repo", "fork"), [("o/r", False), ("O/R", False), ("eve/r", True), ("o/r2", True), (None, True)]
)
def test_a_head_elsewhere_or_nowhere_is_a_forks(head_repo: str | None, fork: bool) -> None:
    assert from_fork(pull(head_repo=head_repo), "o/R") is fork
    assert from_fork_name(head_repo, "o/R") is fork
