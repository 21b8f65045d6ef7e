"""Starts a run: updates the mirror, makes a branch and a worktree, chooses the checks, and sets the project up."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path

from bot.agent.planner import named_files
from bot.errors import Transient
from bot.model.events.phases import PlanningStarted
from bot.model.events.runs import SessionStarted, SetupCompleted, SetupFailed, SetupStarted
from bot.model.reasons import Reason
from bot.reports.locale.reasons import english, refused, user_error
from bot.rules.reasons import make_reason
from bot.rules.runs.state import RunState
from bot.store.runs.runs import RunRow
from bot.workflows.checks.altered_files import MAX_RESTORED
from bot.workflows.checks.checks_to_run import built_first, get_stages
from bot.workflows.checks.setup import SetupResult, get_cache, plan_text, planned_steps, run_setup
from bot.workflows.context import Context, Loop
from bot.workflows.git_transfer import transfer
from bot.workflows.runs.local_tree import open_local
from bot.workflows.runs.setup_local import set_up_in_place
from bot.workspace.checks.logs import write_log
from bot.workspace.git.tree import Tree
from bot.workspace.mirror import mirror as mirrors
from bot.workspace.mirror.pull_refs import fetch_head
from bot.workspace.sandbox.bubblewrap import SandboxGrant
from bot.workspace.setup.plan import plan_setup
from bot.workspace.worktree.detached import ensure_detached
from bot.workspace.worktree.run_worktree import SlotsFull, ensure_worktree, remove_worktree, reopen_worktree

SLOT_POLL_S = 1.0
_SLOT_POLLS = 600
_GENERATIONS = 99
CANDIDATE_TREE = "candidate-"
"""The beginning of the names of the trees of candidates."""
_READY = "mendbot-ready"
"""A file in the worktree's git directory: setup has run there, and the files are those of the run's last event."""


class PathsTaken(Transient):
    """Another open group changes a file that this group is about; the reason names both."""


async def begin_run(context: Context, row: RunRow) -> None:
    """Bring the mirror up to date, take a branch and a worktree, and record what the run starts from.

    The run counts as started when it has its worktree: what it waited before, for GitHub, for another group or for a
    slot, is not its time (REQ-STOP-001)."""
    spec, runs = row.spec, context.stores.runs
    mirror = context.mirror(spec.on_github)
    await mirrors.ensure_mirror(mirror)
    tracking = f"refs/remotes/origin/{spec.base_branch}"
    # a run that waits for another group tries again every second, without a request to GitHub each time
    await _check_claims(context, row, await _focus(mirror, row, tracking), dict(context.control.claims))
    await transfer(context, spec.on_github, partial(mirrors.fetch, mirror), write=False)
    start = await _start(context, row, mirror, tracking)
    focus = await _focus(mirror, row, start)
    async with _claim(context, row, focus):
        branch = await _branch(context, row, mirror)
        tree = await _worktree(context, row, branch, start)
        plan = await asyncio.to_thread(plan_setup, tree.path, focus, configured=spec.policy.setup)
        planning = PlanningStarted(
            base_sha=await tree.head(),
            branch=branch,
            sandbox=context.sandbox.description,
            snapshot=await tree.snapshot(),
            stages=get_stages(spec, tree.path, focus),
            focus=focus,
            setup=plan,
        )
        await runs.append(row.id, [SessionStarted(task=spec.task[:2000]), planning])


async def _start(context: Context, row: RunRow, mirror: Path, tracking: str) -> str:
    """The commit that the run works on: the head of its pull request, by its id and no other (T11), or the base
    branch's."""
    spec = row.spec
    if spec.pull is not None:
        fetch = partial(fetch_head, mirror, spec.pull.number, spec.pull.head_sha)
        await transfer(context, spec.on_github, fetch, write=False)
        return spec.pull.head_sha
    start = await mirrors.resolve(mirror, tracking)
    if start is None:
        raise user_error(make_reason("refused.no_base", branch=spec.base_branch, repo=spec.place))
    return start


async def _focus(mirror: Path, row: RunRow, rev: str) -> tuple[str, ...]:
    """The repository's files at `rev` that the task names; none where there is no such commit."""
    return named_files(row.spec.task, await mirrors.list_files(mirror, rev))


@asynccontextmanager
async def _claim(context: Context, row: RunRow, focus: Sequence[str]) -> AsyncIterator[None]:
    """Claim the files that the task names until the run has begun and its events name them; raises PathsTaken as
    `_check_claims` does."""
    claims = context.control.claims
    # of two that begin at once the one that claims first goes first: the other sees its claim or, where that has been
    # released, its events, which are read only now
    earlier = dict(claims)
    claims[row.id] = frozenset(focus)
    try:
        await _check_claims(context, row, focus, earlier)
        yield
    finally:
        del claims[row.id]


async def _check_claims(
    context: Context, row: RunRow, focus: Sequence[str], claims: Mapping[str, frozenset[str]]
) -> None:
    """Raises PathsTaken where another open group of the repository works on one of these files, or has claimed it: two
    groups that change one file would end in two pull requests of which one conflicts."""
    for other in await context.stores.runs.open_in(row.spec.place):
        if other.id == row.id or other.cancel_because is not None:
            continue
        state = await context.stores.runs.state(other.id)
        theirs = claims.get(other.id, frozenset()) | {*state.focus, *state.changed_paths}
        if shared := sorted(theirs.intersection(focus)):
            numbers = ", ".join(f"#{number}" for number in other.spec.threads) or other.id
            because = make_reason("wait.paths", issues=numbers, paths=", ".join(f"`{path}`" for path in shared[:3]))
            raise PathsTaken(english(because), because=because)


