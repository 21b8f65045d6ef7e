"""What all routes for programs share: authorization, pages of a list, bodies and errors; and the list of deliveries.

Reads and writes need the admin token wherever they come from. Loopback is no permission: a setup command with network
reaches it, a proxy comes from there, and so does a page in a browser (DNS rebinding)."""

from __future__ import annotations

import asyncio
import hmac
import json
import math
import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import NoReturn
from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Match, Route

from bot.errors import Refused, Transient, UserError
from bot.model import Problem
from bot.model.reasons import Reason
from bot.reports.locale.reasons import english, error_text
from bot.rules.reasons import error_reason, make_reason, quoted
from bot.rules.runs.session_request import InvalidRequest
from bot.store.inbox.deliveries import Deliveries, DeliveryRow
from bot.web.viewers import OPERATOR, Viewer, Viewers

MAX_LIMIT = 1000
MAX_BODY = 1024 * 1024
READ_TIMEOUT_S = 8.0

Endpoint = Callable[[Request], Awaitable[Response]]

_NUMBER = re.compile(r"[0-9]{1,19}\Z", re.A)


class UnreadableBody(Exception):
    """A body that cannot be read as JSON. `status` is the HTTP status of the answer."""

    def __init__(self, status: int, reason: Reason) -> None:
        super().__init__(english(reason))
        self.status = status
        self.reason = reason


