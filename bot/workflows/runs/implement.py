"""Makes one attempt's change: asks the agents in order and takes the first acceptable change.

The tree starts from the last recorded snapshot, so a repeat after a crash starts from the same files."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime

from bot.agent.protocol import Agent
from bot.model import AgentTask, Artifact, KnownError, Phase, RunEvent, Usage, Validation
from bot.model.events.phases import ImplementationCompleted, ImplementationFailed, PhaseStarted
from bot.model.events.runs import AgentStarted, ArtifactCreated, AttemptStarted, ChangesApplied, PatchFallbackApplied
from bot.model.events.tournament import CandidatesWanted
from bot.model.reasons import Reason
from bot.reports.history.guidance import error_guidance, file_guidance
from bot.reports.locale.catalog import t
from bot.reports.locale.reasons import english, english_json
from bot.rules.history.guidance_trial import briefed, is_withheld
from bot.rules.patches.change_size import changed_files
from bot.rules.reasons import all_reasons, make_reason
from bot.rules.runs.changes import FREE, HISTORY
from bot.rules.runs.existing_failures import leave_alone_guidance
from bot.rules.runs.fixable_files import fixable_findings
from bot.rules.runs.next_action import Implement
from bot.rules.runs.proof import falls_short
from bot.rules.runs.state import BUDGET, NOTHING_OFFERED, SAME_PATCH, RunState
from bot.store.runs.runs import RunRow
from bot.workflows.agents.ask_agents import AcceptedChange, SkippedAgent, ask
from bot.workflows.agents.usage import agent_ended
from bot.workflows.context import Context
from bot.workflows.history.learn_from_runs import change_hash, guidance
from bot.workflows.runs.begin import open_tree
from bot.workflows.runs.local_tree import save_edits
from bot.workspace.checks.logs import write_log
from bot.workspace.files.nofollow import touch_files
from bot.workspace.git.tree import Tree
from bot.workspace.worktree.untracked_files import StartingTree

MAX_PATCH = 200_000
"""Characters of a change that its artifact holds; the log beside it is whole."""
_IN_ARTIFACT = ("agent", "paths", "patchHash", "tools", "note", "notes", "diff", "usage")
_PATCHES_SHOWN = 5
_PATHS_SHOWN = 5


async def implement(context: Context, row: RunRow, state: RunState, action: Implement) -> None:
    """Put one agent's change in the tree and record it, or record why there is none."""
    assert state.snapshot is not None
    tree, attempt = await open_tree(context, row, state), action.attempt
    started = await _open(context, row, state, attempt)
    if row.spec.workspace is not None:
        await save_edits(context, row, state, tree)
    task = await make_task(context, row, state, tree, briefed(started), attempt)
    begin = await StartingTree.of(tree, state.snapshot, own=row.spec.workspace is None)
    skipped: list[SkippedAgent] = []
    developers = _in_order(context.developers(row), state, attempt)
    coding = coding_agents(developers) if row.spec.candidate_limit > 1 else []
    for developer in [one for one in developers if one not in coding]:
        if skipped and skipped[-1].touched:
            await begin.restore()
        await context.stores.runs.append(row.id, [_agent_started(attempt, developer.name, skipped)])
        answer = await ask(context, row, state, developer, task, tree)
        called = agent_ended(Phase.IMPLEMENTATION, attempt, developer.name, answer.usage)
        await context.stores.runs.append(row.id, [called])
        if isinstance(answer, AcceptedChange):
            notes = (*answer.notes, *ignored_files_note(await begin.delete_new(answer.snapshot)))
            refusals = tuple(one.reason for one in skipped if one.refused)
            answer = replace(answer, notes=notes, refusals=refusals, usage=_usage([*skipped, answer]))
            await record_change(context, row, state, tree, answer, attempt)
            return
        skipped.append(answer)
    await begin.restore()
    ended = _candidates_wanted(row, attempt, coding, skipped) if coding else no_change(context, attempt, skipped)
    await context.stores.runs.append(row.id, [ended])


def coding_agents(developers: Sequence[Agent]) -> Sequence[Agent]:
    """Those of the agents whose turn costs an attempt."""
    return [one for one in developers if one.name not in FREE]


