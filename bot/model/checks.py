"""Checks: their commands, where these run, and their results with annotations and failures."""

from __future__ import annotations

import shlex
from datetime import datetime
from typing import Literal

from pydantic import Field

from bot.model.base import CamelModel, Model
from bot.model.reasons import Reason
from bot.model.setups import NeededSetup, WantedProgram

CheckName = Literal["typecheck", "lint", "test"]
Classification = Literal["lint", "type", "test", "runtime", "unknown"]
AnnotationLevel = Literal["notice", "warning", "failure"]
SandboxMode = Literal["auto", "bubblewrap", "none"]
ToolsMode = Literal["auto", "off"]
PullRequestsMode = Literal["configured", "all"]
"""Whether pull requests of newly installed repositories wait for a configuration."""
Hindrance = Literal[
    "not_found", "not_executable", "no_module", "no_script", "no_target", "no_file", "not_started", "not_set_up"
]

CHECK_ORDER: tuple[CheckName, ...] = ("typecheck", "lint", "test")
"""The order of `run_checks` (REQ-CHECK-004), quickest feedback first."""


class Annotation(Model):
    """One finding at a place in the working tree; lines count from 1, `path` is relative to the tree."""

    path: str
    start_line: int
    end_line: int
    level: AnnotationLevel
    message: str
    title: str = ""
    rule: str = ""


class ShellCommand(Model):
    """A command to run in the working tree. A string runs as `sh -c STRING`, a tuple as argv.

    `report` is the JUnit or SARIF file that the command writes, relative to the tree. `directory`, relative too, is
    where the command changes to before it starts: paths that it prints are relative to it. `needs` is what a detected
    command needs to be installed: a tool in the project's Python environment, or `node` for its packages.
    `programs` are those that the command calls and that the machine may lack."""

    run: str | tuple[str, ...]
    timeout_s: float
    report: str | None = None
    directory: str = ""
    needs: str = ""
    programs: tuple[WantedProgram, ...] = ()

    @property
    def argv(self) -> tuple[str, ...]:
        return ("sh", "-c", self.run) if isinstance(self.run, str) else self.run

    @property
    def text(self) -> str:
        """The command as a person would type it."""
        if isinstance(self.run, str):
            return self.run
        return " ".join(shlex.quote(word) if " " in word else word for word in self.run)


class CouldNotRun(CamelModel):
    """Why a check could not run at all, which differs from a failure.

    `what` names what is missing: the program, the Python module, the package script, the make target or the file. For
    `not_started` it is the operating system's message. `setup` is what a project that is `not_set_up` lacks."""

    hindrance: Hindrance
    what: str = ""
    setup: NeededSetup | None = None


class ShownFailure(CamelModel):
    """One failed test, or one finding of a linter or type checker, in the tool's own words.

    `name` is the name of the test or the rule, `message` what is wrong, on one line; either may be empty. `expected`
    and `received` are filled only where the tool names them. `path` is relative to the tree; `line` counts from 1
    and is 0 where the tool names no line. `block` has at most 40 lines and 3,000 characters of the log; it is empty
    for later failures of a long list."""

    name: str = ""
    message: str = ""
    expected: str = ""
    received: str = ""
    path: str = ""
    line: int = 0
    block: str = ""


class CheckResult(Model):
    """The result of one check (spec A). `output` and `error` are cut, masked and free of ANSI."""

    check: str
    passed: bool
    output: str = ""
    error: str | None = None
    duration_ms: int = 0
    command: str = ""
    exit_code: int | None = None
    timed_out: bool = False
    over_memory_mb: int = 0
    """The memory limit at which it was stopped; 0 where it stayed below."""
    flaky: bool = False
    classification: Classification | None = None
    annotations: tuple[Annotation, ...] = ()
    restored: tuple[str, ...] = ()
    """Files that the check had changed and that were restored after it; the first ones of `restored_count`."""
    restored_count: int = 0
    not_restored: tuple[str, ...] = ()
    """Files that it had changed and that are too large, or too many, to be restored."""
    found_in: str = ""
    """The directory that keeps what was found in the restored files."""
    could_not_run: CouldNotRun | None = None
    failures: tuple[ShownFailure, ...] = ()
    """The failures that the whole log shows, in its order; the first ones of `failure_count`."""
    failure_count: int = 0
    no_command: Reason | None = Field(default=None, exclude=True)
    """What was looked for, if no command was found. `error` has it in English."""


class CheckProgress(Model):
    """A check of `run_checks` as it begins or, with its `result`, as it has ended; `attempt` counts from 1."""

    check: str
    attempt: int
    command: str
    result: CheckResult | None = None


class PreviousError(Model):
    """A failure of an attempt before the one reported (REQ-CHECK-007)."""

    attempt: int
    check: str
    error: str
    timestamp: datetime


class RunChecksResult(Model):
    """The result of `run_checks`; `attempt` counts from 1 to at most 3. `not_run` names the checks that were requested
    and not run, as one before them had failed (fail-fast)."""

    passed: bool
    results: tuple[CheckResult, ...] = ()
    not_run: tuple[str, ...] = ()
    attempt: int = 1
    max_retries_exceeded: bool = False
    previous_errors: tuple[PreviousError, ...] = ()
    error: str | None = None
