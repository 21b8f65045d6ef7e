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
    PullSetupCompleted,
    PullSetupFailed,
    PullStarted,
)
from bot.model.pipeline import PipelineStage
from bot.model.pulls import CheckStatus, Failure, PullStatus
from bot.model.reasons import ExplainedStop, Reason
from bot.rules.failures import failure_origin as verdict
from bot.rules.failures.errors import Printed
from bot.rules.pulls.check_spec import PullCheckSpec


@dataclass(frozen=True, slots=True)
class CheckExecution:
    """The execution of a check on the head commit: its step, its errors, and those of its rerun on the same commit.
    `rerun_errors` is None without a rerun."""

    step: ValidationStep
    errors: tuple[str, ...] = ()
    rerun_errors: tuple[str, ...] | None = None
    printed: Mapping[str, Printed] = field(default_factory=dict)
    """The errors in the tool's own words."""


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
    base: Mapping[int, tuple[str, ...] | None] = field(default_factory=dict)
    """The errors of the same check on the base, by stage; None where they are unknown."""
    base_unknown: Mapping[int, str] = field(default_factory=dict)
    """Why they are unknown, by the name in the catalog (`pull_check.because.NAME`)."""
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
    """Run stage `index` on the head commit, and once more if it fails."""

    kind: Literal["run"] = "run"
    index: int


class CheckBase(Model):
    """Run stage `index` on the base, to see whether it fails there too."""

    kind: Literal["base"] = "base"
    index: int


class JudgeCheck(Model):
    """Decide whether the failures of stage `index` are new, flaky or existing ones, and store that."""

    kind: Literal["judge"] = "judge"
    index: int


class FinishPull(Model):
    kind: Literal["finish"] = "finish"


PullAction = BeginPull | SetUpPull | RunCheck | CheckBase | JudgeCheck | FinishPull


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
            printed = {error: Printed(*words) for error, words in event.printed.items()}
            ran = CheckExecution(step=event.step, errors=event.errors, rerun_errors=event.rerun_errors, printed=printed)
            return replace(state, ran={**state.ran, event.index: ran})
        case PullBaseChecked():
            base = {**state.base, event.index: event.errors}
            unknown = {**state.base_unknown, event.index: event.because} if event.errors is None else state.base_unknown
            return replace(state, base=base, base_unknown=unknown)
        case PullCheckJudged():
            return replace(state, running=None, judged={**state.judged, event.index: event.check})
        case PullFinished():
            return replace(state, finished=event.status, stop=event.stop or state.stop, ended_at=event.ts)
        case _:
            assert_never(event)


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
        if needs_base(state.ran[index]) and index not in state.base:
            return CheckBase(index=index)
        return JudgeCheck(index=index)
    return FinishPull()


def wanted_stages(spec: PullCheckSpec, state: PullCheckState) -> tuple[int, ...]:
    """The stages to run: those with a command that the specification does not exclude."""
    return tuple(
        index
        for index, stage in enumerate(state.stages)
        if stage.command is not None and (not spec.only or stage.name in spec.only)
    )


def needs_base(ran: CheckExecution) -> bool:
    """Whether there is a failure that is not known to be flaky."""
    if ran.step.passed:
        return False
    if ran.step.could_not_run is not None:
        return True  # to say whether the change took away what the check needs
    return any(one.verdict == "new" for one in verdict.judge_failures(ran.errors, ran.rerun_errors, None))


def failures_of(state: PullCheckState, index: int) -> tuple[Failure, ...]:
    """The failures of an executed stage with their verdicts; none where it passed at once, or could not run."""
    ran = state.ran[index]
    if (ran.step.passed and not ran.step.flaky) or ran.step.could_not_run is not None:
        return ()
    judged = verdict.judge_failures(ran.errors, ran.rerun_errors, state.base.get(index))
    return tuple(_in_words(one, ran.printed.get(one.error)) for one in judged)


def _in_words(failure: Failure, printed: Printed | None) -> Failure:
    return failure if printed is None else failure.model_copy(update={"test": printed.test, "said": printed.text})


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
