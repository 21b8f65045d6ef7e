"""What a run does next follows from its events alone: every prefix of them, as a crash may leave it, leads on."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any, assert_never, get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.config import Policy, StopPolicy
from bot.model import Command, Issue, Phase, Repo, RunEvent, Status, ValidationStep
from bot.rules import course
from bot.rules.course import (
    NOTHING_OFFERED,
    Action,
    Begin,
    Finish,
    Implement,
    Nothing,
    Package,
    Prepare,
    Review,
    RunSpec,
    RunState,
    SetUp,
    Validate,
    fold,
    next_action,
)
from bot.rules.pipeline import Stage, close, next_index

T0 = datetime(2026, 11, 21, 12, tzinfo=UTC)
STAGES = (
    Stage(name="lint", looked_for=("ruff",)),
    Stage(name="typecheck", command=Command(run="mypy .", timeout_s=60)),
    Stage(name="test", command=Command(run="pytest", timeout_s=60)),
)
ISSUES = (Issue(number=7, title="It breaks", body="in a.py"), Issue(number=9, title="It is slow"))
Drafted = tuple[str, dict[str, Any]]


def spec(**more: Any) -> RunSpec:
    known: dict[str, Any] = {
        "repo": Repo(owner="octo", name="pocket", installation_id=1),
        "issues": ISSUES,
        "key": "k",
        "suggested_branch": "fix/issue-7-9",
        "base_branch": "main",
        "agents": ("fixers", "command"),
    }
    return RunSpec(**{**known, **more})


class Story:
    """A run's events as its workflow writes them: each once, by its key, however often the effect is done."""

    def __init__(self, events: tuple[tuple[str, RunEvent], ...] = ()) -> None:
        self.events = list(events)

    @property
    def state(self) -> RunState:
        return fold(event for _, event in self.events)

    def write(self, drafts: list[Drafted]) -> int:
        """How many of the drafts were new."""
        known = {key for key, _ in self.events}
        fresh = [(key, fields) for key, fields in drafts if key not in known]
        for key, fields in fresh:
            number = len(self.events) + 1
            self.events.append((key, RunEvent(id=number, ts=T0 + timedelta(seconds=number), **fields)))
        return len(fresh)

    def until(self, length: int) -> Story:
        return Story(tuple(self.events[:length]))


def event(key: str, type_: str, phase: Phase | None = None, iteration: int | None = None, **data: Any) -> Drafted:
    return key, {"type": type_, "phase": phase, "iteration": iteration, "data": data}


class Luck:
    """How effects turn out: the verdicts of checks and the fates of attempts, in turn; good ones when they run out."""

    def __init__(self, verdicts: list[bool] = [], fates: list[str] = [], **more: bool) -> None:  # noqa: B006
        self._verdicts, self._fates = iter(verdicts), iter(fates)
        self.set_up, self.review, self.push = (more.get(name, True) for name in ("set_up", "review", "push"))

    def verdict(self) -> bool:
        return next(self._verdicts, True)

    def fate(self) -> str:
        return next(self._fates, "applied")


def effect(action: Action, state: RunState, luck: Luck, stages: tuple[Stage, ...] = STAGES) -> list[Drafted]:
    """What the workflow of that action records."""
    match action:
        case Begin():
            data = {"baseSha": "b" * 40, "branch": "fix/issue-7-9", "sandbox": "box", "snapshot": "s0"}
            listed = [stage.model_dump(mode="json") for stage in stages]
            planning = event("planning", "phase_started", Phase.PLANNING, **data, stages=listed)
            return [event("session_started", "session_started", task="t"), planning]
        case SetUp():
            name = "setup_completed" if luck.set_up else "setup_failed"
            return [event("setup", "setup_started"), event("setup_done", name, snapshot="s1", details="no such file")]
        case Validate():
            return _validation(action, state, luck)
        case Prepare():
            return list(_preparation())
        case Implement():
            return _attempt(action.attempt, luck.fate())
        case Review():
            return [event("review", "phase_started", Phase.REVIEW), _end("review_done", Phase.REVIEW, luck.review)]
        case Package():
            pushed = event("commit_pushed", "commit_pushed", Phase.PACKAGING, commit="c" * 40)
            return [
                event("packaging", "phase_started", Phase.PACKAGING),
                *([pushed] if luck.push else []),
                _end("packaging_done", Phase.PACKAGING, luck.push),
            ]
        case Finish():
            stop = action.stop.model_dump() if action.stop else None
            return [event("session_finished", "session_finished", status=action.status, stop=stop, salvageRef=None)]
        case Nothing():
            return []
        case _:
            assert_never(action)


