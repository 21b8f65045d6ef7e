"""Reports on a head that awaits approval: its check runs show that they wait, and one comment names who may approve."""

from __future__ import annotations

from bot.config import Policy
from bot.model import CHECK_ORDER, Repo
from bot.model.pulls import PullCheckReport, PullRequest
from bot.model.reasons import ExplainedStop
from bot.reports.commands.replies import done_reply
from bot.reports.pulls.comment import pull_comment
from bot.reports.pulls.unchecked_heads import AWAITING, NO_SANDBOX, awaiting_output
from bot.rules.pulls.eligibility import from_fork
from bot.rules.reasons import make_reason
from bot.workflows.context import Context
from bot.workflows.reporting.publisher import CheckRunUpdate, publish_all, publish_check, publish_comment


async def publish_awaiting(context: Context, repo: Repo, pull: PullRequest, policy: Policy) -> None:
    """Publish at this head that its checks wait, and in the thread how to approve them. A repeated call costs no
    request."""
    view = waiting_view(context, repo, pull)
    language = context.language(policy)
    conclusion, output = awaiting_output(view, language)
    waiting = f"waiting-{pull.head_sha[:10]}"
    for name in CHECK_ORDER:
        await publish_check(
            context, repo, CheckRunUpdate(name, pull.head_sha, waiting, "completed", conclusion, output)
        )
    body = pull_comment(view, language)
    if body is not None:
        await publish_comment(context, repo, pull.number, "checks", context.mask(body))


async def publish_approved(context: Context, repo: Repo, pull: PullRequest, policy: Policy) -> None:
    """Update the comment that asked for an approval once there is one; without such a comment do nothing."""
    asked = await context.stores.reports.published(repo, f"comment:{pull.number}:checks")
    if asked is None or await context.stores.approvals.approved(repo, pull.number, pull.head_sha) is None:
        return
    body = done_reply("ok-to-test", {"sha": pull.head_sha}, context.language(policy))

    async def update() -> None:
        await publish_comment(context, repo, pull.number, "checks", body)

    await publish_all(f"#{pull.number}", [update])


def waiting_view(context: Context, repo: Repo, pull: PullRequest) -> PullCheckReport:
    """The report on a pull request whose head waits; no run of checks belongs to it."""
    return PullCheckReport(
        run_id="",
        repo=repo.full_name,
        github_url=context.settings.github_url.rstrip("/"),
        number=pull.number,
        title=context.mask(pull.title),
        author=pull.author,
        head_sha=pull.head_sha,
        from_fork=from_fork(pull, repo.full_name),
        status="done",
        stop=ExplainedStop.of(AWAITING, make_reason(NO_SANDBOX if context.sandbox.trusted_only else "pull.waits")),
    )
