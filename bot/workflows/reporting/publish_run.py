"""Publishes a run: one comment per issue, the labels, and the check runs on the pushed commit."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from bot.model import CHECK_ORDER, Repo, RunView, Status
from bot.reports.runs.check_output import check_output
from bot.reports.runs.issue_comment import issue_comment
from bot.reports.runs.proof import is_shown
from bot.rules.runs.state import RunState
from bot.store.runs.reported import Published
from bot.store.runs.runs import RunRow
from bot.workflows.context import Context
from bot.workflows.history.seen_before import with_seen_before
from bot.workflows.reporting.publish_fix import publish_fix
from bot.workflows.reporting.publish_replies import publish_run_comment
from bot.workflows.reporting.publisher import CheckRunUpdate, Publication, publish_all, publish_check
from bot.workflows.reporting.request_review import ask_review
from bot.workflows.reporting.run_view import view_of

PROCESSING, DONE, FAILED = "auto-fix-processing", "auto-fix-done", "auto-fix-failed"
NEEDS_PROOF = "needs-proof"
CHECKS = ("fix", *CHECK_ORDER)
_LABELS: Mapping[Status, str | None] = {
    Status.QUEUED: PROCESSING,
    Status.RUNNING: PROCESSING,
    Status.SUCCESS: DONE,
    Status.FAILED: FAILED,
    Status.CANCELLED: None,
}


async def publish(context: Context, row: RunRow) -> None:
    """Bring GitHub to this version of the run: check runs first, then comments, then labels.

    A thread that has a newer run is left to that run."""
    state = await context.stores.runs.state(row.id)
    language = context.language(row.spec.policy)
    view = await with_seen_before(context, row, state, _view(context, row, state))
    repo = row.spec.on_github
    publications: list[Publication] = []
    if view.commit_sha is not None and view.status is Status.SUCCESS:
        publications += [partial(_publish_check, context, row, view, check) for check in CHECKS]
    if row.spec.pull is not None:
        await publish_all(row.id, [*publications, partial(publish_fix, context, row, state, view)])
        return
    body = context.mask(issue_comment(view, language))
    runs = context.stores.runs
    ours = [issue.number for issue in row.spec.issues if await runs.latest_of(repo, issue.number) == row.id]
    publications += [partial(publish_run_comment, context, row, number, "issue", body) for number in ours]
    if view.status is Status.SUCCESS:
        publications.append(partial(ask_review, context, row, view))
        publications.append(partial(_publish_needs_proof, context, repo, view))
    publications += [partial(_publish_labels, context, repo, number, _label(view)) for number in ours]
    await publish_all(row.id, publications)


async def _publish_check(context: Context, row: RunRow, view: RunView, check: str) -> None:
    assert view.commit_sha is not None
    conclusion, output = check_output(view, check, context.language(row.spec.policy))
    update = CheckRunUpdate(
        check, view.commit_sha, view.run_id, "completed", conclusion, output, page_url=view.page_url
    )
    await publish_check(context, row.spec.on_github, update)


def _view(context: Context, row: RunRow, state: RunState) -> RunView:
    """The view of a run with the address of its page."""
    return view_of(row, state).model_copy(update={"page_url": context.settings.run_page(row.id)})


def _label(view: RunView) -> str | None:
    """The status label; none for a change that no check shows to be a fix."""
    return _LABELS[view.status] if view.status is not Status.SUCCESS or is_shown(view) else None


async def _publish_needs_proof(context: Context, repo: Repo, view: RunView) -> None:
    """Label the pull request of an unproven change, once: a person may remove the label."""
    if view.pull is None or view.proof is None or view.proof.level != "unproven":
        return
    target = f"labels:{view.pull.number}"
    if await context.stores.reports.published(repo, target) is None:
        await context.github.repository(repo).add_labels(view.pull.number, [NEEDS_PROOF])
        await context.stores.reports.record(repo, target, Published(github_id=None, digest=NEEDS_PROOF))


async def _publish_labels(context: Context, repo: Repo, number: int, wanted: str | None) -> None:
    client = context.github.repository(repo)
    target, now = f"labels:{number}", wanted or "none"
    published = await context.stores.reports.published(repo, target)
    if published is not None and published.digest == now:
        return
    present = {label.casefold() for label in (await client.issue(number)).labels}
    for label in (PROCESSING, DONE, FAILED):
        if label != wanted and label in present:
            await client.remove_label(number, label)
    if wanted is not None and wanted not in present:
        await client.add_labels(number, [wanted])
    await context.stores.reports.record(repo, target, Published(github_id=None, digest=now))
