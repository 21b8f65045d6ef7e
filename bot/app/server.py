"""`mendbot serve`: the web server on the main thread and the worker on another, until SIGTERM or SIGINT."""

from __future__ import annotations

import asyncio
import contextlib
import ctypes
import fcntl
import gc
import os
import signal
import socket
import sys
import threading
from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.routing import Route

from bot.app.admin_token import TOKEN_FILE, has_admin_token, with_admin_token
from bot.app.github_people import people_of
from bot.app.home import claim_home, unusable_home
from bot.app.metrics import Metrics, Sources
from bot.app.pages import Server, page_routes
from bot.app.relay import relayed
from bot.app.sessions import ServedSessions
from bot.app.start_checks import check_settings, lacks_app
from bot.app.worker import Role, Worker
from bot.config import Settings, unknown_variables
from bot.errors import ConfigError
from bot.logs import get_logger, set_up_logs
from bot.reports.locale.reasons import english, user_error
from bot.rules.reasons import make_reason
from bot.store.database.database import Database
from bot.store.database.engines import parse_url
from bot.store.database.open import database_url
from bot.store.history.history import History
from bot.store.inbox.deliveries import Deliveries, Inbox
from bot.store.inbox.refused_deliveries import RefusedDeliveries
from bot.store.runs.runs import Runs
from bot.web import api, health
from bot.web import server as listen
from bot.web.browser_sessions import BrowserSessions
from bot.web.history import history
from bot.web.metrics import metrics
from bot.web.pages.dashboard import Health
from bot.web.pages.site import Site
from bot.web.rejected_requests import Rejections
from bot.web.replay import replay
from bot.web.sessions import routes as session_routes
from bot.web.signature import parse_secrets
from bot.web.stream import Streams
from bot.web.viewers import Viewers
from bot.web.webhook import WebhookEndpoint, WebhookRouter
from bot.web.worktrees import worktrees
from bot.workflows.agents.profile_agents import unavailable_profiles
from bot.workflows.context import Loop

_M_ARENA_MAX = -8
"""As malloc.h of glibc has it."""

log = get_logger()


@dataclass(slots=True)
class Restart:
    """A wish to start the server anew in this process, with the App that was made meanwhile."""

    wanted: bool = False
    stop: Callable[[], None] = lambda: None

    def __call__(self) -> None:
        self.wanted = True
        self.stop()


def web(
    settings: Settings, database: Database, worker: Worker, streams: Streams, restart: Callable[[], None] = lambda: None
) -> WebhookRouter:
    """The routes as a literal table, behind a router that handles webhooks first."""
    inbox = Inbox(database, on_stored=lambda: worker.wake(Loop.DELIVERIES))
    stored = Deliveries(database)
    rejections = Rejections(RefusedDeliveries(database))
    webhook = WebhookEndpoint(inbox, _webhook_secrets(settings), settings.app_id, rejections)
    assert settings.admin_token is not None, "with_admin_token gives one"
    token = settings.admin_token.get_secret_value()
    browsers = BrowserSessions(token, secure=(settings.public_url or "").startswith("https:"))
    people = people_of(settings)
    viewers = Viewers(browsers, people)
    guard = api.Guard(token, viewers)
    site = Site(guard, viewers, settings.language)
    sessions = ServedSessions(settings, database, worker)
    figures = Metrics(Sources(settings, database, worker, webhook, rejections))
    probes = {"worker": worker.problem, "database": database.problem}
    if lacks_app(settings):
        probes["app"] = _no_app
    ready = health.readiness(probes, worker.github_health)
    known = Health(probes, worker.github_health, settings)
    parts = Server(settings, database, worker, sessions, streams, known, stored, inbox, rejections, restart)
    alive = health.liveness()

    @contextlib.asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        async with database.async_reads():
            yield
        if people is not None:
            await people.close()

    pages = Starlette(
        routes=[
            Route("/ping", alive),
            Route("/healthz", alive),
            Route("/api/health", alive),
            Route("/readyz", ready),
            Route("/metrics", guard.read(metrics(figures.exposition))),
            Route("/api/deliveries", guard.read(api.deliveries(stored, rejections.list))),
            Route("/api/deliveries/{delivery}/replay", guard.write(replay(stored, inbox)), methods=["POST"]),
            Route("/api/history", guard.read(history(History(database)))),
            Route("/api/worktrees", guard.read(worktrees(sessions.worktrees), shared=True)),
            *session_routes(sessions, streams, guard),
            *page_routes(site, parts),
        ],
        exception_handlers={HTTPException: site.no_route, Exception: site.internal_error},
        lifespan=lifespan,
    )
    return WebhookRouter(webhook, ("/api/github/webhooks", "/webhook"), pages)


