"""What all routes for programs share: who may call them, pages, bodies, and how errors are told; and the deliveries.

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
from bot.rules.runs.session_request import InvalidRequest
from bot.store.inbox.deliveries import Deliveries, DeliveryRow

LIMIT = 1000
BODY_LIMIT = 1024 * 1024
READ_TIMEOUT_S = 8.0

Endpoint = Callable[[Request], Awaitable[Response]]

_NUMBER = re.compile(r"[0-9]{1,19}\Z", re.A)
_KEY_WANTED = (
    "give `Authorization: Bearer TOKEN`: TOKEN is the server's MENDBOT_ADMIN_TOKEN, or in MENDBOT_HOME/admin-token"
)


class Unreadable(Exception):
    """A body that no request can be made of; answered with `status`."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


def answer(value: object, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    """A JSON answer."""
    return Response(as_json(value), status, headers, "application/json")


def as_json(value: object) -> bytes:
    """In one line. Half a character, which a log may hold and UTF-8 may not, stays as JSON's own escape."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return text.encode("utf-8", "backslashreplace")


def error_response(status: int, message: str, headers: Mapping[str, str] | None = None) -> Response:
    return answer({"error": message}, status, headers)


def not_found(what: str, listed_at: str) -> Response:
    return error_response(404, f"there is no such {what}: GET {listed_at} lists those there are")


async def no_route(request: Request, error: Exception) -> Response:
    """Starlette's own refusals, of a path or a method that there is not, as JSON: a handler for its HTTPException.
    Answers OPTIONS too, as no route of ours does (RFC 9110, 9.3.7)."""
    assert isinstance(error, HTTPException)
    allowed = ", ".join(sorted(_methods(request)))
    if not allowed:
        return error_response(error.status_code, "there is nothing at this path", error.headers)
    headers = {**(error.headers or {}), "Allow": allowed}
    if request.method == "OPTIONS":
        return Response(status_code=204, headers=headers)
    return error_response(error.status_code, f"{request.method} is not for this path: it takes {allowed}", headers)


def _methods(request: Request) -> set[str]:
    """What the routes at this path take, all of them: Starlette names those of the first alone."""
    routes = (route for route in request.app.routes if isinstance(route, Route))
    here = (route for route in routes if route.matches(request.scope)[0] is not Match.NONE)
    return {method for route in here for method in route.methods or ()}


def deliveries(store: Deliveries, refused: Callable[[int, int], Awaitable[Sequence[DeliveryRow]]]) -> Endpoint:
    """What was stored; with `?refused=1` what was not let in."""

    async def listing(request: Request) -> Response:
        limit, offset = page(request)
        asked = request.query_params.get("refused", "0")
        if asked not in ("0", "1"):
            raise InvalidRequest((Problem(field="refused", message="must be 1 for refused deliveries, else 0"),))
        listed = refused if asked == "1" else store.list
        return answer([row.model_dump() for row in await listed(limit, offset)])

    return listing


def page(request: Request) -> tuple[int, int]:
    """`?limit=` (1 to 1,000; 100) and `?offset=` (0). Raises Rejected."""
    limit, offset = number(request, "limit", 100), number(request, "offset", 0)
    if not 1 <= limit <= LIMIT:
        raise InvalidRequest((Problem(field="limit", message=f"must be 1 to {LIMIT}"),))
    if offset >= 2**31:
        raise InvalidRequest((Problem(field="offset", message=f"must be 0 to {2**31 - 1}"),))
    return limit, offset


def number(request: Request, name: str, default: int) -> int:
    """A whole number of the query, 0 to 2⁶³ - 1 as databases have them. Raises Rejected."""
    return parse_number(request.query_params.get(name, str(default)), name)


def parse_number(text: str, name: str) -> int:
    """As `number`; `name` says where the text was."""
    if not _NUMBER.match(text) or int(text) >= 2**63:
        raise InvalidRequest((Problem(field=name, message="must be a whole number, 0 or more"),))
    return int(text)


async def json_body(request: Request) -> object:
    """The JSON that a request carries. Raises Unreadable for one that is too large, too slow, of another type, or no
    JSON."""
    content_type = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if content_type != "application/json":
        raise Unreadable(415, "the content type must be application/json")
    declared = request.headers.get("content-length", "0")
    if not _NUMBER.match(declared) or int(declared) > BODY_LIMIT:
        raise Unreadable(413, f"the body is over {BODY_LIMIT} bytes")
    body = bytearray()
    try:
        async with asyncio.timeout(READ_TIMEOUT_S):
            async for chunk in request.stream():
                body += chunk
                if len(body) > BODY_LIMIT:
                    raise Unreadable(413, f"the body is over {BODY_LIMIT} bytes")
    except TimeoutError:
        raise Unreadable(408, f"the body did not arrive within {READ_TIMEOUT_S:.0f} seconds") from None
    try:
        return json.loads(body.decode("utf-8"), parse_constant=_no_constant)
    except (ValueError, RecursionError) as error:
        reason = "nested too deeply" if isinstance(error, RecursionError) else str(error)[:200]
        raise Unreadable(400, f"the body is not valid JSON: {reason}") from None


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


@dataclass(frozen=True, slots=True)
class Guard:
    """Lets those in who have the admin token, which is not empty."""

    token: str

    def read(self, endpoint: Endpoint) -> Endpoint:
        async def guarded_read(request: Request) -> Response:
            if not self._known(request.headers):
                return error_response(401, _KEY_WANTED, {"WWW-Authenticate": "Bearer"})
            return await _answered(endpoint, request)

        return guarded_read

    def write(self, endpoint: Endpoint) -> Endpoint:
        read = self.read(endpoint)

        async def guarded_write(request: Request) -> Response:
            if _foreign(request.headers):
                return error_response(403, "a page of another site asks for this: only pages of this server may")
            return await read(request)

        return guarded_write

    def _known(self, headers: Headers) -> bool:
        scheme, _, given = headers.get("authorization", "").partition(" ")
        # header text is the bytes that came, read as Latin-1
        same = hmac.compare_digest(given.strip().encode("latin-1"), self.token.strip().encode())
        return same and scheme.lower() == "bearer"


def _foreign(headers: Headers) -> bool:
    """Whether a browser says that another site's page sent this (Fetch standard, *Origin header*)."""
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


async def _answered(endpoint: Endpoint, request: Request) -> Response:
    """The web edge: errors that are the caller's or will pass are answers (architecture rule 9)."""
    try:
        return await endpoint(request)
    except Unreadable as error:
        return error_response(error.status, str(error))
    except InvalidRequest as error:
        return answer({"error": str(error), "problems": [problem.model_dump() for problem in error.problems]}, 422)
    except Refused as error:
        return answer({"error": str(error), "reason": error.reason, "problems": []}, 422)
    except UserError as error:
        return answer({"error": str(error), "problems": []}, 422)
    except Transient as error:
        wait = {} if error.retry_after_s is None else {"Retry-After": str(math.ceil(error.retry_after_s))}
        return error_response(503, f"try again in a moment: {error}", wait)
    except ClientDisconnect:
        return Response(status_code=400)  # nobody is there to read it
