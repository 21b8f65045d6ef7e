"""The routes of the pages, with what each of them shows."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from starlette.routing import Route

from bot.app.created_on_page import page_app_creator
from bot.app.doctor_app import examine_app
from bot.app.record_pages import record_routes
from bot.app.samples import make_sample
from bot.app.sessions import ServedSessions
from bot.app.start_checks import lacks_app
from bot.app.worker import Worker
from bot.config import Settings
from bot.model.events.pull_checks import PullCheckEvent
from bot.model.reasons import ExplainedStop
from bot.rules.reasons import make_reason
from bot.store.database.database import Database
from bot.store.inbox.deliveries import Deliveries, Inbox
from bot.store.runs.agent_usage import AgentUsage
from bot.store.runs.overview import Overview
from bot.store.runs.pull_runs import PullRuns
from bot.store.runs.runs import Runs
from bot.web.pages.dashboard import Health, all_runs, dashboard
from bot.web.pages.deliveries_page import DeliveryPages
from bot.web.pages.github_sign_in import GitHubSignIn
from bot.web.pages.log_page import LogPages
from bot.web.pages.run_page import RunPages
from bot.web.pages.session_form import SessionForm
from bot.web.pages.setup_page import SetupPages
from bot.web.pages.sign_in import FailureLimit, TokenSignIn
from bot.web.pages.site import Site
from bot.web.pages.static_files import PREFIX
from bot.web.rejected_requests import Rejections
from bot.web.run_feed import Followed
from bot.web.stream import Streams
from bot.workflows.context import Context
from bot.workflows.kernel import stop_run
from bot.workflows.pulls.loop import PULL_CHECK
from bot.workspace.checks.logs import directory

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,199}\Z")
MAX_NAMES = 500


@dataclass(frozen=True, slots=True)
class Server:
    """The parts of the server that the pages use."""

    settings: Settings
    database: Database
    worker: Worker
    sessions: ServedSessions
    streams: Streams
    health: Health
    deliveries: Deliveries
    inbox: Inbox
    rejections: Rejections
    restart: Callable[[], None]


def page_routes(site: Site, server: Server) -> list[Route]:
    """The routes of all pages, as a literal table."""
    overview = Overview(server.database)
    runs = RunPages(
        site=site,
        runs=Runs(server.database),
        pulls=PullRuns(server.database),
        files=StoredFiles(server.settings.home),
        control=Control(server),
        streams=server.streams,
        github_url=server.settings.github_url.rstrip("/"),
    )
    examine = partial(examine_app, server.settings)
    creator = page_app_creator(server.settings, server.restart)
    setup = SetupPages(site, examine, server.rejections.list, creator, has_app=not lacks_app(server.settings))
    return [
        Route(f"{PREFIX}/{{name}}", site.static.serve, methods=["GET"]),
        *sign_in_routes(site),
        Route("/", site.page(dashboard(site, overview, AgentUsage(server.database), server.health)), methods=["GET"]),
        Route("/runs", site.page(all_runs(site, overview)), methods=["GET"]),
        *runs.routes(),
        *LogPages(runs).routes(),
        *SessionForm(site, server.sessions, partial(make_sample, server.settings.home)).routes(),
        *record_routes(site, server.database, server.settings.github_url),
        *setup.routes(),
        *DeliveryPages(site, server.deliveries, server.inbox, server.rejections.list).routes(),
    ]


def sign_in_routes(site: Site) -> list[Route]:
    """The routes for signing in. Refused sign-ins of each kind count for themselves."""
    people = site.viewers.people
    with_github = GitHubSignIn(site, people, FailureLimit()).routes() if people is not None else []
    return [*TokenSignIn(site, FailureLimit()).routes(), *with_github]


class StoredFiles:
    """Implements the protocol `web.pages.run_page.RunFiles`."""

    def __init__(self, home: Path) -> None:
        self._home = home

    def path(self, run_id: str, name: str) -> Path | None:
        if not (_NAME.match(run_id) and _NAME.match(name)):
            return None
        path = directory(self._home, run_id) / name
        return path if path.is_file() and not path.is_symlink() else None

    def names(self, run_id: str) -> Sequence[str]:
        try:
            found = sorted(path.name for path in directory(self._home, run_id).iterdir() if path.is_file())
        except OSError:
            return ()
        return [name for name in found if _NAME.match(name)][:MAX_NAMES]


@dataclass(frozen=True, slots=True)
class _FollowedStatus:
    final: bool


@dataclass(frozen=True, slots=True)
class _FollowedCheck:
    status: _FollowedStatus


class FollowedPulls:
    """The events of pull checks, for a stream."""

    def __init__(self, database: Database, worker: Worker) -> None:
        self._pulls = PullRuns(database, worker.changes)
        self._worker = worker

    async def get(self, run_id: str) -> _FollowedCheck | None:
        row = await self._pulls.get(run_id)
        return None if row is None else _FollowedCheck(_FollowedStatus(row.final))

    async def events(self, run_id: str, after: int = 0) -> tuple[PullCheckEvent, ...]:
        return await self._pulls.events(run_id, after)

    async def changed(self, run_id: str, after: int, timeout_s: float) -> bool:
        async def has_changed() -> bool:
            row = await self._pulls.get(run_id)
            return row is None or row.final or bool(await self._pulls.events(run_id, after))

        return await self._worker.changes.until(has_changed, timeout_s)


class Control:
    """Implements the protocol `web.pages.run_page.RunControl`."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self._pulls = FollowedPulls(server.database, server.worker)

    def followed(self, kind: str) -> Followed:
        return self._pulls if kind == "pull" else self._server.sessions

    async def cancel(self, run_id: str) -> None:
        async def stop(context: Context) -> bool:
            checks = await context.stores.pulls.get(run_id)
            if checks is None:
                return False
            await stop_run(context, PULL_CHECK, checks, ExplainedStop.of("cancelled", make_reason("stop.http")))
            return True

        if not await self._server.worker.do(stop):
            await self._server.sessions.cancel(run_id)