def _end(key: str, phase: Phase, good: bool) -> Drafted:
    if not good:
        return event(key, "phase_failed", phase, reason="refused", details="it is protected")
    pull = {"number": 3, "url": "https://github.example/octo/pocket/pull/3"}
    return event(key, "phase_completed", phase, snapshot="s9", paths=["a.py"], commit="c" * 40, pull=pull)


def _preparation() -> Iterator[Drafted]:
    for phase in (Phase.PLANNING, Phase.ARCHITECTURE, Phase.DESIGN):
        if phase is not Phase.PLANNING:
            yield event(phase, "phase_started", phase)
        yield event(f"artifact:{phase}", "artifact_created", phase)
        yield event(f"{phase}_done", "phase_completed", phase)


def _validation(action: Validate, state: RunState, luck: Luck) -> list[Drafted]:
    attempt, stage = action.attempt, state.stages[action.index]
    phase = Phase.VALIDATION if attempt else Phase.PLANNING
    name = f"{attempt}:{action.index}"
    skipped = stage.command is None
    passed = skipped or luck.verdict()
    output = "" if passed else "1 failed"
    step = ValidationStep(
        command="c", stage=stage.name, passed=passed, skipped=skipped, exit_code=int(not passed), output=output
    )
    kind = "completed" if passed else "failed"
    done = event(
        f"command_done:{name}", f"validation_command_{kind}", phase, attempt, step=step.model_dump(mode="json")
    )
    drafts = [event(f"command:{name}", "validation_command_started", phase, attempt), done]
    if action.index == 0 and attempt:
        drafts.insert(0, event(f"validation:{attempt}", "phase_started", phase, attempt))
    if attempt and next_index(state.stages, (*state.steps, step)) is None:
        good = close((*state.steps, step)).passed
        drafts.append(event(f"tests:{attempt}", f"tests_{'passed' if good else 'failed'}", phase, attempt))
        ended = f"phase_{'completed' if good else 'failed'}"
        drafts.append(event(f"validation_done:{attempt}", ended, phase, attempt))
    return drafts


def _attempt(attempt: int, fate: str) -> list[Drafted]:
    phase = Phase.IMPLEMENTATION
    drafts = [
        event(f"implementation:{attempt}", "phase_started", phase, attempt),
        event(f"attempt:{attempt}", "attempt_started", phase, attempt),
        event(f"agent:{attempt}:command", "agent_started", phase, attempt, agent="command"),
    ]
    if fate != "applied":
        failed = event(f"implementation_done:{attempt}", "phase_failed", phase, attempt, reason=fate, message="no")
        return [*drafts, failed]
    data = {"snapshot": f"t{attempt}", "allPaths": ["a.py"], "agent": "command", "patchHash": f"h{attempt}"}
    applied = event(f"changes:{attempt}", "changes_applied", phase, attempt, **data)
    return [*drafts, applied, event(f"implementation_done:{attempt}", "phase_completed", phase, attempt)]


def play(wanted: RunSpec, luck: Luck, stages: tuple[Stage, ...] = STAGES, story: Story | None = None) -> Story:
    """A run from its first event to its last."""
    story = story or Story()
    for _ in range(1000):
        action = next_action(wanted, story.state, T0)
        if isinstance(action, Nothing):
            return story
        assert story.write(effect(action, story.state, luck, stages)) > 0, f"{action} brings the run no further"
    raise AssertionError("the run never ends")


