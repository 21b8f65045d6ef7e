"""The REST API: one literal table of routes, and the way of a request through it: log, fault, identity, permission.

Base address, paths, answers and refusals are GitHub's; the table is the list of what the stand-in can do."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from demo.standin.answers import Answer, ApiError, not_found
from demo.standin.auth import Caller, Permission, granted, identify, may_see
from demo.standin.faults import Fault
from demo.standin.records import LoggedRequest, Repository, Token, User
from demo.standin.webhooks import Hooks

APP = "app"
"""Access by the App's JWT alone."""

CLIENT = "client"
"""Access by the App's client id and secret alone."""

USER = "user"
"""Access by the token of a person alone."""

ANYONE = "anyone"
"""Access by any good credentials."""

PREFIX = "/api"
RATE_LIMIT = 5000


@dataclass(frozen=True, slots=True)
class Call:
    """One request as its handler sees it: authenticated, allowed, the repository found, the body parsed."""

    hooks: Hooks
    caller: Caller
    params: dict[str, Any]
    query: dict[str, str]
    body: Any
    path: str

    @property
    def repo(self) -> Repository:
        return self.hooks.state.repo(f"{self.params['owner']}/{self.params['repo']}")

    @property
    def token(self) -> Token:
        if self.caller.token is None:
            raise ApiError(403, "Resource not accessible by integration")
        return self.caller.token

    @property
    def person(self) -> User:
        if self.caller.user is None:
            raise ApiError(403, "Resource not accessible by integration")
        return self.caller.user.user

    @property
    def actor(self) -> User:
        """Whom the world sees doing it: the App's bot account."""
        return self.hooks.state.app.bot

    def number(self, name: str) -> int:
        """A path parameter that is a number; 404 where it is none, as on GitHub."""
        text = str(self.params[name])
        if not text.isascii() or not text.isdecimal() or len(text) > 18:
            raise not_found()
        return int(text)


NOBODY = "nobody"
"""Access without credentials."""

Handler = Callable[[Call], Awaitable[Answer]]


@dataclass(frozen=True, slots=True)
class Endpoint:
    """One line of the table. `needs` lists permissions of which one suffices."""

    method: str
    path: str
    handler: Handler
    needs: Sequence[Permission] | str


