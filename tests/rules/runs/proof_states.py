"""States of runs with which all checks passed, for the tests of what is shown of their change."""

from __future__ import annotations

from typing import Any

from bot.model import Annotation, CouldNotRun, Issue, Repo, ShellCommand, Validation, ValidationStep
from bot.model.pipeline import PipelineStage
from bot.rules.runs.changes import AttemptChange
from bot.rules.runs.pipeline import make_validation
from bot.rules.runs.spec import RunSpec
from bot.rules.runs.state import RunState

LINT_STAGE = PipelineStage(name="lint", command=ShellCommand(run="ruff check .", timeout_s=60))
TEST_STAGE = PipelineStage(name="test", command=ShellCommand(run="pytest", timeout_s=60))


def step(stage: str = "test", code: int | None = 0, command: str = "", **more: object) -> ValidationStep:
    known = {"command": command or stage, "stage": stage, "passed": code == 0, "exit_code": code}
    return ValidationStep.model_validate({**known, **more})


def found(path: str, message: str = "`os` imported but unused", rule: str = "F401") -> Annotation:
    return Annotation(path=path, start_line=1, end_line=1, level="failure", message=message, rule=rule)


def lint_fails(*paths: str) -> Validation:
    return make_validation([step("lint", 1, annotations=tuple(map(found, paths)))])


GREEN = make_validation([step("lint"), step()])
RED = make_validation([step("lint"), step(code=1)])
LUCKY = make_validation([step("lint"), step(flaky=True)])
HUNG = make_validation([step("lint"), step(code=None, timed_out=True)])
MISSING = make_validation(
    [step("lint"), step(code=127, could_not_run=CouldNotRun(hindrance="not_found", what="pytest"))]
)
CRASH = (Issue(number=7, title="It crashes on Mondays", body="see the date formatter"),)
UNUSED = (Issue(number=7, title="Unused imports in a.py"),)


def made(agent: str, attempt: int = 1) -> AttemptChange:
    return AttemptChange(attempt, agent, f"t{attempt - 1}", f"t{attempt}", "h", ("a.py",), ())


def spec(issues: tuple[Issue, ...] = CRASH) -> RunSpec:
    return RunSpec(repo=Repo(owner="o", name="r", installation_id=1), issues=issues, agents=("fixers",))


def passing(baseline: Validation | None = GREEN, *, agent: str = "command", **more: Any) -> RunState:
    """A state after an attempt with which lint and tests pass; the base was green, if nothing else is stated."""
    known: dict[str, Any] = {
        "stages": (LINT_STAGE, TEST_STAGE),
        "validations": (GREEN,),
        "made": (made(agent),),
        "changed_paths": ("a.py",),
        "attempt": 1,
        "attempt_over": True,
    }
    return RunState(baseline=baseline, **{**known, **more})
