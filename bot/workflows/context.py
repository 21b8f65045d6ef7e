"""What every workflow receives: the stores, the clients of GitHub and of this machine, and the worker's wake events."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum
from pathlib import Path

from bot.agent.model_planner import ModelPlan, PlanMaterial
from bot.agent.protocol import Agent
from bot.config import Policy, Settings
from bot.github.client import GitHub
from bot.model import Classification, Language, Repo, Usage, ValidationStep
from bot.model.jobs import Job, JobState
from bot.model.reasons import Reason
from bot.rules.reasons import make_reason
from bot.rules.runs.spec import RunSpec
from bot.store.database.database import Database
from bot.store.database.notify import Changes
from bot.store.history.history import History
from bot.store.history.outcomes import Outcomes
from bot.store.history.remembered_runs import RememberedRuns
from bot.store.history.trials import GuidanceTrials
from bot.store.inbox.candidates import Candidates
from bot.store.inbox.commands import Commands
from bot.store.inbox.deliveries import Deliveries
from bot.store.retention.rows import Retention
from bot.store.retention.runs import RunRetention
from bot.store.runs.agent_usage import AgentUsage
from bot.store.runs.pull_runs import PullRuns
from bot.store.runs.reported import Reports
from bot.store.runs.runs import RunRow, Runs
from bot.store.threads.approvals import Approvals
from bot.store.threads.threads import ThreadStore
from bot.workflows.run_control import RunControl
from bot.workspace.mirror.remote import Remote
from bot.workspace.sandbox.sandbox import Sandbox


def mirror_path(settings: Settings, repo: Repo) -> Path:
    """Where a repository's mirror is."""
    return settings.home / "mirrors" / repo.owner / f"{repo.name}.git"


def tree_path(home: Path, run_id: str, spec: RunSpec) -> Path:
    """See `Context.tree_path`."""
    if spec.repo is None:
        return Path(spec.place)
    numbers = "-".join(str(issue.number) for issue in spec.issues)
    name = f"fix-issue-{numbers}" if numbers else spec.suggested_branch.replace("/", "-")
    return home / "worktrees" / spec.repo.owner / spec.repo.name / run_id / name


def session_dir(settings: Settings, run_id: str) -> Path:
    """The directory of a local session outside its tree, while it lasts."""
    return settings.home / "sessions" / run_id


@dataclass(frozen=True, slots=True)
class Stores:
    runs: Runs
    candidates: Candidates
    deliveries: Deliveries
    reports: Reports
    history: History
    pulls: PullRuns
    approvals: Approvals
    outcomes: Outcomes
    test_runs: RememberedRuns
    trials: GuidanceTrials
    commands: Commands
    threads: ThreadStore
    retention: Retention
    run_retention: RunRetention
    usage: AgentUsage

    @classmethod
    def of(cls, database: Database, changes: Changes | None = None) -> Stores:
        """All stores on one database; `changes` notifies of each run event that was written."""
        return cls(
            runs=Runs(database, changes),
            candidates=Candidates(database),
            deliveries=Deliveries(database),
            reports=Reports(database),
            history=History(database),
            pulls=PullRuns(database),
            approvals=Approvals(database),
            outcomes=Outcomes(database),
            test_runs=RememberedRuns(database),
            trials=GuidanceTrials(database),
            commands=Commands(database),
            threads=ThreadStore(database),
            retention=Retention(database),
            run_retention=RunRetention(database),
            usage=AgentUsage(database),
        )


class Loop(StrEnum):
    """The loops of the worker that another part can wake, by their events in `Context.wake`."""

    DELIVERIES = "deliveries"
    GROUPING = "grouping"
    RUN_REPORTS = "run_reports"
    CHECK_REPORTS = "check_reports"
    DASHBOARDS = "dashboards"


_NOT_ASKED = make_reason("health.not_asked")


