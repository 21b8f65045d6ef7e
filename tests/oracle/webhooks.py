"""GitHub's webhook schemas as a judge of the deliveries that the stand-in sends, and real payloads to read.
Missing `required` members count here: the examples that lack some are old, what the stand-in sends is new."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

import jsonschema_rs

from .fetch import EXAMPLES, WEBHOOKS, load
from .schema import complaints, validator


def check_webhook(event: str, payload: Mapping[str, Any]) -> list[str]:
    """How this payload differs from what GitHub sends for `event` (an `X-GitHub-Event`); members that GitHub doesn't
    describe are not held against it, but an App's delivery without its installation is."""
    name = _name(event, payload)
    if name is None:
        return [f"GitHub sends no {event}.{payload.get('action')}"]
    found = complaints(_validator(name), dict(payload), "payload")
    if event != "ping" and "installation" not in payload:
        found.append("payload.installation: a GitHub App's deliveries all name it")
    return found


@cache
def examples() -> tuple[tuple[str, Mapping[str, Any]], ...]:
    """Every recorded payload with its event: 329 of 58 events."""
    return tuple((entry["name"], payload) for entry in load(EXAMPLES) for payload in entry["examples"])


@cache
def _description() -> Mapping[str, Any]:
    return load(WEBHOOKS)  # type: ignore[no-any-return]


def _name(event: str, payload: Mapping[str, Any]) -> str | None:
    plain = event.replace("_", "-")
    action = str(payload.get("action", "")).replace("_", "-")
    for name in (f"{plain}-{action}", plain):
        if name in _description()["webhooks"]:
            return name
    return None


@cache
def _validator(name: str) -> jsonschema_rs.Draft202012Validator:
    content = _description()["webhooks"][name]["post"]["requestBody"]["content"]["application/json"]
    return validator(content["schema"], _description()["components"]["schemas"], close=False)
