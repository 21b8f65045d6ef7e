"""Pull requests, from the webhook to the verdict (spec H): real git, real checks, the stand-in's own webhooks."""

from __future__ import annotations

from collections.abc import Callable

from demo.standin.server import StandIn
from tests.e2e.conftest import REPO, RIGHT, agent
from tests.e2e.pull_world import BAD, mend_main, open_pull, wait, wait_for_checks, wait_for_comment
from tests.e2e.server import Server

Serve = Callable[..., Server]


def test_a_new_failure_is_told_and_its_fix_pushed_to_the_same_branch(github: StandIn, serve: Serve) -> None:
    """H-1."""
    base = mend_main(github)
    serve(MENDBOT_AGENT_COMMAND=agent(RIGHT))
    number, sha = open_pull(github, {"answer.txt": BAD})
    found = wait_for_checks(github, sha, test="failure", lint="skipped", typecheck="skipped")["test"]
    assert "new" in found.title
    assert base in found.summary
    assert [(one["path"], one["start_line"]) for one in found.annotations] == [("answer.txt", 1)]
    assert {action["identifier"] for action in found.actions} == {"rerun_failed", "fix"}

    github.world.press_button(found.id, "fix", "ada")
    world = github.world
    wait(github, lambda: world.pulls(REPO)[0].head_sha != sha, "a push to the branch")
    head = world.pulls(REPO)[0].head_sha
    wait_for_checks(github, head, test="success", lint="skipped", typecheck="skipped", fix="success")
    wait_for_checks(github, sha, fix="success")
    assert world.read_file(REPO, head, "answer.txt") == b"42\n"
    wait_for_comment(github, number, "fix", head[:7])


def test_what_fails_on_the_base_too_is_not_the_pull_requests(github: StandIn, serve: Serve) -> None:
    """H-2."""
    serve()
    _, sha = open_pull(github, {"README.md": "# Tiny\n"})
    found = wait_for_checks(github, sha, test="neutral")["test"]
    assert "existing failure" in found.title
    assert {action["identifier"] for action in found.actions} == {"rerun_failed"}
