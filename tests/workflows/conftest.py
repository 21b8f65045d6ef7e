"""A worker's desk: all that workflows are given, with a real database, real git and the stand-in for GitHub. The engine
alone is missing: jobs pile up in a list, and the test does them."""

from __future__ import annotations

import asyncio
import functools
import tempfile
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, TypeVar

import pytest

from bot.agent.protocol import Agent
from bot.config import Policy, Settings
from bot.github.client import GitHub
from bot.http import open_client
from bot.model import AgentTask, Issue, Proposal, Repo
from bot.model.jobs import Job, JobState
from bot.rules.reasons import make_reason
from bot.rules.runs.fold import run_state
from bot.rules.runs.spec import RunSpec
from bot.rules.runs.state import RunState
from bot.store.database.database import Database, now_ms
from bot.store.history.history import History
from bot.store.inbox.candidates import QueuedIssue
from bot.store.runs.runs import RunRow, Runs
from bot.workflows.agents.build_agents import AgentFactory
from bot.workflows.context import Context, Stores
from bot.workflows.masking import Masker
from bot.workflows.run_control import RunControl
from bot.workspace.files.home_directories import claim_directories
from bot.workspace.sandbox.sandbox import Sandbox
from demo.standin.server import StandIn
from tests.machine import PATIENCE_S

NAME = "octo/tiny"
CHECK = 'import sys\nsys.exit(open("answer.txt").read() != "42\\n")\n'
FILES = {
    "answer.txt": "41\n",
    "check.py": CHECK,
    ".gitignore": "ignored.txt\n",
    ".github/mendbot.yml": "checks:\n  test: { command: python3 check.py, timeout: 20 }\n",
}
T = TypeVar("T")


@pytest.fixture
def github(tmp_path: Path) -> Iterator[StandIn]:
    with StandIn(tmp_path / "github", webhook_url=None, webhook_secret="w" * 32) as standin:
        standin.world.create_user("ada")
        standin.world.create_repo(NAME, FILES)
        standin.world.set_permission(NAME, "ada", "write")
        yield standin


@dataclass(frozen=True, slots=True)
class ScriptedAgent:
    """An agent that does in the tree what the test says, as a command agent that edits in place would."""

    edit: Callable[[Path], None]
    name: str = "hand"

    async def propose(self, task: AgentTask, tree: Path) -> Proposal:
        self.edit(tree)
        return Proposal(agent=self.name, offered=True, edited_in_place=True)


@dataclass(slots=True)
class Harness:
    context: Context
    github: StandIn
    database: Database
    repo: Repo
    jobs: list[Job] = field(default_factory=list)
    states: dict[str, JobState] = field(default_factory=dict)
    woken: list[str] = field(default_factory=list)
    hands: list[Agent] = field(default_factory=list)

    @property
    def runs(self) -> Runs:
        return self.context.stores.runs

    def issue(self, title: str = "It is wrong", body: str = "`answer.txt` says 41.", label: str = "auto-fix") -> int:
        number = self.github.world.create_issue(NAME, title, body, author="ada")
        if label:
            self.github.world.add_label(NAME, number, label, "ada")
        return number

    def spec(self, *numbers: int, **more: Any) -> RunSpec:
        known: dict[str, Any] = {
            "repo": self.repo,
            "issues": tuple(Issue(number=number, title=f"Issue {number}", body="in answer.txt") for number in numbers),
            "key": "k",
            "suggested_branch": f"fix/issue-{'-'.join(map(str, numbers))}",
            "policy": Policy.model_validate({"checks": {"test": {"command": "python3 check.py"}}}),
            "base_branch": "main",
            "agents": ("command",),
        }
        return RunSpec(**{**known, **more})

    async def run(self, run_id: str, *numbers: int, **more: Any) -> RunRow:
        assert await self.runs.create(run_id, self.spec(*numbers, **more))
        return await self.row(run_id)

    async def row(self, run_id: str) -> RunRow:
        row = await self.runs.get(run_id)
        assert row is not None
        return row

    async def state(self, run_id: str) -> RunState:
        return run_state(await self.runs.events(run_id))

    async def wait(self, number: int, quiet_ms: int = 0) -> None:
        """Make the issue a candidate."""
        since = datetime.now(UTC)
        await self.context.stores.candidates.add(
            QueuedIssue(repo=self.repo, issue=number, at=now_ms(), quiet_ms=quiet_ms, since=since)
        )

    async def waiting(self) -> tuple[int, ...]:
        return tuple(number for burst in await self.context.stores.candidates.bursts() for number in burst.issues)

    def requests(self, method: str = "", path: str = "") -> int:
        """How many REST requests GitHub has had."""
        seen = (r for r in self.github.world.requests if r.kind == "rest")
        return sum(1 for r in seen if method in ("", r.method) and path in r.path)


