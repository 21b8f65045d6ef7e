"""Groups the waiting issues of a repository after its quiet period, as they are now, and starts a run for each group.

The issues are read from GitHub again, since events arrive in any order (threats.md 3, *Out of order*)."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from functools import partial
from hashlib import sha256

from bot.config import Policy
from bot.errors import MendbotError, Stale, Transient
from bot.logs import get_logger
from bot.model import Issue, Repo
from bot.model.issues import ExplainedGroup
from bot.rules.grouping.groups import choose_groups, pinned_group
from bot.rules.grouping.template_files import NO_TEMPLATES, Templates
from bot.rules.runs.spec import RunSpec
from bot.rules.triage.decide import unfit
from bot.rules.triage.decisions import carries
from bot.store.database.database import now_ms
from bot.store.inbox.candidates import Burst
from bot.workflows.context import Context, Loop
from bot.workflows.job_runner import persistently
from bot.workflows.kernel import enqueue_run
from bot.workflows.repo_config import get_policy
from bot.workflows.runs.issue_templates import get_templates
from bot.workflows.runs.loop import FIX_RUN

IDLE_MS = 30_000
RETRY_S = 15.0
REFUSED_S = 300.0
"""The wait after a refusal by GitHub, which a person has to resolve first."""
HELD_MS = 1000

log = get_logger()


async def grouping_loop(context: Context) -> None:
    """Group each burst when it is due; wakes for a new candidate, else when the next burst is due.

    The candidates' rows are the durable intent: they stay until the runs exist."""
    await persistently("gather", partial(_gather_due, context, {}))


async def _gather_due(context: Context, under_way: dict[str, asyncio.Task[None]]) -> None:
    wake = context.wake[Loop.GROUPING]
    while True:
        wake.clear()
        bursts = [b for b in await context.stores.candidates.bursts() if b.repo.full_name not in under_way]
        for burst in bursts:
            if burst.due_at <= now_ms():  # a task each: a repository whose requests are slow delays no other
                task = under_way[burst.repo.full_name] = asyncio.create_task(_guarded(context, burst))
                task.add_done_callback(partial(_ended, under_way, burst.repo.full_name, wake))
        waits = [burst.due_at - now_ms() for burst in bursts if burst.repo.full_name not in under_way]
        try:
            async with asyncio.timeout(max(0, min(waits, default=IDLE_MS)) / 1000):
                await wake.wait()
        except TimeoutError:
            continue


def _ended(under_way: dict[str, asyncio.Task[None]], name: str, wake: asyncio.Event, task: asyncio.Task[None]) -> None:
    del under_way[name]
    if task.cancelled() or (error := task.exception()) is None:
        wake.set()
    else:  # the postponement could not be written: the candidates are still there, and read again when idle
        log.warning("grouping_failed", repo=name, because=str(error))


async def _guarded(context: Context, burst: Burst) -> None:
    try:
        await gather(context, burst.repo, burst.issues)
    except Stale as error:
        log.info("grouping_dropped", repo=burst.repo.full_name, issues=burst.issues, because=str(error))
        for number in burst.issues:
            await context.stores.candidates.drop(burst.repo, number)
    except MendbotError as error:
        log.info("grouping_waits", repo=burst.repo.full_name, issues=burst.issues, because=str(error))
        wait_s = (error.retry_after_s or RETRY_S) if isinstance(error, Transient) else REFUSED_S
        await context.stores.candidates.postpone(burst.repo, burst.issues, int(wait_s * 1000))
    except Exception:
        log.exception("grouping_bug", repo=burst.repo.full_name, issues=burst.issues)
        await context.stores.candidates.postpone(burst.repo, burst.issues, IDLE_MS * 10)


async def gather(context: Context, repo: Repo, numbers: tuple[int, ...]) -> None:
    """Group the issues that are still to be fixed and start a run for each group; a repeated call adds nothing."""
    policy, base_branch = await get_policy(context, repo)
    issues = []
    for number in numbers:
        issue = await _wanted(context, repo, number, policy)
        if issue is None:
            await context.stores.candidates.drop(repo, number)
        else:
            issues.append(issue)
    if not issues:
        return
    pins = await context.stores.threads.pins(repo, [issue.number for issue in issues])
    for issue in issues:  # a paused issue gets a run of its own, so that no other issue waits for `/mendbot resume`
        if await context.stores.threads.paused(repo, issue.number) is not None:
            pins.setdefault(issue.number, f"paused-{issue.number}")
    free = [issue for issue in issues if issue.number not in pins]
    with_templates = len(free) > 1 and policy.group_by != "label"
    templates = await get_templates(context, repo, base_branch) if with_templates else NO_TEMPLATES
    for group in _groups(issues, policy, pins, templates):
        members = tuple(issue for issue in issues if issue.number in group.issues)
        spec = RunSpec(
            repo=repo,
            issues=members,
            key=group.key,
            reasons=group.reasons,
            suggested_branch=group.suggested_branch,
            policy=policy,
            base_branch=base_branch,
            agents=context.agents(policy),
            max_attempts=policy.max_attempts,
        )
        run_id = _run_id(repo, spec, now_ms())
        if await context.stores.runs.create(run_id, spec):
            await enqueue_run(context, FIX_RUN, run_id, spec.place)
        else:  # a run that is being stopped still holds one of them
            await context.stores.candidates.postpone(repo, group.issues, HELD_MS)
    context.wake[Loop.RUN_REPORTS].set()


def _groups(
    issues: Sequence[Issue], policy: Policy, pins: Mapping[int, str], templates: Templates
) -> tuple[ExplainedGroup, ...]:
    """The groups that people chose (`/mendbot group`), then those of the other issues."""
    labels = (policy.trigger_label, policy.skip_label)
    free = [issue for issue in issues if issue.number not in pins]
    chosen = [
        pinned_group(together, [issue for issue in issues if pins.get(issue.number) == together])
        for together in dict.fromkeys(pins[issue.number] for issue in issues if issue.number in pins)
    ]
    groups = choose_groups(free, policy.group_by, policy.max_group_size, ignore_labels=labels, templates=templates)
    return (*chosen, *groups)


async def _wanted(context: Context, repo: Repo, number: int, policy: Policy) -> Issue | None:
    """The issue as it is now, with secrets masked; None if a run works on it already, or if it is no longer for
    Mendbot."""
    if await context.stores.runs.open_run(repo, number) is not None:
        return None
    try:
        issue = await context.github.repository(repo).issue(number)
    except Stale:
        return None
    if not carries(issue.labels, policy.trigger_label) or unfit(issue, policy) is not None:
        return None
    return issue.model_copy(update={"title": context.mask(issue.title), "body": context.mask(issue.body)})


def _run_id(repo: Repo, spec: RunSpec, at: int) -> str:
    numbers = "-".join(str(issue.number) for issue in spec.issues)
    digest = sha256(f"{repo.full_name}:{numbers}:{at}".encode()).hexdigest()[:10]
    return f"run-{digest}"
