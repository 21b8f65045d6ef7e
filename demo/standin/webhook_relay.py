"""A relay of webhooks as smee.io is one: what is posted to a channel goes to all clients that listen there.

A message is one JSON object: the headers in lower case, the parsed `body`, `query` and `timestamp`. What comes while
nobody listens is lost."""

from __future__ import annotations

import asyncio
import json
import time
from collections import defaultdict
from collections.abc import AsyncIterator

from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route


class WebhookRelay:
    """The channels of one relay."""

    def __init__(self) -> None:
        self._listeners: defaultdict[str, set[asyncio.Queue[str]]] = defaultdict(set)

    def routes(self) -> list[Route]:
        """`/relay/CHANNEL`, for GitHub to post to and for clients to listen at."""
        return [
            Route("/relay/{channel}", self._receive, methods=["POST"]),
            Route("/relay/{channel}", self._listen, methods=["GET"]),
        ]

    async def _receive(self, request: Request) -> Response:
        message = {name: value for name, value in request.headers.items() if name != "host"}
        body = json.loads(await request.body())
        whole = {**message, "body": body, "query": dict(request.query_params), "timestamp": int(time.time() * 1000)}
        for listener in self._listeners[request.path_params["channel"]]:
            listener.put_nowait(json.dumps(whole, separators=(",", ":"), ensure_ascii=False))
        return Response(status_code=200)

    async def _listen(self, request: Request) -> Response:
        return StreamingResponse(self._events(request.path_params["channel"]), media_type="text/event-stream")

    async def _events(self, channel: str) -> AsyncIterator[str]:
        queue: asyncio.Queue[str] = asyncio.Queue()
        self._listeners[channel].add(queue)
        try:
            yield "event: ready\ndata: {}\n\n"
            while True:
                yield f"id: {time.time_ns()}\ndata: {await queue.get()}\n\n"
        finally:
            self._listeners[channel].discard(queue)
