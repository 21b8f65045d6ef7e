"""The only builder: settings become stores, doors, jobs and routes, once, and are passed down (house rule 6).

The web face and the work each have an event loop of their own, so that no check can delay an acknowledgement."""

from __future__ import annotations

import asyncio
import contextlib
import ctypes
import fcntl
import gc
import os
import signal
import sys
import threading
from collections.abc import Mapping, Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any

import structlog
import uvloop
from starlette.applications import Starlette
from starlette.routing import Route

from bot.config import Settings
from bot.engine import Engine, Job, JobArgs, JobState, JobStep, Outcome, Queue, quiet_logs
from bot.errors import ConfigError
from bot.github.client import GitHub
from bot.http import check_api_url, open_client
from bot.logs import set_up_logs
from bot.model import StopReason
from bot.store.candidates import Candidates
from bot.store.database import Database
from bot.store.deliveries import Deliveries, Inbox
from bot.store.reports import Reports
from bot.store.runs import Runs
from bot.web import api, health, listen
from bot.web.signature import parse_secrets
from bot.web.webhook import FrontDoor, WebhookEndpoint
from bot.workflows.agents import check_specs, developers_of
from bot.workflows.context import Context, RunControl, Stores, mirror_path
from bot.workflows.finish import settle
from bot.workflows.fix import advance, bury
from bot.workflows.gather import gather_loop
from bot.workflows.janitor import sweep, tend_loop
from bot.workflows.pump import pump_loop
from bot.workflows.reconcile import reconcile
from bot.workflows.report import report_loop
from bot.workflows.runner import guarded
from bot.workflows.secrets import Masker
from bot.workspace.sandbox import open_sandbox

GRACE_S = 6.0
"""Of the 10 seconds that a supervisor gives after SIGTERM, what running steps may use (trust.md, rulings)."""

log = structlog.get_logger()


def database_url(settings: Settings) -> str:
    return settings.database_url or f"sqlite:///{settings.home / 'mendbot.db'}"


def engine_url(settings: Settings) -> str:
    """The engine's own database: a file beside ours, or the same Postgres (dbos keeps to a schema of its own)."""
    return settings.database_url or f"sqlite:///{settings.home / 'engine.db'}"


def jobs(context: Context) -> Mapping[str, tuple[str, JobStep]]:
    """Every kind of job: its queue and its function."""

    async def fix_step(args: JobArgs) -> Outcome:
        return await advance(context, args["run_id"])

    async def fix_bury(args: JobArgs, stop: StopReason, tidy: bool) -> None:
        await bury(context, args["run_id"], stop, tidy=tidy)

    async def settle_step(args: JobArgs) -> Outcome:
        await settle(context, args["run_id"])
        context.wake["report"].set()
        return Outcome(done=True)

    return {
        "fix": ("fix", guarded("fix", fix_step, fix_bury)),
        "settle": ("replies", guarded("settle", settle_step, fix_bury)),
    }


def queues(settings: Settings) -> Sequence[Queue]:
    """Short jobs have a queue of their own, so that they never wait behind long ones."""
    return (
        Queue(name="fix", at_once=settings.workers, per_partition=min(settings.max_worktrees, settings.workers)),
        Queue(name="replies", at_once=8, per_partition=8),
    )


class Worker:
    """Everything that is not the web face, on its own thread and loop; lives as long as the process."""

    def __init__(self, settings: Settings, database: Database) -> None:
        self._settings = settings
        self._database = database
        self._loop: asyncio.AbstractEventLoop | None = None
        self._context: Context | None = None
        self._ready = threading.Event()
        self._stop: asyncio.Event | None = None
        self._failure: BaseException | None = None
        self._thread = threading.Thread(target=self._main, name="worker", daemon=True)

    def start(self) -> str:
        """Start and wait until it works; returns the sandbox's description, or raises what hindered it."""
        self._thread.start()
        self._ready.wait()
        if self._failure is not None:
            raise self._failure
        assert self._context is not None
        return self._context.sandbox.describe()

    def wake(self, name: str) -> None:
        """Tell one of the worker's loops that there is something to do; from any thread."""
        if self._loop is not None and self._context is not None and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._context.wake[name].set)

    async def problem(self) -> str | None:
        return None if self._thread.is_alive() else "the worker has stopped: see the log and restart"

    def stop(self) -> None:
        """Let steps end within the grace, then leave; what is cut short goes on after the next start."""
        if self._loop is not None and self._stop is not None and self._thread.is_alive():
            self._loop.call_soon_threadsafe(self._stop.set)
            self._thread.join(GRACE_S + 1)

    def _main(self) -> None:
        self._loop = uvloop.new_event_loop()
        asyncio.set_event_loop(self._loop)
        try:
            self._loop.run_until_complete(self._run())
        except BaseException as error:
            self._failure = error
            if self._ready.is_set():
                log.exception("worker_died")
        finally:
            self._ready.set()

    async def _build(self) -> tuple[Context, Engine]:
        settings, database = self._settings, self._database
        assert settings.app_id is not None
        masker = Masker(settings)
        client = open_client(settings.github_api_url, allow_private=settings.allow_private_api)
        github = GitHub(
            app_id=settings.app_id,
            key_pem=settings.key_pem,
            api_url=settings.github_api_url,
            client=client,
            write_spacing_s=settings.write_spacing_s,
        )
        masker.github = github
        runs = Runs(database)
        sandbox = await open_sandbox(settings.sandbox, settings.toolchains)
        holder: list[Engine] = []

        async def enqueue(job: Job) -> None:
            await holder[0].enqueue(job)

        async def job_state(job_id: str) -> JobState:
            return await holder[0].status(job_id)

        async def forget_jobs(ended_before: timedelta) -> int:
            return await holder[0].forget(ended_before)

        context = Context(
            settings=settings,
            stores=Stores(runs, Candidates(database), Deliveries(database), Reports(database)),
            github=github,
            sandbox=sandbox,
            control=RunControl(runs),
            enqueue=enqueue,
            job_state=job_state,
            forget_jobs=forget_jobs,
            developers=developers_of(settings, sandbox, lambda spec: mirror_path(settings, spec.repo)),
            mask=masker,
            holds_secret=masker.holds,
        )
        engine = Engine(engine_url(settings), "mendbot-1", queues(settings), jobs(context))
        holder.append(engine)
        return context, engine

    async def _run(self) -> None:
        self._stop = asyncio.Event()
        context, engine = await self._build()
        self._context = context
        await context.stores.deliveries.reopen()
        await sweep(context)
        engine.start()
        quiet_logs()
        await engine.listen()
        await reconcile(context)
        loops = [asyncio.create_task(loop(context)) for loop in (pump_loop, gather_loop, report_loop, tend_loop)]
        stopping = asyncio.create_task(self._stop.wait())
        self._ready.set()
        done, _ = await asyncio.wait([*loops, stopping], return_when=asyncio.FIRST_COMPLETED)
        for task in done - {stopping}:
            task.result()
        await engine.drain(GRACE_S)
        await context.control.halt()


