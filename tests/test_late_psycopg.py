"""A server on SQLite loads no psycopg, and whoever uses it gets the real one."""

from __future__ import annotations

import subprocess
import sys

from tests.machine import PATIENCE_S

SCRIPT = """
import sys
import bot.app.server
import dbos._sys_db as dbos

assert sorted(name for name in sys.modules if name.startswith("psycopg")) == ["psycopg", "psycopg.errors"]
assert issubclass(dbos.pg_errors.LockNotAvailable, Exception)
import psycopg
from psycopg.adapt import AdaptersMap

assert dbos.pg_errors.LockNotAvailable is psycopg.errors.LockNotAvailable
assert sys.modules["psycopg.errors"] is psycopg.errors and psycopg.__file__
"""


def test_psycopg_is_loaded_when_something_of_it_is_used() -> None:
    done = subprocess.run([sys.executable, "-c", SCRIPT], capture_output=True, text=True, timeout=PATIENCE_S)
    assert (done.returncode, done.stderr) == (0, "")