def _webhook_secrets(settings: Settings) -> tuple[bytes, ...]:
    """The secrets of deliveries; none where there is no App."""
    secret = settings.webhook_secret.get_secret_value() if settings.webhook_secret else None
    return () if lacks_app(settings) else parse_secrets(secret)


async def _no_app() -> str | None:
    return english(make_reason("setup.no_app"))


def lock_home(home: Path) -> Any:
    """Lock the home for one server; raises ConfigError if another server uses it. Close the result to unlock it."""
    try:
        # not truncated and no link followed, or a link planted there would empty the file that it leads to
        opened = os.open(home / "serve.lock", os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        handle = os.fdopen(opened, "rb", buffering=0)
    except OSError as error:
        raise unusable_home(home, error) from None
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        handle.close()
        raise user_error(make_reason("serve.locked", home=str(home)), ConfigError) from None
    return handle


def share_memory() -> None:
    """Let all threads allocate from two arenas. glibc would give most threads an arena of their own, which does not
    return the memory that it frees. Call it before threads are started."""
    with contextlib.suppress(OSError, AttributeError):  # glibc alone has it
        ctypes.CDLL(None).mallopt(_M_ARENA_MAX, 2)


def settle_memory() -> None:
    """Exclude the objects of the start-up from garbage collection, and return unused memory to the system."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(10_000, 20, 50)
    with contextlib.suppress(OSError, AttributeError):  # glibc alone has it
        ctypes.CDLL(None).malloc_trim(0)


def serve(settings: Settings, host: str, port: int | None, role: Role = "all") -> int:
    """Receive webhooks, do the work, or both, until SIGTERM or SIGINT; returns the exit code.

    A worker without a port listens nowhere. Raises ConfigError for what it cannot start without."""
    if role != "all" and parse_url(database_url(settings)).get_backend_name() == "sqlite":
        raise user_error(make_reason("serve.role", role=role), ConfigError)
    share_memory()
    set_up_logs(settings.log_level, settings.log_format)
    without_app = role == "all" and lacks_app(settings)
    check_settings(settings, without_app=without_app)
    for name, similar in unknown_variables().items():
        log.warning("unknown_variable", name=name, because="no setting has this name", similar=similar or "none")
    for name, reason in unavailable_profiles(settings).items():
        log.warning("agent_unavailable", agent=name, because=english(reason))
    claim_home(settings.home)
    restart = Restart()
    with contextlib.ExitStack() as stack:
        if role != "receiver":
            stack.enter_context(lock_home(settings.home))
        listener = None if port is None else listen.bind(host, port)
        token_in = "MENDBOT_ADMIN_TOKEN" if has_admin_token(settings) else str(settings.home / TOKEN_FILE)
        settings = with_admin_token(settings)
        database = Database(database_url(settings))
        stack.callback(database.close)
        database.migrate()
        if without_app and asyncio.run(_has_github_work(database)):
            raise user_error(make_reason("serve.no_app_id"), ConfigError)
        worker = Worker(settings, database, role)
        sandbox = worker.start() if role != "receiver" else None
        stack.callback(worker.stop)
        where = {"home": str(settings.home), "token_in": token_in, "role": role, "sandbox": sandbox}
        _listen(settings, database, worker, listener, where, restart)
    sys.stderr.flush()
    if restart.wanted:
        os.execv(sys.executable, [sys.executable, *sys.orig_argv[1:]])  # noqa: S606  # this very program
    return 0


async def _has_github_work(database: Database) -> bool:
    """Whether the home was used with an App: without one, its unfinished runs would fail."""
    unfinished = await Runs(database).unfinished()
    return bool(await Deliveries(database).list(1)) or any(row.spec.repo is not None for row in unfinished)


def _listen(
    settings: Settings,
    database: Database,
    worker: Worker,
    listener: socket.socket | None,
    where: Mapping[str, object],
    restart: Restart,
) -> None:
    """Serve on that socket until SIGTERM or SIGINT; without a socket, wait for one of them."""
    ended = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        # uvicorn raises the signal again once it has shut down; by default that would end us before the worker has
        signal.signal(number, lambda *_: ended.set())
    if listener is None:
        log.info("serving", **where)
        settle_memory()
        ended.wait()
        return
    streams = Streams()
    server = listen.server(web(settings, database, worker, streams, restart), streams.close)

    def stop() -> None:
        streams.close()
        server.should_exit = True

    restart.stop = stop
    host, port = listener.getsockname()[:2]
    origin = f"http://{'[' + host + ']' if ':' in host else host}:{port}"
    log.info("serving", host=host, port=port, **where)
    if lacks_app(settings):
        page = f"{settings.public_url or origin}/setup"
        log.warning("no_app", page=page, token_in=where["token_in"], because=english(make_reason("setup.no_app")))
    settle_memory()
    with relayed(settings, origin):
        server.run(sockets=[listener])
    if restart.wanted:
        log.info("restarting", because="the App was created")
