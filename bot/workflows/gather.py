"""From candidates to runs: when a burst falls quiet, read the issues as they are now, group them, start the runs.

Everything is asked of GitHub anew, since events are hints and come in any order (trust.md 3, *Out of order*)."""

from __future__ import annotations

import asyncio
from hashlib import sha256

import structlog

from bot.engine import Job
from bot.errors import MendbotError, Stale
from bot.model import Issue, Repo
from bot.rules.course import RunSpec
from bot.rules.grouping import choose_groups
from bot.rules.triage import unfit
from bot.store.candidates import Burst
from bot.store.database import now_ms
from bot.workflows.context import Context
from bot.workflows.fix import fix_job
from bot.workflows.policies import policy_of

IDLE_MS = 30_000
RETRY_S = 15.0

log = structlog.get_logger()


async def gather_loop(context: Context) -> None:
    """Group each burst when it is due; wakes when a candidate comes, else when the next is due.

    The candidates' rows are the durable intent: they are there until the runs are, whatever happens in between."""
    wake = context.wake["gather"]
    while True:
        wake.clear()
        bursts = await context.stores.candidates.bursts()
        due = [burst for burst in bursts if burst.due_at <= now_ms()]
        await asyncio.gather(*(_guarded(context, burst) for burst in due))
        waits = [burst.due_at - now_ms() for burst in bursts if burst not in due]
        try:
            async with asyncio.timeout(0 if due else max(0, min(waits, default=IDLE_MS)) / 1000):
                await wake.wait()
        except TimeoutError:
            continue


async def _guarded(context: Context, burst: Burst) -> None:
    try:
        await gather(context, burst.repo, burst.issues)
    except MendbotError as error:
        log.info("gather_waits", repo=burst.repo.full_name, issues=burst.issues, because=str(error))
        wait_s = getattr(error, "retry_after_s", None) or RETRY_S
        await context.stores.candidates.postpone(burst.repo, burst.issues, int(wait_s * 1000))
    except Exception:
        log.exception("gather_bug", repo=burst.repo.full_name, issues=burst.issues)
        await context.stores.candidates.postpone(burst.repo, burst.issues, IDLE_MS * 10)


async def gather(context: Context, repo: Repo, numbers: tuple[int, ...]) -> None:
    """Group the issues that are still wanted and make a run of each group; doing it again adds nothing."""
    policy, base_branch = await policy_of(context, repo)
    issues = []
    for number in numbers:
        issue = await _wanted(context, repo, number, policy.trigger_label)
        because = "it is gone" if issue is None else unfit(issue, policy)
        if issue is None or because is not None:
            await context.stores.candidates.drop(repo, number)
        else:
            issues.append(issue)
    if not issues:
        return
    labels = (policy.trigger_label, policy.skip_label)
    for group in choose_groups(issues, policy.group_by, policy.max_group_size, ignore_labels=labels):
        members = tuple(issue for issue in issues if issue.number in group.issues)
        spec = RunSpec(
            repo=repo,
            issues=members,
            key=group.key,
            reasons=group.reasons,
            suggested_branch=group.suggested_branch,
            policy=policy,
            base_branch=base_branch,
            agents=policy.agents if policy.agents is not None else context.settings.agents,
            max_attempts=policy.max_attempts,
        )
        run_id = _run_id(repo, spec, now_ms())
        if await context.stores.runs.create(run_id, spec):
            await context.enqueue(fix_job(run_id, repo))
    context.wake["report"].set()


async def _wanted(context: Context, repo: Repo, number: int, trigger: str) -> Issue | None:
    try:
        issue = await context.github.repository(repo).issue(number)
    except Stale:
        return None
    carries = any(label.casefold() == trigger.casefold() for label in issue.labels)
    return issue if carries else None


def _run_id(repo: Repo, spec: RunSpec, at: int) -> str:
    numbers = "-".join(str(issue.number) for issue in spec.issues)
    digest = sha256(f"{repo.full_name}:{numbers}:{at}".encode()).hexdigest()[:10]
    return f"run-{digest}"


async def resume(context: Context) -> None:
    """Enqueue the job of every run that has none; a crash between a run's row and its job leaves one such."""
    for row in await context.stores.runs.unfinished():
        if row.cancel_because is not None:
            await context.enqueue(settle_job(row.id, row.spec.repo))
        else:
            await context.enqueue(fix_job(row.id, row.spec.repo))


def settle_job(run_id: str, repo: Repo) -> Job:
    """The job that says a cancelled run's last word."""
    return Job(kind="settle", id=f"settle:{run_id}", partition=repo.full_name, args={"run_id": run_id})
