"""Git over HTTP with a token of the App's, made for each transfer and revoked after a push. GitHub may refuse a token
in its first seconds (threats.md 3, *Token expiry mid-job*), so a refused transfer is tried again."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from bot.logs import get_logger
from bot.model import Repo
from bot.workflows.context import Context
from bot.workspace.mirror.remote import AccessDenied, Remote

RETRY_WAITS_S = (1.0, 4.0)
"""The waits after refusals; the next refusal is final."""

log = get_logger()


async def transfer(context: Context, repo: Repo, work: Callable[[Remote], Awaitable[None]], *, write: bool) -> None:
    """Do `work`, which may be repeated, with a token that may read or write; raises what it raises at last."""
    for pause_s in RETRY_WAITS_S:
        try:
            await _once(context, repo, work, write)
            return
        except AccessDenied as error:
            log.info("transfer_refused", repo=repo.full_name, because=str(error))
            await asyncio.sleep(pause_s)
    await _once(context, repo, work, write)


async def _once(context: Context, repo: Repo, work: Callable[[Remote], Awaitable[None]], write: bool) -> None:
    remote = await context.remote(repo, write=write)
    try:
        await work(remote)
    finally:
        if write and remote.token is not None:
            await context.github.revoke(repo, remote.token)
