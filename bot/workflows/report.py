"""What GitHub is told of a run: one comment per issue, the labels, the check runs on the pushed commit.

Reports are reconciled, not sent: the newest state is compared with what was last told, so a burst of changes
becomes one edit, the loop never waits for GitHub, and after a crash the telling goes on where it stopped."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial
from hashlib import sha256

import structlog

from bot.errors import Stale, Transient, UserError
from bot.github.client import RepositoryClient
from bot.model import CHECK_ORDER, Language, Repo, RunView, Status
from bot.reports.check_output import check_output
from bot.reports.comment import issue_comment
from bot.rules.course import fold
from bot.store.reports import Told
from bot.store.runs import RunRow
from bot.workflows.context import Context
from bot.workflows.runner import persistently
from bot.workflows.view import view_of

IDLE_S = 10.0
FIRST_RETRY_S = 2.0
LONGEST_RETRY_S = 120.0
PROCESSING, DONE, FAILED = "auto-fix-processing", "auto-fix-done", "auto-fix-failed"
Saying = Callable[[], Awaitable[None]]
CHECKS = ("fix", *CHECK_ORDER)
_LABELS: Mapping[Status, str | None] = {
    Status.QUEUED: PROCESSING,
    Status.RUNNING: PROCESSING,
    Status.SUCCESS: DONE,
    Status.FAILED: FAILED,
    Status.CANCELLED: None,
}

log = structlog.get_logger()


async def report_loop(context: Context) -> None:
    """Keep GitHub up to date with every run; one run's trouble never holds up another's."""
    await persistently("report", partial(_report_all, context, {}))


async def _report_all(context: Context, under_way: dict[str, asyncio.Task[None]]) -> None:
    wake = context.wake["report"]
    while True:
        wake.clear()
        for run_id in await context.stores.runs.unreported():
            if run_id not in under_way:
                task = asyncio.create_task(_keep_told(context, run_id))
                under_way[run_id] = task
                task.add_done_callback(partial(_ended, under_way, run_id, wake))
        try:
            async with asyncio.timeout(IDLE_S):
                await wake.wait()
        except TimeoutError:
            continue


def _ended(
    under_way: dict[str, asyncio.Task[None]], run_id: str, wake: asyncio.Event, task: asyncio.Task[None]
) -> None:
    del under_way[run_id]
    if task.cancelled() or (error := task.exception()) is None:
        wake.set()
    else:  # the database could not be read or written: looked at again when idle
        log.warning("report_failed", run=run_id, because=str(error))


async def _keep_told(context: Context, run_id: str) -> None:
    wait_s = FIRST_RETRY_S
    while True:
        row = await context.stores.runs.get(run_id)
        if row is None or row.reported >= row.version:
            return
        try:
            await publish(context, row)
        except Transient as error:
            log.info("report_waits", run=run_id, because=str(error))
            await asyncio.sleep(max(wait_s, error.retry_after_s or 0.0))
            wait_s = min(wait_s * 2, LONGEST_RETRY_S)
            continue
        except Exception:
            log.exception("report_bug", run=run_id)
        await context.stores.runs.reported(run_id, row.version)


async def publish(context: Context, row: RunRow) -> None:
    """Bring GitHub to this version of the run: check runs first, then comments, then labels.

    An issue that has a newer run by now is that run's to tell of. What GitHub refuses in one place (the issue is gone,
    its conversation locked) is not missing in the others; Transient comes after all had their turn."""
    state = fold(await context.stores.runs.events(row.id))
    view = view_of(row, state)
    language = row.spec.policy.language or context.settings.language
    repo = row.spec.on_github
    client = context.github.repository(repo)
    sayings: list[Saying] = []
    if view.commit_sha is not None and view.status is Status.SUCCESS:
        sayings += [partial(_tell_check, context, client, repo, view, check, language) for check in CHECKS]
    body = context.mask(issue_comment(view, language))
    runs = context.stores.runs
    ours = [issue.number for issue in row.spec.issues if await runs.latest_of(repo, issue.number) == row.id]
    sayings += [partial(_tell_comment, context, client, repo, number, body) for number in ours]
    sayings += [partial(_tell_labels, context, client, repo, number, view.status) for number in ours]
    await _say_all(row.id, sayings)


async def _say_all(run_id: str, sayings: Sequence[Saying]) -> None:
    waits: Transient | None = None
    for say in sayings:
        try:
            await say()
        except Transient as error:
            waits = error
        except (Stale, UserError) as error:
            log.warning("report_refused", run=run_id, because=str(error))
    if waits is not None:
        raise waits


async def _tell_check(
    context: Context, client: RepositoryClient, repo: Repo, view: RunView, check: str, language: Language
) -> None:
    assert view.commit_sha is not None
    conclusion, output = check_output(view, check, language)
    said = {name: context.mask(getattr(output, name)) for name in ("title", "summary", "text")}
    notes = tuple(
        one.model_copy(update={"message": context.mask(one.message), "title": context.mask(one.title)})
        for one in output.annotations
    )
    output = output.model_copy(update={**said, "annotations": notes})
    target, digest = f"check:{view.commit_sha}:{check}", _digest(conclusion, output.model_dump_json())
    told = await context.stores.reports.told(repo, target)
    if told is not None and told.digest == digest:
        return
    check_id = await client.upsert_check_run(
        name=f"mendbot / {check}",
        sha=view.commit_sha,
        external_id=view.run_id,
        conclusion=conclusion,
        status="completed",
        output=output,
    )
    await context.stores.reports.tell(repo, target, Told(github_id=check_id, digest=digest))


async def _tell_comment(context: Context, client: RepositoryClient, repo: Repo, number: int, body: str) -> None:
    target, digest = f"comment:{number}", _digest(body)
    told = await context.stores.reports.told(repo, target)
    if told is not None and told.digest == digest:
        return
    known = told.github_id if told is not None else None
    comment_id = await client.upsert_comment(number, "issue", body, known)
    await context.stores.reports.tell(repo, target, Told(github_id=comment_id, digest=digest))


async def _tell_labels(context: Context, client: RepositoryClient, repo: Repo, number: int, status: Status) -> None:
    wanted = _LABELS[status]
    target, digest = f"labels:{number}", wanted or "none"
    told = await context.stores.reports.told(repo, target)
    if told is not None and told.digest == digest:
        return
    present = {label.casefold() for label in (await client.issue(number)).labels}
    for label in (PROCESSING, DONE, FAILED):
        if label != wanted and label in present:
            await client.remove_label(number, label)
    if wanted is not None and wanted not in present:
        await client.add_labels(number, [wanted])
    await context.stores.reports.tell(repo, target, Told(github_id=None, digest=digest))


def _digest(*parts: str) -> str:
    return sha256("\0".join(parts).encode()).hexdigest()
