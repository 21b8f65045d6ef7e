"""Git over HTTP with a token of the App's: minted for the purpose, given up after a push, given a moment to be known.
GitHub may refuse a token in its first seconds (threats.md 3, *Token expiry mid-job*), which must not end a run."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from bot.logs import get_logger
from bot.model import Repo
from bot.workflows.context import Context
from bot.workspace.mirror.remote import AccessDenied, Remote

PATIENCE_S = (1.0, 4.0)
"""Pauses after a refusal; refused once more, it is meant."""

log = get_logger()


async def transfer(context: Context, repo: Repo, work: Callable[[Remote], Awaitable[None]], *, write: bool) -> None:
    """Do `work`, which may be repeated, with a token that may read or write; raises what it raises at last."""
    for pause_s in PATIENCE_S:
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
