"""Sessions for the web server: read from the store on its own loop, started and stopped on the worker's."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Collection
from pathlib import Path
from typing import Any, TypeAlias

from bot.app.samples import samples_root
from bot.app.worker import Worker
from bot.config import Settings
from bot.errors import Transient
from bot.model import Artifact, RunEvent, Session, SessionRequest
from bot.reports.locale.reasons import user_error
from bot.rules.reasons import make_reason
from bot.store.database.database import Database
from bot.store.runs.runs import RunRow, Runs
from bot.workflows.context import Context, tree_path
from bot.workflows.kernel import enqueue_run
from bot.workflows.runs.abandoned import end_if_abandoned
from bot.workflows.runs.loop import FIX_RUN
from bot.workflows.runs.request import cancel_run
from bot.workflows.runs.sessions import get_spec, new_id, read_session
from bot.workspace.checks.logs import read_log

_ID = re.compile(r"[A-Za-z0-9._-]{1,200}\Z")


Worktrees: TypeAlias = list[dict[str, Any]]


class ServedSessions:
    """Implements the protocol `web.sessions.Sessions`."""

    def __init__(self, settings: Settings, database: Database, worker: Worker) -> None:
        self._settings = settings
        self._runs = Runs(database, worker.changes)
        self._worker = worker

    async def start(self, request: SessionRequest) -> Session:
        roots = self._settings.workspace_roots
        samples = samples_root(self._settings.home)
        if Path(request.repo).is_relative_to(samples):
            roots = (*roots, samples)

        async def begin(context: Context) -> str:
            spec = await get_spec(context, request, roots=roots)
            session_id = new_id()
            if not await context.stores.runs.create(session_id, spec):
                raise user_error(make_reason("session.same_id"), Transient)
            await enqueue_run(context, FIX_RUN, session_id, spec.place)
            return session_id

        session = await self.get(await self._worker.do(begin))
        assert session is not None
        return session

    async def get(self, session_id: str) -> Session | None:
        row = await self._runs.get(session_id)
        return None if row is None else await read_session(self._runs, row)

    async def list(self, limit: int, offset: int, visible: Collection[str] | None = None) -> tuple[Session, ...]:
        rows = await self._runs.all(limit, offset, visible)
        return tuple([await read_session(self._runs, row) for row in reversed(rows)])

    async def events(self, session_id: str, after: int = 0) -> tuple[RunEvent, ...]:
        return await self._runs.events(session_id, after)

    async def artifacts(self, session_id: str) -> tuple[Artifact, ...]:
        return await self._runs.artifacts(session_id)

    async def artifact(self, session_id: str, artifact_id: str) -> Artifact | None:
        found = await self._runs.artifacts(session_id)
        return next((artifact for artifact in found if artifact.id == artifact_id), None)

    async def log(self, session_id: str, name: str) -> bytes | None:
        if not (_ID.match(session_id) and _ID.match(name)):
            return None
        return await asyncio.to_thread(read_log, self._settings.home, session_id, name)

    async def cancel(self, session_id: str) -> Session | None:
        because = make_reason("stop.http")

        async def stop(context: Context) -> None:
            row = await context.stores.runs.get(session_id)
            if row is None or row.status.final:
                return
            if not row.spec.attended:
                await cancel_run(context, row, because)
                return
            # its own process puts the tree back, once what runs there has ended; here that would come too early
            await context.stores.runs.request_cancel(session_id, because)
            await end_if_abandoned(context, row)

        await self._worker.do(stop)
        return await self.get(session_id)

    async def changed(self, session_id: str, after: int, timeout_s: float) -> bool:
        async def has_changed() -> bool:
            row = await self._runs.get(session_id)
            return row is None or row.status.final or bool(await self._runs.events(session_id, after))

        return await self._worker.changes.until(has_changed, timeout_s)

    async def worktrees(self) -> Worktrees:
        """The working trees of unfinished runs."""
        found = []
        for row in await self._runs.unfinished():
            state = await self._runs.state(row.id)
            if state.snapshot is not None:
                found.append(_worktree(self._settings.home, row, state.branch or None))
        return found


def _worktree(home: Path, row: RunRow, branch: str | None) -> dict[str, Any]:
    return {
        "path": str(tree_path(home, row.id, row.spec)),
        "branch": branch,
        "issues": [issue.number for issue in row.spec.issues],
        "repo": row.spec.place,
        "session": row.id,
    }
