"""Two small worlds of sessions, one in memory and one in the real store, and a real server that shows either."""

from __future__ import annotations

import asyncio
import http.client
import json
import re
import threading
from collections.abc import Collection, Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.routing import Route

from bot.errors import Refused, Transient
from bot.model import Artifact, Issue, Phase, Problem, Repo, RunEvent, Session, SessionRequest, Status
from bot.rules.reasons import quoted
from bot.rules.runs.session_request import InvalidRequest
from bot.rules.runs.spec import RunSpec
from bot.store.database.database import Database
from bot.store.database.notify import POLL_S, Changes
from bot.store.runs.runs import RunRow, Runs
from bot.web.api import Guard, no_route
from bot.web.server import bind, server
from bot.web.sessions import Sessions, routes
from bot.web.stream import Streams
from bot.web.worktrees import worktrees
from tests.machine import PATIENCE_S
from tests.run_events import run_event
from tests.web.conftest import Answer

TOKEN = "admin-token-0123456789"
NOON = datetime(2026, 11, 21, 12, tzinfo=UTC)


def _plain(name: str) -> str:
    """What a store or a directory may be asked for; anything else should have been stopped before."""
    assert re.fullmatch(r"[A-Za-z0-9][\w.:-]{0,199}", name, re.A), name
    return name


class World:
    """Sessions in memory. `append` and `finish` are what a worker does, and may be called from the test's thread."""

    def __init__(self) -> None:
        self.changes = Changes()
        self.clear()

    def clear(self) -> None:
        """Nobody has asked for anything yet."""
        self.sessions: dict[str, Session] = {}
        self.told: dict[str, list[RunEvent]] = {}
        self.left: list[Artifact] = []
        self.logs: dict[tuple[str, str], bytes] = {}
        self.asked: list[SessionRequest] = []
        self.cancelled: list[str] = []
        self.busy = False
        self._ids = iter(range(1, 10**6))
        self.poll_s = POLL_S

    async def start(self, request: SessionRequest) -> Session:
        if request.repo == "/outside":
            raise InvalidRequest(
                (Problem(field="repo", reason=quoted("lies in no workspace root: set MENDBOT_WORKSPACE_ROOTS")),)
            )
        if request.repo == "/forbidden":
            raise Refused("outside_tree", "that is not for sessions")
        self.asked.append(request)
        return self.put(request.repo, request.task)

    def put(self, repo: str, task: str) -> Session:
        name = f"s-{len(self.sessions)}"
        phases = {phase: "pending" for phase in Phase if phase is not Phase.REPRODUCTION}
        made = Session(id=name, status=Status.QUEUED, repo=repo, task=task, phases=phases, created_at=NOON)
        self.sessions[name], self.told[name] = made, []
        return made

    def append(self, session_id: str, *types: str, **more: Any) -> None:
        fresh = [run_event(name, **{"id": next(self._ids), "ts": NOON, **more}) for name in types]
        self.told[session_id] = [*self.told[session_id], *fresh]
        self.changes.notify()

    def finish(self, session_id: str, status: Status = Status.SUCCESS) -> None:
        self.append(session_id, "session_finished")
        self.sessions[session_id] = self.sessions[session_id].model_copy(update={"status": status})
        self.changes.notify()

    async def get(self, session_id: str) -> Session | None:
        if self.busy:
            raise Transient("the database is locked", 1.5)
        return self.sessions.get(_plain(session_id))

    async def list(self, limit: int, offset: int, visible: Collection[str] | None = None) -> tuple[Session, ...]:
        shown = [each for each in self.sessions.values() if visible is None or each.repo in visible]
        return tuple(reversed(shown))[offset : offset + limit]

    async def events(self, session_id: str, after: int = 0) -> tuple[RunEvent, ...]:
        if self.busy:
            raise Transient("the database is locked", 1.5)
        return tuple(event for event in self.told[session_id] if event.id > after)

    async def artifacts(self, session_id: str) -> tuple[Artifact, ...]:
        return tuple(item for item in self.left if item.session_id == session_id)

    async def artifact(self, session_id: str, artifact_id: str) -> Artifact | None:
        wanted = _plain(artifact_id)
        return next((item for item in await self.artifacts(session_id) if item.id == wanted), None)

    async def log(self, session_id: str, name: str) -> bytes | None:
        return self.logs.get((session_id, _plain(name)))

    async def cancel(self, session_id: str) -> Session | None:
        self.cancelled.append(session_id)
        self.finish(session_id, Status.CANCELLED)
        return self.sessions[session_id]

    async def changed(self, session_id: str, after: int, timeout_s: float) -> bool:
        async def look() -> bool:
            session = await self.get(session_id)
            return session is None or session.status.final or bool(await self.events(session_id, after))

        return await self.changes.until(look, timeout_s, self.poll_s)


