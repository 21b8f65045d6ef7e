"""A check in which nothing failed but what is not the pull request's own, and a change that a person gave: told as what
they are, in both languages."""

from __future__ import annotations

import pytest

from bot.model import Language, RunView
from bot.reports.pulls.comment import fix_comment
from bot.reports.runs.check_output import check_output
from bot.reports.runs.issue_comment import issue_comment
from bot.reports.runs.pull_request import commit_message, pull_body
from tests.reports.golden import LANGUAGES, compare, shown
from tests.reports.views_runs import make_view


def tolerated() -> RunView:
    """A fix that succeeded although lint fails with what the base shows, too."""
    view = make_view("success")
    last = view.validations[-1]
    found = {"passed": True, "tolerated": True, "exit_code": 1, "output": "old.py:1: F632"}
    steps = tuple(step.model_copy(update=found) if step.stage == "lint" else step for step in last.steps)
    return view.model_copy(update={"validations": (last.model_copy(update={"steps": steps}),)})


def given() -> RunView:
    return make_view("success").model_copy(update={"agents": ("given",), "max_attempts": 1, "attempt": 1})


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_check_that_failed_with_nothing_new_is_neutral_and_says_why(language: Language) -> None:
    conclusion, output = check_output(tolerated(), "lint", language)
    assert conclusion == "neutral"
    compare(f"check-tolerated-lint.{language}.md", shown(conclusion, output))


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_change_that_a_person_gave_is_said_to_be_one(language: Language) -> None:
    compare(f"comment-given.{language}.md", issue_comment(given(), language) + "\n")
    told = fix_comment(given(), number=7, language=language)
    assert "`given`" not in told
    fix = check_output(given(), "fix", language)[1].summary
    for text in (pull_body(given(), language), commit_message(given()), fix):
        assert "given" not in text and "diff" in text
