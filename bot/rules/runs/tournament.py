"""The state of an attempt that asks for several changes (candidates), and the order in which they are compared.

Each candidate has a state of its own: the run's, with what happened to the candidate. The winner's events are written
again as those of the attempt, so that everything after it is as with one change."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal, assert_never

from bot.model.agents import Usage
from bot.model.candidates import CandidateResult
from bot.model.events.run_event import CandidateEvent, RunEvent
from bot.model.events.runs import ChangesApplied
from bot.model.events.tournament import CandidateChosen, CandidateFailed, CandidatesWanted
from bot.model.reasons import Reason
from bot.rules.stop.trajectory import judge_attempt

if TYPE_CHECKING:
    from bot.rules.runs.state import RunState

_LEVELS = ("proven", "covered", "unproven", None)
_RESULTS = ("passed", "failed", "refused")


@dataclass(frozen=True, slots=True)
class Candidate:
    """One change that an agent was asked for: its `state` with the `events` that made it, or why there is none."""

    number: int
    failure: CandidateFailed | None = None
    state: RunState | None = None
    events: tuple[RunEvent, ...] = ()

    @property
    def change(self) -> ChangesApplied | None:
        return next((event for event in self.events if isinstance(event, ChangesApplied)), None)

    @property
    def usage(self) -> Usage | None:
        if self.failure is not None:
            return self.failure.usage
        return self.change.usage if self.change is not None else None

    @property
    def offered_nothing(self) -> bool:
        """Whether the agent has no answer at all; a refused or a repeated change is one."""
        failed = self.failure
        return failed is not None and not failed.refused and not failed.repeated and failed.same_as is None


@dataclass(frozen=True, slots=True)
class Tournament:
    """The candidates of the attempt under way, in the order in which they were asked for."""

    wanted: int
    agents: tuple[str, ...]
    reasons: tuple[Reason, ...] = ()
    """Why the agents that cost no attempt have no change."""
    candidates: tuple[Candidate, ...] = ()

    @property
    def present(self) -> Candidate | None:
        """The latest candidate."""
        return self.candidates[-1] if self.candidates else None

    @property
    def usage(self) -> Usage | None:
        """The usage of all candidates; None where no program counts it."""
        known = [each.usage for each in self.candidates if each.usage is not None]
        return sum(known[1:], known[0]) if known else None

    def next_agent(self) -> int | None:
        """The index of the agent that is asked for the next candidate; None where no more is asked for.

        The agents take turns. One without an answer is not asked again in the attempt."""
        if len(self.candidates) >= self.wanted:
            return None
        turns, silent = [0] * len(self.agents), set[int]()

        def choose() -> int | None:
            left = [index for index in range(len(turns)) if index not in silent]
            return min(left, key=lambda index: turns[index], default=None)

        for candidate in self.candidates:
            chosen = choose()
            if chosen is None:
                return None
            turns[chosen] += 1
            if candidate.offered_nothing:
                silent.add(chosen)
        return choose()

    def same_as(self, snapshot: str) -> int | None:
        """The number of the candidate whose change leads to this very tree."""
        made = (each for each in self.candidates if each.change is not None and each.change.snapshot == snapshot)
        return next((each.number for each in made), None)

    def winner(self) -> Candidate | None:
        """The best candidate; None where no agent made a change that could be checked.

        The checks decide first: a pass, then the stage that was reached, then few open and few introduced errors. The
        level of proof comes next, then the number of changed lines, then the order."""
        return min((each for each in self.candidates if each.state is not None), key=_rank, default=None)

    def results(self) -> tuple[CandidateResult, ...]:
        """What came of each candidate."""
        return tuple(map(_result, self.candidates))


Fold = Callable[["RunState", RunEvent], "RunState"]


def with_candidates(
    state: RunState, event: CandidatesWanted | CandidateFailed | CandidateEvent | CandidateChosen, fold: Fold
) -> RunState:
    """The state after such an event; `fold` is that of all events, for those of a candidate."""
    match event:
        case CandidatesWanted():
            return replace(state, tournament=Tournament(event.wanted, event.agents, event.reasons))
        case CandidateFailed():
            return _with(state, Candidate(event.candidate, failure=event))
        case CandidateEvent():
            return _with_candidate_event(state, event, fold)
        case CandidateChosen():
            return replace(state, tournaments={**state.tournaments, event.iteration: event})
        case _:
            assert_never(event)


def _with_candidate_event(state: RunState, event: CandidateEvent, fold: Fold) -> RunState:
    tournament = state.tournament
    assert tournament is not None
    known = next((each for each in tournament.candidates if each.number == event.candidate), None)
    own = known.state if known is not None else None
    if known is None or own is None:
        known = Candidate(event.candidate)
        own = replace(state, candidate=event.candidate, tournament=None)
    return _with(state, replace(known, state=fold(own, event.event), events=(*known.events, event.event)))


def _with(state: RunState, candidate: Candidate) -> RunState:
    tournament = state.tournament
    assert tournament is not None
    others = tuple(each for each in tournament.candidates if each.number != candidate.number)
    return replace(state, tournament=replace(tournament, candidates=(*others, candidate)))


def _outcome(state: RunState, change: ChangesApplied) -> Literal["passed", "failed", "refused"]:
    """How the checks of a candidate ended; the tree of a refused one is restored."""
    if state.snapshot != change.snapshot:
        return "refused"
    return "passed" if state.passed else "failed"


def _rank(candidate: Candidate) -> tuple[int | bool, ...]:
    """The smaller, the better."""
    state, change = candidate.state, candidate.change
    assert state is not None and change is not None
    outcome, now = _outcome(state, change), state.states[-1] if state.states else None
    fixed, remaining, introduced = _errors(state)
    return (
        _RESULTS.index(outcome),
        now.flaky if now else False,
        -now.stage if now else 0,
        outcome != "passed" and not (remaining or introduced),  # a check that names no error may hide many
        len(remaining) + len(introduced),
        len(introduced),
        -len(fixed),
        _LEVELS.index(state.proof.level if state.proof else None),
        change.lines or 0,
        candidate.number,
    )


def _errors(state: RunState) -> tuple[Sequence[str], Sequence[str], Sequence[str]]:
    """The errors that are fixed, remain and are introduced by a candidate."""
    verdict = judge_attempt(state.states) if state.states else None
    return (verdict.fixed, verdict.remaining, verdict.introduced) if verdict else ((), (), ())


def _result(candidate: Candidate) -> CandidateResult:
    failure, state, change = candidate.failure, candidate.state, candidate.change
    if failure is not None:
        return CandidateResult(
            candidate=candidate.number,
            agent=failure.agent,
            result="none" if failure.same_as is None else "same",
            same_as=failure.same_as,
            usage=failure.usage,
            why=failure.reason,
        )
    assert state is not None and change is not None
    fixed, remaining, introduced = map(len, _errors(state))
    outcome = _outcome(state, change)
    return CandidateResult(
        candidate=candidate.number,
        agent=change.agent,
        result=outcome,
        fixed=fixed,
        remaining=remaining,
        introduced=introduced,
        proof=state.proof.level if state.proof else None,
        lines=change.lines,
        usage=change.usage,
        ref=change.ref,
        diff=change.diff,
        why=state.rejections[-1] if outcome == "refused" and state.rejections else None,
    )
