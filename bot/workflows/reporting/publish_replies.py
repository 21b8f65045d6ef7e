"""Publishes replies, one comment for each question and below it, and results as new comments, which notify people."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from bot.github.threads import Reply
from bot.model import Repo, Status
from bot.store.runs.reported import Published
from bot.store.runs.runs import RunRow
from bot.workflows.context import Context
from bot.workflows.reporting.publisher import comment_target, report_digest, without_markers

_OF_RUNS = ("issue", "fix")
_CLOCKS_APART = timedelta(hours=1)
"""The largest difference to GitHub's clock that is allowed for in the search for a run's own comment."""


async def publish_reply(context: Context, repo: Repo, number: int, reply: Reply) -> int:
    """Make the reply the thread's last comment of that purpose; returns its id. An unchanged reply costs no request.

    The last comment of that purpose is edited while it is about the same, or the last of its thread."""
    known, same, unchanged = await _published(context, repo, number, reply)
    if unchanged and known is not None:
        return known
    comment = await context.github.repository(repo).reply(number, _clean(reply), known, same=same)
    await _record(context, repo, number, reply, comment)
    return comment


async def publish_run_comment(context: Context, row: RunRow, number: int, key: str, body: str) -> None:
    """Publish a run's report in a thread, in one comment while it lasts and where it succeeds. A failure is a new
    comment, since an edit notifies nobody; the status comment is deleted after that."""
    repo, status = row.spec.on_github, about_run(row, key, body)
    if row.status is Status.FAILED:
        await publish_result(context, repo, number, result_of(row, key, body), status)
    else:
        await publish_reply(context, repo, number, status)


async def publish_result(context: Context, repo: Repo, number: int, result: Reply, status: Reply) -> int:
    """Publish the result as a comment of its own and then delete the comment with that status; returns the new
    comment's id. Comments about anything else stay."""
    known, same, unchanged = await _published(context, repo, number, result)
    if unchanged and known is not None:
        return known
    client = context.github.repository(repo)
    if same:
        comment = await client.reply(number, _clean(result), known, same=True)
    else:
        old, its_status, _ = await _published(context, repo, number, status)
        comment = await client.replace_comment(number, _clean(result), old if its_status else None)
    await _record(context, repo, number, result, comment)
    return comment


def about_run(row: RunRow, key: str, body: str) -> Reply:
    """A run's status comment in a thread, edited while the run lasts."""
    began = datetime.fromtimestamp(row.created_at / 1000, UTC) - _CLOCKS_APART
    return Reply(key=key, about=row.id, body=body, since=began)


def result_of(row: RunRow, key: str, body: str) -> Reply:
    """A run's result, as a new comment."""
    status = about_run(row, key, body)
    return Reply(key=key, about=f"{row.id}.result", body=body, since=status.since)


def _clean(reply: Reply) -> Reply:
    return Reply(reply.key, reply.about, without_markers(reply.body), reply.since, reply.beside)


async def _published(context: Context, repo: Repo, number: int, reply: Reply) -> tuple[int | None, bool, bool]:
    """The last comment of that purpose, whether it is about the same, and whether it has the same text."""
    published = await context.stores.reports.published(repo, comment_target(number, reply.key))
    if published is None:
        return None, False, False
    about, parted, text = published.digest.rpartition(":")
    # a comment recorded without what it is about may be this run's status, as the run may have begun before that, too
    return (
        published.github_id,
        about == reply.about or (not parted and reply.key in _OF_RUNS),
        (about, text) == (reply.about, report_digest(reply.body)),
    )


async def _record(context: Context, repo: Repo, number: int, reply: Reply, comment: int) -> None:
    published = Published(github_id=comment, digest=f"{reply.about}:{report_digest(reply.body)}")
    await context.stores.reports.record(repo, comment_target(number, reply.key), published)
