"""The verdict on a failing test follows from its runs on the head, on the merge base and before (REQ-PROOF-004)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.model.pulls import RunCounts
from bot.rules.pulls.evidence import (
    CUT_SHORT,
    STATIC,
    TESTS,
    BaseState,
    Evidence,
    bayes_factor,
    final_verdict,
    verdict,
)

NUMBERS = st.integers(0, 20)
COUNTS = st.builds(RunCounts, failed=NUMBERS, passed=NUMBERS)
FAILING = st.builds(RunCounts, failed=st.integers(1, 20), passed=NUMBERS)
STATES = st.sampled_from(["compared", "absent", "unknown"])


def runs(failed: int, passed: int = 0) -> RunCounts:
    return RunCounts(failed=failed, passed=passed)


@pytest.mark.parametrize(
    ("head", "base", "factor"),
    [(runs(1), runs(0, 1), 20.5), (runs(4), runs(0, 4), 1056), (runs(2), runs(2), 0.66), (runs(5), runs(5), 0.33)],
)
def test_the_factor_is_the_one_of_the_formula(head: RunCounts, base: RunCounts, factor: float) -> None:
    assert bayes_factor(head, base) == pytest.approx(factor, rel=0.01)


@pytest.mark.parametrize(
    ("head", "base", "before", "found", "at_the_end"),
    [
        (runs(1), runs(0, 1), runs(0), None, "unsure"),  # K is 20.5 after one run on each commit
        (runs(3), runs(0, 4), runs(0, 50), None, "unsure"),
        (runs(4), runs(0, 3), runs(0, 50), None, "unsure"),
        (runs(4), runs(0, 4), runs(0), "new", "new"),
        (runs(4), runs(0, 4), runs(8, 4), None, "unsure"),  # remembered failures take force from the evidence
        (runs(4), runs(0, 4), runs(1, 60), "new", "new"),
        (runs(6, 3), runs(0, 9), runs(0), "new_flaky", "new_flaky"),
        (runs(1, 8), runs(0, 9), runs(0), None, "unsure"),
        (runs(3), runs(3), runs(0), "existing", "existing"),
        (runs(1), runs(1), runs(0), None, "existing"),
        (runs(2), runs(1, 1), runs(0), None, "unsure"),
        (runs(5, 4), runs(25, 25), runs(0), "flaky_before", "flaky_before"),
        (runs(2, 7), runs(0), runs(9, 41), "flaky_before", "flaky_before"),
        (runs(1, 1), runs(0), runs(9, 41), None, "unsure"),
        (runs(5), runs(5), runs(0, 50), "existing", "existing"),  # broken on the base branch since
        (runs(9), runs(1, 8), runs(0), None, "unsure"),
    ],
)
def test_the_runs_decide(head: RunCounts, base: RunCounts, before: RunCounts, found: str, at_the_end: str) -> None:
    """REQ-PROOF-004."""
    evidence = Evidence(head, base, before)
    assert verdict(evidence) == found
    assert final_verdict(evidence) == at_the_end


@given(FAILING, COUNTS, COUNTS, STATES, st.none() | st.booleans(), st.booleans())
def test_new_is_never_said_without_four_runs_that_agree_on_each_commit(
    head: RunCounts, base: RunCounts, before: RunCounts, state: BaseState, reached: bool | None, changed: bool
) -> None:
    """REQ-PROOF-004."""
    found = final_verdict(Evidence(head, base, before, state, reached, changed))
    if found == "new":
        assert head.failed >= 4 and not head.passed
        assert state != "compared" or (base.passed >= 4 and not base.failed)
    if found in ("existing", "flaky_before"):
        assert (base + before).failed
    assert found != "not_reached" or (reached is False and not changed)


@given(FAILING, COUNTS, COUNTS, STATES, st.booleans())
def test_a_verdict_stays_where_there_was_one(
    head: RunCounts, base: RunCounts, before: RunCounts, state: BaseState, changed: bool
) -> None:
    evidence = Evidence(head, base, before, state, None, changed)
    found = verdict(evidence)
    assert found is None or final_verdict(evidence) == found


@pytest.mark.parametrize(
    ("evidence", "found"),
    [
        (Evidence(runs(2), runs(0, 1), reached=False), "not_reached"),
        (Evidence(runs(2), runs(0, 1), reached=False, changed=True), None),
        (Evidence(runs(5), runs(5), reached=False), "existing"),
        (Evidence(runs(3), base_state="absent"), None),
        (Evidence(runs(4), base_state="absent"), "new"),
        (Evidence(runs(1, 1), base_state="absent"), "new_flaky"),
        (Evidence(runs(4), base_state="unknown"), "new"),
        (Evidence(runs(4, 1), base_state="unknown"), None),
    ],
)
def test_reach_and_an_absent_base_count_too(evidence: Evidence, found: str | None) -> None:
    assert verdict(evidence) == found


def test_what_chance_does_not_touch_needs_fewer_runs() -> None:
    assert verdict(Evidence(runs(2), runs(0, 1)), STATIC) == "new"
    assert verdict(Evidence(runs(1), runs(0, 1)), CUT_SHORT) == "new"
    assert final_verdict(Evidence(runs(2), runs(1)), STATIC) == "existing"
    assert verdict(Evidence(runs(2), runs(0, 1)), TESTS) is None


@pytest.mark.parametrize(
    ("evidence", "touches"),
    [
        (Evidence(runs(1)), False),
        (Evidence(runs(1), reached=False), False),
        (Evidence(runs(1), reached=True), True),
        (Evidence(runs(1), changed=True), True),
        (Evidence(runs(1), base_state="absent"), True),
    ],
)
def test_a_change_touches_a_test_that_it_alters_or_that_executes_it(evidence: Evidence, touches: bool) -> None:
    assert evidence.touches is touches
