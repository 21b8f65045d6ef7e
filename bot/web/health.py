"""Liveness and readiness. Readiness names each problem and its remedy."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

Probe = Callable[[], Awaitable[str | None]]
"""Returns the problem and its remedy; None where there is none."""


def liveness() -> Callable[[Request], Awaitable[Response]]:
    async def answer(_request: Request) -> Response:
        return JSONResponse({"status": "ok"})

    return answer


def readiness(
    probes: Mapping[str, Probe], remote: Callable[[], Mapping[str, str]] = dict
) -> Callable[[Request], Awaitable[Response]]:
    """Answers 503 where a probe finds a problem. The state of `remote` services (GitHub) is shown and changes no
    status: deliveries are stored without them, and a restart would not help."""

    async def answer(_request: Request) -> Response:
        missing = {name: problem for name, probe in probes.items() if (problem := await probe()) is not None}
        if missing:
            return JSONResponse({"status": "not ready", "missing": missing, **remote()}, status_code=503)
        return JSONResponse({"status": "ready", **remote()})

    return answer
