"""The way of a run through its states: whether the last attempt moved it, which state was best, and when going on is
no use. It compares sets of errors and the stage reached; counts and lengths mislead (REQ-STOP-006)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from bot.model.reasons import ExplainedStop
from bot.rules.reasons import make_reason

__all__ = ["SURVIVED", "WINDOW", "TrajectoryState", "Verdict", "judge_attempt", "last_of"]

WINDOW = 6
"""States before the last one in which a tree or a set of errors is looked for that has come back."""
SURVIVED = 3
"""Attempts that one error may outlive while nothing is won beside it."""

_SHOWN = 160

_Open = Mapping[int, frozenset[str]]
"""Stage to the errors it showed when last it ran; a stage that is hidden by an earlier one keeps what it showed."""


@dataclass(frozen=True, slots=True)
class TrajectoryState:
    """Where a run stood after one validation: state 0 may be the base before any change, then one for each attempt."""

    snapshot: str
    """The git tree id."""
    stage: int
    """The index of the stage that failed; the number of stages where all passed."""
    fingerprints: frozenset[str]
    """Of the failed stage's output (`rules.failures.errors.fingerprints`); empty where all passed or nothing was
    named."""
    patch_hash: str
    """Of the attempt's own change; empty for the base, or where nothing was changed."""
    passed: bool
    flaky: bool = False
    """A stage passed only when it was run again."""
    timed_out: bool = False
    """The failed stage did not come to its end, so what it didn't show may be there all the same."""
    places: int = 0
    """Findings of the failed stage that have a place (its annotations): one error in 30 lines is one fingerprint."""
    counts: bool = True
    """False after a turn that costs no attempt: no error is blamed for outliving it, and it leads into no circle."""

    @property
    def tells(self) -> bool:
        """Whether its fingerprints are the whole of what the failed stage has to say."""
        return not self.passed and not self.timed_out and bool(self.fingerprints)


@dataclass(frozen=True, slots=True)
class Verdict:
    """What is to be thought of the last state."""

    moved: bool
    stop: ExplainedStop | None
    best: int
    """The index of the best state so far; of two that nothing tells apart, the earlier."""
    fixed: tuple[str, ...]
    remaining: tuple[str, ...]
    introduced: tuple[str, ...]


def last_of(states: Sequence[TrajectoryState], snapshot: str) -> int:
    """The index of the latest of these states that has this tree; -1 where none has."""
    return max((at for at, state in enumerate(states) if state.snapshot == snapshot), default=-1)


