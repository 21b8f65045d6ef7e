"""Finds out whether a command could not run at all: a tool, a script or a file is missing.

Only messages of a shell, an interpreter or a package manager about its own command count; the same words in the
output of a test do not."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from bot.model import CouldNotRun
from bot.model.checks import Hindrance
from bot.rules.failures.log_lines import log_lines

_NOT_EXECUTABLE, _NOT_FOUND = 126, 127
_MAX_LENGTH = 200
_LOOKED_AT = 20_000
"""Characters that are read at each end of a log: a command that could not run has printed little."""

_LAST_LINES = 8
"""The last lines, in which a command reports that it cannot start; lines above them come from a program that ran."""

_SHELL_LINES = (
    # dash: `sh: 1: pytest: not found`; bash: `sh: line 1: pytest: command not found`; busybox: `sh: pytest: not found`
    r"^(?:\S*sh|\S+\.sh): (?:line )?(?:\d+: )?(?P<what>[^:]+): (?:command )?not found$",
    r"^(?:\S*sh|\S+\.sh): (?:line )?(?:\d+: )?(?P<what>[^:]+): (?:cannot execute: )?(?:required file|No such file).*$",
    r"^(?:\S*sh|\S+\.sh): (?:line )?(?:\d+: )?(?P<what>[^:]+): Permission denied$",
    r"^\S*env: [‘'\"]?(?P<what>[^’'\":]+)[’'\"]?: (?:No such file or directory|Permission denied)$",
    r"^\S*make(?:\[\d+\])?: (?P<what>[^:*]+): (?:No such file or directory|Permission denied)$",
)
_SHELL = tuple(re.compile(line) for line in _SHELL_LINES)
_MAKE_127 = re.compile(r"^\S*make(?:\[\d+\])?: \*\*\* \[[^\]]*\] Error 12(?P<last>[67])$")

_MODULE = re.compile(r"^\S*python[\d.]*: No module named (?P<what>[\w.]+)(?:\.__main__)?(?:;.*)?$")
_IMPORTED = re.compile(r"^ModuleNotFoundError: No module named '(?P<what>\w+)")
_CONSOLE_SCRIPT = re.compile(r'^  File "\S*/bin/(?P<program>[\w.-]+)", line \d+, in <module>$')
_NODE_ENTRY = re.compile(r"^Error: Cannot find module '(?P<what>[^']+)'$")
_OWN_WORDS: tuple[tuple[Hindrance, re.Pattern[str]], ...] = (
    ("no_file", re.compile(r"^\S*python[\d.]*: can't open file '(?P<what>[^']+)': \[Errno 2\].*$")),
    # dash: `sh: 0: cannot open a.sh: No such file`, before 0.5.11 `Can't open a.sh`; busybox: `sh: can't open 'a.sh'`
    ("no_file", re.compile(r"^\S*sh: (?:\d+: )?(?:cannot|[Cc]an't) open '?(?P<what>[^':]+)'?(?:: No such file.*)?$")),
    ("no_script", re.compile(r"^npm (?:ERR!|error) Missing script: \"?(?P<what>[^\"]+)\"?$")),
    ("no_script", re.compile(r"^ERR_PNPM_NO_SCRIPT\s+Missing script: (?P<what>\S+)$")),
    ("no_script", re.compile(r"^error Command \"(?P<what>[^\"]+)\" not found\.$")),
    ("no_script", re.compile(r"^error: Script not found \"(?P<what>[^\"]+)\"$")),
    ("no_target", re.compile(r"^\S*make: \*\*\* No rule to make target [`'](?P<what>[^']+)'\.  Stop\.$")),
    ("no_target", re.compile(r"^error: Justfile does not contain recipe [`'](?P<what>[^`']+)[`']\.?$")),
)

_INSTALL_FAILED = re.compile(r"^(?:\S+: exit \d+ .*|nox > Command \S*python\S*) -m pip install ")
"""tox and nox, of an environment that they could not make."""
_NO_PACKAGE = re.compile(r"^ERROR: No matching distribution found for (?P<what>[\w.-]+)")

_NO_PROGRAM = re.compile(r"No such file or directory: '?([\w.+-]+)'?")
"""The operating system's message (`proc.ProcResult.spawn_error`) for a program that is not on PATH."""


