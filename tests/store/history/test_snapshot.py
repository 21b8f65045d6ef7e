"""The snapshot for a box: the seed's tables, this repository's errors alone, and never more than a bounded lot."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from bot.agent import hook
from bot.errors import Transient
from bot.model import Resolution
from bot.store.database.database import Database
from bot.store.history import snapshot
from bot.store.history.history import History
from bot.store.history.snapshot import tool_session_id, write_snapshot

SEEDS_EVENTS = ["id", "v", "type", "ts", "session_id", "project", "project_path", "data"]
SEEDS_ERRORS = [
    *("id", "ts", "error_normalized", "error_raw", "resolution", "resolved_by", "tool_sequence", "use_count"),
    "last_used",
]
OURS = Resolution(resolved_by="ada", tool="Edit", tool_sequence=("Read", "Edit"), repo="Ada/Engine", patch="+secret")
THEIRS = Resolution(resolved_by="eve", repo="eve/secrets")
NOBODYS = Resolution(resolved_by="bob")


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    made = Database(f"sqlite:///{tmp_path / 'mendbot.db'}")
    made.migrate()
    yield made
    made.close()


async def record(database: Database, error: str, resolution: Resolution, *paths: str) -> None:
    await History(database).record(error, resolution, paths=paths)


async def written(
    database: Database, tmp_path: Path, repo: str | None = "ada/engine", session: str | None = None
) -> Path:
    path = tmp_path / "kit" / "mendbot.db"
    path.parent.mkdir(exist_ok=True)
    count = await write_snapshot(database, path, repo=repo, session=session)
    assert count == len(rows(path, "SELECT 1 FROM error_kb"))
    assert [found.name for found in path.parent.iterdir()] == ["mendbot.db"]
    return path


def rows(path: Path, query: str, *values: object) -> list[Any]:
    connection = sqlite3.connect(path)
    try:
        return connection.execute(query, values).fetchall()
    finally:
        connection.close()


def errors(path: Path) -> set[str]:
    return {error for (error,) in rows(path, "SELECT error_normalized FROM error_kb")}


async def test_it_has_the_seeds_two_tables_and_the_side_table_alone(database: Database, tmp_path: Path) -> None:
    await record(database, "boom in index.ts", OURS)
    path = await written(database, tmp_path)
    tables = rows(path, "SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name")
    assert tables == [("error_files",), ("error_kb",), ("events",)]
    assert [column[1] for column in rows(path, "PRAGMA table_info(events)")] == SEEDS_EVENTS
    assert [column[1] for column in rows(path, "PRAGMA table_info(error_kb)")] == SEEDS_ERRORS
    assert rows(path, "PRAGMA journal_mode") == [("delete",)], "a box can make no files beside it"
    assert rows(path, "PRAGMA integrity_check") == [("ok",)]


async def test_other_repositories_are_left_out_and_nobodys_is_in(database: Database, tmp_path: Path) -> None:
    """Ruling *Agents in the box*: rows of the run's repository, whatever its case, or of none."""
    await record(database, "ours", OURS, "a.py")
    await record(database, "theirs", THEIRS, "a.py")
    await record(database, "nobody's", NOBODYS)
    assert errors(await written(database, tmp_path)) == {"ours", "nobody's"}
    assert errors(await written(database, tmp_path, repo=None)) == {"nobody's"}
    assert b"secrets" not in (await written(database, tmp_path)).read_bytes()


async def test_of_an_error_that_others_resolved_later_it_tells_our_own(database: Database, tmp_path: Path) -> None:
    await record(database, "shared", OURS)
    await record(database, "shared", THEIRS)
    ((resolution,),) = rows(await written(database, tmp_path), "SELECT resolution FROM error_kb")
    assert json.loads(resolution)["resolvedBy"] == "ada"
    assert errors(await written(database, tmp_path, repo=None)) == set()
    await record(database, "everybody's", NOBODYS)
    await record(database, "everybody's", THEIRS)
    for repo in ("ada/engine", None):
        path = await written(database, tmp_path, repo=repo)
        ((told,),) = rows(path, "SELECT resolution FROM error_kb WHERE error_normalized = ?", "everybody's")
        assert json.loads(told)["resolvedBy"] == "bob"


async def test_a_patch_stays_at_home(database: Database, tmp_path: Path) -> None:
    await record(database, "ours", OURS)
    path = await written(database, tmp_path)
    assert b"+secret" not in path.read_bytes()
    ((resolution, by, steps),) = rows(path, "SELECT resolution, resolved_by, tool_sequence FROM error_kb")
    assert json.loads(resolution)["toolSequence"] == json.loads(steps) == ["Read", "Edit"]
    assert by == "ada"


