"""The way of a run: what moves it, what stops it, and what only looks like either (REQ-STOP-006)."""

from __future__ import annotations

from typing import Any
from uuid import uuid4

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.reports.locale.reasons import english
from bot.rules.stop.trajectory import WINDOW, TrajectoryState, Verdict, judge_attempt

LINT, TYPE, TEST, DONE = range(4)


def state(errors: str = "", stage: int = TEST, tree: str = "", patch: str = "", **more: Any) -> TrajectoryState:
    """A failed state whose errors are single letters, in a tree and by a patch that are new unless given."""
    fresh = uuid4().hex
    return TrajectoryState(tree or fresh, stage, frozenset(errors), patch or fresh, passed=False, **more)


def green(tree: str = "", flaky: bool = False) -> TrajectoryState:
    fresh = uuid4().hex
    return TrajectoryState(tree or fresh, DONE, frozenset(), fresh, passed=True, flaky=flaky)


def way(*errors: str) -> list[TrajectoryState]:
    return [state(each) for each in errors]


def stopped(verdict: Verdict) -> str | None:
    return verdict.stop.reason if verdict.stop else None


def test_there_must_be_a_state() -> None:
    with pytest.raises(ValueError, match="at least one"):
        judge_attempt([])


def test_the_first_state_is_compared_with_nothing() -> None:
    verdict = judge_attempt(way("ab"))
    assert (verdict.progressed, verdict.remaining, verdict.introduced, verdict.best) == (True, ("a", "b"), (), 0)


def test_an_attempt_is_told_by_what_it_fixed_left_and_brought() -> None:
    """REQ-STOP-006: progress as sets of fingerprints, per attempt."""
    verdict = judge_attempt(way("abc", "bcd"))
    assert (verdict.fixed, verdict.remaining, verdict.introduced) == (("a",), ("b", "c"), ("d",))
    assert verdict.progressed


def test_one_error_that_hid_seven_others_is_progress_and_the_best_so_far() -> None:
    verdict = judge_attempt(way("s", "abcdefg"))
    assert (verdict.progressed, verdict.best) == (True, 1)


def test_new_errors_beside_all_the_old_ones_are_none() -> None:
    verdict = judge_attempt(way("ab", "abc"))
    assert (verdict.progressed, verdict.best, verdict.stop) == (False, 0, None)


def test_a_later_stage_is_progress_with_more_errors_too() -> None:
    verdict = judge_attempt([state("a", LINT), state("bcdefgh", TYPE)])
    assert (verdict.progressed, verdict.best, verdict.fixed) == (True, 1, ("a",))


def test_an_earlier_stage_is_none_and_what_it_hides_is_not_fixed() -> None:
    verdict = judge_attempt([state("t", TEST), state("l", LINT)])
    assert (verdict.progressed, verdict.best) == (False, 0)
    assert (verdict.fixed, verdict.remaining, verdict.introduced) == ((), ("t",), ("l",))


def test_ground_lost_and_won_back_is_neither_progress_nor_a_circle() -> None:
    verdict = judge_attempt([state("t", TEST), state("l", LINT), state("t", TEST)])
    assert (verdict.progressed, verdict.stop, verdict.fixed, verdict.remaining) == (False, None, ("l",), ("t",))
    assert not judge_attempt([state("t", TEST), state("l", LINT), state("y", TYPE)]).progressed
    assert judge_attempt([state("tu", TEST), state("l", LINT), state("u", TEST)]).progressed


def test_a_set_of_errors_that_comes_back_is_a_circle() -> None:
    """REQ-STOP-006: oscillation, A-B-A."""
    verdict = judge_attempt(way("a", "b", "a"))
    assert (stopped(verdict), verdict.progressed, verdict.best) == ("oscillation", False, 1)
    assert (
        english(verdict.stop and verdict.stop.details)
        == "after attempt 2 the same error was back as after attempt 0 (0 = before any change)"
    )
    assert stopped(judge_attempt(way("a", "b", "c", "a"))) == "oscillation"
    assert stopped(judge_attempt([state("y", TYPE), state("t", TEST), state("y", TYPE)])) == "oscillation"


