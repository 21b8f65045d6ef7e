"""A run's events make its state: what it learned, what was told, why it stops; and the first reason that holds wins."""

from __future__ import annotations

from typing import Any

import pytest

from bot.config import Policy, StopPolicy
from bot.model import Phase, Status
from bot.reports.locale.reasons import english
from bot.rules.runs.changes import EarlierUse, earlier_use
from bot.rules.runs.next_action import Finish, Implement, next_action
from bot.rules.runs.spec import RunSpec
from bot.rules.runs.state import NOTHING_OFFERED, SAME_PATCH, RunState
from tests.rules.runs.played_run import T0, Story, event
from tests.rules.runs.run_events import begun, begun_at, changed, checked, told, wanted


def reason(story: Story, order: RunSpec | None = None) -> str | None:
    action = next_action(order or wanted(), story.state, T0)
    if isinstance(action, Finish):
        assert action.status is Status.FAILED and action.stop is not None and action.stop.details
        return action.stop.reason
    assert isinstance(action, Implement)
    return None


# ---- why a run stops (REQ-STOP-006)

CIRCLE = (("t1", "p1", ("E2",)), ("t2", "p2", ("E1",)))
STUCK = tuple((f"t{number}", f"p{number}", ("E1",)) for number in (1, 2, 3))
TWICE = (("t1", "p1", ("E1", "E2")), ("t2", "p2", ("E1", "E3")), ("t3", "p1", ("E1", "E4")))
ELSEWHERE = (("t1", "p1", ("E1", "E2")), ("t2", "p1", ("E1", "E3")))
STEADY = (("t1", "p1", ("E1", "E2", "E3")), ("t2", "p2", ("E1", "E2")), ("t3", "p3", ("E1",)))


@pytest.mark.parametrize(
    ("story", "base", "why"),
    [
        (CIRCLE, ("E1",), "oscillation"),
        ((("t1", "p1", ("E2",)), ("s0", "p2", ("E3",))), ("E1",), "oscillation"),
        (STUCK, ("E1",), "stuck_error"),
        (TWICE, ("E1",), "same_patch"),
        (ELSEWHERE, ("E1",), None),
        (STEADY, ("E1", "E2", "E3", "E4"), None),
        (STUCK[:2], ("E1",), None),
    ],
    ids=[
        "errors come back",
        "the tree comes back",
        "an error outlives three",
        "the same patch",
        "elsewhere",
        "a slow grind",
        "early",
    ],
)
def test_a_run_that_gets_nowhere_stops_with_the_reason_named(
    story: Any, base: tuple[str, ...], why: str | None
) -> None:
    assert reason(told(*story, base=base)) == why


@pytest.mark.parametrize("story", [CIRCLE, STUCK, TWICE])
def test_the_hard_limits_come_first(story: Any) -> None:
    """REQ-STOP-001: what the way itself tells comes after max_iterations and max_duration."""
    played = told(*story)
    assert reason(played, wanted(max_attempts=len(story))) == "max_iterations"
    hurried = Policy(stop=StopPolicy(max_duration_ms=1000, max_iterations=99))
    late = played.state.started_at
    assert late is not None
    action = next_action(wanted(policy=hurried), played.state, late.replace(year=late.year + 1))
    assert isinstance(action, Finish) and action.stop is not None and action.stop.reason == "max_duration"


def test_no_progress_is_called_by_a_better_name_where_there_is_one() -> None:
    def patient(threshold: int) -> RunSpec:
        return wanted(policy=Policy(stop=StopPolicy(no_progress_threshold=threshold)))

    assert reason(told(*STUCK), patient(3)) == "stuck_error"
    assert reason(told(*STUCK[:2]), patient(2)) == "no_progress"
    assert reason(told(*STUCK[:2]), patient(3)) is None


def test_a_pass_is_never_stopped() -> None:
    story = told(*STUCK[:2])
    changed(story, 3, "t3", "p1")
    checked(story, 3)
    assert story.state.passed and next_action(wanted(), story.state, T0).kind == "prove"


@pytest.mark.parametrize("why", [NOTHING_OFFERED, SAME_PATCH])
def test_agents_without_anything_new_end_the_run(why: str) -> None:
    story = begun("E1")
    story.write([event("attempt:1", "attempt_started", Phase.IMPLEMENTATION, 1)])
    story.write([event("over:1", "phase_failed", Phase.IMPLEMENTATION, 1, reason=why, message="m")])
    assert reason(story) == why


# ---- what the fold remembers


