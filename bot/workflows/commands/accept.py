"""A comment with commands is accepted: 👀 at once, then a job that executes them. A person over the hourly limit gets
one reply; their later commands are ignored until the hour is over (T16)."""

from __future__ import annotations

from dataclasses import replace
from hashlib import sha256

from bot.errors import Stale, UserError
from bot.logs import get_logger
from bot.model.jobs import Job, JobName
from bot.model.reasons import Reason
from bot.rules.reasons import make_reason
from bot.rules.triage.decisions import RunCommands
from bot.store.database.database import now_ms
from bot.workflows.commands.types import CommandRequest, command_id
from bot.workflows.context import Context

MAX_PER_HOUR = 60
"""Commands of one person in one repository; work by hand does not reach that."""

log = get_logger()


async def accept(context: Context, request: RunCommands) -> Reason:
    """Acknowledge the commands and have them executed; a second call does nothing."""
    accepted, busy = {}, False
    for command in request.commands:
        id_ = command_id(request, command)
        taken = await context.stores.commands.take(
            id_,
            repo=request.repo,
            number=request.number,
            author=request.by,
            verb=command.verb[:40],
            at_ms=now_ms(),
            cap=MAX_PER_HOUR,
        )
        if taken in ("new", "known"):
            # as plain dicts, which can be stored
            accepted[id_] = replace(command, options=dict(command.options), values=dict(command.values))
        busy = busy or taken == "over"
    if not accepted and not busy:
        return make_reason("delivery.command_limit", by=request.by, limit=MAX_PER_HOUR)
    if accepted:
        await react(context, request, "eyes")
    args = CommandRequest(
        repo=request.repo,
        number=request.number,
        is_pull=request.is_pull,
        kind=request.kind,
        comment_id=request.comment_id,
        by=request.by,
        at=request.at,
        commands=tuple(accepted.values()),
        ids=tuple(accepted),
        busy=busy,
        head=await context.stores.approvals.head_known(request.repo, request.number) if request.is_pull else None,
        alone=request.is_pull and await context.stores.approvals.heads(request.repo, request.number) <= 1,
    )
    # a second delivery makes the same job, though nobody gets a second reply about the limit
    parts = [*accepted, str(request.at), request.kind, str(request.comment_id)]
    job_id = f"command:{sha256(chr(10).join(parts).encode()).hexdigest()[:24]}"
    job = Job(kind=JobName.COMMAND, id=job_id, partition=request.repo.full_name, args=args.model_dump(mode="json"))
    await context.enqueue(job)
    return request.because


async def react(context: Context, about: RunCommands | CommandRequest, content: str) -> None:
    """Put a reaction on the comment. The text of a review takes none (GitHub's REST API has no such route), nor does
    a box; a comment that is gone, or in a locked conversation, goes without."""
    if about.kind in ("review", "dashboard"):
        return
    try:
        await context.github.repository(about.repo).react(about.kind, about.comment_id, content)  # type: ignore[arg-type]
    except (Stale, UserError) as error:
        log.info("no_reaction", repo=about.repo.full_name, comment=about.comment_id, because=str(error))
