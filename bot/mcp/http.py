"""The streamable HTTP transport, behind the admin token, for the hosts that the server is known by.

The token is asked of loopback too, and a wrong `Host` or `Origin` is refused, so no page in a browser reaches it by DNS
rebinding."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from mcp.server.lowlevel.server import Server
from mcp.server.transport_security import TransportSecuritySettings
from starlette.datastructures import Headers
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from bot.reports.locale.reasons import english
from bot.rules.reasons import make_reason

PATH = "/mcp"
_LOOPBACK = ("127.0.0.1", "localhost", "[::1]")


def http_app(server: Server[Any], has_token: Callable[[Headers], bool], hosts: Sequence[str] = ()) -> ASGIApp:
    """The ASGI app with the route `/mcp`. `hosts` are names beside loopback's that requests may come for."""
    names = dict.fromkeys((*_LOOPBACK, *hosts))
    security = TransportSecuritySettings(
        allowed_hosts=[form for name in names for form in (name, f"{name}:*")],
        allowed_origins=[
            f"{scheme}://{form}" for name in names for scheme in ("http", "https") for form in (name, f"{name}:*")
        ],
    )
    app = server.streamable_http_app(streamable_http_path=PATH, transport_security=security)

    async def guarded(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and not has_token(Headers(scope=scope)):
            refusal = {"error": english(make_reason("request.no_token"))}
            await JSONResponse(refusal, 401, {"WWW-Authenticate": "Bearer"})(scope, receive, send)
            return
        await app(scope, receive, send)

    return guarded
