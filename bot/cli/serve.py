"""`mendbot serve`: receives webhooks and works on them."""

from __future__ import annotations

import gc
from typing import Literal

from bot.cli.arguments import Number


def serve(
    *,
    host: str = "127.0.0.1",
    port: Number | None = None,
    role: Literal["all", "receiver", "worker"] = "all",
) -> int:
    """Receive webhooks and do the work.

    Parameters
    ----------
    host
        the address to listen on; any but loopback needs a TLS proxy
    port
        the port to listen on (PORT, else 3000; a worker: none)
    role
        one part, on Postgres alone
    """
    gc.disable()  # what is imported stays: a tenth of the start went into looking for garbage among it
    from bot.app.created_app import with_created_app
    from bot.app.server import serve as serve_app
    from bot.config import load_settings

    gc.enable()
    settings = with_created_app(load_settings(serving=port is None))
    default = None if role == "worker" else settings.port
    return serve_app(settings, host, default if port is None else port, role)
