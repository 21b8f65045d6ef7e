"""Records the verdict on each failure with the error history, and learns from a check that passes again."""

from __future__ import annotations

from bot.model.events.pull_checks import PullCheckJudged
from bot.model.pulls import CheckStatus, Failure
from bot.model.reasons import Reason
from bot.rules.pulls.check_execution import CheckExecution
from bot.rules.pulls.check_state import PullCheckState
from bot.store.database.database import now_ms
from bot.store.history.outcomes import CheckOutcome
from bot.store.runs.pull_runs import PullCheckRow
from bot.workflows.context import Context
from bot.workflows.history.learn_from_people import learn_from_push

_MAX_ERRORS = 5
"""Errors of one check that are looked up in the error history."""


async def judge_check(context: Context, row: PullCheckRow, state: PullCheckState, index: int) -> None:
    """Record the verdict on one executed check and its outcome, and learn where it passes after it had failed. Nothing
    is learned from a broken setup."""
    ran, outcomes = state.ran[index], context.stores.outcomes
    broken = ran.has_failures and ran.runs.has_broken_setup
    outcome = outcome_of(row, state, index)
    if not broken:
        await outcomes.record(outcome)
    if outcome.outcome == "passed" and not row.spec.is_merge_group:
        await learn_from_push(context, row, state, index)
    check = CheckStatus(
        name=state.stages[index].name,
        status="completed",
        step=ran.step.model_copy(update={"flaky": ran.flaky}),
        failures=await _with_history(context, row, ran.failures),
        because=ran.runs.base_because,
        unmeasured=_unmeasured(ran),
        broken_setup=ran.runs.tests if broken else None,
        rate=await outcomes.rate(outcome.repo, outcome.stage) if outcome.outcome == "flaky" else None,
    )
    await context.stores.pulls.append(row.id, [PullCheckJudged(index=index, check=check)])


def _unmeasured(ran: CheckExecution) -> Reason | None:
    """Why it is unknown whether failing tests execute a changed line, where that would change a verdict."""
    open_verdicts = ("new", "new_flaky", "unsure")
    return ran.unmeasured if any(one.verdict in open_verdicts and not one.touched for one in ran.failures) else None


def outcome_of(row: PullCheckRow, state: PullCheckState, index: int) -> CheckOutcome:
    """The outcome of an executed check, with its new errors."""
    ran = state.ran[index]
    return CheckOutcome(
        repo=row.spec.repo.full_name,
        number=None if row.spec.is_merge_group else row.spec.number,
        stage=state.stages[index].name,
        sha=row.spec.head_sha,
        run_id=row.id,
        outcome="flaky" if ran.flaky else "passed" if ran.step.passed else "failed",
        errors=tuple(one.error for one in ran.failures if one.verdict == "new" and one.error),
        at_ms=now_ms(),
    )


async def _with_history(context: Context, row: PullCheckRow, failures: tuple[Failure, ...]) -> tuple[Failure, ...]:
    """The failures with how often each was seen here and how it was resolved before. An error that occurs in most
    failures identifies none of them, and stays without."""
    repo, outcomes = row.spec.repo.full_name, context.stores.outcomes
    errors = [one.error for one in failures if one.error]
    generic = await outcomes.generic(repo, errors)
    specific = [error for error in errors if error not in generic]
    seen = await outcomes.seen(repo, specific)
    found = await context.stores.history.by_errors(specific, repo=repo, limit=_MAX_ERRORS) if specific else ()
    known = {one.error: one for one in found if one.exact}
    return tuple(
        one.model_copy(update={"seen": seen.get(one.error), "known": known.get(one.error)})
        if one.error in specific
        else one
        for one in failures
    )
