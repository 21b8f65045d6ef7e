"""`mendbot mcp`: Mendbot's tools for coding agents."""

from __future__ import annotations

from typing import Annotated

from cyclopts import Parameter

from bot.cli.arguments import Flag, Number, Text
from bot.cli.exits import PASSED
from bot.config import load_settings


def mcp(
    *,
    http: Flag = False,
    host: Text = "127.0.0.1",
    port: Number = 3001,
    allowed_host: Annotated[tuple[Text, ...], Parameter(negative="")] = (),
) -> int:
    """Serve Mendbot's tools to a coding agent over MCP: on stdio, or over HTTP.

    Parameters
    ----------
    http
        serve at /mcp, behind the admin token, for trees in MENDBOT_WORKSPACE_ROOTS
    host
        the address to listen on; any but loopback needs a TLS proxy
    port
        the port to listen on; 0 for a free one
    allowed_host
        a name that clients reach this server by, beside loopback's; repeatable
    """
    from bot.app.mcp_server import serve_on_stdio, serve_over_http

    settings = load_settings()
    if http:
        serve_over_http(settings, host, port, (host, *allowed_host))
    else:
        serve_on_stdio(settings)
    return PASSED