def page_of(call: Call, items: Sequence[Any], default: int = 30) -> tuple[list[Any], dict[str, str]]:
    """The asked-for page of a list and its `Link` header ("Using pagination in the REST API"; at most 100)."""
    size = min(max(_positive(call.query.get("per_page"), default), 1), 100)
    number = max(_positive(call.query.get("page"), 1), 1)
    last = max(-(-len(items) // size), 1)
    places = {"prev": number - 1, "next": number + 1, "last": last, "first": 1}
    wanted = [name for name in places if (number < last and name in ("next", "last")) or
              (number > 1 and name in ("prev", "first"))]  # fmt: skip
    links = [f'<{link_to(call, page=str(places[name]))}>; rel="{name}"' for name in wanted]
    start = (number - 1) * size
    return list(items[start : start + size]), {"Link": ", ".join(links)} if links else {}


def link_to(call: Call, **changes: str) -> str:
    """The address of this request with other query values."""
    return f"{call.hooks.state.site}{PREFIX}{call.path}?{urlencode({**call.query, **changes})}"


def _positive(text: str | None, default: int) -> int:
    return int(text) if text and text.isascii() and text.isdecimal() and len(text) < 10 else default


class Rest:
    """The routes of the table, ready for Starlette; what is not in the table answers 404."""

    def __init__(self, hooks: Hooks, table: Sequence[Endpoint]) -> None:
        self.hooks = hooks
        self.table = table

    def routes(self) -> list[Route]:
        routes = [Route(PREFIX + each.path, self._endpoint(each), methods=[each.method]) for each in self.table]
        every = ["GET", "POST", "PUT", "PATCH", "DELETE"]
        return [*routes, Route(PREFIX + "/{rest:path}", self._endpoint(None), methods=every)]

    def _endpoint(self, endpoint: Endpoint | None) -> Callable[[Request], Awaitable[Response]]:
        async def serve(request: Request) -> Response:
            return await self._serve(request, endpoint)

        return serve

    async def _serve(self, request: Request, endpoint: Endpoint | None) -> Response:
        began = time.monotonic()
        path = request.url.path.removeprefix(PREFIX)
        raw = await request.body()
        fault = self.hooks.state.faults.take(request.method, path)
        if fault and fault.delay_s:
            await asyncio.sleep(fault.delay_s)
        lost = fault is not None and fault.status is not None and not fault.after_effect
        caller, body = None, None
        try:
            caller = identify(self.hooks.state, request.headers.get("authorization"))
            body = _parse(raw)
            answer = Answer(None) if lost else await self._answer(request, endpoint, caller, body)
        except ApiError as error:
            answer = error.answer
        if fault and fault.status is not None:
            answer = _spoiled(fault)
        response = self._respond(answer)
        self.hooks.state.requests.append(
            LoggedRequest(
                kind="rest",
                method=request.method,
                path=path,
                query=dict(request.query_params),
                body={"access_token": "masked"} if path.startswith("/applications/") else body,
                status=answer.status,
                response=_masked(path, answer.body),
                response_headers=dict(response.headers),
                authenticated_as=caller.name if caller else None,
                monotonic_s=began,
            )
        )
        self.hooks.state.pulse.beat()
        return response

    async def _answer(self, request: Request, endpoint: Endpoint | None, caller: Caller | None, body: Any) -> Answer:
        if caller is None and (endpoint is None or endpoint.needs != NOBODY):
            raise ApiError(401, "Requires authentication")
        if endpoint is None:
            raise not_found()
        path = request.url.path.removeprefix(PREFIX)
        call = Call(self.hooks, caller or Caller(), dict(request.path_params), dict(request.query_params), body, path)
        _authorise(call, endpoint.needs)
        return await endpoint.handler(call)

    def _respond(self, answer: Answer) -> Response:
        state = self.hooks.state
        used = len(state.requests) % RATE_LIMIT + 1
        headers = {
            "X-GitHub-Media-Type": "github.v3; format=json",
            "X-GitHub-Request-Id": f"{state.new_id():X}",
            "X-RateLimit-Limit": str(RATE_LIMIT),
            "X-RateLimit-Remaining": str(RATE_LIMIT - used),
            "X-RateLimit-Used": str(used),
            "X-RateLimit-Reset": str(int(state.now().timestamp()) + 3600),
            "X-RateLimit-Resource": "core",
        }
        # what a fault says wins whatever the case of its header names
        given = {name.lower() for name in answer.headers}
        headers = {name: value for name, value in headers.items() if name.lower() not in given} | dict(answer.headers)
        if answer.body is None:
            return Response(status_code=answer.status, headers=headers)
        if isinstance(answer.body, bytes):
            headers.setdefault("Content-Type", "text/html; charset=utf-8")
            return Response(answer.body, answer.status, headers)
        headers["Content-Type"] = "application/json; charset=utf-8"
        return Response(json.dumps(answer.body, ensure_ascii=False).encode(), answer.status, headers)


def _parse(raw: bytes) -> Any:
    if not raw:
        return None
    try:
        return json.loads(raw)
    except ValueError:
        raise ApiError(400, "Problems parsing JSON") from None


def _authorise(call: Call, needs: Sequence[Permission] | str) -> None:
    """401 for the wrong kind of credentials, 404 for what the token can't see, 403 for what it may not do."""
    if needs in (ANYONE, NOBODY):
        return
    if needs == APP:
        if not call.caller.app:
            raise ApiError(401, "A JSON web token could not be decoded")
        return
    if needs == CLIENT:
        if not call.caller.client:
            raise not_found()
        return
    if needs == USER:
        assert call.person
        return
    token = call.token
    if "repo" in call.params and not may_see(token, call.repo):
        raise not_found()
    permissions = [need for need in needs if isinstance(need, tuple)]
    if not granted(token, permissions):
        accepted = "; ".join(f"{name}={level}" for name, level in permissions)
        headers = {"X-Accepted-GitHub-Permissions": accepted}
        raise ApiError(403, "Resource not accessible by integration", headers=headers)


_FAULT_MESSAGES = {
    401: "Bad credentials",
    403: "Resource not accessible by integration",
    404: "Not Found",
    429: "You have exceeded a secondary rate limit. Please wait a few minutes before you try again.",
    500: "Server Error",
    502: "Server Error",
    503: "Service unavailable",
}


def _spoiled(fault: Fault) -> Answer:
    status = fault.status or 500
    if fault.body is not None:
        body = fault.body.encode() if isinstance(fault.body, str) else fault.body
        return Answer(body, status, fault.headers)
    answer = ApiError(status, _FAULT_MESSAGES.get(status, "Fault")).answer
    return Answer(answer.body, status, fault.headers)


def _masked(path: str, body: Any) -> Any:
    """What the log keeps of an answer: all but the text of a token and the secrets of a new App."""
    if path.endswith("/access_tokens") and isinstance(body, dict) and "token" in body:
        return body | {"token": "ghs_masked"}
    if path.endswith("/conversions") and isinstance(body, dict) and "pem" in body:
        return body | dict.fromkeys(("pem", "webhook_secret", "client_secret"), "masked")
    return body
