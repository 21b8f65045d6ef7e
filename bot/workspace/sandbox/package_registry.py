"""Runs pip and npm for Mendbot itself, with this machine's settings of their registries.
It exists because they must never run in a project's directory or with a project's settings."""

from __future__ import annotations

import asyncio
import os
import re
import shutil
import sys
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path

from bot import proc
from bot.errors import Transient, UserError
from bot.reports.format.redact import Redactor
from bot.reports.format.truncate import one_line
from bot.reports.locale.reasons import user_error
from bot.rules.reasons import error_reason, make_reason, quoted
from bot.workspace.git.repo_lock import exclusive
from bot.workspace.sandbox.bubblewrap import find_registry_access

FETCH_S = 600.0
RETRY_AFTER_S = 600.0
"""Seconds for which a failed fetch stands before the next command tries again."""

_MAX_REASON = 200
_PIP = ("-I", "-m", "pip", "--disable-pip-version-check", "--no-input", "-q")
_NO_USABLE_PIP = ("No module named pip", "no such option: --python")
"""How an error ends where the base Python has no pip, or one older than 22.3, which knows no other environment."""
_CAUSE = re.compile(r"(?i)(?:npm )?err(?:or|!)(?::| )(?! ?(?:code|syscall|errno|path|A complete log)\b)\s*\S")


async def make_once(place: Path, is_made: Callable[[Path], bool], fill: Callable[[Path], Awaitable[None]]) -> None:
    """Has `fill` make the directory `place` (absolute) in one step: all of it exists or nothing.

    While another process makes it, this waits. Raises UserError with what went wrong, in one line."""
    fresh = place.with_name(f".{place.name}.new")
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        async with exclusive(place, "make", timeout_s=2 * FETCH_S):
            if is_made(place):
                return
            for leftover in (fresh, place):  # of a process that was killed, or a Python that is gone
                await asyncio.to_thread(shutil.rmtree, leftover, ignore_errors=True)
            await fill(fresh)
            fresh.rename(place)
    except OSError as error:
        fields = {"path": str(place.parent), "error": error.strerror or ""}
        raise user_error(make_reason("tools.no_directory", **fields)) from error
    except Transient as error:
        raise user_error(error_reason(error)) from error


async def fetch_wheels(env: Path, *packages: str) -> None:
    """Make a virtual environment at `env` with these packages (arguments for pip), as wheels, and without pip.

    With a pip there, one project's command could add what would be there for the next."""
    base, python = str(proc.base_python()), str(env / "bin" / "python")
    install = ("install", "--only-binary", ":all:", "--retries", "2", *packages)
    await fetch(base, "-I", "-m", "venv", "--without-pip", str(env))
    try:
        await fetch(base, *_PIP, "--python", python, *install)
    except UserError as error:
        if not str(error).endswith(_NO_USABLE_PIP):
            raise
        await fetch(python, "-I", "-m", "ensurepip", "--default-pip")
        await fetch(python, *_PIP, *install)
        without = ("pip", "setuptools") if sys.version_info < (3, 12) else ("pip",)
        await fetch(python, *_PIP, "uninstall", "--yes", *without)


async def fetch(*argv: str, cwd: Path = Path("/"), programs: Sequence[Path] = ()) -> str:
    """Runs a package client in `cwd`, which holds nobody else's files, and returns its output.

    The `bin` of each directory of `programs` comes first on its PATH. Raises UserError with what went wrong."""
    kept = {name: os.environ[name] for name in ("HOME", "TMPDIR") if name in os.environ}
    path = os.pathsep.join([*(str(each / "bin") for each in programs), os.defpath])
    env = {"LANG": "C.UTF-8", **kept, **find_registry_access(os.environ).env, "PATH": path}
    result = await proc.run(argv, cwd=cwd, env=env, timeout_s=FETCH_S)
    output = result.output.decode(errors="replace")
    if result.exit_code == 0:
        return output
    if result.timed_out:
        raise user_error(make_reason("tools.timed_out", seconds=f"{FETCH_S:g}"))
    lines = (result.spawn_error or output).strip().splitlines()
    if not lines:
        raise user_error(make_reason("command.silent"))
    causes = [line for line in lines if _CAUSE.match(line)]
    # npm explains the error in the lines below it, pip in those above
    last = (causes or lines)[-1]
    line = causes[0] if last.startswith("npm") and causes else last
    raise user_error(quoted(one_line(Redactor().mask(line))[:_MAX_REASON]))
