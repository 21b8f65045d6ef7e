"""Slash commands the whole way (REQ-CMD-001, 002): GitHub's webhooks, a bot of its own process, what GitHub shows."""

from __future__ import annotations

from collections.abc import Callable

from demo.standin.server import StandIn
from tests.e2e.conftest import REPO, RIGHT, agent
from tests.e2e.pull_world import (
    BAD,
    comment_of,
    mend_main,
    open_pull,
    reactions,
    wait,
    wait_for_checks,
    wait_for_comment,
    wait_for_reaction,
)
from tests.e2e.server import Server

Serve = Callable[..., Server]
DIFF = "```diff\n--- a/answer.txt\n+++ b/answer.txt\n@@ -1 +1 @@\n-41\n+42\n```\n"


def test_fix_on_an_issue_leads_to_a_pull_request(github: StandIn, serve: Serve) -> None:
    """REQ-CMD-001."""
    serve(MENDBOT_AGENT_COMMAND=agent(RIGHT))
    world = github.world
    number = world.create_issue(REPO, "The answer is wrong", "`answer.txt` says 41.", author="ada")
    comment = world.comment(REPO, number, "/mendbot fix", "ada")
    wait_for_reaction(github, number, comment, "rocket")
    assert reactions(github, number, comment) == {"eyes", "rocket"}
    wait(github, lambda: bool(world.pulls(REPO)), "a pull request")
    assert world.read_file(REPO, world.pulls(REPO)[0].head_sha, "answer.txt") == b"42\n"


def test_a_given_diff_is_pushed_to_the_pull_requests_branch(github: StandIn, serve: Serve) -> None:
    """REQ-RUN-008."""
    mend_main(github)
    serve()
    number, sha = open_pull(github, {"answer.txt": BAD})
    wait_for_checks(github, sha, test="failure")
    comment = github.world.comment(REPO, number, f"/mendbot apply\n\n{DIFF}", "ada")
    wait_for_reaction(github, number, comment, "rocket")
    wait(github, lambda: github.world.pulls(REPO)[0].head_sha != sha, "a push to the branch")
    head = github.world.pulls(REPO)[0].head_sha
    assert github.world.read_file(REPO, head, "answer.txt") == b"42\n"


def test_strangers_get_silence_and_mistakes_one_answer(github: StandIn, serve: Serve) -> None:
    """REQ-CMD-002."""
    server = serve()
    world = github.world
    number = world.create_issue(REPO, "The answer is wrong", "", author="ada")
    strange = world.comment(REPO, number, "/mendbot status", "eve")
    server.because(f"eve has no write access to {REPO}")
    for text in ("/mendbot stauts", "/mendbot hitsory x"):
        wrong = world.comment(REPO, number, text, "ada")
        wait_for_reaction(github, number, wrong, "confused")
        wait_for_comment(github, number, "reply", text)
    assert reactions(github, number, strange) == set()
    authors = [one.author for one in world.comments(REPO, number)]
    assert [one in ("ada", "eve") for one in authors] == [True, True, False, True, False]


def test_a_command_is_obeyed_once_though_the_bot_is_killed_after_the_eyes(github: StandIn, serve: Serve) -> None:
    """REQ-CMD-002."""
    mend_main(github)
    server = serve()
    number, sha = open_pull(github, {"answer.txt": BAD})
    wait_for_checks(github, sha, test="failure")
    # whoever asks for the pull request is held up: the eyes are there, the job is at its work
    github.world.faults.add("GET", f"/repos/{REPO}/pulls/{number}", delay_s=3.0, times=1)
    comment = github.world.comment(REPO, number, "/mendbot retest all", "ada")
    wait_for_reaction(github, number, comment, "eyes")
    server.kill()
    assert "rocket" not in reactions(github, number, comment)
    server.start()
    delivery = next(one for one in github.world.deliveries if one.event == "issue_comment")
    server.deliver("issue_comment", delivery.payload, "another-guid")
    wait_for_reaction(github, number, comment, "rocket")

    def conclusions() -> list[str | None]:
        return [run.conclusion for run in github.world.check_runs(REPO, sha) if run.name == "mendbot / test"]

    wait(
        github,
        lambda: conclusions() == ["failure", "failure"],
        "one more run of the checks",
        told=lambda: str(conclusions()),
    )
    server.because("ada commented: ")
    assert reactions(github, number, comment) == {"eyes", "rocket"}
    assert conclusions() == ["failure", "failure"]
    assert comment_of(github, number, "reply") is None
