"""Builds the parts of every process that works on jobs: the context of the workflows, the jobs and their queues."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from functools import partial

from bot.config import Settings
from bot.github.client import GitHub
from bot.model.jobs import Job, JobState, JobStep, Queue
from bot.store.database.database import Database
from bot.store.database.notify import Changes
from bot.workflows.agents.build_agents import AgentFactory
from bot.workflows.context import Context, Stores
from bot.workflows.job_runner import guarded
from bot.workflows.job_table import JOBS
from bot.workflows.masking import Masker
from bot.workflows.run_control import RunControl
from bot.workspace.sandbox.check_tools import Tools
from bot.workspace.sandbox.sandbox import open_sandbox


@dataclass(frozen=True, slots=True)
class Jobs:
    """The functions of the engine that workflows use."""

    enqueue: Callable[[Job], Awaitable[None]]
    state: Callable[[str], Awaitable[JobState]]
    forget: Callable[[timedelta], Awaitable[int]]
    wake: Callable[[str], Awaitable[None]]


async def build_context(
    settings: Settings, database: Database, changes: Changes, engine: Jobs, github: GitHub | None
) -> Context:
    """The context of the workflows, with everything that they use."""
    masker = Masker(settings)
    masker.github = github
    stores = Stores.of(database, changes)
    sandbox = await open_sandbox(settings.sandbox, settings.toolchains, Tools.of(settings), settings.check_memory_mb)
    agents = AgentFactory(settings=settings, sandbox=sandbox, database=database, history=stores.history, mask=masker)
    return Context(
        settings=settings,
        stores=stores,
        github_or_none=github,
        sandbox=sandbox,
        control=RunControl(),
        enqueue=engine.enqueue,
        job_state=engine.state,
        forget_jobs=engine.forget,
        wake_job=engine.wake,
        developers=agents.developers,
        classify=agents.classify,
        ask_for_plan=agents.plan,
        mask=masker,
        holds_secret=masker.holds,
    )


def engine_url(settings: Settings) -> str:
    """The URL of the engine's database: a file beside `mendbot.db`, or a schema of the same Postgres."""
    return settings.database_url or f"sqlite:///{settings.home / 'engine.db'}"


def jobs(context: Context) -> Mapping[str, tuple[str, JobStep]]:
    """Every kind of job: its queue and its function."""
    return {
        name: (entry.queue, guarded(name, partial(entry.step, context), partial(entry.fail, context)))
        for name, entry in JOBS.items()
    }


def queues(settings: Settings) -> Sequence[Queue]:
    """The queues of jobs. Short jobs have one of their own, so that they never wait for long ones."""
    return (
        Queue(name="fix", at_once=settings.workers, per_partition=min(settings.max_worktrees, settings.workers)),
        Queue(name="pulls", at_once=max(2, settings.workers // 2), per_partition=max(2, settings.workers // 2)),
        Queue(name="replies", at_once=8, per_partition=8),
        # an App may be installed on hundreds of repositories at once
        Queue(name="onboarding", at_once=1, per_partition=1),
    )
