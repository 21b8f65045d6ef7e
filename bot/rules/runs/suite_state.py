"""The part of a run's state about executed tests: the first execution of each stage, and the refusal of an attempt
because other tests ran after it. The change of such an attempt is undone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from bot.model import ValidationStep
from bot.model.events.runs import AttemptStarted, CheckEnded
from bot.model.pipeline import WhatRan
from bot.model.reasons import Reason
from bot.rules.history.guidance_trial import briefed, on_trial
from bot.rules.runs.changes import distinct_patch_hash
from bot.rules.runs.pipeline import make_validation
from bot.rules.runs.proven_resolutions import FirstSeen, ProvenResolution
from bot.rules.stop import trajectory
from bot.rules.tampering.test_source import is_snapshot, is_test

if TYPE_CHECKING:
    from bot.rules.runs.state import RunState


@dataclass(frozen=True, slots=True)
class SuiteSeen:
    """A stage's first execution that printed its tests: after which attempt (0 is the base), on which tree, whether it
    failed (`red`), and the name of the log with its `SuiteResult`, if any."""

    stage: int
    attempt: int
    red: bool
    snapshot: str
    paths: tuple[str, ...]
    log: str | None


@dataclass(frozen=True, slots=True)
class BeforeAttempt:
    """The state of the run before an attempt, which is restored where that attempt is refused."""

    snapshot: str
    changed_paths: tuple[str, ...]
    notes: tuple[Reason, ...]
    shown: tuple[FirstSeen, ...]
    learned: tuple[ProvenResolution, ...]


def what_ran(stages: Sequence[WhatRan]) -> WhatRan | Literal[""]:
    """The value that holds for all stages together; empty where none ran tests."""
    order: tuple[WhatRan, ...] = ("unnamed", "not_before", "compared")
    return next((what for what in order if what in stages), "")


def attempted(state: RunState, event: AttemptStarted) -> RunState:
    """An attempt began."""
    return replace(
        state,
        attempt=event.iteration,
        attempt_over=False,
        implemented=False,
        tournament=None,
        steps=(),
        what_ran=(),
        guidance=event.guidance,
        briefed=briefed(event),
        on_trial=on_trial(event),
        before=(
            *state.before,
            BeforeAttempt(state.snapshot or "", state.changed_paths, state.notes, state.shown, state.learned),
        ),
    )


def with_suite(state: RunState, event: CheckEnded, stage: int) -> RunState:
    """The state after a stage ran, with its tests where they are the first, and with the result of the comparison."""
    what_ran = (*state.what_ran, event.what_ran) if event.what_ran else state.what_ran
    if event.tests is not None:
        state = replace(state, last_suites={**state.last_suites, stage: event.tests.list})
    if event.step.skipped or any(seen.stage == stage for seen in state.suites):
        return replace(state, what_ran=what_ran)
    seen = SuiteSeen(
        stage=stage,
        attempt=event.iteration,
        red=not event.step.passed,
        snapshot=state.snapshot or "",
        paths=state.changed_paths,
        log=event.tests.list if event.tests else None,
    )
    return replace(state, what_ran=what_ran, suites=(*state.suites, seen))


def state_to_restore(state: RunState) -> BeforeAttempt:
    """The state to restore once the current change is refused: before this attempt, or before the first one if the
    change touches no tests, as an earlier attempt has lost the tests then."""
    if any(is_test(path) or is_snapshot(path) for path in state.made[-1].paths):
        return state.before[-1]
    return state.before[0]


def refused(state: RunState, event: CheckEnded, steps: tuple[ValidationStep, ...]) -> RunState:
    """The state after checks that passed without the tests that ran before: the change is undone and the attempt
    counts."""
    assert event.refused is not None
    because, before = event.refused, state_to_restore(state)
    own, made = before is state.before[-1], replace(state.made[-1], refusal=because)
    last = state.states[state.stands] if state.states else None
    now = trajectory.TrajectoryState(
        snapshot=state.snapshot or "",
        stage=min(last.stage, len(steps) - 1) if last else len(steps) - 1,
        fingerprints=last.fingerprints if last else frozenset(),
        patch_hash=distinct_patch_hash(state.made) if own else "",
        passed=False,
        places=last.places if last else 0,
        counts=not made.free,
    )
    states = (*state.states, now)
    return replace(
        state,
        steps=(),
        what_ran=(),
        states=states,
        iterations=(*state.iterations, event.iteration),
        stands=trajectory.latest_index(states, before.snapshot),
        verdict=trajectory.judge_attempt(states),
        validations=(*state.validations, make_validation(steps, refused=True)),
        # a change that lost no tests may be tried again, on its own
        made=(*state.made[:-1], replace(made, undone=own, patch_hash=made.patch_hash if own else "")),
        rejections=(*state.rejections, because),
        attempt_over=True,
        no_progress=state.no_progress + (not made.free),
        snapshot=before.snapshot,
        changed_paths=before.changed_paths,
        notes=before.notes,
        shown=before.shown,
        learned=before.learned,
    )
