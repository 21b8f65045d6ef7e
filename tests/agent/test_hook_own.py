"""The hook on what the bot itself writes: its own database, while it is open and after, and the spool of a box."""

from __future__ import annotations

import asyncio
import json
import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from bot.agent import hook
from bot.model import Resolution
from bot.store.database.database import Database
from bot.store.history.history import History
from tests.agent.hook_process import Seeded, bash, edit, said


@pytest.fixture
def seeded(tmp_path: Path) -> Iterator[Seeded]:
    database = Seeded(tmp_path / "mendbot.db")
    yield database
    database.close()


@contextmanager
def own(home: Path) -> Iterator[History]:
    database = Database(f"sqlite:///{home / 'mendbot.db'}")
    database.migrate()
    try:
        yield History(database)
    finally:
        database.close()


ADA = Resolution(resolved_by="ada", tool="Edit", tool_sequence=("Read", "Edit"))


async def test_the_bots_own_database_while_it_is_open_and_after(tmp_path: Path) -> None:
    with own(tmp_path) as history:
        await history.record("/a/b/index.ts(3,4): error TS2345: no", ADA, paths=["lib/myindex.ts"])
        await history.record("/a/b/myindex.ts(3,4): error TS2345: yes", ADA)
        await history.tool_error("s1", "Bash", "/elsewhere/index.ts(9,9): error TS2345: no")
        lines = said(edit(), tmp_path)
        assert lines == [
            "⚠️ Past error involving this file: <PATH>/index.ts(<POS>): error TS2345: no",
            "How it was resolved: ada (Edit)",
            "Path to the resolution: Read → Edit",
        ]
        link = tmp_path / "link.db"
        link.symlink_to("mendbot.db")
        assert said(edit(), tmp_path, MENDBOT_DATABASE_URL=f"sqlite:///{link}") == lines, "its log was not read"
        link.unlink()
        assert said(bash(), tmp_path)[1:] == ["Path to the earlier resolution: Read → Edit"]
    assert said(edit(), tmp_path) == lines
    assert len(said(edit("x/myindex.ts"), tmp_path)) == 6
    assert [path.name for path in tmp_path.iterdir()] == ["mendbot.db"], "it left files beside the database"


async def test_rows_that_another_program_wrote_are_found_too(tmp_path: Path) -> None:
    with own(tmp_path) as history:
        await history.record("index.ts: oldest", ADA)
        await asyncio.sleep(0.002)  # the history tells times apart by the millisecond
        await history.record("index.ts: older", ADA)
        with sqlite3.connect(tmp_path / "mendbot.db") as database:
            query = "INSERT INTO error_kb (ts, error_normalized, resolution, last_used) VALUES ('t', ?, ?, ?)"
            database.execute(query, ("foreign in index.ts", "by hand", "2999-01-01"))
        database.close()
        heads = [line for line in said(edit(), tmp_path) if line.startswith("⚠️")]
        assert [head.split(": ", 1)[1] for head in heads] == ["foreign in index.ts", "index.ts: older"]
        assert await history.adopt() == 1
        assert await history.adopt() == 0
        assert len(said(edit(), tmp_path)) == 5  # adopted, and still the latest


def test_a_side_table_of_two_columns(seeded: Seeded) -> None:
    with sqlite3.connect(seeded.path) as database:
        database.execute("CREATE TABLE error_files (file_name TEXT, kb_id INTEGER)")
        database.execute("INSERT INTO error_files VALUES ('index.ts', 1)")
    database.close()
    seeded.known("its text names no file")
    seeded.known("myindex.ts")
    assert said(edit(), seeded.path.parent)[0].endswith(": its text names no file")
    assert said(edit("myindex.ts"), seeded.path.parent) == []


def test_every_lookup_of_the_bots_own_database_uses_an_index(tmp_path: Path) -> None:
    """REQ-RA-306."""
    with own(tmp_path):
        pass
    database = sqlite3.connect(tmp_path / "mendbot.db")
    for query, values in (
        (hook.BY_FILE[0][0], ("a", "b")),
        (hook.BY_FILE[0][1], ("a", "b")),
        (hook.SESSION_ERROR, ("s",)),
        (hook.BY_TEXT, ("x",)),
    ):
        plan = [row[3] for row in database.execute(f"EXPLAIN QUERY PLAN {query}", values)]
        assert not [step for step in plan if step.startswith("SCAN") and "(subquery" not in step], plan
        assert [step for step in plan if "USING" in step and "INDEX" in step], plan
    database.close()


