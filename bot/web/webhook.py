"""The door for deliveries: verify the raw bytes, write the row, answer. Nothing is decided here.

It is plain ASGI, since this answer is the one that is measured (performance.md, *webhook acknowledgement*)."""

from __future__ import annotations

import asyncio
import json
import re
import time
from collections.abc import Container, Sequence
from contextlib import suppress
from typing import Any, NoReturn

from pydantic_core import from_json
from starlette.types import ASGIApp, Receive, Scope, Send

from bot.errors import Transient
from bot.store.inbox.deliveries import Delivery, Inbox
from bot.web.rejected_requests import Refusals
from bot.web.signature import signed

BODY_LIMIT = 25 * 1024 * 1024
"""GitHub delivers no payload over 25 MB (docs: *Webhook events and payloads*)."""
READ_TIMEOUT_S = 8.0
"""GitHub waits 10 s for an answer; a body that takes longer than this will not be answered in time anyway."""
HELD_LIMIT = 128 * 1024 * 1024
"""What all bodies that come in parts may hold together: nobody who sends them has shown a signature yet."""
LINGER_S = 2.0

_NAME = re.compile(rb"[A-Za-z0-9_-]{1,64}\Z")
_UNSIGNED = (
    "X-Hub-Signature-256 is missing or is not this body's under our secret: "
    "set WEBHOOK_SECRET to the App's webhook secret"
)
_STATUS_TEXT = {True: b"accepted", False: b"duplicate"}


class HttpRejection(Exception):
    """An answer other than 202; `unread` if the body is still on its way."""

    def __init__(self, status: int, message: str, *, unread: bool = False) -> None:
        super().__init__(message)
        self.status = status
        self.unread = unread


class WebhookEndpoint:
    """`POST /api/github/webhooks`. A 202 means the row is synced to disk; see the contract for every other answer."""

    def __init__(self, inbox: Inbox, secrets: Sequence[bytes], app_id: str | None, refusals: Refusals) -> None:
        self._inbox = inbox
        self._refusals = refusals
        self._secrets = tuple(secrets)
        self._held = 0
        # GitHub also takes an App's client id for its id, but names the number alone in the header
        self._target = app_id.strip().encode() if app_id and app_id.strip().isdigit() else None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        unread = False
        try:
            status, payload = 202, await self._take(scope, receive)
        except HttpRejection as error:
            status, payload, unread = error.status, self._refuse(scope, error.status, str(error)), error.unread
        except Transient as error:
            status, payload = 503, self._refuse(scope, 503, f"the delivery could not be stored: {error}")
        except ConnectionResetError:
            return  # the client went away: there is nobody to answer
        headers = [(b"content-type", b"application/json"), (b"content-length", str(len(payload)).encode())]
        if unread or status not in (202, 401, 403, 503):
            headers.append((b"connection", b"close"))
        await send({"type": "http.response.start", "status": status, "headers": headers})
        if unread:
            await send({"type": "http.response.body", "body": payload, "more_body": True})
            await _linger(receive)
            payload = b""
        await send({"type": "http.response.body", "body": payload})

    def _refuse(self, scope: Scope, status: int, because: str) -> bytes:
        """Note it without waiting; the answer's body. Names that GitHub would not send are not kept."""
        headers = dict(scope["headers"])
        event, delivery = (
            value.decode() if _NAME.match(value) else ""
            for value in (headers.get(name, b"") for name in (b"x-github-event", b"x-github-delivery"))
        )
        self._refusals.note(status, delivery, event, because)
        return json.dumps({"error": because}).encode()

    async def _take(self, scope: Scope, receive: Receive) -> bytes:
        headers = dict(scope["headers"])
        try:
            async with asyncio.timeout(READ_TIMEOUT_S):
                body = await self._read(headers, receive)
        except TimeoutError:
            raise HttpRejection(408, f"the body did not arrive within {READ_TIMEOUT_S:.0f} seconds") from None
        if not signed(body, headers.get(b"x-hub-signature-256"), self._secrets):
            raise HttpRejection(401, _UNSIGNED)
        target = headers.get(b"x-github-hook-installation-target-id")
        if target is not None and self._target is not None and target != self._target:
            raise HttpRejection(403, "X-GitHub-Hook-Installation-Target-ID names another App")
        content_type = headers.get(b"content-type", b"").split(b";")[0].strip().lower()
        if content_type != b"application/json":
            raise HttpRejection(
                415, "the content type must be application/json: set it so in the App's webhook settings"
            )
        event, delivery = _header(headers, b"x-github-event"), _header(headers, b"x-github-delivery")
        _check_object(body)
        row = Delivery.model_construct(id=delivery, event=event, payload=body, received_at=int(time.time() * 1000))
        fresh = await self._inbox.accept(row)
        return b'{"delivery":"%s","status":"%s"}' % (delivery.encode(), _STATUS_TEXT[fresh])

    async def _read(self, headers: dict[bytes, bytes], receive: Receive) -> bytes:
        declared = headers.get(b"content-length", b"0")
        if not declared.isdigit() or int(declared[:20]) > BODY_LIMIT:
            raise HttpRejection(413, f"the body is over {BODY_LIMIT} bytes", unread=True)
        message = await receive()
        if message["type"] == "http.request" and not message.get("more_body"):
            return bytes(message.get("body", b""))
        chunks: list[bytes] = []
        size = 0
        try:
            while True:
                if message["type"] == "http.disconnect":
                    raise ConnectionResetError
                chunk = message.get("body", b"")
                size += len(chunk)
                self._held += len(chunk)
                if size > BODY_LIMIT:
                    raise HttpRejection(413, f"the body is over {BODY_LIMIT} bytes", unread=True)
                if self._held > HELD_LIMIT:
                    raise HttpRejection(503, "too many large bodies at once", unread=True)
                chunks.append(chunk)
                if not message.get("more_body"):
                    return b"".join(chunks)
                message = await receive()
        finally:
            self._held -= size


