"""The state of a pull check, as a fold over its events, and its next action.

Both depend on the events alone. So recovery after a crash is the normal way: load the events, decide, act
(architecture rule 8)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Literal, assert_never

from bot.model import CHECK_ORDER, Model, SetupDone, ValidationStep
from bot.model.events.pull_checks import (
    PullBaseChecked,
    PullCheckEvent,
    PullCheckJudged,
    PullCheckRan,
    PullCheckStarted,
    PullFinished,
    PullReachMeasured,
    PullSetupCompleted,
    PullSetupFailed,
    PullStarted,
    PullTestsRan,
)
from bot.model.pipeline import PipelineStage
from bot.model.pulls import CheckStatus, PullStatus
from bot.model.reasons import ExplainedStop, Reason
from bot.rules.pulls.check_execution import CheckExecution, execution_of
from bot.rules.pulls.check_runs import Place
from bot.rules.pulls.check_spec import PullCheckSpec


@dataclass(frozen=True, slots=True)
class PullCheckState:
    started_at: datetime | None = None
    ended_at: datetime | None = None
    base_sha: str = ""
    sandbox: Reason | None = None
    stages: tuple[PipelineStage, ...] = ()
    changed_paths: tuple[str, ...] = ()
    """The first of the paths that the pull request changes."""
    to_set_up: bool = False
    """Whether the head commit needs a setup."""
    set_up: bool = False
    setup: tuple[SetupDone, ...] = ()
    """The steps of the setup, once it has ended."""
    running: int | None = None
    ran: Mapping[int, CheckExecution] = field(default_factory=dict)
    judged: Mapping[int, CheckStatus] = field(default_factory=dict)
    setup_step: ValidationStep | None = None
    """The setup command that failed, with its output."""
    stop: ExplainedStop | None = None
    finished: PullStatus | None = None


class BeginPull(Model):
    kind: Literal["begin"] = "begin"


class SetUpPull(Model):
    kind: Literal["setup"] = "setup"


class RunCheck(Model):
    """Run stage `index` on the head commit."""

    kind: Literal["run"] = "run"
    index: int


class CheckBase(Model):
    """Run stage `index` on the base, to see whether it fails there too."""

    kind: Literal["base"] = "base"
    index: int


class RunTests(Model):
    """Run failing tests of stage `index` again, those in `tests` alone or the whole check. `number` counts these
    runs."""

    kind: Literal["tests"] = "tests"
    index: int
    number: int
    place: Place
    tests: tuple[str, ...] = ()


class MeasureReach(Model):
    """Measure whether failing tests of stage `index` execute lines that the change alters."""

    kind: Literal["reach"] = "reach"
    index: int
    tests: tuple[str, ...]


class JudgeCheck(Model):
    """Decide whose the failures of stage `index` are, and store that."""

    kind: Literal["judge"] = "judge"
    index: int


class FinishPull(Model):
    kind: Literal["finish"] = "finish"


PullAction = BeginPull | SetUpPull | RunCheck | CheckBase | RunTests | MeasureReach | JudgeCheck | FinishPull


def pull_check_state(events: Iterable[PullCheckEvent]) -> PullCheckState:
    """The state after these events of one pull check, in their order."""
    state = PullCheckState()
    for event in events:
        state = _apply(state, event)
    return state


def _apply(state: PullCheckState, event: PullCheckEvent) -> PullCheckState:
    match event:
        case PullStarted():
            return replace(
                state,
                started_at=event.ts,
                base_sha=event.base_sha,
                sandbox=event.sandbox,
                stages=event.stages,
                changed_paths=event.changed_paths,
                to_set_up=event.to_set_up,
            )
        case PullSetupCompleted():
            return replace(state, set_up=True, stages=event.stages, setup=event.steps)
        case PullSetupFailed():
            failed = ExplainedStop(reason="setup_failed", details=event.details)
            return replace(state, set_up=True, stop=failed, setup_step=_failed_setup(event))
        case PullCheckStarted():
            return replace(state, running=event.index)
        case PullCheckRan():
            return _with_execution(state, event.index, execution_of(event, state.stages[event.index].command))
        case PullBaseChecked():
            return _with_execution(state, event.index, state.ran[event.index].with_base(event))
        case PullTestsRan():
            return _with_execution(state, event.index, state.ran[event.index].with_tests(event))
        case PullReachMeasured():
            return _with_execution(state, event.index, state.ran[event.index].with_reach(event))
        case PullCheckJudged():
            return replace(state, running=None, judged={**state.judged, event.index: event.check})
        case PullFinished():
            return replace(state, finished=event.status, stop=event.stop or state.stop, ended_at=event.ts)
        case _:
            assert_never(event)


def _with_execution(state: PullCheckState, index: int, execution: CheckExecution) -> PullCheckState:
    return replace(state, ran={**state.ran, index: execution})


def _failed_setup(event: PullSetupFailed) -> ValidationStep:
    values = event.details.values
    return ValidationStep(
        command=str(values["command"]),
        stage="setup",
        passed=False,
        exit_code=event.exit_code,
        timed_out=event.details.kind == "setup.timed_out",
        output=str(values.get("block", "")),
        duration_ms=event.duration_ms,
    )


def next_pull_action(spec: PullCheckSpec, state: PullCheckState) -> PullAction | None:
    """The next action; None once the check has ended. The same events always give the same action."""
    if state.finished is not None:
        return None
    if state.started_at is None:
        return BeginPull()
    if state.stop is not None:
        return FinishPull()
    wanted = wanted_stages(spec, state)
    if state.to_set_up and not state.set_up:
        return SetUpPull()
    for index in wanted:
        if index in state.judged:
            continue
        if index not in state.ran:
            return RunCheck(index=index)
        return _next_of(index, state.ran[index])
    return FinishPull()


def _next_of(index: int, ran: CheckExecution) -> PullAction:
    """The next action for a check that has run."""
    if ran.needs_base:
        return CheckBase(index=index)
    if ran.step.could_not_run is not None:
        return JudgeCheck(index=index)
    if tests := ran.runs.tests_to_measure:
        return MeasureReach(index=index, tests=tests)
    wanted = ran.runs.next_run
    if wanted is None:
        return JudgeCheck(index=index)
    return RunTests(index=index, number=len(ran.runs.others) + 1, place=wanted.place, tests=wanted.tests)


def wanted_stages(spec: PullCheckSpec, state: PullCheckState) -> tuple[int, ...]:
    """The stages to run: those with a command that the specification does not exclude."""
    return tuple(
        index
        for index, stage in enumerate(state.stages)
        if stage.command is not None and (not spec.only or stage.name in spec.only)
    )


def checks_of(spec: PullCheckSpec, state: PullCheckState) -> tuple[CheckStatus, ...]:
    """The status of every check, in the order in which they run; before the start, of all checks that there may be."""
    kept = {check.name: check for check in spec.kept}
    if not state.stages:
        names = [name for name in CHECK_ORDER if not spec.only or name in spec.only or name in kept]
        return tuple(kept.get(name) or CheckStatus(name=name) for name in names)
    found = []
    for index, stage in enumerate(state.stages):
        if index in state.judged:
            found.append(state.judged[index])
        elif stage.name in kept:
            found.append(kept[stage.name])
        elif spec.only and stage.name not in spec.only:
            continue
        elif stage.command is None:
            found.append(CheckStatus(name=stage.name, status="completed", looked_for=stage.looked_for))
        else:
            found.append(_open_check(state, index, stage.name))
    return tuple(found)


def _open_check(state: PullCheckState, index: int, name: str) -> CheckStatus:
    if state.setup_step is not None:
        # no check ran, so nothing of it counts as a failure, new or not
        step = state.setup_step.model_copy(update={"stage": name})
        return CheckStatus(name=name, status="completed", step=step, because="setup")
    busy = state.running == index or index in state.ran
    return CheckStatus(name=name, status="in_progress" if busy else "queued")
