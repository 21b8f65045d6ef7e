"""The agent that runs the project's own formatters and linter fixes, on the files in which its checks found something.

It proposes nothing if no lint or format check failed."""

from __future__ import annotations

import json
import stat
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bot.agent.protocol import Runner
from bot.model import AgentTask, Proposal, ShellCommand, StyleFindings
from bot.model.reasons import Reason
from bot.proc import ProcResult
from bot.rules.reasons import all_reasons, make_reason
from bot.rules.toml_reader import read_toml

_MISSING = (126, 127)
_MAX_CONFIG_BYTES = 1_000_000
_MAX_FILES = 500
"""Of one command line; what is left is found again by the next check."""

_PYTHON = (".py", ".pyi", ".ipynb")
_JAVASCRIPT = (".js", ".jsx", ".ts", ".tsx", ".mjs", ".cjs", ".mts", ".cts", ".vue", ".svelte", ".astro")


@dataclass(frozen=True, slots=True)
class FixersAgent:
    """Runs the `configured` fixers in the worktree, or those that fit the findings if `configured` is None.

    Their edits are the change. An empty `configured` runs nothing. Without findings that fixers may fix
    (`AgentTask.style`) it proposes nothing. Exit codes mean little, as `ruff check --fix` fails on what it can't fix.
    It proposes if at least one fixer ran; the caller drops edits of other files."""

    runner: Runner
    configured: tuple[ShellCommand, ...] | None = None
    timeout_s: float = 120.0
    name: str = "fixers"

    async def propose(self, task: AgentTask, tree: Path) -> Proposal:
        if not task.style.files:
            return self._nothing(make_reason("fixers.nothing"))
        if self.configured == ():
            return self._nothing(make_reason("fixers.off"))
        commands = self._fitting(tree, task.style) if self.configured is None else self.configured
        if not commands:
            return self._nothing(make_reason("fixers.none"))
        ran: list[str] = []
        notes: list[Reason] = []
        for command in commands:
            result = await self.runner(command, tree)
            missing = result.spawn_error is not None or result.exit_code in _MISSING
            if not missing:
                ran.append(command.text)
            notes.append(_outcome(command, result, missing))
        if not ran:
            named = ", ".join(f"`{command.text}`" for command in commands)
            return Proposal(agent=self.name, offered=False, because=make_reason("fixers.missing", commands=named))
        note = all_reasons(notes)
        return Proposal(agent=self.name, offered=True, edited_in_place=True, note=note, tools=tuple(ran))

    def _fitting(self, tree: Path, style: StyleFindings) -> tuple[ShellCommand, ...]:
        return tuple(ShellCommand(run=argv, timeout_s=self.timeout_s) for argv in default_fixers(tree, style))

    def _nothing(self, because: Reason) -> Proposal:
        return Proposal(agent=self.name, offered=False, because=because, untouched=True)


def _outcome(command: ShellCommand, result: ProcResult, missing: bool) -> Reason:
    if missing:
        return make_reason("fixers.skipped", command=command.text)
    if result.timed_out:
        return make_reason("fixers.timed_out", command=command.text, seconds=f"{command.timeout_s:g}")
    return make_reason("fixers.exit", command=command.text, code=str(result.exit_code))


def default_fixers(tree: Path, style: StyleFindings) -> tuple[tuple[str, ...], ...]:
    """The commands that fix such findings with the tools that the project configures, in the order to run them.

    They run on the files with findings only, formatters only after a failed format check. Reads a few files at the root
    of `tree`, which may be hostile; never raises."""
    return (*_python(tree, style), *_javascript(tree, style), *_others(tree, style))


def _python(tree: Path, style: StyleFindings) -> Iterator[tuple[str, ...]]:
    tools = _table(_toml(tree / "pyproject.toml"), "tool")
    if "ruff" in tools or _is_file(tree / "ruff.toml") or _is_file(tree / ".ruff.toml"):
        yield from _on(("ruff", "check", "--fix"), style.lint, _PYTHON)
        if "black" not in tools:
            yield from _on(("ruff", "format"), style.unformatted, _PYTHON)
    if "black" in tools:
        yield from _on(("black",), style.unformatted, _PYTHON)


def _javascript(tree: Path, style: StyleFindings) -> Iterator[tuple[str, ...]]:
    package = _json(tree / "package.json")
    wanted = {**_table(package, "dependencies"), **_table(package, "devDependencies")}
    if "eslint" in wanted and _is_installed(tree, "eslint"):
        yield from _on(("npx", "--no-install", "eslint", "--fix"), style.lint, _JAVASCRIPT)
    if "prettier" in wanted and _is_installed(tree, "prettier"):
        # prettier alone knows which kinds of files it formats
        yield from _on(("npx", "--no-install", "prettier", "--write"), style.unformatted, ("",))


def _others(tree: Path, style: StyleFindings) -> Iterator[tuple[str, ...]]:
    # gofmt and rustfmt need no configuration: a module or crate is one
    if _is_file(tree / "go.mod"):
        yield from _on(("gofmt", "-w"), style.unformatted, (".go",))
    if _is_file(tree / "Cargo.toml") and any(path.endswith(".rs") for path in style.unformatted):
        yield ("cargo", "fmt")  # takes the edition from the manifest, which `rustfmt FILE` does not read


def _on(command: tuple[str, ...], paths: Sequence[str], endings: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    """The command with those of the files that it supports; nothing if there are none."""
    fitting = [path for path in paths if path.endswith(endings)][:_MAX_FILES]
    if fitting:
        # a name such as `-x.py` would be an option
        yield (*command, *(f"./{path}" if path.startswith("-") else path for path in fitting))


def _is_installed(tree: Path, tool: str) -> bool:
    return (tree / "node_modules" / tool).is_dir()


def _is_file(path: Path) -> bool:
    """Whether it is a regular file of moderate size: a FIFO would block, a link leads elsewhere."""
    try:
        status = path.lstat()
    except OSError:
        return False
    return stat.S_ISREG(status.st_mode) and status.st_size <= _MAX_CONFIG_BYTES


def _toml(path: Path) -> Mapping[str, Any]:
    try:
        return read_toml(path.read_text(encoding="utf-8")) if _is_file(path) else {}
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
