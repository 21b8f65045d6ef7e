"""The three phases before the loop: a plan, an architecture and a design, made from the issue and the repository."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Literal

from bot.agent import planner
from bot.agent.model_planner import PlanMaterial
from bot.model import AgentTask, Artifact, Phase, RunEvent
from bot.model.events.phases import PhaseCompleted, PhaseStarted
from bot.model.events.runs import ArtifactCreated
from bot.repo_config.agents import MODEL_PREFIX
from bot.rules.runs.state import RunState
from bot.store.runs.runs import RunRow
from bot.workflows.agents.usage import agent_ended
from bot.workflows.context import Context
from bot.workspace.mirror import mirror as mirrors

_Phase = Literal[Phase.PLANNING, Phase.ARCHITECTURE, Phase.DESIGN]
_MAX_FILES_READ = 40
_MAX_FILES_LOOKED_UP = 10


async def prepare(context: Context, row: RunRow, state: RunState) -> None:
    """Record the artifacts of planning, architecture and design (REQ-RUN-002). No model is needed; what one adds is in
    each of them under `model`."""
    git_dir, base = context.git_dir(row.id, row.spec), state.base_sha or "HEAD"
    files = await mirrors.list_files(git_dir, base)
    focus = state.focus
    plan = planner.plan(row.spec.title, row.spec.task, files, focus)
    wanted = sorted({*focus, *(path for name in focus for path in planner.covering_tests(name, files))})[
        :_MAX_FILES_READ
    ]
    texts = await asyncio.gather(*(mirrors.read_file(git_dir, base, path) for path in wanted))
    contents = {path: text for path, text in zip(wanted, texts, strict=True) if text is not None}
    architecture = planner.architecture(plan, files, contents)
    design = planner.design(plan, architecture)
    past = await _past_errors(context, row, focus)
    baseline = state.baseline.model_dump(mode="json", by_alias=True) if state.baseline else None
    fresh: list[RunEvent] = []
    made: list[Artifact] = []
    made_by_rules = {"plan": plan, "architecture": architecture, "design": design}
    material = PlanMaterial(_task(row, state), made_by_rules, contents, files)
    found = await context.ask_for_plan(row, material)
    added: Mapping[str, Mapping[str, Any]] = {}
    if found is not None:
        added = found.additions()
        used = agent_ended(Phase.PLANNING, None, f"{MODEL_PREFIX}{found.model}", found.usage)
        await context.stores.runs.append(row.id, [used])
    phases: tuple[tuple[_Phase, Mapping[str, Any]], ...] = (
        (Phase.PLANNING, {**plan, "pastErrors": past, "baseline": baseline}),
        (Phase.ARCHITECTURE, architecture),
        (Phase.DESIGN, design),
    )
    for phase, data in phases:
        more = {"model": added[phase]} if phase in added else {}
        artifact = Artifact(
            id=f"{row.id}.{phase}", session_id=row.id, phase=phase, created_at=datetime.now(UTC), data={**data, **more}
        )
        made.append(artifact)
        if phase is not Phase.PLANNING:
            fresh.append(PhaseStarted(phase=phase))
        fresh += [ArtifactCreated(phase=phase, artifact=artifact.id), PhaseCompleted(phase=phase)]
    await context.stores.runs.append(row.id, fresh, made)


def _task(row: RunRow, state: RunState) -> AgentTask:
    """The task as agents get it, before the first attempt."""
    return AgentTask(
        run_id=row.id,
        attempt=1,
        max_attempts=row.spec.attempt_limit,
        task=row.spec.task,
        focus=state.focus,
        baseline=state.baseline,
    )


async def _past_errors(context: Context, row: RunRow, focus: Sequence[str]) -> list[dict[str, Any]]:
    """The known errors of the files that the task names, without the patches."""
    found: dict[int, dict[str, Any]] = {}
    for path in focus[:_MAX_FILES_LOOKED_UP]:
        for known in await context.stores.history.by_file(path, repo=row.spec.place):
            resolution = known.resolution.model_dump(
                mode="json", by_alias=True, exclude_defaults=True, exclude={"patch"}
            )
            found[known.id] = {"file": path, "error": known.error, "resolution": resolution}
    return list(found.values())
