"""Sessions over HTTP: start one, look at it, follow it, read what it left, stop it (contract *HTTP*, spec D).

Nothing is done here: what is asked becomes a job, and what is shown was stored."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable
from typing import Any, Protocol

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from bot.model import Artifact, RunEvent, Session, SessionRequest
from bot.reports.locale.reasons import english_json
from bot.rules.runs.session_request import InvalidRequest, parse_request
from bot.web.api import Endpoint, Guard, answer, json_body, not_found, page
from bot.web.stream import EventStream, Streams, last_seen, wants_stream

_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:-]{0,199}\Z")
_LIST = "/api/sessions"
_LOG_HEADERS = {
    # a log holds what strangers' code printed: it is shown, and never taken for a page
    "X-Content-Type-Options": "nosniff",
    "Content-Security-Policy": "default-src 'none'; sandbox",
}


class Sessions(Protocol):
    """The sessions there are, and what may be done to them."""

    async def start(self, request: SessionRequest) -> Session:
        """Store it and begin. Raises Rejected (or another UserError) for what only this machine can tell: a path
        outside the workspace roots, no such directory, an unknown agent."""
        ...

    async def get(self, session_id: str) -> Session | None: ...

    async def list(self, limit: int, offset: int) -> tuple[Session, ...]:
        """Newest first."""
        ...

    async def events(self, session_id: str, after: int = 0) -> tuple[RunEvent, ...]:
        """Those with a larger id than `after`, in order."""
        ...

    async def artifacts(self, session_id: str) -> tuple[Artifact, ...]:
        """Oldest first."""
        ...

    async def artifact(self, session_id: str, artifact_id: str) -> Artifact | None: ...

    async def log(self, session_id: str, name: str) -> bytes | None:
        """A full log that was kept on disk."""
        ...

    async def cancel(self, session_id: str) -> Session | None:
        """Ask it to stop; one that has ended stays as it is."""
        ...

    async def changed(self, session_id: str, after: int, timeout_s: float) -> bool:
        """Wait until there are events with a larger id than `after` or the session is final; False when the time is
        over."""
        ...


def routes(sessions: Sessions, streams: Streams, guard: Guard) -> list[Route]:
    """Every route below `/api/sessions`."""
    read, write = guard.read, guard.write
    one = _LIST + "/{session}"
    return [
        Route(_LIST, write(start(sessions)), methods=["POST"]),
        Route(_LIST, read(listing(sessions)), methods=["GET"]),
        Route(one, read(single(sessions)), methods=["GET"]),
        Route(one + "/events", read(events(sessions, streams)), methods=["GET"]),
        Route(one + "/artifacts", read(artifacts(sessions)), methods=["GET"]),
        Route(one + "/artifacts/{artifact}", read(artifact(sessions)), methods=["GET"]),
        Route(one + "/logs/{log}", read(log(sessions)), methods=["GET"]),
        Route(one + "/cancel", write(cancel(sessions)), methods=["POST"]),
    ]


def start(sessions: Sessions) -> Endpoint:
    async def started(request: Request) -> Response:
        asked = parse_request(await json_body(request))
        if not isinstance(asked, SessionRequest):
            raise InvalidRequest(asked)
        session = await sessions.start(asked)
        return answer(session_json(session), 201, {"Location": f"{_LIST}/{session.id}"})

    return started


def listing(sessions: Sessions) -> Endpoint:
    async def listed(request: Request) -> Response:
        return answer([session_json(session) for session in await sessions.list(*page(request))])

    return listed


def single(sessions: Sessions) -> Endpoint:
    async def shown(_request: Request, session: Session) -> Response:
        return answer(session_json(session))

    return _of(sessions, shown)


def events(sessions: Sessions, streams: Streams) -> Endpoint:
    async def told(request: Request, session: Session) -> Response:
        after = last_seen(request)
        if request.method == "HEAD" or not wants_stream(request.headers):
            found = await sessions.events(session.id, after)
            return answer(english_json([event.as_json() for event in found]), headers={"Vary": "Accept"})
        if session.status.final and after and not await sessions.events(session.id, after):
            return Response(status_code=204)  # "stop reconnecting" (HTML standard, Server-sent events)
        return EventStream(streams, sessions, session.id, after)

    return _of(sessions, told)


def artifacts(sessions: Sessions) -> Endpoint:
    async def shown(_request: Request, session: Session) -> Response:
        return answer([artifact_json(item) for item in await sessions.artifacts(session.id)])

    return _of(sessions, shown)


def artifact(sessions: Sessions) -> Endpoint:
    async def shown(request: Request, session: Session) -> Response:
        wanted = request.path_params["artifact"]
        found = await sessions.artifact(session.id, wanted) if _ID.match(wanted) else None
        if found is None:
            return not_found("artifact", f"{_LIST}/{session.id}/artifacts")
        return answer(artifact_json(found))

    return _of(sessions, shown)


def log(sessions: Sessions) -> Endpoint:
    async def shown(request: Request, session: Session) -> Response:
        wanted = request.path_params["log"]
        content = await sessions.log(session.id, wanted) if _ID.match(wanted) else None
        if content is None:
            return not_found("log", f"{_LIST}/{session.id}/events")
        return Response(content, media_type="text/plain", headers=_LOG_HEADERS)

    return _of(sessions, shown)


def cancel(sessions: Sessions) -> Endpoint:
    async def cancelled(_request: Request, session: Session) -> Response:
        after = session if session.status.final else await sessions.cancel(session.id)
        return not_found("session", _LIST) if after is None else answer(session_json(after))

    return _of(sessions, cancelled)


def _of(sessions: Sessions, endpoint: Callable[[Request, Session], Awaitable[Response]]) -> Endpoint:
    """An endpoint about one session, which is 404 where there is none."""

    async def found(request: Request) -> Response:
        wanted = request.path_params["session"]
        session = await sessions.get(wanted) if _ID.match(wanted) else None
        return not_found("session", _LIST) if session is None else await endpoint(request, session)

    return found


def session_json(session: Session) -> dict[str, Any]:
    """As programs see it; what there is not is left out."""
    return session.model_dump(mode="json", by_alias=True, exclude_none=True)


def artifact_json(item: Artifact) -> dict[str, Any]:
    """One flat object, as the seed has it: whose it is, and beside that what the phase left."""
    own = item.model_dump(mode="json", by_alias=True, exclude_none=True)
    data = own.pop("data")
    # the rules of the run metadata tell null from missing
    whole = item.id.endswith(".certificate")
    return {**{key: value for key, value in data.items() if whole or value is not None}, **own}
