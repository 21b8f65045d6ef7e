"""The agent that is any program: the brief on its stdin, the tree as its directory, and its answer read two ways.
It may print its changes as JSON or edit the files; whatever else it prints is noise and harms nobody."""

from __future__ import annotations

import json
import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from bot.agent.developer import Runner, build_prompt
from bot.agent.hook_bundle import Kit, ToolError
from bot.model import AgentTask, Change, Proposal, ShellCommand
from bot.model.reasons import Reason
from bot.proc import ProcResult
from bot.reports.locale.catalog import gigabytes
from bot.rules.reasons import make_reason

WORKTREE = "{worktree}"
SETTINGS = "{settings}"
MakeKit = Callable[[str], Awaitable[Kit]]
"""Gives the kit of a run, by the run's id, with a snapshot of what its repository may know."""
Learn = Callable[[str, Sequence[ToolError]], Awaitable[None]]
"""Receives, with the run's id, what failed in the box: untrusted, not masked."""
TAIL_BYTES = 1_000_000
_MAX_TRIES = 20
# a string ends at its line's end at the latest, so that a stray quote in prose costs one line
_TOKEN = re.compile(r'[{}]|(?P<key>"changes"\s*+:)|"[^"\\\n]*+(?:\\.[^"\\\n]*+)*"?')
_CHANGES = TypeAdapter(tuple[Change, ...], config={"defer_build": True})


@dataclass(frozen=True, slots=True)
class CommandDeveloper:
    """Runs `argv` in the tree, in the box, with the brief on stdin; `{worktree}` in argv becomes the tree's path and
    `{settings}` that of the settings with the run's hooks, where `make_kit` gives it a kit (`claude --settings FILE`).

    One JSON object with `changes` on its output (all of it, or the last such object in its last megabyte, fenced or
    not) is what it proposes; without one, or with one that can't be read, its edits in the tree are. An exit code other
    than 0, its time limit or a program that can't be started offers nothing. The caller puts the tree back as it was
    in every case but `edited_in_place`: also a run that failed or that printed changes may have edited files."""

    runner: Runner
    argv: tuple[str, ...]
    name: str = "command"
    env: Mapping[str, str] = field(default_factory=dict)
    read_only: tuple[Path, ...] = ()
    network: bool = False
    timeout_s: float = 900.0
    make_kit: MakeKit | None = None
    learn: Learn | None = None

    async def propose(self, task: AgentTask, tree: Path) -> Proposal:
        if not self.argv:
            return Proposal(agent=self.name, offered=False, because=make_reason("agent.unset"))
        kit = await self.make_kit(task.run_id) if self.make_kit else None
        result = await self._run(kit, task, tree)
        if kit is not None and self.learn is not None:
            await self.learn(task.run_id, kit.take())
        if failure := self._failure(result):
            return Proposal(agent=self.name, offered=False, because=failure)
        changes, note = read_changes(result.output)
        return Proposal(agent=self.name, offered=True, changes=changes, edited_in_place=not changes, note=note)

    async def _run(self, kit: Kit | None, task: AgentTask, tree: Path) -> ProcResult:
        filled = {WORKTREE: str(tree), **({SETTINGS: str(kit.settings)} if kit else {})}
        # in one pass, as a path may hold what looks like a place to fill
        places = re.compile("|".join(map(re.escape, filled)))
        argv = tuple(places.sub(lambda place: filled[place[0]], part) for part in self.argv)
        runner = partial(self.runner, writable=kit.writable) if kit else self.runner
        return await runner(
            ShellCommand(run=argv, timeout_s=self.timeout_s),
            tree,
            network=self.network,
            env={**self.env, **kit.env} if kit else self.env,
            read_only=(*self.read_only, *kit.read_only) if kit else self.read_only,
            stdin=build_prompt(task).encode("utf-8", "replace"),
        )

    def _failure(self, result: ProcResult) -> Reason | None:
        if result.spawn_error is not None:
            return make_reason("agent.not_started", error=result.spawn_error)
        if result.timed_out:
            return make_reason("agent.timed_out", seconds=f"{self.timeout_s:g}")
        if result.overflowed:
            return make_reason("agent.overflowed")
        if result.over_memory_mb:
            return make_reason("agent.over_memory", memory=gigabytes(result.over_memory_mb))
        return make_reason("agent.exit", code=result.exit_code) if result.exit_code else None


def read_changes(output: bytes) -> tuple[tuple[Change, ...], str]:
    """The changes that an agent printed, and a note for the record where they could not be read; never raises.

    Looks at the last megabyte only, in time that grows with its length whatever stands there."""
    text = output[-TAIL_BYTES:].decode("utf-8", "replace")
    for start, end in _spans(text)[: -_MAX_TRIES - 1 : -1]:
        try:
            found = json.loads(text[start:end])
        except (ValueError, RecursionError):
            continue  # what only looks like an object, or one that is nested without end
        try:
            return _CHANGES.validate_python(found["changes"]), ""
        except ValidationError as error:
            first = error.errors(include_url=False, include_input=False)[0]
            place = ".".join(str(part) for part in first["loc"])
            return (), f"the printed changes can't be read ({place}: {first['msg']}); the edits in the tree count"
    return (), ""


def _spans(text: str) -> list[tuple[int, int]]:
    """Where objects with a key `changes` may stand, in the order of their ends: braces paired outside of strings.

    One pass, because a JSON parser that is set on every brace needs hours for a hostile megabyte."""
    spans: list[tuple[int, int]] = []
    opened: list[tuple[int, bool]] = []
    for token in _TOKEN.finditer(text):
        if token[0] == "{":
            opened.append((token.start(), False))
        elif token[0] != "}":
            if opened and token["key"]:
                opened[-1] = (opened[-1][0], True)
        elif opened:
            start, has_changes = opened.pop()
            if has_changes:
                spans.append((start, token.end()))
    return spans
