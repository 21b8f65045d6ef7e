"""Runs the validation pipeline: one command a step, each recorded as it ends, so that a crash repeats at most one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Literal

from bot.model import Artifact, Phase, RunEvent, Validation, ValidationStep
from bot.model.events.phases import PhaseStarted, ValidationCompleted, ValidationFailed
from bot.model.events.runs import ArtifactCreated, CheckEnded, CheckStarted, TestsEnded
from bot.model.pipeline import ExistingErrors
from bot.reports.locale.reasons import english
from bot.rules.failures.errors import Printed
from bot.rules.failures.failure_origin import NOT_RUN, WHOLE
from bot.rules.reasons import make_reason
from bot.rules.runs.existing_failures import existing_errors, without_existing_errors
from bot.rules.runs.next_action import Validate
from bot.rules.runs.pipeline import CUSTOM, make_validation, next_index, no_command, skipped_step
from bot.rules.runs.spec import RunSpec
from bot.rules.runs.state import RunState
from bot.rules.runs.suite_state import state_to_restore
from bot.rules.tampering.weakened_tests import WEAKENED_TESTS
from bot.store.database.database import now_ms
from bot.store.history.outcomes import CheckOutcome
from bot.store.runs.runs import RunRow
from bot.workflows.agents.usage import agent_ended
from bot.workflows.checks.executed_tests import Executed, compare, runs_tests, save_suite
from bot.workflows.context import Context
from bot.workflows.history.learn_from_runs import judge_guidance, record_dead_ends
from bot.workflows.runs.begin import open_tree
from bot.workflows.runs.run_stage import run_stage
from bot.workspace.checks.logs import write_log

_MAX_PRINTED = 50
"""Errors of a step whose text from the tool is recorded; below, the characters of each."""
_MAX_CHARS = 300


async def validate(context: Context, row: RunRow, state: RunState, action: Validate) -> None:
    """Run one stage for one attempt and, after the last, close the validation: artifact, verdict, phase."""
    attempt = action.attempt
    await _open(context, row, state, action)
    executed = await _classified(context, row, await _run(context, row, state, action.index, attempt), attempt)
    ended = await _ended(context, row, state, action, executed)
    await _record_outcome(context, row, state, ended.step, ended.fingerprints)
    ended = await _compared(context, row, state, action, replace(executed, step=ended.step), ended)
    fresh: list[RunEvent] = [ended]
    steps = (*state.steps, ended.step)
    made: list[Artifact] = []
    if attempt and (next_index(state.stages, steps) is None or ended.refused):
        passed = ended.step.passed and not ended.refused
        if not state.candidate:  # once for an attempt, by the candidate that is chosen
            await judge_guidance(context, state, passed=passed and not any(one.flaky for one in steps))
        if not ended.step.passed or (ended.refused and state_to_restore(state) is state.before[-1]):
            await record_dead_ends(context, state, ended.fingerprints or state.failing)
        outcome = make_validation(steps, refused=ended.refused is not None)
        if ended.refused:  # programs get the reason itself: it names the tests
            outcome = outcome.model_copy(update={"summary": english(make_reason("log.refused", why=ended.refused))})
        artifact = _artifact(row, attempt, outcome, state.suffix)
        fresh += _closing(attempt, outcome, artifact.id, ended.reason)
        made.append(artifact)
    await context.stores.runs.append(row.id, fresh, made)
    if ended.refused:
        await (await open_tree(context, row, state)).restore(state_to_restore(state).snapshot)


async def _open(context: Context, row: RunRow, state: RunState, action: Validate) -> None:
    stage, opening = state.stages[action.index], list[RunEvent]()
    if action.attempt and action.index == 0:
        opening.append(PhaseStarted(phase=Phase.VALIDATION, iteration=action.attempt))
    if stage.command is not None:
        started = CheckStarted(
            phase=_phase(action),
            iteration=action.attempt,
            index=action.index,
            stage=stage.name,
            command=context.mask(stage.command.text),
        )
        opening.append(started)
    if opening:
        await context.stores.runs.append(row.id, opening)


def _phase(action: Validate) -> Phase:
    return Phase.VALIDATION if action.attempt else Phase.PLANNING


async def _ended(context: Context, row: RunRow, state: RunState, action: Validate, executed: Executed) -> CheckEnded:
    """The event of the stage that was executed, with the errors that are the run's own to fix."""
    attempt, index, log = action.attempt, action.index, executed.log
    name = f"{attempt}{state.suffix}-{index}-{state.stages[index].name}"
    step, prints, left = _own_errors(row, state, index, attempt, executed.step, executed.errors)
    ended = CheckEnded(
        type="validation_command_completed" if step.passed else "validation_command_failed",
        phase=_phase(action),
        iteration=attempt,
        classification=step.classification,
        index=index,
        stage=state.stages[index].name,
        step=step,
        fingerprints=prints,
        printed={error: executed.errors[error].whole[:_MAX_CHARS] for error in prints[:_MAX_PRINTED]},
    )
    more: dict[str, object] = {"attempt": state.counted} if attempt else {}
    if left is not None and (left.errors or left.named) and not attempt:
        more["left"] = left
    if log:
        more["log"] = write_log(context.settings.home, row.id, f"{name}.log", log)
    if executed.suite is not None:
        more["tests"] = save_suite(context, row, name, executed.suite)
    return ended.model_copy(update=more)


