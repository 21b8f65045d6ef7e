"""The next action of a run, decided from its events alone. So recovery after a crash is the same as the normal way:
load the events, decide, act (architecture rule 8)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from typing import Literal

from bot.model import Model, Phase, Status
from bot.model.pipeline import PipelineStage
from bot.model.reasons import ExplainedStop, listed, make_reason
from bot.rules.runs.existing_failures import cannot_check
from bot.rules.runs.pipeline import next_index
from bot.rules.runs.proof import ProofStep, falls_short, next_proof_step
from bot.rules.runs.reproduction import asks_for_test
from bot.rules.runs.spec import RunSpec
from bot.rules.runs.state import ENDING, RunState
from bot.rules.runs.tournament import Tournament
from bot.rules.stop import limits as stop


class Begin(Model):
    kind: Literal["begin"] = "begin"


class SetUp(Model):
    kind: Literal["setup"] = "setup"


class Validate(Model):
    """Run stage `index` of the pipeline for attempt `attempt`; attempt 0 is the base, before any change."""

    kind: Literal["validate"] = "validate"
    attempt: int
    index: int


class Prepare(Model):
    kind: Literal["prepare"] = "prepare"


class Reproduce(Model):
    """Ask for a test that fails because of the fault; `attempt` counts these apart from the attempts of the fix."""

    kind: Literal["reproduce"] = "reproduce"
    attempt: int


class Prove(Model):
    """Collect evidence for the change of attempt `attempt`, with which all checks passed, or decide its level."""

    kind: Literal["prove"] = "prove"
    attempt: int
    step: ProofStep


class Implement(Model):
    kind: Literal["implement"] = "implement"
    attempt: int


class Propose(Model):
    """Ask an agent for one of several changes; `agent` is its index among those of the tournament."""

    kind: Literal["propose"] = "propose"
    attempt: int
    candidate: int
    agent: int


class JudgeCandidate(Model):
    """Run the next check of a candidate, or collect evidence for it."""

    kind: Literal["judge_candidate"] = "judge_candidate"
    candidate: int
    action: Validate | Prove


class Choose(Model):
    """Take the best candidate as the attempt's change."""

    kind: Literal["choose"] = "choose"
    attempt: int


class ReviewAction(Model):
    kind: Literal["review"] = "review"


class Package(Model):
    kind: Literal["package"] = "package"


class Finish(Model):
    kind: Literal["finish"] = "finish"
    status: Status
    stop: ExplainedStop | None = None


_InTournament = Propose | JudgeCandidate | Choose
_InAttempt = Implement | Validate | Prove | _InTournament
Action = Begin | SetUp | Prepare | Reproduce | _InAttempt | ReviewAction | Package | Finish


def next_action(spec: RunSpec, state: RunState, now: datetime) -> Action | None:
    """What a run does next; None once it has ended. The same events at the same time always give the same answer."""
    if state.finished is not None:
        return None
    if state.base_sha is None or state.started_at is None:
        return Begin()
    if state.stop is not None:
        short = state.stop.reason in ENDING and falls_short(spec, state)
        return Finish(status=Status.FAILED, stop=proof_required(spec, state) if short else state.stop)
    if state.plan.steps and not state.set_up:
        return SetUp()
    if not any(stage.command is not None for stage in state.stages):
        return Finish(status=Status.FAILED, stop=_no_checks(state.stages))
    if spec.baseline and state.baseline is None:
        return Validate(attempt=0, index=next_index(state.stages, state.steps, fail_fast=False) or 0)
    stuck = cannot_check(spec, state.baseline.steps) if state.baseline is not None else None
    if stuck is not None:
        return Finish(status=Status.FAILED, stop=stuck)
    if spec.pull is not None and not spec.given and state.baseline is not None and state.baseline.passed:
        return Finish(status=Status.SUCCESS)  # nothing of its own fails there any more: there is nothing to fix
    if state.phases.get(Phase.DESIGN) != "completed":
        return Prepare()
    if asks_for_test(spec, state):
        return Reproduce(attempt=state.reproduction.attempts + 1 if state.reproduction else 1)
    if state.passed and (step := next_proof_step(spec, state)) is not None:
        return Prove(attempt=state.attempt, step=step)
    if state.passed and not falls_short(spec, state):
        return _after_green(spec, state)
    if not state.attempt_over:
        if state.implemented:
            return Validate(attempt=state.attempt, index=next_index(state.stages, state.steps) or 0)
        if state.tournament is not None:
            return _in_tournament(spec, state, state.tournament, now)
        return Implement(attempt=state.attempt)
    reason = _stop_reason(spec, state, now)
    return Finish(status=Status.FAILED, stop=reason) if reason else Implement(attempt=state.attempt + 1)