def judge_attempt(
    states: Sequence[TrajectoryState], text_moved: bool = False, printed: Mapping[str, str] | None = None
) -> Verdict:
    """The verdict on the last of the states so far. Raises ValueError where there are none.

    *moved*, by the first that speaks: all passed; the same tree is no movement; an earlier stage failing is none; a
    later stage than any so far is one, with more errors too; in the same stage, an error gone is one, also where others
    took its place (they were hidden behind it), and so are the same errors in fewer places. Ground that was lost and is
    won back is not counted twice: errors that an earlier stage hides stay open. What goes away by luck (a flaky pass,
    the same tree) or by silence (a time-out, a log that names no error) is not fixed. Where a failed stage names no
    error, sets say nothing: `text_moved`, which is the caller's `made_progress` of the last two outputs, decides. The
    first state counts as moved.

    *stop*, never on a pass, by the first that holds. `same_patch`: the last change was made before. `oscillation`: a
    tree, or one stage's set of errors, is back from within the last WINDOW states after it had been left; being in the
    same state twice running is no progress and no oscillation, and errors that were only hidden had not been left.
    `stuck_error`: an error was there before and after each of the last SURVIVED attempts whose outcome could tell, and
    none of these won anything: fixed more errors than it brought, or left it in fewer places. So a slow grind (many
    errors, some fixed each time while one outlives them all) goes on, and swapping the errors beside it does not.
    `printed` has errors in the tool's own words, for the sentences.
    What has not to do with the way itself (attempts, time, no movement several times) is for `rules.stop.limits`."""
    if not states:
        raise ValueError("judge needs at least one state")
    errors: _Open = {}
    before: _Open = {}
    for at, state in enumerate(states):
        before, errors = errors, _update(errors, state, at > 0 and states[at - 1].snapshot == state.snapshot)
    old, new = _all(before), _all(errors)
    moved = _moved(states, before, text_moved)
    stop = _stop(states, printed or {})
    return Verdict(
        moved=moved and stop is None,
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
    if not state.tells or same_tree:
        shown |= errors.get(state.stage, frozenset())
    return {**kept, state.stage: shown}


def _all(errors: _Open) -> frozenset[str]:
    return frozenset[str]().union(*errors.values())


def _moved(states: Sequence[TrajectoryState], errors: _Open, text_moved: bool) -> bool:
    """Whether the last state is a step forward from those before it, whose open errors are given."""
    now = states[-1]
    if len(states) == 1:
        return True
    before = states[-2]
    if now.passed:
        # what passes on a tree that failed before, or only when it is run again, is luck and no fix
        return not now.flaky and not any(one.snapshot == now.snapshot and not one.passed for one in states[:-1])
    if now.snapshot == before.snapshot or before.passed or now.stage < before.stage:
        return False
    if now.stage > before.stage and now.flaky:
        return False
    if now.stage not in errors:
        # where a later stage had been reached before, the ground lost is not won back yet
        return all(stage <= now.stage for stage in errors)
    return _moved_by_sets(states, errors[now.stage], text_moved)


def _moved_by_sets(states: Sequence[TrajectoryState], known: frozenset[str], text_moved: bool) -> bool:
    """Compares the last state with what its stage showed when it last ran."""
    now, earlier = states[-1], [state for state in states[:-1] if state.stage == states[-1].stage]
    if now.timed_out:
        return False  # what it did not show may still be there
    if earlier and all(state.timed_out for state in earlier):
        return True
    if not known or not now.fingerprints:
        return text_moved
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
        # a turn that costs no attempt is undone where it was no use, and undoing it is no circle
        then, between = states[last - back], [state for state in states[last - back + 1 : last] if state.counts]
        if then.snapshot == now.snapshot and any(state.snapshot != now.snapshot for state in between):
            return _circle(0, last - back, last)
        if now.tells and _same_errors(then, now) and any(_left(state, now) for state in between):
            return _circle(len(now.fingerprints), last - back, last)
    return None


def _circle(errors: int, then: int, now: int) -> ExplainedStop:
    """That this many errors came back; 0 for the tree itself."""
    if errors > 1:
        return ExplainedStop.of("oscillation", make_reason("oscillation.errors", count=errors, then=then, now=now))
    return ExplainedStop.of(
        "oscillation", make_reason(f"oscillation.{'error' if errors else 'tree'}", then=then, now=now)
    )


def _same_errors(one: TrajectoryState, other: TrajectoryState) -> bool:
    """Whether the two show the same errors, and as often."""
    alike = one.stage == other.stage and one.fingerprints == other.fingerprints
    return one.tells and alike and one.places == other.places


def _thinned(before: TrajectoryState, now: TrajectoryState) -> bool:
    """Whether the same errors show in fewer places: one message often stands for many lines to fix."""
    return before.tells and before.fingerprints == now.fingerprints and 0 < now.places < before.places


def _left(state: TrajectoryState, home: TrajectoryState) -> bool:
    """Whether the state shows that the home's errors were gone for a while: one that hides them shows nothing."""
    if state.passed or state.stage > home.stage:
        return True
    return state.stage == home.stage and state.tells and not _same_errors(state, home)


def _stuck(states: Sequence[TrajectoryState], printed: Mapping[str, str]) -> ExplainedStop | None:
    now = states[-1]
    if not (now.tells and now.counts):
        return None
    # only the outcomes that would have shown the error: not those of an earlier stage, nor silent ones
    counting = [state for state in states if state.counts]
    telling = [state for state in counting if state.stage > now.stage or (state.stage == now.stage and state.tells)]
    run = telling[-SURVIVED - 1 :]
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
    if not (now.tells and best.tells):
        return False
    gone, new = best.fingerprints - now.fingerprints, now.fingerprints - best.fingerprints
    if not gone and not new:
        return _thinned(best, now)
    # all replaced: they were hidden. Some stayed: the check had seen past them, so what is new counts against it
    hidden = not best.fingerprints & now.fingerprints
    return bool(gone) and (hidden or len(new) < len(gone))
