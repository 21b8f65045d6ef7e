"""Plays a run for `test_next_action`: each action is answered with the events that its workflow would record."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any, assert_never

from bot.model import Issue, Phase, Repo, RunEvent, ShellCommand, Status, ValidationStep
from bot.model.pipeline import PipelineStage
from bot.model.proof import MutantFigures, StageWithoutChange
from bot.rules.reasons import make_reason, quoted
from bot.rules.runs.fold import run_state
from bot.rules.runs.next_action import (
    Action,
    Begin,
    Choose,
    Finish,
    Implement,
    JudgeCandidate,
    Package,
    Prepare,
    Propose,
    Prove,
    Reproduce,
    ReviewAction,
    SetUp,
    Validate,
    next_action,
)
from bot.rules.runs.pipeline import make_validation, next_index
from bot.rules.runs.proof import next_proof_step, proof_of, test_files
from bot.rules.runs.reproduction import MAX_REPRODUCTION_ATTEMPTS
from bot.rules.runs.spec import RunSpec
from bot.rules.runs.state import RunState
from tests.rules.runs import played_tournament
from tests.run_events import run_event

T0 = datetime(2026, 11, 21, 12, tzinfo=UTC)
STAGES = (
    PipelineStage(name="lint", looked_for=(quoted("ruff"),)),
    PipelineStage(name="typecheck", command=ShellCommand(run="mypy .", timeout_s=60)),
    PipelineStage(name="test", command=ShellCommand(run="pytest", timeout_s=60)),
)
NEW_TEST = "tests/test_a.py"
ISSUES = (Issue(number=7, title="It breaks", body="in a.py"), Issue(number=9, title="It is slow"))
Drafted = tuple[str, tuple[str, Phase | None, int | None, dict[str, Any]]]


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
        return run_state(event for _, event in self.events)

    def write(self, drafts: list[Drafted]) -> int:
        """How many of the drafts were new."""
        known = {key for key, _ in self.events}
        fresh = [(key, fields) for key, fields in drafts if key not in known]
        for key, fields in fresh:
            number = len(self.events) + 1
            kind, phase, iteration, data = fields
            event = run_event(kind, phase, iteration, id=number, ts=T0 + timedelta(seconds=number), **data)
            self.events.append((key, event))
        return len(fresh)

    def until(self, length: int) -> Story:
        return Story(tuple(self.events[:length]))


def event(key: str, type_: str, phase: Phase | None = None, iteration: int | None = None, **data: Any) -> Drafted:
    return key, (type_, phase, iteration, data)


class Luck:
    """How effects turn out: the verdicts of checks, the fates of attempts and of requests for a failing test, in turn;
    good ones when they run out. `notices` is the number of ten mutants that the checks notice."""

    def __init__(
        self,
        verdicts: list[bool] = [],  # noqa: B006
        fates: list[str] = [],  # noqa: B006
        written: list[str] = [],  # noqa: B006
        notices: int = 10,
        **more: bool,
    ) -> None:
        self._verdicts, self._fates, self._written = iter(verdicts), iter(fates), iter(written)
        self.notices = notices
        self.set_up, self.review, self.push = (more.get(name, True) for name in ("set_up", "review", "push"))

    def verdict(self) -> bool:
        return next(self._verdicts, True)

    def fate(self) -> str:
        return next(self._fates, "applied")

    def written(self) -> str:
        """Whether a test that was asked for `fails` on the base, `passes` there, or was `none`."""
        return next(self._written, "fails")


def effect(
    wanted: RunSpec, action: Action, state: RunState, luck: Luck, stages: tuple[PipelineStage, ...] = STAGES
) -> list[Drafted]:
    """What the workflow of that action records."""
    match action:
        case Begin():
            return _begin(wanted, stages)
        case SetUp():
            name = "setup_completed" if luck.set_up else "setup_failed"
            ended: dict[str, Any] = {"snapshot": "s1", "stages": state.stages}
            ended |= {} if luck.set_up else {"details": "no such file"}
            return [event("setup", "setup_started"), event("setup_done", name, **ended)]
        case Validate():
            return _validation(action, state, luck)
        case Prepare():
            return list(_preparation())
        case Reproduce():
            return _reproduction(action.attempt, luck.written())
        case Prove():
            return _proof(wanted, action, state, luck)
        case Implement() if wanted.candidate_limit > 1:
            begun = _attempt(action.attempt, "", state)[:2]
            return [*begun, played_tournament.wanted(action.attempt, wanted.candidate_limit, ("command",))]
        case Implement():
            return _attempt(action.attempt, luck.fate(), state)
        case Propose():
            return played_tournament.proposal(action, luck.fate(), state.changed_paths)
        case JudgeCandidate():
            assert state.tournament is not None and state.tournament.present is not None
            own, step = state.tournament.present.state, action.action
            assert own is not None
            drafts = effect(wanted, step, own, luck, stages)
            return played_tournament.of_candidate(step.attempt, action.candidate, drafts)
        case Choose():
            return played_tournament.choice(action, state)
        case ReviewAction():
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
        case _:
            assert_never(action)


def _begin(wanted: RunSpec, stages: tuple[PipelineStage, ...]) -> list[Drafted]:
    data = {
        "baseSha": "b" * 40,
        "branch": "fix/issue-7-9",
        "sandbox": make_reason("sandbox.none"),
        "snapshot": "s0",
    }
    listed = [stage.model_dump(mode="json") for stage in stages]
    plan = {"steps": [{"run": "make deps", "because": "Makefile"}] if wanted.policy.setup is not None else []}
    planning = event("planning", "phase_started", Phase.PLANNING, **data, stages=listed, setup=plan)
    return [event("session_started", "session_started", task="t"), planning]


def _end(key: str, phase: Phase, good: bool) -> Drafted:
    if not good:
        return event(key, "phase_failed", phase, reason="refused", details="it is protected")
    if phase is Phase.REVIEW:
        return event(key, "phase_completed", phase, snapshot="s9", paths=["a.py"])
    pull = {"number": 3, "url": "https://github.example/octo/pocket/pull/3"}
    return event(key, "phase_completed", phase, commit="c" * 40, pull=pull)


def _preparation() -> Iterator[Drafted]:
    for phase in (Phase.PLANNING, Phase.ARCHITECTURE, Phase.DESIGN):
        if phase is not Phase.PLANNING:
            yield event(phase, "phase_started", phase)
        yield event(f"artifact:{phase}", "artifact_created", phase, artifact=f"run-1.{phase}")
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
        good = make_validation((*state.steps, step)).passed
        drafts.append(event(f"tests:{attempt}", f"tests_{'passed' if good else 'failed'}", phase, attempt))
        ended = f"phase_{'completed' if good else 'failed'}"
        drafts.append(event(f"validation_done:{attempt}", ended, phase, attempt))
    return drafts


def _reproduction(attempt: int, written: str) -> list[Drafted]:
    """A request for a failing test: the test `fails` on the base as it should, `passes` there, or there is `none`."""
    phase = Phase.REPRODUCTION
    drafts = [
        event(f"reproduction:{attempt}", "phase_started", phase, attempt),
        event(f"test:{attempt}:command", "agent_started", phase, attempt, agent="command"),
        event(f"test_artifact:{attempt}", "artifact_created", phase, attempt, artifact=f"run-1.reproduction.{attempt}"),
    ]
    key = f"reproduction_done:{attempt}"
    if written == "fails":
        data = {"agent": "command", "paths": [NEW_TEST], "snapshot": "r1", "ref": "", "diff": "", "tests": ["test_new"]}
        failed = make_validation([ValidationStep(command="pytest", stage="test", passed=False, exit_code=1)])
        ended = event(key, "phase_completed", phase, attempt, **data, validation=failed.model_dump(mode="json"))
    else:
        final = written == "none" or attempt >= MAX_REPRODUCTION_ATTEMPTS
        because = make_reason("reproduction.no_test" if written == "none" else "reproduction.passes")
        ended = event(key, "phase_failed", phase, attempt, agent="command", because=because, final=final)
    return [*drafts, ended]


def _proof(wanted: RunSpec, action: Prove, state: RunState, luck: Luck) -> list[Drafted]:
    """A step of the proof, with the decision where it is the last one."""
    attempt, phase, drafts = action.attempt, Phase.VALIDATION, list[Drafted]()
    if action.step == "tests":
        red = state.baseline is not None and not state.baseline.steps[2].passed
        failed = red or bool(test_files(state.changed_paths))
        stages = (StageWithoutChange(index=2, failed=failed, errors=("T1",) if failed else ()),)
        listed = [stage.model_dump(mode="json") for stage in stages]
        drafts.append(event(f"tests_without:{attempt}", "tests_without_change_ended", phase, attempt, stages=listed))
        state = replace(state, without_change=stages)
    elif action.step == "mutants":
        figures = MutantFigures(noticed=luck.notices, made=10)
        drafts.append(event(f"mutants:{attempt}", "mutants_ended", phase, attempt, mutants=figures.model_dump()))
        state = replace(state, mutants=figures)
    if next_proof_step(wanted, state) == "decide":
        proof = proof_of(wanted, state).model_dump(mode="json")
        drafts.append(event(f"proof:{attempt}", "proof_decided", phase, attempt, proof=proof))
    return drafts


def _attempt(attempt: int, fate: str, state: RunState) -> list[Drafted]:
    phase = Phase.IMPLEMENTATION
    drafts = [
        event(f"implementation:{attempt}", "phase_started", phase, attempt),
        event(f"attempt:{attempt}", "attempt_started", phase, attempt),
        event(f"agent:{attempt}:command", "agent_started", phase, attempt, agent="command"),
    ]
    if fate != "applied":
        failed = event(f"implementation_done:{attempt}", "phase_failed", phase, attempt, reason=fate, message="no")
        return [*drafts, failed]
    data = {
        "snapshot": f"t{attempt}",
        "paths": ["a.py"],
        "allPaths": sorted({*state.changed_paths, "a.py"}),
        "agent": "command",
        "patchHash": f"h{attempt}",
    }
    applied = event(f"changes:{attempt}", "changes_applied", phase, attempt, **data)
    return [*drafts, applied, event(f"implementation_done:{attempt}", "phase_completed", phase, attempt)]


def play(wanted: RunSpec, luck: Luck, stages: tuple[PipelineStage, ...] = STAGES, story: Story | None = None) -> Story:
    """A run from its first event to its last."""
    story = story or Story()
    for _ in range(1000):
        action = next_action(wanted, story.state, T0)
        if action is None:
            return story
        if isinstance(action, Validate) and action.attempt:
            assert f"changes:{action.attempt}" in {key for key, _ in story.events}, "there is nothing to validate yet"
        assert story.write(effect(wanted, action, story.state, luck, stages)) > 0, f"{action} brings the run no further"
    raise AssertionError("the run never ends")


def actions(wanted: RunSpec, luck: Luck, stages: tuple[PipelineStage, ...] = STAGES) -> list[Action]:
    story, taken = Story(), []
    while (action := next_action(wanted, story.state, T0)) is not None:
        taken.append(action)
        story.write(effect(wanted, action, story.state, luck, stages))
    return taken


def kinds(taken: list[Action]) -> list[str]:
    return [action.kind for action in taken]


def end(story: Story) -> tuple[Status | None, str | None]:
    state = story.state
    return state.finished, state.stop.reason if state.stop else None
