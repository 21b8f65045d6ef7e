"""The whole bot but for the engine, the process and the web's door: at a desk, with its loops running, it hears what
the stand-in's people do and works until nothing is left to do. Its checks note outside their tree what they ran at."""

from __future__ import annotations

import asyncio
import json
import sqlite3
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import sqlalchemy as sa

from bot.app.build import jobs
from bot.store.database.database import now_ms
from bot.store.database.tables import metadata
from bot.store.inbox.deliveries import Delivery, DeliveryRow, Inbox
from bot.workflows.context import Loop
from bot.workflows.deliveries.process_deliveries import deliveries_loop
from bot.workflows.job_table import RUN_KINDS
from bot.workflows.kernel import publish_loop
from demo.standin.server import StandIn
from demo.standin.views import CheckRunView, DeliveryView
from tests.machine import PATIENCE_S
from tests.workflows.conftest import NAME, Harness, desk

RECORDER = """\
echo "$1 $(git rev-parse HEAD)" >>"${0%/*}/executed.log"
"""
TEST = """\
import sys
wrong = [line for line in open("wrong.txt").read().splitlines() if line]
for number, line in enumerate(wrong, 1):
    print(f"wrong.txt:{number}: error: {line}")
sys.exit(bool(wrong))
"""
"""Each line of `wrong.txt` is a failure of its own."""
NEW_RUNS, EXISTING_RUNS = ["test"] * 4, ["test"] * 3
"""What is executed of one commit until a failure is *New*, or *Existing*: the first run and those after it."""
LINT = 'import sys\nsys.exit(open("style.txt").read() != "fine\\n")\n'
FILES = {"wrong.txt": "", "style.txt": "fine\n", "test.py": TEST, "lint.py": LINT, ".gitignore": "ignored.txt\n"}


