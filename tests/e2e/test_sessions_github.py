"""A session on OWNER/NAME, asked for over HTTP: no issue, but branch, commit, push and pull request as for one."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from demo.standin.server import StandIn
from tests.e2e.conftest import REPO, RIGHT, WRONG
from tests.e2e.server import Server
from tests.e2e.session_faces import TOKEN, Client
from tests.e2e.session_projects import agent, of_type

TASK = "The answer is wrong\n\n`answer.txt` says 41, and @everybody knows better. It should be 42."


@pytest.fixture
def client(serve: Callable[..., Server]) -> Client:
    return Client(serve(MENDBOT_ADMIN_TOKEN=TOKEN))


def test_a_session_on_github_ends_in_a_pull_request(client: Client, github: StandIn) -> None:
    """REQ-RUN-002: packaging is commit, push, pull request; the second attempt is the one that is packaged."""
    asked = {"repo": REPO, "task": TASK, "testCommand": "python3 check.py", "agents": [agent(WRONG, RIGHT)]}
    told = client.ended(client.start(asked))
    assert (told["status"], told["iteration"]) == ("success", 2), told
    assert set(told["phases"].values()) == {"completed"}
    world = github.world
    [pull] = world.pulls(REPO)
    assert told["pullRequest"] == pull.url
    assert told["branch"] == pull.head
    assert pull.head.startswith("fix/session-")
    assert "The answer is wrong" in pull.title
    assert pull.closes == ()
    assert "Closes" not in pull.body
    assert "answer.txt" in pull.body
    assert world.read_file(REPO, pull.head_sha, "answer.txt") == b"42\n"
    assert [event["data"]["commit"] for event in of_type(told, "commit_pushed")] == [pull.head_sha]
    wanted = [f"mendbot / {check}" for check in ("fix", "lint", "test", "typecheck")]

    def checks() -> list[str]:
        return sorted(check.name for check in world.check_runs(REPO, pull.head_sha))

    world.wait_for(lambda: checks() == wanted, 20, "the check runs of the session's commit")
    assert not list((client.bot.home / "worktrees").glob("*/*/*/*"))
    assert "Traceback" not in client.bot.tail(10**7)


def test_one_that_fails_pushes_nothing(client: Client, github: StandIn) -> None:
    """REQ-RUN-002: the attempts used up, the session is failed and what comes after the loop is skipped."""
    commands = ["python3 check.py"]
    asked = {"repo": REPO, "task": TASK, "validationCommands": commands, "agents": [agent(WRONG)], "maxAttempts": 1}
    told = client.ended(client.start(asked))
    assert (told["status"], told["stopReason"]["reason"]) == ("failed", "max_iterations")
    assert (told["phases"]["review"], told["phases"]["packaging"]) == ("skipped", "skipped")
    assert github.world.pulls(REPO) == ()
    assert set(github.world.branches(REPO)) == {"main"}
    assert "Traceback" not in client.bot.tail(10**7)


def test_a_repository_without_the_app_is_422(client: Client) -> None:
    """REQ-RUN-001: the field is named, and nothing is begun."""
    for repo in ("octo/none", "nobody/tiny"):
        status, told = client.ask("POST", "/api/sessions", {"repo": repo, "task": TASK, "testCommand": "true"})
        assert (status, told["problems"][0]["field"]) == (422, "repo")
    assert client.ask("GET", "/api/sessions") == (200, [])