class Stored(World):
    """The same with events and states in the real store; with `silent`, as another process writes: no bell rings."""

    def __init__(self, home: Path) -> None:
        super().__init__()
        self.database = Database(f"sqlite:///{home / 'mendbot.db'}")
        self.database.migrate()
        self.runs = Runs(self.database)
        self.silent = False
        self._written = 0

    def put(self, repo: str, task: str) -> Session:
        made = super().put(repo, task)
        issue = Issue(number=len(self.sessions), title=task)
        spec = RunSpec(
            repo=Repo(owner="octo", name="pocket", installation_id=1),
            issues=(issue,),
            key=made.id,
            suggested_branch=f"fix/{made.id}",
            base_branch="main",
            agents=("fixers",),
        )
        thread = threading.Thread(target=lambda: asyncio.run(self.runs.create(made.id, spec)))
        thread.start()
        thread.join()
        return made

    def append(self, session_id: str, *types: str, **more: Any) -> None:
        fresh = []
        for name in types:
            self._written += 1  # of one kind there is one event for each attempt
            attempt = {"iteration": self._written} if name in ("attempt_started", "changes_applied") else {}
            fresh.append(run_event(name, **{**attempt, **more}))
        asyncio.run(self.runs.append(session_id, fresh))
        if not self.silent:
            self.changes.notify()

    def finish(self, session_id: str, status: Status = Status.SUCCESS) -> None:
        self.append(session_id, "session_finished", status=status)

    async def get(self, session_id: str) -> Session | None:
        row: RunRow | None = await self.runs.get(session_id)
        return None if row is None else self.sessions[session_id].model_copy(update={"status": row.status})

    async def events(self, session_id: str, after: int = 0) -> tuple[RunEvent, ...]:
        return await self.runs.events(session_id, after)


class SessionsHarness:
    """The server, as `serve` makes it, with a world behind it."""

    def __init__(self, world: Sessions, **streams: Any) -> None:
        self.streams = Streams(**streams)
        self.trees: list[dict[str, Any]] = []
        guard = Guard(TOKEN)

        async def every() -> list[dict[str, Any]]:
            return self.trees

        table = [*routes(world, self.streams, guard), Route("/api/worktrees", guard.read(worktrees(every)))]
        self._server = server(Starlette(routes=table, exception_handlers={HTTPException: no_route}))
        self._listener = bind("127.0.0.1", 0)
        self.port: int = self._listener.getsockname()[1]
        self._thread = threading.Thread(target=self._server.run, kwargs={"sockets": [self._listener]}, daemon=True)

    def __enter__(self) -> SessionsHarness:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.streams.close()
        self._server.should_exit = True
        self._thread.join(PATIENCE_S)
        assert not self._thread.is_alive()
        self._listener.close()

    def ask(self, method: str, path: str, body: Any = None, **headers: str | None) -> Answer:
        """With the token and as JSON, where `headers` (`_` for `-`) say nothing else; None leaves one out."""
        plain: dict[str, str | None] = {"authorization": f"Bearer {TOKEN}", "content-type": "application/json"}
        plain |= {name.replace("_", "-").lower(): value for name, value in headers.items()}
        payload = body if body is None or isinstance(body, bytes) else json.dumps(body).encode()
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE_S)
        try:
            connection.request(method, path, payload, {k: v for k, v in plain.items() if v is not None})
            got = connection.getresponse()
            return Answer(got.status, {k.lower(): v for k, v in got.getheaders()}, got.read().decode())
        finally:
            connection.close()

    def get(self, path: str, **headers: str | None) -> Answer:
        return self.ask("GET", path, **headers)

    def post(self, path: str, body: Any = None, **headers: str | None) -> Answer:
        return self.ask("POST", path, body, **headers)

    def stream(self, session_id: str, query: str = "", **headers: str) -> Stream:
        return Stream(self.port, f"/api/sessions/{session_id}/events{query}", headers)


class Stream:
    """One event stream, read message by message; closing it is going away."""

    def __init__(self, port: int, path: str, headers: Mapping[str, str]) -> None:
        self._connection = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE_S)
        plain = {name.replace("_", "-"): value for name, value in headers.items()}
        known = {"Accept": "text/event-stream", "Authorization": f"Bearer {TOKEN}"}
        self._connection.request("GET", path, None, {**known, **plain})
        self._answer = self._connection.getresponse()
        self.status = self._answer.status
        self.headers = {name.lower(): value for name, value in self._answer.getheaders()}

    def __enter__(self) -> Stream:
        return self

    def __exit__(self, *_: object) -> None:
        self._answer.close()
        self._connection.close()

    def messages(self) -> Iterator[dict[str, str]]:
        """Each message's fields; of a comment its text as `""`. Ends where the server ends the stream."""
        fields: dict[str, str] = {}
        while line := self._answer.readline().decode():
            if line != "\n":
                name, _, value = line.rstrip("\n").partition(": ")
                assert name not in fields
                fields[name] = value
            elif fields:
                yield fields
                fields = {}

    def take(self, count: int) -> list[int]:
        """The ids of the next events."""
        messages = (message for message in self.messages() if "id" in message)
        return [int(next(messages)["id"]) for _ in range(count)]

    def rest(self) -> list[int]:
        """The ids of all events until the end."""
        return [int(message["id"]) for message in self.messages() if "id" in message]
