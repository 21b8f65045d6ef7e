"""A head that changes nothing of what `pull_requests.paths` names: its checks say that they are skipped, for a branch
whose rules require them would else wait for ever."""

from __future__ import annotations

from bot.config import Policy
from bot.model import CHECK_ORDER, Repo
from bot.model.pulls import PullRequest
from bot.reports.pulls.unchecked_heads import filtered_output
from bot.workflows.context import Context
from bot.workflows.pulls.await_approval import waiting_view
from bot.workflows.reporting.publisher import CheckRunUpdate, publish_check


async def publish_filtered(context: Context, repo: Repo, pull: PullRequest, policy: Policy) -> None:
    """Say at this head that nothing is run, and why; said before, it costs nothing."""
    view = waiting_view(context, repo, pull).model_copy(update={"stop": None})
    conclusion, output = filtered_output(view, context.language(policy))
    run_id = f"filtered-{pull.head_sha[:10]}"
    for name in CHECK_ORDER:
        await publish_check(context, repo, CheckRunUpdate(name, pull.head_sha, run_id, "completed", conclusion, output))