def _candidates_wanted(
    row: RunRow, attempt: int, coding: Sequence[Agent], skipped: Sequence[SkippedAgent]
) -> CandidatesWanted:
    """The event after which these agents are asked for a change each, in steps of their own (`tournament.py`)."""
    return CandidatesWanted(
        iteration=attempt,
        wanted=row.spec.candidate_limit,
        agents=tuple(one.name for one in coding),
        reasons=tuple(one.reason for one in skipped),
    )


def _usage(answers: Sequence[AcceptedChange | SkippedAgent]) -> Usage:
    """What all agents that were asked used together."""
    first, *others = (each.usage for each in answers)
    return sum(others, first)


def _in_order(developers: Sequence[Agent], state: RunState, turn: int) -> Sequence[Agent]:
    """The agents of a turn. After a replay in the previous turn the history is left out where a coding agent can be
    asked, so that an attempt has one replay."""
    replayed = bool(state.made) and state.made[-1].agent == HISTORY and state.made[-1].attempt == turn - 1
    if not replayed or all(one.name in FREE for one in developers):
        return developers
    return [one for one in developers if one.name != HISTORY]


def _agent_started(attempt: int, name: str, skipped: Sequence[SkippedAgent]) -> AgentStarted:
    """The event that an agent is asked; agents of the same name are numbered."""
    return AgentStarted(iteration=attempt, agent=name, nth=1 + sum(one.agent == name for one in skipped))


async def _open(context: Context, row: RunRow, state: RunState, attempt: int) -> AttemptStarted:
    """Record that the attempt begins, with what the error history knows for it."""
    known_errors = await guidance(context, row, state)
    phase = PhaseStarted(phase=Phase.IMPLEMENTATION, iteration=attempt)
    started = AttemptStarted(
        iteration=attempt,
        attempt=_number(state, attempt),
        of=row.spec.attempt_limit,
        guidance=_without_patches(known_errors),
        withheld=row.spec.policy.guidance_trial and is_withheld(row.id),
        muted=tuple(sorted(await context.stores.trials.muted(row.spec.place, known_errors))) if known_errors else (),
    )
    await context.stores.runs.append(row.id, [phase, started])
    return started


def _number(state: RunState, turn: int) -> int:
    """The number of the attempt to which that turn of the loop belongs."""
    return replace(state, attempt=turn).counted


def _without_patches(known_errors: Sequence[KnownError]) -> tuple[KnownError, ...]:
    """The known errors without their patches, which may be long and are in the history."""
    no_patch = {"patch": None}
    return tuple(
        known.model_copy(update={"resolution": known.resolution.model_copy(update=no_patch)}) for known in known_errors
    )


def no_change(
    context: Context, attempt: int, skipped: Sequence[SkippedAgent], before: Sequence[Reason] = ()
) -> ImplementationFailed:
    """The event of an attempt without a change. A refusal costs the attempt, and the next prompt names it. Without one
    the run ends, since the same agents would offer nothing new. `before` are the reasons of agents asked earlier."""
    refused = [one for one in skipped if one.refused]
    repeated = [one for one in skipped if one.repeated and one.agent not in FREE]
    over_budget = [one for one in skipped if one.over_budget]
    reasons = [one.reason for one in ([*refused, *repeated] if refused else over_budget or skipped)]
    reasons = reasons if refused or over_budget else [*before, *reasons]
    message = all_reasons(reasons) if reasons else make_reason("no_agent")
    failed = ImplementationFailed(
        iteration=attempt,
        reason=refused[-1].refused if refused else _ending(repeated=bool(repeated), over_budget=bool(over_budget)),
        message=message.map_text(context.mask),
        usage=_usage(skipped) if skipped else None,
    )
    return failed.model_copy(update={"agent": refused[-1].agent}) if refused else failed


def _ending(*, repeated: bool, over_budget: bool) -> str:
    """The stop reason where no change was proposed that could be refused."""
    if over_budget:
        return BUDGET
    return SAME_PATCH if repeated else NOTHING_OFFERED


