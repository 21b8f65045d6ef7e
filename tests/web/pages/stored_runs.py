"""Runs of every kind and state in a real store, for the pages."""

from __future__ import annotations

from bot.model import Issue, Repo, Status
from bot.model.events.pull_checks import PullCheckJudged, PullFinished
from bot.model.events.runs import SessionFinished, SessionStarted
from bot.model.pipeline import ValidationStep
from bot.model.proof import ProofLevel
from bot.model.pulls import CheckStatus
from bot.model.reasons import ExplainedStop
from bot.rules.pulls.check_spec import PullCheckSpec
from bot.rules.reasons import make_reason, quoted
from bot.rules.runs.spec import RunSpec
from bot.store.database.database import Database
from bot.store.runs.pull_runs import PullRuns
from bot.store.runs.runs import Runs

REPO = Repo(owner="octo", name="pocket", installation_id=1)


def issue_spec(number: int, title: str, repo: Repo = REPO) -> RunSpec:
    return RunSpec(
        repo=repo,
        issues=(Issue(number=number, title=title),),
        suggested_branch=f"fix/issue-{number}",
        base_branch="main",
        agents=("fixers",),
    )


async def fill(database: Database) -> None:
    """One run in each state: `waits`, `runs`, `failed`, `fixed`, `cancelled`, `session`; pull checks `red`, `green`."""
    runs = Runs(database)
    titles = {"waits": "It waits", "runs": "It runs", "failed": "It <b>fails</b>", "fixed": "It is fixed",
              "cancelled": "It is over"}  # fmt: skip
    for number, (name, title) in enumerate(titles.items(), 1):
        assert await runs.create(name, issue_spec(number, title))
    assert await runs.create("session", RunSpec(workspace="/srv/a", goal="Round up\nalways", agents=()))
    await runs.wait_for("waits", make_reason("wait.paused", number=7, by="ann"))
    for name in ("runs", "session"):
        await runs.append(name, [SessionStarted(task="")])
    stop = ExplainedStop(reason="max_iterations", details=quoted("3/3"))
    await _finish(runs, "failed", Status.FAILED, stop=stop)
    await _finish(runs, "fixed", Status.SUCCESS, proof="proven")
    await _finish(runs, "cancelled", Status.CANCELLED)
    pulls = PullRuns(database)
    for name, sha, passed in (("red", "a" * 40, False), ("green", "b" * 40, True)):
        assert await pulls.create(name, PullCheckSpec(repo=REPO, number=34, title="Add tax", head_sha=sha))
        step = ValidationStep(command="npm test", stage="test", passed=passed, exit_code=int(not passed))
        check = CheckStatus(name="test", status="completed", step=step)
        await pulls.append(name, [PullCheckJudged(index=0, check=check), PullFinished(status="done")])


async def _finish(
    runs: Runs, run_id: str, status: Status, stop: ExplainedStop | None = None, proof: ProofLevel | None = None
) -> None:
    shown = None if proof is None else proof == "proven"
    await runs.append(run_id, [SessionFinished(status=status, stop=stop, proof=proof, shown=shown)])
