"""The history finds what it was told, forgets what does not help, and comes through an export unharmed."""

from __future__ import annotations

import asyncio
import json
import sqlite3
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TypeVar

import pytest

from bot.model import Resolution
from bot.store.database.database import Database
from bot.store.history.history import History
from bot.store.history.resolutions import MAX_PATCH, read_resolution

T = TypeVar("T")
BY_ADA = Resolution(resolved_by="ada", tool="Edit", tool_sequence=("Read", "Edit"), commit="abc", patch="--- a\n")
BY_BOB = Resolution(resolved_by="bob")


@asynccontextmanager
async def opened(where: Path) -> AsyncIterator[Database]:
    database = Database(f"sqlite:///{where / 'mendbot.db'}")
    database.migrate()
    try:
        yield database
    finally:
        database.close()


async def run(where: Path, work: Callable[[History], Awaitable[T]]) -> T:
    async def inside() -> T:
        async with opened(where) as database:
            return await work(History(database))

    return await inside()


def names(errors: object) -> list[str]:
    return [known.error for known in errors]  # type: ignore[attr-defined]


async def test_an_error_is_found_by_its_text_wherever_and_whenever_it_happened(tmp_path: Path) -> None:
    async def work(history: History) -> None:
        kb_id = await history.record("/home/ada/src/index.ts(3,4): error TS2345: no 'x' of 5", BY_ADA)
        found = await history.by_error("/build/src/index.ts(30,40): error TS2345: no 'x' of 5")
        assert found is not None and found.id == kb_id
        assert (found.resolution, found.use_count, found.exact) == (BY_ADA, 1, True)

    await run(tmp_path, work)


async def test_the_loose_key_is_tried_when_the_exact_one_finds_nothing(tmp_path: Path) -> None:
    """REQ-RA-310."""

    async def work(history: History) -> None:
        await history.record("index.ts(3,4): error TS2345: no 'x' of 5", BY_ADA)
        loose = await history.by_error("index.ts(1,1): error TS2345: no 'y' of 6")
        assert loose is not None and not loose.exact and loose.resolution == BY_ADA
        assert await history.by_error("index.ts(3,4): error TS2346: no 'x' of 5") is None
        assert await history.by_error("") is None

    await run(tmp_path, work)


async def test_the_template_is_tried_when_no_key_finds_anything(tmp_path: Path) -> None:
    """REQ-RA-310."""

    async def work(history: History) -> None:
        await history.record("a.py:3: error: Unused import requests here", BY_ADA.model_copy(update={"check": "lint"}))
        await history.record("c.py:9: error: Unused import jinja here", BY_BOB)
        error = "lib/b.py:7: error: Unused import flask here"
        found = await history.by_error(error)
        assert found is not None and (found.match, found.resolution) == ("template", BY_BOB)
        (latest,) = await history.by_errors([error], check="test")
        assert latest.resolution == BY_BOB  # whose check is not known
        await history.record("c.py:9: error: Unused import jinja here", BY_BOB.model_copy(update={"check": "test"}))
        (other,) = await history.by_errors([error], check="lint")
        assert other.resolution.resolved_by == "ada"
        exact, by_template = await history.by_errors([error, "c.py:1: error: Unused import jinja here"], check="lint")
        assert (exact.match, by_template.match) == ("same", "template")
        assert await history.by_errors([error], check="typecheck") == ()

    await run(tmp_path, work)


async def test_the_same_error_resolved_again_is_one_record_of_more_use(tmp_path: Path) -> None:
    """REQ-RA-311."""

    async def work(history: History) -> None:
        first = await history.record("boom in a.py", BY_ADA, paths=["src/b.py"])
        await history.followed(await history.by_file("a.py"), passed=False)
        assert await history.record("boom in a.py", BY_BOB, paths=["src/c.py"]) == first
        found = await history.by_error("boom in a.py")
        assert found is not None
        assert (found.resolution, found.use_count, found.shown) == (BY_BOB, 2, 0)
        for path in ("a.py", "b.py", "c.py"):
            assert len(await history.by_file(path)) == 1

    await run(tmp_path, work)


async def test_an_error_resolved_again_is_the_latest_for_all_its_files(tmp_path: Path) -> None:
    async def work(history: History) -> list[str]:
        for error, path in (("one", "a.py"), ("two", "a.py"), ("one", "b.py")):
            await history.record(error, BY_ADA, paths=[path])
            await asyncio.sleep(0.002)  # the history tells times apart by the millisecond
        return names(await history.by_file("a.py"))

    assert await run(tmp_path, work) == ["one", "two"]


async def test_by_file_gives_the_two_most_recently_used_of_that_whole_base_name(tmp_path: Path) -> None:
    async def work(history: History) -> None:
        for word in ("a", "b", "c"):
            await history.record(f"error {word} in src/index.ts", BY_ADA)
        await history.record("error in src/myindex.ts", BY_ADA)
        await history.record("error elsewhere", BY_ADA, paths=["C:\\src\\other.ts"])
        await asyncio.sleep(0.002)  # the history tells times apart by the millisecond
        await history.followed(await history.by_errors(["error a in src/index.ts"]), passed=True)
        found = await history.by_file("/src/index.ts")
        assert found[0].error == "error a in <PATH>/index.ts" and len(found) == 2
        assert names(await history.by_file("index.ts", limit=5)) == [
            f"error {word} in <PATH>/index.ts" for word in ("a", "c", "b")
        ]
        assert names(await history.by_file("deep/other.ts")) == ["error elsewhere"]
        for path in ("ndex.ts", "INDEX.TS", "index", "%", "", "src/"):
            assert await history.by_file(path) == ()

    await run(tmp_path, work)


