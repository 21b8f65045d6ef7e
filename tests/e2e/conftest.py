"""A stand-in with a small repository, and a bot beside it. After each test the traffic is held against GitHub's own
OpenAPI description and webhook schemas: a request that GitHub would refuse fails the test that made it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from demo.standin.server import StandIn
from tests.e2e.server import Server
from tests.machine import PATIENCE_S
from tests.oracle.openapi import rest_oracle
from tests.oracle.webhooks import check_webhook

SECRET = "e2e-secret-0123456789abcdefghijkl"
REPO = "octo/tiny"
CHECK = """\
import sys
text = open("answer.txt").read()
if text != "42\\n":
    print(f"answer.txt:1: error: expected 42, got {text!r}")
    sys.exit(1)
print("1 passed")
"""
POLICY = """\
checks:
  test: { command: python3 check.py, timeout: 20 }
"""
FILES = {"answer.txt": "41\n", "check.py": CHECK, ".github/mendbot.yml": POLICY, "README.md": "# tiny\n"}
RIGHT = {"changes": [{"path": "answer.txt", "content": "42\n"}]}
WRONG = {"changes": [{"path": "answer.txt", "content": "40\n"}]}


def agent(*answers: object) -> str:
    """An agent command that prints the answers in turn, the last one again and again, by the attempt in its brief."""
    script = (
        "import json, re, sys\n"
        f"answers = json.loads({json.dumps(json.dumps(answers))})\n"
        "number = int(re.search(r'attempt (\\d+) of', sys.stdin.read())[1])\n"
        "print(json.dumps(answers[min(number, len(answers)) - 1]))\n"
    )
    return json.dumps(["python3", "-c", script])


@pytest.fixture
def github(tmp_path: Path) -> Iterator[StandIn]:
    with StandIn(tmp_path / "github", webhook_url=None, webhook_secret=SECRET) as standin:
        world = standin.world
        for login in ("ada", "eve"):
            world.create_user(login)
        world.create_repo(REPO, FILES)
        world.set_permission(REPO, "ada", "write")
        yield standin
        assert_traffic_is_githubs(standin)


@pytest.fixture
def serve(github: StandIn, tmp_path: Path) -> Iterator[Callable[..., Server]]:
    servers: list[Server] = []

    def start(**variables: str) -> Server:
        server = Server(github, tmp_path, **variables)
        servers.append(server)
        return server.start()

    yield start
    for server in servers:
        server.kill()


def assert_traffic_is_githubs(github: StandIn) -> None:
    """Every REST request and answer, and every webhook, as GitHub describes them."""
    rest = rest_oracle()
    complaints = []
    for request in github.world.requests:
        if request.kind != "rest":
            continue
        where = f"{request.method} {request.path} -> {request.status}"
        for complaint in rest.check_request(request.method, request.path, request.query, request.body):
            complaints.append(f"{where}: request: {complaint}")
        if request.status < 500:
            for complaint in rest.check_response(request.method, request.path, request.status, request.response):
                complaints.append(f"{where}: answer: {complaint}")
    for delivery in github.world.deliveries:
        for complaint in check_webhook(delivery.event, json.loads(delivery.payload)):
            complaints.append(f"webhook {delivery.event}.{delivery.action}: {complaint}")
    assert not complaints, "\n".join(sorted(set(complaints)))


def label(github: StandIn, title: str = "The answer is wrong", body: str = "`answer.txt` says 41.") -> int:
    """A fresh issue, labelled by someone with write access."""
    number = github.world.create_issue(REPO, title, body, author="ada")
    github.world.add_label(REPO, number, "auto-fix", "ada")
    return number


def wait_for_label(github: StandIn, number: int, name: str, timeout_s: float = PATIENCE_S) -> None:
    world = github.world
    world.wait_for(lambda: name in world.issue(REPO, number).labels, timeout_s, f"{name} on #{number}")


def assert_mended_once(github: StandIn, number: int) -> None:
    """One pull request, one push, one comment, each check run once, the right labels: no lost or doubled work."""
    world = github.world
    issue = world.issue(REPO, number)
    pulls = [pull for pull in world.pulls(REPO) if number in pull.closes]
    assert len(pulls) == 1
    assert len(issue.comments) == 1, [comment.body for comment in issue.comments]
    assert pulls[0].url in issue.comments[0].body
    assert {"auto-fix", "auto-fix-done"} <= set(issue.labels)
    assert not {"auto-fix-processing", "auto-fix-failed"} & set(issue.labels)
    names = sorted(check.name for check in world.check_runs(REPO, pulls[0].head_sha))
    assert names == [f"mendbot / {check}" for check in ("fix", "lint", "test", "typecheck")]
    assert world.read_file(REPO, pulls[0].head_sha, "answer.txt") == b"42\n"
