"""What check runs on a pull request say: verdicts with evidence, in both languages, within GitHub's limits (T36, T39,
T40)."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.model import Annotation, CheckOutput, Language, Resolution, ValidationStep
from bot.model.pulls import NO_RUNS, CheckAction, CheckStatus, Failure, FailureHistory, FlakyRate, Verdict
from bot.reports.pulls.check_output import (
    pull_check_output,
)
from bot.reports.pulls.failures import VERDICTS, finding_of
from tests.reports.golden import GOLDEN, LANGUAGES, compare, shown
from tests.reports.views_pulls import (
    BASE,
    CHECKS,
    FINDING,
    FLAKY,
    GOLDENS,
    HEAD,
    NEW,
    ON_BASE,
    RED_TEST,
    TEST_NAME,
    TEST_NEW,
    VERDICT_VIEWS,
    WHOLE,
    done,
    pull_view,
    view_of,
)
from tests.reports.views_runs import SIMILAR, annotation
from tests.reports.views_steps import counted


def all_of(told: tuple[str | None, CheckOutput, tuple[CheckAction, ...]]) -> str:
    buttons = "".join(f"\n({one.identifier}) {one.label}: {one.description}\n" for one in told[2])
    return shown(told[0] or "not completed", told[1]) + buttons


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("name", CHECKS)
def test_check(name: str, language: Language) -> None:
    compare(f"pull-check-{name}.{language}.md", all_of(pull_check_output(*pull_view(name), language)))


def test_no_golden_file_of_pull_requests_is_left_over() -> None:
    expected = {f"pull-{name}.{language}.md" for name in GOLDENS for language in LANGUAGES}
    kinds = ("check", "head", "comment", "fix")
    assert {path.name for kind in kinds for path in GOLDEN.glob(f"pull-{kind}-*")} == expected


# conclusions and titles

STEPS = st.none() | st.builds(
    ValidationStep,
    command=st.just("t"),
    stage=st.just("test"),
    passed=st.booleans(),
    skipped=st.booleans(),
    flaky=st.booleans(),
    timed_out=st.booleans(),
    over_memory_mb=st.sampled_from([0, 6144]),
)
FAILURES = st.lists(st.builds(Failure, error=st.just("e"), verdict=st.sampled_from(VERDICTS)), max_size=3).map(tuple)
DONE = st.builds(
    CheckStatus,
    name=st.just("test"),
    status=st.just("completed"),
    step=STEPS,
    failures=FAILURES,
    kept_from=st.sampled_from(["", "run"]),
    because=st.sampled_from(["", "paths"]),
)


@given(DONE)
def test_a_check_run_concludes_as_the_rules_do(check: CheckStatus) -> None:
    assert pull_check_output(view_of(check), check)[0] == check.conclusion


def titled(*failures: Failure, **step: Any) -> str:
    check = done(
        "test",
        *failures,
        step=RED_TEST.model_copy(update={"output": "", "test_counts": counted(step.get("output", "")), **step}),
    )
    return pull_check_output(view_of(check), check)[1].title


def test_a_title_counts_what_is_new_first() -> None:
    other = NEW.model_copy(update={"error": "another one"})
    assert titled(FLAKY, ON_BASE, NEW, other) == "2 new failures, 1 unsure, 1 existing failure (also on 1f0c5a8)"
    assert titled(ON_BASE, other.model_copy(update={"verdict": "existing"})) == "2 existing failures (also on 1f0c5a8)"
    assert titled(FLAKY) == "1 unsure"
    assert titled(WHOLE, timed_out=True, duration_ms=300_000) == "Timed out after 5 min"
    assert (
        titled(ON_BASE, timed_out=True, duration_ms=300_000)
        == "Timed out after 5 min: 1 existing failure (also on 1f0c5a8)"
    )
    stopped = "Needed more than 6 GB of memory and was stopped after 12 s"
    assert titled(WHOLE, over_memory_mb=6144) == stopped
    assert titled(ON_BASE, over_memory_mb=6144) == f"{stopped}: 1 existing failure (also on 1f0c5a8)"
    assert titled() == "Failed: exit code 1 in 12 s"


def test_the_tests_that_a_tool_counted_are_believed_where_all_have_one_verdict() -> None:
    assert titled(NEW, WHOLE, output="1 failed, 11 passed in 0.31s") == "1 new failure"
    assert titled(NEW, FLAKY, output="1 failed, 11 passed in 0.31s") == "1 new failure, 1 unsure"


def test_a_failing_test_is_counted_once_by_its_name() -> None:
    """REQ-PROOF-004."""
    lines = [TEST_NEW.model_copy(update={"error": TEST_NEW.error, "said": said}) for said in ("assert 1", "where 2")]
    assert titled(*lines) == f"1 new failing test: `{TEST_NAME}`"
    other = TEST_NEW.model_copy(update={"error": "FAILED b", "test": "b"})
    assert titled(TEST_NEW, other) == "2 new failing tests"
    hostile = TEST_NEW.model_copy(update={"test": "`@acme/core` closes #3 " + "x" * 300})
    assert "`'@​" in titled(hostile) and len(titled(hostile)) < 160


# evidence


def summary(*failures: Failure, view: dict[str, Any] | None = None, **fields: Any) -> str:
    check = done("test", *failures, **{"step": RED_TEST, **fields})
    return pull_check_output(view_of(check, **(view or {})), check)[1].summary


def test_what_is_new_links_the_base_it_is_not_on_and_its_line() -> None:
    told = summary(NEW)
    head, base = (f"https://github.com/acme/shop/commit/{sha}" for sha in (HEAD, BASE))
    assert f"failed 4 of 4 on [`9f3c1ab`]({head}), passed 4 of 4 on [`1f0c5a8`]({base})" in told
    line = f"[`tests/test_cart.py:12`](https://github.com/acme/shop/blob/{HEAD}/tests/test_cart.py#L12)"
    assert f"at {line}" in told


def test_of_a_base_that_could_not_be_told_nothing_is_claimed() -> None:
    assert BASE not in summary(NEW.model_copy(update={"base": NO_RUNS}), because="base_unknown")
    assert "passed 4 of 4 on the merge base" in summary(NEW, view={"base_sha": ""})
    assert "too fast\\_" in summary(NEW, because="too fast_")


def test_flaky_links_the_head_and_says_how_often() -> None:
    told = summary(FLAKY, rate=FlakyRate(flaky=3, runs=41))
    assert f"failed 1 of 9 on [`9f3c1ab`](https://github.com/acme/shop/commit/{HEAD})" in told
    assert "flaky in 3 of 41" in told


def test_what_touches_a_test_is_told_of_a_new_flaky_failure() -> None:
    assert "not known to execute a changed line" in summary(VERDICT_VIEWS["new-flaky"])
    assert "changes the test, or a line that it executes" in summary(VERDICT_VIEWS["new-flaky-touched"])


def test_what_the_base_shows_too_is_not_the_pull_requests() -> None:
    link = f"[`1f0c5a8`](https://github.com/acme/shop/commit/{BASE})"
    assert f"failed 3 of 3 on {link}; not from this pull request" in summary(ON_BASE)


def test_memory_is_told_where_there_is_some() -> None:
    """REQ-RA-312."""
    pull, commit = "https://github.com/acme/shop/pull/31", "https://github.com/acme/shop/commit/0123456789ab"
    assert f"3 times since May 2026; last fixed in [`0123456`]({commit}) ([#31]({pull}))" in summary(NEW)
    assert "times" not in summary(ON_BASE)
    assert "cleared" not in summary(FLAKY), "SIMILAR is of another repository"
    here = SIMILAR.model_copy(update={"resolution": Resolution(repo="acme/shop", pull_request=5)})
    assert "a similar error was last fixed in [#5]" in summary(FLAKY.model_copy(update={"known": here}))
    template = here.model_copy(update={"by_template": True})
    assert "perhaps with another cause" in summary(FLAKY.model_copy(update={"known": template}))
    undated = NEW.model_copy(update={"seen": FailureHistory(times=2, since="2026-13"), "known": None})
    assert "seen 2 times\n" in summary(undated)


def test_at_most_fifty_failures_are_listed_and_the_others_counted() -> None:
    told = summary(*(Failure(error=f"error {at}!", verdict="unsure" if at < 60 else "new") for at in range(90)))
    assert told.count("- **New") == 30 and told.count("- **Unsure") == 20 and "- and 40 more\n" in told


@pytest.mark.parametrize(
    ("error", "findings", "line"),
    [
        ("E assert None == 0", [(1, "a.py", "assert 1 == 2"), (2, "b.py", "assert None == 0")], 2),
        ("<PATH>/b.py:<POS>: F401 x unused here", [(1, "a.py", "x unused here"), (2, "in/b.py", "x unused here")], 2),
        ("<PATH>/b.py:<POS>: AssertionError", [(1, "a.py", "x"), (2, "in/b.py", "x")], 2),
        ("<PATH>/b.py:<POS>: AssertionError", [(1, "b.py", "x"), (2, "in/b.py", "x")], None),
        ("E error: it broke", [(1, "a.py", "error")], None),
        ("E error: it broke", [(1, "a.py", "")], None),
    ],
)
def test_a_finding_is_an_errors_only_where_it_says_so(error: str, findings: Any, line: int | None) -> None:
    found = [
        Annotation(path=path, start_line=at, end_line=at, level="failure", message=text, title="AssertionError")
        for at, path, text in findings
    ]
    match = finding_of(Failure(error=error, verdict="new"), found)
    assert (match.start_line if match else None) == line


def test_the_first_error_block_stands_in_the_summary_and_the_log_in_a_fold() -> None:
    check = done("test", NEW, step=RED_TEST)
    _, output, _ = pull_check_output(view_of(check), check, evidence="E   assert 1 == 2")
    assert "```text\nE   assert 1 == 2\n```" in output.summary
    assert output.text.startswith("<details><summary>Log</summary>\n\n```text\nF...")
    whole = pull_check_output(view_of(check), check)[1]
    assert whole.text == "" and "1 failed, 11 passed" in whole.summary, "what is told is not told twice"
    endless = pull_check_output(view_of(check), check, evidence="\n".join(map(str, range(99))))[1].summary
    assert len(endless.split("```")[1].strip().split("\n")) == 41, "forty lines and the word `text`"


def test_of_much_to_tell_the_error_block_is_cut_and_the_footer_stays() -> None:
    failures = tuple(Failure(error=f"{at} " + "😀" * 200, verdict="new") for at in range(60))
    check = done("test", *failures, step=RED_TEST)
    _, output, _ = pull_check_output(view_of(check), check, evidence="\n".join(["😀" * 400] * 40))
    assert len(output.summary.encode()) <= 65_000
    assert "```\n\n[… " in output.summary and output.summary.endswith("</sub>")


def test_annotations_are_notices_where_nothing_is_new() -> None:
    def levels(*failures: Failure) -> set[str]:
        check = done("test", *failures, step=RED_TEST)
        return {found.level for found in pull_check_output(view_of(check), check)[1].annotations}

    assert levels(FLAKY, ON_BASE) == {"notice"}
    assert levels(NEW, ON_BASE) == levels() == {"failure"}
    assert levels(VERDICT_VIEWS["new-flaky"]) == {"warning"}
    assert levels(VERDICT_VIEWS["new-flaky-touched"]) == {"failure"}


def test_the_gravest_two_hundred_annotations_in_the_tree_are_shown() -> None:
    found = [annotation(at, "warning") for at in range(1, 999)] + [annotation(5000), annotation(0)]
    check = done("lint", NEW, step=RED_TEST.model_copy(update={"annotations": (*found, FINDING)}))
    _, output, _ = pull_check_output(view_of(check), check)
    assert len(output.annotations) == 200 and [one.start_line for one in output.annotations[:3]] == [5000, 1, 12]
    assert "200 of 1001 annotations" in output.summary
    assert "how it was fixed: ann (Edit)" in output.annotations[2].message, "it belongs to a failure that is known"


def test_a_repositorys_own_check_may_have_any_name() -> None:
    check = done("fix", NEW, step=RED_TEST.model_copy(update={"stage": "fix"}))
    assert pull_check_output(view_of(check), check)[1].annotations


TWO_TESTS = (
    Annotation(
        path="tests/test_a.py",
        start_line=10,
        end_line=10,
        level="failure",
        message="AssertionError: assert 84400 == 86400",
    ),
    Annotation(path="tests/test_b.py", start_line=5, end_line=5, level="failure", message="KeyError: 'EUR'"),
)


def printed(at: int, verdict: Verdict) -> tuple[Failure, ...]:
    """What pytest prints of one failed test: the error, and a summary that names the file."""
    finding = TWO_TESTS[at]
    texts = (f"E {finding.message}", f"FAILED <PATH>/{finding.path.rpartition('/')[2]}::test_it - {finding.message}")
    return tuple(Failure(error=text, verdict=verdict) for text in texts)


def test_a_test_that_fails_once_is_told_and_counted_once() -> None:
    step = RED_TEST.model_copy(update={"output": "", "annotations": TWO_TESTS})
    check = done("test", *printed(0, "new"), *printed(1, "unsure"), step=step)
    _, output, _ = pull_check_output(view_of(check), check)
    assert output.title == "1 new failure, 1 unsure"
    assert output.summary.count("84400") == 1 and output.summary.count("EUR") == 1
    assert "<PATH>" not in output.summary


def test_a_finding_of_nothing_new_is_no_more_than_a_notice() -> None:
    step = RED_TEST.model_copy(update={"output": "", "annotations": TWO_TESTS})
    check = done("test", *printed(0, "new"), *printed(1, "unsure"), step=step)
    _, output, _ = pull_check_output(view_of(check), check)
    assert [(one.path, one.level) for one in output.annotations] == [
        ("tests/test_a.py", "failure"),
        ("tests/test_b.py", "notice"),
    ]


def test_what_a_person_said_of_the_mending_is_told_where_no_commit_can_be_named() -> None:
    known = NEW.known.model_copy(update={"resolution": Resolution(resolved_by="ada", how="pin `numpy` < 2")})
    check = done("test", NEW.model_copy(update={"known": known}), step=RED_TEST)
    assert "how it was fixed: pin \\`numpy\\`" in pull_check_output(view_of(check), check)[1].summary
