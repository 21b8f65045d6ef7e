"""What a pull request is told of a fix that is made for it: the check run `mendbot / fix` at its head, one comment."""

from __future__ import annotations

from bot.model import RunView
from bot.reports.check_output import check_output
from bot.reports.pull_checks import cancel_button
from bot.reports.pull_comment import fix_comment
from bot.rules.run_state import RunState
from bot.store.runs import RunRow
from bot.workflows.context import Context
from bot.workflows.telling import CheckToTell, say_all, tell_check
from bot.workflows.told_replies import tell_run


async def tell_fix(context: Context, row: RunRow, state: RunState, view: RunView) -> None:
    """Bring both to this version of the run. The thread's comment is the newest run's to write."""
    pull, repo = row.spec.pull, row.spec.on_github
    assert pull is not None
    language = row.spec.policy.language or context.settings.language
    conclusion, output = check_output(view, "fix", language)
    over = view.status.final
    told = CheckToTell(
        name="fix",
        sha=pull.head_sha,
        external_id=row.id,
        status="completed" if over else "in_progress" if state.started_at else "queued",
        conclusion=conclusion if over else None,
        output=output,
        actions=() if over else (cancel_button(language),),
        started_at=state.started_at,
    )

    async def check() -> None:
        await tell_check(context, repo, told)

    async def comment() -> None:
        if await context.stores.runs.latest_of(repo, pull.number) == row.id:
            body = fix_comment(
                view, number=pull.number, from_fork=pull.from_fork, patch=state.offered, language=language
            )
            await tell_run(context, row, pull.number, "fix", context.mask(body))

    await say_all(row.id, [check, comment])
