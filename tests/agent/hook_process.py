"""The hook as agents run it: a real process, a real database with the seed's two tables alone."""

from __future__ import annotations

import json
import os
import sqlite3
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from bot.agent import hook
from tests.machine import PATIENCE_S

HOOK = Path(hook.__file__)
BARE = (sys.executable, "-I", "-S", str(HOOK))
_UNHURRIED = """
import sys
names = {"__name__": "hook", "__file__": sys.argv[1]}
exec(compile(open(sys.argv[1], encoding="utf-8").read(), sys.argv[1], "exec"), names)
names["DEADLINE_S"] = 60.0
names["main"]()
"""
UNHURRIED = (sys.executable, "-I", "-S", "-c", _UNHURRIED, str(HOOK))
"""The same, but for its own limit, which on a busy machine would silence it."""
THROUGH_THE_BOT = (sys.executable, "-m", "bot", "hook", "pre-tool")
SEED = """
CREATE TABLE events (id INTEGER PRIMARY KEY, v INTEGER DEFAULT 1, type TEXT, ts TEXT, session_id TEXT, project TEXT,
                     project_path TEXT, data JSON);
CREATE TABLE error_kb (id INTEGER PRIMARY KEY, ts TEXT, error_normalized TEXT UNIQUE, error_raw TEXT, resolution JSON,
                       resolved_by TEXT, tool_sequence TEXT, use_count INTEGER DEFAULT 1, last_used TEXT);
"""
RESOLVED = json.dumps({"resolvedBy": "success_after_error", "tool": "Bash", "toolSequence": ["Read", "Edit", "Bash"]})


class Seeded:
    """A database with the seed's two tables alone."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._database = sqlite3.connect(path, isolation_level=None)
        self._database.executescript(SEED)

    def known(self, error: str, resolution: object = RESOLVED, last_used: str = "2026-01-01T00:00:00.000Z") -> None:
        query = "INSERT INTO error_kb (ts, error_normalized, resolution, last_used) VALUES ('t', ?, ?, ?)"
        self._database.execute(query, (error, resolution, last_used))

    def failed(self, error: str, ts: str = "1", session: str = "s1", tool: str = "Bash") -> None:
        query = "INSERT INTO events (type, ts, session_id, data) VALUES ('tool_error', ?, ?, ?)"
        self._database.execute(query, (ts, session, json.dumps({"tool": tool, "error": error})))

    def close(self) -> None:
        self._database.close()


def raw(stdin: bytes, home: Path, argv: tuple[str, ...] = UNHURRIED, **env: str) -> bytes:
    result = subprocess.run(
        argv,
        input=stdin,
        capture_output=True,
        env={"PATH": os.environ["PATH"], "MENDBOT_HOME": str(home), **env},
        timeout=PATIENCE_S,
        check=False,
    )
    assert (result.returncode, result.stderr) == (0, b"")
    return result.stdout


def said(request: Mapping[str, object], home: Path, **env: str) -> list[str]:
    """The lines of guidance; [] for no output at all."""
    output = raw(json.dumps(request).encode(), home, **env)
    if not output:
        return []
    answer = json.loads(output)
    context = answer["hookSpecificOutput"]["additionalContext"]
    assert answer == {"hookSpecificOutput": {"hookEventName": "PreToolUse", "additionalContext": context}}
    return str(context).split("\n")


def edit(path: str = "/project/src/index.ts", tool: str = "Edit") -> dict[str, object]:
    return {"session_id": "s1", "tool_name": tool, "tool_input": {"file_path": path, "content": "x"}}


def bash(session: str = "s1") -> dict[str, object]:
    return {"session_id": session, "tool_name": "Bash", "tool_input": {"command": "make"}}