def actions(wanted: RunSpec, luck: Luck, stages: tuple[Stage, ...] = STAGES) -> list[Action]:
    story, taken = Story(), []
    while not isinstance(action := next_action(wanted, story.state, T0), Nothing):
        taken.append(action)
        story.write(effect(action, story.state, luck, stages))
    return [*taken, action]


def kinds(taken: list[Action]) -> list[str]:
    return [action.kind for action in taken]


def end(story: Story) -> tuple[Status | None, str | None]:
    state = story.state
    return state.finished, state.stop.reason if state.stop else None


# ---- the course of a whole run


def test_a_run_goes_through_its_phases_in_order() -> None:
    taken = actions(spec(policy=Policy(setup="make deps")), Luck(verdicts=[True, False]))
    assert taken[2:5] == [Validate(attempt=0, index=index) for index in range(3)]
    assert taken[6:10] == [Implement(attempt=1), *(Validate(attempt=1, index=index) for index in range(3))]
    assert kinds(taken) == [
        "begin", "setup", "validate", "validate", "validate", "prepare", "implement", "validate", "validate",
        "validate", "review", "package", "finish", "nothing",
    ]  # fmt: skip
    assert taken[-2] == Finish(status=Status.SUCCESS)


def test_every_action_is_reached_by_some_run() -> None:
    reached = set(kinds(actions(spec(policy=Policy(setup="make deps")), Luck())))
    assert reached == {action.model_fields["kind"].default for action in get_args(Action)}


def test_without_a_set_up_command_or_a_baseline_neither_is_done() -> None:
    taken = actions(spec(baseline=False), Luck())
    assert kinds(taken)[:3] == ["begin", "prepare", "implement"]


def test_a_failed_baseline_ends_at_its_first_failure_and_stops_nothing() -> None:
    story = play(spec(), Luck(verdicts=[False]))
    baseline = story.state.baseline
    assert baseline is not None and not baseline.passed
    assert [step.stage for step in baseline.steps] == ["lint", "typecheck"]
    assert end(story) == (Status.SUCCESS, None)


def test_attempts_follow_one_another_until_one_is_green() -> None:
    story = play(spec(), Luck(verdicts=[True, True, False, True, False]))
    assert [validation.passed for validation in story.state.validations] == [False, False, True]
    assert story.state.attempt == 3
    assert end(story) == (Status.SUCCESS, None)


# ---- why a run stops


@pytest.mark.parametrize(
    ("asked", "limit", "attempts"), [(3, 10, 3), (5, 2, 2), (1, 10, 1)], ids=["as asked", "capped", "one"]
)
def test_a_run_has_as_many_attempts_as_were_asked_for_capped_by_max_iterations(
    asked: int, limit: int, attempts: int
) -> None:
    wanted = spec(max_attempts=asked, policy=Policy(stop=StopPolicy(max_iterations=limit, no_progress_threshold=99)))
    story = play(wanted, Luck(verdicts=[True, True] + [False] * 20))
    assert wanted.most_attempts == story.state.attempt == len(story.state.validations) == attempts
    assert end(story) == (Status.FAILED, "max_iterations")


def test_a_run_out_of_time_starts_no_further_attempt() -> None:
    wanted = spec(policy=Policy(stop=StopPolicy(max_duration_ms=60_000)))
    story = play(wanted, Luck()).until(0)
    while not isinstance(action := next_action(wanted, story.state, T0 + timedelta(minutes=2)), Finish):
        story.write(effect(action, story.state, Luck(verdicts=[True, True, False])))
    assert action.stop is not None and action.stop.reason == "max_duration"
    assert story.state.attempt == 0


def test_the_same_output_again_and_again_is_no_progress() -> None:
    wanted = spec(max_attempts=10, policy=Policy(stop=StopPolicy(no_progress_threshold=2)))
    story = play(wanted, Luck(verdicts=[True, True] + [False] * 20))
    assert end(story) == (Status.FAILED, "no_progress")
    assert story.state.attempt == 3  # the first is compared with nothing


def test_a_change_that_does_not_apply_costs_an_attempt_and_is_told_to_the_next() -> None:
    story = play(spec(), Luck(fates=["patch_failed"]))
    assert story.state.attempt == 2
    assert story.state.troubles == ("no",)
    assert len(story.state.validations) == 1
    assert end(story) == (Status.SUCCESS, None)