async def _compared(
    context: Context, row: RunRow, state: RunState, action: Validate, executed: Executed, ended: CheckEnded
) -> CheckEnded:
    """The event of the stage with the comparison of its tests. Where other tests ran than before, it holds why the
    change is refused although the stage passed."""
    stage = state.stages[action.index]
    if not action.attempt or not executed.step.passed or executed.step.skipped or not runs_tests(stage):
        return ended
    found = await compare(context, row, state, await open_tree(context, row, state), action.index, executed)
    if found is None:
        return ended
    more = {"what_ran": found.what_ran}
    if found.refused is not None:
        refused = found.refused.map_text(context.mask)
        return ended.model_copy(update={**more, "refused": refused, "reason": WEAKENED_TESTS})
    return ended.model_copy(update=more)


async def _record_outcome(
    context: Context, row: RunRow, state: RunState, step: ValidationStep, prints: tuple[str, ...]
) -> None:
    """Record the result of a check when the run executes it first: it then shows the state of the repository, not of
    the attempts. Failures of a pull request were recorded when it was checked."""
    if step.skipped or row.spec.pull is not None:
        return
    outcome = CheckOutcome(
        repo=row.spec.place,
        number=next(iter(row.spec.threads), None),
        stage=step.stage,
        sha=state.base_sha or "",
        run_id=row.id,
        outcome="flaky" if step.flaky else "passed" if step.passed else "failed",
        errors=prints,
        at_ms=now_ms(),
    )
    await context.stores.outcomes.record(outcome)


def _own_errors(
    row: RunRow, state: RunState, index: int, attempt: int, step: ValidationStep, found: Mapping[str, Printed]
) -> tuple[ValidationStep, tuple[str, ...], ExistingErrors | None]:
    """The step and its errors without those that this run does not fix, and the base's errors that are left alone."""
    stage, prints = state.stages[index], tuple(found)
    if is_tolerated(row.spec, stage.name, step, prints):
        passed = {"passed": True, "tolerated": True, "classification": None, "annotations": ()}
        return step.model_copy(update={**passed, "failures": (), "failure_count": 0}), (), None
    if row.spec.pull is not None:
        return step, prints, None
    known = state.left.get(index)
    left = known if attempt else existing_errors(row.spec, stage.name, step, found, others_named=_named(state))
    return *without_existing_errors(step, left or ExistingErrors(), prints), left


def is_tolerated(spec: RunSpec, stage: str, step: ValidationStep, prints: Sequence[str]) -> bool:
    """Whether a failed check shows only errors that are not the pull request's own."""
    if spec.pull is None or step.passed or step.cut_short:
        return False
    tolerated = spec.pull.tolerated.get(stage, ())
    if step.could_not_run is not None:
        return NOT_RUN in tolerated
    return bool(tolerated) and set(prints or (WHOLE,)) <= set(tolerated)


def _named(state: RunState) -> bool:
    """Whether the task names an error that an earlier check of the base showed."""
    return any(left.named for left in state.left.values())


async def _run(context: Context, row: RunRow, state: RunState, index: int, attempt: int) -> Executed:
    stage = state.stages[index]
    if stage.command is None:
        return Executed(skipped_step(stage, english(no_command(stage))))
    if attempt and NOT_RUN in state.left.get(index, ExistingErrors()).errors:
        reason = make_reason("pipeline.left_out")
        return Executed(skipped_step(stage, english(reason), context.mask(stage.command.text)))
    tree = await open_tree(context, row, state)
    first = await run_stage(context, row, state, tree, stage)
    step = first.step
    if step.passed or step.cut_short or step.exit_code is None or step.could_not_run or not attempt:
        return first
    # once more, to find flaky tests (REQ-RUN-002); an exceeded limit or a missing command is never flaky
    again = await run_stage(context, row, state, tree, stage)
    if again.step.passed:
        note = f"{again.step.output}\n{english(make_reason('log.flaky'))}".strip()
        flaky = again.step.model_copy(update={"flaky": True, "output": note})
        return Executed(flaky, first.log + again.log, suite=again.suite)
    return first


async def _classified(context: Context, row: RunRow, executed: Executed, attempt: int) -> Executed:
    """The execution; where a command of the session's own failed, with the kind that a model gives it (REQ-RUN-005)."""
    step = executed.step
    if not attempt or step.passed or step.stage != CUSTOM or step.classification == "runtime":
        return executed
    verdict = await context.classify(row, step)
    if verdict is None:
        return executed
    await context.stores.runs.append(row.id, [agent_ended(Phase.VALIDATION, attempt, verdict.agent, verdict.usage)])
    if verdict.classification is None:
        return executed
    return replace(executed, step=step.model_copy(update={"classification": verdict.classification}))


def _artifact(row: RunRow, attempt: int, outcome: Validation, suffix: str) -> Artifact:
    return Artifact(
        id=f"{row.id}.validation.{attempt}{suffix}",
        session_id=row.id,
        phase=Phase.VALIDATION,
        iteration=attempt,
        created_at=datetime.now(UTC),
        data=outcome.model_dump(mode="json", by_alias=True),
    )


def _closing(attempt: int, outcome: Validation, artifact: str, reason: str) -> tuple[RunEvent, ...]:
    """The events that end a validation; `reason` is given where the change is refused."""
    kind: Literal["tests_passed", "tests_failed"] = "tests_passed" if outcome.passed else "tests_failed"
    ended = ValidationCompleted if outcome.passed else ValidationFailed
    summary, classification = outcome.summary, outcome.classification
    made = ArtifactCreated(artifact=artifact, phase=Phase.VALIDATION, iteration=attempt, classification=classification)
    verdicts = (
        TestsEnded(
            type=kind, summary=summary, phase=Phase.VALIDATION, iteration=attempt, classification=classification
        ),
        ended(summary=summary, phase=Phase.VALIDATION, iteration=attempt, classification=classification),
    )
    if reason:  # an unset field is not stored
        return made, *(one.model_copy(update={"reason": reason}) for one in verdicts)
    return made, *verdicts
