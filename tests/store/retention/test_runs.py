"""Old runs go whole or not at all, and never those that somebody may still ask for; a kill in between loses nothing."""

from __future__ import annotations

import signal
import sqlite3
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from bot.store.database.database import Database
from bot.store.retention import rows as retention
from bot.store.retention.rows import MAX_ROWS
from bot.store.retention.runs import RunRetention
from tests.store.databases import run
from tests.store.old_rows import NOW, REPO, ago, commits, ids, left_by, on_threads, put, whole_run


@pytest.fixture(autouse=True)
def hurried(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(retention, "PAUSE_S", 0)
    monkeypatch.setattr(retention, "PAUSES", 0)


async def drop_runs(kept: RunRetention, place: str = REPO) -> list[str]:
    gone: list[str] = []
    while old := await kept.old(place, ago(180), ago(365), after=gone[-1] if gone else ""):
        await kept.drop(old)
        gone += [one.id for one in old]
    return gone


async def test_a_run_goes_whole_and_leaves_the_error_history_its_events(tmp_path: Path) -> None:
    names = [f"run-{n:03}" for n in range(150)]

    async def work(database: Database) -> list[str]:
        await put(database, runs=[whole_run(name, 200) for name in names], run_issues=on_threads("run-000", 1))
        await put(database, runs=[whole_run("younger", 100)], run_issues=on_threads("younger", 1))
        await put(database, **left_by([*names, "younger"], events=40))
        await put(database, error_kb=[{"error_normalized": "boom"}])
        with commits() as sizes:
            gone = await drop_runs(RunRetention(database))
        assert max(sizes[1:]) <= MAX_ROWS + 10 and len(sizes) > 30  # artifacts and threads are few and not counted
        return gone

    assert await run(tmp_path, work) == names
    assert ids(tmp_path, "SELECT DISTINCT session_id FROM events WHERE key IS NOT NULL") == ["younger"]
    assert len(ids(tmp_path, "SELECT id FROM events WHERE key IS NULL")) == 2 * 151
    assert ids(tmp_path, "SELECT session_id FROM artifacts") == ["younger"]
    assert ids(tmp_path, "SELECT run_id FROM run_issues") == ["younger"]
    assert ids(tmp_path, "SELECT error_normalized FROM error_kb") == ["boom"]


AGES = st.sampled_from([1, 179, 181, 364, 366, 390])
TOLD = st.sampled_from([True, True, False])
RUN = st.tuples(AGES, st.sampled_from(["queued", "success", "failed"]), TOLD, st.sets(st.integers(1, 3)))
CHECKED = st.sampled_from(["queued", "done", "done", "cancelled"])
CHECKS = st.tuples(AGES, CHECKED, TOLD, st.sampled_from("12"), st.sampled_from("ab"))
EXAMPLES = settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


async def refill(database: Database, **rows: list[dict[str, Any]]) -> None:
    names = ("run_issues", "runs", "pull_runs")
    await database.write(lambda connection: [connection.exec_driver_sql(f"DELETE FROM {name}") for name in names])
    await put(database, **{name: some for name, some in rows.items() if some})


@given(st.lists(RUN, max_size=6))
@EXAMPLES
async def test_a_run_stays_that_is_open_untold_young_or_within_a_year_the_last_of_a_thread(
    shared: Database, made: list[tuple[int, str, bool, set[int]]]
) -> None:
    made = sorted(made, key=lambda one: -one[0])
    # a moment apart, so that of two of one age the later in the list is the newer
    rows = [whole_run(f"run-{n}", one[0] - n / 1000, status=one[1], told=one[2]) for n, one in enumerate(made)]
    members = [row for n, one in enumerate(made) for row in on_threads(f"run-{n}", *one[3])]

    def goes(n: int) -> bool:
        days, how, told, threads = made[n]
        newest = any(all(thread not in later[3] for later in made[n + 1 :]) for thread in threads)
        return how != "queued" and told and days > (365 if newest else 180)

    await refill(shared, runs=rows, run_issues=members)
    assert await drop_runs(RunRetention(shared)) == [f"run-{n}" for n in range(len(made)) if goes(n)]


@example([(390, "done", True, "1", "a"), (366, "done", True, "1", "b"), (366, "done", True, "2", "a")], {1})
@given(st.lists(CHECKS, max_size=7), st.sets(st.sampled_from([1, 2])))
@EXAMPLES
async def test_the_checks_of_a_head_go_together_and_those_of_the_newest_head_last(
    shared: Database, made: list[tuple[int, str, bool, str, str]], open_pulls: set[int]
) -> None:
    made = sorted(made, key=lambda one: -one[0])
    # one run alone works on a head, so the one that waits has a head of its own
    heads = [(int(one[3]), f"{n}" if one[1] == "queued" else one[4]) for n, one in enumerate(made)]
    rows = [
        whole_run(f"pull-{n}", one[0] - n / 1000, status=one[1], told=one[2], number=heads[n][0], head_sha=heads[n][1])
        for n, one in enumerate(made)
    ]

    def goes(n: int) -> bool:
        newest = [head for head in heads if head[0] == heads[n][0]][-1] == heads[n]
        of_head = [one for head, one in zip(heads, made, strict=True) if head == heads[n]]
        quiet = all(how != "queued" and told and days > (365 if newest else 180) for days, how, told, *_ in of_head)
        return quiet and not (newest and heads[n][0] in open_pulls)

    await refill(shared, pull_runs=rows)
    gone = await RunRetention(shared).drop_checks(REPO, ago(180), ago(365), but=open_pulls)
    query = sa.text("SELECT id FROM pull_runs")
    left = await shared.read(lambda connection: set(connection.execute(query).scalars()))
    assert gone == len(rows) - len(left)
    assert [row["id"] for row in rows if row["id"] not in left] == [f"pull-{n}" for n in range(len(made)) if goes(n)]


async def test_what_was_told_goes_with_its_run_or_head_and_threads_keep_theirs(tmp_path: Path) -> None:
    gone = [
        "check:a:lint:run-0",
        "check:a:test:pull-0",
        "check:a:test:waiting-a",
        *(f"check:b:t:r{n}" for n in range(250)),
    ]
    stay = ["check:b:lint:run-1", "check:b:test:pull-1", "check:b:test:waiting-b", "check:c:x:config-c", "comment:1",
            "comment:1:fix", "labels:1", "policy"]  # fmt: skip

    async def work(database: Database) -> tuple[int, int, tuple[str, ...]]:
        await put(
            database,
            reports=[{"repo": REPO, "target": target} for target in (*gone, *stay)],
            runs=[whole_run("run-1", 300, status="running")],
            pull_runs=[whole_run("pull-1", 1, number=1, head_sha="b")],
            pull_heads=[{"repo": REPO, "number": 1, "head_sha": "b"}],
        )
        kept = RunRetention(database)
        return await kept.drop_check_reports(REPO), await kept.drop_check_reports(REPO), await kept.places()

    assert await run(tmp_path, work) == (len(gone), 0, (REPO,))
    assert ids(tmp_path, "SELECT target FROM reports") == sorted(stay)


KILLED = """
import asyncio, os, signal, sys
import sqlalchemy as sa
from bot.store.database.database import Database
from bot.store.retention.runs import RunRetention

left = [int(sys.argv[2])]

def die(connection):
    left[0] -= 1
    if not left[0]:
        os.kill(os.getpid(), signal.SIGKILL)

async def work():
    kept = RunRetention(Database(sys.argv[1]))
    sa.event.listen(sa.Engine, "commit", die)
    await kept.drop(await kept.old("Octo/pocket", int(sys.argv[3]), int(sys.argv[3])))

asyncio.run(work())
"""


async def test_a_kill_in_between_leaves_each_run_whole_or_gone_and_the_next_pass_goes_on(tmp_path: Path) -> None:
    names = [f"run-{n:03}" for n in range(40)]

    async def fill(database: Database) -> None:
        await put(database, runs=[whole_run(name, 200) for name in names], **left_by(names, events=39))

    await run(tmp_path, fill)
    url = f"sqlite:///{tmp_path / 'mendbot.db'}"
    ended = subprocess.run([sys.executable, "-c", KILLED, url, "4", str(NOW)], check=False, timeout=60)
    assert ended.returncode == -signal.SIGKILL
    left = ids(tmp_path, "SELECT id FROM runs")
    assert left == names[15:]  # five runs of forty rows in each of the three commits that came through
    keyed = ids(tmp_path, "SELECT session_id, count(*) FROM events WHERE key IS NOT NULL GROUP BY 1")
    assert keyed == [(name, 39) for name in left] and ids(tmp_path, "SELECT session_id FROM artifacts") == left
    assert await run(tmp_path, lambda database: drop_runs(RunRetention(database))) == left
    assert ids(tmp_path, "SELECT id FROM events WHERE key IS NOT NULL") == []


async def test_the_issues_of_a_run_are_found_by_an_index(tmp_path: Path) -> None:
    """By the database itself too, which looks for them when it deletes the run."""
    await run(tmp_path, lambda database: database.problem())
    database = sqlite3.connect(tmp_path / "mendbot.db")
    (plan,) = database.execute("EXPLAIN QUERY PLAN DELETE FROM run_issues WHERE run_id = 'run-1'").fetchall()
    database.close()
    assert "INDEX run_issues_run" in plan[3]
