"""The agent that is any program: the prompt on its stdin, the worktree as its directory.

It may print its changes as JSON or edit the files; all other output is ignored."""

from __future__ import annotations

import json
import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from bot.agent.hook_bundle import HookBundle, ToolError
from bot.agent.model_budget import ModelBudget
from bot.agent.program_output import ProgramOutput, ReadOutput
from bot.agent.protocol import Runner, build_prompt
from bot.model import AgentTask, Change, Proposal, ShellCommand
from bot.model.agents import NO_MODEL
from bot.model.reasons import Reason
from bot.proc import ProcResult
from bot.reports.locale.catalog import gigabytes
from bot.rules.reasons import make_reason

WORKTREE = "{worktree}"
SETTINGS = "{settings}"
MakeHookBundle = Callable[[str], Awaitable[HookBundle]]
"""Returns the hook bundle of a run, by the run's id, with a snapshot of the history that its repository may read."""
ExplainFailure = Callable[[Path], Awaitable[Reason | None]]
"""Returns why the program cannot start in a tree, with the remedy; None where it can."""
RecordToolErrors = Callable[[str, Sequence[ToolError]], Awaitable[None]]
"""Receives the run's id and the tool errors of the sandbox: untrusted, not masked."""
TAIL_BYTES = 1_000_000
_MAX_TRIES = 20
_NOT_FOUND = (2, 126, 127)
"""The exit codes of interpreters and shells that do not find, or may not run, the program or script."""
# a string ends at its line's end at the latest, so that a stray quote in prose costs one line
_TOKEN = re.compile(r'[{}]|(?P<key>"changes"\s*+:)|"[^"\\\n]*+(?:\\.[^"\\\n]*+)*"?')
_CHANGES = TypeAdapter(tuple[Change, ...], config={"defer_build": True})


@dataclass(frozen=True, slots=True)
class CommandAgent:
    """Runs `argv` in the worktree, in the sandbox, with the prompt on stdin.

    `{worktree}` in argv and env becomes the worktree's path. `{settings}` becomes the path of the settings with the
    run's hooks, if there is a `make_bundle` (`claude --settings FILE`). The proposal is the last JSON object with
    `changes` in the last megabyte of output, or in the last message that `read` finds there, fenced or not. Without a
    readable one, it is the edits in the worktree. An exit code other than 0, an error that `read` finds, a timeout or
    a program that can't be started proposes nothing. The caller restores the worktree unless `edited_in_place`, as any
    run may have edited files. While a `budget` of the day is used up, the program is not started."""

    runner: Runner
    argv: tuple[str, ...]
    name: str = "command"
    env: Mapping[str, str] = field(default_factory=dict)
    read_only: tuple[Path, ...] = ()
    network: bool = False
    timeout_s: float = 900.0
    read: ReadOutput | None = None
    budget: ModelBudget | None = None
    make_bundle: MakeHookBundle | None = None
    record_errors: RecordToolErrors | None = None
    explain: ExplainFailure | None = None

    async def propose(self, task: AgentTask, tree: Path) -> Proposal:
        if not self.argv:
            return Proposal(agent=self.name, offered=False, because=make_reason("agent.unset"))
        reached = await self.budget.used_up(task.run_id) if self.budget else None
        if reached is not None:
            return Proposal(agent=self.name, offered=False, because=reached, over_budget=True, untouched=True)
        bundle = await self.make_bundle(task.run_id) if self.make_bundle else None
        result = await self._run(bundle, task, tree)
        if bundle is not None and self.record_errors is not None:
            await self.record_errors(task.run_id, bundle.take_errors())
        printed = self.read(result.output) if self.read else ProgramOutput("")
        usage = NO_MODEL if result.spawn_error is not None else printed.usage
        if failure := self._failure(result, printed.error):
            if self.explain is not None and (result.spawn_error is not None or result.exit_code in _NOT_FOUND):
                failure = await self.explain(tree) or failure
            return Proposal(agent=self.name, offered=False, because=failure, usage=usage)
        changes, note = read_changes(printed.text.encode() if self.read else result.output)
        in_place = not changes
        return Proposal(
            agent=self.name, offered=True, changes=changes, edited_in_place=in_place, note=note, usage=usage
        )

    async def _run(self, bundle: HookBundle | None, task: AgentTask, tree: Path) -> ProcResult:
        values = {WORKTREE: str(tree), **({SETTINGS: str(bundle.settings)} if bundle else {})}
        # in one pass, as a path may hold what looks like a placeholder
        placeholders = re.compile("|".join(map(re.escape, values)))

        def filled(text: str) -> str:
            return placeholders.sub(lambda found: values[found[0]], text)

        argv = tuple(map(filled, self.argv))
        own = {name: filled(value) for name, value in self.env.items()}
        runner = partial(self.runner, writable=bundle.writable) if bundle else self.runner
        return await runner(
            ShellCommand(run=argv, timeout_s=self.timeout_s),
            tree,
            network=self.network,
            env={**own, **bundle.env} if bundle else own,
            read_only=(*self.read_only, *bundle.read_only) if bundle else self.read_only,
            stdin=build_prompt(task, tree).encode("utf-8", "replace"),
        )

    def _failure(self, result: ProcResult, error: str) -> Reason | None:
        if result.spawn_error is not None:
            return make_reason("agent.not_started", error=result.spawn_error)
        if result.timed_out:
            return make_reason("agent.timed_out", seconds=f"{self.timeout_s:g}")
        if result.overflowed:
            return make_reason("agent.overflowed")
        if result.over_memory_mb:
            return make_reason("agent.over_memory", memory=gigabytes(result.over_memory_mb))
        if error:
            return make_reason("agent.error", error=error)
        return make_reason("agent.exit", code=result.exit_code) if result.exit_code else None


def read_changes(output: bytes) -> tuple[tuple[Change, ...], Reason | None]:
    """The changes that an agent printed, and a note for the record if they can't be read; never raises.

    Reads the last megabyte only, in time linear in its length, whatever it holds."""
    text = output[-TAIL_BYTES:].decode("utf-8", "replace")
    for start, end in _spans(text)[: -_MAX_TRIES - 1 : -1]:
        try:
            printed = json.loads(text[start:end])
        except (ValueError, RecursionError):
            continue  # text that only looks like an object, or one that is nested too deeply
        try:
            return _CHANGES.validate_python(printed["changes"]), None
        except ValidationError as error:
            first = error.errors(include_url=False, include_input=False)[0]
            place = ".".join(str(part) for part in first["loc"])
            return (), make_reason("agent.unreadable", place=place, problem=first["msg"])
    return (), None


def _spans(text: str) -> list[tuple[int, int]]:
    """The spans of possible objects with a key `changes`, in the order of their ends: braces paired outside strings.

    One pass, because a JSON parser that starts at every brace needs hours for a hostile megabyte."""
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
