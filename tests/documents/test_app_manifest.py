"""The App's manifest asks for the least and for what is handled, no more (T21)."""

from __future__ import annotations

from pathlib import Path

import yaml

from bot.model.app_requirements import APP_EVENTS, APP_PERMISSIONS
from bot.rules.events import parse

MANIFEST = yaml.safe_load((Path(__file__).parents[2] / "app.yml").read_text(encoding="utf-8"))


def test_permissions_are_the_least_that_the_work_needs() -> None:
    assert MANIFEST["default_permissions"] == {
        "metadata": "read",
        "contents": "write",
        "issues": "write",
        "pull_requests": "write",
        "checks": "write",
        "merge_queues": "read",
    }


def test_the_doctor_asks_for_the_same() -> None:
    assert MANIFEST["default_permissions"] == APP_PERMISSIONS
    assert MANIFEST["default_events"] == list(APP_EVENTS)


def test_events_are_those_that_are_read_but_for_what_every_app_gets() -> None:
    unasked = {"installation", "installation_repositories", "ping"}
    assert set(MANIFEST["default_events"]) == {event for event, _action in parse._TABLE} - unasked


def test_what_github_requires_is_there() -> None:
    assert MANIFEST["name"] and MANIFEST["url"].startswith("https://")
    assert MANIFEST["hook_attributes"]["url"].endswith("/api/github/webhooks")
