"""`mendbot mcp`: builds the MCP server and serves it on stdio or over HTTP, in a process of its own.

`serve` does not hold it: the library alone takes 40 MB, and its checks belong to whoever works in the tree."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import Sequence

from bot.app.admin_token import TOKEN_FILE, has_admin_token, with_admin_token
from bot.app.home import open_home
from bot.app.known_secrets import known_secrets
from bot.config import Settings
from bot.errors import ConfigError
from bot.logs import get_logger, set_up_logs
from bot.mcp.http import PATH, http_app
from bot.mcp.places import Places
from bot.mcp.server import build_server
from bot.mcp.stdio import serve_stdio
from bot.mcp.tools import Services
from bot.reports.locale.reasons import user_error
from bot.rules.reasons import make_reason
from bot.web import server as listen
from bot.web.api import Guard

log = get_logger()


def serve_on_stdio(settings: Settings) -> None:
    """Serve the client that started this process, until it closes stdin or sends SIGTERM or SIGINT."""
    set_up_logs(settings.log_level, settings.log_format)
    services = Services(settings, known_secrets(settings), Places())
    asyncio.run(_until_signal(services))


async def _until_signal(services: Services) -> None:
    task, loop = asyncio.current_task(), asyncio.get_running_loop()
    assert task is not None
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        if signal.getsignal(number) is not signal.SIG_IGN:
            loop.add_signal_handler(number, task.cancel)
    try:
        await serve_stdio(build_server(services))
    except asyncio.CancelledError:
        log.info("mcp_stopped", because="signal")


def serve_over_http(settings: Settings, host: str, port: int, hosts: Sequence[str]) -> None:
    """Serve clients that have the admin token, in the workspace roots, until SIGTERM or SIGINT.

    Raises ConfigError for root without MENDBOT_ALLOW_ROOT, and for a home or an address that cannot be used."""
    set_up_logs(settings.log_level, settings.log_format)
    if os.geteuid() == 0 and not settings.allow_root:
        raise user_error(make_reason("serve.root"), ConfigError)
    open_home(settings.home)
    token_in = "MENDBOT_ADMIN_TOKEN" if has_admin_token(settings) else str(settings.home / TOKEN_FILE)
    settings = with_admin_token(settings)
    assert settings.admin_token is not None, "with_admin_token gives one"
    guard = Guard(settings.admin_token.get_secret_value())
    services = Services(settings, known_secrets(settings), Places(settings.workspace_roots))
    app = http_app(build_server(services), guard.has_token, hosts)
    with listen.bind(host, port) as listener:
        name = f"[{host}]" if ":" in host else host
        url = f"http://{name}:{listener.getsockname()[1]}{PATH}"
        log.info("mcp_serving", url=url, token_in=token_in, roots=list(map(str, settings.workspace_roots)))
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda *_: None)  # uvicorn raises the signal again after its shutdown
        listen.server(app).run(sockets=[listener])
    sys.stderr.flush()