async def _branch(context: Context, row: RunRow, mirror: Path) -> str:
    taken = await mirrors.branches(mirror)
    wanted = row.spec.suggested_branch
    names = [wanted, *(f"{wanted}-r{generation}" for generation in range(2, _GENERATIONS))]
    free = [name for name in names if name not in taken]
    branch = await context.stores.runs.claim_branch(row.id, row.spec.place, free)
    if branch is None:
        raise user_error(make_reason("refused.branches", first=wanted, last=names[-1]))
    return branch


async def _worktree(context: Context, row: RunRow, branch: str, start: str) -> Tree:
    """The run's worktree as soon as a slot is free; raises SlotsFull after ten minutes, to be asked again."""
    make = partial(
        ensure_worktree,
        context.mirror(row.spec.on_github),
        context.tree_path(row),
        branch,
        start,
        context.max_worktrees(row.spec),
    )
    for _ in range(_SLOT_POLLS):
        try:
            return await make()
        except SlotsFull:
            await context.stores.runs.wait_for(row.id, slot_wait(context, row))
            context.wake[Loop.RUN_REPORTS].set()
            await asyncio.sleep(SLOT_POLL_S)  # another process may free a slot, so no event of this one announces it
    return await make()


def slot_wait(context: Context, row: RunRow) -> Reason:
    """Why a run waits that found no free slot."""
    return make_reason("wait.slot", limit=context.max_worktrees(row.spec))


async def open_tree(context: Context, row: RunRow, state: RunState) -> Tree:
    """The run's tree as its last event left it. A missing tree is made again, with setup and the changes of the
    attempts. After a crash in between it is not marked as ready, so the next call makes it again."""
    if row.spec.workspace is not None:
        return open_local(context, row)
    if state.candidate:
        return await _open_candidate_tree(context, row, state)
    assert state.base_sha is not None and state.branch is not None and state.snapshot is not None
    mirror, path = context.mirror(row.spec.on_github), context.tree_path(row)
    tree = await ensure_worktree(mirror, path, state.branch, state.base_sha, context.max_worktrees(row.spec))
    ready = tree.git_dir / _READY
    if not ready.exists():
        if state.set_up:
            await _set_up_again(context, row, state, tree)
        await tree.restore(state.snapshot)
        ready.touch()
    return tree


async def _open_candidate_tree(context: Context, row: RunRow, state: RunState) -> Tree:
    """The candidate's own tree beside the run's, on no branch, so that it takes no slot (spec G.6)."""
    assert state.base_sha is not None and state.snapshot is not None
    mirror, path = context.mirror(row.spec.on_github), _candidate_tree(context.tree_path(row), state.candidate)
    tree = await reopen_worktree(mirror, path)
    if tree is not None and (tree.git_dir / _READY).exists():
        return tree
    await remove_worktree(mirror, path)
    tree = await ensure_detached(mirror, path, state.base_sha)
    if state.set_up:
        await _set_up_again(context, row, state, tree)
    await tree.restore(state.snapshot)
    (tree.git_dir / _READY).touch()
    return tree


def _candidate_tree(of_run: Path, number: int | str) -> Path:
    return of_run.parent / f"{CANDIDATE_TREE}{number}"


async def remove_candidate_trees(context: Context, row: RunRow) -> None:
    """Remove the trees of candidates; their changes are in the mirror, at a ref each."""
    if row.spec.workspace is None:
        pattern = _candidate_tree(context.tree_path(row), "*")
        for path in sorted(pattern.parent.glob(pattern.name)):
            await remove_worktree(context.mirror(row.spec.on_github), path)


def grant_for_run(context: Context, row: RunRow) -> SandboxGrant:
    """A sandboxed command of a run may read the mirror that the tree's `.git` file names, beside the tree."""
    return SandboxGrant(read_only=() if row.spec.repo is None else (context.mirror(row.spec.repo),))


async def set_up(context: Context, row: RunRow, state: RunState) -> None:
    """Run the setup plan; the checks are chosen after it, with what it installed."""
    tree, plan = await open_tree(context, row, state), state.plan
    text, runs = plan_text(plan, context.mask), context.stores.runs
    await runs.append(row.id, [SetupStarted(command=text, steps=planned_steps(plan, context.mask))])
    done = await _run_plan(context, row, state, tree)
    ended = partial(
        SetupCompleted if done.failed is None else partial(SetupFailed, details=done.failed),
        command=text,
        steps=done.steps,
        exit_code=done.exit_code,
        duration_ms=done.duration_ms,
        log=write_log(context.settings.home, row.id, "setup.log", done.log.encode()),
        snapshot=done.snapshot,
        restored=done.restored[:MAX_RESTORED],
    )
    stages = state.stages
    if done.failed is None:
        stages = built_first(get_stages(row.spec, tree.path, state.focus), plan, done.steps)
    await runs.append(row.id, [ended(stages=stages)])


async def _set_up_again(context: Context, row: RunRow, state: RunState, tree: Tree) -> None:
    done = await _run_plan(context, row, state, tree)
    if done.failed is not None:
        raise refused("setup_failed", make_reason("worktree.again", why=done.failed))


async def _run_plan(context: Context, row: RunRow, state: RunState, tree: Tree) -> SetupResult:
    spec, base = row.spec, state.base_sha
    assert base is not None
    grant, plan = grant_for_run(context, row), state.plan
    if spec.repo is None:
        return await set_up_in_place(context, row, state, tree, plan)
    head = spec.pull.head_sha if spec.pull is not None else base
    cache = await get_cache(context, spec.repo, None if spec.pull is not None else spec.base_branch, head)
    return await run_setup(context, plan, tree, base, grant=grant, cache=cache)
