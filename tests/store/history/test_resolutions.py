"""A repository is told its own resolutions and nobody's, never another's; and a row counts each use once."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TypeVar

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.model import Resolution
from bot.reports.format.redact import Redactor
from bot.store.database.database import Database
from bot.store.database.open import writing
from bot.store.history.history import MAX_LOOKED_UP, History
from bot.store.history.resolutions import masked, read_resolution

T = TypeVar("T")
ONE, TWO, THREE = "octo/one", "octo/two", "octo/three"


async def run(where: Path, work: Callable[[History], Awaitable[T]]) -> T:
    async def inside() -> T:
        async with writing(f"sqlite:///{where / 'mendbot.db'}") as database:
            return await work(History(database))

    return await inside()


async def record(history: History, error: str, repo: str | None, how: str = "") -> int:
    await asyncio.sleep(0.002)  # the history tells times apart by the millisecond
    return await history.record(error, Resolution(repo=repo, how=how or str(repo), patch=f"patch of {repo}"))


def hows(found: object) -> list[str]:
    return [known.resolution.how for known in found]  # type: ignore[attr-defined]


async def test_an_error_of_one_repository_is_not_told_on_another(tmp_path: Path) -> None:
    async def work(history: History) -> None:
        await record(history, "boom 'x' in a.py", ONE)
        for repo, count in ((ONE, 1), ("Octo/ONE", 1), (None, 1), (TWO, 0), ("octo", 0)):
            assert len(await history.by_file("a.py", repo=repo)) == count, repo
            assert len(await history.by_errors(["boom 'x' in a.py"], repo)) == count
            assert len(await history.by_errors(["boom 'other' in a.py"], repo)) == count
            assert (await history.by_error("boom 'x' in a.py", repo=repo) is not None) == bool(count)
            assert (await history.by_error("boom 'y' in a.py", repo=repo) is not None) == bool(count)

    await run(tmp_path, work)


async def test_each_repository_keeps_its_own_resolution_of_the_same_error(tmp_path: Path) -> None:
    async def work(history: History) -> None:
        ids = {await record(history, "boom in a.py", repo) for repo in (ONE, TWO, ONE, TWO)}
        assert len(ids) == 1
        for repo in (ONE, TWO):
            (by_file,) = await history.by_file("a.py", repo=repo)
            (by_errors,) = await history.by_errors(["boom in a.py"], repo)
            assert by_file == by_errors == await history.by_error("boom in a.py", repo=repo)
            assert (by_file.resolution.how, by_file.resolution.patch) == (repo, f"patch of {repo}")
        assert await history.by_error("boom in a.py", repo=THREE) is None
        latest = await history.by_error("boom in a.py")
        assert latest is not None and (latest.resolution.how, latest.use_count) == (TWO, 2)

    await run(tmp_path, work)


async def test_what_was_merged_in_one_repository_moves_no_commit_of_anothers(tmp_path: Path) -> None:
    async def work(history: History) -> None:
        for repo in (ONE, TWO):
            resolution = Resolution(repo=repo, commit="a" * 40, pull_request=7)
            kb_id = await history.record("boom in a.py", resolution)
        await history.landed([kb_id], "b" * 40, repo="Octo/One")
        commits = [(await history.by_errors(["boom in a.py"], repo))[0].resolution.commit for repo in (ONE, TWO)]
        assert commits == ["b" * 40, "a" * 40]
        await history.landed([kb_id], "c" * 40, repo=TWO)
        commits = [(await history.by_errors(["boom in a.py"], repo))[0].resolution.commit for repo in (ONE, TWO)]
        assert commits == ["b" * 40, "c" * 40]

    await run(tmp_path, work)


async def test_how_an_error_was_printed_is_kept_beside_its_key_and_is_no_other_repositorys(tmp_path: Path) -> None:
    async def work(history: History) -> list[str]:
        shown = []
        for repo, raw in ((ONE, "E   /srv/one/a.py:3: no"), (ONE, ""), (TWO, ""), (TWO, "b/a.py:4: no")):
            await history.record("<PATH>/a.py:<POS>: no", Resolution(repo=repo), raw=raw)
            with sqlite3.connect(tmp_path / "mendbot.db") as connection:
                shown += [text for (text,) in connection.execute("SELECT error_raw FROM error_kb")]
        return shown

    told = await run(tmp_path, work)
    assert told == ["E   /srv/one/a.py:3: no"] * 2 + ["<PATH>/a.py:<POS>: no", "b/a.py:4: no"]


async def test_what_is_nobodys_is_told_to_all_until_they_have_a_later_one(tmp_path: Path) -> None:
    async def work(history: History) -> None:
        await record(history, "boom in a.py", ONE, "one's")
        await record(history, "boom in a.py", None, "anybody's")
        await record(history, "boom in a.py", TWO, "two's")
        told = [hows(await history.by_errors(["boom in a.py"], repo)) for repo in (ONE, TWO, THREE)]
        assert told == [["anybody's"], ["two's"], ["anybody's"]]

    await run(tmp_path, work)


async def test_other_repositories_do_not_take_a_files_few_places(tmp_path: Path) -> None:
    async def work(history: History) -> None:
        await record(history, "mine in a.py", ONE)
        for number in range(5):
            await record(history, f"theirs {number} in a.py", TWO)
        assert hows(await history.by_file("a.py", 1, repo=ONE)) == [ONE]

    await run(tmp_path, work)


async def test_rows_of_another_program_are_told_by_what_their_text_says(tmp_path: Path) -> None:
    async def work(history: History) -> None:
        with sqlite3.connect(tmp_path / "mendbot.db") as other:
            query = "INSERT INTO error_kb (ts, error_normalized, resolution, last_used) VALUES ('t', ?, ?, ?)"
            other.execute(query, ("mine in a.py", '{"repo": "Octo/One", "how": "so"}', "1"))
            other.executemany(query, [(f"theirs {number} in a.py", '{"repo": "octo/two"}', "2") for number in range(9)])
            other.execute(query, ("open in a.py", "by hand", "3"))
        other.close()
        for _ in range(2):
            assert hows(await history.by_file("a.py", repo=ONE)) == ["by hand", "so"]
            assert await history.by_error("theirs 1 in a.py", repo=ONE) is None
            assert await history.by_errors(["theirs 1 in a.py", "mine in a.py"], THREE) == ()
            await history.adopt()

    await run(tmp_path, work)


async def test_a_template_of_another_repository_is_not_found(tmp_path: Path) -> None:
    async def work(history: History) -> None:
        await record(history, "a.py:3: error: Unused import requests here", ONE)
        error = "b.py:7: error: Unused import flask here"
        assert hows(await history.by_errors([error], ONE)) == [ONE]
        assert await history.by_errors([error], TWO) == ()

    await run(tmp_path, work)


async def test_many_errors_are_looked_up_at_once_the_exact_ones_first(tmp_path: Path) -> None:
    async def work(history: History) -> None:
        for number in range(4):
            await record(history, f"boom {number} of 'x'", None, f"how {number}")
        asked = ["nothing", "boom 9 of 'z'", "", "boom 3 of 'x'", "/tmp/q/boom", "boom 1 of 'x'", "boom 3 of 'x'"]
        found = await history.by_errors(asked)
        assert hows(found) == ["how 3", "how 1"]  # the loose answer is the latest, which is there already
        found = await history.by_errors(["boom 9 of 'z'", "boom 1 of 'x'"])
        assert [(known.resolution.how, known.exact) for known in found] == [("how 1", True), ("how 3", False)]
        assert hows(await history.by_errors(asked, limit=1)) == ["how 3"]
        assert await history.by_errors([]) == await history.by_errors(asked, limit=0) == ()
        many = [*(f"other {number}" for number in range(MAX_LOOKED_UP - 1)), "boom 2 of 'x'", "boom 1 of 'x'"]
        assert hows(await history.by_errors(many)) == ["how 2"]

    await run(tmp_path, work)


async def test_a_repeated_effect_counts_once(tmp_path: Path) -> None:
    """REQ-RA-311: the upsert raises `use_count`; a crash that repeats it must not."""

    def by(run_id: str | None, attempt: int | None, repo: str = ONE) -> Resolution:
        return Resolution(run_id=run_id, attempt=attempt, repo=repo)

    async def work(history: History) -> list[int]:
        counts = []
        first, other = by("r1", 1), by("r2", 1, TWO)
        for resolution in (first, first, by("r1", 2), by("r2", 2), other, by("r2", 2), other, by(None, None, TWO)):
            await history.record("boom in a.py", resolution)
            found = await history.by_errors(["boom in a.py"], resolution.repo)
            counts += [one.use_count for one in found]
            await history.followed(found, passed=False)
        return counts

    assert await run(tmp_path, work) == [1, 1, 2, 3, 1, 3, 1, 2]


async def test_a_repeated_effect_changes_nothing_else(tmp_path: Path) -> None:
    async def work(history: History) -> None:
        mine = Resolution(run_id="r1", attempt=1, repo=ONE)
        for resolution in (mine, Resolution(run_id="r2", attempt=1, repo=TWO)):
            await history.record("boom in a.py", resolution)
            await history.followed(await history.by_errors(["boom in a.py"], resolution.repo), passed=True)
        before = [await history.by_error("boom in a.py", repo=repo) for repo in (None, ONE, TWO)]
        await history.record("boom in a.py", mine)
        assert [await history.by_error("boom in a.py", repo=repo) for repo in (None, ONE, TWO)] == before

    await run(tmp_path, work)


HOSTILE = [
    "\0",
    "a\0b.py",
    "\udcff.py",
    "x" * 100_000,
    "%" * 60_000,
    "_",
    "'; DROP TABLE error_kb; --",
    "\x1b[2J",
    "\\",
]


@pytest.mark.parametrize("repo", [None, ONE, "\udcff\0'"])
async def test_hostile_names_and_texts_are_answered(tmp_path: Path, repo: str | None) -> None:
    async def work(history: History) -> None:
        await record(history, "boom in a.py", None)
        with sqlite3.connect(tmp_path / "mendbot.db") as other:  # these are looked at by LIKE
            other.execute("INSERT INTO error_kb (ts, error_normalized, resolution) VALUES ('t', 'theirs', '{}')")
        other.close()
        for name in HOSTILE:
            assert await history.by_file(name, repo=repo) == ()
            assert await history.by_error(name, repo=repo) is None
            await history.dead_end([name], "hash")
            assert await history.dead_ends([name]) == {"hash"}
        assert await history.by_errors(HOSTILE, repo) == ()

    await run(tmp_path, work)


@given(error=st.text(st.characters(), min_size=1), how=st.text(st.characters()))
@settings(max_examples=60, deadline=None)
async def test_whatever_is_recorded_is_found_again(shared: Database, error: str, how: str) -> None:
    async def work(history: History) -> None:
        try:
            await history.record(error, Resolution(how=how, repo=how), paths=[f"{error}.py"])
        except ValueError:
            return  # it has no text
        found = await history.by_error(error, repo=how)
        assert found is not None
        assert await history.by_errors([error], how) == (found,)

    await work(History(shared))


def test_json_that_names_half_a_character_can_be_read_and_told() -> None:
    found = read_resolution('{"how": "a\\ud800", "toolSequence": ["\\udfff"], "patch": "\\ud800"}')
    assert (found.how, found.tool_sequence, found.patch) == ("a\ufffd", ("\ufffd",), None)
    assert found.model_dump_json()
    assert read_resolution('"\\ud800"').how == "\ufffd"


def test_a_patch_with_a_secret_is_left_out_since_masked_it_would_be_another() -> None:
    redactor = Redactor(["operator-secret-0123456789"])
    safe = masked(Resolution(how="x\x1b[2J operator-secret-0123456789", patch="+a\r\n"), redactor)
    assert (safe.how, safe.patch) == ("x ***", "+a\r\n")
    assert masked(Resolution(patch="+operator-secret-0123456789\n"), redactor).patch is None
