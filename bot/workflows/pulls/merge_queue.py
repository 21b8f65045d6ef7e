"""Checks the commits of a merge queue as it checks heads of pull requests, so that the queue never waits for a required
check. Their branch is the repository's own, and only people with write access add to it."""

from __future__ import annotations

from collections.abc import Sequence

from bot.model import CHECK_ORDER, Repo
from bot.model.pulls import PullRequest
from bot.model.reasons import ExplainedStop, Reason
from bot.reports.pulls.unchecked_heads import awaiting_output
from bot.rules.pulls.check_spec import MERGE_GROUP
from bot.rules.reasons import make_reason
from bot.rules.triage.decisions import CheckMergeGroup, DropMergeGroup
from bot.store.runs.pull_runs import PullCheckRow
from bot.workflows.context import Context
from bot.workflows.installations.asked_first import is_asked_first
from bot.workflows.kernel import stop_run
from bot.workflows.pulls.await_approval import waiting_view
from bot.workflows.pulls.loop import PULL_CHECK
from bot.workflows.pulls.shared_heads import is_withdrawn
from bot.workflows.pulls.start_stop import CheckRequest, get_kept_checks, start_checks
from bot.workflows.repo_config import get_policy
from bot.workflows.reporting.publisher import CheckRunUpdate, publish_check
from bot.workspace.mirror.pull_refs import drop_head


async def check_merge_group(context: Context, wanted: CheckMergeGroup) -> Reason:
    """Check the commit unless its checks were begun before; returns the result. Where checks of pull requests are off
    or wait for a configuration, nothing is published."""
    repo, sha = wanted.repo, wanted.head_sha
    policy, _ = await get_policy(context, repo)
    if not policy.pull_requests.enabled:
        return make_reason("queue.off")
    if await is_asked_first(context, repo):
        return make_reason("unwanted.unconfigured")
    pull = PullRequest(
        number=MERGE_GROUP,
        head_sha=sha,
        head_ref=wanted.head_ref,
        head_repo=repo.full_name,
        base_ref=wanted.base_ref,
        base_sha=wanted.base_sha,
    )
    if context.sandbox.trusted_only:
        # the authors of the code in the group are unknown, and the queue must not wait for ever
        view = waiting_view(context, repo, pull)
        conclusion, output = awaiting_output(view, context.language(policy))
        for name in CHECK_ORDER:
            await publish_check(
                context, repo, CheckRunUpdate(name, sha, f"queue-{sha[:10]}", "completed", conclusion, output)
            )
        return make_reason("queue.no_sandbox")
    async with context.control.lock(f"head:{repo.full_name.lower()}@{sha}"):
        row = await context.stores.pulls.latest_of(repo, MERGE_GROUP, sha)
        if row is not None and not is_withdrawn(row):
            return make_reason("queue.already", sha=sha[:12])
        await start_checks(context, repo, pull, policy, CheckRequest(wanted.because))
    return wanted.because


async def drop_merge_group(context: Context, dropped: DropMergeGroup) -> Reason:
    """Stop the checks of a commit that was merged or left the queue, and drop its ref."""
    repo, sha = dropped.repo, dropped.head_sha
    for row in await context.stores.pulls.open_of(repo, MERGE_GROUP):
        if row.spec.head_sha == sha:
            await stop_run(context, PULL_CHECK, row, ExplainedStop.of("closed", dropped.because))
    mirror = context.mirror(repo)
    if mirror.is_dir():
        await drop_head(mirror, sha)
    return dropped.because


async def check_group_again(
    context: Context, repo: Repo, sha: str, because: Reason, only: Sequence[str] = ()
) -> Reason | None:
    """Re-run all checks of a merge queue's commit, or those in `only`; None where the commit was never checked."""
    row = await context.stores.pulls.latest_of(repo, MERGE_GROUP, sha)
    if row is None:
        return None
    kept = await get_kept_checks(context, row, only) if only else ()
    policy, _ = await get_policy(context, repo)
    run_id = await start_checks(context, repo, _pull_of(row), policy, CheckRequest(because, only, kept, asked=True))
    return make_reason("checks.again" if run_id else "checks.running", sha=sha[:12])


def _pull_of(row: PullCheckRow) -> PullRequest:
    spec = row.spec
    return PullRequest(
        number=MERGE_GROUP,
        head_sha=spec.head_sha,
        head_ref=spec.head_ref,
        head_repo=spec.head_repo,
        base_ref=spec.base_ref,
        base_sha=spec.base_sha,
    )
