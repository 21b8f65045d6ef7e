"""Finds what a program of this machine is made of, so that the sandbox can show it: installation and interpreter."""

from __future__ import annotations

import os
import shlex
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path

from bot.workspace.sandbox.agent_program import directory_to_grant, first_line
from bot.workspace.sandbox.check_tools import bundled_node

_NODE_MODULES = "node_modules"


@dataclass(frozen=True, slots=True)
class ProgramFiles:
    """How a program is started by absolute paths, and the directories and files that it needs to read."""

    argv: tuple[str, ...]
    read_only: tuple[Path, ...]


def find_program(name: str) -> ProgramFiles | None:
    """Returns the files of the program that PATH finds by this name, links followed; None where there is none.

    A script that names its interpreter by `env` gets that interpreter's path: the sandbox's PATH is not this one."""
    found = shutil.which(name)
    if found is None:
        return None
    program = Path(found).resolve()
    interpreter = _interpreter(program)
    if interpreter is None:
        return ProgramFiles((str(program),), _installation(program))
    files = (*_installation(program), *_installation(Path(interpreter[0])))
    return ProgramFiles((*interpreter, str(program)), tuple(dict.fromkeys(files)))


def _installation(program: Path) -> tuple[Path, ...]:
    """Returns the narrowest directories that hold all of the program: its packages, or its virtual environment."""
    parts = program.parts
    if _NODE_MODULES in parts:
        return _outside_usr(Path(*parts[: parts.index(_NODE_MODULES) + 1]))
    environment = program.parent.parent
    if (environment / "pyvenv.cfg").is_file():
        base = (environment / "bin" / "python").resolve().parent.parent
        return (*_outside_usr(environment), *_outside_usr(base))
    return _outside_usr(directory_to_grant(program))


def _outside_usr(path: Path) -> tuple[Path, ...]:
    return () if path.is_relative_to("/usr") else (path,)


def _interpreter(script: Path) -> tuple[str, ...] | None:
    """Returns the interpreter that the script's first line names by `env`, with its arguments; None for other files."""
    line = first_line(script)
    try:
        words = shlex.split(line[2:]) if line.startswith("#!") else []
    except ValueError:
        return None
    if not words or Path(words[0]).name != "env":
        return None
    rest = [word for word in words[1:] if word != "-S"]
    found = _find_node() if rest[:1] == ["node"] else shutil.which(rest[0]) if rest else None
    return (str(Path(found).resolve()), *rest[1:]) if found else None


def _find_node() -> str | None:
    """The machine's Node.js, else the one that came with Mendbot's own tools. One in Mendbot's environment is a script
    that needs that environment."""
    own = Path(sys.prefix, "bin")
    path = [each for each in os.environ.get("PATH", os.defpath).split(os.pathsep) if Path(each) != own]
    bundled = [str(each / "bin") for each in bundled_node()]
    return shutil.which("node", path=os.pathsep.join((*path, *bundled)))
