"""What every message keeps to, whatever a run holds: sizes, fences, words of strangers, one table per language."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.model import (
    Annotation,
    Issue,
    Language,
    Phase,
    RunView,
    Status,
    Validation,
    ValidationStep,
)
from bot.reports.locale.catalog import duration, gigabytes, has_message, joined
from bot.reports.runs.check_output import check_output
from bot.reports.runs.issue_comment import issue_comment
from bot.reports.runs.pull_request import commit_message, pull_body, pull_title
from tests.reports.hostile_texts import EVIL, LANGUAGES, assert_harmless, evil_view, prose_of


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("status", Status)
@pytest.mark.parametrize("bulk", [1, 3000])
def test_a_comment_holds_any_run_and_lets_no_stranger_speak(status: Status, language: Language, bulk: int) -> None:
    view = evil_view(status, bulk)
    body = issue_comment(view, language)
    assert len(body) <= 65_000
    assert body.endswith("</sub>")
    assert_harmless(body)
    for told in (view, view.model_copy(update={"issues": ()})):
        pull = pull_body(told, language)
        assert len(pull) <= 65_000
        assert_harmless(pull)


@pytest.mark.parametrize("status", Status)
def test_titles_and_commit_messages_are_short_plain_lines(status: Status) -> None:
    view = evil_view(status)
    title, message = pull_title(view), commit_message(view)
    assert "\n" not in title and len(title) <= 256
    subject, blank, *_ = message.split("\n")
    assert len(subject) <= 72 and blank == ""
    for text in (title, message.replace("Refs: #2, #3", "")):
        assert not re.search(r"@[a-z]|#\d|://|[\x00-\x09\x0b-\x1f]", text)
    assert message.endswith("\nRefs: #2, #3\nMendbot-Run: run-1\n")


@pytest.mark.parametrize("status", Status)
@pytest.mark.parametrize("check", ["fix", "typecheck", "lint", "test", EVIL[:9]])
@pytest.mark.parametrize("bulk", [1, 5000])
def test_check_output_keeps_githubs_sizes_in_bytes(status: Status, check: str, bulk: int) -> None:
    conclusion, output = check_output(evil_view(status, bulk), check, "ko")
    assert conclusion in ("success", "failure", "neutral", "cancelled", "skipped")
    assert len(output.title.encode()) <= 255
    for text in (output.summary, output.text):
        assert len(text.encode()) <= 65_535
        assert_harmless(text)
    for note in output.annotations:
        assert len(note.message.encode()) <= 65_536
        assert "@acme" not in note.message.removeprefix(EVIL.replace("\x1b[1m", ""))


def test_of_a_long_log_the_end_is_kept_too() -> None:
    step = ValidationStep(command="t", stage="test", passed=False, exit_code=1, output="😀" * 99_999 + "the end")
    view = evil_view(Status.FAILED).model_copy(
        update={"validations": (Validation(passed=False, summary="", steps=(step,)),)}
    )
    text = check_output(view, "test")[1].text
    assert text.endswith("the end\n```") and "characters cut" in text


def test_the_largest_group_closes_every_issue() -> None:
    issues = tuple(Issue(number=number, title="@" * 256) for number in range(1, 51))
    body = pull_body(evil_view(Status.SUCCESS).model_copy(update={"issues": issues}))
    assert all(f"- Closes #{number} " in body for number in range(1, 51))


def with_findings(*found: Annotation) -> RunView:
    step = ValidationStep(command="ruff check", stage="lint", passed=False, exit_code=1, annotations=found)
    return evil_view(Status.FAILED).model_copy(
        update={"validations": (Validation(passed=False, summary="", steps=(step,)),)}
    )


def finding(path: str = "a.py", level: str = "warning", start: int = 1, end: int = 1) -> Annotation:
    return Annotation.model_validate(
        {"path": path, "level": level, "start_line": start, "end_line": end, "message": "m\x1b[1m", "title": "t" * 400}
    )


def test_of_a_thousand_findings_the_gravest_are_shown_and_the_rest_is_counted() -> None:
    found = [finding(start=at) for at in range(1, 998)] + [finding(level="failure", start=5000 + at) for at in range(3)]
    _, output = check_output(with_findings(*found), "lint")
    assert len(output.annotations) == 200
    assert [note.level for note in output.annotations[:4]] == ["failure", "failure", "failure", "warning"]
    assert "200 of 1000 annotations" in output.summary
    assert output.title == "Failed with 1000 annotations"


def test_annotations_outside_the_tree_go_and_lines_are_put_right() -> None:
    paths = ["/etc/passwd", "../up.py", "a/../../up.py", "", "a\0b", "./in/../b.py", "..", "..a.py"]
    _, output = check_output(with_findings(*(finding(path, start=0, end=-4) for path in paths)), "lint")
    assert [note.path for note in output.annotations] == ["b.py", "..a.py"]
    assert all(note.start_line == note.end_line == 1 for note in output.annotations)
    assert all(note.message == "m" and len(note.title) <= 255 for note in output.annotations)


@settings(max_examples=50)
@given(start=st.integers(-5, 2**40), end=st.integers(-5, 2**40))
def test_lines_are_always_in_order(start: int, end: int) -> None:
    note = check_output(with_findings(finding(start=start, end=end)), "lint")[1].annotations[0]
    assert 1 <= note.start_line <= note.end_line


def test_the_error_block_the_rules_found_is_preferred_and_at_most_forty_lines(view: Callable[[str], RunView]) -> None:
    chosen = view("failed").model_copy(update={"evidence": "E   assert 1 == 2"})
    assert "```text\nE   assert 1 == 2\n```" in issue_comment(chosen)
    endless = view("failed").model_copy(update={"evidence": "\n".join(map(str, range(500)))})
    block = issue_comment(endless).split("```text\n")[1].split("\n```")[0]
    assert len(block.split("\n")) == 40 and "[… 461 lines cut …]" in block


def test_every_state_says_how_to_go_on_or_what_happens_next(view: Callable[[str], RunView]) -> None:
    for name in ("failed", "failed-timeout", "failed-nothing", "failed-setup", "cancelled"):
        told = issue_comment(view(name))
        assert "`/mendbot retry`, or remove the label `auto-fix` and add it again" in told, name
    for name in ("failed", "cancelled"):
        assert "refs/mendbot/salvage/fix-7f3a9c" in issue_comment(view(name)), name


def test_an_issue_that_calls_itself_a_bug_does_not_double_the_prefix(view: Callable[[str], RunView]) -> None:
    def titled(title: str) -> str:
        return pull_title(view("success").model_copy(update={"issues": (Issue(number=7, title=title),)}))

    assert titled("fix(cart): total") == "Fix: total"
    assert titled("[Bug] total") == "Fix: total"
    for title in (
        *("Fix total", "fix: total", "Fix: total", "FIX TOTAL", "fix(cart)!: total", "Fix: Fix total", "hotfix: total"),
        *("Fixed: total", "[BUG]: total"),
        *("[fix] Fix: fix total", "Fixes: total", "Bugfix: total", "fix - total", " Fix – total"),
    ):
        assert titled(title).lower() == "fix: total", title
    for title in ("Fix", "fix:", "Fix: fix"):
        assert titled(title) == "Fix: issue 7", title
    for title in (
        *("Fix-up commits are lost", "fix.py crashes", "Fixed width is ignored", "Fix/unfix toggle", "Fix() loops"),
        *("Bug reports are lost", "Prefix: total"),
    ):
        assert titled(title) == f"Fix: {title}"
    assert titled("Fixture is wrong") == "Fix: Fixture is wrong"
    assert titled("") == "Fix: issue 7"


def test_every_phase_has_a_name() -> None:
    assert all(has_message(f"phase.{phase}") for phase in Phase)


def test_a_reason_without_words_of_its_own_tells_its_name_and_details(view: Callable[[str], RunView]) -> None:
    told = issue_comment(view("failed-unknown"))
    assert "The run stopped (`stale`). The issue @&#8203;ann wrote is gone." in told
    reasons = ("same_patch", "oscillation", "stuck_error", "weakened_tests", "abandoned")
    assert all(has_message(f"{kind}.{reason}") for kind in ("stop", "next") for reason in reasons)


def test_a_session_has_a_title_of_its_own_and_closes_no_issue(view: Callable[[str], RunView]) -> None:
    told = view("success-session")
    body, message = pull_body(told), commit_message(told)
    assert "Closes #3" not in prose_of(body) and "label" not in prose_of(body) and "Refs:" not in message
    brief = told.model_copy(update={"task": "Count from 1", "key": "Count from 1"})
    assert pull_title(brief) == "Count from 1"
    assert "**Task**" not in pull_body(brief)
    assert commit_message(brief).startswith("Count from 1\n\nproof: proven.")
    empty = told.model_copy(update={"task": " \n---\n", "key": ""})
    assert pull_title(empty) == "Change by Mendbot (fix-7f3a9c)"
    assert pull_title(empty, "ko") == "Mendbot의 변경 (fix-7f3a9c)"


def test_details_that_begin_with_a_path_keep_its_case(view: Callable[[str], RunView]) -> None:
    assert " tests/test\\_cart.py: 1 test" in issue_comment(view("failed-weakened"))


def test_figures_are_written_for_people() -> None:
    shown = [duration("en", ms) for ms in (0, 84, 3210, 9_999, 42_000, 59_999, 125_000, 300_000, -5)]
    assert shown == ["0.0 s", "0.1 s", "3.2 s", "10.0 s", "42 s", "1 min", "2 min 5 s", "5 min", "0.0 s"]
    assert duration("ko", 125_000) == "2분 5초"
    assert [gigabytes(mb) for mb in (512, 1024, 1536, 6144, 102_400)] == ["512 MB", "1 GB", "1.5 GB", "6 GB", "100 GB"]
    assert [joined("en", ["a", "b", "c"][:n]) for n in range(4)] == ["", "a", "a and b", "a, b and c"]
