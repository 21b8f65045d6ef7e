"""Judges the states of a run: whether the last attempt made progress, which state was best, and when to give up.
It compares sets of errors and the stage reached; counts and lengths mislead (REQ-STOP-006)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from bot.model.reasons import ExplainedStop
from bot.rules.reasons import make_reason

WINDOW = 6
"""The number of previous states in which a repeated tree or set of errors is looked for."""
SURVIVED = 3
"""The number of attempts that an error may survive without any other progress."""

_SHOWN = 160

_Open = Mapping[int, frozenset[str]]
"""The errors of each stage when it last ran; a stage behind a failed one keeps its errors."""


@dataclass(frozen=True, slots=True)
class TrajectoryState:
    """The state of a run after one validation: state 0 may be the base before any change, then one for each attempt."""

    snapshot: str
    """The git tree id."""
    stage: int
    """The index of the stage that failed; the number of stages where all passed."""
    fingerprints: frozenset[str]
    """The errors of the failed stage's output (`rules.failures.errors.fingerprints`); empty where all passed, or where
    the output names no error."""
    patch_hash: str
    """The hash of the attempt's own change; empty for the base, or where nothing was changed."""
    passed: bool
    flaky: bool = False
    """A stage passed only when it was run again."""
    timed_out: bool = False
    """The failed stage was stopped before its end, so its output may lack errors."""
    places: int = 0
    """The number of findings of the failed stage with a place (its annotations): one error in 30 lines is one
    fingerprint."""
    counts: bool = True
    """False after a turn that costs no attempt: it counts neither for stuck errors nor for oscillation."""

    @property
    def names_errors(self) -> bool:
        """Whether its fingerprints are all errors of the failed stage."""
        return not self.passed and not self.timed_out and bool(self.fingerprints)


@dataclass(frozen=True, slots=True)
class Verdict:
    """The verdict on the last state."""

    progressed: bool
    stop: ExplainedStop | None
    best: int
    """The index of the best state so far; of two equal ones, the earlier."""
    fixed: tuple[str, ...]
    remaining: tuple[str, ...]
    introduced: tuple[str, ...]


def latest_index(states: Sequence[TrajectoryState], snapshot: str) -> int:
    """The index of the latest of these states that has this tree; -1 where none has."""
    return max((at for at, state in enumerate(states) if state.snapshot == snapshot), default=-1)


def judge_attempt(
    states: Sequence[TrajectoryState], text_progressed: bool = False, printed: Mapping[str, str] | None = None
) -> Verdict:
    """The verdict on the last of the states so far. Raises ValueError where there are none.

    `progressed`, by the first rule that applies:
    - All checks passed: progress. The same tree: none. An earlier stage failed: none.
    - A later stage than any before was reached: progress, also with more errors.
    - In the same stage, an error is gone: progress, also with new errors, which it may have hidden. So are the same
      errors in fewer places.
    - A failed stage that names no error is judged by `text_progressed`: `made_progress` of the last two outputs.
    - The first state counts as progress.
    Errors that an earlier stage hides stay open, so no progress counts twice. An error is not fixed by a flaky pass,
    by the same tree, by a timeout, or by a log that names no error.

    `stop`, never after a pass, is the first that holds:
    - `same_patch`: the last change was made before.
    - `oscillation`: a tree, or a stage's set of errors, of the last WINDOW states is back after another one. Equal
      neighbours are no oscillation, and neither are errors that were only hidden.
    - `stuck_error`: an error survived the last SURVIVED attempts that could show it, and none of these made progress:
      none fixed more errors than it introduced, or left the error in fewer places.
    `printed` has the errors in the tool's own words, for the reasons. Attempts, time and repeated lack of progress are
    limits of `rules.stop.limits`."""
    if not states:
        raise ValueError("a verdict needs at least one state")
    errors: _Open = {}
    before: _Open = {}
    for at, state in enumerate(states):
        before, errors = errors, _update(errors, state, at > 0 and states[at - 1].snapshot == state.snapshot)
    old, new = _all(before), _all(errors)
    progressed = _progressed(states, before, text_progressed)
    stop = _stop(states, printed or {})
    return Verdict(
        progressed=progressed and stop is None,
        stop=stop,
        best=_best(states),
        fixed=tuple(sorted(old - new)),
        remaining=tuple(sorted(old & new)) if len(states) > 1 else tuple(sorted(new)),
        introduced=tuple(sorted(new - old)) if len(states) > 1 else (),
    )


def _update(errors: _Open, state: TrajectoryState, same_tree: bool) -> _Open:
    """The errors that are open after the state, by stage."""
    if state.passed:
        return errors if state.flaky or same_tree else {}
    kept = {stage: known for stage, known in errors.items() if stage > state.stage or (state.flaky or same_tree)}
    shown = state.fingerprints
    if not state.names_errors or same_tree:
        shown |= errors.get(state.stage, frozenset())
    return {**kept, state.stage: shown}


def _all(errors: _Open) -> frozenset[str]:
    return frozenset[str]().union(*errors.values())


def _progressed(states: Sequence[TrajectoryState], errors: _Open, text_progressed: bool) -> bool:
    """Whether the last state is progress over the previous ones, with their open `errors`."""
    now = states[-1]
    if len(states) == 1:
        return True
    before = states[-2]
    if now.passed:
        # a pass on a tree that failed before, or only on a rerun, is flaky and no fix
        return not now.flaky and not any(one.snapshot == now.snapshot and not one.passed for one in states[:-1])
    if now.snapshot == before.snapshot or before.passed or now.stage < before.stage:
        return False
    if now.stage > before.stage and now.flaky:
        return False
    if now.stage not in errors:
        # where a later stage had been reached before, the run is not back there yet
        return all(stage <= now.stage for stage in errors)
    return _progressed_by_sets(states, errors[now.stage], text_progressed)