def test_a_circle_that_an_earlier_stage_hid_is_found_when_the_other_half_comes_back() -> None:
    """REQ-STOP-006: oscillation, A-B-A-B."""
    states = [state("t", TEST), state("l", LINT), state("t", TEST), state("l", LINT)]
    assert stopped(judge_attempt(states[:3])) is None
    assert stopped(judge_attempt(states)) == "oscillation"


def test_a_tree_that_comes_back_is_a_circle_whatever_the_check_says() -> None:
    verdict = judge_attempt([state("a", tree="A"), state("b", tree="B"), state("c", tree="A")])
    assert stopped(verdict) == "oscillation"
    assert "files from after attempt 0" in english(verdict.stop and verdict.stop.details)


def test_the_same_state_twice_running_is_no_progress_and_no_circle() -> None:
    for states in (
        way("a", "a"),
        [state("a", tree="A"), state("b", tree="A")],
        way("a", "a", "a"),
        [state(each, tree="A") for each in "abc"],
    ):
        verdict = judge_attempt(states)
        assert (verdict.progressed, verdict.stop) == (False, None)


def test_a_return_is_looked_for_among_the_last_states_only() -> None:
    assert stopped(judge_attempt(way("a", *"bcdef", "a"))) == "oscillation"
    assert len("bcdef") == WINDOW - 1
    assert stopped(judge_attempt(way("a", *"bcdefg", "a"))) is None


def test_the_same_tree_fixes_nothing() -> None:
    verdict = judge_attempt([state("ab", tree="A"), state("b", tree="A")])
    assert (verdict.progressed, verdict.fixed, verdict.remaining) == (False, (), ("a", "b"))


def test_the_same_patch_again_stops() -> None:
    """REQ-STOP-006: the same patch again."""
    verdict = judge_attempt([state("a"), state("b", patch="P"), state("c", patch="Q"), state("d", patch="P")])
    assert stopped(verdict) == "same_patch"
    assert (
        english(verdict.stop and verdict.stop.details)
        == "attempt 3 made the same change as attempt 1, which did not pass"
    )
    base = TrajectoryState("t", TEST, frozenset("a"), "", passed=False)
    assert judge_attempt([base, base]).stop is None


def test_an_error_that_survives_three_attempts_stops() -> None:
    """REQ-STOP-006: one fingerprint survives, nothing is won beside it."""
    assert stopped(judge_attempt(way("f", "f", "f"))) is None
    verdict = judge_attempt(way("f", "f", "f", "f"))
    assert stopped(verdict) == "stuck_error"
    assert english(verdict.stop and verdict.stop.details).endswith("made no other progress: f")
    assert stopped(judge_attempt(way("fa", "fb", "fc", "fd"))) == "stuck_error"


def test_a_slow_grind_goes_on() -> None:
    states = way("fabcdefgh", "fbcdefgh", "fcdefgh", "fdefgh", "fefgh", "ffgh", "fgh")
    for length in range(2, len(states)):
        verdict = judge_attempt(states[:length])
        assert (verdict.progressed, verdict.stop, verdict.best) == (True, None, length - 1)
    assert judge_attempt(way("fs", "fabcdefg", "fbcdefg", "fcdefg")).stop is None


def test_one_message_in_fewer_and_fewer_places_is_a_slow_grind_too() -> None:
    states = [state("f", places=places) for places in (9, 8, 6, 5, 2)]
    for length in range(2, len(states) + 1):
        verdict = judge_attempt(states[:length])
        assert (verdict.progressed, verdict.stop, verdict.best) == (True, None, length - 1)
    assert judge_attempt(states).progressed
    assert not judge_attempt([*states, state("f", places=3)]).progressed
    assert stopped(judge_attempt([state("f", places=2), state("fg", places=3), state("f", places=1)])) is None
    assert stopped(judge_attempt([state("f", places=2), state("fg", places=3), state("f", places=2)])) == "oscillation"


