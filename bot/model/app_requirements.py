"""What the GitHub App needs: its permissions and its events, as `app.yml` has them."""

from __future__ import annotations

from collections.abc import Mapping

APP_PERMISSIONS: Mapping[str, str] = {
    "metadata": "read",
    "contents": "write",
    "issues": "write",
    "pull_requests": "write",
    "merge_queues": "read",
    "checks": "write",
}
APP_EVENTS = (
    "issues",
    "issue_comment",
    "pull_request",
    "pull_request_review",
    "pull_request_review_comment",
    "check_suite",
    "check_run",
    "merge_group",
    "push",
)