async def make_task(
    context: Context, row: RunRow, state: RunState, tree: Tree, known_errors: Sequence[KnownError], turn: int
) -> AgentTask:
    language = context.language(row.spec.policy)
    failing = set(state.failing)
    known = [
        (error_guidance if not one.exact or one.error in failing else file_guidance)(one, language)
        for one in known_errors
    ]
    tried = state.made[-_PATCHES_SHOWN:]
    return AgentTask(
        run_id=row.id,
        attempt=_number(state, turn),
        max_attempts=row.spec.attempt_limit,
        task=row.spec.task,
        focus=state.focus,
        previous=state.validations,
        baseline=_before(state),
        style=fixable_findings(state),
        fingerprints=state.failing,
        failing_tests=state.reproduction.tests if state.reproduction else (),
        guidance=(
            *known,
            *leave_alone_guidance(state.left.values()),
            *_more_proof(row, state),
            *(t("en", "task.not_applied", why=english(one)) for one in state.rejections),
        ),
        failed_patches=tuple(await asyncio.gather(*(tree.diff(made.before, made.after) for made in tried))),
    )


def _before(state: RunState) -> Validation | None:
    """The checks before any change; those that fail with the test that was written first take the place of theirs."""
    if state.shows_fault is None or state.baseline is None:
        return state.baseline
    failing = {step.command: step for step in state.shows_fault.steps}
    steps = (failing.get(step.command, step) for step in state.baseline.steps)
    return state.baseline.model_copy(update={"passed": False, "steps": tuple(steps)})


def _more_proof(row: RunRow, state: RunState) -> tuple[str, ...]:
    """What an agent must add to a change with which all checks pass, where the repository demands more proof."""
    if state.proof is None or not falls_short(row.spec, state):
        return ()
    survivors = state.proof.mutants.survivors if state.proof.mutants else ()
    lines = [t("en", "task.more_proof", required=row.spec.policy.require_proof, level=state.proof.level)]
    return (*lines, *(t("en", "task.survivor", mutant=mutant) for mutant in survivors))


def ignored_files_note(gone: Sequence[str]) -> tuple[Reason, ...]:
    """A note on files that the agent made and git ignores; none without such files."""
    if not gone:
        return ()
    named = ", ".join(gone[:_PATHS_SHOWN]) + (", …" if gone[_PATHS_SHOWN:] else "")
    return (make_reason("note.left_out", paths=named),)


async def record_change(
    context: Context, row: RunRow, state: RunState, tree: Tree, taken: AcceptedChange, attempt: int
) -> None:
    """Record the change that is in the tree, of the attempt or of one of its candidates."""
    ref = f"refs/mendbot/runs/{row.id}/{attempt}{state.suffix}"
    _, whole = await asyncio.gather(tree.keep(taken.snapshot, ref), _paths(tree, state, taken))
    await asyncio.to_thread(touch_files, tree.path, taken.paths)
    patch = context.mask(taken.patch)
    applied = ChangesApplied(
        iteration=attempt,
        agent=taken.proposal.agent,
        paths=taken.paths,
        all_paths=tuple(sorted(whole)),
        snapshot=taken.snapshot,
        ref=ref,
        patch_hash=change_hash(row, taken.patch),
        tools=taken.proposal.tools,
        replays=taken.proposal.replays,
        usage=taken.usage,
        note=context.mask(english(taken.proposal.note)),
        notes=taken.notes,
        refusals=tuple(one.map_text(context.mask) for one in taken.refusals),
        diff=write_log(context.settings.home, row.id, f"attempt-{attempt}{state.suffix}.diff", patch.encode()),
    )
    if state.candidate:
        lines = sum(file.added + file.removed for file in changed_files(taken.patch))
        applied = applied.model_copy(update={"lines": lines})
    artifact = Artifact(
        id=f"{row.id}.implementation.{attempt}{state.suffix}",
        session_id=row.id,
        phase=Phase.IMPLEMENTATION,
        iteration=attempt,
        created_at=datetime.now(UTC),
        data={name: value for name, value in english_json(applied.data()).items() if name in _IN_ARTIFACT}
        | {"fallbacks": taken.fallbacks, "patch": patch[:MAX_PATCH]},
    )
    fresh: list[RunEvent] = [
        *(PatchFallbackApplied(iteration=attempt, path=path) for path in taken.fallbacks),
        applied,
        ArtifactCreated(phase=Phase.IMPLEMENTATION, iteration=attempt, artifact=artifact.id),
        ImplementationCompleted(iteration=attempt, agent=applied.agent),
    ]
    await context.stores.runs.append(row.id, fresh, [artifact])


async def _paths(tree: Tree, state: RunState, taken: AcceptedChange) -> Sequence[str]:
    """The paths that all attempts together have changed."""
    assert state.start is not None
    if state.snapshot == state.start:
        return taken.paths
    return [item.path for item in await tree.changed(state.start, taken.snapshot)]