def test_only_outcomes_that_could_show_the_error_count_as_survived() -> None:
    hidden = [state("f"), state("l", LINT), state("f"), state("m", LINT), state("f")]
    assert judge_attempt(hidden).stop is None
    assert stopped(judge_attempt([*hidden, state("n", LINT), state("f")])) == "stuck_error"


def test_a_flaky_pass_fixes_nothing() -> None:
    verdict = judge_attempt([state("a"), green(flaky=True)])
    assert (verdict.progressed, verdict.fixed, verdict.stop, verdict.best) == (False, (), None, 1)
    assert not judge_attempt([state("a", tree="A"), state("b"), green(tree="A")]).progressed
    lucky = judge_attempt([state("l", LINT), state("t", TEST, flaky=True)])
    assert (lucky.progressed, lucky.fixed, lucky.introduced) == (False, (), ("t",))


def test_a_pass_fixes_all_and_never_stops() -> None:
    verdict = judge_attempt(
        [state("t", patch="P"), state("l", LINT), TrajectoryState("A", DONE, frozenset(), "P", passed=True)]
    )
    assert (verdict.progressed, verdict.stop, verdict.fixed, verdict.best) == (True, None, ("l", "t"), 2)


def test_what_a_check_out_of_time_did_not_show_is_not_fixed() -> None:
    verdict = judge_attempt([state("ab"), state("a", timed_out=True)])
    assert (verdict.progressed, verdict.fixed, verdict.best) == (False, (), 0)
    assert judge_attempt([state("a", timed_out=True), state("abc")]).progressed
    assert judge_attempt([state("ab"), state("a", timed_out=True), state("ab")]).stop is None
    assert not judge_attempt([state("ab"), state("a", timed_out=True), state("ab")]).progressed


def test_where_no_error_is_named_the_words_decide() -> None:
    """The caller's made_progress stands in for the sets."""
    for states in (way("", ""), way("a", ""), way("", "a")):
        assert [judge_attempt(states, text_progressed=told).progressed for told in (True, False)] == [True, False]
        assert judge_attempt(states).fixed == ()
    assert judge_attempt(way("", "a", "")).stop is None
    assert judge_attempt(way("ab", "b"), text_progressed=False).progressed


def test_a_change_to_what_passed_before_is_no_progress() -> None:
    assert not judge_attempt([green(), state("a")]).progressed
    assert judge_attempt([green(), state("l", LINT), state("t", TEST)]).progressed


STATES = st.lists(
    st.builds(
        lambda stage, errors, tree, patch, flaky, late: TrajectoryState(
            tree, stage, frozenset(errors if stage < DONE else ""), patch, stage == DONE, flaky, late and stage < DONE
        ),
        st.integers(LINT, DONE),
        st.text("abc", max_size=3),
        st.sampled_from("ABCD"),
        st.sampled_from(["", "P", "Q", "R"]),
        st.booleans(),
        st.booleans(),
    ),
    min_size=1,
    max_size=9,
)


@given(STATES, st.booleans())
def test_any_way_gets_one_consistent_verdict(states: list[TrajectoryState], told: bool) -> None:
    verdict = judge_attempt(states, told)
    assert verdict == judge_attempt(tuple(states), told)
    assert 0 <= verdict.best < len(states)
    assert not (verdict.stop and (verdict.progressed or states[-1].passed))
    parts = (verdict.fixed, verdict.remaining, verdict.introduced)
    assert len({each for part in parts for each in part}) == sum(map(len, parts))
    assert states[-1].fingerprints <= {*verdict.remaining, *verdict.introduced}
