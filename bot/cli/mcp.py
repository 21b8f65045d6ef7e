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
        serve at /mcp over HTTP, behind the admin token
    host
        the address to listen on
    port
        the port; 0 for a free one
    allowed_host
        another name that clients use; repeatable
    """
    from bot.app.mcp_server import serve_on_stdio, serve_over_http

    settings = load_settings()
    if http:
        serve_over_http(settings, host, port, (host, *allowed_host))
    else:
        serve_on_stdio(settings)
    return PASSED
