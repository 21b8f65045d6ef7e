"""What GitHub is told of a run: one comment per issue, the labels, the check runs on the pushed commit."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from bot.model import CHECK_ORDER, Repo, RunView, Status
from bot.reports.check_output import check_output
from bot.reports.comment import issue_comment
from bot.rules.course import fold
from bot.store.reports import Told
from bot.store.runs import RunRow
from bot.workflows.ask_review import ask_review
from bot.workflows.context import Context
from bot.workflows.memory import with_memory
from bot.workflows.pulls.tell_fix import tell_fix
from bot.workflows.telling import CheckToTell, Saying, Telling, say_all, tell_check
from bot.workflows.told_replies import tell_run
from bot.workflows.view import view_of

PROCESSING, DONE, FAILED = "auto-fix-processing", "auto-fix-done", "auto-fix-failed"
CHECKS = ("fix", *CHECK_ORDER)
_LABELS: Mapping[Status, str | None] = {
    Status.QUEUED: PROCESSING,
    Status.RUNNING: PROCESSING,
    Status.SUCCESS: DONE,
    Status.FAILED: FAILED,
    Status.CANCELLED: None,
}


async def report_loop(context: Context) -> None:
    """Keep GitHub up to date with every run."""
    await Telling("report", context.stores.runs, partial(publish, context), context.wake["report"]).loop()


async def publish(context: Context, row: RunRow) -> None:
    """Bring GitHub to this version of the run: check runs first, then comments, then labels.

    A thread that has a newer run by now is that run's to tell of."""
    state = fold(await context.stores.runs.events(row.id))
    language = row.spec.policy.language or context.settings.language
    view = await with_memory(context, row, state, view_of(row, state, language=language))
    repo = row.spec.on_github
    sayings: list[Saying] = []
    if view.commit_sha is not None and view.status is Status.SUCCESS:
        sayings += [partial(_tell_check, context, row, view, check) for check in CHECKS]
    if row.spec.pull is not None:
        await say_all(row.id, [*sayings, partial(tell_fix, context, row, state, view)])
        return
    body = context.mask(issue_comment(view, language))
    runs = context.stores.runs
    ours = [issue.number for issue in row.spec.issues if await runs.latest_of(repo, issue.number) == row.id]
    sayings += [partial(tell_run, context, row, number, "issue", body) for number in ours]
    if view.status is Status.SUCCESS:
        sayings.append(partial(ask_review, context, row, view))
    sayings += [partial(_tell_labels, context, repo, number, _label(view)) for number in ours]
    await say_all(row.id, sayings)


async def _tell_check(context: Context, row: RunRow, view: RunView, check: str) -> None:
    assert view.commit_sha is not None
    conclusion, output = check_output(view, check, row.spec.policy.language or context.settings.language)
    told = CheckToTell(check, view.commit_sha, view.run_id, "completed", conclusion, output)
    await tell_check(context, row.spec.on_github, told)


def _label(view: RunView) -> str | None:
    """The status label; none for a change of which nothing shows that it is a fix."""
    return _LABELS[view.status] if view.status is not Status.SUCCESS or view.proof == "shown" else None


async def _tell_labels(context: Context, repo: Repo, number: int, wanted: str | None) -> None:
    client = context.github.repository(repo)
    target, now = f"labels:{number}", wanted or "none"
    told = await context.stores.reports.told(repo, target)
    if told is not None and told.digest == now:
        return
    present = {label.casefold() for label in (await client.issue(number)).labels}
    for label in (PROCESSING, DONE, FAILED):
        if label != wanted and label in present:
            await client.remove_label(number, label)
    if wanted is not None and wanted not in present:
        await client.add_labels(number, [wanted])
    await context.stores.reports.tell(repo, target, Told(github_id=None, digest=now))