def answer(value: object, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    """The value as a JSON answer."""
    return Response(as_json(value), status, headers, "application/json")


def as_json(value: object) -> bytes:
    """The value as one line of JSON. A lone surrogate, which logs may hold and UTF-8 may not, is escaped."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return text.encode("utf-8", "backslashreplace")


def error_response(status: int, reason: Reason, headers: Mapping[str, str] | None = None) -> Response:
    """A JSON answer with the reason in English, for programs."""
    return answer({"error": english(reason)}, status, headers)


def not_found(what: str, listed_at: str) -> Response:
    """404 for a thing of that kind, with the path that lists those there are."""
    return error_response(404, make_reason("request.not_found", what=what, path=listed_at))


def invalid(field: str, reason: Reason) -> InvalidRequest:
    """The error for one field of a request."""
    return InvalidRequest((Problem(field=field, reason=reason),))


async def no_route(request: Request, error: Exception) -> Response:
    """Handler for Starlette's HTTPException: an unknown path or method, as JSON.

    It also answers OPTIONS, as no route of ours does (RFC 9110, 9.3.7)."""
    assert isinstance(error, HTTPException)
    allowed = ", ".join(sorted(_methods(request)))
    if not allowed:
        return error_response(error.status_code, make_reason("request.no_path"), error.headers)
    headers = {**(error.headers or {}), "Allow": allowed}
    if request.method == "OPTIONS":
        return Response(status_code=204, headers=headers)
    reason = make_reason("request.method", method=request.method, allowed=allowed)
    return error_response(error.status_code, reason, headers)


def _methods(request: Request) -> set[str]:
    """The methods of all routes at this path: Starlette names those of the first route only."""
    routes = (route for route in request.app.routes if isinstance(route, Route))
    matching = (route for route in routes if route.matches(request.scope)[0] is not Match.NONE)
    return {method for route in matching for method in route.methods or ()}


def deliveries(store: Deliveries, refused: Callable[[int, int], Awaitable[Sequence[DeliveryRow]]]) -> Endpoint:
    """Lists the stored deliveries; with `?refused=1` those that were refused."""

    async def listing(request: Request) -> Response:
        limit, offset = page(request)
        flag = request.query_params.get("refused", "0")
        if flag not in ("0", "1"):
            raise invalid("refused", make_reason("request.refused_flag"))
        rows = await (refused if flag == "1" else store.list)(limit, offset)
        return answer([row.model_dump() for row in rows])

    return listing


def page(request: Request) -> tuple[int, int]:
    """`?limit=` (1 to 1,000; default 100) and `?offset=` (default 0). Raises InvalidRequest."""
    return number(request, "limit", 100, least=1, most=MAX_LIMIT), number(request, "offset", 0, most=2**31 - 1)


def number(request: Request, name: str, default: int, *, least: int = 0, most: int = 2**63 - 1) -> int:
    """A whole number of the query within these bounds. Raises InvalidRequest."""
    value = parse_number(request.query_params.get(name, str(default)), name)
    if not least <= value <= most:
        raise invalid(name, make_reason("request.range", least=least, most=most))
    return value


def parse_number(text: str, name: str) -> int:
    """A whole number from 0 to 2⁶³ - 1, which databases can store. Raises InvalidRequest with that field name."""
    if not _NUMBER.match(text) or int(text) >= 2**63:
        raise invalid(name, make_reason("request.number"))
    return int(text)


async def json_body(request: Request) -> object:
    """The JSON body of a request. Raises UnreadableBody for one that is too large, too slow or not JSON."""
    if content_type(request) != "application/json":
        raise UnreadableBody(415, make_reason("request.content_type"))
    body = await read_body(request)
    try:
        return json.loads(body.decode("utf-8"), parse_constant=_no_constant)
    except (ValueError, RecursionError) as error:
        raise UnreadableBody(400, not_json(error)) from None


def content_type(request: Request) -> str:
    """The media type of the body, without parameters; empty where none is declared."""
    return request.headers.get("content-type", "").partition(";")[0].strip().lower()


async def read_body(request: Request) -> bytes:
    """The body of a request. Raises UnreadableBody for one that is too large or too slow."""
    declared = request.headers.get("content-length", "0")
    if not _NUMBER.match(declared) or int(declared) > MAX_BODY:
        raise _too_large()
    body = bytearray()
    try:
        async with asyncio.timeout(READ_TIMEOUT_S):
            async for chunk in request.stream():
                body += chunk
                if len(body) > MAX_BODY:
                    raise _too_large()
    except TimeoutError:
        raise UnreadableBody(408, make_reason("request.too_slow", seconds=round(READ_TIMEOUT_S))) from None
    return bytes(body)


def _too_large() -> UnreadableBody:
    return UnreadableBody(413, make_reason("request.too_large", bytes=MAX_BODY))


def not_json(error: ValueError | RecursionError) -> Reason:
    """Why a body is not JSON, by the error that its parser raised."""
    why = make_reason("request.too_deep") if isinstance(error, RecursionError) else quoted(str(error)[:200])
    return make_reason("request.not_json", why=why)


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


@dataclass(frozen=True, slots=True)
class Guard:
    """Serves requests that carry the admin token, which must not be empty, or the cookie of somebody signed in.

    It answers 401 to others. A write with the cookie needs the session's form token too (CSRF). People who signed in
    with GitHub are let through to `shared` endpoints alone, which ask `viewer_of` what they may see and do."""

    token: str
    viewers: Viewers | None = None

    def read(self, endpoint: Endpoint, *, shared: bool = False) -> Endpoint:
        async def guarded_read(request: Request) -> Response:
            return await self._serve(endpoint, request, shared=shared, is_write=False)

        return guarded_read

    def write(self, endpoint: Endpoint, *, shared: bool = False) -> Endpoint:
        async def guarded_write(request: Request) -> Response:
            if is_cross_site(request.headers):
                return error_response(403, make_reason("request.other_site"))
            return await self._serve(endpoint, request, shared=shared, is_write=True)

        return guarded_write

    async def _serve(self, endpoint: Endpoint, request: Request, *, shared: bool, is_write: bool) -> Response:
        try:
            viewer = OPERATOR if self.has_token(request.headers) else await self._viewer(request)
        except Transient as error:
            return _not_now(error)
        if viewer is None:
            return error_response(401, make_reason("request.no_token"), {"WWW-Authenticate": "Bearer"})
        if is_write and viewer is not OPERATOR and not self._has_form_token(viewer, request):
            return error_response(403, make_reason("request.no_form_token"))
        if not shared and not viewer.is_operator:
            return error_response(403, make_reason("request.operator_only"))
        request.state.viewer = viewer
        return await _handle_errors(endpoint, request)

    async def _viewer(self, request: Request) -> Viewer | None:
        return await self.viewers.find(request) if self.viewers is not None else None

    def _has_form_token(self, viewer: Viewer, request: Request) -> bool:
        assert self.viewers is not None
        return self.viewers.sessions.is_form_token(viewer.session, request.headers.get("x-csrf-token", ""))

    def has_token(self, headers: Headers) -> bool:
        """Whether the request carries the admin token, compared in constant time."""
        scheme, _, token = headers.get("authorization", "").partition(" ")
        # header text is the bytes that came, read as Latin-1
        return self.is_token(token.encode("latin-1")) and scheme.lower() == "bearer"

    def is_token(self, text: bytes) -> bool:
        """Whether it is the admin token, compared in constant time."""
        return hmac.compare_digest(text.strip(), self.token.strip().encode())


def viewer_of(request: Request) -> Viewer:
    """Who sent a request that the guard let through."""
    viewer: Viewer = request.state.viewer
    return viewer


def is_cross_site(headers: Headers) -> bool:
    """Whether a page of another site sent this, by the browser's `Origin` (Fetch standard, *Origin header*)."""
    origin = headers.get("origin")
    if origin is None:
        return False
    try:
        theirs = urlsplit(origin)
        ours = urlsplit(f"{theirs.scheme}://{headers.get('host', '')}")
        default = {"http": 80, "https": 443}.get(theirs.scheme)
        return not theirs.hostname or (theirs.hostname, theirs.port or default) != (ours.hostname, ours.port or default)
    except ValueError:
        return True


async def _handle_errors(endpoint: Endpoint, request: Request) -> Response:
    """Calls the endpoint; UserError becomes 422 and Transient 503 (architecture rule 9)."""
    try:
        return await endpoint(request)
    except UnreadableBody as error:
        return error_response(error.status, error.reason)
    except InvalidRequest as error:
        problems = [{"field": problem.field, "message": english(problem.reason)} for problem in error.problems]
        return answer({"error": error_text(error, "en"), "problems": problems}, 422)
    except Refused as error:
        return answer({"error": str(error), "reason": error.reason, "problems": []}, 422)
    except UserError as error:
        return answer({"error": str(error), "problems": []}, 422)
    except Transient as error:
        return _not_now(error)
    except ClientDisconnect:
        return Response(status_code=400)  # the client has gone


def _not_now(error: Transient) -> Response:
    wait = {} if error.retry_after_s is None else {"Retry-After": str(math.ceil(error.retry_after_s))}
    return error_response(503, make_reason("request.try_again", why=error_reason(error)), wait)
