"""Events of issues, and the facts to decide about them."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

from bot.config import Policy
from bot.model import Issue, Repo
from bot.rules.events.types import (
    IssueLabeled,
    IssueUnlabeled,
)
from bot.rules.triage.decisions import (
    Facts,
)

REPO = Repo(owner="o", name="r", installation_id=3)

NOW = datetime(2026, 5, 1, tzinfo=UTC)

POLICY = Policy()

BOT = "mendbot[bot]"

OPEN = Issue(number=7, title="t", labels=("auto-fix",))


def labeled(label: str = "auto-fix", sender: str = "ann", issue: Issue = OPEN, repo: Repo = REPO) -> IssueLabeled:
    return IssueLabeled(repo=repo, issue=issue, label=label, sender=sender, sender_is_bot=False, at=NOW)


def unlabeled(label: str | None = "auto-fix", sender: str = "ann", issue: Issue = OPEN) -> IssueUnlabeled:
    return IssueUnlabeled(repo=REPO, issue=issue, label=label, sender=sender, sender_is_bot=False, at=NOW)


def facts(**changes: object) -> Facts:
    return replace(Facts(app_login=BOT, sender_permission="write", issue=OPEN), **changes)  # type: ignore[arg-type]
