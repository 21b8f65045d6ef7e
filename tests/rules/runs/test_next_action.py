"""What a run does next follows from its events alone: every prefix of them, as a crash may leave it, leads on."""

from __future__ import annotations

from datetime import timedelta
from operator import itemgetter
from typing import get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.config import Policy, StopPolicy
from bot.model import Phase, Status
from bot.model.pipeline import PipelineStage
from bot.model.proof import RequiredProof
from bot.reports.locale.reasons import english
from bot.rules.reasons import quoted
from bot.rules.runs.fold import run_state
from bot.rules.runs.next_action import Action, Finish, Implement, Package, Prove, Reproduce, Validate, next_action
from bot.rules.runs.spec import RunSpec
from bot.rules.runs.state import NOTHING_OFFERED, SAME_PATCH, RunState
from tests.rules.runs.played_run import T0, Luck, Story, actions, effect, end, kinds, play, spec
from tests.run_events import run_event

# ---- the course of a whole run


def test_a_run_goes_through_its_phases_in_order() -> None:
    """REQ-RUN-002, G-3."""
    taken = actions(spec(policy=Policy(setup="make deps")), Luck(verdicts=[True, False]))
    assert taken[2:5] == [Validate(attempt=0, index=index) for index in range(3)]
    assert taken[6:10] == [Implement(attempt=1), *(Validate(attempt=1, index=index) for index in range(3))]
    assert kinds(taken) == [
        "begin", "setup", "validate", "validate", "validate", "prepare", "implement", "validate", "validate",
        "validate", "prove", "review", "package", "finish",
    ]  # fmt: skip
    assert taken[-1] == Finish(status=Status.SUCCESS)


def test_every_action_is_reached_by_some_run() -> None:
    reached = set(kinds(actions(spec(policy=Policy(setup="make deps")), Luck())))
    reached |= set(kinds(actions(spec(candidates=2), Luck())))
    assert reached == {action.model_fields["kind"].default for action in get_args(Action)}


def test_without_a_set_up_command_or_a_baseline_neither_is_done() -> None:
    taken = actions(spec(baseline=False), Luck())
    assert kinds(taken)[:3] == ["begin", "prepare", "implement"]


def test_on_the_base_every_check_runs_and_a_failure_stops_nothing() -> None:
    story = play(spec(), Luck(verdicts=[False]))
    baseline = story.state.baseline
    assert baseline is not None and not baseline.passed
    assert [step.stage for step in baseline.steps] == ["lint", "typecheck", "test"]
    assert end(story) == (Status.SUCCESS, None)


def test_attempts_follow_one_another_until_one_is_green() -> None:
    story = play(spec(), Luck(verdicts=[True, True, False, True, False]))
    assert [validation.passed for validation in story.state.validations] == [False, False, True]
    assert story.state.attempt == 3
    assert end(story) == (Status.SUCCESS, None)


def test_a_crash_after_an_attempt_began_has_the_agents_asked_again_for_the_same_attempt() -> None:
    story = play(spec(), Luck(verdicts=[True, True, False]))
    began = [at for at, (key, _) in enumerate(story.events, 1) if key.startswith("attempt:")]
    asked = [next_action(spec(), story.until(at).state, T0) for at in began]
    assert asked == [Implement(attempt=1), Implement(attempt=2)]


# ---- what is shown of the change (REQ-PROOF-001)


def test_a_failing_test_is_asked_for_before_the_first_attempt_on_a_green_base() -> None:
    """REQ-PROOF-001."""
    story = play(spec(), Luck())
    taken = actions(spec(), Luck())
    assert kinds(taken)[4:7] == ["prepare", "reproduce", "implement"]
    assert taken[5] == Reproduce(attempt=1)
    assert Prove(attempt=1, step="tests") in taken
    assert story.state.attempt == 1, "it is counted apart from the attempts of the fix"
    assert story.state.proof is not None and story.state.proof.because == "failing_test"


@pytest.mark.parametrize(
    ("written", "asked"),
    [(["fails"], 1), (["none"], 1), (["passes", "fails"], 2), (["passes", "passes", "fails"], 2)],
)
def test_only_a_test_that_does_not_fail_is_asked_for_once_more(written: list[str], asked: int) -> None:
    taken = actions(spec(), Luck(written=written))
    assert [action for action in taken if isinstance(action, Reproduce)] == [
        Reproduce(attempt=number) for number in range(1, asked + 1)
    ]
    assert taken[-1] == Finish(status=Status.SUCCESS)


def test_without_a_failing_test_mutants_show_whether_the_checks_notice_the_change() -> None:
    none = {"written": ["none"]}
    taken = actions(spec(), Luck(**none))
    assert [action for action in taken if isinstance(action, Prove)] == [Prove(attempt=1, step="mutants")]
    levels = [play(spec(), Luck(**none, notices=notices)).state.proof for notices in (7, 6)]
    assert [(proof.level, proof.because) for proof in levels if proof] == [
        ("covered", "mutants"),
        ("unproven", "few_mutants"),
    ]


