"""The routes for programs that exist so far: what came in and what became of it."""

from __future__ import annotations

import hmac
from collections.abc import Awaitable, Callable

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from bot.errors import Transient
from bot.store.deliveries import Deliveries

LIMIT = 1000


def deliveries(store: Deliveries) -> Callable[[Request], Awaitable[Response]]:
    async def answer(request: Request) -> Response:
        try:
            limit, offset = (
                int(request.query_params.get(name, default)) for name, default in (("limit", 100), ("offset", 0))
            )
        except ValueError:
            return JSONResponse({"error": "limit and offset must be whole numbers"}, status_code=422)
        if not (1 <= limit <= LIMIT and 0 <= offset < 2**31):
            return JSONResponse({"error": f"limit must be 1 to {LIMIT} and offset 0 or more"}, status_code=422)
        return JSONResponse([row.model_dump() for row in await store.list(limit, offset)])

    return answer


Endpoint = Callable[[Request], Awaitable[Response]]


def guarded(endpoint: Endpoint, token: str | None, open_to_all: bool) -> Endpoint:
    """Reads need the admin token unless the server is bound to loopback (spec I)."""

    async def answer(request: Request) -> Response:
        given = request.headers.get("authorization", "").removeprefix("Bearer ").strip()
        if open_to_all or (token and hmac.compare_digest(given.encode(), token.encode())):
            try:
                return await endpoint(request)
            except Transient as error:
                return JSONResponse({"error": f"try again in a moment: {error}"}, status_code=503)
        return JSONResponse(
            {"error": "give `Authorization: Bearer` with the value of MENDBOT_ADMIN_TOKEN"}, status_code=401
        )

    return answer
