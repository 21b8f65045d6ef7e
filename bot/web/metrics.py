"""`GET /metrics`: the state of this server in Prometheus' text format, or in OpenMetrics where that is accepted."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from starlette.requests import Request
from starlette.responses import Response

from bot.web.api import Endpoint

Exposition = Callable[[str], Awaitable[tuple[bytes, str]]]
"""Takes the header `Accept`; returns the text and its content type."""


def metrics(exposition: Exposition) -> Endpoint:
    """Answers the metrics of now."""

    async def answer(request: Request) -> Response:
        text, content_type = await exposition(request.headers.get("accept", ""))
        return Response(text, headers={"Content-Type": content_type})

    return answer
