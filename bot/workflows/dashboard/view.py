"""Collects what the dashboard of a repository shows from the stores."""

from __future__ import annotations

from bot.model import Repo, Status
from bot.model.commands import Where
from bot.model.dashboard import BoxCommand, BoxVerb, DashboardLine, DashboardView, FlakyTest
from bot.rules.pulls.check_spec import MERGE_GROUP
from bot.store.runs.runs import RunRow
from bot.workflows.context import Context

_MAX_FAILURES = 25
_MAX_FLAKY = 25
_SHA_DIGITS = 7


async def dashboard_view(context: Context, repo: Repo) -> DashboardView:
    """The present state. It has no times, so that it is the same as long as nothing happens."""
    return DashboardView(
        queue=(
            *await _open_runs(context, repo),
            *await _open_checks(context, repo),
            *await _waiting(context, repo),
        ),
        failures=await _failures(context, repo),
        flaky=await _flaky(context, repo),
        pauses=await _pauses(context, repo),
    )


async def _flaky(context: Context, repo: Repo) -> tuple[FlakyTest, ...]:
    tests = await context.stores.test_runs.flaky(_MAX_FLAKY, repo=repo.full_name)
    return tuple(
        FlakyTest(check=test.stage, name=test.test, failed=test.runs.failed, runs=test.runs.total) for test in tests
    )


async def _open_runs(context: Context, repo: Repo) -> list[DashboardLine]:
    rows = await context.stores.runs.open_in(repo.full_name)
    return [_line(row, "running" if row.status is Status.RUNNING else "queued", "cancel") for row in rows]


def _line(row: RunRow, key: str, verb: BoxVerb) -> DashboardLine:
    numbers = tuple(issue.number for issue in row.spec.issues)
    pull = row.spec.pull
    where: Where = "issue" if pull is None else "pull"
    numbers = numbers if pull is None else (pull.number,)
    box = BoxCommand(verb=verb, where=where, number=numbers[0]) if numbers else None
    return DashboardLine(key=f"line.{key}", numbers=numbers, detail=row.id, box=box)


async def _open_checks(context: Context, repo: Repo) -> list[DashboardLine]:
    lines = []
    for row in await context.stores.pulls.unfinished():
        if row.spec.repo.full_name != repo.full_name:
            continue
        number, sha = row.spec.number, row.spec.head_sha[:_SHA_DIGITS]
        if number == MERGE_GROUP:
            lines.append(DashboardLine(key="line.merge_queue", numbers=(), detail=sha))
        else:
            box = BoxCommand(verb="cancel", where="pull", number=number)
            lines.append(DashboardLine(key="line.checks", numbers=(number,), detail=sha, box=box))
    return lines


async def _waiting(context: Context, repo: Repo) -> list[DashboardLine]:
    bursts = [burst for burst in await context.stores.candidates.bursts() if burst.repo.full_name == repo.full_name]
    return [DashboardLine(key="line.waiting", numbers=burst.issues) for burst in bursts if burst.issues]


async def _failures(context: Context, repo: Repo) -> tuple[DashboardLine, ...]:
    """The failed runs after which nothing else ran for their threads."""
    runs, lines = context.stores.runs, []
    for row in await runs.ended_in(repo.full_name, Status.FAILED, limit=_MAX_FAILURES):
        line = _line(row, "failed", "retry")
        if line.numbers and await runs.latest_of(repo, line.numbers[0]) == row.id:
            lines.append(line)
    return tuple(lines)


async def _pauses(context: Context, repo: Repo) -> tuple[DashboardLine, ...]:
    lines = []
    for number, by in await context.stores.threads.paused_in(repo):
        is_pull = await context.stores.approvals.head_known(repo, number) is not None
        box = BoxCommand(verb="resume", where="pull" if is_pull else "issue", number=number)
        lines.append(DashboardLine(key="line.paused", numbers=(number,), detail=by, box=box))
    return tuple(lines)
