"""The outcomes of all executed checks, on pull requests, on their bases and in runs. Verdicts use them to decide how
often a check is flaky, how often an error occurred, and which errors are generic."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterator, Sequence
from datetime import UTC, datetime
from typing import Any, Literal

import sqlalchemy as sa

from bot.model import Model
from bot.model.pulls import FailureHistory, FlakyRate
from bot.store.database.database import Database, now_ms
from bot.store.database.sql import MAX_NAME, insert, iso, sound, upsert, visible_in
from bot.store.database.tables import base_results, outcome_errors
from bot.store.database.tables import outcomes as table

MAX_ERRORS = 1_000
"""The maximal number of errors that are stored of one outcome; a check shows far fewer."""
GENERIC_OUTCOMES = 8
"""A generic error occurs in at least this many failing outcomes of one stage; fewer could be chance."""
GENERIC_THREADS = 3
"""A generic error occurs on at least this many pull requests or issues, since each push to one repeats its errors.
Outcomes without a number count as one pull request."""
GENERIC_SHARE = 0.5
"""A generic error occurs in more than this share of the stage's failing outcomes that have errors. `make: *** [test]
Error 1` does; the error of a mistake in the code does not."""
MAX_BASE_AGE_MS = 24 * 3_600_000
"""The age of a base result after which the check runs on the base again: what it needs from outside may have
changed."""
DAY_MS = 24 * 3_600_000
_BATCH = 500

_RATE = sa.select(table.c.outcome, sa.func.count().label("runs")).group_by(table.c.outcome)
_IN: sa.BindParameter[list[str]] = sa.bindparam("errors", expanding=True)
_HERE = (outcome_errors.c.repo == sa.bindparam("repo")) & outcome_errors.c.error.in_(_IN)
_SEEN = (
    sa.select(
        outcome_errors.c.error,
        sa.func.count(outcome_errors.c.run_id.distinct()).label("times"),
        sa.func.min(outcome_errors.c.at).label("since"),
    )
    .where(_HERE)
    .group_by(outcome_errors.c.error)
)
_SPREAD = (
    sa.select(outcome_errors.c.error, outcome_errors.c.stage, sa.func.count().label("outcomes"))
    .where(_HERE)
    .group_by(outcome_errors.c.error, outcome_errors.c.stage)
    .having(
        sa.func.count() >= GENERIC_OUTCOMES,
        sa.func.count(sa.func.coalesce(outcome_errors.c.number, 0).distinct()) >= GENERIC_THREADS,
    )
)
_FAILING = (
    sa.select(table.c.stage, sa.func.count().label("outcomes"))
    .where(table.c.repo == sa.bindparam("repo"), table.c.stage.in_(sa.bindparam("stages", expanding=True)))
    .where(table.c.outcome == "failed", table.c.shown > 0)
    .group_by(table.c.stage)
)


class CheckOutcome(Model):
    """The outcome of one check in one run. `number` is the pull request or issue, `at_ms` is epoch milliseconds.

    `errors` are fingerprints; for a failed check of a pull request, only the new ones."""

    repo: str
    number: int | None
    stage: str
    sha: str
    run_id: str
    outcome: Literal["passed", "failed", "flaky"]
    errors: tuple[str, ...] = ()
    at_ms: int


class BaseResult(Model):
    """The result of a check on a base commit."""

    passed: bool
    errors: tuple[str, ...] = ()


class DayOfErrors(Model):
    """The errors that failing checks showed on one day (UTC). `day` counts from 1970-01-01."""

    day: int
    errors: int
    failures: int


class Outcomes:
    """Outcomes and base results, by repository (`owner/name`). Rows that `Retention` has deleted no longer count."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def record(self, outcome: CheckOutcome) -> None:
        """Store an outcome, unless the stage of that run already has one."""
        errors = tuple(dict.fromkeys(outcome.errors))[:MAX_ERRORS]
        # an error of a check that passed in the end is not counted as seen
        shown = sorted({_key(error) for error in errors}) if outcome.outcome == "failed" else []
        values = outcome.model_dump(exclude={"errors", "at_ms"})
        values |= {"errors": list(errors), "shown": len(shown), "at": outcome.at_ms}
        own = {"repo": outcome.repo, "run_id": outcome.run_id, "stage": outcome.stage}
        rows = [{**own, "error": error, "number": outcome.number, "at": outcome.at_ms} for error in shown]

        def work(connection: sa.Connection) -> None:
            query = insert(connection, table).values(values).on_conflict_do_nothing(index_elements=["run_id", "stage"])
            if connection.execute(query.returning(table.c.id)).first() is not None and rows:
                connection.execute(sa.insert(outcome_errors), rows)

        await self._database.write(work)

    async def of_pull(self, repo: str, number: int) -> tuple[CheckOutcome, ...]:
        """All outcomes of a pull request, oldest first."""
        query = sa.select(table).where(table.c.repo == repo, table.c.number == number).order_by(table.c.at, table.c.id)
        rows = await self._database.all(query)
        return tuple(_outcome(row) for row in rows)

    async def rate(self, repo: str, stage: str) -> FlakyRate:
        """How often this check was flaky in the repository, and how often it was executed."""
        query = _RATE.where(table.c.repo == repo, table.c.stage == stage)
        rows = await self._database.all(query)
        counts: dict[str, int] = {row.outcome: row.runs for row in rows}
        return FlakyRate(flaky=counts.get("flaky", 0), runs=sum(counts.values()))

    async def seen(self, repo: str, errors: Sequence[str]) -> dict[str, FailureHistory]:
        """In how many runs each error made a check fail in the repository, and since when. An error that never did is
        not in the result."""

        def work(connection: sa.Connection) -> dict[str, FailureHistory]:
            histories = {}
            for keys in _batches(errors):
                for row in connection.execute(_SEEN, {"repo": repo, "errors": keys}):
                    since = iso(datetime.fromtimestamp(row.since / 1000, UTC))
                    histories[row.error] = FailureHistory(times=row.times, since=since)
            return histories

        histories = await self._database.read(work)
        return {error: histories[_key(error)] for error in errors if _key(error) in histories}

    async def by_day(
        self, since_day: int, *, repo: str = "", visible: Collection[str] | None = None
    ) -> tuple[DayOfErrors, ...]:
        """The errors of each day since that one on which a check failed, in one repository or in all.

        `visible` are the repositories that the viewer may see; None stands for all."""
        day = (table.c.at // DAY_MS).label("day")
        query = sa.select(day, sa.func.sum(table.c.shown).label("errors"), sa.func.count().label("failures"))
        query = query.where(table.c.at >= since_day * DAY_MS, table.c.outcome == "failed")
        query = query.where(*visible_in(table.c.repo, repo, visible)).group_by(day).order_by(day)
        rows = await self._database.all(query)
        return tuple(DayOfErrors(day=row.day, errors=row.errors, failures=row.failures) for row in rows)

    async def generic(self, repo: str, errors: Sequence[str]) -> frozenset[str]:
        """The generic ones of these errors: they occur in most failures of some stage, whatever the cause is.

        All three limits must be reached: GENERIC_OUTCOMES, GENERIC_THREADS and GENERIC_SHARE."""

        def work(connection: sa.Connection) -> set[str]:
            here = {"repo": repo}
            spread = [row for keys in _batches(errors) for row in connection.execute(_SPREAD, {**here, "errors": keys})]
            stages = sorted({row.stage for row in spread})
            failing = {row.stage: row.outcomes for row in connection.execute(_FAILING, {**here, "stages": stages})}
            return {row.error for row in spread if row.outcomes > GENERIC_SHARE * failing.get(row.stage, 0)}

        generic = await self._database.read(work)
        return frozenset(error for error in errors if _key(error) in generic)

    async def base(
        self, repo: str, sha: str, stage: str, command: str, *, max_age_ms: int = MAX_BASE_AGE_MS
    ) -> BaseResult | None:
        """The result of exactly this command on a base commit; None if it has none, or an older one."""
        query = sa.select(base_results.c.passed, base_results.c.errors).where(base_results.c.passed.is_not(None))
        query = query.where(base_results.c.at >= now_ms() - max_age_ms)
        query = query.filter_by(**_base(repo, sha, stage, command))
        row = await self._database.first(query)
        return None if row is None else BaseResult(passed=row.passed, errors=tuple(row.errors))

    async def put_base(self, repo: str, sha: str, stage: str, command: str, result: BaseResult) -> None:
        """Store the result of this command on a base commit, in place of an earlier one."""
        key = _base(repo, sha, stage, command)
        values = {"passed": result.passed, "errors": list(result.errors), "at": now_ms()}
        await self._database.write(lambda connection: upsert(connection, base_results, key, values))


def _key(error: str) -> str:
    """The form in which `outcome_errors` stores an error; fingerprints are not longer than MAX_NAME."""
    return sound(error)[:MAX_NAME]


def _batches(errors: Sequence[str]) -> Iterator[list[str]]:
    keys = list(dict.fromkeys(map(_key, errors)))
    return (keys[at : at + _BATCH] for at in range(0, len(keys), _BATCH))


def _outcome(row: Any) -> CheckOutcome:
    names = ("repo", "number", "stage", "sha", "run_id", "outcome")
    return CheckOutcome(**{name: getattr(row, name) for name in names}, errors=tuple(row.errors), at_ms=row.at)


def _base(repo: str, sha: str, stage: str, command: str) -> dict[str, str]:
    digest = hashlib.sha256(command.encode("utf-8", "surrogatepass")).hexdigest()
    return {"repo": repo, "sha": sha, "stage": stage, "command": digest}
