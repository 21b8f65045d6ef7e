"""`kill -9` in the middle, then a restart: in the end one pull request, one comment, nothing lost, nothing doubled.

The default run kills at an edge of each kind, several in a row, which is harder on the bot and easier on the clock;
`make soak` kills once at each edge, and at a hundred moments between."""

from __future__ import annotations

import json
import os
import random
import sqlite3
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor

import pytest

from demo.standin.faults import Fault
from demo.standin.server import StandIn
from tests.e2e.conftest import CHECK, REPO, RIGHT, WRONG, agent, assert_mended_once, label, wait_for_label
from tests.e2e.processes import arguments, wait_until
from tests.e2e.server import Server
from tests.e2e.session_faces import until
from tests.e2e.stored_events import IN_FLIGHT_S, assert_nothing_left, wait_for_event
from tests.machine import PATIENCE_S

Serve = Callable[..., Server]

EDGES = (
    *("session_started", "planning", "validation_command_started", "artifact_created"),
    *("attempt_started", "agent_started", "changes_applied", "tests_failed"),
    *("tests_passed", "packaging", "packaging_done", "session_finished"),
)
"""Events of a run, by type or key, in order."""
KINDS_OF_EDGES = ("planning", "agent_started", "tests_failed", "packaging")
"""One of each kind: before the first attempt, while an agent works, between two attempts, while the fix is pushed."""


def test_killed_at_one_edge_after_another(github: StandIn, serve: Serve) -> None:
    bot = serve(MENDBOT_AGENT_COMMAND=agent(WRONG, RIGHT))
    number = label(github)
    for edge in KINDS_OF_EDGES:
        wait_for_event(bot, edge)
        bot.kill()
        bot.start()
    wait_for_label(github, number, "auto-fix-done")
    assert_mended_once(github, number)
    assert_nothing_left(bot)


KINDS_OF_REQUESTS = [
    ("POST", rf"/{REPO}\.git/git-receive-pack"),
    ("POST", rf"/repos/{REPO}/pulls"),
    ("POST", rf"/repos/{REPO}/issues/\d+/comments"),
]
"""A push, and what must not be made twice."""
OTHER_REQUESTS = [
    ("POST", rf"/{REPO}\.git/git-upload-pack"),
    ("POST", rf"/repos/{REPO}/check-runs"),
    ("PATCH", rf"/repos/{REPO}/issues/comments/\d+"),
    ("POST", rf"/repos/{REPO}/issues/\d+/labels"),
    ("DELETE", rf"/repos/{REPO}/issues/\d+/labels/.*"),
]


@pytest.mark.parametrize(
    "requests", [KINDS_OF_REQUESTS, pytest.param(OTHER_REQUESTS, marks=pytest.mark.soak)], ids=["kinds", "others"]
)
def test_killed_while_a_request_is_on_its_way_to_github(
    github: StandIn, serve: Serve, requests: Sequence[tuple[str, str]]
) -> None:
    faults = [github.world.faults.add(*request, status=None, delay_s=IN_FLIGHT_S) for request in requests]
    bot = serve(MENDBOT_AGENT_COMMAND=agent(RIGHT))
    number = label(github)
    kills = 0
    while (waiting := [fault for fault in faults if not fault.hits]) and wait_for_hit(github, number, waiting):
        bot.kill()
        kills += 1
        bot.start()
    wait_for_label(github, number, "auto-fix-done")
    assert kills >= len(requests) // 2 + 1  # two of them may be on their way at once
    assert_mended_once(github, number)
    assert_nothing_left(bot)
    labeled = next(one for one in github.world.deliveries if one.event == "issues" and one.action == "labeled")
    assert bot.deliver(labeled.event, labeled.payload, labeled.guid) == (202, "duplicate")


def wait_for_hit(github: StandIn, number: int, faults: Sequence[Fault]) -> bool:
    """Until one of the requests has arrived; False if none does, as all is done."""
    deadline = time.monotonic() + PATIENCE_S
    while time.monotonic() < deadline and "auto-fix-done" not in github.world.issue(REPO, number).labels:
        if any(fault.hits for fault in faults):
            return True
        time.sleep(0.002)
    return any(fault.hits for fault in faults)


def test_killed_during_set_up_nothing_survives_and_it_is_done_again(github: StandIn, serve: Serve) -> None:
    """G-3."""
    long, longer = str(300_000 + os.getpid()), str(400_000 + os.getpid())  # no other run of the tests sleeps so long
    setup = f"[ -e marker ] || {{ touch marker; setsid sleep {longer} & sleep {long}; }}"
    policy = f"setup: {json.dumps(setup)}\nchecks:\n  test: {{ command: python3 check.py, timeout: 20 }}\n"
    github.world.push_commit(REPO, "main", {".github/mendbot.yml": policy, ".gitignore": "marker\n"}, "ada")
    bot = serve(MENDBOT_AGENT_COMMAND=agent(RIGHT))
    number = label(github)
    until(lambda: arguments("sleep", long) + arguments("sleep", longer) == 2)
    bot.kill()
    until(lambda: arguments("sleep", long) + arguments("sleep", longer) == 0)
    bot.start()
    wait_for_label(github, number, "auto-fix-done")
    assert_mended_once(github, number)
    assert_nothing_left(bot)


