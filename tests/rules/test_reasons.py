"""A sentence keeps its values on every way, through a row that keeps text too, and each language has all of them."""

from __future__ import annotations

import string
from typing import get_args, get_type_hints

import pytest

from bot.model import Issue
from bot.reports.locale.reasons import reason_text
from bot.rules.events.types import IssueClosed
from bot.rules.grouping.groups import choose_groups, group_issues
from bot.rules.reasons import ROWS, SENTENCES, make_reason, parse_reason
from bot.rules.triage.decisions import CancelRun
from bot.rules.triage.issues import decide
from tests.rules.triage.issue_events import POLICY, facts, labeled, unlabeled

EVIL = "a, which b paused (1 of 1 in use) {x} \n@ann"


def fields(sentence: str) -> dict[str, str]:
    return {
        name: "7" if name in ("number", "limit", "count") else EVIL
        for _, name, _, _ in string.Formatter().parse(sentence)
        if name
    }


def test_a_reason_is_worded_in_both_languages() -> None:
    for kind, told in SENTENCES.items():
        said = make_reason(kind, **fields(told))
        assert reason_text(said, "en") == said.text
        assert any("가" <= char <= "힣" for char in reason_text(said, "ko")) or kind.startswith("setup.")


@pytest.mark.parametrize("kind", ROWS)
def test_what_a_row_keeps_is_read_back_whatever_is_in_it(kind: str) -> None:
    said = make_reason(kind, **fields(ROWS[kind]))
    assert parse_reason(said.text) == said


def test_every_reason_for_which_an_issue_stops_a_run_is_a_sentence_of_the_table() -> None:
    gone = [
        IssueClosed(repo=labeled().repo, issue=labeled().issue, how=how, sender="ann", sender_is_bot=False, at=None)
        for how in get_args(get_type_hints(IssueClosed)["how"])
    ]
    for event in (*gone, unlabeled(), labeled("auto-fix-skip")):
        (decision,) = decide(event, POLICY, facts(open_run=True))
        assert isinstance(decision, CancelRun)
        said = parse_reason(decision.because)
        assert said is not None and "ann" in reason_text(said, "ko"), decision.because


def test_a_group_of_a_run_has_its_reasons_as_values_and_a_listing_has_them_as_text_alone() -> None:
    issues = [
        Issue(number=1, title="Totals", body="Component: Cart\nsee #2 in a/b.py"),
        Issue(number=2, title="Totals", body="see #1 in a/b.py", labels=("area:cart", "ui")),
        *(Issue(number=number, title=f"Other {number}", body="") for number in range(3, 6)),
    ]
    for way in ("component", "file", "label", "similarity"):
        runs, listed = choose_groups(issues, way, 2), group_issues(issues, way, 2)
        for group in runs:
            assert tuple(one.text for one in group.why) == group.reasons != ()
        assert all(set(group.model_dump()) == {"key", "issues", "suggested_branch", "reasons"} for group in listed)
