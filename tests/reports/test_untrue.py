"""What was once said and was not so: a wait that ends only by a command, a run that has not begun, a name in capitals,
a place that nobody can reach."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from bot.model import Phase, RunView
from bot.reports.locale.catalog import messages
from bot.reports.pulls.comment import fix_comment
from bot.reports.runs.check_output import check_output
from bot.reports.runs.issue_comment import issue_comment
from bot.reports.runs.outcome import reason_sentence, sentence
from bot.rules.reasons import make_reason, quoted


@pytest.mark.parametrize(
    ("name", "title"),
    [
        ("queued", "Queued"),
        ("queued-paused", "Queued"),
        ("preparing", "Preparing: designing the change"),
        ("running", "Attempt 2 of 3: running the checks"),
    ],
)
def test_the_check_run_of_a_fix_is_titled_by_how_far_the_run_is(
    name: str, title: str, view: Callable[..., RunView]
) -> None:
    assert check_output(view(name), "fix")[1].title == title


def test_a_fix_of_a_pull_request_pushes_where_an_issues_run_opens_one(view: Callable[..., RunView]) -> None:
    packaging = view("running").model_copy(update={"phase": Phase.PACKAGING})
    assert check_output(packaging, "fix")[1].title == "Attempt 2 of 3: opening the pull request"
    fixing = packaging.model_copy(update={"fixes_pull": "branch"})
    assert check_output(fixing, "fix")[1].title == "Attempt 2 of 3: pushing the fix"


@pytest.mark.parametrize("tell", [issue_comment, lambda run: fix_comment(run, number=41)])
def test_a_paused_run_says_which_command_ends_the_pause_and_nothing_else(
    tell: Callable[[RunView], str], view: Callable[..., RunView]
) -> None:
    told = tell(view("queued-paused"))
    assert "by `ann`. Comment `/mendbot resume` on" in told
    assert "automatically" not in told and "in a moment" not in told
    assert "automatically" in tell(view("queued"))
    assert "`/mendbot resume`" in check_output(view("queued-paused"), "fix")[1].summary


def test_a_login_keeps_its_case_in_front_of_a_sentence() -> None:
    kinds = [key.removeprefix("reason.") for key, text in messages("en").items() if text.startswith("`{by}`")]
    assert len(kinds) > 5
    for kind in kinds:
        values = {"by": "ann", "label": "auto-fix", "number": 7, "command": "fix", "commands": "fix"}
        reason = make_reason(kind, **values)
        assert reason_sentence(reason, "en").startswith("`ann` "), kind
    assert sentence("asked `@acme/all` <b> fixes #1") == ("Asked `@acme/all` \\<b\\> fixes \\#&#8203;1.")


def test_the_unfinished_change_is_shown_where_its_readers_are(view: Callable[..., RunView]) -> None:
    for run in (view("failed"), view("cancelled")):
        for told in (issue_comment(run), fix_comment(run, number=41)):
            assert "<details><summary>The unfinished change as a diff</summary>\n\n```diff\ndiff --git" in told
            assert "own clone" not in told
    bare = view("failed").model_copy(update={"unfinished": ""})
    assert "```diff" not in issue_comment(bare)
    long = view("failed").model_copy(update={"unfinished": view("failed").unfinished * 500})
    assert len(issue_comment(long)) <= 65_000
    assert "Cut: " in issue_comment(long)


def test_an_unknown_reason_keeps_its_own_words() -> None:
    assert reason_sentence(quoted("`a` and `b"), "en") == "`a` and \\`b."