@dataclass(slots=True)
class RunningBot:
    at: Harness
    root: Path
    heard: int = 0
    deaf: bool = False
    """What people do is not heard until it is False again."""
    seen: int = 0
    under_way: set[asyncio.Task[None]] = field(default_factory=set)
    faults: list[BaseException] = field(default_factory=list)

    # --- the repository ------------------------------------------------------------------------------------------

    @property
    def world(self) -> Any:
        return self.at.github.world

    def policy(self, **more: Any) -> str:
        """A configuration whose checks note what they run at, with more keys."""
        names = ("lint", "test")
        checks = {name: {"command": f"{self.recorded(name)} && python3 {name}.py", "timeout": 60} for name in names}
        return json.dumps({"checks": checks, **more})  # JSON is YAML

    def recorded(self, name: str) -> str:
        """A command that notes that this check is executed, and at which commit."""
        recorder = self.root / "record.sh"
        recorder.write_text(RECORDER)
        return f"sh {recorder} {name}"

    def furnish(self, files: dict[str, str | bytes | None] | None = None, **policy: Any) -> str:
        """Give the default branch its checks; the commit."""
        tree = {**FILES, ".github/mendbot.yml": self.policy(**policy), **(files or {})}
        return str(self.world.push_files(NAME, "main", tree, "Furnish", "ada"))

    def push(self, files: dict[str, str | bytes | None], *, to: str = "feature", by: str = "ada", **more: Any) -> str:
        return str(self.world.push_files(more.pop("repo", NAME), to, files, "Change", by, **more))

    def open(
        self, files: dict[str, str | bytes | None], *, branch: str = "feature", by: str = "ada", **more: Any
    ) -> tuple[int, str]:
        """A pull request of the repository's own branch; its number and head."""
        sha = self.push(files, to=branch, by=by)
        return int(self.world.open_pull(NAME, branch, f"Change {branch}", "", by, **more)), sha

    def open_fork(self, files: dict[str, str | bytes | None], *, by: str = "eve") -> tuple[int, str]:
        """A stranger's pull request from a fork."""
        self.world.create_user(by)
        fork = self.world.fork(NAME, by)
        sha = self.push(files, by=by, repo=fork)
        return int(self.world.open_pull(NAME, f"{by}:feature", "Change from afar", "", by)), sha

    def executed(self, sha: str | None = None) -> list[str]:
        """The names of the checks that were executed, in order, at that commit or with their commits."""
        log = self.root / "executed.log"
        lines = log.read_text().splitlines() if log.exists() else []
        return lines if sha is None else [line.split()[0] for line in lines if line.split()[1] == sha]

    def runs(self, sha: str, name: str) -> tuple[CheckRunView, ...]:
        """All check runs of that name at a commit, oldest first."""
        return tuple(run for run in self.world.check_runs(NAME, sha) if run.name == f"mendbot / {name}")

    def checks(self, sha: str) -> dict[str, CheckRunView]:
        """The newest check run of each name."""
        return {run.name.removeprefix("mendbot / "): run for run in self.world.check_runs(NAME, sha)}

    def conclusions(self, sha: str) -> dict[str, str | None]:
        return {name: run.conclusion for name, run in self.checks(sha).items()}

    def comment(self, number: int, key: str) -> str:
        """The bot's last comment of that purpose; empty where there is none."""
        found = [one.body for one in self.world.comments(NAME, number) if f"<!-- mendbot:{key} -->" in one.body]
        return found[-1] if found else ""

    def head(self, number: int) -> str:
        return str(next(pull.head_sha for pull in self.world.pulls(NAME) if pull.number == number))

    # --- at work -------------------------------------------------------------------------------------------------

    async def accept(self, *sent: DeliveryView | tuple[str, bytes]) -> None:
        """Store deliveries as the web's door does."""
        inbox = Inbox(self.at.database)
        for one in sent:
            event, payload = (one.event, one.payload) if isinstance(one, DeliveryView) else one
            self.heard += 1
            stored = Delivery(id=f"guid-{self.heard}", event=event, payload=payload, received_at=now_ms() + self.heard)
            await inbox.accept(stored)
        self.at.context.wake[Loop.DELIVERIES].set()

    async def until(self, ready: Callable[[], bool], what: str, seconds: float = PATIENCE_S) -> None:
        """Until that is so; nothing tells us, so it is asked again and again."""
        deadline = time.monotonic() + seconds
        while not ready():
            assert not self.faults, self.faults
            assert time.monotonic() < deadline, f"not within {seconds} s: {what}; {await self.told()}"
            await asyncio.sleep(0.01)

    async def until_stored(self, ask: Callable[[], Awaitable[object]]) -> None:
        """The same for what a store is asked."""
        deadline = time.monotonic() + PATIENCE_S
        while not await ask():
            assert time.monotonic() < deadline, await self.told()
            await asyncio.sleep(0.002)

    async def quiet(self) -> None:
        """Until nothing is left to hear, to do or to tell."""
        deadline = time.monotonic() + PATIENCE_S
        idle = 0
        while idle < 2:  # what was looked at first may have had new work since
            idle = 0 if await self.busy() else idle + 1
            assert not self.faults, self.faults
            assert time.monotonic() < deadline, await self.told()
            if self.under_way:  # a job: its end is waited for, not asked for
                await asyncio.wait(self.under_way, timeout=0.5, return_when=asyncio.FIRST_COMPLETED)
            await asyncio.sleep(0.01)
        assert not self.faults, self.faults

    async def heard_all(self) -> None:
        """Until all that people did was decided about, whatever work came of it."""
        while self._unheard() or {row.status for row in await self.deliveries()} & {"accepted", "processing"}:
            assert not self.faults, self.faults
            await asyncio.sleep(0.01)

    async def forget(self) -> None:
        """The bot knows nothing any more."""

        def work(connection: sa.Connection) -> None:
            for table in reversed(metadata.sorted_tables):
                connection.execute(sa.delete(table))

        await self.at.database.write(work)

    async def busy(self) -> bool:
        stores = self.at.context.stores
        if self.under_way or self.at.jobs or self.seen < self.world.delivery_count:
            return True
        if {row.status for row in await self.deliveries()} & {"accepted", "processing"}:
            return True
        unreported = await stores.pulls.unreported() or await stores.runs.unreported()
        return bool(unreported) or self.seen < self.world.delivery_count

    async def deliveries(self) -> list[DeliveryRow]:
        """Those that were stored, newest first."""
        return list(await self.at.context.stores.deliveries.list(1000))

    async def told(self) -> str:
        return "; ".join(f"{row.event}: {row.status} {row.because}" for row in await self.deliveries())

    def skip(self) -> list[DeliveryView]:
        """What people did since, which is then never heard of; for a test that delivers it itself."""
        missed = self._unheard()
        self.seen += len(missed)
        return missed

    def _unheard(self) -> list[DeliveryView]:
        return list(self.world.deliveries[self.seen :]) if self.seen < self.world.delivery_count else []

    async def listen(self) -> None:
        while True:
            for one in () if self.deaf else self._unheard():
                await self.accept(one)
                self.seen += 1
            await asyncio.sleep(0.01)

    async def work(self) -> None:
        table = jobs(self.at.context)
        while True:
            while self.at.jobs:
                job = self.at.jobs.pop(0)
                task = asyncio.create_task(self._through(table[job.kind][1], job.args))
                self.under_way.add(task)
                task.add_done_callback(self.ended)
            await asyncio.sleep(0.01)

    async def _through(self, step: Any, args: dict[str, Any]) -> None:
        faults = 0
        while not (outcome := await step(args, faults)).done:
            faults = faults + 1 if outcome.fault else 0
            await asyncio.sleep(min(outcome.wait_s, 0.05))

    def ended(self, task: asyncio.Task[None]) -> None:
        self.under_way.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            self.faults.append(error)


