"""Lists the worktrees, for programs."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from bot.web.api import Endpoint, answer

Worktrees = Callable[[], Awaitable[list[dict[str, Any]]]]


def worktrees(every: Worktrees) -> Endpoint:
    async def listing(_request: Request) -> Response:
        return answer(await every())

    return listing
