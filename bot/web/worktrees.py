"""Lists the worktrees of the repositories that the viewer can read, for programs."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from bot.web.api import Endpoint, answer, viewer_of

Worktrees = Callable[[], Awaitable[list[dict[str, Any]]]]


def worktrees(every: Worktrees) -> Endpoint:
    async def listing(request: Request) -> Response:
        viewer = viewer_of(request)
        return answer([each for each in await every() if viewer.may_read(each["repo"])])

    return listing
