"""Updates a run's state after a check or a validation: its errors, the proven resolutions, the verdict."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING

from bot.model import Validation, ValidationStep
from bot.model.events.runs import CheckEnded
from bot.rules.patches.style_findings import keeps
from bot.rules.runs.changes import AttemptChange, distinct_patch_hash
from bot.rules.runs.pipeline import make_validation
from bot.rules.runs.proven_resolutions import derive_resolutions, note
from bot.rules.stop import output_progress, trajectory

if TYPE_CHECKING:
    from bot.rules.runs.state import RunState


def with_errors(state: RunState, event: CheckEnded, index: int) -> RunState:
    """The state with the errors that the step shows, and with resolutions for those that are gone as it passes."""
    step, snapshot, prints = event.step, state.snapshot, event.fingerprints
    if step.skipped or snapshot is None:
        return state
    if event.iteration == 0 and not step.cut_short and step.could_not_run is None:
        state = replace(state, base_errors={**state.base_errors, index: frozenset(prints)})
    if not step.passed:
        printed = {**state.printed, **event.printed}
        shown = note(state.shown, index, not_made_here(state, index, prints), snapshot)
        return replace(state, printed=printed, shown=shown)
    made = state.made[-1] if state.made and event.iteration else None
    learned, shown = derive_resolutions(state.shown, index, step, snapshot)
    if made is not None:
        learned = tuple(replace(one, attempt=made.attempt, agent=made.agent, tools=made.tools) for one in learned)
    return replace(state, shown=shown, learned=(*state.learned, *learned))


def not_made_here(state: RunState, index: int, fingerprints: Iterable[str]) -> tuple[str, ...]:
    """The errors of a stage without those that the run's own attempts introduced, which no stage showed on the base.
    All errors of a stage that had no result on the base count as the base's."""
    if index not in state.base_errors:
        return tuple(fingerprints)
    on_base = frozenset[str]().union(*state.base_errors.values())
    return tuple(text for text in fingerprints if text in on_base)


def validated(state: RunState, event: CheckEnded, steps: tuple[ValidationStep, ...]) -> RunState:
    """The state after the end of a validation."""
    outcome, standing = make_validation(steps), state.standing
    free = bool(event.iteration and state.made and state.made[-1].free)
    output = "\n".join(step.output for step in steps if not step.skipped)
    at = next((index for index, step in enumerate(steps) if not step.passed), len(steps) - 1)
    # on the base all stages run, and the first that failed is not always the last
    shown = event.fingerprints if at == len(steps) - 1 else _shown(state, at)
    now = _state_of(outcome, at, len(state.stages), snapshot=state.snapshot or "", fingerprints=shown)
    now = replace(now, patch_hash=distinct_patch_hash(state.made) if event.iteration else "", counts=not free)
    states = (*state.states, now)
    moved = state.last_output is not None and output_progress.made_progress(state.last_output, output)
    verdict = trajectory.judge_attempt(states, moved, state.printed)
    state = replace(
        state,
        steps=(),
        stands=-1,
        states=states,
        iterations=(*state.iterations, event.iteration),
        verdict=verdict,
        last_output=output,
    )
    if event.iteration == 0:
        return replace(state, baseline=outcome)
    state = replace(state, validations=(*state.validations, outcome), attempt_over=True)
    if not free:
        return replace(state, no_progress=0 if outcome.passed or verdict.progressed else state.no_progress + 1)
    made = state.made[-1]
    won = not made.mechanical and bool(verdict.fixed) and not verdict.introduced
    return state if won or keeps(standing, outcome) else _dropped(state, made)


def _shown(state: RunState, stage: int) -> tuple[str, ...]:
    return tuple(one.fingerprint for one in state.shown if one.stage == stage)


def _dropped(state: RunState, made: AttemptChange) -> RunState:
    """The state with the tree of before that change, as the change did not help."""
    at = trajectory.latest_index(state.states, made.before)
    gone = (*state.made[:-1], replace(made, undone=True))
    return replace(state, snapshot=made.before, changed_paths=made.paths_before, stands=at, made=gone)


def _state_of(
    outcome: Validation, at: int, stages: int, *, snapshot: str, fingerprints: Iterable[str]
) -> trajectory.TrajectoryState:
    """The trajectory's state after a validation of so many stages; `fingerprints` are those of its step `at`, the first
    that failed, else the last."""
    last = outcome.steps[at]
    return trajectory.TrajectoryState(
        snapshot=snapshot,
        stage=stages if outcome.passed else at,
        fingerprints=frozenset() if outcome.passed else frozenset(fingerprints),
        patch_hash="",
        passed=outcome.passed,
        flaky=any(step.flaky for step in outcome.steps),
        timed_out=last.cut_short,
        places=0 if outcome.passed else len(last.annotations),
    )
