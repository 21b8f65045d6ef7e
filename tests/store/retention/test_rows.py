"""A year of rows: what must stay stays, what must go goes, and a little at a time."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa

from bot.store.database import database as databases
from bot.store.database.database import Database
from bot.store.inbox.deliveries import Deliveries, Delivery, Inbox
from bot.store.retention import rows as retention
from bot.store.retention.rows import MAX_BYTES, MAX_ROWS, Retention
from tests.store.databases import run
from tests.store.old_rows import NOW, REPO, ago, commits, ids, iso, put


@pytest.fixture(autouse=True)
def hurried(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(retention, "PAUSE_S", 0)
    monkeypatch.setattr(retention, "PAUSES", 0)


async def test_a_year_of_deliveries_becomes_their_ids_and_then_nothing(tmp_path: Path) -> None:
    states = ("done", "ignored", "failed", "accepted", "processing")
    year: list[dict[str, Any]] = [
        {"id": f"{day}-{state}-{n}", "status": state, "received_at": ago(day), "payload": b"x" * 300}
        for day in range(365)
        for state in states
        for n in range(4)
    ]

    async def work(database: Database) -> tuple[int, int, list[bool]]:
        await put(database, deliveries=year)
        kept = Retention(database)
        gone = await kept.payloads(ago(13.5)), await kept.deliveries(ago(89.5))
        assert (await kept.payloads(ago(13.5)), await kept.deliveries(ago(89.5))) == (0, 0)
        box = Inbox(database)
        ours = [Delivery(id=f"{day}-done-0", event="x", payload=b"{}", received_at=NOW) for day in (0, 20, 89, 90)]
        return *gone, [await box.accept(one) for one in ours]

    with commits() as sizes:
        assert await run(tmp_path, work) == (351 * 12, 275 * 12, [False, False, False, True])
    sizes.remove(len(year))
    assert max(sizes) == MAX_ROWS
    open_ones = ids(tmp_path, "SELECT id FROM deliveries WHERE status IN ('accepted', 'processing') AND payload <> ''")
    assert len(open_ones) == 365 * 8 + 1
    empty = ids(tmp_path, "SELECT id FROM deliveries WHERE payload = x''")
    assert empty == sorted(
        row["id"] for row in year if 14 <= int(row["id"].split("-")[0]) < 90 and row["status"] in states[:3]
    )


class Interrupted(Database):
    """Something else is written between the retention's next look and its write."""

    first: Callable[[], Awaitable[object]] | None = None

    async def write(self, work: Callable[[sa.Connection], Any]) -> Any:
        first, self.first = self.first, None
        if first is not None:
            await first()
        return await super().write(work)


@pytest.mark.parametrize("drop", [Retention.payloads, Retention.deliveries])
async def test_a_delivery_that_comes_again_meanwhile_stays_as_it_came(
    tmp_path: Path, drop: Callable[[Retention, int], Awaitable[int]]
) -> None:
    again = Delivery(id="d", event="x", payload=b"new", received_at=NOW)

    database = Interrupted(f"sqlite:///{tmp_path / 'mendbot.db'}")
    database.migrate()
    await put(database, deliveries=[{"id": "d", "status": "failed", "received_at": 1, "payload": b"old"}])
    box = Inbox(database)
    database.first = lambda: box.accept(again)
    await drop(Retention(database), ago(90))
    taken = await Deliveries(database).take(10)
    database.close()
    assert tuple(one.payload for one in taken) == (b"new",)


