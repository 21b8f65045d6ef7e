"""Limits how often Mendbot pushes to one pull request, so that fixes of its own pushes come to an end (T13)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from bot.model import Repo
from bot.model.reasons import Reason
from bot.rules.reasons import make_reason
from bot.store.database.database import now_ms
from bot.workflows.context import Context

MAX_PER_PULL = 3
MAX_PER_HOUR = 10
"""In one repository."""
_HOUR_MS = 3_600_000


@dataclass(frozen=True, slots=True)
class Limit:
    """A limit that prevents a push. A refusal and a reason have its name."""

    name: Literal["limit_pull", "limit_hour"]
    most: int

    def reason(self) -> Reason:
        return make_reason(f"push.{self.name}", most=self.most)


async def may_push_more(context: Context, repo: Repo, number: int) -> bool:
    """Whether another push to this pull request is within the limits."""
    return await push_limit_reached(context, repo, number) is None


async def push_limit_reached(context: Context, repo: Repo, number: int) -> Limit | None:
    """The limit that prevents a push to this pull request; None where there is none."""
    threads = context.stores.threads
    if await threads.pushes_since(repo, number, 0) >= MAX_PER_PULL:
        return Limit("limit_pull", MAX_PER_PULL)
    if await threads.pushes_since(repo, None, now_ms() - _HOUR_MS) >= MAX_PER_HOUR:
        return Limit("limit_hour", MAX_PER_HOUR)
    return None
