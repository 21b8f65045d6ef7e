"""A commit may be the head of several pull requests, but GitHub shows its check runs at all of them. So one request
owns the head: the one that was checked last, until it is closed or has another head."""

from __future__ import annotations

from bot.errors import Stale
from bot.model import Repo
from bot.model.pulls import CheckStatus
from bot.rules.failures.failure_origin import green
from bot.rules.pulls.check_state import checks_of
from bot.store.runs.pull_runs import PullCheckRow
from bot.workflows.context import Context

_AUTOMATIC = frozenset({"superseded", "withdrawn", "closed", "retargeted"})
"""Reasons for which checks were stopped without anybody asking: such a head may be wanted again."""


def is_withdrawn(row: PullCheckRow) -> bool:
    """Whether these checks were stopped, but not by a person: the head may need checks again."""
    return row.cancel_because is not None and row.cancel_because.reason in _AUTOMATIC


async def owning_pull_request(context: Context, repo: Repo, number: int, sha: str) -> int:
    """The request that owns a head which `number` has or had: the open one with the newest valid checks, else this one,
    else any other that is open. Where no other ever had that head, it costs no request."""
    others = [other for other in await context.stores.approvals.pulls_of(repo, sha) if other != number]
    if not others:
        return number
    checked = [row.spec.number for row in await _rows(context, repo, number, sha) if not is_withdrawn(row)]
    for one in dict.fromkeys([*checked, number, *others]):
        if await _is_head(context, repo, one, sha):
            return one
    return number


async def checks_at(context: Context, repo: Repo, number: int, sha: str) -> PullCheckRow | None:
    """The newest checks of that head that were not withdrawn, of any request; without any, this request's newest."""
    valid = [row for row in await _rows(context, repo, number, sha) if not is_withdrawn(row)]
    return valid[0] if valid else await context.stores.pulls.latest_of(repo, number, sha)


async def newest_at(context: Context, repo: Repo, number: int, sha: str) -> PullCheckRow | None:
    """The newest checks of that head, whatever their result."""
    return next(iter(await _rows(context, repo, number, sha)), None)


async def get_checks(context: Context, row: PullCheckRow) -> tuple[CheckStatus, ...]:
    """The checks of a run with their results so far."""
    return checks_of(row.spec, await context.stores.pulls.state(row.id))


async def not_green(context: Context, row: PullCheckRow) -> tuple[str, ...]:
    """The names of the checks of a run that have not passed, or not ended."""
    return tuple(check.name for check in await get_checks(context, row) if not green(check))


async def _rows(context: Context, repo: Repo, number: int, sha: str) -> list[PullCheckRow]:
    """The newest run of each request that had that head, the newest first."""
    numbers = {number, *await context.stores.approvals.pulls_of(repo, sha)}
    rows = [await context.stores.pulls.latest_of(repo, one, sha) for one in sorted(numbers)]
    return sorted((row for row in rows if row is not None), key=lambda row: (row.created_at, row.id), reverse=True)


async def _is_head(context: Context, repo: Repo, number: int, sha: str) -> bool:
    try:
        pull = await context.github.repository(repo).pull(number)
    except Stale:
        return False
    return pull.state == "open" and pull.head_sha == sha
