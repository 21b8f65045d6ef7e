"""A run whose webhook was lost stops for the same reasons as one whose webhook came."""

from __future__ import annotations

from typing import Any

import pytest

from bot.config import Policy
from bot.model import Issue
from bot.rules.triage.missed_events import withdrawal_reason

BEFORE = Issue(number=7, title="t", labels=("Auto-Fix", "bug"))


@pytest.mark.parametrize(
    ("now", "kind"),
    [
        ({}, None),
        ({"labels": ("auto-fix",)}, None),
        ({"labels": ("bug",)}, "stop.missed_unlabelled"),
        ({"labels": ("auto-fix", "auto-fix-skip")}, "stop.missed_skipped"),
        ({"state": "closed"}, "stop.missed_closed"),
        ({"number": 3}, "stop.missed_transferred"),
    ],
)
def test_an_issue_that_is_not_wanted_any_more_says_why(now: dict[str, Any], kind: str | None) -> None:
    why = withdrawal_reason(BEFORE, BEFORE.model_copy(update=now), Policy())
    assert (why.kind if why else None) == kind


def test_a_label_that_was_never_there_was_not_taken_off() -> None:
    plain = BEFORE.model_copy(update={"labels": ("auto-fix-skip",)})
    assert withdrawal_reason(plain, plain, Policy()) is None
