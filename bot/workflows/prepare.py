"""The three phases before the loop: a plan, an architecture and a design, made from the issue and the repository."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from bot.agent import planner
from bot.model import Artifact, Phase
from bot.rules.course import RunState
from bot.store.runs import Draft, RunRow
from bot.workflows.context import Context
from bot.workspace import mirror as mirrors

_READ_AT_MOST = 40


async def prepare(context: Context, row: RunRow, state: RunState) -> None:
    """Record the artifacts of planning, architecture and design (REQ-RUN-002); no model is needed."""
    mirror, base = context.mirror(row.spec.repo), state.base_sha or "HEAD"
    files = await mirrors.list_files(mirror, base)
    issues = row.spec.issues
    plan = planner.plan(issues[0].title, row.spec.task, files)
    focus = planner.named_files(row.spec.task, files)
    wanted = sorted({*focus, *(path for name in focus for path in planner.covering_tests(name, files))})[:_READ_AT_MOST]
    texts = await asyncio.gather(*(mirrors.read_file(mirror, base, path) for path in wanted))
    contents = {path: text for path, text in zip(wanted, texts, strict=True) if text is not None}
    architecture = planner.architecture(plan, files, contents)
    design = planner.design(plan, architecture)
    baseline = state.baseline.model_dump(mode="json", by_alias=True) if state.baseline else None
    drafts: list[Draft] = []
    made: list[Artifact] = []
    phases: tuple[tuple[Phase, Mapping[str, Any]], ...] = (
        (Phase.PLANNING, {**plan, "baseline": baseline}),
        (Phase.ARCHITECTURE, architecture),
        (Phase.DESIGN, design),
    )
    for phase, data in phases:
        artifact = Artifact(
            id=f"{row.id}.{phase}", session_id=row.id, phase=phase, created_at=datetime.now(UTC), data=dict(data)
        )
        made.append(artifact)
        if phase is not Phase.PLANNING:
            drafts.append(Draft(type="phase_started", key=phase, phase=phase))
        drafts.append(
            Draft(type="artifact_created", key=f"artifact:{artifact.id}", phase=phase, data={"artifact": artifact.id})
        )
        told = {"focus": focus} if phase is Phase.PLANNING else {}
        drafts.append(Draft(type="phase_completed", key=f"{phase}_done", phase=phase, data=told))
    await context.stores.runs.append(row.id, drafts, made)
