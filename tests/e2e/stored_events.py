"""Waits for what a bot stores, and looks for what it left."""

from __future__ import annotations

import sqlite3
import time

from tests.e2e.server import Server
from tests.machine import PATIENCE_S

IN_FLIGHT_S = 0.4
"""How long a request lies at GitHub before it takes effect: the bot is dead by then."""


def wait_for_event(bot: Server, name: str) -> None:
    """Until an event of that type, or with that key, is stored."""
    deadline = time.monotonic() + PATIENCE_S
    while time.monotonic() < deadline:
        if any(name in found for found in events(bot)):
            return
        time.sleep(0.002)
    raise AssertionError(f"no event {name} within {PATIENCE_S} s:\n{bot.tail()}")


def events(bot: Server) -> list[tuple[str, str]]:
    try:
        with sqlite3.connect(f"file:{bot.home / 'mendbot.db'}?mode=ro", uri=True) as database:
            return database.execute("SELECT type, key FROM events ORDER BY id").fetchall()
    except sqlite3.OperationalError:
        return []  # the database is being made


def assert_nothing_left(bot: Server) -> None:
    assert not list((bot.home / "worktrees").glob("*/*/*/*"))
    assert "Traceback" not in bot.tail(10**7)
