"""The validation pipeline, run: one command a step, each recorded as it ends, so that a crash repeats one at most."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from bot.model import Artifact, Phase, ValidationStep
from bot.rules.course import RunSpec, RunState, Validate
from bot.rules.failures import fingerprints
from bot.rules.pipeline import Stage, close, next_index, skipped_step
from bot.rules.verdict import WHOLE
from bot.store.database import now_ms
from bot.store.outcomes import Outcome
from bot.store.runs import Draft, RunRow
from bot.workflows.altered import judged
from bot.workflows.begin import git_grant, open_tree
from bot.workflows.context import Context
from bot.workflows.learn import judge_guidance, remember_failure
from bot.workflows.local import keep_found
from bot.workspace.artifacts import write_log
from bot.workspace.checks import run_step
from bot.workspace.tree import Tree


async def validate(context: Context, row: RunRow, state: RunState, action: Validate) -> None:
    """Run one stage for one attempt and, after the last, close the validation: artifact, verdict, phase."""
    attempt, index = action.attempt, action.index
    stage, phase = state.stages[index], Phase.VALIDATION if attempt else Phase.PLANNING
    runs = context.stores.runs
    name = f"{attempt}:{index}"
    facts: dict[str, Any] = {"phase": phase, "iteration": attempt}
    opening = []
    if index == 0 and attempt:
        opening.append(Draft(type="phase_started", key=f"validation:{attempt}", **facts))
    if stage.command is not None:
        data: dict[str, Any] = {"stage": stage.name, "command": context.mask(stage.command.text)}
        opening.append(Draft(type="validation_command_started", key=f"command:{name}", data=data, **facts))
    if opening:
        await runs.append(row.id, opening)
    step, log = await _run(context, row, state, stage, attempt)
    prints = () if step.passed else await asyncio.to_thread(fingerprints, log.decode("utf-8", "replace"))
    if not_its_own(row.spec, stage.name, step, prints):
        step, prints = step.model_copy(update={"passed": True, "tolerated": True, "annotations": ()}), ()
    data = {"stage": stage.name, "step": step.model_dump(mode="json", by_alias=True), "fingerprints": prints}
    if log:
        data["log"] = write_log(context.settings.home, row.id, f"{attempt}-{index}-{stage.name}.log", log)
    await _count(context, row, state, step, prints)
    drafts = [
        Draft(
            type=f"validation_command_{'completed' if step.passed else 'failed'}",
            key=f"command_done:{name}",
            classification=step.classification,
            data=data,
            **facts,
        )
    ]
    steps = (*state.steps, step)
    made: list[Artifact] = []
    if next_index(state.stages, steps) is None and attempt:
        by_luck = any(one.flaky for one in steps)
        await judge_guidance(context, state, passed=step.passed and not by_luck)
        if not step.passed:
            await remember_failure(context, state, prints)
        closing, artifact = _closing(row, attempt, steps)
        drafts += closing
        made.append(artifact)
    await runs.append(row.id, drafts, made)


async def _count(context: Context, row: RunRow, state: RunState, step: ValidationStep, prints: tuple[str, ...]) -> None:
    """Remember what a check came to when the run executed it first, which tells most of the repository and least of the
    attempts. What fails on a pull request was counted when that was checked."""
    if step.skipped or row.spec.pull is not None:
        return
    outcome = Outcome(
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


def not_its_own(spec: RunSpec, stage: str, step: ValidationStep, prints: Sequence[str]) -> bool:
    """Whether a failed check shows nothing but what the pull request is not to be blamed for."""
    if spec.pull is None or step.passed or step.timed_out:
        return False
    tolerated = spec.pull.tolerated.get(stage, ())
    return bool(tolerated) and set(prints or (WHOLE,)) <= set(tolerated)


async def _run(
    context: Context, row: RunRow, state: RunState, stage: Stage, attempt: int
) -> tuple[ValidationStep, bytes]:
    if stage.command is None:
        return skipped_step(stage), b""
    tree = await open_tree(context, row, state)
    step, log = await _once(context, row, state, stage, tree)
    if step.passed or step.timed_out or step.exit_code is None or step.could_not_run or not attempt:
        return step, log
    # once more, to tell flaky from broken (REQ-RUN-002); a time-out or a missing command is not a matter of luck
    again, log_again = await _once(context, row, state, stage, tree)
    if again.passed:
        note = f"{again.output}\n(failed once before, on the same tree: flaky)".strip()
        return again.model_copy(update={"flaky": True, "output": note}), log + log_again
    return step, log


async def _once(
    context: Context, row: RunRow, state: RunState, stage: Stage, tree: Tree
) -> tuple[ValidationStep, bytes]:
    command, snapshot = stage.command, state.snapshot
    assert command is not None and snapshot is not None
    grant = git_grant(context, row)

    async def run() -> tuple[ValidationStep, bytes]:
        return await run_step(stage.name, command, tree.path, context.sandbox, grant=grant, mask=context.mask)

    async def keep() -> None:
        await keep_found(context, row, state, tree, after=stage.name)

    # in somebody's own tree what was altered may be that person's edit, of which the diff is then all that is left
    keeps = keep if row.spec.workspace is not None else None
    return await judged(tree, snapshot, run, mask=context.mask, before_restoring=keeps)


def _closing(row: RunRow, attempt: int, steps: tuple[ValidationStep, ...]) -> tuple[list[Draft], Artifact]:
    outcome = close(steps)
    artifact = Artifact(
        id=f"{row.id}.validation.{attempt}",
        session_id=row.id,
        phase=Phase.VALIDATION,
        iteration=attempt,
        created_at=datetime.now(UTC),
        data=outcome.model_dump(mode="json", by_alias=True),
    )
    facts: dict[str, Any] = {
        "phase": Phase.VALIDATION,
        "iteration": attempt,
        "classification": outcome.classification,
    }
    verdict = "passed" if outcome.passed else "failed"
    phase_end = "phase_completed" if outcome.passed else "phase_failed"
    drafts = [
        Draft(type="artifact_created", key=f"artifact:{artifact.id}", data={"artifact": artifact.id}, **facts),
        Draft(type=f"tests_{verdict}", key=f"tests:{attempt}", data={"summary": outcome.summary}, **facts),
        Draft(type=phase_end, key=f"validation_done:{attempt}", data={"summary": outcome.summary}, **facts),
    ]
    return drafts, artifact