@pytest.mark.soak
@pytest.mark.parametrize("delays_s", [(0.05,), (0.0, 0.05)])
def test_killed_while_its_worktree_is_made(github: StandIn, serve: Serve, delays_s: Sequence[float]) -> None:
    many = {f"src/part{number // 100}/file{number}.txt": f"{number}\n" for number in range(3000)}
    github.world.push_commit(REPO, "main", many, "ada")
    bot = serve(MENDBOT_AGENT_COMMAND=agent(RIGHT))
    number = label(github)
    for delay_s in delays_s:
        wait_until(lambda: bool(list((bot.home / "mirrors").glob("*/*/mendbot-creating.json"))), PATIENCE_S)
        time.sleep(delay_s)  # somewhere in the checkout
        bot.kill()
        bot.start()
    wait_for_label(github, number, "auto-fix-done")
    assert_mended_once(github, number)
    assert_nothing_left(bot)


def test_a_run_that_outlived_many_restarts_is_not_given_up(github: StandIn, serve: Serve) -> None:
    bot = serve(MENDBOT_AGENT_COMMAND=agent(RIGHT))
    number = label(github)
    wait_for_event(bot, "attempt_started")
    bot.kill()
    with sqlite3.connect(bot.home / "engine.db") as database:
        database.execute("UPDATE workflow_status SET recovery_attempts = 12 WHERE name = 'fix'")
    bot.start()
    wait_for_label(github, number, "auto-fix-done")
    assert_mended_once(github, number)


def test_no_acknowledged_delivery_is_lost(github: StandIn, serve: Serve) -> None:
    bot = serve()
    acknowledged: set[str] = set()

    def deliver(number: int) -> None:
        if bot.deliver("star", b"{}", f"guid-{number}")[0] == 202:
            acknowledged.add(f"guid-{number}")

    for first in (0, 1000):

        def storm(first: int = first) -> None:
            with ThreadPoolExecutor(20) as pool:
                list(pool.map(deliver, range(first, first + 600)))

        thread = threading.Thread(target=storm)
        thread.start()
        wait_until(lambda: len(acknowledged) > (150 if first == 0 else 700), PATIENCE_S)  # noqa: B023  # called at once
        bot.kill()
        thread.join()
        bot.start()
    with sqlite3.connect(bot.home / "mendbot.db") as database:
        stored = {row[0] for row in database.execute("SELECT id FROM deliveries")}
        assert database.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    assert acknowledged <= stored
    assert len(acknowledged) < 1200, "it was killed too late to show anything"
    assert {row["status"] for row in bot.settled(min(len(stored), 1000))} == {"ignored"}


@pytest.mark.soak
@pytest.mark.parametrize("edge", EDGES)
def test_killed_at_an_edge_of_a_run(github: StandIn, serve: Serve, edge: str) -> None:
    bot = serve(MENDBOT_AGENT_COMMAND=agent(WRONG, RIGHT))
    number = label(github)
    wait_for_event(bot, edge)
    bot.kill()
    bot.start()
    wait_for_label(github, number, "auto-fix-done")
    assert_mended_once(github, number)
    assert_nothing_left(bot)


@pytest.mark.soak
@pytest.mark.parametrize("milliseconds", range(100, 6000, 60))
def test_killed_at_any_moment(github: StandIn, serve: Serve, milliseconds: int) -> None:
    bot = serve(MENDBOT_AGENT_COMMAND=agent(WRONG, RIGHT))
    number = label(github)
    time.sleep(milliseconds / 1000)
    bot.kill()
    bot.start()
    wait_for_label(github, number, "auto-fix-done")
    assert_mended_once(github, number)
    assert_nothing_left(bot)


@pytest.mark.soak
@pytest.mark.parametrize("seed", range(5))
def test_killed_twelve_times_at_random(github: StandIn, serve: Serve, seed: int) -> None:
    chance = random.Random(seed)
    slow = CHECK.replace("import sys", "import sys, time\ntime.sleep(1)")
    github.world.push_commit(REPO, "main", {"check.py": slow}, "ada")
    bot = serve(MENDBOT_AGENT_COMMAND=agent(WRONG, RIGHT))
    number = label(github)
    for _ in range(12):
        time.sleep(chance.uniform(0.0, 2.5))
        bot.kill()
        bot.start()
    wait_for_label(github, number, "auto-fix-done")
    assert_mended_once(github, number)
    assert_nothing_left(bot)
