"""Asks for several changes in one attempt, one after the other, judges each by its checks, and takes the best.

One at a time: two checks at once would slow each other, so that limits are exceeded and tests turn flaky, and each step
stays one effect that a crash repeats alone."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace

from bot.model import Phase, RunEvent
from bot.model.events.runs import AgentStarted, ChangesApplied
from bot.model.events.tournament import CandidateChosen, CandidateFailed
from bot.model.reasons import Reason
from bot.rules.runs.fold import fold_into
from bot.rules.runs.next_action import Choose, JudgeCandidate, Propose, Validate
from bot.rules.runs.state import RunState
from bot.rules.runs.tournament import Candidate, Tournament
from bot.store.runs.runs import RunRow
from bot.workflows.agents.ask_agents import AcceptedChange, SkippedAgent, ask
from bot.workflows.agents.usage import agent_ended
from bot.workflows.context import Context
from bot.workflows.history.learn_from_runs import judge_guidance
from bot.workflows.runs.begin import open_tree, remove_candidate_trees
from bot.workflows.runs.implement import coding_agents, ignored_files_note, make_task, no_change, record_change
from bot.workflows.runs.local_tree import save_edits
from bot.workflows.runs.prove import prove
from bot.workflows.runs.validate import validate
from bot.workspace.checks.logs import read_log, write_log
from bot.workspace.files.nofollow import touch_files
from bot.workspace.git.tree import Tree
from bot.workspace.worktree.untracked_files import StartingTree


async def propose(context: Context, row: RunRow, state: RunState, action: Propose) -> None:
    """Ask the agent for a change in a tree of its own, and record the change or why there is none.

    A session in a person's directory works in that directory, which is restored before: only there are the packages
    that its checks need."""
    assert state.snapshot is not None and state.tournament is not None
    number, attempt = action.candidate, action.attempt
    developer = coding_agents(context.developers(row))[action.agent]
    started = AgentStarted(iteration=attempt, agent=developer.name, nth=number, candidate=number)
    await context.stores.runs.append(row.id, [started])
    await remove_candidate_trees(context, row)
    own = replace(state, candidate=number)
    tree = await open_tree(context, row, own)
    await _save_edits(context, row, state, tree)
    task = await make_task(context, row, state, tree, state.briefed, attempt)
    task = task.model_copy(update={"candidate": number, "candidates": state.tournament.wanted})
    begin = await StartingTree.of(tree, state.snapshot, own=row.spec.workspace is None)
    answer = await ask(context, row, own, developer, task, tree)
    called = agent_ended(Phase.IMPLEMENTATION, attempt, developer.name, answer.usage)
    await context.stores.runs.append(row.id, [called])
    if isinstance(answer, AcceptedChange):
        notes = (*answer.notes, *ignored_files_note(await begin.delete_new(answer.snapshot)))
        inner = _of_candidate(context, attempt, number)
        await record_change(inner, row, own, tree, replace(answer, notes=notes), attempt)
        return
    await begin.restore()
    failed = CandidateFailed(
        iteration=attempt,
        candidate=number,
        agent=answer.agent,
        reason=answer.why.map_text(context.mask),
        refused=answer.refused,
        repeated=answer.repeated,
        same_as=answer.same_as,
        usage=answer.usage,
        over_budget=answer.over_budget,
    )
    await context.stores.runs.append(row.id, [failed])


async def judge(context: Context, row: RunRow, state: RunState, action: JudgeCandidate) -> None:
    """Run the next check of the candidate, or collect evidence for it, as for the change of an attempt."""
    assert state.tournament is not None and state.tournament.present is not None
    own = state.tournament.present.state
    assert own is not None
    inner = _of_candidate(context, action.action.attempt, action.candidate)
    if isinstance(action.action, Validate):
        await validate(inner, row, own, action.action)
    else:
        await prove(inner, row, own, action.action)


async def choose(context: Context, row: RunRow, state: RunState, action: Choose) -> None:
    """Put the best candidate's change into the run's tree, and record what came of all of them.

    Its events are written again as those of the attempt, so its checks need not run again."""
    tournament, attempt = state.tournament, action.attempt
    assert tournament is not None
    winner = tournament.winner()
    await remove_candidate_trees(context, row)
    tree = await open_tree(context, row, state)
    await _save_edits(context, row, state, tree)
    chosen = CandidateChosen(iteration=attempt, winner=winner.number if winner else None, results=tournament.results())
    fresh: list[RunEvent] = [chosen]
    if winner is None or winner.state is None:
        fresh.append(no_change(context, attempt, _skipped(tournament), tournament.reasons))
    else:
        fresh += _as_attempt(context, row, tournament, winner)
    after = fold_into(state, fresh)
    assert after.snapshot is not None
    await tree.restore(after.snapshot)
    if winner is not None and winner.state is not None:
        await asyncio.to_thread(touch_files, tree.path, winner.state.changed_paths)
        steps = winner.state.validations[-1].steps
        passed = winner.state.passed and not any(step.flaky for step in steps)
        await judge_guidance(context, state, passed=passed)
    await context.stores.runs.append(row.id, fresh)


def _of_candidate(context: Context, attempt: int, number: int) -> Context:
    """The context in which every event that is appended is one of that candidate."""
    runs = context.stores.runs.of_candidate(attempt, number)
    return replace(context, stores=replace(context.stores, runs=runs))


async def _save_edits(context: Context, row: RunRow, state: RunState, tree: Tree) -> None:
    """Save what a person changed in their own tree while the latest candidate was in it."""
    if row.spec.workspace is None:
        return
    present = state.tournament.present if state.tournament is not None else None
    await save_edits(context, row, present.state if present and present.state else state, tree)


def _skipped(tournament: Tournament) -> Sequence[SkippedAgent]:
    """The agents' answers where none made a change."""
    return [
        SkippedAgent(
            one.agent,
            one.reason,
            repeated=one.repeated,
            refused=one.refused,
            usage=one.usage,
            over_budget=one.over_budget,
        )
        for one in (candidate.failure for candidate in tournament.candidates)
        if one is not None
    ]


def _as_attempt(context: Context, row: RunRow, tournament: Tournament, winner: Candidate) -> Sequence[RunEvent]:
    """The winner's events as those of the attempt, whose usage is that of all candidates."""
    refusals = [one.reason for one in _skipped(tournament) if one.refused]
    return [_of_attempt(context, row, tournament, event, refusals) for event in winner.events]


def _of_attempt(
    context: Context, row: RunRow, tournament: Tournament, event: RunEvent, refusals: Sequence[Reason]
) -> RunEvent:
    if not isinstance(event, ChangesApplied):
        return event
    home, name = context.settings.home, f"attempt-{event.iteration}.diff"
    write_log(home, row.id, name, read_log(home, row.id, event.diff) or b"")
    more = {"usage": tournament.usage, "refusals": (*event.refusals, *refusals), "diff": name}
    return event.model_copy(update=more)
