"""Runs on the desk from the first step to the last, in a repository whose check says what is wrong."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bot.config import Policy
from bot.model import AgentTask, Proposal, RunEvent
from bot.rules.runs.state import RunState
from bot.workflows.kernel import step_run
from bot.workflows.runs.loop import FIX_RUN
from tests.workflows.conftest import NAME, Harness

ERROR = "answer.txt: error: the answer is wrong [wrong-answer]"
JUDGE = f"""import sys
text = open("answer.txt").read()
if not text.startswith("42"):
    print({ERROR!r})
    sys.exit(1)
"""
"""Fails with the same words whatever wrong answer there is."""
LUCKY = f"""import pathlib, sys
seen = pathlib.Path("../seen")
seen.write_text(seen.read_text() + "." if seen.exists() else ".")
if len(seen.read_text()) < 3:
    print({ERROR!r})
    sys.exit(1)
"""
"""Fails on the base and once after the first attempt, then passes by itself."""
POLICY = {"checks": {"test": {"command": "python3 judge.py"}}, "stop": {"no_progress_threshold": 9}}


@dataclass(slots=True)
class Doer:
    """An agent that does one deed after the other, the last one again and again, and keeps what it was told."""

    deeds: list[Callable[[Path], None]]
    name: str = "doer"
    told: list[AgentTask] = field(default_factory=list)

    async def propose(self, task: AgentTask, tree: Path) -> Proposal:
        self.told.append(task)
        self.deeds[min(len(self.told), len(self.deeds)) - 1](tree)
        return Proposal(agent=self.name, offered=True, edited_in_place=True, tools=(f"Did {len(self.told)}",))


def writes(text: str, name: str = "answer.txt") -> Callable[[Path], None]:
    def edit(tree: Path) -> None:
        path = tree / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    return edit


def judged(at: Harness, judge: str = JUDGE, repo: str = NAME, **files: str) -> None:
    """Give the repository its check; `files` by their names with `__` for the dot."""
    at.github.world.push_commit(
        repo, "main", {"judge.py": judge, **{name.replace("__", "."): text for name, text in files.items()}}, "ada"
    )


async def go(at: Harness, run_id: str, **more: Any) -> RunState:
    """A run of a new issue, to its end."""
    policy = Policy.model_validate({**POLICY, **more.pop("policy", {})})
    await at.run(run_id, at.issue(), policy=policy, **more)
    return await through(at, run_id)


async def through(at: Harness, run_id: str) -> RunState:
    while not (await step_run(at.context, FIX_RUN, run_id)).done:
        continue
    return await at.state(run_id)


async def told(at: Harness, run_id: str, kind: str) -> list[RunEvent]:
    """A run's events of one kind."""
    return [event for event in await at.runs.events(run_id) if event.type == kind]