@dataclass(frozen=True, slots=True)
class _Log:
    command: str
    exit_code: int
    lines: tuple[str, ...]

    @property
    def last(self) -> tuple[str, ...]:
        return self.lines[-_LAST_LINES:]


def could_not_run(
    command: str, exit_code: int | None, log: str, *, spawn_error: str | None = None
) -> CouldNotRun | None:
    """Why `command` could not run; None where it ran, with any result.

    A command that timed out or was ended by a signal did run. `log` has no control characters."""
    if spawn_error is not None:
        missing = _NO_PROGRAM.fullmatch(spawn_error)
        hindrance: Hindrance = "not_found" if missing else "not_started"
        return CouldNotRun(hindrance=hindrance, what=(missing[1] if missing else spawn_error)[:_MAX_LENGTH])
    if exit_code is None or exit_code <= 0:
        return None
    text = log if len(log) <= 2 * _LOOKED_AT else f"{log[:_LOOKED_AT]}\n{log[-_LOOKED_AT:]}"
    seen = _Log(command, exit_code, tuple(line for line in log_lines(text) if line.strip()))
    readings: Sequence[Callable[[_Log], CouldNotRun | None]] = (
        _by_shell,
        _by_python,
        _by_node,
        _by_environment,
        _by_own_words,
    )
    return next((found for reading in readings if (found := reading(seen)) is not None), None)


def _by_shell(log: _Log) -> CouldNotRun | None:
    """A shell's 126 and 127, also where make or npm passed them on (POSIX, Shell Command Language 2.8.2)."""
    made = next((match for line in reversed(log.lines) if (match := _MAKE_127.match(line))), None)
    code = 120 + int(made["last"]) if made and log.exit_code == 2 else log.exit_code
    if code not in (_NOT_EXECUTABLE, _NOT_FOUND):
        return None
    hindrance: Hindrance = "not_found" if code == _NOT_FOUND else "not_executable"
    named = (match["what"] for line in reversed(log.lines) for shell in _SHELL if (match := shell.match(line)))
    return CouldNotRun(hindrance=hindrance, what=next(named, log.command)[:_MAX_LENGTH])


def _by_python(log: _Log) -> CouldNotRun | None:
    """`python -m RUNNER` without the runner, or a console script whose package is gone."""
    for line in log.last:
        match = _MODULE.match(line)
        # the command itself, or what npm or make print of what they start
        if match and any(f"-m {match['what']}" in shown for shown in (log.command, *log.lines)):
            return CouldNotRun(hindrance="no_module", what=match["what"])
    last = _IMPORTED.match(log.lines[-1]) if log.lines else None
    script = next((match for line in log.lines[:4] if (match := _CONSOLE_SCRIPT.match(line))), None)
    if last and script and log.lines[0].startswith("Traceback"):
        return CouldNotRun(hindrance="no_module", what=last["what"])
    return None


def _by_node(log: _Log) -> CouldNotRun | None:
    """`node FILE` without the file: nothing required it, so it is the command's own."""
    match = next((match for line in reversed(log.lines) if (match := _NODE_ENTRY.match(line))), None)
    if match is None or not any(line.strip() == "requireStack: []" for line in log.last):
        return None
    file = match["what"].rpartition("/")[2]
    if not any(re.search(rf"\bnode\b.*{re.escape(file)}", shown) for shown in (log.command, *log.lines)):
        return None
    return CouldNotRun(hindrance="no_file", what=match["what"][-_MAX_LENGTH:])


def _by_environment(log: _Log) -> CouldNotRun | None:
    """tox or nox that could not install what its environment needs, as without a network: no test was started."""
    if not any(_INSTALL_FAILED.match(line) for line in log.last):
        return None
    missing = next((match for line in log.last if (match := _NO_PACKAGE.match(line))), None)
    return missing and CouldNotRun(hindrance="no_module", what=missing["what"])


def _by_own_words(log: _Log) -> CouldNotRun | None:
    """What a package manager, make or an interpreter prints instead of starting anything."""
    for line in log.last:
        for hindrance, words in _OWN_WORDS:
            if match := words.match(line.strip() if hindrance == "no_script" else line):
                return CouldNotRun(hindrance=hindrance, what=match["what"][:_MAX_LENGTH])
    return None
