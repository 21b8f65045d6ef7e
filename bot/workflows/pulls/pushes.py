"""How often Mendbot may push to one pull request: a fixer that answers its own pushes must come to an end (T13)."""

from __future__ import annotations

from bot.model import Repo
from bot.store.database import now_ms
from bot.workflows.context import Context

MOST_PER_PULL = 3
MOST_PER_HOUR = 10
"""In one repository."""
_HOUR_MS = 3_600_000


async def may_push_more(context: Context, repo: Repo, number: int) -> bool:
    """Whether another push to this pull request is within the limits."""
    return await limit_reached(context, repo, number) is None


async def limit_reached(context: Context, repo: Repo, number: int) -> str | None:
    """Which limit stands in the way of a push, in a sentence; None where there is none."""
    threads = context.stores.threads
    if await threads.pushes_since(repo, number, 0) >= MOST_PER_PULL:
        return f"Mendbot pushed {MOST_PER_PULL} times to this pull request already, which is the most it may"
    if await threads.pushes_since(repo, None, now_ms() - _HOUR_MS) >= MOST_PER_HOUR:
        return f"Mendbot pushed {MOST_PER_HOUR} times to this repository within the hour, which is the most it may"
    return None
