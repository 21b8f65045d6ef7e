"""Runs of every kind and state in a real store, for the pages."""

from __future__ import annotations

from pathlib import Path

from bot.model import Artifact, Issue, Phase, Repo, RunEvent, Status, Validation
from bot.model.events.pull_checks import PullCheckJudged, PullFinished
from bot.model.events.runs import SessionFinished, SessionStarted
from bot.model.pipeline import ValidationStep
from bot.model.proof import ProofLevel
from bot.model.pulls import CheckStatus, Failure, RunCounts
from bot.model.reasons import ExplainedStop
from bot.rules.pulls.check_spec import PullCheckSpec
from bot.rules.reasons import make_reason, quoted
from bot.rules.runs.spec import RunSpec
from bot.store.database.database import Database
from bot.store.runs.pull_runs import PullRuns
from bot.store.runs.runs import Runs
from bot.workspace.checks.logs import write_log
from tests.run_events import NOON, pull_check_event, run_event

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


DIFF = """diff --git a/src/cart.py b/src/cart.py
--- a/src/cart.py
+++ b/src/cart.py
@@ -1,3 +1,3 @@
 def total(prices):
-    return sum(prices) + 1
+    return sum(prices)
 # <script>alert(1)</script>
"""
LOG = b"collected 2 items\n\nE   assert 7 == 6\nFAILED tests/test_cart.py::test_total - assert 7 == 6\n1 failed\n"


FAILED = {"command": "pytest -q", "stage": "test", "passed": False, "exitCode": 1, "durationMs": 1200,
          "output": "E   assert 7 == 6", "classification": "test"}  # fmt: skip


def story_events() -> list[RunEvent]:
    """The events of a run that failed once and then passed."""
    passed = {**FAILED, "passed": True, "exitCode": 0, "output": "2 passed", "classification": None}
    check = {"stage": "test", "index": 0, "iteration": 1}
    return [
        run_event("session_started"),
        run_event("phase_started", "planning", branch="fix/issue-7"),
        run_event("phase_completed", "planning"),
        run_event("phase_started", "implementation", 1),
        run_event("attempt_started", iteration=1, attempt=1, of=3),
        run_event("agent_started", iteration=1, agent="command"),
        run_event("changes_applied", iteration=1, paths=("src/cart.py",), diff="attempt-1.diff"),
        run_event("phase_completed", "implementation", 1),
        run_event("validation_command_started", **check, command="pytest -q"),
        run_event("validation_command_failed", **check, step=FAILED, log="1-0-test.log", classification="test"),
        run_event("tests_failed", iteration=1, summary="test failed"),
        run_event("attempt_started", iteration=2, attempt=2, of=3),
        run_event("candidates_wanted", iteration=2, wanted=2, agents=("claude", "codex")),
        run_event(
            "candidate_event",
            iteration=2,
            candidate=1,
            event=run_event("validation_command_started", **{**check, "iteration": 2}, command="pytest -q"),
        ),
        run_event(
            "candidate_event",
            iteration=2,
            candidate=1,
            event=run_event("validation_command_completed", **{**check, "iteration": 2}, step=passed),
        ),
        run_event("candidate_failed", iteration=2, candidate=2, agent="codex", reason=quoted("no <key>")),
        run_event(
            "candidate_chosen",
            iteration=2,
            winner=1,
            results=(
                {
                    "candidate": 1,
                    "agent": "claude",
                    "result": "passed",
                    "proof": "proven",
                    "lines": 2,
                    "diff": "attempt-2-c1.diff",
                    "usage": {"inputTokens": 9, "costUsd": 0.25},
                },
                {"candidate": 2, "agent": "codex", "result": "none", "why": {"kind": "agent.nothing"}},
            ),
        ),
        run_event("changes_applied", iteration=2, paths=("src/cart.py",), diff="attempt-2.diff"),
        run_event("validation_command_completed", **{**check, "iteration": 2}, step=passed),
        run_event("tests_passed", iteration=2, summary="all passed"),
        run_event("artifact_created", "validation", 2, artifact="story.validation.2"),
        run_event("proof_decided", iteration=2, proof={"level": "proven", "because": "errors_gone", "before": "red"}),
        run_event("session_finished", status="success", proof="proven", shown=True),
    ]


async def fill_stories(database: Database, home: Path) -> None:
    """A fix run `story` with two attempts and all that its page shows, one under way, and the checks of a request."""
    runs = Runs(database)
    assert await runs.create("story", issue_spec(7, "The total is wrong"))
    story = story_events()
    validation = Validation(passed=True, summary="all <passed>")
    artifact = Artifact(id="story.validation.2", session_id="story", phase=Phase.VALIDATION, iteration=2,
                        created_at=NOON, data=validation.model_dump(mode="json", by_alias=True))  # fmt: skip
    await runs.append("story", story, [artifact])
    write_log(home, "story", "1-0-test.log", LOG)
    write_log(home, "story", "attempt-2.diff", DIFF.encode())
    assert await runs.create("busy", issue_spec(8, "It is under way"))
    await runs.append("busy", story[:9])
    pulls = PullRuns(database)
    assert await pulls.create("checked", PullCheckSpec(repo=REPO, number=35, title="Add tax", head_sha="c" * 40))
    step = ValidationStep.model_validate(FAILED)
    stages = ({"name": "test", "command": {"run": "pytest -q", "timeout_s": 9}},)
    failure = Failure(error="assert 7 == 6", verdict="new", test="test_total", head=RunCounts(failed=2))
    judged = CheckStatus(name="test", status="completed", step=step, failures=(failure,))
    await pulls.append(
        "checked",
        [
            pull_check_event("pull_started", stages=stages),
            pull_check_event("pull_check_ran", step=FAILED),
            PullCheckJudged(index=0, check=judged),
            PullFinished(status="done"),
        ],
    )