def spool(seeded: Seeded, *lines: object) -> None:
    path = seeded.path.with_name(hook.SPOOL)
    path.write_text("".join(f"{line if isinstance(line, str) else json.dumps(line)}\n" for line in lines))


def noted(error: object, session: object = "s1", tool: object = "Bash") -> dict[str, object]:
    return {"tool": tool, "error": error, "session_id": session}


def test_what_failed_in_this_run_is_later_than_the_snapshot(seeded: Seeded) -> None:
    """REQ-RA-302: the session's latest Bash error, though it is in the spool alone."""
    for error in ("in events", "old", "latest", "other session", "other tool"):
        seeded.known(error)
    seeded.failed("in events", ts="9999")
    home = seeded.path.parent
    assert said(bash(), home)[0].endswith(": in events")
    spool(seeded, noted("old"), noted("latest"), noted("other session", "s2"), noted("other tool", tool="Edit"))
    assert said(bash(), home)[0].endswith(": latest")
    assert said(bash("s2"), home)[0].endswith(": other session")
    spool(seeded, noted("latest"), noted("unknown"))
    assert said(bash(), home) == []
    spool(seeded, noted("unknown", "s3"))
    assert said(bash(), home)[0].endswith(": in events")


def test_hostile_lines_in_the_spool_are_passed_over(seeded: Seeded) -> None:
    seeded.known("latest")
    bad = ("{", "[]", "null", "7", "\0", "[" * 50_000, noted({"a": 1}, "s9"), noted(None, None, []), "\u2028" * 99)
    spool(seeded, "x" * 500_000, noted("latest"), *bad)
    assert said(bash(), seeded.path.parent)[0].endswith(": latest")
    spool(seeded, noted("latest"), "x" * 500_000)
    assert said(bash(), seeded.path.parent) == [], "only its end is read"
    spool(seeded, noted([1]), noted("latest", "s2"))
    assert said(bash(), seeded.path.parent) == []


@pytest.mark.parametrize("kind", ["link", "pipe", "directory"])
def test_a_spool_that_is_no_file_is_none(seeded: Seeded, tmp_path: Path, kind: str) -> None:
    seeded.known("elsewhere")
    seeded.known("in events")
    seeded.failed("in events")
    path = seeded.path.with_name(hook.SPOOL)
    if kind == "link":
        spool(seeded, noted("elsewhere"))
        path.rename(tmp_path / "aim")
        path.symlink_to(tmp_path / "aim")
    elif kind == "pipe":
        os.mkfifo(path)
    else:
        path.mkdir()
    assert said(bash(), seeded.path.parent)[0].endswith(": in events")


@pytest.mark.parametrize(
    ("tool", "fields"),
    [
        ("replace", {"file_path": "/project/src/index.ts"}),
        ("write_file", {"file_path": "index.ts"}),
        ("apply_patch", {"command": "*** Begin Patch\n*** Add File: b.ts\n+x\n*** Update File: src/index.ts\n@@\n"}),
    ],
)
def test_the_tools_of_other_agents_are_known(seeded: Seeded, tool: str, fields: dict[str, str]) -> None:
    """REQ-RA-301."""
    seeded.known("index.ts: error TS2345")
    request = {"session_id": "s1", "tool_name": tool, "tool_input": fields}
    assert said(request, seeded.path.parent)[0] == "⚠️ Past error involving this file: index.ts: error TS2345"


def test_a_command_is_no_path(seeded: Seeded) -> None:
    """REQ-RA-302: a shell command of another agent gets the session's error alone."""
    seeded.known("index.ts: error TS2345")
    seeded.known("make: no rule")
    seeded.failed("make: no rule")
    request = {"session_id": "s1", "tool_name": "run_shell_command", "tool_input": {"command": "cat index.ts"}}
    assert said(request, seeded.path.parent)[0] == "💡 A Bash error occurred earlier in this session: make: no rule"
