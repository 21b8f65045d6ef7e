"""A session that runs in the calling process until it ends: for `mendbot fix` and programs that embed Mendbot.

It needs no engine and takes no jobs of other processes: it calls the steps of its own job itself."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from datetime import timedelta

from bot.app.admin_token import with_known_token
from bot.app.build import Jobs, build_context, jobs
from bot.app.home import open_home
from bot.app.summary import get_summary
from bot.config import Settings
from bot.errors import ConfigError
from bot.model import Artifact, Model, RunEvent, Session, SessionRequest, SessionSummary
from bot.model.jobs import Job, JobName, JobState
from bot.reports.locale.reasons import reason_text, user_error
from bot.rules.reasons import make_reason
from bot.store.database.notify import Changes
from bot.store.database.open import database_url, writing
from bot.workflows.context import Context
from bot.workflows.kernel import settle_run
from bot.workflows.runs.abandoned import fail_abandoned
from bot.workflows.runs.local_tree import attending
from bot.workflows.runs.loop import FIX_RUN
from bot.workflows.runs.sessions import get_spec, new_id, read_session


class FinishedSession(Model):
    """A session that has ended, with its events, artifacts and summary."""

    session: Session
    events: tuple[RunEvent, ...]
    artifacts: tuple[Artifact, ...]
    summary: SessionSummary


_FORWARD_TIMEOUT_S = 1.0
Listener = Callable[[RunEvent], None]


async def run_session(
    settings: Settings,
    request: SessionRequest,
    *,
    on_event: Listener | None = None,
    on_wait: Callable[[str], None] | None = None,
    stop: asyncio.Event | None = None,
) -> FinishedSession:
    """Work on a session in a tree on this machine until it has ended (spec D); setting `stop` cancels it.

    `on_event` is called with each event in order, `on_wait` with the reason while another session works in the tree.
    Raises InvalidRequest for a request that cannot be served, UserError for a broken configuration of the repository,
    MendbotError for a database in MENDBOT_HOME that cannot be used."""
    open_home(settings.home)
    settings = with_known_token(settings)
    async with writing(database_url(settings)) as database:
        context = await build_context(settings, database, Changes(), _no_jobs(), None)
        await fail_abandoned(context)
        spec = await get_spec(context, request, roots=None, attended=True)
        session_id = new_id()
        with attending(settings.home, session_id):
            await context.stores.runs.create(session_id, spec)
            forwarder = asyncio.create_task(_forward_events(context, session_id, on_event)) if on_event else None
            stopper = asyncio.create_task(_stop(context, session_id, stop)) if stop else None
            try:
                await _drive(context, session_id, on_wait)
            finally:
                await _end(context, session_id, forwarder, stopper)
            return await _finished_session(context, session_id)


def _no_jobs() -> Jobs:
    async def enqueue(job: Job) -> None:
        raise user_error(make_reason("session.needs_server", job=job.id), ConfigError)

    async def state(_: str) -> JobState:
        return "unknown"

    async def forget(_: timedelta) -> int:
        return 0

    async def wake(_: str) -> None:
        return

    return Jobs(enqueue=enqueue, state=state, forget=forget, wake=wake)


async def _drive(context: Context, session_id: str, on_wait: Callable[[str], None] | None) -> None:
    call, args, faults, shown = jobs(context)[JobName.FIX][1], {"run_id": session_id}, 0, None
    while not (outcome := await call(args, faults)).done:
        faults = faults + 1 if outcome.fault else 0
        waits_for = await _waits_for(context, session_id) if on_wait else None
        if on_wait and waits_for is not None and waits_for != shown:
            on_wait(waits_for)
        shown = waits_for
        with suppress(TimeoutError):  # a cancellation ends the pause early
            await asyncio.wait_for(context.control.cancelled(session_id, context.stores.runs), outcome.wait_s)
    await settle_if_cancelled(context, session_id)


async def _waits_for(context: Context, session_id: str) -> str | None:
    row = await context.stores.runs.get(session_id)
    return None if row is None or row.waiting_for is None else reason_text(row.waiting_for, context.settings.language)


async def settle_if_cancelled(context: Context, session_id: str) -> None:
    """Record the end of a session that was cancelled, here or over HTTP."""
    row = await context.stores.runs.get(session_id)
    if row is not None and not row.status.final and row.cancel_because is not None:
        await settle_run(context, FIX_RUN, session_id)


async def _stop(context: Context, session_id: str, stop: asyncio.Event) -> None:
    await stop.wait()
    await context.stores.runs.request_cancel(session_id, make_reason("stop.signal"))
    context.control.signal(session_id)


async def _forward_events(context: Context, session_id: str, on_event: Listener) -> None:
    runs, seen = context.stores.runs, 0
    while True:
        ring = runs.changes.count
        for event in await runs.events(session_id, seen):
            seen = event.id
            on_event(event)
            if event.type == "session_finished":
                return
        await runs.changes.wait(60.0, ring)


async def _end(
    context: Context, session_id: str, forwarder: asyncio.Task[None] | None, stopper: asyncio.Task[None] | None
) -> None:
    """Let the forwarder pass on the last events of an ended session, and end both tasks."""
    row = await context.stores.runs.get(session_id)
    if row is not None and row.status.final and forwarder is not None:
        await asyncio.wait([forwarder], timeout=_FORWARD_TIMEOUT_S)
    tasks = [task for task in (forwarder, stopper) if task is not None]
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


async def _finished_session(context: Context, session_id: str) -> FinishedSession:
    runs = context.stores.runs
    row = await runs.get(session_id)
    assert row is not None
    events = await runs.events(session_id)
    return FinishedSession(
        session=await read_session(runs, row),
        events=events,
        artifacts=await runs.artifacts(session_id),
        summary=get_summary(context.settings.home, row, events),
    )
