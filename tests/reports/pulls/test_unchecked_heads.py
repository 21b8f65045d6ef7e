"""Buttons of check runs on a pull request, and what is said of heads that are not checked or of a broken file."""

from __future__ import annotations

from typing import Any

import pytest

from bot.config import PolicyProblem, parse_policy
from bot.model import CheckOutput, Language
from bot.model.pulls import CheckStatus
from bot.model.reasons import ExplainedStop, Reason
from bot.reports.locale.catalog import t
from bot.reports.pulls.check_output import (
    awaiting_output,
    check_actions,
    config_output,
    pull_check_output,
    superseded_output,
)
from bot.reports.pulls.unchecked_heads import AWAITING, NO_SANDBOX, filtered_output
from bot.rules.reasons import make_reason, quoted
from tests.reports.golden import LANGUAGES, compare, shown
from tests.reports.views_pulls import (
    FLAKY,
    HEAD,
    HEADS,
    NEW,
    ON_BASE,
    RED_TEST,
    VIEW,
    done,
    view_of,
)
from tests.reports.views_runs import TEST

PROBLEMS = parse_policy("trigger_lable: x\nquiet_seconds: -1\n")


def head_output(name: str, language: Language) -> tuple[str, CheckOutput]:
    assert isinstance(PROBLEMS, tuple)
    match name:
        case "awaiting-fork":
            return awaiting_output(VIEW.model_copy(update={"from_fork": True}), language)
        case "awaiting-author":
            return awaiting_output(VIEW, language)
        case "no-sandbox":
            stop = ExplainedStop.of(AWAITING, make_reason(NO_SANDBOX))
            return awaiting_output(VIEW.model_copy(update={"stop": stop}), language)
        case "filtered":
            return filtered_output(VIEW, language)
        case "config":
            broken = (*PROBLEMS, PolicyProblem(key="", reason=quoted("not valid YAML"), line=3))
            return config_output(broken, ".github/mendbot.yml", language, in_force=True)
        case _:
            return config_output(PROBLEMS[:1], ".github/mendbot.yml", language, in_force=False)


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("name", HEADS)
def test_head(name: str, language: Language) -> None:
    compare(f"pull-head-{name}.{language}.md", shown(*head_output(name, language)))


def names(check: CheckStatus, *, live: bool = False, **view: Any) -> list[str]:
    return [one.identifier for one in check_actions(view_of(check, **view), check, live=live)]


def test_buttons_are_those_that_would_do_something() -> None:
    """H-1."""
    waits = CheckStatus(name="test")
    assert names(waits, live=True) == ["cancel"]
    assert names(waits, live=False) == ["rerun_failed"]
    assert names(done(step=TEST)) == names(done(because="paths")) == []
    assert names(done("test", NEW, step=RED_TEST)) == ["rerun_failed", "fix"]
    assert names(done("test", NEW, step=RED_TEST), live=True) == ["rerun_failed", "fix"]
    assert names(done("test", NEW, step=RED_TEST), fixable=False) == ["rerun_failed"]
    assert names(done("test", FLAKY, ON_BASE, step=RED_TEST)) == ["rerun_failed"]
    for reason in ("superseded", "closed", "withdrawn", AWAITING):
        assert names(waits, stop=ExplainedStop.of(reason, make_reason("pull.closed"))) == []


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("name", ["rerun_failed", "fix", "cancel"])
def test_buttons_keep_to_githubs_limits(name: str, language: Language) -> None:
    """Label 20, description 40, identifier 20 characters (REST, check runs, `actions`)."""
    label, description = t(language, f"pull_check.{name}"), t(language, f"pull_check.{name}.long")
    assert len(label) <= 20 and len(description) <= 40 and len(name) <= 20
    pressed = check_actions(VIEW, done("test", NEW, step=RED_TEST), language, live=False)
    assert {one.label for one in pressed} == {t(language, f"pull_check.{one}") for one in ("rerun_failed", "fix")}


def test_an_approval_names_the_commit_in_twelve_digits() -> None:
    concluded, output = awaiting_output(VIEW)
    assert concluded == "action_required" and output.title == f"Needs /mendbot ok-to-test {HEAD[:12]}"
    assert f"waits for approval: `/mendbot ok-to-test {HEAD[:12]}`" in output.summary
    odd = VIEW.model_copy(update={"head_sha": "`x` @acme abc\n123"})
    assert awaiting_output(odd)[1].title == "Needs /mendbot ok-to-test acmeabc123".replace("acme", "ace")


@pytest.mark.parametrize("status", ["queued", "done"])
def test_a_check_of_a_head_that_waits_for_approval_asks_for_it(status: str) -> None:
    view = VIEW.model_copy(update={"status": status, "stop": ExplainedStop.of(AWAITING, make_reason("pull.waits"))})
    assert pull_check_output(view, CheckStatus(name="test")) == (*awaiting_output(view), ())


@pytest.mark.parametrize(
    ("reason", "details", "title"),
    [
        ("superseded", make_reason("stop.superseded", sha="abc1234" + "0" * 33), "Superseded by abc1234"),
        ("superseded", quoted("abc1234defab is the head now"), "Superseded by a newer commit"),
        ("cancelled", make_reason("stop.said", by="ann"), "Cancelled by ann"),
        ("cancelled", make_reason("stop.pressed", by="ann"), "Cancelled by ann"),
        ("withdrawn", make_reason("unwanted.draft"), "Checks turned off"),
        ("cancelled", quoted("ann"), "Cancelled"),
        ("closed", make_reason("pull.closed"), "Pull request closed"),
        ("gave_up", quoted("no network"), "Ended early"),
    ],
)
def test_what_ended_early_says_why_and_never_counts_as_passed(reason: str, details: Reason, title: str) -> None:
    view = VIEW.model_copy(update={"status": "cancelled", "stop": ExplainedStop.of(reason, details)})
    concluded, output = superseded_output(view)
    assert (concluded, output.title) == ("cancelled", title)
    waits = CheckStatus(name="test", status="in_progress")
    assert pull_check_output(view, waits)[:2] == (concluded, output)


def test_a_broken_configuration_is_told_at_its_lines() -> None:
    problems = [PolicyProblem(key=f"k{at}", reason=quoted("m"), line=at) for at in range(300)]
    concluded, output = config_output(problems, "x.yml", in_force=True)
    assert concluded == "neutral" and output.title == "300 problems in x.yml"
    assert [found.start_line for found in output.annotations] == [1, *range(1, 200)]
    assert "last valid" in output.summary and "and 280 more" in output.summary
