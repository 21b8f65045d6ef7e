"""What goes out of one history comes into another unharmed, and what is no record is named."""

from __future__ import annotations

import asyncio
import io
import json
import sqlite3
from collections.abc import Iterator
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.errors import Transient
from bot.model import Resolution
from bot.reports.format.redact import Redactor
from bot.reports.locale.reasons import english
from bot.rules.reasons import make_reason
from bot.store.database.database import Database
from bot.store.database.open import writing
from bot.store.database.sql import iso_now
from bot.store.history.history import History
from bot.store.history.import_export import (
    MAX_LINE,
    MAX_NAMED,
    Imported,
    export_lines,
    import_lines,
    lines_of,
    read_line,
)
from bot.store.history.resolutions import MAX_HOW, MAX_PATCH

BY_ADA = Resolution(resolved_by="ada", tool="Edit", tool_sequence=("Read", "Edit"), commit="abc", patch="--- a\n")
BY_BOB = Resolution(resolved_by="bob")
GOOD = '{"fingerprint": "boom", "patchHash": "hash"}'
WHEN = "2026-01-01T00:00:00Z"


def opened(where: Path) -> AbstractAsyncContextManager[Database]:
    return writing(f"sqlite:///{where / 'mendbot.db'}")


async def exported(database: Database) -> list[str]:
    return [line async for line in export_lines(database)]


async def test_an_export_makes_the_same_history_elsewhere_and_taking_it_again_changes_nothing(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    async with opened(tmp_path / "a") as one, opened(tmp_path / "b") as other:
        history = History(one)
        for number in range(3):
            await history.record(f"/x/{number}/a.py: boom {number}", BY_ADA, paths=["b.py"])
        await history.record("/x/1/a.py: boom 1", BY_BOB)
        await history.dead_end(["boom"], "hash")
        lines = await exported(one)
        for _ in range(2):
            assert await import_lines(other, [*lines, ""]) == Imported(taken=4)
            assert await exported(other) == lines
        assert await History(other).dead_ends(["boom"]) == {"hash"}
        found = await History(other).by_file("b.py", limit=9)
        assert [known.use_count for known in found] == [2, 1, 1]


async def test_of_two_records_of_one_error_the_one_used_later_stands(tmp_path: Path) -> None:
    def line(by: str, when: str) -> str:
        return json.dumps({"error": "boom in a.py", "resolution": {"resolvedBy": by}, "lastUsed": when})

    async def work() -> list[str]:
        async with opened(tmp_path) as database:
            by = []
            for text in (line("ada", "2026-01-02T00:00:00Z"), line("old", "2026-01-01T00:00:00Z")):
                await import_lines(database, [text])
                found = await History(database).by_error("boom in a.py")
                by.append(found.resolution.resolved_by if found else "")
            await import_lines(database, [line("future", "2999-01-01T00:00:00Z")])
            (before,) = await History(database).by_file("a.py")
            assert before.last_used <= iso_now()  # or nothing could ever be more recent
            await History(database).record("boom in a.py", BY_BOB)
            (after,) = await History(database).by_file("a.py")
            return [*by, before.resolution.resolved_by, after.resolution.resolved_by]

    assert await work() == ["ada", "ada", "future", "bob"]


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("{", "JSON"),
        ("[]", "object"),
        ("{}", "error"),
        ('{"error": " ", "resolution": {}, "lastUsed": "2026-01-01T00:00:00Z"}', "no text"),
        ('{"error": "x", "resolution": {}, "lastUsed": "2026-01-01T00:00:00"}', "timezone"),
        ('{"error": "x", "resolution": "how", "lastUsed": "2026-01-01T00:00:00Z"}', "resolution"),
        ('{"error": "x", "resolution": {}, "lastUsed": "2026-01-01T00:00:00Z", "id": 1}', "id"),
        ('{"fingerprint": "", "patchHash": "x"}', "fingerprint"),
        ('{"error": "' + "x" * 1_000_000 + '"}', "longer"),
        ('{"error": "\udcff"}', "UTF-8"),
        ('{"error": "a\0b"}', "NUL"),
        ('{"error": "\\ud800"}', "JSON"),
        ('{"error": "x", "resolution": {}, "useCount": 0, "lastUsed": "2026-01-01T00:00:00Z"}', "useCount"),
        ('{"error": "x", "resolution": {"pullRequest": 1e400}, "lastUsed": "2026-01-01T00:00:00Z"}', "pullRequest"),
        ("[" * 100_000, "recursion"),
    ],
)
async def test_a_bad_line_is_named_and_the_others_are_taken(tmp_path: Path, line: str, why: str) -> None:
    async def work() -> Imported:
        async with opened(tmp_path) as database:
            return await import_lines(database, [GOOD, line, GOOD])

    imported = await work()
    assert imported.taken == 2
    assert len(imported.refused) == 1
    refused = english(imported.refused[0])
    assert refused.startswith("line 2: ")
    assert why in refused


