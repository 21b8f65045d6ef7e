"""Each ended run is counted once, also those that ended before this process started."""

from __future__ import annotations

from pathlib import Path

from bot.model import Status
from bot.model.events.pull_checks import PullFinished
from bot.model.events.runs import AttemptStarted, SessionFinished, SessionStarted, TestsEnded
from bot.model.reasons import ExplainedStop
from bot.rules.pulls.check_spec import PullCheckSpec
from bot.rules.reasons import make_reason
from bot.rules.runs.spec import RunSpec
from bot.store.database.database import Database
from bot.store.runs.ended_runs import EndedRuns, Outcome
from bot.store.runs.pull_runs import PullRuns
from bot.store.runs.runs import Runs
from tests.store.databases import plans, run

LIMIT = ExplainedStop.of("max_iterations", make_reason("given_up"))
FAILED = SessionFinished(status=Status.FAILED, stop=LIMIT)
PROVEN = SessionFinished(status=Status.SUCCESS, shown=True, proof="proven")


async def _add(database: Database, run_id: str, *ended: SessionFinished) -> None:
    runs = Runs(database)
    await runs.create(run_id, RunSpec(workspace=f"/srv/{run_id}", goal="fix it", agents=()))
    await runs.append(run_id, [SessionStarted(task=""), *ended])


async def test_ended_runs_are_counted_by_outcome_once(tmp_path: Path) -> None:
    async def work(database: Database) -> list[dict[Outcome, int]]:
        await _add(database, "run-1", FAILED)
        await _add(database, "run-2")
        ended = EndedRuns(database)
        counts = []
        await ended.read()
        counts.append(dict(ended.outcomes))
        await Runs(database).append("run-2", [PROVEN])
        await _add(database, "run-3", FAILED)
        for _ in range(2):  # the last events are read again each time
            await ended.read()
            counts.append(dict(ended.outcomes))
        again = EndedRuns(database)
        await again.read()
        return [*counts, dict(again.outcomes)]

    failed, proven = Outcome("fix", "failed", "max_iterations", ""), Outcome("fix", "success", "", "proven")
    after = {failed: 2, proven: 1}
    assert await run(tmp_path, work) == [{failed: 1}, after, after, after]


async def test_pull_checks_are_counted_as_a_kind_of_their_own(tmp_path: Path) -> None:
    async def work(database: Database) -> tuple[dict[Outcome, int], list[tuple[str, float]]]:
        ended, pulls = EndedRuns(database), PullRuns(database)
        await ended.read()
        spec = PullCheckSpec.model_validate(
            {"repo": {"owner": "o", "name": "p", "installation_id": 1}, "number": 1, "head_sha": "a"}
        )
        created = await pulls.create("check-1", spec)
        assert created
        await pulls.append("check-1", [PullFinished(status="done")])
        await ended.read()
        return dict(ended.outcomes), ended.durations["pull_check"].buckets()

    outcomes, buckets = await run(tmp_path, work)
    assert outcomes == {Outcome("pull_check", "done", "", ""): 1}
    assert buckets[0][1] == buckets[-1][1] == 1.0


async def test_an_attempt_lasts_from_its_start_to_its_verdict(tmp_path: Path) -> None:
    async def work(database: Database) -> list[float]:
        ended = EndedRuns(database)
        await ended.read()
        await _add(database, "run-1")
        counts = []
        verdict = TestsEnded(type="tests_failed", iteration=1, summary="1 failed")
        for event in (AttemptStarted(iteration=1, attempt=1, of=3), verdict, PROVEN):
            await Runs(database).append("run-1", [event])
            await ended.read()
            counts.append(ended.attempts.buckets()[-1][1])
        return counts

    assert await run(tmp_path, work) == [0.0, 1.0, 1.0]


async def test_later_readings_look_at_new_events_alone(tmp_path: Path) -> None:
    async def work(database: Database) -> None:
        await _add(database, "run-1", FAILED)
        ended = EndedRuns(database)
        await ended.read()
        await ended.read()

    found = [plan for plan in await plans(tmp_path, work) if "events" in plan]
    assert any("events USING INTEGER PRIMARY KEY (rowid>?)" in plan for plan in found)
    assert not [plan for plan in found if "SCAN events" in plan]
