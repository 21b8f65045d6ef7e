"""A fix run as its page shows it: its attempts with the checks of each, from the events alone."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from bot.model import Language, Phase, Usage, ValidationStep
from bot.model.events.agents import AgentEnded
from bot.model.events.base import Event
from bot.model.events.phases import ImplementationFailed
from bot.model.events.pull_checks import PullBaseChecked, PullCheckRan, PullTestsRan
from bot.model.events.run_event import RunEvent
from bot.model.events.runs import (
    AgentStarted,
    AttemptStarted,
    ChangesApplied,
    CheckEnded,
    CheckStarted,
    TestsEnded,
)
from bot.model.reasons import Reason
from bot.model.report_views import Attempt
from bot.reports.locale.catalog import has_message, t
from bot.reports.runs.event_lines import event_line

MAX_EVENTS = 400
_STRONG = ("validation_command_completed", "validation_command_failed", "tests_passed", "tests_failed",
           "session_finished", "pull_check_ran", "pull_check_judged", "pull_finished")  # fmt: skip


@dataclass(slots=True)
class CheckView:
    """One check of an attempt; `step` is None while it runs."""

    stage: str
    command: str
    step: ValidationStep | None = None
    log: str | None = None
    refused: Reason | None = None

    @property
    def state(self) -> str:
        if self.step is None:
            return "running"
        if self.step.tolerated and self.refused is None:
            return "tolerated"
        if self.step.skipped:
            return "skipped"
        if self.refused is not None:
            return "refused"
        return "passed" if self.step.passed else "failed"

    @property
    def classification(self) -> str | None:
        """Why the check failed, or `test` where it passed but the change was refused; None for any other."""
        if self.refused is not None:
            return "test"
        return self.step.classification if self.step is not None else None


@dataclass(slots=True)
class AttemptView:
    """One turn of the loop; 0 are the checks before any change. `number` is the attempt as people count it."""

    iteration: int
    number: int = 0
    limit: int = 0
    agents: list[str] = field(default_factory=list)
    change: ChangesApplied | None = None
    problems: list[Reason] = field(default_factory=list)
    checks: dict[int, CheckView] = field(default_factory=dict)
    verdict: str = ""
    usage: Usage | None = None
    outcome: Attempt | None = None

    @property
    def state(self) -> str:
        """`passed`, `failed`, `running` or `not_applied`."""
        if self.verdict:
            return self.verdict
        states = {check.state for check in self.checks.values()}
        if self.outcome is not None and self.outcome.result in ("not_applied", "not_checked"):
            return self.outcome.result
        if self.iteration == 0 and states and "running" not in states:
            return "failed" if "failed" in states else "passed"
        return "running"


def attempt_views(events: Iterable[RunEvent], outcomes: Sequence[Attempt]) -> list[AttemptView]:
    """The attempts of a run in order, with their outcomes as far as they have one."""
    views: dict[int, AttemptView] = {}

    def view(iteration: int) -> AttemptView:
        return views.setdefault(iteration, AttemptView(iteration))

    for event in events:
        match event:
            case AttemptStarted():
                view(event.iteration).number, view(event.iteration).limit = event.attempt, event.of
            case AgentStarted() if event.phase is Phase.IMPLEMENTATION:
                view(event.iteration).agents.append(event.agent)
            case AgentEnded() if event.phase is not Phase.REPRODUCTION and event.iteration is not None:
                used = view(event.iteration).usage
                view(event.iteration).usage = event.usage if used is None else used + event.usage
            case ChangesApplied():
                view(event.iteration).change = event
                view(event.iteration).problems += event.refusals
            case ImplementationFailed() if event.iteration is not None:
                view(event.iteration).problems.append(event.message)
            case CheckStarted():
                view(event.iteration).checks[event.index] = CheckView(event.stage, event.command)
            case CheckEnded():
                check = CheckView(event.stage, event.step.command, event.step, event.log, event.refused)
                view(event.iteration).checks[event.index] = check
            case TestsEnded():
                view(event.iteration).verdict = event.type.removeprefix("tests_")
    for outcome in outcomes:
        view(outcome.attempt).outcome = outcome
    return [views[iteration] for iteration in sorted(views)]


@dataclass(frozen=True, slots=True)
class EventRow:
    """One event in the list; `strong` is whether it is highlighted."""

    id: int
    at_ms: int
    type: str
    phase: str
    iteration: int | None
    classification: str
    text: str
    passed: bool | None
    strong: bool


def event_rows(events: Sequence[Event], language: Language) -> list[EventRow]:
    """The last 400 events, oldest first."""
    return [_row(event, language) for event in events[-MAX_EVENTS:]]


def _row(event: Event, language: Language) -> EventRow:
    text, passed = "", None
    if isinstance(event, PullCheckRan):
        passed, text = event.step.passed, f"{event.stage} · {event.step.command}"
    elif isinstance(event, PullTestsRan):
        text = t(language, f"pages.timeline.again.{event.place}")
    elif isinstance(event, PullBaseChecked):
        text = t(language, "pages.timeline.base")
    elif not event.type.startswith("pull_"):
        text = (event_line(event, language) or "").strip()  # type: ignore[arg-type]  # all others are of fix runs
    if isinstance(event, CheckEnded):
        passed = event.step.passed and event.refused is None
    elif isinstance(event, CheckStarted):
        text = event.command
    elif isinstance(event, TestsEnded):
        passed, text = event.type == "tests_passed", event.summary
    phase = str(event.phase) if event.phase is not None else ""
    shown_phase = t(language, f"pages.phase.{phase}") if has_message(f"pages.phase.{phase}") else phase
    return EventRow(
        id=event.id,
        at_ms=int(event.ts.timestamp() * 1000),
        type=event.type,
        phase=shown_phase,
        iteration=event.iteration,
        classification=event.classification or "",
        text=text,
        passed=passed,
        strong=event.type in _STRONG,
    )