@dataclass(frozen=True, slots=True)
class GitHubHealth:
    """Whether GitHub answers, and whether it takes the App's key; `at` is when it was asked."""

    github: Reason = _NOT_ASKED
    app: Reason = _NOT_ASKED
    at: datetime | None = None


@dataclass(frozen=True, slots=True)
class ModelVerdict:
    """Why a step failed according to a model, None where it did not answer; and what the model used."""

    agent: str
    classification: Classification | None
    usage: Usage


async def _by_rule_alone(_: RunRow, __: object) -> None:
    return None


@dataclass(frozen=True, slots=True)
class Context:
    """Built once by `app`, passed down."""

    settings: Settings
    stores: Stores
    github_or_none: GitHub | None
    """None where there is no App, as for a session on the command line."""
    sandbox: Sandbox
    control: RunControl
    enqueue: Callable[[Job], Awaitable[None]]
    job_state: Callable[[str], Awaitable[JobState]]
    forget_jobs: Callable[[timedelta], Awaitable[int]]
    wake_job: Callable[[str], Awaitable[None]]
    """Lets a job that waits continue at once, by its id; any other stays as it is."""
    developers: Callable[[RunRow], Sequence[Agent]]
    mask: Callable[[str], str]
    holds_secret: Callable[[str], bool]
    ask_for_plan: Callable[[RunRow, PlanMaterial], Awaitable[ModelPlan | None]] = _by_rule_alone
    """What a model adds to the plan; None where no model is among the run's agents."""
    classify: Callable[[RunRow, ValidationStep], Awaitable[ModelVerdict | None]] = _by_rule_alone
    """Why a step of the session's own commands failed, by a model; None where no model is to be asked."""
    wake: Mapping[Loop, asyncio.Event] = field(default_factory=lambda: {loop: asyncio.Event() for loop in Loop})
    health_answers: deque[GitHubHealth] = field(default_factory=lambda: deque((GitHubHealth(),), maxlen=1))
    """The last answer alone. Only `workflows.maintenance.github_health` appends to it; any thread may read it."""
    policy_reads: dict[str, asyncio.Task[tuple[Policy, str]]] = field(default_factory=dict)
    """Reads of policies that are under way, by repository; for `workflows.repo_config` alone."""

    @property
    def github_health(self) -> GitHubHealth:
        return self.health_answers[0]

    @property
    def github(self) -> GitHub:
        assert self.github_or_none is not None, "a run without GitHub asked for it"
        return self.github_or_none

    def mirror(self, repo: Repo) -> Path:
        return mirror_path(self.settings, repo)

    def git_dir(self, run_id: str, spec: RunSpec) -> Path:
        """Where a run's commits and snapshots are: the mirror, or for a local session a directory of its own."""
        if spec.repo is None:
            return session_dir(self.settings, run_id) / "git"
        return mirror_path(self.settings, spec.repo)

    def tree_path(self, row: RunRow) -> Path:
        """Where a run's tree is: a parent directory of its own, so that a half-made one never blocks another run; a
        local session's is the tree that it was given."""
        return tree_path(self.settings.home, row.id, row.spec)

    async def remote(self, repo: Repo, *, write: bool) -> Remote:
        token = await self.github.git_token(repo, write=write)
        return Remote(url=f"{self.settings.github_url.rstrip('/')}/{repo.full_name}.git", token=token)

    def language(self, policy: Policy | None) -> Language:
        """The repository's language, else the operator's."""
        return (policy.language if policy is not None else None) or self.settings.language

    def agents(self, policy: Policy) -> tuple[str, ...]:
        """The repository's agents, else the operator's."""
        return policy.agents if policy.agents is not None else self.settings.agents

    def max_worktrees(self, spec: RunSpec) -> int:
        """The operator's limit, or the repository's where that is lower (REQ-GIT-004)."""
        wanted = spec.policy.max_worktrees
        return min(wanted, self.settings.max_worktrees) if wanted else self.settings.max_worktrees