def test_nothing_offered_ends_the_run_with_that_reason() -> None:
    assert end(play(spec(), Luck(fates=[NOTHING_OFFERED]))) == (Status.FAILED, NOTHING_OFFERED)


def test_a_failed_set_up_ends_the_run_before_any_check() -> None:
    story = play(spec(policy=Policy(setup="make deps")), Luck(set_up=False))
    assert end(story) == (Status.FAILED, "setup_failed")
    assert story.state.baseline is None


def test_without_any_command_nothing_is_tried_and_what_was_looked_for_is_named() -> None:
    story = play(spec(), Luck(), stages=(Stage(name="test", looked_for=("pytest", "npm test")),))
    assert end(story) == (Status.FAILED, "no_checks")
    assert "test: pytest, npm test" in str(story.state.stop)
    assert story.state.attempt == 0


@pytest.mark.parametrize("fails", ["review", "push"])
def test_a_refused_review_or_push_ends_the_run_as_failed(fails: str) -> None:
    assert end(play(spec(), Luck(**{fails: False}))) == (Status.FAILED, "refused")


# ---- what the fold remembers


def test_what_set_up_left_is_where_the_attempts_start_from() -> None:
    story = Story()
    wanted = spec(policy=Policy(setup="make deps"))
    seen = []
    while not isinstance(action := next_action(wanted, story.state, T0), Nothing):
        story.write(effect(action, story.state, Luck()))
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
    assert state.phases == {phase: "completed" for phase in Phase}
    failed = play(spec(max_attempts=1), Luck(verdicts=[True, True, False])).state
    assert failed.phases[Phase.VALIDATION] == "failed"
    assert failed.current_phase == Phase.VALIDATION


def test_events_that_the_fold_does_not_know_change_nothing_but_the_last_id() -> None:
    story = play(spec(), Luck())
    before = story.state
    story.write([event("x", "something_new", Phase.REVIEW, 4, any=["thing"])])
    assert story.state == course.replace(before, last_event=before.last_event + 1)


LUCK = st.builds(
    Luck,
    verdicts=st.lists(st.booleans(), max_size=12),
    fates=st.lists(st.sampled_from(["applied", "applied", "patch_failed", NOTHING_OFFERED]), max_size=5),
    set_up=st.booleans(),
    review=st.booleans(),
    push=st.booleans(),
)
SPECS = st.builds(
    lambda attempts, baseline, setup: spec(max_attempts=attempts, baseline=baseline, policy=Policy(setup=setup)),
    attempts=st.integers(1, 5),
    baseline=st.booleans(),
    setup=st.sampled_from([None, "make deps"]),
)


@settings(max_examples=60, deadline=None)
@given(wanted=SPECS, luck=LUCK, later=LUCK, data=st.data())
def test_from_wherever_a_crash_leaves_it_a_run_goes_on_to_an_end(
    wanted: RunSpec, luck: Luck, later: Luck, data: st.DataObject
) -> None:
    whole = play(wanted, luck)
    cut = data.draw(st.integers(0, len(whole.events)))
    resumed = play(wanted, later, story=whole.until(cut))
    assert resumed.state.finished is not None
    assert (resumed.state.stop is None) == (resumed.state.finished is Status.SUCCESS)
    assert resumed.state.attempt <= wanted.most_attempts
    keys = [key for key, _ in resumed.events]
    assert len(keys) == len(set(keys))
    assert keys[-1] == "session_finished"


@settings(max_examples=40, deadline=None)
@given(wanted=SPECS, luck=LUCK)
def test_an_ended_run_does_nothing_and_the_fold_takes_one_event_at_a_time(wanted: RunSpec, luck: Luck) -> None:
    whole = play(wanted, luck)
    assert next_action(wanted, whole.state, T0 + timedelta(days=9)) == Nothing()
    for length in range(len(whole.events)):
        part = whole.until(length)
        assert part.state.last_event == length
        assert next_action(wanted, part.state, T0) == next_action(wanted, part.state, T0)
