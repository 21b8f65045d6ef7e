"""Parts of webhook payloads."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

REVIEWS = ("pull_request_review", "pull_request_review_comment")

AT = datetime(2026, 5, 1, 10, tzinfo=UTC)

SHA = "6dcb09b5b57875f334f61aebed695e2e4193db5e"

BASE: dict[str, Any] = {
    "repository": {"full_name": "Octo-Org/hello.world", "default_branch": "main"},
    "sender": {"login": "octocat", "type": "User"},
    "installation": {"id": 3},
}

ISSUE: dict[str, Any] = {
    "number": 7,
    "title": "Crash",
    "body": None,
    "state": "open",
    "user": {"login": "hubot"},
    "labels": [{"name": "bug"}],
    "updated_at": "2026-05-01T10:00:00Z",
}

PULL: dict[str, Any] = {
    "number": 8,
    "head": {"sha": SHA, "repo": {"full_name": "fork/hello.world"}},
    "base": {"ref": "main"},
    "user": {"login": "hubot"},
    "draft": False,
    "updated_at": "2026-05-01T10:00:00Z",
}

REVIEW: dict[str, Any] = {
    "id": 6,
    "body": "/mendbot fix",
    "user": {"login": "hubot"},
    "submitted_at": "2026-05-01T09:00:00Z",
    "updated_at": "2026-05-01T11:00:00Z",
}
