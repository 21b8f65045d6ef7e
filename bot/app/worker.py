"""The worker: the engine, the jobs and the background loops.

It has a thread and an event loop of its own, so that no check can delay the answer to a webhook."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine, Mapping
from typing import Any, Literal, NoReturn, TypeVar

from bot.app.build import Jobs, build_context, engine_url, jobs, queues
from bot.app.start_checks import warn_of_agents
from bot.config import Settings
from bot.engine import Engine, quiet_logs
from bot.errors import Transient
from bot.github.answers import RateBudget
from bot.github.client import GitHub
from bot.http import open_client
from bot.logs import get_logger
from bot.reports.locale.reasons import english, user_error
from bot.rules.reasons import make_reason
from bot.store.database.database import Database
from bot.store.database.notify import Changes
from bot.workflows.context import Context, GitHubHealth, Loop
from bot.workflows.dashboard.publish import dashboard_loop
from bot.workflows.deliveries.process_deliveries import deliveries_loop
from bot.workflows.job_table import RUN_KINDS
from bot.workflows.kernel import publish_loop
from bot.workflows.maintenance.catch_up import catch_up_loop
from bot.workflows.maintenance.cleanup import cleanup_loop
from bot.workflows.maintenance.github_health import health_loop
from bot.workflows.maintenance.reconcile import reconcile
from bot.workflows.runs.form_groups import grouping_loop

GRACE_S = 6.0
"""Of the 10 seconds that a supervisor gives after SIGTERM, what running steps may use (threats.md, Rulings)."""

_LOOPS = (cleanup_loop,)
_APP_LOOPS = (dashboard_loop, deliveries_loop, catch_up_loop, grouping_loop, health_loop)
"""These need the App."""

Role = Literal["all", "receiver", "worker"]
"""What a server does: receive deliveries, work on them, or both."""

POLL_S = 1.0
"""How often a worker alone looks for deliveries, as no other process wakes it."""

T = TypeVar("T")
log = get_logger()


def _new_event_loop() -> asyncio.AbstractEventLoop:
    """A loop of uvloop where the extra `speed` is installed, else asyncio's own."""
    try:
        import uvloop
    except ImportError:
        return asyncio.new_event_loop()
    return uvloop.new_event_loop()


class Worker:
    """The engine, the jobs and the loops on one thread, for as long as the process lives."""

    def __init__(self, settings: Settings, database: Database, role: Role = "all") -> None:
        self._settings = settings
        self._role = role
        self._database = database
        self.changes = Changes()
        """Notifies when the worker has stored an event of a run."""
        self._loop: asyncio.AbstractEventLoop | None = None
        self._context: Context | None = None
        self._ready = threading.Event()
        self._stop: asyncio.Event | None = None
        self._failure: BaseException | None = None
        self._thread = threading.Thread(target=self._main, name="worker", daemon=True)

    def start(self) -> str:
        """Start the worker and wait until it is ready; returns the sandbox's description.

        Raises the error of a start that failed."""
        self._thread.start()
        self._ready.wait()
        if self._failure is not None:
            raise self._failure
        assert self._context is not None
        return self._context.sandbox.describe()

    def wake(self, name: Loop) -> None:
        """Tell one of the worker's loops that there is something to do; from any thread."""
        if self._loop is not None and self._context is not None and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._context.wake[name].set)

    async def do(self, work: Callable[[Context], Coroutine[Any, Any, T]]) -> T:
        """Run a coroutine on the worker's loop and return its result; callable from any other loop.

        Raises what the coroutine raises, and Transient if the worker has stopped."""
        loop, context = self._loop, self._context
        if loop is None or context is None or loop.is_closed():
            elsewhere = "worker.elsewhere" if self._role == "receiver" else "worker.not_running"
            raise user_error(make_reason(elsewhere), Transient)
        return await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(work(context), loop))

    def github_health(self) -> Mapping[str, str]:
        """The last known state of GitHub and of the App's key; sends no request."""
        health = self._context.github_health if self._context is not None else GitHubHealth()
        states = {"github": english(health.github), "app": english(health.app)}
        return states if health.at is None else {**states, "asked_at": health.at.isoformat(timespec="seconds")}

    def rate_budgets(self) -> Mapping[int, RateBudget]:
        """GitHub's rate budgets by installation, as its last answers named them."""
        github = self._context.github_or_none if self._context is not None else None
        return github.rate_budgets() if github is not None else {}

    def processed_deliveries(self) -> Mapping[str, int]:
        """How many deliveries this process has worked on, by outcome."""
        return dict(self._context.stores.deliveries.processed) if self._context is not None else {}

    async def problem(self) -> str | None:
        if self._role == "receiver":
            return None
        return None if self._thread.is_alive() else english(make_reason("worker.stopped"))

    def stop(self) -> None:
        """Let running steps end within the grace period. A step that does not end is repeated after the next start."""
        if self._loop is not None and self._stop is not None and self._thread.is_alive():
            self._loop.call_soon_threadsafe(self._stop.set)
            self._thread.join(GRACE_S + 1)

    def _main(self) -> None:
        self._loop = _new_event_loop()
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
        settings = self._settings
        # the context needs the engine, whose jobs need the context: the engine is looked up at each call
        job_queue = Jobs(
            enqueue=lambda job: engine.enqueue(job),
            state=lambda job_id: engine.status(job_id),
            forget=lambda ended_before: engine.forget(ended_before),
            wake=lambda job_id: engine.wake(job_id),
        )
        context = await build_context(settings, self._database, self.changes, job_queue, _github(settings))
        engine = Engine(engine_url(settings), "mendbot-1", queues(settings), jobs(context))
        return context, engine

    async def _run(self) -> None:
        self._stop = asyncio.Event()
        self._database.claim_work()
        context, engine = await self._build()
        self._context = context
        await warn_of_agents(self._settings, context.sandbox)
        await context.stores.deliveries.reopen()
        engine.start()
        quiet_logs()
        await engine.listen()
        while await context.stores.history.adopt():
            pass
        await reconcile(context)
        wanted = _LOOPS if context.github_or_none is None else (*_LOOPS, *_APP_LOOPS)
        loops = [asyncio.create_task(loop(context)) for loop in wanted]
        loops += [asyncio.create_task(publish_loop(context, kind)) for kind in RUN_KINDS]
        if self._role == "worker":
            loops.append(asyncio.create_task(_poll(context)))
        stopping = asyncio.create_task(self._stop.wait())
        self._ready.set()
        done, _ = await asyncio.wait([*loops, stopping], return_when=asyncio.FIRST_COMPLETED)
        for task in done - {stopping}:
            task.result()
        await engine.drain(GRACE_S)
        await context.control.halt()


def _github(settings: Settings) -> GitHub | None:
    """GitHub as the App; None where there is no App yet."""
    if settings.app_id is None:
        return None
    return GitHub(
        app_id=settings.app_id,
        key_pem=settings.key_pem,
        api_url=settings.github_api_url,
        client=open_client(settings.github_api_url, allow_private=settings.allow_private_api),
        write_spacing_s=settings.write_spacing_s,
    )


async def _poll(context: Context) -> NoReturn:
    while True:
        context.wake[Loop.DELIVERIES].set()
        await asyncio.sleep(POLL_S)
