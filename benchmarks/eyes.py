"""*Eyes*: how soon a comment with a command has its 👀 on GitHub, with the pause between writes that GitHub asks for.
Beside it: what the same machine needs to have a webhook posted and acknowledged, before which nothing can be done."""

from __future__ import annotations

import http.client
import json
import secrets
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from benchmarks.result import Result, Row, percentile
from benchmarks.servers import bot
from demo.standin.server import StandIn
from demo.standin.webhooks import signature

REPO, ACTOR = "octo/eyes", "ada"
GOAL_S = 0.5
_PATIENCE_S = 60.0
_LOOK_S = 0.002
_POLICY = "checks:\n  test: { command: 'true' }\n"


@dataclass(frozen=True, slots=True)
class Size:
    """Comments one after another in an idle bot, each `pause_s` after the last one's eyes, and some while the reports
    of `burst` labelled issues are being written."""

    comments: int = 30
    pause_s: float = 4.0
    burst: int = 10
    during: int = 5


def measure(size: Size) -> Result:
    """Comment, and look at the comment until the reaction is there."""
    with tempfile.TemporaryDirectory(prefix="mendbot-bench-") as where:
        root = Path(where)
        with StandIn(root / "github", webhook_url=None, webhook_secret=secrets.token_hex(32)) as github:
            github.world.create_user(ACTOR)
            github.world.create_repo(REPO, {"README.md": "# eyes\n", ".github/mendbot.yml": _POLICY})
            github.world.set_permission(REPO, ACTOR, "write")
            with bot(github, root / "home", MENDBOT_QUIET_SECONDS="0.5") as server:
                github.world.set_webhook_url(f"http://127.0.0.1:{server.port}/api/github/webhooks")
                _commented(github, _issue(github))  # the first asks GitHub who we are, and for a token
                idle, acknowledged = _idle(github, server.port, size)
                busy = _busy(github, size)
    return _result(size, idle, busy, acknowledged)


def _idle(github: StandIn, port: int, size: Size) -> tuple[list[float], list[float]]:
    number, eyes, acknowledged = _issue(github), [], []
    for _ in range(size.comments):
        time.sleep(size.pause_s)  # so that no write of before is waited for
        acknowledged.append(_acknowledged(github, port))
        eyes.append(_commented(github, number))
    return eyes, acknowledged


def _busy(github: StandIn, size: Size) -> list[float]:
    """Comments while the reports of a burst of labels, comments and labels at each issue, wait for their turn."""
    number = _issue(github)
    labelled = [_issue(github) for _ in range(size.burst)]
    for other in labelled:
        github.world.add_label(REPO, other, "auto-fix", ACTOR)
    _until(lambda: any(len(github.world.comments(REPO, other)) for other in labelled), time.monotonic())
    eyes = []
    for _ in range(size.during):
        time.sleep(2.0)
        eyes.append(_commented(github, number))
    return eyes


def _issue(github: StandIn) -> int:
    return github.world.create_issue(REPO, "Something", "is wrong", author=ACTOR)


def _commented(github: StandIn, number: int) -> float:
    """Seconds from the comment to the eyes on it."""
    began = time.monotonic()
    comment = github.world.comment(REPO, number, "/mendbot status", ACTOR)

    def seen() -> bool:
        found = next(one for one in github.world.comments(REPO, number) if one.id == comment)
        return any(content == "eyes" for content, _ in found.reactions)

    return _until(seen, began)


def _until(there: Callable[[], bool], began: float) -> float:
    while not there():
        if time.monotonic() - began > _PATIENCE_S:
            raise RuntimeError(f"nothing was written within {_PATIENCE_S:.0f} s")
        time.sleep(_LOOK_S)
    return time.monotonic() - began


def _acknowledged(github: StandIn, port: int) -> float:
    """Seconds from the first byte of a signed comment without a command to its 202."""
    issue = {"number": 1, "title": "Something", "user": {"login": ACTOR}}
    comment = {"id": 1, "body": "Thanks!", "user": {"login": ACTOR}}
    sender = {"login": ACTOR, "type": "User"}
    repository = {"full_name": REPO}
    body = json.dumps(
        {"action": "created", "issue": issue, "comment": comment, "repository": repository, "sender": sender}
    ).encode()
    headers = {
        "Content-Type": "application/json",
        "X-GitHub-Event": "issue_comment",
        "X-GitHub-Delivery": secrets.token_hex(16),
        "X-Hub-Signature-256": signature(github.webhook_secret, body),
    }
    began = time.monotonic()
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=_PATIENCE_S)
    try:
        connection.request("POST", "/api/github/webhooks", body, headers)
        answer = connection.getresponse()
        answer.read()
    finally:
        connection.close()
    if answer.status != 202:
        raise RuntimeError(f"the webhook was answered with {answer.status}")
    return time.monotonic() - began


def _result(size: Size, idle: Sequence[float], busy: Sequence[float], acknowledged: Sequence[float]) -> Result:
    rows = (
        Row("comment to 👀, idle, p95", percentile(idle, 0.95), "s", "at most", GOAL_S),
        Row("comment to 👀, idle, p50", median(idle), "s"),
        Row(f"comment to 👀 while the reports of {size.burst} issues are written, p50", median(busy), "s"),
        Row("the same, slowest", max(busy), "s"),
        Row("webhook to 202, p50", median(acknowledged), "s"),
        Row("webhook to 202, p95", percentile(acknowledged, 0.95), "s"),
        Row("idle p50 : webhook to 202 p50", median(idle) / median(acknowledged), "×"),
    )
    notes = (
        "A second between writes, as GitHub asks for; the eyes go before all that waits, half a second after a write.",
        "Bot and stand-in share the machine; GitHub's own time on the way is not in it.",
    )
    return Result("comment to eyes", size.comments, rows, notes)