@pytest.mark.parametrize(
    ("required", "notices", "stop"),
    [("none", 0, None), ("covered", 9, None), ("covered", 1, "proof_required"), ("proven", 9, "proof_required")],
)
def test_a_change_that_falls_short_of_the_required_proof_is_fed_back_and_never_pushed(
    required: RequiredProof, notices: int, stop: str | None
) -> None:
    """REQ-PROOF-001."""
    limits = StopPolicy(no_progress_threshold=99)
    wanted = spec(policy=Policy(require_proof=required, stop=limits), max_attempts=2)
    story = play(wanted, Luck(written=["none"], notices=notices))
    assert end(story) == (Status.FAILED if stop else Status.SUCCESS, stop)
    assert story.state.attempt == (2 if stop else 1)
    assert (story.state.pull is None) is bool(stop)
    if stop:
        assert story.state.stop is not None and required in english(story.state.stop.details)


@pytest.mark.parametrize("fate", [NOTHING_OFFERED, SAME_PATCH])
def test_agents_without_more_proof_leave_the_run_at_what_is_required(fate: str) -> None:
    story = play(spec(policy=Policy(require_proof="proven")), Luck(written=["none"], fates=["applied", fate]))
    assert end(story) == (Status.FAILED, "proof_required")


# ---- why a run stops


@pytest.mark.parametrize(
    ("asked", "limit", "attempts"), [(3, 10, 3), (5, 2, 2), (1, 10, 1)], ids=["as asked", "capped", "one"]
)
def test_a_run_has_as_many_attempts_as_were_asked_for_capped_by_max_iterations(
    asked: int, limit: int, attempts: int
) -> None:
    """REQ-RUN-002."""
    wanted = spec(max_attempts=asked, policy=Policy(stop=StopPolicy(max_iterations=limit, no_progress_threshold=99)))
    story = play(wanted, Luck(verdicts=[True, True] + [False] * 20))
    assert wanted.attempt_limit == story.state.attempt == len(story.state.validations) == attempts
    assert end(story) == (Status.FAILED, "max_iterations")


def test_a_run_out_of_time_starts_no_further_attempt() -> None:
    wanted = spec(policy=Policy(stop=StopPolicy(max_duration_ms=60_000)))
    story = play(wanted, Luck()).until(0)
    while not isinstance(action := next_action(wanted, story.state, T0 + timedelta(minutes=2)), Finish):
        story.write(effect(wanted, action, story.state, Luck(verdicts=[True, True, False])))
    assert action.stop is not None and action.stop.reason == "max_duration"
    assert story.state.attempt == 0


def test_the_time_for_which_somebody_paused_a_run_is_not_its_own() -> None:
    """REQ-STOP-001."""
    wanted = spec(policy=Policy(stop=StopPolicy(max_duration_ms=10 * 60_000)))
    whole, begun = play(wanted, Luck()), Implement(attempt=1)
    at = next(at for at in range(len(whole.events)) if next_action(wanted, whole.until(at).state, T0) == begun)
    ready = [event for _, event in whole.until(at).events]

    def paused(*stretches: tuple[int, int | None]) -> RunState:
        marks = [("paused", at) for at, _ in stretches] + [("resumed", at) for _, at in stretches if at is not None]
        added = [run_event(kind, id=99, ts=T0 + timedelta(minutes=at)) for kind, at in sorted(marks, key=itemgetter(1))]
        return run_state([*ready, *added])

    for state in (paused((2, 12), (20, 30)), paused((2, 12), (20, None)), paused((20, None), (22, 30), (2, 12))):
        assert next_action(wanted, state, T0 + timedelta(minutes=29)) == begun
    late = next_action(wanted, paused((2, 12), (20, 30)), T0 + timedelta(minutes=31))
    assert isinstance(late, Finish) and late.stop is not None
    assert english(late.stop.details) == "Reached maximum duration (10min/10min, not counting 20min of pause)"


def test_the_same_output_again_and_again_is_no_progress() -> None:
    wanted = spec(max_attempts=10, policy=Policy(stop=StopPolicy(no_progress_threshold=2)))
    story = play(wanted, Luck(verdicts=[True, True] + [False] * 20))
    assert end(story) == (Status.FAILED, "no_progress")
    assert story.state.attempt == 2  # the first is compared with the base, which was checked too


def test_a_change_that_does_not_apply_costs_an_attempt_and_is_told_to_the_next() -> None:
    story = play(spec(), Luck(fates=["patch_failed"]))
    assert story.state.attempt == 2
    assert story.state.rejections == (quoted("no"),)
    assert len(story.state.validations) == 1
    assert end(story) == (Status.SUCCESS, None)


