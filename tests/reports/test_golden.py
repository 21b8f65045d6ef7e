"""Every kind of message in both languages, compared with what was read and approved.

After a change of wording, `MENDBOT_GOLDEN=rewrite .venv/bin/python -m pytest tests/reports/test_golden.py` writes the
files anew; read the difference before it is committed."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from bot.model import CheckOutput, Language, RunView
from bot.reports import markdown
from bot.reports.check_output import check_output

GOLDEN = Path(__file__).parent.parent / "fixtures" / "golden"
COMMENTS = (
    "queued",
    "queued-soon",
    "queued-conflict",
    "preparing",
    "running",
    "running-known",
    "success",
    "success-group",
    "success-unshown",
    "success-unshown-open",
    "success-session",
    "failed",
    "failed-timeout",
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
    "cancelled",
)
PULLS = ("success", "success-group", "success-notes", "success-session", "success-unshown", "success-unshown-open")
CHECKS = (
    ("success", "fix"),
    ("success-unshown", "fix"),
    ("success", "test"),
    ("success", "lint"),
    ("success-group", "test"),
    ("success-group", "typecheck"),
    ("running", "test"),
    ("running", "lint"),
    ("failed", "fix"),
    ("failed", "test"),
    ("failed", "typecheck"),
    ("failed-timeout", "test"),
    ("failed-known", "test"),
    ("cancelled", "fix"),
)
ELSEWHERE = (
    *("answer-", "reply-", "pull-check-", "pull-comment-", "pull-fix-", "pull-head-"),
    *("check-tolerated-", "comment-given."),
)
"""What files of other tests begin with, which look for left-over ones themselves."""

LANGUAGES: tuple[Language, ...] = ("en", "ko")


def compare(name: str, text: str) -> None:
    path = GOLDEN / name
    if os.environ.get("MENDBOT_GOLDEN") == "rewrite":
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    assert path.exists(), f"{path.name} is missing; see this file's docstring"
    assert text == path.read_text(encoding="utf-8")


def shown(conclusion: str, output: CheckOutput) -> str:
    marks = [f"{a.level} {a.path}:{a.start_line}-{a.end_line} {a.message}" for a in output.annotations]
    parts = [f"[{conclusion}] {output.title}", output.summary, output.text, "\n".join(marks)]
    return "\n\n".join(part for part in parts if part) + "\n"


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("name", COMMENTS)
def test_comment(name: str, language: Language, view: Callable[[str], RunView]) -> None:
    compare(f"comment-{name}.{language}.md", markdown.issue_comment(view(name), language) + "\n")


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("name", PULLS)
def test_pull_request(name: str, language: Language, view: Callable[[str], RunView]) -> None:
    title, body = markdown.pull_title(view(name)), markdown.pull_body(view(name), language)
    compare(f"pull-{name}.{language}.md", f"{title}\n\n{body}\n")


@pytest.mark.parametrize("name", PULLS)
def test_commit_message(name: str, view: Callable[[str], RunView]) -> None:
    compare(f"commit-{name}.txt", markdown.commit_message(view(name)))


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize(("name", "check"), CHECKS)
def test_check_output(name: str, check: str, language: Language, view: Callable[[str], RunView]) -> None:
    compare(f"check-{name}-{check}.{language}.md", shown(*check_output(view(name), check, language)))


def test_no_golden_file_is_left_over() -> None:
    expected = {f"comment-{name}.{language}.md" for name in COMMENTS for language in LANGUAGES}
    expected |= {f"pull-{name}.{language}.md" for name in PULLS for language in LANGUAGES}
    expected |= {f"commit-{name}.txt" for name in PULLS}
    expected |= {f"check-{name}-{check}.{language}.md" for name, check in CHECKS for language in LANGUAGES}
    assert {path.name for path in GOLDEN.iterdir() if not path.name.startswith(ELSEWHERE)} == expected
