"""The agent that runs the project's own formatters and linter fixes: no model, no guess, and often all it takes.
It stays silent where nothing points to work of that kind, for a formatter would restyle a healthy repository."""

from __future__ import annotations

import json
import stat
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bot.agent.developer import Runner
from bot.model import AgentTask, Command, Proposal
from bot.proc import ProcResult

_MISSING = (126, 127)
_MAX_CONFIG_BYTES = 1_000_000


@dataclass(frozen=True, slots=True)
class FixersDeveloper:
    """Runs `commands` one after the other in the tree; their edits are the change.

    It is asked in a local session (no baseline), after a baseline that failed, or where the task names files; else it
    offers nothing. What a fixer exits with says little (`ruff check --fix` fails on what it can't fix), so only a fixer
    that is missing or runs out of time is noted. It offers if at least one ran: the caller sees what changed."""

    runner: Runner
    commands: tuple[Command, ...]
    name: str = "fixers"

    async def propose(self, task: AgentTask, tree: Path) -> Proposal:
        if not self.commands:
            return self._nothing("no fixers are configured")
        if task.baseline is not None and task.baseline.passed and not task.focus:
            return self._nothing("nothing for fixers: the checks pass and no file is named")
        ran: list[str] = []
        notes: list[str] = []
        for command in self.commands:
            result = await self.runner(command, tree)
            missing = result.spawn_error is not None or result.exit_code in _MISSING
            if not missing:
                ran.append(command.text)
            notes.append(f"`{command.text}`: {_outcome(command, result, missing)}")
        return Proposal(
            agent=self.name, offered=bool(ran), edited_in_place=bool(ran), note="; ".join(notes), tools=tuple(ran)
        )

    def _nothing(self, note: str) -> Proposal:
        return Proposal(agent=self.name, offered=False, note=note, untouched=True)


def _outcome(command: Command, result: ProcResult, missing: bool) -> str:
    if missing:
        return "not there, passed over"
    return f"stopped after {command.timeout_s:g} s" if result.timed_out else f"exit {result.exit_code}"


def default_fixers(tree: Path) -> tuple[str, ...]:
    """Shell commands that fix what the project's own configuration asks for, in the order to run them; none where it
    configures no such tool. Reads a few files at the root of `tree`, which may be hostile; raises nothing."""
    return (*_python(tree), *_javascript(tree), *_others(tree))


def _python(tree: Path) -> tuple[str, ...]:
    tools = _table(_toml(tree / "pyproject.toml"), "tool")
    found: list[str] = []
    if "ruff" in tools or _is_file(tree / "ruff.toml") or _is_file(tree / ".ruff.toml"):
        found.append("ruff check --fix .")
        if "black" not in tools:
            found.append("ruff format .")
    if "black" in tools:
        found.append("black .")
    return tuple(found)


def _javascript(tree: Path) -> tuple[str, ...]:
    package = _json(tree / "package.json")
    wanted = {**_table(package, "dependencies"), **_table(package, "devDependencies")}
    found: list[str] = []
    if "eslint" in wanted and _is_installed(tree, "eslint"):
        found.append("npx --no-install eslint --fix .")
    if "prettier" in wanted and _is_installed(tree, "prettier"):
        # workflows are not for the bot to change, not even their white space
        found.append("npx --no-install prettier --write . '!.github/**'")
    return tuple(found)


def _others(tree: Path) -> tuple[str, ...]:
    # gofmt and rustfmt need no configuration: a module or crate is one
    found = ["gofmt -w ."] if _is_file(tree / "go.mod") else []
    return (*found, "cargo fmt") if _is_file(tree / "Cargo.toml") else tuple(found)


def _is_installed(tree: Path, tool: str) -> bool:
    return (tree / "node_modules" / tool).is_dir()


def _is_file(path: Path) -> bool:
    """A regular file that is no link: a FIFO would block the reader, a link would read something else."""
    try:
        status = path.lstat()
    except OSError:
        return False
    return stat.S_ISREG(status.st_mode) and status.st_size <= _MAX_CONFIG_BYTES


def _toml(path: Path) -> Mapping[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8")) if _is_file(path) else {}
    except (OSError, ValueError, RecursionError):
        return {}  # a broken file configures nothing; the checks will say that it is broken


def _json(path: Path) -> Mapping[str, Any]:
    try:
        data = json.loads(path.read_text(encoding="utf-8")) if _is_file(path) else {}
    except (OSError, ValueError, RecursionError):
        return {}
    return data if isinstance(data, dict) else {}


def _table(data: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    value = data.get(key)
    return value if isinstance(value, dict) else {}
