"""What every executed check came to, on pull requests, on their bases and in runs: how often a check is flaky, how
often an error was seen, and which errors say nothing. It is what verdicts and learned are drawn from."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from typing import Any, Literal

import sqlalchemy as sa

from bot.model import Model
from bot.model.pulls import FailureHistory, FlakyRate
from bot.store.database.database import Database, now_ms
from bot.store.database.sql import MAX_NAME, insert, iso, sound, upsert
from bot.store.database.tables import base_results, outcome_errors
from bot.store.database.tables import outcomes as table

MAX_ERRORS = 1_000
"""Errors of one outcome that are kept; a check shows far fewer."""
GENERIC_OUTCOMES = 8
"""An error that says nothing stands in at least so many failing outcomes of one stage: fewer could be chance."""
GENERIC_THREADS = 3
"""And on so many pull requests or issues: one that is pushed to again and again fails with the same error each time.
What belongs to none counts as one together."""
GENERIC_SHARE = 0.5
"""And in more than this share of the repository's failing outcomes of that stage that show any error: `make: *** [test]
Error 1` does, a mistake does not."""
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
    """What one check of one run came to. `number` is the pull request or issue; `errors` are fingerprints, of a failed
    check of a pull request the new ones alone; `at_ms` is epoch milliseconds."""

    repo: str
    number: int | None
    stage: str
    sha: str
    run_id: str
    outcome: Literal["passed", "failed", "flaky"]
    errors: tuple[str, ...] = ()
    at_ms: int


class BaseResult(Model):
    """What a check came to on a base commit."""

    passed: bool
    errors: tuple[str, ...] = ()


class Outcomes:
    """Outcomes and base results, by repository (`owner/name`). Everything is counted over what `Retention` has left."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def record(self, outcome: CheckOutcome) -> None:
        """Remember an outcome, once for each stage of a run: told again, the first stands."""
        errors = tuple(dict.fromkeys(outcome.errors))[:MAX_ERRORS]
        # what passed after all, by luck or otherwise, is not seen to fail
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
        """How often this check was flaky here, and how often it was executed."""
        query = _RATE.where(table.c.repo == repo, table.c.stage == stage)
        rows = await self._database.all(query)
        counts: dict[str, int] = {row.outcome: row.runs for row in rows}
        return FlakyRate(flaky=counts.get("flaky", 0), runs=sum(counts.values()))

    async def seen(self, repo: str, errors: Sequence[str]) -> dict[str, FailureHistory]:
        """In how many runs each of these made a check fail here, and since when; those that never did are left out."""

        def work(connection: sa.Connection) -> dict[str, FailureHistory]:
            found = {}
            for keys in _batches(errors):
                for row in connection.execute(_SEEN, {"repo": repo, "errors": keys}):
                    since = iso(datetime.fromtimestamp(row.since / 1000, UTC))
                    found[row.error] = FailureHistory(times=row.times, since=since)
            return found

        found = await self._database.read(work)
        return {error: found[_key(error)] for error in errors if _key(error) in found}

    async def generic(self, repo: str, errors: Sequence[str]) -> frozenset[str]:
        """Those of the errors that say nothing here, because in one stage or another they stand in most failures
        whatever is wrong: GENERIC_OUTCOMES, GENERIC_THREADS and GENERIC_SHARE, all three."""

        def work(connection: sa.Connection) -> set[str]:
            here = {"repo": repo}
            spread = [row for keys in _batches(errors) for row in connection.execute(_SPREAD, {**here, "errors": keys})]
            stages = sorted({row.stage for row in spread})
            failing = {row.stage: row.outcomes for row in connection.execute(_FAILING, {**here, "stages": stages})}
            return {row.error for row in spread if row.outcomes > GENERIC_SHARE * failing.get(row.stage, 0)}

        found = await self._database.read(work)
        return frozenset(error for error in errors if _key(error) in found)

    async def base(self, repo: str, sha: str, stage: str, command: str) -> BaseResult | None:
        """What this very command came to on a base commit; None where it was not executed there, or told nothing."""
        query = sa.select(base_results.c.passed, base_results.c.errors).where(base_results.c.passed.is_not(None))
        query = query.filter_by(**_base(repo, sha, stage, command))
        row = await self._database.first(query)
        return None if row is None else BaseResult(passed=row.passed, errors=tuple(row.errors))

    async def put_base(self, repo: str, sha: str, stage: str, command: str, result: BaseResult) -> None:
        """Remember it; a later result stands. What could not be told is no result: it may be told at the next need."""
        key = _base(repo, sha, stage, command)
        values = {"passed": result.passed, "errors": list(result.errors), "at": now_ms()}
        await self._database.write(lambda connection: upsert(connection, base_results, key, values))


def _key(error: str) -> str:
    """How an error stands in its table; a fingerprint is no longer than this."""
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