async def test_payloads_go_by_their_size(tmp_path: Path) -> None:
    sizes = [MAX_BYTES // 2, MAX_BYTES // 2, 1, MAX_BYTES * 2, 1, 1]
    rows = [{"id": f"d{n}", "status": "done", "received_at": n, "payload": bytes(size)} for n, size in enumerate(sizes)]

    async def work(database: Database) -> list[int]:
        await put(database, deliveries=rows)
        with commits() as changed:
            await database.write(lambda _: None)  # from here on it is counted
            await Retention(database).payloads(NOW)
        return changed[1:]

    assert await run(tmp_path, work) == [2 * 2, 2, 2, 2 * 2]  # each row is two changes


async def test_the_file_is_used_again(tmp_path: Path) -> None:
    def weeks(first: int) -> list[dict[str, Any]]:
        return [
            {"id": f"{first}-{n}", "status": "done", "received_at": ago(first), "payload": bytes(11_500)}
            for n in range(300)
        ]

    async def work(database: Database) -> list[int]:
        async def pages() -> int:
            query = sa.text("PRAGMA page_count")
            return await database.read(lambda connection: connection.execute(query).scalar_one())

        sizes = []
        for week in range(1, 9):
            await put(database, deliveries=weeks(week))
            sizes.append(await pages())
            await Retention(database).payloads(NOW)
        return sizes

    sizes = await run(tmp_path, work)
    assert sizes[0] > 800 and sizes[-1] - sizes[0] < 60  # eight weeks' ids, one week's payloads


async def test_of_commands_approvals_and_heads_what_is_needed_stays(tmp_path: Path) -> None:
    def told(name: str, days: int, outcome: str | None, answer: str = "new") -> dict[str, Any]:
        return {"id": name, "at": ago(days), "outcome": outcome, "answer": answer}

    def head(number: int, sha: str, place: int, days: int | None) -> dict[str, Any]:
        at = None if days is None else iso(days)
        return {"repo": REPO, "number": number, "head_sha": sha, "place": place, "at": at}

    async def work(database: Database) -> tuple[int, ...]:
        await put(
            database,
            commands=[
                *(told("done", 91, "done"), told("unfinished", 300, None), told("unfinished too", 300, "")),
                *(told("refused", 91, None, "over_again"), told("young", 89, "done")),
            ],
            pull_approvals=[
                {"repo": REPO, "number": n, "head_sha": "a", "at": ago(days)} for n, days in enumerate((181, 179))
            ],
            pull_heads=[
                *(head(1, "1-first", 1, 300), head(1, "1-second", 2, 170), head(1, "1-third", 3, 10)),
                *(head(2, "2-first", 1, 390), head(2, "2-late", 0, 385), head(2, "2-second", 2, 380)),
                *(head(3, "3-first", 1, 390), head(3, "3-second", 2, 380)),
                *(head(4, "4-first", 1, None), head(4, "4-second", 2, None)),
            ],
        )
        kept = Retention(database)
        heads = await kept.heads(REPO, ago(180), but={3}), await kept.heads("Octo/else", NOW)
        return await kept.commands(ago(90)), await kept.approvals(ago(180)), *heads

    assert await run(tmp_path, work) == (2, 1, 2, 0)
    assert ids(tmp_path, "SELECT id FROM commands") == ["unfinished", "unfinished too", "young"]
    assert ids(tmp_path, "SELECT number FROM pull_approvals") == [1]
    left = ["1-first", "1-second", "1-third", "2-second", "3-first", "3-second", "4-first", "4-second"]
    assert ids(tmp_path, "SELECT head_sha FROM pull_heads") == left


async def test_an_outcome_goes_with_its_errors_and_a_crowd_of_them_in_parts(tmp_path: Path) -> None:
    def outcome(number: int, days: int, shown: int) -> dict[str, Any]:
        return {"repo": REPO, "stage": "test", "run_id": f"r{number}", "shown": shown, "at": ago(days) + number}

    rows = [outcome(n, 200 if n < 100 else 170, 5) for n in range(120)]
    errors = [{**row, "error": f"e{n}"} for row in rows for n in range(5)]
    errors = [{key: row[key] for key in ("repo", "stage", "run_id", "at", "error")} for row in errors]
    bases = [{"repo": REPO, "sha": f"s{n}", "at": ago(200 if n < 3 else 10), "passed": True} for n in range(5)]

    async def work(database: Database) -> int:
        await put(database, check_outcomes=rows, outcome_errors=errors, base_results=bases)
        with commits() as sizes:
            await database.write(lambda _: None)  # from here on it is counted
            gone = await Retention(database).outcomes(ago(180))
        assert max(sizes[1:]) <= MAX_ROWS
        return gone

    assert await run(tmp_path, work) == 103
    left = [f"r{n}" for n in range(100, 120)]
    assert ids(tmp_path, "SELECT run_id FROM check_outcomes") == sorted(left)
    assert ids(tmp_path, "SELECT DISTINCT run_id FROM outcome_errors") == sorted(left)
    assert ids(tmp_path, "SELECT sha FROM base_results") == ["s3", "s4"]


async def test_a_rush_of_deliveries_goes_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(databases, "RUSH_S", 0.5)

    async def work(database: Database) -> float:
        await put(database, deliveries=[{"id": "d", "status": "done", "received_at": 1, "payload": b"x"}])
        began = time.monotonic()
        database.rush.extend()
        assert await Retention(database).deliveries(NOW) == 1
        return time.monotonic() - began

    assert await run(tmp_path, work) >= 0.5
