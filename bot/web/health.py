"""Liveness and readiness. Readiness names what is missing, so that an operator need not guess."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

Probe = Callable[[], Awaitable[str | None]]
"""Returns None when all is well, else what is missing and how to fix it."""


def liveness() -> Callable[[Request], Awaitable[Response]]:
    async def answer(_request: Request) -> Response:
        return JSONResponse({"status": "ok"})

    return answer


def readiness(
    probes: Mapping[str, Probe], seen: Callable[[], Mapping[str, str]] = dict
) -> Callable[[Request], Awaitable[Response]]:
    """503 where a probe misses something. What was `seen` of others (GitHub) is shown, and changes no status: without
    them deliveries are stored and worked on as far as that goes, and a restart would help nobody."""

    async def answer(_request: Request) -> Response:
        missing = {name: problem for name, probe in probes.items() if (problem := await probe()) is not None}
        if missing:
            return JSONResponse({"status": "not ready", "missing": missing, **seen()}, status_code=503)
        return JSONResponse({"status": "ready", **seen()})

    return answer
