"""What goes wrong in the middle: each ends in a named reason or is survived, and nothing is lost or done twice."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from demo.standin.server import StandIn
from tests.e2e.conftest import REPO, RIGHT, agent, assert_mended_once, label, wait_for_label
from tests.e2e.server import Server
from tests.machine import PATIENCE_S

Serve = Callable[..., Server]


def body_of(github: StandIn, number: int) -> str:
    comments = github.world.issue(REPO, number).comments
    assert len(comments) == 1
    return comments[0].body


def python_agent(source: str) -> str:
    return json.dumps(["python3", "-c", source])


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("print('garbage { not json')", "nothing_to_offer"),
        pytest.param("pass", "nothing_to_offer", marks=pytest.mark.soak),
        pytest.param(
            "import sys\nfor _ in range(100): sys.stdout.write('x' * 1_000_000)",
            "nothing_to_offer",
            marks=pytest.mark.soak,
        ),
        pytest.param("import sys; sys.exit(3)", "nothing_to_offer", marks=pytest.mark.soak),
        ("open('/etc/owned', 'w')", "nothing_to_offer"),
    ],
    ids=["garbage", "nothing", "100 MB", "exit 3", "outside its tree"],
)
def test_an_agent_that_offers_nothing_of_use_ends_the_run_with_that_reason(
    github: StandIn, serve: Serve, source: str, said: str
) -> None:
    serve(MENDBOT_AGENT_COMMAND=python_agent(source))
    number = label(github)
    wait_for_label(github, number, "auto-fix-failed")
    assert said in body_of(github, number)
    assert not Path("/etc/owned").exists()


def test_a_patch_that_does_not_apply_costs_an_attempt_and_the_next_one_may_pass(github: StandIn, serve: Serve) -> None:
    """G-3."""
    bad = {"changes": [{"path": "answer.txt", "patch": "--- a/answer.txt\n+++ b/answer.txt\n@@ -1 +1 @@\n-99\n+42\n"}]}
    serve(MENDBOT_AGENT_COMMAND=agent(bad, RIGHT))
    number = label(github)
    wait_for_label(github, number, "auto-fix-done")
    assert_mended_once(github, number)


def test_a_change_to_a_workflow_is_refused_by_name(github: StandIn, serve: Serve) -> None:
    serve(MENDBOT_AGENT_COMMAND=agent({"changes": [{"path": ".github/workflows/x.yml", "content": "on: push\n"}]}))
    number = label(github)
    wait_for_label(github, number, "auto-fix-failed")
    told = body_of(github, number)
    assert "Changes that were not applied" in told
    assert ".github/workflows/x.yml" in told
    assert set(github.world.branches(REPO)) == {"main"}
    assert github.world.pulls(REPO) == ()


def test_a_check_that_never_ends_is_stopped_at_its_limit(github: StandIn, serve: Serve) -> None:
    """G-3."""
    policy = 'max_attempts: 1\nchecks:\n  test: { command: "sleep 600 & sleep 600", timeout: 1 }\n'
    github.world.push_commit(REPO, "main", {".github/mendbot.yml": policy}, "ada")
    serve(MENDBOT_AGENT_COMMAND=agent(RIGHT))
    number = label(github)
    wait_for_label(github, number, "auto-fix-failed")
    assert "timed out" in body_of(github, number).lower()


def test_a_rejected_push_is_told_with_githubs_reason(github: StandIn, serve: Serve) -> None:
    github.world.reject_next_push(REPO, "the branch is protected by a rule of ours")
    serve(MENDBOT_AGENT_COMMAND=agent(RIGHT))
    number = label(github)
    wait_for_label(github, number, "auto-fix-failed")
    assert "push_rejected" in body_of(github, number)
    assert "protected by a rule of ours" in body_of(github, number)
    assert github.world.pulls(REPO) == ()


def test_taking_the_label_off_stops_the_run_within_seconds_and_says_so(github: StandIn, serve: Serve) -> None:
    """G-5."""
    policy = "checks:\n  test: { command: sleep 900, timeout: 900 }\n"
    github.world.push_commit(REPO, "main", {".github/mendbot.yml": policy}, "ada")
    bot = serve(MENDBOT_AGENT_COMMAND=agent(RIGHT))
    number = label(github)
    github.world.wait_for(
        lambda: "validation" in _comment(github, number) or "planning" in _comment(github, number), PATIENCE_S
    )
    github.world.remove_label(REPO, number, "auto-fix", "ada")
    github.world.wait_for(lambda: "auto-fix-processing" not in github.world.issue(REPO, number).labels, 60, "the stop")
    # the look at the threads after a start may see it before the event comes, and then cannot know who did it
    reasons = ("removed the label `auto-fix`", "the label `auto-fix` was removed")
    github.world.wait_for(lambda: any(one in _comment(github, number) for one in reasons), PATIENCE_S, "the reason")
    assert not list((bot.home / "worktrees").glob("*/*/*/*"))
    assert github.world.pulls(REPO) == ()


def _comment(github: StandIn, number: int) -> str:
    comments = github.world.issue(REPO, number).comments
    return comments[0].body if comments else ""


def test_a_comment_that_was_made_although_the_answer_was_lost_is_not_made_twice(github: StandIn, serve: Serve) -> None:
    for path in (r"/repos/octo/tiny/issues/\d+/comments", "/repos/octo/tiny/check-runs", "/repos/octo/tiny/pulls"):
        github.world.faults.add("POST", path, status=502, after_effect=True)
    serve(MENDBOT_AGENT_COMMAND=agent(RIGHT))
    number = label(github)
    wait_for_label(github, number, "auto-fix-done")
    assert_mended_once(github, number)


def test_a_while_of_github_being_down_is_waited_out(github: StandIn, serve: Serve) -> None:
    bot = serve(MENDBOT_AGENT_COMMAND=agent(RIGHT))
    github.world.faults.add("*", "/repos/.*", status=503, times=8)  # two calls with their repeats, and some of a third
    number = label(github)
    wait_for_label(github, number, "auto-fix-done")
    assert_mended_once(github, number)
    assert "Traceback" not in bot.tail()
