"""`kill -9` while a pull request is checked, then a restart: each check run is there once and completed, no tree left.

The default run kills several times in a row; `make soak` kills once at each edge, and at moments between."""

from __future__ import annotations

import sqlite3
import time
from collections import Counter
from collections.abc import Callable, Sequence

import pytest

from demo.standin.server import StandIn
from tests.e2e.conftest import CHECK, REPO
from tests.e2e.processes import wait_until
from tests.e2e.pull_world import BAD, mend_main, open_pull, wait_for_checks
from tests.e2e.server import Server

Serve = Callable[..., Server]

EDGES = ("pull_started", "pull_check_started", "pull_check_ran", "pull_base_checked", "pull_check_judged")
"""Events of a run of checks, in order; the next effect is under way when one is seen."""
LAST = "pull_finished"
SLOW = CHECK.replace("import sys", "import sys, time\ntime.sleep(0.3)")
OLD = 'print("answer.txt:1: error: an old trouble")\nraise SystemExit(1)\n'


def seen(bot: Server, event: str) -> bool:
    try:
        with sqlite3.connect(f"file:{bot.home / 'mendbot.db'}?mode=ro", uri=True) as database:
            return database.execute("SELECT 1 FROM events WHERE type = ?", (event,)).fetchone() is not None
    except sqlite3.OperationalError:
        return False  # the database is being made


def slow_checks(github: StandIn) -> None:
    """A test that takes its time and passes on the default branch, and a lint that has always failed."""
    mend_main(github)
    policy = "checks:\n  lint: { command: python3 lint.py }\n  test: { command: python3 check.py, timeout: 20 }\n"
    files: dict[str, str | bytes | None] = {".github/mendbot.yml": policy, "check.py": SLOW, "lint.py": OLD}
    github.world.push_files(REPO, "main", files, "Slow checks", "ada")


def assert_whole(github: StandIn, bot: Server, sha: str) -> None:
    """Everything is completed, nothing is there twice, nothing is left behind."""
    wait_for_checks(github, sha, 90, lint="neutral", test="failure", typecheck="skipped")
    runs = github.world.check_runs(REPO, sha)
    assert Counter((run.name, run.external_id) for run in runs).most_common(1)[0][1] == 1
    assert len(runs) == 3
    assert len(github.world.pulls(REPO)[0].comments) == 0
    assert len(next(run for run in runs if run.name.endswith("test")).annotations) == 1
    wait_until(lambda: seen(bot, LAST) and not list((bot.home / "pulls").glob("*/*/*")), 20)
    assert "Traceback" not in bot.tail(10**7)


def kill_at(bot: Server, events: Sequence[str]) -> None:
    for event in events:
        wait_until(lambda event=event: seen(bot, event), 60)  # type: ignore[misc]
        bot.kill()
        bot.start()


def test_killed_while_a_pull_request_is_checked(github: StandIn, serve: Serve) -> None:
    """H-1."""
    slow_checks(github)
    bot = serve()
    _, sha = open_pull(github, {"answer.txt": BAD})
    kill_at(bot, EDGES[1:4])
    assert_whole(github, bot, sha)


@pytest.mark.soak
def test_killed_between_the_end_of_the_checks_and_their_report(github: StandIn, serve: Serve) -> None:
    slow_checks(github)
    bot = serve()
    _, sha = open_pull(github, {"answer.txt": BAD})
    wait_until(lambda: seen(bot, "pull_check_started"), 60)
    lost = github.world.faults.add("PATCH", rf"/repos/{REPO}/check-runs/\d+", times=10**6)
    wait_until(lambda: seen(bot, LAST), 60)
    bot.kill()
    assert lost.hits
    github.world.faults.clear()
    bot.start()
    assert_whole(github, bot, sha)


def test_killed_while_a_report_is_on_its_way(github: StandIn, serve: Serve) -> None:
    slow_checks(github)
    faults = [github.world.faults.add(how, rf"/repos/{REPO}/check-runs.*", status=None, delay_s=0.4)
              for how in ("POST", "PATCH")]  # fmt: skip
    bot = serve()
    _, sha = open_pull(github, {"answer.txt": BAD})
    for fault in faults:
        wait_until(lambda fault=fault: fault.hits > 0, 60)  # type: ignore[misc]
        bot.kill()
        bot.start()
    assert_whole(github, bot, sha)


@pytest.mark.soak
@pytest.mark.parametrize("edge", [*EDGES, LAST])
def test_killed_at_an_edge_of_the_checks(github: StandIn, serve: Serve, edge: str) -> None:
    slow_checks(github)
    bot = serve()
    _, sha = open_pull(github, {"answer.txt": BAD})
    kill_at(bot, [edge])
    assert_whole(github, bot, sha)


@pytest.mark.soak
@pytest.mark.parametrize("milliseconds", range(50, 3000, 60))
def test_killed_at_any_moment_of_the_checks(github: StandIn, serve: Serve, milliseconds: int) -> None:
    slow_checks(github)
    bot = serve()
    _, sha = open_pull(github, {"answer.txt": BAD})
    time.sleep(milliseconds / 1000)
    bot.kill()
    bot.start()
    assert_whole(github, bot, sha)
