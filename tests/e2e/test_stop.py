"""SIGTERM: the bot leaves within the time a supervisor gives it, with nothing lost and nothing left running."""

from __future__ import annotations

import json
import os
import sqlite3
import threading
from collections.abc import Callable

from demo.standin.server import StandIn
from tests.e2e.conftest import REPO, RIGHT, agent, assert_mended_once, wait_for_label
from tests.e2e.processes import arguments, wait_until
from tests.e2e.server import Server
from tests.e2e.session_faces import until
from tests.machine import PATIENCE_S

Serve = Callable[..., Server]

LONG = str(200_000 + os.getpid())
"""No other test, and no other run of the tests, sleeps for so many seconds."""
STUBBORN = f"[ -e marker ] || {{ touch marker; trap '' TERM INT HUP; sleep {LONG}; sleep {LONG}; }}; python3 check.py"


def test_three_runs_whose_checks_ignore_every_signal_do_not_keep_it(github: StandIn, serve: Serve) -> None:
    policy = f"group_by: component\nchecks:\n  test: {{ command: {json.dumps(STUBBORN)}, timeout: 900 }}\n"
    github.world.push_commit(REPO, "main", {".github/mendbot.yml": policy, ".gitignore": "marker\n"}, "ada")
    bot = serve(MENDBOT_AGENT_COMMAND=agent(RIGHT), MENDBOT_QUIET_SECONDS="1")
    world = github.world
    numbers = [
        world.create_issue(REPO, f"Part {part}", "It says 41.", author="ada", labels=(f"component:{part}",))
        for part in "abc"
    ]
    for number in numbers:
        world.add_label(REPO, number, "auto-fix", "ada")
    until(lambda: arguments("sleep", LONG) >= 3)
    assert bot.stop() == 0
    assert arguments("sleep", LONG) == 0
    assert "Traceback" not in bot.tail(10**7)
    bot.start()
    for number in numbers:
        wait_for_label(github, number, "auto-fix-done")
        assert_mended_once(github, number)


def test_deliveries_that_come_while_it_stops_are_stored_or_not_acknowledged(github: StandIn, serve: Serve) -> None:
    bot = serve()
    answers: dict[str, int] = {}
    stop = threading.Event()

    def deliver(lane: int) -> None:
        number = 0
        while not stop.is_set():
            number += 1
            guid = f"guid-{lane}-{number}"
            answers[guid] = bot.deliver("star", b"{}", guid)[0]

    threads = [threading.Thread(target=deliver, args=(lane,)) for lane in range(4)]
    for thread in threads:
        thread.start()
    wait_until(lambda: len(answers) > 50, PATIENCE_S)
    assert bot.stop() == 0
    stop.set()
    for thread in threads:
        thread.join()
    assert set(answers.values()) == {0, 202}
    acknowledged = {guid for guid, code in answers.items() if code == 202}
    with sqlite3.connect(bot.home / "mendbot.db") as database:
        assert acknowledged <= {row[0] for row in database.execute("SELECT id FROM deliveries")}
    assert "Traceback" not in bot.tail(10**7)


def test_a_paused_run_leaves_its_place_to_others_and_goes_on_when_it_is_resumed(github: StandIn, serve: Serve) -> None:
    world = github.world
    policy = "group_by: component\nchecks:\n  test: { command: python3 check.py, timeout: 60 }\n"
    world.push_commit(REPO, "main", {".github/mendbot.yml": policy}, "ada")
    serve(MENDBOT_AGENT_COMMAND=agent(RIGHT), MENDBOT_QUIET_SECONDS="1", MENDBOT_WORKERS="1")
    paused, other = (
        world.create_issue(REPO, f"Part {part}", "It says 41.", author="ada", labels=(f"component:{part}",))
        for part in "ab"
    )
    world.comment(REPO, paused, "/mendbot pause", "ada")
    wait_until(lambda: any("rocket" in dict(one.reactions) for one in world.comments(REPO, paused)), PATIENCE_S)
    world.add_label(REPO, paused, "auto-fix", "ada")
    world.add_label(REPO, other, "auto-fix", "ada")
    wait_for_label(github, other, "auto-fix-done")
    assert "auto-fix-done" not in world.issue(REPO, paused).labels
    world.comment(REPO, paused, "/mendbot resume", "ada")
    wait_for_label(github, paused, "auto-fix-done")
