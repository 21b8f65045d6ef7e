"""Answers tell what there is, or how to begin; whatever strangers wrote stays words, and each fits a comment."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from bot.model import Issue, Language, Status
from bot.model.pulls import CheckStatus, Failure, FailureHistory, FlakyRate, PullCheckReport
from bot.model.reasons import ExplainedStop
from bot.reports.commands.answers import explain_answer, group_answer, history_answer, status_answer
from bot.reports.history.known_errors import cleared_by, month
from bot.rules.reasons import quoted
from tests.reports.golden import GOLDEN, LANGUAGES, compare
from tests.reports.hostile_texts import EVIL, evil_guidance, evil_view, prose_of
from tests.reports.views_answers import ANSWERS, FLAKY_ONLY, MIXED
from tests.reports.views_runs import BY_BOT, BY_PERSON, SIMILAR, TEST_FAILED, make_view

CALLED = re.compile(r"@[A-Za-z]|fixes #\d|://")


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("name", ANSWERS)
def test_answer(name: str, language: Language) -> None:
    compare(f"answer-{name}.{language}.md", ANSWERS[name](language) + "\n")


def test_no_golden_answer_is_left_over() -> None:
    expected = {f"answer-{name}.{language}.md" for name in ANSWERS for language in LANGUAGES}
    assert {Path(path).name for path in GOLDEN.glob("answer-*")} == expected


def evil_pull(bulk: int) -> PullCheckReport:
    failure = Failure(
        error=EVIL * bulk, verdict="new", seen=FailureHistory(times=3, since=EVIL), known=evil_guidance(EVIL * bulk)
    )
    failing = TEST_FAILED.model_copy(update={"command": EVIL * bulk, "output": EVIL * bulk})
    check = CheckStatus(
        name=EVIL,
        status="completed",
        step=failing,
        failures=(failure,) * min(bulk * 2, 60),
        rate=FlakyRate(flaky=1, runs=2),
        because=EVIL,
    )
    kept = CheckStatus(name=EVIL, status="completed", kept_from=EVIL, failures=(failure,))
    idle = CheckStatus(name=EVIL, status="completed", because=EVIL * bulk)
    return PullCheckReport(
        run_id=EVIL,
        repo="acme/shop",
        github_url="https://github.com",
        number=4,
        head_sha="ab12" * 10,
        base_sha="cd34" * 10,
        status="cancelled",
        checks=(check, kept, idle) * min(bulk, 12),
        stop=ExplainedStop(reason=EVIL, details=quoted(EVIL * bulk)),
    )


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("bulk", [1, 120])
def test_no_answer_lets_a_stranger_speak_or_outgrows_a_comment(bulk: int, language: Language) -> None:
    """T36, T39: in every state."""
    runs = [evil_view(status, bulk) for status in Status]
    issues = tuple(Issue(number=number, title=EVIL * bulk) for number in range(1, min(bulk, 200) + 1))
    pull = evil_pull(bulk)
    told = [
        status_answer(runs * min(bulk, 30), pull, paused_by=EVIL, waiting=True, language=language),
        *(status_answer([run], None, language=language) for run in runs),
        *(explain_answer(run, pull, language) for run in runs),
        explain_answer(None, pull, language),
        history_answer(EVIL * bulk, (evil_guidance(EVIL * bulk),) * bulk, language, "acme/shop"),
        *(group_answer(run, issues, language, apart=range(1, bulk + 1)) for run in runs),
        group_answer(None, issues, language, together=((1, 2),) * bulk),
    ]
    for answer in told:
        assert answer and len(answer) <= 65_000
        words = prose_of(re.sub(r"\[[^\]\n]*\]\(https://github\.com/acme/shop/[^)\s]*\)", "link", answer))
        assert not CALLED.search(words), CALLED.search(words)


def test_with_nothing_to_tell_an_answer_says_how_to_begin() -> None:
    for told in (status_answer([], None), explain_answer(None, None), group_answer(None)):
        assert "`/mendbot fix`" in told
    for told in (
        status_answer([], None, label="mend"),
        explain_answer(None, None, label="mend"),
        group_answer(None, label="mend"),
    ):
        assert "Add the label `mend`" in told
    assert status_answer([], None, paused_by="ann").startswith("⏸️ Paused by `ann`: ")
    assert history_answer("a.py", ()) == "The error history has no entry for `a.py`."


def test_status_tells_the_last_ended_run_and_all_that_go_on() -> None:
    told = status_answer([make_view("failed"), make_view("success"), make_view("running"), make_view("queued")], None)
    assert "pull request #34" in told and "❌" not in told
    assert "attempt 2/3" in told and "No worktree is free" in told


def test_how_long_a_run_has_waited_is_told_where_it_is_known() -> None:
    queued = make_view("queued")
    assert "so far" not in status_answer([queued], None)
    assert "Waiting for 2 min 5 s so far." in status_answer([queued.model_copy(update={"waited_ms": 125_000})], None)


def test_status_of_a_pull_request_counts_its_failures_by_verdict() -> None:
    told = status_answer([], MIXED)
    assert "[`9f3c1ab`](https://github.com/acme/shop/commit/9f3c1ab" in told
    assert "| `test` | exit code 1 · 1 new failure · 1 unsure · 1 existing failure | 12 s |" in told
    assert "reused from run `pull-4a10`" in told


@pytest.mark.parametrize(
    ("name", "head"),
    [
        ("failed", "**❌ Run `fix-7f3a9c` ended without a fix**\n"),
        ("success", "**✅ Run `fix-7f3a9c` ended with a fix**\n"),
        ("cancelled", "**⏹️ Run `fix-7f3a9c` was cancelled**\n"),
        ("running", "🔄 attempt 2/3 · running the checks (run `fix-7f3a9c` for #7"),
    ],
)
def test_an_explanation_speaks_of_its_run_and_not_of_the_thread(name: str, head: str) -> None:
    """It stays where it is when a later run comes to another end."""
    assert explain_answer(make_view(name), None).startswith(head)


def test_explain_names_each_attempt_and_what_it_did_to_the_errors() -> None:
    told = explain_answer(make_view("failed"), None)
    assert "| 1 | `fixers` | `lint` failed, 2 annotations | 2 remaining · 1 new | 0.1 s |" in told
    assert "Attempt 2 changed `shop/cart.py`, `tests/test_cart.py`" in told
    assert "/mendbot explain" not in told and "`/mendbot retry`" in told


def test_what_is_not_a_pull_requests_own_is_not_for_its_author_to_fix() -> None:
    told = explain_answer(None, FLAKY_ONLY)
    assert "No failure is shown to come from this pull request" in told and "/mendbot fix" not in told
    unfixable = MIXED.model_copy(update={"fixable": False})
    assert "/mendbot fix" in explain_answer(None, MIXED) and "/mendbot fix" not in explain_answer(None, unfixable)


def test_a_long_history_is_counted() -> None:
    told = history_answer("a.py", (BY_BOT,) * 30)
    assert told.count("⚠️") == 20 and told.endswith("- and 10 more")


def test_places_and_months_are_told_only_where_they_are_known() -> None:
    assert cleared_by(BY_PERSON, "acme/shop") == "0123456 (#31)"
    assert cleared_by(BY_BOT, "acme/shop") == "#12"
    assert cleared_by(SIMILAR, "acme/shop") == ""
    assert [month(since, "en") for since in ("2026-05-04T10:00:00Z", "2026-12", "2026-13-01", "", "@ann")] == [
        *("May 2026", "December 2026"),
        *("", "", ""),
    ]
    assert month("2026-05", "ko") == "2026년 5월"
