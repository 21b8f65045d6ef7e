"""A comment with commands is heard: 👀 at once, then a job that obeys. Who asks for too much within an hour is told so
once, politely, and not heard until the hour is over (T16)."""

from __future__ import annotations

from hashlib import sha256

import structlog

from bot.errors import Stale, UserError
from bot.model.jobs import Job
from bot.rules.decisions import Obey
from bot.store.database import now_ms
from bot.workflows.commands.orders import Order, command_id, to_args
from bot.workflows.context import Context

MOST_PER_HOUR = 60
"""Commands of one person in one repository; who works at it by hand does not reach that."""

log = structlog.get_logger()


async def hear(context: Context, obey: Obey) -> str:
    """Acknowledge the commands and have them obeyed; said before, nothing happens again."""
    heard, busy = [], False
    for command in obey.commands:
        name = command_id(obey, command)
        taken = await context.stores.commands.take(
            name,
            repo=obey.repo,
            number=obey.number,
            author=obey.by,
            verb=command.verb[:40],
            at_ms=now_ms(),
            cap=MOST_PER_HOUR,
        )
        if taken in ("new", "known"):
            heard.append((name, command))
        busy = busy or taken == "over"
    if not heard and not busy:
        return f"{obey.by} reached {MOST_PER_HOUR} commands within the hour and was told so"
    if heard:
        await react(context, obey, "eyes")
    order = Order(
        repo=obey.repo,
        number=obey.number,
        is_pull=obey.is_pull,
        kind=obey.kind,
        comment_id=obey.comment_id,
        by=obey.by,
        at=obey.at,
        commands=tuple(command for _, command in heard),
        busy=busy,
        head=await context.stores.approvals.head_known(obey.repo, obey.number) if obey.is_pull else None,
        alone=obey.is_pull and await context.stores.approvals.heads(obey.repo, obey.number) <= 1,
    )
    ids = [name for name, _ in heard]
    # delivered again, it is the same job, though nobody is told again that it was too much
    said = [*ids, str(obey.at), obey.kind, str(obey.comment_id)]
    digest = sha256("\n".join(said).encode()).hexdigest()[:24]
    args = to_args(order, dict(enumerate(ids)))
    await context.enqueue(Job(kind="command", id=f"command:{digest}", partition=obey.repo.full_name, args=args))
    return obey.because


async def react(context: Context, about: Obey | Order, content: str) -> None:
    """Put a reaction on the comment. The text of a review takes none (GitHub's REST API has no such route); a comment
    that is gone, or in a locked conversation, goes without."""
    if about.kind == "review":
        return
    try:
        await context.github.repository(about.repo).react(about.kind, about.comment_id, content)  # type: ignore[arg-type]
    except (Stale, UserError) as error:
        log.info("no_reaction", repo=about.repo.full_name, comment=about.comment_id, because=str(error))