@given(
    st.text() | st.builds(json.dumps, st.dictionaries(st.sampled_from(["error", "resolution", "patchHash"]), st.text()))
)
def test_no_line_makes_the_reader_fail(line: str) -> None:
    read_line(line)


def resolved(error: str = "boom", **resolution: Any) -> str:
    return json.dumps({"error": error, "resolution": resolution, "lastUsed": WHEN})


async def test_each_repositorys_resolution_goes_along(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    async with opened(tmp_path / "a") as one, opened(tmp_path / "b") as other:
        for repo in ("octo/one", None, "octo/two"):
            await History(one).record("boom in a.py", BY_ADA.model_copy(update={"repo": repo, "how": str(repo)}))
            await asyncio.sleep(0.002)  # the history tells times apart by the millisecond
        lines = await exported(one)
        assert [json.loads(line)["resolution"]["how"] for line in lines] == ["octo/one", "None", "octo/two"]
        for order in (lines, lines[::-1], lines):
            assert await import_lines(other, order) == Imported(taken=3)
            assert await exported(other) == lines


async def test_lines_in_any_order_make_the_same_history(tmp_path: Path) -> None:
    async def work() -> list[list[str]]:
        made = []
        async with opened(tmp_path / "one") as one:
            for repo in ("octo/one", "octo/two"):
                await History(one).record("boom in a.py", Resolution(repo=repo), paths=[f"{repo}.py"])
                await asyncio.sleep(0.002)  # the history tells times apart by the millisecond
            lines = await exported(one)
        for name, order in (("there", lines), ("back", lines[::-1])):
            async with opened(tmp_path / name) as other:
                await import_lines(other, order)
                made.append(await exported(other))
        return [lines, *made]

    (tmp_path / "one").mkdir()
    lines, there, back = await work()
    assert lines == there == back


async def test_an_older_resolution_of_another_repository_is_kept_beside_and_found(tmp_path: Path) -> None:
    def line(repo: str, day: int, file: str) -> str:
        values = {"error": "boom", "resolution": {"repo": repo, "how": f"day {day}"}, "files": [file]}
        return json.dumps({**values, "lastUsed": f"2026-01-{day:02}T00:00:00Z"})

    found = []
    async with opened(tmp_path) as database:
        for days in ((9, 2), (9, 3), (9, 1)):
            lines = [line("octo/one", days[0], "a.py"), line("octo/two", days[1], f"b{days[1]}.py")]
            assert await import_lines(database, lines) == Imported(taken=2)
            found += [known.resolution.how for known in await History(database).by_file("b2.py", repo="octo/two")]
    assert found == ["day 2", "day 3", "day 3"]


async def test_an_error_that_another_program_left_unresolved_is_resolved_by_a_line(tmp_path: Path) -> None:
    async def work() -> object:
        async with opened(tmp_path) as database:
            with sqlite3.connect(tmp_path / "mendbot.db") as other:
                query = "INSERT INTO error_kb (ts, error_normalized, last_used) VALUES ('t', 'boom', '2999-01-01')"
                other.execute(query)
            other.close()
            assert await import_lines(database, [resolved(how="so")]) == Imported(taken=1)
            return await History(database).by_error("boom")

    found = await work()
    assert found is not None


async def test_what_is_taken_is_masked_and_cut_to_what_a_row_may_hold(tmp_path: Path) -> None:
    secret, token = "operator-secret-0123456789", "ghp_" + "x" * 36
    line = resolved(f"boom {secret}", how=f"set {token} " + "x" * 9_000, resolvedBy=secret, tool="\x1b[2Jt",
                    patch=f"+{token}\n", toolSequence=["y" * 900] * 500, diffHash="h")  # fmt: skip
    whole = resolved("other", patch="+a\r\n")

    async def work() -> list[str]:
        async with opened(tmp_path) as database:
            assert await import_lines(database, [line, whole], Redactor([secret])) == Imported(taken=2)
            return await exported(database)

    masked, kept = await work()
    assert secret not in masked and token not in masked
    row = json.loads(masked)["resolution"]
    assert (row["resolvedBy"], row["tool"], row["diffHash"], "patch" in row) == ("***", "t", "h", False)
    assert len(row["how"]) == MAX_HOW
    assert len(masked) < 40_000
    assert json.loads(kept)["resolution"]["patch"] == "+a\r\n"


async def test_bad_lines_without_end_are_counted_and_the_first_of_them_named(tmp_path: Path) -> None:
    async def work() -> Imported:
        async with opened(tmp_path) as database:
            return await import_lines(database, ["{"] * (MAX_NAMED + 7) + [GOOD])

    done = await work()
    assert (done.taken, len(done.refused), done.more_refused) == (1, MAX_NAMED, 7)


async def test_a_database_that_fails_midway_says_how_much_was_taken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def lines(other: sqlite3.Connection) -> Iterator[str]:
        yield from (resolved(f"boom {number}") for number in range(250))
        other.execute("BEGIN IMMEDIATE")
        yield from (resolved(f"bang {number}") for number in range(250))

    async def work() -> None:
        async with opened(tmp_path) as database:
            other = sqlite3.connect(tmp_path / "mendbot.db", isolation_level=None)
            try:
                with pytest.raises(Transient, match=r"locked.*200 records were taken before"):
                    await import_lines(database, lines(other))
            finally:
                other.close()
            assert len(await exported(database)) == 200

    monkeypatch.setattr("bot.store.database.engines.BUSY_TIMEOUT_MS", 50)
    await work()


class Endless(io.RawIOBase):
    """A file of one line without end, but for its last `size` bytes."""

    def __init__(self, size: int) -> None:
        self.left = size
        self.widest = 0

    def readline(self, size: int | None = -1, /) -> bytes:
        assert size is not None and size > 0
        self.widest = max(self.widest, size)
        take = min(size, self.left)
        self.left -= take
        return b"x" * take + (b"\n" if take and take < size else b"")


def test_a_line_without_end_is_never_held_whole() -> None:
    file: Any = Endless(200_000_000)
    (line,) = lines_of(file)
    assert MAX_LINE < len(line) <= file.widest < 5_000_000


def test_lines_are_read_as_programs_on_any_system_write_them() -> None:
    data = b"\xef\xbb\xbf" + GOOD.encode() + b"\r\n\n\xff\n" + "에러".encode() + b"\n" + b"y" * 4_000_004 + b"\nlast"
    first, empty, broken, korean, long, last = lines_of(io.BytesIO(data))
    assert (first, empty, korean, last) == (GOOD, "", "에러", "last")
    assert read_line(broken) == make_reason("import.not_text")
    assert read_line(long) == make_reason("import.too_long", limit="1,000,000")


async def test_a_patch_is_kept_whole_or_not_at_all(tmp_path: Path) -> None:
    async def work() -> list[str]:
        async with opened(tmp_path) as database:
            await import_lines(database, [resolved("a", patch="x" * MAX_PATCH), resolved("b", patch="x" * 500_000)])
            return await exported(database)

    kept, dropped = await work()
    assert len(kept) > MAX_PATCH and "patch" not in dropped
