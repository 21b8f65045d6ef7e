"""The state of a run: a fold over its events, and nothing else remembers (architecture rule 8). So whoever loads the
events knows all that the process knew that wrote them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from bot.model import (
    Conflict,
    KnownError,
    Phase,
    PullRequestRef,
    SetupDone,
    SetupPlan,
    Status,
    Validation,
    ValidationStep,
)
from bot.model.pipeline import ExistingErrors, PipelineStage, WhatRan
from bot.model.reasons import ExplainedStop, Reason
from bot.model.report_views import Loss
from bot.rules.runs.changes import AttemptChange, tried
from bot.rules.runs.executed_tests import BeforeAttempt, SuiteSeen
from bot.rules.runs.proven_resolutions import FirstSeen, ProvenResolution
from bot.rules.stop import trajectory

NOTHING_OFFERED = "nothing_to_offer"
SAME_PATCH = "same_patch"


@dataclass(frozen=True, slots=True)
class RunState:
    """A run as its events tell it."""

    started_at: datetime | None = None
    base_sha: str | None = None
    branch: str | None = None
    sandbox: str = ""
    stages: tuple[PipelineStage, ...] = ()
    plan: SetupPlan = field(default_factory=SetupPlan)
    """How the tree is set up."""
    set_up: bool = False
    setup: tuple[SetupDone, ...] = ()
    """The steps of the setup that has ended."""
    steps: tuple[ValidationStep, ...] = ()
    """Of the validation under way; empty between two."""
    left: Mapping[int, ExistingErrors] = field(default_factory=dict)
    """What fails on the base and is left alone, as the task does not name it, by stage."""
    baseline: Validation | None = None
    suites: tuple[SuiteSeen, ...] = ()
    """For each stage that named or counted tests, its first execution: what later ones are compared with."""
    what_ran: tuple[WhatRan, ...] = ()
    """How the current attempt's tests compare with those, for each stage that runs tests."""
    attempt: int = 0
    implemented: bool = False
    """The current attempt's change is in the tree, so its validation may run."""
    attempt_over: bool = True
    validations: tuple[Validation, ...] = ()
    states: tuple[trajectory.TrajectoryState, ...] = ()
    """The base, where it was checked, then each validated attempt."""
    iterations: tuple[int, ...] = ()  # which attempt each of them is; 0 for the base
    stands: int = -1
    """The one of them that the tree shows now: the last, unless that one's change was dropped."""
    verdict: trajectory.Verdict | None = None
    """What is to be thought of the last of them."""
    last_output: str | None = None
    no_progress: int = 0
    start: str | None = None
    """The tree before the first attempt: the base and what set-up left, which is no part of the change."""
    snapshot: str | None = None
    focus: tuple[str, ...] = ()
    """The repository's files that the task names."""
    changed_paths: tuple[str, ...] = ()
    made: tuple[AttemptChange, ...] = ()
    troubles: tuple[Reason, ...] = ()
    """Why changes did not apply."""
    notes: tuple[Reason, ...] = ()
    """What a person should look at in the change."""
    guidance: tuple[KnownError, ...] = ()
    """What the history told before the latest attempt."""
    base_errors: Mapping[int, frozenset[str]] = field(default_factory=dict)
    """The errors of each stage that had a result before any change; a stage that an earlier one hid is not in it."""
    shown: tuple[FirstSeen, ...] = ()
    learned: tuple[ProvenResolution, ...] = ()
    before: tuple[BeforeAttempt, ...] = ()
    stop: ExplainedStop | None = None
    paused_at: datetime | None = None
    paused_ms: int = 0
    """See `idle_ms`; of the stretches that are over. One that is not began at `paused_at`."""
    phases: dict[Phase, str] = field(default_factory=dict)
    current_phase: Phase | None = None
    artifact_refs: dict[Phase, str] = field(default_factory=dict)
    commit_sha: str | None = None
    pull: PullRequestRef | None = None
    offered: str = ""
    """The diff that was offered where nothing could be pushed: the pull request is a fork's."""
    packaged_commit: str | None = None
    """The commit that others are compared with from before it is pushed."""
    conflicts: tuple[Conflict, ...] = ()
    """Other open groups whose change would not merge with this one's."""
    printed: Mapping[str, str] = field(default_factory=dict)
    """The errors that checks showed, by their fingerprints, in the tools' own words."""
    salvage_ref: str | None = None
    unfinished: str = ""
    diff: str | None = None
    """The log that keeps the change of a session in somebody's own tree."""
    loss: Loss | None = None
    finished: Status | None = None
    ended_at: datetime | None = None
    last_event: int = 0

    def idle_ms(self, now: datetime) -> int:
        """How long it stood still, up to `now`, because somebody had paused it."""
        since = self.paused_at
        return self.paused_ms + (max(0, int((now - since).total_seconds() * 1000)) if since else 0)

    @property
    def counted(self) -> int:
        """The attempts that count, with the current one; a turn of `fixers` or `history` does not."""
        return max(min(self.attempt, 1), self.attempt - sum(made.free for made in self.made))

    @property
    def standing(self) -> Validation | None:
        """The validation of the tree as it is now; None where there was none."""
        outcomes = (self.baseline, *self.validations) if self.baseline else self.validations
        return outcomes[self.stands] if outcomes else None

    @property
    def passed(self) -> bool:
        return self.attempt > 0 and self.attempt_over and bool(self.validations) and self.validations[-1].passed

    @property
    def agents(self) -> tuple[str, ...]:
        return tuple(made.agent for made in self.made)

    def tried(self, patch_hash: str) -> bool | None:
        """Whether a change was made before in this run and undone since; None where it was made and stands in the tree
        still, as far as its files tell: then the same lines come and go in another place, which is another change."""
        return tried(self.made, patch_hash)

    @property
    def best_attempt(self) -> int | None:
        """The attempt that came furthest; 0 where none came further than the base, None before any was judged."""
        return self.iterations[self.verdict.best] if self.verdict else None

    @property
    def failing(self) -> tuple[str, ...]:
        """The fingerprints that the tree shows now, sorted; empty where it has not been checked or passes."""
        return tuple(sorted(self.states[self.stands].fingerprints)) if self.states else ()
