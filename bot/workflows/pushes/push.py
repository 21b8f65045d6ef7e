"""Pushes a run's commit to a branch of its own, or forward onto the branch of the pull request that it fixes. The push
is recorded before, so that its own event starts nothing (T13)."""

from __future__ import annotations

from functools import partial

from bot.model.reasons import ExplainedStop
from bot.rules.reasons import quoted
from bot.rules.runs.state import RunState
from bot.store.database.database import now_ms
from bot.store.runs.runs import RunRow
from bot.workflows.context import Context
from bot.workflows.git_transfer import transfer
from bot.workflows.pushes.push_limits import push_limit_reached
from bot.workspace.mirror import mirror as mirrors
from bot.workspace.mirror.mirror import PushRejected
from bot.workspace.mirror.pull_refs import push_onto


async def push_commit(context: Context, row: RunRow, state: RunState, commit: str) -> ExplainedStop | None:
    """Push the run's commit; None once it is there, else why the run ends.

    Raises Stale where the pull request's branch has moved on meanwhile: nothing is ever forced (T23)."""
    spec, threads = row.spec, context.stores.threads
    repo, mirror = spec.on_github, context.mirror(spec.on_github)
    assert state.branch is not None
    if spec.pull is None:
        push = partial(mirrors.push, mirror, commit, state.branch)
        number = None
    else:
        number = spec.pull.number
        if await threads.pushed_by(repo, commit) is None:
            limit = await push_limit_reached(context, repo, number)
            if limit is not None:
                return ExplainedStop(reason="push_limit", details=limit.reason())
        default = await context.github.repository(repo).default_branch()
        forbidden = frozenset({spec.base_branch, default})
        push = partial(push_onto, mirror, commit, spec.pull.head_ref, spec.pull.head_sha, forbidden=forbidden)
    await threads.pushed(repo, commit, run_id=row.id, number=number, at_ms=now_ms())
    try:
        await transfer(context, repo, push, write=True)
    except PushRejected as error:
        return ExplainedStop(reason="push_rejected", details=quoted(context.mask(str(error))))
    return None