@functools.cache
def _migrated_database() -> bytes:
    """An empty database; a copy takes less time than the migrations."""
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory, "mendbot.db")
        database = Database(f"sqlite:///{path}")
        database.migrate()
        database.close()
        return path.read_bytes()


@asynccontextmanager
async def desk(github: StandIn, home: Path, **settings: Any) -> AsyncIterator[Harness]:
    values = {"app_id": str(github.app_id), "private_key": github.private_key_pem, "webhook_secret": "w" * 32}
    known = Settings(
        **{**values, "home": home, "quiet_seconds": 0.0, "github_url": github.url, "sandbox": "none", **settings}
    )
    repo = Repo(owner="octo", name="tiny", installation_id=github.world.installation_id(NAME))
    variables = {"PATH": "/usr/local/bin:/usr/bin:/bin"}
    sandbox = Sandbox("none", False, make_reason("sandbox.none"), None, variables, ())
    claim_directories(home)
    path = home / "mendbot.db"
    if not path.exists():
        path.write_bytes(_migrated_database())
    database = Database(f"sqlite:///{path}")
    masker = Masker(known)
    made: list[Harness] = []

    bench = AgentFactory(settings=known, sandbox=sandbox, database=database, history=History(database), mask=masker)

    def developers(row: RunRow) -> Sequence[Agent]:
        return made[0].hands or bench.developers(row)

    async def enqueue(job: Job) -> None:
        made[0].jobs.append(job)

    async def forget_jobs(ended_before: timedelta) -> int:
        return 0

    async def wake_job(job_id: str) -> None:
        made[0].woken.append(job_id)

    async def job_state(job_id: str) -> JobState:
        return made[0].states.get(job_id, "unknown")

    async with open_client(github.api_url) as client:
        door = GitHub(
            app_id=str(github.app_id),
            key_pem=github.private_key_pem,
            api_url=github.api_url,
            client=client,
            write_spacing_s=0,
        )
        masker.github = door
        stores = Stores.of(database)
        context = Context(
            settings=known,
            stores=stores,
            github_or_none=door,
            sandbox=sandbox,
            control=RunControl(),
            enqueue=enqueue,
            job_state=job_state,
            forget_jobs=forget_jobs,
            wake_job=wake_job,
            developers=developers,
            mask=masker,
            holds_secret=masker.holds,
        )
        made.append(Harness(context, github, database, repo))
        try:
            yield made[0]
        finally:
            database.close()


At = Callable[[Callable[[Harness], Coroutine[Any, Any, T]]], T]


@pytest.fixture
def at_desk(github: StandIn, tmp_path: Path) -> Callable[..., Any]:
    """`at_desk(work, **settings)` does `await work(desk)` and returns what it returns."""

    def do(work: Callable[[Harness], Coroutine[Any, Any, T]], **settings: Any) -> T:
        async def run() -> T:
            async with desk(github, tmp_path / "home", **settings) as made:
                return await asyncio.wait_for(work(made), PATIENCE_S)

        return asyncio.run(run())

    return do