def _in_tournament(spec: RunSpec, state: RunState, tournament: Tournament, now: datetime) -> _InTournament:
    """Candidates are made and judged one after the other. Once the time is up, no more are asked for."""
    present = tournament.present
    if present is not None and present.state is not None:
        step = _judging(spec, present.state)
        if step is not None:
            return JudgeCandidate(candidate=present.number, action=step)
    agent = tournament.next_agent()
    if agent is None or (present is not None and _limit(spec, state, now, only_time=True) is not None):
        return Choose(attempt=state.attempt)
    number = present.number + 1 if present is not None else 1
    return Propose(attempt=state.attempt, candidate=number, agent=agent)


def _judging(spec: RunSpec, state: RunState) -> Validate | Prove | None:
    """The next step with a candidate of that state; None where it can be compared."""
    if not state.attempt_over:
        return Validate(attempt=state.attempt, index=next_index(state.stages, state.steps) or 0)
    if state.passed and (step := next_proof_step(spec, state)) is not None:
        return Prove(attempt=state.attempt, step=step)
    return None


def _after_green(spec: RunSpec, state: RunState) -> Action:
    if spec.workspace is not None:  # its change stays in the tree, for whoever asked to look at and to commit
        return Finish(status=Status.SUCCESS)
    if state.phases.get(Phase.REVIEW) != "completed":
        return ReviewAction()
    if state.phases.get(Phase.PACKAGING) != "completed":
        return Package()
    return Finish(status=Status.SUCCESS)


def _limit(spec: RunSpec, state: RunState, now: datetime, *, only_time: bool = False) -> ExplainedStop | None:
    """The limit that the run has reached, if any."""
    limits = spec.policy.stop
    conditions = stop.StopConditions(
        max_iterations=spec.attempt_limit,
        max_duration_ms=limits.max_duration_ms,
        no_progress_threshold=limits.no_progress_threshold,
    )
    assert state.started_at is not None
    loop = stop.LoopState(
        iterations=state.attempt - sum(made.free for made in state.made),
        started_at=state.started_at,
        no_progress_count=state.no_progress,
        paused_ms=state.idle_ms(now),
    )
    if only_time:
        loop = replace(loop, iterations=0, no_progress_count=0)
    return stop.limit_reached(loop, conditions, now)


def _stop_reason(spec: RunSpec, state: RunState, now: datetime) -> ExplainedStop | None:
    found = _limit(spec, state, now)
    if found is not None and falls_short(spec, state):
        return proof_required(spec, state)
    verdict = state.verdict.stop if state.verdict else None
    # "no progress" several times may have a better name: going in circles, or one error that outlives all
    return verdict if verdict is not None and (found is None or found.reason == "no_progress") else found


def proof_required(spec: RunSpec, state: RunState) -> ExplainedStop:
    """The stop of a run whose change passes, but is not shown as well as the repository demands."""
    assert state.proof is not None
    required = make_reason(f"proof_level.{spec.policy.require_proof}")
    level = make_reason(f"proof_level.{state.proof.level}")
    return ExplainedStop.of("proof_required", make_reason("proof_required", required=required, level=level))


def _no_checks(stages: Sequence[PipelineStage]) -> ExplainedStop:
    looked = (make_reason("looked_for.by", check=stage.name, what=listed(stage.looked_for)) for stage in stages)
    return ExplainedStop.of("no_checks", make_reason("no_checks", looked=tuple(looked)))
