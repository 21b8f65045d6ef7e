"""Delivers a stored or recorded payload to a server again, signed as GitHub signs it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlsplit

from bot.config import Settings
from bot.errors import Transient
from bot.http import HttpResponse, check_api_url, open_client, send
from bot.reports.locale.reasons import user_error
from bot.rules.reasons import make_reason
from bot.store.database.open import database_url, reading
from bot.store.inbox.deliveries import Deliveries
from bot.web.replay import replay_id
from bot.web.signature import parse_secrets, sign

WEBHOOK_PATH = "/api/github/webhooks"
MAX_BYTES = 25 * 1024 * 1024


class Payload(NamedTuple):
    """The body of a delivery, and the name of its event."""

    event: str
    body: bytes


class ReplayResult(NamedTuple):
    """What the server answered: its HTTP status, and the fields of its JSON."""

    delivery: str
    http_status: int
    answer: dict[str, object]


def webhook_url(url: str) -> str:
    """The URL of the webhook; a URL without a path is that of the server. Raises ConfigError for one that is no URL."""
    checked = check_api_url(url, allow_private=True, setting="--url")
    return checked if urlsplit(checked).path.strip("/") else f"{checked}{WEBHOOK_PATH}"


def recorded(path: Path, event: str) -> Payload:
    """The payload in a file. Raises UserError for a file that cannot be read, or that is too large."""
    try:
        with path.open("rb") as file:
            body = file.read(MAX_BYTES + 1)
    except OSError as error:
        raise user_error(make_reason("cli.unreadable_file", path=str(path), error=error.strerror or "")) from None
    if len(body) > MAX_BYTES:
        raise user_error(make_reason("replay.too_large", path=str(path), bytes=MAX_BYTES))
    return Payload(event, body)


async def stored(settings: Settings, delivery_id: str, event: str | None) -> Payload:
    """The payload of a stored delivery. Raises UserError if the database has none with this id."""
    async with reading(database_url(settings)) as database:
        found = None if database is None else await Deliveries(database).get(delivery_id)
    if found is None:
        raise user_error(make_reason("replay.unknown", id=delivery_id))
    return Payload(event or found.event, found.payload)


async def deliver(settings: Settings, payload: Payload, url: str) -> ReplayResult:
    """Post the payload to that webhook with an id of its own, signed with the first of the webhook secrets.

    Raises ConfigError without a secret, and UserError if no server answers."""
    secret = settings.webhook_secret.get_secret_value() if settings.webhook_secret else None
    delivery_id = replay_id()
    headers = {
        "Content-Type": "application/json",
        "User-Agent": "GitHub-Hookshot/mendbot-replay",
        "X-GitHub-Event": payload.event,
        "X-GitHub-Delivery": delivery_id,
        "X-Hub-Signature-256": sign(payload.body, parse_secrets(secret)[0]),
    }
    async with open_client(url, allow_private=True) as client:
        try:
            response = await send(client, "POST", url, headers, payload.body)
        except Transient as error:
            raise user_error(make_reason("replay.no_answer", url=url, error=str(error))) from error
    return ReplayResult(delivery_id, response.status, _json(response))


def _json(response: HttpResponse) -> dict[str, object]:
    try:
        value = json.loads(response.body)
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}
