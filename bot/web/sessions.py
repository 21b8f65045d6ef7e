"""Sessions over HTTP: start, show, follow and cancel them, read their artifacts and logs (contract *HTTP*, spec D).

Nothing is executed here: a request becomes a job, and answers come from the database."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Collection
from functools import partial
from typing import Any, Protocol

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from bot.model import Artifact, Problem, RunEvent, Session, SessionRequest
from bot.reports.locale.reasons import english_json
from bot.rules.reasons import make_reason
from bot.rules.runs.session_request import InvalidRequest, parse_request
from bot.web.api import Endpoint, Guard, answer, error_response, json_body, not_found, page, viewer_of
from bot.web.stream import EventStream, Streams, last_seen, wants_stream
from bot.web.viewers import Viewer

_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:-]{0,199}\Z")
_LIST = "/api/sessions"
_LOG_HEADERS = {
    # a log holds the output of untrusted code, which no browser may run as a page
    "X-Content-Type-Options": "nosniff",
    "Content-Security-Policy": "default-src 'none'; sandbox",
}


class Sessions(Protocol):
    """The stored sessions, and how they are started and cancelled."""

    async def start(self, request: SessionRequest) -> Session:
        """Store a session and start it. Raises InvalidRequest (or another UserError) for a path outside the workspace
        roots, a missing directory or an unknown agent."""
        ...

    async def get(self, session_id: str) -> Session | None: ...

    async def list(self, limit: int, offset: int, visible: Collection[str] | None = None) -> tuple[Session, ...]:
        """Newest first. `visible` are the repositories whose sessions are listed; None stands for all sessions."""
        ...

    async def events(self, session_id: str, after: int = 0) -> tuple[RunEvent, ...]:
        """The events with a larger id than `after`, in order."""
        ...

    async def artifacts(self, session_id: str) -> tuple[Artifact, ...]:
        """Oldest first."""
        ...

    async def artifact(self, session_id: str, artifact_id: str) -> Artifact | None: ...

    async def log(self, session_id: str, name: str) -> bytes | None:
        """A full log from disk."""
        ...

    async def cancel(self, session_id: str) -> Session | None:
        """Ask a session to stop; one that has ended stays as it is."""
        ...

    async def changed(self, session_id: str, after: int, timeout_s: float) -> bool:
        """Wait until there are events with a larger id than `after` or the session is final; False after a timeout."""
        ...


def routes(sessions: Sessions, streams: Streams, guard: Guard) -> list[Route]:
    """Every route below `/api/sessions`."""
    read, write = partial(guard.read, shared=True), partial(guard.write, shared=True)
    item = _LIST + "/{session}"
    return [
        Route(_LIST, write(start(sessions)), methods=["POST"]),
        Route(_LIST, read(listing(sessions)), methods=["GET"]),
        Route(item, read(single(sessions)), methods=["GET"]),
        Route(item + "/events", read(events(sessions, streams)), methods=["GET"]),
        Route(item + "/artifacts", read(artifacts(sessions)), methods=["GET"]),
        Route(item + "/artifacts/{artifact}", read(artifact(sessions)), methods=["GET"]),
        Route(item + "/logs/{log}", read(log(sessions)), methods=["GET"]),
        Route(item + "/cancel", write(cancel(sessions)), methods=["POST"]),
    ]


def start(sessions: Sessions) -> Endpoint:
    async def started(request: Request) -> Response:
        parsed = parse_request(await json_body(request))
        if not isinstance(parsed, SessionRequest):
            raise InvalidRequest(parsed)
        require_write(viewer_of(request), parsed)
        session = await sessions.start(parsed)
        return answer(session_json(session), 201, {"Location": f"{_LIST}/{session.id}"})

    return started


def listing(sessions: Sessions) -> Endpoint:
    async def endpoint(request: Request) -> Response:
        listed = await sessions.list(*page(request), viewer_of(request).places)
        return answer([session_json(session) for session in listed])

    return endpoint


def single(sessions: Sessions) -> Endpoint:
    async def shown(_request: Request, session: Session) -> Response:
        return answer(session_json(session))

    return _with_session(sessions, shown)


def events(sessions: Sessions, streams: Streams) -> Endpoint:
    async def shown(request: Request, session: Session) -> Response:
        after = last_seen(request)
        if request.method == "HEAD" or not wants_stream(request.headers):
            stored = await sessions.events(session.id, after)
            return answer(english_json([event.as_json() for event in stored]), headers={"Vary": "Accept"})
        if session.status.final and after and not await sessions.events(session.id, after):
            return Response(status_code=204)  # "stop reconnecting" (HTML standard, Server-sent events)
        return EventStream(streams, sessions, session.id, after, viewer=viewer_of(request))

    return _with_session(sessions, shown)


def artifacts(sessions: Sessions) -> Endpoint:
    async def shown(_request: Request, session: Session) -> Response:
        return answer([artifact_json(item) for item in await sessions.artifacts(session.id)])

    return _with_session(sessions, shown)


def artifact(sessions: Sessions) -> Endpoint:
    async def shown(request: Request, session: Session) -> Response:
        artifact_id = request.path_params["artifact"]
        item = await sessions.artifact(session.id, artifact_id) if _ID.match(artifact_id) else None
        if item is None:
            return not_found("artifact", f"{_LIST}/{session.id}/artifacts")
        return answer(artifact_json(item))

    return _with_session(sessions, shown)


def log(sessions: Sessions) -> Endpoint:
    async def shown(request: Request, session: Session) -> Response:
        name = request.path_params["log"]
        content = await sessions.log(session.id, name) if _ID.match(name) else None
        if content is None:
            return not_found("log", f"{_LIST}/{session.id}/events")
        return Response(content, media_type="text/plain", headers=_LOG_HEADERS)

    return _with_session(sessions, shown)


def cancel(sessions: Sessions) -> Endpoint:
    async def cancelled(request: Request, session: Session) -> Response:
        if not viewer_of(request).may_write(session.repo):
            return error_response(403, make_reason("request.read_only"))
        after = session if session.status.final else await sessions.cancel(session.id)
        return not_found("session", _LIST) if after is None else answer(session_json(after))

    return _with_session(sessions, cancelled)


def _with_session(sessions: Sessions, endpoint: Callable[[Request, Session], Awaitable[Response]]) -> Endpoint:
    """An endpoint for one session; it answers 404 where there is none that the viewer may see."""

    async def looked_up(request: Request) -> Response:
        session_id = request.path_params["session"]
        session = await sessions.get(session_id) if _ID.match(session_id) else None
        if session is None or not viewer_of(request).may_read(session.repo):
            return not_found("session", _LIST)
        return await endpoint(request, session)

    return looked_up


def require_write(viewer: Viewer, request: SessionRequest) -> None:
    """Raises InvalidRequest unless the viewer may start this session: people only where they can write."""
    if not viewer.may_write(request.repo):
        raise InvalidRequest((Problem(field="repo", reason=make_reason("session.no_write")),))


def session_json(session: Session) -> dict[str, Any]:
    """The session's JSON for programs, without fields that are null."""
    return session.model_dump(mode="json", by_alias=True, exclude_none=True)


def artifact_json(item: Artifact) -> dict[str, Any]:
    """The artifact as one flat object for programs: its own fields and those of its data."""
    own = item.model_dump(mode="json", by_alias=True, exclude_none=True)
    data = own.pop("data")
    # a certificate is verified by rules that distinguish null from missing
    with_nulls = item.id.endswith(".certificate")
    return {**{key: value for key, value in data.items() if with_nulls or value is not None}, **own}
