"""`kill -9` while a run's result is on its way to GitHub: it is told once, and in a comment that notifies."""

from __future__ import annotations

from collections.abc import Callable

from demo.standin.server import StandIn
from tests.e2e.conftest import REPO, WRONG, agent, label, wait_for_label
from tests.e2e.pull_world import wait
from tests.e2e.server import Server
from tests.e2e.stored_events import IN_FLIGHT_S, assert_nothing_left, wait_for_event

Serve = Callable[..., Server]


def test_a_failure_is_posted_once_though_the_bot_is_killed_at_each_of_its_writes(github: StandIn, serve: Serve) -> None:
    """G-2."""
    bot = serve(MENDBOT_AGENT_COMMAND=agent(WRONG))
    number = label(github)
    wait_for_event(bot, "attempt_started")
    wait(github, lambda: bool(github.world.comments(REPO, number)), "the status comment")
    (status,) = github.world.comments(REPO, number)
    for method, path in (
        ("POST", rf"/repos/{REPO}/issues/{number}/comments"),
        ("DELETE", rf"/repos/{REPO}/issues/comments/{status.id}"),
    ):
        fault = github.world.faults.add(method, path, status=None, delay_s=IN_FLIGHT_S)
        wait(github, lambda fault=fault: fault.hits > 0, f"{method} {path}")
        bot.kill()
        bot.start()
    wait_for_label(github, number, "auto-fix-failed")
    (result,) = github.world.comments(REPO, number)
    assert result.id != status.id and "❌" in result.body
    assert_nothing_left(bot)
