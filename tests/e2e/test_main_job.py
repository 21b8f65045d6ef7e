"""The main job through the public faces: a label becomes a pull request, or an honest account of why not."""

from __future__ import annotations

from collections.abc import Callable

from demo.standin.server import StandIn
from tests.e2e.conftest import REPO, RIGHT, WRONG, agent, assert_mended_once, label, wait_for_label
from tests.e2e.server import Server

Serve = Callable[..., Server]


def test_a_label_becomes_one_pull_request_with_checks_comment_and_labels(github: StandIn, serve: Serve) -> None:
    """G-4, G-7."""
    serve(MENDBOT_AGENT_COMMAND=agent(WRONG, RIGHT))
    number = label(github)
    wait_for_label(github, number, "auto-fix-done")
    assert_mended_once(github, number)
    pull = github.world.pulls(REPO)[0]
    assert pull.head == f"fix/issue-{number}"
    assert (pull.draft, pull.closes, pull.title) == (False, (number,), "Fix: The answer is wrong")
    conclusions = {check.name: check.conclusion for check in github.world.check_runs(REPO, pull.head_sha)}
    assert conclusions["mendbot / test"] == conclusions["mendbot / fix"] == "success"
    assert conclusions["mendbot / lint"] == conclusions["mendbot / typecheck"] == "skipped"


def test_a_run_that_fails_shows_evidence_reason_and_what_to_do(github: StandIn, serve: Serve) -> None:
    """G-4."""
    serve(MENDBOT_AGENT_COMMAND=agent(WRONG))
    number = label(github)
    wait_for_label(github, number, "auto-fix-failed")
    issue = github.world.issue(REPO, number)
    assert len(issue.comments) == 1
    body = issue.comments[0].body
    assert "python3 check.py" in body
    assert "expected 42, got" in body
    assert "refs/mendbot/salvage/" in body
    assert "<summary>The unfinished change as a diff</summary>\n\n```diff\ndiff --git" in body
    assert "auto-fix-processing" not in issue.labels
    assert github.world.pulls(REPO) == ()
    assert set(github.world.branches(REPO)) == {"main"}


def test_labelling_again_starts_a_fresh_run_on_a_branch_of_its_own(github: StandIn, serve: Serve) -> None:
    """G-5."""
    serve(MENDBOT_AGENT_COMMAND=agent(RIGHT))
    number = label(github)
    wait_for_label(github, number, "auto-fix-done")
    github.world.remove_label(REPO, number, "auto-fix", "ada")
    github.world.add_label(REPO, number, "auto-fix", "ada")
    github.world.wait_for(lambda: len(github.world.pulls(REPO)) == 2, 60, "a second pull request")
    wait_for_label(github, number, "auto-fix-done")
    heads = {pull.head for pull in github.world.pulls(REPO)}
    assert heads == {f"fix/issue-{number}", f"fix/issue-{number}-r2"}
    assert len(github.world.issue(REPO, number).comments) == 1


def test_an_outsiders_label_runs_nothing_and_the_because_is_listed(github: StandIn, serve: Serve) -> None:
    """G-1."""
    github.world.set_permission(REPO, "eve", "triage")
    bot = serve(MENDBOT_AGENT_COMMAND=agent(RIGHT))
    number = github.world.create_issue(REPO, "Run my code", "please", author="eve")
    github.world.add_label(REPO, number, "auto-fix", "eve")
    assert "(permission: triage)" in bot.because(f"eve has no write access to {REPO}")
    assert github.world.issue(REPO, number).comments == ()
    assert set(github.world.issue(REPO, number).labels) == {"auto-fix"}


def test_a_repository_without_checks_says_what_was_looked_for(github: StandIn, serve: Serve) -> None:
    github.world.push_commit(REPO, "main", {".github/mendbot.yml": "max_attempts: 2\n"}, "ada")
    serve(MENDBOT_AGENT_COMMAND=agent(RIGHT))
    number = label(github)
    wait_for_label(github, number, "auto-fix-failed")
    body = github.world.issue(REPO, number).comments[0].body
    assert "no_checks" in body
    assert "looked for" in body