class WebhookRouter:
    """Hands deliveries to their endpoint and all else to `rest`: routing and its middleware would cost a delivery as
    much as verifying it does."""

    def __init__(self, webhook: WebhookEndpoint, paths: Container[str], rest: ASGIApp) -> None:
        self._webhook, self._paths, self._rest = webhook, paths, rest

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["path"] not in self._paths:
            await self._rest(scope, receive, send)
        elif scope["method"] == "POST":
            await self._webhook(scope, receive, send)
        else:
            headers = [(b"allow", b"POST"), (b"content-length", b"0")]
            await send({"type": "http.response.start", "status": 405, "headers": headers})
            await send({"type": "http.response.body"})


async def _linger(receive: Receive) -> None:
    """Let a client that is still sending go on for a moment: closing on it would reset the connection, and it would
    never see its answer."""
    with suppress(TimeoutError):
        async with asyncio.timeout(LINGER_S):
            while (await receive()).get("more_body"):
                pass


def _header(headers: dict[bytes, bytes], name: bytes) -> str:
    value = headers.get(name, b"")
    if not _NAME.match(value):
        raise HttpRejection(400, f"the header {name.decode()} is missing or malformed")
    return value.decode()


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


_DECODER = json.JSONDecoder(parse_constant=_no_constant)


def _parsed(body: bytes) -> Any:
    # twice as fast as json, but it refuses more, such as lone surrogates, and says less: json has the last word
    try:
        return from_json(body, allow_inf_nan=False, cache_strings="keys")
    except ValueError:
        return _DECODER.decode(body.decode("utf-8"))


def _check_object(body: bytes) -> None:
    try:
        value = _parsed(body)
    except (ValueError, RecursionError) as error:
        reason = "nested too deeply" if isinstance(error, RecursionError) else str(error)[:200]
        raise HttpRejection(400, f"the body is not valid JSON: {reason}") from None
    if not isinstance(value, dict):
        raise HttpRejection(400, "the body must be a JSON object")
