"""Makes a pull request of a tree that passes: review by the rules, commit, push, open. Each step can be repeated."""

from __future__ import annotations

from functools import partial

from bot.github.pulls import NoDrafts
from bot.logs import get_logger
from bot.model import Phase, PullRequestRef, RunView
from bot.model.events.phases import PackagingCompleted, PhaseFailed, PhaseStarted, ReviewCompleted
from bot.model.events.runs import CommitPushed
from bot.model.reasons import ExplainedStop
from bot.reports.runs.pull_request import commit_message, pull_body, pull_title
from bot.rules.patches.change_policy import check_changes
from bot.rules.reasons import make_reason
from bot.rules.runs.proof import is_proven
from bot.rules.runs.state import RunState
from bot.store.runs.runs import RunRow
from bot.workflows.context import Context
from bot.workflows.pushes.merge_conflicts import note_conflicts
from bot.workflows.pushes.push import push_commit
from bot.workflows.reporting.run_view import view_of
from bot.workflows.runs.begin import open_tree
from bot.workspace.git.diff import diff
from bot.workspace.git.tree import Tree

log = get_logger()


async def review(context: Context, row: RunRow, state: RunState) -> None:
    """Check the whole change against the policy; each attempt was checked alone before."""
    runs = context.stores.runs
    await runs.append(row.id, [PhaseStarted(phase=Phase.REVIEW)])
    tree = await open_tree(context, row, state)
    snapshot = await _without_set_up(tree, state)
    assert state.base_sha is not None
    changed = await tree.changed(state.base_sha, snapshot)
    refusal = check_changes(changed, row.spec.policy.protected_paths)
    stop = None
    if refusal is not None:
        stop = ExplainedStop.of(refusal.reason, refusal.because)
    elif not changed:
        stop = ExplainedStop.of("no_change", make_reason("no_change"))
    if stop is not None:
        await runs.append(row.id, [PhaseFailed.of(Phase.REVIEW, stop)])
        return
    await runs.append(row.id, [ReviewCompleted(snapshot=snapshot, paths=tuple(item.path for item in changed))])


async def _without_set_up(tree: Tree, state: RunState) -> str:
    """A snapshot of the base with the changes of the attempts, without the files that setup made."""
    assert state.base_sha is not None and state.start is not None and state.snapshot is not None
    if not await tree.changed(state.base_sha, state.start):
        return state.snapshot
    changed = [item.path for item in await tree.changed(state.start, state.snapshot)]
    await tree.restore(state.base_sha)
    await tree.restore(state.snapshot, changed)
    return await tree.snapshot()


async def package(context: Context, row: RunRow, state: RunState) -> None:
    """Commit, and deliver the commit: as a pull request, on the branch of the pull request that it fixes, or for a fork
    as a diff in the thread. A push that GitHub refuses ends the run with GitHub's reason.

    On a person's branch only a shown fix is pushed, or the diff that a person gave; any other change is offered."""
    runs, spec, view = context.stores.runs, row.spec, view_of(row, state)
    await runs.append(row.id, [PhaseStarted(phase=Phase.PACKAGING)])
    commit = await _commit(context, row, state, context.mask(commit_message(view)))
    if spec.pull is not None and (spec.pull.from_fork or (not is_proven(state) and not spec.given)):
        assert state.base_sha is not None
        offered = context.mask(await diff(context.mirror(spec.on_github), state.base_sha, commit))
        await runs.append(row.id, [PackagingCompleted(offered=offered)])
        return
    seen = await note_conflicts(context, row, commit) if spec.pull is None else ()
    refused = await push_commit(context, row, state, commit)
    if refused is not None:
        await runs.append(row.id, [PhaseFailed.of(Phase.PACKAGING, refused)])
        return
    await runs.append(row.id, [CommitPushed(commit=commit)])
    if spec.pull is not None:
        await runs.append(row.id, [PackagingCompleted(commit=commit)])
        return
    final_view = view.model_copy(update={"commit_sha": commit, "conflicts": seen})
    pull = await _open_pull(context, row, state, final_view)
    await runs.append(row.id, [PackagingCompleted(commit=commit, pull=pull)])


async def _open_pull(context: Context, row: RunRow, state: RunState, view: RunView) -> PullRequestRef:
    spec = row.spec
    language = context.language(spec.policy)
    assert state.branch is not None
    ensure = partial(
        context.github.repository(spec.on_github).ensure_pull,
        head=state.branch,
        base=spec.base_branch,
        body=context.mask(pull_body(view, language)),
    )
    if not is_proven(state):
        try:
            return await ensure(title=context.mask(pull_title(view, language)), draft=True)
        except NoDrafts as error:
            log.info("no_drafts", run=row.id, because=str(error))
    return await ensure(title=context.mask(pull_title(view, language, drafts=False)))


async def _commit(context: Context, row: RunRow, state: RunState, message: str) -> str:
    """The commit of the reviewed snapshot: the one made before a crash, or a new one."""
    assert state.base_sha is not None and state.snapshot is not None
    tree = await open_tree(context, row, state)
    head = await tree.head()
    if head != state.base_sha and not await tree.changed(head, state.snapshot):
        return head
    return await tree.commit(state.snapshot, message, await context.github.commit_author(row.spec.on_github))
