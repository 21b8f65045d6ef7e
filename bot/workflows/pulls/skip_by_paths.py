"""Reports on a head that changes no path of `pull_requests.paths`: its check runs show that they are skipped. A branch
rule that requires them would otherwise wait for ever."""

from __future__ import annotations

from bot.config import Policy
from bot.model import CHECK_ORDER, Repo
from bot.model.pulls import PullRequest
from bot.reports.pulls.unchecked_heads import filtered_output
from bot.workflows.context import Context
from bot.workflows.pulls.await_approval import waiting_view
from bot.workflows.reporting.publisher import CheckRunUpdate, publish_check


async def publish_filtered(context: Context, repo: Repo, pull: PullRequest, policy: Policy) -> None:
    """Publish at this head that nothing runs, and why. A repeated call costs no request."""
    view = waiting_view(context, repo, pull).model_copy(update={"stop": None})
    conclusion, output = filtered_output(view, context.language(policy))
    run_id = f"filtered-{pull.head_sha[:10]}"
    for name in CHECK_ORDER:
        await publish_check(context, repo, CheckRunUpdate(name, pull.head_sha, run_id, "completed", conclusion, output))
