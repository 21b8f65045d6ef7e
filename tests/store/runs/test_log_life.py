"""The start and the end of a run have one line each, with the run's id, however often their step is repeated."""

from __future__ import annotations

from pathlib import Path

from bot.logs import captured_logs
from bot.model import Status
from bot.model.events.runs import CommitPushed, SessionFinished, SessionStarted
from bot.model.reasons import ExplainedStop
from bot.rules.reasons import make_reason
from bot.rules.runs.spec import RunSpec
from bot.store.database.database import Database
from bot.store.runs.runs import Runs
from tests.store.databases import run


async def test_a_run_has_a_line_for_its_start_and_one_for_its_end(tmp_path: Path) -> None:
    stop = ExplainedStop.of("max_iterations", make_reason("given_up"))

    async def work(database: Database) -> None:
        runs = Runs(database)
        await runs.create("run-1", RunSpec(workspace="/srv/a", goal="fix it", agents=()))
        for _ in range(2):
            await runs.append("run-1", [SessionStarted(task=""), CommitPushed(commit="a")])
            await runs.append("run-1", [SessionFinished(status=Status.FAILED, stop=stop)])

    with captured_logs() as lines:
        await run(tmp_path, work)
    assert [(line["event"], line["run"], line["repo"]) for line in lines] == [
        ("run_started", "run-1", "/srv/a"),
        ("run_ended", "run-1", "/srv/a"),
    ]
    assert (lines[1]["status"], lines[1]["stop"], lines[1]["proof"]) == ("failed", "max_iterations", None)
