"""The candidates of an attempt as people see them."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from bot.model import Language, RunView, Usage
from bot.model.candidates import CandidateResult
from bot.reports.format.truncate import inline_code
from bot.reports.runs.candidates import candidate_words, candidates_folded
from bot.reports.runs.event_lines import event_line
from bot.reports.runs.issue_comment import issue_comment
from bot.reports.runs.pull_request import pull_body
from bot.rules.reasons import quoted
from tests.run_events import run_event

COSTLY = CandidateResult(
    candidate=1, agent="claude", result="passed", fixed=2, proof="proven", lines=12, usage=Usage(cost_usd=0.5)
)
SMALL = CandidateResult(candidate=2, agent="codex", result="passed", fixed=2, proof="proven", lines=1)
RESULTS = (
    COSTLY,
    SMALL,
    CandidateResult(candidate=3, agent="`|<b>", result="failed", remaining=1, introduced=1, lines=3),
    CandidateResult(candidate=4, agent="codex", result="same", same_as=2, why=quoted("the same")),
    CandidateResult(candidate=5, agent="aider", result="none", why=quoted("no key")),
)


def with_candidates(view: RunView) -> RunView:
    last = view.attempts[-1].model_copy(update={"candidates": RESULTS, "winner": 2})
    return view.model_copy(update={"attempts": (*view.attempts[:-1], last)})


def test_the_table_shows_each_candidate_with_its_cost_and_the_one_that_was_taken(
    view: Callable[[str], RunView],
) -> None:
    """REQ-RUN-010: an unknown cost is named as unknown."""
    table = candidates_folded(with_candidates(view("success")), "en")
    lines = table.splitlines()
    (first,) = [line for line in lines if "claude" in line]
    (second,) = [line for line in lines if "2 (taken)" in line]
    assert "2 fixed" in first and "proven" in first and "| 12 |" in first and "$0.50" in first
    assert "codex" in second and second.endswith("| unknown |")
    assert any("same as candidate 2" in line for line in lines)
    assert any("aider" in line and "no change" in line for line in lines)
    assert inline_code("`|<b>").replace("|", "\\|") in table
    assert candidates_folded(view("success"), "en") == ""


@pytest.mark.parametrize("language", ["en", "ko"])
def test_comment_and_pull_request_show_the_table(view: Callable[[str], RunView], language: Language) -> None:
    shown = with_candidates(view("success"))
    table = candidates_folded(shown, language)
    assert table in issue_comment(shown, language) and table in pull_body(shown, language)


def test_a_line_of_the_terminal_names_the_winner() -> None:
    results = [one.model_dump(mode="json", by_alias=True) for one in RESULTS]
    chosen = run_event("candidate_chosen", iteration=1, winner=2, results=results)
    assert event_line(chosen) == "  takes candidate 2 of 5: codex: passed, proven, 1 line"
    assert event_line(run_event("candidate_chosen", iteration=1, winner=None, results=[])) == (
        "  no candidate can be checked"
    )
    failed = run_event("candidate_failed", iteration=1, candidate=2, agent="codex", reason=quoted("no key"))
    assert event_line(failed) == "  candidate 2: no change: no key"
    asked = run_event("agent_started", iteration=1, agent="codex", candidate=2)
    assert event_line(asked) == "  asks the agent `codex` for candidate 2"


def test_a_candidate_that_failed_is_shown_with_its_errors() -> None:
    assert candidate_words(RESULTS[2], "en") == "`|<b>: failed, 1 remaining · 1 new, 3 lines"
    assert candidate_words(COSTLY, "en").startswith("claude: passed, proven, 12 lines, ")
