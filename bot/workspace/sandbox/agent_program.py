"""Checks that the operator's own agent program can start in the sandbox, before a run depends on it.
A program of this machine that the sandbox does not show is named with the settings that grant it."""

from __future__ import annotations

import os
import shlex
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from bot.config import Settings
from bot.model import ShellCommand
from bot.model.reasons import Reason
from bot.rules.reasons import make_reason
from bot.workspace.sandbox.bubblewrap import SandboxGrant
from bot.workspace.sandbox.sandbox import Sandbox

_PROBE_S = 30.0
_FIRST_BYTES = 512
_MAX_STEPS = 4
_PROBE_SCRIPT = """
number=0
for word; do
  case $word in
    /*) test -f "$word" && { test -x "$word" || test $number -gt 0; } ;;
    *) command -v -- "$word" >/dev/null ;;
  esac || echo "unseen $number"
  number=$((number + 1))
done
"""
_SCRIPT_SUFFIXES = frozenset({".bash", ".js", ".mjs", ".pl", ".py", ".rb", ".sh", ".ts"})
"""The ends of names of scripts, which need no first line where an interpreter is given them."""
_KNOWN_PREFIXES = frozenset({".local", "usr"})
"""What lies beside their `bin` is not of one program alone."""


@dataclass(frozen=True, slots=True)
class _Need:
    """A file that the agent needs to start: `word` is its name in the sandbox, `host` its path on this machine.

    `named`: the first line of a script has its name alone."""

    word: str
    host: Path | None
    what: Reason
    named: bool = False


def operator_grant(settings: Settings) -> SandboxGrant:
    """Returns what the operator's own agents may use beyond the tree: variables, network and directories."""
    env = {name: os.environ[name] for name in settings.agent_env if name in os.environ}
    return SandboxGrant(network=settings.agent_network, env=env, read_only=settings.agent_binds)


def resolved_argv(argv: tuple[str, ...], sandbox: Sandbox) -> tuple[str, ...]:
    """Returns the command line with the program's path, where only this machine finds it by its name.

    The sandbox's PATH has none of the user's directories."""
    if not argv or "/" in argv[0] or sandbox.finds(argv[0]):
        return argv
    return (shutil.which(argv[0]) or argv[0], *argv[1:])


async def program_problem(argv: tuple[str, ...], tree: Path, sandbox: Sandbox, settings: Settings) -> Reason | None:
    """Returns why the agent with this command line cannot start in `tree` (absolute), with the remedy, or None.

    Raises UserError where nothing may run, or where a granted path shows too much."""
    for path in settings.agent_binds:
        if not os.access(path, os.F_OK):
            return make_reason("agent_program.no_bind", path=str(path))
    filled = tuple(word.replace("{worktree}", str(tree)) for word in argv)
    needs = tuple(_needs(resolved_argv(filled, sandbox), filled[0], tree))
    command = ShellCommand(run=("sh", "-c", _PROBE_SCRIPT, "sh", *(need.word for need in needs)), timeout_s=_PROBE_S)
    result = await sandbox.run(command, tree, grant=operator_grant(settings))
    printed = result.output.decode(errors="replace").splitlines()
    unseen = [need for number, need in enumerate(needs) if f"unseen {number}" in printed]
    return _problem(filled[0], unseen, tree, settings) if unseen else None


def _needs(argv: tuple[str, ...], program: str, tree: Path) -> Iterator[_Need]:
    """`program` is what the operator calls the first word."""
    what = make_reason("agent_program.program", program=program)
    if "/" not in argv[0]:  # the sandbox finds it by its name, or nobody does
        yield _Need(argv[0], None, what)
    else:
        file = tree / argv[0]
        yield _Need(str(file), file if file.exists() else None, what)
        yield from _interpreters(file)
    script = next((word for word in argv[1:] if not word.startswith("-")), "")
    if script.startswith("/") and os.path.isfile(script):  # noqa: PTH113 - Path's own raises for endless names
        yield _Need(script, Path(script), make_reason("agent_program.script", path=script))


def _interpreters(file: Path) -> Iterator[_Need]:
    """Yields the interpreter that a script's first line names, that interpreter's own, and so on."""
    for _ in range(_MAX_STEPS):
        line = first_line(file)
        if not line.startswith("#!"):
            return
        words = _words(line[2:])
        named = Path(words[0]).name == "env"
        name = words[0]
        if named:
            name = next((word for word in words[1:] if not word.startswith("-") and "=" not in word), name)
        found = shutil.which(name)
        yield _Need(name, Path(found) if found else None, _interpreter(name, file), named)
        if found is None:
            return
        file = Path(found)


def _interpreter(name: str, script: Path) -> Reason:
    return make_reason("agent_program.interpreter", name=name, script=str(script))


def first_line(file: Path) -> str:
    """Returns the beginning of the file up to its first line's end; empty where it cannot be read."""
    if not (file.is_file() and os.access(file, os.R_OK)):
        return ""
    with file.open("rb") as opened:
        return opened.read(_FIRST_BYTES).split(b"\n", 1)[0].decode("utf-8", "replace")


def _words(line: str) -> Sequence[str]:
    try:
        return shlex.split(line) or ("sh",)
    except ValueError:
        return line.split() or ("sh",)


def _problem(program: str, unseen: Sequence[_Need], tree: Path, settings: Settings) -> Reason:
    first = unseen[0]
    if first.host is None:
        here = Path(program).absolute()
        if "/" in program and here != tree / program and here.exists():
            return make_reason("agent_program.elsewhere", what=first.what, path=str(here), tree=str(tree))
        return make_reason("agent_program.not_found", what=first.what)
    if not os.access(first.host, os.X_OK) and first.what.kind != "agent_program.script":
        return make_reason("agent_program.not_executable", what=first.what, path=str(first.host))
    binds = _binds([need.host for need in unseen if need.host is not None], settings.agent_binds)
    fields = {"path": str(first.host), "binds": os.pathsep.join(binds)}
    if any(need.named for need in unseen):  # by its name it is found on PATH alone
        env = ",".join(dict.fromkeys((*settings.agent_env, "PATH")))
        return make_reason("agent_program.unseen.named", what=first.what, **fields, env=env)
    return make_reason("agent_program.unseen", what=first.what, **fields)


def _binds(files: Sequence[Path], known: Sequence[Path]) -> list[str]:
    """Returns the fewest narrow paths that show these files and their links' targets, with those granted already."""
    wanted = [*known, *(_path_to_grant(each) for file in files for each in (file, file.resolve()))]
    kept = [path for path in wanted if not any(path != other and path.is_relative_to(other) for other in wanted)]
    system = (Path("/usr"), Path("/bin"), Path("/lib"))
    return [str(path) for path in dict.fromkeys(kept) if not any(path.is_relative_to(each) for each in system)]


def _path_to_grant(file: Path) -> Path:
    """Returns a single script itself, as its directory may hold secrets; the installation of any other program."""
    directory = directory_to_grant(file)
    if directory != file.parent or "node_modules" in file.parts:
        return directory
    return file if first_line(file).startswith("#!") or file.suffix in _SCRIPT_SUFFIXES else directory


def directory_to_grant(file: Path) -> Path:
    """Returns the directory to grant for a program: its installation, never the home or more."""
    home = Path(os.path.expanduser("~"))  # noqa: PTH111 - Path's own raises for a user without one
    broad = {Path("/"), *home.parents, home, home.resolve(), *home.resolve().parents}
    prefix = file.parent.parent
    if file.parent.name == "bin" and prefix not in broad and prefix.name not in _KNOWN_PREFIXES:
        return prefix
    return file if file.parent in broad else file.parent