def test_a_lesson_names_the_attempt_the_agent_and_the_way_from_the_tree_that_failed() -> None:
    """REQ-RA-311: E3, which the first attempt made itself, is none."""
    story = begun("E1", "E2")
    changed(story, 1, "t1")
    checked(story, 1, "E2", "E3")
    assert story.state.learned == ()
    changed(story, 2, "t2", agent="y", tools=["Edit a.py"])
    checked(story, 2)
    found = [
        (one.fingerprints, one.before, one.after, one.attempt, one.agent, one.tools) for one in story.state.learned
    ]
    assert found == [(("E1", "E2"), "s0", "t2", 2, "y", ("Edit a.py",))]
    assert {one.command for one in story.state.learned} == {"check 2"}


def test_an_error_that_an_earlier_failure_hides_is_not_learned() -> None:
    story = begun("E1")
    changed(story, 1, "t1")
    checked(story, 1, "T1", stage=1)
    assert (story.state.learned, len(story.state.shown)) == ((), 1)
    changed(story, 2, "t2")
    checked(story, 2, "E1")
    assert story.state.learned == (), "the attempt made T1 itself: its check passed before"


def test_an_error_of_a_check_that_had_no_result_on_the_base_is_learned() -> None:
    """REQ-RA-311: out of time or memory, it may have been there before."""
    for story in (
        begun_at("E9", stage=2, timed_out=True),
        begun_at("E9", stage=2, over_memory_mb=6144),
    ):
        changed(story, 1, "t1")
        checked(story, 1, "E1")
        changed(story, 2, "t2")
        checked(story, 2)
        assert ("E1",) in [one.fingerprints for one in story.state.learned]


def test_what_fails_now_is_what_the_last_validation_showed() -> None:
    story = begun("E2", "E1")
    assert story.state.failing == ("E1", "E2")
    changed(story, 1, "t1")
    checked(story, 1, "E3")
    assert story.state.failing == ("E3",)
    changed(story, 2, "t2")
    checked(story, 2)
    assert story.state.failing == ()
    assert RunState().failing == ()


def test_the_attempt_that_came_furthest_is_known_also_where_a_later_one_lost_ground() -> None:
    story = begun("boom", "bang")
    assert story.state.best_attempt == 0
    for attempt, errors in ((1, ("bang",)), (2, ("bang", "boom", "crash"))):
        changed(story, attempt, f"t{attempt}")
        checked(story, attempt, *errors)
    assert story.state.best_attempt == 1
    assert RunState().best_attempt is None


def test_the_same_lines_are_the_same_change_only_where_the_first_was_undone() -> None:
    story = begun("E1")
    assert earlier_use(story.state.made, "p1") is EarlierUse.NONE
    changed(story, 1, "t1", "p1")
    assert earlier_use(story.state.made, "p1") is EarlierUse.IN_TREE
    changed(story, 2, "t2", "p2", paths=["b.py"])
    assert earlier_use(story.state.made, "p1") is EarlierUse.IN_TREE
    changed(story, 3, "t3", "p3", paths=["b.py", "a.py"])
    uses = [earlier_use(story.state.made, patch) for patch in ("p1", "p2", "p4")]
    assert uses == [EarlierUse.UNDONE, EarlierUse.UNDONE, EarlierUse.NONE]


def test_guidance_and_notes_are_kept_and_replays_are_known() -> None:
    story = begun("E1")
    known = {"id": 4, "error": "E1", "resolution": {"resolved_by": "ada"}}
    changed(story, 1, "t1", guidance=[known], notes=["look at a", "look at b"], replays="d4")
    state = story.state
    assert [one.id for one in state.guidance] == [4]
    assert (state.made[-1].replays, state.made[-1].before) == ("d4", "s0")
    checked(story, 1, "E1")
    changed(story, 2, "t2", notes=["look at b", "look at c"])
    assert tuple(map(english, story.state.notes)) == ("look at a", "look at b", "look at c")
    assert (story.state.guidance, story.state.made[-1].replays) == ((), None)
    assert [made.patch_hash for made in story.state.made] == ["h1", "h2"]


def test_events_of_an_older_version_are_read() -> None:
    """Events that were stored before guidance, notes and fingerprints came."""
    story = begun("E1")
    data = {"snapshot": "t1", "paths": [], "allPaths": [], "agent": "x", "patchHash": "h"}
    story.write([event("attempt:1", "attempt_started", Phase.IMPLEMENTATION, 1)])
    story.write([event("changes:1", "changes_applied", Phase.IMPLEMENTATION, 1, **data)])
    assert (story.state.guidance, story.state.notes, story.state.made[-1].tools) == ((), (), ())
