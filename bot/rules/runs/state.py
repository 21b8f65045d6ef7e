"""The state of a run: a fold over its events and nothing else (architecture rule 8), so that any process can go on
with a run after loading its events."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from bot.model import (
    Conflict,
    KnownError,
    Phase,
    Proof,
    PullRequestRef,
    SetupDone,
    SetupPlan,
    Status,
    Usage,
    Validation,
    ValidationStep,
)
from bot.model.agents import total_usage
from bot.model.events.agents import AgentEnded
from bot.model.events.tournament import CandidateChosen
from bot.model.guidance_trial import TriedGuidance
from bot.model.pipeline import ExistingErrors, PipelineStage, WhatRan
from bot.model.proof import MutantFigures, Reproduction, StageWithoutChange
from bot.model.reasons import ExplainedStop, Reason
from bot.model.report_views import Loss
from bot.rules.runs.changes import AttemptChange
from bot.rules.runs.proven_resolutions import FirstSeen, ProvenResolution
from bot.rules.runs.suite_state import BeforeAttempt, SuiteSeen
from bot.rules.runs.tournament import Tournament
from bot.rules.stop import trajectory

NOTHING_OFFERED = "nothing_to_offer"
SAME_PATCH = "same_patch"
BUDGET = "budget"
ENDING = frozenset({NOTHING_OFFERED, SAME_PATCH, BUDGET})
"""Reasons of an attempt without a change after which another attempt would be the same again."""


@dataclass(frozen=True, slots=True)
class RunState:
    """The state of a run after its events."""

    started_at: datetime | None = None
    base_sha: str | None = None
    branch: str | None = None
    sandbox: Reason | None = None
    stages: tuple[PipelineStage, ...] = ()
    plan: SetupPlan = field(default_factory=SetupPlan)
    """The setup of the tree."""
    set_up: bool = False
    setup: tuple[SetupDone, ...] = ()
    """The steps of the setup, once it has ended."""
    steps: tuple[ValidationStep, ...] = ()
    """The steps of the validation under way; empty between two."""
    left: Mapping[int, ExistingErrors] = field(default_factory=dict)
    """The errors of the base that are left alone, as the task does not name them, by stage."""
    baseline: Validation | None = None
    suites: tuple[SuiteSeen, ...] = ()
    """For each stage that named or counted tests, its first execution, with which later ones are compared."""
    last_suites: Mapping[int, str] = field(default_factory=dict)
    """The log with the tests of each stage's latest execution, where it named them."""
    what_ran: tuple[WhatRan, ...] = ()
    """How the current attempt's tests compare with those, for each stage that runs tests."""
    attempt: int = 0
    implemented: bool = False
    """The current attempt's change is in the tree, so its validation may run."""
    attempt_over: bool = True
    tournament: Tournament | None = None
    """The changes among which the current attempt chooses; None where it asks for one."""
    candidate: int = 0
    """The number of the candidate whose state this is; 0 for the run itself."""
    tournaments: Mapping[int, CandidateChosen] = field(default_factory=dict)
    """What came of the candidates, by attempt."""
    validations: tuple[Validation, ...] = ()
    states: tuple[trajectory.TrajectoryState, ...] = ()
    """The state of the base, if it was checked, then of each validated attempt."""
    iterations: tuple[int, ...] = ()  # the attempt of each of `states`; 0 for the base
    stands: int = -1
    """The index in `states` of the present tree: the last, unless the change of that one was dropped."""
    verdict: trajectory.Verdict | None = None
    """The verdict on the last of `states`."""
    last_output: str | None = None
    no_progress: int = 0
    start: str | None = None
    """The tree before the first attempt: the base with the files of the setup, which are no part of the change."""
    snapshot: str | None = None
    focus: tuple[str, ...] = ()
    """The repository's files that the task names."""
    changed_paths: tuple[str, ...] = ()
    made: tuple[AttemptChange, ...] = ()
    calls: tuple[AgentEnded, ...] = ()
    """The agents that have answered or failed, with what they used."""
    rejections: tuple[Reason, ...] = ()
    """Why changes were not applied."""
    notes: tuple[Reason, ...] = ()
    """Parts of the change that a person should review."""
    guidance: tuple[KnownError, ...] = ()
    """The known errors of the latest attempt."""
    briefed: tuple[KnownError, ...] = ()
    """Those of them that agents get."""
    on_trial: tuple[KnownError, ...] = ()
    """Those of them that count in the trial of guidance."""
    tried_guidance: tuple[TriedGuidance, ...] = ()
    """The known errors that coding agents of this run got, or that were withheld from them for the trial."""
    base_errors: Mapping[int, frozenset[str]] = field(default_factory=dict)
    """The errors of each stage that had a result before any change; a stage behind a failed one is missing."""
    shown: tuple[FirstSeen, ...] = ()
    learned: tuple[ProvenResolution, ...] = ()
    before: tuple[BeforeAttempt, ...] = ()
    reproduction: Reproduction | None = None
    """What came of asking for a failing test first; None until an attempt is over."""
    reproduction_over: bool = False
    shows_fault: Validation | None = None
    """The checks that fail with the test that was written first."""
    without_change: tuple[StageWithoutChange, ...] | None = None
    """The checks on the base with the test files of the present change; None until they ran."""
    mutants: MutantFigures | None = None
    proof: Proof | None = None
    """What is shown of the present change; None until that is decided."""
    stop: ExplainedStop | None = None
    paused_at: datetime | None = None
    paused_ms: int = 0
    """The duration of the pauses that are over (see `idle_ms`); a pause under way began at `paused_at`."""
    phases: dict[Phase, str] = field(default_factory=dict)
    current_phase: Phase | None = None
    artifact_refs: dict[Phase, str] = field(default_factory=dict)
    commit_sha: str | None = None
    pull: PullRequestRef | None = None
    offered: str = ""
    """The diff that is shown where nothing could be pushed, as the pull request is from a fork."""
    packaged_commit: str | None = None
    """The commit with which other runs are compared, already before it is pushed."""
    conflicts: tuple[Conflict, ...] = ()
    """Other open groups whose change conflicts with the change of this run."""
    printed: Mapping[str, str] = field(default_factory=dict)
    """The messages of the tools by the fingerprints of their errors."""
    salvage_ref: str | None = None
    unfinished: str = ""
    diff: str | None = None
    """The log that holds the change of a local session."""
    loss: Loss | None = None
    finished: Status | None = None
    ended_at: datetime | None = None
    last_event: int = 0

    @property
    def suffix(self) -> str:
        """What follows the attempt in the names of its logs, refs and artifacts; empty for the run itself."""
        return f"-c{self.candidate}" if self.candidate else ""

    def idle_ms(self, now: datetime) -> int:
        """How long the run has been paused, up to `now`."""
        since = self.paused_at
        return self.paused_ms + (max(0, int((now - since).total_seconds() * 1000)) if since else 0)

    @property
    def usage(self) -> Usage | None:
        """What all agents used; None before the first has ended."""
        return total_usage(call.usage for call in self.calls)

    def usage_of(self, attempt: int) -> Usage | None:
        """What the agents and models of an attempt used; None where none was asked."""
        phases = (Phase.IMPLEMENTATION, Phase.VALIDATION)
        return total_usage(call.usage for call in self.calls if call.iteration == attempt and call.phase in phases)

    @property
    def counted(self) -> int:
        """The number of attempts that count, with the current one; those of `fixers` and `history` do not."""
        return max(min(self.attempt, 1), self.attempt - sum(made.free for made in self.made))

    @property
    def standing(self) -> Validation | None:
        """The validation of the present tree; None where there was none."""
        outcomes = (self.baseline, *self.validations) if self.baseline else self.validations
        return outcomes[self.stands] if outcomes else None

    @property
    def passed(self) -> bool:
        return self.attempt > 0 and self.attempt_over and bool(self.validations) and self.validations[-1].passed

    @property
    def agents(self) -> tuple[str, ...]:
        return tuple(made.agent for made in self.made)

    @property
    def best_attempt(self) -> int | None:
        """The attempt that came furthest; 0 where none came further than the base, None before the first verdict."""
        return self.iterations[self.verdict.best] if self.verdict else None

    @property
    def failing(self) -> tuple[str, ...]:
        """The fingerprints of the present tree's errors, sorted; empty where it was not checked or passes."""
        return tuple(sorted(self.states[self.stands].fingerprints)) if self.states else ()