def web(settings: Settings, database: Database, worker: Worker, host: str) -> FrontDoor:
    """The routes, as a literal table, behind a door that lets deliveries through first."""
    secret = settings.webhook_secret.get_secret_value() if settings.webhook_secret else None
    inbox = Inbox(database, on_stored=lambda: worker.wake("pump"))
    webhook = WebhookEndpoint(inbox, parse_secrets(secret), settings.app_id)
    token = settings.admin_token.get_secret_value() if settings.admin_token else None
    open_to_all = host in ("127.0.0.1", "::1", "localhost")
    listing = api.guarded(api.deliveries(Deliveries(database)), token, open_to_all)
    ready = health.readiness({"worker": worker.problem, "database": database.problem})
    alive = health.liveness()
    pages = Starlette(
        routes=[
            Route("/ping", alive),
            Route("/healthz", alive),
            Route("/api/health", alive),
            Route("/readyz", ready),
            Route("/api/deliveries", listing),
        ]
    )
    return FrontDoor(webhook, ("/api/github/webhooks", "/webhook"), pages)


def check_settings(settings: Settings) -> None:
    """Everything `serve` refuses to start without; raises ConfigError that says how to mend it."""
    if os.geteuid() == 0 and not settings.allow_root:
        raise ConfigError(
            "refusing to run as root: the sandbox's limits do not bind root; use an ordinary user, "
            "or set MENDBOT_ALLOW_ROOT=1 where this machine holds nothing worth protecting"
        )
    parse_secrets(settings.webhook_secret.get_secret_value() if settings.webhook_secret else None)
    if not settings.app_id:
        raise ConfigError("APP_ID is not set: give the App's id from its settings page")
    _ = settings.key_pem
    check_api_url(settings.github_api_url, settings.allow_private_api)
    check_api_url(settings.github_url, settings.allow_private_api, setting="MENDBOT_GITHUB_URL")
    check_specs(settings.agents)


def lock_home(home: Path) -> Any:
    """Hold the home for one server; raises ConfigError where another has it. Keep the result while serving."""
    try:
        home.mkdir(parents=True, exist_ok=True, mode=0o700)
        handle = (home / "serve.lock").open("w")
    except OSError as error:
        raise ConfigError(f"MENDBOT_HOME: {home} cannot be used ({error.strerror}): name a directory of ours") from None
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        handle.close()
        raise ConfigError(
            f"another `mendbot serve` uses {home}; SQLite allows one (MENDBOT_HOME names another home)"
        ) from None
    return handle


def settle_memory() -> None:
    """What is loaded now stays: let the collector look past it, and give back what starting up has used."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(10_000, 20, 50)
    with contextlib.suppress(OSError, AttributeError):  # glibc alone has it
        ctypes.CDLL(None).malloc_trim(0)


def serve(settings: Settings, host: str, port: int) -> int:
    """Receive webhooks and do the work until SIGTERM or SIGINT; returns the exit code."""
    set_up_logs(settings.log_level, settings.log_format)
    check_settings(settings)
    lock = lock_home(settings.home)
    listener = listen.bind(host, port)
    database = Database(database_url(settings))
    database.migrate()
    worker = Worker(settings, database)
    sandbox = worker.start()
    app = web(settings, database, worker, host)
    log.info("serving", host=host, port=listener.getsockname()[1], home=str(settings.home), sandbox=sandbox)
    server = listen.server(app)
    settle_memory()
    for number in (signal.SIGTERM, signal.SIGINT):
        # uvicorn raises the signal again once it has shut down; by default that would end us before the worker has
        signal.signal(number, lambda *_: None)
    try:
        server.run(sockets=[listener])
    finally:
        worker.stop()
        database.close()
        lock.close()
    sys.stderr.flush()
    return 0
