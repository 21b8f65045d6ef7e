"""The HTTP server: its socket, its shutdown, and its time limit for a request's headers.

uvicorn limits how long a connection may idle between requests, and the webhook endpoint how long a body may take. This
closes the connection of a client that sends no headers, or sends them slowly (T4)."""

from __future__ import annotations

import asyncio
import os
import socket
from collections.abc import Callable
from types import FrameType

import uvicorn
from starlette.types import ASGIApp
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from bot.errors import ConfigError
from bot.reports.locale.reasons import user_error
from bot.rules.reasons import make_reason

HEADERS_TIMEOUT_S = 8.0
BACKLOG = 2048


class PunctualProtocol(HttpToolsProtocol):
    """uvicorn's HTTP/1.1 protocol that closes a connection whose headers do not arrive in time."""

    _due: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as uvicorn has it
        super().connection_made(transport)
        self._expect_headers()

    def connection_lost(self, exc: Exception | None) -> None:
        self._headers_came()
        super().connection_lost(exc)

    def on_message_begin(self) -> None:
        if self._due is None:
            self._expect_headers()
        super().on_message_begin()

    def on_headers_complete(self) -> None:
        self._headers_came()
        super().on_headers_complete()

    def _expect_headers(self) -> None:
        self._due = self.loop.call_later(HEADERS_TIMEOUT_S, self.transport.close)

    def _headers_came(self) -> None:
        if self._due is not None:
            self._due.cancel()
            self._due = None


def bind(host: str, port: int) -> socket.socket:
    """A listening socket. Raises ConfigError where the address cannot be used."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family, backlog=BACKLOG)
    except OverflowError:
        raise user_error(make_reason("listen.port", port=port), ConfigError) from None
    except OSError as error:
        why = os.strerror(error.errno) if error.errno and error.errno > 0 else error.strerror
        raise user_error(make_reason("listen.refused", host=host, port=port, why=why or ""), ConfigError) from None


class StoppableServer(uvicorn.Server):
    """uvicorn's server that calls `on_stop` as soon as it is to stop, so that event streams can end first."""

    def __init__(self, config: uvicorn.Config, on_stop: Callable[[], None]) -> None:
        super().__init__(config)
        self._on_stop = on_stop

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        self._on_stop()
        super().handle_exit(sig, frame)


def server(app: ASGIApp, on_stop: Callable[[], None] = lambda: None) -> uvicorn.Server:
    """The server for the socket of `bind`; `on_stop` is called from a signal handler when it is to stop."""
    config = uvicorn.Config(
        app,
        loop="auto",  # uvloop where the extra `speed` is installed
        http=PunctualProtocol,
        ws="none",
        lifespan="on",
        log_config=None,
        access_log=False,
        timeout_graceful_shutdown=2,
        workers=1,  # else uvicorn asks WEB_CONCURRENCY
        server_header=False,
        proxy_headers=False,
        date_header=False,
    )
    return StoppableServer(config, on_stop)
