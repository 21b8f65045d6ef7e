"""A run of checks of a head: whatever was recorded of it, it goes on to its end and does nothing twice."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.config import Policy
from bot.model import CHECK_ORDER, CouldNotRun, Repo, ShellCommand, ValidationStep
from bot.model.events.pull_checks import PullCheckEvent
from bot.model.pipeline import PipelineStage
from bot.model.pulls import CheckStatus, Failure
from bot.model.reasons import ExplainedStop, listed, quoted
from bot.reports.locale.reasons import english
from bot.rules.pulls.check_spec import PullCheckSpec
from bot.rules.pulls.check_state import (
    BeginPull,
    CheckBase,
    FinishPull,
    JudgeCheck,
    MeasureReach,
    PullAction,
    RunCheck,
    RunTests,
    SetUpPull,
    checks_of,
    next_pull_action,
    pull_check_state,
)
from bot.rules.reasons import make_reason
from tests.run_events import pull_check_event

ERRORS = ("a.py: error: A", "b.py: error: B", "")
SHA = "6dcb09b5b57875f334f61aebed695e2e4193db5e"


@dataclass(frozen=True, slots=True)
class World:
    """What would be found: the stages that have a command, whether set-up works, and what each run of a check shows:
    the first on the head, each later one there, and each on the base."""

    commands: frozenset[str]
    setup_works: bool
    first: Mapping[str, tuple[str, ...]]
    again: Mapping[str, tuple[str, ...]]
    base: Mapping[str, tuple[str, ...] | None]


def spec(*, setup: bool = False, only: Sequence[str] = (), kept: Sequence[CheckStatus] = ()) -> PullCheckSpec:
    repo = Repo(owner="o", name="r", installation_id=3)
    policy = Policy(setup="make ready") if setup else Policy()
    return PullCheckSpec(repo=repo, number=8, head_sha=SHA, policy=policy, only=tuple(only), kept=tuple(kept))


def event(at: int, kind: str, /, **data: Any) -> PullCheckEvent:
    return pull_check_event(kind, id=at, **data)


def stages(commands: frozenset[str]) -> list[dict[str, Any]]:
    made = (
        PipelineStage(name=name, command=ShellCommand(run=name, timeout_s=9))
        if name in commands
        else PipelineStage(name=name, looked_for=(quoted("Makefile"), quoted(name)))
        for name in CHECK_ORDER
    )
    return [stage.model_dump(mode="json") for stage in made]


def _to_set_up(world: World, asked: PullCheckSpec) -> bool:
    wanted = world.commands & frozenset(asked.only) if asked.only else world.commands
    return asked.policy.setup is not None and bool(wanted)


def done(
    world: World, asked: PullCheckSpec, told: Sequence[PullCheckEvent], action: PullAction
) -> list[PullCheckEvent]:
    """What doing it records, as `workflows.pulls.check` does."""
    at, state = len(told) + 1, pull_check_state(told)
    match action:
        case BeginPull():
            return [
                event(
                    at,
                    "pull_started",
                    baseSha="b" * 40,
                    sandbox=make_reason("sandbox.none"),
                    stages=stages(world.commands),
                    toSetUp=_to_set_up(world, asked),
                )
            ]
        case SetUpPull():
            if world.setup_works:
                return [event(at, "pull_setup_completed", stages=state.stages)]
            why = make_reason("setup.exit", command="make ready", block="make: *** no rule\nmore", code="2")
            return [event(at, "pull_setup_failed", details=why.model_dump())]
        case RunCheck(index=index):
            name = state.stages[index].name
            passed = not world.first[name]
            step = ValidationStep(command=name, stage=name, passed=passed, exit_code=int(not passed))
            data = {"index": index, "stage": name, "step": step, "errors": world.first[name]}
            return [event(at, "pull_check_started", index=index, stage=name), event(at + 1, "pull_check_ran", **data)]
        case CheckBase(index=index):
            return [event(at, "pull_base_checked", index=index, errors=world.base[state.stages[index].name])]
        case RunTests(index=index, number=number, place=place, tests=tests):
            name = state.stages[index].name
            errors = world.again[name] if place == "head" else world.base[name] or ()
            data = {"index": index, "number": number, "place": place, "tests": tests, "errors": errors}
            return [event(at, "pull_tests_ran", **data)]
        case MeasureReach(index=index):
            return [event(at, "pull_reach_measured", index=index)]
        case JudgeCheck(index=index):
            check = CheckStatus(
                name=state.stages[index].name,
                status="completed",
                step=state.ran[index].step,
                failures=state.ran[index].failures,
            )
            return [event(at, "pull_check_judged", index=index, check=check.model_dump(mode="json"))]
        case FinishPull():
            return [event(at, "pull_finished", status="done", stop=None)]


def through(
    world: World, asked: PullCheckSpec, told: Sequence[PullCheckEvent] = ()
) -> tuple[list[PullCheckEvent], list[PullAction]]:
    """Go on from what was recorded to the end."""
    events, actions = list(told), list[PullAction]()
    while (action := next_pull_action(asked, pull_check_state(events))) is not None:
        assert len(actions) < 60, actions
        actions.append(action)
        events += done(world, asked, events, action)
    return events, actions


_SHOWN = st.lists(st.sampled_from(ERRORS), max_size=3, unique=True).map(tuple)
_BY_NAME = st.fixed_dictionaries(dict.fromkeys(CHECK_ORDER, _SHOWN))
_BASE = st.fixed_dictionaries(dict.fromkeys(CHECK_ORDER, st.none() | _SHOWN))
_NAMES = st.frozensets(st.sampled_from(CHECK_ORDER))
_WORLD = st.builds(World, commands=_NAMES, setup_works=st.booleans(), first=_BY_NAME, again=_BY_NAME, base=_BASE)
_SPEC = st.builds(spec, setup=st.booleans(), only=_NAMES.map(sorted))


@settings(deadline=None)
@given(world=_WORLD, asked=_SPEC)
def test_any_prefix_of_a_course_leads_on_to_the_same_end_and_repeats_no_step(
    world: World, asked: PullCheckSpec
) -> None:
    whole, actions = through(world, asked)
    assert len(set(map(str, actions))) == len(actions)
    ended = checks_of(asked, pull_check_state(whole))
    for cut in range(len(whole) + 1):
        again, rest = through(world, asked, whole[:cut])
        assert checks_of(asked, pull_check_state(again)) == ended
        assert [str(one) for one in rest] == [str(one) for one in actions[len(actions) - len(rest) :]]
    # a step that was begun and cut short is done again, and no other
    assert sum(isinstance(one, RunCheck) for one in actions) <= len(world.commands)


@settings(deadline=None)
@given(world=_WORLD, asked=_SPEC)
def test_every_check_comes_to_an_answer(world: World, asked: PullCheckSpec) -> None:
    events, actions = through(world, asked)
    checks = checks_of(asked, pull_check_state(events))
    assert [check.name for check in checks] == [name for name in CHECK_ORDER if name in (asked.only or CHECK_ORDER)]
    assert {check.status for check in checks} == {"completed"}
    assert all(bool(check.step) == (check.name in world.commands) for check in checks)
    ran = [one.index for one in actions if isinstance(one, RunCheck)]
    assert ran == sorted(ran)
    wanted = [name for name in CHECK_ORDER if name in world.commands and (not asked.only or name in asked.only)]
    works = world.setup_works or asked.policy.setup is None
    assert [CHECK_ORDER[index] for index in ran] == (wanted if works else [])
    assert any(isinstance(one, SetUpPull) for one in actions) == (asked.policy.setup is not None and bool(wanted))


@settings(deadline=None)
@given(world=_WORLD)
def test_the_base_is_asked_only_where_something_failed_that_lasts_or_may_be_chance(world: World) -> None:
    _, actions = through(world, spec())
    asked = {CHECK_ORDER[one.index] for one in actions if isinstance(one, CheckBase)}
    failed = {name for name in world.commands if world.first[name]}
    assert asked == {name for name in failed if name == "test" or world.again[name]}
    repeated = [one for one in actions if isinstance(one, RunTests)]
    assert {CHECK_ORDER[one.index] for one in repeated} == failed
    for name in failed - {"test"}:  # a linter or a type checker: once more on the head
        assert [one.place for one in repeated if CHECK_ORDER[one.index] == name] == ["head"]


def test_a_check_that_could_not_run_asks_the_base_and_has_no_failures() -> None:
    step = ValidationStep(command="c", stage="test", passed=False, could_not_run=CouldNotRun(hindrance="not_found"))
    ran = event(2, "pull_check_ran", index=0, stage="test", step=step.model_dump(mode="json"), errors=("E",))
    state = pull_check_state([_STARTED, ran])
    assert next_pull_action(spec(), state) == CheckBase(index=0)
    asked = pull_check_state([_STARTED, ran, event(3, "pull_base_checked", index=0, errors=())])
    assert next_pull_action(spec(), asked) == JudgeCheck(index=0)
    assert asked.ran[0].failures == ()


_STARTED = event(
    1,
    "pull_started",
    baseSha="b" * 40,
    sandbox=make_reason("sandbox.none"),
    stages=[PipelineStage(name="test", command=ShellCommand(run="c", timeout_s=9)).model_dump(mode="json")],
)


def test_a_set_up_that_fails_fails_every_check_that_was_asked_for_and_ends_it() -> None:
    world = World(frozenset({"lint", "test"}), False, {}, {}, {})
    asked = spec(setup=True, only=("test",))
    events, actions = through(world, asked)
    assert [type(one) for one in actions] == [BeginPull, SetUpPull, FinishPull]
    state = pull_check_state(events)
    assert state.finished == "done"
    assert state.stop is not None
    assert state.stop.reason == "setup_failed"
    (check,) = checks_of(asked, state)
    assert (check.name, check.status) == ("test", "completed")
    assert check.step is not None
    assert not check.step.passed
    assert (check.failures, check.because) == ((), "setup")  # nothing ran that could have failed


def test_nothing_is_set_up_where_nothing_is_to_be_run() -> None:
    world = World(frozenset({"lint"}), True, {}, {}, {})
    for asked in (spec(setup=True, only=("test",)), spec(setup=True)):
        _, actions = through(replace(world, commands=frozenset()), asked)
        assert [type(one) for one in actions] == [BeginPull, FinishPull]
    _, actions = through(world, spec(setup=True, only=("test",)))
    assert [type(one) for one in actions] == [BeginPull, FinishPull]


KEPT = (
    CheckStatus(
        name="typecheck", status="completed", kept_from="pull-1", failures=(Failure(error="T", verdict="new"),)
    ),
    CheckStatus(name="lint", status="completed", kept_from="pull-1", looked_for=(quoted("Makefile"),)),
)


def test_what_is_kept_stands_beside_what_is_run_again() -> None:
    passes = dict.fromkeys(CHECK_ORDER, ())
    asked = spec(only=("test",), kept=KEPT)
    world = World(frozenset(CHECK_ORDER), True, passes, passes, dict.fromkeys(CHECK_ORDER))
    events, actions = through(world, asked)
    assert [one.index for one in actions if isinstance(one, RunCheck)] == [2]
    for cut in range(len(events) + 1):
        shown = checks_of(asked, pull_check_state(events[:cut]))
        assert [check.name for check in shown] == list(CHECK_ORDER), "not in the order in which they run"
        assert shown[:2] == KEPT
    assert shown[2].step is not None


def test_before_the_start_all_that_there_may_be_is_queued() -> None:
    assert [(check.name, check.status) for check in checks_of(spec(), pull_check_state([]))] == [
        (name, "queued") for name in CHECK_ORDER
    ]
    assert [check.name for check in checks_of(spec(only=("lint",)), pull_check_state([]))] == ["lint"]


@pytest.mark.parametrize(("begun", "shown"), [((), "queued"), ((2,), "in_progress")])
def test_what_was_cut_short_by_a_cancel_stays_as_it_stood(begun: tuple[int, ...], shown: str) -> None:
    started = event(
        1, "pull_started", baseSha="b" * 40, sandbox=make_reason("sandbox.none"), stages=stages(frozenset({"test"}))
    )
    running = [event(2 + at, "pull_check_started", index=index, stage="test") for at, index in enumerate(begun)]
    stop = ExplainedStop.of("cancelled", make_reason("stop.said", by="ada"))
    state = pull_check_state([started, *running, event(9, "pull_finished", status="cancelled", stop=stop.model_dump())])
    assert next_pull_action(spec(), state) is None
    assert (state.finished, state.stop) == ("cancelled", stop)
    typecheck, _, test = checks_of(spec(), state)
    assert (typecheck.status, english(listed(typecheck.looked_for))) == ("completed", "Makefile, typecheck")
    assert (test.status, test.step) == (shown, None)


def test_a_cancel_before_the_start_leaves_nothing_to_do() -> None:
    state = pull_check_state([event(1, "pull_finished", status="cancelled", stop=None)])
    assert next_pull_action(spec(), state) is None