def _progressed_by_sets(states: Sequence[TrajectoryState], known: frozenset[str], text_progressed: bool) -> bool:
    """Compares the last state with the errors of its stage when it last ran."""
    now, earlier = states[-1], [state for state in states[:-1] if state.stage == states[-1].stage]
    if now.timed_out:
        return False  # errors that it did not show may still be there
    if earlier and all(state.timed_out for state in earlier):
        return True
    if not known or not now.fingerprints:
        return text_progressed
    if known - now.fingerprints:
        return True
    last = next((state for state in reversed(earlier) if state.fingerprints == now.fingerprints), None)
    return now.fingerprints <= known and last is not None and _thinned(last, now)


def _stop(states: Sequence[TrajectoryState], printed: Mapping[str, str]) -> ExplainedStop | None:
    if states[-1].passed:
        return None
    now = states[-1]
    for index, state in enumerate(states[:-1]):
        if now.patch_hash and state.patch_hash == now.patch_hash:
            return ExplainedStop.of("same_patch", make_reason("same_patch", now=len(states) - 1, then=index))
    return _oscillation(states) or _stuck(states, printed)


def _oscillation(states: Sequence[TrajectoryState]) -> ExplainedStop | None:
    now, last = states[-1], len(states) - 1
    for back in range(2, min(WINDOW, last) + 1):
        # a turn that costs no attempt is undone where it did not help, and undoing it is no oscillation
        then, between = states[last - back], [state for state in states[last - back + 1 : last] if state.counts]
        if then.snapshot == now.snapshot and any(state.snapshot != now.snapshot for state in between):
            return _circle(0, last - back, last)
        if now.names_errors and _same_errors(then, now) and any(_left(state, now) for state in between):
            return _circle(len(now.fingerprints), last - back, last)
    return None


def _circle(errors: int, then: int, now: int) -> ExplainedStop:
    """The stop for this many errors that came back; 0 for the tree itself."""
    if errors > 1:
        return ExplainedStop.of("oscillation", make_reason("oscillation.errors", count=errors, then=then, now=now))
    return ExplainedStop.of(
        "oscillation", make_reason(f"oscillation.{'error' if errors else 'tree'}", then=then, now=now)
    )


def _same_errors(one: TrajectoryState, other: TrajectoryState) -> bool:
    """Whether both show the same errors in the same number of places."""
    alike = one.stage == other.stage and one.fingerprints == other.fingerprints
    return one.names_errors and alike and one.places == other.places


def _thinned(before: TrajectoryState, now: TrajectoryState) -> bool:
    """Whether the same errors are in fewer places: one message often stands for many lines to fix."""
    return before.names_errors and before.fingerprints == now.fingerprints and 0 < now.places < before.places


def _left(state: TrajectoryState, home: TrajectoryState) -> bool:
    """Whether the state shows that the errors of `home` were gone; a state that hides them does not."""
    if state.passed or state.stage > home.stage:
        return True
    return state.stage == home.stage and state.names_errors and not _same_errors(state, home)


def _stuck(states: Sequence[TrajectoryState], printed: Mapping[str, str]) -> ExplainedStop | None:
    now = states[-1]
    if not (now.names_errors and now.counts):
        return None
    # only the outcomes that would have shown the error: none of an earlier stage, none without errors
    counting = [state for state in states if state.counts]
    conclusive = [
        state for state in counting if state.stage > now.stage or (state.stage == now.stage and state.names_errors)
    ]
    run = conclusive[-SURVIVED - 1 :]
    if len(run) <= SURVIVED or any(state.stage != now.stage for state in run):
        return None
    survivors = sorted(frozenset.intersection(*(state.fingerprints for state in run)))
    if not survivors or any(_won(before, after) for before, after in pairwise(run)):
        return None
    words = printed.get(survivors[0], survivors[0])
    shown = words if len(words) <= _SHOWN else words[: _SHOWN - 1] + "…"
    if len(survivors) == 1:
        return ExplainedStop.of("stuck_error", make_reason("stuck_error", count=SURVIVED, error=shown))
    more = len(survivors) - 1
    return ExplainedStop.of("stuck_error", make_reason("stuck_error.more", count=SURVIVED, error=shown, more=more))


def _won(before: TrajectoryState, after: TrajectoryState) -> bool:
    fixed, brought = before.fingerprints - after.fingerprints, after.fingerprints - before.fingerprints
    return len(fixed) > len(brought) or _thinned(before, after)


def _best(states: Sequence[TrajectoryState]) -> int:
    best = 0
    for index, state in enumerate(states):
        if _better(states[best], state) and not any(_same_errors(earlier, state) for earlier in states[:index]):
            best = index
    return best


def _better(best: TrajectoryState, now: TrajectoryState) -> bool:
    if now.passed or best.passed:
        return now.passed and (not best.passed or (best.flaky and not now.flaky))
    if now.snapshot == best.snapshot:
        return False
    if now.stage != best.stage:
        return now.stage > best.stage
    if now.timed_out != best.timed_out:
        return best.timed_out
    if not (now.names_errors and best.names_errors):
        return False
    gone, new = best.fingerprints - now.fingerprints, now.fingerprints - best.fingerprints
    if not gone and not new:
        return _thinned(best, now)
    # all replaced: they were hidden. Some stayed: the check had seen past them, so what is new counts against it
    hidden = not best.fingerprints & now.fingerprints
    return bool(gone) and (hidden or len(new) < len(gone))