def test_nothing_offered_ends_the_run_with_that_reason() -> None:
    """REQ-RUN-008."""
    assert end(play(spec(), Luck(fates=[NOTHING_OFFERED]))) == (Status.FAILED, NOTHING_OFFERED)


def test_a_failed_set_up_ends_the_run_before_any_check() -> None:
    story = play(spec(policy=Policy(setup="make deps")), Luck(set_up=False))
    assert end(story) == (Status.FAILED, "setup_failed")
    assert story.state.baseline is None


def test_without_any_command_nothing_is_tried_and_what_was_looked_for_is_named() -> None:
    story = play(
        spec(), Luck(), stages=(PipelineStage(name="test", looked_for=(quoted("pytest"), quoted("npm test"))),)
    )
    assert end(story) == (Status.FAILED, "no_checks")
    assert story.state.stop is not None and "test: pytest, npm test" in english(story.state.stop.details)
    assert story.state.attempt == 0


@pytest.mark.parametrize("fails", ["review", "push"])
def test_a_refused_review_or_push_ends_the_run_as_failed(fails: str) -> None:
    assert end(play(spec(), Luck(**{fails: False}))) == (Status.FAILED, "refused")


# ---- what the fold remembers


def test_what_set_up_left_is_where_the_attempts_start_from() -> None:
    story = Story()
    wanted = spec(policy=Policy(setup="make deps"))
    seen = []
    while (action := next_action(wanted, story.state, T0)) is not None:
        story.write(effect(wanted, action, story.state, Luck()))
        seen.append((action.kind, story.state.start, story.state.snapshot))
    assert ("begin", "s0", "s0") in seen
    assert ("setup", "s1", "s1") in seen
    assert ("implement", "s1", "t1") in seen
    assert ("review", "s1", "s9") in seen  # the reviewed snapshot is what is committed


def test_a_pushed_commit_is_known_before_its_pull_request() -> None:
    story = play(spec(), Luck())
    keys = [key for key, _ in story.events]
    state = story.until(keys.index("commit_pushed") + 1).state
    assert (state.commit_sha, state.pull) == ("c" * 40, None)
    assert isinstance(next_action(spec(), state, T0), Package)
    assert story.state.pull is not None and story.state.pull.number == 3


def test_phases_show_how_far_the_run_is() -> None:
    state = play(spec(), Luck(verdicts=[True, True, False])).state
    assert state.phases == dict.fromkeys(Phase, "completed")
    failed = play(spec(max_attempts=1), Luck(verdicts=[True, True, False])).state
    assert failed.phases[Phase.VALIDATION] == "failed"
    assert failed.current_phase == Phase.VALIDATION


LUCK = st.builds(
    Luck,
    written=st.lists(st.sampled_from(["fails", "passes", "none"]), max_size=3),
    notices=st.integers(0, 10),
    verdicts=st.lists(st.booleans(), max_size=12),
    fates=st.lists(st.sampled_from(["applied", "applied", "patch_failed", NOTHING_OFFERED]), max_size=5),
    set_up=st.booleans(),
    review=st.booleans(),
    push=st.booleans(),
)
SPECS = st.builds(
    lambda attempts, baseline, **policy: spec(max_attempts=attempts, baseline=baseline, policy=Policy(**policy)),
    attempts=st.integers(1, 5),
    baseline=st.booleans(),
    setup=st.sampled_from([None, "make deps"]),
    require_proof=st.sampled_from(["none", "covered", "proven"]),
)


@settings(max_examples=60, deadline=None)
@given(wanted=SPECS, luck=LUCK, later=LUCK, data=st.data())
def test_from_wherever_a_crash_leaves_it_a_run_goes_on_to_an_end(
    wanted: RunSpec, luck: Luck, later: Luck, data: st.DataObject
) -> None:
    """REQ-RUN-007."""
    whole = play(wanted, luck)
    cut = data.draw(st.integers(0, len(whole.events)))
    resumed = play(wanted, later, story=whole.until(cut))
    assert resumed.state.finished is not None
    assert (resumed.state.stop is None) == (resumed.state.finished is Status.SUCCESS)
    assert resumed.state.attempt <= wanted.attempt_limit
    keys = [key for key, _ in resumed.events]
    assert len(keys) == len(set(keys))
    assert keys[-1] == "session_finished"


@settings(max_examples=40, deadline=None)
@given(wanted=SPECS, luck=LUCK)
def test_an_ended_run_does_nothing_and_the_fold_takes_one_event_at_a_time(wanted: RunSpec, luck: Luck) -> None:
    whole = play(wanted, luck)
    assert next_action(wanted, whole.state, T0 + timedelta(days=9)) is None
    for length in range(len(whole.events)):
        part = whole.until(length)
        assert part.state.last_event == length
        assert next_action(wanted, part.state, T0) == next_action(wanted, part.state, T0)