async def test_the_hooks_queries_find_in_it_what_they_find_at_home(database: Database, tmp_path: Path) -> None:
    await record(database, "boom in index.ts", OURS, "lib/other.ts")
    await database.write(foreign)
    path = await written(database, tmp_path)
    for name, error in (("index.ts", "boom in index.ts"), ("other.ts", "boom in index.ts"), ("odd.ts", "in odd.ts")):
        ((found, _, _),) = rows(path, hook.BY_FILE[1][0], name, f"%{name}%")
        assert found == error
    assert "foreign theirs" not in errors(path) | errors(await written(database, tmp_path, repo=None))
    path = await written(database, tmp_path)
    assert rows(path, hook.BY_TEXT, "in odd.ts") == [("in odd.ts", '{"how":"not { JSON"}')]


def foreign(connection: Any) -> None:
    query = "INSERT INTO error_kb (ts, error_normalized, resolution, last_used) VALUES ('t', ?, ?, '2026')"
    connection.exec_driver_sql(query, ("in odd.ts", "not { JSON"))
    connection.exec_driver_sql(query, ("foreign theirs", '{"repo": "eve/secrets"}'))


async def test_a_runs_tool_errors_are_there_under_its_agents_own_sessions(database: Database, tmp_path: Path) -> None:
    """REQ-RA-302 across attempts; a session's name can be made to look like a run's, so it is kept under the run."""
    history = History(database)
    for session in (
        tool_session_id("run-1", "s1"),
        tool_session_id("run-2", "s1"),
        tool_session_id("run-1", "s2"),
        "s1",
        "run-1",
    ):
        await history.tool_error(session, "Bash", f"of {session}")
    path = await written(database, tmp_path, session="run-1")
    assert rows(path, hook.SESSION_ERROR, "s1") == [("of run-1:s1",)]
    assert rows(path, "SELECT count(*) FROM events") == [(2,)]
    assert rows(await written(database, tmp_path), "SELECT count(*) FROM events") == [(0,)]


async def test_it_holds_the_most_recently_used_up_to_its_bounds(
    database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def work(connection: Any) -> None:
        query = (
            "INSERT INTO error_kb (ts, error_normalized, resolution, last_used, loose_key) VALUES ('t', ?, ?, ?, 'k')"
        )
        many = [(f"e{number}", '{"how": "x"}', f"2026-{number:06}") for number in range(snapshot.MAX_ERRORS + 50)]
        connection.exec_driver_sql(query, many)

    await database.write(work)
    found = errors(await written(database, tmp_path))
    assert len(found) == snapshot.MAX_ERRORS
    assert "e49" not in found and "e50" in found
    theirs = "UPDATE error_kb SET repo = 'eve/secrets' WHERE error_normalized <> 'e7'"
    await database.write(lambda connection: connection.exec_driver_sql(theirs) and None)
    assert errors(await written(database, tmp_path)) == {"e7"}, "others' took its place"
    nobodys = "UPDATE error_kb SET repo = NULL"
    await database.write(lambda connection: connection.exec_driver_sql(nobodys) and None)
    monkeypatch.setattr(snapshot, "MAX_BYTES", 1_000)
    assert 0 < len(errors(await written(database, tmp_path))) < snapshot.MAX_ERRORS


async def test_a_new_one_takes_the_place_of_the_old_and_of_a_half_made_one(database: Database, tmp_path: Path) -> None:
    await record(database, "first", OURS)
    path = await written(database, tmp_path)
    path.with_suffix(".unfinished").write_bytes(b"torn")
    reader = sqlite3.connect(path)
    await record(database, "second", OURS)
    assert errors(await written(database, tmp_path)) == {"first", "second"}
    assert reader.execute("SELECT count(*) FROM error_kb").fetchone() == (1,), "a reader saw it change"
    reader.close()


async def test_what_cannot_be_written_or_read_is_said(tmp_path: Path) -> None:
    database = Database(f"sqlite:///{tmp_path / 'mendbot.db'}")
    with pytest.raises(Transient):
        await write_snapshot(database, tmp_path / "copy.db", repo=None)  # no tables yet
    database.migrate()
    with pytest.raises(sqlite3.OperationalError):
        await write_snapshot(database, tmp_path / "missing" / "copy.db", repo=None)
    database.close()


async def test_the_files_of_another_repository_with_the_same_error_are_not_named(
    database: Database, tmp_path: Path
) -> None:
    """A box must learn nothing of other repositories, not even what their files are called."""
    own = OURS.model_copy(update={"tool_sequence": ("Edit src/ours.py", "make test")})
    await record(database, "boom in seen.py", own, "src/ours.py")
    await record(database, "boom in seen.py", THEIRS, "merger-with-acme.py")
    for _ in range(2):  # whoever was the last to resolve it
        names = rows(await written(database, tmp_path), "SELECT file_name FROM error_files ORDER BY 1")
        assert names == [("ours.py",), ("seen.py",)]
        await record(database, "boom in seen.py", own, "src/ours.py")
