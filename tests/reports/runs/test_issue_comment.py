"""The comment on an issue: the run metadata, the account of the group, what is remembered."""

from __future__ import annotations

import json
import re
from collections.abc import Callable

import pytest
from markdown_it import MarkdownIt

from bot.model import Issue, Language, RunView, Status
from bot.model.report_views import Conflict
from bot.reports.runs.issue_comment import issue_comment
from bot.rules.reasons import make_reason
from tests.reports.hostile_texts import LANGUAGES, evil_view

_LOUD = tuple(Issue(number=number, title="@" * 150) for number in range(1, 51))
"""Each sign takes up eight, so that not all of them fit."""


def blocks(told: str) -> list[str]:
    """The JSON that a program finds in a comment."""
    return [token.content for token in MarkdownIt().parse(told) if token.type == "fence" and token.info == "json"]


@pytest.mark.parametrize(
    ("name", "decision"), [("failed", "needs-human"), ("success", "fixed"), ("cancelled", "cancelled")]
)
def test_a_run_that_is_over_shows_its_metadata_to_programs(
    name: str, decision: str, view: Callable[[str], RunView]
) -> None:
    """It is the only JSON there, folded, and reads as what was issued."""
    told = view(name)
    found = [json.loads(block) for block in blocks(issue_comment(told))]
    assert told.metadata is not None
    assert found == [told.metadata.as_json()] and found[0]["decision"] == decision
    assert blocks(issue_comment(told.model_copy(update={"metadata": None}))) == []


@pytest.mark.parametrize("language", LANGUAGES)
def test_run_metadata_of_hostile_words_is_still_one_block_of_json(language: Language) -> None:
    told = evil_view(Status.FAILED)
    assert told.metadata is not None
    assert [json.loads(block) for block in blocks(issue_comment(told, language))] == [told.metadata.as_json()]


def test_only_a_failure_asks_for_a_person_and_once(view: Callable[[str], RunView]) -> None:
    assert issue_comment(view("failed")).count("needs a human") == 1
    for name in ("success", "cancelled", "running"):
        assert "needs a human" not in issue_comment(view(name))


def test_a_group_tells_its_issues_reasons_and_how_to_change_it(view: Callable[[str], RunView]) -> None:
    for name, folded in (("queued", False), ("running", False), ("success-group", True), ("failed", True)):
        told = issue_comment(view(name))
        assert "- #9: Ask @&#8203;acme/core: does" in told and "- 3 issues share the component cart" in told, name
        assert "`/mendbot group split`" in told and "`/mendbot group remove #12`" in told, name
        assert ("<details><summary>Issues in this run (3)</summary>" in told) == folded, name
    assert "/mendbot group" not in issue_comment(view("queued-soon"))


def test_a_large_group_is_folded_from_the_start(view: Callable[[str], RunView]) -> None:
    issues = tuple(Issue(number=number, title="x") for number in range(1, 51))
    told = issue_comment(view("queued").model_copy(update={"issues": issues}))
    assert "<summary>Issues in this run (50)</summary>" in told and "- #50: x" in told


def test_what_would_conflict_is_told_with_the_files(view: Callable[[str], RunView]) -> None:
    told = issue_comment(view("queued-conflict"))
    assert "Would conflict with the change for #14 (pull request #45) in `shop/cart.py`." in told
    assert "Would conflict with the change for #16 and #18 in `a.py`, `b.py`, `c.py` and 1 more." in told
    bare = view("queued").model_copy(update={"conflicts": (Conflict(issues=(3,)),)})
    assert "⚠️ Would conflict with the change for #3." in issue_comment(bare)


def test_where_an_error_was_seen_before_is_told_unless_this_is_the_first_time(view: Callable[[str], RunView]) -> None:
    told = view("failed-seen")
    assert "Seen 3 times since May 2026; last fixed in 0123456 (#31)." in issue_comment(told)
    error = told.seen[0][0]
    assert "Seen" not in issue_comment(told.model_copy(update={"seen": ((error, 1, "2026-05"),)}))
    unknown = told.model_copy(update={"seen": ((error, 2, "someday"),), "guidance": ()})
    assert "Seen 2 times." in issue_comment(unknown)
    several = issue_comment(view("failed-known"))
    assert "- `assert None == 0` — Seen 3 times" in several and "9 times" not in several


def test_each_attempt_tells_what_came_and_went_with_it(view: Callable[[str], RunView]) -> None:
    told = issue_comment(view("failed"))
    first = told.split("Attempt 1 changed")[1].split("Attempt 2 changed")[0]
    assert "- new: `cart.py: E501 line too long`" in first and "- fixed" not in first
    assert "| 3 | – | no change applied | – | – |" in told


def test_no_error_is_told_twice_of_the_last_change(view: Callable[[str], RunView]) -> None:
    """It is above the fold already; what is too long for there is told within."""
    told = issue_comment(view("failed"))
    assert told.count("- fixed: `cart.py: E501 line too long`") == 1
    assert told.endswith("</sub>") and "Attempt 2 changed `shop/cart.py`" in told.split("<summary>Attempts")[1]
    many = issue_comment(view("failed-known"))
    assert "- new: `assert 1 == 2`" not in many.split("<summary>Attempts")[0]
    assert many.split("<summary>Attempts")[1].count("- new: ") == 3


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_comment_too_long_for_github_keeps_its_metadata(language: Language) -> None:
    loud = {
        "issues": _LOUD,
        "reasons": (make_reason("fault", error="@" * 300),) * 12,
        "rejections": tuple(make_reason("fault", error=f"{at}{'@' * 300}") for at in range(9)),
    }
    told = evil_view(Status.FAILED, 300).model_copy(update=loud)
    body = issue_comment(told, language)
    assert re.search(r"\[… \d+(?: characters cut|자 생략) …\]", body) and len(body) <= 65_000
    assert told.metadata is not None
    assert [json.loads(block) for block in blocks(body)] == [told.metadata.as_json()]


def test_what_a_group_has_no_room_for_is_counted(view: Callable[[str], RunView]) -> None:
    group = view("queued")
    reasons = tuple(make_reason("fault", error=letter) for letter in "abcdefghijklmno")
    told = issue_comment(group.model_copy(update={"reasons": reasons, "issues": _LOUD}))
    shown = told.count("\n- #")
    assert 0 < shown < 50 and f"\n- and {50 - shown} more\n\nGrouped because:" in told
    assert re.search(r"\n- l: this is .*\n- and 3 more\n", told) and "- m: " not in told
