"""Commands as people give them, obeyed on the desk: the stand-in's own webhooks are decided about one by one, and the
jobs that come of them are done by the functions that the engine is given."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bot.app.build import jobs
from bot.model import AgentTask, Proposal
from bot.rules.events import parse as parser
from bot.store.runs.pull_runs import PullCheckRow
from bot.workflows.deliveries.process_deliveries import decide_and_act
from bot.workflows.pulls.publish_checks import publish_pull
from bot.workflows.reporting.publish_run import publish
from bot.workflows.runs.form_groups import gather
from tests.workflows.conftest import NAME, Harness

AtDesk = Callable[..., Any]
BOT = "mendbot[bot]"
WRITERS = ("admin", "maintain", "write")
ROLES = (*WRITERS, "triage", "read", "none")
ERROR = "answer.txt:1: error: expected 42"
JUDGE = f"""import sys
if open("answer.txt").read() != "42\\n":
    print({ERROR!r})
    sys.exit(1)
"""
DIFF = "--- a/answer.txt\n+++ b/answer.txt\n@@ -1 +1 @@\n-{}\n+{}\n"


@dataclass(slots=True)
class Writer:
    """An agent that writes the answer."""

    text: str = "42\n"
    name: str = "writer"
    told: list[AgentTask] = field(default_factory=list)

    async def propose(self, task: AgentTask, tree: Path) -> Proposal:
        self.told.append(task)
        (tree / "answer.txt").write_text(self.text)
        return Proposal(agent=self.name, offered=True, edited_in_place=True)


@dataclass(slots=True)
class CommandScenario:
    """The desk with its people. What they have done waits in the stand-in until `hear` takes it."""

    at: Harness
    heard: int = 0
    because: list[str] = field(default_factory=list)
    pulls: dict[str, tuple[int, str]] = field(default_factory=dict)
    done: set[str] = field(default_factory=set)
    """The ids of jobs that were done: the engine takes none of them again."""

    @property
    def world(self) -> Any:
        return self.at.github.world

    def policy(self, text: str) -> None:
        self.world.push_files(NAME, "main", {".github/mendbot.yml": text}, "Configure", "ada")

    def judge(self) -> None:
        """The check says what is wrong, and the default branch passes it."""
        self.world.push_files(NAME, "main", {"check.py": JUDGE, "answer.txt": "42\n"}, "Judge", "ada")

    def pull(self, name: str = "feature", by: str = "ada", answer: str = "41\n") -> tuple[int, str]:
        """A pull request of a branch here; its number and head."""
        sha = self.world.push_files(NAME, name, {"answer.txt": answer}, "Change", by)
        return self.world.open_pull(NAME, name, "Change", "Please.", by), sha

    def fork(self, by: str, answer: str = "41\n") -> tuple[int, str]:
        """A pull request of a fork's branch; its number and head."""
        copy = self.world.fork(NAME, by)
        sha = self.world.push_files(copy, "feature", {"answer.txt": answer}, "Change", by)
        return self.world.open_pull(NAME, f"{by}:feature", "Change", "Please.", by), sha

    async def hear(self) -> list[str]:
        """Decide about every webhook since the last time; what came of each."""
        said: list[str] = []
        while self.heard < len(self.world.deliveries):
            for one in self.world.deliveries[self.heard :]:
                self.heard += 1
                said.append(
                    (await decide_and_act(self.at.context, parser.parse(one.event, json.loads(one.payload))))[1]
                )
        self.because += said
        return said

    async def say(self, number: int, text: str, by: str = "ada") -> int:
        """A comment, heard and obeyed; its id."""
        comment = self.world.comment(NAME, number, text, by)
        await self.hear()
        await self.work("command")
        return int(comment)

    async def work(self, *kinds: str, steps: int = 200) -> None:
        """Do the jobs of these kinds, or all, to their end, and what comes of them."""
        table = jobs(self.at.context)
        while True:
            job = next((job for job in self.at.jobs if not kinds or job.kind in kinds), None)
            if job is None:
                return
            self.at.jobs.remove(job)
            if job.id in self.done:
                continue
            for _ in range(steps):
                if (await table[job.kind][1](job.args, 0)).done:
                    self.done.add(job.id)
                    break
            else:
                self.at.jobs.append(job)  # it waits
                return

    async def all(self) -> None:
        """Whatever is due, until nothing is: webhooks, groups, jobs, reports."""
        while True:
            await self.hear()
            await self.gather()
            if not self.at.jobs and self.heard == len(self.world.deliveries):
                break
            await self.work()
        await self.tell()

    async def gather(self) -> None:
        for burst in await self.at.context.stores.candidates.bursts():
            await gather(self.at.context, burst.repo, burst.issues)

    async def tell(self) -> None:
        for run_id in await self.at.runs.unreported():
            await publish(self.at.context, await self.at.row(run_id))
        pulls = self.at.context.stores.pulls
        for run_id in await pulls.unreported():
            row = await pulls.get(run_id)
            assert row is not None
            await publish_pull(self.at.context, row)

    def reactions(self, number: int, comment: int) -> list[str]:
        """What Mendbot put on a comment, in that order."""
        found = [*self.world.comments(NAME, number)]
        if any(pull.number == number for pull in self.world.pulls(NAME)):
            found += self.world.review_comments(NAME, number)
        return [content for one in found if one.id == comment for content, by in one.reactions if by == BOT]

    def told(self, number: int, key: str) -> str:
        """Mendbot's last comment of that purpose; empty where there is none."""
        mine = [one for one in self.world.comments(NAME, number) if one.author == BOT]
        found = [one.body for one in mine if f"<!-- mendbot:{key} -->" in one.body]
        return found[-1].replace("\\#&#8203;", "#") if found else ""

    def words(self, number: int) -> list[str]:
        """All that Mendbot said in a thread."""
        return [one.body for one in self.world.comments(NAME, number) if one.author == BOT]

    async def checks(self, number: int) -> tuple[PullCheckRow, ...]:
        return await self.at.context.stores.pulls.open_of(self.at.repo, number)

    async def runs(self) -> list[tuple[tuple[int, ...], str]]:
        """The threads and branches of the runs that are open, oldest first."""
        rows = [row for row in await self.at.runs.unfinished() if row.cancel_because is None]
        return [(row.spec.threads, row.spec.suggested_branch) for row in rows]

    def file(self, ref: str, path: str = "answer.txt") -> str:
        return (self.world.read_file(NAME, ref, path) or b"").decode()


def on(at_desk: AtDesk, work: Callable[[CommandScenario], Any], **settings: Any) -> Any:
    """`await work(thread)` at the desk. The webhooks go to nobody: they are taken from the stand-in's log."""

    async def do(at: Harness) -> Any:
        at.github.world.set_webhook_url("http://127.0.0.1:9/")
        return await work(CommandScenario(at))

    return at_desk(do, **settings)


def conclusions(thread: CommandScenario, sha: str, names: Collection[str] = ("test",)) -> Mapping[str, str | None]:
    found = {run.name.removeprefix("mendbot / "): run.conclusion for run in thread.world.check_runs(NAME, sha)}
    return {name: found.get(name) for name in names}
