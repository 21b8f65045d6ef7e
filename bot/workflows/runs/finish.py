"""Ends a run, for whatever reason: uncommitted changes are saved, the slot is freed, the end is recorded once."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from bot.agent.hook_bundle import remove_bundle
from bot.errors import MendbotError
from bot.logs import get_logger
from bot.model import Artifact, Loss, Phase, Status
from bot.model.events.phases import PhaseSkipped
from bot.model.events.runs import SessionFinished
from bot.model.reasons import ExplainedStop
from bot.reports.locale.reasons import english
from bot.rules.reasons import make_reason
from bot.rules.runs.proof import falls_short, is_proven
from bot.rules.runs.run_metadata import run_metadata
from bot.rules.runs.state import RunState
from bot.store.runs.runs import RunRow
from bot.workflows.agents.build_agents import kit_dir
from bot.workflows.context import Context, Loop
from bot.workflows.history.learn_from_runs import learn_from_run, record_trial
from bot.workflows.runs.begin import remove_candidate_trees
from bot.workflows.runs.local_tree import close_local
from bot.workspace.git.command import GitError
from bot.workspace.git.diff import diff
from bot.workspace.mirror import mirror as mirrors
from bot.workspace.worktree.run_worktree import remove_worktree
from bot.workspace.worktree.save_uncommitted import save_uncommitted

_MAX_DIFF_CHARS = 200_000
"""The limit of an unfinished change that is recorded; a comment shows fewer characters, and whole files only."""

log = get_logger()


@dataclass(frozen=True, slots=True)
class SavedWork:
    """The saved work that did not become a commit: a ref in the mirror, or the name of a log."""

    salvage_ref: str | None = None
    unfinished: str = ""
    """The difference of that ref to the run's first commit, masked; empty where it is over the limit."""
    diff: str | None = None
    loss: Loss | None = None
    """The changes that could not be saved."""


async def finish(context: Context, row: RunRow, state: RunState, status: Status, stop: ExplainedStop | None) -> None:
    """Learn from the run, save its uncommitted changes, record the final status with the reason, and remove its tree.

    The tree is removed last, since a large one takes long and the result need not wait for it. After a crash or a fault
    in between the cleanup removes it."""
    await learn_from_run(context, row, state)
    await record_trial(context, row, state, status)
    remove_bundle(kit_dir(context.settings, row.id))
    await record_end(context, row, state, status, stop, await save_work(context, row, state, status))
    context.wake[Loop.RUN_REPORTS].set()
    if row.spec.workspace is None:
        try:
            await remove_candidate_trees(context, row)
            await remove_tree(context.mirror(row.spec.on_github), context.tree_path(row))
        except (MendbotError, GitError, OSError) as error:
            log.warning("worktree_left", run=row.id, because=str(error))


async def record_end(
    context: Context, row: RunRow, state: RunState, status: Status, stop: ExplainedStop | None, left: SavedWork
) -> None:
    """Record the final status with the reason; phases that never came are skipped (REQ-RUN-002)."""
    skipped = [PhaseSkipped(phase=phase) for phase in (Phase.REVIEW, Phase.PACKAGING) if phase not in state.phases]
    ended = SessionFinished(
        status=status,
        stop=ExplainedStop.model_validate(stop.model_dump()) if stop else None,
        salvage_ref=left.salvage_ref,
        unfinished=left.unfinished,
        diff=left.diff,
        best_attempt=state.best_attempt,
        loss=left.loss,
    )
    if status is Status.SUCCESS:
        ended = ended.model_copy(update={"shown": is_proven(state)})
    if state.proof is not None:
        ended = ended.model_copy(update={"proof": state.proof.level})
    await context.stores.runs.append(row.id, [*skipped, ended], [_metadata(context, row, state, status, stop)])


def _metadata(context: Context, row: RunRow, state: RunState, status: Status, stop: ExplainedStop | None) -> Artifact:
    """The run metadata (`rules.runs.run_metadata`) as an artifact, which programs can read over HTTP."""
    details = context.mask(english(stop.details)) if stop else ""
    return Artifact(
        id=f"{row.id}.certificate",
        session_id=row.id,
        phase=Phase.REVIEW,
        created_at=datetime.now(UTC),
        data=run_metadata(row.id, row.spec, replace(state, finished=status, stop=stop), details).as_json(),
    )


async def save_work(context: Context, row: RunRow, state: RunState, status: Status) -> SavedWork:
    """Save the uncommitted changes; returns where, if there were any. A local session's tree is closed, too."""
    if row.spec.workspace is not None:
        return SavedWork(diff=await close_local(context, row, state, succeeded=status is Status.SUCCESS))
    mirror, ref = context.mirror(row.spec.on_github), f"refs/mendbot/salvage/{row.id}"
    loss = await _save_uncommitted(mirror, context.tree_path(row), ref)
    # git is asked, because a crash may have come between saving and recording
    saved = mirror.is_dir() and await mirrors.resolve(mirror, ref)
    if not saved:
        return SavedWork(loss=loss)
    return SavedWork(salvage_ref=ref, unfinished=await _unfinished(context, mirror, state, ref), loss=loss)


async def _unfinished(context: Context, mirror: Path, state: RunState, ref: str) -> str:
    """The change that a ref of the mirror holds, for readers without access to the mirror."""
    if state.base_sha is None:
        return ""
    try:
        text = await diff(mirror, state.base_sha, ref)
    except GitError as error:
        log.warning("unfinished_change_not_recorded", ref=ref, because=error.text)
        return ""
    return context.mask(text) if len(text) <= _MAX_DIFF_CHARS else ""


async def save_and_remove_tree(mirror: Path, path: Path, ref: str) -> Loss | None:
    """Save the uncommitted changes of a worktree at `ref`, and remove it with the run's own directory.

    Its slot is then free in any case; changes that could not be saved are logged and returned. Raises Transient where
    the machine lacks something, or where the directory cannot be deleted (its slot is free even then)."""
    loss = await _save_uncommitted(mirror, path, ref)
    await remove_tree(mirror, path)
    return loss


async def remove_tree(mirror: Path, path: Path) -> None:
    """Remove a worktree with the run's own directory. Raises Transient where it cannot be deleted; its slot is free
    even then."""
    await remove_worktree(mirror, path)
    with suppress(OSError):  # other files in it keep it
        path.parent.rmdir()


async def _save_uncommitted(mirror: Path, path: Path, ref: str) -> Loss | None:
    loss = await save_uncommitted(mirror, path, ref)
    if loss is not None:
        log.warning("change_lost", path=str(path), files=loss.files, more=loss.more, because=loss.because)
    return loss


async def finish_cancelled(context: Context, row: RunRow, state: RunState) -> None:
    """End a run that somebody asked to stop."""
    done = row.spec.workspace is not None and state.proof is not None and not falls_short(row.spec, state)
    if state.pull is not None or (done and state.passed):
        # the request came too late: the fix exists and is reported
        await finish(context, row, state, Status.SUCCESS, None)
        return
    because = row.cancel_because or make_reason("stop.asked")
    await finish(context, row, state, Status.CANCELLED, ExplainedStop.of("cancelled", because))
