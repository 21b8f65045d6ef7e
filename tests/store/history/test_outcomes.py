"""What checks came to is counted once each, and told as what is left of it allows."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Literal, TypeVar

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from bot.model.pulls import FailureHistory, FlakyRate
from bot.store.database.database import Database
from bot.store.history.outcomes import (
    DAY_MS,
    GENERIC_OUTCOMES,
    GENERIC_THREADS,
    MAX_ERRORS,
    BaseResult,
    CheckOutcome,
    Outcomes,
)
from bot.store.retention.rows import Retention
from tests.store import databases
from tests.store.databases import plans, together

T = TypeVar("T")
REPO, OTHER = "octo/pocket", "octo/wallet"
NOON = 1_795_262_400_000
Came = Literal["passed", "failed", "flaky"]


def outcome(
    run_id: str, came: Came = "failed", *errors: str, number: int | None = 5, stage: str = "test", at: int = 0
) -> CheckOutcome:
    return CheckOutcome(
        repo=REPO, number=number, stage=stage, sha=f"sha-{run_id}", run_id=run_id, outcome=came, errors=errors,
        at_ms=NOON + at,
    )  # fmt: skip


async def run(where: Path, work: Callable[[Outcomes], Awaitable[T]]) -> T:
    return await databases.run(where, lambda database: work(Outcomes(database)))


async def record(outcomes: Outcomes, *all_of_them: CheckOutcome) -> None:
    await asyncio.gather(*map(outcomes.record, all_of_them))


async def test_an_outcome_is_recorded_once_for_each_stage_of_a_run(tmp_path: Path) -> None:
    first = outcome("run-1", "failed", "boom", "crash", "boom")

    async def work(outcomes: Outcomes) -> None:
        await outcomes.record(first)
        await outcomes.record(outcome("run-1", "passed", "other", at=9))
        await outcomes.record(outcome("run-1", "flaky", stage="lint"))

    async def look(outcomes: Outcomes) -> None:
        kept = first.model_copy(update={"errors": ("boom", "crash")})
        assert await outcomes.of_pull(REPO, 5) == (kept, outcome("run-1", "flaky", stage="lint"))
        assert await outcomes.rate(REPO, "test") == FlakyRate(flaky=0, runs=1)
        assert await outcomes.seen(REPO, ["other"]) == {}
        assert (await outcomes.seen(REPO, ["boom"]))["boom"].times == 1

    for _ in range(2):
        await run(tmp_path, work)
        await run(tmp_path, look)


async def test_two_writers_at_once_count_one_run_once(tmp_path: Path) -> None:
    async def work(one: Database, two: Database) -> None:
        stores = (Outcomes(one), Outcomes(two))
        told = [outcome(f"run-{number}", "failed", "boom") for number in range(10)]
        await asyncio.gather(*(store.record(each) for each in told for store in stores))
        assert (await stores[0].seen(REPO, ["boom"]))["boom"].times == 10
        assert (await stores[1].rate(REPO, "test")).runs == 10

    await together(tmp_path, work)


async def test_the_outcomes_of_a_pull_request_are_told_oldest_first(tmp_path: Path) -> None:
    async def work(outcomes: Outcomes) -> None:
        assert await outcomes.of_pull(REPO, 5) == ()
        lint = outcome("lint", stage="lint", at=99)
        told = [outcome("run-2", at=20), outcome("run-1", at=10), outcome("run-3", at=20), lint]
        await record(outcomes, *told, outcome("other", number=6, at=99), outcome("issue", number=None, at=99))
        assert await outcomes.of_pull(REPO, 5) == (told[1], told[0], told[2], lint)
        assert await outcomes.of_pull(OTHER, 5) == await outcomes.of_pull(REPO, 7) == ()

    await run(tmp_path, work)


async def test_a_rate_counts_every_execution_of_a_check_here(tmp_path: Path) -> None:
    async def work(outcomes: Outcomes) -> None:
        all_of_them: list[Came] = ["passed", "flaky", "failed", "flaky", "passed"]
        await record(outcomes, *(outcome(str(at), came, number=at or None) for at, came in enumerate(all_of_them)))
        await record(outcomes, outcome("0", "flaky", stage="lint"))
        assert await outcomes.rate(REPO, "test") == FlakyRate(flaky=2, runs=5)
        assert await outcomes.rate(REPO, "lint") == FlakyRate(flaky=1, runs=1)
        assert await outcomes.rate(REPO, "typecheck") == await outcomes.rate(OTHER, "test") == FlakyRate()

    await run(tmp_path, work)


async def test_an_error_is_seen_once_in_each_run_that_it_made_fail(tmp_path: Path) -> None:
    async def work(outcomes: Outcomes) -> None:
        await record(
            outcomes,
            outcome("run-2", "failed", "boom", "crash", at=86_400_001),
            outcome("run-2", "failed", "boom", stage="lint", at=86_400_002),
            outcome("run-1", "failed", "boom", at=1),
            outcome("run-3", "flaky", "boom", "luck", at=-5),
            outcome("run-4", "passed", "boom", at=-6),
        )
        assert await outcomes.seen(REPO, ["boom", "crash", "luck", "never", "boom"]) == {
            "boom": FailureHistory(times=2, since="2026-11-21T12:00:00.001+00:00"),
            "crash": FailureHistory(times=1, since="2026-11-22T12:00:00.001+00:00"),
        }
        assert await outcomes.seen(OTHER, ["boom"]) == await outcomes.seen(REPO, []) == {}

    await run(tmp_path, work)


async def test_however_many_errors_are_asked_about_each_is_found(tmp_path: Path) -> None:
    many = [f"error {number}" for number in range(MAX_ERRORS + 200)]

    async def work(outcomes: Outcomes) -> None:
        await outcomes.record(outcome("run-1", "failed", *many))
        assert list(await outcomes.seen(REPO, many)) == many[:MAX_ERRORS]
        assert await outcomes.generic(REPO, many) == frozenset()

    await run(tmp_path, work)


def failing(count: int, threads: int, *errors: str, others: int = 0) -> list[CheckOutcome]:
    """So many failing outcomes of so many pull requests with these errors, and others that show another each."""
    same = [outcome(f"same-{at}", "failed", *errors, number=at % threads + 1) for at in range(count)]
    return same + [outcome(f"other-{at}", "failed", f"mistake {at}", number=at) for at in range(others)]


@pytest.mark.parametrize(
    ("told", "generic"),
    [
        pytest.param(failing(8, 3, "make: *** Error 1", others=7), True, id="just so"),
        pytest.param(failing(7, 3, "make: *** Error 1"), False, id="too few failures"),
        pytest.param(failing(8, 2, "make: *** Error 1"), False, id="too few pull requests"),
        pytest.param(failing(8, 3, "make: *** Error 1", others=8), False, id="half of the failures and no more"),
    ],
)
async def test_an_error_says_nothing_where_it_stands_in_most_failures_of_several_pull_requests(
    tmp_path: Path, told: list[CheckOutcome], generic: bool
) -> None:
    assert (GENERIC_OUTCOMES, GENERIC_THREADS) == (8, 3)

    async def work(outcomes: Outcomes) -> None:
        await record(outcomes, *told)
        asked = ["make: *** Error 1", "mistake 0", "never"]
        assert await outcomes.generic(REPO, asked) == frozenset(asked[:1] if generic else [])
        assert await outcomes.generic(OTHER, asked) == frozenset()

    await run(tmp_path, work)


async def test_only_failures_of_the_same_stage_that_show_an_error_say_what_is_generic(tmp_path: Path) -> None:
    beside = [
        *(outcome(f"also-on-base-{at}") for at in range(20)),
        *(outcome(f"passed-{at}", "passed") for at in range(20)),
        *(outcome(f"flaky-{at}", "flaky", "luck", number=at) for at in range(20)),
        *(outcome(f"same-{at}", "failed", "E501", stage="lint") for at in range(20)),
    ]

    async def work(outcomes: Outcomes) -> None:
        await record(outcomes, *failing(8, 4, "Error 1"), *beside)
        assert await outcomes.generic(REPO, ["Error 1", "luck", "E501"]) == {"Error 1"}

    await run(tmp_path, work)


async def test_what_belongs_to_no_pull_request_counts_as_one_thread_together(tmp_path: Path) -> None:
    async def work(outcomes: Outcomes) -> None:
        await record(outcomes, *(outcome(f"run-{at}", "failed", "Error 1", number=None) for at in range(20)))
        await record(outcomes, outcome("one", "failed", "Error 1", number=1))
        assert await outcomes.generic(REPO, ["Error 1"]) == frozenset()
        await record(outcomes, outcome("two", "failed", "Error 1", number=2))
        assert await outcomes.generic(REPO, ["Error 1"]) == {"Error 1"}

    await run(tmp_path, work)


async def test_a_base_result_is_of_one_command_of_one_commit(tmp_path: Path) -> None:
    failed = BaseResult(passed=False, errors=("boom", "crash"))
    key = (REPO, "base", "test", "pytest -q")

    async def put(outcomes: Outcomes) -> None:
        assert await outcomes.base(*key) is None
        await outcomes.put_base(*key, BaseResult(passed=True))
        assert await outcomes.base(*key) == BaseResult(passed=True)
        await outcomes.put_base(*key, failed)

    async def look(outcomes: Outcomes) -> None:
        assert await outcomes.base(*key) == failed
        assert await outcomes.base(*key, max_age_ms=-1) is None  # an old one: the base is to be checked again
        for at in range(4):
            other = (*key[:at], OTHER, *key[at + 1 :])
            assert await outcomes.base(other[0], other[1], other[2], other[3]) is None

    await run(tmp_path, put)
    await run(tmp_path, look)


async def test_what_is_forgotten_is_counted_no_more_and_the_rest_stays_true(tmp_path: Path) -> None:
    async def work(outcomes: Outcomes) -> None:
        await record(outcomes, outcome("run-1", "failed", "boom", at=0), outcome("run-2", "flaky", at=1))
        await record(outcomes, outcome("run-3", "failed", "boom", "crash", at=2), outcome("run-4", "flaky", at=3))
        assert await Retention(outcomes._database).outcomes(NOON) == 0
        assert await Retention(outcomes._database).outcomes(NOON + 2) == 2
        assert (await outcomes.seen(REPO, ["boom"]))["boom"] == FailureHistory(
            times=1, since="2026-11-21T12:00:00.002+00:00"
        )
        assert await outcomes.rate(REPO, "test") == FlakyRate(flaky=1, runs=2)
        assert [told.run_id for told in await outcomes.of_pull(REPO, 5)] == ["run-3", "run-4"]
        await outcomes.put_base(REPO, "base", "test", "pytest", BaseResult(passed=True))
        assert await Retention(outcomes._database).outcomes(2**62) == 3
        assert await outcomes.base(REPO, "base", "test", "pytest") is None

    await run(tmp_path, work)
    database = sqlite3.connect(tmp_path / "mendbot.db")
    assert database.execute("SELECT count(*) FROM outcome_errors").fetchone() == (0,)
    database.close()


@example(errors=["\ud800", "a\0b"], command="\udfff\0")
@given(errors=st.lists(st.text(st.characters(), max_size=300), max_size=5), command=st.text(st.characters()))
@settings(max_examples=60, deadline=None)
async def test_whatever_a_check_shows_is_found_again(shared: Database, errors: list[str], command: str) -> None:
    async def work(outcomes: Outcomes) -> None:
        await Retention(shared).outcomes(2**62)
        await outcomes.record(outcome("run-1", "failed", *errors))
        (found,) = await outcomes.of_pull(REPO, 5)
        assert found.errors == tuple(dict.fromkeys(errors))
        assert set(await outcomes.seen(REPO, errors)) == set(errors)
        await outcomes.put_base(REPO, "base", "test", command, BaseResult(passed=False, errors=tuple(errors)))
        assert await outcomes.base(REPO, "base", "test", command) == BaseResult(passed=False, errors=tuple(errors))

    await work(Outcomes(shared))


async def test_no_question_reads_the_whole_table(tmp_path: Path) -> None:
    async def work(database: Database) -> None:
        outcomes = Outcomes(database)
        await outcomes.seen(REPO, ["boom"])
        await outcomes.generic(REPO, ["boom"])
        await outcomes.rate(REPO, "test")
        await outcomes.of_pull(REPO, 5)
        await outcomes.base(REPO, "base", "test", "pytest")

    async def keep_up(database: Database) -> None:
        await record(Outcomes(database), outcome("run-1", "failed", "boom"))
        await Retention(database).outcomes(2**62)

    found = await plans(tmp_path, work)
    assert len(found) == 6 and [plan for plan in found if "INDEX" not in plan and "PRIMARY KEY" not in plan] == []
    assert all("(repo=? AND error=?" in plan for plan in found[:2])
    assert "COVERING INDEX check_outcomes_rate (repo=? AND stage=" in found[2] and "COVERING" in found[3]
    aged = await plans(tmp_path, keep_up)
    for index in ("check_outcomes_age", "outcome_errors_age"):
        assert any(f"INDEX {index}" in plan for plan in aged)


async def test_the_errors_of_each_day_are_those_of_failing_checks(tmp_path: Path) -> None:
    """REQ-RUN-009: the page of the error history draws them."""
    day = NOON // DAY_MS

    async def work(outcomes: Outcomes) -> tuple[object, ...]:
        await record(
            outcomes,
            outcome("run-1", "failed", "boom", "crash", at=-DAY_MS),
            outcome("run-2", "failed", "boom"),
            outcome("run-3"),
            outcome("run-4", "flaky", "boom"),
            outcome("run-5", "failed", "boom", at=-3 * DAY_MS),
        )
        days = await outcomes.by_day(day - 2)
        found = [(one.day - day, one.errors, one.failures) for one in days]
        nobody = [await outcomes.by_day(0, repo=OTHER), await outcomes.by_day(0, visible={OTHER})]
        return found, nobody, len(await outcomes.by_day(0, repo=REPO.upper(), visible={REPO}))

    assert await run(tmp_path, work) == ([(-1, 2, 1), (0, 1, 2)], [(), ()], 3)
