"""Receives webhook deliveries: verifies the raw bytes, stores the row and answers. Nothing is decided here.

It is plain ASGI for speed (performance.md, *webhook acknowledgement*)."""

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
from bot.model.histogram import Histogram
from bot.model.reasons import Reason
from bot.reports.locale.reasons import english
from bot.rules.reasons import error_reason, make_reason
from bot.store.inbox.deliveries import Delivery, Inbox
from bot.web.api import not_json
from bot.web.rejected_requests import Rejections
from bot.web.signature import signed

MAX_BODY = 25 * 1024 * 1024
"""GitHub delivers no payload over 25 MB (docs: *Webhook events and payloads*)."""
READ_TIMEOUT_S = 8.0
"""GitHub waits 10 s for an answer; a body that takes longer than this will not be answered in time anyway."""
MAX_HELD = 128 * 1024 * 1024
"""Bytes of all bodies under way together: their signatures are not verified yet."""
LINGER_S = 2.0
_BOUNDS_S = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)

_NAME = re.compile(rb"[A-Za-z0-9_-]{1,64}\Z")
_STATUS_TEXT = {True: b"accepted", False: b"duplicate"}


class HttpRejection(Exception):
    """An answer other than 202; `unread` if the client still sends its body."""

    def __init__(self, status: int, reason: Reason, *, unread: bool = False) -> None:
        super().__init__(english(reason))
        self.status = status
        self.unread = unread


class WebhookEndpoint:
    """`POST /api/github/webhooks`. A 202 means the row is synced to disk; see the contract for every other answer.

    Without secrets, as before there is an App, every delivery is refused."""

    def __init__(self, inbox: Inbox, secrets: Sequence[bytes], app_id: str | None, rejections: Rejections) -> None:
        self._inbox = inbox
        self._rejections = rejections
        self._secrets = tuple(secrets)
        self._held = 0
        self.acknowledged = Histogram(_BOUNDS_S)
        """How long accepted deliveries waited for their 202, from their headers on."""
        # GitHub also takes an App's client id for its id, but names the number alone in the header
        self._target = app_id.strip().encode() if app_id and app_id.strip().isdigit() else None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        unread, began = False, time.perf_counter()
        try:
            status, payload = 202, await self._accept(scope, receive)
        except HttpRejection as error:
            status, payload, unread = error.status, self._reject(scope, error.status, str(error)), error.unread
        except Transient as error:
            message = english(make_reason("webhook.not_stored", why=error_reason(error)))
            status, payload = 503, self._reject(scope, 503, message)
        except ConnectionResetError:
            return  # the client has gone
        headers = [(b"content-type", b"application/json"), (b"content-length", str(len(payload)).encode())]
        if unread or status not in (202, 401, 403, 503):
            headers.append((b"connection", b"close"))
        await send({"type": "http.response.start", "status": status, "headers": headers})
        if unread:
            await send({"type": "http.response.body", "body": payload, "more_body": True})
            await _linger(receive)
            payload = b""
        await send({"type": "http.response.body", "body": payload})
        if status == 202:
            self.acknowledged.add(time.perf_counter() - began)

    def _reject(self, scope: Scope, status: int, message: str) -> bytes:
        """Record the rejection without waiting, and return the answer's body. Malformed names are not stored."""
        headers = dict(scope["headers"])
        event, delivery = (
            value.decode() if _NAME.match(value) else ""
            for value in (headers.get(name, b"") for name in (b"x-github-event", b"x-github-delivery"))
        )
        self._rejections.add(status, delivery, event, message)
        return json.dumps({"error": message}).encode()

    async def _accept(self, scope: Scope, receive: Receive) -> bytes:
        headers = dict(scope["headers"])
        try:
            async with asyncio.timeout(READ_TIMEOUT_S):
                body = await self._read(headers, receive)
        except TimeoutError:
            raise HttpRejection(408, make_reason("request.too_slow", seconds=round(READ_TIMEOUT_S))) from None
        if not self._secrets:
            raise HttpRejection(401, make_reason("webhook.no_app"))
        if not signed(body, headers.get(b"x-hub-signature-256"), self._secrets):
            raise HttpRejection(401, make_reason("webhook.unsigned"))
        target = headers.get(b"x-github-hook-installation-target-id")
        if target is not None and self._target is not None and target != self._target:
            raise HttpRejection(403, make_reason("webhook.other_app"))
        content_type = headers.get(b"content-type", b"").split(b";")[0].strip().lower()
        if content_type != b"application/json":
            raise HttpRejection(415, make_reason("webhook.content_type"))
        event, delivery = _header(headers, b"x-github-event"), _header(headers, b"x-github-delivery")
        _check_object(body)
        row = Delivery.model_construct(id=delivery, event=event, payload=body, received_at=int(time.time() * 1000))
        fresh = await self._inbox.accept(row)
        return b'{"delivery":"%s","status":"%s"}' % (delivery.encode(), _STATUS_TEXT[fresh])

    async def _read(self, headers: dict[bytes, bytes], receive: Receive) -> bytes:
        declared = headers.get(b"content-length", b"0")
        if not declared.isdigit() or int(declared[:20]) > MAX_BODY:
            raise _too_large()
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
                if size > MAX_BODY:
                    raise _too_large()
                if self._held > MAX_HELD:
                    raise HttpRejection(503, make_reason("webhook.busy"), unread=True)
                chunks.append(chunk)
                if not message.get("more_body"):
                    return b"".join(chunks)
                message = await receive()
        finally:
            self._held -= size


def _too_large() -> HttpRejection:
    return HttpRejection(413, make_reason("request.too_large", bytes=MAX_BODY), unread=True)


class WebhookRouter:
    """Passes deliveries to their endpoint and other requests to `rest`, as Starlette's routing would double the time
    of a delivery."""

    def __init__(self, webhook: WebhookEndpoint, paths: Container[str], rest: ASGIApp) -> None:
        self._webhook, self._paths, self.rest = webhook, paths, rest

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["path"] not in self._paths:
            await self.rest(scope, receive, send)
        elif scope["method"] == "POST":
            await self._webhook(scope, receive, send)
        else:
            headers = [(b"allow", b"POST"), (b"content-length", b"0")]
            await send({"type": "http.response.start", "status": 405, "headers": headers})
            await send({"type": "http.response.body"})


async def _linger(receive: Receive) -> None:
    """Read on for a moment while the client sends: a connection that is closed before is reset, and the answer lost."""
    with suppress(TimeoutError):
        async with asyncio.timeout(LINGER_S):
            while (await receive()).get("more_body"):
                pass


def _header(headers: dict[bytes, bytes], name: bytes) -> str:
    value = headers.get(name, b"")
    if not _NAME.match(value):
        raise HttpRejection(400, make_reason("webhook.header", name=name.decode()))
    return value.decode()


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


_DECODER = json.JSONDecoder(parse_constant=_no_constant)


def _parsed(body: bytes) -> Any:
    # twice as fast as json, but it rejects more, such as lone surrogates, and explains less: then json decides
    try:
        return from_json(body, allow_inf_nan=False, cache_strings="keys")
    except ValueError:
        return _DECODER.decode(body.decode("utf-8"))


def _check_object(body: bytes) -> None:
    try:
        value = _parsed(body)
    except (ValueError, RecursionError) as error:
        raise HttpRejection(400, not_json(error)) from None
    if not isinstance(value, dict):
        raise HttpRejection(400, make_reason("request.no_object"))
