"""Starts and stops runs of checks. A run is a row, a job that works on it, and its reports."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256

from bot.config import Policy
from bot.model import Repo
from bot.model.pulls import CheckStatus, PullRequest
from bot.model.reasons import ExplainedStop, Reason
from bot.rules.pulls.check_spec import MERGE_GROUP, PullCheckSpec
from bot.store.runs.pull_runs import PullCheckRow
from bot.workflows.context import Context
from bot.workflows.kernel import enqueue_run, stop_run
from bot.workflows.pulls.loop import PULL_CHECK
from bot.workflows.pulls.shared_heads import get_checks


@dataclass(frozen=True, slots=True)
class CheckRequest:
    """Why a head is checked, whether a person asked for it, and which checks run: all, or those in `only`. The results
    in `kept` stay."""

    because: Reason
    only: Sequence[str] = ()
    kept: Sequence[CheckStatus] = ()
    asked: bool = False


async def start_checks(
    context: Context,
    repo: Repo,
    pull: PullRequest,
    policy: Policy,
    order: CheckRequest,
) -> str | None:
    """Start a run of checks of the pull request's head; returns its id, or None where one is open already."""
    spec = PullCheckSpec(
        repo=repo,
        number=pull.number,
        title=context.mask(pull.title),
        author=pull.author,
        head_sha=pull.head_sha,
        head_ref=pull.head_ref,
        head_repo=pull.head_repo,
        base_ref=pull.base_ref,
        base_sha=pull.base_sha if pull.number == MERGE_GROUP else "",
        policy=policy,
        only=tuple(order.only),
        kept=tuple(order.kept),
        because=order.because,
        asked=order.asked,
    )
    pulls = context.stores.pulls
    generation = await pulls.count_of(repo, pull.number, pull.head_sha) + 1
    digest = sha256(f"{repo.full_name.lower()}#{pull.number}:{pull.head_sha}:{generation}".encode()).hexdigest()
    run_id = f"pull-{digest[:10]}"
    if not await pulls.create(run_id, spec):
        return None
    await enqueue_run(context, PULL_CHECK, run_id, repo.full_name)
    return run_id


async def stop_checks(
    context: Context, repo: Repo, number: int, because: ExplainedStop, *, but: str = "", asked: bool = True
) -> int:
    """Stop the runs of checks of a pull request, except those of the head `but`; unless `asked`, except those that a
    person asked for, too. Returns how many were asked to stop."""
    stopped = 0
    for row in await context.stores.pulls.open_of(repo, number):
        spared = row.spec.head_sha == but or (row.spec.asked and not asked)
        if not spared and await stop_run(context, PULL_CHECK, row, because):
            stopped += 1
    return stopped


async def get_kept_checks(context: Context, row: PullCheckRow, only: Sequence[str]) -> tuple[CheckStatus, ...]:
    """The completed results of an earlier run of the same head, for the checks that are not in `only`."""
    return tuple(
        check if check.kept_from else check.model_copy(update={"kept_from": row.id})
        for check in await get_checks(context, row)
        if check.status == "completed" and check.name not in only and (check.step or check.because or check.looked_for)
    )
