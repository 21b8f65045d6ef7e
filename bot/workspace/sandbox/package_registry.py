"""Runs pip and npm for Mendbot itself, with this machine's settings of their registries.
It exists because they must never run in a project's directory or with a project's settings."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from pathlib import Path

from bot import proc
from bot.errors import UserError
from bot.reports.format.redact import Redactor
from bot.reports.format.truncate import one_line
from bot.workspace.sandbox.bubblewrap import find_packages

FETCH_S = 600.0
AGAIN_S = 600.0
"""Seconds for which a failed fetch stands before the next command tries again."""

_SAID = 200
_CAUSE = re.compile(r"(?i)(?:npm )?err(?:or|!)(?::| )(?! ?(?:code|syscall|errno|path|A complete log)\b)\s*\S")


async def fetch(*argv: str, cwd: Path = Path("/"), programs: Sequence[Path] = ()) -> str:
    """Run a package client in `cwd`, which holds nobody else's files; what it printed.

    Directories whose `bin` it needs come first on its PATH. Raises UserError with what went wrong, in one line."""
    kept = {name: os.environ[name] for name in ("HOME", "TMPDIR") if name in os.environ}
    path = os.pathsep.join([*(str(each / "bin") for each in programs), os.defpath])
    env = {"LANG": "C.UTF-8", **kept, **find_packages(os.environ).env, "PATH": path}
    result = await proc.run(argv, cwd=cwd, env=env, timeout_s=FETCH_S)
    said = result.output.decode(errors="replace")
    if result.exit_code == 0:
        return said
    if result.timed_out:
        raise UserError(f"it took more than {FETCH_S:g} s")
    lines = (result.spawn_error or said).strip().splitlines()
    telling = [line for line in lines if _CAUSE.match(line)]
    # npm explains the error in the lines below it, pip in those above
    last = (telling or lines or ["no reason was given"])[-1]
    line = telling[0] if last.startswith("npm") and telling else last
    raise UserError(one_line(Redactor().mask(line))[:_SAID])
