"""Publishes a fix of a pull request: the check run `mendbot / fix` at its head, and one comment."""

from __future__ import annotations

from bot.model import RunView
from bot.reports.pulls.check_output import cancel_button
from bot.reports.pulls.comment import fix_comment
from bot.reports.runs.check_output import check_output
from bot.rules.runs.state import RunState
from bot.store.runs.runs import RunRow
from bot.workflows.context import Context
from bot.workflows.reporting.publish_replies import publish_run_comment
from bot.workflows.reporting.publisher import CheckRunUpdate, publish_all, publish_check


async def publish_fix(context: Context, row: RunRow, state: RunState, view: RunView) -> None:
    """Bring both to this version of the run. Only the thread's newest run writes the comment."""
    pull, repo = row.spec.pull, row.spec.on_github
    assert pull is not None
    language = context.language(row.spec.policy)
    conclusion, output = check_output(view, "fix", language)
    over = view.status.final
    update = CheckRunUpdate(
        name="fix",
        sha=pull.head_sha,
        external_id=row.id,
        page_url=context.settings.run_page(row.id),
        status="completed" if over else "in_progress" if state.started_at else "queued",
        conclusion=conclusion if over else None,
        output=output,
        actions=() if over else (cancel_button(language),),
        started_at=state.started_at,
    )

    async def check() -> None:
        await publish_check(context, repo, update)

    async def comment() -> None:
        if await context.stores.runs.latest_of(repo, pull.number) == row.id:
            body = fix_comment(
                view, number=pull.number, from_fork=pull.from_fork, patch=state.offered, language=language
            )
            await publish_run_comment(context, row, pull.number, "fix", context.mask(body))

    await publish_all(row.id, [check, comment])
