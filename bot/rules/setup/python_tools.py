"""Which commands need Python's tools, and which tool a command that ended early did not find."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

_PYTHON = re.compile(r"(?<![\w.-])(?:python[\d.]*|mypy|pytest|ruff)(?![\w-])")
_NOT_FOUND = re.compile(
    r"(?:^|[ :'\u2018])(?P<name>[\w.+-]+)['\u2019]?:(?: command)? (?:not found|No such file or directory)", re.M
)


def uses_python(command: str) -> bool:
    """Whether the words of a command name Python or one of the tools that Mendbot brings."""
    return _PYTHON.search(command) is not None


def program(argv: Sequence[str]) -> str:
    """The program that an argv starts, behind `env -C DIRECTORY`, which the detection writes."""
    return argv[3] if tuple(argv[:2]) == ("env", "-C") and len(argv) > 3 else argv[0]


def lacking(argv: Sequence[str], said: str, tools: Collection[str]) -> str | None:
    """The tool that was not found where a command could not start or ended with 127; `said` is its last output."""
    if argv[0] in tools:
        return argv[0]
    if argv[0] not in ("env", "sh"):
        return None
    found = [match["name"] for match in _NOT_FOUND.finditer(said)]
    wanted = [program(argv)] if argv[0] == "env" else found
    return next((name for name in found if name in tools and name in wanted), None)
