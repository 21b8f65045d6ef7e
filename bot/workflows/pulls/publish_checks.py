"""Publishes a pull request's checks: one check run each at the head, from queued to its verdict.

Only the newest run of a head is published, whichever pull request it is for. Check runs of an earlier run stay as they
are, and none are added for it."""

from __future__ import annotations

from functools import partial

from bot.model import KnownError
from bot.model.pulls import CheckStatus, PullCheckReport
from bot.reports.pulls.check_output import pull_check_output
from bot.rules.excerpts.excerpts import evidence_of
from bot.rules.failures.failure_origin import fixable
from bot.rules.pulls.check_state import PullCheckState, checks_of
from bot.rules.pulls.eligibility import from_fork_name
from bot.store.runs.pull_runs import PullCheckRow
from bot.workflows.context import Context
from bot.workflows.pulls.shared_heads import get_checks, newest_at
from bot.workflows.pushes.push_limits import may_push_more
from bot.workflows.reporting.publisher import CheckRunUpdate, Publication, publish_all, publish_check

_MAX_PATHS = 20
"""Changed files that are looked up in the error history."""
_MAX_ERRORS = 5
"""Known errors of the changed files that a report shows."""


async def publish_pull(context: Context, row: PullCheckRow) -> None:
    """Bring the head's check runs to this version of the run; its comments are for heads that wait, and for fixes."""
    spec = row.spec
    newest = await newest_at(context, spec.repo, spec.number, spec.head_sha)
    newer = newest if newest is not None and newest.id != row.id else None
    if newer is not None and row.status in ("queued", "running"):
        return  # its settle job is enqueued, and the newer run is published
    state = await context.stores.pulls.state(row.id)
    view = await pull_view(context, row, state)
    publications: list[Publication] = [
        partial(_publish_check, context, row, state, view, check)
        for check in view.checks
        if not check.kept_from and (newer is None or not await _is_silent(context, row, newer, check.name))
    ]
    await publish_all(row.id, publications)


async def _is_silent(context: Context, row: PullCheckRow, newer: PullCheckRow, name: str) -> bool:
    """Whether a newer run of the head has that check run and this one has none to complete. GitHub shows the check run
    that was made last."""
    if not any(check.name == name and not check.kept_from for check in await get_checks(context, newer)):
        return False
    target = f"check:{row.spec.head_sha}:{name}:{row.id}"
    return await context.stores.reports.published(row.spec.repo, target) is None


async def _publish_check(
    context: Context, row: PullCheckRow, state: PullCheckState, view: PullCheckReport, check: CheckStatus
) -> None:
    language = context.language(row.spec.policy)
    step = check.step
    evidence = evidence_of(step, _new_tests(check)) if step is not None and not step.passed else ""
    conclusion, output, actions = pull_check_output(view, check, language, evidence=evidence)
    update = CheckRunUpdate(
        name=check.name,
        sha=view.head_sha,
        external_id=row.id,
        page_url=view.page_url,
        status=check.status if conclusion is None else "completed",
        conclusion=conclusion,
        output=output,
        actions=actions,
        started_at=state.started_at,
    )
    await publish_check(context, row.spec.repo, update)


def _new_tests(check: CheckStatus) -> frozenset[str]:
    """The failed tests that are the pull request's own."""
    return frozenset(one.test for one in check.new if one.test)


async def _past(context: Context, row: PullCheckRow, state: PullCheckState) -> tuple[KnownError, ...]:
    """The known errors of the changed files, where a check failed."""
    found: dict[int, KnownError] = {}
    for path in state.changed_paths[:_MAX_PATHS] if any(check.new for check in state.judged.values()) else ():
        for known in await context.stores.history.by_file(path, repo=row.spec.repo.full_name):
            found[known.id] = known
    return tuple(found.values())[:_MAX_ERRORS]


async def pull_view(context: Context, row: PullCheckRow, state: PullCheckState) -> PullCheckReport:
    """The run of checks as its readers see it."""
    spec = row.spec
    checks = checks_of(spec, state)
    may_fix = state.stop is None and not spec.is_merge_group and bool(fixable(checks))
    span = (state.ended_at - state.started_at) if state.started_at and state.ended_at else None
    status = state.finished or ("running" if state.started_at else "queued")
    return PullCheckReport(
        run_id=row.id,
        page_url=context.settings.run_page(row.id),
        repo=spec.repo.full_name,
        github_url=context.settings.github_url.rstrip("/"),
        number=spec.number,
        title=spec.title,
        author=spec.author,
        head_sha=spec.head_sha,
        base_sha=state.base_sha,
        from_fork=from_fork_name(spec.head_repo, spec.repo.full_name),
        status=status,
        checks=checks,
        stop=state.stop,
        past=await _past(context, row, state),
        setup=state.setup,
        sandbox=state.sandbox,
        duration_ms=int(span.total_seconds() * 1000) if span else 0,
        fixable=may_fix and await may_push_more(context, spec.repo, spec.number),
    )