@asynccontextmanager
async def working(at: Harness, root: Path) -> AsyncIterator[RunningBot]:
    """The bot at work; what people did before is not heard of."""
    at.github.world.hold_webhooks()
    at.github.world.set_webhook_url("http://127.0.0.1:9/held")
    bot = RunningBot(at, root)
    loops: list[Coroutine[Any, Any, Any]] = [deliveries_loop(at.context), bot.listen(), bot.work()]
    loops += [publish_loop(at.context, kind) for kind in RUN_KINDS]
    tasks = [asyncio.create_task(one) for one in loops]
    for task in tasks:
        task.add_done_callback(bot.ended)
    try:
        yield bot
    finally:
        for task in (*tasks, *bot.under_way):
            task.cancel()
        await asyncio.gather(*tasks, *bot.under_way, return_exceptions=True)
        await at.context.control.halt()


def check_events(home: Path) -> list[tuple[str, str]]:
    """Type and key of the events of all runs of checks."""
    with sqlite3.connect(f"file:{home / 'mendbot.db'}?mode=ro", uri=True) as database:
        return database.execute("SELECT type, key FROM events WHERE type LIKE 'pull_%' ORDER BY id").fetchall()


WithBot = Callable[..., Any]
Work = Callable[[RunningBot], Coroutine[Any, Any, Any]]


def with_bot(github: StandIn, root: Path) -> WithBot:
    """`do(work, **settings)` does `await work(bot)` with a bot at work and returns what it returns; where it is not
    `boxed`, nobody's code but that of people with write access may run."""

    def do(work: Work, *, patience_s: float = 300.0, boxed: bool = True, **settings: Any) -> Any:
        async def run() -> Any:
            async with desk(github, root / "home", **settings) as at:
                sandbox = replace(at.context.sandbox, trusted_only=not boxed)
                at.context = replace(at.context, sandbox=sandbox)
                async with working(at, root) as bot:
                    return await asyncio.wait_for(work(bot), patience_s)

        return asyncio.run(run())

    return do