async def test_guidance_that_does_not_help_is_offered_for_a_file_no_more_until_proven_again(tmp_path: Path) -> None:
    """REQ-RA-311."""

    async def work(history: History) -> list[int]:
        await history.record("boom in a.py", BY_ADA)
        told, offered = await history.by_errors(["boom in a.py"]), []
        for _ in range(4):
            offered.append(len(await history.by_file("a.py")))
            await history.followed(told, passed=False)
        assert await history.by_error("boom in a.py") is not None
        await history.record("boom in a.py", BY_BOB)
        return [*offered, len(await history.by_file("a.py"))]

    assert await run(tmp_path, work) == [1, 1, 1, 0, 1]


async def test_guidance_that_sometimes_helps_stays(tmp_path: Path) -> None:
    async def work(history: History) -> None:
        await history.record("boom in a.py", BY_ADA)
        for attempt in range(12):
            await history.followed(await history.by_file("a.py"), passed=attempt % 3 == 0)
        (found,) = await history.by_file("a.py")
        assert (found.shown, found.passed) == (12, 4)

    await run(tmp_path, work)


async def test_what_did_not_help_is_remembered_by_error(tmp_path: Path) -> None:
    async def work(history: History) -> None:
        await history.dead_end(["one", "two", "one"], "hash-1")
        await history.dead_end(["two"], "hash-2")
        await history.dead_end(["two"], "hash-2")
        assert await history.dead_ends(["one"]) == {"hash-1"}
        assert await history.dead_ends(["two", "three"]) == {"hash-1", "hash-2"}
        assert await history.dead_ends([]) == frozenset()

    await run(tmp_path, work)


async def test_a_patch_without_end_is_not_kept_and_an_error_without_text_is_refused(tmp_path: Path) -> None:
    async def work(history: History) -> None:
        await history.record("boom", BY_ADA.model_copy(update={"patch": "x" * (MAX_PATCH + 1), "diff_hash": "h"}))
        found = await history.by_error("boom")
        assert found is not None and (found.resolution.patch, found.resolution.diff_hash) == (None, "h")
        with pytest.raises(ValueError, match="no text"):
            await history.record(" \x1b[0m\n", BY_ADA)

    await run(tmp_path, work)


async def test_the_rows_have_the_seeds_shape(tmp_path: Path) -> None:
    await run(tmp_path, lambda history: history.record("boom in a.py", BY_ADA))
    await run(
        tmp_path, lambda history: history.tool_error("session", "Bash", "/tmp/x/a.py:3: boom", project="octo/pocket")
    )
    with sqlite3.connect(tmp_path / "mendbot.db") as database:
        columns = "error_normalized, error_raw, resolution, resolved_by, tool_sequence, use_count"
        error, raw, resolution, by, tools, count = database.execute(f"SELECT {columns} FROM error_kb").fetchone()
        kind, session, data = database.execute("SELECT type, session_id, data FROM events").fetchone()
    database.close()
    assert (error, raw, by, json.loads(tools), count) == ("boom in a.py", "boom in a.py", "ada", ["Read", "Edit"], 1)
    assert json.loads(resolution) == {
        "resolvedBy": "ada",
        "tool": "Edit",
        "toolSequence": ["Read", "Edit"],
        "commit": "abc",
        "patch": "--- a\n",
    }
    assert (kind, session) == ("tool_error", "session")
    assert json.loads(data) == {"tool": "Bash", "error": "<PATH>/a.py:<POS>: boom", "errorRaw": "/tmp/x/a.py:3: boom"}


def test_a_resolution_of_any_shape_can_be_read() -> None:
    assert read_resolution('{"resolvedBy": "ada", "more": 1}') == Resolution(resolved_by="ada")
    for raw in ("pinned numpy", "{", "[1]", '{"toolSequence": 7}', "[" * 100_000):
        assert read_resolution(raw) == Resolution(how=raw)
    assert read_resolution('"as a string"') == Resolution(how="as a string")


async def test_rows_of_another_program_are_found_and_adopted(tmp_path: Path) -> None:
    async def work(history: History) -> None:
        await history.record("index.ts: ours", BY_ADA)
        with sqlite3.connect(tmp_path / "mendbot.db") as other:
            query = "INSERT INTO error_kb (ts, error_normalized, resolution, last_used) VALUES ('t', ?, ?, ?)"
            other.execute(query, ("theirs, in_index.ts", "by hand", "2999-01-01"))
            other.execute(query, ("unresolved index.ts", None, "2999-01-02"))
        other.close()
        before = await history.by_file("index.ts")
        assert names(before) == ["theirs, in_index.ts", "index.ts: ours"]
        assert before[0].resolution == Resolution(how="by hand")
        assert [await history.adopt(), await history.adopt()] == [1, 0]
        assert names(await history.by_file("index.ts")) == ["index.ts: ours"]
        assert names(await history.by_file("in_index.ts")) == ["theirs, in_index.ts"]

    await run(tmp_path, work)
