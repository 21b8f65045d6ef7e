"""Every kind of message in both languages, compared with what was read and approved.

After a change of wording, `MENDBOT_GOLDEN=rewrite .venv/bin/python -m pytest tests/reports/test_golden.py` writes the
files anew; read the difference before it is committed."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from bot.model import Language, RunView
from bot.reports.runs.check_output import check_output
from bot.reports.runs.issue_comment import issue_comment
from bot.reports.runs.pull_request import commit_message, pull_body, pull_title
from tests.reports.golden import GOLDEN, LANGUAGES, compare, shown

COMMENTS = (
    "queued",
    "queued-soon",
    "queued-paused",
    "queued-paths",
    "queued-conflict",
    "preparing",
    "running",
    "running-known",
    "success",
    "success-group",
    "success-test-first",
    "success-covered",
    "success-unshown",
    "success-unshown-open",
    "success-session",
    "failed",
    "failed-timeout",
    "failed-memory",
    "failed-nothing",
    "failed-setup",
    "failed-refused",
    "failed-known",
    "failed-seen",
    "failed-same-patch",
    "failed-oscillation",
    "failed-weakened",
    "failed-abandoned",
    "failed-unknown",
    "failed-proof",
    "cancelled",
)
PULLS = (
    *("success", "success-group", "success-notes", "success-session"),
    *("success-test-first", "success-covered", "success-unshown", "success-unshown-open"),
)
CHECKS = (
    ("success", "fix"),
    ("success-test-first", "fix"),
    ("success-covered", "fix"),
    ("success-unshown", "fix"),
    ("success", "test"),
    ("success", "lint"),
    ("success-group", "test"),
    ("success-group", "typecheck"),
    ("running", "test"),
    ("running", "lint"),
    ("queued", "fix"),
    ("queued-paused", "fix"),
    ("preparing", "fix"),
    ("running", "fix"),
    ("failed", "fix"),
    ("failed", "test"),
    ("failed", "typecheck"),
    ("failed-timeout", "test"),
    ("failed-memory", "test"),
    ("failed-known", "test"),
    ("failed-proof", "fix"),
    ("cancelled", "fix"),
)
ELSEWHERE = (
    *("answer-", "reply-", "pull-check-", "pull-comment-", "pull-fix-", "pull-head-"),
    *("check-tolerated-", "comment-given.", "onboarding-", "dashboard-"),
)
"""What files of other tests begin with, which look for left-over ones themselves."""


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("name", COMMENTS)
def test_comment(name: str, language: Language, view: Callable[..., RunView]) -> None:
    compare(f"comment-{name}.{language}.md", issue_comment(view(name), language) + "\n")


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("name", PULLS)
def test_pull_request(name: str, language: Language, view: Callable[..., RunView]) -> None:
    title, body = pull_title(view(name), language), pull_body(view(name), language)
    compare(f"pull-{name}.{language}.md", f"{title}\n\n{body}\n")


@pytest.mark.parametrize("name", PULLS)
def test_commit_message(name: str, view: Callable[..., RunView]) -> None:
    compare(f"commit-{name}.txt", commit_message(view(name)))


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize(("name", "check"), CHECKS)
def test_check_output(name: str, check: str, language: Language, view: Callable[..., RunView]) -> None:
    compare(f"check-{name}-{check}.{language}.md", shown(*check_output(view(name), check, language)))


def test_no_golden_file_is_left_over() -> None:
    expected = {f"comment-{name}.{language}.md" for name in COMMENTS for language in LANGUAGES}
    expected |= {f"pull-{name}.{language}.md" for name in PULLS for language in LANGUAGES}
    expected |= {f"commit-{name}.txt" for name in PULLS}
    expected |= {f"check-{name}-{check}.{language}.md" for name, check in CHECKS for language in LANGUAGES}
    assert {path.name for path in GOLDEN.iterdir() if not path.name.startswith(ELSEWHERE)} == expected
