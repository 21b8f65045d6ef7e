"""From a green tree to a pull request: review by the rules, commit, push, open. Each step finds what it did before."""

from __future__ import annotations

from bot.model import Phase, StopReason
from bot.reports.pull import commit_message, pull_body, pull_title
from bot.rules.course import RunState
from bot.rules.patches import check_changes
from bot.store.runs import Draft, RunRow
from bot.workflows.begin import open_tree
from bot.workflows.context import Context
from bot.workflows.view import view_of
from bot.workspace import mirror as mirrors
from bot.workspace.mirror import PushRejected


async def review(context: Context, row: RunRow, state: RunState) -> None:
    """Hold the whole change, base to green, against the policy once more; each attempt was held alone before."""
    runs = context.stores.runs
    await runs.append(row.id, [Draft(type="phase_started", key="review", phase=Phase.REVIEW)])
    tree = await open_tree(context, row, state)
    assert state.base_sha is not None and state.snapshot is not None
    changed = await tree.changed(state.base_sha, state.snapshot)
    refusal = check_changes(changed, row.spec.policy.protected_paths)
    stop = None
    if refusal is not None:
        stop = StopReason(reason=refusal.reason, details=refusal.message)
    elif not changed:
        stop = StopReason(reason="no_change", details="the attempts undid one another: the tree is as the base is")
    if stop is not None:
        await runs.append(
            row.id, [Draft(type="phase_failed", key="review_done", phase=Phase.REVIEW, data=stop.model_dump())]
        )
        return
    data = {"paths": [item.path for item in changed]}
    await runs.append(row.id, [Draft(type="phase_completed", key="review_done", phase=Phase.REVIEW, data=data)])


async def package(context: Context, row: RunRow, state: RunState) -> None:
    """Commit, push, open the pull request; a push that GitHub refuses ends the run with GitHub's reason."""
    runs, spec = context.stores.runs, row.spec
    await runs.append(row.id, [Draft(type="phase_started", key="packaging", phase=Phase.PACKAGING)])
    tree = await open_tree(context, row, state)
    assert state.base_sha is not None and state.snapshot is not None and state.branch is not None
    view = view_of(row, state)
    commit = await tree.head()
    if commit == state.base_sha:
        author = await context.github.commit_author(spec.repo)
        commit = await tree.commit(state.snapshot, commit_message(view), author)
    remote = await context.remote(spec.repo, write=True)
    try:
        await mirrors.push(context.mirror(spec.repo), commit, state.branch, remote)
    except PushRejected as error:
        refused = {"reason": "push_rejected", "details": context.mask(str(error))}
        await runs.append(
            row.id, [Draft(type="phase_failed", key="packaging_done", phase=Phase.PACKAGING, data=refused)]
        )
        return
    finally:
        if remote.token is not None:
            await context.github.revoke(spec.repo, remote.token)
    language = spec.policy.language or context.settings.language
    pull = await context.github.repository(spec.repo).ensure_pull(
        head=state.branch,
        base=spec.base_branch,
        title=pull_title(view),
        body=pull_body(view.model_copy(update={"commit_sha": commit}), language),
    )
    data = {"commit": commit, "pull": pull.model_dump()}
    await runs.append(row.id, [Draft(type="phase_completed", key="packaging_done", phase=Phase.PACKAGING, data=data)])
