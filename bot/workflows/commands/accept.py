"""A comment with commands is accepted: 👀 at once, then a job that runs them. Who reaches the hourly limit gets
one reply; their later commands are ignored until the hour is over (T16)."""

from __future__ import annotations

from hashlib import sha256

from bot.errors import Stale, UserError
from bot.logs import get_logger
from bot.model.jobs import Job, JobName
from bot.model.reasons import Reason
from bot.rules.reasons import make_reason
from bot.rules.triage.decisions import RunCommands
from bot.store.database.database import now_ms
from bot.workflows.commands.types import CommandRequest, command_id, to_args
from bot.workflows.context import Context

MOST_PER_HOUR = 60
"""Commands of one person in one repository; who works at it by hand does not reach that."""

log = get_logger()


async def accept(context: Context, request: RunCommands) -> Reason:
    """Acknowledge the commands and have them run; a second call does nothing."""
    heard, busy = [], False
    for command in request.commands:
        name = command_id(request, command)
        taken = await context.stores.commands.take(
            name,
            repo=request.repo,
            number=request.number,
            author=request.by,
            verb=command.verb[:40],
            at_ms=now_ms(),
            cap=MOST_PER_HOUR,
        )
        if taken in ("new", "known"):
            heard.append((name, command))
        busy = busy or taken == "over"
    if not heard and not busy:
        return make_reason("delivery.command_limit", by=request.by, limit=MOST_PER_HOUR)
    if heard:
        await react(context, request, "eyes")
    order = CommandRequest(
        repo=request.repo,
        number=request.number,
        is_pull=request.is_pull,
        kind=request.kind,
        comment_id=request.comment_id,
        by=request.by,
        at=request.at,
        commands=tuple(command for _, command in heard),
        busy=busy,
        head=await context.stores.approvals.head_known(request.repo, request.number) if request.is_pull else None,
        alone=request.is_pull and await context.stores.approvals.heads(request.repo, request.number) <= 1,
    )
    ids = [name for name, _ in heard]
    # delivered again, it is the same job, though nobody is told again that it was too much
    said = [*ids, str(request.at), request.kind, str(request.comment_id)]
    digest = sha256("\n".join(said).encode()).hexdigest()[:24]
    args = to_args(order, dict(enumerate(ids)))
    await context.enqueue(
        Job(kind=JobName.COMMAND, id=f"command:{digest}", partition=request.repo.full_name, args=args)
    )
    return request.because


async def react(context: Context, about: RunCommands | CommandRequest, content: str) -> None:
    """Put a reaction on the comment. The text of a review takes none (GitHub's REST API has no such route); a comment
    that is gone, or in a locked conversation, goes without."""
    if about.kind == "review":
        return
    try:
        await context.github.repository(about.repo).react(about.kind, about.comment_id, content)  # type: ignore[arg-type]
    except (Stale, UserError) as error:
        log.info("no_reaction", repo=about.repo.full_name, comment=about.comment_id, because=str(error))
