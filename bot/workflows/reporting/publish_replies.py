"""Comments that answer somebody: one for each question, under it; and results, posted anew so that they notify."""

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
"""How far this machine's clock may be from GitHub's where a run's own comment is looked for."""


async def publish_reply(context: Context, repo: Repo, number: int, reply: Reply) -> int:
    """The thread's last word of that purpose is the reply; unchanged, it costs no request. The comment's id.

    The last comment of that purpose is edited while it is about the same, or the last of its thread."""
    known, same, said = await _before(context, repo, number, reply)
    if said and known is not None:
        return known
    comment = await context.github.repository(repo).reply(number, _clean(reply), known, same=same)
    await _record(context, repo, number, reply, comment)
    return comment


async def publish_run_comment(context: Context, row: RunRow, number: int, key: str, body: str) -> None:
    """What a run says of itself in a thread: in one comment while it lasts and where it succeeds. That it failed is
    news, which an edit would hide: it is posted anew, and the status comment deleted after that."""
    repo, status = row.spec.on_github, about_run(row, key, body)
    if row.status is Status.FAILED:
        await publish_result(context, repo, number, result_of(row, key, body), status)
    else:
        await publish_reply(context, repo, number, status)


async def publish_result(context: Context, repo: Repo, number: int, result: Reply, status: Reply) -> int:
    """The result of what `status` was kept up to date about, as a comment of its own; the status comment is deleted
    after that. Comments about anything else stay. The comment's id."""
    known, same, said = await _before(context, repo, number, result)
    if said and known is not None:
        return known
    client = context.github.repository(repo)
    if same:
        comment = await client.reply(number, _clean(result), known, same=True)
    else:
        old, its_status, _ = await _before(context, repo, number, status)
        comment = await client.replace_comment(number, _clean(result), old if its_status else None)
    await _record(context, repo, number, result, comment)
    return comment


def about_run(row: RunRow, key: str, body: str) -> Reply:
    """A run's comment in a thread, kept up to date while it lasts."""
    began = datetime.fromtimestamp(row.created_at / 1000, UTC) - _CLOCKS_APART
    return Reply(key=key, about=row.id, body=body, since=began)


def result_of(row: RunRow, key: str, body: str) -> Reply:
    """What a run came to, as a comment that nobody has seen before."""
    status = about_run(row, key, body)
    return Reply(key=key, about=f"{row.id}.result", body=body, since=status.since)


def _clean(reply: Reply) -> Reply:
    return Reply(reply.key, reply.about, without_markers(reply.body), reply.since, reply.beside)


async def _before(context: Context, repo: Repo, number: int, reply: Reply) -> tuple[int | None, bool, bool]:
    """The last comment of that purpose, whether it is about the same, and whether it says this very text."""
    published = await context.stores.reports.published(repo, comment_target(number, reply.key))
    if published is None:
        return None, False, False
    about, parted, text = published.digest.rpartition(":")
    # a status from before it was noted what a comment is about: the run that tells now may have begun before, too
    return (
        published.github_id,
        about == reply.about or (not parted and reply.key in _OF_RUNS),
        (about, text) == (reply.about, report_digest(reply.body)),
    )


async def _record(context: Context, repo: Repo, number: int, reply: Reply, comment: int) -> None:
    published = Published(github_id=comment, digest=f"{reply.about}:{report_digest(reply.body)}")
    await context.stores.reports.record(repo, comment_target(number, reply.key), published)
