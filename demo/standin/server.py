"""Starts the stand-in: its own thread, its own loop, a free port of 127.0.0.1, a key pair of its process."""

from __future__ import annotations

import asyncio
import contextlib
import functools
import secrets
import socket
import threading
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from email.utils import format_datetime
from pathlib import Path
from types import TracebackType

import uvicorn
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from demo.standin.githttp import GitHttp
from demo.standin.oauth import OAuth
from demo.standin.pages.pages import Pages
from demo.standin.records import App, User
from demo.standin.routes import app as app_routes
from demo.standin.routes import code, issue, person, pull, review
from demo.standin.routes.table import Rest
from demo.standin.state import State
from demo.standin.webhook_relay import WebhookRelay
from demo.standin.webhooks import Hooks
from demo.standin.world import World

_START_S = 20.0
_STOP_S = 15.0
"""More than a webhook may take, for one may be on its way."""

# what has a name in its path comes before what has a number or a rest there: comments, `commits/{ref}/pulls`
TABLE = (
    *app_routes.ENDPOINTS,
    *person.ENDPOINTS,
    *issue.ENDPOINTS,
    *review.ENDPOINTS,
    *pull.ENDPOINTS,
    *code.ENDPOINTS,
)


class StandIn:
    """A GitHub of one's own. Use it as a context manager, or call `start` and `stop`.

    `root` is an empty or missing directory for the repositories. With `webhook_url` None nothing is sent until
    `world.set_webhook_url` says where. The API is at `api_url`, pages and git at `url`."""

    def __init__(
        self,
        root: Path,
        *,
        webhook_url: str | None,
        webhook_secret: str,
        app_slug: str = "mendbot",
        app_id: int = 1234,
    ) -> None:
        self.private_key_pem, public_key_pem = _key_pair()
        born = datetime.now(UTC)
        self._root = root
        self._app = App(
            id=app_id,
            slug=app_slug,
            public_key_pem=public_key_pem,
            webhook_secret=webhook_secret,
            webhook_url=webhook_url,
            owner=User(1_001, "app-owner", "User", "App owner", born),
            bot=User(41_898_000 + app_id, f"{app_slug}[bot]", "Bot", f"{app_slug}[bot]", born),
            created_at=born,
            client_secret=secrets.token_hex(20),
            client_id=f"Iv23{app_id:016d}",
        )
        self._thread: threading.Thread | None = None
        self._server: uvicorn.Server | None = None
        self._ready = threading.Event()
        self._failure: BaseException | None = None
        self._world: World | None = None
        self.url = ""

    @property
    def api_url(self) -> str:
        return f"{self.url}/api"

    @property
    def app_id(self) -> int:
        return self._app.id

    @property
    def webhook_secret(self) -> str:
        return self._app.webhook_secret

    @property
    def client_id(self) -> str:
        return self._app.client_id

    @property
    def client_secret(self) -> str:
        return self._app.client_secret

    @property
    def world(self) -> World:
        if self._world is None:
            raise RuntimeError("the stand-in has not been started: call start() first")
        return self._world

    def start(self, port: int = 0) -> StandIn:
        """Listen on 127.0.0.1, on a free port if `port` is 0; returns when it answers."""
        self._root.mkdir(parents=True, exist_ok=True)
        listener = socket.create_server(("127.0.0.1", port))
        self.url = f"http://127.0.0.1:{listener.getsockname()[1]}"
        hooks = Hooks(State(self._root.resolve(), self.url, self._app))
        config = uvicorn.Config(
            self._application(hooks),
            loop="asyncio",
            http="httptools",
            log_config=None,
            access_log=False,
            server_header=False,
            date_header=False,
            timeout_graceful_shutdown=2,
        )
        self._server = uvicorn.Server(config)
        self._thread = threading.Thread(target=self._run, args=(listener,), name="github-stand-in", daemon=True)
        self._thread.start()
        if not self._ready.wait(_START_S) or self._failure:
            raise RuntimeError("the stand-in did not start") from self._failure
        return self

    def _run(self, listener: socket.socket) -> None:
        try:
            if self._server:
                self._server.run(sockets=[listener])
        except BaseException as error:  # shown by `start` or `stop`, which run in the caller's thread
            self._failure = error
        finally:
            listener.close()
            self._ready.set()

    def stop(self) -> None:
        """Stop answering and sending; what is on disk stays."""
        if self._server and self._thread:
            self._server.should_exit = True
            self._thread.join(_STOP_S)
            if self._thread.is_alive():
                raise RuntimeError(f"the stand-in did not stop within {_STOP_S:g} s")
        self._server = self._thread = None
        if self._failure:
            raise RuntimeError("the stand-in broke") from self._failure

    def __enter__(self) -> StandIn:
        return self.start()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def _application(self, hooks: Hooks) -> Starlette:
        @contextlib.asynccontextmanager
        async def lifespan(_: Starlette) -> AsyncIterator[None]:
            sender = asyncio.create_task(hooks.run())
            self._world = World(hooks, asyncio.get_running_loop())
            self._ready.set()
            try:
                yield
            finally:
                sender.cancel()
                with contextlib.suppress(asyncio.CancelledError):
                    await sender

        # git's paths have one part more than a repository's page, so the order of the last two does not matter
        routes = [
            *WebhookRelay().routes(),
            *OAuth(hooks.state).routes(),
            *Rest(hooks, TABLE).routes(),
            *GitHttp(hooks).routes(),
            *Pages(hooks.state).routes(),
        ]
        clock = Middleware(_Dated, state=hooks.state)
        return Starlette(routes=routes, lifespan=lifespan, middleware=[clock])


@functools.cache
def _key_pair() -> tuple[str, str]:
    """A private key and its public one in PEM: one pair for all stand-ins of a process, as making one takes time."""
    key = rsa.generate_private_key(public_exponent=65_537, key_size=2048)
    private = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.TraditionalOpenSSL, serialization.NoEncryption()
    )
    public = key.public_key().public_bytes(serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo)
    return private.decode(), public.decode()


class _Dated:
    """Gives every answer GitHub's own `Date`, which may differ from this machine's."""

    def __init__(self, app: ASGIApp, state: State) -> None:
        self.app = app
        self.state = state

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def dated(message: Message) -> None:
            if message["type"] == "http.response.start":
                date = format_datetime(self.state.now(), usegmt=True).encode()
                message["headers"] = [*message["headers"], (b"date", date)]
            await send(message)

        await self.app(scope, receive, dated if scope["type"] == "http" else send)
