"""`kill -9` at each step of a run, then a restart: in the end one pull request, one comment, nothing lost or doubled."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable

import pytest

from bot.demo.standin.server import StandIn
from tests.e2e.conftest import RIGHT, WRONG, agent, assert_mended_once, label, wait_for_label
from tests.e2e.server import Server

Serve = Callable[..., Server]

EDGES = (
    "session_started",
    "phase_started",
    "validation_command_started",
    "artifact_created",
    "attempt_started",
    "agent_started",
    "changes_applied",
    "tests_failed",
    "tests_passed",
    "packaging",
    "packaging_done",
    "session_finished",
)


def wait_for_event(bot: Server, name: str) -> None:
    """Until an event of that type, or with that key, is stored."""
    deadline = time.monotonic() + 40
    while time.monotonic() < deadline:
        try:
            with sqlite3.connect(f"file:{bot.home / 'mendbot.db'}?mode=ro", uri=True) as database:
                if database.execute("SELECT 1 FROM events WHERE type = ? OR key = ?", (name, name)).fetchone():
                    return
        except sqlite3.OperationalError:
            pass  # the database is being made
        time.sleep(0.002)
    raise AssertionError(f"no event {name} within 40 s:\n{bot.tail()}")


@pytest.mark.parametrize("edge", EDGES)
def test_killed_at_an_edge_of_a_run_and_started_again(github: StandIn, serve: Serve, edge: str) -> None:
    bot = serve(MENDBOT_AGENT_COMMAND=agent(WRONG, RIGHT))
    number = label(github)
    wait_for_event(bot, edge)
    bot.kill()
    bot.start()
    wait_for_label(github, number, "auto-fix-done")
    assert_mended_once(github, number)
    assert not list((bot.home / "worktrees").glob("*/*/*/*"))


def test_killed_again_and_again(github: StandIn, serve: Serve) -> None:
    bot = serve(MENDBOT_AGENT_COMMAND=agent(WRONG, RIGHT))
    number = label(github)
    for edge in ("phase_started", "changes_applied", "tests_passed"):
        wait_for_event(bot, edge)
        bot.kill()
        bot.start()
    wait_for_label(github, number, "auto-fix-done")
    assert_mended_once(github, number)


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
