"""`mendbot serve`: receives webhooks and works on them."""

from __future__ import annotations

from typing import Literal

from bot.cli.arguments import Number
from bot.reports.locale.reasons import user_error
from bot.rules.reasons import make_reason


def serve(
    *,
    host: str = "127.0.0.1",
    port: Number | None = None,
    role: Literal["all", "web", "worker"] = "all",
) -> int:
    """Receive webhooks and do the work.

    Parameters
    ----------
    host
        the address to listen on; any but loopback needs a TLS proxy
    port
        the port to listen on (PORT, else 3000)
    role
        web or worker alone need Postgres
    """
    from bot.app.server import serve as serve_app
    from bot.config import load_settings

    settings = load_settings(serving=port is None)
    if role != "all":
        raise user_error(make_reason("cli.role", role=role))
    return serve_app(settings, host, port if port is not None else settings.port)
