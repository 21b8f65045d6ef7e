"""Tells the App what happened: signed webhooks, one after another, with a log of every delivery.

As on GitHub nothing is sent twice by itself; `redeliver` sends an old payload again under the same GUID
(GitHub, "Handling webhook deliveries", "Redelivering webhooks")."""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import http.client
import json
import time
import uuid
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

from demo.standin.answers import not_found
from demo.standin.json.account import node_id
from demo.standin.records import APP_EVENTS, Delivery, Installation, Json, Repository, User
from demo.standin.state import State

TIMEOUT_S = 10.0
"""GitHub ends the connection after 10 seconds (best practices for using webhooks)."""

_ALWAYS_SENT = ("installation", "installation_repositories", "ping")


def signature(secret: str, payload: bytes) -> str:
    return "sha256=" + hmac.new(secret.encode(), payload, hashlib.sha256).hexdigest()


class Hooks:
    """The App's one webhook. `emit` on the loop; `run` is the task that sends, in order."""

    def __init__(self, state: State) -> None:
        self.state = state
        self.deliveries: list[Delivery] = []
        self.paused = False
        self._queue: asyncio.Queue[Delivery] = asyncio.Queue()

    @property
    def pending(self) -> int:
        return sum(delivery.status == "pending" for delivery in self.deliveries)

    def emit(self, event: str, action: str | None, repo: Repository, sender: User, parts: Mapping[str, Any]) -> None:
        """Queue one repository event for the App, if it is installed there and listens to such events."""
        installation = self.state.installation_of(repo)
        self.state.pulse.beat()
        if installation is None or installation.suspended_at or event not in APP_EVENTS:
            return
        accounts = self.state.accounts
        payload: Json = {"action": action} if action else {}
        payload |= dict(parts)
        payload |= {
            "repository": accounts.repository(repo),
            "sender": accounts.user(sender),
            "installation": {
                "id": installation.id,
                "node_id": node_id("IntegrationInstallation", installation.id),
            },
        }
        self._queue_new(event, action, payload, repo.id, installation.id)

    def emit_installation(
        self, event: str, action: str, installation: Installation, sender: User, parts: Mapping[str, Any]
    ) -> None:
        """`installation` and `installation_repositories`, which every App gets whether it asked or not."""
        accounts = self.state.accounts
        payload = {"action": action, "installation": accounts.installation(installation), **parts}
        payload["sender"] = accounts.user(sender)
        self._queue_new(event, action, payload, None, installation.id)

    def ping(self) -> None:
        now = self.state.accounts.integration()["created_at"]
        hook = {"type": "App", "id": self.state.app.id, "name": "web", "active": True, "events": list(APP_EVENTS)}
        hook |= {
            "config": {"content_type": "json", "insecure_ssl": "0", "url": self.state.app.webhook_url},
            "app_id": self.state.app.id,
            "created_at": now,
            "updated_at": now,
        }
        zen = "Anything added dilutes everything else."
        self._queue_new("ping", None, {"zen": zen, "hook_id": hook["id"], "hook": hook}, None, None)

    def redeliver(self, delivery_id: int) -> Delivery:
        """Send an old delivery once more: the same bytes and GUID, a new id in the log."""
        old = self.find(delivery_id)
        again = Delivery(
            id=self.state.new_id(),
            guid=old.guid,
            event=old.event,
            action=old.action,
            payload=old.payload,
            repository_id=old.repository_id,
            installation_id=old.installation_id,
            created_at=self.state.now(),
            redelivery=True,
        )
        self._enqueue(again)
        return again

    def find(self, delivery_id: int) -> Delivery:
        for delivery in self.deliveries:
            if delivery.id == delivery_id:
                return delivery
        raise not_found()

    def resume(self) -> None:
        """Send what was held back while `paused`."""
        self.paused = False
        for delivery in self.deliveries:
            if delivery.status == "held":
                delivery.status = "pending"
                self._queue.put_nowait(delivery)

    def _queue_new(
        self, event: str, action: str | None, payload: Json, repository_id: int | None, installation_id: int | None
    ) -> None:
        self._enqueue(
            Delivery(
                id=self.state.new_id(),
                guid=str(uuid.uuid4()),
                event=event,
                action=action,
                payload=json.dumps(payload, ensure_ascii=False, separators=(",", ":")).encode(),
                repository_id=repository_id,
                installation_id=installation_id,
                created_at=self.state.now(),
            )
        )

    def _enqueue(self, delivery: Delivery) -> None:
        if self.state.app.webhook_url is None:
            return
        self.deliveries.append(delivery)
        if self.paused:
            delivery.status = "held"
        else:
            self._queue.put_nowait(delivery)
        self.state.pulse.beat()

    async def run(self) -> None:
        """Send what is queued, for ever; cancelled when the stand-in stops."""
        while True:
            delivery = await self._queue.get()
            await self._send(delivery)
            self.state.pulse.beat()

    async def _send(self, delivery: Delivery) -> None:
        app = self.state.app
        delivery.request_headers = {
            "Accept": "*/*",
            "Content-Type": "application/json",
            "User-Agent": f"GitHub-Hookshot/{delivery.guid[:7]}",
            "X-GitHub-Delivery": delivery.guid,
            "X-GitHub-Event": delivery.event,
            "X-GitHub-Hook-ID": str(app.id),
            "X-GitHub-Hook-Installation-Target-ID": str(app.id),
            "X-GitHub-Hook-Installation-Target-Type": "integration",
            "X-Hub-Signature-256": signature(app.webhook_secret, delivery.payload),
        }
        began = time.monotonic()
        try:
            code, headers, body = await asyncio.to_thread(
                _post, str(app.webhook_url), delivery.request_headers, delivery.payload
            )
            delivery.status = "OK" if 200 <= code < 300 else f"Invalid HTTP Response: {code}"
            delivery.status_code, delivery.response_headers, delivery.response_body = code, headers, body
        except TimeoutError:
            delivery.status, delivery.status_code = "timed out", 504
        except (OSError, http.client.HTTPException):
            delivery.status, delivery.status_code = "failed to connect to host", 502
        delivery.duration_s = round(time.monotonic() - began, 3)
        delivery.delivered_at = self.state.now()


def _post(url: str, headers: Mapping[str, str], body: bytes) -> tuple[int, dict[str, str], str]:
    where = urlsplit(url)
    connection = http.client.HTTPConnection(where.hostname or "", where.port or 80, timeout=TIMEOUT_S)
    try:
        connection.request("POST", where.path or "/", body, dict(headers))
        answer = connection.getresponse()
        text = answer.read(65_536).decode(errors="replace")
        return answer.status, dict(answer.getheaders()), text
    finally:
        connection.close()
